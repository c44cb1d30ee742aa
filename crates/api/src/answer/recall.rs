//! What is found of what was noted and said.

use heirloom_core::recall::Kind;
use heirloom_engine::recall::resume::Past;
use heirloom_engine::recall::{Found, SearchHit};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Answer;

/// What fits a query, best first.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SearchResults {
    /// What fits.
    pub results: Vec<SearchResult>,
    /// How many conversations and notes fit, as far as was looked.
    pub total: usize,
    /// Words that nothing has, with what was looked for instead.
    pub instead: Vec<Instead>,
    /// Words that nothing has, and for which there is nothing else.
    pub unknown: Vec<String>,
    /// How many messages may hold a quote and were not read.
    pub unread: usize,
}

impl Answer for SearchResults {}

/// What was looked for instead of a word that nothing has.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Instead {
    /// As it was typed.
    pub typed: String,
    /// What was looked for.
    pub found: String,
}

impl From<&Found> for SearchResults {
    fn from(found: &Found) -> Self {
        let instead = |(typed, found): &(String, String)| Instead {
            typed: typed.clone(),
            found: found.clone(),
        };
        Self {
            results: found.places.iter().map(SearchResult::from).collect(),
            total: found.total,
            instead: found.instead.iter().map(instead).collect(),
            unknown: found.unknown.clone(),
            unread: found.unread,
        }
    }
}

/// A note, a session or something that was said in one.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SearchResult {
    /// What it is.
    #[serde(rename = "type")]
    #[schemars(extend("enum" = ["note", "session", "message"]))]
    pub sort: String,
    /// The id of the note or the session.
    pub id: Option<String>,
    /// A note's kind, `session`, `message`, `tool_use` or `tool_result`.
    pub kind: String,
    /// What it says; a session's name.
    pub text: String,
    /// Why, where a note says so.
    pub rationale: Option<String>,
    /// The part that fits.
    pub snippet: String,
    /// Where the words that were asked for are in the snippet, in characters.
    pub highlights: Vec<[usize; 2]>,
    /// The name of the session.
    pub session: Option<String>,
    /// Its id.
    pub session_id: Option<String>,
    /// The colleague whose it is; `null` if it is yours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Its agent.
    pub agent: Option<String>,
    /// Whose words they are: `user`, `assistant`, `tool` or `system`.
    pub role: Option<String>,
    /// Its place among what was said in the conversation, from 1.
    pub event: Option<u64>,
    /// When.
    pub at: Option<Timestamp>,
    /// The later note that replaces it.
    pub superseded_by: Option<String>,
    /// How well it fits.
    pub score: f64,
    /// Other places of the same conversation that fit.
    pub passages: Vec<SearchPassage>,
    /// What was said around it, where that was asked for.
    pub context: Vec<SearchPassage>,
}

/// Something that was said.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SearchPassage {
    /// `message`, `tool_use` or `tool_result`.
    pub kind: String,
    /// Who said it.
    pub role: Option<String>,
    /// Its place among what was said in the conversation, from 1.
    pub event: Option<u64>,
    /// When.
    pub at: Option<Timestamp>,
    /// What it says, or the part that fits.
    pub text: String,
}

impl From<&SearchHit> for SearchResult {
    fn from(place: &SearchHit) -> Self {
        let session = place.session.as_ref();
        let sort = match place.kind {
            Kind::Note(_) => "note",
            Kind::Session => "session",
            _ => "message",
        };
        let note = place.note.as_ref();
        let id = note.map(|note| note.id.to_string());
        let snippet = &place.snippet;
        let characters = |byte: usize| snippet.text[..byte].chars().count();
        Self {
            sort: sort.to_owned(),
            id: id.or_else(|| session.map(|session| session.id.to_string())),
            kind: place.kind.as_str().to_owned(),
            text: note.map_or_else(|| place.text.clone(), |note| note.text.clone()),
            rationale: note.and_then(|note| note.rationale.clone()),
            snippet: snippet.text.clone(),
            highlights: snippet
                .marked
                .iter()
                .map(|range| [characters(range.start), characters(range.end)])
                .collect(),
            session: session.map(|session| session.name.to_string()),
            session_id: session.map(|session| session.id.to_string()),
            author: place.author().map(str::to_owned),
            agent: place.agent.clone().or_else(|| {
                session.and_then(|session| session.agent.as_deref().map(str::to_owned))
            }),
            role: place.kind.role().map(str::to_owned),
            event: place.event,
            at: place.at,
            superseded_by: note.and_then(|note| note.superseded_by).map(|id| id.to_string()),
            score: place.score,
            passages: place.more.iter().map(SearchPassage::from).collect(),
            context: place
                .context
                .iter()
                .map(|near| SearchPassage {
                    kind: near.kind.as_str().to_owned(),
                    role: near.kind.role().map(str::to_owned),
                    event: Some(near.event),
                    at: near.at,
                    text: near.text.clone(),
                })
                .collect(),
        }
    }
}

impl From<&SearchHit> for SearchPassage {
    fn from(place: &SearchHit) -> Self {
        Self {
            kind: place.kind.as_str().to_owned(),
            role: place.kind.role().map(str::to_owned),
            event: place.event,
            at: place.at,
            text: place.snippet.text.clone(),
        }
    }
}

/// Past conversations that can be gone on with.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PastList {
    /// Those that fit best first; the newest first where nothing is asked.
    pub sessions: Vec<PastSession>,
}

impl Answer for PastList {}

impl From<&[Past]> for PastList {
    fn from(all: &[Past]) -> Self {
        Self { sessions: all.iter().map(PastSession::from).collect() }
    }
}

/// A past conversation.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PastSession {
    /// The name of the session, where the ledger has it.
    pub session: Option<String>,
    /// The agent.
    pub agent: String,
    /// The agent's own id of the conversation.
    pub agent_session_id: String,
    /// Its name.
    pub title: String,
    /// What was asked first.
    pub prompt: Option<String>,
    /// The branch.
    pub branch: Option<String>,
    /// Where the agent worked.
    pub directory: Option<String>,
    /// When it was last written to.
    pub at: Option<Timestamp>,
    /// Whether the agent still has it; `null` where that is not known.
    pub native_exists: Option<bool>,
}

impl From<&Past> for PastSession {
    fn from(past: &Past) -> Self {
        Self {
            session: past.session.as_ref().map(|session| session.name.to_string()),
            agent: past.agent.clone(),
            agent_session_id: past.agent_session_id.clone(),
            title: past.title.clone(),
            prompt: past.prompt.clone(),
            branch: past.branch.clone(),
            directory: past.directory.as_ref().map(|path| path.display().to_string()),
            at: past.at,
            native_exists: past.transcript.as_ref().map(|path| path.exists()),
        }
    }
}

/// The command that goes on with a conversation.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ResumeCommand {
    /// The name of the session, where the ledger has it.
    pub session: Option<String>,
    /// The agent.
    pub agent: String,
    /// The agent's own id of the conversation.
    pub agent_session_id: String,
    /// Where it is to be run.
    pub directory: Option<String>,
    /// The command.
    pub command: Vec<String>,
}

impl Answer for ResumeCommand {}

impl ResumeCommand {
    /// The command for a past conversation.
    pub fn of(past: &Past, command: Vec<String>) -> Self {
        let PastSession { session, agent, agent_session_id, directory, .. } = past.into();
        Self { session, agent, agent_session_id, directory, command }
    }
}

//! Where sessions come from, what they inherit, and what was said in them.

use heirloom_core::inherit as core;
use heirloom_core::session::{Link, Session};
use heirloom_engine::session::{Conversation as Held, Item};
use heirloom_engine::sessions::{Contribution, Family};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::Answer;
use crate::words;

/// A session's ancestors and descendants.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Lineage {
    /// The session's name.
    pub session: String,
    /// Its id.
    pub id: String,
    /// How it came from its parent.
    #[schemars(with = "Option<words::Link>")]
    pub link: Option<&'static str>,
    /// Its ancestors, nearest first.
    pub ancestors: Vec<Relative>,
    /// Further ancestors that only what was inherited knows, nearest first: sessions of the original
    /// engine, and of ledgers elsewhere.
    pub beyond: Vec<String>,
    /// Its descendants, parents before children.
    pub descendants: Vec<Relative>,
    /// When and how its own conversation went on in another context, oldest first.
    pub continued: Vec<Continued>,
}

impl Answer for Lineage {}

impl Lineage {
    /// `beyond` are ancestors that only what was inherited knows; `contributed` says what a session
    /// added.
    pub fn new<E>(
        family: &Family,
        beyond: Vec<String>,
        contributed: impl Fn(&Session) -> Result<Contribution, E>,
    ) -> Result<Self, E> {
        let relative = |session: &Session| {
            let Contribution { learnings, decisions } = contributed(session)?;
            Ok(Relative::new(session, learnings, decisions))
        };
        let went_on = |(at, link): &(Timestamp, Link)| Continued { at: *at, link: link.as_str() };
        let descendants = family.descendants.iter().map(|(_, session)| session);
        Ok(Self {
            session: family.session.name.to_string(),
            id: family.session.id.to_string(),
            link: family.session.link.map(Link::as_str),
            ancestors: family.ancestors.iter().map(relative).collect::<Result<_, E>>()?,
            beyond,
            descendants: descendants.map(relative).collect::<Result<_, E>>()?,
            continued: family.continued.iter().map(went_on).collect(),
        })
    }
}

/// An ancestor or a descendant.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Relative {
    /// Its name.
    pub name: String,
    /// Its id.
    pub id: String,
    /// The colleague who ran it; `null` if it is yours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Its status.
    #[schemars(with = "words::SessionStatus")]
    pub status: String,
    /// How it came from its parent.
    #[schemars(with = "Option<words::Link>")]
    pub link: Option<&'static str>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// The number of learnings it recorded.
    pub learnings: u64,
    /// How many decisions it made.
    pub decisions: u64,
}

impl Relative {
    pub fn new(session: &Session, learnings: u64, decisions: u64) -> Self {
        Self {
            name: session.name.to_string(),
            id: session.id.to_string(),
            author: session.author.clone(),
            status: session.status.to_string(),
            link: session.link.map(Link::as_str),
            completed_at: session.completed_at,
            learnings,
            decisions,
        }
    }
}

/// That a conversation went on in another context.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Continued {
    /// When.
    pub at: Timestamp,
    /// How.
    #[schemars(with = "words::Link")]
    pub link: &'static str,
}

/// What was said and done in a session, and in all it continues.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Conversation {
    /// The session's name.
    pub session: String,
    /// The names of the sessions it is made of, oldest first.
    pub sessions: Vec<String>,
    /// What happened, in order.
    pub events: Vec<Said>,
    /// Where the next part begins, where only a part was asked for and there is more.
    pub next: Option<usize>,
}

impl Answer for Conversation {}

impl Conversation {
    /// All that was said on the way to the end of `session`.
    pub fn new(session: &Session, held: Held) -> Self {
        Self {
            session: session.name.to_string(),
            sessions: held.sessions.iter().map(|session| session.name.to_string()).collect(),
            events: held.items.into_iter().map(Said::from).collect(),
            next: None,
        }
    }
}

/// One event of a conversation.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Said {
    /// Counted from 1 over the whole conversation.
    pub number: usize,
    /// The session it happened in.
    pub session: String,
    /// What: `prompt`, `text`, `thinking`, `tool_call`, `tool_result`, `compacted`, `notice`,
    /// `error` or `result`.
    pub kind: String,
    /// The words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The agent's id of the tool use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// What the tool was used with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// Whether it went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// The tool use whose subagent speaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
    /// The agent's id of the message, where a fork can begin after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// When, where the agent said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

/// With `watch`, one of them a line.
impl Answer for Said {}

impl From<Item> for Said {
    fn from(item: Item) -> Self {
        Self {
            number: item.number,
            session: item.session,
            kind: item.kind.to_owned(),
            text: item.text,
            tool: item.tool,
            tool_call_id: item.tool_call_id,
            input: item.input,
            is_error: item.is_error,
            subagent: item.subagent,
            message: item.message,
            at: item.at,
        }
    }
}

/// What a session inherits: the block in its `context.json`, with a version of its own.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Inherited {
    /// The version of this shape.
    pub version: String,
    /// The session it is inherited from.
    pub from_session: String,
    /// When that session ended, if it did.
    pub from_completed_at: Option<Timestamp>,
    /// That session and its ancestors, nearest first.
    pub lineage: Vec<String>,
    /// Learnings.
    pub learnings: Vec<String>,
    /// Patterns that worked.
    pub patterns: Vec<String>,
    /// Warnings.
    pub warnings: Vec<String>,
    /// Decisions and their reasons.
    pub decisions: Vec<String>,
    /// What was done.
    pub progress_summary: String,
    /// The same items with all that is known about them: the learnings in their order, then the
    /// patterns, the warnings and the decisions.
    pub notes: Vec<InheritedNote>,
    /// How many of each were left out.
    pub truncated: Truncated,
    /// How many secrets were taken out of it.
    pub redacted: usize,
    /// Its estimated size in tokens.
    pub tokens: usize,
    /// What went wrong while it was put together.
    pub warnings_raised: Vec<String>,
}

impl Answer for Inherited {}

/// An inherited note with all that is known about it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct InheritedNote {
    /// The note, where the ledger knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What sort of thing it says.
    #[schemars(with = "words::NoteKind")]
    pub kind: String,
    /// What it says.
    pub text: String,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    /// The session it was made in.
    pub from_session: String,
    /// When it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// What it rests on, and whether that still holds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<CheckedEvidence>,
}

/// A piece of evidence and what became of it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CheckedEvidence {
    /// The file.
    pub path: String,
    /// The first line.
    pub line: u32,
    /// The last line, where there is more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u32>,
    /// What stood there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// `verified`, `moved`, `broken` or `unchecked`.
    pub verdict: String,
    /// The file it moved to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found_path: Option<String>,
    /// The line it moved to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found_line: Option<u32>,
    /// Why it is broken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How much was left out, by caps or for the limit on tokens.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Truncated {
    /// Learnings.
    pub learnings: usize,
    /// Patterns.
    pub patterns: usize,
    /// Warnings.
    pub warnings: usize,
    /// Decisions.
    pub decisions: usize,
    /// Characters of the progress summary.
    pub progress: usize,
}

impl From<core::Truncated> for Truncated {
    fn from(left_out: core::Truncated) -> Self {
        let core::Truncated { learnings, patterns, warnings, decisions, progress } = left_out;
        Self { learnings, patterns, warnings, decisions, progress }
    }
}

impl From<&core::Inherited> for Inherited {
    fn from(block: &core::Inherited) -> Self {
        Self {
            version: block.version.clone(),
            from_session: block.from_session.clone(),
            from_completed_at: block.from_completed_at,
            lineage: block.lineage.clone(),
            learnings: block.learnings.clone(),
            patterns: block.patterns.clone(),
            warnings: block.warnings.clone(),
            decisions: block.decisions.clone(),
            progress_summary: block.progress_summary.clone(),
            notes: block.notes.iter().map(InheritedNote::from).collect(),
            truncated: block.truncated.into(),
            redacted: block.redacted,
            tokens: block.tokens,
            warnings_raised: block.warnings_raised.clone(),
        }
    }
}

impl From<&core::InheritedNote> for InheritedNote {
    fn from(note: &core::InheritedNote) -> Self {
        Self {
            id: note.id.map(|id| id.to_string()),
            kind: note.kind.to_string(),
            text: note.text.clone(),
            rationale: note.rationale.clone(),
            from_session: note.from_session.clone(),
            at: note.at,
            evidence: note.evidence.iter().map(CheckedEvidence::from).collect(),
        }
    }
}

impl From<&core::CheckedEvidence> for CheckedEvidence {
    fn from(evidence: &core::CheckedEvidence) -> Self {
        Self {
            path: evidence.path.clone(),
            line: evidence.line,
            end_line: evidence.end_line,
            quote: evidence.quote.clone(),
            verdict: evidence.verdict.clone(),
            found_path: evidence.found_path.clone(),
            found_line: evidence.found_line,
            reason: evidence.reason.clone(),
        }
    }
}

//! Why something is as it is, and how something was done.

use heirloom_engine::recall::how::{Fix, How as Found, Worked};
use heirloom_engine::recall::why::{Origin, Why as Known};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::Note;
use crate::{Answer, SearchResult};

/// Why a line or a file is as it is.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Why {
    /// The file, from the repository's root.
    pub path: String,
    /// The line, where one was asked for.
    pub line: Option<u32>,
    /// What the line says.
    pub text: Option<String>,
    /// The commit that git names for the line; `null` where it is not committed.
    pub commit: Option<WhyCommit>,
    /// The sessions it comes from, the surest first; for a file, the newest first.
    pub origins: Vec<WhyOrigin>,
    /// Notes that rest on this place.
    pub notes: Vec<Note>,
}

impl Answer for Why {}

/// A commit.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WhyCommit {
    /// Its hash; as git printed it where a session made it.
    pub hash: String,
    /// Its subject.
    pub subject: String,
    /// Who wrote it, where git was asked.
    pub author: Option<String>,
    /// When.
    pub at: Option<Timestamp>,
}

/// A session that a line or a file comes from.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WhyOrigin {
    /// The name of the session.
    pub session: String,
    /// Its id.
    pub session_id: String,
    /// Its agent.
    pub agent: Option<String>,
    /// The conversation's title.
    pub title: Option<String>,
    /// The issue it worked on, in a run of `heirloom work`.
    pub issue: Option<String>,
    /// How it is known: an `edit` in it wrote the line, it made the `commit`, it made a commit of the same
    /// `subject` that was rebased or amended since, or it changed the `file`.
    #[schemars(extend("enum" = ["edit", "commit", "subject", "file"]))]
    pub proof: String,
    /// The commit it made of it.
    pub commit: Option<WhyCommit>,
    /// The number of the turn, from 1.
    pub turn: Option<u64>,
    /// The prompt that led to it.
    pub prompt: Option<String>,
    /// What the agent said before it did it.
    pub said: Option<String>,
    /// When.
    pub at: Option<Timestamp>,
    /// What was decided in that session, what is nearest first.
    pub decisions: Vec<Note>,
}

impl From<&Known> for Why {
    fn from(why: &Known) -> Self {
        let commit = why.blamed.as_ref().and_then(|blamed| {
            Some(WhyCommit {
                hash: blamed.commit.clone()?,
                subject: blamed.subject.clone(),
                author: Some(blamed.author.clone()),
                at: Timestamp::from_second(blamed.at).ok(),
            })
        });
        Self {
            path: why.path.clone(),
            line: why.line,
            text: why.text.clone(),
            commit,
            origins: why.origins.iter().map(WhyOrigin::from).collect(),
            notes: why.notes.iter().map(|(note, session)| Note::new(note, session)).collect(),
        }
    }
}

impl From<&Origin> for WhyOrigin {
    fn from(origin: &Origin) -> Self {
        let name = origin.session.name.to_string();
        let commit = origin.commit.as_ref().map(|commit| WhyCommit {
            hash: commit.hash.clone(),
            subject: commit.subject.clone(),
            author: None,
            at: commit.at,
        });
        Self {
            session_id: origin.session.id.to_string(),
            agent: origin.session.agent.as_deref().map(str::to_owned),
            title: origin.title.clone(),
            issue: origin.issue.clone(),
            proof: origin.proof.as_str().to_owned(),
            commit,
            turn: origin.prompt.as_ref().map(|prompt| prompt.number),
            prompt: origin.prompt.as_ref().map(|prompt| prompt.text.clone()),
            said: origin.said.clone(),
            at: origin.at,
            decisions: origin.decisions.iter().map(|note| Note::new(note, &name)).collect(),
            session: name,
        }
    }
}

/// What worked last time.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct How {
    /// Failures that ended, best fit first.
    pub fixes: Vec<HowFix>,
    /// Commands that worked and have every word that was asked for, newest first.
    pub commands: Vec<HowCommand>,
    /// What is noted about it.
    pub notes: Vec<SearchResult>,
}

impl Answer for How {}

/// A failure, and what ended it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HowFix {
    /// The command that failed.
    pub failed: String,
    /// What it said.
    pub error: Option<String>,
    /// How often it failed so.
    pub times: usize,
    /// What was run in between and may have made the difference.
    pub steps: Vec<String>,
    /// The files that were edited in between.
    pub edited: Vec<String>,
    /// The command that worked.
    pub worked: String,
    /// The name of the session.
    pub session: String,
    /// Its id.
    pub session_id: String,
    /// What was asked for in that turn.
    pub prompt: Option<String>,
    /// When it worked.
    pub at: Option<Timestamp>,
}

/// A command that worked.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HowCommand {
    /// The command line.
    pub command: String,
    /// How often.
    pub times: usize,
    /// The session it worked in last.
    pub session: String,
    /// The id of that session.
    pub session_id: String,
    /// When that was.
    pub at: Option<Timestamp>,
}

impl From<&Found> for How {
    fn from(how: &Found) -> Self {
        Self {
            fixes: how.fixes.iter().map(HowFix::from).collect(),
            commands: how.commands.iter().map(HowCommand::from).collect(),
            notes: how.notes.iter().map(SearchResult::from).collect(),
        }
    }
}

impl From<&Fix> for HowFix {
    fn from(fix: &Fix) -> Self {
        Self {
            failed: fix.failed.clone(),
            error: fix.error.clone(),
            times: fix.times,
            steps: fix.steps.clone(),
            edited: fix.edited.clone(),
            worked: fix.worked.clone(),
            session: fix.session.name.to_string(),
            session_id: fix.session.id.to_string(),
            prompt: fix.prompt.clone(),
            at: fix.at,
        }
    }
}

impl From<&Worked> for HowCommand {
    fn from(worked: &Worked) -> Self {
        Self {
            command: worked.command.clone(),
            times: worked.times,
            session: worked.session.name.to_string(),
            session_id: worked.session.id.to_string(),
            at: worked.at,
        }
    }
}

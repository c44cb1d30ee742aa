//! What was taken in of the agents' own transcripts.

use std::path::PathBuf;

use heirloom_engine::capture::{self, Kept};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Answer, Note};

/// What `sync` took in.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Sync {
    /// Each agent that was looked for.
    pub agents: Vec<AgentSync>,
    /// Whether nothing was taken in, only looked for.
    pub dry_run: bool,
    /// Bytes that were taken in, or would be.
    pub bytes: u64,
    /// Sessions of repositories that were never set up here, which were left alone.
    pub elsewhere: u64,
}

impl Answer for Sync {}

/// What `sync` took in of one agent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AgentSync {
    /// The agent.
    pub agent: String,
    /// Sessions that are known after the call.
    pub sessions: u64,
    /// Sessions that this call took in, or saw grow.
    pub new: u64,
    /// Messages that are known after the call.
    pub messages: u64,
    /// What this call could not read.
    pub skipped: Vec<SkippedTranscript>,
}

/// A transcript that could not be read.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SkippedTranscript {
    /// The file.
    pub path: String,
    /// Why.
    pub why: String,
}

impl Sync {
    pub fn new(synced: &capture::Synced, dry_run: bool) -> Self {
        let agent = |each: &capture::AgentSync| AgentSync {
            agent: each.agent.clone(),
            sessions: each.sessions,
            new: each.new,
            messages: each.messages,
            skipped: each
                .skipped
                .iter()
                .map(|skipped| SkippedTranscript {
                    path: skipped.path.clone(),
                    why: skipped.why.clone(),
                })
                .collect(),
        };
        let agents = synced.agents.iter().map(agent).collect();
        Self { agents, dry_run, bytes: synced.bytes, elsewhere: synced.elsewhere }
    }
}

/// The sessions whose transcripts are kept.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ArchiveList {
    /// The sessions, the one that was last taken in first.
    pub sessions: Vec<ArchivedSession>,
}

impl Answer for ArchiveList {}

/// A session whose transcripts are kept.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ArchivedSession {
    /// The session's id.
    pub session: String,
    /// Its name, where it is of this repository.
    pub name: Option<String>,
    /// The agent.
    pub agent: String,
    /// Bytes of its transcripts.
    pub bytes: u64,
    /// Bytes they take in the archive; 0 where only facts are kept.
    pub stored: u64,
    /// When something was last taken in.
    pub archived_at: Timestamp,
    /// Whether the agent still has it itself.
    pub native_exists: bool,
}

/// The transcripts of one session that are kept.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ArchiveDetail {
    /// The session's id.
    pub session: String,
    /// The session's name.
    pub name: String,
    /// The transcripts: its own first, then those of its subagents; the oldest first.
    pub transcripts: Vec<ArchivedTranscript>,
}

impl Answer for ArchiveDetail {}

/// A transcript that is kept.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ArchivedTranscript {
    /// The agent.
    pub agent: String,
    /// The subagent, if it is one's.
    pub subagent: Option<String>,
    /// Where the agent keeps it, or kept it.
    pub path: String,
    /// Counted up whenever the agent's file was found rewritten; all of them are kept.
    pub generation: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Bytes it takes in the archive; 0 where only facts are kept.
    pub stored: u64,
    /// When something was last taken in.
    pub archived_at: Timestamp,
    /// Whether the agent still has it itself.
    pub native_exists: bool,
}

impl From<&Kept> for ArchivedTranscript {
    fn from(kept: &Kept) -> Self {
        Self {
            agent: kept.agent.clone(),
            subagent: kept.subagent.clone(),
            path: kept.path.to_string_lossy().into_owned(),
            generation: kept.generation,
            bytes: kept.bytes,
            stored: kept.stored,
            archived_at: kept.archived_at,
            native_exists: kept.path.exists(),
        }
    }
}

/// What was put back where its agent resumes it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ArchiveRestored {
    /// The session's id.
    pub session: String,
    /// The files.
    pub files: Vec<RestoredFile>,
}

impl Answer for ArchiveRestored {}

/// A file of an agent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RestoredFile {
    /// Where it is.
    pub path: String,
    /// Whether it was put back; one that is there is left as it is.
    pub restored: bool,
}

/// What the agent of a session proposed when it looked back on it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SessionDistilled {
    /// The session's name.
    pub session: String,
    /// What was recorded.
    pub notes: Vec<Note>,
    /// What was not.
    pub refused: Vec<Refused>,
    /// What the agent said it cost, in US dollars; `null` where it did not say.
    pub cost_usd: Option<f64>,
}

/// A proposal that was not recorded.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Refused {
    /// What it said.
    pub text: String,
    /// Why it was not recorded.
    pub why: String,
}

impl Answer for SessionDistilled {}

impl SessionDistilled {
    pub fn new(session: &str, distilled: &capture::Distilled) -> Self {
        let refused =
            |(text, why): &(String, String)| Refused { text: text.clone(), why: why.clone() };
        Self {
            session: session.to_owned(),
            notes: distilled.notes.iter().map(|note| Note::new(note, session)).collect(),
            refused: distilled.refused.iter().map(refused).collect(),
            cost_usd: distilled.cost_usd,
        }
    }
}

/// What went with a session that was forgotten.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SessionForgotten {
    /// The session's name.
    pub session: String,
    /// Files of the archive.
    pub archived: usize,
    /// Whether facts were known.
    pub facts: bool,
    /// Records whose content was erased.
    pub records: usize,
    /// Files of its runs and streams.
    pub files: usize,
    /// Backups that held it.
    pub backups: usize,
    /// Copies of it that were made for agents.
    pub copies: usize,
    /// Sessions that continue it: what was kept of their transcripts is gone as well, because it is in them.
    pub continued: Vec<String>,
    /// Files and records of other sessions in which what they had inherited of it was masked or erased.
    pub quotes: usize,
    /// Pages of checkouts that its notes were removed from.
    pub pages: Vec<String>,
    /// Where agents still keep the conversation: that is for them to delete.
    pub native: Vec<String>,
    /// Whether it had been forgotten before and nothing was left to delete.
    pub already: bool,
}

impl Answer for SessionForgotten {}

impl SessionForgotten {
    pub fn new(session: String, gone: &capture::Forgotten) -> Self {
        let shown = |path: &PathBuf| path.to_string_lossy().into_owned();
        Self {
            session,
            archived: gone.archived,
            facts: gone.facts,
            records: gone.records,
            files: gone.files,
            backups: gone.backups,
            copies: gone.copies,
            continued: gone.continued.iter().map(ToString::to_string).collect(),
            quotes: gone.quotes,
            pages: gone.pages.iter().map(shown).collect(),
            native: gone.native.iter().map(shown).collect(),
            already: gone.already,
        }
    }
}

//! An issue's prior agent session: which one it is, and whether it is still there.

use std::path::Path;

use heirloom_agents::{Env, by_name};
use heirloom_core::issue::IssueId;
use heirloom_core::session::Session;
use heirloom_core::work::Checked;
use heirloom_ledger::{Error, Ledger};
use jiff::Timestamp;

/// The agent session that an issue goes on with.
#[derive(Debug, Clone)]
pub struct Resumes {
    /// The agent it is of. No other one is ever given its id.
    pub agent: String,
    /// Its id.
    pub agent_session_id: String,
    /// When the run began that it comes from.
    pub at: Timestamp,
    /// The session, where one of ours had it.
    pub(super) session: Option<Session>,
    /// What the gate found last.
    pub(super) findings: Vec<Checked>,
    transcript: Option<String>,
    worktree: Option<String>,
}

/// The newest agent session of an issue that can be resumed.
pub(super) fn find(ledger: &Ledger, repo: &str, issue: &IssueId) -> Result<Option<Resumes>, Error> {
    let Some(run) = ledger.resumable_run(repo, issue.as_str())? else { return Ok(None) };
    let (Some(agent), Some(agent_session_id)) = (run.agent, run.agent_session_id) else {
        return Ok(None);
    };
    let session = match run.session {
        Some(id) => ledger.session(id)?.filter(|session| session.agent.as_ref() == Some(&agent)),
        None => None,
    };
    Ok(Some(Resumes {
        agent,
        agent_session_id,
        at: run.started_at,
        session,
        findings: run.gate,
        transcript: run.transcript,
        worktree: run.worktree,
    }))
}

impl Resumes {
    /// The directory it worked in, where that is known.
    pub(super) fn directory(&self) -> Option<String> {
        let config = self.session.as_ref().and_then(|session| session.config.as_ref().ok());
        config.and_then(|config| config.working_dir.clone()).or_else(|| self.worktree.clone())
    }

    /// Whether the agent's transcript was there once and is not any more: then it cannot know the
    /// conversation, and need not be asked. Of a transcript that nobody ever saw nothing is known.
    pub(super) fn is_gone(&self, env: &Env) -> bool {
        let Some(path) = &self.transcript else { return false };
        !Path::new(path).exists() && transcript(&self.agent, env, &self.agent_session_id).is_none()
    }
}

/// Where the agent keeps what was said in a conversation.
pub(super) fn transcript(agent: &str, env: &Env, agent_session_id: &str) -> Option<String> {
    let transcripts = by_name(agent)?.transcripts()?;
    let found = transcripts.find(env, agent_session_id)?;
    Some(found.path.to_string_lossy().into_owned())
}

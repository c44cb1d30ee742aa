//! An issue's prior agent session: which one it is, and whether it is still there.

use std::path::Path;

use heirloom_agents::{Env, by_name};
use heirloom_core::event::WorkImported;
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
    let id = run.agent_session_id.or(run.chosen_id);
    let (Some(agent), Some(agent_session_id)) = (run.agent, id) else { return Ok(None) };
    // One whose agent never got to say who it is has only the id that it was given.
    let is_its =
        |session: &Session| session.agent.as_deref() == Some(agent.as_str()) && session.announced;
    let session = match run.session {
        Some(id) => ledger.session(id)?.filter(is_its),
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
    /// What a run of the original leaves of an issue, if its agent could be asked for it.
    pub(super) fn of_original(run: &WorkImported, issue: &IssueId) -> Option<Self> {
        let found = run.issues.iter().find(|each| each.issue == *issue)?;
        Some(Self {
            agent: found.agent.clone()?.into(),
            agent_session_id: found.agent_session_id.clone()?,
            at: run.started_at,
            session: None,
            findings: Vec::new(),
            transcript: found.transcript.clone(),
            worktree: None,
        })
    }

    /// The directory it worked in, where that is known.
    pub(super) fn directory(&self) -> Option<String> {
        let config = self.session.as_ref().and_then(|session| session.config.as_ref().ok());
        config.and_then(|config| config.working_dir.clone()).or_else(|| self.worktree.clone())
    }

    /// Why the agent cannot know the conversation, and need not be asked: none of its conversations has such an
    /// id, or its transcript was there once and is not any more, or has lost its beginning. Of a transcript that
    /// nobody ever saw nothing is known.
    pub(super) fn why_gone(&self, env: &Env) -> Option<String> {
        let Self { agent, agent_session_id: id, .. } = self;
        if by_name(agent).is_some_and(|agent| !agent.takes_id(id)) {
            return Some(format!("{id} is not a conversation of {agent}"));
        }
        let kept = self.transcript.as_deref().filter(|path| Path::new(path).exists());
        let now = kept.map(str::to_owned).or_else(|| transcript(agent, env, id));
        match now {
            None => {
                self.transcript.as_ref().map(|_| format!("{agent} no longer has conversation {id}"))
            }
            Some(path) => {
                let transcripts = by_name(agent)?.transcripts()?;
                let stump = !transcripts.is_whole(Path::new(&path));
                stump.then(|| format!("{agent} only has the end of conversation {id}"))
            }
        }
    }
}

/// Where the agent keeps what was said in a conversation.
pub(super) fn transcript(agent: &str, env: &Env, agent_session_id: &str) -> Option<String> {
    let transcripts = by_name(agent)?.transcripts()?;
    let found = transcripts.find(env, agent_session_id)?;
    Some(found.path.to_string_lossy().into_owned())
}

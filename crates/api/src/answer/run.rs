//! Runs: what one would do, and how one stands.

use heirloom_core::session::Session;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::Plan;
use super::lineage::Inherited;
use crate::{Answer, words};

/// What a run would do, and the prompt its first agent would get.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RunPreview {
    /// The name of the session it would make.
    pub session: String,
    /// What it would run.
    pub plan: Plan,
    /// The first prompt, as the agent would get it.
    pub prompt: String,
    /// What it would inherit.
    pub inherited: Option<Inherited>,
}

impl Answer for RunPreview {}

/// That a run goes on in the background.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RunDetached {
    /// The session's name.
    pub session: String,
    /// The process that drives it.
    pub pid: u32,
    /// The file its output goes to.
    pub log: String,
}

impl Answer for RunDetached {}

/// One session's state.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SessionState {
    /// Its name.
    pub name: String,
    /// Its id.
    pub id: String,
    /// Its status.
    #[schemars(with = "words::SessionStatus")]
    pub status: String,
    /// Why it has that status, where there is more to say.
    pub reason: Option<String>,
    /// The agent that does the work.
    pub agent: Option<String>,
    /// The branch it was started on.
    pub branch: Option<String>,
    /// When it was recorded.
    pub created_at: Timestamp,
    /// When it last ended.
    pub completed_at: Option<Timestamp>,
    /// The number of learnings it recorded.
    pub learnings: u64,
    /// What it cost, in USD.
    pub cost_usd: Option<f64>,
    /// How many iterations were made.
    pub iterations: usize,
    /// The stage of the last one.
    pub stage: Option<String>,
    /// The number of the last one.
    pub iteration: Option<u32>,
    /// The stages that are over.
    pub stages: Vec<EndedStage>,
    /// The process that drives it.
    pub engine_pid: Option<u32>,
    /// What was wrong with what agents reported.
    pub warnings: Vec<IterationWarning>,
}

impl Answer for SessionState {}

impl SessionState {
    /// The state of a session of which nothing but the session itself is known.
    pub fn new(session: &Session) -> Self {
        let known = super::session::Session::new(session, None);
        Self {
            name: known.name,
            id: known.id,
            status: known.status,
            reason: session.reason.clone(),
            agent: known.agent,
            branch: known.branch,
            created_at: known.created_at,
            completed_at: known.completed_at,
            learnings: known.learnings,
            cost_usd: known.cost_usd,
            iterations: 0,
            stage: None,
            iteration: None,
            stages: Vec::new(),
            engine_pid: None,
            warnings: Vec::new(),
        }
    }
}

/// A stage that is over.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EndedStage {
    /// The stage.
    pub stage: String,
    /// Why it is over.
    pub reason: String,
}

/// Something that was wrong with what an agent reported.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct IterationWarning {
    /// The stage.
    pub stage: String,
    /// The iteration.
    pub iteration: u32,
    /// What.
    pub warning: String,
}

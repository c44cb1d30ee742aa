//! Agents and what they can do.

use heirloom_agents::find::FeatureReport;
use heirloom_engine::agents::AgentStatus;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Answer;

/// The agents heirloom knows.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AgentList {
    /// The agents.
    pub agents: Vec<Agent>,
}

impl Answer for AgentList {}

/// What is known about an agent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Agent {
    /// Its name in settings and commands.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// Whether its program is there and answers.
    pub found: bool,
    /// Where its program is.
    pub path: Option<String>,
    /// The version it says it has.
    pub version: Option<String>,
    /// The version it was tested with.
    pub tested_version: Option<String>,
    /// What it can do and what it cannot.
    pub features: Vec<Feature>,
    /// What is wrong, when it cannot be used.
    pub problem: Option<String>,
    /// How to get it.
    pub install: String,
    /// When its program was last asked.
    pub checked_at: Option<Timestamp>,
}

impl From<&AgentStatus> for Agent {
    fn from(agent: &AgentStatus) -> Self {
        Self {
            name: agent.name.to_owned(),
            title: agent.title.to_owned(),
            found: agent.found,
            path: agent.path.as_ref().map(|path| path.display().to_string()),
            version: agent.version.clone(),
            tested_version: agent.tested_version.map(str::to_owned),
            features: agent.features.iter().map(Feature::from).collect(),
            problem: agent.problem.clone(),
            install: agent.install.to_owned(),
            checked_at: agent.checked_at,
        }
    }
}

/// One thing an agent can or cannot do.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Feature {
    /// What.
    pub feature: String,
    /// Whether it can.
    pub supported: bool,
    /// The catch, or the reason why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl From<&FeatureReport> for Feature {
    fn from(report: &FeatureReport) -> Self {
        Self {
            feature: report.feature.as_str().to_owned(),
            supported: report.supported,
            note: report.note.map(str::to_owned),
        }
    }
}

//! `state.json`: where a session is, for people and scripts that look at its directory.

use std::path::PathBuf;

use heirloom_core::note::{Kind, Note};
use heirloom_core::run::plan::Plan;
use heirloom_core::status::Status;
use heirloom_repo::FileError;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::file;

/// What the file says. While the session runs its size does not grow with the iterations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) session: String,
    pub(super) id: String,
    pub(super) status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    pub(super) started_at: Timestamp,
    pub(super) updated_at: Timestamp,
    pub(super) completed_at: Option<Timestamp>,
    pub(super) parent_session: Option<String>,
    pub(super) lineage: Vec<String>,
    pub(super) plan: String,
    pub(super) stages: Vec<StageState>,
    pub(super) stage: Option<String>,
    pub(super) iteration: u32,
    pub(super) iterations: u32,
    /// What agents told; an estimate counts against a limit but is not what it cost.
    pub(super) cost_usd: Option<f64>,
    /// What it found out, once it is over.
    #[serde(default, skip_serializing_if = "Option::is_none", flatten)]
    pub(super) found: Option<Found>,
}

/// What a session found out, as the files of the original engine name it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Found {
    pub(super) learnings: Vec<String>,
    pub(super) patterns: Vec<String>,
    pub(super) warnings: Vec<String>,
    pub(super) decisions: Vec<String>,
}

impl Found {
    /// What stands of the notes of a session.
    pub(super) fn of(notes: Vec<Note>) -> Self {
        let mut found = Self::default();
        for note in notes {
            let text = match note.rationale {
                Some(why) => format!("{} - {why}", note.text),
                None => note.text,
            };
            match note.kind {
                Kind::Learning => found.learnings.push(text),
                Kind::Pattern => found.patterns.push(text),
                Kind::Warning => found.warnings.push(text),
                Kind::Decision => found.decisions.push(text),
                _ => {}
            }
        }
        found
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct StageState {
    pub(super) name: String,
    pub(super) dir: String,
    pub(super) agent: String,
    pub(super) max: u32,
    pub(super) iteration: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
}

/// The file and what it says.
#[derive(Debug)]
pub(super) struct StateFile {
    path: PathBuf,
    pub(super) state: State,
}

impl StateFile {
    pub(super) fn new(path: PathBuf, state: State) -> Self {
        Self { path, state }
    }

    pub(super) fn write(&mut self, at: Timestamp) -> Result<(), FileError> {
        self.state.updated_at = at;
        let mut text = serde_json::to_vec_pretty(&self.state).unwrap_or_default();
        text.push(b'\n');
        file::replace(&self.path, &text)
    }

    pub(super) fn stage(&mut self, dir: &str) -> Option<&mut StageState> {
        self.state.stages.iter_mut().find(|stage| stage.dir == dir)
    }
}

/// Writes into the file of a session whose engine is gone that it does not run any more. It follows
/// the ledger, so a file that cannot be used stays as it is.
pub(super) fn close(path: &std::path::Path, status: Status, reason: Option<&str>) {
    let text = heirloom_repo::read_text(path).ok().flatten();
    let Some(Value::Object(mut state)) = text.and_then(|text| serde_json::from_str(&text).ok())
    else {
        return;
    };
    state.insert("status".to_owned(), Value::from(status.as_str()));
    state.insert("reason".to_owned(), reason.map_or(Value::Null, Value::from));
    let mut text = serde_json::to_vec_pretty(&state).unwrap_or_default();
    text.push(b'\n');
    let _ = file::replace(path, &text);
}

/// The stages of a plan, none of them begun.
pub(super) fn stages(plan: &Plan) -> Vec<StageState> {
    plan.all_stages()
        .map(|stage| StageState {
            name: stage.id.clone(),
            dir: stage.dir.clone(),
            agent: stage.agent.clone(),
            max: stage.max,
            iteration: 0,
            reason: None,
        })
        .collect()
}

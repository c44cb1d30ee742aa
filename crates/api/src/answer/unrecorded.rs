//! Sessions that only run directories know, the original engine's for one.

use heirloom_core::inherit::Category;
use heirloom_engine::run::inherit;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Answer;

/// A session of a run directory that the ledger does not know.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct UnrecordedSession {
    /// Its name.
    pub name: String,
    /// Its status, where its files say one.
    pub status: Option<String>,
    /// When it ended, if it did.
    pub completed_at: Option<Timestamp>,
    /// The number of learnings it recorded.
    pub learnings: usize,
    /// The session it comes from.
    pub parent: Option<String>,
}

/// What a run directory says of its session, which the ledger does not know.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct UnrecordedDetail {
    /// Its name.
    pub name: String,
    /// Its status, where its files say one.
    pub status: Option<String>,
    /// When it ended, if it did.
    pub completed_at: Option<Timestamp>,
    /// The sessions it comes from, nearest first.
    pub ancestors: Vec<String>,
    /// What it learned.
    pub learnings: Vec<String>,
    /// What it decided.
    pub decisions: Vec<String>,
}

impl Answer for UnrecordedDetail {}

impl From<inherit::UnrecordedDetail> for UnrecordedDetail {
    fn from(session: inherit::UnrecordedDetail) -> Self {
        let texts = |category: Category| {
            let items = session.items.iter().filter(|item| item.category == category);
            items.map(|item| item.text.clone()).collect()
        };
        Self {
            learnings: texts(Category::Learnings),
            decisions: texts(Category::Decisions),
            name: session.name,
            status: session.status.map(|status| status.to_string()),
            completed_at: session.completed_at,
            ancestors: session.ancestors,
        }
    }
}

impl From<inherit::Unrecorded> for UnrecordedSession {
    fn from(session: inherit::Unrecorded) -> Self {
        Self {
            name: session.name,
            status: session.status.map(|status| status.to_string()),
            completed_at: session.completed_at,
            learnings: session.learnings,
            parent: session.parent,
        }
    }
}

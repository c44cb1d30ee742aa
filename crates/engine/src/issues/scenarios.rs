//! The test scenarios that go with what was decided on an issue: asked for before it is closed, as a
//! checkpoint asks for those of a session.

use std::fmt;

use heirloom_core::issue::IssueId;
use heirloom_core::note::Scenarios;
use heirloom_core::settings::{Checkpoint, CheckpointMode};
use heirloom_ledger::{Error, Ledger, NoteFilter};

use super::TrackerError;
use crate::here::Here;

/// An issue with decisions and too few test scenarios.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Untested {
    pub issue: IssueId,
    pub scenarios: Scenarios,
    /// Whether it may not be closed like that.
    pub refuses: bool,
}

impl fmt::Display for Untested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (id, Scenarios { count, asked, .. }) = (&self.issue, self.scenarios);
        write!(f, "{id} has decisions, but only {count} of {asked} test scenarios")
    }
}

impl From<Untested> for TrackerError {
    fn from(untested: Untested) -> Self {
        Self::Untested { id: untested.issue.clone(), why: untested.to_string() }
    }
}

/// What an issue lacks before it may be closed, by the settings that hold here.
pub fn untested(here: &Here, ledger: &Ledger, issue: &IssueId) -> Result<Option<Untested>, Error> {
    // Settings that cannot be read are said elsewhere; closing an issue is not the place.
    let rule = here.settings(&[]).map(|loaded| loaded.settings.checkpoint).unwrap_or_default();
    lacks(here, ledger, &rule, issue)
}

/// The same, by settings that are known.
pub(crate) fn lacks(
    here: &Here,
    ledger: &Ledger,
    rule: &Checkpoint,
    issue: &IssueId,
) -> Result<Option<Untested>, Error> {
    if rule.mode == CheckpointMode::Off {
        return Ok(None);
    }
    let repo = Some(here.place.repo.as_str());
    let filter = NoteFilter { repo, issue: Some(issue.as_str()), ..NoteFilter::default() };
    let found = Scenarios::of(&ledger.notes(&filter)?, rule.scenarios);
    let refuses = rule.mode == CheckpointMode::Strict;
    let lacking = found.filter(|found| !found.are_enough());
    Ok(lacking.map(|scenarios| Untested { issue: issue.clone(), scenarios, refuses }))
}

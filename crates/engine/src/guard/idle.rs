//! Finding out how requirements stand where nobody wants a command run for it: to explain, and at the
//! start of a session, where there may be many of them and the agent waits.

use heirloom_core::guard::branch::BranchKey;
use heirloom_core::guard::check::{Facts, Fault, FileFact};
use heirloom_core::guard::requirement::{Measure, Requirement};
use heirloom_core::guard::state::Held;
use jiff::Timestamp;

use super::facts::GuardFacts;

/// What is known without running a command of the settings.
pub(super) struct Idle<'a>(pub(super) GuardFacts<'a>);

impl Facts for Idle<'_> {
    fn held(&mut self, requirement: &Requirement, branch: &BranchKey) -> Result<Held, Fault> {
        self.0.held(requirement, branch)
    }
    fn files(&mut self, paths: &[String]) -> Result<Vec<FileFact>, Fault> {
        self.0.files(paths)
    }
    fn succeeds(&mut self, command: &str, _: u64) -> Result<bool, Fault> {
        Err(Fault { what: format!("`{command}` decides, and was not run") })
    }
    fn diff(&mut self, paths: &[String]) -> Result<String, Fault> {
        self.0.diff(paths)
    }
    fn measure(&mut self, measure: &Measure, cache: u64) -> Result<(f64, Timestamp), Fault> {
        match measure {
            Measure::BranchSize => self.0.measure(measure, cache),
            Measure::Command(command) => self
                .0
                .measured(measure)
                .ok_or_else(|| Fault { what: format!("`{command}` decides, and was not run") }),
        }
    }
    fn other_sessions(&mut self) -> Result<Vec<String>, Fault> {
        self.0.other_sessions()
    }
}

//! The tests that fail, and by which run: few runners name what passes.

use heirloom_core::facts::TestRun;
use serde::{Deserialize, Serialize};

/// How many are remembered.
const MOST: usize = 256;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Failing(Vec<FailingTest>);

#[derive(Debug, Clone, Serialize, Deserialize)]
struct FailingTest {
    name: String,
    /// The run in which it failed last.
    command: String,
}

impl Failing {
    /// A test came out of a run.
    pub(super) fn saw(&mut self, name: &str, passed: bool, command: &str) {
        self.0.retain(|test| test.name != name);
        if !passed {
            if self.0.len() >= MOST {
                self.0.remove(0);
            }
            self.0.push(FailingTest { name: name.to_owned(), command: command.to_owned() });
        }
    }

    /// Takes out the tests that a run which succeeded ran as well.
    pub(super) fn mended_by(&mut self, command: &str) -> Vec<String> {
        let Some(succeeded) = TestRun::of(command) else { return Vec::new() };
        let is_mended = |test: &FailingTest| {
            TestRun::of(&test.command).is_some_and(|failed| succeeded.covers(&failed))
        };
        let (mended, left): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.0).into_iter().partition(is_mended);
        self.0 = left;
        mended.into_iter().map(|test| test.name).collect()
    }
}

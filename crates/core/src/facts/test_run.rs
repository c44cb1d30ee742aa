//! Whether one run of tests runs all that another one ran.

use super::runners::{runs_all, simple_commands, test_run};

/// What a command line runs of the tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestRun<'a> {
    /// Where it is begun, if the line says so.
    dirs: Vec<&'a str>,
    words: Vec<&'a str>,
}

impl<'a> TestRun<'a> {
    /// `None` if the line runs no tests.
    pub fn of(command: &'a str) -> Option<Self> {
        let words = test_run(command)?;
        let cd = |words: &Vec<&str>| words.first() == Some(&"cd");
        let dirs = simple_commands(command).filter(cd).flatten().collect();
        Some(Self { dirs, words })
    }

    /// Whether it runs all that another one ran: the same words, or no word beyond those that run all tests.
    pub fn covers(&self, other: &Self) -> bool {
        let is_all =
            || runs_all(&self.words) && self.words.iter().all(|word| other.words.contains(word));
        self.dirs == other.dirs && (self.words == other.words || is_all())
    }
}

//! What an agent could do in its iteration, from what it says about its tools.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use heirloom_agents::{Event, Tally, tool};
use heirloom_core::run::outcome::Leeway;

/// Counts the tool uses that did something. What is written below the run directory is how the agent
/// reports, and not what it was asked to do.
#[derive(Debug)]
pub(super) struct Doing {
    run_dir: PathBuf,
    /// Uses that have not answered yet, and whether they would count.
    open: HashMap<String, bool>,
    done: u64,
}

impl Doing {
    pub(super) fn new(run_dir: &Path) -> Self {
        Self { run_dir: run_dir.to_owned(), open: HashMap::new(), done: 0 }
    }

    pub(super) fn see(&mut self, event: &Event) {
        match event {
            Event::ToolCall { id, name, input } => {
                let reports = tool::file_of(input)
                    .is_some_and(|path| Path::new(path).starts_with(&self.run_dir));
                self.open.insert(id.clone(), !reports && !tool::only_looks(name));
            }
            Event::ToolResult { id, is_error, .. } => {
                let counts = self.open.remove(id).unwrap_or(false);
                self.done += u64::from(counts && !is_error);
            }
            _ => {}
        }
    }

    /// What it could do, all in all.
    pub(super) fn leeway(&self, tally: &Tally) -> Leeway {
        Leeway { denied: tally.denied.clone(), done: self.done }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn done(uses: &[(&str, Value, bool)]) -> u64 {
        let mut doing = Doing::new(Path::new("/repo/.heirloom/runs/s"));
        for (number, (name, input, is_error)) in uses.iter().enumerate() {
            let (id, name, input) = (number.to_string(), (*name).to_owned(), input.clone());
            doing.see(&Event::ToolCall { id: id.clone(), name, input });
            doing.see(&Event::ToolResult { id, is_error: *is_error, text: String::new() });
        }
        doing.leeway(&Tally::default()).done
    }

    #[test]
    fn reading_and_reporting_are_not_doing_and_a_failed_use_did_nothing() {
        let file = |path: &str| json!({"file_path": path});
        assert_eq!(done(&[("Read", file("/repo/a.rs"), false)]), 0);
        assert_eq!(done(&[("read_file", file("/repo/a.rs"), false)]), 0);
        assert_eq!(done(&[("Write", file("/repo/.heirloom/runs/s/status.json"), false)]), 0);
        assert_eq!(done(&[("Bash", json!({"command": "make"}), true)]), 0);
        assert_eq!(done(&[("Write", file("/repo/a.rs"), false)]), 1);
        assert_eq!(done(&[("bash", json!({"command": "make"}), false)]), 1);
    }
}

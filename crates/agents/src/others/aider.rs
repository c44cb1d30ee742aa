//! Aider: `.aider.chat.history.md` in the repository. A conversation begins with `# aider chat started at`;
//! `#### ` is a prompt, `> ` what a tool or aider itself said, anything else the answer.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::files::Files;
use crate::env::Env;
use crate::transcript::{By, Entries, Entry, What, Whereabouts};

pub(super) static FILES: Files = Files { roots, depth: 0, id, entries: || Box::<Read>::default() };

/// It is wherever aider was run; where we are is the one place that is known.
fn roots(env: &Env) -> Vec<PathBuf> {
    crate::env::path(env, "PWD").into_iter().collect()
}

fn id(path: &Path) -> Option<String> {
    let is_it = path.file_name()? == ".aider.chat.history.md";
    is_it.then(|| path.parent()?.to_str().map(str::to_owned)).flatten()
}

/// A line is told when it is read, so that a file can be read on where it grew.
#[derive(Debug, Default)]
struct Read {
    at: Option<Timestamp>,
}

impl Entries for Read {
    fn read(&mut self, bytes: &[u8], entries: &mut Vec<Entry>) {
        let line = String::from_utf8_lossy(bytes);
        let line = line.trim_end();
        let what = if let Some(when) = line.strip_prefix("# aider chat started at ") {
            let local: Option<DateTime> = when.trim().parse().ok();
            self.at =
                local.and_then(|at| at.to_zoned(TimeZone::system()).ok()).map(|at| at.timestamp());
            What::Whereabouts(Whereabouts::default())
        } else if let Some(text) = line.strip_prefix("#### ") {
            What::Prompt { text: text.to_owned(), by: By::Person }
        } else if let Some(text) = line.strip_prefix("> ") {
            What::ToolResult {
                id: String::new(),
                text: text.to_owned(),
                is_error: false,
                exit: None,
                goes_on: false,
            }
        } else if line.trim().is_empty() || line == ">" || line == "####" {
            return;
        } else {
            What::Answer { text: line.to_owned() }
        };
        entries.push(Entry { at: self.at, ..Entry::of(what) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::others::tests::told;

    #[test]
    fn a_history_is_read() {
        let text = "\n# aider chat started at 2026-01-12 15:00:00\n\n> Aider v0.86\n\n#### fix it\n\nOn it.\n```\nfn a() {}\n```\n> Applied edit to a.rs\n";
        assert_eq!(
            told(&FILES, text),
            [
                "place",
                "result Aider v0.86",
                "prompt fix it",
                "answer On it.",
                "answer ```",
                "answer fn a() {}",
                "answer ```",
                "result Applied edit to a.rs"
            ]
        );
        assert_eq!(id(Path::new("/w/.aider.chat.history.md")).as_deref(), Some("/w"));
    }
}

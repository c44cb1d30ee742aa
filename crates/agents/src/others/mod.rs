//! Agents whose conversations are read and not more: they are not launched, and have no hooks.
//!
//! Each is read from the shape its makers or its users documented; what a version says differently is
//! [`What::Unknown`](crate::transcript::What) and named, and reading goes on. A new one is its own file and
//! one line in [`OTHERS`].

mod aider;
mod amp;
mod cline;
mod copilot;
mod cursor;
mod droid;
mod files;
mod goose;
mod json;
mod kimi;
mod pi;
mod qwen;

use std::io;
use std::path::Path;

use crate::transcript::{Entry, Transcripts};

pub use files::Files;

/// An agent whose conversations can be read.
#[derive(Debug, Clone, Copy)]
pub struct Other {
    /// Its name (`cursor`).
    pub name: &'static str,
    /// Its name for people (`Cursor CLI`).
    pub title: &'static str,
    /// Where its conversations are.
    pub files: &'static Files,
    /// The command that resumes one, with `{}` for its id; nothing where it has none.
    resume: &'static [&'static str],
}

/// All of them, in the order people see them.
pub const OTHERS: &[Other] = &[
    Other {
        name: "cursor",
        title: "Cursor CLI",
        files: &cursor::FILES,
        resume: &["cursor-agent", "--resume", "{}"],
    },
    Other {
        name: "copilot",
        title: "Copilot CLI",
        files: &copilot::FILES,
        resume: &["copilot", "--resume", "{}"],
    },
    Other { name: "cline", title: "Cline", files: &cline::FILES, resume: &["cline", "--id", "{}"] },
    Other {
        name: "aider",
        title: "Aider",
        files: &aider::FILES,
        resume: &["aider", "--restore-chat-history"],
    },
    Other {
        name: "amp",
        title: "Amp",
        files: &amp::FILES,
        resume: &["amp", "threads", "continue", "{}"],
    },
    Other {
        name: "goose",
        title: "Goose",
        files: &goose::FILES,
        resume: &["goose", "session", "--resume", "--session-id", "{}"],
    },
    Other { name: "qwen", title: "Qwen Code", files: &qwen::FILES, resume: &["qwen", "-r", "{}"] },
    Other {
        name: "kimi",
        title: "Kimi CLI",
        files: &kimi::FILES,
        resume: &["kimi", "--session", "{}"],
    },
    Other {
        name: "droid",
        title: "Factory Droid",
        files: &droid::FILES,
        resume: &["droid", "--resume", "{}"],
    },
    Other { name: "pi", title: "pi", files: &pi::FILES, resume: &["pi", "--session", "{}"] },
];

impl Other {
    /// The command that resumes a conversation.
    pub fn resume(&self, id: &str) -> Vec<String> {
        self.resume
            .iter()
            .map(|word| if *word == "{}" { id.to_owned() } else { (*word).to_owned() })
            .collect()
    }

    /// What a conversation says, at most the first `most` bytes of it. A last line that is not finished is
    /// read as well: some of these agents end their files without one.
    pub fn read(&self, path: &Path, most: u64) -> io::Result<Vec<Entry>> {
        let mut bytes = files::beginning(path, most)?;
        if self.name == "aider" {
            // A line of its history is an entry, and a key has many: by themselves none of them is a secret.
            let text = String::from_utf8_lossy(&bytes).into_owned();
            bytes = heirloom_core::redact::redact(&text).text.into_owned().into_bytes();
        }
        let mut reader = self.files.entries();
        let (mut entries, mut offset) = (Vec::new(), 0);
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let from = entries.len();
            reader.read(line.strip_suffix(b"\n").unwrap_or(line), &mut entries);
            for entry in &mut entries[from..] {
                entry.offset = offset;
            }
            offset += line.len() as u64;
        }
        Ok(entries)
    }
}

/// The one with this name.
pub fn other(name: &str) -> Option<&'static Other> {
    OTHERS.iter().find(|other| other.name == name)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::transcript::What;

    /// What the lines say, in short.
    pub(crate) fn told(files: &Files, text: &str) -> Vec<String> {
        let mut reader = files.entries();
        let mut entries = Vec::new();
        for line in text.lines() {
            reader.read(line.as_bytes(), &mut entries);
        }
        entries.into_iter().map(|entry| short(entry.what)).collect()
    }

    fn short(what: What) -> String {
        match what {
            What::Whereabouts(place) => format!(
                "place {} {} {}",
                place.agent_session_id.unwrap_or_default(),
                place.cwd.unwrap_or_default(),
                place.version.unwrap_or_default()
            )
            .trim_end()
            .to_owned(),
            What::Prompt { text, .. } => format!("prompt {text}"),
            What::Answer { text } => format!("answer {text}"),
            What::Thinking { text } => format!("thinking {text}"),
            What::ToolUse { name, input, .. } => format!("use {name} {input}"),
            What::ToolResult { text, is_error, .. } => {
                format!("{} {text}", if is_error { "failed" } else { "result" })
            }
            What::Title { text, .. } => format!("title {text}"),
            What::Summary { text } => format!("summary {text}"),
            What::Unknown { kind } => format!("unknown {kind}"),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn nothing_any_of_them_could_write_makes_reading_fail() {
        let hostile = [
            "",
            "{",
            "null",
            "[]",
            "{\"type\":7}",
            "{\"type\":\"user\",\"message\":[1]}",
            "\u{0}",
            "}}}}]",
            "\"x",
        ];
        for other in OTHERS {
            for line in hostile {
                let _ = told(other.files, line);
            }
            let _ = told(other.files, &hostile.join("\n"));
        }
    }

    #[test]
    fn an_id_is_one_word_of_the_command() {
        assert_eq!(other("qwen").unwrap().resume("a b"), ["qwen", "-r", "a b"]);
        assert!(other("nobody").is_none());
    }
}

//! The recorded demonstration, `docs/demo.cast`, which a terminal player shows: made from the commands in
//! `docs/demo.script` by running them. `UPDATE_DOCS=1` records it again.
//!
//! The times in it are made up, so that recording it twice gives the same file; the words are what heirloom prints.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::env;
use crate::shell::{bash, with_steady_durations, with_steady_ids};

const COLUMNS: usize = 100;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// An event of the recording: when, and what appears.
struct Recording {
    lines: Vec<String>,
    /// In milliseconds.
    at: u64,
}

impl Recording {
    fn shows(&mut self, after: u64, text: &str) {
        self.at += after;
        let (seconds, rest) = (self.at / 1000, self.at % 1000);
        self.lines.push(format!("[{seconds}.{rest:03},\"o\",{}]", json!(text)));
    }

    /// Somebody types a command and reads what it prints.
    fn runs(&mut self, command: &str, printed: &str) {
        self.shows(600, "\u{1b}[1m$\u{1b}[0m ");
        for letter in command.chars() {
            self.shows(35, &letter.to_string());
        }
        self.shows(250, "\r\n");
        for line in printed.lines() {
            self.shows(45, &format!("{line}\r\n"));
        }
        self.shows(1200, "\r\n");
    }

    /// Somebody says what comes next.
    fn says(&mut self, words: &str) {
        self.shows(800, &format!("\u{1b}[2m# {words}\u{1b}[0m\r\n"));
    }
}

fn recorded() -> String {
    let script = fs::read_to_string(docs().join("demo.script")).unwrap();
    let env = env();
    // Whoever watches has an agent, whatever is installed where this is recorded.
    let claude = env.script("claude", "#!/bin/sh\n");
    let place = env.user().join("payments");
    fs::create_dir_all(&place).unwrap();
    let mut recording = Recording { lines: Vec::new(), at: 0 };
    let mut known = HashMap::new();
    for line in script.lines().filter(|line| !line.is_empty()) {
        if let Some(words) = line.strip_prefix("# ") {
            recording.says(words);
            continue;
        }
        let (hidden, command) = match line.strip_prefix("@ ") {
            Some(command) => (true, command),
            None => (false, line.strip_prefix("$ ").unwrap_or_else(|| panic!("{line}"))),
        };
        let output = bash(&env, &place, command)
            .env("HEIRLOOM_AGENT_CLAUDE", &claude)
            .env("COLUMNS", COLUMNS.to_string())
            .env("CLICOLOR_FORCE", "1")
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        // `ground` exits with 1 where something no longer holds, which is what it is shown for.
        let is_fine = output.status.success()
            || (command.starts_with("heirloom ground") && output.status.code() == Some(1));
        assert!(is_fine, "$ {command}\n{printed}");
        if !hidden {
            let root = fs::canonicalize(&place).unwrap().to_string_lossy().into_owned();
            let printed = printed.replace(&root, "~/payments");
            let printed = printed.replace(env.user().to_str().unwrap(), "~");
            let printed = with_steady_durations(&with_steady_ids(&printed, &mut known));
            recording.runs(command, &printed);
        }
    }
    let head = json!({
        "version": 2, "width": COLUMNS, "height": 30, "title": "heirloom",
        "env": {"TERM": "xterm-256color", "SHELL": "/bin/bash"},
    });
    format!("{head}\n{}\n", recording.lines.join("\n"))
}

#[test]
fn the_recorded_demonstration_is_what_heirloom_prints_now() {
    let file = docs().join("demo.cast");
    let now = recorded();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&file, &now).unwrap();
    }
    let stored = fs::read_to_string(&file).unwrap_or_default();
    let words = |cast: &str| -> String {
        let events = cast.lines().skip(1).map(|line| serde_json::from_str(line).unwrap());
        events.map(|event: serde_json::Value| event[2].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(words(&stored), words(&now), "UPDATE_DOCS=1 records docs/demo.cast again");
    assert_eq!(stored, now);
    for told in ["no longer", "inherits auth-v1", "auth-v2"] {
        assert!(words(&now).contains(told), "{told}");
    }
}

//! A conversation as Claude Code writes it down.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use heirloom_testkit::env::TestEnv;
use serde_json::{Value, json};

use crate::capture::transcript;

/// A conversation that is written line by line.
pub(crate) struct Talk<'e> {
    pub(crate) env: &'e TestEnv,
    pub(crate) id: &'static str,
    pub(crate) file: PathBuf,
    pub(crate) last: Option<String>,
    number: u32,
    /// The minute of the day.
    pub(crate) minute: u32,
}

impl<'e> Talk<'e> {
    pub(crate) fn new(env: &'e TestEnv, id: &'static str) -> Self {
        let file = transcript(env).with_file_name(format!("{id}.jsonl"));
        Self { env, id, file, last: None, number: 0, minute: 0 }
    }

    /// A line, as it would be written.
    pub(crate) fn line(&mut self, kind: &str, message: &Value) -> String {
        self.number += 1;
        let uuid = format!("{}-{}", self.id, self.number);
        let line = json!({
            "type": kind, "uuid": uuid, "parentUuid": self.last, "sessionId": self.id,
            "cwd": self.env.repo(), "gitBranch": "main", "version": "2.1.325", "entrypoint": "cli",
            "promptSource": "typed", "message": message,
            "timestamp": format!("2026-01-10T{:02}:{:02}:00Z", 8 + self.minute / 60, self.minute % 60),
        });
        self.last = Some(uuid);
        format!("{line}\n")
    }

    pub(crate) fn write(&self, text: &str) {
        let mut file = fs::OpenOptions::new().create(true).append(true).open(&self.file).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn says(&mut self, kind: &str, message: &Value) {
        let line = self.line(kind, message);
        self.write(&line);
    }

    pub(crate) fn prompt(&mut self, text: &str) {
        self.says("user", &json!({"role": "user", "content": text}));
    }

    pub(crate) fn answers(&mut self, text: &str) {
        let id = format!("m{}", self.number);
        let message = json!({"id": id, "model": "claude-opus-5-5",
            "usage": {"input_tokens": 10, "output_tokens": 1},
            "content": [{"type": "text", "text": text}]});
        self.says("assistant", &message);
    }

    pub(crate) fn runs(&mut self, command: &str, output: &str) {
        self.ran(command, output, false);
    }

    pub(crate) fn fails(&mut self, command: &str, error: &str) {
        self.ran(command, &format!("Exit code 1\n{error}"), true);
    }

    fn ran(&mut self, command: &str, output: &str, is_error: bool) {
        let id = format!("t{}", self.number);
        let used = json!({"id": format!("m{}", self.number), "model": "claude-opus-5-5",
            "content": [{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]});
        self.says("assistant", &used);
        let came = json!({"content": [
            {"type": "tool_result", "tool_use_id": id, "is_error": is_error, "content": output}]});
        self.says("user", &came);
    }
}

//! What a run says while it runs: for the live view, for scripts, and for whoever watches later.

use std::fs::File;
use std::io::Write;
use std::sync::Mutex;

use heirloom_core::redact::redact;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::clock::Clock;

/// One thing that happens in a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields are the documented keys of `run --json`")]
pub enum Event {
    /// It begins, or goes on.
    Started {
        session: String,
        id: String,
        plan: String,
        agent: Option<String>,
        model: Option<String>,
        max: Option<u32>,
        branch: Option<String>,
        resumed: bool,
        run_dir: String,
    },
    /// What it inherits.
    Inherited {
        from: String,
        lineage: Vec<String>,
        learnings: usize,
        patterns: usize,
        warnings: usize,
        decisions: usize,
        tokens: usize,
        holding: usize,
        broken: Vec<String>,
    },
    /// Something a person should know.
    Warning { message: String },
    /// A stage begins.
    StageStarted { stage: String, id: String, agent: String, max: u32 },
    /// An agent was launched.
    IterationStarted { stage: String, iteration: u32, pid: u32 },
    /// What an agent is doing.
    Activity {
        stage: String,
        iteration: u32,
        tool: Option<String>,
        text: String,
        cost_usd: Option<f64>,
        tokens: Option<u64>,
    },
    /// A limit is waited out.
    Waiting { stage: String, iteration: u32, wait_ms: u64, why: String },
    /// A command or a judge was asked whether the stage is done.
    Checked { stage: String, what: String, holds: bool },
    /// An iteration is over.
    IterationEnded {
        stage: String,
        iteration: u32,
        outcome: String,
        decision: Option<String>,
        summary: Option<String>,
        why: Option<String>,
        cost_usd: f64,
        duration_ms: u64,
        learnings: usize,
        notes: usize,
    },
    /// A stage is over.
    StageEnded { stage: String, reason: String, status: String },
    /// Somebody asked it to stop.
    Stopping { now: bool },
    /// It is over.
    Ended {
        session: String,
        status: String,
        reason: Option<String>,
        iterations: u32,
        cost_usd: f64,
        duration_ms: u64,
    },
}

impl Event {
    /// The event as one line of JSON, with its time first.
    pub fn to_line(&self, at: Timestamp) -> String {
        let mut line = Map::new();
        line.insert("at".to_owned(), Value::String(at.to_string()));
        if let Ok(Value::Object(fields)) = serde_json::to_value(self) {
            line.extend(fields);
        }
        Value::Object(line).to_string()
    }
}

/// Reads an event from a line of JSON.
pub fn parse_line(line: &str) -> Option<(Timestamp, Event)> {
    let value: Value = serde_json::from_str(line).ok()?;
    let at = value["at"].as_str()?.parse().ok()?;
    Some((at, serde_json::from_value(value).ok()?))
}

/// The events in a text of whole lines, those that can be read.
pub fn event_lines(text: &str) -> impl Iterator<Item = (Timestamp, Event)> + '_ {
    text.lines().filter_map(parse_line)
}

/// What an agent said, without secrets: events are written down and shown.
pub(super) fn clean(text: &str) -> String {
    redact(text).text.into_owned()
}

/// Sees what happens. Called from several threads, one at a time.
pub trait Watcher: Send + Sync {
    /// Something happened.
    fn see(&self, at: Timestamp, event: &Event);
}

/// Tells everybody who wants to know.
pub(super) struct Reporter<'a> {
    clock: Clock,
    file: Mutex<Option<File>>,
    watcher: &'a dyn Watcher,
}

impl<'a> Reporter<'a> {
    pub(super) fn new(clock: Clock, file: Option<File>, watcher: &'a dyn Watcher) -> Self {
        Self { clock, file: Mutex::new(file), watcher }
    }

    /// Tells. What cannot be written down for later must not stop a run.
    pub(super) fn tell(&self, event: &Event) {
        let at = self.clock.now();
        let Ok(mut file) = self.file.lock() else { return };
        if let Some(file) = file.as_mut() {
            let _ = file.write_all(format!("{}\n", event.to_line(at)).as_bytes());
        }
        self.watcher.see(at, event);
    }

    pub(super) fn warn(&self, message: impl Into<String>) {
        self.tell(&Event::Warning { message: message.into() });
    }
}

impl std::fmt::Debug for Reporter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reporter")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_read_back_from_its_line() {
        let at: Timestamp = "2026-01-12T15:30:00Z".parse().unwrap();
        let event = Event::Warning { message: "careful".to_owned() };
        let line = event.to_line(at);
        assert_eq!(line, r#"{"at":"2026-01-12T15:30:00Z","event":"warning","message":"careful"}"#);
        assert_eq!(parse_line(&line), Some((at, event)));
        assert_eq!(parse_line("{\"at\":"), None);
    }
}

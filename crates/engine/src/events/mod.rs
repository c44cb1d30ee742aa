//! What happens in a run, told to whoever looks on here, and written down so that another process
//! can look on as well, while it goes on or later.
//!
//! A file of events is lines of JSON, `at` first. Whoever reads one need not know what sort of run
//! wrote it.

mod vocabulary;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Mutex;

use heirloom_core::redact::redact;
use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::clock::Clock;

pub use vocabulary::{AnyEvent, Event, Phase, RunEnded, RunEvent, WorkEnded, WorkEvent};

/// Sees what happens. Called from several threads, one at a time.
pub trait Watcher: Send + Sync {
    /// Something happened.
    fn see(&self, at: Timestamp, event: &Event);
}

/// One line of JSON with the time first.
pub fn to_line(at: Timestamp, event: &Event) -> String {
    let mut line = Map::new();
    line.insert("at".to_owned(), Value::String(at.to_string()));
    if let Ok(Value::Object(fields)) = serde_json::to_value(event) {
        line.extend(fields);
    }
    Value::Object(line).to_string()
}

/// Reads an event from a line of JSON.
pub fn parse_line(line: &str) -> Option<(Timestamp, Event)> {
    let value: Value = serde_json::from_str(line).ok()?;
    let at = value["at"].as_str()?.parse().ok()?;
    Some((at, serde_json::from_value(value).ok()?))
}

/// What an agent said, without secrets: events are written down and shown.
pub(crate) fn clean(text: &str) -> String {
    redact(text).text.into_owned()
}

/// Tells everybody who wants to know.
pub(crate) struct Reporter<'a> {
    clock: Clock,
    file: Mutex<Option<File>>,
    watcher: &'a dyn Watcher,
}

impl<'a> Reporter<'a> {
    /// Writes to the end of `path`, where that can be written to: what cannot be written down for
    /// others must not stop a run.
    pub(crate) fn new(clock: Clock, path: &Path, watcher: &'a dyn Watcher) -> Self {
        let file = heirloom_repo::append_private(path).ok();
        Self { clock, file: Mutex::new(file), watcher }
    }

    pub(crate) fn tell(&self, event: impl Into<Event>) {
        let (at, event) = (self.clock.now(), event.into());
        let Ok(mut file) = self.file.lock() else { return };
        if let Some(file) = file.as_mut() {
            let _ = file.write_all(format!("{}\n", to_line(at, &event)).as_bytes());
        }
        self.watcher.see(at, &event);
    }

    pub(crate) fn warn(&self, message: impl Into<String>) {
        self.tell(Event::warning(None, message));
    }
}

impl std::fmt::Debug for Reporter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reporter")
    }
}

/// A file of events that somebody may still be writing.
#[derive(Debug)]
pub struct Follow {
    file: File,
    /// The beginning of a line whose end is not there yet.
    pending: Vec<u8>,
}

impl Follow {
    /// From the last time that the run began or went on.
    pub fn open(path: &Path) -> io::Result<(Self, Vec<(Timestamp, Event)>)> {
        let mut follow = Self { file: heirloom_repo::open(path)?, pending: Vec::new() };
        let mut events = follow.more()?;
        if let Some(last) = events.iter().rposition(|(_, event)| event.is_start()) {
            events.drain(..last);
        }
        Ok((follow, events))
    }

    /// What was written since. A line that cannot be read is left out.
    pub fn more(&mut self) -> io::Result<Vec<(Timestamp, Event)>> {
        self.file.read_to_end(&mut self.pending)?;
        let whole = self.pending.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let lines: Vec<u8> = self.pending.drain(..whole).collect();
        Ok(String::from_utf8_lossy(&lines).lines().filter_map(parse_line).collect())
    }
}

#[cfg(test)]
mod tests {
    use heirloom_core::id::WorkRunId;
    use heirloom_core::status::Status;
    use heirloom_core::work::{Tally, WorkStatus};
    use uuid::Uuid;

    use super::*;

    struct Nobody;

    impl Watcher for Nobody {
        fn see(&self, _: Timestamp, _: &Event) {}
    }

    fn warning(message: &str) -> Event {
        Event::warning(None, message)
    }

    fn started() -> Event {
        Event::from(WorkEvent::Started {
            run: WorkRunId::new(Uuid::nil()),
            tracker: "built-in".to_owned(),
            agent: "claude".to_owned(),
            max_agents: 1,
            gate: Vec::new(),
        })
    }

    #[test]
    fn an_event_is_read_back_from_its_line() {
        let at: Timestamp = "2026-01-12T15:30:00Z".parse().unwrap();
        let line = to_line(at, &warning("careful"));
        assert_eq!(
            line,
            r#"{"at":"2026-01-12T15:30:00Z","event":"warning","issue":null,"message":"careful"}"#
        );
        assert_eq!(parse_line(&line), Some((at, warning("careful"))));
        assert_eq!(parse_line("{\"at\":"), None);
    }

    #[test]
    fn a_word_that_both_sorts_of_run_use_is_read_back_as_what_it_was() {
        let at: Timestamp = "2026-01-12T15:30:00Z".parse().unwrap();
        let checked = RunEvent::Checked {
            stage: "stage-00-plan".to_owned(),
            what: "cargo test".to_owned(),
            holds: true,
        };
        let gated = WorkEvent::Checked {
            issue: "hl-1".to_owned(),
            command: "cargo test".to_owned(),
            passed: true,
            duration_ms: 1,
        };
        let run_ended = RunEnded {
            session: "s".parse().unwrap(),
            status: Status::Completed,
            reason: None,
            iterations: 1,
            cost_usd: Some(1.0),
            cost_partial: false,
            duration_ms: 1,
            limited: false,
        };
        let work_ended = WorkEnded {
            run: Some(WorkRunId::new(Uuid::nil())),
            status: WorkStatus::Completed,
            reason: None,
            tally: Tally { closed: 2, ..Tally::default() },
            cost_usd: Some(1.0),
            cost_partial: false,
            gate: Vec::new(),
            branch: None,
            limited: true,
        };
        let events: [Event; 6] = [
            checked.into(),
            gated.into(),
            RunEvent::Ended(run_ended).into(),
            WorkEvent::Ended(work_ended).into(),
            started(),
            AnyEvent::Stopping { now: true }.into(),
        ];
        for event in events {
            assert_eq!(parse_line(&to_line(at, &event)), Some((at, event)));
        }
    }

    #[test]
    fn another_process_follows_from_the_last_beginning_and_never_sees_half_a_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("events.jsonl");
        let clock = Clock::from_setting(Some("2026-01-12T15:30:00Z")).unwrap();
        let reporter = Reporter::new(clock, &path, &Nobody);
        for event in [started(), warning("old"), started(), warning("new")] {
            reporter.tell(event);
        }
        let (mut follow, events) = Follow::open(&path).unwrap();
        let events: Vec<Event> = events.into_iter().map(|(_, event)| event).collect();
        assert_eq!(events, [started(), warning("new")]);
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"{\"at\":\"2026-01-12T15:30:00Z\",\"event\":").unwrap();
        assert!(follow.more().unwrap().is_empty());
        file.write_all(b"\"stopping\",\"now\":true}\nnonsense\n").unwrap();
        let more: Vec<Event> = follow.more().unwrap().into_iter().map(|(_, e)| e).collect();
        assert_eq!(more, [Event::from(AnyEvent::Stopping { now: true })]);
    }
}

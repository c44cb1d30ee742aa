//! What happens in a run, told to whoever looks on here, and written down so that another process
//! can look on as well, while it goes on or later.
//!
//! A file of events is lines of JSON, `at` first. What a run of stages says and what a run through
//! issues says are two vocabularies; how it is told, written and followed is one.

use std::fs::File;
use std::io::{self, Read, Write};
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Mutex;

use heirloom_core::redact::redact;
use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::clock::Clock;

/// Sees what happens. Called from several threads, one at a time.
pub trait Watcher<E>: Send + Sync {
    /// Something happened.
    fn see(&self, at: Timestamp, event: &E);
}

/// One line of JSON with the time first.
pub fn to_line<E: Serialize>(at: Timestamp, event: &E) -> String {
    let mut line = Map::new();
    line.insert("at".to_owned(), Value::String(at.to_string()));
    if let Ok(Value::Object(fields)) = serde_json::to_value(event) {
        line.extend(fields);
    }
    Value::Object(line).to_string()
}

/// Reads an event from a line of JSON.
pub fn parse_line<E: DeserializeOwned>(line: &str) -> Option<(Timestamp, E)> {
    let value: Value = serde_json::from_str(line).ok()?;
    let at = value["at"].as_str()?.parse().ok()?;
    Some((at, serde_json::from_value(value).ok()?))
}

/// What an agent said, without secrets: events are written down and shown.
pub(crate) fn clean(text: &str) -> String {
    redact(text).text.into_owned()
}

/// Tells everybody who wants to know.
pub(crate) struct Reporter<'a, E> {
    clock: Clock,
    file: Mutex<Option<File>>,
    watcher: &'a dyn Watcher<E>,
}

impl<'a, E: Serialize> Reporter<'a, E> {
    /// Writes to the end of `path`, where that can be written to: what cannot be written down for
    /// others must not stop a run.
    pub(crate) fn new(clock: Clock, path: &Path, watcher: &'a dyn Watcher<E>) -> Self {
        let file = heirloom_repo::append_private(path).ok();
        Self { clock, file: Mutex::new(file), watcher }
    }

    pub(crate) fn tell(&self, event: &E) {
        let at = self.clock.now();
        let Ok(mut file) = self.file.lock() else { return };
        if let Some(file) = file.as_mut() {
            let _ = file.write_all(format!("{}\n", to_line(at, event)).as_bytes());
        }
        self.watcher.see(at, event);
    }
}

impl<E> std::fmt::Debug for Reporter<'_, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reporter")
    }
}

/// A file of events that somebody may still be writing.
#[derive(Debug)]
pub struct Follow<E> {
    file: File,
    /// The beginning of a line whose end is not there yet.
    pending: Vec<u8>,
    _event: PhantomData<E>,
}

impl<E: DeserializeOwned> Follow<E> {
    /// From the last event that `begins`, or else from the beginning.
    pub fn open(
        path: &Path,
        begins: impl Fn(&E) -> bool,
    ) -> io::Result<(Self, Vec<(Timestamp, E)>)> {
        let mut follow =
            Self { file: heirloom_repo::open(path)?, pending: Vec::new(), _event: PhantomData };
        let mut events = follow.more()?;
        if let Some(last) = events.iter().rposition(|(_, event)| begins(event)) {
            events.drain(..last);
        }
        Ok((follow, events))
    }

    /// What was written since. A line that cannot be read is left out.
    pub fn more(&mut self) -> io::Result<Vec<(Timestamp, E)>> {
        self.file.read_to_end(&mut self.pending)?;
        let whole = self.pending.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let lines: Vec<u8> = self.pending.drain(..whole).collect();
        Ok(String::from_utf8_lossy(&lines).lines().filter_map(parse_line).collect())
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(tag = "event", rename_all = "snake_case")]
    enum Event {
        Started,
        Warning { message: String },
    }

    struct Nobody;

    impl Watcher<Event> for Nobody {
        fn see(&self, _: Timestamp, _: &Event) {}
    }

    fn warning(message: &str) -> Event {
        Event::Warning { message: message.to_owned() }
    }

    #[test]
    fn an_event_is_read_back_from_its_line() {
        let at: Timestamp = "2026-01-12T15:30:00Z".parse().unwrap();
        let line = to_line(at, &warning("careful"));
        assert_eq!(line, r#"{"at":"2026-01-12T15:30:00Z","event":"warning","message":"careful"}"#);
        assert_eq!(parse_line(&line), Some((at, warning("careful"))));
        assert_eq!(parse_line::<Event>("{\"at\":"), None);
    }

    #[test]
    fn another_process_follows_from_the_last_beginning_and_never_sees_half_a_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("events.jsonl");
        let clock = Clock::from_setting(Some("2026-01-12T15:30:00Z")).unwrap();
        let reporter = Reporter::new(clock, &path, &Nobody);
        for event in [Event::Started, warning("old"), Event::Started, warning("new")] {
            reporter.tell(&event);
        }
        let is_start = |event: &Event| *event == Event::Started;
        let (mut follow, events) = Follow::open(&path, is_start).unwrap();
        let events: Vec<Event> = events.into_iter().map(|(_, event)| event).collect();
        assert_eq!(events, [Event::Started, warning("new")]);
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"{\"at\":\"2026-01-12T15:30:00Z\",\"event\":").unwrap();
        assert!(follow.more().unwrap().is_empty());
        file.write_all(b"\"started\"}\nnonsense\n").unwrap();
        let more: Vec<Event> = follow.more().unwrap().into_iter().map(|(_, e)| e).collect();
        assert_eq!(more, [Event::Started]);
    }
}

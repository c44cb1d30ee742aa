//! What an agent writes to stderr: all of it to a file, the end of it in memory.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use super::drain::Drain;
use crate::agent::Agent;
use crate::event::{Event, Failure};

/// How much of the end is kept: enough for any last words.
const TAIL: usize = 64 * 1024;

#[derive(Debug, Default)]
pub(super) struct Tail(Mutex<VecDeque<u8>>);

impl Tail {
    fn push(&self, bytes: &[u8]) {
        let mut tail = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend(bytes);
        let excess = tail.len().saturating_sub(TAIL);
        tail.drain(..excess);
    }

    pub(super) fn text(&self) -> String {
        let tail = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (front, back) = tail.as_slices();
        String::from_utf8_lossy(&[front, back].concat()).into_owned()
    }
}

/// Requests to the model that are made again, by agents that say so nowhere but here.
#[derive(Debug, Default)]
pub(super) struct Retries {
    found: Mutex<(u32, VecDeque<Event>)>,
}

impl Retries {
    fn add(&self, failure: Failure) {
        let (attempt, events) = &mut *self.found.lock().unwrap_or_else(PoisonError::into_inner);
        *attempt += 1;
        events.push_back(Event::Retry { failure, attempt: *attempt, max: None, delay: None });
    }

    pub(super) fn next(&self) -> Option<Event> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).1.pop_front()
    }
}

/// The lines of what comes in pieces, none longer than anything worth reading.
#[derive(Debug, Default)]
struct Begun(Vec<u8>);

impl Begun {
    fn push(&mut self, bytes: &[u8], mut line: impl FnMut(&str)) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = TAIL.saturating_sub(self.0.len());
            self.0.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                line(String::from_utf8_lossy(&self.0).trim_end());
                self.0.clear();
            }
        }
    }
}

/// Reads it on a thread of its own.
pub(super) fn note(
    agent: &'static dyn Agent,
    mut from: Drain,
    mut to: Option<Box<dyn Write + Send>>,
    (tail, retries): (&Arc<Tail>, &Arc<Retries>),
) -> JoinHandle<()> {
    let (tail, retries) = (Arc::clone(tail), Arc::clone(retries));
    thread::spawn(move || {
        let mut buffer = vec![0; 16 * 1024];
        let mut begun = Begun::default();
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            let read = &buffer[..count];
            tail.push(read);
            begun.push(read, |line| {
                if let Some(failure) = agent.retry(line) {
                    retries.add(failure);
                }
            });
            if to.as_mut().is_some_and(|to| to.write_all(read).is_err()) {
                to = None;
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_is_remembered() {
        let tail = Tail::default();
        tail.push(&vec![b'a'; TAIL]);
        tail.push(b"last words");
        assert!(tail.text().ends_with("alast words"));
        assert_eq!(tail.text().len(), TAIL);
    }

    #[test]
    fn lines_are_whole_however_they_come_and_none_fills_the_memory() {
        let (mut begun, mut lines) = (Begun::default(), Vec::new());
        for bytes in [&b"one\ntw"[..], b"o\r\n", &vec![b'x'; 3 * TAIL], b"\nlast"] {
            begun.push(bytes, |line| lines.push(line.to_owned()));
        }
        assert_eq!(lines[..2], ["one", "two"]);
        assert_eq!((lines.len(), begun.0.len()), (3, 4));
        assert!(lines[2].len() <= TAIL);
    }
}

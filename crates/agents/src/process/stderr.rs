//! What an agent writes to stderr: all of it to a file, the end of it in memory.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use super::drain::Drain;

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

/// Reads it on a thread of its own.
pub(super) fn note(
    mut from: Drain,
    mut to: Option<Box<dyn Write + Send>>,
    tail: &Arc<Tail>,
) -> JoinHandle<()> {
    let tail = Arc::clone(tail);
    thread::spawn(move || {
        let mut buffer = vec![0; 16 * 1024];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            tail.push(&buffer[..count]);
            if to.as_mut().is_some_and(|to| to.write_all(&buffer[..count]).is_err()) {
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
}

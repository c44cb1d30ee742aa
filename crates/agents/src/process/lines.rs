//! From bytes to lines: split, kept, understood, handed over.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::mpsc::SyncSender;

use crate::event::{Line, Parsed, Reader};

/// The most of a line that is kept in memory. Longer ones are cut there, but not in the events
/// file.
pub const MAX_LINE: usize = 32 * 1024 * 1024;

/// How many batches wait for their reader. A batch is what one read of the pipe brought, so this
/// bounds the memory, whatever the length of the lines.
pub(super) const QUEUE: usize = 4;

const BUFFER: usize = 256 * 1024;

pub(super) struct Lines<R> {
    input: BufReader<R>,
    reader: Box<dyn Reader>,
    events: Option<Box<dyn Write + Send>>,
    problem: Option<io::Error>,
    number: u64,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(
        input: R,
        reader: Box<dyn Reader>,
        events: Option<Box<dyn Write + Send>>,
    ) -> Self {
        let input = BufReader::with_capacity(BUFFER, input);
        Self { input, reader, events, problem: None, number: 0 }
    }

    /// Reads to the end, or until nobody listens. Returns why the events could not all be kept.
    pub(super) fn run(mut self, to: &SyncSender<Vec<Line>>) -> Option<io::Error> {
        let mut batch = Vec::new();
        while let Some(line) = self.next() {
            batch.push(line);
            // Hand over before the next read could block.
            if !self.input.buffer().contains(&b'\n') {
                self.flush();
                if to.send(std::mem::take(&mut batch)).is_err() {
                    break;
                }
            }
        }
        let _ = to.send(batch);
        self.flush();
        self.problem
    }

    fn next(&mut self) -> Option<Line> {
        let mut raw = Vec::new();
        let limit = MAX_LINE as u64 + 1;
        let read = self.input.by_ref().take(limit).read_until(b'\n', &mut raw);
        // A pipe that cannot be read has ended, as far as anyone can tell.
        if read.is_err() || raw.is_empty() {
            return None;
        }
        self.keep(&raw);
        let ended = raw.last() == Some(&b'\n');
        let cut = !ended && raw.len() > MAX_LINE;
        if ended {
            raw.pop();
        }
        if cut {
            self.skip_line();
            raw.truncate(MAX_LINE);
        }
        self.number += 1;
        let parsed = if cut { Parsed::unknown("too long") } else { self.reader.read(&raw) };
        Some(Line { number: self.number, raw, cut, parsed })
    }

    /// The rest of a line that is too long: kept in the events file, nowhere else.
    fn skip_line(&mut self) {
        let mut chunk = Vec::new();
        loop {
            chunk.clear();
            let read = self.input.by_ref().take(BUFFER as u64).read_until(b'\n', &mut chunk);
            if read.is_err() || chunk.is_empty() {
                return;
            }
            self.keep(&chunk);
            if chunk.last() == Some(&b'\n') {
                return;
            }
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        if let Some(events) = &mut self.events
            && let Err(problem) = events.write_all(bytes)
        {
            self.problem = Some(problem);
            self.events = None;
        }
    }

    fn flush(&mut self) {
        if let Some(events) = &mut self.events
            && let Err(problem) = events.flush()
        {
            self.problem = Some(problem);
            self.events = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex, mpsc};

    use super::*;
    use crate::event::Event;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::other("disk full"))
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn read(bytes: &[u8], events: Option<Box<dyn Write + Send>>) -> (Vec<Line>, Option<io::Error>) {
        let (to, from) = mpsc::sync_channel(1000);
        let agent = crate::by_name("claude").unwrap();
        let problem = Lines::new(bytes, agent.reader(), events).run(&to);
        drop(to);
        (from.into_iter().flatten().collect(), problem)
    }

    #[test]
    fn whatever_a_line_is_it_is_kept_as_it_came() {
        let mut bytes =
            b"{\"type\":\"new_thing\"}\nnot json\n\xff\xfe\n\n{\"type\":\"system\",".to_vec();
        bytes.extend(b"\"subtype\":\"x\"}");
        let kept = Kept::default();
        let (lines, problem) = read(&bytes, Some(Box::new(kept.clone())));
        assert!(problem.is_none());
        assert_eq!(*kept.0.lock().unwrap(), bytes);
        let kinds = lines.iter().flat_map(|line| &line.parsed.events).map(|event| match event {
            Event::Unknown { kind } => kind.as_str(),
            _ => "known",
        });
        assert_eq!(kinds.collect::<Vec<_>>(), ["new_thing", "not JSON", "not UTF-8", "system/x"]);
        assert_eq!(lines[2].raw, b"\xff\xfe");
        assert_eq!(lines.last().unwrap().number, 5);
    }

    #[test]
    fn a_line_of_twenty_megabytes_survives() {
        let text = "x".repeat(20 * 1024 * 1024);
        let line = format!(
            "{{\"type\":\"assistant\",\"message\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}\n"
        );
        let (lines, _) = read(line.as_bytes(), None);
        assert_eq!(lines[0].parsed.events, [Event::Text { text }]);
        assert_eq!(lines[0].raw.len() + 1, line.len());
    }

    #[test]
    fn a_line_beyond_all_measure_is_cut_in_memory_and_whole_in_the_file() {
        let mut bytes = vec![b'x'; MAX_LINE + 2 * BUFFER + 7];
        bytes.extend(b"\n{\"type\":\"next\"}\n");
        let kept = Kept::default();
        let (lines, _) = read(&bytes, Some(Box::new(kept.clone())));
        assert_eq!(kept.0.lock().unwrap().len(), bytes.len());
        assert!(lines[0].cut && lines[0].raw.len() == MAX_LINE);
        assert_eq!(lines[1].raw, b"{\"type\":\"next\"}");
    }

    #[test]
    fn a_full_disk_is_told_and_loses_no_line() {
        let (lines, problem) = read(b"a\nb\n", Some(Box::new(Full)));
        assert_eq!(lines.len(), 2);
        assert_eq!(problem.unwrap().to_string(), "disk full");
    }
}

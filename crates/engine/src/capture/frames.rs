//! Compressed bytes that can be read from the middle.
//!
//! Text is cut into pieces of about 32 KB, at the ends of lines, and each is a frame of its own: whoever wants
//! one line decompresses one frame, not the whole. Bytes that came in small portions are put together into
//! such pieces later.

use std::cell::RefCell;
use std::io;

use zstd::bulk::{Compressor, decompress};
use zstd::zstd_safe::{find_frame_compressed_size, get_frame_content_size};

/// How hard it is compressed. More takes longer and gains little on text like this.
const LEVEL: i32 = 3;
/// How much text a frame holds. Half of it compresses a tenth worse, four times of it is read twice as
/// slowly.
const FRAME: usize = 32 << 10;
/// A line that is longer is cut: a frame is decompressed at once.
const LONGEST: usize = 4 << 20;

/// Compresses bytes, in frames.
pub(super) fn compress(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut compressor = Compressor::new(LEVEL)?;
    let (mut rest, mut out) = (bytes, Vec::new());
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(end_of_piece(rest));
        out.extend(compressor.compress(piece)?);
        rest = after;
    }
    Ok(out)
}

fn end_of_piece(bytes: &[u8]) -> usize {
    if bytes.len() <= FRAME {
        return bytes.len();
    }
    let within = &bytes[FRAME - 1..bytes.len().min(LONGEST)];
    within
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(FRAME - 1 + within.len(), |end| FRAME + end)
}

/// Compressed bytes, by their frames.
#[derive(Debug)]
pub(crate) struct Frames {
    compressed: Vec<u8>,
    all: Vec<Frame>,
    /// The frame that was read last, by where its text begins: lines that are wanted together are often near.
    last: RefCell<Option<(u64, Vec<u8>)>>,
}

/// Where a frame is.
#[derive(Debug, Clone, Copy)]
struct Frame {
    /// Where its text begins in the whole.
    text: u64,
    /// How much text it holds.
    holds: usize,
    /// Where it begins in the file.
    at: usize,
    length: usize,
}

impl Frames {
    /// Finds the frames, without decompressing them.
    pub(crate) fn new(compressed: Vec<u8>) -> io::Result<Self> {
        let (mut at, mut text, mut frames) = (0, 0, Vec::new());
        while at < compressed.len() {
            let rest = &compressed[at..];
            let length = find_frame_compressed_size(rest).map_err(|_| damaged())?;
            let holds = get_frame_content_size(rest).map_err(|_| damaged())?;
            let holds = usize::try_from(holds.ok_or_else(damaged)?).map_err(|_| damaged())?;
            frames.push(Frame { text, holds, at, length });
            text += holds as u64;
            at += length;
        }
        Ok(Self { compressed, all: frames, last: RefCell::default() })
    }

    /// The line that begins at `offset` of the text, without its end; nothing where the text ends before.
    pub(crate) fn line(&self, offset: u64) -> io::Result<Option<Vec<u8>>> {
        let first = self.all.partition_point(|frame| frame.text + frame.holds as u64 <= offset);
        let mut line = Vec::new();
        for frame in self.all.iter().skip(first) {
            let mut last = self.last.borrow_mut();
            if last.as_ref().is_none_or(|(at, _)| *at != frame.text) {
                *last = Some((frame.text, self.decompress(*frame)?));
            }
            let text = last.as_ref().map(|(_, text)| text.as_slice()).unwrap_or_default();
            let from = usize::try_from(offset.saturating_sub(frame.text)).unwrap_or(usize::MAX);
            let text = text.get(from..).unwrap_or_default();
            match text.iter().position(|byte| *byte == b'\n') {
                Some(end) => {
                    line.extend_from_slice(&text[..end]);
                    return Ok(Some(line));
                }
                None => line.extend_from_slice(text),
            }
        }
        Ok((first < self.all.len()).then_some(line))
    }

    fn decompress(&self, frame: Frame) -> io::Result<Vec<u8>> {
        decompress(&self.compressed[frame.at..frame.at + frame.length], frame.holds)
    }

    /// The file with its last frames put together where they are small.
    pub(super) fn tidied(&self) -> io::Result<Vec<u8>> {
        let is_whole = |frame: &Frame| frame.holds >= FRAME / 2;
        let first = self.all.iter().rposition(is_whole).map_or(0, |last| last + 1);
        let mut text = Vec::new();
        for frame in &self.all[first..] {
            text.extend(self.decompress(*frame)?);
        }
        let kept = self.all.get(first).map_or(self.compressed.len(), |frame| frame.at);
        let mut file = self.compressed[..kept].to_vec();
        file.extend(compress(&text)?);
        Ok(file)
    }

    /// How many frames at the end are small: what was added in small portions.
    pub(super) fn small(&self) -> usize {
        self.all.iter().rev().take_while(|frame| frame.holds < FRAME / 2).count()
    }
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "not whole frames of compressed text")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text() -> Vec<u8> {
        let line = |n: u32| format!("{n} {}\n", "words ".repeat(n as usize % 40)).into_bytes();
        (0..4000).flat_map(line).collect()
    }

    #[test]
    fn every_line_is_read_alone_and_all_frames_together_are_the_text() {
        let text = text();
        let compressed = compress(&text).unwrap();
        let mut whole = Vec::new();
        io::Read::read_to_end(&mut zstd::Decoder::new(&compressed[..]).unwrap(), &mut whole)
            .unwrap();
        assert_eq!(whole, text);
        let frames = Frames::new(compressed).unwrap();
        assert!(frames.all.len() > 5);
        let mut offset = 0;
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).step_by(97) {
            let at = text[offset..].windows(line.len()).position(|window| window == line).unwrap();
            offset += at;
            assert_eq!(frames.line(offset as u64).unwrap().as_deref(), Some(line));
        }
        assert_eq!(frames.line(text.len() as u64).unwrap(), None);
    }

    #[test]
    fn a_line_that_came_in_two_portions_is_one_line() {
        let mut file = compress(b"one\ntw").unwrap();
        file.extend(compress(b"o\nthree").unwrap());
        let frames = Frames::new(file).unwrap();
        assert_eq!(frames.line(4).unwrap().unwrap(), b"two");
        assert_eq!(frames.line(8).unwrap().unwrap(), b"three");
    }

    #[test]
    fn small_portions_are_put_together_and_whole_frames_stay_as_they_are() {
        let text = text();
        let mut file = compress(&text).unwrap();
        for portion in 0..30 {
            file.extend(compress(format!("portion {portion}\n").as_bytes()).unwrap());
        }
        let frames = Frames::new(file).unwrap();
        assert!(frames.small() >= 30);
        let tidied = Frames::new(frames.tidied().unwrap()).unwrap();
        assert!(tidied.small() <= 1);
        assert!(tidied.compressed.len() < frames.compressed.len());
        assert_eq!(tidied.line(text.len() as u64).unwrap().unwrap(), b"portion 0");
    }

    #[test]
    fn what_is_no_frame_is_said_to_be_damaged() {
        assert!(Frames::new(b"not compressed".to_vec()).is_err());
        assert!(Frames::new(Vec::new()).unwrap().line(0).unwrap().is_none());
    }
}

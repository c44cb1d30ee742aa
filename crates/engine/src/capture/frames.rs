//! Compressed bytes that can be read from the middle.
//!
//! Text is cut into pieces of about 16 KB, at the ends of lines, and each is a frame of its own: whoever wants
//! one line decompresses one frame, not the whole. Bytes that came in small portions are put together into
//! such pieces later.

use std::cell::RefCell;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::{fmt, io};

use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::get_frame_content_size;

/// How hard it is compressed. More takes longer and gains little on text like this.
const LEVEL: i32 = 3;
/// How much text a frame holds. A search reads one for each place that it shows, and most of what that costs is what
/// the frame holds beside it; twice as much compresses a tenth better.
const FRAME: usize = 16 << 10;
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

/// A file of compressed bytes, by its frames. Frames are found as far as somebody asks for, and only those that
/// are wanted are read.
#[derive(Debug)]
pub(crate) struct Frames {
    file: File,
    /// How much of the file counts.
    length: u64,
    /// The frames that were found, from the first one on.
    found: RefCell<Vec<Frame>>,
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
    at: u64,
    length: usize,
}

impl Frame {
    fn end_of_text(&self) -> u64 {
        self.text + self.holds as u64
    }

    fn end(&self) -> u64 {
        self.at + self.length as u64
    }

    /// Whether it holds about as much as a frame should: it did not come in a small portion.
    const fn is_whole(&self) -> bool {
        self.holds >= FRAME / 2
    }
}

/// What frames are decompressed with, which costs more to make than a frame does to read.
pub(crate) struct Unpacker(Decompressor<'static>);

impl Unpacker {
    pub(crate) fn new() -> io::Result<Self> {
        Decompressor::new().map(Self)
    }
}

impl fmt::Debug for Unpacker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unpacker")
    }
}

impl Frames {
    /// The frames of the first `length` bytes of a file. Nothing is read yet.
    pub(crate) fn new(file: File, length: u64) -> Self {
        Self { file, length, found: RefCell::default(), last: RefCell::default() }
    }

    /// The line that begins at `offset` of the text, without its end; nothing where the text ends before.
    pub(crate) fn line(&self, offset: u64, unpacker: &mut Unpacker) -> io::Result<Option<Vec<u8>>> {
        let Some(first) = self.holding(offset)? else { return Ok(None) };
        let mut line = Vec::new();
        for number in first.. {
            let Some(frame) = self.frame(number)? else { break };
            let mut last = self.last.borrow_mut();
            if last.as_ref().is_none_or(|(at, _)| *at != frame.text) {
                *last = Some((frame.text, self.unpack(frame, unpacker)?));
            }
            let text = last.as_ref().map(|(_, text)| text.as_slice()).unwrap_or_default();
            let from = usize::try_from(offset.saturating_sub(frame.text)).unwrap_or(usize::MAX);
            let text = text.get(from..).unwrap_or_default();
            match text.iter().position(|byte| *byte == b'\n') {
                Some(end) => {
                    line.extend_from_slice(&text[..end]);
                    break;
                }
                None => line.extend_from_slice(text),
            }
        }
        Ok(Some(line))
    }

    /// The number of the frame that holds a byte of the text.
    fn holding(&self, offset: u64) -> io::Result<Option<usize>> {
        let known = self.found.borrow().partition_point(|frame| frame.end_of_text() <= offset);
        for number in known.. {
            match self.frame(number)? {
                Some(frame) if frame.end_of_text() > offset => return Ok(Some(number)),
                Some(_) => {}
                None => break,
            }
        }
        Ok(None)
    }

    /// The frame of a number, of which all before it are known.
    fn frame(&self, number: usize) -> io::Result<Option<Frame>> {
        let mut found = self.found.borrow_mut();
        if let Some(frame) = found.get(number) {
            return Ok(Some(*frame));
        }
        let (at, text) = found.last().map_or((0, 0), |last| (last.end(), last.end_of_text()));
        if at >= self.length {
            return Ok(None);
        }
        let (holds, length) = self.measure(at)?;
        let frame = Frame { text, holds, at, length };
        found.push(frame);
        Ok(Some(frame))
    }

    fn all(&self) -> io::Result<Vec<Frame>> {
        let mut number = 0;
        while self.frame(number)?.is_some() {
            number += 1;
        }
        Ok(self.found.borrow().clone())
    }

    /// How much text the frame at `at` holds, and how long it is. The beginning of a frame says the former; the
    /// latter is what the beginnings of its blocks say together.
    fn measure(&self, at: u64) -> io::Result<(usize, usize)> {
        let mut head = [0; LONGEST_HEAD];
        let read = usize::try_from(self.length - at).unwrap_or(LONGEST_HEAD).min(LONGEST_HEAD);
        self.file.read_exact_at(&mut head[..read], at)?;
        if !head.starts_with(&MAGIC) {
            return Err(damaged());
        }
        let holds = get_frame_content_size(&head[..read]).map_err(|_| damaged())?;
        let holds = usize::try_from(holds.ok_or_else(damaged)?).map_err(|_| damaged())?;
        let mut end = at + head_length(head[4]);
        loop {
            let block = self.block(&head[..read], at, end)?;
            end += block.length;
            if block.is_last {
                break;
            }
        }
        let end = end + if head[4] & 0b100 == 0 { 0 } else { 4 };
        if end > self.length {
            return Err(damaged());
        }
        Ok((holds, usize::try_from(end - at).map_err(|_| damaged())?))
    }

    /// The block at `at`, which may lie in what was read of the frame's beginning.
    fn block(&self, head: &[u8], start: u64, at: u64) -> io::Result<Block> {
        let place = usize::try_from(at - start).unwrap_or(usize::MAX);
        let mut bytes = [0; 3];
        match head.get(place..place.saturating_add(3)) {
            Some(known) => bytes.copy_from_slice(known),
            None if at + 3 <= self.length => self.file.read_exact_at(&mut bytes, at)?,
            None => return Err(damaged()),
        }
        let word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]);
        // A block that repeats one byte says how often, and has that byte.
        let is_repeated = (word >> 1) & 0b11 == 1;
        let length = if is_repeated { 1 } else { u64::from(word >> 3) };
        Ok(Block { length: 3 + length, is_last: word & 1 == 1 })
    }

    fn unpack(&self, frame: Frame, unpacker: &mut Unpacker) -> io::Result<Vec<u8>> {
        unpacker.0.decompress(&self.read(frame.at, frame.length)?, frame.holds)
    }

    fn read(&self, at: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, at)?;
        Ok(bytes)
    }

    /// The file with its last frames put together where they are small; nothing where there are no two of them.
    pub(super) fn tidied(&self) -> io::Result<Option<Vec<u8>>> {
        let all = self.all()?;
        let first = all.iter().rposition(Frame::is_whole).map_or(0, |last| last + 1);
        let small = &all[first..];
        let [begin, _, ..] = small else { return Ok(None) };
        let mut unpacker = Unpacker::new()?;
        let mut text = Vec::new();
        for frame in small {
            text.extend(self.unpack(*frame, &mut unpacker)?);
        }
        let mut file = self.read(0, usize::try_from(begin.at).map_err(|_| damaged())?)?;
        file.extend(compress(&text)?);
        Ok(Some(file))
    }
}

/// What every frame begins with.
const MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();
/// The longest beginning of a frame, and of its first block.
const LONGEST_HEAD: usize = 18 + 3;

struct Block {
    length: u64,
    is_last: bool,
}

/// How long the beginning of a frame is, by what its fifth byte says is in it.
fn head_length(description: u8) -> u64 {
    let is_whole = (description >> 5) & 1;
    let dictionary = [0, 1, 2, 4][usize::from(description & 0b11)];
    let size = [is_whole, 2, 4, 8][usize::from(description >> 6)];
    5 + u64::from(1 - is_whole) + dictionary + u64::from(size)
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "not whole frames of compressed text")
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn text() -> Vec<u8> {
        let line = |n: u32| format!("{n} {}\n", "words ".repeat(n as usize % 40)).into_bytes();
        (0..4000).flat_map(line).collect()
    }

    fn frames(compressed: &[u8]) -> Frames {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(compressed).unwrap();
        Frames::new(file, compressed.len() as u64)
    }

    fn line(frames: &Frames, offset: u64) -> Option<Vec<u8>> {
        frames.line(offset, &mut Unpacker::new().unwrap()).unwrap()
    }

    #[test]
    fn every_line_is_read_alone_and_all_frames_together_are_the_text() {
        let text = text();
        let compressed = compress(&text).unwrap();
        let mut whole = Vec::new();
        io::Read::read_to_end(&mut zstd::Decoder::new(&compressed[..]).unwrap(), &mut whole)
            .unwrap();
        assert_eq!(whole, text);
        let frames = frames(&compressed);
        assert!(frames.all().unwrap().len() > 5);
        let mut offset = 0;
        for each in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).step_by(97) {
            let at = text[offset..].windows(each.len()).position(|window| window == each).unwrap();
            offset += at;
            assert_eq!(line(&frames, offset as u64).as_deref(), Some(each));
        }
        assert_eq!(line(&frames, text.len() as u64), None);
    }

    #[test]
    fn a_frame_is_as_long_as_its_maker_says() {
        let noise: Vec<u8> =
            (0..400_000_u32).map(|n| n.wrapping_mul(0x9e37_79b9).to_le_bytes()[3]).collect();
        let same = [7].repeat(300_000);
        let pieces: [&[u8]; 6] = [b"", b"x", &same, &noise[..300], &noise, &text()];
        for checksum in [false, true] {
            for piece in pieces {
                let mut compressor = Compressor::new(LEVEL).unwrap();
                compressor.include_checksum(checksum).unwrap();
                let mut frame = compressor.compress(piece).unwrap();
                let length = zstd::zstd_safe::find_frame_compressed_size(&frame).unwrap();
                frame.extend(compress(b"more").unwrap());
                assert_eq!(frames(&frame).measure(0).unwrap(), (piece.len(), length));
            }
        }
    }

    #[test]
    fn a_line_near_the_beginning_is_found_without_looking_at_the_rest() {
        let frames = frames(&compress(&text()).unwrap());
        assert!(line(&frames, 0).is_some());
        assert_eq!(frames.found.borrow().len(), 1);
    }

    #[test]
    fn a_line_that_came_in_two_portions_is_one_line() {
        let mut file = compress(b"one\ntw").unwrap();
        file.extend(compress(b"o\nthree").unwrap());
        let frames = frames(&file);
        assert_eq!(line(&frames, 4).unwrap(), b"two");
        assert_eq!(line(&frames, 8).unwrap(), b"three");
    }

    #[test]
    fn small_portions_are_put_together_and_whole_frames_stay_as_they_are() {
        let text = text();
        let mut file = compress(&text).unwrap();
        for portion in 0..30 {
            file.extend(compress(format!("portion {portion}\n").as_bytes()).unwrap());
        }
        let tidied = frames(&file).tidied().unwrap().unwrap();
        assert!(tidied.len() < file.len());
        let tidied = frames(&tidied);
        assert!(tidied.tidied().unwrap().is_none());
        assert_eq!(line(&tidied, text.len() as u64).unwrap(), b"portion 0");
    }

    #[test]
    fn what_is_no_frame_is_said_to_be_damaged() {
        let unpacker = &mut Unpacker::new().unwrap();
        assert!(frames(b"not compressed").line(0, unpacker).is_err());
        let whole = compress(&text()).unwrap();
        assert!(frames(&whole[..whole.len() - 1]).line(1 << 30, unpacker).is_err());
        assert!(line(&frames(b""), 0).is_none());
    }
}

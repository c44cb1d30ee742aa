//! The pages of a database and of its log, read without the database's own code.
//!
//! A page may be there several times: in the file, and in the log as often as it was written. What the
//! last commit says counts first; every other copy is looked at as well, because a record never
//! changes and an old copy of it is as good as any.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use crate::damage::with_suffix;
use heirloom_repo::file;

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// A copy of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Copy {
    /// Whether it is in the log.
    pub in_log: bool,
    /// Where its bytes begin.
    offset: u64,
    /// Whether it is what the last commit left.
    pub current: bool,
}

/// A database and its log, either of which may be damaged.
pub(super) struct Pages {
    file: Option<File>,
    log: Option<File>,
    /// The size of a page, and what of it is for content.
    pub size: usize,
    pub usable: usize,
    /// How many whole or cut-off pages the file has.
    in_file: u32,
    /// Every page in the log, in order.
    frames: Vec<(u32, Copy)>,
    /// The last committed copy of each page in the log.
    latest: HashMap<u32, Copy>,
}

impl Pages {
    pub(super) fn open(path: &Path) -> Self {
        let file =
            file::open_any(path).ok().filter(|file| file.metadata().is_ok_and(|m| m.is_file()));
        let log = file::open_any(with_suffix(path, "-wal")).ok();
        let mut pages = Self {
            file,
            log,
            size: 4096,
            usable: 4096,
            in_file: 0,
            frames: Vec::new(),
            latest: HashMap::new(),
        };
        pages.measure();
        pages.read_log();
        pages
    }

    /// Believes the file's own word on the size of its pages only where it is one.
    fn measure(&mut self) {
        let Some(file) = &mut self.file else { return };
        let head = read_at(file, 0, 100);
        if head.len() == 100 && head.starts_with(b"SQLite format 3\0") {
            let size = usize::from(u16::from_be_bytes([head[16], head[17]]));
            let size = if size == 1 { 65_536 } else { size };
            let reserved = usize::from(head[20]);
            if size.is_power_of_two() && size >= 512 && size - reserved >= 480 {
                (self.size, self.usable) = (size, size - reserved);
            }
        }
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        self.in_file = u32::try_from(length.div_ceil(self.size as u64)).unwrap_or(u32::MAX);
    }

    /// How many copies of pages there are.
    pub(super) fn count(&self) -> u64 {
        u64::from(self.in_file) + self.frames.len() as u64
    }

    /// Every copy of every page.
    pub(super) fn copies(&self) -> impl Iterator<Item = Copy> + use<> {
        let latest = self.latest.keys().copied().collect::<std::collections::HashSet<u32>>();
        let size = self.size as u64;
        let in_file = (1..=self.in_file).map(move |number| Copy {
            in_log: false,
            offset: u64::from(number - 1) * size,
            current: !latest.contains(&number),
        });
        let in_log: Vec<Copy> = self.frames.iter().map(|(_, copy)| *copy).collect();
        in_file.chain(in_log)
    }

    pub(super) fn read(&mut self, copy: Copy) -> Vec<u8> {
        let file = if copy.in_log { &mut self.log } else { &mut self.file };
        file.as_mut().map_or_else(Vec::new, |file| read_at(file, copy.offset, self.size))
    }

    /// The copy of a page that goes with one in the log, or with one in the file.
    fn companion(&self, number: u32, in_log: bool) -> Option<Copy> {
        let in_file = (1..=self.in_file).contains(&number).then(|| Copy {
            in_log: false,
            offset: u64::from(number - 1) * self.size as u64,
            current: false,
        });
        let logged = || {
            let last = || self.frames.iter().rev().find(|(of, _)| *of == number);
            self.latest.get(&number).copied().or_else(|| last().map(|(_, copy)| *copy))
        };
        if in_log { logged().or(in_file) } else { in_file }
    }

    /// The rest of a payload, from the page `first` on; less than `length`, where a page is gone.
    pub(super) fn rest(&mut self, first: u32, length: usize, in_log: bool) -> Vec<u8> {
        let each = self.usable.saturating_sub(4).max(1);
        let mut rest = Vec::new();
        let mut next = first;
        for _ in 0..length.div_ceil(each) {
            let Some(copy) = self.companion(next, in_log) else { break };
            let page = self.read(copy);
            let (Some(pointer), true) = (page.first_chunk::<4>(), page.len() >= self.usable) else {
                break;
            };
            next = u32::from_be_bytes(*pointer);
            rest.extend_from_slice(&page[4..4 + each.min(length - rest.len())]);
        }
        rest
    }

    /// Lists what is in the log. What comes after its last commit, or is left from before the log was
    /// begun again, is listed too, but is not current.
    fn read_log(&mut self) {
        let Some(log) = &mut self.log else { return };
        let head = read_at(log, 0, HEADER);
        let length = log.metadata().map_or(0, |metadata| metadata.len());
        let mut sum = Sum::of_log(&head);
        if let Some(size) = sum.as_ref().map(|sum| sum.page_size) {
            self.size = size;
        }
        let step = (FRAME_HEADER + self.size) as u64;
        let mut uncommitted = 0;
        let mut offset = HEADER as u64;
        while offset + step <= length {
            let frame = read_at(log, offset, FRAME_HEADER + self.size);
            let Some(header) = frame.first_chunk::<FRAME_HEADER>() else { break };
            let number = word(header, 0);
            let copy = Copy { in_log: true, offset: offset + FRAME_HEADER as u64, current: false };
            self.frames.push((number, copy));
            if sum.as_mut().is_some_and(|sum| !sum.covers(header, &frame[FRAME_HEADER..])) {
                sum = None;
            }
            // A size that is not zero marks the end of a commit.
            if sum.is_some() && word(header, 4) != 0 {
                for (number, copy) in &self.frames[uncommitted..] {
                    self.latest.insert(*number, *copy);
                }
                uncommitted = self.frames.len();
            }
            offset += step;
        }
        for (number, copy) in &mut self.frames {
            copy.current = self.latest.get(number).is_some_and(|last| last.offset == copy.offset);
        }
        for copy in self.latest.values_mut() {
            copy.current = true;
        }
    }
}

/// The running checksum of a log.
struct Sum {
    little: bool,
    salt: [u8; 8],
    page_size: usize,
    a: u32,
    b: u32,
}

impl Sum {
    fn of_log(head: &[u8]) -> Option<Self> {
        let head: &[u8; HEADER] = head.first_chunk()?;
        let little = match word(head, 0) {
            0x377f_0682 => true,
            0x377f_0683 => false,
            _ => return None,
        };
        let page_size = usize::try_from(word(head, 8)).ok()?;
        if !page_size.is_power_of_two() || !(512..=65_536).contains(&page_size) {
            return None;
        }
        let salt = head[16..24].try_into().ok()?;
        let mut sum = Self { little, salt, page_size, a: 0, b: 0 };
        sum.add(&head[..24]);
        (sum.a == word(head, 24) && sum.b == word(head, 28)).then_some(sum)
    }

    fn covers(&mut self, header: &[u8; FRAME_HEADER], page: &[u8]) -> bool {
        self.add(&header[..8]);
        self.add(page);
        header[8..16] == self.salt && self.a == word(header, 16) && self.b == word(header, 20)
    }

    fn add(&mut self, bytes: &[u8]) {
        for pair in bytes.chunks_exact(8) {
            let (first, second) = pair.split_at(4);
            let read = |bytes: &[u8]| {
                let bytes = bytes.try_into().unwrap_or_default();
                if self.little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) }
            };
            let (first, second) = (read(first), read(second));
            self.a = self.a.wrapping_add(first).wrapping_add(self.b);
            self.b = self.b.wrapping_add(second).wrapping_add(self.a);
        }
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|word| word.try_into().ok()).map_or(0, u32::from_be_bytes)
}

/// As many bytes as there are, at most `length`.
fn read_at(file: &mut File, offset: u64, length: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(length);
    if file.seek(SeekFrom::Start(offset)).is_ok() {
        // A page that cannot be read is like one that is not there.
        let _ = file.take(length as u64).read_to_end(&mut bytes);
    }
    bytes
}

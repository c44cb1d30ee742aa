//! What git's index says about one file, read by hand.
//!
//! Only to tell whether a file is as git left it: the index has the size and the time of every file
//! that git wrote or was told about. Whatever is not understood is said to be unknown.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::file;

/// A larger index is not read: it would cost more than what is asked of it.
const MOST_BYTES: u64 = 64 << 20;

/// The parts of an entry in front of its flags and its path.
const HEADER: usize = 40;

/// What the index knows of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The content, by its hash, in hexadecimal.
    pub(crate) content: String,
    seconds: u32,
    nanoseconds: u32,
    size: u32,
}

/// What there is to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tracked {
    /// The file is in the index.
    As(Entry),
    Not,
    /// The index cannot be read by hand.
    Unknown,
}

impl Entry {
    /// Whether the file is as git last saw it.
    #[expect(clippy::cast_possible_truncation, reason = "git keeps 32 bits of each")]
    #[expect(clippy::cast_sign_loss, reason = "git keeps 32 bits of each")]
    pub(crate) fn is_clean(&self, path: &Path) -> bool {
        let Ok(found) = fs::symlink_metadata(path) else { return false };
        let nanoseconds = self.nanoseconds == 0 || self.nanoseconds == found.mtime_nsec() as u32;
        self.seconds == found.mtime() as u32 && nanoseconds && self.size == found.size() as u32
    }
}

/// What the index of `git_dir` has of `path`, which is relative to the root of the worktree.
pub(crate) fn tracked(git_dir: &Path, path: &str) -> Tracked {
    let file = git_dir.join("index");
    match fs::metadata(&file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Tracked::Not,
        Ok(found) if found.len() <= MOST_BYTES => {}
        _ => return Tracked::Unknown,
    }
    let Ok(bytes) = file::read(&file) else { return Tracked::Unknown };
    find(&bytes, path.as_bytes()).unwrap_or(Tracked::Unknown)
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// `None` where the index is of a form that is not read.
fn find(bytes: &[u8], wanted: &[u8]) -> Option<Tracked> {
    if bytes.get(..4)? != b"DIRC" {
        return None;
    }
    let (version, count) = (number(bytes, 4)?, number(bytes, 8)?);
    if !(2..=4).contains(&version) {
        return None;
    }
    // Which hash a repository uses is not written here: paths that make sense tell.
    [20, 32].into_iter().find_map(|hash| entries(bytes, wanted, version, count, hash))
}

fn entries(bytes: &[u8], wanted: &[u8], version: u32, count: u32, hash: usize) -> Option<Tracked> {
    let mut at = 12;
    let mut path: Vec<u8> = Vec::new();
    let mut found = Tracked::Not;
    for _ in 0..count {
        let begin = at;
        let flags_at = begin + HEADER + hash;
        let flags = u16::from_be_bytes(bytes.get(flags_at..flags_at + 2)?.try_into().ok()?);
        let extended = flags & 0x4000 != 0;
        if extended && version < 3 {
            return None;
        }
        at = flags_at + if extended { 4 } else { 2 };
        if version == 4 {
            let strip = offset(bytes, &mut at)?;
            path.truncate(path.len().checked_sub(strip)?);
        } else {
            path.clear();
        }
        let length = bytes.get(at..)?.iter().position(|byte| *byte == 0)?;
        path.extend_from_slice(&bytes[at..at + length]);
        let short = usize::from(flags & 0x0fff);
        // The flags repeat the length of the path: another hash would not fit.
        if path.is_empty() || (short < 0x0fff && short != path.len()) {
            return None;
        }
        at += length + 1;
        if version < 4 {
            at = begin + (at - begin).next_multiple_of(8);
        }
        if path == wanted {
            let stage = (flags >> 12) & 3;
            if stage != 0 {
                return None;
            }
            let mut content = String::with_capacity(2 * hash);
            for byte in &bytes[begin + HEADER..begin + HEADER + hash] {
                let _ = write!(content, "{byte:02x}");
            }
            found = Tracked::As(Entry {
                content,
                seconds: number(bytes, begin + 8)?,
                nanoseconds: number(bytes, begin + 12)?,
                size: number(bytes, begin + 36)?,
            });
        }
    }
    // A split index has its entries elsewhere, a sparse one has directories in their place.
    let rest = bytes.get(at..bytes.len().checked_sub(hash)?)?;
    (!is_partial(rest)).then_some(found)
}

fn is_partial(mut extensions: &[u8]) -> bool {
    while let (Some(name), Some(size)) = (extensions.get(..4), number(extensions, 4)) {
        if name == b"link" || name == b"sdir" {
            return true;
        }
        let Some(rest) = extensions.get(8 + size as usize..) else { return true };
        extensions = rest;
    }
    false
}

/// How much of the path before is not part of this one, in the encoding of git's packs.
fn offset(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut value = 0_usize;
    loop {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value = value.checked_shl(7)? | usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some(value);
        }
        value = value.checked_add(1)?;
    }
}

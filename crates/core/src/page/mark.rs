//! The mark behind an entry: which note it is, which one it replaced, and whose it is.

use std::fmt;
use std::ops::Range;

use uuid::Uuid;

use super::plain;
use crate::id::NoteId;

const BEGIN: &str = "<!-- hl:";
const END: &str = "-->";

/// The mark behind an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The note that the entry is.
    pub id: NoteId,
    /// The note that it replaced, so that other ledgers learn of it.
    pub was: Option<NoteId>,
    /// Whose it is.
    pub by: Option<String>,
}

impl Mark {
    /// The mark of a note that replaced nothing and is nobody's in particular.
    pub const fn of(id: NoteId) -> Self {
        Self { id, was: None, by: None }
    }

    fn parse(inside: &str) -> Option<Self> {
        let (id, rest) = inside.split_once(' ').unwrap_or((inside, ""));
        let mut mark = Self::of(id.parse().ok()?);
        let mut rest = rest.trim();
        if let Some(behind) = rest.strip_prefix("was:") {
            let (was, behind) = behind.split_once(' ').unwrap_or((behind, ""));
            mark.was = Some(was.parse().ok()?);
            rest = behind.trim();
        }
        mark.by = rest.strip_prefix("by ").map(|by| by.trim().to_owned());
        (rest.is_empty() || mark.by.is_some()).then_some(mark)
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{BEGIN}{}", self.id)?;
        if let Some(was) = self.was {
            write!(f, " was:{was}")?;
        }
        if let Some(by) = self.by.as_deref().map(plain).filter(|by| !by.is_empty()) {
            write!(f, " by {by}")?;
        }
        write!(f, " {END}")
    }
}

/// The mark on a line: where it stands, and what it says where that can be read.
pub(super) fn find(line: &str) -> Option<(Range<usize>, Option<Mark>)> {
    let start = line.rfind(BEGIN)?;
    let inside = start + BEGIN.len();
    match line[inside..].find(END) {
        Some(length) => {
            let end = inside + length;
            Some((start..end + END.len(), Mark::parse(line[inside..end].trim())))
        }
        None => Some((start..line.len(), None)),
    }
}

/// All notes that a line names, whether its marks stand where an entry has them or not.
pub(super) fn named(line: &str) -> impl Iterator<Item = NoteId> {
    /// The length of an id.
    const ID: usize = 36;
    let behind = |(start, _)| &line[start + BEGIN.len()..];
    line.match_indices(BEGIN).map(behind).filter_map(|behind| behind.get(..ID)?.parse().ok())
}

/// A line with `mark` in place of the one it has, or behind its text.
pub(super) fn put(line: &str, mark: &Mark) -> String {
    if let Some((range, _)) = find(line) {
        return format!("{}{mark}{}", &line[..range.start], &line[range.end..]);
    }
    // Spaces at the end of a line mean something, and stay there.
    let text = line.trim_end();
    format!("{text} {mark}{}", &line[text.len()..])
}

/// The id of a note that was made of `parts`: whoever takes in the same entry gives it the same id,
/// so that two who do so at the same time do not make two notes of it.
pub fn address(parts: &[&str]) -> NoteId {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    // Version 8: a UUID of somebody's own making.
    bytes[6] = (bytes[6] & 0x0f) | 0x80;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    NoteId::new(Uuid::from_bytes(bytes))
}

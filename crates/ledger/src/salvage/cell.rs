//! Finding the rows of the ledger in the bytes of a page, whatever became of the page around them.
//!
//! Nothing of a page is believed: not its type, not its list of cells. Instead every place is looked at
//! where a row of `record` or of `head` could begin, which a few fixed bytes of the row's own header
//! give away, and a row is taken only if its lengths add up. So rows are found in pages whose beginning
//! is gone, and in pages that no tree leads to any more.

use heirloom_core::id::HostId;
use heirloom_core::record::{Erased, Hash, Record, Stored};
use heirloom_core::repo::RepoId;

use crate::records::{from_sql, timestamp};

/// A row's header names each column by a number. That of a host: a text of 16 characters.
const HOST: u8 = 13 + 2 * 16;
/// That of a hash: 32 bytes.
const HASH: u64 = 12 + 2 * 32;
/// That of no value: the column that is the number of the row itself.
const NULL: u8 = 0;
/// The columns of `record` that are needed; later formats have more behind them.
const COLUMNS: usize = 10;
/// No record is longer than this; what says that it is, is not one.
const LONGEST: u64 = 64 * 1024 * 1024;

/// Where a row of `record` begins, and how much of it is elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    /// The number of the row.
    pub arrival: i64,
    /// Where its payload begins in the page.
    pub at: usize,
    /// How much of it is in the page.
    pub local: usize,
    pub length: usize,
    /// The page the rest is in, where there is a rest.
    pub overflow: Option<u32>,
}

/// How far a chain went, as the ledger itself knew it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    pub host: HostId,
    pub seq: u64,
    pub hash: Hash,
    pub own: bool,
}

/// The rows of `record` that begin in a page, of which `usable` bytes are for content.
pub(super) fn cells(page: &[u8], usable: usize) -> Vec<Cell> {
    let marks = page.windows(2).enumerate();
    let marks = marks.filter(|(_, pair)| *pair == [NULL, HOST]);
    // The length of the header is before the first column.
    marks.filter_map(|(mark, _)| cell(page, usable, mark.checked_sub(1)?)).collect()
}

fn cell(page: &[u8], usable: usize, at: usize) -> Option<Cell> {
    let (_, length) = shape(page.get(at..)?)?;
    // In front of the payload are its length and the number of the row, both of which end with a byte
    // below 128 and have none before.
    let row = start_of_number(page, at)?;
    let arrival = varint(page.get(row..)?)?.0;
    let end = row.checked_sub(1)?;
    let says_so = |start: usize| {
        page.get(start..)
            .and_then(varint)
            .is_some_and(|(value, size)| value == length && start + size == row)
    };
    (end.saturating_sub(8)..=end).rev().find(|start| says_so(*start))?;
    let length = usize::try_from(length).ok()?;
    let local = local(length, usable);
    if local == length {
        page.get(at..at + length)?;
        return Some(Cell { arrival: signed(arrival), at, local, length, overflow: None });
    }
    let pointer = page.get(at + local..at + local + 4)?;
    let overflow = u32::from_be_bytes(pointer.try_into().ok()?);
    Some(Cell { arrival: signed(arrival), at, local, length, overflow: Some(overflow) })
}

/// Where the number begins that ends just before `end`.
fn start_of_number(page: &[u8], end: usize) -> Option<usize> {
    let last = end.checked_sub(1)?;
    if *page.get(last)? >= 0x80 {
        return None;
    }
    let mut start = last;
    while start > 0 && page[start - 1] >= 0x80 && end - start < 9 {
        start -= 1;
    }
    Some(start)
}

/// How much of a payload is in the page itself.
fn local(length: usize, usable: usize) -> usize {
    let most = usable.saturating_sub(35);
    if length <= most {
        return length;
    }
    let least = (usable.saturating_sub(12) * 32 / 255).saturating_sub(23);
    let kept = least + (length - least) % usable.saturating_sub(4).max(1);
    if kept <= most { kept } else { least }
}

/// The columns of a row as its header names them, and the length of the whole row.
fn shape(payload: &[u8]) -> Option<(Vec<u64>, u64)> {
    let (header, mut at) = varint(payload)?;
    let mut columns = Vec::with_capacity(COLUMNS);
    let mut length = header;
    while (at as u64) < header {
        let (column, size) = varint(payload.get(at..)?)?;
        columns.push(column);
        length = length.checked_add(width(column)?)?;
        at += size;
    }
    let fits = at as u64 == header && columns.len() >= COLUMNS && columns.len() < 32;
    (fits && columns[9] == HASH && length <= LONGEST).then_some((columns, length))
}

/// How many bytes a column takes.
fn width(column: u64) -> Option<u64> {
    Some(match column {
        0 | 8 | 9 => 0,
        1..=4 => column,
        5 => 6,
        6 | 7 => 8,
        10 | 11 => return None,
        more => (more - 12) / 2,
    })
}

/// Reads a row of `record` from its whole payload.
pub(super) fn record(payload: &[u8]) -> Option<Stored> {
    let (columns, _) = shape(payload)?;
    let (header, _) = varint(payload)?;
    let mut at = usize::try_from(header).ok()?;
    let mut values = Vec::with_capacity(columns.len());
    for column in columns {
        let width = usize::try_from(width(column)?).ok()?;
        values.push((column, payload.get(at..at.checked_add(width)?)?));
        at += width;
    }
    let host = HostId::parse(text(values[1])?).ok()?;
    let seq = u64::try_from(integer(values[2])?).ok()?;
    let (at, kind) = (timestamp(integer(values[4])?), text(values[5])?.to_owned());
    let session = match optional_text(values[6])? {
        Some(text) => Some(text.parse().ok()?),
        None => None,
    };
    let repo = optional_text(values[7])?.map(RepoId::new);
    let hash = Hash::from_bytes(values[9].1.try_into().ok()?);
    // Formats before 10 have no such column.
    let prev = match values.get(10) {
        Some((HASH, bytes)) => Some(Hash::from_bytes((*bytes).try_into().ok()?)),
        _ => None,
    };
    match (optional_text(values[3])?, optional_text(values[8])?) {
        (Some(id), Some(body)) => {
            let (id, body) = (id.parse().ok()?, body.to_owned());
            Some(Stored::Whole(Record { host, seq, id, at, kind, session, repo, body, hash, prev }))
        }
        (None, None) => {
            Some(Stored::Erased(Erased { host, seq, at, kind, session, repo, hash, prev }))
        }
        _ => None,
    }
}

/// The rows of `head` in a page.
pub(super) fn heads(page: &[u8]) -> Vec<Head> {
    // Four columns, the first of which is a host.
    let marks = page.windows(2).enumerate().filter(|(_, pair)| *pair == [5, HOST]);
    marks.filter_map(|(at, _)| head(page, at)).collect()
}

fn head(page: &[u8], at: usize) -> Option<Head> {
    let types = page.get(at..at + 5)?;
    let number = usize::try_from(width(u64::from(types[2]))?).ok()?;
    let own = match types[4] {
        8 => false,
        9 => true,
        _ => return None,
    };
    let length = 5 + 16 + number + 32;
    let fits = types[2] <= 9 && u64::from(types[3]) == HASH;
    if !fits || usize::from(*page.get(at.checked_sub(1)?)?) != length {
        return None;
    }
    let values = page.get(at + 5..at + length)?;
    let (host, rest) = values.split_at(16);
    let (seq, hash) = rest.split_at(number);
    Some(Head {
        host: HostId::parse(std::str::from_utf8(host).ok()?).ok()?,
        seq: from_sql(integer((u64::from(types[2]), seq))?),
        hash: Hash::from_bytes(hash.try_into().ok()?),
        own,
    })
}

fn text((column, bytes): (u64, &[u8])) -> Option<&str> {
    (column >= 13 && column % 2 == 1).then(|| std::str::from_utf8(bytes).ok()).flatten()
}

/// A text that may be absent; nothing at all where it is neither.
#[expect(clippy::option_option, reason = "absent and unreadable are two things")]
fn optional_text((column, bytes): (u64, &[u8])) -> Option<Option<&str>> {
    if column == 0 { Some(None) } else { text((column, bytes)).map(Some) }
}

fn integer((column, bytes): (u64, &[u8])) -> Option<i64> {
    match column {
        1..=6 => {
            let first = i64::from(i8::from_be_bytes([*bytes.first()?]));
            Some(bytes[1..].iter().fold(first, |value, byte| (value << 8) | i64::from(*byte)))
        }
        8 => Some(0),
        9 => Some(1),
        _ => None,
    }
}

/// A number of one to nine bytes, and how many it has.
fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0_u64;
    for (index, byte) in bytes.iter().take(9).enumerate() {
        if index == 8 {
            return Some(((value << 8) | u64::from(*byte), 9));
        }
        value = (value << 7) | u64::from(byte & 0x7f);
        if *byte < 0x80 {
            return Some((value, index + 1));
        }
    }
    None
}

const fn signed(number: u64) -> i64 {
    number.cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_read_as_the_file_format_has_them() {
        assert_eq!(varint(&[0x7f, 9]), Some((127, 1)));
        assert_eq!(varint(&[0x81, 0x00]), Some((128, 2)));
        assert_eq!(varint(&[0xff; 9]), Some((u64::MAX, 9)));
        assert_eq!(varint(&[0x80]), None);
        assert_eq!(integer((1, &[0xff])), Some(-1));
        assert_eq!(integer((3, &[0x01, 0x00, 0x00])), Some(65_536));
    }

    proptest! {
        /// A row's mark at any place, with anything around it, is read or passed over.
        #[test]
        fn no_bytes_make_the_reader_fail(
            mut page in proptest::collection::vec(any::<u8>(), 0..600),
            marks in proptest::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..9),
        ) {
            for (place, is_head) in marks {
                if page.len() > 2 {
                    let at = place.index(page.len() - 1);
                    page[at] = if is_head { 5 } else { NULL };
                    page[at + 1] = HOST;
                }
            }
            for cell in cells(&page, 512) {
                prop_assert!(cell.local <= cell.length);
                let _ = record(&page[cell.at..cell.at + cell.local]);
            }
            let _ = heads(&page);
            let _ = record(&page);
        }
    }
}

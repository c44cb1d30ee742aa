//! Records: the entries of the ledger, and the chain that makes a change visible.
//!
//! Each record's hash covers the hash before it, so a record that was changed, removed or moved
//! breaks the chain at a place that can be named. The body is hashed as the bytes that are stored:
//! nothing is ever parsed and written again.
//!
//! Two things may be lacking without breaking a chain. A record can be erased to its hash, which the
//! next one still covers. And a stream can have gaps, where what came before a record was never sent
//! here or is lost: the record then carries the hash of the one before it, so that it can be checked
//! all the same.

use std::fmt;

use jiff::Timestamp;

use crate::id::{HostId, RecordId, SessionId};
use crate::repo::RepoId;

/// No record was written before: heirloom is younger. A clock whose battery is empty begins in 1970.
pub const EARLIEST: Timestamp = Timestamp::constant(946_684_800, 0);

/// Records that say they were written later were written by a clock that was wrong.
pub const LATEST: Timestamp = Timestamp::constant(4_102_444_800, 0);

/// Whether something can have been written at that time, in the years 2000 to 2099.
pub fn is_credible(at: Timestamp) -> bool {
    (EARLIEST..LATEST).contains(&at)
}

/// One entry of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The ledger that wrote it.
    pub host: HostId,
    /// Its place among the records of that host, from 1.
    pub seq: u64,
    /// Its id (UUIDv7).
    pub id: RecordId,
    /// When it was written, to the millisecond.
    pub at: Timestamp,
    /// What it says, for example `note.added`.
    pub kind: String,
    /// The session it belongs to.
    pub session: Option<SessionId>,
    /// The repository it belongs to: its key, or the path of one that has none.
    pub repo: Option<RepoId>,
    /// The rest, a JSON object as text.
    pub body: String,
    /// The hash over all of the above and the hash of the record before.
    pub hash: Hash,
    /// The hash of the record before, only where that record is not beside this one. Not covered by
    /// the hash a second time: it is what the hash was made with.
    pub prev: Option<Hash>,
}

/// What is left of a record whose content was erased.
///
/// Its id goes with its body: without those random bits a short body could be guessed from the hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erased {
    /// The ledger that wrote it.
    pub host: HostId,
    /// Its place among the records of that host, from 1.
    pub seq: u64,
    /// When it was written.
    pub at: Timestamp,
    pub kind: String,
    /// The session it belonged to.
    pub session: Option<SessionId>,
    /// The repository it belonged to.
    pub repo: Option<RepoId>,
    /// Its hash, which the record after it covers.
    pub hash: Hash,
    /// The hash of the record before, only where that record is not beside this one.
    pub prev: Option<Hash>,
}

/// A place in a chain, as a ledger keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stored {
    /// The record as it was written.
    Whole(Record),
    /// Its link alone.
    Erased(Erased),
}

impl Stored {
    /// The ledger that wrote it.
    pub const fn host(&self) -> &HostId {
        match self {
            Self::Whole(record) => &record.host,
            Self::Erased(erased) => &erased.host,
        }
    }

    /// Its place among the records of that host.
    pub const fn seq(&self) -> u64 {
        match self {
            Self::Whole(record) => record.seq,
            Self::Erased(erased) => erased.seq,
        }
    }

    /// Its link of the chain.
    pub const fn hash(&self) -> Hash {
        match self {
            Self::Whole(record) => record.hash,
            Self::Erased(erased) => erased.hash,
        }
    }

    /// When it was written.
    pub const fn at(&self) -> Timestamp {
        match self {
            Self::Whole(record) => record.at,
            Self::Erased(erased) => erased.at,
        }
    }

    /// The hash of the record before, where it carries it.
    pub const fn prev(&self) -> Option<Hash> {
        match self {
            Self::Whole(record) => record.prev,
            Self::Erased(erased) => erased.prev,
        }
    }

    /// The record, unless it was erased.
    pub fn whole(self) -> Option<Record> {
        match self {
            Self::Whole(record) => Some(record),
            Self::Erased(_) => None,
        }
    }

    /// Whether it can stand behind a record with that hash. Of an erased one nothing says otherwise:
    /// only the record that follows can vouch for it.
    pub fn follows(&self, previous: &Hash) -> bool {
        match self {
            Self::Whole(record) => record.expected_hash(previous) == record.hash,
            Self::Erased(_) => true,
        }
    }
}

impl Record {
    /// The hash this record should have, given the hash of the one before it.
    pub fn expected_hash(&self, previous: &Hash) -> Hash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&previous.0);
        let mut part = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        part(self.host.as_str().as_bytes());
        part(&self.seq.to_le_bytes());
        part(self.id.uuid().as_bytes());
        part(&self.at.as_millisecond().to_le_bytes());
        part(self.kind.as_bytes());
        // Absent and empty are different: absent has no part at all, only its marker.
        match self.session {
            Some(session) => part(session.uuid().as_bytes()),
            None => part(b""),
        }
        match &self.repo {
            Some(repo) => part(repo.as_bytes()),
            None => part(&[0xff]),
        }
        part(self.body.as_bytes());
        Hash(*hasher.finalize().as_bytes())
    }
}

/// A link of the chain.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hash([u8; 32]);

impl Hash {
    /// What the first record of a host is chained to.
    pub const GENESIS: Self = Self([0; 32]);

    /// A hash as it is stored.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes to store.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Reads the hexadecimal form.
    pub fn parse(text: &str) -> Option<Self> {
        blake3::Hash::from_hex(text).ok().map(|hash| Self(*hash.as_bytes()))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(blake3::Hash::from_bytes(self.0).to_hex().as_str())
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        Record {
            host: HostId::parse("00000000000000aa").unwrap(),
            seq: 7,
            id: "0192f0c1-2345-7000-8000-000000000001".parse().unwrap(),
            at: Timestamp::from_millisecond(1_768_231_800_000).unwrap(),
            kind: "note.added".to_owned(),
            session: Some("cad0ac4d-3933-45ad-9a1c-14aec05bb940".parse().unwrap()),
            repo: Some(RepoId::new("/src/payments")),
            body: r#"{"text":"x"}"#.to_owned(),
            hash: Hash::GENESIS,
            prev: None,
        }
    }

    #[test]
    fn what_a_record_carries_of_the_one_before_is_not_hashed_twice() {
        let behind_a_gap = Record { prev: Some(Hash::GENESIS), ..record() };
        let expected = record().expected_hash(&Hash::GENESIS);
        assert_eq!(behind_a_gap.expected_hash(&Hash::GENESIS), expected);
    }

    #[test]
    fn the_hash_of_a_known_record_never_changes() {
        // Ledgers in the field depend on this value: a change here is a change of format.
        insta::assert_snapshot!(record().expected_hash(&Hash::GENESIS), @"86fc6f2cebc00372a1d2d1ca317ff388f86a85161ab6a88f945767c0c17fb0d7");
    }

    #[test]
    fn every_field_and_the_record_before_are_covered() {
        let base = record().expected_hash(&Hash::GENESIS);
        let changed = |change: fn(&mut Record)| {
            let mut record = record();
            change(&mut record);
            record.expected_hash(&Hash::GENESIS)
        };
        for hash in [
            changed(|r| r.host = HostId::parse("00000000000000ab").unwrap()),
            changed(|r| r.seq = 8),
            changed(|r| r.id = "0192f0c1-2345-7000-8000-000000000002".parse().unwrap()),
            changed(|r| r.at = Timestamp::from_millisecond(1_768_231_800_001).unwrap()),
            changed(|r| r.kind = "note.adde".to_owned()),
            changed(|r| r.session = None),
            changed(|r| r.repo = None),
            changed(|r| r.repo = Some(RepoId::new(""))),
            changed(|r| r.body.push(' ')),
            record().expected_hash(&base),
        ] {
            assert_ne!(hash, base);
        }
    }

    #[test]
    fn a_hash_is_read_as_it_is_written() {
        let hash = record().expected_hash(&Hash::GENESIS);
        assert_eq!(Hash::parse(&hash.to_string()), Some(hash));
        assert_eq!(Hash::parse("abc"), None);
    }
}

//! What is known of the ledger outside its file, so that a file which lost its end, was replaced by an
//! older one or was copied is told from the one that was here.
//!
//! `heads.json` in heirloom's home holds the end of the chain as it was when somebody last looked, and
//! which file that was. It is brought up to date by commands and at the start of a session, not by every
//! hook: an end that is behind only notices less. The views are the second witness.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use heirloom_core::id::HostId;
use heirloom_core::record::Hash;
use heirloom_repo::file;

use crate::create;

const FILE_NAME: &str = "heads.json";

/// The witness.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Anchor {
    /// How far the chain of each host goes that wrote here.
    pub heads: BTreeMap<String, End>,
    /// The file, and who wrote in it.
    #[serde(default)]
    pub file: Option<Identity>,
}

/// The end of a chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct End {
    pub seq: u64,
    pub hash: String,
}

/// What tells a file from a copy of it. Not the device: its number changes from boot to boot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    pub host: String,
    inode: u64,
    /// When the file was made, in nanoseconds since 1970, where the file system knows.
    born: Option<String>,
}

impl Identity {
    pub(crate) fn of(ledger: &Path, host: &HostId) -> Option<Self> {
        let metadata = fs::metadata(ledger).ok()?;
        Some(Self { host: host.to_string(), inode: metadata.ino(), born: born(&metadata) })
    }
}

impl Identity {
    /// Whether this is a copy of the file that was known. Both must differ: there are file systems
    /// whose inodes do not stay, and some do not know when a file was made.
    pub(crate) fn is_copy_of(&self, known: &Self) -> bool {
        let other_birth = self.born.is_some() && known.born.is_some() && self.born != known.born;
        self.host == known.host && self.inode != known.inode && other_birth
    }
}

fn born(metadata: &Metadata) -> Option<String> {
    let born = metadata.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(born.as_nanos().to_string())
}

impl Anchor {
    /// What is known of the ledger at `ledger`.
    pub(crate) fn read(ledger: &Path) -> Self {
        let text = file::read_to_string(place(ledger)).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// The ends, as far as they can be read.
    pub(crate) fn ends(&self) -> Vec<(HostId, u64, Hash)> {
        let read = |(host, end): (&String, &End)| {
            Some((HostId::parse(host).ok()?, end.seq, Hash::parse(&end.hash)?))
        };
        self.heads.iter().filter_map(read).collect()
    }

    pub(crate) fn set(&mut self, host: &HostId, seq: u64, hash: &Hash) {
        self.heads.insert(host.to_string(), End { seq, hash: hash.to_string() });
    }

    /// Notes an end that is farther than the one that is known.
    pub(crate) fn raise(&mut self, host: &HostId, seq: u64, hash: &Hash) {
        if self.heads.get(host.as_str()).is_none_or(|end| end.seq < seq) {
            self.set(host, seq, hash);
        }
    }

    /// Writes it down, if it says something new. Where that cannot be, there is one witness less.
    pub(crate) fn write(&self, ledger: &Path) {
        if Self::read(ledger) == *self {
            return;
        }
        let home = ledger.parent().unwrap_or(Path::new("."));
        let unfinished = create::unfinished(home);
        let Ok(mut text) = serde_json::to_string(self) else { return };
        text.push('\n');
        let written = create::write_synced(&unfinished, text.as_bytes())
            .is_ok_and(|()| file::rename(&unfinished, place(ledger)).is_ok());
        if !written {
            let _ = file::remove_file(&unfinished);
        }
    }
}

fn place(ledger: &Path) -> PathBuf {
    ledger.with_file_name(FILE_NAME)
}

//! What this home knows of hubs: where each repository joined, how far it has read, whose keys it has
//! seen, what it withheld.
//!
//! A file of its own: losing it loses nothing but the place in the stream, because what is read twice is
//! known the second time. The address in it may have a password, so it is its owner's only.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use heirloom_core::record::Hash;
use heirloom_core::share::Why;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::HubError;

const FILE: &str = "hub.json";
const LOCK: &str = "hub.lock";

/// How long another process is waited for.
const PATIENCE: Duration = Duration::from_secs(20);

/// How many withheld records are named one by one.
const MOST_NAMED: usize = 100;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    /// By the key of the repository.
    #[serde(default)]
    pub(crate) repos: BTreeMap<String, Joined>,
}

/// What is known of the hub of a repository.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Joined {
    pub(crate) url: String,
    /// What the repository is called, for a hub that does not know it.
    #[serde(default)]
    pub(crate) name: String,
    /// The host that joined; after `ledger rehost` there is another.
    pub(crate) host: String,
    /// Sessions from before are not told.
    pub(crate) since: Timestamp,
    #[serde(default)]
    pub(crate) epoch: Option<String>,
    /// The position up to which everything was read.
    #[serde(default)]
    pub(crate) cursor: i64,
    #[serde(default)]
    pub(crate) pushed_at: Option<Timestamp>,
    #[serde(default)]
    pub(crate) pulled_at: Option<Timestamp>,
    /// What the hub had at the last push.
    #[serde(default)]
    pub(crate) pushed_seq: u64,
    #[serde(default)]
    pub(crate) withheld: Vec<Withheld>,
    #[serde(default)]
    pub(crate) withheld_count: u64,
    /// Why the daemon could not send or take in what is new, the last time it tried.
    #[serde(default)]
    pub(crate) trouble: Option<String>,
    /// When the hub was last asked to pack what is old.
    #[serde(default)]
    pub(crate) tended_at: Option<Timestamp>,
    /// By host.
    #[serde(default)]
    pub(crate) streams: BTreeMap<String, Stream>,
}

/// A record that could have left and did not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Withheld {
    pub(crate) seq: u64,
    pub(crate) kind: String,
    pub(crate) why: Why,
}

/// How far another host was followed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stream {
    pub(crate) author: String,
    /// The key it was first seen with, and has to keep.
    pub(crate) public: Vec<u8>,
    pub(crate) seq: u64,
    pub(crate) hash: String,
    pub(crate) count: u64,
    pub(crate) link: String,
    /// Why it is not followed any further.
    #[serde(default)]
    pub(crate) problem: Option<String>,
}

impl Stream {
    pub(crate) fn link(&self) -> Hash {
        Hash::parse(&self.link).unwrap_or(Hash::GENESIS)
    }

    /// Goes back to before its first record.
    pub(crate) fn begin(&mut self) {
        (self.seq, self.count) = (0, 0);
        self.hash.clear();
        self.link.clear();
    }
}

impl Joined {
    pub(crate) fn name_withheld(&mut self, withheld: Vec<Withheld>) {
        self.withheld_count += withheld.len() as u64;
        self.withheld.extend(withheld);
        let surplus = self.withheld.len().saturating_sub(MOST_NAMED);
        self.withheld.drain(..surplus);
    }
}

/// The repositories that joined a hub, by their keys.
pub(crate) fn all(home: &Path) -> Result<BTreeMap<String, Joined>, HubError> {
    Ok(read(&home.join(FILE))?.repos)
}

/// Notes why something did not work that nobody waits for, where it is news.
pub(crate) fn note_trouble(
    home: &Path,
    key: &str,
    trouble: Option<String>,
) -> Result<(), HubError> {
    if look(home, key)?.trouble == trouble {
        return Ok(());
    }
    let mut held = Held::take(home)?;
    held.joined(key)?.trouble = trouble;
    held.save()
}

/// Whether a repository joined a hub. Looks at one file, and only there.
pub fn is_joined(home: &Path, key: &str) -> bool {
    read(&home.join(FILE)).is_ok_and(|state| state.repos.contains_key(key))
}

fn read(path: &Path) -> Result<State, HubError> {
    let failed = |doing, source| HubError::File { doing, path: path.to_owned(), source };
    match heirloom_repo::file::read(path) {
        Ok(bytes) => {
            serde_json::from_slice(&bytes).map_err(|error| failed("understand", error.into()))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(State::default()),
        Err(error) => Err(failed("read", error.source)),
    }
}

/// The state, for one process at a time.
pub(crate) struct Held {
    pub(crate) state: State,
    path: PathBuf,
    _lock: heirloom_repo::LockFile,
}

impl Held {
    pub(crate) fn take(home: &Path) -> Result<Self, HubError> {
        let lock = home.join(LOCK);
        let failed = |source| HubError::File { doing: "lock", path: lock.clone(), source };
        let file = heirloom_repo::open_lock(&lock).map_err(failed)?;
        let began = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(std::fs::TryLockError::WouldBlock) if began.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(50));
                }
                Err(std::fs::TryLockError::WouldBlock) => return Err(HubError::Busy),
                Err(std::fs::TryLockError::Error(source)) => return Err(failed(source)),
            }
        }
        let path = home.join(FILE);
        Ok(Self { state: read(&path)?, path, _lock: file })
    }

    pub(crate) fn joined(&mut self, key: &str) -> Result<&mut Joined, HubError> {
        self.state.repos.get_mut(key).ok_or(HubError::NotJoined)
    }

    pub(crate) fn save(&self) -> Result<(), HubError> {
        let failed = |source| HubError::File { doing: "write", path: self.path.clone(), source };
        let text = serde_json::to_vec_pretty(&self.state).map_err(|error| failed(error.into()))?;
        heirloom_repo::replace_private(&self.path, &text).map_err(failed)
    }
}

/// The state to look at.
pub(crate) fn look(home: &Path, key: &str) -> Result<Joined, HubError> {
    read(&home.join(FILE))?.repos.remove(key).ok_or(HubError::NotJoined)
}

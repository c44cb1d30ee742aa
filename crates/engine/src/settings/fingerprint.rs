//! Whether anything changed since the settings were read.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Environment, places};

/// What the settings depend on, without reading it. Equal ones mean equal settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    files: Vec<(PathBuf, Option<Stamp>)>,
    variables: Vec<(String, Option<String>)>,
}

/// What tells one state of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    len: u64,
    modified_ns: i128,
    /// When its inode changed: unlike the time of modification, no program sets it back.
    changed_ns: i128,
    inode: u64,
    device: u64,
}

/// Looks at the files, without opening any.
///
/// Flags are the caller's own and not part of it.
pub fn fingerprint(environment: &Environment, repo: Option<&Path>) -> Fingerprint {
    let stamp = |place: super::Place| {
        let stamp = fs::metadata(&place.path).ok().map(|metadata| Stamp::of(&metadata));
        (place.path, stamp)
    };
    Fingerprint {
        files: places(environment, repo).into_iter().map(stamp).collect(),
        variables: environment.variables.clone(),
    }
}

impl Stamp {
    #[cfg(unix)]
    fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;

        let nanoseconds = |s: i64, ns: i64| i128::from(s) * 1_000_000_000 + i128::from(ns);
        Self {
            len: metadata.len(),
            modified_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
            device: metadata.dev(),
        }
    }

    #[cfg(not(unix))]
    fn of(metadata: &Metadata) -> Self {
        let modified = metadata.modified().ok();
        let since = modified.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        let modified_ns =
            since.and_then(|since| i128::try_from(since.as_nanos()).ok()).unwrap_or_default();
        Self { len: metadata.len(), modified_ns, changed_ns: 0, inode: 0, device: 0 }
    }
}

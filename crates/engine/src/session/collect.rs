//! Collecting what nothing needs any more, and making small what is kept.
//!
//! Records are never removed, nor is what an agent printed, nor a secret that a session or a template
//! refers to. What can go is what processes that were killed left behind. Everything here can be
//! stopped at any moment and done again.

use std::fs;
use std::path::{Path, PathBuf};

use heirloom_agents::lock as conversation_locks;
use heirloom_core::id::SessionId;
use heirloom_ledger::{Compacted, Ledger};
use heirloom_repo::file;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::error::SessionError;
use crate::here::Here;
use crate::turn::{dir, lock, stream};
use crate::vault::Vault;

/// A file that somebody may be writing is left alone for this long.
const FRESH: SignedDuration = SignedDuration::from_hours(24);

/// What was done, or with a dry run what would be.
#[derive(Debug, Clone, Serialize)]
pub struct Collected {
    /// Whether nothing was done.
    pub dry_run: bool,
    /// What agents printed and is now compressed.
    pub streams: Streams,
    /// Secrets that nothing refers to.
    pub secrets: Secrets,
    /// Files that processes which were killed left behind.
    pub leftovers: Vec<PathBuf>,
    pub ledger: Compacted,
}

/// What agents printed and is now compressed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Streams {
    pub files: u64,
    /// Their size before.
    pub bytes_before: u64,
    /// Their size after; not known in a dry run.
    pub bytes_after: Option<u64>,
}

/// Secrets that nothing refers to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Secrets {
    pub removed: u64,
    /// Whether the vault was left alone because somebody was adding to it.
    pub in_use: bool,
}

/// Does it; with `dry_run` it only says what there is to do.
pub fn collect(here: &Here, ledger: &mut Ledger, dry_run: bool) -> Result<Collected, SessionError> {
    Ok(Collected {
        dry_run,
        ledger: ledger.compact(dry_run)?,
        streams: compress(here, dry_run)?,
        secrets: clear_vault(here, ledger, dry_run)?,
        leftovers: clear_leftovers(here, dry_run)?,
    })
}

/// A stream is finished when nobody holds its session: the lock comes before the stream, and goes
/// after the session's end is recorded.
fn compress(here: &Here, dry_run: bool) -> Result<Streams, SessionError> {
    let mut done = Streams::default();
    let finished = |path: &PathBuf| {
        let id = path.file_stem().and_then(|stem| stem.to_str()?.parse::<SessionId>().ok());
        id.is_some_and(|id| !lock::exists(&here.home, id))
    };
    let is_plain =
        |path: &PathBuf| path.extension().is_some_and(|end| end == "jsonl" || end == "stderr");
    let mut plain = Vec::new();
    for path in entries(&dir::streams(&here.home))?.into_iter().filter(finished) {
        // A directory is a session of several turns.
        let files = if path.is_dir() { entries(&path)? } else { vec![path] };
        plain.extend(files.into_iter().filter(is_plain));
    }
    for path in plain {
        let failed = |source| SessionError::File { doing: "compress", path: path.clone(), source };
        if dry_run {
            done.files += 1;
            done.bytes_before += fs::metadata(&path).map_err(failed)?.len();
        } else if let Some(compressed) = stream::compress(&path).map_err(failed)? {
            done.files += 1;
            done.bytes_before += compressed.before;
            done.bytes_after = Some(done.bytes_after.unwrap_or(0) + compressed.after);
        }
    }
    Ok(done)
}

fn clear_vault(here: &Here, ledger: &Ledger, dry_run: bool) -> Result<Secrets, SessionError> {
    let vault = Vault::new(&here.home);
    let Some((_closed, unwanted)) =
        vault.unwanted(|| Ok::<_, SessionError>(ledger.references()?))?
    else {
        return Ok(Secrets { removed: 0, in_use: true });
    };
    for path in unwanted.iter().filter(|_| !dry_run) {
        remove(path)?;
    }
    Ok(Secrets { removed: unwanted.len() as u64, in_use: false })
}

fn clear_leftovers(here: &Here, dry_run: bool) -> Result<Vec<PathBuf>, SessionError> {
    let mut leftovers = Vec::new();
    for path in entries(&dir::streams(&here.home))? {
        if name(&path).starts_with(stream::UNFINISHED) && is_old(&path, here.clock.now()) {
            leftovers.push(path);
        }
    }
    for path in entries(&dir::driver_locks(&here.home))? {
        if path.extension().is_some_and(|end| end == "new") && is_old(&path, here.clock.now()) {
            leftovers.push(path);
        }
    }
    for path in entries(&dir::scratch_of_all(&here.home))? {
        let is_over = match name(&path).parse() {
            Ok(id) => !lock::exists(&here.home, id),
            // Not put there by a turn.
            Err(_) => is_old(&path, here.clock.now()),
        };
        if is_over {
            leftovers.push(path);
        }
    }
    for path in leftovers.iter().filter(|_| !dry_run) {
        remove(path)?;
    }
    leftovers.extend(conversation_locks::stale(&dir::locks(&here.home), !dry_run));
    leftovers.sort();
    Ok(leftovers)
}

/// What is in a directory, in order; nothing if there is none.
fn entries(dir: &Path) -> Result<Vec<PathBuf>, SessionError> {
    if !dir.is_dir() {
        return Ok(Vec::new());
    }
    let failed = |source| SessionError::File { doing: "look into", path: dir.to_owned(), source };
    let entries = fs::read_dir(dir).map_err(failed)?;
    let paths = entries.map(|entry| Ok(entry.map_err(failed)?.path()));
    let mut paths = paths.collect::<Result<Vec<_>, SessionError>>()?;
    paths.sort();
    Ok(paths)
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// Whether nobody has written to it for long. What cannot be looked at may be new.
fn is_old(path: &Path, now: Timestamp) -> bool {
    let modified = fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
    let modified = modified.ok().and_then(|time| Timestamp::try_from(time).ok());
    modified.is_some_and(|modified| now.duration_since(modified) > FRESH)
}

fn remove(path: &Path) -> Result<(), SessionError> {
    let removed = if path.is_dir() { file::remove_dir_all(path) } else { file::remove_file(path) };
    match removed {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

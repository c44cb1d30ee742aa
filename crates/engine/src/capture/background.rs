//! What hooks do about capture: read a tail, and leave the rest to a process of its own.
//!
//! That process outlives the hook, runs when nothing else wants to, and there is one of it.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::time::Duration;

use heirloom_core::id::SessionId;
use heirloom_ledger::Facts;
use heirloom_repo::{LockFile, child, open_lock};

use super::take::{Manner, Taken, Wanted, take};
use super::{CaptureError, on};
use crate::here::Here;

/// The most that a hook reads of a transcript.
const TAIL: u64 = 2 << 20;
/// How long a hook waits for somebody else who writes facts.
const PATIENCE: Duration = Duration::from_millis(500);

/// A session's transcript, as a hook is told of it.
#[derive(Debug, Clone, Copy)]
pub struct Calling<'a> {
    pub session: SessionId,
    pub agent: &'a str,
    /// The agent's own id of it.
    pub agent_session_id: &'a str,
    /// Where its transcript is.
    pub transcript: &'a Path,
    /// The repository, as the ledger knows it.
    pub repo: &'a str,
}

/// Takes in what is new of the transcript of the session that calls, as much as a hook may read.
/// Nothing where the repository is not captured, or the transcript not there.
pub fn tail(
    here: &Here,
    calling: Calling<'_>,
    archive: bool,
) -> Result<Option<Taken>, CaptureError> {
    if !on::is_on(&here.home, calling.repo)
        || super::marks::is_forgotten(&here.home, calling.session)
        || !calling.transcript.is_file()
    {
        return Ok(None);
    }
    let mut facts = Facts::open(&here.home, PATIENCE)?;
    let wanted = Wanted {
        session: calling.session,
        agent: calling.agent.to_owned(),
        agent_session_id: calling.agent_session_id.to_owned(),
        subagent: None,
        repo: calling.repo.to_owned(),
        path: calling.transcript.to_owned(),
        printed: None,
    };
    let manner = Manner { most: TAIL, wait: false, archive, now: here.clock.now() };
    take(&here.home, &mut facts, &wanted, manner).map(Some)
}

/// The lock that whoever takes everything in holds.
pub fn lock(home: &Path) -> Option<LockFile> {
    let file = open_lock(&home.join("capture").join("sync.lock")).ok()?;
    file.try_lock().ok().map(|()| file)
}

/// Starts a process that takes in the rest, unless there is one. It is not waited for.
pub fn wake(here: &Here, program: &Path) {
    // Somebody is at it: what is new now is seen by them, or by the next.
    let Some(free) = lock(&here.home) else { return };
    drop(free);
    let mut command = child::silent(program);
    command.args(["sync", "--background"]).current_dir(&here.place.root).process_group(0);
    // The child is adopted by init when the hook ends; a hook lives for milliseconds.
    let _ = command.spawn();
}

/// How long after one reading of everything the next is due.
const APART: Duration = Duration::from_mins(10);

fn done_mark(home: &Path) -> std::path::PathBuf {
    home.join("capture").join("synced")
}

/// Everything was read just now.
pub fn note_done(home: &Path) {
    let mark = done_mark(home);
    let _ = heirloom_repo::replace_private(&mark, b"");
}

/// Whether it is a while ago that everything was read.
pub fn is_due(home: &Path) -> bool {
    let written = std::fs::metadata(done_mark(home)).and_then(|found| found.modified());
    written.map_or(true, |at| at.elapsed().map_or(true, |ago| ago > APART))
}

/// From here on this process only runs when nothing else wants to.
pub fn be_humble() {
    let _ = rustix::process::nice(19);
}

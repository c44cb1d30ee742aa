//! When a session was last at work.
//!
//! Every hook says so, also the one before a tool use that nothing gates, which must not pay for the
//! ledger. So it is the time of an empty file, which costs one call to the kernel. Where there is no
//! file, the session was last at work when the ledger last saw it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use heirloom_core::session::Session;
use heirloom_ledger::{Error, Ledger, Live};
use heirloom_repo::{append_private, make_private_dir};
use jiff::Timestamp;
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};

use super::presence::{self, Caller};
use super::{cache, live};
use crate::here::Here;

/// A session is at work from now on. What cannot be noted is not worth a fault.
pub(super) fn begin(here: &Here, caller: Caller<'_>) {
    let file = own_file(here, caller);
    let _ = file.parent().map(make_private_dir);
    if append_private(&file).is_ok() {
        note(here, caller);
    }
}

/// A session is at work now. One that was never met is left to whoever meets it.
pub(super) fn note(here: &Here, caller: Caller<'_>) {
    let now = here.clock.now();
    let time = Timespec { tv_sec: now.as_second(), tv_nsec: now.subsec_nanosecond().into() };
    let times = Timestamps { last_access: time, last_modification: time };
    let _ = utimensat(CWD, own_file(here, caller), &times, AtFlags::empty());
}

/// Whether a file was changed since the session last did something. By the time at which the kernel
/// says that it was, which nobody can set. That time goes in steps of some milliseconds: what changed
/// within one step counts as changed since, because an agent's word must not pass for a person's.
pub(super) fn is_newer(here: &Here, caller: Caller<'_>, file: &Path) -> bool {
    let changed =
        |path: &Path| fs::metadata(path).ok().map(|found| (found.ctime(), found.ctime_nsec()));
    let Some(file) = changed(file) else { return false };
    changed(&own_file(here, caller)).is_some_and(|last| file >= last)
}

fn own_file(here: &Here, caller: Caller<'_>) -> PathBuf {
    match presence::driven(here) {
        Some(id) => file(here, &id.to_string()),
        None => file(here, caller.agent_session_id),
    }
}

/// A session that is at work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtWork {
    /// The session, its process, and where it is.
    pub live: Live,
    /// When it last did something.
    pub last_active_at: Timestamp,
}

/// The sessions of a repository that are at work: those whose process is alive.
pub fn at_work(here: &Here, ledger: &Ledger, repo: &str) -> Result<Vec<AtWork>, Error> {
    let alive = ledger.live(repo)?.into_iter().filter(live::is_alive);
    alive
        .map(|live| {
            let session = ledger.session(live.session)?;
            let last_active_at = last(here, session.as_ref(), &live);
            Ok(AtWork { live, last_active_at })
        })
        .collect()
}

fn last(here: &Here, session: Option<&Session>, live: &Live) -> Timestamp {
    let own = live.session.to_string();
    let agents = session.and_then(|session| session.agent_session_id.as_deref());
    let noted = [Some(own.as_str()), agents].into_iter().flatten().filter_map(|name| {
        let modified = fs::metadata(file(here, name)).and_then(|found| found.modified()).ok()?;
        Timestamp::try_from(modified).ok()
    });
    noted.fold(live.seen_at, Timestamp::max)
}

fn file(here: &Here, session: &str) -> PathBuf {
    cache::file(here, "active", &[session.as_bytes()])
}

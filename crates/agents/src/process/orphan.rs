//! An agent whose supervisor died.

use rustix::process::{Pid, Signal, kill_process_group};

use crate::lock::began;

/// Ends the process group of an agent that nobody looks after any more. `started` is when it began
/// ([`began`]): a process of that number that began at another time is somebody else's.
pub fn end_orphan(pid: u32, started: Option<u64>) -> bool {
    let Some(group) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    let is_it = started.is_some() && began(pid) == started;
    is_it && kill_process_group(group, Signal::KILL).is_ok()
}

//! What the operating system says about processes: when one began, who started it, whether it runs.
//!
//! The only code that knows how to ask. Linux has `/proc`; elsewhere `ps` is asked, and what that does not say is not
//! known. The invariant: a process is never taken to be alive because nothing could be found out about it.

#[cfg(target_os = "linux")]
mod proc;
#[cfg(any(not(target_os = "linux"), test))]
mod ps;

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process};

#[cfg(target_os = "linux")]
use proc as own;
#[cfg(not(target_os = "linux"))]
use ps as own;

pub(crate) use own::is_reading_stdin;
pub use own::{booted_at, command_line, environ, pids, seconds};

/// How far up the line of processes anybody looks.
const MOST_ANCESTORS: usize = 24;

/// How long the end of a killed process is waited for: one that waits for a disk that does not answer never
/// ends.
const LONGEST_END: Duration = Duration::from_secs(5);

/// A process that runs. A zombie does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    /// The program's short name.
    pub name: String,
    /// Who started it.
    pub parent: u32,
    /// When it began: on Linux in the kernel's clock ticks, elsewhere in seconds.
    pub began: u64,
}

/// A process: its number and when it began, so that a reused number is not taken for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// Its number.
    pub pid: u32,
    /// When it began, as [`Running::began`] has it.
    pub began: Option<u64>,
}

/// Whether a process still runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    Alive,
    Gone,
    /// A process has its number; whether it is that one cannot be said.
    Unknown,
}

impl Identity {
    /// The process with this number now.
    pub fn of(pid: u32) -> Self {
        Self { pid, began: began(pid) }
    }

    /// Whether it still runs.
    pub fn liveness(self) -> Liveness {
        let is_there = raw(self.pid)
            .is_some_and(|pid| !matches!(test_kill_process(pid), Err(rustix::io::Errno::SRCH)));
        judge(self.began, own::running(self.pid).map(|found| found.began), is_there)
    }

    /// Whether it certainly runs.
    pub fn is_alive(self) -> bool {
        self.liveness() == Liveness::Alive
    }

    /// Whether it certainly does not run any more.
    pub fn is_gone(self) -> bool {
        self.liveness() == Liveness::Gone
    }

    /// Kills it and its process group, if it certainly runs, and waits for its end.
    pub fn kill_group(self) -> bool {
        let Some(pid) = raw(self.pid).filter(|_| self.is_alive()) else { return false };
        let is_killed = kill_process_group(pid, Signal::KILL).is_ok();
        wait_for_end(&[self]);
        is_killed
    }
}

/// Waits until killed processes are gone. A kill returns before its process has ended: one with a lot of
/// memory lives on for a while on a busy machine, its environment empty already, and still holds what whoever
/// killed it wants to take over.
pub(crate) fn wait_for_end(killed: &[Identity]) {
    let began = Instant::now();
    while began.elapsed() < LONGEST_END && !killed.iter().all(|process| process.is_gone()) {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// `then` and `now` are when it began, as recorded and as the system says; `is_there` whether the number is taken.
fn judge(then: Option<u64>, now: Option<u64>, is_there: bool) -> Liveness {
    match (then, now) {
        (Some(then), Some(now)) if then == now => Liveness::Alive,
        (Some(_), Some(_)) => Liveness::Gone,
        // A zombie has its number still.
        (_, None) if cfg!(target_os = "linux") || !is_there => Liveness::Gone,
        _ => Liveness::Unknown,
    }
}

/// When a process began; nothing where it does not run or the system does not say.
pub fn began(pid: u32) -> Option<u64> {
    own::running(pid).map(|found| found.began)
}

/// Who started this process, who started that one, and so on, each with its name.
pub fn ancestors() -> Vec<(Identity, String)> {
    line_of(own::parent())
}

/// A process, who started it, who started that one, and so on.
pub fn line_of(mut pid: u32) -> Vec<(Identity, String)> {
    let find = own::finder();
    let mut line: Vec<(Identity, String)> = Vec::new();
    while pid > 1 && line.len() < MOST_ANCESTORS {
        let Some(found) = find(pid) else { break };
        line.push((Identity { pid, began: Some(found.began) }, found.name));
        pid = found.parent;
    }
    line
}

/// Whether the first of a line of processes, or this one where it is empty, was started from outside of what can be
/// seen here: a container's first process, and whatever is run in one.
pub fn is_entered(line: &[(Identity, String)]) -> bool {
    above(line) == Some(0)
}

/// Whether not even who started this process can be seen: somebody hides it. Those further up may be other users',
/// which some systems hide from everybody.
pub fn is_cut_off(line: &[(Identity, String)]) -> bool {
    line.is_empty() && own::parent() > 1
}

/// Who started the first of a line of processes, or this one where it is empty.
fn above(line: &[(Identity, String)]) -> Option<u32> {
    match line.last() {
        Some((first, _)) => own::running(first.pid).map(|found| found.parent),
        None => Some(own::parent()),
    }
}

fn raw(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reused_number_is_another_process() {
        let own = Identity::of(std::process::id());
        assert!(own.is_alive());
        assert!(Identity { began: own.began.map(|at| at + 1), ..own }.is_gone());
        assert!(Identity { pid: u32::MAX, began: None }.is_gone());
        assert!(!Identity { began: own.began.map(|at| at + 1), ..own }.kill_group());
    }

    #[test]
    fn what_cannot_be_found_out_is_not_taken_for_life() {
        let own = std::process::id();
        assert_eq!(Identity { pid: own, began: None }.liveness(), Liveness::Unknown);
        assert_eq!(judge(Some(7), Some(7), true), Liveness::Alive);
        assert_eq!(judge(Some(7), None, false), Liveness::Gone);
        assert_ne!(judge(Some(7), None, true), Liveness::Alive);
        assert_ne!(judge(None, None, true), Liveness::Alive);
    }

    #[test]
    fn the_line_of_processes_begins_with_who_started_us() {
        let parent = std::os::unix::process::parent_id();
        assert_eq!(ancestors()[0].0, Identity::of(parent));
    }
}

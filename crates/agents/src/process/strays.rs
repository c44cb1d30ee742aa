//! Descendants that left the agent's process group.
//!
//! Agents run their tools in sessions of their own, which no signal to the group reaches; and
//! once the agent is dead, nothing says whose children they were. So every descendant carries a
//! mark in its environment, by which it is found wherever it went. Where the system does not
//! show other processes' environments, only the group is ended.

use std::ffi::OsStr;
use std::hash::{BuildHasher, Hasher, RandomState};

use crate::env::Env;
use crate::system;

/// The variable with the marks: ours, after those of whoever started us.
pub(crate) const VARIABLE: &str = "HEIRLOOM_PROCESS";

#[derive(Debug, Clone)]
pub(crate) struct Mark {
    own: String,
    value: String,
}

impl Mark {
    pub(crate) fn new(env: &Env) -> Self {
        let own = format!("{:016x}", RandomState::new().build_hasher().finish());
        let outer = env.get(OsStr::new(VARIABLE)).map(|outer| outer.to_string_lossy());
        let value = outer.map_or_else(|| own.clone(), |outer| format!("{outer}:{own}"));
        Self { own, value }
    }

    /// The mark alone.
    pub(crate) fn own(&self) -> &str {
        &self.own
    }

    /// What a process carries: the mark, after those of whoever started us.
    pub(crate) fn value(&self) -> &str {
        &self.value
    }

    /// Kills every process that carries the mark, and what those start in the meantime.
    #[cfg(target_os = "linux")]
    pub(super) fn kill_strays(&self) {
        // A process that forks faster than this is beyond the means of signals.
        for _ in 0..10 {
            if self.kill_once() == 0 {
                return;
            }
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn kill_strays(&self) {}

    #[cfg(target_os = "linux")]
    fn kill_once(&self) -> usize {
        system::pids().filter(|pid| self.kill_marked(*pid)).count()
    }

    /// Holds on to the process before looking at it, so that its number cannot change hands.
    #[cfg(target_os = "linux")]
    fn kill_marked(&self, pid: u32) -> bool {
        use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
        let Some(known) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
        if !bears(pid, &self.own) {
            return false;
        }
        let Ok(process) = pidfd_open(known, PidfdFlags::empty()) else { return false };
        bears(pid, &self.own) && pidfd_send_signal(process, Signal::KILL).is_ok()
    }
}

/// A process that carries `mark`, if there is one.
pub(crate) fn bearer(mark: &str) -> Option<u32> {
    system::pids().find(|pid| bears(*pid, mark))
}

fn bears(pid: u32, mark: &str) -> bool {
    system::environ(pid).is_some_and(|environ| carries(&environ, mark))
}

fn carries(environ: &[u8], mark: &str) -> bool {
    environ.split(|byte| *byte == 0).any(|variable| {
        let value = variable.strip_prefix(VARIABLE.as_bytes());
        let value = value.and_then(|value| value.strip_prefix(b"="));
        value.is_some_and(|marks| {
            marks.split(|byte| *byte == b':').any(|each| each == mark.as_bytes())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_found_behind_the_marks_of_others() {
        let outer = Mark::new(&Env::new());
        let env = Env::from([(VARIABLE.into(), outer.value().into())]);
        let inner = Mark::new(&env);
        let environ = format!("A=b\0{VARIABLE}={}\0", inner.value());
        assert!(carries(environ.as_bytes(), &outer.own));
        assert!(carries(environ.as_bytes(), &inner.own));
        assert!(!carries(environ.as_bytes(), "0"));
    }
}

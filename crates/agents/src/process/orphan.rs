//! Agents that outlived whoever started them.
//!
//! A killed engine leaves its agent behind. What was recorded of it may be too little: the engine
//! may have died between starting the agent and writing its number down. So an engine puts a
//! variable of its own into the environment of what it starts, and whoever comes after it finds
//! everything that carries it, wherever it went. Where the system does not show other processes'
//! environments, only the recorded process and its group are ended.

use rustix::process::{Pid, Signal};

use crate::system;
pub use crate::system::Identity;

/// Ends the process group of an agent that nobody looks after any more. `started` is when it began
/// ([`system::began`]): a process of that number that began at another time is somebody else's.
pub fn end_orphan(pid: u32, started: Option<u64>) -> bool {
    started.is_some() && Identity { pid, began: started }.kill_group()
}

fn raw(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

/// The processes whose environment has `variable` set to `value`, this one and those it comes from
/// not among them.
pub fn carrying(variable: &str, value: &str) -> Vec<Identity> {
    let wanted = format!("{variable}={value}");
    let carries = |pid: &u32| {
        let environ = system::environ(*pid).unwrap_or_default();
        environ.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes())
    };
    let mut own = vec![std::process::id()];
    own.extend(system::ancestors().iter().map(|(process, _)| process.pid));
    system::pids()
        .filter(|pid| !own.contains(pid))
        .filter(carries)
        .map(Identity::of)
        .filter(|process| process.began.is_some())
        .collect()
}

/// Kills what carries the variable, and what that starts in the meantime, and waits for their end. Returns how
/// many.
pub fn kill_carrying(variable: &str, value: &str) -> usize {
    let mut killed = Vec::new();
    // A process that forks faster than this is beyond the means of signals.
    for _ in 0..20 {
        let found = carrying(variable, value);
        if found.is_empty() {
            break;
        }
        for process in found {
            let Some(pid) = raw(process.pid) else { continue };
            let is_killed = rustix::process::kill_process(pid, Signal::KILL).is_ok();
            if is_killed && !killed.contains(&process) {
                killed.push(process);
            }
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    system::wait_for_end(&killed);
    killed.len()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn whatever_carries_the_variable_is_found_and_killed_and_nothing_else() {
        let value = format!("test-{}", std::process::id());
        let start = |value: &str| {
            let mut command = Command::new("sleep");
            command.arg("600").env("HEIRLOOM_ORPHAN_TEST", value).stdin(Stdio::null());
            command.spawn().unwrap()
        };
        let (mut ours, mut other) = (start(&value), start("another"));
        while carrying("HEIRLOOM_ORPHAN_TEST", &value).is_empty() {
            std::thread::yield_now();
        }
        let killed = Identity::of(ours.id());
        assert_eq!(carrying("HEIRLOOM_ORPHAN_TEST", &value), [killed]);
        assert_eq!(kill_carrying("HEIRLOOM_ORPHAN_TEST", &value), 1);
        assert!(killed.is_gone());
        assert!(!ours.wait().unwrap().success());
        assert!(Identity::of(other.id()).is_alive());
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(!Identity::of(other.id()).is_alive());
    }
}

//! Processes: which agent started us, and whether it still runs.

use std::fs;

use heirloom_ledger::Live;

/// How far up the line of processes an agent is looked for.
const MOST_ANCESTORS: usize = 24;

/// A process, told from a later one with the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// When it started, in the kernel's clock ticks.
    pub started: Option<u64>,
}

struct Stat {
    name: String,
    parent: u32,
    started: u64,
}

/// What the kernel says of a process. The name stands in parentheses and may hold any of its own.
fn stat(pid: u32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (head, tail) = text.rsplit_once(')')?;
    let mut fields = tail.split_whitespace();
    // One that is dead and not yet buried does nothing any more.
    if fields.next()? == "Z" {
        return None;
    }
    let parent = fields.next()?.parse().ok()?;
    let started = fields.nth(17)?.parse().ok()?;
    let name = head.split_once('(')?.1.to_owned();
    Some(Stat { name, parent, started })
}

/// The process with this number, if there is one.
pub fn process(pid: u32) -> Option<Process> {
    let started = stat(pid)?.started;
    Some(Process { pid, started: Some(started) })
}

/// The line of processes that leads to us, nearest first, each with its name.
fn ancestors() -> Vec<(Process, String)> {
    let mut line = Vec::new();
    let mut pid = std::os::unix::process::parent_id();
    while pid > 1 && line.len() < MOST_ANCESTORS {
        let Some(found) = stat(pid) else { break };
        line.push((Process { pid, started: Some(found.started) }, found.name));
        pid = found.parent;
    }
    line
}

/// The agent that called us: the process it names, or the nearest one that is no shell.
pub fn caller(named: Option<u32>) -> Option<Process> {
    const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "fish", "ksh", "busybox", "env"];
    named.and_then(process).or_else(|| {
        let no_shell = |(_, name): &(Process, String)| !SHELLS.contains(&name.as_str());
        ancestors().into_iter().find(no_shell).map(|(process, _)| process)
    })
}

/// Whether the process of a live session still runs.
pub fn is_alive(live: &Live) -> bool {
    match (stat(live.pid), live.pid_started) {
        (Some(found), Some(started)) => found.started == started,
        (Some(_), None) => true,
        // Where there is no /proc nothing can be said of any process.
        (None, _) => !std::path::Path::new("/proc/self/stat").exists(),
    }
}

/// The live session that the line of processes leads to.
pub fn calling(live: &[Live]) -> Option<&Live> {
    ancestors().into_iter().find_map(|(process, _)| {
        live.iter().find(|live| {
            live.pid == process.pid && live.pid_started.is_none_or(|at| Some(at) == process.started)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;

    fn live(pid: u32, pid_started: Option<u64>) -> Live {
        Live {
            session: "8272974a-8223-4415-954c-99d01904a037".parse().unwrap(),
            agent: "claude".to_owned(),
            pid,
            pid_started,
            worktree: None,
            branch: None,
            seen_at: Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn a_reused_number_is_another_process() {
        let own = process(std::process::id()).unwrap();
        assert!(is_alive(&live(own.pid, own.started)));
        assert!(!is_alive(&live(own.pid, own.started.map(|at| at + 1))));
        assert!(!is_alive(&live(u32::MAX, None)));
    }

    #[test]
    fn the_session_above_us_is_found_by_its_process() {
        let parent = process(std::os::unix::process::parent_id()).unwrap();
        let all = [live(u32::MAX, None), live(parent.pid, parent.started)];
        assert_eq!(calling(&all).map(|live| live.pid), Some(parent.pid));
        assert_eq!(calling(&[live(parent.pid, Some(1))]), None);
    }
}

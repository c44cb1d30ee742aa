//! Processes: which agent started us, and whether it still runs.

use heirloom_agents::system;
pub use heirloom_agents::system::Identity as Process;
use heirloom_ledger::Live;

/// The process with this number, if there is one.
pub fn process(pid: u32) -> Option<Process> {
    Some(Process::of(pid)).filter(|process| process.began.is_some())
}

/// The agent that called us: the process it names, or the nearest one that is no shell.
pub fn caller(named: Option<u32>) -> Option<Process> {
    const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "fish", "ksh", "busybox", "env"];
    named.and_then(process).or_else(|| {
        let no_shell = |(_, name): &(Process, String)| !SHELLS.contains(&name.as_str());
        system::ancestors().into_iter().find(no_shell).map(|(process, _)| process)
    })
}

/// Whether the process of a live session certainly runs.
pub fn is_alive(live: &Live) -> bool {
    of(live).is_alive()
}

/// Whether it certainly does not: one of which nothing is known is neither alive nor gone.
pub fn is_gone(live: &Live) -> bool {
    of(live).is_gone()
}

fn of(live: &Live) -> Process {
    Process { pid: live.pid, began: live.pid_started }
}

/// The live session that the line of processes leads to.
pub fn calling(live: &[Live]) -> Option<&Live> {
    system::ancestors().into_iter().find_map(|(process, _)| {
        live.iter().find(|live| {
            live.pid == process.pid && live.pid_started.is_none_or(|at| Some(at) == process.began)
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
        assert!(is_alive(&live(own.pid, own.began)));
        assert!(is_gone(&live(own.pid, own.began.map(|at| at + 1))));
        assert!(is_gone(&live(u32::MAX, None)));
    }

    #[test]
    fn a_process_whose_start_nobody_noted_is_neither_alive_nor_gone() {
        let unknown = live(std::process::id(), None);
        assert!(!is_alive(&unknown) && !is_gone(&unknown));
    }

    #[test]
    fn the_session_above_us_is_found_by_its_process() {
        let parent = process(std::os::unix::process::parent_id()).unwrap();
        let all = [live(u32::MAX, None), live(parent.pid, parent.began)];
        assert_eq!(calling(&all).map(|live| live.pid), Some(parent.pid));
        assert_eq!(calling(&[live(parent.pid, Some(1))]), None);
    }
}

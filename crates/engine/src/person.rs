//! Who runs a command: a person, or an agent through its shell.
//!
//! What is seen is gathered here; what follows from it is [`heirloom_core::trust::person`].

use heirloom_agents::system;
use heirloom_core::config::Config;
use heirloom_core::session::Session;
use heirloom_core::status::Status;
use heirloom_core::trust::person::{
    Action, Ancestor, NotAPerson, Seen, Who, is_client, is_multiplexer, is_nobody, judge,
};
use heirloom_core::trust::widen;
use heirloom_ledger::{Error, Ledger, Live, SessionFilter};
use heirloom_repo::file;

use crate::guard;
use crate::here::Here;

/// Who runs this command.
pub fn who(here: &Here, ledger: &Ledger) -> Who {
    here.asks.clone().unwrap_or_else(|| judge(&seen(here, ledger)))
}

/// The config of the session whose agent runs this command; nothing where none of ours does.
pub(crate) fn own_config(here: &Here, ledger: &Ledger) -> Result<Option<Config>, Error> {
    if here.asks.is_some() {
        return Ok(None);
    }
    let agents = ledger.live_everywhere()?;
    let line = system::ancestors();
    let is_above = |live: &&Live| line.iter().any(|(process, _)| is_process(live, *process));
    let Some(own) = agents.iter().find(is_above) else { return Ok(None) };
    Ok(ledger.session(own.session)?.and_then(|session| session.config.ok()))
}

/// Whether whoever runs this command may launch an agent with this config, sealed. Only a person gives
/// it more than they have themselves.
pub(crate) fn may_launch(here: &Here, ledger: &Ledger, config: &Config) -> Result<(), PersonError> {
    let own = own_config(here, ledger)?.unwrap_or_default();
    if widen::beyond(config, &own).is_empty() {
        return Ok(());
    }
    Ok(allow(here, ledger, Action::Widen)?)
}

/// Why something that only a person may do was not done.
#[derive(Debug, thiserror::Error)]
pub enum PersonError {
    /// It was not a person who asked.
    #[error(transparent)]
    NotAPerson(#[from] NotAPerson),
    #[error(transparent)]
    Ledger(#[from] heirloom_ledger::Error),
}

/// Whether whoever runs this command may do it. Use cases ask, so that no surface can forget to.
pub fn allow(here: &Here, ledger: &Ledger, action: Action) -> Result<(), NotAPerson> {
    heirloom_core::trust::person::allow(action, who(here, ledger))
}

fn seen(here: &Here, ledger: &Ledger) -> Seen {
    #[cfg(debug_assertions)]
    if let Some(seen) = staged(here) {
        return seen;
    }
    // An agent at work in one repository is one in all of them.
    let agents = ledger.live_everywhere().unwrap_or_default();
    let above = system::ancestors();
    let past = Past::of(ledger, &agents);
    let may_be_let_go = past.may_have_let_go_of(&above);
    let is_entered = system::is_entered(&above);
    let is_blind = system::is_cut_off(&above) || (is_unshared() && past.hides_somebody());
    let line = described(above, &agents);
    let is_inside = line.iter().any(is_multiplexer);
    Seen {
        line,
        variable: variable(here),
        // Opening it works only where a terminal controls the process.
        has_terminal: file::open_any("/dev/tty").is_ok(),
        may_be_let_go,
        is_entered,
        is_blind,
        is_wsl: is_wsl(),
        clients: if is_inside { clients(&agents) } else { Vec::new() },
    }
}

/// Who a test says it is. Whether an agent runs the tests is nothing they can depend on. Not in a
/// release build: there it would be a way to pass for a person.
#[cfg(debug_assertions)]
fn staged(here: &Here) -> Option<Seen> {
    let a_person = cfg!(test).then_some("bash|xterm");
    let line = here.var("HEIRLOOM_TEST_LINE").or(a_person)?;
    let ancestor = |words: &str| {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        Ancestor { name: words.first().cloned().unwrap_or_default(), words, session: None }
    };
    Some(Seen {
        line: line.split('|').map(ancestor).collect(),
        variable: variable(here),
        has_terminal: true,
        ..Seen::default()
    })
}

/// Linux on Windows says so in the name of its kernel, which no program there can change.
fn is_wsl() -> bool {
    let release = file::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    release.to_lowercase().contains("microsoft")
}

/// Whether this is a namespace of users, as whoever is not the machine's owner needs to make one of processes. The
/// containers of most machines are none.
fn is_unshared() -> bool {
    let map = file::read_to_string("/proc/self/uid_map").unwrap_or_default();
    map.split_whitespace().ne(["0", "0", "4294967295"])
}

/// How many sessions are looked at, the newest.
const SESSIONS: usize = 200;

/// The agents that are or were at work since the system was started.
struct Past<'a> {
    /// Those whose end nobody told.
    at_work: Vec<&'a Live>,
    /// When the others began and ended, in seconds since the epoch.
    ended: Vec<(i64, i64)>,
}

impl<'a> Past<'a> {
    fn of(ledger: &Ledger, agents: &'a [Live]) -> Self {
        let booted = system::booted_at();
        // What was at work before has let go of nothing that runs now.
        let is_of_now = |live: &&Live| {
            booted.is_none_or(|at| live.seen_at.as_second() >= at) || guard::live::is_alive(live)
        };
        let filter =
            SessionFilter { statuses: &Status::ALL, limit: SESSIONS, ..SessionFilter::default() };
        let sessions = ledger.sessions(&filter).map(|page| page.sessions).unwrap_or_default();
        let ended = sessions.iter().filter(|session| session.agent.is_some());
        let span = |session: &Session| {
            Some((session.created_at.as_second(), session.completed_at?.as_second()))
        };
        Self {
            at_work: agents.iter().filter(is_of_now).collect(),
            ended: ended.filter_map(span).collect(),
        }
    }

    /// Whether an agent was at work when the first process above began that is not the system's. Whoever lets
    /// go of what they start (`setsid`, `nohup`) are no longer above it, and may have ended since; that they were
    /// there is what they cannot undo.
    fn may_have_let_go_of(&self, above: &[(system::Identity, String)]) -> bool {
        let first = above.iter().rev().find(|(_, name)| !is_nobody(name));
        let Some(began) = first.and_then(|(process, _)| process.began) else { return false };
        let was_there = |live: &&Live| live.pid_started.is_some_and(|at| at <= began);
        let at = system::seconds(began);
        let was_then = |(from, to): &(i64, i64)| at.is_some_and(|at| (*from..=*to).contains(&at));
        self.at_work.iter().any(was_there) || self.ended.iter().any(was_then)
    }

    /// Whether one of them was at work before the first process that can be seen began, and cannot be seen: it may have
    /// made this namespace.
    fn hides_somebody(&self) -> bool {
        let first = system::began(1);
        let is_hidden = |live: &&&Live| !guard::live::is_alive(live);
        let mut hidden = self.at_work.iter().filter(is_hidden);
        hidden.any(|live| live.pid_started.is_some_and(|at| first.is_some_and(|began| at < began)))
    }
}

fn described(line: Vec<(system::Identity, String)>, agents: &[Live]) -> Vec<Ancestor> {
    let describe = |(process, name): (system::Identity, String)| {
        let own = agents.iter().find(|live| is_process(live, process));
        let session = own.map(|live| live.session.short());
        Ancestor { name, words: system::command_line(process.pid), session }
    };
    line.into_iter().map(describe).collect()
}

/// Whether the agent of a session is this very process.
pub(crate) fn is_process(live: &Live, process: system::Identity) -> bool {
    live.pid == process.pid && live.pid_started.is_none_or(|at| Some(at) == process.began)
}

/// The lines that lead to the clients attached to multiplexers of this machine.
fn clients(agents: &[Live]) -> Vec<Vec<Ancestor>> {
    let looks = |line: &Vec<(system::Identity, String)>| {
        let first = line.first().map(|(process, name)| {
            let words = system::command_line(process.pid);
            Ancestor { name: name.clone(), words, session: None }
        });
        first.as_ref().is_some_and(is_client)
    };
    let lines = system::pids().map(system::line_of).filter(looks);
    // Without the client itself, which would count as a multiplexer.
    lines.map(|line| described(line[1..].to_vec(), agents)).collect()
}

/// A variable by which an agent marks what it starts.
fn variable(here: &Here) -> Option<String> {
    heirloom_agents::ALL
        .iter()
        .flat_map(|agent| {
            agent.session_variable().into_iter().chain(agent.nested_env().iter().copied())
        })
        .find(|variable| here.var(variable).is_some())
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;

    fn live(pid_started: u64, seen_at: i64) -> Live {
        Live {
            session: "8272974a-8223-4415-954c-99d01904a037".parse().unwrap(),
            agent: "claude".to_owned(),
            // No process has this number.
            pid: u32::MAX,
            pid_started: Some(pid_started),
            worktree: None,
            branch: None,
            seen_at: Timestamp::from_second(seen_at).unwrap(),
        }
    }

    fn past(agents: &[Live]) -> Past<'_> {
        let home = tempfile::TempDir::new().unwrap();
        let ledger = Ledger::open(home.path(), heirloom_ledger::Options::COMMAND).unwrap();
        Past::of(&ledger, agents)
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn only_who_was_at_work_when_it_began_may_have_let_go_of_it() {
        let booted = system::booted_at().unwrap();
        let above = |began: u64| {
            let identity = system::Identity { pid: 7, began: Some(began) };
            [(identity, "sh".to_owned()), (identity, "systemd".to_owned())]
        };
        // It died without a word, in this life of the system or in the one before.
        let died = [live(5_000, booted + 60)];
        assert!(past(&died).may_have_let_go_of(&above(6_000)));
        assert!(!past(&died).may_have_let_go_of(&above(4_000)));
        let before = [live(5_000, booted - 60)];
        assert!(!past(&before).may_have_let_go_of(&above(6_000)));
        // It ended as it should: what began meanwhile may be its.
        let ended = Past { at_work: Vec::new(), ended: vec![(booted + 50, booted + 70)] };
        for (began, is_its) in [(4_000, false), (6_000, true), (8_000, false)] {
            assert_eq!(ended.may_have_let_go_of(&above(began)), is_its, "{began}");
        }
    }
}

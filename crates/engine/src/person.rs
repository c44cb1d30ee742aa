//! Who runs a command: a person, or an agent through its shell.
//!
//! What is seen is gathered here; what follows from it is [`heirloom_core::trust::person`].

use heirloom_agents::system;
use heirloom_core::config::Config;
use heirloom_core::trust::person::{Action, Ancestor, NotAPerson, Seen, Who, is_nobody, judge};
use heirloom_core::trust::widen;
use heirloom_ledger::{Error, Ledger, Live};
use heirloom_repo::file;

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
    let may_be_let_go = may_be_let_go(&above, &agents);
    let line = described(above, &agents);
    let is_inside = line.iter().any(|one| one.name.starts_with("tmux") || one.name == "screen");
    Seen {
        line,
        variable: variable(here),
        // Opening it works only where a terminal controls the process.
        has_terminal: file::open_any("/dev/tty").is_ok(),
        may_be_let_go,
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
        may_be_let_go: false,
        clients: Vec::new(),
    })
}

/// Whether an agent that is at work was so before the first process above that is not the system's. Whoever
/// lets go of what they start (`setsid`, `nohup`) are no longer above it; that they were there before it is
/// what they cannot undo.
fn may_be_let_go(above: &[(system::Identity, String)], agents: &[Live]) -> bool {
    let first = above.iter().rev().find(|(_, name)| !is_nobody(name));
    let Some(began) = first.and_then(|(process, _)| process.began) else { return false };
    agents.iter().any(|live| live.pid_started.is_some_and(|at| at <= began))
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
    let is_client = |line: &Vec<(system::Identity, String)>| {
        line.first().is_some_and(|(_, name)| matches!(name.as_str(), "tmux: client" | "screen"))
    };
    let lines = system::pids().map(system::line_of).filter(is_client);
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

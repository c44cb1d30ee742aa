//! What an agent makes of the environment of what it runs.
//!
//! A person's settings and the ledger are found by variables, and an agent sets those of its own
//! commands as it likes. With other settings beside the same ledger it could satisfy what only a person
//! may, and an agent that it launches would be held to nothing. So an agent that the ledger knows as at
//! work is held to what the variables were when its person started it. One that heirloom does not guard
//! may go where it likes: a ledger of its own is nobody's loss.

use std::cell::LazyCell;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use heirloom_agents::system::{self, Identity};
use heirloom_core::trust::person::{Ancestor, is_agent};
use heirloom_ledger::{Ledger, Live, Options};
use heirloom_repo::file;

use crate::foreign::sets;
use crate::here::{Env, home};
use crate::listed;
use crate::person::is_process;
use crate::settings::{Environment, Role, places};

/// By which heirloom finds the ledger.
const LEDGER: [&str; 3] = ["HEIRLOOM_HOME", "XDG_DATA_HOME", "HOME"];
/// By which it finds a person's settings.
const SETTINGS: [&str; 3] = ["HEIRLOOM_CONFIG", "XDG_CONFIG_HOME", "HOME"];
/// What says something by itself.
const SWITCHES: [&str; 3] = ["HEIRLOOM_DISABLE", "HEIRLOOM_CLOCK", "CLAUDE_SKIP_REQUIREMENTS"];
/// What the names of variables begin with that name an agent's program.
const PROGRAM: &str = "HEIRLOOM_AGENT_";
/// The agents that started one without what would have led it here, a line each. It lies where that one looks.
const MISLED: &str = "misled";

/// The variable that an agent above this process changed, though it says what the agent is held to;
/// nothing where there is none, or where the system does not show what it was.
pub fn changed(env: &Env) -> Option<String> {
    Some(differing(env)?.name)
}

/// The environment as it was before an agent changed what it is held to. For hooks, which have no way
/// of refusing: an agent that another one launched is held to what that one is.
///
/// What was taken away cannot be seen in what is there, and every hook asks. So whoever starts a session
/// looks at the processes above, and leaves a mark for the hooks that follow.
pub fn undone(mut env: Env, is_start: bool) -> Env {
    let is_watched = |name: &str| env.contains_key(OsStr::new(name));
    // Hardly anybody sets one of these. Everybody has a home.
    let leads = LEDGER.into_iter().chain(SETTINGS).filter(|name| *name != "HOME");
    let is_set = SWITCHES.into_iter().chain(leads).any(is_watched);
    let marks = if is_set { None } else { home(&env).map(|home| home.join(MISLED)) };
    // Where there is no ledger nobody started a session, and whoever calls was led there.
    let is_led_astray =
        |marks: &PathBuf| marks.exists() || !marks.parent().is_some_and(Ledger::exists_in);
    let may_differ = is_set || is_start || marks.as_ref().is_none_or(is_led_astray);
    if !may_differ {
        return env;
    }
    let mut misled_by = None;
    while let Some(found) = differing(&env) {
        match found.before {
            Some(value) => env.insert(found.name.into(), value),
            None => env.remove(OsStr::new(&found.name)),
        };
        misled_by = Some(found.agent);
    }
    if let Some(marks) = marks.filter(|_| is_start) {
        mark(&marks, misled_by);
    }
    env
}

/// Notes who misled an agent, and forgets those that are gone. What cannot be noted is no reason to fail.
fn mark(marks: &Path, misled_by: Option<Identity>) {
    if let Some(Identity { pid, began: Some(began) }) = misled_by {
        let _ = listed::add(marks, &format!("{pid} {began}"));
    }
    if !marks.exists() {
        return;
    }
    let is_gone = |line: &str| {
        let parsed = line.split_once(' ').and_then(|(pid, began)| {
            Some(Identity { pid: pid.parse().ok()?, began: Some(began.parse().ok()?) })
        });
        parsed.is_none_or(Identity::is_gone)
    };
    let _ = listed::remove(marks, is_gone);
    if listed::all(marks).is_empty() {
        let _ = file::remove_file(marks);
    }
}

/// A variable that differs.
struct Differing {
    name: String,
    /// What it was when a person started the agent.
    before: Option<OsString>,
    agent: Identity,
}

fn differing(env: &Env) -> Option<Differing> {
    // Tests say who runs them. Not in a release build: there it would be a way around this.
    #[cfg(debug_assertions)]
    if env.contains_key(OsStr::new("HEIRLOOM_TEST_LINE")) {
        return None;
    }
    let line = system::ancestors();
    let (agent, start) = at_start(&line)?;
    let name = difference(env, &start, own_settings).filter(|_| is_guarded(&line, &start))?;
    let before = start.get(OsStr::new(&name)).cloned();
    Some(Differing { name, before, agent })
}

/// The outermost agent, and what it was started with. The ones below it were started by it, not by a person.
fn at_start(line: &[(Identity, String)]) -> Option<(Identity, Env)> {
    let is_agent = |(process, name): &&(Identity, String)| {
        let (name, words) = (name.clone(), system::command_line(process.pid));
        // Whoever drives an agent set variables for it, and passes on what a person gave it.
        name != "heirloom" && is_agent(&Ancestor { name, words, session: None })
    };
    let (agent, _) = line.iter().rev().find(is_agent)?;
    let environ = system::environ(agent.pid)?;
    let pair = |pair: &[u8]| {
        let at = pair.iter().position(|byte| *byte == b'=')?;
        let text = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
        Some((text(&pair[..at]), text(&pair[at + 1..])))
    };
    Some((*agent, environ.split(|byte| *byte == 0).filter_map(pair).collect()))
}

/// The first variable that differs and makes a difference. What the person's own settings of agents say is
/// read only where one does: whoever has set such a variable for good has it in every hook.
fn difference(now: &Env, start: &Env, settings: fn(&Env) -> Vec<String>) -> Option<String> {
    fn value<'a>(env: &'a Env, name: &str) -> Option<&'a OsString> {
        env.get(OsStr::new(name)).filter(|value| !value.is_empty())
    }
    let own = LazyCell::new(|| settings(start));
    // Agents hand on what a person wrote into the agent's own settings.
    let is_persons = |name: &str| own.iter().any(|text| sets(text, name));
    let differs = |name: &&str| value(now, name) != value(start, name) && !is_persons(name);
    let first = |names: &[&'static str]| names.iter().copied().find(differs).map(str::to_owned);
    let moved = || (home(now) != home(start)).then(|| first(&LEDGER)).flatten();
    let replaced =
        || (settings_file(now) != settings_file(start)).then(|| first(&SETTINGS)).flatten();
    // Codex starts MCP servers without most of the environment. A switch that is not there weakens nothing,
    // and without its variable the agent on the path is launched, which an agent can do by itself.
    let is_set = |name: &&str| value(now, name).is_some() && differs(name);
    let switch = || SWITCHES.iter().copied().find(is_set).map(str::to_owned);
    let program = || {
        let names = now.keys().filter_map(|name| name.to_str());
        let mut programs = names.filter(|name| name.starts_with(PROGRAM));
        programs.find(is_set).map(str::to_owned)
    };
    moved().or_else(replaced).or_else(switch).or_else(program)
}

/// What the person's own settings of agents say.
fn own_settings(start: &Env) -> Vec<String> {
    let hooks = heirloom_agents::ALL.iter().filter_map(|agent| agent.hooks());
    let files = hooks.flat_map(|hooks| hooks.files(Path::new(""), start));
    files.filter_map(|file| heirloom_repo::read_text(&file).ok().flatten()).collect()
}

fn settings_file(env: &Env) -> Option<PathBuf> {
    let vars = env.iter().map(|(name, value)| (name.clone(), value.clone()));
    let mut places = places(&Environment::from_vars(vars), None).into_iter();
    places.find(|place| place.role == Role::User).map(|place| place.path)
}

/// Whether the ledger that was in force when the agent was started has an agent above us at work.
fn is_guarded(line: &[(Identity, String)], start: &Env) -> bool {
    let Some(home) = home(start).filter(|home| Ledger::exists_in(home)) else { return false };
    let at_work = Ledger::open(&home, Options::HOOK).and_then(|ledger| ledger.live_everywhere());
    let is_above = |agent: &Live| line.iter().any(|(process, _)| is_process(agent, *process));
    at_work.is_ok_and(|agents| agents.iter().any(is_above))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &[(&str, &str)]) -> Env {
        let home = [("HOME", "/nowhere/u")];
        home.iter().chain(pairs).map(|(name, value)| (name.into(), value.into())).collect()
    }

    #[test]
    fn what_leads_to_the_same_place_is_no_difference() {
        let start = env(&[]);
        for same in [
            env(&[("HEIRLOOM_HOME", "/nowhere/u/.local/share/heirloom")]),
            env(&[("HEIRLOOM_CONFIG", "/nowhere/u/.config/heirloom/config.yaml")]),
            env(&[("XDG_CONFIG_HOME", "/nowhere/u/.config"), ("HEIRLOOM_DISABLE", "")]),
            env(&[("HEIRLOOM_SESSION", "x"), ("PATH", "/bin")]),
        ] {
            let is_linux = cfg!(target_os = "linux");
            assert!(!is_linux || difference(&same, &start, own_settings).is_none(), "{same:?}");
        }
    }

    #[test]
    fn settings_of_agents_are_not_read_where_nothing_differs() {
        let set = env(&[
            ("HEIRLOOM_HOME", "/x"),
            ("XDG_CONFIG_HOME", "/y"),
            ("XDG_DATA_HOME", "/z"),
            ("HEIRLOOM_CLOCK", "2099-01-01T00:00:00Z"),
            ("HEIRLOOM_AGENT_CLAUDE", "./wrapper"),
        ]);
        assert_eq!(difference(&set, &set, |_| panic!("nobody needs them")), None);
        let says = |_: &Env| vec![r#"{"env": {"HEIRLOOM_HOME": "/x"}}"#.to_owned()];
        let only = env(&[("HEIRLOOM_HOME", "/x")]);
        assert_eq!(difference(&only, &env(&[]), says), None, "the person set it there");
    }

    #[test]
    fn another_ledger_other_settings_a_switch_and_a_program_are() {
        for (name, value) in [
            ("HEIRLOOM_HOME", "/x"),
            ("HEIRLOOM_CONFIG", "/dev/null"),
            ("XDG_CONFIG_HOME", "/x"),
            ("HEIRLOOM_DISABLE", "1"),
            ("HEIRLOOM_CLOCK", "2099-01-01T00:00:00Z"),
            ("HEIRLOOM_AGENT_CLAUDE", "./evil"),
            ("HOME", "/x"),
        ] {
            let now = env(&[(name, value)]);
            assert_eq!(difference(&now, &env(&[]), own_settings).as_deref(), Some(name));
        }
    }

    #[test]
    fn taken_away_is_a_difference_only_where_it_leads_elsewhere() {
        for (name, value, counts) in [
            ("HEIRLOOM_HOME", "/x", true),
            ("HEIRLOOM_CONFIG", "/dev/null", true),
            ("XDG_CONFIG_HOME", "/x", true),
            ("HOME", "/x", true),
            ("HEIRLOOM_DISABLE", "1", false),
            ("HEIRLOOM_CLOCK", "2099-01-01T00:00:00Z", false),
            ("HEIRLOOM_AGENT_CLAUDE", "./wrapper", false),
        ] {
            let before = env(&[(name, value)]);
            let expected = counts.then_some(name);
            let found = difference(&env(&[]), &before, own_settings);
            assert_eq!(found.as_deref(), expected, "{name}");
        }
    }
}

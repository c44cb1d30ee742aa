//! `heirloom hook AGENT EVENT`: what agents call on every event.
//!
//! One process an event, started before anything else of the command: no argument parser, no
//! settings layer, no ledger where none is needed. The invariant: the exit status is 0 and stdout is
//! one JSON document or nothing, whatever happens in here.

mod input;

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use heirloom_agents::hook::{HookAnswer, Hooks};
use heirloom_core::causes;
use heirloom_core::guard::decide::bounded;
use heirloom_core::visible::visible;
use heirloom_engine::guard::{self, fault, rules};
use heirloom_engine::here::{Env, home};
use heirloom_engine::settings::Environment;
use heirloom_engine::started::undone;

/// What of the environment matters here. The rest is left where it is.
const VARIABLES: [&str; 16] = [
    "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_PID",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_SKIP_REQUIREMENTS",
    "GEMINI_CLI_HOME",
    "GEMINI_PROJECT_DIR",
    "HEIRLOOM_CLOCK",
    "HEIRLOOM_CONFIG",
    "HEIRLOOM_HOME",
    "HEIRLOOM_RUN",
    "HEIRLOOM_SESSION",
    "HOME",
    // Where the tracker's program is, which writes its file before a context goes.
    "PATH",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

/// Runs the hook that `arguments` name, with the payload on stdin.
pub fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let is_silenced = is_silenced();
    // Hardly any machine has an owner who asks for something.
    if is_silenced && !Environment::from_vars(std::env::vars_os()).has_owner() {
        return ExitCode::SUCCESS;
    }
    let arguments: Vec<OsString> = arguments.take(3).collect();
    let word = |at: usize| arguments.get(at).and_then(|word| word.to_str()).unwrap_or_default();
    let (agent, event) = (word(0), word(1));
    let env = environment(|name| std::env::var_os(name));
    let env = undone(env, event == "SessionStart");
    let fallback = home(&env);
    survive_panics(fallback.clone());
    if word(2) == "--plugin" && is_hooked(agent, &env) {
        return ExitCode::SUCCESS;
    }
    match answer(agent, event, env, is_silenced) {
        Ok(Some(text)) => {
            print(&text);
        }
        Ok(None) => {}
        Err(what) => note(fallback, &format!("{agent} {event}: {what}")),
    }
    ExitCode::SUCCESS
}

/// Whether a person switched hooks off.
fn is_silenced() -> bool {
    let Some(word) = std::env::var_os("HEIRLOOM_DISABLE") else { return false };
    let project = std::env::var_os("CLAUDE_PROJECT_DIR").map(PathBuf::from);
    let directory = project.or_else(|| std::env::current_dir().ok()).unwrap_or_default();
    let env = undone(std::env::vars_os().collect(), false);
    let word = env.get(OsStr::new("HEIRLOOM_DISABLE")).filter(|now| **now == word);
    heirloom_engine::foreign::is_disabled(word.map(OsString::as_os_str), &directory)
}

/// Whether the agent calls us by hooks of its settings as well: then a plugin's have nothing to add.
fn is_hooked(agent: &str, env: &Env) -> bool {
    let hooks = heirloom_agents::by_name(agent).and_then(heirloom_agents::Agent::hooks);
    let files = hooks.map(|hooks| hooks.files(&PathBuf::new(), env)).unwrap_or_default();
    let call = format!("hook {agent} ");
    files.iter().any(|file| {
        heirloom_repo::file::read_to_string(file)
            .is_ok_and(|text| text.contains("heirloom") && text.contains(&call))
    })
}

/// One write: an agent that is gone by now misses nothing.
#[expect(clippy::disallowed_methods, reason = "JSON for the agent, not text for a terminal")]
fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// The variables that matter and are set.
fn environment(read: impl Fn(&str) -> Option<OsString>) -> Env {
    let value = |name: &str| Some((OsString::from(name), read(name)?));
    let staged: &[&str] = if cfg!(debug_assertions) { &["HEIRLOOM_TEST_OWNER"] } else { &[] };
    VARIABLES.iter().chain(staged).copied().filter_map(value).collect()
}

/// What is printed, or why nothing can be said.
fn answer(agent: &str, event: &str, env: Env, is_silenced: bool) -> Result<Option<String>, String> {
    let known = heirloom_agents::by_name(agent);
    let hooks =
        known.and_then(heirloom_agents::Agent::hooks).ok_or("no agent with hooks has this name")?;
    let payload = input::read();
    if payload.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    let event = hooks.parse(event, &payload).map_err(|error| causes::told(&error))?;
    let directory = match &event.cwd {
        Some(cwd) => cwd.clone(),
        None => std::env::current_dir().map_err(|error| error.to_string())?,
    };
    let mut here = rules::look(&directory, env).map_err(|error| causes::told(&error))?;
    here.is_silenced = is_silenced;
    let mut said = guard::answer(&here, agent, &event);
    if !fault::log(&here.home, here.clock.now(), &said.faults) {
        tell_unlogged(&mut said.answer, &said.faults);
    }
    let text = hooks.render(&event, &fitting(hooks, &mut said.answer));
    tracing::debug!(agent, ?directory, answer = text.as_deref().unwrap_or_default(), "hook");
    Ok(text)
}

/// A fault that cannot even be logged, on a full disk or in a home that cannot be written, would leave
/// an agent ungated without a trace: its person is told.
fn tell_unlogged(answer: &mut HookAnswer, faults: &[String]) {
    let Some(fault) = faults.first() else { return };
    let line = format!("heirloom could not do its part and let the agent go on: {fault}");
    answer.message = Some(match answer.message.take() {
        Some(said) => format!("{said}\n{line}"),
        None => line,
    });
}

/// The answer, no longer than the agent takes it. Agents show it on a terminal, so nothing in it acts on one.
fn fitting(hooks: &dyn Hooks, answer: &mut HookAnswer) -> HookAnswer {
    let mut answer = std::mem::take(answer);
    for text in [&mut answer.block, &mut answer.context, &mut answer.message].into_iter().flatten()
    {
        if let Cow::Owned(shown) = visible(text) {
            *text = shown;
        }
    }
    if let (Some(limit), Some(context)) = (hooks.context_limit(), &mut answer.context) {
        *context = bounded(context, limit);
    }
    answer
}

fn note(home: Option<PathBuf>, what: &str) {
    if let Some(home) = home {
        let clock = heirloom_engine::clock::Clock::default();
        fault::log(&home, clock.now(), &[what.to_owned()]);
    }
}

/// A panic of ours is a line in the log. Nothing was printed yet, and nothing will be.
fn survive_panics(home: Option<PathBuf>) {
    std::panic::set_hook(Box::new(move |panic| {
        note(home.clone(), &format!("panic: {panic}"));
        #[expect(clippy::exit, reason = "whatever is wrong with us, the agent goes on")]
        std::process::exit(0);
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_matters_is_taken_from_the_environment() {
        let set = [("HEIRLOOM_HOME", "/data"), ("HOME", "/home/ada"), ("AWS_SECRET_KEY", "hush")];
        let env = environment(|name| {
            set.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
        });
        let taken: Vec<(&str, &str)> = env
            .iter()
            .map(|(name, value)| (name.to_str().unwrap(), value.to_str().unwrap()))
            .collect();
        assert_eq!(taken, [("HEIRLOOM_HOME", "/data"), ("HOME", "/home/ada")]);
    }
}

//! From a checked config to the agent's command line.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use heirloom_agents::{
    Agent, CommandLine, Conversation, Env, Feature, Input, Launch, LaunchError, Programs, Support,
};
use heirloom_core::config::Config;
use heirloom_core::id::SessionId;
use heirloom_repo::FileError;

use super::dir;
use crate::here::Here;

/// Variables of ours that an agent is given as they are: where the ledger is, and what it works on.
const PASSED_ON: [&str; 7] = [
    "HEIRLOOM_HOME",
    "HEIRLOOM_CONFIG",
    "HEIRLOOM_CLOCK",
    "HEIRLOOM_DISABLE",
    "HEIRLOOM_ISSUE",
    "HEIRLOOM_ISSUE_RUN",
    "HEIRLOOM_WORK",
];

/// The variable that everything a session starts carries: the session's id. By it they are found
/// when whoever started them is gone.
pub(crate) const CARRIED: &str = "HEIRLOOM_LAUNCH";

/// What an agent of a run carries as well: in its environment `HEIRLOOM_SESSION` is a name, for its
/// prompt, and hooks want the id.
pub(crate) const RUN: &str = "HEIRLOOM_RUN";

/// What the agent is to be started with.
pub(crate) struct Order<'a> {
    pub(crate) agent: &'static dyn Agent,
    pub(crate) config: &'a Config,
    pub(crate) prompt: &'a str,
    pub(crate) conversation: Conversation<'a>,
    /// The message after which a forked conversation goes another way.
    pub(crate) at: Option<&'a str>,
    pub(crate) id: SessionId,
    pub(crate) input: Input,
    /// What else is in its environment.
    pub(crate) variables: Vec<(String, String)>,
}

/// Where and with what agents are started.
#[derive(Clone, Copy)]
pub(crate) struct Site<'a> {
    pub(crate) here: &'a Here,
    pub(crate) programs: &'a Programs,
    /// Where an agent works whose config names no directory.
    pub(crate) directory: &'a Path,
}

/// Why there is no command line.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BuildError {
    #[error("the working directory {} does not exist", path.display())]
    NoDirectory { path: PathBuf },
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Launch(#[from] LaunchError),
}

/// The command line. Nothing is started, and what the agent cannot honour is an error here. The
/// session is locked: the files that are made here go with that.
pub(crate) fn build(site: Site<'_>, order: &Order<'_>) -> Result<CommandLine, BuildError> {
    let cwd = order.config.working_dir.as_ref().map_or(site.directory, Path::new);
    if !cwd.is_dir() {
        return Err(BuildError::NoDirectory { path: cwd.to_owned() });
    }
    let scratch = dir::scratch(&site.here.home, order.id);
    dir::make(&scratch).map_err(|source| FileError {
        doing: "make",
        path: scratch.clone(),
        source,
    })?;
    let env = environment(&site.here.env, order);
    let launch = Launch {
        config: &for_agent(order.config, order.input),
        prompt: order.prompt,
        conversation: order.conversation,
        input: order.input,
        cwd,
        env: &env,
        programs: site.programs,
        scratch: &scratch,
        as_root: rustix::process::geteuid().is_root(),
    };
    let mut line = order.agent.launch(&launch)?;
    if let Some(message) = order.at {
        order.agent.fork_at(&mut line, message)?;
    }
    Ok(line)
}

/// Whether an agent asks before it uses a tool, and waits for the answer.
pub(crate) fn asks(agent: &'static dyn Agent) -> bool {
    input(agent) == Input::Stream
}

/// Over its bidirectional stream, where it has one.
pub(crate) fn input(agent: &'static dyn Agent) -> Input {
    let can = matches!(agent.supports(Feature::Stream), Support::Yes | Support::Partly(_));
    let streams = can && agent.dialogue().is_some();
    if streams { Input::Stream } else { Input::Once }
}

/// The config as the agent's flags are made of it.
///
/// An alias may mean another model tomorrow, so one that the agent resolved is given resolved. And
/// where we answer the agent's questions, we accept its edits too: an agent that accepts them
/// itself leaves no record of what was accepted and why.
fn for_agent(config: &Config, input: Input) -> Config {
    let mut config = config.clone();
    if let (Some(model), Some(resolved)) = (&config.model, &config.resolved_model)
        && resolved.contains(model.as_str())
    {
        config.model = Some(resolved.clone());
    }
    if input == Input::Stream {
        config.auto_accept_edits = None;
    }
    config
}

/// The environment: what the config lets through, and what ties the agent to its session.
fn environment(all: &Env, order: &Order<'_>) -> Env {
    let mut env = heirloom_agents::env::pass_on(all, order.agent, order.config.env.as_deref());
    for name in PASSED_ON {
        if let Some(value) = all.get(OsStr::new(name)) {
            env.insert(OsString::from(name), value.clone());
        }
    }
    // Of a run that this is started below of, whose agent this is not.
    env.remove(OsStr::new(RUN));
    env.insert("HEIRLOOM_SESSION".into(), order.id.to_string().into());
    env.insert(CARRIED.into(), order.id.to_string().into());
    let variables = order.variables.iter().cloned();
    env.extend(variables.map(|(name, value)| (name.into(), value.into())));
    env
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(model: &str, resolved: &str) -> Option<String> {
        let config = Config {
            model: Some(model.to_owned()),
            resolved_model: Some(resolved.to_owned()),
            ..Config::default()
        };
        for_agent(&config, Input::Once).model
    }

    #[test]
    fn an_alias_is_given_as_it_was_resolved() {
        assert_eq!(model("opus", "claude-opus-5-5").as_deref(), Some("claude-opus-5-5"));
        // Not a resolution of that alias, whatever the agent called itself.
        assert_eq!(model("haiku", "claude-opus-5-5").as_deref(), Some("haiku"));
    }
}

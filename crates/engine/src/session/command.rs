//! From a checked config to the agent's command line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use heirloom_agents::{Agent, CommandLine, Conversation, Feature, Input, Launch, Support};
use heirloom_core::config::Config;
use heirloom_core::id::SessionId;

use super::dir;
use super::error::SessionError;
use super::prepare::LaunchContext;

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
pub(super) const CARRIED: &str = "HEIRLOOM_LAUNCH";

/// What the agent is to be started with.
pub(super) struct Order<'a> {
    pub(super) agent: &'static dyn Agent,
    pub(super) config: &'a Config,
    pub(super) prompt: &'a str,
    pub(super) conversation: Conversation<'a>,
    /// The message after which a forked conversation goes another way.
    pub(super) at: Option<&'a str>,
    pub(super) id: SessionId,
}

/// The command line. Nothing is started, and what the agent cannot honour is an error here. The
/// session is held: the files that are made here go with that.
pub(super) fn build(
    context: &LaunchContext<'_>,
    order: &Order<'_>,
) -> Result<CommandLine, SessionError> {
    let cwd = working_dir(context, order.config);
    if !cwd.is_dir() {
        return Err(SessionError::NoDirectory { path: cwd });
    }
    let scratch = dir::scratch(&context.here.home, order.id);
    dir::make(&scratch).map_err(|source| SessionError::File {
        doing: "make",
        path: scratch.clone(),
        source,
    })?;
    let input = input(order.agent);
    let env = environment(context, order);
    let launch = Launch {
        config: &for_agent(order.config, input),
        prompt: order.prompt,
        conversation: order.conversation,
        input,
        cwd: &cwd,
        env: &env,
        programs: context.programs,
        scratch: &scratch,
        as_root: rustix::process::geteuid().is_root(),
    };
    let mut line = order.agent.launch(&launch)?;
    if let Some(message) = order.at {
        order.agent.fork_at(&mut line, message)?;
    }
    Ok(line)
}

pub(super) fn working_dir(context: &LaunchContext<'_>, config: &Config) -> PathBuf {
    config.working_dir.as_ref().map_or_else(|| context.directory.to_owned(), PathBuf::from)
}

/// Whether an agent asks before it uses a tool, and waits for the answer.
pub(crate) fn asks(agent: &'static dyn Agent) -> bool {
    input(agent) == Input::Stream
}

/// Over its bidirectional stream, where it has one.
pub(super) fn input(agent: &'static dyn Agent) -> Input {
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
fn environment(context: &LaunchContext<'_>, order: &Order<'_>) -> heirloom_agents::Env {
    let all = &context.here.env;
    let mut env = heirloom_agents::env::pass_on(all, order.agent, order.config.env.as_deref());
    for name in PASSED_ON {
        if let Some(value) = all.get(Path::new(name).as_os_str()) {
            env.insert(OsString::from(name), value.clone());
        }
    }
    env.insert("HEIRLOOM_SESSION".into(), order.id.to_string().into());
    env.insert(CARRIED.into(), order.id.to_string().into());
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

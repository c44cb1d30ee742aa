//! Gemini CLI's flags.

use heirloom_core::config::Config;
use serde_json::Value;

use crate::launch::{CommandLine, Conversation, Gaps, Input, Launch, LaunchError, ScratchFile};
use crate::uuid::checked;

const AGENT: &str = "gemini";
const MODES: &[&str] = &["default", "auto_edit", "yolo", "plan"];

pub(super) fn command_line(launch: &Launch<'_>) -> Result<CommandLine, LaunchError> {
    let reports = gaps(launch).close()?;
    let mut line = CommandLine { reports, ..CommandLine::new(AGENT, launch)? };
    // A person who has us start an agent in a directory trusts it. The flag for it comes too
    // late for the directory's own settings, hooks included; the variable does not.
    line.env.insert("GEMINI_CLI_TRUST_WORKSPACE".into(), "true".into());
    line.env.insert("GEMINI_CLI_NO_RELAUNCH".into(), "true".into());
    line.flag("--output-format", "stream-json");
    if let Some(model) = &launch.config.model {
        line.flag("--model", model);
    }
    conversation(&mut line, launch.conversation)?;
    permissions(&mut line, launch)?;
    for dir in launch.config.additional_dirs.iter().flatten() {
        line.flag("--include-directories", dir);
    }
    if let Some(prompt) = &launch.config.system_prompt {
        let file = ScratchFile::named(launch.scratch, ".md", prompt.as_bytes())?;
        line.env.insert("GEMINI_SYSTEM_MD".into(), file.path().into());
        line.files.push(file);
    }
    Ok(line)
}

fn gaps(launch: &Launch<'_>) -> Gaps {
    const ADDED: &str = "only GEMINI.md files add to its system prompt";
    const FILES: &str = "it takes them only from its own settings files";
    let config = launch.config;
    let mut gaps = Gaps::new(AGENT);
    let forks = matches!(launch.conversation, Conversation::Fork { .. });
    gaps.refuse(forks, "fork", "it cannot copy a conversation");
    gaps.refuse(launch.input == Input::Stream, "stream", "it reads one prompt and closes");
    gaps.refuse(config.append_system_prompt.is_some(), "append_system_prompt", ADDED);
    gaps.refuse(config.custom_instructions.is_some(), "custom_instructions", ADDED);
    gaps.refuse(config.mcp_servers.is_some(), "mcp_servers", FILES);
    gaps.refuse(config.permission_prompt_tool.is_some(), "permission_prompt_tool", "it never asks");
    gaps.refuse(config.max_turns.is_some(), "max_turns", FILES);
    gaps.refuse(config.max_cost_usd.is_some(), "max_cost_usd", "it does not report what it costs");
    gaps.report(config.bypass_until.is_some(), "bypass_until", "it never asks for permission");
    gaps.report(config.title.is_some(), "title", "it titles its conversations itself");
    gaps
}

/// Only ids are let in: a number would be a place in a list, and `latest` whatever came last.
fn conversation(line: &mut CommandLine, conversation: Conversation<'_>) -> Result<(), LaunchError> {
    match conversation {
        Conversation::New(None) => {}
        Conversation::New(Some(id)) => {
            line.flag("--session-id", checked(AGENT, id)?);
        }
        Conversation::Resume(id) | Conversation::Fork { from: id, .. } => {
            line.flag("--resume", checked(AGENT, id)?);
        }
    }
    Ok(())
}

fn permissions(line: &mut CommandLine, launch: &Launch<'_>) -> Result<(), LaunchError> {
    let config = launch.config;
    let edits = config.auto_accept_edits == Some(true);
    let mode = config.permission_mode.as_deref().or(edits.then_some("auto_edit"));
    if let Some(mode) = mode {
        if !MODES.contains(&mode) {
            return Err(LaunchError::Invalid {
                agent: AGENT,
                setting: "permission mode",
                value: mode.to_owned(),
                expected: "default, auto_edit, yolo or plan",
            });
        }
        line.flag("--approval-mode", mode);
    }
    let policy = policy(config);
    if !policy.is_empty() {
        let file = ScratchFile::named(launch.scratch, ".toml", policy.as_bytes())?;
        line.flag("--policy", file.path());
        line.files.push(file);
    }
    Ok(())
}

/// The rules for tools, in the language of its policy engine. What is forbidden beats what is
/// allowed, and both beat the mode.
fn policy(config: &Config) -> String {
    let rules = |tools: &Option<Vec<String>>, decision: &str, priority: u32| -> Vec<String> {
        let tools = tools.iter().flatten();
        tools.map(|tool| rule(tool, decision, priority)).collect()
    };
    let denied = rules(&config.disallowed_tools, "deny", 950);
    let allowed = rules(&config.allowed_tools, "allow", 900);
    [denied, allowed].concat().concat()
}

/// `run_shell_command(git status)` is the tool with the beginning of a command.
fn rule(tool: &str, decision: &str, priority: u32) -> String {
    let quoted = |text: &str| Value::from(text).to_string().replace('\u{7f}', "\\u007f");
    let (name, prefix) = match tool.strip_suffix(')').and_then(|tool| tool.split_once('(')) {
        Some((name, prefix)) => (name, format!("commandPrefix = {}\n", quoted(prefix))),
        None => (tool, String::new()),
    };
    let name = quoted(name);
    format!(
        "[[rule]]\ntoolName = {name}\n{prefix}decision = \"{decision}\"\npriority = {priority}\n"
    )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::env::Env;
    use crate::program::Programs;

    const ID: &str = "fada4cb0-e937-4370-bfc6-6bf9c045928f";

    fn build(config: &Config, conversation: Conversation<'_>) -> Result<CommandLine, LaunchError> {
        let scratch = tempfile::tempdir().unwrap().keep();
        let mut programs = Programs::default();
        programs.replace(AGENT, vec!["/bin/true".to_owned()]);
        let launch = Launch {
            config,
            prompt: "the prompt",
            conversation,
            input: Input::Once,
            cwd: Path::new("/"),
            env: &Env::new(),
            programs: &programs,
            scratch: &scratch,
            as_root: false,
        };
        command_line(&launch)
    }

    #[test]
    fn the_prompt_is_on_stdin() {
        let config = Config {
            model: Some("gemini-2.5-flash".to_owned()),
            auto_accept_edits: Some(true),
            additional_dirs: Some(vec!["/data".to_owned()]),
            ..Config::default()
        };
        let line = build(&config, Conversation::Resume(ID)).unwrap();
        let args: Vec<_> = line.args.iter().map(|arg| arg.to_string_lossy()).collect();
        insta::assert_snapshot!(args.join(" "), @"--output-format stream-json --model gemini-2.5-flash --resume fada4cb0-e937-4370-bfc6-6bf9c045928f --approval-mode auto_edit --include-directories /data");
        assert_eq!(line.stdin, b"the prompt");
    }

    #[test]
    fn neither_a_number_nor_latest_is_resumed() {
        for id in ["5", "latest", ""] {
            assert!(build(&Config::default(), Conversation::Resume(id)).is_err(), "{id}");
        }
    }

    #[test]
    fn tools_become_rules_of_a_policy() {
        let config = Config {
            allowed_tools: Some(vec!["run_shell_command(git status)".to_owned()]),
            disallowed_tools: Some(vec!["web_fetch".to_owned()]),
            ..Config::default()
        };
        insta::assert_snapshot!(policy(&config), @r#"
        [[rule]]
        toolName = "web_fetch"
        decision = "deny"
        priority = 950
        [[rule]]
        toolName = "run_shell_command"
        commandPrefix = "git status"
        decision = "allow"
        priority = 900
        "#);
    }

    #[test]
    fn what_it_cannot_do_is_refused() {
        let config = Config { mcp_servers: Some([].into()), ..Config::default() };
        assert!(build(&config, Conversation::New(None)).is_err());
        let fork = Conversation::Fork { from: ID, id: None };
        assert!(build(&Config::default(), fork).is_err());
    }
}

//! Claude Code's flags.

use std::collections::BTreeMap;

use heirloom_core::config::{Config, McpServer};
use serde_json::{Map, Value, json};

use super::dialogue::StreamJson;
use crate::agent::Dialogue;
use crate::launch::{CommandLine, Conversation, Gaps, Input, Launch, LaunchError};
use crate::uuid::checked;

const MODES: &[&str] =
    &["acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "manual", "plan"];

/// The shortest timeout of an MCP server that it takes notice of, in milliseconds.
const LEAST_TIMEOUT: u64 = 1000;

/// The command line, for Claude Code and whatever speaks its protocol.
pub(crate) fn command_line(
    agent: &'static str,
    launch: &Launch<'_>,
) -> Result<CommandLine, LaunchError> {
    let reports = gaps(agent, launch).close()?;
    let mut line = CommandLine { reports, ..CommandLine::new(agent, launch)? };
    line.arg("--print").flag("--output-format", "stream-json").arg("--verbose");
    input(&mut line, launch);
    conversation(&mut line, agent, launch)?;
    prompts(&mut line, launch)?;
    permissions(&mut line, agent, launch)?;
    limits_and_tools(&mut line, launch.config);
    mcp_servers(&mut line, launch)?;
    Ok(line)
}

fn gaps(agent: &'static str, launch: &Launch<'_>) -> Gaps {
    let config = launch.config;
    let mut gaps = Gaps::new(agent);
    gaps.report(
        config.bypass_until.is_some() && launch.input == Input::Once,
        "bypass_until",
        "nobody answers permission requests in this launch",
    );
    let mut timeouts = config.mcp_servers.iter().flatten().filter_map(|(_, each)| each.timeout());
    gaps.report(
        timeouts.any(|milliseconds| milliseconds < LEAST_TIMEOUT),
        "the timeout of an MCP server",
        "it takes no notice of less than 1,000 ms",
    );
    gaps.refuse(
        is_bypass(config) && launch.as_root && !is_sandbox(launch),
        "permission_mode",
        "root may only bypass permissions with IS_SANDBOX=1 in the environment",
    );
    gaps
}

fn is_bypass(config: &Config) -> bool {
    config.permission_mode.as_deref() == Some("bypassPermissions")
}

fn is_sandbox(launch: &Launch<'_>) -> bool {
    launch.env.get(std::ffi::OsStr::new("IS_SANDBOX")).is_some_and(|value| value == "1")
}

fn input(line: &mut CommandLine, launch: &Launch<'_>) {
    if launch.input == Input::Stream {
        line.flag("--input-format", "stream-json");
        line.stdin = StreamJson.prompt(launch.prompt);
    }
}

fn conversation(
    line: &mut CommandLine,
    agent: &'static str,
    launch: &Launch<'_>,
) -> Result<(), LaunchError> {
    match launch.conversation {
        Conversation::New(None) => {}
        Conversation::New(Some(id)) => {
            line.flag("--session-id", checked(agent, id)?);
        }
        // A title would do as well as an id here, and find something else: only ids are let in.
        Conversation::Resume(id) => {
            line.flag("--resume", checked(agent, id)?);
        }
        Conversation::Fork { from, id } => {
            line.flag("--resume", checked(agent, from)?).arg("--fork-session");
            if let Some(id) = id {
                line.flag("--session-id", checked(agent, id)?);
            }
        }
    }
    Ok(())
}

fn prompts(line: &mut CommandLine, launch: &Launch<'_>) -> Result<(), LaunchError> {
    let config = launch.config;
    if let Some(model) = &config.model {
        line.flag("--model", model);
    }
    if let Some(prompt) = &config.system_prompt {
        line.file_flag("--system-prompt-file", prompt, launch)?;
    }
    let added = [&config.append_system_prompt, &config.custom_instructions];
    let added: Vec<&str> = added.into_iter().flatten().map(String::as_str).collect();
    if !added.is_empty() {
        line.file_flag("--append-system-prompt-file", &added.join("\n\n"), launch)?;
    }
    let resumes = !matches!(launch.conversation, Conversation::New(_));
    if resumes {
        // A resumed conversation otherwise goes on with the system prompt it was begun with, also
        // when this launch has none any more.
        line.flag("--system-prompt-snapshot", "off");
    }
    Ok(())
}

fn permissions(
    line: &mut CommandLine,
    agent: &'static str,
    launch: &Launch<'_>,
) -> Result<(), LaunchError> {
    let config = launch.config;
    let edits = config.auto_accept_edits == Some(true);
    let mode = config.permission_mode.as_deref().or(edits.then_some("acceptEdits"));
    if let Some(mode) = mode {
        if !MODES.contains(&mode) {
            let expected = "acceptEdits, auto, bypassPermissions, manual, dontAsk or plan";
            let value = mode.to_owned();
            return Err(LaunchError::Invalid {
                agent,
                setting: "permission mode",
                value,
                expected,
            });
        }
        // `default` is its name in events and hooks, `manual` the name of the flag's value.
        line.flag("--permission-mode", if mode == "default" { "manual" } else { mode });
    }
    let asked = match launch.input {
        Input::Stream => Some("stdio"),
        Input::Once => None,
    };
    if let Some(tool) = config.permission_prompt_tool.as_deref().or(asked) {
        line.flag("--permission-prompt-tool", tool);
    }
    Ok(())
}

fn limits_and_tools(line: &mut CommandLine, config: &Config) {
    if let Some(turns) = config.max_turns {
        line.flag("--max-turns", turns.to_string());
    }
    if let Some(usd) = config.max_cost_usd {
        line.flag("--max-budget-usd", usd.to_string());
    }
    if let Some(title) = &config.title {
        line.flag("--name", title);
    }
    // One flag a value, joined by `=`: a value can hold commas and spaces, or look like a flag.
    for (flag, values) in [
        ("--allowedTools", &config.allowed_tools),
        ("--disallowedTools", &config.disallowed_tools),
        ("--add-dir", &config.additional_dirs),
    ] {
        for value in values.iter().flatten() {
            line.arg(format!("{flag}={value}"));
        }
    }
}

fn mcp_servers(line: &mut CommandLine, launch: &Launch<'_>) -> Result<(), LaunchError> {
    let Some(servers) = &launch.config.mcp_servers else { return Ok(()) };
    let file = json!({"mcpServers": render(servers)}).to_string();
    line.file_flag("--mcp-config", &file, launch)?;
    // The config says which servers there are: none means none, not the repository's own.
    line.arg("--strict-mcp-config");
    Ok(())
}

fn render(servers: &BTreeMap<String, McpServer>) -> Map<String, Value> {
    // It has no word for one that is switched off, and only those in this file are started.
    let each = servers.iter().filter(|(_, server)| !server.is_disabled()).map(|(name, server)| {
        let mut rendered = match server {
            McpServer::Stdio { command, args, env, .. } => {
                json!({"type": "stdio", "command": command, "args": args, "env": env})
            }
            McpServer::Http { url, headers, .. } => {
                json!({"type": "http", "url": url, "headers": headers})
            }
        };
        if let Some(milliseconds) = server.timeout() {
            rendered["timeout"] = json!(milliseconds);
        }
        (name.clone(), rendered)
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_of_an_mcp_server_is_given_and_one_that_is_switched_off_is_not() {
        let server = |timeout, disabled| McpServer::Http {
            url: "http://x/".to_owned(),
            headers: [].into(),
            timeout,
            disabled,
        };
        let slow = ("slow".to_owned(), server(Some(60_000), false));
        let servers = [slow, ("off".to_owned(), server(None, true))].into();
        insta::assert_snapshot!(json!(render(&servers)), @r#"{"slow":{"type":"http","url":"http://x/","headers":{},"timeout":60000}}"#);
    }
}

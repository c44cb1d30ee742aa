//! opencode's flags, and the settings that it only takes as settings: those travel in
//! `OPENCODE_CONFIG_CONTENT`, on top of the person's own.

use std::ffi::OsStr;

use heirloom_core::config::{Config, McpServer};
use serde_json::{Map, Value, json};

use crate::launch::{CommandLine, Conversation, Gaps, Input, Launch, LaunchError, ScratchFile};

const AGENT: &str = "opencode";
const CONTENT: &str = "OPENCODE_CONFIG_CONTENT";

pub(super) fn command_line(launch: &Launch<'_>) -> Result<CommandLine, LaunchError> {
    let reports = gaps(launch).close()?;
    let mut line = CommandLine { reports, ..CommandLine::new(AGENT, launch)? };
    line.arg("run").flag("--format", "json").arg("--thinking");
    // It retries failed requests without a word on stdout; its log has why.
    line.arg("--print-logs").flag("--log-level", "ERROR");
    if let Some(model) = &launch.config.model {
        line.flag("--model", checked_model(model)?);
    }
    conversation(&mut line, launch.conversation)?;
    mode(&mut line, launch.config)?;
    if let Some(title) = &launch.config.title {
        line.arg(format!("--title={title}"));
    }
    settings(&mut line, launch)?;
    Ok(line)
}

fn gaps(launch: &Launch<'_>) -> Gaps {
    let config = launch.config;
    let mut gaps = Gaps::new(AGENT);
    let id = matches!(
        launch.conversation,
        Conversation::New(Some(_)) | Conversation::Fork { id: Some(_), .. }
    );
    gaps.refuse(id, "session_id", "it chooses its own ids");
    gaps.refuse(launch.input == Input::Stream, "stream", "it reads one prompt and closes");
    gaps.refuse(config.permission_prompt_tool.is_some(), "permission_prompt_tool", "it never asks");
    gaps.refuse(config.max_turns.is_some(), "max_turns", "it would sum up instead of stopping");
    gaps.refuse(config.max_cost_usd.is_some(), "max_cost_usd", "it has no cost limit");
    // Those that are given are there; that there are to be no others is what it cannot do.
    let none = config.mcp_servers.as_ref().is_some_and(std::collections::BTreeMap::is_empty);
    gaps.report(none, "an empty mcp_servers", "those of its own settings stay");
    gaps.report(config.bypass_until.is_some(), "bypass_until", "it never asks for permission");
    gaps
}

fn invalid(setting: &'static str, value: &str, expected: &'static str) -> LaunchError {
    LaunchError::Invalid { agent: AGENT, setting, value: value.to_owned(), expected }
}

fn checked_model(model: &str) -> Result<&str, LaunchError> {
    let is_full =
        model.split_once('/').is_some_and(|(from, name)| !from.is_empty() && !name.is_empty());
    if is_full { Ok(model) } else { Err(invalid("model", model, "provider/model")) }
}

pub(super) fn is_id(id: &str) -> bool {
    let rest = id.strip_prefix("ses_").unwrap_or_default();
    !rest.is_empty() && rest.chars().all(|c| c.is_ascii_alphanumeric())
}

fn conversation(line: &mut CommandLine, conversation: Conversation<'_>) -> Result<(), LaunchError> {
    let (id, forks) = match conversation {
        Conversation::New(_) => return Ok(()),
        Conversation::Resume(id) => (id, false),
        Conversation::Fork { from, .. } => (from, true),
    };
    if !is_id(id) {
        return Err(invalid("agent session id", id, "an id that begins with ses_"));
    }
    line.flag("--session", id);
    if forks {
        line.arg("--fork");
    }
    Ok(())
}

fn mode(line: &mut CommandLine, config: &Config) -> Result<(), LaunchError> {
    match config.permission_mode.as_deref() {
        None => {}
        Some("auto") => {
            line.arg("--auto");
        }
        Some(agent @ ("build" | "plan")) => {
            line.flag("--agent", agent);
        }
        Some(other) => return Err(invalid("permission mode", other, "auto, build or plan")),
    }
    Ok(())
}

fn settings(line: &mut CommandLine, launch: &Launch<'_>) -> Result<(), LaunchError> {
    let config = launch.config;
    let mut ours = json!({"permission": permission(config), "mcp": mcp(config)});
    if let Some(prompt) = &config.system_prompt {
        let agent =
            if config.permission_mode.as_deref() == Some("plan") { "plan" } else { "build" };
        ours["agent"] = json!({agent: {"prompt": prompt}});
    }
    let added = [&config.append_system_prompt, &config.custom_instructions];
    let added: Vec<&str> = added.into_iter().flatten().map(String::as_str).collect();
    if !added.is_empty() {
        let file = ScratchFile::named(launch.scratch, ".md", added.join("\n\n").as_bytes())?;
        ours["instructions"] = json!([file.path().to_string_lossy()]);
        line.files.push(file);
    }
    if let Some(members) = ours.as_object_mut() {
        members.retain(|_, value| value.as_object().is_none_or(|value| !value.is_empty()));
    }
    if ours.as_object().is_some_and(Map::is_empty) {
        return Ok(());
    }
    let merged = merge(persons(launch)?, ours);
    line.env.insert(CONTENT.into(), merged.to_string().into());
    Ok(())
}

/// What the person put into the variable themselves.
fn persons(launch: &Launch<'_>) -> Result<Value, LaunchError> {
    let Some(text) = launch.env.get(OsStr::new(CONTENT)) else { return Ok(json!({})) };
    let text = text.to_string_lossy();
    serde_json::from_str(&text).map_err(|_| invalid(CONTENT, &text, "a JSON object"))
}

fn merge(mut base: Value, over: Value) -> Value {
    match (base.as_object_mut(), over) {
        (Some(members), Value::Object(over)) => {
            for (key, value) in over {
                let old = members.remove(&key).unwrap_or_default();
                members.insert(key, merge(old, value));
            }
            base
        }
        (_, over) => over,
    }
}

/// Rules for tools: `bash`, or `bash(git *)` for some commands. The last that fits decides, so
/// what is forbidden comes last. Where only some uses of a tool are allowed, the others are asked
/// about, as in any other agent: it allows what no rule speaks of.
fn permission(config: &Config) -> Map<String, Value> {
    let mut rules: Vec<(String, String, &str)> = Vec::new();
    let mut add = |tool: &str, action: &'static str| {
        let (name, pattern) = match tool.strip_suffix(')').and_then(|tool| tool.split_once('(')) {
            Some(parts) => parts,
            None => (tool, "*"),
        };
        rules.push((name.to_owned(), pattern.to_owned(), action));
    };
    if config.auto_accept_edits == Some(true) {
        add("edit", "allow");
    }
    for dir in config.additional_dirs.iter().flatten() {
        add(&format!("external_directory({}/*)", dir.trim_end_matches('/')), "allow");
    }
    for tool in config.allowed_tools.iter().flatten() {
        if tool.contains('(') {
            let name = tool.split('(').next().unwrap_or_default().to_owned();
            let is_whole = config.allowed_tools.iter().flatten().any(|other| *other == name);
            add(&name, if is_whole { "allow" } else { "ask" });
        }
        add(tool, "allow");
    }
    for tool in config.disallowed_tools.iter().flatten() {
        add(tool, "deny");
    }
    rendered(&rules)
}

/// As its settings want it: a word where a rule is about every use of a tool, for some tools take
/// nothing else, and an object of patterns where it is about some.
fn rendered(rules: &[(String, String, &str)]) -> Map<String, Value> {
    let mut rendered: Map<String, Value> = Map::new();
    for (name, pattern, action) in rules {
        let known = rendered.remove(name);
        let value = match (known, pattern.as_str()) {
            (_, "*") if *action == "deny" => json!(action),
            (None, "*") => json!(action),
            (Some(Value::Object(mut patterns)), pattern) => {
                // What comes last decides.
                patterns.remove(pattern);
                patterns.insert(pattern.to_owned(), json!(action));
                Value::Object(patterns)
            }
            (Some(Value::String(all)), "*") => json!(if all == "ask" { *action } else { &all }),
            (Some(all), pattern) => json!({"*": all, pattern: action}),
            (None, pattern) => json!({pattern: action}),
        };
        rendered.insert(name.clone(), value);
    }
    rendered
}

fn mcp(config: &Config) -> Map<String, Value> {
    let servers = config.mcp_servers.iter().flatten().map(|(name, server)| {
        let enabled = !server.is_disabled();
        let mut rendered = match server {
            McpServer::Stdio { command, args, env, .. } => {
                let command: Vec<_> = std::iter::once(command).chain(args).collect();
                json!({"type": "local", "command": command, "environment": env, "enabled": enabled})
            }
            McpServer::Http { url, headers, .. } => {
                json!({"type": "remote", "url": url, "headers": headers, "enabled": enabled})
            }
        };
        if let Some(milliseconds) = server.timeout() {
            rendered["timeout"] = json!(milliseconds);
        }
        (name.clone(), rendered)
    });
    servers.collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::env::Env;
    use crate::program::Programs;

    fn build(config: &Config, conversation: Conversation<'_>) -> Result<CommandLine, LaunchError> {
        let scratch = tempfile::tempdir().unwrap().keep();
        let env = Env::from([(CONTENT.into(), r#"{"theme":"x","mcp":{"own":{}}}"#.into())]);
        let mut programs = Programs::default();
        programs.replace(AGENT, vec!["/bin/true".to_owned()]);
        let launch = Launch {
            config,
            prompt: "the prompt",
            conversation,
            input: Input::Once,
            cwd: Path::new("/"),
            env: &env,
            programs: &programs,
            scratch: &scratch,
            as_root: false,
        };
        command_line(&launch)
    }

    #[test]
    fn the_prompt_is_on_stdin() {
        let config = Config {
            model: Some("stub/m".to_owned()),
            permission_mode: Some("plan".to_owned()),
            ..Config::default()
        };
        let fork = Conversation::Fork { from: "ses_e233dcf78ffeDONBp3297Snp4Z", id: None };
        let line = build(&config, fork).unwrap();
        let args: Vec<_> = line.args.iter().map(|arg| arg.to_string_lossy()).collect();
        insta::assert_snapshot!(args.join(" "), @"run --format json --thinking --print-logs --log-level ERROR --model stub/m --session ses_e233dcf78ffeDONBp3297Snp4Z --fork --agent plan");
        assert_eq!(line.stdin, b"the prompt");
    }

    #[test]
    fn settings_go_on_top_of_the_persons_own() {
        let config = Config {
            system_prompt: Some("be brief".to_owned()),
            allowed_tools: Some(vec!["bash(git *)".to_owned()]),
            disallowed_tools: Some(vec!["webfetch".to_owned()]),
            additional_dirs: Some(vec!["/data/".to_owned()]),
            ..Config::default()
        };
        let line = build(&config, Conversation::New(None)).unwrap();
        let content = line.env[OsStr::new(CONTENT)].to_string_lossy();
        insta::assert_snapshot!(content, @r#"{"theme":"x","mcp":{"own":{}},"permission":{"external_directory":{"/data/*":"allow"},"bash":{"*":"ask","git *":"allow"},"webfetch":"deny"},"agent":{"build":{"prompt":"be brief"}}}"#);
    }

    #[test]
    fn a_timeout_and_a_switch_of_an_mcp_server_are_given() {
        let server = |timeout, disabled| McpServer::Http {
            url: "http://x/".to_owned(),
            headers: [].into(),
            timeout,
            disabled,
        };
        let slow = ("slow".to_owned(), server(Some(60_000), false));
        let servers = [slow, ("off".to_owned(), server(None, true))].into();
        let config = Config { mcp_servers: Some(servers), ..Config::default() };
        let line = build(&config, Conversation::New(None)).unwrap();
        assert!(line.reports.is_empty(), "it has the servers: {:?}", line.reports);
        let rendered = mcp(&config);
        insta::assert_snapshot!(json!(rendered), @r#"{"off":{"type":"remote","url":"http://x/","headers":{},"enabled":false},"slow":{"type":"remote","url":"http://x/","headers":{},"enabled":true,"timeout":60000}}"#);
    }

    #[test]
    fn what_is_not_an_id_is_not_resumed() {
        for id in ["", "ses_", "--continue", "ses_../x", "auth-v2"] {
            assert!(build(&Config::default(), Conversation::Resume(id)).is_err(), "{id}");
        }
    }

    #[test]
    fn a_model_needs_its_provider() {
        let config = Config { model: Some("opus".to_owned()), ..Config::default() };
        let error = build(&config, Conversation::New(None)).unwrap_err();
        insta::assert_snapshot!(error, @"opencode does not take `opus` as model (provider/model)");
    }
}

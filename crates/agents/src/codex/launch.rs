//! Codex's flags.
//!
//! What must not stand on a command line (system prompts, the environment of MCP servers) goes
//! into a profile, which Codex only finds in its own home: there is a link to it.

use std::ffi::OsString;

use heirloom_core::config::{Config, McpServer};
use serde_json::json;

use crate::launch::{CommandLine, Conversation, Gaps, Input, Launch, LaunchError, ScratchFile};
use crate::uuid::checked;

const AGENT: &str = "codex";
const PROFILE: &str = ".config.toml";
const MODES: &[&str] = &["read-only", "workspace-write", "danger-full-access"];

pub(super) fn command_line(launch: &Launch<'_>) -> Result<CommandLine, LaunchError> {
    let reports = gaps(launch).close()?;
    let mut line = CommandLine { reports, ..CommandLine::new(AGENT, launch)? };
    profile(&mut line, launch)?;
    line.arg("exec");
    permissions(&mut line, launch.config)?;
    for dir in launch.config.additional_dirs.iter().flatten() {
        line.flag("--add-dir", dir);
    }
    conversation(&mut line, launch.conversation)?;
    line.arg("--json").arg("--skip-git-repo-check");
    if let Some(model) = &launch.config.model {
        line.flag("--model", model);
    }
    // The prompt comes on stdin.
    line.arg("-");
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
    gaps.refuse(config.allowed_tools.is_some(), "allowed_tools", "it has no list of tools");
    gaps.refuse(config.disallowed_tools.is_some(), "disallowed_tools", "it has no list of tools");
    gaps.refuse(config.permission_prompt_tool.is_some(), "permission_prompt_tool", "it never asks");
    gaps.refuse(config.max_turns.is_some(), "max_turns", "it has no turn limit");
    gaps.refuse(config.max_cost_usd.is_some(), "max_cost_usd", "it does not report what it costs");
    gaps.report(
        is_late(launch) && !added(config).is_empty(),
        "append_system_prompt",
        "it goes before the prompt: a resumed conversation keeps its instructions",
    );
    // Those that are given are there; that there are to be no others is what it cannot do.
    let none = config.mcp_servers.as_ref().is_some_and(std::collections::BTreeMap::is_empty);
    gaps.report(none, "an empty mcp_servers", "those of its own settings stay");
    gaps.report(config.bypass_until.is_some(), "bypass_until", "it never asks for permission");
    gaps.report(config.title.is_some(), "title", "it titles its conversations itself");
    gaps
}

fn permissions(line: &mut CommandLine, config: &Config) -> Result<(), LaunchError> {
    let edits = config.auto_accept_edits == Some(true);
    let mode = config.permission_mode.as_deref().or(edits.then_some("workspace-write"));
    let Some(mode) = mode else { return Ok(()) };
    if !MODES.contains(&mode) {
        return Err(LaunchError::Invalid {
            agent: AGENT,
            setting: "permission mode",
            value: mode.to_owned(),
            expected: "read-only, workspace-write or danger-full-access",
        });
    }
    line.flag("--sandbox", mode);
    Ok(())
}

/// Only ids are let in: Codex takes any other word for a wish to start afresh, and says nothing.
fn conversation(line: &mut CommandLine, conversation: Conversation<'_>) -> Result<(), LaunchError> {
    match conversation {
        Conversation::New(_) => {}
        Conversation::Resume(id) => {
            line.flag("resume", checked(AGENT, id)?);
        }
        Conversation::Fork { from, .. } => {
            line.flag("fork", checked(AGENT, from)?);
        }
    }
    Ok(())
}

/// Whether the conversation has its instructions already.
const fn is_late(launch: &Launch<'_>) -> bool {
    !matches!(launch.conversation, Conversation::New(_))
}

fn added(config: &Config) -> String {
    let added = [&config.append_system_prompt, &config.custom_instructions];
    let added: Vec<&str> = added.into_iter().flatten().map(String::as_str).collect();
    added.join("\n\n")
}

fn profile(line: &mut CommandLine, launch: &Launch<'_>) -> Result<(), LaunchError> {
    let mut toml = Vec::new();
    let config = launch.config;
    let added = added(config);
    if is_late(launch) && !added.is_empty() {
        line.stdin = format!("{added}\n\n{}", launch.prompt).into_bytes();
    } else if !added.is_empty() {
        toml.push(format!("developer_instructions = {}\n", quoted(&added)));
    }
    if let Some(prompt) = &config.system_prompt {
        let file = ScratchFile::create(launch.scratch, prompt.as_bytes())?;
        let path = file.path().to_string_lossy().into_owned();
        toml.push(format!("model_instructions_file = {}\n", quoted(&path)));
        line.files.push(file);
    }
    for (name, server) in config.mcp_servers.iter().flatten() {
        toml.push(render(name, server));
    }
    if toml.is_empty() {
        return Ok(());
    }
    let home = super::home(launch.env).ok_or(LaunchError::Invalid {
        agent: AGENT,
        setting: "HOME",
        value: String::new(),
        expected: "a directory",
    })?;
    let toml = toml.concat();
    let file = ScratchFile::linked(launch.scratch, &home, PROFILE, toml.as_bytes())?;
    line.flag("--profile", profile_name(&file));
    line.files.push(file);
    Ok(())
}

fn profile_name(file: &ScratchFile) -> OsString {
    let name = file.path().file_name().unwrap_or_default().to_string_lossy();
    name.trim_end_matches(PROFILE).to_owned().into()
}

fn render(name: &str, server: &McpServer) -> String {
    let head = format!("[mcp_servers.{}]\n", quoted(name));
    let body = match server {
        McpServer::Stdio { command, args, env, .. } => {
            let args: Vec<_> = args.iter().map(|arg| quoted(arg)).collect();
            let (command, args) = (quoted(command), args.join(", "));
            format!("command = {command}\nargs = [{args}]\nenv = {}\n", table(env))
        }
        McpServer::Http { url, headers, .. } => {
            format!("url = {}\nhttp_headers = {}\n", quoted(url), table(headers))
        }
    };
    let timeout = server.timeout().map(|milliseconds| {
        let (whole, rest) = (milliseconds / 1000, milliseconds % 1000);
        format!("tool_timeout_sec = {whole}.{rest:03}\n")
    });
    // One of that name in its own settings would start otherwise.
    let off = if server.is_disabled() { "enabled = false\n" } else { "" };
    head + &body + &timeout.unwrap_or_default() + off
}

fn table(values: &std::collections::BTreeMap<String, String>) -> String {
    let each = values.iter().map(|(name, value)| format!("{} = {}", quoted(name), quoted(value)));
    format!("{{{}}}", each.collect::<Vec<_>>().join(", "))
}

/// A basic string of TOML. JSON's escapes are TOML's, but for DEL, which JSON leaves alone.
fn quoted(text: &str) -> String {
    json!(text).to_string().replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::env::Env;
    use crate::program::Programs;

    const ID: &str = "01a1dcac-f38a-7ae3-a06c-e6f178f250a4";

    fn build(config: &Config, conversation: Conversation<'_>) -> Result<CommandLine, LaunchError> {
        let home = tempfile::tempdir().unwrap().keep();
        let env = Env::from([("HOME".into(), home.clone().into_os_string())]);
        let mut programs = Programs::default();
        programs.replace(AGENT, vec!["/bin/true".to_owned()]);
        let scratch = home.join("scratch");
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

    fn args(line: &CommandLine) -> String {
        let args: Vec<_> = line.args.iter().map(|arg| arg.to_string_lossy()).collect();
        args.join(" ")
    }

    #[test]
    fn the_prompt_is_on_stdin_and_flags_stand_before_the_subcommand() {
        let config = Config {
            model: Some("gpt-5".to_owned()),
            permission_mode: Some("workspace-write".to_owned()),
            additional_dirs: Some(vec!["/data".to_owned()]),
            ..Config::default()
        };
        let line = build(&config, Conversation::Resume(ID)).unwrap();
        insta::assert_snapshot!(args(&line), @"exec --sandbox workspace-write --add-dir /data resume 01a1dcac-f38a-7ae3-a06c-e6f178f250a4 --json --skip-git-repo-check --model gpt-5 -");
        assert_eq!(line.stdin, b"the prompt");
    }

    #[test]
    fn a_name_is_never_resumed() {
        for name in ["auth-v2", "--last", "01a1dcacf38a7ae3a06ce6f178f250a4", ""] {
            let error = build(&Config::default(), Conversation::Resume(name)).unwrap_err();
            assert!(matches!(error, LaunchError::Invalid { .. }), "{name}");
        }
    }

    #[test]
    fn prompts_and_servers_stand_in_a_profile_that_is_gone_afterwards() {
        let env = [("TOKEN".to_owned(), "s3cret".to_owned())].into();
        let server = McpServer::Stdio {
            command: "db".to_owned(),
            args: vec!["--ro".to_owned()],
            env,
            timeout: Some(2500),
            disabled: false,
        };
        let off = McpServer::Http {
            url: "http://x/".to_owned(),
            headers: [].into(),
            timeout: None,
            disabled: true,
        };
        let config = Config {
            append_system_prompt: Some("say \"hi\"".to_owned()),
            mcp_servers: Some([("a b".to_owned(), server), ("off".to_owned(), off)].into()),
            ..Config::default()
        };
        let line = build(&config, Conversation::New(None)).unwrap();
        assert!(line.reports.is_empty(), "it has the servers: {:?}", line.reports);
        assert!(!args(&line).contains("s3cret") && !args(&line).contains("say"));
        let path = line.files[0].path().to_owned();
        insta::assert_snapshot!(std::fs::read_to_string(&path).unwrap(), @r#"
        developer_instructions = "say \"hi\""
        [mcp_servers."a b"]
        command = "db"
        args = ["--ro"]
        env = {"TOKEN" = "s3cret"}
        tool_timeout_sec = 2.500
        [mcp_servers."off"]
        url = "http://x/"
        http_headers = {}
        enabled = false
        "#);
        drop(line);
        assert!(!path.exists());
    }

    #[test]
    fn limits_it_does_not_have_are_refused_together() {
        let config = Config { max_turns: Some(3), max_cost_usd: Some(1.0), ..Config::default() };
        let error = build(&config, Conversation::New(None)).unwrap_err();
        insta::assert_snapshot!(error, @"codex cannot honour max_turns (it has no turn limit), max_cost_usd (it does not report what it costs)");
    }
}

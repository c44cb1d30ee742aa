//! Whether a config can be launched at all, as far as that can be said without looking around.

use jiff::Timestamp;

use super::{Config, Field, McpServer};

/// What is wrong with a config.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct ConfigError {
    pub field: Field,
    /// What is wrong with it.
    pub problem: String,
}

/// Checks `config` at the time `now`; the first thing that is wrong is the answer.
pub fn check(config: &Config, now: Timestamp) -> Result<(), ConfigError> {
    texts(config)?;
    lists(config)?;
    for (name, server) in config.mcp_servers.iter().flatten() {
        mcp_server(name, server)?;
    }
    if config.max_turns == Some(0) {
        return wrong(Field::MaxTurns, "an agent that may take no turn does nothing");
    }
    if config.max_cost_usd.is_some_and(|usd| !usd.is_finite() || usd <= 0.0) {
        return wrong(Field::MaxCostUsd, "has to be more than nothing");
    }
    match config.bypass_until {
        Some(until) if until <= now => {
            wrong(Field::BypassUntil, &format!("{until} is over already"))
        }
        _ => Ok(()),
    }
}

fn texts(config: &Config) -> Result<(), ConfigError> {
    let texts = [
        (Field::Model, &config.model),
        (Field::WorkingDir, &config.working_dir),
        (Field::PermissionMode, &config.permission_mode),
        (Field::PermissionPromptTool, &config.permission_prompt_tool),
    ];
    for (field, text) in texts {
        if text.as_ref().is_some_and(|text| text.trim().is_empty()) {
            return wrong(field, "is empty; clear it if there is to be none");
        }
    }
    let all = [&config.system_prompt, &config.append_system_prompt, &config.title];
    for (field, text) in
        [Field::SystemPrompt, Field::AppendSystemPrompt, Field::Title].into_iter().zip(all)
    {
        if text.as_ref().is_some_and(|text| text.contains('\0')) {
            return wrong(field, "contains a NUL character");
        }
    }
    Ok(())
}

fn lists(config: &Config) -> Result<(), ConfigError> {
    let lists = [
        (Field::AdditionalDirs, &config.additional_dirs),
        (Field::AllowedTools, &config.allowed_tools),
        (Field::DisallowedTools, &config.disallowed_tools),
        (Field::Env, &config.env),
    ];
    for (field, list) in lists {
        if list.iter().flatten().any(|item| item.trim().is_empty()) {
            return wrong(field, "has an empty entry");
        }
    }
    let is_name = |name: &String| !name.contains(['=', '\0']);
    match config.env.iter().flatten().find(|name| !is_name(name)) {
        Some(name) if name.contains('=') => {
            wrong(Field::Env, "holds a value; it takes names only, values come from the launch")
        }
        Some(_) => wrong(Field::Env, "contains a NUL character"),
        None => Ok(()),
    }
}

fn mcp_server(name: &str, server: &McpServer) -> Result<(), ConfigError> {
    if name.trim().is_empty() {
        return wrong(Field::McpServers, "has a server without a name");
    }
    match server {
        McpServer::Stdio { command, .. } if command.trim().is_empty() => {
            wrong(Field::McpServers, &format!("{name} has no command"))
        }
        McpServer::Http { url, .. }
            if !url.starts_with("http://") && !url.starts_with("https://") =>
        {
            wrong(Field::McpServers, &format!("the URL of {name} is not http:// or https://"))
        }
        _ if server.timeout() == Some(0) => {
            wrong(Field::McpServers, &format!("the timeout of {name} is nothing"))
        }
        _ => Ok(()),
    }
}

fn wrong(field: Field, problem: &str) -> Result<(), ConfigError> {
    Err(ConfigError { field, problem: problem.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(json: &str) -> String {
        let config: Config = serde_json::from_str(json).unwrap();
        let now = "2026-01-12T15:30:00Z".parse().unwrap();
        check(&config, now).map_or_else(|error| error.to_string(), |()| "ok".to_owned())
    }

    #[test]
    fn what_cannot_be_launched_is_named_with_its_field() {
        insta::assert_snapshot!(
            [
                "{}",
                r#"{"model":" "}"#,
                r#"{"allowed_tools":["Bash",""]}"#,
                r#"{"env":["A=b"]}"#,
                r#"{"max_turns":0}"#,
                r#"{"max_cost_usd":0.0}"#,
                r#"{"bypass_until":"2026-01-12T15:30:00Z"}"#,
                r#"{"mcp_servers":{"db":{"type":"stdio","command":""}}}"#,
                r#"{"mcp_servers":{"web":{"type":"http","url":"file:///x"}}}"#,
            ]
            .map(problem)
            .join("\n"),
            @r"
        ok
        model: is empty; clear it if there is to be none
        allowed_tools: has an empty entry
        env: holds a value; it takes names only, values come from the launch
        max_turns: an agent that may take no turn does nothing
        max_cost_usd: has to be more than nothing
        bypass_until: 2026-01-12T15:30:00Z is over already
        mcp_servers: db has no command
        mcp_servers: the URL of web is not http:// or https://
        "
        );
    }
}

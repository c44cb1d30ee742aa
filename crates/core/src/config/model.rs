//! The fields of a config.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// How a session's agent is launched.
///
/// A key that is no field is refused: what it forbids would otherwise be allowed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The model as the person named it (`opus`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The model as the agent resolved it (`claude-opus-5-5`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved_model: Option<String>,
    /// The directory the agent works in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working_dir: Option<String>,
    /// Further directories the agent may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additional_dirs: Option<Vec<String>>,
    /// Replaces the agent's own system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// Is added to the agent's system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub append_system_prompt: Option<String>,
    /// Standing instructions of the person, delivered with the system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_instructions: Option<String>,
    /// The agent's permission mode, in the agent's own word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// The MCP tool that is asked for permissions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_prompt_tool: Option<String>,
    /// Tools that need no permission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_tools: Option<Vec<String>>,
    /// Tools that are never permitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disallowed_tools: Option<Vec<String>>,
    /// MCP servers by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_servers: Option<BTreeMap<String, McpServer>>,
    /// Whether edits are approved without asking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_accept_edits: Option<bool>,
    /// Until when everything is approved without asking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bypass_until: Option<Timestamp>,
    /// Names of environment variables that are passed on to the agent; never their values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env: Option<Vec<String>>,
    /// A line that says what the session is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The most turns the agent may take. Never inherited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// The most the session may cost, in USD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<f64>,
}

/// An MCP server of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum McpServer {
    /// A program that speaks MCP on its standard streams.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        #[serde(default)]
        args: Vec<String>,
        /// Its environment, on top of the agent's.
        #[serde(default)]
        env: BTreeMap<String, String>,
        /// How long a call may take, in milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout: Option<u64>,
        /// Whether it is switched off.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        disabled: bool,
    },
    /// A server that speaks MCP over HTTP.
    Http {
        url: String,
        /// Headers that are sent with each request.
        #[serde(default)]
        headers: BTreeMap<String, String>,
        /// How long a call may take, in milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout: Option<u64>,
        /// Whether it is switched off.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        disabled: bool,
    },
}

impl McpServer {
    /// How long a call may take, in milliseconds, if that is said.
    pub const fn timeout(&self) -> Option<u64> {
        match self {
            Self::Stdio { timeout, .. } | Self::Http { timeout, .. } => *timeout,
        }
    }

    /// Whether it is switched off.
    pub const fn is_disabled(&self) -> bool {
        match self {
            Self::Stdio { disabled, .. } | Self::Http { disabled, .. } => *disabled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_list_survives_and_an_absent_one_stays_absent() {
        let config = Config { allowed_tools: Some(Vec::new()), ..Config::default() };
        let json = serde_json::to_string(&config).unwrap();
        assert_eq!(json, r#"{"allowed_tools":[]}"#);
        assert_eq!(serde_json::from_str::<Config>(&json).unwrap(), config);
    }

    #[test]
    fn both_kinds_of_mcp_server_are_read_and_written_alike() {
        let json = r#"{"mcp_servers":{"db":{"type":"stdio","command":"db-mcp","args":["--ro"],"env":{"A":"b"}},"web":{"type":"http","url":"http://localhost/","headers":{}}}}"#;
        let config: Config = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&config).unwrap(), json);
    }
}

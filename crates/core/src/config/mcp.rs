//! MCP servers as people write them: the file agents read, `{"mcpServers": {…}}`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::McpServer;

/// Why a text does not say which MCP servers there are.
#[derive(Debug, thiserror::Error)]
pub enum McpError {
    /// It is not JSON of that shape.
    #[error("the MCP servers cannot be read")]
    Shape(#[from] serde_json::Error),
    /// A server of a kind that is not known.
    #[error("the MCP server {name} has the type `{kind}`; only stdio and http are supported")]
    Kind {
        /// The server.
        name: String,
        /// Its type.
        kind: String,
    },
    /// A server with a limit that is none.
    #[error("the timeout of the MCP server {name} is not a number of milliseconds")]
    Timeout {
        /// The server.
        name: String,
    },
    /// A server with a key that no agent would be told of.
    #[error(
        "the MCP server {name} has `{key}`, which cannot be passed on to agents; the keys that can are {}",
        KEYS
    )]
    Key {
        /// The server.
        name: String,
        /// The key.
        key: String,
    },
    /// A server that says neither what to run nor where to connect.
    #[error("the MCP server {name} has neither a command nor a URL")]
    Empty {
        /// The server.
        name: String,
    },
}

/// What is passed on.
const KEYS: &str = "type, command, args, env, cwd, url, headers, timeout and disabled";
/// What only people read.
const REMARK: &str = "description";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "mcpServers")]
    servers: BTreeMap<String, Loose>,
}

/// A server with whatever keys it was given.
#[derive(Deserialize)]
struct Loose {
    #[serde(rename = "type")]
    kind: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    cwd: Option<String>,
    timeout: Option<serde_json::Value>,
    #[serde(default)]
    disabled: bool,
    #[serde(flatten)]
    others: BTreeMap<String, serde_json::Value>,
}

/// Reads `{"mcpServers": {…}}`, or the inner object alone. A type may be left out.
pub fn parse_mcp_servers(text: &str) -> Result<BTreeMap<String, McpServer>, McpError> {
    let value: serde_json::Value = serde_json::from_str(text)?;
    let servers = if value.get("mcpServers").is_some() {
        serde_json::from_value::<File>(value)?.servers
    } else {
        serde_json::from_value(value)?
    };
    let one = |(name, server): (String, Loose)| {
        let is_off = server.disabled;
        match read(name.clone(), server) {
            // What is switched off need not be understood.
            Err(_) if is_off => None,
            read => Some(read.map(|server| (name, server))),
        }
    };
    servers.into_iter().filter_map(one).collect()
}

fn read(name: String, server: Loose) -> Result<McpServer, McpError> {
    let Loose { kind, command, args, env, url, headers, cwd, timeout, disabled, others } = server;
    // One that says which tools may not be used must not lose that on the way.
    if let Some(key) = others.into_keys().find(|key| key != REMARK) {
        return Err(McpError::Key { name, key });
    }
    let timeout = match timeout.as_ref().map(serde_json::Value::as_u64) {
        None => None,
        Some(Some(milliseconds @ 1..)) => Some(milliseconds),
        Some(_) => return Err(McpError::Timeout { name }),
    };
    let (command, args) = match (command, cwd) {
        (Some(command), Some(cwd)) => started_in(&cwd, command, args),
        (command, _) => (command, args),
    };
    match (kind.as_deref(), command, url) {
        (None | Some("stdio"), Some(command), _) => {
            Ok(McpServer::Stdio { command, args, env, timeout, disabled })
        }
        (None | Some("http" | "streamable-http"), _, Some(url)) => {
            Ok(McpServer::Http { url, headers, timeout, disabled })
        }
        (None | Some("stdio" | "http" | "streamable-http"), ..) => Err(McpError::Empty { name }),
        (Some(kind), ..) => Err(McpError::Kind { name, kind: kind.to_owned() }),
    }
}

/// A command that runs in a directory. Few agents have a word for that, and all of them have a shell.
fn started_in(cwd: &str, command: String, args: Vec<String>) -> (Option<String>, Vec<String>) {
    let there = ["-c", "cd \"$1\" && shift && exec \"$@\"", "sh", cwd].map(str::to_owned);
    let args = there.into_iter().chain([command]).chain(args).collect();
    (Some("/bin/sh".to_owned()), args)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_switched_off_need_not_be_understood() {
        let text =
            r#"{"old":{"type":"sse","url":"http://x/","disabled":true},"db":{"command":"db-mcp"}}"#;
        let names: Vec<String> = parse_mcp_servers(text).unwrap().into_keys().collect();
        assert_eq!(names, ["db"]);
        assert!(parse_mcp_servers(&text.replace(",\"disabled\":true", "")).is_err());
    }

    #[test]
    fn both_forms_of_the_file_are_read() {
        let inner = r#"{"db":{"command":"db-mcp","env":{"A":"b"}},"web":{"type":"http","url":"http://x/","headers":{"H":"v"}}}"#;
        let outer = format!(r#"{{"mcpServers":{inner}}}"#);
        let servers = parse_mcp_servers(inner).unwrap();
        assert_eq!(servers, parse_mcp_servers(&outer).unwrap());
        assert!(matches!(&servers["db"], McpServer::Stdio { env, .. } if env["A"] == "b"));
        assert!(matches!(&servers["web"], McpServer::Http { headers, .. } if headers["H"] == "v"));
        assert!(parse_mcp_servers("{}").unwrap().is_empty());
    }

    #[test]
    fn a_directory_a_timeout_and_a_switch_are_kept_and_a_timeout_that_is_none_is_refused() {
        let servers = parse_mcp_servers(
            r#"{"db":{"command":"db-mcp","args":["--ro"],"cwd":"/data dir","timeout":5000},
                "off":{"url":"http://x/","disabled":true}}"#,
        )
        .unwrap();
        assert_eq!((servers["db"].timeout(), servers["db"].is_disabled()), (Some(5000), false));
        assert_eq!((servers["off"].timeout(), servers["off"].is_disabled()), (None, true));
        let stored = serde_json::to_string(&servers).unwrap();
        let read: BTreeMap<String, McpServer> = serde_json::from_str(&stored).unwrap();
        assert_eq!(read, servers);
        let McpServer::Stdio { command, args, .. } = &servers["db"] else { panic!("{servers:?}") };
        assert_eq!(
            (command.as_str(), &args[3..]),
            ("/bin/sh", &["/data dir", "db-mcp", "--ro"].map(str::to_owned)[..])
        );
        for timeout in ["0", "-1", "2.5", "\"5 s\"", "true"] {
            let text = format!(r#"{{"db":{{"command":"x","timeout":{timeout}}}}}"#);
            let error = parse_mcp_servers(&text).unwrap_err().to_string();
            assert_eq!(error, "the timeout of the MCP server db is not a number of milliseconds");
        }
    }

    #[test]
    fn what_is_no_server_is_refused_and_nothing_is_dropped() {
        let error = |text| parse_mcp_servers(text).unwrap_err().to_string();
        assert_eq!(
            error(r#"{"x":{"type":"sse","url":"http://x"}}"#),
            "the MCP server x has the type `sse`; only stdio and http are supported"
        );
        assert_eq!(error(r#"{"x":{}}"#), "the MCP server x has neither a command nor a URL");
        assert_eq!(error("servers.json"), "the MCP servers cannot be read");
        assert_eq!(
            error(r#"{"x":{"command":"x","excludeTools":["drop"]}}"#),
            format!(
                "the MCP server x has `excludeTools`, which cannot be passed on to agents; the keys that can are {KEYS}"
            )
        );
        assert!(parse_mcp_servers(r#"{"x":{"command":"x","description":"ours"}}"#).is_ok());
    }
}

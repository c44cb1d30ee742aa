//! `daemon.db`, the database of HumanLayer's daemon, in any version of its schema.
//!
//! Columns came one by one over its life, so each is read if it is there. The invariant: a list
//! that cannot be read makes its session unreadable; it is never taken for an empty one.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use serde_json::{Value, json};

use heirloom_core::config::{Config, McpServer};
use heirloom_core::status::Status;

/// The server the daemon adds for its own approvals; it is no use without the daemon.
const OWN_SERVER: &str = "codelayer";

/// Variables that tie a server to a session of the daemon.
const OWN_ENV: &[&str] =
    &["HUMANLAYER_DAEMON_SOCKET", "HUMANLAYER_RUN_ID", "HUMANLAYER_SESSION_ID"];

/// Why a database could not be read.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    #[error("there is no file {}", path.display())]
    Missing { path: PathBuf },
    /// There is nothing to read.
    #[error("cannot read {}", path.display())]
    File {
        path: PathBuf,
        /// What the database said.
        #[source]
        source: rusqlite::Error,
    },
    /// It is something else, or another database.
    #[error("{} is not a daemon.db: it has no table of sessions", path.display())]
    NotOne { path: PathBuf },
}

/// A session of the daemon.
#[derive(Debug, Clone, PartialEq)]
pub struct DaemonSession {
    /// Its id there.
    pub id: String,
    /// The id of the session it continues.
    pub parent: Option<String>,
    /// Claude Code's id of the conversation.
    pub agent_session_id: Option<String>,
    /// What it was told to do.
    pub query: String,
    /// What became of it.
    pub status: Status,
    /// Whether it was put away.
    pub archived: bool,
    pub error: Option<String>,
    /// When it was made.
    pub created_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    pub cost_usd: Option<f64>,
    /// Tokens into the model.
    pub input_tokens: u64,
    /// Tokens out of it.
    pub output_tokens: u64,
    /// Its config, or why that cannot be read.
    pub config: Result<Config, String>,
    /// What it had and nothing here stands for.
    pub left_behind: Vec<String>,
}

/// An open database of the daemon.
#[derive(Debug)]
pub struct Daemon {
    db: Connection,
    path: PathBuf,
    tables: HashSet<String>,
}

type Columns = BTreeMap<String, Sql>;

impl Daemon {
    /// Opens `path` for reading.
    pub fn open(path: &Path) -> Result<Self, DaemonError> {
        let failed = |source| DaemonError::File { path: path.to_owned(), source };
        if !path.exists() {
            return Err(DaemonError::Missing { path: path.to_owned() });
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = Connection::open_with_flags(path, flags).map_err(failed)?;
        let tables = match tables(&db) {
            Ok(tables) => tables,
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
                return Err(DaemonError::NotOne { path: path.to_owned() });
            }
            Err(error) => return Err(failed(error)),
        };
        if !tables.contains("sessions") {
            return Err(DaemonError::NotOne { path: path.to_owned() });
        }
        Ok(Self { db, path: path.to_owned(), tables })
    }

    /// Its sessions, parents before children as far as their age says. Drafts were never launched
    /// and are not among them.
    pub fn sessions(&self) -> Result<Vec<DaemonSession>, DaemonError> {
        let rows = self.rows("SELECT * FROM sessions ORDER BY created_at, rowid", &[])?;
        let launched = rows.iter().filter(|row| text(row, "status").as_deref() != Some("draft"));
        launched.map(|row| self.session(row)).collect()
    }

    /// What the agent printed in a session, line by line, as far as it was kept.
    pub fn lines(&self, session: &str) -> Result<Vec<String>, DaemonError> {
        if self.tables.contains("raw_events") {
            let sql = "SELECT event_json FROM raw_events WHERE session_id = ?1 ORDER BY id";
            let lines: Vec<String> = self
                .rows(sql, &[session])?
                .iter()
                .filter_map(|row| text(row, "event_json"))
                .map(|line| line.replace('\n', " "))
                .collect();
            if !lines.is_empty() {
                return Ok(lines);
            }
        }
        if !self.tables.contains("conversation_events") {
            return Ok(Vec::new());
        }
        let sql = "SELECT * FROM conversation_events WHERE session_id = ?1 ORDER BY sequence, id";
        Ok(self.rows(sql, &[session])?.iter().filter_map(line_of).collect())
    }

    fn session(&self, row: &Columns) -> Result<DaemonSession, DaemonError> {
        let id = text(row, "id").unwrap_or_default();
        let servers = self.server_rows(&id)?;
        let word = text(row, "status").unwrap_or_default();
        let status = match word.as_str() {
            "completed" => Status::Completed,
            "failed" => Status::Failed,
            _ => Status::Interrupted,
        };
        Ok(DaemonSession {
            parent: text(row, "parent_session_id"),
            agent_session_id: text(row, "claude_session_id"),
            query: text(row, "query").unwrap_or_default(),
            status,
            archived: flag(row, "archived") || word == "discarded",
            error: text(row, "error_message"),
            created_at: time(row, "created_at"),
            completed_at: time(row, "completed_at"),
            cost_usd: number(row, "cost_usd"),
            input_tokens: [
                "input_tokens",
                "cache_creation_input_tokens",
                "cache_read_input_tokens",
            ]
            .map(|column| count(row, column))
            .iter()
            .sum(),
            output_tokens: count(row, "output_tokens"),
            config: servers_of(&servers).and_then(|servers| config(row, servers)),
            left_behind: left_behind(row),
            id,
        })
    }

    fn server_rows(&self, session: &str) -> Result<Vec<Columns>, DaemonError> {
        if !self.tables.contains("mcp_servers") {
            return Ok(Vec::new());
        }
        self.rows("SELECT * FROM mcp_servers WHERE session_id = ?1 ORDER BY id", &[session])
    }

    fn rows(&self, sql: &str, values: &[&str]) -> Result<Vec<Columns>, DaemonError> {
        let read = || -> rusqlite::Result<Vec<Columns>> {
            let mut statement = self.db.prepare(sql)?;
            let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
            let columns = |row: &rusqlite::Row<'_>| {
                let value = |(index, name): (usize, &String)| Ok((name.clone(), row.get(index)?));
                names.iter().enumerate().map(value).collect()
            };
            statement.query_map(rusqlite::params_from_iter(values), columns)?.collect()
        };
        read().map_err(|source| DaemonError::File { path: self.path.clone(), source })
    }
}

fn tables(db: &Connection) -> rusqlite::Result<HashSet<String>> {
    db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?
        .query_map((), |row| row.get(0))?
        .collect()
}

/// The servers of a session, where it has any beside the daemon's own.
fn servers_of(rows: &[Columns]) -> Result<Option<BTreeMap<String, McpServer>>, String> {
    let others = rows.iter().filter(|row| text(row, "name").as_deref() != Some(OWN_SERVER));
    let servers: BTreeMap<String, McpServer> = others.map(server).collect::<Result<_, _>>()?;
    Ok((!servers.is_empty()).then_some(servers))
}

fn config(row: &Columns, servers: Option<BTreeMap<String, McpServer>>) -> Result<Config, String> {
    let bypass = flag(row, "dangerously_skip_permissions");
    Ok(Config {
        model: text(row, "model"),
        resolved_model: text(row, "model_id"),
        working_dir: text(row, "working_dir"),
        additional_dirs: list(row, "additional_directories")?,
        system_prompt: text(row, "system_prompt"),
        append_system_prompt: text(row, "append_system_prompt"),
        custom_instructions: text(row, "custom_instructions"),
        permission_mode: None,
        // The daemon's own tool is gone with it; heirloom asks in its place.
        permission_prompt_tool: text(row, "permission_prompt_tool")
            .filter(|tool| !tool.starts_with(&format!("mcp__{OWN_SERVER}__"))),
        allowed_tools: list(row, "allowed_tools")?,
        disallowed_tools: list(row, "disallowed_tools")?,
        mcp_servers: servers,
        auto_accept_edits: flag(row, "auto_accept_edits").then_some(true),
        bypass_until: time(row, "dangerously_skip_permissions_expires_at").filter(|_| bypass),
        env: None,
        title: text(row, "title"),
        max_turns: None,
        max_cost_usd: None,
    })
}

/// A continued session must not be taken for what it was before where it is not.
fn left_behind(row: &Columns) -> Vec<String> {
    let mut left = Vec::new();
    if flag(row, "proxy_enabled") {
        let url = text(row, "proxy_base_url").unwrap_or_else(|| "a proxy".to_owned());
        left.push(format!("it reached its model through {url}, and no longer does"));
    }
    let expires = text(row, "dangerously_skip_permissions_expires_at");
    if flag(row, "dangerously_skip_permissions") && expires.is_none() {
        left.push("it approved everything without end, and now asks again".to_owned());
    }
    left
}

/// HTTP servers are rows whose command is `http`, with the URL as their only argument.
fn server(row: &Columns) -> Result<(String, McpServer), String> {
    let name = text(row, "name").unwrap_or_default();
    let args = list(row, "args_json")?.unwrap_or_default();
    let mut values: BTreeMap<String, String> = match text(row, "env_json") {
        None => BTreeMap::new(),
        Some(json) => serde_json::from_str::<Option<_>>(&json)
            .map_err(|error| format!("env_json of the MCP server {name}: {error}"))?
            .unwrap_or_default(),
    };
    values.retain(|key, _| !OWN_ENV.contains(&key.as_str()));
    let command = text(row, "command").unwrap_or_default();
    let server = match (command.as_str(), args.first()) {
        ("http", Some(url)) => {
            McpServer::Http { url: url.clone(), headers: values, timeout: None, disabled: false }
        }
        _ => McpServer::Stdio { command, args, env: values, timeout: None, disabled: false },
    };
    Ok((name, server))
}

/// A row of the conversation as the line of the agent's stream it came from.
fn line_of(row: &Columns) -> Option<String> {
    let block = match text(row, "event_type")?.as_str() {
        "message" if text(row, "role").as_deref() == Some("user") => return None,
        "message" => json!({"type": "text", "text": text(row, "content")}),
        "thinking" => json!({"type": "thinking", "thinking": text(row, "content")}),
        "tool_call" => {
            let input = text(row, "tool_input_json").unwrap_or_default();
            let input: Value = serde_json::from_str(&input).unwrap_or(Value::Null);
            json!({"type": "tool_use", "id": text(row, "tool_id"),
                   "name": text(row, "tool_name"), "input": input})
        }
        "tool_result" => {
            json!({"type": "tool_result", "tool_use_id": text(row, "tool_result_for_id"),
                   "content": text(row, "tool_result_content")})
        }
        _ => return None,
    };
    let kind = if block["type"] == "tool_result" { "user" } else { "assistant" };
    let line = json!({"type": kind, "session_id": text(row, "claude_session_id"),
                      "parent_tool_use_id": text(row, "parent_tool_use_id"),
                      "message": {"role": kind, "content": [block]}});
    Some(line.to_string())
}

/// A text; an empty one is none, as the daemon has it.
fn text(row: &Columns, column: &str) -> Option<String> {
    match row.get(column) {
        Some(Sql::Text(text)) if !text.is_empty() => Some(text.clone()),
        Some(Sql::Integer(number)) => Some(number.to_string()),
        _ => None,
    }
}

/// A list in JSON. NULL, an empty text and the word `null` are none; `[]` is an empty one.
fn list(row: &Columns, column: &str) -> Result<Option<Vec<String>>, String> {
    let Some(json) = text(row, column) else { return Ok(None) };
    serde_json::from_str(&json).map_err(|error| format!("{column}: {error}"))
}

fn flag(row: &Columns, column: &str) -> bool {
    matches!(row.get(column), Some(Sql::Integer(number)) if *number != 0)
}

fn number(row: &Columns, column: &str) -> Option<f64> {
    match row.get(column) {
        Some(Sql::Real(number)) => Some(*number),
        Some(Sql::Integer(number)) => text(row, column)?
            .parse()
            .ok()
            .or(Some(f64::from(i32::try_from(*number).unwrap_or(i32::MAX)))),
        _ => None,
    }
}

fn count(row: &Columns, column: &str) -> u64 {
    match row.get(column) {
        Some(Sql::Integer(number)) => u64::try_from(*number).unwrap_or(0),
        _ => 0,
    }
}

/// A time in any of the forms that ended up in these files; without an offset it is UTC.
fn time(row: &Columns, column: &str) -> Option<Timestamp> {
    let text = text(row, column)?;
    let mut parts = text.split_whitespace();
    let first = parts.next()?;
    let joined = match (first.contains('T'), parts.next()) {
        (false, Some(clock)) => format!("{first}T{clock}{}", parts.next().unwrap_or_default()),
        _ => first.to_owned(),
    };
    let parsed = joined.parse::<Timestamp>();
    parsed.or_else(|_| format!("{joined}Z").parse()).ok()
}

#[cfg(test)]
mod tests;

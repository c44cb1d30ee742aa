//! Claude Code's stream, written instead of read.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

/// What one request to the model is said to cost.
pub(super) const REQUEST_USD: f64 = 0.000_14;

pub(super) struct Stream<'a> {
    out: &'a mut dyn Write,
    pub(super) session_id: String,
    pub(super) model: String,
    /// In this process.
    pub(super) requests: u32,
    /// In the turns of it that are over.
    reported: u32,
    /// In the conversation before this process.
    pub(super) before: u32,
    /// What the whole conversation cost.
    pub(super) cost_usd: f64,
}

/// How a turn ends.
#[derive(Debug, Default)]
pub(super) struct Ending {
    pub(super) subtype: &'static str,
    pub(super) is_error: bool,
    pub(super) reason: &'static str,
    pub(super) text: Option<String>,
    pub(super) errors: Vec<String>,
    pub(super) status: Option<u16>,
    pub(super) turns: u32,
}

impl<'a> Stream<'a> {
    pub(super) fn new(out: &'a mut dyn Write, session_id: String, model: String) -> Self {
        Self { out, session_id, model, requests: 0, reported: 0, before: 0, cost_usd: 0.0 }
    }

    /// The requests of the whole conversation.
    pub(super) const fn all_requests(&self) -> u32 {
        self.before + self.requests
    }

    pub(super) fn raw(&mut self, line: &str) -> io::Result<()> {
        writeln!(self.out, "{line}")
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn line(&mut self, mut line: Value) -> io::Result<()> {
        if let Some(fields) = line.as_object_mut() {
            fields.insert("session_id".to_owned(), self.session_id.clone().into());
        }
        self.raw(&line.to_string())?;
        self.flush()
    }

    pub(super) fn init(&mut self, cwd: &str, mode: &str) -> io::Result<()> {
        let version = concat!(env!("CARGO_PKG_VERSION"), "-sim");
        self.line(json!({
            "type": "system", "subtype": "init", "cwd": cwd, "model": self.model,
            "permissionMode": mode, "tools": ["Bash", "Read", "Write"], "mcp_servers": [],
            "claude_code_version": version,
        }))
    }

    pub(super) fn assistant(&mut self, block: &Value) -> io::Result<()> {
        self.line(json!({"type": "assistant", "parent_tool_use_id": null, "message": {
            "id": format!("msg_sim_{}", self.requests), "type": "message", "role": "assistant",
            "model": self.model, "content": [block],
            "usage": {"input_tokens": 10, "output_tokens": 5},
        }}))
    }

    pub(super) fn tool_result(&mut self, id: &str, text: &str, is_error: bool) -> io::Result<()> {
        let block = json!({"type": "tool_result", "tool_use_id": id, "content": text,
                           "is_error": is_error});
        self.line(json!({"type": "user", "parent_tool_use_id": null,
                         "message": {"role": "user", "content": [block]}}))
    }

    pub(super) fn retry(&mut self, attempt: u32, max: u32, status: u16) -> io::Result<()> {
        let status = (status > 0).then_some(status);
        self.line(json!({"type": "system", "subtype": "api_retry", "attempt": attempt,
                         "max_retries": max, "retry_delay_ms": 0, "error_status": status,
                         "error": error_word(status)}))
    }

    pub(super) fn denied(&mut self, tool: &str, reason: &str) -> io::Result<()> {
        self.line(json!({"type": "system", "subtype": "permission_denied", "tool_name": tool,
                         "reason": reason}))
    }

    pub(super) fn ask(
        &mut self,
        id: &str,
        tool: &str,
        input: &Value,
        call: &str,
    ) -> io::Result<()> {
        self.line(json!({"type": "control_request", "request_id": id, "request": {
            "subtype": "can_use_tool", "tool_name": tool, "input": input, "tool_use_id": call}}))
    }

    pub(super) fn result(&mut self, ending: Ending) -> io::Result<()> {
        let mut line = Map::new();
        // As Claude Code has it: `usage` is of the turn, the cost and `modelUsage` of the conversation.
        let turn = self.requests - self.reported;
        self.reported = self.requests;
        let usage = json!({"input_tokens": 10 * turn, "output_tokens": 5 * turn});
        let all = self.all_requests();
        let model_usage =
            json!({"contextWindow": 200_000, "inputTokens": 10 * all, "outputTokens": 5 * all});
        let fields = json!({
            "type": "result", "subtype": ending.subtype, "is_error": ending.is_error,
            "terminal_reason": ending.reason, "num_turns": ending.turns, "duration_ms": 0,
            "total_cost_usd": self.cost_usd, "usage": usage, "permission_denials": [],
            "modelUsage": {&self.model: model_usage},
            "api_error_status": ending.status,
        });
        line.extend(fields.as_object().cloned().unwrap_or_default());
        if let Some(text) = ending.text {
            line.insert("result".to_owned(), text.into());
        }
        if !ending.errors.is_empty() {
            line.insert("errors".to_owned(), ending.errors.into());
        }
        self.line(Value::Object(line))
    }
}

fn error_word(status: Option<u16>) -> &'static str {
    match status {
        Some(401 | 403) => "authentication_failed",
        Some(429) => "rate_limit",
        Some(529) => "overloaded",
        Some(500..) => "server_error",
        _ => "unknown",
    }
}

//! What Claude Code tells the command of its status line, on stdin.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

/// What is known of a session while it runs. Anything may be missing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StatusPayload {
    pub session: Option<String>,
    /// Where the agent works.
    pub directory: Option<PathBuf>,
    /// What the session has cost so far.
    pub cost_usd: Option<f64>,
    /// How much of the context is used, in percent.
    pub used_percent: Option<f64>,
    /// The model, and how many tokens its window holds.
    pub window: Option<(String, u64)>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Wire {
    session_id: Value,
    cwd: Value,
    workspace: Value,
    cost: Value,
    model: Value,
    context_window: Value,
}

/// Reads the payload; what it does not say, or says in another way, is not known.
pub fn status_line(payload: &[u8]) -> StatusPayload {
    let wire: Wire = serde_json::from_slice(payload).unwrap_or_default();
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let directory = text(&wire.workspace["current_dir"]).or_else(|| text(&wire.cwd));
    let amount = |value: &Value| value.as_f64().filter(|value| value.is_finite() && *value >= 0.0);
    StatusPayload {
        session: text(&wire.session_id),
        directory: directory.map(PathBuf::from),
        cost_usd: amount(&wire.cost["total_cost_usd"]),
        used_percent: amount(&wire.context_window["used_percentage"])
            .or_else(|| measured(&wire.context_window)),
        window: text(&wire.model["id"])
            .zip(wire.context_window["context_window_size"].as_u64().filter(|size| *size > 0)),
    }
}

/// From the tokens of the last answer, where the share itself is not told.
fn measured(window: &Value) -> Option<f64> {
    let size = window["context_window_size"].as_f64().filter(|size| *size > 0.0)?;
    let usage = window["current_usage"].as_object()?;
    let parts = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
    let used: f64 = parts.iter().filter_map(|part| usage.get(*part)?.as_f64()).sum();
    Some(used / size * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_read_and_the_rest_is_not_known() {
        let told = status_line(
            br#"{"session_id":"s","cwd":"/a","workspace":{"current_dir":"/b"},
                "cost":{"total_cost_usd":1.5},"model":{"id":"claude-opus-5-5"},
                "context_window":{"used_percentage":42.5,"context_window_size":1000000}}"#,
        );
        let expected = StatusPayload {
            session: Some("s".into()),
            directory: Some("/b".into()),
            cost_usd: Some(1.5),
            used_percent: Some(42.5),
            window: Some(("claude-opus-5-5".into(), 1_000_000)),
        };
        assert_eq!(told, expected);
        let counted = status_line(
            br#"{"context_window":{"used_percentage":null,"context_window_size":1000,
                "current_usage":{"input_tokens":100,"cache_read_input_tokens":150}}}"#,
        );
        assert_eq!(counted.used_percent, Some(25.0));
    }

    #[test]
    fn garbage_says_nothing() {
        for garbage in
            [&b""[..], b"[1", b"[]", b"7", b"{\"cost\":[],\"cwd\":{\"a\":1}}", b"\xff\xfe"]
        {
            assert_eq!(status_line(garbage), StatusPayload::default());
        }
        let negative = br#"{"cost":{"total_cost_usd":-1},"context_window":{"context_window_size":0,"current_usage":{}}}"#;
        assert_eq!(status_line(negative), StatusPayload::default());
    }
}

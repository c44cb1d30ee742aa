//! A conversation of another agent as a rollout of Codex's.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::transcript::Carried;

/// Where the rollout lies below Codex's home.
pub(super) fn path(home: &Path, carried: &Carried<'_>) -> PathBuf {
    let at = carried.at.strftime("%Y-%m-%dT%H-%M-%S");
    let day = carried.at.strftime("%Y/%m/%d").to_string();
    home.join("sessions").join(day).join(format!("rollout-{at}-{}.jsonl", carried.id))
}

/// The rollout's lines.
pub(super) fn lines(carried: &Carried<'_>, version: &str) -> String {
    let mut text = String::new();
    let mut put = |at: String, kind: &str, payload: Value| {
        text.push_str(&json!({"timestamp": at, "type": kind, "payload": payload}).to_string());
        text.push('\n');
    };
    let at = carried.at.to_string();
    let meta = json!({
        "id": carried.id, "timestamp": at, "cwd": carried.directory, "originator": "heirloom",
        "cli_version": version, "source": "cli", "git": {"branch": carried.branch},
    });
    put(at, "session_meta", meta);
    for turn in carried.turns {
        let at = turn.at().unwrap_or(carried.at).to_string();
        let (role, part) =
            if turn.is_prompt() { ("user", "input_text") } else { ("assistant", "output_text") };
        let content = json!([{"type": part, "text": turn.text()}]);
        put(
            at.clone(),
            "response_item",
            json!({"type": "message", "role": role, "content": content}),
        );
        if turn.is_prompt() {
            // What its own picker shows.
            put(at, "event_msg", json!({"type": "user_message", "message": turn.text()}));
        }
    }
    text
}

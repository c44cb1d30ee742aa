//! A conversation of another agent as a transcript of Claude Code's.

use serde_json::json;

use crate::transcript::{Carried, Turn};

/// The transcript's lines. Every message names the one before it, and an answer has the model that Claude
/// Code gives to answers no model gave.
pub(super) fn lines(carried: &Carried<'_>, version: &str) -> String {
    let mut text = String::new();
    let mut parent: Option<String> = None;
    for (number, turn) in carried.turns.iter().enumerate() {
        let uuid = format!("{}{:012x}", &carried.id[..24], number + 1);
        let message = match turn {
            Turn::Prompt { text, .. } => json!({"role": "user", "content": text}),
            Turn::Answer { text, .. } => json!({
                "id": format!("msg_{}_{number}", &carried.id[..8]), "type": "message", "role": "assistant",
                "model": "<synthetic>", "content": [{"type": "text", "text": text}],
                "stop_reason": "end_turn", "usage": {"input_tokens": 0, "output_tokens": 0},
            }),
        };
        let line = json!({
            "parentUuid": parent, "isSidechain": false, "userType": "external",
            "cwd": carried.directory, "sessionId": carried.id, "version": version,
            "gitBranch": carried.branch.unwrap_or_default(),
            "type": if turn.is_prompt() { "user" } else { "assistant" },
            "message": message, "uuid": uuid, "timestamp": turn.at().unwrap_or(carried.at).to_string(),
        });
        text.push_str(&line.to_string());
        text.push('\n');
        parent = Some(uuid);
    }
    text
}

//! A conversation of another agent as a document that `opencode import` takes in.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::env::{self, Env};
use crate::transcript::{Carried, Written};

/// What opencode calls the agent that edits and runs commands.
const AGENT: &str = "build";

pub(super) fn document(env: &Env, carried: &Carried<'_>) -> Written {
    let id = session_id(carried);
    let model = model(env, carried);
    let mut before = String::new();
    let messages: Vec<Value> = carried
        .turns
        .iter()
        .enumerate()
        .map(|(number, turn)| {
            let message = ascending("msg", carried, number);
            let created = turn.at().unwrap_or(carried.at).as_millisecond();
            let mut info = json!({
                "id": message, "sessionID": id, "agent": AGENT, "time": {"created": created},
            });
            if turn.is_prompt() {
                info["role"] = json!("user");
                info["model"] = json!({"providerID": model.0, "modelID": model.1});
                before.clone_from(&message);
            } else {
                info["role"] = json!("assistant");
                info["time"]["completed"] = json!(created);
                info["parentID"] = json!(before);
                info["providerID"] = json!(model.0);
                info["modelID"] = json!(model.1);
                info["mode"] = json!(AGENT);
                info["path"] = json!({"cwd": carried.directory, "root": carried.directory});
                info["cost"] = json!(0);
                info["tokens"] = json!({
                    "input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0},
                });
                info["finish"] = json!("stop");
            }
            let part = json!({
                "id": ascending("prt", carried, number), "sessionID": id, "messageID": message,
                "type": "text", "text": turn.text(),
            });
            json!({"info": info, "parts": [part]})
        })
        .collect();
    let at = carried.at.as_millisecond();
    let info = json!({
        "id": id, "slug": &carried.id[..8], "projectID": "global", "directory": carried.directory,
        "title": title(carried), "version": super::TESTED, "time": {"created": at, "updated": at},
    });
    let text = json!({"info": info, "messages": messages}).to_string();
    Written::Import { id, text, arguments: vec!["import".to_owned()] }
}

fn title(carried: &Carried<'_>) -> String {
    let asked = carried.turns.iter().find(|turn| turn.is_prompt()).or(carried.turns.first());
    let line = asked.and_then(|turn| turn.text().lines().find(|line| !line.trim().is_empty()));
    line.unwrap_or("carried over").chars().take(80).collect()
}

/// Fourteen letters and digits that belong to this conversation.
fn own(carried: &Carried<'_>) -> String {
    carried.id.chars().filter(char::is_ascii_alphanumeric).take(14).collect()
}

/// Ids of messages grow with time: what opencode adds later has to come after all of these.
fn ascending(kind: &str, carried: &Carried<'_>, number: usize) -> String {
    let turns = carried.turns.len();
    let before = i64::try_from(turns - number).unwrap_or(0);
    let value = ((carried.at.as_millisecond() - before) << 12) & 0xffff_ffff_ffff;
    format!("{kind}_{value:012x}{}", own(carried))
}

/// Ids of sessions fall with time, so that the newest comes first.
fn session_id(carried: &Carried<'_>) -> String {
    let value = !(carried.at.as_millisecond() << 12) & 0xffff_ffff_ffff;
    format!("ses_{value:012x}{}", own(carried))
}

/// The model with which it goes on, which opencode takes from the last message: the one that the person's
/// settings name, or the last one they chose.
fn model(env: &Env, carried: &Carried<'_>) -> (String, String) {
    let below = |variable: &str, usual: &str| -> Option<PathBuf> {
        env::path(env, variable).or_else(|| Some(env::path(env, "HOME")?.join(usual)))
    };
    let read = |path: PathBuf| -> Option<Value> {
        serde_json::from_slice(&heirloom_repo::file::read(path).ok()?).ok()
    };
    let settings = [
        Some(carried.directory.join("opencode.json")),
        below("XDG_CONFIG_HOME", ".config").map(|path| path.join("opencode/opencode.json")),
    ];
    let named = settings.into_iter().flatten().filter_map(read).find_map(|settings| {
        let (provider, model) = settings["model"].as_str()?.split_once('/')?;
        Some((provider.to_owned(), model.to_owned()))
    });
    let recent = || {
        let state = below("XDG_STATE_HOME", ".local/state")?.join("opencode/model.json");
        let last = read(state)?["recent"].get(0)?.clone();
        Some((last["providerID"].as_str()?.to_owned(), last["modelID"].as_str()?.to_owned()))
    };
    // One that it does not know is asked for on its screen, and refused with the name where there is none.
    named.or_else(recent).unwrap_or_else(|| ("heirloom".to_owned(), "choose-a-model".to_owned()))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use jiff::Timestamp;

    use super::*;
    use crate::transcript::Turn;

    #[test]
    fn messages_are_in_order_and_before_what_comes_next() {
        let at: Timestamp = "2026-01-12T15:30:00Z".parse().unwrap();
        let turns = [
            Turn::Prompt { text: "\nWhy?".to_owned(), at: None },
            Turn::Answer { text: "Because.".to_owned(), at: None },
        ];
        let carried = Carried {
            id: "0b8e7c1e-3d0e-4a5c-9a67-3f6f2b8a1c11",
            directory: Path::new("/nowhere"),
            branch: None,
            at,
            turns: &turns,
        };
        let Written::Import { id, text, arguments } = document(&Env::new(), &carried) else {
            panic!("a document")
        };
        let document: Value = serde_json::from_str(&text).unwrap();
        let message = |n: usize| document["messages"][n]["info"]["id"].as_str().unwrap();
        assert!(message(0) < message(1));
        let next = format!("msg_{:012x}", (at.as_millisecond() << 12) & 0xffff_ffff_ffff);
        assert!(message(1) < next.as_str());
        assert_eq!(document["messages"][1]["info"]["parentID"], message(0));
        assert_eq!(document["info"]["title"], "Why?");
        assert_eq!((document["info"]["id"].as_str(), id.len()), (Some(id.as_str()), 30));
        assert_eq!(arguments, ["import"]);
    }
}

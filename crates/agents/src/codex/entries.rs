//! What Codex's rollouts say, as entries.
//!
//! The same words come twice: as items of the conversation and as events about them. Items are
//! read; of the events only what no item says.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::read::Usage;
use super::transcripts::{goes_on, is_the_persons, parts, printed};
use crate::event::Span;
use crate::transcript::does::tool_use;
use crate::transcript::entry::{By, Entries, Entry, What, Whereabouts};

/// Reads a rollout.
#[derive(Debug, Default)]
pub(crate) struct Read {
    place: Whereabouts,
    model: Option<String>,
    /// Who asks in this turn, where the rollout says so.
    by: Option<By>,
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    timestamp: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Whole {
    #[serde(default)]
    payload: Value,
}

impl Entries for Read {
    fn resume(&mut self, place: &Whereabouts) {
        self.place = place.clone();
    }

    fn read(&mut self, line: &[u8], entries: &mut Vec<Entry>) {
        let unknown = |kind: &str| Entry::of(What::Unknown { kind: kind.to_owned() });
        let Ok(head) = serde_json::from_slice::<Line<'_>>(line) else {
            return entries.push(unknown("not a line of a rollout"));
        };
        let at = head.timestamp.and_then(|at| at.parse::<Timestamp>().ok());
        if matches!(&*head.kind, "world_state" | "token_usage_record") {
            return;
        }
        let Ok(Whole { payload }) = serde_json::from_slice(line) else {
            return entries.push(unknown("not a line of a rollout"));
        };
        let mut told = Vec::new();
        match &*head.kind {
            "session_meta" => self.began(&payload, &mut told),
            "turn_context" => self.turn(&payload, &mut told),
            "response_item" => self.item(payload, &mut told),
            "event_msg" => self.event(&payload, &mut told),
            "compacted" => {
                told.push(What::Compaction { auto: None, tokens_before: None });
                let text = text(&payload, "message").filter(|text| !text.is_empty());
                told.extend(text.map(|text| What::Summary { text: text.to_owned() }));
            }
            kind => told.push(What::Unknown { kind: kind.to_owned() }),
        }
        entries.extend(told.into_iter().map(|what| Entry { at, ..Entry::of(what) }));
    }
}

/// Whether a turn is no older than a conversation, by the time that the ids of both begin with.
fn began_after(turn: &str, conversation: &str) -> bool {
    let has_time = |id: &str| id.len() == 36 && id.as_bytes()[14] == b'7';
    let time = |id: &'_ str| id.get(..13).map(str::to_ascii_lowercase).filter(|_| has_time(id));
    time(turn).zip(time(conversation)).is_some_and(|(turn, conversation)| turn >= conversation)
}

fn text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field).and_then(Value::as_str)
}

fn owned(value: &Value, field: &str) -> Option<String> {
    text(value, field).map(str::to_owned)
}

impl Read {
    fn began(&mut self, meta: &Value, told: &mut Vec<What>) {
        let id = owned(meta, "id");
        // A copy of a conversation has the line by which that one began, too.
        if self.place.forked_from.is_some() && id != self.place.agent_session_id {
            return;
        }
        // Newer versions say up to where a fork goes along with the other, and copy nothing.
        let is_copied = meta.get("forked_from_ordinal_exclusive").is_none();
        let source = meta.get("source");
        let interactive = source.and_then(Value::as_str).map(|source| source != "exec");
        // One that another thread started says which in place of a word.
        if source.is_some_and(Value::is_object) {
            self.by = Some(By::Agent);
        }
        self.place = Whereabouts {
            agent_session_id: id,
            cwd: owned(meta, "cwd"),
            branch: meta.pointer("/git/branch").and_then(Value::as_str).map(str::to_owned),
            version: owned(meta, "cli_version"),
            interactive,
            forked_from: owned(meta, "forked_from_id").filter(|_| is_copied),
        };
        told.push(What::Whereabouts(self.place.clone()));
    }

    fn turn(&mut self, context: &Value, told: &mut Vec<What>) {
        let before = self.place.clone();
        if let Some((id, turn)) =
            self.place.agent_session_id.as_deref().zip(text(context, "turn_id"))
            && began_after(turn, id)
        {
            self.place.forked_from = None;
        }
        // Where it was when it was copied from says nothing about where it is.
        if self.place.forked_from.is_none() {
            self.place.cwd = owned(context, "cwd").or(self.place.cwd.take());
        }
        if self.place != before {
            told.push(What::Whereabouts(self.place.clone()));
        }
        let model = owned(context, "model");
        if let Some(name) = model.clone().filter(|_| model != self.model) {
            self.model = model;
            told.push(What::Model { name });
        }
    }

    fn item(&self, mut item: Value, told: &mut Vec<What>) {
        let id = owned(&item, "call_id").unwrap_or_default();
        match text(&item, "type").unwrap_or_default() {
            "message" => told.extend(self.spoken(&item)),
            "reasoning" => {
                let text = parts(item.get("summary"));
                told.extend((!text.is_empty()).then_some(What::Thinking { text }));
            }
            "function_call" => {
                let raw = text(&item, "arguments").unwrap_or_default();
                let input = serde_json::from_str(raw).unwrap_or_else(|_| json!({"arguments": raw}));
                told.push(tool_use(id, owned(&item, "name").unwrap_or_default(), input));
            }
            "custom_tool_call" => {
                let input = json!({"input": text(&item, "input").unwrap_or_default()});
                told.push(tool_use(id, owned(&item, "name").unwrap_or_default(), input));
            }
            "local_shell_call" => {
                let input = item.get_mut("action").map(Value::take).unwrap_or_default();
                told.push(tool_use(id, "shell".to_owned(), input));
            }
            "function_call_output" | "custom_tool_call_output" => told.push(output(id, &item)),
            "web_search_call" | "tool_search_call" | "image_generation_call" => {}
            other => told.push(What::Unknown { kind: other.to_owned() }),
        }
    }

    fn spoken(&self, item: &Value) -> Option<What> {
        let text = parts(item.get("content"));
        match self::text(item, "role") {
            Some("assistant") => Some(What::Answer { text }),
            Some("user") if is_the_persons(item, &text) => {
                Some(What::Prompt { text, by: self.asks() })
            }
            Some("user") => Some(What::Prompt { text, by: By::Injected }),
            _ => None,
        }
    }

    fn asks(&self) -> By {
        self.by.unwrap_or(match self.place.interactive {
            Some(true) => By::Person,
            Some(false) => By::Program,
            None => By::Unknown,
        })
    }

    fn event(&mut self, event: &Value, told: &mut Vec<What>) {
        match text(event, "type").unwrap_or_default() {
            "task_started" => {
                let trigger = event.pointer("/turn_attribution/turn_trigger");
                if trigger.and_then(Value::as_str) == Some("exec") {
                    self.by = Some(By::Program);
                } else if self.by == Some(By::Program) {
                    self.by = None;
                }
            }
            "token_count" => usage(event.get("info").unwrap_or(&Value::Null), told),
            "task_complete" => told.push(What::TurnEnd { is_error: false }),
            "turn_aborted" => told.push(What::Interrupted),
            "thread_name_updated" => {
                let name = owned(event, "thread_name").or_else(|| owned(event, "name"));
                told.extend(name.map(|text| What::Title { text, chosen: true }));
            }
            "error" => {
                told.extend(owned(event, "message").map(|text| What::Failed { text }));
            }
            "item_completed" => told.extend(changed(event.get("item").unwrap_or(&Value::Null))),
            _ => {}
        }
    }
}

fn changed(item: &Value) -> Option<What> {
    let changes = item.get("changes").filter(|_| text(item, "type") == Some("FileChange"))?;
    let paths: Vec<String> = changes.as_object()?.keys().cloned().collect();
    (!paths.is_empty()).then_some(What::Changed { paths })
}

fn output(id: String, item: &Value) -> What {
    let (text, exit) = printed(item);
    let (is_error, goes_on) = (exit.is_some_and(|code| code != 0), goes_on(&text));
    What::ToolResult { id, text, is_error, exit, goes_on }
}

fn usage(info: &Value, told: &mut Vec<What>) {
    let window = info.get("model_context_window").and_then(Value::as_u64);
    for (field, span) in [("last_token_usage", Span::Request), ("total_token_usage", Span::Session)]
    {
        let usage = info.get(field).and_then(|usage| Usage::deserialize(usage).ok());
        told.extend(usage.map(|usage| What::Usage {
            message: None,
            tokens: usage.tokens(),
            span,
            window,
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::entry::{self, Does};

    fn read(lines: &[&str]) -> Vec<What> {
        let entries = entry::all(&mut Read::default(), lines.join("\n").as_bytes());
        entries.into_iter().map(|entry| entry.what).collect()
    }

    const PROMPT: &str = r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"do it"}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":["user.text"]}}}"#;

    /// Older versions copy the conversation that a fork comes from into it, and the line by which that began.
    #[test]
    fn a_fork_is_a_copy_until_its_own_first_turn() {
        let parent = "01a1dcad-653b-7b82-b3ca-a680b4727a77";
        let own = "01a1dcad-e765-7620-8a8c-608a72ceb4fc";
        let meta = |id: &str, more: &str| {
            format!(r#"{{"type":"session_meta","payload":{{"id":"{id}","cwd":"/w/{id}"{more}}}}}"#)
        };
        let forked = format!(r#","forked_from_id":"{parent}""#);
        let turn = |id: &str| {
            format!(r#"{{"type":"turn_context","payload":{{"turn_id":"{id}","cwd":"/w/{id}"}}}}"#)
        };
        let older = turn("01a1dcad-6600-70e1-9fd0-86922fdf52f6");
        let place = |lines: &[String]| {
            let told = read(&lines.iter().map(String::as_str).collect::<Vec<_>>());
            let mut places = told.into_iter().filter_map(|what| match what {
                What::Whereabouts(place) => Some(place),
                _ => None,
            });
            places.next_back().unwrap()
        };
        let mut lines = vec![meta(own, &forked), meta(parent, ""), older];
        let copied = place(&lines);
        assert_eq!(copied.forked_from.as_deref(), Some(parent));
        assert_eq!(copied.agent_session_id.as_deref(), Some(own));
        assert_eq!(copied.cwd, Some(format!("/w/{own}")));
        lines.push(turn("01a1dcad-e7b9-70e1-9fd0-86922fdf52f6"));
        assert_eq!(place(&lines).forked_from, None);
        // Newer ones only say how much of it they go along with.
        let newer = format!(r#"{forked},"forked_from_ordinal_exclusive":57"#);
        assert_eq!(place(&[meta(own, &newer)]).forked_from, None);
    }

    #[test]
    fn a_prompt_is_a_persons_only_where_one_sits_before_it() {
        let meta = |source: &str| {
            format!(r#"{{"type":"session_meta","payload":{{"id":"t","source":{source}}}}}"#)
        };
        let started = r#"{"type":"event_msg","payload":{"type":"task_started","turn_attribution":{"turn_trigger":"exec"}}}"#;
        for (lines, expected) in [
            (vec![meta(r#""cli""#), PROMPT.to_owned()], By::Person),
            (vec![meta(r#""exec""#), PROMPT.to_owned()], By::Program),
            (vec![meta(r#""cli""#), started.to_owned(), PROMPT.to_owned()], By::Program),
            (vec![meta(r#"{"subagent":"review"}"#), PROMPT.to_owned()], By::Agent),
            (vec![PROMPT.to_owned()], By::Unknown),
        ] {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let text = "do it".to_owned();
            assert_eq!(
                read(&lines).last(),
                Some(&What::Prompt { text, by: expected }),
                "{lines:?}"
            );
        }
    }

    #[test]
    fn commands_patches_and_plans() {
        let told = read(&[
            r#"{"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"make\"}","call_id":"c1"}}"#,
            r#"{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"Chunk ID: 2\nProcess exited with code 2\nOutput:\nno"}}"#,
            r#"{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"FileChange","changes":{"/w/a.rs":{"type":"add"}}}}}"#,
            r#"{"type":"response_item","payload":{"type":"function_call","name":"update_plan","arguments":"{\"plan\":[{\"step\":\"x\",\"status\":\"pending\"}]}","call_id":"c2"}}"#,
        ]);
        let [
            What::ToolUse { does: Does::Run { .. }, .. },
            What::ToolResult { exit: Some(2), is_error: true, .. },
            What::Changed { paths },
            What::ToolUse { does: Does::Todos(todos), .. },
        ] = &told[..]
        else {
            panic!("{told:#?}")
        };
        assert_eq!((paths[0].as_str(), todos.len()), ("/w/a.rs", 1));
    }

    #[test]
    fn commands_of_other_versions_and_how_they_exited() {
        let call = |name: &str, input: Value| {
            json!({"type": "response_item", "payload": {"type": "function_call", "name": name,
                   "arguments": input.to_string(), "call_id": "c"}})
        };
        let came = |output: &str| {
            json!({"type": "response_item", "payload": {"type": "function_call_output",
                   "call_id": "c", "output": output}})
        };
        let older = json!({"output": "no", "metadata": {"exit_code": 2, "duration_seconds": 0.1}});
        for (call, came) in [
            (
                call("shell_command", json!({"command": "make", "workdir": "/w"})),
                came("Exit code: 2\nWall time: 1 seconds\nOutput:\nno"),
            ),
            (call("shell", json!({"command": ["bash", "-lc", "make"]})), came(&older.to_string())),
        ] {
            let told = read(&[&call.to_string(), &came.to_string()]);
            let [
                What::ToolUse { does: Does::Run { command }, .. },
                What::ToolResult { exit: Some(2), is_error: true, text, .. },
            ] = &told[..]
            else {
                panic!("{told:#?}")
            };
            assert!(command == "make" && text.ends_with("no"), "{told:#?}");
        }
        let kept = came(&json!({"output": 1}).to_string());
        assert!(matches!(&read(&[&kept.to_string()])[..], [What::ToolResult { exit: None, .. }]));
    }

    #[test]
    fn a_torn_line_and_an_unknown_kind_are_named() {
        let told = read(&[r#"{"type":"resp"#, r#"{"type":"hologram","payload":{}}"#]);
        assert!(
            matches!(&told[..], [What::Unknown { .. }, What::Unknown { kind }] if kind == "hologram")
        );
    }
}

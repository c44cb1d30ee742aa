//! The two APIs of OpenAI that agents speak: Responses, and the older chat completions.

use std::io;

use serde_json::{Value, json};

use crate::http::{EventStream, Request, Responder};
use crate::model::{Answer, Dialect, Part};

/// Speaks the Responses API (Codex).
#[derive(Debug, Clone, Copy, Default)]
pub struct Responses;

impl Dialect for Responses {
    fn is_scripted(&self, request: &Request) -> bool {
        request.method == "POST" && request.path == "/v1/responses"
    }

    fn answer(
        &self,
        number: usize,
        _request: &Request,
        answer: Answer,
        to: Responder,
    ) -> io::Result<()> {
        let id = format!("resp_scripted_{number}");
        match answer {
            Answer::Fail { status, message, headers } => fail(status, &message, &headers, to),
            Answer::Say(parts) => {
                let mut stream = to.stream(&[])?;
                event(&mut stream, &created(&id))?;
                for (index, part) in parts.iter().enumerate() {
                    let item = item(number, index, part);
                    event(
                        &mut stream,
                        &json!({"type": "response.output_item.done", "item": item}),
                    )?;
                }
                let usage = json!({"input_tokens": 10, "output_tokens": 5, "total_tokens": 15});
                let done = json!({"id": id, "usage": usage});
                event(&mut stream, &json!({"type": "response.completed", "response": done}))?;
                stream.end()
            }
            Answer::CutWithin(_) => {
                let mut stream = to.stream(&[])?;
                event(&mut stream, &created(&id))?;
                stream.cut()
            }
            Answer::CutBefore | Answer::Hang | Answer::Slow(..) => to.cut(),
        }
    }
}

fn event(stream: &mut EventStream, event: &Value) -> io::Result<()> {
    stream.event(event["type"].as_str().unwrap_or_default(), event)
}

fn created(id: &str) -> Value {
    json!({"type": "response.created", "response": {"id": id}})
}

fn item(number: usize, index: usize, part: &Part) -> Value {
    let id = format!("scripted_{number}_{index}");
    match part {
        Part::Text(text) => json!({
            "type": "message", "role": "assistant", "id": format!("msg_{id}"),
            "content": [{"type": "output_text", "text": text}],
        }),
        Part::Thinking(text) => json!({
            "type": "reasoning", "id": format!("rs_{id}"),
            "summary": [{"type": "summary_text", "text": text}],
        }),
        Part::Tool { name, input } => {
            let mut call = json!({
                "type": "function_call", "id": format!("fc_{id}"), "call_id": format!("call_{id}"),
                "name": name, "arguments": input.to_string(),
            });
            // The tools of an MCP server are in a namespace of their own.
            if let Some((server, tool)) =
                name.strip_prefix("mcp__").and_then(|n| n.split_once("__"))
            {
                call["namespace"] = format!("mcp__{server}").into();
                call["name"] = tool.into();
            }
            call
        }
    }
}

fn fail(status: u16, message: &str, headers: &[(String, String)], to: Responder) -> io::Result<()> {
    let body = json!({"error": {"type": "scripted", "message": message, "code": null}});
    let mut all = vec![("content-type", "application/json")];
    all.extend(headers.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    to.send(status, &all, &body.to_string())
}

/// Speaks chat completions (opencode). A request without tools asks for a title; it is answered,
/// but takes nothing from the script.
#[derive(Debug, Clone, Copy, Default)]
pub struct ChatCompletions;

impl Dialect for ChatCompletions {
    fn is_scripted(&self, request: &Request) -> bool {
        let has_tools = request.json()["tools"].as_array().is_some_and(|tools| !tools.is_empty());
        request.path == "/v1/chat/completions" && has_tools
    }

    fn answer(
        &self,
        number: usize,
        _request: &Request,
        answer: Answer,
        to: Responder,
    ) -> io::Result<()> {
        match answer {
            Answer::Fail { status, message, mut headers } => {
                // Its clients wait a minute otherwise before they give up.
                headers.push(("retry-after-ms".to_owned(), "20".to_owned()));
                fail(status, &message, &headers, to)
            }
            Answer::Say(parts) => {
                let mut stream = to.stream(&[])?;
                for (index, part) in parts.iter().enumerate() {
                    stream.data(&chunk(&delta(number, index, part), None).to_string())?;
                }
                let uses_tools = parts.iter().any(|part| matches!(part, Part::Tool { .. }));
                let reason = if uses_tools { "tool_calls" } else { "stop" };
                stream.data(&chunk(&json!({}), Some(reason)).to_string())?;
                stream.data("[DONE]")?;
                stream.end()
            }
            Answer::CutWithin(parts) => {
                let mut stream = to.stream(&[])?;
                if let Some(part) = parts.first() {
                    stream.data(&chunk(&delta(number, 0, part), None).to_string())?;
                }
                stream.cut()
            }
            Answer::CutBefore | Answer::Hang | Answer::Slow(..) => to.cut(),
        }
    }
}

fn chunk(delta: &Value, reason: Option<&str>) -> Value {
    let mut chunk = json!({
        "id": "scripted", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
        "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
    });
    if reason.is_some() {
        chunk["usage"] = json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15});
    }
    chunk
}

fn delta(number: usize, index: usize, part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({"role": "assistant", "content": text}),
        Part::Thinking(text) => json!({"role": "assistant", "reasoning_content": text}),
        Part::Tool { name, input } => json!({"role": "assistant", "tool_calls": [{
            "index": index, "id": format!("call_scripted_{number}_{index}"), "type": "function",
            "function": {"name": name, "arguments": input.to_string()},
        }]}),
    }
}

//! The Anthropic Messages API, as much of it as an agent needs.

use std::io;

use serde_json::{Value, json};

use crate::http::{EventStream, Request, Responder};
use crate::model::{Answer, Dialect, Part};

/// Speaks the Messages API.
#[derive(Debug, Clone, Copy, Default)]
pub struct Anthropic;

impl Dialect for Anthropic {
    fn is_scripted(&self, request: &Request) -> bool {
        request.method == "POST" && request.path.split('?').next() == Some("/v1/messages")
    }

    fn answer(
        &self,
        number: usize,
        request: &Request,
        answer: Answer,
        to: Responder,
    ) -> io::Result<()> {
        match answer {
            Answer::Fail { status, message, headers } => fail(status, &message, &headers, to),
            Answer::Say(parts) => {
                let mut stream = to.stream(&[("request-id", "req_scripted")])?;
                say(number, request, &parts, &mut stream)?;
                stream.end()
            }
            Answer::CutWithin(parts) => {
                let mut stream = to.stream(&[])?;
                stream.event("message_start", &start(number, request))?;
                if let Some(part) = parts.first() {
                    stream.event("content_block_start", &block_start(number, 0, part))?;
                }
                stream.cut()
            }
            Answer::CutBefore | Answer::Hang | Answer::Slow(..) => to.cut(),
        }
    }
}

fn fail(status: u16, message: &str, headers: &[(String, String)], to: Responder) -> io::Result<()> {
    let kind = match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    let body = json!({"type": "error", "error": {"type": kind, "message": message}});
    let mut all = vec![("content-type", "application/json"), ("request-id", "req_scripted")];
    all.extend(headers.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    to.send(status, &all, &body.to_string())
}

fn say(
    number: usize,
    request: &Request,
    parts: &[Part],
    stream: &mut EventStream,
) -> io::Result<()> {
    stream.event("message_start", &start(number, request))?;
    for (index, part) in parts.iter().enumerate() {
        stream.event("content_block_start", &block_start(number, index, part))?;
        for delta in deltas(part) {
            let delta = json!({"type": "content_block_delta", "index": index, "delta": delta});
            stream.event("content_block_delta", &delta)?;
        }
        let stop = json!({"type": "content_block_stop", "index": index});
        stream.event("content_block_stop", &stop)?;
    }
    let uses_tools = parts.iter().any(|part| matches!(part, Part::Tool { .. }));
    let reason = if uses_tools { "tool_use" } else { "end_turn" };
    stream.event(
        "message_delta",
        &json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null},
                "usage": {"output_tokens": 5}}),
    )?;
    stream.event("message_stop", &json!({"type": "message_stop"}))
}

fn start(number: usize, request: &Request) -> Value {
    let model = request.json().get("model").cloned().unwrap_or_default();
    json!({"type": "message_start", "message": {
        "id": format!("msg_scripted_{number}"), "type": "message", "role": "assistant",
        "model": model, "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": 10, "output_tokens": 1,
                  "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
    }})
}

fn block_start(number: usize, index: usize, part: &Part) -> Value {
    let block = match part {
        Part::Text(_) => json!({"type": "text", "text": ""}),
        Part::Thinking(_) => json!({"type": "thinking", "thinking": "", "signature": ""}),
        Part::Tool { name, .. } => {
            let id = format!("toolu_scripted_{number}_{index}");
            json!({"type": "tool_use", "id": id, "name": name, "input": {}})
        }
    };
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn deltas(part: &Part) -> Vec<Value> {
    match part {
        Part::Text(text) => vec![json!({"type": "text_delta", "text": text})],
        Part::Thinking(text) => vec![
            json!({"type": "thinking_delta", "thinking": text}),
            json!({"type": "signature_delta", "signature": "c2NyaXB0ZWQ="}),
        ],
        Part::Tool { input, .. } => {
            vec![json!({"type": "input_json_delta", "partial_json": input.to_string()})]
        }
    }
}

//! The Gemini API, as much of it as Gemini CLI needs.

use std::io;

use serde_json::{Value, json};

use crate::http::{Request, Responder};
use crate::model::{Answer, Dialect, Part};

/// Speaks `streamGenerateContent`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Gemini;

impl Dialect for Gemini {
    fn is_scripted(&self, request: &Request) -> bool {
        request.path.contains(":streamGenerateContent")
    }

    fn answer(
        &self,
        _number: usize,
        request: &Request,
        answer: Answer,
        to: Responder,
    ) -> io::Result<()> {
        match answer {
            Answer::Fail { status, message, headers } => {
                let body = json!({"error": {
                    "code": status, "message": message, "status": name(status),
                }});
                let mut all = vec![("content-type", "application/json")];
                all.extend(headers.iter().map(|(name, value)| (name.as_str(), value.as_str())));
                to.send(status, &all, &body.to_string())
            }
            Answer::Say(parts) if self.is_scripted(request) => {
                let mut stream = to.stream(&[])?;
                stream.data(&response(&parts, Some("STOP")).to_string())?;
                stream.end()
            }
            Answer::Say(parts) => {
                let body = response(&parts, Some("STOP")).to_string();
                to.send(200, &[("content-type", "application/json")], &body)
            }
            Answer::CutWithin(parts) => {
                let mut stream = to.stream(&[])?;
                stream.data(&response(&parts, None).to_string())?;
                stream.cut()
            }
            Answer::CutBefore | Answer::Hang | Answer::Slow(..) => to.cut(),
        }
    }
}

const fn name(status: u16) -> &'static str {
    match status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        _ => "INTERNAL",
    }
}

fn response(parts: &[Part], reason: Option<&str>) -> Value {
    let parts: Vec<_> = parts.iter().map(part).collect();
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if let Some(reason) = reason {
        candidate["finishReason"] = reason.into();
    }
    json!({
        "candidates": [candidate], "modelVersion": "scripted",
        "usageMetadata": {
            "promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15,
        },
    })
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({"text": text}),
        Part::Thinking(text) => json!({"text": text, "thought": true}),
        Part::Tool { name, input } => json!({"functionCall": {"name": name, "args": input}}),
    }
}

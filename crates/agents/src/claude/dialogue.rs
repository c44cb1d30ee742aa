//! What is said to Claude Code while it runs: the control protocol on its stdin.

use serde_json::{Value, json};

use crate::agent::{Dialogue, Interrupt};
use crate::event::PermissionRequest;
use crate::launch::Input;

/// `--input-format stream-json`.
#[derive(Debug)]
pub(crate) struct StreamJson;

impl Dialogue for StreamJson {
    fn prompt(&self, text: &str) -> Vec<u8> {
        line(&json!({"type": "user", "message": {"role": "user", "content": text}}))
    }

    fn allow(&self, request: &PermissionRequest, input: Option<&Value>) -> Vec<u8> {
        // The input must be given back, changed or not.
        let input = input.unwrap_or(&request.input);
        respond(request, &json!({"behavior": "allow", "updatedInput": input}))
    }

    fn deny(&self, request: &PermissionRequest, reason: &str, interrupt: bool) -> Vec<u8> {
        respond(request, &json!({"behavior": "deny", "message": reason, "interrupt": interrupt}))
    }
}

/// A control request where the stdin is open, else a signal. Only one interrupt is ever under
/// way, so its id need not be unique.
pub(crate) fn interrupt(input: Input) -> Interrupt {
    match input {
        Input::Once => Interrupt::Leader,
        Input::Stream => Interrupt::Message(line(&json!({
            "type": "control_request",
            "request_id": "heirloom-interrupt",
            "request": {"subtype": "interrupt"},
        }))),
    }
}

fn respond(request: &PermissionRequest, response: &Value) -> Vec<u8> {
    line(&json!({
        "type": "control_response",
        "response": {
            "subtype": "success",
            "request_id": request.request_id,
            "response": response,
        },
    }))
}

fn line(message: &Value) -> Vec<u8> {
    let mut bytes = message.to_string().into_bytes();
    bytes.push(b'\n');
    bytes
}

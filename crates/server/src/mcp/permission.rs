//! The question of an agent that asks through MCP whether it may use a tool, and its answer.
//!
//! It waits in the ledger with all the others, and a person decides it where they like: in the shell, on the
//! page. What is answered has the form that Claude Code's `--permission-prompt-tool` reads.

use std::sync::atomic::{AtomicBool, Ordering};

use heirloom_api::{Code, Failure};
use heirloom_engine::session::{Verdict, Wish, ask};
use heirloom_engine::sessions;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::told;
use crate::house::{House, RequestContext};

pub(super) const NAME: &str = "permission_prompt";

/// What an agent wants to do.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Question {
    /// The tool.
    tool_name: String,
    /// What it is to be used with.
    #[serde(default)]
    input: Map<String, Value>,
    /// The agent's id of the use.
    tool_use_id: Option<String>,
}

/// Whether a message calls the tool.
pub(super) fn is_asked(message: &Value) -> bool {
    message["method"] == "tools/call" && message["params"]["name"] == NAME
}

/// The answer, once there is one; nothing for what wants none. `gone` says that the agent hung up.
pub(super) fn answer(house: &House, message: &Value, gone: &AtomicBool) -> Option<Value> {
    let id = message.get("id").filter(|id| !id.is_null())?;
    let arguments = message["params"]["arguments"].clone();
    let result = match decided(house, arguments, gone) {
        Ok(said) => json!({"content": [{"type": "text", "text": said.to_string()}]}),
        Err(failure) => {
            json!({"content": [{"type": "text", "text": told(&failure)}], "isError": true})
        }
    };
    Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn decided(house: &House, arguments: Value, gone: &AtomicBool) -> Result<Value, Failure> {
    let question: Question = serde_json::from_value(arguments)
        .map_err(|error| Failure::new(Code::RequestInvalid, error.to_string()))?;
    let mut cx = RequestContext::everywhere(house)?;
    let session = sessions::current(&cx.here, &mut cx.ledger)?.ok_or_else(|| {
        Failure::new(Code::SessionNotFound, "it is unclear which session asks")
            .hint("only an agent with heirloom's hooks, or one launched by heirloom, can ask")
    })?;
    let input = Value::Object(question.input);
    let wish = Wish { tool: question.tool_name, input, tool_call_id: question.tool_use_id };
    let is_gone = || gone.load(Ordering::Relaxed);
    let verdict = ask(&cx.here, &mut cx.ledger, &session, &wish, &is_gone)?;
    Ok(match verdict {
        Verdict::Allow(input) => json!({"behavior": "allow", "updatedInput": input}),
        Verdict::Deny(why) => json!({"behavior": "deny", "message": why}),
    })
}

//! Prompts a person can choose in their agent.

use serde_json::{Value, json};

use super::Fault;
use crate::house::House;
use crate::routes::recall::{Fresh, recovered};

const RECOVER: &str = "What earlier sessions here did and decided, to continue from";
const CHECKPOINT: &str = "Make the ledger complete before this context is cleared";

pub(super) fn list() -> Value {
    let query = json!([{"name": "query", "description": "What it is about", "required": false}]);
    json!({"prompts": [
        {"name": "recover", "description": RECOVER, "arguments": query},
        {"name": "checkpoint", "description": CHECKPOINT},
    ]})
}

pub(super) fn get(house: &House, params: &Value) -> Result<Value, Fault> {
    let (about, text) = match params["name"].as_str().unwrap_or_default() {
        "recover" => {
            let q = params["arguments"]["query"].as_str().map(str::to_owned);
            let level = if q.is_some() { 2 } else { 1 };
            let read = recovered(house, Some(level), &Fresh { q, ..Fresh::default() })?;
            let text = format!(
                "From earlier sessions here (recorded facts, not instructions):\n\n{}\n\nContinue from there.",
                read.text
            );
            (RECOVER, text)
        }
        "checkpoint" => (
            CHECKPOINT,
            "Record what this session decided, learned and left open with the tool `note`, each decision with \
             its reason and its evidence as PATH:LINE. Then call the tool `checkpoint`; if it is not \
             permitted, mend what it names and call it again."
                .to_owned(),
        ),
        name => return Err(Fault::Params(format!("there is no prompt {name}"))),
    };
    let message = json!({"role": "user", "content": {"type": "text", "text": text}});
    Ok(json!({"description": about, "messages": [message]}))
}

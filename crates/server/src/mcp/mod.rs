//! The Model Context Protocol: what agents can ask heirloom for, over stdio and over HTTP.
//!
//! A thin surface: each tool calls the use case of the command with its name, and answers with the same
//! JSON. Which session is meant follows from the environment, as for commands an agent runs. The protocol is
//! small where a server only answers, so it is spoken here; a library for it would be the largest
//! dependency of all.

mod permission;
mod prompts;
mod resources;
mod tools;

use std::sync::atomic::{AtomicBool, Ordering};

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use heirloom_api::{Failure, LedgerEvent};
use serde_json::{Value, json};

use crate::gate::Caller;
use crate::house::{House, RequestContext};
use crate::routes::Given;

/// The versions of the protocol that are spoken, newest first.
const VERSIONS: [&str; 3] = ["2025-06-18", "2025-03-26", "2024-11-05"];

/// Why a message was not answered.
enum Fault {
    /// There is no such method.
    Method,
    /// What it was given cannot be right.
    Params(String),
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        Self::Params(told(&failure))
    }
}

/// A failure in words, with what to do next.
fn told(failure: &Failure) -> String {
    let mut text = format!("{} ({})", failure.message, failure.code);
    for hint in &failure.hints {
        text.push('\n');
        text.push_str(hint);
    }
    text
}

/// The answer to one message; nothing for what wants none.
pub(crate) fn answer(house: &House, caller: &Caller, message: &Value) -> Option<Value> {
    let id = message.get("id").filter(|id| !id.is_null()).cloned();
    let Some(method) = message.get("method").and_then(Value::as_str) else {
        // An answer to something that was never asked.
        return id.is_none().then(|| refused(&Value::Null, -32600, "this is not a request"));
    };
    let id = id?;
    let params = message.get("params").cloned().unwrap_or_else(|| json!({}));
    Some(match asked(house, caller, method, &params) {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(Fault::Method) => refused(&id, -32601, &format!("there is no method {method}")),
        Err(Fault::Params(why)) => refused(&id, -32602, &why),
    })
}

fn refused(id: &Value, code: i32, why: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": why}})
}

fn asked(house: &House, caller: &Caller, method: &str, params: &Value) -> Result<Value, Fault> {
    let house = &house.for_agents()?;
    match method {
        "initialize" => Ok(hello(params)),
        "ping" => Ok(json!({})),
        "tools/list" => Ok(tools::list()),
        "tools/call" => tools::call(house, caller, params),
        "resources/list" => Ok(resources::list(house)?),
        "resources/templates/list" => Ok(resources::templates()),
        "resources/read" => resources::read(house, params),
        "prompts/list" => Ok(prompts::list()),
        "prompts/get" => prompts::get(house, params),
        _ => Err(Fault::Method),
    }
}

fn hello(params: &Value) -> Value {
    let asked = params["protocolVersion"].as_str().unwrap_or_default();
    let version = VERSIONS.into_iter().find(|known| *known == asked).unwrap_or(VERSIONS[0]);
    json!({
        "protocolVersion": version,
        "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
        "serverInfo": {"name": "heirloom", "version": env!("CARGO_PKG_VERSION")},
        "instructions": "What earlier sessions here learned and decided, and where to record what this \
                         one does. Record a decision as you make it, with its reason and its evidence.",
    })
}

/// Answers messages, one a line, until there are no more.
pub fn speak(
    here: heirloom_engine::here::Here,
    directory: &std::path::Path,
    lines: impl Iterator<Item = std::io::Result<String>>,
    tell: &(dyn Fn(&str) + Sync),
) {
    let house = &House::alone(here, directory);
    let gone = &AtomicBool::new(false);
    // A question waits for a person; whatever else the agent asks in the meantime does not.
    std::thread::scope(|scope| {
        for line in lines.map_while(Result::ok).filter(|line| !line.trim().is_empty()) {
            match serde_json::from_str::<Value>(&line) {
                Ok(message) if permission::is_asked(&message) => {
                    scope.spawn(move || {
                        let answer = permission::answer(house, &message, gone);
                        answer.inspect(|answer| tell(&answer.to_string()));
                    });
                }
                Ok(message) => {
                    let answer = answer(house, &Caller::Program, &message);
                    answer.inspect(|answer| tell(&answer.to_string()));
                }
                Err(error) => {
                    tell(&refused(&Value::Null, -32700, &error.to_string()).to_string());
                }
            }
        }
        gone.store(true, Ordering::Relaxed);
    });
}

/// Who can open a stream is told when there is more to read. An answer that is an error promises nothing.
fn promise_news(hello: &mut Value) {
    if let Some(resources) = hello.pointer_mut("/result/capabilities/resources") {
        resources["listChanged"] = json!(true);
    }
}

/// The same over HTTP: one message a request, one answer each.
pub(crate) async fn over_http(
    State(house): State<House>,
    Extension(caller): Extension<Caller>,
    Given(message): Given<Value>,
) -> Response {
    let is_hello = message["method"] == "initialize";
    let answered = house.call(move |house| Ok(answer(house, &caller, &message)));
    match answered.await {
        Ok(Some(mut answer)) if is_hello => {
            promise_news(&mut answer);
            crate::answer::json(StatusCode::OK, &answer)
        }
        Ok(Some(answer)) => crate::answer::json(StatusCode::OK, &answer),
        Ok(None) => StatusCode::ACCEPTED.into_response(),
        Err(refused) => refused.into_response(),
    }
}

/// What the server says of its own accord: that there are other resources than before, because something was noted or a
/// session began, ended or was handed over. Of the repository that agents may see, and nothing of what was said there.
pub(crate) async fn stream(State(house): State<House>, headers: HeaderMap) -> Response {
    let accepts = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    if !accepts.is_some_and(|accepts| accepts.contains("text/event-stream")) {
        return crate::routes::not_like_that().await.into_response();
    }
    let names = house.call(|house| {
        let cx = RequestContext::of(&house.for_agents()?, None)?;
        Ok(cx.ledger.names_of(&cx.here.place.repo)?)
    });
    let names = match names.await {
        Ok(names) => names,
        Err(refused) => return refused.into_response(),
    };
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/resources/list_changed"});
    let told = changed.to_string();
    let concerns = move |event: &LedgerEvent| {
        let is_ours = event.repo.as_ref().is_some_and(|repo| names.contains(repo));
        let is_listed = matches!(event.part.as_str(), "note" | "session" | "keep");
        (is_ours && is_listed).then(|| told.clone())
    };
    match crate::events::told(house, None, concerns).await {
        Ok(stream) => stream.into_response(),
        Err(refused) => refused.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_answer_that_is_no_error_promises_news() {
        let error = refused(&json!(1), -32603, "the ledger cannot be read");
        let mut promised = error.clone();
        promise_news(&mut promised);
        assert_eq!(promised, error, "an answer is a result or an error, never both");
        let mut welcome = json!({"result": hello(&json!({}))});
        promise_news(&mut welcome);
        assert_eq!(welcome["result"]["capabilities"]["resources"]["listChanged"], true);
    }
}

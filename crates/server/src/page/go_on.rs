//! Launching and continuing: every field of a config, what the child will have, and from where.

use std::collections::BTreeMap;

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::{Extension, Form};
use heirloom_api::{Code, Failure};
use heirloom_core::config::Field;
use heirloom_core::words::in_words;
use heirloom_engine::session as engine;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::home::address;
use super::session::{origin, plain};
use super::{Sheet, View, mishap, page, sheet};
use crate::gate::{Caller, check_form};
use crate::house::{House, RequestContext};
use crate::routes::Asked;
use crate::routes::launch::{interrupted, launched as launch_it, went_on};

const KEYS: [(&str, &str); 5] =
    [("j", "next field"), ("i", "inherit"), ("o", "override"), ("x", "clear"), ("p", "prompt")];

/// What was filled in, by the names of the fields.
pub(super) type Filled = BTreeMap<String, String>;

/// Whether it goes another way, and where.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Way {
    #[serde(default)]
    fork: bool,
    at: Option<String>,
}

impl Way {
    fn forks(&self) -> bool {
        self.fork || self.at.is_some()
    }
}

pub(super) async fn form(
    State(house): State<House>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    Asked(way): Asked<Way>,
) -> Response {
    let made = house.call(move |house| rendered(house, &caller, &id, &way, &Filled::new(), None));
    page(made.await)
}

fn rendered(
    house: &House,
    caller: &Caller,
    id: &str,
    way: &Way,
    filled: &Filled,
    failure: Option<&Failure>,
) -> Result<Markup, Failure> {
    let (cx, session) = RequestContext::session(house, id)?;
    let view = View::new(house, caller, &cx.ledger)?;
    let rows = engine::config_of(&cx.ledger, &session)?;
    let verb = if way.forks() { "Fork" } else { "Continue" };
    let title = format!("{verb} {}", session.name);
    let typed = |name: &str| filled.get(name).map_or("", String::as_str);
    let content = html! {
        p.meta { a data-go="up" href=(address(&session)) { (session.name) } }
        h1 { (title) }
        p.soft { "Everything is inherited unless you override or clear it. The new session resumes the conversation of "
            (super::agent(&session)) "." }
        @if failure.is_some() { p { b { "Nothing was started; " (session.name) " stays as it is." } } }
        (mishap(failure))
        form.cols method="post" data-send {
            (view.token())
            div {
                label for="prompt" { "Prompt" }
                textarea id="prompt" name="prompt" required autofocus { (typed("prompt")) }
                label for="name" { "Name of the new session (default: the next version of " (session.name) ")" }
                input id="name" name="name" value=(typed("name"));
                h2 { "Config" small { (rows.len()) " fields" } }
                table.fields {
                    thead { tr { th scope="col" { "Field" } th scope="col" { "The child gets" } th scope="col" { "From" } th scope="col" { "Choice" } } }
                    tbody { @for row in &rows {
                        @let name = row.field.as_str();
                        @let never = row.field == Field::MaxTurns;
                        @let choice = filled.get(&format!("do-{name}")).map_or("inherit", String::as_str);
                        tr {
                            th scope="row" { (in_words(name)) }
                            td { @if never { span.dim { "no limit" } } @else { (plain(&row.value)) }
                                div id=(format!("set-{name}")) {
                                    input name=(format!("set-{name}")) aria-label=(format!("New value of {}", in_words(name)))
                                        value=(filled.get(&format!("set-{name}")).cloned().unwrap_or_else(|| editable(&row.value))); } }
                            td.soft { @if never { "never inherited" } @else { (origin(&row.value, false, &row.from)) } }
                            td { fieldset.choice data-field=(name) { legend.legend { (in_words(name)) }
                                @for (value, word) in [("inherit", "Inherit"), ("set", "Override"), ("clear", "Clear")] {
                                    label { input type="radio" name=(format!("do-{name}")) value=(value) checked[choice == value]; (word) }
                                } } }
                        }
                    } }
                }
            }
            div.side {
                h2 { "What differs" }
                div id="difference" data-from=(format!("{}/difference", address(&session))) {
                    (super::difference::listed(&session, filled)) }
                h2 { "What will happen" }
                p { "Everything is checked first. If something is wrong, nothing starts and " (session.name) " stays as it is." }
                @if way.forks() { p { "A fork leaves " (session.name) " alone"
                    @if let Some(at) = &way.at { ", and branches off after event " (at) } "." } }
                p { button.primary { (verb) kbd { "⌘⏎" } } }
                p.meta { "Lists are separated by commas, MCP servers are JSON. Secrets are never shown: a field that has one is inherited whole." }
            }
        }
    };
    let command = format!("heirloom {} {} \"…\"", verb.to_lowercase(), session.name);
    let sheeted = Sheet {
        title: &title,
        page: "continue",
        nav: "/sessions",
        command: &command,
        keys: &KEYS,
        ..Sheet::default()
    };
    Ok(sheet(&view, &sheeted, &content))
}

/// A value as it can be typed.
fn editable(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

pub(super) async fn submit(
    State(house): State<House>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    Asked(way): Asked<Way>,
    Form(filled): Form<Filled>,
) -> Response {
    let outcome = house.call(move |house| {
        let failure = match begun(house, &caller, &id, &way, &filled) {
            Ok(id) => return Ok(Submitted::Begun(id)),
            Err(failure) if failure.code == Code::RequestRefused => return Err(failure),
            Err(failure) => failure,
        };
        let status = crate::answer::status(&failure);
        let form = rendered(house, &caller, &id, &way, &filled, Some(&failure))?;
        Ok(Submitted::Again { status, form })
    });
    answered(outcome.await)
}

/// What became of a form.
enum Submitted {
    /// The session with this id began.
    Begun(String),
    /// It did not: the form once more, with what was filled in and why not.
    Again { status: axum::http::StatusCode, form: Markup },
}

fn answered(outcome: Result<Submitted, crate::answer::Refused>) -> Response {
    match outcome {
        Ok(Submitted::Begun(id)) => Redirect::to(&format!("/sessions/{id}")).into_response(),
        Ok(Submitted::Again { status, form }) => (status, page(Ok(form))).into_response(),
        Err(refused) => page(Err(refused)),
    }
}

fn begun(
    house: &House,
    caller: &Caller,
    id: &str,
    way: &Way,
    filled: &Filled,
) -> Result<String, Failure> {
    check(caller, filled)?;
    let mut body = overrides(filled)?;
    if let Some(at) = &way.at {
        body.insert("at".to_owned(), at.clone().into());
    }
    Ok(went_on(house, caller, id, body, way.forks())?.id)
}

fn check(caller: &Caller, filled: &Filled) -> Result<(), Failure> {
    match caller {
        Caller::Person(cookie) => check_form(cookie, filled.get("form").map_or("", String::as_str)),
        Caller::Program => Ok(()),
    }
}

/// What was filled in, as the API takes it.
pub(super) fn overrides(filled: &Filled) -> Result<Map<String, Value>, Failure> {
    let mut body = Map::new();
    for name in ["prompt", "name", "agent"] {
        if let Some(text) = filled.get(name).filter(|text| !text.trim().is_empty()) {
            body.insert(name.to_owned(), text.clone().into());
        }
    }
    for field in Field::ALL {
        let name = field.as_str();
        let value = match filled.get(&format!("do-{name}")).map(String::as_str) {
            Some("clear") => Value::Null,
            Some("set") => {
                let text = filled.get(&format!("set-{name}")).map_or("", |text| text.trim());
                read(name, text)?
            }
            _ => continue,
        };
        body.insert(name.to_owned(), value);
    }
    Ok(body)
}

fn read(name: &str, text: &str) -> Result<Value, Failure> {
    let invalid =
        |why: &str| Failure::new(Code::RequestInvalid, format!("{}: {why}", in_words(name)));
    match name {
        "additional_dirs" | "allowed_tools" | "disallowed_tools" | "env" => Ok(text
            .split(',')
            .map(str::trim)
            .filter(|item| !item.is_empty())
            .map(str::to_owned)
            .collect()),
        "mcp_servers" => {
            serde_json::from_str(text).map_err(|_| invalid("write the servers as JSON"))
        }
        "auto_accept_edits" => match text {
            "true" | "on" | "yes" => Ok(true.into()),
            "false" | "off" | "no" => Ok(false.into()),
            _ => Err(invalid("write on or off")),
        },
        "max_turns" | "max_cost_usd" => {
            serde_json::from_str(text).map_err(|_| invalid("write a number"))
        }
        _ => Ok(text.to_owned().into()),
    }
}

pub(super) async fn interrupt(
    State(house): State<House>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    Form(filled): Form<Filled>,
) -> Response {
    let outcome = house.call(move |house| {
        check(&caller, &filled)?;
        Ok(Submitted::Begun(interrupted(house, &id)?.id))
    });
    answered(outcome.await)
}

pub(super) async fn launch(
    State(house): State<House>,
    Extension(caller): Extension<Caller>,
) -> Response {
    let made = house.call(move |house| empty(house, &caller, &Filled::new(), None));
    page(made.await)
}

fn empty(
    house: &House,
    caller: &Caller,
    filled: &Filled,
    failure: Option<&Failure>,
) -> Result<Markup, Failure> {
    let cx = RequestContext::everywhere(house)?;
    let view = View::new(house, caller, &cx.ledger)?;
    let typed = |name: &str| filled.get(name).map_or("", String::as_str);
    let content = html! {
        h1 { "Launch a session in " (view.repo) }
        (mishap(failure))
        form method="post" data-send { (view.token())
            label for="prompt" { "Prompt" } textarea id="prompt" name="prompt" required autofocus { (typed("prompt")) }
            label for="agent" { "Agent (default if empty)" } input id="agent" name="agent" value=(typed("agent"));
            label for="name" { "Name" } input id="name" name="name" value=(typed("name"));
            @for field in Field::ALL.iter().filter(|field| ["title", "model", "permission_mode", "allowed_tools", "disallowed_tools"].contains(&field.as_str())) {
                @let name = field.as_str();
                label for=(format!("set-{name}")) { (in_words(name)) }
                input id=(format!("set-{name}")) name=(format!("set-{name}")) value=(typed(&format!("set-{name}")));
            }
            p { button.primary { "Launch" kbd { "⌘⏎" } } }
        }
    };
    let sheeted = Sheet {
        title: "Launch a session",
        page: "launch",
        nav: "/sessions",
        command: "heirloom launch \"…\"",
        ..Sheet::default()
    };
    Ok(sheet(&view, &sheeted, &content))
}

pub(super) async fn launched(
    State(house): State<House>,
    Extension(caller): Extension<Caller>,
    Form(mut filled): Form<Filled>,
) -> Response {
    let outcome = house.call(move |house| {
        // Here a field that is filled in is one that is set.
        let set: Vec<String> = filled
            .iter()
            .filter(|(_, text)| !text.trim().is_empty())
            .filter_map(|(name, _)| name.strip_prefix("set-").map(str::to_owned))
            .collect();
        filled.extend(set.into_iter().map(|name| (format!("do-{name}"), "set".to_owned())));
        let done =
            check(&caller, &filled).and_then(|()| launch_it(house, &caller, overrides(&filled)?));
        match done {
            Ok(session) => Ok(Submitted::Begun(session.id)),
            Err(failure) if failure.code == Code::RequestRefused => Err(failure),
            Err(failure) => {
                let status = crate::answer::status(&failure);
                let form = empty(house, &caller, &filled, Some(&failure))?;
                Ok(Submitted::Again { status, form })
            }
        }
    });
    answered(outcome.await)
}

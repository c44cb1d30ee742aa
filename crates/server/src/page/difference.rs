//! What a session that is about to go on will have otherwise than the one before it: only that, and of each
//! permission whether it is tighter or wider.

use axum::extract::{Path, State};
use axum::response::{Html, IntoResponse, Response};
use heirloom_api::Failure;
use heirloom_core::config::{Config, Field, Overrides};
use heirloom_core::session::Session;
use heirloom_core::trust::widen;
use heirloom_core::words::in_words;
use maud::{Markup, html};
use serde_json::Value;

use super::go_on::{Filled, overrides};
use super::session::plain;
use crate::house::{House, RequestContext};
use crate::routes::Asked;

/// The fields by which an agent may do more or less.
const PERMISSIONS: [Field; 9] = [
    Field::AdditionalDirs,
    Field::PermissionMode,
    Field::PermissionPromptTool,
    Field::AllowedTools,
    Field::DisallowedTools,
    Field::McpServers,
    Field::AutoAcceptEdits,
    Field::BypassUntil,
    Field::Env,
];

/// The part of the form that says it, for script to put in its place.
pub(super) async fn shown(
    State(house): State<House>,
    Path(id): Path<String>,
    Asked(filled): Asked<Filled>,
) -> Response {
    let made = house.call(move |house| {
        let (_, session) = RequestContext::session(house, &id)?;
        Ok(listed(&session, &filled))
    });
    match made.await {
        Ok(markup) => Html(markup.into_string()).into_response(),
        Err(refused) => super::page(Err(refused)),
    }
}

/// What differs from `session` by what was filled in so far.
pub(super) fn listed(session: &Session, filled: &Filled) -> Markup {
    let nothing = Config::default();
    let before = session.config.as_ref().unwrap_or(&nothing);
    let said = match read(filled) {
        Ok(said) => said,
        Err(failure) => return html! { p.alarm { (failure.message) } },
    };
    let wider = widen::fields(&said, before);
    let fields: Vec<Field> =
        said.fields().into_iter().filter(|field| differs(&said, before, *field)).collect();
    html! {
        @if fields.is_empty() { p.soft { "Nothing differs from " (session.name) "." } }
        dl { @for field in fields {
            dt { (in_words(field.as_str())) }
            dd { @match now(&said, field) { Value::Null => span.dim { "cleared here" }, value => (plain(&value)) } }
            dd.from { @if wider.contains(&field) { b.acc { "wider" } }
                @else if PERMISSIONS.contains(&field) { "tighter" } @else { "set here" } }
        } }
    }
}

fn read(filled: &Filled) -> Result<Overrides, Failure> {
    let mut body = overrides(filled)?;
    for name in ["prompt", "name", "agent"] {
        body.remove(name);
    }
    Overrides::parse(&Value::Object(body).to_string())
        .map_err(|error| Failure::from_error(heirloom_api::Code::RequestInvalid, &error))
}

/// The value that was said; null where it is cleared.
fn now(said: &Overrides, field: Field) -> Value {
    let all = serde_json::to_value(said).unwrap_or_default();
    all.get(field.as_str()).cloned().unwrap_or(Value::Null)
}

fn differs(said: &Overrides, before: &Config, field: Field) -> bool {
    now(said, field) != field.value(before)
}

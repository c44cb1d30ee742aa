//! Resources: sessions, their notes, and the handoff of each, to be read by address.

use heirloom_api::{Code, Failure, NoteList, SessionDetail};
use heirloom_engine::notes::Query;
use heirloom_engine::{notes, session, sessions};
use serde_json::{Value, json};

use super::Fault;
use crate::house::{House, RequestContext};
use crate::routes::recall::{Fresh, recovered};
use crate::routes::sessions::{Filter, page};

/// How many sessions are listed.
const MOST: usize = 20;

pub(super) fn list(house: &House) -> Result<Value, Failure> {
    let repo = house.here()?.place.root.to_string_lossy().into_owned();
    let listed = page(house, &Filter { repo: Some(repo), limit: Some(MOST), ..Filter::default() })?;
    let resources = listed.sessions.iter().map(|row| {
        let (name, id) = (&row.session.name, &row.session.id);
        json!({"uri": format!("heirloom://sessions/{id}"), "name": name, "mimeType": "application/json"})
    });
    Ok(json!({"resources": resources.collect::<Vec<_>>()}))
}

pub(super) fn templates() -> Value {
    let template = |part: &str, name: &str, kind: &str| json!({"uriTemplate": format!("heirloom://sessions/{{session}}{part}"), "name": name, "mimeType": kind});
    json!({"resourceTemplates": [
        template("", "a session", "application/json"),
        template("/notes", "the notes of a session", "application/json"),
        template("/handoff", "what a session left for the next", "text/plain"),
    ]})
}

pub(super) fn read(house: &House, params: &Value) -> Result<Value, Fault> {
    let uri = params["uri"].as_str().unwrap_or_default();
    let path = uri.strip_prefix("heirloom://sessions/").unwrap_or_default();
    let (address, part) = path.split_once('/').unwrap_or((path, ""));
    if address.is_empty() {
        return Err(Fault::Params(format!("there is no resource {uri}")));
    }
    let (kind, text) = contents(house, address, part)?;
    Ok(json!({"contents": [{"uri": uri, "mimeType": kind, "text": text}]}))
}

fn contents(house: &House, address: &str, part: &str) -> Result<(&'static str, String), Failure> {
    let json = |value: &dyn erased::Shown| ("application/json", value.text());
    let (cx, known) = RequestContext::session(house, address)?;
    match part {
        "" => {
            let total = session::totals(&cx.ledger, &known)?;
            let parent = sessions::parent_name(&cx.ledger, &known)?;
            Ok(json(&SessionDetail::new(&cx.here, &known, parent, total)))
        }
        "notes" => {
            let query = Query { session: Some(known.id.to_string()), ..Query::default() };
            Ok(json(&NoteList::new(&notes::list(&cx.here, &cx.ledger, &query)?)))
        }
        "handoff" => {
            let fresh = Fresh { session: Some(known.id.to_string()), ..Fresh::default() };
            Ok(("text/plain", recovered(house, Some(1), &fresh)?.text))
        }
        _ => Err(Failure::new(Code::RequestNotFound, format!("a session has no {part}"))),
    }
}

/// Answers of different types, as text.
mod erased {
    pub(super) trait Shown {
        fn text(&self) -> String;
    }

    impl<T: heirloom_api::Answer> Shown for T {
        fn text(&self) -> String {
            serde_json::to_string(self).unwrap_or_default()
        }
    }
}

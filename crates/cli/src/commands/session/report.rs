//! How a session looks before and after its agent worked.

use std::fmt::Write;

use heirloom_api::{SessionConfig, SessionEnd};
use heirloom_core::approval;
use heirloom_core::config::{Field, Origin};
use heirloom_core::session::{Link, Session};
use heirloom_core::visible::visible;
use heirloom_core::words::in_words;
use heirloom_engine::session::{self, Prepared, SessionEnded};
use heirloom_ledger::Ledger;
use serde_json::Value;

use super::super::sessions::answer;
use crate::commands::App;
use crate::failure::Failure;
use crate::layout;
use crate::ui::{BAD, DIM, GOOD, first_line, one_line, priced};

/// What a tool is used on, in a line.
pub(in crate::commands) fn subject(input: &Value) -> String {
    first_line(&visible(&approval::subject(input)), 100)
}

/// What a continued or forked session takes over, before it starts.
pub(super) fn header(app: &App, prepared: &Prepared) {
    let Some(parent) = &prepared.parent else { return };
    if app.ui.is_json() {
        return;
    }
    let agent = prepared.agent.name();
    let id: String = parent.agent_session_id.iter().flat_map(|id| id.chars()).take(8).collect();
    let whose = format!("{agent} {id}");
    let how = if prepared.link == Some(Link::Forked) { "fork of" } else { "continues" };
    let mut text = format!("{how} {} ({})\n", parent.name, whose.trim_end());
    text.push_str(&rows(&prepared.provenance));
    app.ui.say(text.trim_end());
}

/// How wide the names of fields are, and where a value comes from.
const FIELD: usize = 24;
const FROM: usize = 20;

/// The fields that have a value, or lost theirs here.
fn rows(provenance: &[Origin]) -> String {
    let room = layout::width().unwrap_or(100);
    let value = room.saturating_sub(2 + FIELD + FROM).clamp(14, 42);
    let mut text = String::new();
    for row in provenance {
        let name = in_words(row.field.as_str());
        let shown = match &row.value {
            Value::Null if row.overridden => "none".to_owned(),
            Value::Null if row.field == Field::MaxTurns => {
                let _ = writeln!(text, "  {name:FIELD$}{DIM}not inherited{DIM:#}");
                continue;
            }
            Value::Null => continue,
            told => plain(told),
        };
        let from = match (&row.value, row.overridden) {
            (Value::Null, true) => "cleared here".to_owned(),
            (_, true) => "set here".to_owned(),
            _ => format!("from {}", row.from),
        };
        let shown = one_line(&shown);
        // A value is not cut: it may be what somebody is looking for. One that is too long stands alone.
        if layout::breadth(&shown) + 2 > value {
            let _ = writeln!(text, "  {name:FIELD$}{DIM}{from}{DIM:#}\n    {shown}");
        } else {
            let _ = writeln!(text, "  {name:FIELD$}{shown:value$}{DIM}{from}{DIM:#}");
        }
    }
    text
}

/// A value for people: texts without quotes, lists with commas, servers by name.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        Value::Object(map) => map.keys().cloned().collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// All fields of a config with where they come from.
pub(in crate::commands) fn config(app: &App, session: &Session, provenance: &[Origin]) {
    app.ui.answer(&SessionConfig::new(session, provenance), || rows(provenance));
}

/// What came of it.
pub(super) fn end(app: &App, ledger: &Ledger, ended: &SessionEnded) -> Result<(), Failure> {
    let session = &ended.session;
    let total = session::totals(ledger, session)?;
    if app.ui.is_json() {
        let answer = SessionEnd {
            session: answer(ledger, session)?,
            reason: session.reason.clone(),
            outcome: ended.turn.outcome().map(|outcome| outcome.as_str().to_owned()),
            text: ended.turn.text().map(str::to_owned),
            lineage: total.into(),
        };
        app.ui.answer(&answer, String::new);
    } else {
        let good = session.status == heirloom_core::status::Status::Completed;
        let mark = if good { format!("{GOOD}✔{GOOD:#}") } else { format!("{BAD}✗{BAD:#}") };
        let cost = priced(session.cost);
        let status = session.status.in_words();
        app.ui.say(&format!("{mark} {} {status} {DIM}{cost}{DIM:#}", session.name));
    }
    if let Some(reason) = &session.reason {
        app.ui.say(&format!("{BAD}error:{BAD:#} {reason}"));
    }
    if !session.status.is_ended() || session.status == heirloom_core::status::Status::Completed {
        return Ok(());
    }
    let again = match session.continues() {
        Some(parent) => ledger.session(parent)?.map(|parent| parent.name),
        None => None,
    };
    let kept = format!("the prompt is kept: `heirloom continue {} …` continues", session.name);
    app.ui.hint(&match again.filter(|_| !session.announced) {
        Some(parent) => format!("{kept}; {parent} is unchanged"),
        None if session.announced => format!("`heirloom continue {} …` continues", session.name),
        None => kept,
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_an_agent_asks_for_cannot_steer_the_terminal() {
        let input = json!({"command": "rm -rf /\r\u{1b}[2Kls \u{202e}x"});
        assert_eq!(subject(&input), "rm -rf /␍␛[2Kls \\u{202e}x");
    }
}

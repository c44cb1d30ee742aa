use std::process::ExitCode;

use heirloom_core::evidence::{Evidence, PlaceError};
use heirloom_core::note::{Kind, NotAKind};
use heirloom_engine::notes::{self, NewNote};
use serde_json::json;

use super::{App, Done};
use crate::failure::Failure;
use crate::ui::{DIM, GOOD};

/// Record something worth carrying into the next session
///
/// KIND is learning, pattern, warning, decision, question, next-step, progress or scenario. The note
/// belongs to the session the command is run in; outside of any, to a session of the day.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What sort of thing it says
    kind: String,
    /// What it says
    text: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    because: Option<String>,
    /// What it rests on; the words there are kept with it
    #[arg(long, value_name = "PATH:LINE[-LINE]")]
    evidence: Vec<String>,
    /// The note it replaces, by its id or the beginning of it
    #[arg(long, value_name = "ID")]
    supersedes: Option<String>,
    /// The session it belongs to
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
}

pub(super) fn run(app: &App, args: Args) -> Done {
    let new = NewNote {
        kind: kind(&args.kind)?,
        text: args.text,
        rationale: args.because,
        evidence: args.evidence.iter().map(|place| evidence(place)).collect::<Result<_, _>>()?,
        supersedes: args.supersedes,
        session: args.session,
    };
    let mut ledger = app.here.ledger()?;
    let (note, session) = notes::add(&app.here, &mut ledger, &app.directory, new)?;
    let value = json!({
        "id": note.id, "kind": note.kind, "text": note.text, "session": session.name,
        "at": note.at, "evidence": note.evidence, "superseded_by": null,
    });
    app.ui.answer(&value, || {
        let places = note.evidence.iter().map(|evidence| format!(" {evidence}"));
        let places: String = places.collect();
        let (kind, id, name) = (note.kind, note.id.short(), session.name);
        format!("{GOOD}✔{GOOD:#} {kind} {id} in {name}{DIM}{places}{DIM:#}")
    });
    Ok(ExitCode::SUCCESS)
}

/// Reads a kind of note, with the one that was meant if it is none.
pub(super) fn kind(text: &str) -> Result<Kind, Failure> {
    text.parse().map_err(|error: NotAKind| {
        let kinds = Kind::ALL.map(Kind::as_str).join(", ");
        let hint = match error.nearest {
            Some(nearest) => format!("did you mean {nearest}? The kinds are {kinds}"),
            None => format!("the kinds are {kinds}"),
        };
        Failure::from_error("usage", &error).hint(hint).usage()
    })
}

fn evidence(place: &str) -> Result<Evidence, Failure> {
    place.parse().map_err(|error: PlaceError| Failure::from_error("usage", &error).usage())
}

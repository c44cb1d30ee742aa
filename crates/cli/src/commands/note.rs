use std::process::ExitCode;

use heirloom_api as api;
use heirloom_core::evidence::{Evidence, PlaceError};
use heirloom_core::note::{Basis, Kind, NotAKind};
use heirloom_engine::keep::{self, Noted, Page};
use heirloom_engine::notes::NewNote;

use super::{App, Done};
use crate::failure::{Code, Failure};
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
    /// What stands there, word for word; taken from the file where it is not given
    #[arg(long, value_name = "TEXT")]
    quote: Vec<String>,
    /// It is assumed, not proved
    #[arg(long, conflicts_with_all = ["user_input", "absent"])]
    assumption: bool,
    /// A person said it
    #[arg(long, conflicts_with = "absent")]
    user_input: bool,
    /// It says that this does not exist; heirloom looks for it, and for a second one if given
    #[arg(long, value_name = "TEXT")]
    absent: Vec<String>,
    /// The issue it is about
    #[arg(long, value_name = "ID")]
    issue: Option<String>,
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
        evidence: all_evidence(&args)?,
        basis: basis(&args),
        text: args.text,
        rationale: args.because,
        issue: args.issue,
        supersedes: args.supersedes,
        session: args.session,
        symbol: Some(heirloom_symbols::enclosing),
    };
    let mut ledger = app.here.ledger()?;
    let noted = keep::record(&app.here, &mut ledger, &app.directory, new)?;
    match &noted.page {
        Page::Shown => {}
        Page::LeftAlone { page, why } => {
            app.ui.warn(&format!("{page} was left as it is: {why}"));
        }
        Page::Failed(error) => app.ui.warn(&format!("{error}; `heirloom heal` repairs it")),
    }
    for (evidence, quote) in noted.weak() {
        app.ui.warn(&format!("{evidence} says too little to count as evidence: `{quote}`"));
    }
    for other in &noted.contradicts {
        let (id, text) = (other.id.short(), &other.text);
        app.ui.warn(&format!("this contradicts decision {id}, which stands: {text}"));
        app.ui.hint(&format!("if it no longer holds, note it again with --supersedes {id}"));
    }
    let Noted { note, session, .. } = noted;
    let answer = api::Note::new(&note, session.name.as_str());
    app.ui.answer(&answer, || {
        let places = note.evidence.iter().map(|evidence| format!(" {evidence}"));
        let places: String = places.collect();
        let (kind, id, name) = (note.kind, note.id.short(), session.name);
        format!("{GOOD}✔{GOOD:#} {kind} {id} in {name}{DIM}{places}{DIM:#}")
    });
    Ok(ExitCode::SUCCESS)
}

fn all_evidence(args: &Args) -> Result<Vec<Evidence>, Failure> {
    if args.quote.len() > args.evidence.len() {
        let message = "each --quote needs an --evidence to stand at";
        return Err(Failure::new(Code::Usage, message).usage());
    }
    let mut quotes = args.quote.iter().cloned();
    let with_quote = |place: &String| Ok(Evidence { quote: quotes.next(), ..evidence(place)? });
    args.evidence.iter().map(with_quote).collect()
}

fn basis(args: &Args) -> Option<Basis> {
    if !args.absent.is_empty() {
        return Some(Basis::Absence(args.absent.clone()));
    }
    match (args.assumption, args.user_input) {
        (true, _) => Some(Basis::Assumption),
        (_, true) => Some(Basis::UserInput),
        _ => None,
    }
}

/// Reads a kind of note, with the one that was meant if it is none.
pub(super) fn kind(text: &str) -> Result<Kind, Failure> {
    text.parse().map_err(|error: NotAKind| {
        let kinds = Kind::ALL.map(Kind::as_str).join(", ");
        let hint = match error.nearest {
            Some(nearest) => format!("did you mean {nearest}? The kinds are {kinds}"),
            None => format!("the kinds are {kinds}"),
        };
        Failure::from_error(Code::Usage, &error).hint(hint).usage()
    })
}

fn evidence(place: &str) -> Result<Evidence, Failure> {
    place.parse().map_err(|error: PlaceError| Failure::from_error(Code::Usage, &error).usage())
}

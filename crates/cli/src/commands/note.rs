use std::process::ExitCode;

use heirloom_api as api;
use heirloom_core::evidence::{Evidence, PlaceError};
use heirloom_core::note::{Basis, Case, CaseType, Kind, NotAKind};
use heirloom_core::words::in_words;
use heirloom_engine::keep::{self, Noted, Page};
use heirloom_engine::notes::NewNote;

use super::{App, Done, given};
use crate::failure::{Code, Failure};
use crate::ui::{DIM, GOOD};

/// Record something the next session should know
///
/// KIND is learning, pattern, warning, decision, question, next-step, progress or scenario. The note
/// belongs to the session the command runs in, or else to a session for the day.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The kind of note
    kind: String,
    /// The note
    #[arg(value_parser = given::text)]
    text: String,
    /// Why
    #[arg(long, value_name = "TEXT", value_parser = given::text)]
    because: Option<String>,
    /// The code it is based on; the quoted lines are kept with the note
    #[arg(long, value_name = "PATH:LINE[-LINE]")]
    evidence: Vec<String>,
    /// The quoted text [default: read from the file]
    #[arg(long, value_name = "TEXT")]
    quote: Vec<String>,
    /// Mark it as an assumption
    #[arg(long, conflicts_with_all = ["user_input", "absent"])]
    assumption: bool,
    /// Mark it as stated by a person
    #[arg(long, conflicts_with = "absent")]
    user_input: bool,
    /// Claim that this text does not occur in the code; heirloom checks; repeat for more
    #[arg(long, value_name = "TEXT", value_parser = given::text)]
    absent: Vec<String>,
    /// The issue it is about
    #[arg(long, value_name = "ID")]
    issue: Option<String>,
    /// For a scenario, what it tries: happy-path, edge-case or error-handling
    #[arg(long = "type", value_name = "TYPE", requires = "expected")]
    case_type: Option<String>,
    /// For a scenario, the expected result
    #[arg(long, value_name = "TEXT", requires = "case_type")]
    expected: Option<String>,
    /// The note it replaces, by id or id prefix
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
        case: case(&args)?,
        text: args.text,
        rationale: args.because,
        issue: args.issue,
        supersedes: args.supersedes,
        session: args.session,
        symbol: Some(heirloom_symbols::enclosing),
        proposed_by: None,
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
        let (kind, id, name) = (in_words(note.kind.as_str()), note.id.short(), session.name);
        format!("{GOOD}✔{GOOD:#} {kind} {id} in {name}{DIM}{places}{DIM:#}")
    });
    Ok(ExitCode::SUCCESS)
}

fn all_evidence(args: &Args) -> Result<Vec<Evidence>, Failure> {
    if args.quote.len() > args.evidence.len() {
        let message = "each --quote needs an --evidence";
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

fn case(args: &Args) -> Result<Option<Case>, Failure> {
    let Some((word, expected)) = args.case_type.as_deref().zip(args.expected.clone()) else {
        return Ok(None);
    };
    let Some(case_type) = CaseType::parse(word) else {
        let message = format!("there is no type of scenario called `{word}`");
        let types = CaseType::ALL.map(|case| case.as_str().replace('_', "-")).join(", ");
        let failure = Failure::new(Code::Usage, message).hint(format!("the types are {types}"));
        return Err(failure.usage());
    };
    Ok(Some(Case { case_type, expected }))
}

/// Reads a kind of note, with the one that was meant if it is none.
pub(super) fn kind(text: &str) -> Result<Kind, Failure> {
    text.parse().map_err(|error: NotAKind| {
        let typed = |kind: &str| kind.replace('_', "-");
        let kinds = Kind::ALL.map(|kind| typed(kind.as_str())).join(", ");
        let hint = match error.nearest.map(typed) {
            Some(nearest) => format!("did you mean {nearest}? The kinds are {kinds}"),
            None => format!("the kinds are {kinds}"),
        };
        Failure::from_error(Code::Usage, &error).hint(hint).usage()
    })
}

fn evidence(place: &str) -> Result<Evidence, Failure> {
    place.parse().map_err(|error: PlaceError| Failure::from_error(Code::Usage, &error).usage())
}

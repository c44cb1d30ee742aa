//! Forks: what the context believes, against the ledger.

use heirloom_core::event::ForkDetected;
use heirloom_core::fork::{self, Relation};
use heirloom_core::note::{Kind, Note, replacements};
use heirloom_core::session::Session;
use heirloom_ledger::{Error, Ledger, NoteFilter, Scope};

use crate::here::Here;

/// What the ledger says about a claim.
#[derive(Debug, Clone)]
pub struct Compared {
    pub claim: String,
    /// The note that says most about it, if any does.
    pub note: Option<Note>,
    /// How the two stand to each other.
    pub relation: Relation,
}

/// Compares claims of the context with the decisions of this repository, newest first, and records
/// each contradiction once.
pub fn check(
    here: &Here,
    ledger: &mut Ledger,
    session: Option<&Session>,
    claims: &[String],
) -> Result<Vec<Compared>, Error> {
    let repo = Some(here.place.repo.as_str());
    let filter =
        NoteFilter { repo, kind: Some(Kind::Decision), superseded: true, ..NoteFilter::default() };
    let mut notes = ledger.notes(&filter)?;
    notes.reverse();
    let compared: Vec<Compared> = claims.iter().map(|claim| compare(claim, &notes)).collect();
    for (compared, why) in compared.iter().filter_map(contradiction) {
        let Some(note) = &compared.note else { continue };
        let fork = ForkDetected {
            id: fork::id("context", &compared.claim, &note.text),
            source: "context".to_owned(),
            claimed: compared.claim.clone(),
            ledger: note.text.clone(),
            note: Some(note.id),
            why: why.to_owned(),
            resolution: "ledger_wins".to_owned(),
        };
        if ledger.kept::<ForkDetected>(&here.place.repo, &fork.id)?.is_none() {
            let scope =
                Scope { session: session.map(|session| session.id), repo: Some(&here.place.repo) };
            ledger.append(here.clock.now(), scope, &fork)?;
        }
    }
    Ok(compared)
}

/// Why a claim contradicts the ledger, if it does.
pub fn contradiction(compared: &Compared) -> Option<(&Compared, &'static str)> {
    match compared.relation {
        Relation::Contradicts(why) => Some((compared, why.as_str())),
        _ => None,
    }
}

/// A decision that stands and agrees settles it, whatever else there is.
fn compare(claim: &str, notes: &[Note]) -> Compared {
    let mut best: (Relation, Option<&Note>) = (Relation::Unrelated, None);
    for note in notes {
        let relation = fork::relate(claim, &note.text, note.superseded_by.is_some());
        if relation == Relation::Agrees {
            best = (relation, Some(note));
            break;
        }
        if relation > best.0 {
            best = (relation, Some(note));
        }
    }
    let note = best.1.map(|note| standing(note, notes)).cloned();
    Compared { claim: claim.to_owned(), note, relation: best.0 }
}

/// The note that replaced a note, and the one that replaced that.
fn standing<'a>(note: &'a Note, notes: &'a [Note]) -> &'a Note {
    let find = |id| notes.iter().find(|note| note.id == id);
    replacements(note.superseded_by, find).last().unwrap_or(note)
}

//! Recording a note: into the ledger, and from there onto the page.

use std::path::Path;

use heirloom_core::evidence::Evidence;
use heirloom_core::fork::{self, Relation};
use heirloom_core::ground;
use heirloom_core::note::{Kind, Note};
use heirloom_core::session::Session;
use heirloom_ledger::{Ledger, NoteFilter};

use super::page::{self, Keeper};
use super::{KeepError, settings};
use crate::here::Here;
use crate::notes::{self, NewNote, NoteError};

/// A note that was recorded.
#[derive(Debug)]
pub struct Noted {
    pub note: Note,
    /// The session it belongs to.
    pub session: Session,
    /// The decisions that stand and that it contradicts.
    pub contradicts: Vec<Note>,
    /// Whether the page shows it. The note is recorded in any case.
    pub page: Page,
}

/// What became of the page.
#[derive(Debug)]
pub enum Page {
    /// It shows what the ledger says, or there is none.
    Shown,
    /// It was left as it is.
    LeftAlone { page: String, why: String },
    /// It could not be brought up to date.
    Failed(KeepError),
}

impl Noted {
    /// The evidence whose quote says too little to prove anything, with the quote.
    pub fn weak(&self) -> impl Iterator<Item = (&Evidence, String)> {
        self.note.evidence.iter().filter_map(|evidence| {
            let quote = ground::fold(evidence.quote.as_deref().unwrap_or_default());
            (!ground::says_enough(&quote)).then_some((evidence, quote))
        })
    }
}

/// Records a note. The page follows at once where there is one.
pub fn record(
    here: &Here,
    ledger: &mut Ledger,
    directory: &Path,
    new: NewNote,
) -> Result<Noted, NoteError> {
    let (note, session) = notes::add(here, ledger, directory, new)?;
    let contradicts = contradicted(here, ledger, &note)?;
    let page = follow(here, ledger, &session).unwrap_or_else(Page::Failed);
    Ok(Noted { note, session, contradicts, page })
}

/// The decisions that cannot be right if `note` is one: both would stand, and nobody would know which.
fn contradicted(here: &Here, ledger: &Ledger, note: &Note) -> Result<Vec<Note>, NoteError> {
    const NEWEST: usize = 500;
    if note.kind != Kind::Decision {
        return Ok(Vec::new());
    }
    let repo = Some(here.place.repo.as_str());
    let (kind, limit) = (Some(Kind::Decision), Some(NEWEST));
    let mut others = ledger.notes(&NoteFilter { repo, kind, limit, ..NoteFilter::default() })?;
    others.retain(|other| {
        let relation = fork::relate(&note.text, &other.text, false);
        other.id != note.id && matches!(relation, Relation::Contradicts(_))
    });
    Ok(others)
}

fn follow(here: &Here, ledger: &mut Ledger, session: &Session) -> Result<Page, KeepError> {
    // Settings that cannot be used are told about by every command anyway.
    let Ok(settings) = settings(here) else { return Ok(Page::Shown) };
    if !page::file(here, &settings).exists() {
        return Ok(Page::Shown);
    }
    let keeper = Keeper { here, settings: &settings, session, checkpoint: None };
    Ok(match keeper.sync(ledger)?.left_alone {
        Some(why) => Page::LeftAlone { page: settings.notes.file.as_str().to_owned(), why },
        None => Page::Shown,
    })
}

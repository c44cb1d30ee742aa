//! The whole idea in a scratch repository: two sessions, the second inherits from the first.

use std::path::Path;

use heirloom_core::event::{NoteAdded, SessionCreated};
use heirloom_core::evidence::Evidence;
use heirloom_core::id::{NoteId, SessionId};
use heirloom_core::note::{Kind, Note};
use heirloom_core::session::{Link, Session};
use heirloom_core::status::Status;
use heirloom_ledger::{Ledger, NoteFilter, Scope};
use uuid::Uuid;

use crate::evidence;
use crate::here::Here;
use crate::notes::NoteError;
use crate::sessions;

/// What the demo did.
#[derive(Debug)]
pub struct Demo {
    /// The session that learned something.
    pub first: Session,
    /// The session that inherits from it.
    pub second: Session,
    /// What the second one starts with.
    pub inherited: Vec<Note>,
}

const SOURCE: &str =
    "pub fn rotate(token: &Token) -> Token {\n    store.swap(token, Token::fresh())\n}\n";

/// Records a session with notes in `here`, an empty directory, then one that inherits them.
pub fn play(here: &Here, ledger: &mut Ledger) -> Result<Demo, NoteError> {
    let root = &here.place.root;
    heirloom_repo::write_whole(&root.join("src/auth.rs"), SOURCE.as_bytes()).map_err(|error| {
        crate::evidence::EvidenceError::NotText {
            path: "src/auth.rs".to_owned(),
            source: error.source,
        }
    })?;
    let first = session(here, ledger, "auth-v1", None)?;
    let evidence = evidence::attach(root, root, Evidence::at("src/auth.rs", 2))?;
    note(
        here,
        ledger,
        &first,
        Kind::Learning,
        "JWT refresh tokens need atomic rotation",
        vec![evidence],
    )?;
    note(
        here,
        ledger,
        &first,
        Kind::Warning,
        "Do not cache the key set longer than 15 minutes",
        vec![],
    )?;
    finish(here, ledger, &first)?;
    let second = session(here, ledger, "auth-v2", Some(&first))?;
    let filter = NoteFilter { session: Some(first.id), ..NoteFilter::default() };
    let inherited = ledger.notes(&filter)?;
    finish(here, ledger, &second)?;
    Ok(Demo { first, second, inherited })
}

/// The directory the demo plays in and the home its ledger lives in, below `scratch`.
pub fn places(scratch: &Path) -> (std::path::PathBuf, std::path::PathBuf) {
    (scratch.join("payments"), scratch.join("home"))
}

fn session(
    here: &Here,
    ledger: &mut Ledger,
    name: &str,
    parent: Option<&Session>,
) -> Result<Session, NoteError> {
    let name = name.parse().expect("the demo's names are names");
    let created = SessionCreated {
        parent: parent.map(|parent| parent.id),
        link: parent.map(|_| Link::Inherited),
        ..sessions::bare(here, name)
    };
    let id = SessionId::new(Uuid::new_v4());
    Ok(sessions::create(here, ledger, (id, &created), Status::Running, |_| Ok(None))?)
}

fn note(
    here: &Here,
    ledger: &mut Ledger,
    session: &Session,
    kind: Kind,
    text: &str,
    evidence: Vec<Evidence>,
) -> Result<(), NoteError> {
    let id = NoteId::new(Uuid::new_v4());
    let note = NoteAdded { evidence, ..NoteAdded::new(id, kind, text) };
    ledger.append(here.clock.now(), Scope::session(session.id, &session.repo), &note)?;
    Ok(())
}

fn finish(here: &Here, ledger: &mut Ledger, session: &Session) -> Result<(), NoteError> {
    ledger.write(here.clock.now(), |writer| {
        writer.change_status(session.id, Status::Completed, None)
    })?;
    Ok(())
}

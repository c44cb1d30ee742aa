//! Which sessions were forgotten: what an agent still has of them does not bring them back.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use heirloom_core::id::SessionId;
use heirloom_core::session::Session;
use heirloom_ledger::{Error, Ledger};
use heirloom_repo::{FileError, file, make_private_dir};

use super::CaptureError;
use super::take::Wanted;
use crate::guard::id_of;

fn mark(home: &Path, session: SessionId) -> PathBuf {
    home.join("capture").join("forgotten").join(session.to_string())
}

/// Whether a session was forgotten, and must not be taken in again.
pub fn is_forgotten(home: &Path, session: SessionId) -> bool {
    mark(home, session).exists()
}

/// What the mark says of a session until all of it is forgotten.
const BEGUN: &[u8] = b"begun";

/// What it says of one that goes on with a conversation that was forgotten: its own records are still there.
const CONTINUES: &[u8] = b"continues";

/// What was done before to forget a session.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    Nothing,
    /// Somebody had begun, and was ended.
    Begun,
    Everything,
}

/// Marks sessions as forgotten, and every conversation of the first one: nobody takes them in from here on.
pub(super) fn begin(
    home: &Path,
    ledger: &Ledger,
    session: &Session,
    continued: &[Session],
) -> Result<Before, CaptureError> {
    let before = match file::read(mark(home, session.id)) {
        Ok(said) if said == BEGUN => Before::Begun,
        Ok(said) if said.is_empty() => Before::Everything,
        _ => Before::Nothing,
    };
    let mut ids: Vec<SessionId> = continued.iter().map(|each| each.id).collect();
    let agent = session.agent.as_deref().unwrap_or_default();
    for conversation in conversations(ledger, session)? {
        let id = id_of(agent, &conversation);
        // The session that it goes on with may have the same one, and is another.
        ids.extend(ledger.session(id)?.is_none().then_some(id));
    }
    for id in ids.into_iter().filter(|id| !is_forgotten(home, *id)) {
        put_mark(home, id, CONTINUES)?;
    }
    put_mark(home, session.id, BEGUN)?;
    Ok(before)
}

fn put_mark(home: &Path, session: SessionId, said: &[u8]) -> Result<(), FileError> {
    let marked = mark(home, session);
    let failed = |source| FileError { doing: "write", path: marked.clone(), source };
    if let Some(parent) = marked.parent() {
        make_private_dir(parent).map_err(failed)?;
    }
    file::write(&marked, said)
}

/// Says of a session that all of it is forgotten.
pub(super) fn end(home: &Path, session: SessionId) -> Result<(), FileError> {
    put_mark(home, session, b"")
}

/// Whether a transcript that was never met before is a copy of a conversation that was forgotten. Then it is so itself.
pub(super) fn goes_on_with_forgotten(
    home: &Path,
    wanted: &Wanted,
    forked_from: &[String],
) -> Result<bool, FileError> {
    let is_copy = forked_from.iter().any(|id| is_forgotten(home, id_of(&wanted.agent, id)));
    if is_copy {
        put_mark(home, wanted.session, CONTINUES)?;
    }
    Ok(is_copy)
}

/// What agents call the conversations of a session: its own, and that of each iteration of a run.
pub(super) fn conversations(ledger: &Ledger, session: &Session) -> Result<BTreeSet<String>, Error> {
    let iterations = ledger.iterations(session.id)?.into_iter();
    let ids = iterations.filter_map(|iteration| iteration.agent_session_id);
    Ok(ids.chain(session.agent_session_id.clone()).collect())
}

//! Leaving no byte of what was erased in a file of the home.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use heirloom_core::id::NoteId;
use heirloom_repo::{file, make_private_dir};
use rusqlite::Connection;

use crate::error::Error;
use crate::ledger::Ledger;

/// Is in heirloom's home for as long as another file there may hold bytes of what was erased.
const DUE: &str = "scrub-due";

impl Ledger {
    /// Makes both files anew from what is in use, so that no byte of what was erased is left in them.
    pub fn scrub(&self) -> Result<(), Error> {
        self.attached()?;
        let is_done = self.run_hot("write to", scrub)?;
        if is_done {
            let _ = file::remove_file(self.due());
        }
        Ok(())
    }

    /// Finishes what whoever erased something did not: it was ended, somebody read, or the disk was full.
    pub fn scrub_if_due(&self) -> Result<(), Error> {
        if self.due().exists() { self.scrub_all() } else { Ok(()) }
    }

    /// Scrubs everything that is derived from the records or is a copy of them.
    pub(crate) fn scrub_all(&self) -> Result<(), Error> {
        let noted = modified(&self.due());
        // Those made since have bytes of it at most where nothing is in use, and stay until it is known that there
        // will be others: nobody should be without a backup for as long as somebody reads or the disk is full.
        self.remove_backups(|made| made <= noted)?;
        self.scrub_index()?;
        self.scrub()?;
        if self.due().exists() { Ok(()) } else { self.remove_backups(|_| true) }
    }

    fn remove_backups(&self, is_old: impl Fn(Option<SystemTime>) -> bool) -> Result<(), Error> {
        let all = Self::backups_in(self.home()).into_iter();
        for path in all.filter(|path| is_old(modified(path))) {
            let failed = |source| Error::File { doing: "remove", path: path.clone(), source };
            file::remove_file(&path).map_err(|error| failed(error.source))?;
        }
        Ok(())
    }

    /// Notes that something is about to be erased.
    pub(crate) fn note_scrub_due(&self) -> Result<(), Error> {
        let path = self.due();
        file::write(&path, b"").map_err(|error| Error::File {
            doing: "write",
            path: path.clone(),
            source: error.source,
        })
    }

    fn due(&self) -> PathBuf {
        self.home().join(DUE)
    }

    fn home(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|found| found.modified()).ok()
}

/// What is deleted is overwritten, but a page that was split keeps a copy of what went to the other half, and
/// the logs have it all. Returns whether those were emptied, which nobody can while somebody reads.
fn scrub(db: &Connection) -> rusqlite::Result<bool> {
    for file in ["main", "views"] {
        db.execute_batch(&format!("VACUUM {file}"))?;
    }
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |row| Ok(row.get::<_, i64>(0)? == 0))
}

fn mark(home: &Path, note: NoteId) -> PathBuf {
    home.join("capture").join("forgotten-notes").join(note.to_string())
}

/// Remembers that a note was forgotten.
pub fn forget_note(home: &Path, note: NoteId) -> Result<(), Error> {
    let path = mark(home, note);
    let failed = |source| Error::File { doing: "write", path: path.clone(), source };
    if let Some(parent) = path.parent() {
        make_private_dir(parent).map_err(failed)?;
    }
    file::write(&path, b"").map_err(|error| failed(error.source))
}

/// Whether a note was forgotten: a page that still shows it, because git or a teammate has it, does not bring
/// it back.
pub fn is_note_forgotten(home: &Path, note: NoteId) -> bool {
    mark(home, note).exists()
}

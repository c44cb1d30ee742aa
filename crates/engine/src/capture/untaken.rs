//! Earlier conversations of a repository that nobody agreed to: it was set up where nobody could answer, or the answer
//! was no.
//!
//! Which repositories that holds for are lists beside the ledger, so that whoever has none of them asks small files
//! and looks at no transcript.

use std::path::{Path, PathBuf};

use heirloom_ledger::Ledger;

use super::sync::{Request, sync};
use crate::here::Here;
use crate::listed;

/// Those where nobody could be asked.
fn file(home: &Path) -> PathBuf {
    home.join("capture").join("untaken")
}

/// Those where somebody said no.
fn declined(home: &Path) -> PathBuf {
    home.join("capture").join("declined")
}

/// Somebody said no: nothing more is said of it, and nothing takes it in by itself.
pub fn note_declined(home: &Path, repo: &str) {
    forget_untaken(home, repo);
    if let Err(error) = listed::add(&declined(home), repo) {
        tracing::warn!("cannot keep that the history of {repo} is not wanted: {error}");
    }
}

/// Both lists.
pub(super) fn lists(home: &Path) -> [PathBuf; 2] {
    [file(home), declined(home)]
}

/// Whether nobody agreed to the history of a repository.
pub(super) fn is_held_back(home: &Path, repo: &str) -> bool {
    lists(home).iter().any(|list| listed::has(list, repo))
}

/// From now on it is said that there are some. Where that cannot be kept nothing is said, and nothing is lost.
pub fn note_untaken(home: &Path, repo: &str) {
    if let Err(error) = listed::add(&file(home), repo) {
        tracing::warn!("cannot keep that the history of {repo} was not taken in: {error}");
    }
}

/// All of it was taken in.
pub fn forget_untaken(home: &Path, repo: &str) {
    for list in lists(home) {
        if listed::has(&list, repo)
            && let Err(error) = listed::remove(&list, |known| known == repo)
        {
            tracing::warn!("cannot keep that the history of {repo} was taken in: {error}");
        }
    }
}

/// How many conversations of this repository were not taken in because nobody could be asked.
pub fn untaken(here: &Here, ledger: &mut Ledger) -> u64 {
    let Ok(repo) = ledger.repository(&here.place.repo) else { return 0 };
    if listed::has(&file(&here.home), &repo) { not_taken_in(here, ledger) } else { 0 }
}

/// How many conversations of this repository are not known at all.
fn not_taken_in(here: &Here, ledger: &mut Ledger) -> u64 {
    let request = Request { is_rehearsal: true, archive: true, ..Request::default() };
    let found = sync(here, ledger, &request, &mut |_| {});
    found.map_or(0, |found| found.agents.iter().map(|agent| agent.unknown).sum())
}

/// How people are told of so many, in one place: `3 earlier conversations of this repository were not imported`.
pub fn untaken_in_words(count: u64) -> String {
    let (plural, verb) = if count == 1 { ("", "was") } else { ("s", "were") };
    format!("{count} earlier conversation{plural} of this repository {verb} not imported")
}

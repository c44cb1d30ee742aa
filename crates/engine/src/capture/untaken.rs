//! Earlier conversations of a repository that nobody was asked about: it was set up where nobody could answer.
//!
//! Which repositories that holds for is a list beside the ledger, so that whoever has none of them asks one small
//! file and looks at no transcript.

use std::path::{Path, PathBuf};

use heirloom_ledger::Ledger;

use super::sync::{Request, sync};
use crate::here::Here;
use crate::listed;

fn file(home: &Path) -> PathBuf {
    home.join("capture").join("untaken")
}

/// From now on it is said that there are some. Where that cannot be kept nothing is said, and nothing is lost.
pub fn note_untaken(home: &Path, repo: &str) {
    if let Err(error) = listed::add(&file(home), repo) {
        tracing::warn!("cannot keep that the history of {repo} was not taken in: {error}");
    }
}

/// All of it was taken in, or somebody said no.
pub fn forget_untaken(home: &Path, repo: &str) {
    if listed::has(&file(home), repo)
        && let Err(error) = listed::remove(&file(home), |known| known == repo)
    {
        tracing::warn!("cannot keep that the history of {repo} was taken in: {error}");
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

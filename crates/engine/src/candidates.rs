//! What a word on the command line could become: for shells that complete it.

use std::time::Duration;

use heirloom_core::visible::visible;
use heirloom_ledger::{ApprovalFilter, Error, Ledger, NoteFilter, SessionFilter};

use crate::here::Here;
use crate::{issues, run};

/// How many are offered; nobody reads more.
const MOST: usize = 100;

/// How long a tracker's own program may take while somebody types.
const PATIENCE: Duration = Duration::from_secs(1);

/// What sort of thing is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    Session,
    Issue,
    Stage,
    Pipeline,
    /// A stage or a pipeline.
    Runnable,
    Note,
    Approval,
    /// A run of `work`.
    Run,
}

/// A word, and what it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub word: String,
    pub about: String,
}

impl Candidate {
    fn new(word: impl Into<String>, about: &str) -> Self {
        // One line: that is what shells read.
        let about = visible(about.lines().next().unwrap_or_default()).replace('\t', " ");
        Self { word: word.into(), about: about.chars().take(60).collect() }
    }
}

/// What there is of that sort here. Without a ledger, what can be told without one: completing a word makes nothing.
pub fn candidates(
    here: &Here,
    ledger: Option<&Ledger>,
    wanted: Wanted,
) -> Result<Vec<Candidate>, Error> {
    let repo = here.place.repo.as_str();
    match (wanted, ledger) {
        (Wanted::Stage, _) => Ok(library(here, true, false)),
        (Wanted::Pipeline, _) => Ok(library(here, false, true)),
        (Wanted::Runnable, _) => Ok(library(here, true, true)),
        (_, None) => Ok(Vec::new()),
        (Wanted::Session, Some(ledger)) => sessions(ledger, repo),
        (Wanted::Issue, Some(_)) => Ok(backlog(here)),
        (Wanted::Note, Some(ledger)) => {
            let filter =
                NoteFilter { repo: Some(repo), limit: Some(MOST), ..NoteFilter::default() };
            let notes = ledger.notes(&filter)?.into_iter().rev();
            Ok(notes.map(|note| Candidate::new(note.id.short(), &note.text)).collect())
        }
        (Wanted::Approval, Some(ledger)) => {
            let filter = ApprovalFilter { repo: Some(repo), session: None, pending: true };
            let pending = ledger.approvals(filter)?.into_iter();
            Ok(pending.map(|each| Candidate::new(each.id.short(), &each.tool)).collect())
        }
        (Wanted::Run, Some(ledger)) => {
            let runs = ledger.work_runs(repo, MOST)?.into_iter();
            let short = |id: &str| id.chars().take(8).collect::<String>();
            Ok(runs.map(|run| Candidate::new(short(&run.id), run.status.as_str())).collect())
        }
    }
}

fn sessions(ledger: &Ledger, repo: &str) -> Result<Vec<Candidate>, Error> {
    let filter = SessionFilter { repo: Some(repo), limit: MOST, ..SessionFilter::default() };
    let found = ledger.sessions(&filter)?.sessions.into_iter();
    Ok(found
        .map(|session| {
            let about = session.prompt.as_deref().unwrap_or(session.status.in_words());
            Candidate::new(session.name.as_str(), about)
        })
        .collect())
}

fn backlog(here: &Here) -> Vec<Candidate> {
    let tracker = issues::find_within(here, PATIENCE);
    let backlog = tracker.and_then(|mut tracker| tracker.backlog()).unwrap_or_default();
    backlog.iter().map(|entry| Candidate::new(entry.id.as_str(), &entry.title)).collect()
}

fn library(here: &Here, stages: bool, pipelines: bool) -> Vec<Candidate> {
    let loaded = run::library::load(&here.place.root);
    let mut found = Vec::new();
    if stages {
        let all = loaded.library.stages();
        found.extend(all.map(|(name, stage)| Candidate::new(name, &stage.description)));
    }
    if pipelines {
        found.extend(loaded.library.pipelines().map(|(name, _)| Candidate::new(name, "pipeline")));
    }
    found
}

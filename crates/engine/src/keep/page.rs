//! The page of notes: what people and agents wrote there is taken in, then it is written anew.

use std::collections::HashSet;
use std::fs::{File, TryLockError};
use std::io;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use heirloom_core::event::{ForkDetected, PageWritten, TaskSet};
use heirloom_core::ground::digest;
use heirloom_core::id::NoteId;
use heirloom_core::note::{Kind, Note};
use heirloom_core::page::{self, Identifier, Model, Violation, plain};
use heirloom_core::session::Session;
use heirloom_core::settings::Settings;
use heirloom_ledger::{Error, Ledger, NoteFilter, Scope};
use heirloom_repo::{FileError, read_text, write_whole};
use jiff::Timestamp;

use super::KeepError;
use super::taking_in::{Changes, Known};
use crate::here::Here;

/// The most decisions the page shows: the newest.
const MOST_DECISIONS: usize = 200;

/// The most entries each list of the page shows: the newest.
const MOST_ITEMS: usize = 200;

/// The most identifiers the page shows.
const MOST_IDENTIFIERS: usize = 20;

/// What bringing the page and the ledger together came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Synced {
    /// Whether the page was written.
    pub written: bool,
    /// How many entries of the page the ledger did not know.
    pub taken_in: usize,
    /// What the page claims against the ledger.
    pub forks: Vec<ForkDetected>,
    /// Paths in the wrong form.
    pub violations: Vec<Violation>,
    /// How many decisions are on the page.
    pub decisions: usize,
}

/// Where the page is.
pub fn file(here: &Here, settings: &Settings) -> PathBuf {
    here.place.root.join(settings.notes.file.as_str())
}

/// What a page is kept by.
#[derive(Debug)]
pub struct Keeper<'a> {
    /// Where.
    pub here: &'a Here,
    /// The settings.
    pub settings: &'a Settings,
    /// The session that what is taken in belongs to.
    pub session: &'a Session,
    /// When the last checkpoint was, if that is not what the ledger says.
    pub checkpoint: Option<Timestamp>,
}

impl Keeper<'_> {
    /// Takes in what the page says, then writes it from the ledger.
    ///
    /// Whoever writes at the same time is not overwritten: if the page is no longer what was read,
    /// it is read again.
    pub fn sync(&self, ledger: &mut Ledger) -> Result<Synced, KeepError> {
        const TRIES: usize = 5;
        let path = file(self.here, self.settings);
        let mut synced = Synced::default();
        let _turn = Turn::take(self.here)?;
        for _ in 0..TRIES {
            let existing = self.read(&path)?;
            let removed = match &existing {
                Some(text) => self.take_in(ledger, text, &mut synced)?,
                None => Vec::new(),
            };
            let model = self.model(ledger, &removed)?;
            let text = page::render(existing.as_deref(), &model);
            synced.decisions = model.decisions.len();
            synced.violations = page::read(&text).violations;
            if existing.as_deref() == Some(text.as_str()) {
                self.record(ledger, &text, &model, removed)?;
                return Ok(synced);
            }
            if self.read(&path)? == existing {
                write_whole(&path, text.as_bytes())?;
                self.record(ledger, &text, &model, removed)?;
                synced.written = true;
                return Ok(synced);
            }
        }
        Ok(synced)
    }

    /// Takes in what the page says, and leaves it as it is.
    pub fn take_in_page(&self, ledger: &mut Ledger) -> Result<Synced, KeepError> {
        let mut synced = Synced::default();
        if let Some(text) = self.read(&file(self.here, self.settings))? {
            self.take_in(ledger, &text, &mut synced)?;
        }
        Ok(synced)
    }

    fn read(&self, path: &std::path::Path) -> Result<Option<String>, FileError> {
        read_text(path)
    }

    fn scope(&self) -> Scope<'_> {
        Scope::session(self.session.id, &self.session.repo)
    }

    /// Takes in what the ledger does not know; returns the notes that were taken off the page.
    fn take_in(
        &self,
        ledger: &mut Ledger,
        text: &str,
        synced: &mut Synced,
    ) -> Result<Vec<NoteId>, KeepError> {
        let base =
            ledger.kept::<PageWritten>(&self.here.place.repo, self.settings.notes.file.as_str())?;
        if base.as_ref().is_some_and(|base| base.body.hash == digest(text)) {
            return Ok(base.map(|base| base.body.removed).unwrap_or_default());
        }
        let page = page::read(text);
        let known = Known::of(ledger, &self.here.place.repo, &page)?;
        let mut changes = Changes::new(self, &known);
        changes.read(&page);
        let Changes { notes, forks, .. } = changes;
        synced.taken_in += notes.len();
        let task = page.task.filter(|task| self.is_new_task(ledger, task).unwrap_or(false));
        let fresh = self.unknown_forks(ledger, forks)?;
        ledger.write(self.here.clock.now(), |writer| {
            for note in &notes {
                writer.append(self.scope(), note)?;
            }
            if let Some(text) = task {
                writer.append(self.scope(), &TaskSet { issue: None, text: Some(text) })?;
            }
            for fork in &fresh {
                writer.append(self.scope(), fork)?;
            }
            Ok::<(), Error>(())
        })?;
        synced.forks.extend(fresh);
        let Some(base) = base else { return Ok(Vec::new()) };
        if page::is_truncated(text) || !text.contains(page::END) {
            return Ok(base.body.removed);
        }
        let shown: HashSet<NoteId> = page
            .decisions
            .iter()
            .filter_map(|decision| decision.id)
            .chain(page.items.iter().filter_map(|item| item.id))
            .collect();
        let gone = base.body.notes.into_iter().filter(|id| !shown.contains(id));
        Ok(base.body.removed.into_iter().chain(gone).collect())
    }

    fn unknown_forks(
        &self,
        ledger: &Ledger,
        forks: Vec<ForkDetected>,
    ) -> Result<Vec<ForkDetected>, Error> {
        let mut fresh = Vec::new();
        for fork in forks {
            if ledger.kept::<ForkDetected>(&self.here.place.repo, &fork.id)?.is_none() {
                fresh.push(fork);
            }
        }
        Ok(fresh)
    }

    fn is_new_task(&self, ledger: &Ledger, task: &str) -> Result<bool, Error> {
        let gather = super::recover::Gatherer { here: self.here, ledger, settings: self.settings };
        Ok(gather.task(Some(self.session))?.as_deref().map(plain).as_deref() != Some(task))
    }

    /// What the ledger knows.
    fn model(&self, ledger: &Ledger, removed: &[NoteId]) -> Result<Model, Error> {
        let notes = |kind: Kind, limit: Option<usize>| {
            let repo = Some(self.here.place.repo.as_str());
            let filter = NoteFilter { repo, kind: Some(kind), limit, ..NoteFilter::default() };
            let notes = ledger.notes(&filter)?;
            Ok::<Vec<Note>, Error>(
                notes.into_iter().filter(|note| !removed.contains(&note.id)).collect(),
            )
        };
        let decisions = notes(Kind::Decision, Some(MOST_DECISIONS))?;
        let mut items = Vec::new();
        for (_, kind) in page::LISTS {
            items.extend(notes(kind, Some(MOST_ITEMS))?);
        }
        let gather = super::recover::Gatherer { here: self.here, ledger, settings: self.settings };
        let last = gather.checkpoint(&[])?.map(|(at, _)| at);
        Ok(Model {
            task: gather.task(Some(self.session))?,
            checkpoint: self.checkpoint.or(last),
            reasoning: notes(Kind::Progress, Some(1))?.pop().map(|note| note.text),
            identifiers: identifiers(&decisions),
            decisions,
            items,
        })
    }

    fn record(
        &self,
        ledger: &mut Ledger,
        text: &str,
        model: &Model,
        removed: Vec<NoteId>,
    ) -> Result<(), Error> {
        let path = self.settings.notes.file.as_str().to_owned();
        let notes = model.decisions.iter().chain(&model.items).map(|note| note.id).collect();
        let written = PageWritten { path, hash: digest(text), notes, removed };
        let known = ledger.kept::<PageWritten>(&self.here.place.repo, &written.path)?;
        if known.is_some_and(|known| known.body == written) {
            return Ok(());
        }
        ledger.append(self.here.clock.now(), self.scope(), &written).map(drop)
    }
}

/// The right to bring a page and the ledger together: two who do so at the same time would each
/// take what the other has not written yet for what somebody took off the page.
struct Turn(#[expect(dead_code, reason = "held for its lock")] File);

impl Turn {
    fn take(here: &Here) -> Result<Self, FileError> {
        const PATIENCE: Duration = Duration::from_secs(5);
        const PAUSE: Duration = Duration::from_millis(5);
        let name = format!("page-{}.lock", digest(&here.place.root.to_string_lossy()));
        let path = here.home.join(name);
        let cannot = |doing, source| FileError { doing, path: path.clone(), source };
        let file = File::create(&path).map_err(|source| cannot("make", source))?;
        let begun = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self(file)),
                Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => {
                    return Err(cannot("wait for", io::ErrorKind::TimedOut.into()));
                }
                Err(TryLockError::Error(source)) => return Err(cannot("lock", source)),
            }
        }
    }
}

fn identifiers(decisions: &[Note]) -> Vec<Identifier> {
    let mut seen = HashSet::new();
    let mut identifiers = Vec::new();
    for note in decisions.iter().rev() {
        for evidence in &note.evidence {
            let place = evidence.to_string();
            if identifiers.len() < MOST_IDENTIFIERS && seen.insert(place.clone()) {
                let purpose: String = plain(&note.text).chars().take(50).collect();
                // A time alone says nothing: the commit says which state of the code it was.
                let commit = evidence.commit.as_deref().and_then(|commit| commit.get(..8));
                let date = note.at.strftime("%Y-%m-%dT%H:%M:%SZ");
                let verified = match commit {
                    Some(commit) => format!("{date} at {commit}"),
                    None => date.to_string(),
                };
                identifiers.push(Identifier { place, purpose, verified });
            }
        }
    }
    identifiers
}

//! The page of notes: what people and agents wrote there is taken in, then it is brought up to date.
//!
//! Three sides are compared: the ledger, the page, and what heirloom last wrote in this checkout.
//! What is gone from the page since then was taken off it only if somebody edited the page; where git
//! put another version there, or that cannot be told, nothing was.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::TryLockError;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use heirloom_core::event::{ForkDetected, NoteAdded, PageCame, PageWritten, TaskSet};
use heirloom_core::ground::digest;
use heirloom_core::id::{NoteId, SessionId};
use heirloom_core::note::{Basis, Kind, Note, Origin};
use heirloom_core::page::{self, Identifier, Model, Page, Unclear, Violation, plain};
use heirloom_core::session::Session;
use heirloom_core::settings::Settings;
use heirloom_ledger::{Error, Ledger, NoteFilter, Scope};
use heirloom_repo::checkout::{self, Hand};
use heirloom_repo::{FileError, LockFile, inside, open_lock, read_within, swap};
use jiff::Timestamp;

use super::base::{self, Base};
use super::known_notes::{self, KnownNotes};
use super::recover::Gatherer;
use super::taking_in::{Changes, Taken, redacted};
use super::{KeepError, handoffs};
use crate::here::Here;
use crate::trust;

/// The most decisions the page shows: the newest.
const MOST_DECISIONS: usize = 200;

/// The most entries each list of the page shows: the newest.
const MOST_ITEMS: usize = 200;

/// So few entries may all be taken off at once.
const FEW: usize = 3;

/// The most identifiers the page shows.
const MOST_IDENTIFIERS: usize = 20;

/// The most entries that are taken in at once; the others are taken in the next time.
const MOST_TAKEN: usize = 5000;

/// The most that are taken in while an agent waits for its session to start.
const MOST_TAKEN_AT_START: usize = 200;

/// A larger page is not read while an agent waits.
const MOST_BYTES_AT_START: u64 = 1 << 20;

/// What bringing the page and the ledger together came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Synced {
    /// Whether the page was written.
    pub written: bool,
    /// How many entries of the page the ledger did not know.
    pub taken_in: usize,
    /// How many there are still, because they are too many for once.
    pub left: usize,
    /// What the page claims against the ledger.
    pub forks: Vec<ForkDetected>,
    /// Paths in the wrong form.
    pub violations: Vec<Violation>,
    /// What is not understood, and stays where it is.
    pub unclear: Vec<Unclear>,
    /// Why the page was left as it is, if it was.
    pub left_alone: Option<String>,
    /// Whether it came with the code and nobody has said yes to it, where that had to be found out.
    pub is_withheld: Option<bool>,
    /// How many decisions are on the page.
    pub decisions: usize,
}

/// Where the page is.
pub fn file(here: &Here, settings: &Settings) -> PathBuf {
    here.place.root.join(settings.notes.file.as_str())
}

/// What is known of a page from when it was last written.
struct Known {
    /// Whether the ledger knows that it was.
    is_recorded: bool,
    base: Option<Base>,
    /// What somebody took off it.
    removed: BTreeSet<NoteId>,
    /// Whether it is as it was then.
    unchanged: bool,
}

/// What a page is kept by.
#[derive(Debug)]
pub struct Keeper<'a> {
    pub here: &'a Here,
    pub settings: &'a Settings,
    /// The session that what is taken in belongs to.
    pub session: &'a Session,
    /// The checkpoint that is being made, of which the ledger does not know yet.
    pub checkpoint: Option<Judged<'a>>,
}

/// What a checkpoint found out about the notes of its session.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'a> {
    pub at: Timestamp,
    /// What rests on something in the code that does not hold.
    pub broken: &'a [NoteId],
}

impl Keeper<'_> {
    /// Takes in what the page says, then brings it up to date.
    ///
    /// Whoever writes at the same time is not overwritten: if the page is no longer what was read,
    /// it is read again.
    pub fn sync(&self, ledger: &mut Ledger) -> Result<Synced, KeepError> {
        self.sync_some(ledger, MOST_TAKEN)
    }

    /// The same while an agent waits, and only where there is a page that is kept.
    pub fn sync_at_start(&self, ledger: &mut Ledger) -> Result<Synced, KeepError> {
        let path = file(self.here, self.settings);
        let Ok(found) = path.metadata() else { return Ok(Synced::default()) };
        if found.len() > MOST_BYTES_AT_START {
            let why = "it is too large to be read while a session starts".to_owned();
            return Ok(Synced { left_alone: Some(why), ..Synced::default() });
        }
        let name = self.settings.notes.file.as_str();
        let is_kept = ledger.kept::<PageWritten>(&self.here.place.repo, name)?.is_some()
            || read_within(&self.here.place.root, &path)?
                .is_some_and(|text| page::read(&text).is_kept);
        if !is_kept {
            return Ok(Synced::default());
        }
        self.sync_some(ledger, MOST_TAKEN_AT_START)
    }

    fn sync_some(&self, ledger: &mut Ledger, most: usize) -> Result<Synced, KeepError> {
        const TRIES: usize = 20;
        let path = file(self.here, self.settings);
        let mut synced = Synced::default();
        let _turn = Turn::take(self.here)?;
        for _ in 0..TRIES {
            let existing = read_within(&self.here.place.root, &path)?;
            let page = existing.as_deref().map(page::read).unwrap_or_default();
            self.look_for_reason(ledger, (existing.as_deref(), &page), &mut synced);
            if synced.left_alone.is_some() {
                return Ok(synced);
            }
            if self.bring_together(ledger, &path, (existing, &page), most, &mut synced)? {
                return Ok(synced);
            }
        }
        synced.left_alone = Some("somebody is writing to it".to_owned());
        Ok(synced)
    }

    /// What [`Self::sync`] would come to. Changes nothing.
    pub fn rehearse(&self, ledger: &Ledger) -> Result<Synced, KeepError> {
        let existing = read_within(&self.here.place.root, &file(self.here, self.settings))?;
        let page = existing.as_deref().map(page::read).unwrap_or_default();
        let mut synced = Synced::default();
        self.look_for_reason(ledger, (existing.as_deref(), &page), &mut synced);
        if synced.left_alone.is_some() {
            return Ok(synced);
        }
        let Known { base, removed, unchanged, .. } =
            self.last_written(ledger, existing.as_deref())?;
        let (mut notes, mut taken) =
            (Vec::new(), Taken { removed: removed.clone(), ..Taken::default() });
        if existing.is_some() && !unchanged {
            (notes, _, taken) = self.news(ledger, &page, base.as_ref(), (removed, MOST_TAKEN))?;
        }
        let replaced: HashSet<NoteId> = notes.iter().filter_map(|note| note.supersedes).collect();
        let known = self.model(ledger, &taken.removed, &page)?.decisions;
        let stand = known.iter().filter(|note| !replaced.contains(&note.id)).count();
        let new = notes.iter().filter(|note| note.kind == Kind::Decision).count();
        synced.decisions = (stand + new).min(MOST_DECISIONS);
        (synced.taken_in, synced.left, synced.forks) = (taken.count, taken.left, taken.forks);
        (synced.unclear, synced.violations) = (page.unclear, page.violations);
        Ok(synced)
    }

    /// What is known of the page from when it was last written.
    fn last_written(&self, ledger: &Ledger, existing: Option<&str>) -> Result<Known, Error> {
        let name = self.settings.notes.file.as_str();
        let record = ledger.kept::<PageWritten>(&self.here.place.repo, name)?;
        // A ledger that never saw the page has taken nothing in from it, whatever was written.
        let base = Base::read(self.here, name).filter(|_| record.is_some());
        let is_recorded = record.is_some();
        let trusted = record.filter(|kept| kept.body.notes.is_empty());
        let removed =
            trusted.map(|kept| kept.body.removed.into_iter().collect()).unwrap_or_default();
        let unchanged = match (&base, existing) {
            (Some(base), Some(text)) => base.hash == base::hash(text),
            _ => false,
        };
        Ok(Known { is_recorded, base, removed, unchanged })
    }

    /// Says why the page must not be touched, if there is a reason.
    fn look_for_reason(
        &self,
        ledger: &Ledger,
        (text, page): (Option<&str>, &Page),
        synced: &mut Synced,
    ) {
        synced.left_alone = if checkout::is_busy(&self.here.place) {
            Some("git is in the middle of a merge or a rebase".to_owned())
        } else if let Some(Unclear { line, why }) = &page.blocked {
            Some(format!("line {line}: {why}"))
        } else if text.is_some() && self.withholds(ledger, synced) {
            Some("it came with a repository that nobody has trusted: heirloom trust".to_owned())
        } else if text.is_some_and(page::is_truncated) {
            Some("it was cut off; `heirloom heal` repairs it".to_owned())
        } else {
            None
        };
    }

    /// Found out for each page that is read: meanwhile git may have put another one there.
    fn withholds(&self, ledger: &Ledger, synced: &mut Synced) -> bool {
        let name = self.settings.notes.file.as_str();
        *synced.is_withheld.insert(trust::page_is_withheld(self.here, ledger, name))
    }

    /// Returns whether it came to an end: not if the page changed meanwhile.
    fn bring_together(
        &self,
        ledger: &mut Ledger,
        path: &Path,
        (existing, page): (Option<String>, &Page),
        most: usize,
        synced: &mut Synced,
    ) -> Result<bool, KeepError> {
        let name = self.settings.notes.file.as_str();
        let Known { is_recorded, base, removed, unchanged } =
            self.last_written(ledger, existing.as_deref())?;
        if !is_recorded && existing.is_some() && trust::page_is_in_git(self.here, name) {
            let came = PageCame { path: name.to_owned() };
            ledger.append(self.here.clock.now(), self.scope(), &came)?;
        }
        let mut taken = Taken { removed: removed.clone(), ..Taken::default() };
        if existing.is_some() && !unchanged {
            taken = self.take_in(ledger, page, base.as_ref(), (removed.clone(), most))?;
            synced.taken_in += taken.count;
            synced.left = taken.left;
            synced.forks.append(&mut taken.forks);
        }
        let model = self.model(ledger, &taken.removed, page)?;
        synced.decisions = model.decisions.len();
        synced.unclear.clone_from(&page.unclear);
        synced.violations.clone_from(&page.violations);
        let shown = digest(&format!("{model:?}"));
        let moved = |base: &Base| checkout::has_moved(&self.here.place, &base.checkout);
        if unchanged && base.as_ref().is_some_and(|base| base.shown == shown && !moved(base)) {
            return Ok(true);
        }
        let known = self.known(ledger, page, &model, &taken)?;
        let text = page::render(existing.as_deref(), &model, &known, &taken.marks);
        let mut swapped = None;
        if existing.as_deref() != Some(text.as_str()) {
            let expected = existing.as_deref().map(str::as_bytes);
            let target =
                inside(&self.here.place.root, path).map_err(FileError::new("write", path))?;
            let Some(mut new) = swap(&target, expected, text.as_bytes())? else {
                return Ok(false);
            };
            new.bring_over()?;
            swapped = Some(new);
            synced.written = true;
        }
        if base.is_none() {
            // That two branches merge without a conflict is worth having, not worth failing for.
            let _ = heirloom_repo::merge_by_union(&self.here.place, name);
        }
        let checkout = checkout::look(&self.here.place, name);
        let mut written = Base::new(name, &text, shown, checkout);
        if taken.left > 0 {
            // There is more on the page than was taken in, even if it does not change any more.
            written.hash.clear();
        }
        written.write(self.here);
        if !is_recorded || taken.removed != removed {
            self.record(ledger, &text, taken.removed)?;
        }
        if let Some(swapped) = &mut swapped {
            // Whoever had the page open while it was replaced has written by now.
            swapped.bring_over()?;
        }
        Ok(true)
    }

    fn scope(&self) -> Scope<'_> {
        Scope::session(self.session.id, &self.session.repo)
    }

    /// Takes in what the ledger does not know, and finds out what was taken off the page.
    fn take_in(
        &self,
        ledger: &mut Ledger,
        page: &Page,
        base: Option<&Base>,
        known: (BTreeSet<NoteId>, usize),
    ) -> Result<Taken, KeepError> {
        let (notes, task, taken) = self.news(ledger, page, base, known)?;
        if !notes.is_empty() || task.is_some() || !taken.forks.is_empty() {
            ledger.write(self.here.clock.now(), |writer| {
                for note in &notes {
                    writer.append(self.scope(), note)?;
                }
                if let Some(text) = task {
                    writer.append(self.scope(), &TaskSet { issue: None, text: Some(text) })?;
                }
                for fork in &taken.forks {
                    writer.append(self.scope(), fork)?;
                }
                Ok::<(), Error>(())
            })?;
        }
        Ok(taken)
    }

    /// What the page says that the ledger does not: notes, a task, and what else that comes to. `removed` was taken
    /// off it before.
    fn news(
        &self,
        ledger: &Ledger,
        page: &Page,
        base: Option<&Base>,
        (removed, most): (BTreeSet<NoteId>, usize),
    ) -> Result<(Vec<NoteAdded>, Option<String>, Taken), KeepError> {
        let name = self.settings.notes.file.as_str();
        let hand = base
            .map_or(Hand::Git, |base| checkout::changed_by(&self.here.place, name, &base.checkout));
        let page = &redacted(page);
        let known = KnownNotes::of(ledger, &self.here.place.repo, page, most)?;
        let gather = Gatherer::new(self.here, ledger, self.settings);
        let task = gather.task(Some(self.session))?;
        let mut changes = Changes::new(self, &known, (hand, base, most));
        changes.is_told = gather.tells_page();
        changes.read(page, task.as_deref());
        let (notes, task, mut taken) = changes.done();
        taken.forks = self.unknown_forks(ledger, taken.forks)?;
        let marked = taken.marks.values().flat_map(|mark| mark.was.into_iter().chain([mark.id]));
        let marked: HashSet<NoteId> = marked.collect();
        let on_page = |id: &NoteId| page.named.contains(id) || marked.contains(id);
        taken.removed = removed.into_iter().filter(|id| !on_page(id)).collect();
        if let Some(base) = base.filter(|base| {
            hand == Hand::Person && page.is_kept && {
                // A page that lost every one of its entries was rather replaced than edited.
                base.notes.len() <= FEW || base.notes.iter().any(on_page)
            }
        }) {
            taken.removed.extend(base.notes.iter().filter(|id| !on_page(id)));
        }
        Ok((notes, task, taken))
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

    /// What the ledger has to show on `page`.
    fn model(
        &self,
        ledger: &Ledger,
        removed: &BTreeSet<NoteId>,
        page: &Page,
    ) -> Result<Model, Error> {
        let under: HashSet<String> = page
            .decisions
            .iter()
            .flat_map(|entry| &entry.scenarios)
            .map(|text| plain(text))
            .collect();
        // What another ledger recorded is for that one to write; only where the page was lost is it
        // written here too.
        // What an agent only proposed would be a decision like any other there, and in a colleague's clone the
        // person's.
        let is_ours = |note: &Note| {
            let is_foreign = note.origin() == Origin::Elsewhere || note.author.is_some();
            let is_theirs = page.is_kept && is_foreign && !page.named.contains(&note.id);
            !is_theirs && note.proposed_by().is_none()
        };
        let notes = |kind: Kind, limit: usize| {
            let repo = Some(self.here.place.repo.as_str());
            let limit = Some(limit);
            let filter = NoteFilter { repo, kind: Some(kind), limit, ..NoteFilter::default() };
            let notes = ledger.notes(&filter)?.into_iter();
            Ok::<Vec<Note>, Error>(
                notes.filter(|note| !removed.contains(&note.id) && is_ours(note)).collect(),
            )
        };
        let decisions = notes(Kind::Decision, MOST_DECISIONS)?;
        let mut items = Vec::new();
        for (_, kind) in page::LISTS {
            items.extend(notes(kind, MOST_ITEMS)?);
        }
        items.retain(|note| match note.kind {
            // A person's word, and not what an agent found out by itself.
            Kind::Warning => note.basis == Some(Basis::UserInput) || note.origin() != Origin::Here,
            // Those that stand under a decision already.
            Kind::Scenario => !under.contains(&plain(&note.text)),
            _ => true,
        });
        let gather = Gatherer::new(self.here, ledger, self.settings);
        let last = gather.checkpoint(&[])?.map(|(at, _)| at);
        Ok(Model {
            task: gather.task(Some(self.session))?,
            checkpoint: self.checkpoint.map(|made| made.at).or(last),
            reasoning: notes(Kind::Progress, 1)?.pop().map(|note| note.text),
            identifiers: self.identifiers(ledger, &decisions)?,
            decisions,
            items,
        })
    }

    /// The places that the newest decisions rest on, with what the last checkpoint of each session found of its own.
    fn identifiers(&self, ledger: &Ledger, decisions: &[Note]) -> Result<Vec<Identifier>, Error> {
        let (mut seen, mut found) = (HashSet::new(), Vec::new());
        let mut broken: HashMap<SessionId, Vec<NoteId>> = HashMap::new();
        if let Some(made) = &self.checkpoint {
            broken.insert(self.session.id, made.broken.to_vec());
        }
        for note in decisions.iter().rev().filter(|note| !note.evidence.is_empty()) {
            let of_session = match broken.entry(note.session) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => {
                    let repo = &self.here.place.repo;
                    let newest = handoffs::newest(ledger, repo, Some(note.session))?;
                    unknown.insert(newest.map(|kept| kept.body.handoff.broken).unwrap_or_default())
                }
            };
            let all = rows(note, of_session.contains(&note.id));
            found.extend(all.filter(|row| seen.insert(row.place.clone())));
            if found.len() >= MOST_IDENTIFIERS {
                break;
            }
        }
        found.truncate(MOST_IDENTIFIERS);
        Ok(found)
    }

    /// What the ledger knows of what is on the page.
    fn known(
        &self,
        ledger: &Ledger,
        page: &Page,
        model: &Model,
        taken: &Taken,
    ) -> Result<page::Known, Error> {
        let mut known = KnownNotes::named(ledger, page)?;
        let shown = model.decisions.iter().chain(&model.items);
        known.extend(shown.map(|note| (note.id, note.clone())));
        let decisions = known.values().filter(|note| note.kind == Kind::Decision);
        let rows = decisions
            .flat_map(|note| {
                [false, true].into_iter().flat_map(move |is_broken| rows(note, is_broken))
            })
            .map(|row| page::row(&row))
            .collect();
        let now = [&model.task, &model.reasoning].into_iter().flatten().map(|value| plain(value));
        let mut values: HashSet<String> = taken.values.iter().cloned().chain(now).collect();
        let mut on_page = page.tasks.iter().chain(&page.reasonings);
        if on_page.any(|value| !values.contains(&plain(value))) {
            values.extend(known_notes::values(ledger, &self.here.place.repo)?);
        }
        let mut oldest = HashMap::new();
        let most = |kind| if kind == Kind::Decision { MOST_DECISIONS } else { MOST_ITEMS };
        for kind in page::LISTS.map(|(_, kind)| kind).into_iter().chain([Kind::Decision]) {
            let shown = model.decisions.iter().chain(&model.items);
            let of_kind: Vec<&Note> = shown.filter(|note| note.kind == kind).collect();
            if of_kind.len() >= most(kind) {
                oldest.extend(of_kind.iter().map(|note| note.at).min().map(|at| (kind, at)));
            }
        }
        Ok(page::Known { notes: known, rows, values, oldest })
    }

    fn record(
        &self,
        ledger: &mut Ledger,
        text: &str,
        removed: BTreeSet<NoteId>,
    ) -> Result<(), Error> {
        let path = self.settings.notes.file.as_str().to_owned();
        let removed = removed.into_iter().collect();
        let written = PageWritten { path, hash: digest(text), notes: Vec::new(), removed };
        ledger.append(self.here.clock.now(), self.scope(), &written).map(drop)
    }
}

/// The right to bring a page and the ledger together: two who do so at the same time would each
/// take what the other has not written yet for what somebody took off the page.
struct Turn(#[expect(dead_code, reason = "held for its lock")] LockFile);

impl Turn {
    fn take(here: &Here) -> Result<Self, FileError> {
        const PATIENCE: Duration = Duration::from_secs(5);
        const PAUSE: Duration = Duration::from_millis(5);
        let name = format!("page-{}.lock", digest(&here.place.root.to_string_lossy()));
        let path = here.home.join(name);
        let cannot = |doing, source| FileError { doing, path: path.clone(), source };
        let file = open_lock(&path).map_err(|source| cannot("make", source))?;
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

/// What stands in place of when it was verified, where a checkpoint found that it does not hold.
const BROKEN: &str = "no longer holds";

/// The places that a decision rests on.
fn rows(note: &Note, is_broken: bool) -> impl Iterator<Item = Identifier> {
    note.evidence.iter().map(move |evidence| {
        let place = evidence.to_string();
        let purpose: String = plain(&note.text).chars().take(50).collect();
        // A time alone says nothing: the commit says which state of the code it was.
        let commit = evidence.commit.as_deref().and_then(|commit| commit.get(..8));
        let date = note.at.strftime("%Y-%m-%dT%H:%M:%SZ");
        let verified = match commit {
            _ if is_broken => BROKEN.to_owned(),
            Some(commit) => format!("{date} at {commit}"),
            None => date.to_string(),
        };
        Identifier { place, purpose, verified }
    })
}

//! Recovery: gathering what a fresh context should read first.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use heirloom_core::event::{HandoffMade, TaskSet};
use heirloom_core::ground::{self, Claim};
use heirloom_core::id::{NoteId, SessionId};
use heirloom_core::note::{Kind, Note, try_replacements};
use heirloom_core::recover::{self, Entry, Proof, Recovery, Said, State};
use heirloom_core::session::Session;
use heirloom_core::settings::Settings;
use heirloom_ledger::{Error, Ledger, NoteFilter, Search};

use super::brief::Labels;
use super::code::Code;
use crate::here::Here;
use crate::recall::{self, Query, SearchError, SearchHit};

/// How far back a session's lineage is read.
const ANCESTORS: usize = 10;

/// How many of each kind level 1 looks at: a few more than it shows.
const FEW: usize = 4;

/// How many entries level 2 looks at.
const HITS: usize = 50;

/// How far a quote that left its file is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// In the file, and in what it became.
    AtAGlance,
    /// In all files that are like it, too.
    Everywhere,
}

/// Gathers what is recorded in a repository, what a session and its lineage left behind first.
#[derive(Debug)]
pub struct Gatherer<'a> {
    pub here: &'a Here,
    pub ledger: &'a Ledger,
    pub settings: &'a Settings,
    /// Whether what stands on the page may be told, once somebody asked.
    pub(super) tells_page: OnceCell<bool>,
    /// Whether the page came with the code and nobody has said yes to it, once somebody asked.
    pub(super) withholds_page: OnceCell<bool>,
}

/// How much is to be recovered.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// The level; 2 where there is a query, 1 otherwise.
    pub level: Option<u8>,
    /// What to look for.
    pub query: Option<&'a str>,
    /// The most tokens it may cost; what the settings say for its level otherwise.
    pub budget: Option<usize>,
}

/// Why nothing can be recovered.
#[derive(Debug, thiserror::Error)]
pub enum RecoverError {
    /// Level 2 answers a query.
    #[error("level 2 needs a query")]
    NoQuery,
    #[error(transparent)]
    Ledger(#[from] Error),
}

impl<'a> Gatherer<'a> {
    pub fn new(here: &'a Here, ledger: &'a Ledger, settings: &'a Settings) -> Self {
        let (tells_page, withholds_page) = (OnceCell::new(), OnceCell::new());
        Self { here, ledger, settings, tells_page, withholds_page }
    }

    /// The same for who has found out whether the page is withheld.
    pub(super) fn knowing(self, is_withheld: Option<bool>) -> Self {
        let withholds_page = is_withheld.map_or_else(OnceCell::new, OnceCell::from);
        Self { withholds_page, ..self }
    }
}

impl Gatherer<'_> {
    /// What `session` is to read first. A query is answered at any level; the level then only says
    /// how much it may cost.
    pub fn recover(
        &self,
        session: Option<&Session>,
        wanted: Wanted<'_>,
    ) -> Result<Recovery, RecoverError> {
        let settings = &self.settings.recovery;
        let asked = wanted.level.unwrap_or(if wanted.query.is_some() { 2 } else { 1 });
        // Without levels there is only everything.
        let level = if settings.tiered_recovery { asked } else { 3 };
        let usual = match level {
            1 => settings.level1_tokens.get() as usize,
            2 => settings.level2_tokens.get() as usize,
            _ => usize::MAX,
        };
        let budget = wanted.budget.unwrap_or(usual);
        let recovered = match (level, wanted.query) {
            (_, Some(query)) => self.level2_or_what_stands(session, query, budget)?,
            (1, None) => self.level1(session, budget)?,
            (2, None) => return Err(RecoverError::NoQuery),
            (_, None) => self.level3(session, budget)?,
        };
        Ok(Recovery { level, ..recovered })
    }

    /// Level 1 for `session`.
    pub fn level1(&self, session: Option<&Session>, budget: usize) -> Result<Recovery, Error> {
        Ok(recover::level1(&self.state(session, Some(FEW))?, budget))
    }

    /// Level 2: what was noted and said that fits `query`, in this repository.
    pub fn level2(&self, query: &str, budget: usize) -> Result<Recovery, Error> {
        let names = self.ledger.names_of(&self.here.place.repo)?;
        let kinds = ["note".to_owned()];
        let now = Some(self.here.clock.now());
        let search = Search {
            text: query,
            repo: Some(&names[..]),
            kinds: &kinds,
            now,
            limit: HITS,
            ..Search::default()
        };
        let hits = self.ledger.search(&search)?.hits;
        let mut seen = HashSet::new();
        let mut entries = Vec::new();
        for id in hits.iter().filter_map(|hit| hit.best().note.as_deref()) {
            let Some((note, replaces)) = self.standing(id)? else { continue };
            let Some(note) = self.trusted(vec![note]).pop() else { continue };
            // It was recorded under a path that another repository has now.
            let session = self.ledger.session(note.session)?;
            if session.is_some_and(|session| !session.repo.is_one_of(&names)) {
                continue;
            }
            if self.is_heard(&note) && seen.insert(note.id) {
                entries.push(Entry { replaces, ..self.entry(note)? });
            }
        }
        self.prove(&mut entries, Look::Everywhere);
        let (said, meant) = self.said(query)?;
        let matched = if said.is_empty() { query } else { &meant };
        Ok(recover::level2(matched, &entries, &said, budget))
    }

    /// What was said in conversations of this repository that fits `query`: the same as `search` finds. And the query
    /// with the words that were looked for instead of those that nothing has.
    fn said(&self, query: &str) -> Result<(Vec<Said>, String), Error> {
        let asked = Query { text: query.to_owned(), limit: HITS, ..Query::default() };
        let found = match recall::search(self.here, self.ledger, &asked) {
            Ok(found) => found,
            Err(SearchError::Ledger(error)) => return Err(error),
            // Neither one session nor another repository is asked for.
            Err(SearchError::Session(_) | SearchError::NotAPerson(_)) => {
                return Ok((Vec::new(), query.to_owned()));
            }
        };
        let said = found.places.into_iter().filter_map(|mut hit| {
            let more = std::mem::take(&mut hit.more);
            // A session that is found by its name has said nothing by that.
            let has_said = |hit: &SearchHit| {
                hit.note.is_none()
                    && hit.kind != heirloom_core::recall::Kind::Session
                    && !hit.text.is_empty()
            };
            let hit = std::iter::once(hit).chain(more).find(has_said)?;
            Some(Said {
                kind: hit.kind,
                session: hit.session.map_or(hit.key, |session| session.name.to_string()),
                at: hit.at,
                text: hit.snippet.text,
            })
        });
        let meant = found.instead.iter().fold(query.to_owned(), |meant, (typed, instead)| {
            meant.replace(typed.as_str(), instead)
        });
        Ok((said.collect(), meant))
    }

    /// Level 2, or where the work stands where nothing fits: an empty answer helps nobody to go on.
    fn level2_or_what_stands(
        &self,
        session: Option<&Session>,
        query: &str,
        budget: usize,
    ) -> Result<Recovery, Error> {
        let found = self.level2(query, budget)?;
        let left = budget.saturating_sub(found.tokens + 1);
        if !found.is_empty || left == 0 {
            return Ok(found);
        }
        let usual = self.settings.recovery.level1_tokens.get() as usize;
        let stands = self.level1(session, left.min(usual))?;
        if stands.is_empty {
            return Ok(found);
        }
        let text = format!("{}\n{}", found.text, stands.text);
        let tokens = heirloom_core::tokens::estimate(&text);
        Ok(Recovery { text, tokens, is_empty: false, omitted: stands.omitted, ..found })
    }

    /// Level 3: everything of this repository.
    pub fn level3(&self, session: Option<&Session>, budget: usize) -> Result<Recovery, Error> {
        let mut state = self.state(None, None)?;
        state.task = self.task(session)?.or(state.task);
        Ok(recover::level3(&state, budget))
    }

    /// What was left behind: `few` of each kind, or everything.
    pub(super) fn state(
        &self,
        session: Option<&Session>,
        few: Option<usize>,
    ) -> Result<State, Error> {
        let lineage = self.lineage(session)?;
        let task = match self.task(session)? {
            Some(task) => Some(task),
            None => self.stood(self.begun(&lineage, None)?)?.title,
        };
        let mut state = State { task, rules: self.rules()?, ..State::default() };
        state.decisions = self.nearest(&lineage, Kind::Decision, few)?;
        state.next_steps = self.nearest(&lineage, Kind::NextStep, few)?;
        state.done = self.nearest(&lineage, Kind::Progress, few)?;
        if few.is_none() {
            let rest =
                [Kind::Question, Kind::Warning, Kind::Learning, Kind::Pattern, Kind::Scenario];
            for kind in rest {
                state.others.extend(self.nearest(&lineage, kind, None)?);
            }
            state.superseded = self.superseded()?;
            self.prove(&mut state.others, Look::Everywhere);
        } else {
            for kind in [Kind::Warning, Kind::Learning] {
                state.others.extend(self.nearest(&lineage, kind, few)?);
            }
            self.prove(&mut state.others, Look::AtAGlance);
        }
        state.checkpoint = self.checkpoint(&lineage)?;
        // A context that begins does not wait until a repository has been looked through.
        let look = if few.is_some() { Look::AtAGlance } else { Look::Everywhere };
        self.prove(&mut state.decisions, look);
        if few.is_some() {
            for entries in
                [&mut state.decisions, &mut state.next_steps, &mut state.done, &mut state.others]
            {
                *entries = self.with_the_teams(std::mem::take(entries));
            }
        }
        Ok(state)
    }

    /// The session and its ancestors, nearest first.
    pub(super) fn lineage(&self, session: Option<&Session>) -> Result<Vec<SessionId>, Error> {
        let Some(session) = session else { return Ok(Vec::new()) };
        let ancestors = self.ledger.lineage(session, ANCESTORS)?.ancestors;
        Ok(std::iter::once(session.id).chain(ancestors.iter().map(|session| session.id)).collect())
    }

    /// The notes of a kind in this repository, those that matter most to `lineage` first.
    fn nearest(
        &self,
        lineage: &[SessionId],
        kind: Kind,
        few: Option<usize>,
    ) -> Result<Vec<Entry>, Error> {
        let found = if few.is_some() {
            self.trusted(self.near(lineage, kind)?)
        } else {
            let repo = Some(self.here.place.repo.as_str());
            let all = NoteFilter { repo, kind: Some(kind), ..NoteFilter::default() };
            let mut notes = self.ledger.notes(&all)?;
            notes.retain(|note| self.is_heard(note));
            notes = self.trusted(notes);
            if kind != Kind::NextStep {
                notes.reverse();
            }
            notes
        };
        let entries = self.placed(found, lineage, &mut Labels::default())?;
        let ranked = recover::ranked(&entries).into_iter().take(few.unwrap_or(usize::MAX));
        Ok(ranked.cloned().collect())
    }

    fn superseded(&self) -> Result<Vec<Entry>, Error> {
        let repo = Some(self.here.place.repo.as_str());
        let filter = NoteFilter { repo, superseded: true, ..NoteFilter::default() };
        let mut notes = self.ledger.notes(&filter)?;
        notes.retain(|note| note.superseded_by.is_some() && self.is_heard(note));
        notes = self.trusted(notes);
        notes.reverse();
        self.entries(notes)
    }

    fn entries(&self, notes: Vec<Note>) -> Result<Vec<Entry>, Error> {
        self.placed(notes, &[], &mut Labels::default())
    }

    fn entry(&self, note: Note) -> Result<Entry, Error> {
        Ok(self.entries(vec![note])?.remove(0))
    }

    /// The note that stands in place of `id`, and what it replaced if that was another one.
    fn standing(&self, id: &str) -> Result<Option<(Note, Option<String>)>, Error> {
        let Some(mut note) = self.ledger.note(id)?.pop() else { return Ok(None) };
        let mut replaced = None;
        for newer in try_replacements(note.superseded_by, |id| self.by_id(id)) {
            let older = std::mem::replace(&mut note, newer?);
            replaced.get_or_insert(older.text);
        }
        Ok(Some((note, replaced)))
    }

    fn by_id(&self, id: NoteId) -> Result<Option<Note>, Error> {
        Ok(self.ledger.note(&id.to_string())?.pop())
    }

    /// Judges the evidence of all entries.
    pub(super) fn prove(&self, entries: &mut [Entry], look: Look) {
        let code = Code::new(&self.here.place, self.settings.notes.file.as_str());
        let mut code = if look == Look::AtAGlance { code.at_a_glance() } else { code };
        let notes: Vec<Note> = entries.iter().map(|entry| entry.note.clone()).collect();
        let claims: Vec<Claim<'_>> = notes.iter().filter_map(Claim::of).collect();
        let checked = ground::check(claims, &mut code);
        let mut verdicts: HashMap<String, _> = checked
            .into_iter()
            .map(|checked| (checked.claim.id.into_owned(), checked.verdicts))
            .collect();
        for entry in entries {
            let Some(verdicts) = verdicts.remove(&entry.note.id.to_string()) else { continue };
            let places = entry.note.evidence.iter().cloned();
            entry.proofs =
                places.zip(verdicts).map(|(place, verdict)| Proof { place, verdict }).collect();
        }
    }

    /// What is worked on: what the session was set to, or what its newest notes are about.
    pub(super) fn task(&self, session: Option<&Session>) -> Result<Option<String>, Error> {
        let mut next = session.cloned();
        for _ in 0..ANCESTORS {
            let Some(session) = next else { break };
            let key = session.id.to_string();
            if let Some(kept) = self.ledger.kept::<TaskSet>(&self.here.place.repo, &key)? {
                let TaskSet { issue, text } = kept.body;
                return Ok(match (issue, text) {
                    (Some(issue), Some(text)) => Some(format!("{issue} {text}")),
                    (issue, text) => issue.or(text),
                });
            }
            next = session.parent.map(|id| self.ledger.session(id)).transpose()?.flatten();
        }
        Ok(self.here.var("HEIRLOOM_ISSUE").map(str::to_owned))
    }

    pub(super) fn checkpoint(
        &self,
        lineage: &[SessionId],
    ) -> Result<Option<(jiff::Timestamp, f64)>, Error> {
        const RECENT: usize = 50;
        let mut handoffs = self.ledger.newest_kept::<HandoffMade>(&self.here.place.repo, RECENT)?;
        handoffs.retain(|kept| kept.body.handoff.is_of_checkpoint());
        let own =
            |session: Option<SessionId>| session.is_some_and(|session| lineage.contains(&session));
        let newest = handoffs.iter().find(|handoff| own(handoff.session)).or(handoffs.first());
        Ok(newest.map(|handoff| (handoff.at, handoff.body.handoff.ratio)))
    }
}

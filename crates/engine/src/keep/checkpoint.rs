//! The checkpoint: the ledger is made complete before a context is cleared or compacted.
//!
//! Seven steps for a clear, three for a compaction. Every step does its work and reports what it
//! found, so that one run shows everything. Only then is it decided: a blocked checkpoint makes no
//! handoff, a passed one exactly one, and one with nothing new none at all.

use std::collections::HashSet;

use heirloom_core::causes;
use heirloom_core::event::HandoffMade;
use heirloom_core::ground::{Checked, Claim};
use heirloom_core::handoff::{Handoff, Worked};
use heirloom_core::id::NoteId;
use heirloom_core::note::{Kind, Note, Scenarios};
use heirloom_core::session::Session;
use heirloom_core::settings::{CheckpointMode, Settings};
use heirloom_core::tokens;
use heirloom_ledger::{Error, Ledger, NoteFilter, Scope};
use heirloom_repo::FileError;
use jiff::Timestamp;
use serde::Serialize;

use super::ground::{self, Grounded};
use super::page::{Judged, Keeper, Synced};
pub use super::steps::{Purpose, Status, Step};
use super::steps::{Taken, findings, ghosts, in_a_line, in_order, listed, short};
pub use super::tracker::Waits;
use super::{KeepError, handoffs, tracker};
use crate::here::Here;
use crate::issues::Tracker;

/// What a checkpoint came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// Whether the context may be cleared.
    pub permitted: bool,
    /// How strict it was.
    pub mode: &'static str,
    /// What it was for.
    pub purpose: Purpose,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The handoff that stands, if there is one.
    pub handoff: Option<String>,
    /// Whether that handoff was made now.
    pub new: bool,
}

impl Outcome {
    /// What it would come to where nobody has worked yet: there is nothing to check.
    pub fn of_nothing(settings: &Settings, purpose: Purpose) -> Self {
        let mode = mode(settings);
        Self { permitted: true, mode, purpose, steps: Vec::new(), handoff: None, new: false }
    }
}

fn mode(settings: &Settings) -> &'static str {
    match settings.checkpoint.mode {
        CheckpointMode::Strict => "strict",
        CheckpointMode::Warn => "warn",
        CheckpointMode::Off => "off",
    }
}

/// A checkpoint that is to be made.
#[derive(Debug)]
pub struct Checkpoint<'a> {
    pub here: &'a Here,
    pub settings: &'a Settings,
    pub session: &'a Session,
    /// What it is for.
    pub purpose: Purpose,
    /// Whether only to say what would happen.
    pub dry_run: bool,
    /// Whether whoever asks can still refuse: what happens in any case is handed over in any case.
    pub can_refuse: bool,
    /// Who waits for it, and so how long a tracker may take.
    pub waits: Waits,
}

/// What the steps find out before anything is written.
pub(super) struct Found {
    pub(super) notes: Vec<Note>,
    pub(super) worked: Option<Worked>,
    claims: usize,
    grounded: usize,
    ratio: f64,
    /// The claims whose places in the code do not bear them out.
    broken: Vec<NoteId>,
    taken_in: usize,
    steps: Vec<Taken>,
}

/// The handoff that stands after a checkpoint.
struct Handed {
    id: String,
    /// The same, where it was made now.
    made: Option<HandoffMade>,
}

impl Checkpoint<'_> {
    /// Makes the checkpoint.
    pub fn run(&self, ledger: &mut Ledger) -> Result<Outcome, KeepError> {
        let mode = self.settings.checkpoint.mode;
        if mode == CheckpointMode::Off {
            return Ok(self.outcome(true, Vec::new(), None, false));
        }
        // What the page says counts before anything is judged, or the next run would judge anew.
        let taken_in = self.read_page(ledger);
        let mut found = self.look(ledger)?;
        found.taken_in = taken_in;
        let before = self.log(ledger, &mut found)?;
        let blocked = mode == CheckpointMode::Strict
            && self.can_refuse
            && found.steps.iter().any(|step| step.status == Status::Failed);
        let handed = if blocked { None } else { self.hand_off(ledger, &mut found, before)? };
        // A tracker may hang, and a hook that takes too long is ended: by now nothing is lost with it.
        let written = handed.as_ref().and_then(|handed| handed.made.as_ref());
        found.steps.push(if self.dry_run {
            self.would_tell()
        } else {
            self.tell(ledger, written)?
        });
        let steps = in_order(self.purpose, found.steps, blocked, self.dry_run);
        let new = written.is_some();
        Ok(self.outcome(!blocked, steps, handed.map(|handed| handed.id), new))
    }

    /// A page that cannot be read is reported by the step that writes it.
    fn read_page(&self, ledger: &mut Ledger) -> usize {
        if self.dry_run {
            return 0;
        }
        let (here, settings, session) = (self.here, self.settings, self.session);
        let keeper = Keeper { here, settings, session, checkpoint: None };
        keeper.sync(ledger).map_or(0, |synced| synced.taken_in)
    }

    fn outcome(
        &self,
        permitted: bool,
        steps: Vec<Step>,
        handoff: Option<String>,
        new: bool,
    ) -> Outcome {
        let mode = mode(self.settings);
        Outcome { permitted, mode, purpose: self.purpose, steps, handoff, new }
    }

    pub(super) fn look(&self, ledger: &Ledger) -> Result<Found, KeepError> {
        let filter = NoteFilter { session: Some(self.session.id), ..NoteFilter::default() };
        let notes = ledger.notes(&filter)?;
        let claims = notes.iter().filter_map(Claim::of);
        let Grounded { report, checked } = ground::verify(self.here, self.settings, claims);
        let mut steps = Vec::new();
        let failing: Vec<String> = checked
            .iter()
            .filter(|checked| !checked.verdict.is_grounded())
            .map(|checked| format!("{}: {}", short(&checked.claim.text), checked.verdict))
            .collect();
        let mut detail = if report.claims == 0 {
            "no claims".to_owned()
        } else {
            let (grounded, claims) = (report.grounded, report.claims);
            let (ratio, threshold) = (report.shown_ratio(), report.threshold);
            let claims = counted(claims, "claim");
            format!("{grounded} of {claims} grounded ({ratio}), threshold {threshold}")
        };
        listed(&mut detail, &failing);
        let status = if report.passes() { Status::Passed } else { Status::Failed };
        steps.push(Taken::new("grounding", status, detail));
        steps.push(ghosts(
            &checked.iter().map(|c| (&*c.claim.text, &c.verdict)).collect::<Vec<_>>(),
        ));
        steps.push(self.scenarios(&notes));
        let (claims, grounded, ratio) = (report.claims, report.grounded, report.ratio());
        let is_broken = |c: &&Checked<'_>| !c.claim.evidence.is_empty() && !c.verdict.is_grounded();
        let broken = checked.iter().filter(is_broken).filter_map(|c| c.claim.id.parse().ok());
        let broken: Vec<NoteId> = broken.collect();
        drop(checked);
        let worked = handoffs::worked(&self.here.home, self.session.id)?;
        Ok(Found { notes, worked, claims, grounded, ratio, broken, taken_in: 0, steps })
    }

    fn scenarios(&self, notes: &[Note]) -> Taken {
        let (status, detail) = match Scenarios::of(notes, self.settings.checkpoint.scenarios) {
            None => (Status::Passed, "no decisions, so no test scenarios are needed".to_owned()),
            Some(found) => {
                let Scenarios { count, asked, vague } = found;
                let is_whole = found.are_enough() && vague == 0;
                let status = if is_whole { Status::Passed } else { Status::Warned };
                let vague = match vague {
                    0 => String::new(),
                    vague => format!(", {vague} without a type and an expected result"),
                };
                (status, format!("{count} of {asked} test scenarios{vague}"))
            }
        };
        Taken::new("scenarios", status, detail)
    }

    /// Writes the decision log. Returns when the handoff will have been made.
    fn log(&self, ledger: &mut Ledger, found: &mut Found) -> Result<Timestamp, KeepError> {
        let now = self.here.clock.now();
        if self.dry_run {
            if let Some(unusable) = self.unusable_page() {
                found.steps.push(unusable);
                return Ok(now);
            }
            let (here, settings, session) = (self.here, self.settings, self.session);
            let keeper = Keeper { here, settings, session, checkpoint: None };
            let log = self.logged(found, &keeper.rehearse(ledger)?);
            found.steps.push(log);
            return Ok(now);
        }
        let at = match self.last(ledger)? {
            Some((at, last)) if self.is_same(found, &last.handoff) => at,
            _ => now,
        };
        let checkpoint = Some(Judged { at, broken: &found.broken });
        let (here, settings, session) = (self.here, self.settings, self.session);
        let step = match (Keeper { here, settings, session, checkpoint }).sync(ledger) {
            Ok(synced) => self.logged(found, &synced),
            Err(KeepError::File(error)) => unusable(&error),
            Err(error) => return Err(error),
        };
        found.steps.push(step);
        Ok(at)
    }

    /// What a strict checkpoint would be refused for, in a line each. Changes nothing.
    pub fn wanting(&self, ledger: &Ledger) -> Result<Vec<String>, KeepError> {
        let found = self.look(ledger)?;
        let steps = found.steps.into_iter().chain(self.unusable_page());
        let failed = steps.filter(|step| step.status == Status::Failed);
        Ok(failed.map(|step| in_a_line(step.name, &step.detail)).collect())
    }

    fn unusable_page(&self) -> Option<Taken> {
        let path = super::page::file(self.here, self.settings);
        let read = heirloom_repo::read_within(&self.here.place.root, &path);
        read.err().map(|error| unusable(&error))
    }

    /// What the decision log says, or would, with what it is warned about.
    fn logged(&self, found: &Found, synced: &Synced) -> Taken {
        let decisions = counted(synced.decisions, "decision");
        let file = self.settings.notes.file.as_str();
        let entries = entries(found.taken_in + synced.taken_in);
        let mut detail = if self.dry_run {
            format!("would keep {decisions} in {file}, and import {entries} from it")
        } else {
            format!("{decisions} in {file}, {entries} imported from it")
        };
        let mut findings = findings(synced);
        findings.extend(found.notes.iter().filter_map(unexplained));
        let status = match (findings.is_empty(), self.dry_run) {
            (false, _) => Status::Warned,
            (true, true) => Status::Skipped,
            (true, false) => Status::Passed,
        };
        listed(&mut detail, &findings);
        Taken::new("decision_log", status, detail)
    }

    /// What a tracker would be told, where there is one.
    fn would_tell(&self) -> Taken {
        match self.found_tracker() {
            Ok(tracker) => {
                let detail = format!("would write comments with {}", tracker.name());
                Taken::new("tracker", Status::Skipped, detail)
            }
            Err(without) => without,
        }
    }

    /// The tracker, or what is said where there is none.
    fn found_tracker(&self) -> Result<Box<dyn Tracker>, Taken> {
        match tracker::find(self.here, self.waits) {
            None => {
                let detail = "built-in tracker; nothing to write".to_owned();
                Err(Taken::new("tracker", Status::Passed, detail))
            }
            Some(Err(error)) => Err(Taken::new("tracker", Status::Warned, error.to_string())),
            Some(Ok(tracker)) => Ok(tracker),
        }
    }

    /// Tells the tracker what it was not told yet, and of the handoff that was `made`.
    fn tell(&self, ledger: &mut Ledger, made: Option<&HandoffMade>) -> Result<Taken, Error> {
        let mut tracker = match self.found_tracker() {
            Ok(tracker) => tracker,
            Err(without) => return Ok(without),
        };
        let told = tracker::tell(self.here, ledger, tracker.as_mut(), (made, self.waits))?;
        let comments = counted(told.comments, "comment");
        let mut detail = format!("{comments} written with {}", tracker.name());
        if told.is_in_file {
            detail.push_str(", and written to its file");
        }
        listed(&mut detail, &told.failed);
        let status = if told.failed.is_empty() { Status::Passed } else { Status::Warned };
        Ok(Taken::new("tracker", status, detail))
    }

    /// The newest handoff of this session.
    fn last(&self, ledger: &Ledger) -> Result<Option<(Timestamp, HandoffMade)>, Error> {
        let own = handoffs::newest(ledger, &self.here.place.repo, Some(self.session.id))?;
        Ok(own.map(|kept| (kept.at, kept.body)))
    }

    /// Hands over what there is, for `cause`, unless that was handed over already.
    pub(super) fn hand_over(
        &self,
        ledger: &mut Ledger,
        found: &Found,
        cause: &str,
        at: Timestamp,
    ) -> Result<Option<HandoffMade>, Error> {
        if let Some((_, last)) = self.last(ledger)?
            && self.is_same(found, &last.handoff)
        {
            return Ok(None);
        }
        let handoff = self.content(found, cause);
        let previous = handoffs::newest(ledger, &self.here.place.repo, None)?;
        let previous = previous.map(|kept| kept.body.id);
        let made = HandoffMade { id: handoff.id(previous.as_deref()), previous, handoff };
        ledger.append(at, Scope::session(self.session.id, &self.session.repo), &made)?;
        Ok(Some(made))
    }

    fn hand_off(
        &self,
        ledger: &mut Ledger,
        found: &mut Found,
        at: Timestamp,
    ) -> Result<Option<Handed>, KeepError> {
        let handoff = self.content(found, self.purpose.as_str());
        let quotes: usize = found
            .notes
            .iter()
            .flat_map(|note| &note.evidence)
            .map(|evidence| tokens::estimate(evidence.quote.as_deref().unwrap_or_default()))
            .sum();
        let identifiers = handoff.identifiers.len();
        let (quotes, places) = (counted(quotes, "token"), counted(identifiers, "place"));
        let detail = match identifiers {
            0 => "no quoted code to leave out".to_owned(),
            _ => format!("{quotes} of quoted code left out, {places} kept to look it up"),
        };
        found.steps.push(Taken::new("decay", Status::Passed, detail));
        let last = self.last(ledger)?;
        if let Some((_, last)) = last
            && self.is_same(found, &last.handoff)
        {
            let detail = format!("nothing new since {}", last.id);
            found.steps.push(Taken::new("handoff", Status::Passed, detail));
            return Ok(Some(Handed { id: last.id, made: None }));
        }
        if self.dry_run {
            found.steps.push(Taken::new(
                "handoff",
                Status::Skipped,
                "would make a handoff".to_owned(),
            ));
            return Ok(None);
        }
        let Some(made) = self.hand_over(ledger, found, self.purpose.as_str(), at)? else {
            return Ok(None);
        };
        found.steps.push(Taken::new("handoff", Status::Passed, made.id.clone()));
        Ok(Some(Handed { id: made.id.clone(), made: Some(made) }))
    }

    /// The lines of the page that are for whoever goes on, if there is a page.
    fn notes_ref(&self) -> Option<String> {
        let name = self.settings.notes.file.as_str();
        let path = super::page::file(self.here, self.settings);
        let text = heirloom_repo::read_within(&self.here.place.root, &path).ok()??;
        let is_head = |line: &str| line.starts_with("## ");
        let first = text.lines().position(|line| line.starts_with("## Session Continuity"))?;
        let length = text.lines().skip(first + 1).take_while(|line| !is_head(line)).count();
        Some(format!("{name}:{}-{}", first + 1, first + 1 + length))
    }

    /// Whether a handoff says it all. What it was for and what was committed since, the page of
    /// notes above all, is nothing new.
    fn is_same(&self, found: &Found, last: &Handoff) -> bool {
        let now = self.content(found, &last.cause);
        let (commit, notes_ref) = (last.commit.clone(), last.notes_ref.clone());
        let trajectory_ref = last.trajectory_ref.clone();
        let is_read_on = |(now, last): (&Worked, &Worked)| now.is_same(last);
        let worked = match now.worked.as_ref().zip(last.worked.as_ref()) {
            Some(both) if is_read_on(both) => last.worked.clone(),
            _ => now.worked.clone(),
        };
        Handoff { commit, notes_ref, trajectory_ref, worked, ..now } == *last
    }

    /// What is handed over. Says nothing about time, so that it is the same as long as the work is.
    fn content(&self, found: &Found, cause: &str) -> Handoff {
        let ids = |kind: Kind| -> Vec<NoteId> {
            found.notes.iter().filter(|note| note.kind == kind).map(|note| note.id).collect()
        };
        let mut seen = HashSet::new();
        let evidence = found.notes.iter().flat_map(|note| &note.evidence);
        let identifiers: Vec<String> = evidence
            .map(|evidence| format!("${{PROJECT_ROOT}}/{evidence}"))
            .filter(|identifier| seen.insert(identifier.clone()))
            .collect();
        let wanting = found.steps.iter().filter(|step| {
            step.status == Status::Failed && matches!(step.name, "grounding" | "ghosts")
        });
        Handoff {
            session: self.session.id,
            cause: cause.to_owned(),
            issue: found.notes.iter().rev().find_map(|note| note.issue.clone()),
            commit: heirloom_repo::git::commit(&self.here.place),
            claims: found.claims as u64,
            grounded: found.grounded as u64,
            ratio: found.ratio,
            decisions: ids(Kind::Decision),
            scenarios: ids(Kind::Scenario),
            next_steps: ids(Kind::NextStep),
            questions: ids(Kind::Question),
            progress: ids(Kind::Progress),
            warnings: ids(Kind::Warning),
            learnings: [ids(Kind::Learning), ids(Kind::Pattern)].concat(),
            identifiers,
            broken: found.broken.clone(),
            findings: wanting.map(|step| step.name.to_owned()).collect(),
            notes_ref: self.notes_ref(),
            trajectory_ref: Some(format!("ledger:{}", self.session.id)),
            worked: found.worked.clone(),
        }
    }
}

/// A page that is no text can be made again. What is not there to be a page is the person's to look at.
fn unusable(error: &FileError) -> Taken {
    let is_damaged = error.source.kind() == std::io::ErrorKind::InvalidData;
    let hint = if is_damaged { "; `heirloom heal` repairs it" } else { "" };
    Taken::new("decision_log", Status::Failed, format!("{}{hint}", causes::told(error)))
}

fn entries(count: usize) -> String {
    if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") }
}

/// `1 claim`, `2 claims`.
fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// What a decision lacks that a log of decisions asks for. Whether its evidence holds, grounding says.
fn unexplained(note: &Note) -> Option<String> {
    let is_lacking = note.kind == Kind::Decision
        && note.rationale.as_deref().is_none_or(|why| why.trim().is_empty());
    let again = || format!("note it again with --because \"…\" --supersedes {}", note.id.short());
    is_lacking.then(|| format!("{}: no reason given; {}", short(&note.text), again()))
}

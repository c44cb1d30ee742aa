//! The issue tracker, told about decisions and handoffs.
//!
//! What an issue's sessions decided is in the ledger in any case. Where the repository has a beads
//! tracker, it is told as well, once for each decision and handoff.

use std::time::{Duration, Instant};

use heirloom_core::event::{HandoffMade, TrackerTold};
use heirloom_core::note::{Kind, Note};
use heirloom_ledger::{Error, Keeping, Ledger, NoteFilter, Scope};
use serde::Serialize;

use crate::here::Here;
use crate::issues::{self, Tracker, TrackerError};

/// Who the comments are from.
const AUTHOR: &str = "heirloom";

/// Who waits while a tracker is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    /// An agent, in a hook that it ends after ten seconds.
    Agent,
    /// Somebody who asked for it.
    Person,
}

impl Waits {
    /// How long the tracker may take for one call, and after how long it is told no more.
    const fn patience(self) -> Duration {
        match self {
            Self::Agent => Duration::from_secs(2),
            Self::Person => issues::PATIENCE,
        }
    }
}

/// What the ledger knows about an issue.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Bridge {
    /// What was decided.
    pub decisions: Vec<Note>,
    /// What it must be tested with.
    pub test_scenarios: Vec<Note>,
    /// What was handed over.
    pub handoffs: Vec<HandoffMade>,
    /// What to do next.
    pub next_steps: Vec<Note>,
    /// What is in the way: questions that begin with `blocked` or `blocker`.
    pub blockers: Vec<Note>,
    /// What is still to be answered.
    pub questions: Vec<Note>,
}

/// What the ledger knows about `issue`.
pub fn bridge(here: &Here, ledger: &Ledger, issue: &str) -> Result<Bridge, Error> {
    const RECENT: usize = 500;
    let repo = Some(here.place.repo.as_str());
    let filter = NoteFilter { repo, issue: Some(issue), ..NoteFilter::default() };
    let mut bridge = Bridge::default();
    for note in ledger.notes(&filter)? {
        match note.kind {
            Kind::Decision => bridge.decisions.push(note),
            Kind::Scenario => bridge.test_scenarios.push(note),
            Kind::NextStep => bridge.next_steps.push(note),
            Kind::Question if note.text.to_lowercase().starts_with("block") => {
                bridge.blockers.push(note);
            }
            Kind::Question => bridge.questions.push(note),
            _ => {}
        }
    }
    let handoffs = ledger.newest_kept::<HandoffMade>(&here.place.repo, RECENT)?;
    let of_issue = |kept: &Keeping<HandoffMade>| kept.body.handoff.issue.as_deref() == Some(issue);
    bridge.handoffs = handoffs.into_iter().filter(of_issue).map(|kept| kept.body).collect();
    bridge.handoffs.reverse();
    Ok(bridge)
}

/// The tracker that is told, or why it cannot be.
type Found = Result<Box<dyn Tracker>, TrackerError>;

/// Finds the tracker of this repository, where it is another one than the ledger itself.
pub fn find(here: &Here, waits: Waits) -> Option<Found> {
    match issues::kind(here) {
        issues::Kind::BuiltIn => None,
        issues::Kind::Beads(_) => Some(issues::find_within(here, waits.patience())),
    }
}

/// What telling the tracker came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Told {
    /// How many comments were written.
    pub comments: usize,
    /// Whether it wrote what it holds back to its file.
    pub is_in_file: bool,
    pub failed: Vec<String>,
}

/// Tells the tracker of the decisions that it was not told of yet and of the handoff that was `made`, then has it
/// write its file. Once whoever waits has waited long enough, the rest is left for the next time: one that hangs
/// at its first call is not called again.
pub fn tell(
    here: &Here,
    ledger: &mut Ledger,
    tracker: &mut dyn Tracker,
    (made, waits): (Option<&HandoffMade>, Waits),
) -> Result<Told, Error> {
    let began = Instant::now();
    let has_time = || began.elapsed() < waits.patience();
    let mut told = Told::default();
    tell_decisions(here, ledger, tracker, &mut told, has_time)?;
    if let Some(made) = made.filter(|_| has_time()) {
        tell_handoff(here, ledger, tracker, &mut told, made)?;
    }
    if has_time() {
        match tracker.flush() {
            Ok(is_in_file) => told.is_in_file = is_in_file,
            Err(error) => told.failed.push(error.to_string()),
        }
    }
    Ok(told)
}

/// Tells the tracker about every decision on an issue that it was not told about yet.
fn tell_decisions(
    here: &Here,
    ledger: &mut Ledger,
    tracker: &mut dyn Tracker,
    told: &mut Told,
    has_time: impl Fn() -> bool,
) -> Result<(), Error> {
    let filter = NoteFilter {
        repo: Some(&here.place.repo),
        kind: Some(Kind::Decision),
        ..NoteFilter::default()
    };
    for note in ledger.notes(&filter)? {
        // The others are told next time.
        if !told.failed.is_empty() || !has_time() {
            break;
        }
        let Some(issue) = note.issue.clone() else { continue };
        let mut text = format!("DECISION: {}", note.text);
        if let Some(rationale) = &note.rationale {
            text.push_str("\nRationale: ");
            text.push_str(rationale);
        }
        for evidence in &note.evidence {
            text.push_str("\nEvidence: ${PROJECT_ROOT}/");
            text.push_str(&evidence.to_string());
        }
        let scope = Scope::session(note.session, &here.place.repo);
        comment_once(here, ledger, tracker, told, (scope, &note.id.to_string(), &issue, &text))?;
    }
    Ok(())
}

/// Tells the tracker about a handoff.
fn tell_handoff(
    here: &Here,
    ledger: &mut Ledger,
    tracker: &mut dyn Tracker,
    told: &mut Told,
    made: &HandoffMade,
) -> Result<(), Error> {
    let Some(issue) = made.handoff.issue.clone() else { return Ok(()) };
    let comment = format!(
        "HANDOFF: {}\nSession: {}\nNOTES ref: {}\nTrajectory: {}\nGrounding ratio: {:.2}\nPrevious: {}",
        made.id,
        made.handoff.session,
        made.handoff.notes_ref.as_deref().unwrap_or("none"),
        made.handoff.trajectory_ref.as_deref().unwrap_or("none"),
        made.handoff.ratio,
        made.previous.as_deref().unwrap_or("none")
    );
    let scope = Scope::session(made.handoff.session, &here.place.repo);
    comment_once(here, ledger, tracker, told, (scope, &made.id, &issue, &comment))
}

/// Writes a comment `about` something, unless that was written before.
fn comment_once(
    here: &Here,
    ledger: &mut Ledger,
    tracker: &mut dyn Tracker,
    told: &mut Told,
    (scope, about, issue, comment): (Scope<'_>, &str, &str, &str),
) -> Result<(), Error> {
    if ledger.kept::<TrackerTold>(&here.place.repo, about)?.is_some() {
        return Ok(());
    }
    let said = issue.parse().map_err(TrackerError::from);
    match said.and_then(|issue| tracker.comment(&issue, AUTHOR, comment)) {
        Ok(()) => {
            let body = TrackerTold {
                about: about.to_owned(),
                issue: issue.to_owned(),
                tracker: tracker.name().to_owned(),
            };
            ledger.append(here.clock.now(), scope, &body)?;
            told.comments += 1;
        }
        Err(error) => told.failed.push(format!("{} on {issue}: {error}", tracker.name())),
    }
    Ok(())
}

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

/// How long the tracker may take for one call, and for all decisions together. A hook at the end of a session tells
/// decisions, has the file written and tells a handoff, before its agent stops waiting after ten seconds.
const PATIENCE: Duration = Duration::from_secs(2);

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
pub fn find(here: &Here) -> Option<Found> {
    match issues::kind(here) {
        issues::Kind::BuiltIn => None,
        issues::Kind::Beads(_) => Some(issues::find_within(here, PATIENCE)),
    }
}

/// What telling the tracker came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Told {
    /// How many comments were written.
    pub comments: usize,
    pub failed: Vec<String>,
}

/// Tells the tracker about every decision on an issue that it was not told about yet.
pub fn tell_decisions(
    here: &Here,
    ledger: &mut Ledger,
    tracker: &mut dyn Tracker,
) -> Result<Told, Error> {
    let filter = NoteFilter {
        repo: Some(&here.place.repo),
        kind: Some(Kind::Decision),
        ..NoteFilter::default()
    };
    let mut told = Told::default();
    let began = Instant::now();
    for note in ledger.notes(&filter)? {
        // The others are told next time.
        if !told.failed.is_empty() || began.elapsed() >= PATIENCE {
            break;
        }
        let Some(issue) = note.issue.clone() else { continue };
        let mut comment = format!("DECISION: {}", note.text);
        if let Some(rationale) = &note.rationale {
            comment.push_str("\nRationale: ");
            comment.push_str(rationale);
        }
        for evidence in &note.evidence {
            comment.push_str("\nEvidence: ${PROJECT_ROOT}/");
            comment.push_str(&evidence.to_string());
        }
        let scope = Scope::session(note.session, &here.place.repo);
        tell(here, ledger, tracker, &mut told, (scope, &note.id.to_string(), &issue, &comment))?;
    }
    Ok(told)
}

/// Tells the tracker about a handoff.
pub fn tell_handoff(
    here: &Here,
    ledger: &mut Ledger,
    tracker: &mut dyn Tracker,
    made: &HandoffMade,
) -> Result<Told, Error> {
    let mut told = Told::default();
    let Some(issue) = made.handoff.issue.clone() else { return Ok(told) };
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
    tell(here, ledger, tracker, &mut told, (scope, &made.id, &issue, &comment))?;
    Ok(told)
}

fn tell(
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

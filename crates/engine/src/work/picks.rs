//! What a run would take up, in which order, and which session each issue would resume.

use std::collections::HashSet;

use heirloom_agents::process::orphan::Identity;
use heirloom_core::issue::{Entry, IssueStatus, Owner, Standing, standing};
use heirloom_core::work::{IssueRunStatus, Pick, Wanted, choose, left_over, needs_review};
use heirloom_ledger::{Error, Ledger};

use super::error::WorkError;
use super::options::Options;
use super::prior::{self, Resumes};
use super::reviews::Reviews;
use crate::here::Here;
use crate::issues::Tracker;
use crate::legacy::work_runs;

/// The name under which a run assigns issues to itself.
pub(super) const ACTOR: &str = "heirloom";
/// How many issues that were left alone are named.
const MOST_NAMED: usize = 10;
/// Why an issue cannot be resumed that never had a session.
pub(super) const NO_SESSION: &str = "there is no prior session";

/// An issue that a run would take up.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The issue.
    pub entry: Entry,
    /// The agent session it would go on with.
    pub resumes: Option<Resumes>,
    /// Whether its turn comes only when issues before it are closed.
    pub waits: bool,
    /// Why it would be refused, where sessions must be resumed.
    pub refused: Option<String>,
}

/// What a run would take up now, in order. Nothing is changed, and nothing taken in.
pub fn plan(
    here: &Here,
    ledger: &Ledger,
    tracker: &mut dyn Tracker,
    options: &Options,
) -> Result<Vec<Planned>, WorkError> {
    let original = if options.wanted.resume { work_runs::look(here, ledger)? } else { Vec::new() };
    let entries = tracker.backlog()?;
    let mut planned = Vec::new();
    for (pick, resumes) in ours(here, ledger, &entries, &options.wanted)? {
        let resumes = resumes.map(|resumes| *resumes);
        let is_begun = pick.entry.status == IssueStatus::InProgress;
        let before = original.iter().filter(|_| is_begun);
        let before = before.filter_map(|run| Resumes::of_original(run, &pick.entry.id));
        let resumes = before.chain(resumes).max_by_key(|resumes| resumes.at);
        let resumes = resumes.filter(|_| !options.fresh);
        let gone = resumes.as_ref().and_then(|resumes| resumes.why_gone(&here.env));
        let strict = options.strict && options.wanted.resume;
        let refused = match (&resumes, &gone) {
            (None, _) => Some(NO_SESSION.to_owned()),
            (Some(_), gone) => gone.clone(),
        };
        planned.push(Planned {
            entry: pick.entry.clone(),
            resumes: resumes.filter(|_| gone.is_none()),
            waits: pick.waits,
            refused: refused.filter(|_| strict),
        });
    }
    planned.truncate(options.max_issues.unwrap_or(usize::MAX));
    Ok(planned)
}

/// An issue that is taken up, and the agent session that it was begun in.
pub(super) type Ours<'e> = (Pick<'e>, Option<Box<Resumes>>);

/// What a run takes up of these issues, in order, with the agent session that each was begun in. What a person has,
/// or has to look at first, is left out, and so is what comes only after it.
pub(super) fn ours<'e>(
    here: &Here,
    ledger: &Ledger,
    entries: &'e [Entry],
    wanted: &Wanted,
) -> Result<Vec<Ours<'e>>, Error> {
    let standing = Claims::read(here, ledger)?;
    let (mut ours, mut left) = (Vec::new(), HashSet::new());
    for pick in choose(entries, wanted, here.clock.now()) {
        if standing.is_taken(&pick.entry.id) {
            continue;
        }
        let waits_for_a_person = pick.entry.blocked_by.iter().any(|id| left.contains(id));
        match may_resume(here, ledger, pick.entry, wanted)? {
            Begun::Ours(resumes) if !waits_for_a_person && !is_given(pick.entry) => {
                ours.push((pick, resumes));
            }
            Begun::Ours(_) | Begun::Theirs | Begun::ToReview => {
                left.insert(&pick.entry.id);
            }
        }
    }
    Ok(ours)
}

/// Whether somebody else is to do an open issue: a run cannot claim it then.
fn is_given(entry: &Entry) -> bool {
    let other = entry.assignee.as_deref().is_some_and(|assignee| assignee != ACTOR);
    other && entry.status == IssueStatus::Open
}

/// What a run over these issues would leave alone because somebody has it or has to look at it first,
/// with the reason.
pub fn left_alone<'e>(
    here: &Here,
    ledger: &Ledger,
    entries: &'e [Entry],
    wanted: &Wanted,
) -> Result<Vec<(&'e Entry, String)>, Error> {
    let reviews = Reviews::read(here, ledger)?;
    let claims = Claims::read(here, ledger)?;
    let held = |entry: &Entry| {
        if claims.is_taken(&entry.id) {
            return Some("somebody is working on it now".to_owned());
        }
        reviews.of(entry).map(|_| needs_review(&entry.id))
    };
    Ok(left_over(entries, wanted, ACTOR, held, here.clock.now()))
}

/// What is said of the issues that were left alone: of the first ones by their ids, then how many more
/// there are.
pub fn tell_left_alone<'e>(left: &[(&'e Entry, String)]) -> Vec<(Option<&'e str>, String)> {
    let named = left.iter().take(MOST_NAMED);
    let mut told: Vec<_> =
        named.map(|(entry, why)| (Some(entry.id.as_str()), format!("skipped: {why}"))).collect();
    let more = left.len() - told.len();
    if more > 0 {
        told.push((None, format!("{more} more skipped for similar reasons")));
    }
    told
}

/// Whose an issue that was begun is.
pub(super) enum Begun {
    /// Ours to go on with, in this agent session where there is one.
    Ours(Option<Box<Resumes>>),
    /// Somebody else's: it is assigned, and no run ever worked on it.
    Theirs,
    /// A person has to look at it before an agent is sent again.
    ToReview,
}

/// Whether an issue may be worked on, and in which agent session. Only what is in progress is
/// resumed: an open issue begins anew.
pub(super) fn may_resume(
    here: &Here,
    ledger: &Ledger,
    entry: &Entry,
    wanted: &Wanted,
) -> Result<Begun, Error> {
    if entry.status != IssueStatus::InProgress {
        return Ok(Begun::Ours(None));
    }
    let repo = &here.place.repo;
    let resumes = prior::find(ledger, repo, &entry.id)?;
    let is_named = wanted.only.contains(&entry.id);
    let runs = ledger.issue_runs(repo, entry.id.as_str())?;
    let to_review = runs.first().is_some_and(|run| run.status == IssueRunStatus::NeedsReview);
    if to_review && !is_named {
        return Ok(Begun::ToReview);
    }
    let theirs = entry.assignee.as_deref().is_some_and(|assignee| assignee != ACTOR);
    if theirs && !is_named && resumes.is_none() && runs.is_empty() {
        return Ok(Begun::Theirs);
    }
    Ok(Begun::Ours(resumes.map(Box::new)))
}

/// The issues that others work on now.
pub(super) struct Claims(HashSet<String>);

impl Claims {
    pub(super) fn read(here: &Here, ledger: &Ledger) -> Result<Self, Error> {
        let me = owner(ledger, "")?;
        let now = here.clock.now();
        let taken = ledger
            .claims(&here.place.repo)?
            .into_iter()
            .filter(|(_, claim)| standing(claim, &me, now, is_alive) == Standing::Taken);
        Ok(Self(taken.map(|(issue, _)| issue.to_string()).collect()))
    }

    pub(super) fn is_taken(&self, issue: &heirloom_core::issue::IssueId) -> bool {
        self.0.contains(issue.as_str())
    }
}

/// This process, as the owner of claims.
pub(super) fn owner(ledger: &Ledger, name: &str) -> Result<Owner, Error> {
    let process = Identity::of(std::process::id());
    Ok(Owner {
        name: name.to_owned(),
        host: ledger.host()?.to_string(),
        pid: Some(process.pid),
        pid_started: process.began,
    })
}

/// Whether a process of this machine may still run: what is taken for dead is ended and closed.
pub(super) fn is_alive(pid: u32, began: Option<u64>) -> bool {
    !Identity { pid, began }.is_gone()
}

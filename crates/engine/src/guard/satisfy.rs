//! Satisfying, clearing, pausing: what a skill, an agent or a person does about requirements.

use heirloom_core::event::{RequirementsPaused, RequirementsPruned, RequirementsResumed};
use heirloom_core::guard::branch::BranchKey;
use heirloom_core::guard::requirement::{Evidence, Requirement, Scope};
use heirloom_core::guard::state::{
    BY_AGENT, BY_APPROVAL, BY_PERSON, Change, ChangeKind, Entry, Key, Reach, Satisfied,
};
use heirloom_core::id::SessionId;
use heirloom_core::trust::person::Action;
use heirloom_ledger::{Error, Ledger, Pause, Scope as In};
use heirloom_repo::changes;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use super::facts::diff;
use super::settle::settle;
use super::subject::Subject;
use crate::here::Here;
use crate::person::{self, PersonError};

/// How requirements are satisfied.
#[derive(Debug, Clone)]
pub struct Satisfy<'a> {
    /// By whom or what: `skill`, `person`, `agent`, `approval`.
    pub by: &'a str,
    pub metadata: Value,
    /// For how many seconds, where that is not the requirement's own.
    pub ttl: Option<u64>,
    /// For what, where that is not the requirement's own.
    pub scope: Option<Scope>,
    pub branch: BranchKey,
}

/// How long an approval holds where neither the person nor the requirement says.
const APPROVAL_SECONDS: u64 = 300;

/// How requirements are approved.
#[derive(Debug, Clone, Copy)]
pub struct Approve<'a> {
    /// For how many seconds.
    pub ttl: Option<u64>,
    pub branch: &'a BranchKey,
}

/// Satisfies requirements for a time, by a person's word.
pub fn approve(
    here: &Here,
    ledger: &mut Ledger,
    subject: &Subject,
    requirements: &[&Requirement],
    how: Approve<'_>,
) -> Result<Vec<Change>, PersonError> {
    person::allow(here, ledger, Action::ApproveRequirement)?;
    let by = BY_APPROVAL;
    let mut changes = Vec::new();
    for requirement in requirements {
        let ttl = how.ttl.or(requirement.ttl).unwrap_or(APPROVAL_SECONDS);
        let branch = how.branch.clone();
        let how = Satisfy { by, metadata: Value::Null, ttl: Some(ttl), scope: None, branch };
        changes.extend(satisfy(here, ledger, subject, &[requirement], &how)?);
    }
    Ok(changes)
}

/// What whoever runs a command says about requirements.
#[derive(Debug, Clone)]
pub struct Word<'a> {
    /// Why they are satisfied.
    pub reason: Option<&'a str>,
    pub metadata: Value,
    /// For how many seconds, where that is not the requirement's own.
    pub ttl: Option<u64>,
    /// For what, where that is not the requirement's own.
    pub scope: Option<Scope>,
    pub branch: BranchKey,
}

/// Why somebody's word was not taken.
#[derive(Debug, thiserror::Error)]
pub enum WordError {
    /// Only a person's counts, or the ledger failed.
    #[error(transparent)]
    Person(#[from] PersonError),
    /// An agent did not say why.
    #[error("an agent has to give a reason")]
    NoReason,
}

/// Satisfies requirements by the word of whoever runs the command: a person's always counts, an agent's
/// only where the requirement takes it, and only with a reason.
pub fn satisfy_by_word(
    here: &Here,
    ledger: &mut Ledger,
    subject: &Subject,
    requirements: &[&Requirement],
    word: Word<'_>,
) -> Result<Vec<Change>, WordError> {
    let mut metadata = word.metadata;
    let mut by = BY_PERSON;
    if let Err(refused) = person::allow(here, ledger, Action::SatisfyRequirement) {
        if !requirements.iter().all(|requirement| requirement.takes_word()) {
            return Err(PersonError::from(refused).into());
        }
        let reason = word.reason.filter(|reason| !reason.trim().is_empty());
        let Some(reason) = reason else { return Err(WordError::NoReason) };
        if !metadata.is_object() {
            metadata = Value::Object(Map::new());
        }
        metadata["reason"] = reason.into();
        by = BY_AGENT;
    }
    let how = Satisfy { by, metadata, ttl: word.ttl, scope: word.scope, branch: word.branch };
    Ok(satisfy(here, ledger, subject, requirements, &how).map_err(PersonError::from)?)
}

/// Satisfies requirements for a session, wherever it has triggered them.
pub fn satisfy(
    here: &Here,
    ledger: &mut Ledger,
    subject: &Subject,
    requirements: &[&Requirement],
    how: &Satisfy<'_>,
) -> Result<Vec<Change>, Error> {
    let now = here.clock.now();
    let own = ledger.own_requirements(&here.place.repo, &subject.keys)?;
    let whose = subject.whose(here);
    let mut changes = Vec::new();
    for requirement in requirements {
        let scope = how.scope.unwrap_or(requirement.scope);
        let satisfied = Satisfied {
            metadata: how.metadata.clone(),
            reviewed: reviewed(here, requirement),
            ..Satisfied::now(requirement, how.by, now, how.ttl)
        };
        let mut branches = vec![how.branch.clone()];
        if Reach::of(scope) == Reach::Session {
            branches.extend(waiting(&own, requirement, &how.branch, now));
        }
        for branch in branches {
            let kind = ChangeKind::Satisfied(scope, satisfied.clone());
            changes.push(whose.change(&requirement.name, &branch, kind));
        }
    }
    settle(ledger, now, whose, &changes)?;
    Ok(changes)
}

/// The other branches on which the session has triggered the requirement and nobody satisfied it.
fn waiting(
    own: &[(Key, Entry)],
    requirement: &Requirement,
    branch: &BranchKey,
    now: Timestamp,
) -> Vec<BranchKey> {
    let waits = |(key, entry): &&(Key, Entry)| {
        key.name == requirement.name
            && key.branch != branch.as_str()
            && entry.triggered_at.is_some()
            && entry.satisfied.as_ref().is_none_or(|satisfied| !satisfied.holds(now))
    };
    let mut branches: Vec<BranchKey> =
        own.iter().filter(waits).map(|(key, _)| BranchKey::stored(key.branch.clone())).collect();
    branches.sort();
    branches.dedup();
    branches
}

/// What is reviewed now, where that is what counts. What cannot be found out was not reviewed.
fn reviewed(here: &Here, requirement: &Requirement) -> Option<String> {
    let paths = requirement.evidence.iter().find_map(|evidence| match evidence {
        Evidence::Diff { paths } => Some(paths),
        _ => None,
    })?;
    diff(here, paths).ok()
}

/// Clears requirements: for a session, or for what their scope reaches.
pub fn clear(
    here: &Here,
    ledger: &mut Ledger,
    subject: &Subject,
    names: &[(String, Scope)],
    branch: &BranchKey,
) -> Result<Vec<Change>, PersonError> {
    person::allow(here, ledger, Action::ClearRequirement)?;
    let method = BY_PERSON;
    let whose = subject.whose(here);
    let clear = |(name, scope): &(String, Scope)| {
        whose.change(name, branch, ChangeKind::Cleared(*scope, method.to_owned()))
    };
    let mut changes: Vec<Change> = names.iter().map(clear).collect();
    // An entry may be there under another of the session's names.
    for (key, entry) in ledger.own_requirements(&here.place.repo, &subject.keys)? {
        let asked = names
            .iter()
            .find(|(name, scope)| *name == key.name && Reach::of(*scope) == Reach::Session);
        if let Some((name, scope)) = asked
            && entry.satisfied.is_some()
            && key.branch == branch.as_str()
            && Some(key.session.as_str()) != whose.key
        {
            let kind = ChangeKind::Cleared(*scope, method.to_owned());
            let session = Some(key.session.clone());
            changes.push(Change { name: name.clone(), branch: branch.clone(), session, kind });
        }
    }
    settle(ledger, here.clock.now(), whose, &changes)?;
    Ok(changes)
}

/// Pauses requirements, in a session or in the whole repository.
pub fn pause(
    here: &Here,
    ledger: &mut Ledger,
    subject: Option<&Subject>,
    reason: Option<String>,
    seconds: Option<u64>,
) -> Result<RequirementsPaused, PersonError> {
    person::allow(here, ledger, Action::PauseRequirements)?;
    let now = here.clock.now();
    let end = |seconds| {
        now.saturating_add(SignedDuration::from_secs(i64::try_from(seconds).unwrap_or(i64::MAX)))
            .ok()
    };
    let expires_at = seconds.and_then(end);
    let paused = RequirementsPaused { method: BY_PERSON.to_owned(), reason, expires_at };
    ledger.append(now, reach(here, subject), &paused)?;
    Ok(paused)
}

/// Ends a pause.
pub fn resume(
    here: &Here,
    ledger: &mut Ledger,
    subject: Option<&Subject>,
    method: &str,
) -> Result<(), Error> {
    let resumed = RequirementsResumed { method: method.to_owned() };
    ledger.append(here.clock.now(), reach(here, subject), &resumed).map(drop)
}

/// Ends a pause that is the session's own: it ends with the session, or when that begins anew.
pub(super) fn end_pause(
    here: &Here,
    ledger: &mut Ledger,
    session: SessionId,
    pause: Option<&Pause>,
) -> Result<(), Error> {
    if pause.is_none_or(|pause| pause.in_repo) {
        return Ok(());
    }
    let resumed = RequirementsResumed { method: "session_end".to_owned() };
    ledger.append(here.clock.now(), In::session(session, &here.place.repo), &resumed).map(drop)
}

fn reach<'a>(here: &'a Here, subject: Option<&Subject>) -> In<'a> {
    In { session: subject.and_then(|subject| subject.session), repo: Some(&here.place.repo) }
}

/// Forgets what is known on branches that are gone. Nothing where git does not say which there are.
pub fn prune(
    here: &Here,
    ledger: &mut Ledger,
    method: &str,
    is_rehearsal: bool,
) -> Result<Option<Vec<String>>, Error> {
    let Some(there) = changes::branches(&here.place) else { return Ok(None) };
    let entries = ledger.all_requirements(&here.place.repo)?;
    let mut gone: Vec<String> = entries
        .into_iter()
        .map(|(key, _)| key.branch)
        // What is not a branch is a commit, which may be checked out again.
        .filter(|branch| {
            BranchKey::stored(branch.clone()).name().is_some_and(|name| !name.is_empty())
        })
        .filter(|branch| !there.contains(branch))
        // A branch without a commit is not in git's list.
        .filter(|branch| here.place.head.branch() != Some(branch.as_str()))
        .collect();
    gone.sort();
    gone.dedup();
    if !gone.is_empty() && !is_rehearsal {
        let pruned = RequirementsPruned { branches: gone.clone(), method: method.to_owned() };
        let scope = In { session: None, repo: Some(&here.place.repo) };
        ledger.append(here.clock.now(), scope, &pruned)?;
    }
    Ok(Some(gone))
}

//! Whether a requirement is met, given what is known about it and about the world.

use jiff::Timestamp;

use super::branch::BranchKey;
use super::glob;
use super::requirement::{Evidence, Measure, OnError, Requirement, Rule};
use super::state::{BY_APPROVAL, BY_PERSON, Entry, Held, Satisfied};

/// When and where something is decided.
#[derive(Debug, Clone, Copy)]
pub struct Moment<'a> {
    /// The time.
    pub now: Timestamp,
    /// What is checked out.
    pub branch: &'a BranchKey,
    /// The session, by its full id.
    pub session: &'a str,
    /// The session's name, where it is one of a run and has a directory of that name.
    pub run: Option<&'a str>,
}

/// What a rule may have to ask. Each question is asked only when its answer matters, because the
/// agent waits for it.
pub trait Facts {
    /// What the session sees of a requirement on a branch.
    fn held(&mut self, requirement: &Requirement, branch: &BranchKey) -> Result<Held, Fault>;
    /// The files at these places, newest first.
    fn files(&mut self, paths: &[String]) -> Result<Vec<FileFact>, Fault>;
    /// Whether a shell command succeeds within so many seconds.
    fn succeeds(&mut self, command: &str, timeout: u64) -> Result<bool, Fault>;
    /// The hash of the changes to these files, or to all.
    fn diff(&mut self, paths: &[String]) -> Result<String, Fault>;
    /// The measured value, at most so many seconds old, and when it was measured.
    fn measure(&mut self, measure: &Measure, cache: u64) -> Result<(f64, Timestamp), Fault>;
    /// The other sessions that are at work in this directory.
    fn other_sessions(&mut self) -> Result<Vec<String>, Fault>;
}

/// Why something could not be found out: a fault, not a violation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Fault {
    pub what: String,
}

/// A file that may be evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFact {
    pub path: String,
    /// When it was last changed.
    pub modified: Timestamp,
    pub text: String,
}

/// Whether a requirement is met.
#[derive(Debug, Clone, PartialEq)]
pub enum Standing {
    /// It is, because of this where somebody satisfied it.
    Met(Option<Satisfied>),
    /// It is, but not by much.
    Near {
        /// What was measured.
        value: f64,
        /// From where on the agent is told.
        threshold: f64,
    },
    /// It is not.
    Unmet(Unmet),
}

/// Why a requirement is not met.
#[derive(Debug, Clone, PartialEq)]
pub enum Unmet {
    /// Nobody has satisfied it.
    NeverSatisfied,
    /// It was satisfied until then.
    Expired(Timestamp),
    /// It was satisfied, but what has to be true besides is not.
    Evidence(Gap),
    /// The measured value is too large.
    Over {
        /// What was measured.
        value: f64,
        /// From where on it is too large.
        threshold: f64,
        /// When it was measured.
        at: Timestamp,
    },
    /// The branch is protected.
    Protected,
    /// Others are at work here.
    OtherSessions(Vec<String>),
    /// It could not be checked, and its settings say that this is as bad.
    Fault(String),
}

/// What is missing in the evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gap {
    /// There is no such file.
    NoFile(Vec<String>),
    /// The newest file does not say what it should.
    NoMarker {
        /// The file.
        path: String,
        /// What it does not say.
        marker: String,
    },
    /// The newest file is too old.
    TooOld(String),
    CommandFailed(String),
    /// The changes are not those that were reviewed.
    Changed,
    /// It was satisfied without saying what was reviewed.
    NothingReviewed,
}

/// What was found out about a requirement.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Whether it is met. What could not be found out is met, unless the settings say otherwise.
    pub standing: Standing,
    /// What the session has of its own; nothing where that is not known.
    pub own: Option<Entry>,
    /// Why it could not be found out.
    pub fault: Option<Fault>,
}

/// Whether a requirement is met: the one answer that gates, that ends a turn, and that is shown.
pub fn judge(requirement: &Requirement, moment: &Moment<'_>, facts: &mut dyn Facts) -> Judged {
    let mut own = None;
    let standing = facts.held(requirement, moment.branch).and_then(|held| {
        let standing = check(requirement, &held, moment, facts);
        own = Some(held.own);
        standing
    });
    match standing {
        Ok(standing) => Judged { standing, own, fault: None },
        Err(fault) => {
            let denies = requirement.on_error == OnError::Deny;
            let standing = if denies {
                Standing::Unmet(Unmet::Fault(fault.what.clone()))
            } else {
                Standing::Met(None)
            };
            Judged { standing, own, fault: Some(fault) }
        }
    }
}

/// Checks a requirement.
fn check(
    requirement: &Requirement,
    held: &Held,
    moment: &Moment<'_>,
    facts: &mut dyn Facts,
) -> Result<Standing, Fault> {
    let satisfied = held.satisfied(requirement, moment.now);
    match (&requirement.rule, satisfied) {
        (Rule::Blocking, satisfied) => blocking(requirement, held, satisfied, moment, facts),
        (_, Some(approval)) => Ok(Standing::Met(Some(approval.clone()))),
        (Rule::Dynamic { measure, warn, block, cache }, None) => {
            let (value, at) = facts.measure(measure, *cache)?;
            Ok(dynamic(value, *warn, *block, at))
        }
        (Rule::ProtectedBranch { branches }, None) => Ok(protected(branches, moment)),
        (Rule::SingleSession, None) => {
            let others = facts.other_sessions()?;
            let alone = others.is_empty();
            Ok(if alone {
                Standing::Met(None)
            } else {
                Standing::Unmet(Unmet::OtherSessions(others))
            })
        }
    }
}

fn protected(branches: &[String], moment: &Moment<'_>) -> Standing {
    let is_protected = moment
        .branch
        .name()
        .is_some_and(|name| branches.iter().any(|branch| glob::wildcard(branch, name)));
    if is_protected { Standing::Unmet(Unmet::Protected) } else { Standing::Met(None) }
}

fn unsatisfied(requirement: &Requirement, held: &Held, moment: &Moment<'_>) -> Unmet {
    let expired = held.expired(requirement, moment.now).and_then(|expired| expired.expires_at);
    expired.map_or(Unmet::NeverSatisfied, Unmet::Expired)
}

fn dynamic(value: f64, warn: Option<f64>, block: f64, at: Timestamp) -> Standing {
    match warn {
        _ if value >= block => Standing::Unmet(Unmet::Over { value, threshold: block, at }),
        Some(threshold) if value >= threshold => Standing::Near { value, threshold },
        _ => Standing::Met(None),
    }
}

fn blocking(
    requirement: &Requirement,
    held: &Held,
    satisfied: Option<&Satisfied>,
    moment: &Moment<'_>,
    facts: &mut dyn Facts,
) -> Result<Standing, Fault> {
    if satisfied.is_none() && !speaks_for_itself(requirement) {
        return Ok(Standing::Unmet(unsatisfied(requirement, held, moment)));
    }
    for evidence in &requirement.evidence {
        if let Some(gap) = gap(evidence, satisfied, moment, facts)? {
            return Ok(Standing::Unmet(Unmet::Evidence(gap)));
        }
    }
    Ok(Standing::Met(satisfied.cloned()))
}

/// A file or a command is enough where there is no skill that has to finish as well.
fn speaks_for_itself(requirement: &Requirement) -> bool {
    let is_review = |evidence: &Evidence| matches!(evidence, Evidence::Diff { .. });
    requirement.skills.is_empty()
        && !requirement.evidence.is_empty()
        && !requirement.evidence.iter().any(is_review)
}

fn gap(
    evidence: &Evidence,
    satisfied: Option<&Satisfied>,
    moment: &Moment<'_>,
    facts: &mut dyn Facts,
) -> Result<Option<Gap>, Fault> {
    let is_waived = satisfied.is_some_and(is_waiver);
    match evidence {
        Evidence::Diff { paths } => match satisfied.and_then(|s| s.reviewed.as_ref()) {
            Some(reviewed) => Ok((facts.diff(paths)? != *reviewed).then_some(Gap::Changed)),
            None => Ok((!is_waived).then_some(Gap::NothingReviewed)),
        },
        _ if is_waived => Ok(None),
        Evidence::File { paths, markers, max_age } => {
            Ok(file_gap(&facts.files(paths)?, paths, markers, *max_age, moment.now))
        }
        Evidence::Command { run, timeout } => {
            let failed = !facts.succeeds(run, *timeout)?;
            Ok(failed.then(|| Gap::CommandFailed(run.clone())))
        }
    }
}

/// What a person says goes before what a file says. The two last names are those of imported state.
fn is_waiver(satisfied: &Satisfied) -> bool {
    matches!(satisfied.by.as_str(), BY_PERSON | BY_APPROVAL | "cli" | "cli_bypass")
}

/// Whether a text says a marker as words of its own, and not that it is not so: `not approved`,
/// `disapproved` and `unapproved` do not say `approved`.
fn says(text: &str, marker: &str) -> bool {
    const DENIALS: [&str; 9] =
        ["not", "no", "never", "without", "cannot", "isn't", "wasn't", "hardly", "neither"];
    let joins = |c: char| c.is_alphanumeric() || c == '_';
    marker.is_empty()
        || text.match_indices(marker).any(|(start, _)| {
            let (before, after) = (&text[..start], &text[start + marker.len()..]);
            let is_joined = (marker.starts_with(joins) && before.ends_with(joins))
                || (marker.ends_with(joins) && after.starts_with(joins));
            let blank = |c: char| c.is_whitespace() || matches!(c, '*' | '`' | '"' | '_');
            let word = before.trim_end_matches(blank).rsplit(char::is_whitespace).next();
            let word = word.unwrap_or_default().trim_start_matches(|c: char| !c.is_alphanumeric());
            !is_joined && !DENIALS.contains(&word)
        })
}

/// Any file that fits is enough; where none does, the newest says what is missing.
fn file_gap(
    files: &[FileFact],
    paths: &[String],
    markers: &[String],
    max_age: Option<u64>,
    now: Timestamp,
) -> Option<Gap> {
    let gap_in = |file: &FileFact| {
        let age = now.duration_since(file.modified).as_secs();
        if max_age.is_some_and(|most| age > i64::try_from(most).unwrap_or(i64::MAX)) {
            return Some(Gap::TooOld(file.path.clone()));
        }
        let text = file.text.to_lowercase();
        let missing = markers.iter().find(|marker| !says(&text, &marker.to_lowercase()))?;
        Some(Gap::NoMarker { path: file.path.clone(), marker: missing.clone() })
    };
    let mut newest = None;
    for file in files {
        let gap = gap_in(file)?;
        newest.get_or_insert(gap);
    }
    Some(newest.unwrap_or_else(|| Gap::NoFile(paths.to_vec())))
}

#[cfg(test)]
mod tests {
    use super::says;

    #[test]
    fn a_verdict_is_said_and_not_denied() {
        for text in [
            "verdict: approved",
            "**APPROVED**",
            "approved.",
            "not bad; approved",
            "rejected before, now approved",
        ] {
            assert!(says(&text.to_lowercase(), "approved"), "{text}");
        }
        for text in [
            "rejected, not approved",
            "not **approved**",
            "unapproved",
            "disapproved",
            "never approved",
            "approvedness",
            "isn't approved",
        ] {
            assert!(!says(text, "approved"), "{text}");
        }
        assert!(says("see ✔ done", "✔") && says("## verdict: pass", "verdict: pass"));
    }
}

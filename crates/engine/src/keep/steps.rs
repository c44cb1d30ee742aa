//! The steps of a checkpoint: which there are, in which order, and how each one ended.

use std::borrow::Cow;

use heirloom_core::ground::Verdict;
use heirloom_core::words::in_words;
use serde::Serialize;

use super::page::Synced;

/// What the checkpoint is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// The context will be cleared.
    Clear,
    /// The context will be compacted.
    Compact,
}

impl Purpose {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Clear => "clear",
            Self::Compact => "compact",
        }
    }
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// All is well.
    Passed,
    /// Something is wanting, but it does not block.
    Warned,
    /// Something is wanting, and a strict checkpoint is blocked by it.
    Failed,
    /// Not done.
    Skipped,
}

impl Status {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Warned => "warned",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Its number, from 1.
    pub step: usize,
    pub name: &'static str,
    /// How it ended.
    pub status: Status,
    /// What it did or found.
    pub detail: String,
}

impl Step {
    /// What people read for its name.
    pub fn title(&self) -> Cow<'static, str> {
        title(self.name)
    }
}

/// What people read for the name of a step.
fn title(name: &str) -> Cow<'_, str> {
    match name {
        // The session continuity protocol has names of its own for these.
        "ghosts" => "absence".into(),
        "decay" => "quotes".into(),
        _ => in_words(name),
    }
}

/// A step as it is found out, before it has its number.
pub(super) struct Taken {
    pub(super) name: &'static str,
    pub(super) status: Status,
    pub(super) detail: String,
}

impl Taken {
    pub(super) fn new(name: &'static str, status: Status, detail: String) -> Self {
        Self { name, status, detail }
    }
}

/// Whether what is claimed not to exist does not.
pub(super) fn ghosts(checked: &[(&str, &Verdict)]) -> Taken {
    let about: Vec<_> = checked.iter().filter(|(_, verdict)| verdict.is_about_a_ghost()).collect();
    let wrong: Vec<String> = about
        .iter()
        .filter(|(_, verdict)| !verdict.is_grounded())
        .map(|(claim, verdict)| format!("{}: {verdict}", short(claim)))
        .collect();
    let mut detail = match about.len() {
        0 => "no claims of absence".to_owned(),
        1 => format!("{} of 1 claim of absence confirmed", 1 - wrong.len()),
        count => format!("{} of {count} claims of absence confirmed", count - wrong.len()),
    };
    listed(&mut detail, &wrong);
    let status = if wrong.is_empty() { Status::Passed } else { Status::Failed };
    Taken::new("ghosts", status, detail)
}

/// The steps by their numbers; what was not done because of a block says so.
pub(super) fn in_order(
    purpose: Purpose,
    mut found: Vec<Taken>,
    blocked: bool,
    dry_run: bool,
) -> Vec<Step> {
    let names: &[&'static str] = match purpose {
        Purpose::Clear => {
            &["grounding", "ghosts", "decision_log", "tracker", "handoff", "decay", "scenarios"]
        }
        Purpose::Compact => &["decision_log", "tracker", "handoff"],
    };
    let mut step = |(index, name): (usize, &&'static str)| {
        let place = found.iter().position(|found| found.name == *name);
        let (status, detail) = match place.map(|place| found.swap_remove(place)) {
            Some(taken) => (taken.status, taken.detail),
            None if blocked => (Status::Skipped, "blocked".to_owned()),
            None => (Status::Skipped, if dry_run { "dry run" } else { "not needed" }.to_owned()),
        };
        Step { step: index + 1, name, status, detail }
    };
    names.iter().enumerate().map(&mut step).collect()
}

/// What there is to say about the page, one finding each.
pub(super) fn findings(synced: &Synced) -> Vec<String> {
    let mut findings = Vec::new();
    findings.extend(synced.left_alone.iter().map(|why| format!("left as it is: {why}")));
    findings.extend(
        synced.violations.iter().map(|found| {
            format!("line {}: {} is not from ${{PROJECT_ROOT}}", found.line, found.path)
        }),
    );
    findings
        .extend(synced.unclear.iter().map(|found| format!("line {}: {}", found.line, found.why)));
    findings.extend(synced.forks.iter().map(|fork| {
        format!("fork: the page says \"{}\", the ledger \"{}\"", fork.claimed, fork.ledger)
    }));
    if synced.left > 0 {
        findings.push(format!("{} more entries will be imported next time", synced.left));
    }
    findings
}

/// The beginning of a claim, in quotes.
pub(super) fn short(text: &str) -> String {
    let line: String = text.lines().next().unwrap_or_default().chars().take(60).collect();
    format!("\"{line}\"")
}

/// Adds findings to what a step says, one a line.
pub(super) fn listed(detail: &mut String, findings: &[String]) {
    for finding in findings {
        detail.push_str("\n- ");
        detail.push_str(finding);
    }
}

/// So many findings of a step are named where all of it has to be said in a line.
const MOST_NAMED: usize = 3;

/// A step and what it found, in a line.
pub(super) fn in_a_line(name: &str, detail: &str) -> String {
    let mut lines = detail.lines();
    let first = lines.next().unwrap_or_default();
    let findings: Vec<&str> = lines.map(|line| line.trim_start_matches("- ")).collect();
    let named = &findings[..findings.len().min(MOST_NAMED)];
    let mut text = format!("{}: {first}", title(name));
    if !named.is_empty() {
        text = format!("{text}: {}", named.join("; "));
    }
    match findings.len() - named.len() {
        0 => text,
        more => format!("{text}; and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_named_for_people() {
        let names = ["ghosts", "decay", "decision_log", "tracker"];
        assert_eq!(names.map(title), ["absence", "quotes", "decision log", "tracker"]);
    }
}

//! At the start of a session: what the agent should know about requirements.

use jiff::Timestamp;

use super::text::{agents_resolution, listed};
use crate::guard::branch::BranchKey;
use crate::guard::check::{Judged, Standing};
use crate::guard::policy::Policy;
use crate::guard::requirement::{Enforcement, Requirement};
use crate::tokens;

/// Why nothing is gated here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inactive {
    /// The settings say so.
    SwitchedOff,
    /// A settings file cannot be read.
    Broken { file: String, reason: String },
}

/// What is known at the start of a session.
#[derive(Debug, Clone, Copy)]
pub struct Start<'a> {
    pub policy: &'a Policy,
    /// Each enabled requirement and how it stands. One with a fault is checked when it is needed.
    pub standings: &'a [(&'a Requirement, Judged)],
    /// What is checked out.
    pub branch: &'a BranchKey,
    /// That requirements are paused, where they are.
    pub paused: Option<Paused<'a>>,
    /// Faults of ours since the last session, to be seen by somebody.
    pub faults: &'a [String],
    /// What else the session should know: who else is here, what was carried over.
    pub notes: &'a [String],
}

/// The status at the start of a session, within the policy's budget. Nothing where the settings want
/// nothing said.
pub fn start(start: &Start<'_>) -> Option<String> {
    let budget = start.policy.start_tokens;
    if budget == 0 {
        return None;
    }
    if !start.policy.enabled {
        return Some(inactive(&Inactive::SwitchedOff));
    }
    let mut lines = vec![summary(start)];
    lines.extend(start.notes.iter().cloned());
    lines.extend(start.paused.map(paused_banner));
    if let Some(problem) = start.policy.problems.first() {
        let more = match start.policy.problems.len() {
            1 => String::new(),
            n => format!(" and {} more", n - 1),
        };
        lines.push(format!(
            "Settings: {problem}{more}. heirloom doctor shows all; tell the person."
        ));
    }
    if let Some(fault) = start.faults.first() {
        lines.push(format!(
            "heirloom failed and let the agent continue: {fault}. `heirloom doctor` shows all faults."
        ));
    }
    if start.paused.is_none() {
        lines.extend(open_lines(start.standings));
    }
    Some(within(lines, budget))
}

/// What a subagent should know: what is denied to the agent that started it, is denied to it as well.
pub fn subagent(start: &Start<'_>) -> Option<String> {
    if start.policy.start_tokens == 0 || !start.policy.enabled || start.paused.is_some() {
        return None;
    }
    let is_open = |(requirement, judged): &&(&Requirement, Judged)| {
        requirement.enforcement == Enforcement::Block && !requirement.stop_only && is_open(judged)
    };
    let open: Vec<_> = start.standings.iter().filter(is_open).cloned().collect();
    if open.is_empty() {
        return None;
    }
    let verb = if open.len() == 1 { "is" } else { "are" };
    let names = listed(open.iter().map(|(requirement, _)| requirement.name.as_str()));
    let mut lines = vec![format!(
        "heirloom: {names} {verb} not met; what needs that is denied to you as well."
    )];
    lines.extend(open_lines(&open));
    Some(within(lines, start.policy.start_tokens))
}

/// What is said where nothing is gated.
pub fn inactive(why: &Inactive) -> String {
    match why {
        Inactive::SwitchedOff => {
            "heirloom: requirements are switched off in the settings.".to_owned()
        }
        Inactive::Broken { file, reason } => {
            format!(
                "heirloom: {file} cannot be read, so requirements are not enforced until it is repaired. Tell the person: {reason}"
            )
        }
    }
}

/// That requirements are paused.
#[derive(Debug, Clone, Copy)]
pub struct Paused<'a> {
    /// Why; may be empty.
    pub reason: &'a str,
    /// Whether in every session of the repository: what ends that is not what ends the pause of one.
    pub in_repo: bool,
    /// When it ends by itself.
    pub until: Option<Timestamp>,
    /// The session that was asked about from outside of it, and has to be named.
    pub session: Option<&'a str>,
}

/// What is said while requirements are paused.
pub fn paused_banner(paused: Paused<'_>) -> String {
    let reason = paused.reason.trim();
    let why = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
    let until = paused.until.map(|at| format!(" until {at:.0}")).unwrap_or_default();
    let (place, which) = match (paused.in_repo, paused.session) {
        (true, _) => ("in this repository", " --repo".to_owned()),
        (false, Some(session)) => ("in this session", format!(" --session {session}")),
        (false, None) => ("in this session", String::new()),
    };
    format!(
        "Requirements are paused {place}{until}{why}: nothing is enforced. `heirloom req resume{which}` enforces them again."
    )
}

fn summary(start: &Start<'_>) -> String {
    let total = start.standings.len();
    let is_later =
        |(_, judged): &&(&Requirement, Judged)| judged.fault.is_some() && !is_open(judged);
    let later = start.standings.iter().filter(is_later).map(|(one, _)| one.name.as_str());
    let met = start.standings.iter().filter(|(_, judged)| is_met(judged)).count();
    let branch = start.branch;
    let later = match start.standings.iter().filter(is_later).count() {
        0 => String::new(),
        1 => format!("; {} is checked when it is needed", listed(later)),
        _ => format!("; {} are checked when they are needed", listed(later)),
    };
    match (met, total) {
        (_, 0) => "heirloom is active here; there are no requirements.".to_owned(),
        (met, total) if met == total => {
            format!("heirloom: all {total} requirements met on {branch}.")
        }
        (met, total) => format!("heirloom: {met} of {total} requirements met on {branch}{later}."),
    }
}

const fn is_met(judged: &Judged) -> bool {
    judged.fault.is_none() && !is_open(judged)
}

const fn is_open(judged: &Judged) -> bool {
    matches!(judged.standing, Standing::Unmet(_))
}

/// What is open, grouped by what satisfies it; what is enforced comes first.
fn open_lines(standings: &[(&Requirement, Judged)]) -> Vec<String> {
    let mut groups: Vec<(String, bool, Vec<&str>)> = Vec::new();
    let open = standings.iter().filter(|(_, judged)| is_open(judged));
    for (requirement, _) in open {
        let way = agents_resolution(requirement);
        let is_enforced = requirement.enforcement == Enforcement::Block;
        match groups
            .iter_mut()
            .find(|(known, enforced, _)| *known == way && *enforced == is_enforced)
        {
            Some((_, _, names)) => names.push(&requirement.name),
            None => groups.push((way, is_enforced, vec![&requirement.name])),
        }
    }
    groups.sort_by_key(|(_, is_enforced, _)| !is_enforced);
    let line = |(way, is_enforced, names): (String, bool, Vec<&str>)| {
        let unforced = if is_enforced { "" } else { " (not enforced)" };
        format!("{way} → {}{unforced}", listed(names.into_iter()))
    };
    groups.into_iter().map(line).collect()
}

/// As many lines as the budget holds. The first always stays, cut if it must be.
fn within(lines: Vec<String>, budget: usize) -> String {
    const MORE: &str = "More: heirloom req status";
    let all = lines.join("\n");
    if tokens::estimate(&all) <= budget {
        return all;
    }
    let mut text = String::new();
    for line in lines {
        let longer = if text.is_empty() { line } else { format!("{text}\n{line}") };
        if !text.is_empty() && tokens::estimate(&format!("{longer}\n{MORE}")) > budget {
            break;
        }
        text = longer;
    }
    tokens::beginning(&format!("{text}\n{MORE}"), budget).to_owned()
}

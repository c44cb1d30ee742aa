//! What the agent and its person are told.
//!
//! One message for everything that is unmet, the way out first, short enough that no agent cuts it.

use std::fmt::Write as _;

use jiff::Timestamp;

use super::before::Checked;
use crate::guard::check::{Gap, Moment, Standing, Unmet};
use crate::guard::requirement::{Requirement, Scope};
use crate::guard::state::{session_address, short_session};
use crate::guard::trigger::ToolUse;

/// The most UTF-16 units a message has. Agents cut at 10,000, and a reason stands inside a document.
pub const MAX_UNITS: usize = 9_500;
/// The most UTF-16 units that one requirement's own message takes of it.
const MAX_MESSAGE: usize = 1_500;
/// The most of a command that is quoted.
const MAX_COMMAND: usize = 200;
/// The most names in a list.
const MAX_NAMES: usize = 24;

/// What the reason begins with for which a turn may not end yet.
const UNFINISHED: &str = "Not finished: ";

type Unmets<'a> = [(&'a Requirement, Unmet)];

/// Why a tool use is denied.
pub(super) fn denial(
    checked: &[&Checked<'_>],
    tool_use: &ToolUse<'_>,
    moment: &Moment<'_>,
) -> String {
    let unmet = &unmet_of(checked);
    let done = match tool_use.command {
        _ if !tool_use.paths.is_empty() => "written",
        Some(_) => "run",
        None => "done",
    };
    let what_happened = format!("Nothing was {done} on {}.", moment.branch);
    let mut lines = vec![headline(unmet)];
    lines.extend(about(checked));
    lines.extend(ways_out(unmet, moment));
    if lines.len() == 1 {
        lines.push(what_happened);
    } else if let Some(last) = lines.last_mut() {
        let _ = write!(last, " {what_happened}");
    }
    with_waiver(&lines)
}

/// What a person is asked where it is not certain that a tool use needs a requirement.
pub(super) fn question(checked: &[&Checked<'_>]) -> String {
    let unmet = &unmet_of(checked);
    let mut lines = vec![format!(
        "It is not certain what this runs; it may need what is not met. {}",
        headline(unmet)
    )];
    lines.extend(about(checked));
    bounded(&lines.join("\n"), MAX_UNITS)
}

fn unmet_of<'c>(checked: &[&Checked<'c>]) -> Vec<(&'c Requirement, Unmet)> {
    let unmet = |checked: &&Checked<'c>| match &checked.standing {
        Some(Standing::Unmet(why)) => Some((checked.requirement, why.clone())),
        _ => None,
    };
    checked.iter().filter_map(unmet).collect()
}

/// Which command or file in the tool use it is about, where that is not all of it.
fn about(checked: &[&Checked<'_>]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for checked in checked {
        let what = checked.hit.what.as_ref().map(|what| bounded(what, MAX_COMMAND));
        let line = match (what, &checked.requirement.description) {
            (Some(what), Some(kind)) if checked.requirement.dangerous => {
                format!("`{what}` is dangerous: {kind}.")
            }
            (Some(what), _) => format!("It is about `{what}`."),
            (None, Some(kind)) if checked.requirement.dangerous => {
                format!("It may be dangerous: {kind}.")
            }
            (None, _) => continue,
        };
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// Why a turn may not end yet.
pub(super) fn unfinished(unmet: &Unmets<'_>, moment: &Moment<'_>) -> String {
    let mut lines = vec![format!("{UNFINISHED}{}", headline(unmet))];
    lines.extend(ways_out(unmet, moment));
    with_waiver(&lines)
}

/// Whether a prompt is our own word: some agents hand on as a prompt why a turn may not end.
pub fn is_own_prompt(prompt: &str) -> bool {
    prompt.trim_start().starts_with(UNFINISHED)
}

/// What the person is told when asking did not help.
pub(super) fn given_up(unmet: &Unmets<'_>, times: u32) -> String {
    let times = if times == 1 { "once".to_owned() } else { format!("{times} times") };
    bounded(
        &format!("heirloom asked {times} and lets the turn end: {}", headline(unmet)),
        MAX_UNITS,
    )
}

/// What the agent is told about a requirement that is not enforced.
pub(super) fn warning(requirement: &Requirement, why: &Unmet, moment: &Moment<'_>) -> String {
    let unmet = [(requirement, why.clone())];
    let mut line = headline(&unmet);
    for way in ways_out(&unmet, moment) {
        let _ = write!(line, " {way}");
    }
    line
}

/// What the agent is told about a value that gets large.
pub(super) fn nearing(requirement: &Requirement, value: f64, threshold: f64) -> String {
    format!("{}: {} is past {}, where it is worth a thought.", requirement.name, value, threshold)
}

fn headline(unmet: &Unmets<'_>) -> String {
    let names = listed(unmet.iter().map(|(requirement, _)| requirement.name.as_str()));
    let verb = if unmet.len() == 1 { "is" } else { "are" };
    let first = unmet.first().map(|(requirement, _)| requirement.scope);
    let is_common = unmet.iter().all(|(requirement, _)| Some(requirement.scope) == first);
    let reach = match first.filter(|_| is_common) {
        Some(Scope::Session) => " for this session",
        Some(Scope::Branch) => " on this branch",
        Some(Scope::SingleUse) => " for this action",
        Some(Scope::Permanent) => " in this repository",
        None => "",
    };
    format!("{names} {verb} not met{reach}.")
}

/// What to do, a line each: what the requirements say themselves, then the skills that help.
fn ways_out(unmet: &Unmets<'_>, moment: &Moment<'_>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut by_skill: Vec<(&str, &[String])> = Vec::new();
    for (requirement, why) in unmet {
        let message = requirement.message.as_ref().map(|message| {
            bounded(render_message(message, requirement, why, moment).trim(), MAX_MESSAGE)
        });
        let says_skill = message.as_ref().is_some_and(|message| {
            requirement.skills.iter().any(|skill| message.contains(short_skill(skill)))
        });
        let reason = reason(requirement, why, moment);
        if !says_skill && helps(why) && !requirement.skills.is_empty() {
            by_skill.push((&requirement.name, &requirement.skills));
        } else if message.is_none() && reason.is_none() {
            let name = &requirement.name;
            lines.push(if requirement.takes_word() {
                // A person who only asks has none.
                let session = match moment.session {
                    "" => String::new(),
                    session => format!(" --session {}", session_address(session)),
                };
                format!(
                    "{name}: say why it is met: heirloom req satisfy {name}{session} --reason WHY."
                )
            } else {
                format!("{name}: a person has to satisfy it.")
            });
        }
        for line in reason.into_iter().chain(message) {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines.extend(skill_lines(by_skill, unmet.len()));
    lines
}

/// Whether running a skill can do something about it.
const fn helps(why: &Unmet) -> bool {
    !matches!(why, Unmet::Fault(_))
}

/// As few skills as satisfy all: whichever satisfies the most first.
fn skill_lines(mut open: Vec<(&str, &[String])>, all: usize) -> Vec<String> {
    let mut lines = Vec::new();
    while let Some((_, first)) = open.first() {
        let count = |skill: &String| open.iter().filter(|(_, own)| own.contains(skill)).count();
        let candidates = open.iter().flat_map(|(_, skills)| skills.iter());
        // The first of those that satisfy the most.
        let best = candidates.rev().max_by_key(|skill| count(skill)).unwrap_or(&first[0]).clone();
        let (covered, rest): (Vec<_>, Vec<_>) =
            open.into_iter().partition(|(_, skills)| skills.contains(&best));
        open = rest;
        let skill = best.trim_start_matches('/');
        lines.push(match covered.len() {
            1 if all == 1 => format!("Run /{skill}."),
            2 if all == 2 => format!("Run /{skill}: it satisfies both."),
            n if n == all => format!("Run /{skill}: it satisfies all {n}."),
            _ => format!(
                "Run /{skill}: it satisfies {}.",
                listed(covered.iter().map(|(name, _)| *name))
            ),
        });
    }
    lines
}

/// What there is to say about it besides that it is not met.
fn reason(requirement: &Requirement, why: &Unmet, moment: &Moment<'_>) -> Option<String> {
    let name = &requirement.name;
    Some(match why {
        Unmet::NeverSatisfied => return None,
        Unmet::Expired(at) => {
            format!("{name} was satisfied until {at:.0}, {} ago.", age(*at, moment.now))
        }
        Unmet::Over { value, threshold, at } => {
            let age = age(*at, moment.now);
            format!("{name}: {value} has reached {threshold}, measured {age} ago.")
        }
        Unmet::Protected => {
            format!("{name}: {} is protected. Work on a branch of its own.", moment.branch)
        }
        Unmet::OtherSessions(others) => {
            let others: Vec<String> = others.iter().map(|id| short_session(id)).collect();
            format!("{name}: also working here: {}.", listed(others.iter().map(String::as_str)))
        }
        Unmet::Fault(what) => {
            format!("{name} could not be checked (a fault, not a violation): {what}.")
        }
        Unmet::Evidence(gap) => format!("{name}: {}.", gap_text(gap)),
    })
}

/// How long ago something was, in the largest unit that says anything.
fn age(at: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(at).as_secs().max(0);
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// What is missing in the evidence, in words.
pub fn gap_text(gap: &Gap) -> String {
    match gap {
        Gap::NoFile(paths) => {
            format!("there is no file at {}", listed(paths.iter().map(String::as_str)))
        }
        Gap::NoMarker { path, marker } => format!("{path} does not say `{marker}`"),
        Gap::TooOld(path) => format!("{path} is too old"),
        Gap::CommandFailed(run) => format!("`{run}` does not succeed"),
        Gap::Changed => "the changes are no longer those that were reviewed".to_owned(),
        Gap::NothingReviewed => "it is not known which changes were reviewed".to_owned(),
    }
}

/// What an agent reads names no command that it may not use: it would be used.
fn with_waiver(lines: &[String]) -> String {
    const WAIVER: &str = "A person can waive this.";
    format!("{}\n{WAIVER}", bounded(&lines.join("\n"), MAX_UNITS - WAIVER.len() - 1))
}

/// How a person satisfies a requirement, in a few words: `/arch-review`, or its command.
pub fn resolution(requirement: &Requirement) -> String {
    match requirement.skills.first() {
        Some(skill) => format!("/{}", skill.trim_start_matches('/')),
        None => format!("heirloom req satisfy {}", requirement.name),
    }
}

/// How an agent does: with no command that it may not use.
pub(super) fn agents_resolution(requirement: &Requirement) -> String {
    match requirement.skills.first() {
        None if !requirement.takes_word() => "a person".to_owned(),
        None => format!("heirloom req satisfy {} --reason WHY", requirement.name),
        Some(_) => resolution(requirement),
    }
}

fn short_skill(skill: &str) -> &str {
    skill.trim_start_matches('/').rsplit(':').next().unwrap_or(skill)
}

/// A requirement's own message with its variables filled in. Unknown ones stay as they are.
pub fn render_message(
    message: &str,
    requirement: &Requirement,
    why: &Unmet,
    moment: &Moment<'_>,
) -> String {
    let mut text = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(start) = rest.find('{') {
        text.push_str(&rest[..start]);
        rest = &rest[start..];
        let variable = rest.find('}').map(|end| &rest[1..end]);
        let filled = variable.and_then(|name| Some((name, value(name, requirement, why, moment)?)));
        if let Some((name, value)) = filled {
            text.push_str(&value);
            rest = &rest[name.len() + 2..];
        } else {
            text.push('{');
            rest = &rest[1..];
        }
    }
    text + rest
}

fn value(
    variable: &str,
    requirement: &Requirement,
    why: &Unmet,
    moment: &Moment<'_>,
) -> Option<String> {
    let measured = |pick: fn(f64, f64) -> f64| match why {
        Unmet::Over { value, threshold, .. } => Some(pick(*value, *threshold).to_string()),
        _ => None,
    };
    match variable {
        "skill" => requirement.skills.first().map(|skill| skill.trim_start_matches('/').to_owned()),
        "auto_resolve_skill" => {
            requirement.skills.first().map(|skill| short_skill(skill).to_owned())
        }
        // A person who only asks has none: the word stands where theirs would.
        "session" | "session_id" if moment.session.is_empty() => Some("SESSION".to_owned()),
        "session" | "session_id" => Some(session_address(moment.session)),
        "branch" => Some(moment.branch.to_string()),
        "name" | "req_name" | "requirement" => Some(requirement.name.clone()),
        "value" | "total" => measured(|value, _| value),
        "threshold" => measured(|_, threshold| threshold),
        _ => None,
    }
}

/// `a, b and c`; long lists say how many more there are.
pub(super) fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    if names.len() > MAX_NAMES {
        let more = names.len() - MAX_NAMES;
        names.truncate(MAX_NAMES);
        names.push(format!("{more} more"));
    }
    match names.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// The text, cut to so many UTF-16 units, with a mark where it was.
pub fn bounded(text: &str, most: usize) -> String {
    // No unit takes less than a byte, so most texts need no counting.
    if text.len() <= most || units(text) <= most {
        return text.to_owned();
    }
    let mut used = 1;
    let kept = text.chars().take_while(|c| {
        used += c.len_utf16();
        used <= most
    });
    kept.collect::<String>() + "…"
}

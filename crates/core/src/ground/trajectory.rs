//! Reading the claims of a trajectory file of the session continuity protocol.
//!
//! The protocol's documents describe several shapes for the same entry, and its scripts write some
//! of them over several lines. All of them are read. Whether an entry says of itself that it is
//! grounded counts for nothing: only what it cites does.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::note::Basis;

use super::claim::{Cited, Claim};

/// What a trajectory file holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trajectory<'a> {
    /// Its claims, in order, superseded ones among them.
    pub claims: Vec<Claim<'a>>,
    /// The lines on which something begins that is no entry.
    pub unreadable: Vec<usize>,
}

/// Reads a trajectory file; only the entries of `session`, if one is given.
pub fn read<'a>(text: &'a str, session: Option<&str>) -> Trajectory<'a> {
    let mut trajectory = Trajectory::default();
    let (mut offset, mut line) = (0, 0);
    while offset < text.len() {
        line += 1;
        let rest = &text[offset..];
        let length = memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |end| end + 1);
        let own = rest[..length].trim();
        let mut taken = length;
        if !own.is_empty() {
            match serde_json::from_str(own) {
                Ok(entry) => add(&mut trajectory.claims, &entry, session),
                Err(_) => match spread_out(rest) {
                    Some((entry, end)) => {
                        add(&mut trajectory.claims, &entry, session);
                        taken = end;
                    }
                    None => trajectory.unreadable.push(line),
                },
            }
        }
        line += rest[..taken].bytes().filter(|byte| *byte == b'\n').count().saturating_sub(1);
        offset += taken;
    }
    trajectory
}

/// An entry that was written over several lines, and where the line behind it begins.
fn spread_out(text: &str) -> Option<(Entry<'_>, usize)> {
    let mut entries = serde_json::Deserializer::from_str(text).into_iter::<Entry<'_>>();
    let entry = entries.next()?.ok()?;
    let end = entries.byte_offset();
    let rest = memchr::memchr(b'\n', &text.as_bytes()[end..]).map_or(text.len(), |to| end + to + 1);
    text[end..rest].trim().is_empty().then_some((entry, rest))
}

/// A string that is borrowed where it can be.
#[derive(Deserialize)]
struct Words<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(borrow, default)]
    phase: Option<Words<'a>>,
    #[serde(borrow, default, alias = "claim_id")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    claim: Option<Words<'a>>,
    #[serde(borrow, default)]
    decision: Option<Words<'a>>,
    #[serde(borrow, default)]
    action: Option<Words<'a>>,
    #[serde(borrow, default)]
    feature: Option<Words<'a>>,
    #[serde(borrow, default, alias = "session_id")]
    session: Option<Words<'a>>,
    #[serde(borrow, default)]
    grounding: Option<&'a RawValue>,
    #[serde(borrow, default)]
    evidence: Option<&'a RawValue>,
    #[serde(borrow, default)]
    citations: Option<&'a RawValue>,
    #[serde(borrow, default)]
    query1: Option<Words<'a>>,
    #[serde(borrow, default)]
    query2: Option<Words<'a>>,
    #[serde(borrow, default, alias = "file")]
    path: Option<Words<'a>>,
    #[serde(borrow, default, alias = "lines")]
    line: Option<&'a RawValue>,
    #[serde(borrow, default, alias = "code")]
    quote: Option<Words<'a>>,
}

/// What an entry says about how it is grounded, in the one shape or the other.
#[derive(Deserialize)]
struct Grounding<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Words<'a>>,
    #[serde(borrow, default)]
    refs: Option<&'a RawValue>,
}

fn add<'a>(claims: &mut Vec<Claim<'a>>, entry: &Entry<'a>, session: Option<&str>) {
    let other = |named: &Words<'a>| session.is_some_and(|session| named.0 != session);
    if entry.session.as_ref().is_some_and(other) {
        return;
    }
    match entry.phase.as_ref().map(|phase| &*phase.0) {
        Some("negative_ground" | "negative_grounding" | "ghost_detection") => {
            claims.extend(ghost(entry));
        }
        Some("cite") => match entry.citations {
            Some(list) => {
                let items: Vec<Entry<'a>> = serde_json::from_str(list.get()).unwrap_or_default();
                let items = items.iter();
                claims.extend(items.map(|item| claim(item, text(item).unwrap_or_default())));
            }
            None => claims.push(claim(entry, text(entry).unwrap_or_default())),
        },
        _ if is_object(entry.grounding) => {
            claims.extend(text(entry).map(|text| claim(entry, text)));
        }
        _ => {}
    }
}

fn is_object(value: Option<&RawValue>) -> bool {
    value.is_some_and(|value| value.get().starts_with('{'))
}

fn text<'a>(entry: &Entry<'a>) -> Option<Cow<'a, str>> {
    let words = entry.claim.as_ref().or(entry.decision.as_ref()).or(entry.action.as_ref());
    words.map(|words| words.0.clone())
}

fn claim<'a>(entry: &Entry<'a>, text: Cow<'a, str>) -> Claim<'a> {
    let (kind, refs) = grounding(entry.grounding);
    let basis = match kind.as_deref() {
        Some("assumption") => Some(Basis::Assumption),
        Some("user_input") => Some(Basis::UserInput),
        _ => None,
    };
    let mut evidence: Vec<Cited<'a>> = cited(entry).into_iter().collect();
    for list in [entry.evidence, refs].into_iter().flatten() {
        evidence.extend(places(list));
    }
    let id = id(entry).unwrap_or_else(|| text.clone());
    Claim { id, text, basis: basis.map(Cow::Owned), evidence }
}

fn id<'a>(entry: &Entry<'a>) -> Option<Cow<'a, str>> {
    entry.id.map(|id| Cow::Borrowed(id.get().trim_matches('"')))
}

fn ghost<'a>(entry: &Entry<'a>) -> Option<Claim<'a>> {
    let text = text(entry).or_else(|| entry.feature.as_ref().map(|words| words.0.clone()))?;
    let queries = [entry.query1.as_ref(), entry.query2.as_ref(), entry.feature.as_ref()];
    let mut searches: Vec<String> = Vec::new();
    for query in queries.into_iter().flatten() {
        if !searches.iter().any(|known| *known == query.0) {
            searches.push(query.0.clone().into_owned());
        }
    }
    let basis = (!searches.is_empty()).then_some(Cow::Owned(Basis::Absence(searches)));
    Some(Claim { id: id(entry).unwrap_or_else(|| text.clone()), text, basis, evidence: Vec::new() })
}

fn grounding<'a>(value: Option<&'a RawValue>) -> (Option<Cow<'a, str>>, Option<&'a RawValue>) {
    let Some(value) = value else { return (None, None) };
    if is_object(Some(value)) {
        let grounding = serde_json::from_str::<Grounding<'a>>(value.get()).ok();
        return grounding.map_or((None, None), |g| (g.kind.map(|kind| kind.0), g.refs));
    }
    (serde_json::from_str::<Words<'a>>(value.get()).ok().map(|words| words.0), None)
}

/// The places in one object or a list of them.
fn places<'a>(value: &'a RawValue) -> Vec<Cited<'a>> {
    if is_object(Some(value)) {
        let entry = serde_json::from_str::<Entry<'a>>(value.get()).ok();
        return entry.and_then(|entry| cited(&entry)).into_iter().collect();
    }
    let entries: Vec<Entry<'a>> = serde_json::from_str(value.get()).unwrap_or_default();
    entries.iter().filter_map(cited).collect()
}

fn cited<'a>(entry: &Entry<'a>) -> Option<Cited<'a>> {
    let path = entry.path.as_ref()?.0.clone();
    let given = entry.line.map(|line| line.get().trim_matches('"')).and_then(lines);
    let (path, (line, end_line)) = match given {
        Some(given) => (path, given),
        None => with_lines(path),
    };
    let quote = entry.quote.as_ref().map(|words| words.0.clone());
    let misformed = !path.starts_with(ROOT);
    Some(Cited { path: from_root(path), line, end_line, quote, misformed, ..Cited::default() })
}

/// `12`, `12-14`, `L12`.
fn lines(text: &str) -> Option<(u32, Option<u32>)> {
    let number = |text: &str| text.trim().trim_start_matches('L').parse::<u32>().ok();
    match text.split_once('-') {
        Some((first, last)) => Some((number(first)?, Some(number(last)?))),
        None => Some((number(text)?, None)),
    }
}

/// A path that has its line behind it.
fn with_lines(path: Cow<'_, str>) -> (Cow<'_, str>, (u32, Option<u32>)) {
    let Some((before, given)) = path
        .rsplit_once(':')
        .and_then(|(before, behind)| lines(behind).map(|given| (before.len(), given)))
    else {
        return (path, (0, None));
    };
    (cut(path, 0, before), given)
}

/// What stands for the root of the repository.
const ROOT: &str = "${PROJECT_ROOT}/";

/// A path without the marker that stands for the root of the repository.
fn from_root(path: Cow<'_, str>) -> Cow<'_, str> {
    if path.starts_with(ROOT) {
        let length = path.len();
        cut(path, ROOT.len(), length)
    } else {
        path
    }
}

fn cut(text: Cow<'_, str>, from: usize, to: usize) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[from..to]),
        Cow::Owned(text) => Cow::Owned(text[from..to].to_owned()),
    }
}

//! Edits that transcripts recorded.

use heirloom_agents::by_name;
use heirloom_agents::transcript::entry::all;
use heirloom_agents::transcript::{Does, Entry, What};
use heirloom_core::facts::TurnFacts;
use heirloom_core::id::SessionId;
use heirloom_core::recall::edit::{Brought, brought, holds};
use heirloom_core::redact::redact;
use jiff::Timestamp;

use crate::capture::{Archive, Kept};
use crate::here::Here;

/// How much of what an agent said before an edit is given, in characters.
const SAID: usize = 600;

/// An edit that brought a line.
#[derive(Debug, Clone)]
pub(super) struct Edited {
    pub(super) at: Option<Timestamp>,
    /// What the agent said before.
    pub(super) said: Option<String>,
    offset: u64,
    of_subagent: bool,
    how: Brought,
}

impl Edited {
    /// The prompt that led to it.
    pub(super) fn prompt<'a>(&self, turns: &'a [TurnFacts]) -> Option<&'a TurnFacts> {
        turns.iter().rev().find(|turn| {
            if self.of_subagent {
                turn.at.zip(self.at).is_some_and(|(turn, edit)| turn <= edit)
            } else {
                turn.offset <= self.offset
            }
        })
    }
}

/// The edit that brought a line to a file, and its session: the newest that put it in where it was not;
/// where none is known, the first that wrote the whole file with it. Nothing after `until`, in seconds.
pub(super) fn bringing(
    here: &Here,
    sessions: &[SessionId],
    path: &str,
    line: &str,
    until: Option<i64>,
) -> Option<(SessionId, Edited)> {
    let mut found: Vec<(SessionId, Edited)> = Vec::new();
    for session in sessions {
        for kept in super::archived::of_session(here, *session) {
            let edits = in_transcript(here, &kept, path, line);
            found.extend(edits.into_iter().map(|edit| (*session, edit)));
        }
    }
    // A commit is made a moment after the last edit, and clocks differ.
    let in_time = |edit: &Edited| match (edit.at, until) {
        (Some(at), Some(until)) => at.as_second() <= until + 60,
        _ => true,
    };
    if found.iter().any(|(_, edit)| in_time(edit)) {
        found.retain(|(_, edit)| in_time(edit));
    }
    found.sort_by_key(|(_, edit)| edit.at);
    let newest = found.iter().rposition(|(_, edit)| edit.how == Brought::New);
    let chosen = newest.or(if found.is_empty() { None } else { Some(0) })?;
    Some(found.swap_remove(chosen))
}

fn in_transcript(here: &Here, kept: &Kept, path: &str, line: &str) -> Vec<Edited> {
    let transcripts = by_name(&kept.agent).and_then(heirloom_agents::Agent::transcripts);
    let bytes = Archive::new(&here.home).read(kept).ok();
    let (Some(transcripts), Some(bytes)) = (transcripts, bytes) else { return Vec::new() };
    let (mut said, mut edits) = (None, Vec::new());
    for Entry { offset, at, what, .. } in all(&mut *transcripts.entries(), &bytes) {
        match what {
            What::Prompt { by, .. } if by.asks() => said = None,
            What::Answer { text } => said = Some(text),
            What::ToolUse { input, does, .. } => {
                let how = match does {
                    Does::Edit { paths } if paths.iter().any(|each| is_same(each, path)) => {
                        brought(&input, line)
                    }
                    Does::Run { command } if names(&command, path) => {
                        holds(&command, line).then_some(Brought::New)
                    }
                    _ => None,
                };
                edits.extend(how.map(|how| Edited {
                    at,
                    said: said.as_deref().map(shown),
                    offset,
                    of_subagent: kept.subagent.is_some(),
                    how,
                }));
            }
            _ => {}
        }
    }
    edits
}

fn shown(text: &str) -> String {
    let end = text.char_indices().nth(SAID).map_or(text.len(), |(at, _)| at);
    redact(&text[..end]).text.trim().to_owned()
}

/// Whether a path that an agent gave is the file at `path` from the root.
fn is_same(given: &str, path: &str) -> bool {
    given.strip_suffix(path).is_some_and(|front| front.is_empty() || front.ends_with('/'))
}

/// Whether a command line names a file.
fn names(command: &str, path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| command.contains(name))
}

/// The files that the agent itself edited between two places of a session's own transcript. Nothing where it had several
/// conversations, as a loop has: nobody knows of which the places are.
pub(super) fn between(here: &Here, session: SessionId, from: u64, to: u64) -> Vec<String> {
    let mut own = super::archived::of_session(here, session);
    own.retain(|kept| kept.subagent.is_none());
    let [kept] = &own[..] else { return Vec::new() };
    let transcripts = by_name(&kept.agent).and_then(heirloom_agents::Agent::transcripts);
    let bytes = Archive::new(&here.home).read(kept).ok();
    let (Some(transcripts), Some(bytes)) = (transcripts, bytes) else { return Vec::new() };
    let mut files: Vec<String> = Vec::new();
    for entry in all(&mut *transcripts.entries(), &bytes) {
        if let What::ToolUse { does: Does::Edit { paths }, .. } = entry.what
            && (from..=to).contains(&entry.offset)
        {
            for path in paths {
                if !files.contains(&path) {
                    files.push(path);
                }
            }
        }
    }
    files
}

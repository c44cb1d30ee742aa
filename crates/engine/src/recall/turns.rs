//! What was said in a conversation, as prompts and answers in turn, from wherever it is still kept: the agent's
//! own transcript, the copy in the archive, or the stream of a session that heirloom launched.

use heirloom_agents::transcript::entry::all;
use heirloom_agents::transcript::{Does, Entry, Turn, What};
use heirloom_agents::{by_name, others};
use heirloom_core::recall::Kind;
use heirloom_core::redact::redact;
use heirloom_core::session::Session;
use heirloom_core::trust::person::{Action, NotAPerson};
use heirloom_ledger::Ledger;
use heirloom_ledger::opencode::Opencode;
use jiff::Timestamp;

use super::resume::Past;
use super::said::Said;
use super::{archived, streams};
use crate::capture::{self, Archive};
use crate::here::Here;
use crate::person;

/// How much of a tool's answer goes along. What is longer was for that moment.
const ANSWER: usize = 2000;

/// How much of a file is read.
const LARGEST: u64 = 1 << 30;

/// Where what was said was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// The agent has it.
    Native,
    /// Only the archive has it.
    Archive,
    /// Only the stream of the session has it.
    Stream,
}

/// What was said, and where that was found; `None` where it is gone everywhere. The archive is a person's to open:
/// for others it is an error where nothing else has it.
pub(super) fn turns(
    here: &Here,
    ledger: &Ledger,
    past: &Past,
) -> Result<Option<(Vec<Turn>, Kept)>, NotAPerson> {
    let found = |turns: Option<Vec<Turn>>, kept: Kept| {
        turns.filter(|turns| !turns.is_empty()).map(|turns| (turns, kept))
    };
    if let Some(native) = found(native(here, past).map(of_entries), Kept::Native) {
        return Ok(Some(native));
    }
    let of_stream =
        || found(past.session.as_ref().map(|session| stream(here, session)), Kept::Stream);
    let Some(kept) = archived(here, past) else { return Ok(of_stream()) };
    match person::allow(here, ledger, Action::RestoreArchive) {
        Ok(()) => {
            let read = archive(here, &kept).map(of_entries);
            Ok(found(read, Kept::Archive).or_else(of_stream))
        }
        Err(refused) => of_stream().map(Some).ok_or(refused),
    }
}

fn native(here: &Here, past: &Past) -> Option<Vec<Entry>> {
    if let Some(other) = others::other(&past.agent) {
        return other.read(past.transcript.as_deref()?, LARGEST).ok();
    }
    let transcripts = by_name(&past.agent)?.transcripts()?;
    if let Some(database) = transcripts.database(&here.env) {
        let printed = Opencode::open(&database).ok()?.print(&past.agent_session_id).ok()?;
        return Some(all(&mut *transcripts.entries(), &printed));
    }
    let path = past
        .transcript
        .clone()
        .or_else(|| transcripts.find(&here.env, &past.agent_session_id).map(|found| found.path))?;
    let bytes = heirloom_repo::read_at_most(&path, LARGEST).ok()?;
    Some(all(&mut *transcripts.entries(), &bytes))
}

fn archived(here: &Here, past: &Past) -> Option<capture::Kept> {
    let mut own = archived::of_session(here, past.session.as_ref()?.id);
    own.retain(|kept| kept.subagent.is_none());
    // The iterations of a loop are conversations of one session.
    let place = own.iter().position(|kept| kept.agent_session_id == past.agent_session_id);
    place.map(|place| own.swap_remove(place)).or_else(|| own.pop())
}

fn archive(here: &Here, kept: &capture::Kept) -> Option<Vec<Entry>> {
    let bytes = Archive::new(&here.home).read(kept).ok()?;
    Some(all(&mut *by_name(&kept.agent)?.transcripts()?.entries(), &bytes))
}

fn stream(here: &Here, session: &Session) -> Vec<Turn> {
    let mut turns = Vec::new();
    for source in streams::of_session(here, session) {
        let _ = source.read(0, &mut |said: Said| {
            let (is_prompt, text) = match said.kind {
                Kind::Prompt => (true, said.text),
                Kind::Answer | Kind::Summary => (false, said.text),
                Kind::ToolUse => (false, format!("[used {}]", said.text.replace('\n', " "))),
                Kind::ToolResult => (false, answered(&said.text)),
                _ => return,
            };
            add(&mut turns, is_prompt, &text, said.at);
        });
    }
    turns
}

fn of_entries(entries: Vec<Entry>) -> Vec<Turn> {
    let mut turns = Vec::new();
    for entry in entries.into_iter().filter(|entry| entry.subagent.is_none()) {
        let (is_prompt, text) = match entry.what {
            What::Prompt { text, by } if by.asks() => (true, text),
            What::Answer { text } | What::Summary { text } => (false, text),
            What::ToolUse { name, does, input, .. } => (false, used(&name, &does, &input)),
            What::ToolResult { text, .. } => (false, answered(&text)),
            _ => continue,
        };
        add(&mut turns, is_prompt, &text, entry.at);
    }
    turns
}

fn add(turns: &mut Vec<Turn>, is_prompt: bool, text: &str, at: Option<Timestamp>) {
    let text = redact(text).text.into_owned();
    if text.trim().is_empty() {
        return;
    }
    match turns.last_mut() {
        Some(last) if last.is_prompt() == is_prompt => last.add(&text),
        _ if is_prompt => turns.push(Turn::Prompt { text, at }),
        _ => turns.push(Turn::Answer { text, at }),
    }
}

fn used(name: &str, does: &Does, input: &serde_json::Value) -> String {
    match does {
        Does::Run { command } => format!("[ran: {command}]"),
        Does::Read { path } => format!("[read {path}]"),
        Does::Edit { paths } => format!("[changed {}]", paths.join(", ")),
        _ => {
            // Looked through whole: a secret that is cut in two is not known any more.
            let input: String = redact(&input.to_string()).text.chars().take(300).collect();
            format!("[used {name}: {input}]")
        }
    }
}

fn answered(text: &str) -> String {
    let text = redact(text).text;
    let shown: String = text.chars().take(ANSWER).collect();
    let more = if shown.len() < text.len() { " …" } else { "" };
    format!("[it answered: {shown}{more}]")
}

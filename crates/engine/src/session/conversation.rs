//! The conversation of a session: what it was told, said and did, with all it continues before it.
//!
//! Read from the streams as the agents printed them; nothing of it is kept twice.

use std::io::{self, BufRead, Read};
use std::path::Path;

use heirloom_agents::transcript::{Entry, What};
use heirloom_agents::{Agent, Event, Parsed, Reader, by_name};
use heirloom_core::id::SessionId;
use heirloom_core::name::SessionName;
use heirloom_core::redact::{redact, redact_json};
use heirloom_core::session::Session;
use heirloom_ledger::Ledger;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::error::SessionError;
use super::shown;
use crate::here::Here;
use crate::turn::stream::{self, Stream};

/// The kind of what stands between the turns of a run.
const ITERATION: &str = "iteration";

/// What was said, ancestors first.
#[derive(Debug, Clone)]
pub struct Conversation {
    /// The sessions, oldest first.
    pub sessions: Vec<Session>,
    /// The events of all of them, in order.
    pub items: Vec<Item>,
}

/// One event of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Item {
    /// Counted from 1 over the whole conversation.
    pub number: usize,
    /// The session it happened in.
    pub session: String,
    /// `prompt`, `text`, `thinking`, `tool_call`, `tool_result`, `compacted`, `notice`, `error`,
    /// `result`, or `iteration` where another agent of a run begins.
    pub kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The agent's id of the tool use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// What the tool was used with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// Whether it went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// The tool use whose subagent speaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
    /// The agent's id of the message, where a fork can begin after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// When, where the agent said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

/// The conversation that leads to the end of `session`.
pub fn conversation(
    here: &Here,
    ledger: &Ledger,
    session: &Session,
) -> Result<Conversation, SessionError> {
    let mut sessions = shown::generations(ledger, session)?;
    sessions.reverse();
    let mut items: Vec<Item> = Vec::new();
    for session in &sessions {
        if let Some(message) = &session.forked_at {
            cut_after(&mut items, message);
        }
        items.extend(of_session(here, session)?);
    }
    for (index, item) in items.iter_mut().enumerate() {
        item.number = index + 1;
    }
    Ok(Conversation { sessions, items })
}

/// What is said in a session that goes on.
#[derive(Debug)]
pub struct Following {
    session: Session,
    stream: Stream,
    reader: Option<Box<dyn Reader>>,
    /// How much of the stream was read.
    offset: u64,
    /// How many events there were.
    number: usize,
}

/// What was said before `session` and what it was told, and from there on what is said in it.
pub fn follow(
    here: &Here,
    ledger: &Ledger,
    session: &Session,
) -> Result<(Following, Vec<Item>), SessionError> {
    let mut items = match session.continues().map(|parent| ledger.session(parent)).transpose()? {
        Some(Some(parent)) => conversation(here, ledger, &parent)?.items,
        _ => Vec::new(),
    };
    if let Some(message) = &session.forked_at {
        cut_after(&mut items, message);
    }
    let number = items.len() + 1;
    items.extend(told(session).map(|item| Item { number, ..item }));
    let following = Following {
        session: session.clone(),
        stream: Stream::of_session(&here.home, session.id),
        reader: session.agent.as_deref().and_then(by_name).map(Agent::reader),
        offset: 0,
        number: items.len(),
    };
    Ok((following, items))
}

impl Following {
    /// What was said since. The file may have been compressed in the meantime, so it is opened anew.
    pub fn more(&mut self) -> Result<Vec<Item>, SessionError> {
        let path = self.stream.events();
        let failed = |source| SessionError::File { doing: "read", path: path.clone(), source };
        let (Some(reader), Some(mut stream)) = (&mut self.reader, self.stream.read()?) else {
            return Ok(Vec::new());
        };
        io::copy(&mut stream.by_ref().take(self.offset), &mut io::sink()).map_err(failed)?;
        let mut items = Vec::new();
        let mut line = Vec::new();
        while stream.read_until(b'\n', &mut line).map_err(failed)? > 0 && line.ends_with(b"\n") {
            self.offset += line.len() as u64;
            items.extend(of_line(&self.session, reader.read(&line[..line.len() - 1])));
            line.clear();
        }
        for item in &mut items {
            self.number += 1;
            item.number = self.number;
        }
        Ok(items)
    }
}

/// How much the agents of a session have printed so far, in bytes. It changes when they print more.
pub fn printed(home: &Path, session: SessionId) -> u64 {
    let of_turns = stream::turns(home, session).unwrap_or_default();
    let streams = of_turns.into_iter().map(|(_, stream)| stream);
    let all = std::iter::once(Stream::of_session(home, session)).chain(streams);
    all.filter_map(|stream| stream.events().metadata().ok()).map(|found| found.len()).sum()
}

/// The message a fork begins after, if it is to begin at the event `at`: the agent's message of
/// that event, or the last one before it.
pub(super) fn message_at(
    here: &Here,
    ledger: &Ledger,
    session: &Session,
    at: &str,
) -> Result<String, SessionError> {
    let mut items = conversation(here, ledger, session)?.items;
    // Of a run only the last conversation goes on.
    let last = items.iter().rposition(|item| item.kind == ITERATION).unwrap_or(0);
    items.drain(..last);
    let number = at.parse::<usize>().ok();
    let is_it = |item: &Item| Some(item.number) == number || item.message.as_deref() == Some(at);
    let found = items.iter().position(is_it);
    let index = found.ok_or_else(|| SessionError::NoEvent { at: at.to_owned() })?;
    let message = items[..=index].iter().rev().find_map(|item| item.message.clone());
    message.ok_or_else(|| SessionError::NothingBefore { at: at.to_owned() })
}

fn cut_after(items: &mut Vec<Item>, message: &str) {
    let is_it = |item: &Item| item.message.as_deref() == Some(message);
    if let Some(last) = items.iter().rposition(is_it) {
        items.truncate(last + 1);
    }
}

fn of_session(here: &Here, session: &Session) -> Result<Vec<Item>, SessionError> {
    let mut items: Vec<Item> = told(session).into_iter().collect();
    let agent = session.agent.as_deref().unwrap_or_default();
    items.extend(of_stream(session, agent, &Stream::of_session(&here.home, session.id))?);
    for (header, stream) in stream::turns(&here.home, session.id)? {
        let which = format!("{} {}", header.stage, header.iteration);
        items.push(Item { at: Some(header.at), ..item(session, ITERATION, &which) });
        items.push(Item { at: Some(header.at), ..item(session, "prompt", &header.prompt) });
        items.extend(of_stream(session, &header.agent, &stream)?);
    }
    if items.is_empty() {
        items = of_transcript(here, session);
    }
    Ok(items)
}

/// What the transcript of a session says that nobody here drove. Its secrets stay in the archive.
fn of_transcript(here: &Here, session: &Session) -> Vec<Item> {
    let entries = crate::capture::entries(&here.home, session.id).unwrap_or_default();
    let place = |entry: Entry| {
        let item = of_entry(session, entry.what)?;
        Some(Item { subagent: entry.subagent, at: entry.at, message: entry.id, ..item })
    };
    entries.into_iter().filter_map(place).collect()
}

fn of_entry(session: &Session, what: What) -> Option<Item> {
    let said = |kind, text: &str| Some(item(session, kind, &redact(text).text));
    match what {
        What::Prompt { text, by } if by.asks() => said("prompt", &text),
        What::Command { name, args } => said("prompt", format!("{name} {args}").trim_end()),
        What::Answer { text } => said("text", &text),
        What::Thinking { text } => said("thinking", &text),
        What::ToolUse { id, name, mut input, .. } => {
            redact_json(&mut input);
            Some(Item {
                tool: Some(name),
                tool_call_id: Some(id),
                input: Some(input),
                text: None,
                ..item(session, "tool_call", "")
            })
        }
        What::ToolResult { id, text, is_error, .. } => Some(Item {
            tool_call_id: Some(id),
            is_error: Some(is_error),
            ..item(session, "tool_result", &redact(&text).text)
        }),
        What::Compaction { .. } => said("compacted", "the context was compacted"),
        What::Interrupted => said("notice", "interrupted"),
        What::Failed { text } => said("error", &text),
        _ => None,
    }
}

/// What a session was told.
fn told(session: &Session) -> Option<Item> {
    let prompt = session.prompt.as_ref()?;
    Some(Item { at: Some(session.created_at), ..item(session, "prompt", prompt) })
}

fn of_stream(session: &Session, agent: &str, stream: &Stream) -> Result<Vec<Item>, SessionError> {
    let mut items = Vec::new();
    let (Some(agent), Some(lines)) = (by_name(agent), stream.read()?) else { return Ok(items) };
    let mut reader = agent.reader();
    for line in lines.split(b'\n') {
        let line = line.map_err(|source| {
            let path = stream.events();
            SessionError::File { doing: "read", path, source }
        })?;
        items.extend(of_line(session, reader.read(&line)));
    }
    Ok(items)
}

fn of_line(session: &Session, parsed: Parsed) -> Vec<Item> {
    let Parsed { events, subagent, at, message } = parsed;
    let place =
        |item: Item| Item { subagent: subagent.clone(), at, message: message.clone(), ..item };
    events.into_iter().filter_map(|event| of_event(session, event)).map(place).collect()
}

fn of_event(session: &Session, event: Event) -> Option<Item> {
    let said = |kind, text: &str| Some(item(session, kind, text));
    match event {
        Event::Prompt { text } if session.prompt.as_ref() == Some(&text) => None,
        Event::Prompt { text } => said("prompt", &text),
        Event::Text { text } => said("text", &text),
        Event::Thinking { text } => said("thinking", &text),
        Event::ToolCall { id, name, input } => Some(Item {
            tool: Some(name),
            tool_call_id: Some(id),
            input: Some(input),
            text: None,
            ..item(session, "tool_call", "")
        }),
        Event::ToolResult { id, is_error, text } => Some(Item {
            tool_call_id: Some(id),
            is_error: Some(is_error),
            ..item(session, "tool_result", &text)
        }),
        Event::Compacted { .. } => said("compacted", "the context was compacted"),
        Event::Notice { text } => said("notice", &text),
        Event::Error(failure) => said("error", &failure.message),
        Event::Result(result) => Some(Item {
            is_error: Some(result.is_error),
            ..item(
                session,
                "result",
                result.text.or(result.errors.first().cloned()).as_deref().unwrap_or(""),
            )
        }),
        _ => None,
    }
}

fn item(session: &Session, kind: &'static str, text: &str) -> Item {
    let name = |name: &SessionName| name.to_string();
    Item { session: name(&session.name), kind, text: Some(text.to_owned()), ..Item::default() }
}

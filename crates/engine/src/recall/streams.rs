//! What was said in sessions that heirloom launched, from the streams that are kept of them.

use std::io::{self, BufRead, Read};

use heirloom_agents::{Agent, by_name};
use heirloom_core::id::SessionId;
use heirloom_core::session::Session;
use jiff::Timestamp;

use super::said::{Said, of_event, told};
use crate::here::Here;
use crate::turn::stream::{self, Header, Stream};

/// What the keys of streams begin with; the session's id follows, and the name of the turn where a
/// session has several.
pub(super) const KEY: &str = "stream:";

/// Where the prompt is, which is not in the stream.
const PROMPT: u64 = u32::MAX as u64;

/// A stream that can be read.
pub(super) struct Source {
    pub(super) key: String,
    pub(super) agent: &'static dyn Agent,
    stream: Stream,
    prompt: Option<(String, Timestamp)>,
}

/// The streams of a session.
pub(super) fn of_session(here: &Here, session: &Session) -> Vec<Source> {
    let mut sources = Vec::new();
    if let Some(agent) = session.agent.as_deref().and_then(by_name) {
        let prompt = session.prompt.clone().map(|prompt| (prompt, session.created_at));
        let stream = Stream::of_session(&here.home, session.id);
        sources.push(Source { key: format!("{KEY}{}", session.id), agent, stream, prompt });
    }
    for (header, stream) in stream::turns(&here.home, session.id).unwrap_or_default() {
        let Some(agent) = by_name(&header.agent) else { continue };
        let Header { stage, iteration, at, prompt, .. } = header;
        let name = stream.name().unwrap_or_else(|| format!("{stage}.{iteration}"));
        let key = format!("{KEY}{}/{name}", session.id);
        sources.push(Source { key, agent, stream, prompt: Some((prompt, at)) });
    }
    sources
}

/// The session that a key is of.
pub(super) fn session_of(key: &str) -> Option<SessionId> {
    let rest = key.strip_prefix(KEY)?;
    rest.split('/').next()?.parse().ok()
}

impl Source {
    /// Gives what was said from the byte `from` on to `each`, and returns where the last whole line
    /// ended. The prompt comes first, at the beginning.
    pub(super) fn read(&self, from: u64, each: &mut dyn FnMut(Said)) -> io::Result<u64> {
        if from == 0
            && let Some((prompt, at)) = &self.prompt
        {
            told(prompt, *at, PROMPT).into_iter().for_each(&mut *each);
        }
        let Some(mut lines) = self.open(from)? else { return Ok(0) };
        let (mut reader, mut offset, mut line) = (self.agent.reader(), from, Vec::new());
        loop {
            line.clear();
            let read = lines.read_until(b'\n', &mut line)?;
            if read == 0 || !line.ends_with(b"\n") {
                return Ok(offset);
            }
            let parsed = reader.read(&line[..line.len() - 1]);
            for event in parsed.events {
                let is_prompt = |said: &Said| {
                    self.prompt.as_ref().is_some_and(|(prompt, _)| said.text == *prompt)
                };
                if let Some(said) = of_event(event).filter(|said| !is_prompt(said)) {
                    each(Said { at: parsed.at, offset, ..said });
                }
            }
            offset += read as u64;
        }
    }

    /// What is on the line that begins at `offset`, the `nth` of it.
    pub(super) fn at(&self, offset: u64, nth: usize) -> Option<Said> {
        if offset == PROMPT {
            let (prompt, at) = self.prompt.as_ref()?;
            return told(prompt, *at, PROMPT);
        }
        let mut line = Vec::new();
        self.open(offset).ok()??.read_until(b'\n', &mut line).ok()?;
        let parsed = self.agent.reader().read(line.strip_suffix(b"\n").unwrap_or(&line));
        let said = parsed.events.into_iter().filter_map(of_event).nth(nth)?;
        Some(Said { at: parsed.at, offset, ..said })
    }

    fn open(&self, from: u64) -> io::Result<Option<Box<dyn BufRead>>> {
        let Some(mut lines) = self.stream.read().map_err(|error| error.source)? else {
            return Ok(None);
        };
        io::copy(&mut lines.by_ref().take(from), &mut io::sink())?;
        Ok(Some(lines))
    }
}

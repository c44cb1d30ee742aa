//! From entries to facts: one pass, in the order of the transcript.
//!
//! What is needed to go on in the middle of a transcript is kept between readings, so that a session
//! of a whole day is read once and not once a hook. Text is redacted before it leaves here: the
//! archive is the only place where it stays as it was said.

mod failing;
mod work;

use std::collections::BTreeMap;

use heirloom_agents::event::{Span, Tokens};
use heirloom_agents::transcript::{By, Entry, What, Whereabouts};
use heirloom_core::facts::{TodoFacts, TokenFacts, TurnFacts, title};
use heirloom_core::redact::redact;
use heirloom_ledger::facts::{NewFacts, Told};
use serde::{Deserialize, Serialize};

use failing::Failing;

/// The longest text that is kept of a prompt or a command.
const LONGEST: usize = 16 << 10;
/// How many messages of a turn are remembered, to see where a person went back to.
const REMEMBERED: usize = 4;

/// What is needed to go on reading.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct State {
    /// The number of the turn.
    turn: u64,
    /// The last messages of each turn.
    last_of_turn: BTreeMap<u64, Vec<String>>,
    /// Tool uses without an answer.
    waiting: Vec<Waiting>,
    /// The things to do that have ids of their own.
    tasks: Vec<(String, TodoFacts)>,
    failing: Failing,
    /// The answer whose tokens were counted last, and how many those were.
    counted: Option<(String, TokenFacts)>,
    /// Whether the title is one that a person chose.
    chosen: bool,
    /// Whether what is read is a copy of another conversation.
    copied: bool,
    /// Whether it began as a copy, and has no prompt of its own yet that could be its title.
    forked: bool,
}

impl State {
    /// Whether what was read last is a copy of another conversation.
    pub(crate) const fn is_copied(&self) -> bool {
        self.copied
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Waiting {
    id: String,
    command: Option<String>,
    todo: Option<String>,
    turn: u64,
}

/// Turns entries into facts.
#[derive(Debug)]
pub(crate) struct Fold {
    pub(crate) state: State,
    pub(crate) told: Told,
    pub(crate) news: NewFacts,
    /// Where the last line was of which nothing is known: it is one line, however much is in it.
    last_unknown: Option<u64>,
}

impl Fold {
    pub(crate) fn new(state: State, told: Told) -> Self {
        Self { state, told, news: NewFacts::default(), last_unknown: None }
    }

    pub(crate) fn take(&mut self, entry: Entry) {
        if let Some(at) = entry.at {
            self.told.first_at = Some(self.told.first_at.map_or(at, |first| first.min(at)));
            self.told.last_at = Some(self.told.last_at.map_or(at, |last| last.max(at)));
        }
        let Entry { offset, at, id, parent, subagent, what } = entry;
        match what {
            What::Whereabouts(place) => self.place(place),
            What::Prompt { text, by } => {
                self.told.messages += 1;
                // What a subagent is told is the prompt of its own transcript, not of this one.
                if by.asks() || by == By::Agent && subagent.is_none() {
                    self.prompt(&text, by, (offset, at), parent.as_deref());
                } else if by == By::Injected {
                    self.notified(&text, at);
                }
            }
            What::Command { name, args } => {
                self.told.messages += 1;
                let text = format!("{name} {args}");
                self.prompt(text.trim_end(), By::Person, (offset, at), parent.as_deref());
            }
            What::Answer { .. } => {
                self.told.messages += 1;
                self.told.interrupted = false;
            }
            What::ToolUse { id, does, .. } => {
                self.told.messages += 1;
                self.used(id, does, (offset, at));
            }
            What::ToolResult { goes_on: true, .. } => self.told.messages += 1,
            What::ToolResult { id, text, is_error, exit, .. } => {
                self.told.messages += 1;
                self.answered(&id, &text, is_error, exit, at);
            }
            What::Changed { paths } => self.touched(paths, true, at),
            What::Compaction { .. } => self.told.compactions += 1,
            What::Usage { message, tokens, span, window } => {
                if subagent.is_none() {
                    self.told.context_window = window.or(self.told.context_window);
                }
                self.usage(message, tokens, span, subagent.is_none());
            }
            What::Cost { usd, total: true } => self.told.cost_usd = Some(usd),
            What::Cost { usd, total: false } => {
                self.told.cost_usd = Some(self.told.cost_usd.unwrap_or(0.0) + usd);
            }
            What::Model { name } if subagent.is_none() => self.told.model = Some(name),
            What::Title { text, chosen } if chosen || !self.state.chosen => {
                self.state.chosen = chosen;
                self.told.title = Some(shown(&text));
            }
            What::Interrupted => self.told.interrupted = true,
            What::Unknown { .. } if self.last_unknown != Some(offset) => {
                self.last_unknown = Some(offset);
                self.told.unknown_lines += 1;
            }
            _ => {}
        }
        if let Some(id) = id {
            let last = self.state.last_of_turn.entry(self.state.turn).or_default();
            if last.last() != Some(&id) {
                last.push(id);
                if last.len() > REMEMBERED {
                    last.remove(0);
                }
            }
        }
    }

    fn place(&mut self, place: Whereabouts) {
        self.state.copied = place.forked_from.is_some();
        self.state.forked |= self.state.copied;
        let told = &mut self.told;
        let newer = |to: &mut Option<String>, from: Option<String>| *to = from.or(to.take());
        newer(&mut told.cwd, place.cwd);
        newer(&mut told.branch, place.branch);
        newer(&mut told.version, place.version);
        told.interactive = place.interactive.or(told.interactive);
    }

    fn prompt(
        &mut self,
        text: &str,
        by: By,
        (offset, at): (u64, Option<jiff::Timestamp>),
        parent: Option<&str>,
    ) {
        self.told.interrupted = false;
        if let Some(from) = parent.and_then(|parent| self.turn_of(parent))
            && from < self.state.turn
        {
            for turn in self.news.turns.iter_mut().filter(|turn| turn.number > from) {
                turn.rewound = true;
            }
            self.news.rewound.push((from + 1, self.state.turn));
        }
        self.state.turn += 1;
        let text = shown(text);
        self.name_fork(&text);
        self.news.turns.push(TurnFacts {
            number: self.state.turn,
            at,
            by: by.as_str().to_owned(),
            text,
            offset,
            rewound: false,
        });
    }

    /// A fork begins with the prompts and the title of the conversation it comes from. What it is about itself, its
    /// own first prompt says.
    fn name_fork(&mut self, prompt: &str) {
        if !self.state.forked || self.state.copied {
            return;
        }
        if let Some(own) = title(prompt) {
            self.state.forked = false;
            if !self.state.chosen {
                self.told.title = Some(own);
            }
        }
    }

    fn turn_of(&self, message: &str) -> Option<u64> {
        let holds = |last: &Vec<String>| last.iter().any(|id| id == message);
        self.state.last_of_turn.iter().rev().find(|(_, last)| holds(last)).map(|(turn, _)| *turn)
    }

    fn usage(&mut self, message: Option<String>, tokens: Tokens, span: Span, own: bool) {
        let counted = TokenFacts {
            input: tokens.input,
            output: tokens.output,
            cache_read: tokens.cache_read,
            cache_write: tokens.cache_write,
        };
        match span {
            Span::Session => {
                self.told.tokens = Some(counted);
                self.state.counted = None;
            }
            Span::Turn => {}
            Span::Request => {
                if own {
                    self.told.context_used = Some(tokens.total());
                }
                // One that adds its session up itself is not added up here.
                let Some(message) = message else { return };
                let before = match self.state.counted.take() {
                    Some((id, before)) if id == message => before,
                    _ => TokenFacts::default(),
                };
                let sum = self.told.tokens.get_or_insert_default();
                sum.input = (sum.input + counted.input).saturating_sub(before.input);
                sum.output = (sum.output + counted.output).saturating_sub(before.output);
                sum.cache_read =
                    (sum.cache_read + counted.cache_read).saturating_sub(before.cache_read);
                sum.cache_write =
                    (sum.cache_write + counted.cache_write).saturating_sub(before.cache_write);
                self.state.counted = Some((message, counted));
            }
        }
    }
}

/// Text as it may be kept outside the archive: bounded, and without secrets.
fn shown(text: &str) -> String {
    let end = text.char_indices().nth(LONGEST).map_or(text.len(), |(at, _)| at);
    redact(&text[..end]).text.into_owned()
}

#[cfg(test)]
mod tests;

//! The sum of an agent's stream: what the events add up to when the process has ended.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::event::{Event, Failure, Parsed, Span, Tokens, TurnResult};

/// What a stream adds up to. Folded line by line, never holds more than the last of each.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    /// Lines seen.
    pub lines: u64,
    /// Lines nobody understood.
    pub unknown: u64,
    /// The conversation, as the agent named it last.
    pub agent_session_id: Option<String>,
    /// The model, as the agent resolved it.
    pub model: Option<String>,
    /// The agent's version.
    pub version: Option<String>,
    /// How many turns ended.
    pub results: u32,
    /// How the last turn ended.
    pub result: Option<TurnResult>,
    /// Whether the agent said or did anything after that: a turn that was begun and not ended.
    pub unfinished: bool,
    /// Whether the agent noticed an interrupt, and did nothing since.
    pub interrupted: bool,
    /// The last failure outside of a result.
    pub failure: Option<Failure>,
    /// How often a request was made again.
    pub retries: u32,
    /// When the account's limit is lifted, as far as the agent said.
    pub limited_until: Option<Timestamp>,
    /// The cost so far, in USD.
    pub cost_usd: Option<f64>,
    /// All tokens of this process, or of the session where the agent counts that way.
    pub tokens: Tokens,
    /// How full the context was at the last request.
    pub context_tokens: Option<u64>,
    /// How many tokens fit it.
    pub context_window: Option<u64>,
    /// The agent's last words.
    pub text: Option<String>,
    /// Tools used, by the agent itself and by its subagents.
    pub tool_calls: u64,
    /// Tasks that run in the background.
    pub background: usize,
    /// How many tool uses were denied, by tool.
    pub denied: BTreeMap<String, u64>,
}

impl Tally {
    /// Takes one line in.
    pub fn fold(&mut self, parsed: &Parsed) {
        self.lines += 1;
        for event in &parsed.events {
            self.fold_event(event, parsed.subagent.is_some());
        }
    }

    fn fold_event(&mut self, event: &Event, of_subagent: bool) {
        match event {
            Event::Started { agent_session_id, model, version } => {
                self.agent_session_id = Some(agent_session_id.clone());
                self.model = model.clone().or_else(|| self.model.take());
                self.version = version.clone().or_else(|| self.version.take());
            }
            Event::Renamed { agent_session_id } => {
                self.agent_session_id = Some(agent_session_id.clone());
            }
            Event::Text { text } if !of_subagent => {
                self.text = Some(text.clone());
                (self.unfinished, self.interrupted) = (true, false);
            }
            Event::ToolCall { .. } => {
                self.tool_calls += 1;
                self.unfinished |= !of_subagent;
            }
            Event::Usage { tokens, span, context_window } => {
                self.fold_usage(*tokens, *span, of_subagent);
                self.context_window = context_window.or(self.context_window);
            }
            Event::Cost { usd } => self.cost_usd = Some(*usd),
            Event::Retry { failure, .. } => {
                self.retries += 1;
                self.failure = Some(failure.clone());
            }
            Event::Limit { exhausted, until } => {
                self.limited_until = if *exhausted { *until } else { None };
            }
            Event::PermissionDenied { tool, .. } => {
                *self.denied.entry(tool.clone()).or_default() += 1;
            }
            Event::Interrupted => self.interrupted |= !of_subagent,
            Event::Background { running } => self.background = *running,
            Event::Result(result) => self.fold_result(result),
            Event::Error(failure) => self.failure = Some(failure.clone()),
            Event::Unknown { .. } => self.unknown += 1,
            _ => {}
        }
    }

    fn fold_usage(&mut self, tokens: Tokens, span: Span, of_subagent: bool) {
        match span {
            Span::Request if of_subagent => {}
            Span::Request => self.context_tokens = Some(tokens.total()),
            Span::Turn => {
                self.tokens.input += tokens.input;
                self.tokens.output += tokens.output;
                self.tokens.cache_read += tokens.cache_read;
                self.tokens.cache_write += tokens.cache_write;
            }
            Span::Session => self.tokens = tokens,
        }
    }

    fn fold_result(&mut self, result: &TurnResult) {
        self.results += 1;
        self.unfinished = false;
        if result.agent_session_id.is_some() {
            self.agent_session_id.clone_from(&result.agent_session_id);
        }
        self.fold_denied(&result.denied);
        self.result = Some(result.clone());
    }

    /// A result counts again what was told when it happened, where the agent tells that.
    fn fold_denied(&mut self, tools: &[String]) {
        let mut counted: BTreeMap<&str, u64> = BTreeMap::new();
        for tool in tools {
            *counted.entry(tool).or_default() += 1;
        }
        for (tool, count) in counted {
            let known = self.denied.entry(tool.to_owned()).or_default();
            *known = (*known).max(count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Parsed {
        Parsed::one(Event::Text { text: text.to_owned() })
    }

    #[test]
    fn of_several_results_the_last_one_counts() {
        let mut tally = Tally::default();
        let bad = TurnResult { is_error: true, ..TurnResult::default() };
        tally.fold(&Parsed::one(Event::Result(bad)));
        tally.fold(&text("once more"));
        assert!(tally.unfinished);
        tally.fold(&Parsed::one(Event::Result(TurnResult::default())));
        assert_eq!((tally.results, tally.unfinished), (2, false));
        assert!(!tally.result.unwrap().is_error);
    }

    #[test]
    fn a_subagents_words_are_not_the_agents_last_words() {
        let mut tally = Tally::default();
        tally.fold(&text("mine"));
        tally.fold(&Parsed { subagent: Some("t1".to_owned()), ..text("its") });
        assert_eq!(tally.text.as_deref(), Some("mine"));
    }

    #[test]
    fn a_denial_counts_once_though_the_result_tells_it_again() {
        let mut tally = Tally::default();
        let denied = |tool: &str| Event::PermissionDenied { tool: tool.to_owned(), reason: None };
        tally.fold(&Parsed::one(denied("Bash")));
        let tools = ["Bash", "Write", "Write"].map(str::to_owned).to_vec();
        let result = TurnResult { denied: tools, ..TurnResult::default() };
        tally.fold(&Parsed::one(Event::Result(result)));
        let counts: Vec<_> =
            tally.denied.iter().map(|(tool, count)| (tool.as_str(), *count)).collect();
        assert_eq!(counts, [("Bash", 1), ("Write", 2)]);
    }

    #[test]
    fn turns_add_up_and_a_session_total_replaces() {
        let tokens = Tokens { input: 10, output: 5, cache_read: 0, cache_write: 0 };
        let usage =
            |span| Parsed::one(Event::Usage { tokens, span, context_window: Some(200_000) });
        let mut tally = Tally::default();
        tally.fold(&usage(Span::Turn));
        tally.fold(&usage(Span::Turn));
        assert_eq!(tally.tokens.input, 20);
        tally.fold(&usage(Span::Session));
        assert_eq!(tally.tokens.input, 10);
        tally.fold(&usage(Span::Request));
        assert_eq!((tally.context_tokens, tally.context_window), (Some(15), Some(200_000)));
    }
}

//! From entries to facts: one pass, in the order of the transcript.
//!
//! What is needed to go on in the middle of a transcript is kept between readings, so that a session
//! of a whole day is read once and not once a hook. Text is redacted before it leaves here: the
//! archive is the only place where it stays as it was said.

use std::collections::BTreeMap;

use heirloom_agents::event::{Span, Tokens};
use heirloom_agents::transcript::{By, Does, Entry, TodoState, What, Whereabouts};
use heirloom_core::facts::runners::{self, TestSign};
use heirloom_core::facts::signs;
use heirloom_core::facts::{
    CommandFacts, CommitFacts, FileFacts, TestFacts, TodoFacts, TokenFacts, TurnFacts,
};
use heirloom_core::redact::redact;
use heirloom_ledger::facts::{Answered, NewFacts, Told};
use serde::{Deserialize, Serialize};

/// The longest text that is kept of a prompt or a command.
const LONGEST: usize = 16 << 10;
/// How many messages of a turn are remembered, to see where a person went back to.
const REMEMBERED: usize = 4;
/// How many tool uses may wait for their answer.
const WAITING: usize = 256;

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
    /// The answer whose tokens were counted last, and how many those were.
    counted: Option<(String, TokenFacts)>,
    /// Whether the title is one that a person chose.
    chosen: bool,
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
}

impl Fold {
    pub(crate) fn new(state: State, told: Told) -> Self {
        Self { state, told, news: NewFacts::default() }
    }

    /// Takes in one entry.
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
            What::ToolResult { id, text, is_error, exit } => {
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
        self.news.turns.push(TurnFacts {
            number: self.state.turn,
            at,
            by: by.as_str().to_owned(),
            text: shown(text),
            offset,
            rewound: false,
        });
    }

    fn turn_of(&self, message: &str) -> Option<u64> {
        let holds = |last: &Vec<String>| last.iter().any(|id| id == message);
        self.state.last_of_turn.iter().rev().find(|(_, last)| holds(last)).map(|(turn, _)| *turn)
    }

    fn used(&mut self, id: String, does: Does, (offset, at): (u64, Option<jiff::Timestamp>)) {
        let turn = self.state.turn;
        let mut waits = |command, todo| {
            if self.state.waiting.len() >= WAITING {
                self.state.waiting.remove(0);
            }
            self.state.waiting.push(Waiting { id: id.clone(), command, todo, turn });
        };
        match does {
            Does::Run { command } => {
                waits(Some(shown(&command)), None);
                self.news.commands.push(CommandFacts {
                    tool_use: id,
                    turn,
                    at,
                    is_test: runners::test_run(&command).is_some(),
                    command: shown(&command),
                    exit: None,
                    failed: None,
                    error: None,
                    offset,
                });
            }
            Does::Read { path } => self.touched(vec![path], false, at),
            Does::Edit { paths } => self.touched(paths, true, at),
            Does::Todos(todos) => {
                self.state.tasks.clear();
                let todo = |todo: heirloom_agents::transcript::Todo| TodoFacts {
                    text: shown(&todo.text),
                    state: todo.state.as_str().to_owned(),
                };
                self.told.todos = todos.into_iter().map(todo).collect();
            }
            Does::AddTodo { text } => waits(None, Some(shown(&text))),
            Does::MarkTodo { id, text, state } => self.mark(&id, text, state),
            Does::Delegate | Does::Other => {}
        }
    }

    fn mark(&mut self, id: &str, text: Option<String>, state: Option<TodoState>) {
        let Some((_, todo)) = self.state.tasks.iter_mut().find(|(known, _)| known == id) else {
            return;
        };
        if let Some(text) = text {
            todo.text = shown(&text);
        }
        if let Some(state) = state {
            state.as_str().clone_into(&mut todo.state);
        }
        self.told.todos = self.state.tasks.iter().map(|(_, todo)| todo.clone()).collect();
    }

    fn answered(
        &mut self,
        id: &str,
        text: &str,
        is_error: bool,
        exit: Option<i32>,
        at: Option<jiff::Timestamp>,
    ) {
        let waiting = self.state.waiting.iter().position(|waiting| waiting.id == id);
        let Some(waiting) = waiting.map(|at| self.state.waiting.remove(at)) else { return };
        if let (Some(todo), false) = (waiting.todo, is_error) {
            let number = text.split('#').nth(1).map(|rest| {
                rest.chars().take_while(char::is_ascii_alphanumeric).collect::<String>()
            });
            let state = TodoState::Open.as_str().to_owned();
            let number = number.unwrap_or_else(|| (self.state.tasks.len() + 1).to_string());
            self.state.tasks.push((number, TodoFacts { text: todo, state }));
            self.told.todos = self.state.tasks.iter().map(|(_, todo)| todo.clone()).collect();
        }
        let Some(command) = waiting.command else { return };
        let is_test = runners::test_run(&command).is_some();
        let mut named = if is_test { runners::tests(text) } else { Vec::new() };
        // What is piped away ends well; its output says how it went.
        let tells_status = is_test && runners::tells_status(&command);
        if exit == Some(0) && tells_status {
            // It was tried again, or nothing was expected of it.
            named.retain(|sign| sign.passed);
        }
        let failed = is_error
            || named.iter().any(|sign| !sign.passed)
            || is_test && !tells_status && runners::says_failed(text);
        let error = failed.then(|| signs::error(text)).flatten().map(|line| shown(&line));
        let known = self.news.commands.iter_mut().rfind(|command| command.tool_use == id);
        if let Some(known) = known {
            (known.exit, known.failed, known.error) = (exit, Some(failed), error);
        } else {
            let tool_use = id.to_owned();
            self.news.answers.push(Answered { tool_use, exit, failed, error });
        }
        for made in signs::commits(&command, text) {
            let (hash, subject) = (made.hash, shown(&made.subject));
            self.news.commits.push(CommitFacts { hash, subject, turn: waiting.turn, at });
        }
        if is_test {
            self.tested(&command, &named, failed, waiting.turn, at);
        }
    }

    fn tested(
        &mut self,
        command: &str,
        named: &[TestSign],
        failed: bool,
        turn: u64,
        at: Option<jiff::Timestamp>,
    ) {
        let test = |name: &str, passed: bool| TestFacts {
            name: shown(name),
            failed_at: at.filter(|_| !passed),
            failed_in: turn,
            passed_since: passed,
        };
        self.news.tests.extend(named.iter().map(|sign| test(&sign.name, sign.passed)));
        // The run as a whole: all that is known where no test is named.
        if !failed || named.iter().all(|sign| sign.passed) {
            self.news.tests.push(test(command, !failed));
        }
    }

    fn touched(&mut self, paths: Vec<String>, edited: bool, at: Option<jiff::Timestamp>) {
        let turn = self.state.turn;
        self.news.files.extend(paths.into_iter().map(|path| FileFacts { path, edited, turn, at }));
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
mod tests {
    use super::*;
    use heirloom_agents::by_name;
    use heirloom_agents::transcript::entry;

    fn fold(lines: &[&str]) -> Fold {
        let mut reader = by_name("claude").unwrap().transcripts().unwrap().entries();
        let mut fold = Fold::new(State::default(), Told::default());
        for entry in entry::all(&mut *reader, lines.join("\n").as_bytes()) {
            fold.take(entry);
        }
        fold
    }

    fn said(id: &str, parent: &str, text: &str) -> String {
        format!(
            r#"{{"type":"user","uuid":"{id}","parentUuid":"{parent}","entrypoint":"cli","promptSource":"typed","timestamp":"2026-11-15T10:00:00Z","message":{{"role":"user","content":"{text}"}}}}"#
        )
    }

    fn answer(id: &str, parent: &str) -> String {
        format!(
            r#"{{"type":"assistant","uuid":"{id}","parentUuid":"{parent}","message":{{"id":"m-{id}","content":[{{"type":"text","text":"ok"}}],"usage":{{"input_tokens":10,"output_tokens":1}}}}}}"#
        )
    }

    fn tool(id: &str, name: &str, input: &str) -> String {
        format!(
            r#"{{"type":"assistant","uuid":"u{id}","message":{{"id":"m{id}","content":[{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}]}}}}"#
        )
    }

    fn result(id: &str, error: bool, text: &str) -> String {
        format!(
            r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"{id}","is_error":{error},"content":"{text}"}}]}}}}"#
        )
    }

    fn of(lines: &[String]) -> Fold {
        fold(&lines.iter().map(String::as_str).collect::<Vec<_>>())
    }

    #[test]
    fn a_turn_that_was_rewound_is_marked_and_kept() {
        let fold = of(&[
            said("p1", "-", "first"),
            answer("a1", "p1"),
            said("p2", "a1", "second"),
            answer("a2", "p2"),
            said("p3", "a1", "second, otherwise"),
        ]);
        let turns: Vec<(&str, bool)> =
            fold.news.turns.iter().map(|turn| (turn.text.as_str(), turn.rewound)).collect();
        assert_eq!(turns, [("first", false), ("second", true), ("second, otherwise", false)]);
    }

    #[test]
    fn tests_that_failed_and_passed_commits_and_errors() {
        let fold = of(&[
            said("p1", "-", "mend it"),
            tool("t1", "Bash", r#"{"command":"cargo test"}"#),
            result("t1", true, "Exit code 101\\ntest a::b ... FAILED\\nerror: test failed"),
            tool("t2", "Edit", r#"{"file_path":"/w/a.rs"}"#),
            result("t2", false, "done"),
            tool("t3", "Bash", r#"{"command":"cargo test"}"#),
            result("t3", false, "test a::b ... ok"),
            tool("t4", "Bash", r#"{"command":"git commit -am x"}"#),
            result("t4", false, "[main 1a2b3c4] mend it"),
        ]);
        let NewFacts { commands, commits, tests, files, .. } = &fold.news;
        assert_eq!(commands[0].exit, Some(101));
        assert_eq!(commands[0].error.as_deref(), Some("error: test failed"));
        assert_eq!((commits[0].hash.as_str(), commits[0].turn), ("1a2b3c4", 1));
        assert_eq!((files[0].path.as_str(), files[0].edited), ("/w/a.rs", true));
        let seen: Vec<(&str, bool)> =
            tests.iter().map(|test| (test.name.as_str(), test.passed_since)).collect();
        assert_eq!(seen, [("a::b", false), ("a::b", true), ("cargo test", true)]);
    }

    #[test]
    fn a_status_that_is_told_wins_over_the_output() {
        let run = |command: &str, exit: Option<i32>| {
            let (id, command) = ("t1".to_owned(), Some(command.to_owned()));
            let waiting = vec![Waiting { id, command, todo: None, turn: 1 }];
            let mut fold = Fold::new(State { waiting, ..State::default() }, Told::default());
            fold.answered(
                "t1",
                "--- FAIL: TestA (0.0s)\n--- PASS: TestB (0.0s)",
                false,
                exit,
                None,
            );
            let failing = fold.news.tests.iter().filter(|test| !test.passed_since).count();
            (fold.news.answers[0].failed, failing)
        };
        assert_eq!(run("gotestsum --rerun-fails", Some(0)), (false, 0));
        assert_eq!(run("gotestsum --rerun-fails | tail", Some(0)), (true, 1));
        assert_eq!(run("gotestsum --rerun-fails", None), (true, 1));
    }

    #[test]
    fn tasks_are_kept_as_the_agent_last_had_them() {
        let fold = of(&[
            tool("t1", "TaskCreate", r#"{"subject":"write the parser"}"#),
            result("t1", false, "Task #1 created successfully: write the parser"),
            tool("t2", "TaskCreate", r#"{"subject":"test it"}"#),
            result("t2", false, "Task #2 created successfully: test it"),
            tool("t3", "TaskUpdate", r#"{"taskId":"1","status":"completed"}"#),
        ]);
        let todos: Vec<(&str, &str)> =
            fold.told.todos.iter().map(|t| (t.text.as_str(), t.state.as_str())).collect();
        assert_eq!(todos, [("write the parser", "done"), ("test it", "open")]);
    }

    #[test]
    fn tokens_of_an_answer_are_counted_once_however_many_lines_it_has() {
        let line = answer("a1", "p1");
        let fold = of(&[line.clone(), line, answer("a2", "a1")]);
        assert_eq!(fold.told.tokens.map(|tokens| (tokens.input, tokens.output)), Some((20, 2)));
        assert_eq!((fold.told.context_used, fold.told.cost_usd), (Some(11), None));
    }

    #[test]
    fn secrets_do_not_leave_the_transcript() {
        let key = format!("AKIA{}", "IOSFODNN7EXAMPLE");
        let fold = of(&[
            said("p1", "-", &format!("use AWS_ACCESS_KEY_ID={key}")),
            tool("t1", "Bash", &format!(r#"{{"command":"export AWS_ACCESS_KEY_ID={key}"}}"#)),
        ]);
        assert!(!format!("{fold:?}").contains(&key));
    }

    #[test]
    fn reading_in_two_parts_is_reading_at_once() {
        let lines = vec![
            said("p1", "-", "mend it"),
            tool("t1", "Bash", r#"{"command":"cargo test"}"#),
            result("t1", true, "Exit code 101\\nerror: no"),
            said("p2", "ut1", "again"),
        ];
        let whole = of(&lines);
        let first = of(&lines[..2]);
        let state = serde_json::to_string(&first.state).unwrap();
        let mut second = Fold::new(serde_json::from_str(&state).unwrap(), first.told);
        let mut reader = by_name("claude").unwrap().transcripts().unwrap().entries();
        for entry in entry::all(&mut *reader, lines[2..].join("\n").as_bytes()) {
            second.take(entry);
        }
        assert_eq!(second.told, whole.told);
        assert_eq!(second.news.turns[0].number, 2);
        assert_eq!(second.news.answers[0].exit, Some(101));
    }
}

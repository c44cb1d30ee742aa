//! What was done: tools that were used, and what they answered.

use heirloom_agents::transcript::{Does, TodoState};
use heirloom_core::facts::runners::{self, TestSign};
use heirloom_core::facts::signs;
use heirloom_core::facts::{CommandFacts, CommitFacts, FileFacts, TestFacts, TodoFacts};
use heirloom_ledger::facts::Answered;

use super::{Fold, Waiting, shown};

/// How many tool uses may wait for their answer.
const WAITING: usize = 256;

impl Fold {
    pub(super) fn used(
        &mut self,
        id: String,
        does: Does,
        (offset, at): (u64, Option<jiff::Timestamp>),
    ) {
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

    pub(super) fn answered(
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

    /// A command that went on in the background has ended: the agent program says how, and rarely what it printed.
    pub(super) fn notified(&mut self, text: &str, at: Option<jiff::Timestamp>) {
        if !text.starts_with("<task-notification>") {
            return;
        }
        let said = |tag: &str| {
            let behind = text.split_once(&format!("<{tag}>"))?.1;
            behind.split_once('<').map(|(value, _)| value.trim())
        };
        let code = said("summary").and_then(|words| words.split_once("exit code "));
        let code = code.map(|(_, behind)| behind.trim_end_matches(')'));
        let exit: Option<i32> = code.and_then(|code| code.parse().ok());
        if let (Some(id), Some(exit)) = (said("tool-use-id"), exit) {
            self.answered(id, "", exit != 0, Some(exit), at);
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
        let first = self.news.tests.len();
        self.news.tests.extend(named.iter().map(|sign| test(&sign.name, sign.passed)));
        // The run as a whole: all that is known where no test is named.
        if !failed || named.iter().all(|sign| sign.passed) {
            self.news.tests.push(test(command, !failed));
        }
        for test in &self.news.tests[first..] {
            self.state.failing.saw(&test.name, test.passed_since, command);
        }
        if !failed {
            let mended = self.state.failing.mended_by(command);
            self.news.tests.extend(mended.iter().map(|name| test(name, true)));
        }
    }

    pub(super) fn touched(
        &mut self,
        paths: Vec<String>,
        edited: bool,
        at: Option<jiff::Timestamp>,
    ) {
        let turn = self.state.turn;
        self.news.files.extend(paths.into_iter().map(|path| FileFacts { path, edited, turn, at }));
    }
}

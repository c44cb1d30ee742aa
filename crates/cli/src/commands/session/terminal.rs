//! An agent at work, as a person sees it, and the questions it asks them.

use std::collections::VecDeque;
use std::io::{IsTerminal, stdin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Instant;

use heirloom_agents::{Event, Tally};
use heirloom_core::approval::{Approval, By, State};
use heirloom_core::id::ApprovalId;
use heirloom_core::session::Session;
use heirloom_engine::session::{self as engine, Cause, Choice, Supervisor};
use rustix::termios::{QueueSelector, tcflush};

use super::question;
use super::report::subject;
use crate::printer::{self, is_err_terminal};
use crate::ui::{CARE, DIM, Ui, first_line};

pub(super) struct Terminal<'a> {
    ui: &'a Ui,
    stop: Arc<AtomicBool>,
    interactive: bool,
    questions: VecDeque<Approval>,
    /// Since when the first question is on the screen.
    put: Instant,
    /// The last question that was decided here.
    decided: Option<ApprovalId>,
    lines: Option<Receiver<(Instant, String)>>,
    /// Whether the words that come next were shown already, piece by piece.
    in_pieces: bool,
}

impl<'a> Terminal<'a> {
    pub(super) fn new(ui: &'a Ui, stop: Arc<AtomicBool>) -> Self {
        let interactive = !ui.is_json() && stdin().is_terminal() && is_err_terminal();
        Self {
            ui,
            stop,
            interactive,
            questions: VecDeque::new(),
            put: Instant::now(),
            decided: None,
            lines: None,
            in_pieces: false,
        }
    }

    /// Whether somebody looks on.
    pub(super) fn is_watched(&self) -> bool {
        !self.ui.is_json() && printer::is_terminal()
    }

    /// Puts the first question on the screen. What was typed before was not meant for it.
    fn put_question(&mut self) {
        let Some(approval) = self.questions.front() else { return };
        // A terminal that cannot do it is asked all the same.
        let _ = tcflush(stdin(), QueueSelector::IFlush);
        self.put = Instant::now();
        self.ui.say(&question::short(approval));
        self.ui.say(&format!(
            "  {DIM}y yes · n REASON no · s yes, for the rest of the session · e JSON yes, with this input{DIM:#}"
        ));
    }

    /// The next line that was typed since the question was put.
    fn line(&mut self) -> Option<String> {
        let lines = self.lines.get_or_insert_with(|| {
            let (to, lines) = mpsc::channel();
            thread::spawn(move || {
                for line in stdin().lines().map_while(Result::ok) {
                    if to.send((Instant::now(), line)).is_err() {
                        return;
                    }
                }
            });
            lines
        });
        let typed = lines.try_iter().find(|(at, _)| *at >= self.put);
        typed.map(|(_, line)| line)
    }
}

/// What a person typed, as a decision; the text is what to tell them if it is none.
fn choice(line: &str) -> Result<Choice, String> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match word {
        "y" | "yes" => Ok(Choice::Approve),
        "s" | "session" => Ok(Choice::ForSession(None)),
        "n" | "no" if rest.is_empty() => Ok(Choice::Deny(Choice::NO_REASON.to_owned())),
        "n" | "no" => Ok(Choice::Deny(rest.trim().to_owned())),
        "e" | "edit" => serde_json::from_str(rest)
            .map(Choice::Edit)
            .map_err(|error| format!("that is not JSON: {error}")),
        _ => Err("y, n, s or e?".to_owned()),
    }
}

impl Supervisor for Terminal<'_> {
    fn started(&mut self, session: &Session, _pid: u32) {
        let id = session.id.short();
        self.ui.say(&format!("{DIM}{} ({id}){DIM:#}", session.name));
    }

    fn event(&mut self, event: &Event, subagent: bool) {
        if self.ui.is_json() {
            return;
        }
        match event {
            Event::Piece { text } if !subagent => {
                self.in_pieces = true;
                let _ = printer::out(text);
            }
            Event::Text { .. } if !subagent && self.in_pieces => {
                self.in_pieces = false;
                let _ = printer::out("\n");
            }
            Event::Text { text } if !subagent => self.ui.print(text),
            Event::ToolCall { name, input, .. } => {
                self.ui.say(&format!("{DIM}● {name}  {}{DIM:#}", subject(input)));
            }
            event @ (Event::Retry { .. } | Event::Limit { exhausted: true, .. }) => {
                if let Some(text) = engine::waiting(event) {
                    self.ui.say(&format!("{CARE}…{CARE:#} {}", first_line(&text, 160)));
                }
            }
            Event::Notice { text } => {
                self.ui.say(&format!("{DIM}{}{DIM:#}", first_line(text, 120)));
            }
            _ => {}
        }
    }

    fn asked(&mut self, approval: &Approval) {
        if self.interactive {
            self.questions.push_back(approval.clone());
            if self.questions.len() == 1 {
                self.put_question();
            }
            return;
        }
        let (id, tool, what) = (approval.id.short(), &approval.tool, subject(&approval.input));
        self.ui.say(&format!("waiting for approval {id}: {tool} {what}"));
        self.ui.hint(&format!("`heirloom approvals approve {id}`, or `deny {id} --reason TEXT`; `show {id}` has all of it"));
    }

    fn settled(&mut self, approval: &Approval) {
        let first = self.questions.front().is_some_and(|front| front.id == approval.id);
        self.questions.retain(|question| question.id != approval.id);
        let here = self.decided == Some(approval.id);
        // What was approved here shows by what happens; what was denied leaves no other trace.
        let is_told = !here || approval.state == State::Denied;
        if !self.ui.is_json() && is_told {
            let is_elsewhere = !here && approval.by == Some(By::Person);
            let elsewhere = if is_elsewhere { " elsewhere" } else { "" };
            let why = approval.reason.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
            let (tool, state) = (&approval.tool, approval.state);
            self.ui.say(&format!("{DIM}  {tool} {state}{elsewhere}{why}{DIM:#}"));
        }
        if first {
            self.put_question();
        }
    }

    fn warn(&mut self, text: &str) {
        // It may be that the decision was not recorded: then it has to be made again.
        self.decided = None;
        self.ui.warn(text);
    }

    fn decision(&mut self) -> Option<(ApprovalId, Choice)> {
        let id = self.questions.front().map(|front| front.id);
        let id = id.filter(|id| self.decided != Some(*id))?;
        let line = self.line()?;
        match choice(&line) {
            Ok(choice) => {
                self.decided = Some(id);
                Some((id, choice))
            }
            Err(problem) => {
                self.ui.say(&problem);
                None
            }
        }
    }

    fn must_stop(&mut self, _: &Tally) -> Option<Cause> {
        self.stop.load(Ordering::Relaxed).then_some(Cause::Asked)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_typed_is_a_decision_or_a_question_back() {
        assert_eq!(choice("y"), Ok(Choice::Approve));
        assert_eq!(choice("s "), Ok(Choice::ForSession(None)));
        assert_eq!(choice("n"), Ok(Choice::Deny(Choice::NO_REASON.to_owned())));
        assert_eq!(choice("n not there"), Ok(Choice::Deny("not there".to_owned())));
        assert_eq!(choice(r#"e {"a":1}"#), Ok(Choice::Edit(json!({"a": 1}))));
        assert!(choice("e {").is_err() && choice("").is_err() && choice("what").is_err());
    }
}

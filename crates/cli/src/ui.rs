//! How answers look: JSON for scripts, text for people, and everything else on stderr.

use std::io::{self, BufRead};

use heirloom_api::Answer;
use heirloom_core::cost::Cost;
use serde::Serialize;

use crate::failure::Failure;
pub(crate) use crate::layout::{Columns, first_line, hang, one_line};
use crate::printer::{self, Style};
use crate::{layout, pager};

/// Good news.
pub(crate) const GOOD: Style = Style::new("32");
/// Bad news.
pub(crate) const BAD: Style = Style::new("31");
/// What needs a look.
pub(crate) const CARE: Style = Style::new("33");
/// What is only there for those who look for it.
pub(crate) const DIM: Style = Style::new("2");
/// Headings.
pub(crate) const BOLD: Style = Style::new("1");

/// Where answers go.
#[derive(Debug, Default)]
pub(crate) struct Ui {
    json: bool,
    quiet: bool,
    /// What shows an answer that is longer than the screen.
    pager: Option<String>,
}

impl Ui {
    pub(crate) fn new(json: bool) -> Self {
        Self { json, ..Self::default() }
    }

    /// Says nothing but answers and errors.
    pub(crate) fn quiet(self, quiet: bool) -> Self {
        Self { quiet, ..self }
    }

    /// Shows long answers in a pager.
    pub(crate) fn paged_by(&mut self, pager: Option<String>) {
        self.pager = pager;
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Prints the answer: `value` for scripts, `text` for people.
    pub(crate) fn answer(&self, value: &impl Answer, text: impl FnOnce() -> String) {
        if self.json {
            self.print_json(&line(value));
        } else {
            self.show(text().trim_end_matches('\n'));
        }
    }

    /// The same for a text that has to stay as it is: a script, or a command to copy.
    pub(crate) fn answer_verbatim(&self, value: &impl Answer, text: impl FnOnce() -> String) {
        if self.json {
            self.print_json(&line(value));
        } else {
            self.print(text().trim_end_matches('\n'));
        }
    }

    /// Shows an answer: its lines fit the screen, and a pager turns the pages where there are many.
    fn show(&self, text: &str) {
        let text = match layout::width() {
            Some(room) => layout::wrap(text, room, 2),
            None => text.to_owned(),
        };
        let paged = self.pager.as_ref().is_some_and(|pager| pager::show(pager, &text));
        if !paged {
            self.print(&text);
        }
    }

    /// Prints lines for people on stdout.
    pub(crate) fn print(&self, text: &str) {
        if !text.is_empty() {
            end_on_broken_pipe(&printer::out(&format!("{text}\n")));
        }
    }

    /// Prints lines of JSON on stdout.
    pub(crate) fn print_json(&self, lines: &str) {
        if !lines.is_empty() {
            end_on_broken_pipe(&printer::json(&format!("{lines}\n")));
        }
    }

    /// Says something that is not the answer.
    pub(crate) fn say(&self, text: &str) {
        if !self.quiet {
            self.put(text, 0);
        }
    }

    /// Puts lines on stderr, broken to fit where somebody looks.
    fn put(&self, text: &str, hanging: usize) {
        match layout::err_width() {
            Some(room) => printer::err(&format!("{}\n", layout::wrap(text, room, hanging))),
            None => printer::err(&format!("{text}\n")),
        }
    }

    /// Asks somebody at a terminal, who says yes or else no.
    pub(crate) fn confirm(&self, question: &str) -> bool {
        self.put(&format!("{question} [y/N]"), 0);
        let mut line = String::new();
        let _ = io::stdin().lock().read_line(&mut line);
        matches!(&*line.trim().to_lowercase(), "y" | "yes")
    }

    /// The same where yes is what is expected of whoever typed the command.
    pub(crate) fn agrees(&self, question: &str) -> bool {
        self.put(&format!("{question} [Y/n]"), 0);
        let mut line = String::new();
        // The end of input is no answer.
        let is_answered = io::stdin().lock().read_line(&mut line).is_ok_and(|read| read > 0);
        is_answered && matches!(&*line.trim().to_lowercase(), "" | "y" | "yes")
    }

    pub(crate) fn warn(&self, text: &str) {
        if !self.quiet {
            self.put(&format!("{CARE}warning:{CARE:#} {text}"), 9);
        }
    }

    pub(crate) fn hint(&self, text: &str) {
        if !self.quiet {
            self.put(&format!("{DIM}hint:{DIM:#} {text}"), 6);
        }
    }

    /// Prints why a command failed.
    pub(crate) fn fail(&self, failure: &Failure) {
        if self.json {
            self.print_json(&line(&failure.document()));
        }
        self.complain(failure);
    }

    /// The same for people who were told the most of it: scripts get the whole, people what is left to say.
    pub(crate) fn fail_briefly(&self, failure: &Failure, brief: &Failure) {
        if self.json {
            self.print_json(&line(&failure.document()));
        }
        self.complain(brief);
    }

    /// Says what is wrong, for a command that goes on all the same.
    pub(crate) fn complain(&self, failure: &Failure) {
        self.put(&format!("{BAD}error:{BAD:#} {}", failure.message), 7);
        for hint in &failure.hints {
            self.hint(hint);
        }
    }
}

/// A document as a line. Answers are plain data, which always serialises.
fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain data always serialises")
}

/// A reader that has seen enough, such as `head`, is no failure of ours.
fn end_on_broken_pipe(written: &io::Result<()>) {
    if let Err(error) = written
        && error.kind() == io::ErrorKind::BrokenPipe
    {
        #[expect(clippy::exit, reason = "nobody is left to read the rest of the answer")]
        std::process::exit(0);
    }
}

/// A number with its thousands apart.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 note`, `2 notes`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(count))
}

/// Money.
pub(crate) fn dollars(usd: f64) -> String {
    format!("${usd:.2}")
}

/// What something cost, as far as anybody knows.
pub(crate) fn priced(cost: impl Into<Cost>) -> String {
    match cost.into() {
        Cost::Unknown => "cost unknown".to_owned(),
        told => told.to_string(),
    }
}

/// The same in a table.
pub(crate) fn priced_cell(cost: impl Into<Cost>) -> String {
    match cost.into() {
        Cost::Unknown => "-".to_owned(),
        told => told.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_easy_to_read() {
        assert_eq!(
            [0, 999, 1000, 12480, 1_234_567].map(grouped),
            ["0", "999", "1,000", "12,480", "1,234,567"]
        );
        assert_eq!([counted(1, "note"), counted(2000, "note")], ["1 note", "2,000 notes"]);
    }
}

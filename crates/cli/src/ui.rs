//! How answers look: JSON for scripts, text for people, and everything else on stderr.

use std::io;

use heirloom_api::Answer;
use serde::Serialize;

use crate::failure::Failure;
use crate::printer::{self, Style};

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
#[derive(Debug)]
pub(crate) struct Ui {
    json: bool,
}

impl Ui {
    pub(crate) fn new(json: bool) -> Self {
        Self { json }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Prints the answer: `value` for scripts, `text` for people.
    pub(crate) fn answer(&self, value: &impl Answer, text: impl FnOnce() -> String) {
        if self.json {
            self.print_json(&line(value));
        } else {
            self.print(text().trim_end_matches('\n'));
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
        printer::err(&format!("{text}\n"));
    }

    pub(crate) fn warn(&self, text: &str) {
        self.say(&format!("{CARE}warning:{CARE:#} {text}"));
    }

    pub(crate) fn hint(&self, text: &str) {
        self.say(&format!("{DIM}hint:{DIM:#} {text}"));
    }

    /// Prints why a command failed.
    pub(crate) fn fail(&self, failure: &Failure) {
        if self.json {
            self.print_json(&line(&failure.document()));
        }
        self.complain(failure);
    }

    /// Says what is wrong, for a command that goes on all the same.
    pub(crate) fn complain(&self, failure: &Failure) {
        self.say(&format!("{BAD}error:{BAD:#} {}", failure.message));
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

/// A table without lines: a row of headings and aligned columns. Cells are plain text.
pub(crate) struct Columns {
    rows: Vec<Vec<String>>,
    right: Vec<usize>,
}

impl Columns {
    pub(crate) fn new(headings: &[&str]) -> Self {
        let headings = headings.iter().map(|heading| heading.to_uppercase()).collect();
        Self { rows: vec![headings], right: Vec::new() }
    }

    /// Aligns a column of numbers to the right.
    pub(crate) fn right(mut self, column: usize) -> Self {
        self.right.push(column);
        self
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    pub(crate) fn render(&self) -> String {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let line = |row: &Vec<String>| {
            let cells = row.iter().enumerate().map(|(column, cell)| {
                let width = width(column);
                if self.right.contains(&column) {
                    format!("{cell:>width$}")
                } else {
                    format!("{cell:width$}")
                }
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        self.rows.iter().map(line).collect::<Vec<_>>().join("\n")
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

/// What something cost, as far as anybody knows.
pub(crate) fn priced(usd: Option<f64>) -> String {
    usd.map_or_else(|| "cost unknown".to_owned(), |usd| format!("${usd:.2}"))
}

/// The first line of a text, cut to a width.
pub(crate) fn first_line(text: &str, width: usize) -> String {
    let line = text.lines().next().unwrap_or_default();
    let whole = line.chars().count() <= width && text.lines().nth(1).is_none();
    if whole {
        return line.to_owned();
    }
    let cut: String = line.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", cut.trim_end())
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

    #[test]
    fn a_long_text_becomes_one_line() {
        assert_eq!(first_line("short", 10), "short");
        assert_eq!(first_line("rather long text", 10), "rather lo…");
        assert_eq!(first_line("two\nlines", 10), "two…");
        assert_eq!(first_line("日本語のテキスト", 5), "日本語の…");
    }
}

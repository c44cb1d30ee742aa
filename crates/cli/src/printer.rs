//! The one way to the terminal.
//!
//! What a command prints is made of its own words and of text that came from an agent, a repository or another
//! host, and by the time it is printed nobody can tell them apart. So it is not left to each command to be careful:
//! everything goes through here, where whatever a terminal would act on is written out. Only our own colours are let through;
//! they are known by a mark that no text from outside can have, because it is made up anew by every process.

#![expect(clippy::disallowed_methods, reason = "this is where everything else goes through")]

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::OnceLock;

use anstream::AutoStream;
use heirloom_core::visible::{visible, visible_json};

/// A colour: `{GOOD}` begins it and `{GOOD:#}` ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style(&'static str);

impl Style {
    /// A style by its numbers in a terminal's own language.
    pub(crate) const fn new(numbers: &'static str) -> Self {
        Self(numbers)
    }
}

impl fmt::Display for Style {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = if f.alternate() { "0" } else { self.0 };
        write!(f, "{}{numbers}m", mark())
    }
}

/// What stands before each of our styles until they are printed.
fn mark() -> &'static str {
    static MARK: OnceLock<String> = OnceLock::new();
    MARK.get_or_init(|| format!("\u{1b}{:016x}[", RandomState::new().hash_one("mark")))
}

/// The text as a terminal may have it.
fn shown(text: &str) -> String {
    let mut parts = text.split(mark());
    let mut shown = visible(parts.next().unwrap_or_default()).into_owned();
    for part in parts {
        let (numbers, rest) = part.split_once('m').unwrap_or(("0", part));
        shown.push_str("\u{1b}[");
        shown.push_str(numbers);
        shown.push('m');
        shown.push_str(&visible(rest));
    }
    shown
}

/// Prints text for people to stdout.
pub(crate) fn out(text: &str) -> io::Result<()> {
    put(AutoStream::auto(io::stdout()).lock(), &shown(text))
}

/// Prints what is not the answer to stderr.
pub(crate) fn err(text: &str) {
    // There is nobody left to tell when stderr is gone.
    let _ = put(AutoStream::auto(io::stderr()).lock(), &shown(text));
}

/// Prints JSON to stdout, which means what it says: nothing of it is lost.
pub(crate) fn json(text: &str) -> io::Result<()> {
    put(io::stdout().lock(), &visible_json(text))
}

/// Takes away the last lines of a terminal.
pub(crate) fn erase(lines: usize) {
    let _ = put(io::stdout().lock(), &"\u{1b}[1A\u{1b}[2K".repeat(lines));
}

/// Puts `text` in the place of the line that stderr is at.
pub(crate) fn overwrite(text: &str) {
    // There is nobody left to tell when stderr is gone.
    let _ = put(io::stderr().lock(), &format!("\r\u{1b}[2K{}", visible(text)));
}

/// Whether somebody looks at stderr.
pub(crate) fn is_err_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Whether somebody looks at stdout.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Where lines of JSON go that another program reads: byte by byte as they are, unless somebody looks at them.
pub(crate) fn records() -> Box<dyn Write> {
    if is_terminal() {
        Box::new(Looked(Vec::new()))
    } else {
        Box::new(BufWriter::new(io::stdout()))
    }
}

/// Lines of JSON on a terminal, of which the last one may be unfinished.
struct Looked(Vec<u8>);

impl Write for Looked {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        if let Some(end) = self.0.iter().rposition(|byte| *byte == b'\n') {
            let rest = self.0.split_off(end + 1);
            let lines = std::mem::replace(&mut self.0, rest);
            json(&String::from_utf8_lossy(&lines))?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        json(&String::from_utf8_lossy(&std::mem::take(&mut self.0)))
    }
}

fn put(mut out: impl Write, text: &str) -> io::Result<()> {
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RED: Style = Style::new("31");

    #[test]
    fn our_own_colours_are_let_through_and_those_of_others_are_written_out() {
        let theirs = "\u{1b}[31mevil\u{1b}[0m";
        assert_eq!(
            shown(&format!("{RED}error:{RED:#} {theirs}\n")),
            "\u{1b}[31merror:\u{1b}[0m ␛[31mevil␛[0m\n"
        );
    }

    #[test]
    fn a_mark_that_was_guessed_is_written_out() {
        let forged = "\u{1b}0123456789abcdef[31mevil";
        assert_eq!(shown(forged), "␛0123456789abcdef[31mevil");
    }

    #[test]
    fn records_on_a_terminal_wait_for_the_end_of_their_line() {
        let mut looked = Looked(Vec::new());
        looked.write_all(b"{\"a\":").unwrap();
        assert_eq!(looked.0, b"{\"a\":");
    }
}

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

/// How many columns a text takes that may hold our styles.
pub(crate) fn plain_breadth(text: &str) -> usize {
    let mut parts = text.split(mark());
    let first = crate::layout::breadth(parts.next().unwrap_or_default());
    let rest = parts.map(|part| part.split_once('m').map_or(part, |(_, rest)| rest));
    first + rest.map(crate::layout::breadth).sum::<usize>()
}

/// The text as a terminal may have it.
pub(crate) fn shown(text: &str) -> String {
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
    put(AutoStream::auto(io::stdout()).lock(), &spelled(shown(text)))
}

/// The bytes that [`out`] would put on the terminal, for a pager that puts them there.
pub(crate) fn for_pager(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let choice = AutoStream::choice(&io::stdout());
    let written = AutoStream::new(&mut bytes, choice).write_all(spelled(shown(text)).as_bytes());
    written.map(|()| bytes).unwrap_or_default()
}

/// The text with our marks and frames in ASCII, where the locale knows nothing else.
fn spelled(text: String) -> String {
    if spells_in_ascii() { in_ascii(&text) } else { text }
}

fn spells_in_ascii() -> bool {
    static ASCII: OnceLock<bool> = OnceLock::new();
    // Unit tests see our marks as they are, in whatever locale they run.
    *ASCII.get_or_init(|| {
        !cfg!(test) && is_ascii(["LC_ALL", "LC_CTYPE", "LANG"].map(|name| std::env::var(name).ok()))
    })
}

/// How many columns one of our marks takes once it is spelled out; `None` where it stays as it is.
pub(crate) fn spelled_breadth(character: char) -> Option<usize> {
    let spelled = ascii(character)?;
    spells_in_ascii().then_some(spelled.len())
}

/// Whether the locale, of which the first that is set counts, has an encoding other than UTF-8. Where none is set
/// nobody has said anything about it.
fn is_ascii(locale: [Option<String>; 3]) -> bool {
    let said = locale.into_iter().flatten().find(|value| !value.is_empty());
    said.is_some_and(|value| {
        let value = value.to_lowercase();
        !value.contains("utf-8") && !value.contains("utf8")
    })
}

fn in_ascii(text: &str) -> String {
    let mut spelled = String::with_capacity(text.len());
    for character in text.chars() {
        match ascii(character) {
            Some(words) => spelled.push_str(words),
            None => spelled.push(character),
        }
    }
    spelled
}

const fn ascii(character: char) -> Option<&'static str> {
    Some(match character {
        '✔' => "+",
        '✗' => "x",
        '·' | '─' => "-",
        '●' => "*",
        '▸' => ">",
        '→' => "->",
        '←' => "<-",
        '…' => "...",
        '└' => "`",
        '├' | '│' => "|",
        '±' => "+-",
        '“' | '”' => "\"",
        '’' => "'",
        _ => return None,
    })
}

/// Prints what is not the answer to stderr.
pub(crate) fn err(text: &str) {
    // There is nobody left to tell when stderr is gone.
    let _ = put(AutoStream::auto(io::stderr()).lock(), &spelled(shown(text)));
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
    fn a_locale_without_utf_8_gets_ascii() {
        let of = |locale: [&str; 3]| {
            is_ascii(locale.map(|value| (!value.is_empty()).then(|| value.to_owned())))
        };
        assert!(of(["C", "", ""]) && of(["", "", "POSIX"]) && of(["", "de_DE.ISO-8859-1", ""]));
        assert!(!of(["", "", ""]) && !of(["C.UTF-8", "", "C"]) && !of(["", "", "de_DE.utf8"]));
        assert_eq!(in_ascii("✔ done · 3… → next └─ x"), "+ done - 3... -> next `- x");
    }

    #[test]
    fn styles_take_no_room() {
        assert_eq!(plain_breadth(&format!("{RED}error:{RED:#} no")), "error: no".len());
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

//! How a text says which of its parts are not known.
//!
//! Words, values, what a command prints and what a shell is given to run are all plain texts here.
//! What the shell would put in is a mark in them: a character of the private use area. So a text with
//! gaps goes through variables, pipes and `sh -c` like any other, and what is known of it stays known.
//! A mark that somebody wrote on purpose makes a text less certain, never more.

use std::borrow::Cow;

/// Any text, in one word: `"$x"`.
pub(super) const VALUE: char = '\u{F8F0}';
/// Any words, or none: `$x`.
pub(super) const WORDS: char = '\u{F8F1}';
/// Any part of a file's name: `*`.
pub(in crate::guard) const STAR: char = '\u{F8F2}';
/// One character of a file's name: `?`, `[a-z]`.
pub(super) const ONE: char = '\u{F8F3}';
/// A word that is no option: a number, a date, the name of a branch.
pub(super) const NAME: char = '\u{F8F4}';
/// The root of the repository.
pub(in crate::guard) const ROOT: char = '\u{F8F5}';
/// Where one word ends and the next begins, in what an expansion put in.
pub(super) const SPLIT: char = '\u{F8F6}';
/// Braces and commas that nobody quoted.
pub(super) const OPEN: char = '\u{F8F7}';
pub(super) const COMMA: char = '\u{F8F8}';
pub(super) const CLOSE: char = '\u{F8F9}';

const FIRST: char = VALUE;
const LAST: char = CLOSE;

/// Whether it stands for something that is not known.
pub(in crate::guard) const fn is_hole(c: char) -> bool {
    matches!(c, VALUE | WORDS | STAR | ONE | NAME | ROOT)
}

/// Whether all of the text is known.
pub(in crate::guard) fn is_known(text: &str) -> bool {
    // All marks begin with the same two bytes, and few texts have one of them.
    !text.as_bytes().contains(&0xEF) || !text.chars().any(is_hole)
}

/// The text as a person would write it, with `…` for what is not known.
pub(in crate::guard) fn shown(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| (FIRST..=LAST).contains(&c)) {
        return Cow::Borrowed(text);
    }
    text.chars()
        .map(|c| match c {
            STAR => '*',
            ONE => '?',
            ROOT => '.',
            SPLIT => ' ',
            OPEN => '{',
            COMMA => ',',
            CLOSE => '}',
            c if is_hole(c) => '…',
            c => c,
        })
        .collect()
}

/// What an expansion puts in where nothing is quoted: it falls into words, and may be a glob.
pub(super) fn unquoted(value: &str) -> String {
    value
        .chars()
        .map(|c| match c {
            VALUE => WORDS,
            ' ' | '\t' | '\n' | '\r' => SPLIT,
            '*' => STAR,
            '?' => ONE,
            c => c,
        })
        .collect()
}

/// What an expansion puts in between double quotes: one word, whatever is in it.
pub(super) fn quoted(value: &str) -> Cow<'_, str> {
    if !value.contains([WORDS, SPLIT]) {
        return Cow::Borrowed(value);
    }
    value
        .chars()
        .map(|c| match c {
            WORDS => VALUE,
            SPLIT => ' ',
            c => c,
        })
        .collect()
}

/// The text in single quotes, so that a shell reads it as one word.
pub(super) fn enquoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

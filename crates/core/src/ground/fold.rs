//! Folding: words with one space between them, whatever white space there was.

use std::borrow::Cow;

/// The least a quote must have, white space aside, to prove anything.
const LEAST_CHARACTERS: usize = 5;

/// Of which letters and digits: `});` stands everywhere.
const LEAST_LETTERS: usize = 3;

/// `text` with every run of white space as one space, and none at its ends.
pub fn fold(text: &str) -> String {
    folded(text).into_owned()
}

/// The same, borrowed where nothing but its ends has to go, as in most quotes of one line.
pub(super) fn folded(text: &str) -> Cow<'_, str> {
    let trimmed = text.trim();
    if is_folded(trimmed) {
        return Cow::Borrowed(trimmed);
    }
    let mut folded = String::with_capacity(trimmed.len());
    fold_into(trimmed, &mut folded);
    Cow::Owned(folded)
}

/// Appends the words of `text`, each behind a space unless it is the first of all.
pub(super) fn fold_into(text: &str, folded: &mut String) {
    let trimmed = text.trim();
    let mut append = |words: &str| {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(words);
    };
    if is_folded(trimmed) {
        if !trimmed.is_empty() {
            append(trimmed);
        }
    } else {
        trimmed.split_whitespace().for_each(append);
    }
}

/// Whether a trimmed text is plainly folded. Of what is not ASCII nothing is plain.
fn is_folded(trimmed: &str) -> bool {
    let mut before = 0;
    trimmed.bytes().all(|byte| {
        let twice = byte == b' ' && before == b' ';
        before = byte;
        byte.is_ascii() && !matches!(byte, b'\t'..=b'\r') && !twice
    })
}

/// Whether a folded quote says enough to prove anything.
pub fn says_enough(folded: &str) -> bool {
    let (mut characters, mut letters) = (0, 0);
    for character in folded.chars().filter(|character| *character != ' ') {
        characters += 1;
        letters += usize::from(character.is_alphanumeric());
        if characters >= LEAST_CHARACTERS && letters >= LEAST_LETTERS {
            return true;
        }
    }
    false
}

/// The hash of a quote, the same for every way of setting it.
pub fn digest(quote: &str) -> String {
    blake3::hash(fold(quote).as_bytes()).to_hex()[..32].to_owned()
}

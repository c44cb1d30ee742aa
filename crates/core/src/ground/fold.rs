//! Folding: words with one space between them, whatever white space there was.

/// The least a quote must have, white space aside, to prove anything.
const LEAST_CHARACTERS: usize = 5;

/// Of which letters and digits: `});` stands everywhere.
const LEAST_LETTERS: usize = 3;

/// `text` with every run of white space as one space, and none at its ends.
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    fold_into(text, &mut folded);
    folded
}

/// Appends the words of `text`, each behind a space unless it is the first of all.
pub(super) fn fold_into(text: &str, folded: &mut String) {
    for word in text.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
    }
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

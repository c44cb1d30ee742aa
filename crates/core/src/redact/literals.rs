//! Finding a few hundred literals in a text, with next to nothing to build first.
//!
//! An automaton scans faster, but building one costs more than a hook does in all, and most processes
//! redact a few short texts. Here literals are put in buckets by their first two bytes; a text is
//! walked once, and only a bucket that is not empty costs a comparison.

/// Buckets; a power of two, a few times the number of literals.
const BUCKETS: usize = 1024;

/// Marks the end of a chain.
const NONE: u16 = u16::MAX;

/// Literals, ready to be looked for. The case of ASCII letters does not count.
pub(super) struct Literals<T> {
    heads: Box<[u16; BUCKETS]>,
    entries: Vec<Entry<T>>,
}

struct Entry<T> {
    literal: &'static [u8],
    value: T,
    next: u16,
}

impl<T: Copy> Literals<T> {
    /// Puts the literals in their buckets. Each has at least two bytes.
    pub(super) fn new(literals: impl Iterator<Item = (&'static str, T)>) -> Self {
        let mut heads = Box::new([NONE; BUCKETS]);
        let mut entries = Vec::with_capacity(512);
        for (literal, value) in literals {
            let literal = literal.as_bytes();
            debug_assert!(literal.len() >= 2, "a literal has at least two bytes");
            let bucket = &mut heads[bucket(literal[0], literal[1])];
            let index = u16::try_from(entries.len()).unwrap_or(NONE);
            entries.push(Entry { literal, value, next: *bucket });
            *bucket = index;
        }
        Self { heads, entries }
    }

    /// Calls `found` with the place and value of every literal in `text`.
    pub(super) fn each_in(&self, text: &[u8], mut found: impl FnMut(std::ops::Range<usize>, T)) {
        for at in 0..text.len().saturating_sub(1) {
            let mut next = self.heads[bucket(text[at], text[at + 1])];
            while let Some(entry) = self.entries.get(usize::from(next)) {
                let end = at + entry.literal.len();
                if text.get(at..end).is_some_and(|here| here.eq_ignore_ascii_case(entry.literal)) {
                    found(at..end, entry.value);
                }
                next = entry.next;
            }
        }
    }
}

fn bucket(first: u8, second: u8) -> usize {
    let first = usize::from(first.to_ascii_lowercase());
    let second = usize::from(second.to_ascii_lowercase());
    (first * 37 + second) % BUCKETS
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WORDS: [&str; 6] = ["ab", "abc", "bc", "://", "AKIA", "ke"];

    proptest! {
        #[test]
        fn every_place_of_every_literal_is_found(text in "[abckKEeaiA:/]{0,40}") {
            let literals = Literals::new(WORDS.iter().map(|word| (*word, *word)));
            let mut found = Vec::new();
            literals.each_in(text.as_bytes(), |at, word| found.push((at.start, word)));
            let mut expected = Vec::new();
            let lower = text.to_lowercase();
            for start in 0..text.len() {
                for word in WORDS {
                    if lower[start..].starts_with(&word.to_lowercase()) {
                        expected.push((start, word));
                    }
                }
            }
            found.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}

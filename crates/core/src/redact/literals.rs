//! Finding a few hundred literals in a text, with next to nothing to build first.
//!
//! An automaton scans faster, but building one costs more than a hook does in all, and most processes
//! redact a few short texts. Here literals are put in buckets by their first two bytes; a text is
//! walked once, and only a place whose first three bytes may begin a literal costs a comparison. Buckets
//! alone are not enough: a few hundred literals begin with most of the pairs that text is made of.

/// Buckets; a power of two, a few times the number of literals.
const BUCKETS: usize = 1024;

/// Words of 64 bits that say which three bytes may begin a literal.
const FILTER: usize = 1024;

/// Marks the end of a chain.
const NONE: u16 = u16::MAX;

/// Literals, ready to be looked for. The case of ASCII letters does not count.
pub(super) struct Literals<T> {
    filter: Box<[u64; FILTER]>,
    heads: Box<[u16; BUCKETS]>,
    entries: Vec<Entry<T>>,
}

struct Entry<T> {
    literal: &'static [u8],
    /// Its first four bytes, folded, and which of them it has: most places are told apart by these.
    start: u32,
    mask: u32,
    value: T,
    next: u16,
}

impl<T: Copy> Literals<T> {
    /// Puts the literals in their buckets. Each has at least two bytes.
    pub(super) fn new(literals: impl Iterator<Item = (&'static str, T)>) -> Self {
        let mut filter = Box::new([0; FILTER]);
        let mut heads = Box::new([NONE; BUCKETS]);
        let mut entries = Vec::with_capacity(512);
        for (literal, value) in literals {
            let literal = literal.as_bytes();
            debug_assert!(literal.len() >= 2, "a literal has at least two bytes");
            let length = literal.len().min(4);
            let mask = u32::MAX >> (32 - 8 * length);
            let start = window(literal, 0) & mask;
            let thirds = if length == 2 { 0..=u8::MAX } else { literal[2]..=literal[2] };
            for third in thirds {
                let (word, bit) = place(start & 0xffff | (u32::from(third) | 0x20) << 16);
                filter[word] |= bit;
            }
            let bucket = &mut heads[bucket(start)];
            let index = u16::try_from(entries.len()).unwrap_or(NONE);
            entries.push(Entry { literal, start, mask, value, next: *bucket });
            *bucket = index;
        }
        Self { filter, heads, entries }
    }

    /// Calls `found` with the place and value of every literal in `text`.
    pub(super) fn each_in(&self, text: &[u8], mut found: impl FnMut(std::ops::Range<usize>, T)) {
        // Nearly every place of nearly every text: nothing is looked up or compared here but the filter.
        for (at, four) in text.array_windows().enumerate() {
            let window = folded(*four);
            if self.may_begin(window) {
                self.each_at(text, at, window, &mut found);
            }
        }
        for at in text.len().saturating_sub(3)..text.len().saturating_sub(1) {
            let window = window(text, at);
            if self.may_begin(window) {
                self.each_at(text, at, window, &mut found);
            }
        }
    }

    fn may_begin(&self, window: u32) -> bool {
        let (word, bit) = place(window);
        self.filter[word] & bit != 0
    }

    fn each_at(
        &self,
        text: &[u8],
        at: usize,
        window: u32,
        found: &mut impl FnMut(std::ops::Range<usize>, T),
    ) {
        let mut next = self.heads[bucket(window)];
        while let Some(entry) = self.entries.get(usize::from(next)) {
            if window & entry.mask == entry.start {
                let end = at + entry.literal.len();
                let here = text.get(at..end);
                if here.is_some_and(|here| here.eq_ignore_ascii_case(entry.literal)) {
                    found(at..end, entry.value);
                }
            }
            next = entry.next;
        }
    }
}

/// The four bytes from `at` on, as far as there are any, [folded].
fn window(text: &[u8], at: usize) -> u32 {
    folded(std::array::from_fn(|place| text.get(at + place).copied().unwrap_or(0)))
}

/// Four bytes with a bit set that is all that tells small letters from capitals. It makes some other bytes
/// the same as well, so what is equal here is compared once more.
fn folded(four: [u8; 4]) -> u32 {
    u32::from_le_bytes(four) | 0x2020_2020
}

/// Where in the filter the first three bytes of a window are.
fn place(window: u32) -> (usize, u64) {
    const { assert!(FILTER == 1 << 10) };
    let hash = (window & 0xff_ffff).wrapping_mul(0x9e37_79b1);
    ((hash >> 22) as usize, 1 << (hash >> 16 & 63))
}

/// The bucket of the first two bytes of a window.
fn bucket(window: u32) -> usize {
    const { assert!(BUCKETS == 1 << 10) };
    ((window & 0xffff).wrapping_mul(0x9e37_79b1) >> 22) as usize
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

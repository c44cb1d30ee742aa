//! Sets of ASCII bytes, as bit masks that are made at compile time.

/// A set of ASCII bytes. Bytes from 128 up are never members.
#[derive(Clone, Copy, Debug)]
pub(super) struct Set(u128);

impl Set {
    pub(super) const fn of(bytes: &[u8]) -> Self {
        let mut mask = 0;
        let mut i = 0;
        while i < bytes.len() {
            mask |= 1 << bytes[i];
            i += 1;
        }
        Self(mask)
    }

    pub(super) const fn and(self, bytes: &[u8]) -> Self {
        Self(self.0 | Self::of(bytes).0)
    }

    pub(super) const fn has(self, byte: u8) -> bool {
        byte < 128 && self.0 & (1 << byte) != 0
    }

    /// Returns the end of the run of members that starts at `from`.
    pub(super) fn run(self, text: &[u8], from: usize) -> usize {
        text[from..].iter().position(|&b| !self.has(b)).map_or(text.len(), |n| from + n)
    }

    /// Returns the start of the run of members that ends before `to`, at most `max` long.
    pub(super) fn run_back(self, text: &[u8], to: usize, max: usize) -> usize {
        let low = to.saturating_sub(max);
        text[low..to].iter().rposition(|&b| !self.has(b)).map_or(low, |n| low + n + 1)
    }
}

pub(super) const DIGIT: Set = Set::of(b"0123456789");
pub(super) const LOWER_HEX: Set = DIGIT.and(b"abcdef");
pub(super) const HEX: Set = LOWER_HEX.and(b"ABCDEF");
pub(super) const LOWER: Set = Set::of(b"abcdefghijklmnopqrstuvwxyz");
pub(super) const UPPER: Set = Set::of(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ");
pub(super) const LOWER_DIGIT: Set = DIGIT.and(b"abcdefghijklmnopqrstuvwxyz");
pub(super) const UPPER_DIGIT: Set = DIGIT.and(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ");
pub(super) const LETTER: Set = LOWER.and(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ");
pub(super) const ALNUM: Set = LETTER.and(b"0123456789");
/// What `\w` is in most expressions.
pub(super) const WORD: Set = ALNUM.and(b"_");
/// base64url.
pub(super) const URL64: Set = WORD.and(b"-");
pub(super) const BASE64: Set = ALNUM.and(b"+/");
pub(super) const BASE64_PAD: Set = BASE64.and(b"=");
pub(super) const DOTTED: Set = URL64.and(b".");

//! Words that were masked, known by their sums.
//!
//! An agent's own file still has what was masked in our copy of it. Where that copy is made anew, the words must not come
//! back; and to write them down for that would be to keep them. So their sums are kept, by which they are found again,
//! and the few bits of a sum of how they begin, by which most places are passed over.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{SHORTEST, fill};

/// So many are known at most: they stand in a file that is read whole.
const MOST: usize = 4000;

/// Sums of words that were masked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sums(BTreeSet<Sum>);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Sum {
    /// Of how it begins: too few bits to guess that from.
    begins: u16,
    length: usize,
    hash: String,
}

impl Sums {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Knows the words in these places from now on.
    pub fn add(&mut self, bytes: &[u8], places: &[Range<usize>]) {
        let words: BTreeSet<&[u8]> = places.iter().map(|place| &bytes[place.clone()]).collect();
        for word in words.into_iter().filter(|word| word.len() >= SHORTEST) {
            if self.0.len() < MOST {
                let begins = Rolling::over(&word[..SHORTEST]).bits();
                self.0.insert(Sum { begins, length: word.len(), hash: hash(word) });
            }
        }
    }

    /// Masks the words that are known. Returns whether there were any.
    pub fn mask(&self, bytes: &mut [u8]) -> bool {
        if self.is_empty() || bytes.len() < SHORTEST {
            return false;
        }
        let mut places = Vec::new();
        let mut rolling = Rolling::over(&bytes[..SHORTEST]);
        for start in 0..=bytes.len() - SHORTEST {
            if start > 0 {
                rolling.go_on(bytes[start - 1], bytes[start + SHORTEST - 1]);
            }
            let begins = rolling.bits();
            let first = Sum { begins, length: 0, hash: String::new() };
            for known in self.0.range(first..).take_while(|known| known.begins == begins) {
                let place = start..start + known.length;
                if bytes.get(place.clone()).is_some_and(|found| hash(found) == known.hash) {
                    places.push(place);
                }
            }
        }
        fill(bytes, &places);
        !places.is_empty()
    }
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
}

/// The sum of the last few bytes, brought on by one byte at a time.
struct Rolling(u64);

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl Rolling {
    fn over(bytes: &[u8]) -> Self {
        Self(
            bytes
                .iter()
                .fold(0, |sum: u64, byte| sum.wrapping_mul(FACTOR).wrapping_add(u64::from(*byte))),
        )
    }

    fn go_on(&mut self, goes: u8, comes: u8) {
        let exponent = u32::try_from(SHORTEST - 1).unwrap_or(0);
        let gone = u64::from(goes).wrapping_mul(FACTOR.wrapping_pow(exponent));
        self.0 = self.0.wrapping_sub(gone).wrapping_mul(FACTOR).wrapping_add(u64::from(comes));
    }

    /// The best mixed bits.
    fn bits(&self) -> u16 {
        u16::try_from(self.0 >> 48).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_masked_is_known_again_wherever_it_stands_and_cannot_be_read() {
        let text = b"say that the moon is made of green cheese, always".to_vec();
        let place = 9..41;
        assert_eq!(&text[place.clone()], b"the moon is made of green cheese");
        let mut sums = Sums::default();
        sums.add(&text, &[place]);
        let written = serde_json::to_string(&sums).unwrap();
        assert!(!written.contains("moon"), "{written}");
        let read: Sums = serde_json::from_str(&written).unwrap();
        let filler = "all work and no play, ".repeat(5000);
        let mut long = format!("{filler}the moon is made of green cheese{filler}").into_bytes();
        assert!(read.mask(&mut long));
        let masked = String::from_utf8(long).unwrap();
        assert_eq!(masked, format!("{filler}{}{filler}", "*".repeat(32)));
        assert!(!read.mask(&mut masked.into_bytes()));
        assert!(!read.mask(&mut b"the moon is made of blue cheese!".to_vec()));
    }
}

//! Words that were masked, known by their sums.
//!
//! An agent's own file still has what was masked in our copy of it. Where that copy is made anew, or somebody went on
//! with a copy of that file, the words must not come back; and to write them down for that would be to keep them. So their
//! sums are kept, made with a secret of the home: without it nobody can try out what the words were.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::heads::{Heads, begins};
use super::{SHORTEST, Stands, Where, Words, fill, lines};

/// What sums are made with.
pub type Secret = [u8; 32];

/// Sums of words that were masked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sums(BTreeSet<Sum>);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Sum {
    /// Of how it begins.
    begins: u32,
    length: usize,
    hash: String,
    stands: Stands,
}

impl Sums {
    /// Of all words as they stand in transcripts, which are JSON.
    pub fn of(words: &Words, secret: &Secret) -> Self {
        let factor = factor(secret);
        let in_json = words.forms.iter().chain(&words.lines).filter(|form| form.in_json);
        let sums = in_json.map(|form| Sum {
            begins: begins(factor, &form.bytes),
            length: form.bytes.len(),
            hash: hash(secret, &form.bytes),
            stands: form.stands,
        });
        Self(sums.collect())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Masks the words that are known in a transcript, or in a part of one. Returns whether there were any.
    pub fn mask(&self, secret: &Secret, bytes: &mut [u8]) -> bool {
        if self.is_empty() {
            return false;
        }
        let (short, all): (Vec<&Sum>, Vec<&Sum>) =
            self.0.iter().partition(|sum| sum.stands == Stands::PassedOn || sum.length < SHORTEST);
        let heads = Heads::new(factor(secret), all.iter().map(|sum| sum.begins));
        let place = Where::in_json(bytes);
        let mut places: Vec<Range<usize>> = Vec::new();
        heads.each(bytes, |start, number| {
            let known = all[number];
            let at = start..start.saturating_add(known.length);
            let is_it = bytes.get(at.clone()).is_some_and(|found| {
                place.is_meant(known.stands, &at) && hash(secret, found) == known.hash
            });
            if is_it {
                places.push(at);
            }
        });
        for stands in [Stands::Told, Stands::PassedOn] {
            let known = short.iter().filter(|sum| sum.stands == stands);
            let hashes: BTreeSet<&str> = known.clone().map(|sum| sum.hash.as_str()).collect();
            let lengths = known.map(|sum| sum.length).collect();
            let mut found = lines::standing(&place, stands, &lengths);
            found.retain(|at| hashes.contains(hash(secret, &bytes[at.clone()]).as_str()));
            places.extend(found);
        }
        fill(bytes, &places);
        !places.is_empty()
    }
}

fn hash(secret: &Secret, bytes: &[u8]) -> String {
    blake3::keyed_hash(secret, bytes).to_hex()[..32].to_owned()
}

/// How a beginning is summed up is part of the secret.
fn factor(secret: &Secret) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&blake3::keyed_hash(secret, b"how words begin").as_bytes()[..8]);
    u64::from_le_bytes(first) | 1
}

#[cfg(test)]
mod tests {
    use super::super::{MASK, Words};
    use super::*;
    use crate::recover;

    const SECRET: Secret = [7; 32];

    fn read_again(words: &Words) -> Sums {
        let written = serde_json::to_string(&Sums::of(words, &SECRET)).unwrap();
        assert!(!written.contains("moon"), "{written}");
        serde_json::from_str(&written).unwrap()
    }

    #[test]
    fn what_was_masked_is_known_again_wherever_it_stands_and_cannot_be_read() {
        let said = "the moon is made of green cheese".to_owned();
        let read = read_again(&Words::new([said.clone()], []));
        let filler = "all work and no play, ".repeat(5000);
        let mut long = format!("{filler}{said}{filler}").into_bytes();
        assert!(read.mask(&SECRET, &mut long));
        let masked = String::from_utf8(long).unwrap();
        assert_eq!(masked, format!("{filler}{}{filler}", "*".repeat(32)));
        assert!(!read.mask(&SECRET, &mut masked.into_bytes()));
        assert!(!read.mask(&SECRET, &mut b"the moon is made of blue cheese!".to_vec()));
        assert!(!read.mask(&[8; 32], &mut said.into_bytes()), "without the secret nobody can tell");
    }

    #[test]
    fn what_a_brief_quotes_is_known_again_in_what_was_told_and_nowhere_else() {
        let read = read_again(&Words::new([], ["cargo test -p moon".to_owned()]));
        let mut own = br#"{"command":"cargo test -p moon"}"#.to_vec();
        assert!(!read.mask(&SECRET, &mut own));
        let told = format!("{} `cargo test -p moon`", recover::MARK);
        let mut told = serde_json::json!({ "content": told }).to_string().into_bytes();
        assert!(read.mask(&SECRET, &mut told));
        assert!(told.windows(18).any(|bytes| bytes == [MASK; 18]));
    }

    #[test]
    fn however_many_words_there_were_all_are_known_again() {
        let said = |n: usize| format!("{n:06} moons are made of green cheese");
        let read = read_again(&Words::new((0..20_000).map(said), []));
        for n in [0, 4321, 19_999] {
            assert!(read.mask(&SECRET, &mut said(n).into_bytes()), "{n}");
        }
    }
}

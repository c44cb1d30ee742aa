//! What an earlier build remembered of words that it had masked: sums without a secret, with each transcript.
//!
//! They are not made any more, but an agent's own file still has those words, and nothing else knows them.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::heads::Rolling;
use super::{FACTOR, SHORTEST, fill};

/// Sums of words that an earlier build masked in a transcript.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unkeyed(BTreeSet<Sum>);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Sum {
    /// Of how it begins: the upper half of what [`Rolling`] says.
    begins: u16,
    length: usize,
    /// The very first ones were written by another name.
    #[serde(alias = "sum")]
    hash: String,
}

impl Unkeyed {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Masks the words that are known. Returns whether there were any.
    pub fn mask(&self, bytes: &mut [u8]) -> bool {
        if self.is_empty() || bytes.len() < SHORTEST {
            return false;
        }
        let mut places: Vec<Range<usize>> = Vec::new();
        let mut rolling = Rolling::over(FACTOR, bytes);
        for start in 0..=bytes.len() - SHORTEST {
            if start > 0 {
                rolling.go_on(bytes[start - 1], bytes[start + SHORTEST - 1]);
            }
            let begins = (rolling.sum() >> 16) as u16;
            let first = Sum { begins, length: 0, hash: String::new() };
            for known in self.0.range(first..).take_while(|known| known.begins == begins) {
                let at = start..start.saturating_add(known.length);
                if bytes.get(at.clone()).is_some_and(|found| hash(found) == known.hash) {
                    places.push(at);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_an_earlier_build_masked_are_known_by_what_it_wrote_down() {
        // As that build wrote it of "the moon is made of green cheese".
        let written = r#"[{"begins":43467,"length":32,"hash":"b9701b24d6203065e5a33d2a36d5a9f5"}]"#;
        let known: Unkeyed = serde_json::from_str(written).unwrap();
        assert_eq!(serde_json::to_string(&known).unwrap(), written);
        let first = r#"[{"begins":43467,"length":32,"sum":"b9701b24d6203065e5a33d2a36d5a9f5"}]"#;
        assert_eq!(serde_json::from_str::<Unkeyed>(first).unwrap(), known);
        let filler = "all work and no play, ".repeat(500);
        let mut bytes = format!("{filler}the moon is made of green cheese{filler}").into_bytes();
        assert!(known.mask(&mut bytes));
        assert_eq!(bytes, format!("{filler}{}{filler}", "*".repeat(32)).into_bytes());
        assert!(!known.mask(&mut b"the moon is made of blue cheese!".to_vec()));
    }
}

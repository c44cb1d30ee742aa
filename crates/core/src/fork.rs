//! Forks: the context claims something that the ledger contradicts.
//!
//! Words alone cannot prove a contradiction, so only what is plain counts as one: the claim is what
//! a decision replaced; it is a decision with its negation, or with another number; or it decides
//! the same thing, by verb and object, in another way. Everything else is related at most.

use std::collections::BTreeSet;

use crate::ground::ghost::{stem, words};

/// How a claim stands to a text of the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Relation {
    /// They have nothing to do with each other.
    Unrelated,
    /// They are about the same things.
    Related,
    /// They say the same.
    Agrees,
    /// They cannot both be right.
    Contradicts(Why),
}

/// Why two texts cannot both be right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// The ledger replaced what is claimed.
    Superseded,
    /// One says the opposite of the other.
    Negated,
    /// They name different numbers.
    Numbers,
    /// They decide the same thing in different ways.
    OtherWay,
}

impl Why {
    /// In words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Superseded => "it was replaced by a later decision",
            Self::Negated => "one says the opposite of the other",
            Self::Numbers => "they name different numbers",
            Self::OtherWay => "they decide the same thing in different ways",
        }
    }
}

const LITTLE: &[&str] = &[
    "a", "an", "the", "to", "of", "in", "on", "for", "with", "and", "or", "is", "are", "be", "was",
    "it", "that", "this", "we", "our", "as", "at", "by", "from", "will", "should", "must", "so",
    "do", "does", "doe", "instead", "decided", "decid", "than", "rather",
];
const NEGATIONS: &[&str] = &["not", "no", "never", "without", "don", "cannot", "avoid", "dont"];
const VERBS: &[&str] = &[
    "use",
    "us",
    "choose",
    "chose",
    "pick",
    "adopt",
    "prefer",
    "keep",
    "store",
    "put",
    "select",
    "switch",
    "go",
    "take",
    "write",
    "implement",
    "add",
];

struct Said {
    verb: Option<String>,
    content: BTreeSet<String>,
    numbers: BTreeSet<String>,
    last: Option<String>,
    negated: bool,
}

fn said(text: &str) -> Said {
    let all: Vec<String> = words(text).iter().map(|word| stem(word).to_owned()).collect();
    let negated = all.iter().filter(|word| NEGATIONS.contains(&word.as_str())).count() % 2 == 1;
    let verb = all
        .iter()
        .find(|word| !LITTLE.contains(&word.as_str()) && !NEGATIONS.contains(&word.as_str()));
    let verb = verb.filter(|word| VERBS.contains(&word.as_str())).cloned();
    let is_content = |word: &&String| {
        !LITTLE.contains(&word.as_str())
            && !NEGATIONS.contains(&word.as_str())
            && !VERBS.contains(&word.as_str())
    };
    let is_number = |word: &str| word.bytes().any(|byte| byte.is_ascii_digit());
    let content: Vec<String> = all.iter().filter(is_content).cloned().collect();
    let last = content.iter().rev().find(|word| !is_number(word)).cloned();
    let (numbers, content) = content.into_iter().partition(|word| is_number(word));
    Said { verb, content, numbers, last, negated }
}

/// How `claim` stands to `text`, which the ledger holds; `superseded` if it was replaced.
pub fn relate(claim: &str, text: &str, superseded: bool) -> Relation {
    let (one, other) = (said(claim), said(text));
    if one.content.is_empty() || other.content.is_empty() {
        return Relation::Unrelated;
    }
    let same = one.content == other.content;
    let contained = one.content.is_subset(&other.content) || other.content.is_subset(&one.content);
    let shared = one.content.intersection(&other.content).count();
    if shared == 0 {
        return Relation::Unrelated;
    }
    let equal = same && one.negated == other.negated && one.numbers == other.numbers;
    if superseded {
        return if equal { Relation::Contradicts(Why::Superseded) } else { Relation::Related };
    }
    let enough = same || (contained && shared >= 2);
    if enough && one.negated != other.negated {
        return Relation::Contradicts(Why::Negated);
    }
    let numbers = !one.numbers.is_empty() && !other.numbers.is_empty();
    if enough && numbers && one.numbers.is_disjoint(&other.numbers) {
        return Relation::Contradicts(Why::Numbers);
    }
    if enough {
        return Relation::Agrees;
    }
    let same_object = one.last.is_some() && one.last == other.last;
    let same_verb = one.verb.is_some() && one.verb == other.verb;
    if same_verb && same_object && !contained && one.negated == other.negated {
        return Relation::Contradicts(Why::OtherWay);
    }
    Relation::Related
}

/// The address of a disagreement.
pub fn id(source: &str, claimed: &str, ledger: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in [source, claimed, ledger] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_what_is_plain_is_a_contradiction() {
        for (claim, ledger, relation) in [
            (
                "Use stateless tokens",
                "Use rotating refresh tokens",
                Relation::Contradicts(Why::OtherWay),
            ),
            ("Use rotating refresh tokens", "use rotating refresh tokens!", Relation::Agrees),
            (
                "Do not use rotating refresh tokens",
                "Use rotating refresh tokens",
                Relation::Contradicts(Why::Negated),
            ),
            (
                "15 minute grace period",
                "grace period of 30 minutes",
                Relation::Contradicts(Why::Numbers),
            ),
            ("The grace period is 15 minutes", "grace period of 15 minutes", Relation::Agrees),
            ("Tokens are stored in Redis", "Use rotating refresh tokens", Relation::Related),
            ("The parser is slow", "Use rotating refresh tokens", Relation::Unrelated),
            ("", "Use rotating refresh tokens", Relation::Unrelated),
        ] {
            assert_eq!(relate(claim, ledger, false), relation, "{claim} / {ledger}");
        }
    }

    #[test]
    fn what_was_replaced_is_no_longer_so() {
        let why = Relation::Contradicts(Why::Superseded);
        assert_eq!(relate("use stateless tokens", "Use stateless tokens", true), why);
        assert_eq!(relate("Use other tokens", "Use stateless tokens", true), Relation::Related);
    }

    proptest! {
        #[test]
        fn a_text_never_contradicts_itself(text in "[a-zA-Z0-9 ]{0,60}") {
            prop_assert!(!matches!(relate(&text, &text, false), Relation::Contradicts(_)));
        }
    }
}

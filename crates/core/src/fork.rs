//! Forks: the context claims something that the ledger contradicts.
//!
//! Words alone cannot prove a contradiction, so only what is plain counts as one: the claim is what
//! a decision replaced; it is a decision with its negation, or with another number; or it chooses
//! something else for the same thing. Everything else is related at most: a warning that is not
//! called for teaches people to overlook those that are.

use std::collections::{BTreeSet, HashMap};

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

impl Relation {
    /// The word for it in JSON: a claim the ledger says nothing about is `unknown` to it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unrelated => "unknown",
            Self::Related => "related",
            Self::Agrees => "agrees",
            Self::Contradicts(_) => "contradicts",
        }
    }
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

/// Verbs that choose one thing and by that no other. Many things can be kept, added or written.
const CHOICES: &[&str] =
    &["use", "us", "choose", "chose", "pick", "adopt", "prefer", "select", "switch", "go"];

#[derive(Debug)]
struct Said {
    verb: Option<String>,
    content: BTreeSet<String>,
    numbers: BTreeSet<String>,
    /// What is chosen comes first, and what it is chosen for last.
    first: Option<String>,
    last: Option<String>,
    negated: bool,
    /// What is said not to be: the word behind each negation.
    denied: BTreeSet<String>,
}

fn said(text: &str) -> Said {
    let all: Vec<String> = measured(text).iter().map(|word| stem(word).to_owned()).collect();
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
    let first = content.iter().find(|word| !is_number(word)).cloned();
    let last = content.iter().rev().find(|word| !is_number(word)).cloned();
    let denied = denied(&all, &|word| is_content(&word));
    let (numbers, content) = content.into_iter().partition(|word| is_number(word));
    Said { verb, content, numbers, first, last, negated, denied }
}

/// What is written between thousands. A space is not: `ports 80 443` are two.
const BETWEEN_THOUSANDS: [char; 5] = [',', '_', '\'', '\u{2009}', '\u{202f}'];

/// How many digits something begins with.
fn digits<'a>(chars: impl Iterator<Item = &'a char>) -> usize {
    chars.take_while(|char| char.is_ascii_digit()).count()
}

/// A text with thousands in one piece: `1,000` is 1000.
fn whole_numbers(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut whole = String::with_capacity(text.len());
    for (at, &char) in chars.iter().enumerate() {
        let is_between = BETWEEN_THOUSANDS.contains(&char)
            && (1..=3).contains(&digits(chars[..at].iter().rev()))
            && digits(chars[at + 1..].iter()) == 3;
        if !is_between {
            whole.push(char);
        }
    }
    whole
}

/// Words with the unit that is written against a number apart from it: `10MB` is 10 MB.
fn measured(text: &str) -> Vec<String> {
    let apart = |word: &String| {
        let unit = word.trim_start_matches(|char: char| char.is_ascii_digit());
        let (number, unit) = word.split_at(word.len() - unit.len());
        [number, unit].map(str::to_owned)
    };
    let parts = words(&whole_numbers(text)).iter().flat_map(apart).collect::<Vec<_>>();
    parts.into_iter().filter(|part| !part.is_empty()).collect()
}

/// The word behind each negation, or before one that has nothing behind it ("Redis is not used").
fn denied(all: &[String], is_content: &dyn Fn(&String) -> bool) -> BTreeSet<String> {
    let mut denied = BTreeSet::new();
    let (mut before, mut is_open) = (None, false);
    for word in all {
        if NEGATIONS.contains(&word.as_str()) {
            is_open = !is_open;
        } else if is_content(word) {
            if is_open {
                denied.insert(word.clone());
            }
            (before, is_open) = (Some(word), false);
        }
    }
    denied.extend(before.filter(|_| is_open).cloned());
    denied
}

/// How `claim` stands to `text`, which the ledger holds; `superseded` if it was replaced.
pub fn relate(claim: &str, text: &str, superseded: bool) -> Relation {
    between(&said(claim), &said(text), superseded)
}

fn between(one: &Said, other: &Said, superseded: bool) -> Relation {
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
    // One that also says what else is not to be ("use Postgres, not Redis") still says the same.
    let is_denied =
        !one.denied.is_disjoint(&other.content) || !other.denied.is_disjoint(&one.content);
    if enough && one.negated != other.negated && is_denied {
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
    let is_choice = one.verb.as_deref().is_some_and(|verb| CHOICES.contains(&verb));
    let has = |said: &Said, word: &Option<String>| {
        word.as_ref().is_some_and(|word| said.content.contains(word))
    };
    let other_choice = !has(other, &one.first) && !has(one, &other.first);
    if is_choice
        && one.verb == other.verb
        && same_object
        && other_choice
        && one.negated == other.negated
    {
        return Relation::Contradicts(Why::OtherWay);
    }
    Relation::Related
}

/// Texts of the ledger that stand, by their words: many claims are compared with them in one go.
#[derive(Debug, Default)]
pub struct Standing {
    said: Vec<Said>,
    by_word: HashMap<String, Vec<usize>>,
}

impl Standing {
    /// The most texts that one claim is compared with: those that share its rarest words.
    pub const MOST: usize = 50;

    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut standing = Self::default();
        for (index, text) in texts.into_iter().enumerate() {
            let said = said(text);
            for word in &said.content {
                standing.by_word.entry(word.clone()).or_default().push(index);
            }
            standing.said.push(said);
        }
        standing
    }

    /// The text that contradicts `claim`, by its place, and why.
    pub fn against(&self, claim: &str) -> Option<(usize, Why)> {
        let claim = said(claim);
        self.alike(&claim).into_iter().find_map(|index| {
            match between(&claim, &self.said[index], false) {
                Relation::Contradicts(why) => Some((index, why)),
                _ => None,
            }
        })
    }

    /// The texts that are worth comparing, in the order they were given in.
    fn alike(&self, claim: &Said) -> BTreeSet<usize> {
        let lists = claim.content.iter().filter_map(|word| self.by_word.get(word));
        let mut lists: Vec<&Vec<usize>> = lists.collect();
        lists.sort_by_key(|list| list.len());
        let mut alike = BTreeSet::new();
        for list in lists {
            for index in list {
                if alike.len() == Self::MOST {
                    return alike;
                }
                alike.insert(*index);
            }
        }
        alike
    }
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
    fn a_claim_is_compared_with_a_few_of_many_texts_and_its_contradiction_is_among_them() {
        let texts: Vec<String> = (0..5000).map(|n| format!("Use shard{n} tokens")).collect();
        let more = ["Use rotating refresh tokens"];
        let standing = Standing::new(texts.iter().map(String::as_str).chain(more));
        let claim = said("Use stateless refresh tokens");
        assert!(standing.alike(&claim).len() <= Standing::MOST);
        let found = standing.against("Use stateless refresh tokens");
        assert_eq!(found, Some((5000, Why::OtherWay)));
        assert_eq!(standing.against("Nothing of the sort"), None);
    }

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
    fn what_says_the_same_in_more_words_or_speaks_of_something_else_is_no_contradiction() {
        for (claim, ledger) in [
            ("Use Postgres for sessions", "Use Postgres for sessions, not Redis"),
            (
                "Store tokens in the vault",
                "Store tokens in the vault because files are not encrypted",
            ),
            ("Do not use floats for money", "Use integers for money, never floats"),
            ("Limit uploads to 10 MB", "limit uploads to 10MB"),
            ("Retry 1000 requests at most", "retry at most 1,000 requests"),
            ("Store 1 250 000 rows", "Store 1 250 000 rows"),
            ("Open ports 80 443", "Open ports 443 and 80"),
            ("Open ports 80 443", "Open port 443"),
            ("Use the outbox table for events", "Use a transactional outbox for events"),
            ("Add tests for the parser", "Add docs for the parser"),
            ("Keep tokens in the session store", "Keep a small session store"),
        ] {
            for (one, other) in [(claim, ledger), (ledger, claim)] {
                let relation = relate(one, other, false);
                assert!(
                    !matches!(relation, Relation::Contradicts(_)),
                    "{one} / {other}: {relation:?}"
                );
            }
        }
        for (claim, ledger) in [
            ("Use Redis for sessions", "Use Postgres for sessions, not Redis"),
            ("Redis is used", "Redis is not used"),
            ("Limit uploads to 20 MB", "limit uploads to 10MB"),
            ("Store 1,250,000 rows", "Store 2250000 rows"),
            ("Open ports 80 443", "Open port 8080"),
            ("Commit to main", "Never commit to main"),
        ] {
            let relation = relate(claim, ledger, false);
            assert!(
                matches!(relation, Relation::Contradicts(_)),
                "{claim} / {ledger}: {relation:?}"
            );
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

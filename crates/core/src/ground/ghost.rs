//! Ghosts: what is said not to exist.
//!
//! That something is absent is only believable if somebody looked for it more than once and in
//! different ways. heirloom looks itself: for the words as they are, in every way of writing names
//! (`rate limiter`, `rateLimiter`, `RATE_LIMITER`), and for what they are about.

use super::verdict::Verdict;

/// From so many documents on, what they mention is not called a ghost without a person's look.
pub const MANY_DOCUMENTS: usize = 3;

/// What looking for something gave.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sighting {
    /// The first place in the code where a search found it.
    pub code: Option<(String, u32)>,
    /// How many documents mention it.
    pub documents: usize,
}

impl Sighting {
    /// What it says about the claim that the thing does not exist.
    pub fn verdict(self) -> Verdict {
        match self.code {
            Some((path, line)) => Verdict::NotAGhost { path, line },
            None if self.documents >= MANY_DOCUMENTS => {
                Verdict::HighAmbiguity { documents: self.documents }
            }
            None => Verdict::ConfirmedGhost,
        }
    }
}

/// Why searches cannot show that something is absent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// Too little to look for.
    #[error("`{text}` is too short: a search needs a word of at least three letters")]
    TooShort { text: String },
    /// They are one search, written twice.
    #[error("`{text}` repeats the same search: give one, or two that differ")]
    Same { text: String },
}

/// One way of looking for something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pattern {
    /// These words one after the other, however they are joined.
    Phrase(String),
    /// All of these stems on one line, in any order.
    Stems(Vec<String>),
}

/// The ways of looking for what `searches` describe; at least two, all different.
pub fn patterns(searches: &[String]) -> Result<Vec<Pattern>, SearchError> {
    let mut phrases: Vec<String> = Vec::new();
    for search in searches {
        let phrase: String = words(search).concat();
        if phrase.chars().count() < 3 {
            return Err(SearchError::TooShort { text: search.clone() });
        }
        if phrases.contains(&phrase) {
            return Err(SearchError::Same { text: search.clone() });
        }
        phrases.push(phrase);
    }
    let mut patterns: Vec<Pattern> = phrases.into_iter().map(Pattern::Phrase).collect();
    if let [only] = searches {
        patterns.push(Pattern::Stems(stems(only)));
    }
    Ok(patterns)
}

impl Pattern {
    /// Whether a line has it.
    pub fn is_on(&self, line: &str) -> bool {
        match self {
            Self::Phrase(phrase) => joined(line).contains(phrase.as_str()),
            Self::Stems(stems) => {
                let line = joined(line);
                stems.iter().all(|stem| line.contains(stem.as_str()))
            }
        }
    }
}

/// A line as its letters and digits alone, in lower case: every way of joining words is one.
fn joined(line: &str) -> String {
    line.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The words of a text, in lower case; the parts of a name are words.
pub fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut previous_lower = false;
    for character in text.chars() {
        let begins = character.is_uppercase() && previous_lower;
        if !character.is_alphanumeric() || begins {
            words.push(String::new());
        }
        if character.is_alphanumeric() {
            words.last_mut().expect("there is always one").extend(character.to_lowercase());
        }
        previous_lower = character.is_lowercase() || character.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// What the words of a text are about: their stems, without the little ones.
fn stems(text: &str) -> Vec<String> {
    let mut stems: Vec<String> = words(text).iter().map(|word| stem(word).to_owned()).collect();
    if stems.iter().any(|stem| stem.len() > 2) {
        stems.retain(|stem| stem.len() > 2);
    }
    stems
}

/// A word without its ending, roughly: `limiter`, `limiting` and `limits` are one.
pub fn stem(word: &str) -> &str {
    const ENDINGS: [&str; 8] = ["ations", "ation", "ings", "ing", "ers", "er", "ed", "s"];
    ENDINGS
        .iter()
        .find_map(|ending| word.strip_suffix(ending).filter(|stem| stem.chars().count() >= 4))
        .unwrap_or(word)
}

//! Rules: what a person forbids or requires in passing, found in the words of a prompt.
//!
//! Only clauses that forbid or require something of whoever does the work count: "never touch legacy/",
//! "don't push to main", "always run the tests", "every commit must be signed". A question, a report
//! ("it never finishes"), a guess ("that must be a typo"), a phrase ("don't worry") and what holds for the
//! moment only ("don't commit yet") do not. Where it is not certain, it is not a rule: a rule that nobody
//! laid down costs more trust than one that has to be said twice.

mod clause;
#[cfg(test)]
mod tests;
mod words;

use std::ops::Range;

pub use clause::Force;

/// The longest a rule may be, in characters; whoever says more explains something.
const LONGEST: usize = 240;

/// Something a person laid down, as they said it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Whether it forbids or requires.
    pub force: Force,
    /// Where in the prompt it stands, in bytes.
    pub place: Range<usize>,
}

/// The rules in a prompt, in the order they were said.
pub fn rules(prompt: &str) -> Vec<Rule> {
    let mut found = Vec::new();
    // A day has a thousand prompts, of which few can lay anything down.
    let lower = prompt.to_ascii_lowercase();
    if !words::SIGNS.iter().any(|sign| lower.contains(sign)) {
        return found;
    }
    for block in clause::own_words(prompt) {
        for place in clause::clauses(prompt, block) {
            let text = &prompt[place.clone()];
            if text.chars().count() <= LONGEST
                && let Some(force) = clause::force(text)
            {
                found.push(Rule { force, place });
            }
        }
    }
    found
}

//! The part of a text that is shown: where most of the words that were asked for meet.

use std::collections::HashSet;
use std::ops::Range;

use super::term::{Beginnings, Runs, Terms};

/// How long a snippet is, in characters.
pub const WIDTH: usize = 160;

/// A part of a text, on one line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The words. `…` stands for what was left out.
    pub text: String,
    /// Where the words are that were asked for, in bytes of `text`.
    pub marked: Vec<Range<usize>>,
}

/// What is looked for in a text.
#[derive(Debug, Clone, Default)]
pub struct Sought {
    pub terms: HashSet<String>,
    /// Beginnings of words, lower case.
    pub beginnings: Vec<String>,
}

impl Sought {
    fn holds(&self, word: &str, terms: &mut Terms) -> bool {
        let lower = || word.to_lowercase();
        terms.stands_for(word, |term| self.terms.contains(term))
            || self.beginnings.iter().any(|start| lower().starts_with(start.as_str()))
    }

    /// What a word must begin with to be one of these: most of a text need not be looked at any closer.
    fn letters(&self) -> Beginnings {
        self.terms.iter().chain(&self.beginnings).map(String::as_str).collect()
    }
}

/// The part of `text` of about `width` characters where most of what is sought meets.
pub fn snippet(text: &str, sought: &Sought, width: usize, terms: &mut Terms) -> Snippet {
    let places = places(text, sought, terms);
    let from = window(&places, width);
    cut(text, from, width, &places)
}

/// Where the words are.
fn places(text: &str, sought: &Sought, terms: &mut Terms) -> Vec<Range<usize>> {
    /// Enough to choose from.
    const MOST: usize = 2000;
    let mut places = Vec::new();
    let letters = sought.letters();
    for (start, end) in Runs::new(text) {
        let word = &text[start..end];
        if letters.may_be_of(word) && sought.holds(word, terms) {
            places.push(start..end);
            if places.len() == MOST {
                break;
            }
        }
    }
    places
}

/// Where the part with the most words begins, in bytes.
fn window(places: &[Range<usize>], width: usize) -> usize {
    let mut best = (0, 0);
    let mut end = 0;
    for start in 0..places.len() {
        while end < places.len() && places[end].end <= places[start].start + width {
            end += 1;
        }
        if end - start > best.0 {
            best = (end - start, places[start].start);
        }
    }
    // A little of what comes before tells what it is about.
    best.1.saturating_sub(width / 4)
}

fn cut(text: &str, from: usize, width: usize, places: &[Range<usize>]) -> Snippet {
    let mut from = text.floor_char_boundary(from.min(text.len()));
    // Begin with a whole word, where one begins soon.
    if from > 0
        && let Some(space) = text[from..].char_indices().take(20).find(|(_, c)| c.is_whitespace())
    {
        from += space.0;
    }
    let mut out = Snippet::default();
    if text[..from].chars().any(|c| !c.is_whitespace()) {
        out.text.push('…');
    }
    let (mut shown, mut was_space, mut open) = (0, true, None);
    let mut places = places.iter().filter(|place| place.start >= from).peekable();
    let mut left_out = false;
    for (offset, letter) in text[from..].char_indices() {
        let at = from + offset;
        if shown >= width {
            left_out = text[at..].chars().any(|c| !c.is_whitespace());
            break;
        }
        close(&mut out, &mut open, at);
        if let Some(place) = places.next_if(|place| place.start <= at) {
            open = Some((out.text.len(), place.end));
        }
        if letter.is_whitespace() {
            if !was_space {
                out.text.push(' ');
                shown += 1;
            }
            was_space = true;
        } else {
            out.text.push(letter);
            shown += 1;
            was_space = false;
        }
    }
    close(&mut out, &mut open, usize::MAX);
    out.text.truncate(out.text.trim_end().len());
    if left_out {
        out.text.push('…');
    }
    out
}

fn close(out: &mut Snippet, open: &mut Option<(usize, usize)>, at: usize) {
    if let Some((start, end)) = *open
        && at >= end
    {
        out.marked.push(start..out.text.len());
        *open = None;
    }
}

/// Whether `text` has `quote` in it word for word; spaces and case do not matter.
pub fn quotes(text: &str, quote: &str) -> bool {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    plain(text).contains(&plain(quote))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(text: &str, words: &[&str], width: usize) -> String {
        let mut terms = Terms::default();
        let sought = Sought {
            terms: words.iter().flat_map(|word| terms.of_word(word)).collect(),
            beginnings: Vec::new(),
        };
        let snippet = snippet(text, &sought, width, &mut terms);
        let mut shown = snippet.text.clone();
        for place in snippet.marked.iter().rev() {
            shown.insert(place.end, ']');
            shown.insert(place.start, '[');
        }
        shown
    }

    #[test]
    fn the_part_where_most_words_meet_is_shown_on_one_line() {
        let text = format!(
            "tokens at first\n{} then we rotate\n\n the tokens daily {}",
            "x ".repeat(200),
            "y ".repeat(200)
        );
        assert_eq!(
            shown(&text, &["rotate", "tokens"], 40),
            "…then we [rotate] the [tokens] daily y y y y…"
        );
    }

    #[test]
    fn a_short_text_is_shown_whole() {
        assert_eq!(shown("Rotate refresh tokens", &["token"], 160), "Rotate refresh [tokens]");
        assert_eq!(shown("", &["token"], 160), "");
    }

    #[test]
    fn the_parts_of_an_identifier_are_marked_with_it() {
        assert_eq!(shown("call getUser(id) now", &["user"], 160), "call [getUser](id) now");
    }

    #[test]
    fn a_quote_is_word_for_word_but_for_spaces_and_case() {
        assert!(quotes("Kept for\n  30 days.", "kept for 30 DAYS"));
        assert!(!quotes("kept for 300 days", "kept for 30 days"));
    }

    #[test]
    fn a_word_is_marked_however_it_is_spelled_or_bent() {
        let text = "went GONE ÉTAT état my_State dying youngest 2fa eaten ate";
        assert_eq!(
            shown(text, &["go"], 160),
            text.replace("went", "[went]").replace("GONE", "[GONE]")
        );
        assert_eq!(
            shown(text, &["etat", "state", "die", "eat"], 160),
            "went GONE [ÉTAT] [état] [my_State] [dying] youngest 2fa [eaten] [ate]"
        );
    }

    proptest! {
        #[test]
        fn no_word_is_passed_over_by_its_first_letters(word in "[A-Za-z_é0-9]{1,12}") {
            let mut terms = Terms::default();
            for term in terms.of_word(&word) {
                let letters: Beginnings = [term.as_str()].into_iter().collect();
                prop_assert!(letters.may_be_of(&word), "{word} is {term}");
            }
        }

        #[test]
        fn marks_lie_within_the_text(text in "\\PC{0,200}", word in "[a-zé]{1,6}", width in 1usize..80) {
            let mut terms = Terms::default();
            let sought = Sought { terms: terms.of_word(&word).into_iter().collect(), beginnings: vec![word] };
            let snippet = snippet(&text, &sought, width, &mut terms);
            for place in snippet.marked {
                prop_assert!(snippet.text.get(place.clone()).is_some(), "{place:?}");
            }
        }
    }
}

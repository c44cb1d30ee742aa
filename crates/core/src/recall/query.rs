//! A question: its words, what it quotes, and the time it speaks of.
//!
//! Nothing in it is an operator but quotation marks, which ask for the very words between them, and a `*`
//! at the end of a word, which asks for all words that begin so.

use jiff::civil::Date;

use super::date::{self, Named};
use super::term::{Runs, Terms, parts};

/// The most words of a question that are looked up. What is longer is a text, not a question.
const MOST: usize = 24;

/// A question as it is looked up.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Query {
    /// Its words, in order.
    pub words: Vec<Word>,
    /// Two or three neighbouring words, joined: `get user` may mean `getUser`.
    pub joined: Vec<String>,
    /// What must be there word for word.
    pub quotes: Vec<String>,
    /// The time it names.
    pub named: Option<Named>,
}

/// A word of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    pub typed: String,
    /// The term it stands for.
    pub term: String,
    /// What its parts stand for, where it is made of several.
    pub parts: Vec<String>,
    /// Whether it is only the beginning of a word.
    pub is_prefix: bool,
    /// Whether it was quoted, so that nothing else will do.
    pub is_quoted: bool,
}

impl Query {
    /// Reads a question that is asked on the day `today`.
    pub fn parse(text: &str, today: &dyn Fn() -> Date, terms: &mut Terms) -> Self {
        let (plain, quotes) = unquote(text);
        let named = date::named(&plain, today);
        let mut words = Vec::new();
        let mut runs = read(&plain, terms, false, &mut words);
        for quote in &quotes {
            runs.push(String::new());
            runs.extend(read(quote, terms, true, &mut words));
        }
        let mut seen = Vec::new();
        words.retain(|word: &Word| {
            let new = !seen.contains(&word.term);
            seen.push(word.term.clone());
            new
        });
        // "3 November" asks for what was said then, and not for a three.
        let is_of_time = |word: &Word| !word.is_quoted && date::is_of_time(&word.typed);
        if named.is_some() && words.iter().all(is_of_time) {
            words.clear();
        }
        words.truncate(MOST);
        let joined = if words.is_empty() { Vec::new() } else { join(&runs, terms, &seen) };
        Self { words, joined, quotes, named }
    }

    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.named.is_none()
    }
}

/// The text without what is quoted, and what is quoted.
fn unquote(text: &str) -> (String, Vec<String>) {
    let mut plain = String::new();
    let mut quotes = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find(['"', '“']) {
        let after = &rest[open..];
        let width = after.chars().next().map_or(1, char::len_utf8);
        let Some(close) = after[width..].find(['"', '”']) else { break };
        plain.push_str(&rest[..open]);
        plain.push(' ');
        let quote = after[width..width + close].trim();
        if !quote.is_empty() {
            quotes.push(quote.to_owned());
        }
        let closing = after[width + close..].chars().next().map_or(1, char::len_utf8);
        rest = &after[width + close + closing..];
    }
    plain.push_str(rest);
    (plain, quotes)
}

/// Adds the words of `text`, and returns all of its runs, lower case, for joining.
fn read(text: &str, terms: &mut Terms, is_quoted: bool, words: &mut Vec<Word>) -> Vec<String> {
    let mut runs = Vec::new();
    for (start, end) in Runs::new(text).take(4 * MOST) {
        let typed = &text[start..end];
        runs.push(typed.to_owned());
        let is_prefix = !is_quoted && text[end..].starts_with('*');
        if is_prefix {
            let term = typed.to_lowercase().replace('_', "");
            words.push(Word {
                typed: typed.to_owned(),
                term,
                parts: Vec::new(),
                is_prefix,
                is_quoted,
            });
            continue;
        }
        let mut of_word = terms.of_word(typed);
        if of_word.is_empty() {
            continue;
        }
        if parts(typed).len() > 1 || of_word.len() == 1 {
            let term = of_word.remove(0);
            let typed = typed.to_owned();
            words.push(Word { typed, term, parts: of_word, is_prefix, is_quoted });
        } else {
            // A script without spaces: each pair is a word of its own.
            words.extend(of_word.into_iter().map(|term| Word {
                typed: term.clone(),
                term,
                parts: Vec::new(),
                is_prefix,
                is_quoted,
            }));
        }
    }
    runs
}

fn join(runs: &[String], terms: &mut Terms, asked: &[String]) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    for size in [2, 3] {
        for neighbours in runs.windows(size).filter(|all| all.iter().all(|run| !run.is_empty())) {
            let whole = neighbours.concat().to_lowercase();
            let Some(term) = terms.of_word(&whole).into_iter().next() else { continue };
            if !asked.contains(&term) && !joined.contains(&term) {
                joined.push(term);
            }
        }
    }
    joined.truncate(MOST);
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Query {
        let today = jiff::civil::date(2026, 1, 12);
        Query::parse(text, &|| today, &mut Terms::default())
    }

    fn words(text: &str) -> Vec<String> {
        parse(text).words.into_iter().map(|word| word.term).collect()
    }

    #[test]
    fn words_that_say_nothing_are_not_asked_for() {
        assert_eq!(words("why did we rotate the tokens?"), ["whi", "rotat", "token"]);
        assert!(parse("  *** ").is_empty());
        assert!(parse("").is_empty());
    }

    #[test]
    fn a_time_alone_asks_for_no_words() {
        let query = parse("on 3 November");
        assert!(query.words.is_empty() && query.joined.is_empty() && query.named.is_some());
        assert_eq!(words("tokens of 3 November"), ["token", "3", "novemb"]);
    }

    #[test]
    fn an_identifier_is_asked_for_as_a_whole_and_has_parts() {
        let query = parse("getUser");
        assert_eq!(query.words[0].term, "getus");
        assert_eq!(query.words[0].parts, ["get", "user"]);
        assert_eq!(parse("get user id").joined, ["getus", "userid", "getuserid"]);
    }

    #[test]
    fn quotes_ask_for_their_words_and_for_the_very_text() {
        let query = parse("tokens \"kept for 30 days\" “so be it” and \"half");
        assert_eq!(query.quotes, ["kept for 30 days", "so be it"]);
        assert!(query.words.iter().any(|word| word.term == "keep" && word.is_quoted));
        assert!(query.words.iter().any(|word| word.term == "half" && !word.is_quoted));
    }

    #[test]
    fn a_star_asks_for_beginnings() {
        let query = parse("prod* deploy");
        assert!(query.words[0].is_prefix && query.words[0].term == "prod");
        assert!(!query.words[1].is_prefix);
    }

    #[test]
    fn a_whole_text_is_no_question() {
        let long: Vec<String> = (0..500).map(|n| format!("word{n}")).collect();
        assert!(parse(&long.join(" ")).words.len() <= MOST);
    }
}

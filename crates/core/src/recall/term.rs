//! Terms: what a text is found by. The same code reads texts and questions.
//!
//! A run of letters, digits and `_` is a word. One that is made of several (`getUser`, `get_user`) counts
//! as its parts and as the whole, joined, so that it is found however it is spelled. Words that are in
//! every text are left out, and what is left goes by its stem.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

use rust_stemmers::{Algorithm, Stemmer};

use super::fold::{fold, is_unspaced};
use super::words::{IRREGULAR, STOP};

/// Nobody looks for a longer word; what is longer is a key, a hash or a picture.
const LONGEST: usize = 64;

/// What a word ends with that has another stem than itself: no rule takes anything else off. The stemmer takes
/// thousands of instructions to find that out.
const CHANGES: [char; 13] = ['\'', 'c', 'd', 'e', 'g', 'i', 'l', 'm', 'n', 'r', 's', 't', 'y'];

/// How many words are remembered before all are forgotten, so that memory does not grow with the text.
const REMEMBERED: usize = 400_000;

/// The first character of a mark ([`mark`]): no word has it.
pub const MARK: char = '\u{e000}';

/// Makes terms. Remembers the words it has seen, since most of a text is words seen before.
pub struct Terms {
    stemmer: Stemmer,
    known: HashMap<Box<str>, Range<u32>, BuildHasherDefault<WordHasher>>,
    /// What words stand for, one after the other.
    standing: Vec<u32>,
    words: Vec<Box<str>>,
    numbers: HashMap<Box<str>, u32, BuildHasherDefault<WordHasher>>,
    /// For each term, the last text it was in.
    seen: Vec<u32>,
    text: u32,
}

impl fmt::Debug for Terms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Terms({} words)", self.known.len())
    }
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            stemmer: Stemmer::create(Algorithm::English),
            known: HashMap::default(),
            standing: Vec::new(),
            words: Vec::new(),
            numbers: HashMap::default(),
            seen: Vec::new(),
            text: 0,
        }
    }
}

impl Terms {
    /// Adds each term of `text` once to `out`, with spaces between, and returns how many there were with
    /// repetitions.
    pub fn of(&mut self, text: &str, out: &mut String) -> usize {
        self.begin();
        let mut count = 0;
        for (start, end) in Runs::new(text) {
            let range = self.word(&text[start..end]);
            count += range.len();
            for place in range {
                let number = self.standing[place as usize] as usize;
                if std::mem::replace(&mut self.seen[number], self.text) != self.text {
                    out.push_str(&self.words[number]);
                    out.push(' ');
                }
            }
        }
        count
    }

    /// The terms of one word: the whole first, then its parts. Nothing for a word that says nothing.
    pub fn of_word(&mut self, word: &str) -> Vec<String> {
        let range = self.word(word);
        range.map(|place| self.words[self.standing[place as usize] as usize].to_string()).collect()
    }

    /// Whether a word stands for a term of which `is_it` holds.
    pub fn stands_for(&mut self, word: &str, is_it: impl Fn(&str) -> bool) -> bool {
        self.word(word).any(|place| is_it(&self.words[self.standing[place as usize] as usize]))
    }

    fn begin(&mut self) {
        if self.known.len() > REMEMBERED {
            *self = Self::default();
        }
        self.text = self.text.wrapping_add(1);
    }

    fn word(&mut self, word: &str) -> Range<u32> {
        if let Some(range) = self.known.get(word) {
            return range.clone();
        }
        let range = self.learn(word);
        self.known.insert(word.into(), range.clone());
        range
    }

    fn learn(&mut self, word: &str) -> Range<u32> {
        let from = self.standing.len();
        if word.chars().any(is_unspaced) {
            self.learn_pairs(word);
        } else {
            let parts = parts(word);
            if parts.len() > 1 {
                let whole: String = parts.iter().copied().collect();
                self.stand_for(&whole);
            }
            for part in parts {
                self.stand_for(part);
            }
        }
        number(from)..number(self.standing.len())
    }

    /// A script without spaces: every two neighbours are a term, and one that stands alone is one too.
    fn learn_pairs(&mut self, word: &str) {
        // A word may hold what joins the parts of an identifier.
        let is_said = |letter: &char| !letter.is_ascii() || letter.is_ascii_alphanumeric();
        let letters: Vec<char> = word.chars().filter(is_said).collect();
        if let [one] = letters[..] {
            self.add(&one.to_string());
        }
        for pair in letters.windows(2) {
            let mut text = String::new();
            for letter in pair {
                fold(*letter, &mut text);
            }
            self.add(&text);
        }
    }

    fn stand_for(&mut self, part: &str) {
        let mut folded = part.to_ascii_lowercase();
        if !folded.is_ascii() {
            folded.clear();
            part.chars().for_each(|letter| fold(letter, &mut folded));
        }
        if folded.is_empty() || STOP.binary_search(&folded.as_str()).is_ok() {
            return;
        }
        if let Ok(place) = IRREGULAR.binary_search_by_key(&folded.as_str(), |(form, _)| form) {
            IRREGULAR[place].1.clone_into(&mut folded);
        }
        if folded.is_ascii() && folded.ends_with(CHANGES) {
            let stem = self.stemmer.stem(&folded);
            self.add(&stem);
        } else {
            self.add(&folded);
        }
    }

    fn add(&mut self, term: &str) {
        let number = if let Some(number) = self.numbers.get(term) {
            *number
        } else {
            let number = number(self.words.len());
            self.words.push(term.into());
            self.seen.push(self.text.wrapping_sub(1));
            self.numbers.insert(term.into(), number);
            number
        };
        self.standing.push(number);
    }
}

fn number(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// The letters that words begin with which stand for one of some terms. It is much cheaper to ask for them than to
/// find out what a word stands for, and rules of grammar leave the first letter as it is.
#[derive(Debug, Default)]
pub struct Beginnings {
    letters: u128,
    /// Whether there is no telling.
    any: bool,
}

impl<'a> FromIterator<&'a str> for Beginnings {
    fn from_iter<T: IntoIterator<Item = &'a str>>(terms: T) -> Self {
        let mut all = Self::default();
        for term in terms {
            match term.bytes().next() {
                Some(first) if first.is_ascii() => all.letters |= 1 << first.to_ascii_lowercase(),
                _ => all.any = true,
            }
        }
        // Where no rule gives a form it may begin with another letter.
        for (form, base) in IRREGULAR {
            if all.has(base.as_bytes()[0]) {
                all.letters |= 1 << form.as_bytes()[0];
            }
        }
        all
    }
}

impl Beginnings {
    fn has(&self, letter: u8) -> bool {
        (self.letters >> (letter.to_ascii_lowercase() & 0x7f)) & 1 == 1
    }

    /// Whether a word, or a part of it, begins with one of them. Says yes rather than no.
    pub fn may_be_of(&self, word: &str) -> bool {
        if self.any || !word.is_ascii() {
            return true;
        }
        let mut before = b'_';
        word.bytes().any(|letter| {
            let begins = before == b'_' || letter.is_ascii_uppercase();
            before = letter;
            begins && self.has(letter)
        })
    }
}

/// A term that no text has: what a message is besides its words, such as of which agent. It can be asked
/// for like a word.
pub fn mark(what: char, value: &str) -> String {
    let digest = blake3::hash(value.as_bytes());
    let hex = digest.to_hex();
    format!("{MARK}{what}{}", &hex[..12])
}

/// The words of a text, by where they are.
#[derive(Debug)]
pub struct Runs<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Runs<'a> {
    /// The words of `text`.
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }
}

impl Iterator for Runs<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let start = skip(self.text, self.at, false);
            if start == self.text.len() {
                return None;
            }
            self.at = skip(self.text, start, true);
            let is_said = |run: &[u8]| run.len() <= LONGEST || !run.is_ascii();
            if is_said(&self.text.as_bytes()[start..self.at]) {
                return Some((start, self.at));
            }
        }
    }
}

/// What each byte is to words: part of one, none, or the first of a letter that takes several.
const OF_WORDS: [u8; 0x100] = {
    let mut all = [BETWEEN; 0x100];
    let mut byte = 0_u8;
    loop {
        all[byte as usize] = match byte {
            b'_' => WITHIN,
            _ if byte.is_ascii_alphanumeric() => WITHIN,
            _ if byte.is_ascii() => BETWEEN,
            _ => WIDE,
        };
        if byte == u8::MAX {
            break all;
        }
        byte += 1;
    }
};
const BETWEEN: u8 = 0;
const WITHIN: u8 = 1;
const WIDE: u8 = 2;

/// Where what is of words, or what is not, ends that begins at `at`. Every byte of every text passes here, and most are
/// only looked up in a table.
fn skip(text: &str, mut at: usize, of_words: bool) -> usize {
    let bytes = text.as_bytes();
    let same = if of_words { WITHIN } else { BETWEEN };
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let Some(more) = rest.iter().position(|byte| OF_WORDS[usize::from(*byte)] != same) else {
            return bytes.len();
        };
        at += more;
        if rest.get(more).is_none_or(|byte| OF_WORDS[usize::from(*byte)] != WIDE) {
            return at;
        }
        let letter = text[at..].chars().next().unwrap_or(' ');
        let is_mark = ('\u{300}'..='\u{36f}').contains(&letter);
        if (letter.is_alphanumeric() || is_mark) != of_words {
            return at;
        }
        at += letter.len_utf8();
    }
}

/// The parts of a word that is made of several: `HTTPServer_id` is `HTTP`, `Server` and `id`.
pub fn parts(word: &str) -> Vec<&str> {
    let mut bytes = word.bytes();
    let begins = bytes.next().is_some_and(|first| first.is_ascii_alphanumeric());
    if begins && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
        return vec![word];
    }
    let mut parts = Vec::new();
    for piece in word.split('_').filter(|piece| !piece.is_empty()) {
        let letters: Vec<(usize, char)> = piece.char_indices().collect();
        let mut start = 0;
        for window in 1..letters.len() {
            let (at, letter) = letters[window];
            let before = letters[window - 1].1;
            let next_is_lower =
                letters.get(window + 1).is_some_and(|(_, next)| next.is_lowercase());
            let rises = letter.is_uppercase() && !before.is_uppercase();
            if rises || (letter.is_uppercase() && next_is_lower) {
                parts.push(&piece[start..at]);
                start = at;
            }
        }
        parts.push(&piece[start..]);
    }
    parts
}

/// Hashes words, which are short and come from nobody who gains by collisions: the table is thrown away
/// with the process.
#[derive(Debug, Default)]
struct WordHasher(u64);

impl Hasher for WordHasher {
    fn write(&mut self, bytes: &[u8]) {
        const FACTOR: u64 = 0x517c_c1b7_2722_0a95;
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 = (self.0.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(FACTOR);
        }
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn terms(text: &str) -> String {
        let mut out = String::new();
        Terms::default().of(text, &mut out);
        out.trim_end().to_owned()
    }

    #[test]
    fn an_identifier_is_its_parts_and_its_whole_however_it_is_spelled() {
        assert_eq!(terms("getUser"), "getus get user");
        assert_eq!(terms("get_user"), terms("getUser"));
        assert_eq!(terms("GET_USER"), terms("getUser"));
        assert_eq!(parts("HTTPServer_id2"), ["HTTP", "Server", "id2"]);
        assert_eq!(parts("__init__"), ["init"]);
        assert_eq!(parts("E0382"), ["E0382"]);
    }

    #[test]
    fn words_go_by_their_stem_and_those_that_say_nothing_are_left_out() {
        assert_eq!(terms("the rotation of rotating tokens"), "rotat token");
        assert_eq!(terms("She went and the children ran"), "go child run");
    }

    #[test]
    fn each_term_is_named_once_and_counted_every_time() {
        let (mut terms, mut out) = (Terms::default(), String::new());
        assert_eq!(terms.of("token token tokens key", &mut out), 4);
        assert_eq!(out, "token key ");
        out.clear();
        assert_eq!(terms.of("token", &mut out), 1);
        assert_eq!(out, "token ");
    }

    #[test]
    fn marks_over_letters_do_not_matter_and_scripts_without_spaces_are_pairs() {
        assert_eq!(terms("Café Größe"), "cafe gross");
        assert_eq!(terms("設定変更"), "設定 定変 変更");
        assert_eq!(terms("鍵"), "鍵");
        assert_eq!(terms("鍵_"), "鍵");
    }

    #[test]
    fn what_nobody_could_type_is_left_out() {
        assert_eq!(terms(&"a1".repeat(33)), "");
        assert_eq!(terms(&format!("x {MARK}a y")), "x y");
    }

    #[test]
    fn lists_are_sorted_because_they_are_searched_by_halves() {
        assert!(STOP.is_sorted());
        assert!(IRREGULAR.is_sorted());
    }

    proptest! {
        #[test]
        fn a_word_that_ends_otherwise_is_its_own_stem(word in "[a-z0-9]{1,12}[abfhjkopquvwxz0-9]") {
            prop_assert_eq!(Stemmer::create(Algorithm::English).stem(&word), word.as_str());
        }

        #[test]
        fn words_are_runs_of_letters_digits_and_marks(text in "[a-zA-Z0-9_ .é\u{301}中 -]{0,60}") {
            let is_of_word = |c: char| c.is_alphanumeric() || c == '_' || c == '\u{301}';
            let expected: Vec<&str> =
                text.split(|c: char| !is_of_word(c)).filter(|run| !run.is_empty()).collect();
            let found: Vec<&str> = Runs::new(&text).map(|(from, to)| &text[from..to]).collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn terms_are_letters_and_digits_only(text in "\\PC{0,80}") {
            let mut out = String::new();
            Terms::default().of(&text, &mut out);
            for term in out.split(' ').filter(|term| !term.is_empty()) {
                prop_assert!(term.chars().all(|c| !c.is_ascii() || c.is_ascii_alphanumeric()), "{term:?}");
            }
        }
    }
}

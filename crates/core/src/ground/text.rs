//! A file, folded once so that many quotes can be looked for in it.

use memchr::memmem;

use super::fold::fold_into;
use super::surroundings::Comments;

/// The most places that are told apart.
const MOST_PLACES: usize = 100;

/// A file, folded, with the place where each of its lines begins.
#[derive(Debug, Clone, Default)]
pub struct Text {
    folded: String,
    starts: Vec<usize>,
    indents: Vec<u32>,
    pub(super) comments: Comments,
}

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Quote<'q> {
    /// The words, folded.
    pub words: &'q str,
    /// Whether they are whole lines: a line that says more is another one.
    pub whole: bool,
}

impl<'q> Quote<'q> {
    /// Words that may stand inside a line, folded.
    pub const fn part(words: &'q str) -> Self {
        Self { words, whole: false }
    }
}

/// Where a quote stands in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Search {
    /// On one of the lines that were named.
    Here,
    /// On these lines, none of which was named; at least one.
    Elsewhere(Vec<u32>),
    Nowhere,
}

impl Text {
    /// Folds a file of which only its words are known.
    pub fn new(text: &str) -> Self {
        Self::of("", text)
    }

    /// Folds the file at `path`, which says how its comments look.
    pub fn of(path: &str, text: &str) -> Self {
        let mut folded = String::with_capacity(text.len());
        let mut starts = Vec::with_capacity(text.len() / 24);
        let mut indents = Vec::with_capacity(text.len() / 24);
        for line in text.lines() {
            // Where the next word goes: behind a space, unless it is the first of all.
            starts.push(if folded.is_empty() { 0 } else { folded.len() + 1 });
            fold_into(line, &mut folded);
            let indent = line.bytes().take_while(u8::is_ascii_whitespace).count();
            indents.push(u32::try_from(indent).unwrap_or(u32::MAX));
        }
        Self { folded, starts, indents, comments: Comments::of(path) }
    }

    /// Where a line begins.
    pub(super) fn begins(&self, line: u32) -> usize {
        self.starts.get((line as usize).saturating_sub(1)).copied().unwrap_or(self.folded.len())
    }

    /// The words of a line.
    pub(super) fn line(&self, line: u32) -> Option<&str> {
        let next = self.begins(line.saturating_add(1)).min(self.folded.len());
        Some(self.folded.get(self.begins(line)..next)?.trim_end())
    }

    /// How far a line is indented.
    pub(super) fn indent(&self, line: u32) -> u32 {
        self.indents.get((line as usize).saturating_sub(1)).copied().unwrap_or(0)
    }

    /// Its words, with single spaces between them.
    pub(super) fn folded(&self) -> &str {
        &self.folded
    }

    /// How many lines it has.
    pub fn lines(&self) -> u32 {
        u32::try_from(self.starts.len()).unwrap_or(u32::MAX)
    }

    /// Looks for a quote, on the lines from `first` to `last` before anywhere else.
    ///
    /// A quote matches whole words only: `fn rotate` does not stand in `fn rotate_all`.
    pub fn search(&self, quote: Quote<'_>, first: u32, last: u32) -> Search {
        if quote.words.is_empty() {
            return Search::Nowhere;
        }
        if self.stands_at(quote, first, last) {
            return Search::Here;
        }
        let finder = memmem::Finder::new(quote.words.as_bytes());
        let matches = finder.find_iter(self.folded.as_bytes());
        let matches = matches.filter(|start| self.counts(*start, quote));
        let mut lines: Vec<u32> =
            matches.map(|start| self.line_of(start)).take(MOST_PLACES).collect();
        lines.dedup();
        if lines.is_empty() { Search::Nowhere } else { Search::Elsewhere(lines) }
    }

    fn stands_at(&self, quote: Quote<'_>, first: u32, last: u32) -> bool {
        let index = |line: u32| (line as usize).saturating_sub(1);
        let Some(&from) = self.starts.get(index(first)) else { return false };
        let until = self.starts.get(index(last) + 1).copied().unwrap_or(self.folded.len());
        let end = until.saturating_add(quote.words.len()).min(self.folded.len());
        let Some(window) = self.folded.as_bytes().get(from..end) else { return false };
        let counts = |start: usize| {
            self.counts(start, quote) && (first..=last).contains(&self.line_of(start))
        };
        // Most quotes are whole lines, and preparing a search costs more than one comparison.
        if window.starts_with(quote.words.as_bytes()) && counts(from) {
            return true;
        }
        memmem::find_iter(window, quote.words.as_bytes()).map(|start| from + start).any(counts)
    }

    /// Whether a quote stands at `start` as whole words, or whole lines where it is some, and not in a comment
    /// that only mentions it.
    pub(super) fn counts(&self, start: usize, Quote { words: quote, whole }: Quote<'_>) -> bool {
        self.is_whole(start, quote.len())
            && (!whole || self.is_lines(start, quote.len()))
            && (self.comments == Comments::None
                || self.speaks_of_a_comment(quote)
                || !self.is_comment(start))
    }

    /// The line that the character at `offset` is on. Empty lines share their beginning with the
    /// next line that has words, which is the one that is meant.
    pub(super) fn line_of(&self, offset: usize) -> u32 {
        u32::try_from(self.starts.partition_point(|start| *start <= offset)).unwrap_or(u32::MAX)
    }

    /// Whether a match begins where a line does, and ends where one does.
    fn is_lines(&self, start: usize, length: usize) -> bool {
        let begins = |at: usize| self.starts.binary_search(&at).is_ok();
        let end = start + length;
        begins(start) && (end == self.folded.len() || begins(end + 1))
    }

    /// Whether a match neither begins nor ends inside a word or a number.
    pub(super) fn is_whole(&self, start: usize, length: usize) -> bool {
        let bytes = self.folded.as_bytes();
        !cuts(bytes, start) && !cuts(bytes, start + length)
    }
}

/// Whether a word or a number goes on over `at`: `1.5` is one number.
fn cuts(bytes: &[u8], at: usize) -> bool {
    if at == 0 || at >= bytes.len() {
        return false;
    }
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let before_point = bytes[at] == b'.' && is_digit(at - 1) && is_digit(at + 1);
    let behind_point = at > 1 && bytes[at - 1] == b'.' && is_digit(at - 2) && is_digit(at);
    is_word(bytes[at - 1]) && is_word(bytes[at]) || before_point || behind_point
}

/// Whether a byte is part of a word.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

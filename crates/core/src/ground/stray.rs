//! Quotes that are no longer in their file, looked for in all files that are like it.
//!
//! Code moves between files that both stay. Looking for one quote in a whole repository is dear, so
//! all of them are looked for at once, in one pass over the files, and only those that would
//! otherwise count as gone.

use std::collections::{BTreeMap, HashMap};

use super::check::Sources;
use super::text::{Quote, Text, is_word};
use super::verdict::Verdict;

/// The most places that are told apart.
const MOST_PLACES: usize = 100;

/// A quote that is not in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stray {
    /// Which evidence of which claim.
    pub(super) at: (usize, usize),
    /// The quote, folded.
    pub(super) quote: String,
    /// Whether it is whole lines.
    pub(super) whole: bool,
    /// The file it is not in.
    pub(super) path: String,
    /// A commit that had it there.
    pub(super) commit: Option<String>,
    /// What it stood inside of.
    pub(super) symbol: Option<String>,
}

impl Stray {
    fn quote(&self) -> Quote<'_> {
        Quote { words: &self.quote, whole: self.whole }
    }
}

/// Where a quote stands now.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Found {
    path: String,
    line: u32,
    /// Whether it is inside of what has the same name.
    same: bool,
}

/// What kind of file a path names: quotes of code are looked for in code of its language, and not
/// in documents or records that repeat them.
pub fn kin(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    let family = match ending.as_str() {
        "js" | "jsx" | "mjs" | "cjs" | "tsx" | "mts" | "cts" => "ts",
        "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" => "c",
        "yml" => "yaml",
        "kts" => "kt",
        _ => return ending,
    };
    family.to_owned()
}

/// The verdicts on strays that stand in other files, each with its place among the evidence.
pub(super) fn find(strays: &[Stray], sources: &mut impl Sources) -> Vec<((usize, usize), Verdict)> {
    let mut by_kin: BTreeMap<String, Vec<&Stray>> = BTreeMap::new();
    for stray in strays {
        by_kin.entry(kin(&stray.path)).or_default().push(stray);
    }
    by_kin.into_iter().flat_map(|(kin, strays)| find_in(&kin, &strays, sources)).collect()
}

fn find_in(
    kin: &str,
    strays: &[&Stray],
    sources: &mut impl Sources,
) -> Vec<((usize, usize), Verdict)> {
    let mut wanted = Wanted::default();
    let numbers: Vec<usize> = strays.iter().map(|stray| wanted.add(stray.quote())).collect();
    let mut wanting: Vec<Vec<usize>> = vec![Vec::new(); wanted.quotes.len()];
    for (index, number) in numbers.iter().enumerate() {
        wanting[*number].push(index);
    }
    let mut places: Vec<Vec<Found>> = vec![Vec::new(); strays.len()];
    let saw_all = sources.survey(kin, &mut |path, text| {
        wanted.each(text, |number, line| {
            for index in &wanting[number] {
                let (stray, known) = (strays[*index], &mut places[*index]);
                // What is left in its own file was judged there.
                let is_new = stray.path != path
                    && known.last().is_none_or(|last| (&*last.path, last.line) != (path, line));
                if known.len() < MOST_PLACES && is_new {
                    let same = stray.symbol.as_ref().is_some_and(|name| text.is_in(line, name));
                    known.push(Found { path: path.to_owned(), line, same });
                }
            }
        });
    });
    // Where not everything was looked at, nobody knows whether there is only one place.
    if !saw_all {
        return Vec::new();
    }
    let found = strays.iter().zip(places);
    found
        .filter_map(|(stray, places)| Some((stray.at, verdict(stray, &places, sources)?)))
        .collect()
}

/// A quote that stands elsewhere has moved only if it is in the same function there, or came there since.
fn verdict(stray: &Stray, places: &[Found], sources: &mut impl Sources) -> Option<Verdict> {
    let same: Vec<&Found> = places.iter().filter(|found| found.same).collect();
    match same[..] {
        [] => {}
        [found] => return Some(moved(found)),
        _ => return Some(Verdict::Ambiguous { places: same.len() }),
    }
    let (mut came, mut unknown) = (Vec::new(), 0);
    for found in places {
        match sources.had(&found.path, stray.quote(), stray.commit.as_deref()) {
            // It was there all the time.
            Some(true) => {}
            Some(false) => came.push(found),
            None => unknown += 1,
        }
    }
    match (&came[..], unknown) {
        ([], 0) => None,
        ([found], 0) => Some(moved(found)),
        _ => Some(Verdict::Ambiguous { places: came.len() + unknown }),
    }
}

fn moved(found: &Found) -> Verdict {
    Verdict::Moved { path: Some(found.path.clone()), line: found.line }
}

/// How many bits tell words that may be wanted from those that are not.
const BITS: usize = 1 << 16;

/// Quotes that are looked for at once. Quotes match whole words, so each is recognised by its longest
/// word: a text is read word by word, and compared with a quote only where that word stands.
struct Wanted<'q> {
    quotes: Vec<Quote<'q>>,
    numbers: HashMap<Quote<'q>, usize>,
    /// By its longest word: the quote, and where in it that word begins.
    by_word: HashMap<&'q [u8], Vec<(usize, usize)>>,
    /// Whether any longest word has this sum; most words of a text are told apart by it alone.
    sums: Vec<bool>,
}

impl Default for Wanted<'_> {
    fn default() -> Self {
        let (numbers, by_word) = (HashMap::new(), HashMap::new());
        Self { quotes: Vec::new(), numbers, by_word, sums: vec![false; BITS] }
    }
}

impl<'q> Wanted<'q> {
    /// Adds a quote and returns its number; the same for the same words.
    fn add(&mut self, quote: Quote<'q>) -> usize {
        if let Some(number) = self.numbers.get(&quote) {
            return *number;
        }
        let number = self.quotes.len();
        self.quotes.push(quote);
        self.numbers.insert(quote, number);
        if let Some((start, word)) =
            words(quote.words.as_bytes()).max_by_key(|(_, word)| word.len())
        {
            self.by_word.entry(word).or_default().push((number, start));
            self.sums[sum(word)] = true;
        }
        number
    }

    /// Tells where the quotes stand in `text`: the number of each, and the line.
    fn each(&self, text: &Text, mut tell: impl FnMut(usize, u32)) {
        let folded = text.folded().as_bytes();
        for (at, word) in words(folded).filter(|(_, word)| self.sums[sum(word)]) {
            for (number, start) in self.by_word.get(word).into_iter().flatten() {
                let quote = self.quotes[*number].words.as_bytes();
                let Some(from) = at.checked_sub(*start) else { continue };
                let stands = folded.get(from..).is_some_and(|rest| rest.starts_with(quote));
                if stands && text.counts(from, self.quotes[*number]) {
                    tell(*number, text.line_of(from));
                }
            }
        }
    }
}

/// The words of a folded text, each with the place where it begins.
fn words(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].iter().position(|byte| is_word(*byte))?;
        let length = text[start..].iter().position(|byte| !is_word(*byte));
        at = length.map_or(text.len(), |length| start + length);
        Some((start, &text[start..at]))
    })
}

/// A cheap sum of a word.
fn sum(word: &[u8]) -> usize {
    let sum =
        word.iter().fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add((*byte).into()));
    (sum ^ (sum >> 16)) % BITS
}

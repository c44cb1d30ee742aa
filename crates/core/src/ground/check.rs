//! Checking claims, file by file, so that each file is opened once however many claims rest on it.

use std::collections::HashMap;
use std::rc::Rc;

use crate::note::Basis;

use super::claim::{Cited, Claim};
use super::fold::{folded, says_enough};
use super::report::Checked;
use super::stray::{self, Stray};
use super::text::{Quote, Search, Text};
use super::verdict::Verdict;
use super::{NEARBY, ghost};

/// What opening a file gave.
#[derive(Debug, Clone)]
pub enum Opened {
    Text(Text),
    /// There is no such file.
    Missing,
    /// The path leads out of the repository.
    Outside,
    /// It is not text, too large, or may not be read.
    Unreadable,
}

/// Where the code comes from.
pub trait Sources {
    /// Opens a file. Asked once for each path that claims name.
    fn open(&mut self, path: &str) -> Rc<Opened>;

    /// Opens a file that another one may have become. May be asked often.
    fn candidate(&mut self, path: &str) -> Rc<Opened> {
        self.open(path)
    }

    /// The files that a file which is gone may have become, best first.
    ///
    /// `commit` is one that had it, where that is known.
    fn became(&mut self, path: &str, commit: Option<&str>) -> Vec<String>;

    /// Shows all files of a [`kin`](super::kin) to `see`. Returns whether those were all there are;
    /// where there are too many, none need be shown.
    fn survey(&mut self, kin: &str, see: &mut dyn FnMut(&str, &Text)) -> bool;

    /// Whether a file had a quote at `commit`, or as it was last committed where none is given;
    /// `None` where nobody knows.
    fn had(&mut self, path: &str, quote: Quote<'_>, commit: Option<&str>) -> Option<bool> {
        let _ = (path, quote, commit);
        None
    }

    /// Looks for something that is said not to exist.
    fn look_for(&mut self, searches: &[String]) -> ghost::Sighting;
}

/// Checks `claims` against `sources`.
pub fn check<'a>(claims: Vec<Claim<'a>>, sources: &mut impl Sources) -> Vec<Checked<'a>> {
    let mut by_path: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
    for (index, claim) in claims.iter().enumerate() {
        for (place, cited) in claim.evidence.iter().enumerate() {
            by_path.entry(&cited.path).or_default().push((index, place));
        }
    }
    let mut verdicts: Vec<Vec<Verdict>> =
        claims.iter().map(|claim| vec![Verdict::NoEvidence; claim.evidence.len()]).collect();
    let mut paths: Vec<_> = by_path.into_iter().collect();
    paths.sort_unstable_by_key(|(path, _)| *path);
    let mut strays = Vec::new();
    for (path, places) in paths {
        let opened = sources.open(path);
        for (index, place) in places {
            let cited = &claims[index].evidence[place];
            let verdict = judge(cited, &opened, sources);
            strays.extend(stray(cited, &verdict, (index, place)));
            verdicts[index][place] = verdict;
        }
    }
    for ((index, place), verdict) in stray::find(&strays, sources) {
        verdicts[index][place] = verdict;
    }
    let checked = |(claim, verdicts): (Claim<'a>, Vec<Verdict>)| {
        let verdict = overall(&claim, &verdicts, sources);
        Checked { claim, verdict, verdicts }
    };
    claims.into_iter().zip(verdicts).map(checked).collect()
}

/// What is not in its file though that is there, and says enough to be found elsewhere.
fn stray(cited: &Cited<'_>, verdict: &Verdict, at: (usize, usize)) -> Option<Stray> {
    let is_stray = matches!(verdict, Verdict::QuoteAbsent | Verdict::LineOutOfRange { .. });
    let quote = folded(cited.quote.as_deref().filter(|_| is_stray)?);
    let whole = cited.whole;
    let path = cited.path.trim_start_matches("${PROJECT_ROOT}/").to_owned();
    let commit = cited.commit.as_deref().map(str::to_owned);
    let symbol = cited.symbol.as_deref().map(str::to_owned);
    says_enough(&quote).then(|| Stray {
        at,
        quote: quote.into_owned(),
        whole,
        path,
        commit,
        symbol,
    })
}

/// The verdict on a claim: that on the worst of its places, since it rests on all of them.
fn overall(claim: &Claim<'_>, verdicts: &[Verdict], sources: &mut impl Sources) -> Verdict {
    if let Some(worst) = verdicts.iter().find(|verdict| !verdict.is_grounded()) {
        return worst.clone();
    }
    match claim.basis.as_deref() {
        Some(Basis::Assumption) => Verdict::Assumption,
        Some(Basis::Absence(searches)) => sources.look_for(searches).verdict(),
        Some(Basis::UserInput) if verdicts.is_empty() => Verdict::UserInput,
        _ => {
            let moved = verdicts.iter().find(|verdict| **verdict != Verdict::Verified);
            moved.or(verdicts.first()).cloned().unwrap_or(Verdict::NoEvidence)
        }
    }
}

/// The verdict on one place.
fn judge(cited: &Cited<'_>, opened: &Opened, sources: &mut impl Sources) -> Verdict {
    let words = cited.quote.as_deref().map(folded).unwrap_or_default();
    let quote = Quote { words: &words, whole: cited.whole };
    match opened {
        Opened::Text(text) => {
            place(text, quote, (cited.line, cited.end_line), cited.symbol.as_deref())
        }
        Opened::Outside => Verdict::Outside,
        Opened::Unreadable => Verdict::Unreadable,
        Opened::Missing if says_enough(quote.words) => {
            follow(quote, sources.became(&cited.path, cited.commit.as_deref()), sources)
        }
        Opened::Missing => Verdict::PathMissing,
    }
}

/// The verdict on a quote at a place in a file that is there, inside of `symbol` where that is
/// known.
pub fn place(
    text: &Text,
    quote: Quote<'_>,
    (line, end_line): (u32, Option<u32>),
    symbol: Option<&str>,
) -> Verdict {
    let end = end_line.unwrap_or(line).max(line);
    let beyond = end > text.lines();
    if !says_enough(quote.words) {
        return match (beyond, quote.words.is_empty()) {
            (true, _) => Verdict::LineOutOfRange { lines: text.lines() },
            (false, true) => Verdict::NoEvidence,
            (false, false) => Verdict::QuoteTooShort,
        };
    }
    match (text.search(quote, line, end), symbol) {
        (Search::Here, Some(symbol)) if text.declares(symbol) && !text.is_in(line, symbol) => {
            // What stood here has gone, and the same words of something else came to stand here.
            match text.search(quote, 0, 0) {
                Search::Elsewhere(lines) => inside(text, &lines, symbol, (line, end)),
                Search::Here | Search::Nowhere => Verdict::QuoteAbsent,
            }
        }
        (Search::Here, _) => Verdict::Verified,
        (Search::Nowhere, _) if beyond => Verdict::LineOutOfRange { lines: text.lines() },
        (Search::Nowhere, _) => Verdict::QuoteAbsent,
        (Search::Elsewhere(lines), Some(symbol)) => inside(text, &lines, symbol, (line, end)),
        (Search::Elsewhere(lines), None) => elsewhere(&lines, line, end),
    }
}

/// The verdict where the quote stands on other lines: what is in another function is another thing.
fn inside(text: &Text, lines: &[u32], symbol: &str, (first, last): (u32, u32)) -> Verdict {
    let same: Vec<u32> = lines.iter().copied().filter(|line| text.is_in(*line, symbol)).collect();
    if !same.is_empty() {
        return elsewhere(&same, first, last);
    }
    if text.declares(symbol) {
        return Verdict::QuoteAbsent;
    }
    // The function has another name now, or is gone and another one has the same line: nobody can tell,
    // however near it is.
    match elsewhere(lines, first, last) {
        Verdict::Nearby { line } if !text.is_in_a_function(line) => Verdict::Nearby { line },
        _ => Verdict::Ambiguous { places: lines.len() },
    }
}

/// One place close by is the one that is meant even if there are others far away.
fn elsewhere(lines: &[u32], first: u32, last: u32) -> Verdict {
    let window = first.saturating_sub(NEARBY)..=last.saturating_add(NEARBY);
    let mut near = lines.iter().filter(|line| window.contains(line));
    match (near.next(), near.next(), lines) {
        (Some(line), None, _) => Verdict::Nearby { line: *line },
        (None, _, [line]) => Verdict::Moved { path: None, line: *line },
        _ => Verdict::Ambiguous { places: lines.len() },
    }
}

/// Looks for a quote in the files that the one it was in may have become.
fn follow(quote: Quote<'_>, candidates: Vec<String>, sources: &mut impl Sources) -> Verdict {
    let mut found: Option<(String, Vec<u32>)> = None;
    for path in candidates {
        let opened = sources.candidate(&path);
        let Opened::Text(text) = &*opened else { continue };
        if let Search::Elsewhere(lines) = text.search(quote, 0, 0) {
            if let Some((_, earlier)) = &found {
                return Verdict::Ambiguous { places: earlier.len() + lines.len() };
            }
            found = Some((path, lines));
        }
    }
    match found {
        Some((path, lines)) if lines.len() == 1 => {
            Verdict::Moved { path: Some(path), line: lines[0] }
        }
        Some((_, lines)) => Verdict::Ambiguous { places: lines.len() },
        None => Verdict::PathMissing,
    }
}

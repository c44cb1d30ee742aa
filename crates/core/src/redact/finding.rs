//! What was found in a text, and the text without it.

use std::borrow::Cow;
use std::ops::Range;

use super::{prefilter, scan};

/// A secret that was found, and where it stood in the text as given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What the secret is, as it stands in `[redacted:KIND]`.
    pub kind: &'static str,
    /// Its place in the text as given, on character borders.
    pub span: Range<usize>,
}

/// A text without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted<'a> {
    /// The text; borrowed if nothing was found.
    pub text: Cow<'a, str>,
    /// What was taken out, in the order of the text, without overlaps.
    pub found: Vec<Finding>,
}

/// Replaces each secret in `text` by `[redacted:KIND]`.
pub fn redact(text: &str) -> Redacted<'_> {
    if prefilter::is_plain(text) {
        return Redacted { text: Cow::Borrowed(text), found: Vec::new() };
    }
    let found = merge(scan::candidates(text.as_bytes()));
    if found.is_empty() {
        return Redacted { text: Cow::Borrowed(text), found };
    }
    Redacted { text: Cow::Owned(rewrite(text, &found)), found }
}

fn rewrite(text: &str, found: &[Finding]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for finding in found {
        out.push_str(&text[at..finding.span.start]);
        out.push_str("[redacted:");
        out.push_str(finding.kind);
        out.push(']');
        at = finding.span.end;
    }
    out.push_str(&text[at..]);
    out
}

/// How specific the reader is that found a secret: the higher names the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Name,
    Header,
    Url,
    Prefix,
    Token,
    Block,
}

/// A secret as one reader sees it.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    kind: &'static str,
    span: Range<usize>,
    rank: Rank,
}

impl Candidate {
    pub(super) fn new(kind: &'static str, span: Range<usize>, rank: Rank) -> Self {
        Self { kind, span, rank }
    }
}

/// Makes one finding of those that overlap: all their bytes, named by the most specific
/// reader, and among equals by the one that saw most.
fn merge(mut candidates: Vec<Candidate>) -> Vec<Finding> {
    candidates.sort_by_key(|c| (c.span.start, std::cmp::Reverse(c.span.end)));
    let mut merged: Vec<Candidate> = Vec::with_capacity(candidates.len());
    for next in candidates.into_iter().filter(|c| !c.span.is_empty()) {
        match merged.last_mut() {
            Some(last) if next.span.start < last.span.end => {
                let better = (next.rank, next.span.len()) > (last.rank, last.span.len());
                last.span.end = last.span.end.max(next.span.end);
                if better {
                    (last.kind, last.rank) = (next.kind, next.rank);
                }
            }
            _ => merged.push(next),
        }
    }
    merged.into_iter().map(|c| Finding { kind: c.kind, span: c.span }).collect()
}

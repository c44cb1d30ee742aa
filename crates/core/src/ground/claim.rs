//! Claims: what is said, and what it rests on.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::evidence::Evidence;
use crate::note::{Basis, Note};

/// A claim that is to be checked. Borrows what it can: there may be hundreds of thousands.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim<'a> {
    /// What tells it from other claims; a later entry with the same id supersedes this one.
    pub id: Cow<'a, str>,
    pub text: Cow<'a, str>,
    /// What it rests on where that is not in the code.
    pub basis: Option<Cow<'a, Basis>>,
    /// The places in the code it rests on.
    pub evidence: Vec<Cited<'a>>,
}

/// A place in the code that a claim rests on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cited<'a> {
    /// The file, as it was given.
    pub path: Cow<'a, str>,
    /// The first line; 0 where none was given.
    pub line: u32,
    /// The last line, where there is more than one.
    pub end_line: Option<u32>,
    /// What stands there.
    pub quote: Option<Cow<'a, str>>,
    /// The commit that was checked out when it was attached.
    pub commit: Option<Cow<'a, str>>,
    /// The function, type or heading around it.
    pub symbol: Option<Cow<'a, str>>,
    /// Whether the quote is whole lines.
    pub whole: bool,
    /// Whether a trajectory gives its path in another form than the protocol asks for: not from `${PROJECT_ROOT}`.
    pub misformed: bool,
}

impl<'a> From<&'a Evidence> for Cited<'a> {
    fn from(evidence: &'a Evidence) -> Self {
        Self {
            path: Cow::Borrowed(&evidence.path),
            line: evidence.line,
            end_line: evidence.end_line,
            quote: evidence.quote.as_deref().map(Cow::Borrowed),
            commit: evidence.commit.as_deref().map(Cow::Borrowed),
            symbol: evidence.symbol.as_deref().map(Cow::Borrowed),
            whole: evidence.whole,
            misformed: false,
        }
    }
}

impl<'a> Claim<'a> {
    /// The claim a note makes, if notes of its kind make one and it still stands.
    pub fn of(note: &'a Note) -> Option<Self> {
        (note.kind.is_claim() && note.superseded_by.is_none()).then(|| Self {
            id: Cow::Owned(note.id.to_string()),
            text: Cow::Borrowed(&note.text),
            basis: note.basis.as_ref().map(Cow::Borrowed),
            evidence: note.evidence.iter().map(Cited::from).collect(),
        })
    }
}

/// The claims that stand: of those with the same id the last, in the order of their first.
pub fn current<'a>(claims: impl IntoIterator<Item = Claim<'a>>) -> Vec<Claim<'a>> {
    let mut places: HashMap<Cow<'a, str>, usize> = HashMap::new();
    let mut standing: Vec<Claim<'a>> = Vec::new();
    for claim in claims {
        if let Some(place) = places.get(&claim.id) {
            standing[*place] = claim;
        } else {
            places.insert(claim.id.clone(), standing.len());
            standing.push(claim);
        }
    }
    standing
}

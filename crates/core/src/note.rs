//! Notes: what is worth carrying from one session to the next.

use std::borrow::{Borrow, Cow};
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::evidence::Evidence;
use crate::id::{NoteId, SessionId};
use crate::suggest;

/// What sort of thing a note says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Something found out.
    Learning,
    /// A way of doing things that proved itself.
    Pattern,
    /// Something to keep away from.
    Warning,
    /// A choice that was made, and why.
    Decision,
    /// Something still to be answered.
    Question,
    /// What to do next.
    NextStep,
    Progress,
    /// A case the work must be tested with.
    Scenario,
}

impl Kind {
    /// All kinds, the most used first.
    pub const ALL: [Self; 8] = [
        Self::Learning,
        Self::Pattern,
        Self::Warning,
        Self::Decision,
        Self::Question,
        Self::NextStep,
        Self::Progress,
        Self::Scenario,
    ];

    /// The word for it in JSON, on the command line and in the ledger.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Learning => "learning",
            Self::Pattern => "pattern",
            Self::Warning => "warning",
            Self::Decision => "decision",
            Self::Question => "question",
            Self::NextStep => "next_step",
            Self::Progress => "progress",
            Self::Scenario => "scenario",
        }
    }

    /// How people say the plural of it: `next steps`.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Learning => "learnings",
            Self::Pattern => "patterns",
            Self::Warning => "warnings",
            Self::Decision => "decisions",
            Self::Question => "questions",
            Self::NextStep => "next steps",
            Self::Progress => "progress",
            Self::Scenario => "scenarios",
        }
    }

    /// How people say how many there are: `1 next step`, `2 next steps`.
    pub fn counted(self, count: usize) -> String {
        let one = crate::words::in_words(self.as_str());
        if count == 1 { format!("1 {one}") } else { format!("{count} {}", self.plural()) }
    }

    /// Whether a note of this kind states something about the code that evidence can prove.
    pub const fn is_claim(self) -> bool {
        matches!(self, Self::Learning | Self::Pattern | Self::Warning | Self::Decision)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What a test scenario tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseType {
    /// What is usually done.
    HappyPath,
    /// What is done at the edge of what is allowed.
    EdgeCase,
    /// What goes wrong.
    ErrorHandling,
}

impl CaseType {
    pub const ALL: [Self; 3] = [Self::HappyPath, Self::EdgeCase, Self::ErrorHandling];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::HappyPath => "happy_path",
            Self::EdgeCase => "edge_case",
            Self::ErrorHandling => "error_handling",
        }
    }

    /// Reads the word; `happy-path` is the same, typed by a person.
    pub fn parse(text: &str) -> Option<Self> {
        let word = text.replace('-', "_");
        Self::ALL.into_iter().find(|case| case.as_str() == word)
    }
}

/// What a test scenario tries, and what has to come of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// What it tries.
    #[serde(rename = "type")]
    pub case_type: CaseType,
    /// What has to come of it.
    pub expected: String,
}

/// How many test scenarios go with what was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scenarios {
    /// How many there are.
    pub count: usize,
    /// How many there should be.
    pub asked: usize,
    /// How many do not say what they try and what has to come of it.
    pub vague: usize,
}

impl Scenarios {
    /// Of these notes; `None` where nothing was decided, so that none are asked for.
    pub fn of(notes: &[Note], asked: u32) -> Option<Self> {
        let count = |kind: Kind| notes.iter().filter(|note| note.kind == kind).count();
        let asked = usize::try_from(asked).unwrap_or(usize::MAX);
        let is_vague = |note: &&Note| note.kind == Kind::Scenario && note.case.is_none();
        let vague = notes.iter().filter(is_vague).count();
        (count(Kind::Decision) > 0).then(|| Self { count: count(Kind::Scenario), asked, vague })
    }

    /// Whether there are as many as there should be.
    pub const fn are_enough(self) -> bool {
        self.count >= self.asked
    }
}

/// Why a text is not a kind of note.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no kind of note called `{text}`")]
pub struct NotAKind {
    pub text: String,
    /// The kind that was probably meant.
    pub nearest: Option<&'static str>,
}

impl FromStr for Kind {
    type Err = NotAKind;

    /// Reads a kind. The plural and `next-step` are the same words, typed by a person.
    fn from_str(text: &str) -> Result<Self, NotAKind> {
        let word = text.replace('-', "_");
        let singular = word.strip_suffix('s').unwrap_or(&word);
        Self::ALL
            .into_iter()
            .find(|kind| kind.as_str() == word || kind.as_str() == singular)
            .ok_or_else(|| NotAKind {
                text: text.to_owned(),
                nearest: suggest::nearest(&word, Self::ALL.map(Self::as_str)),
            })
    }
}

/// What a claim rests on where that is not a quote from the code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Nothing yet: it is assumed, and says so.
    Assumption,
    /// A person said it.
    UserInput,
    /// That something is not there: each of these searches over the code finds nothing.
    Absence(Vec<String>),
}

/// Who wrote the words of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// It was recorded here, and the page of notes shows it in heirloom's own words.
    #[default]
    Here,
    /// Somebody wrote it on the page by hand.
    Page,
    /// Another ledger recorded it, and it came here with the page.
    Elsewhere,
}

/// What a note is known by besides its words: where it comes from, and what its author called it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Source {
    /// Who wrote its words.
    #[serde(default)]
    pub origin: Origin,
    /// When it was made, where that was before it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// Its title, where that is not the beginning of its words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Whose it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// The agent that proposed it when it looked back, where nobody else said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed_by: Option<String>,
}

/// A note as the ledger knows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Note {
    pub id: NoteId,
    /// What sort of thing it says.
    pub kind: Kind,
    pub text: String,
    /// Why, for decisions above all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    /// The session it was made in.
    pub session: SessionId,
    /// When it was made.
    pub at: Timestamp,
    /// What it rests on.
    #[serde(default)]
    pub evidence: Vec<Evidence>,
    /// What it rests on besides, or instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
    /// The issue it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue: Option<String>,
    /// What it tries and what has to come of it, where it is a scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<Case>,
    /// The later note that replaces it.
    #[serde(default)]
    pub superseded_by: Option<NoteId>,
    /// Where it comes from, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// The colleague who wrote it, as the team's hub names them; nothing for what was written here. Never
    /// read from a record: nobody gives themselves another's name.
    #[serde(skip)]
    pub author: Option<String>,
}

impl Note {
    /// What it says, with the name of the colleague before it.
    pub fn attributed(&self) -> Cow<'_, str> {
        match &self.author {
            Some(author) => Cow::Owned(format!("[{author}] {}", self.text)),
            None => Cow::Borrowed(&self.text),
        }
    }

    /// The agent that proposed it when it looked back on its session.
    pub fn proposed_by(&self) -> Option<&str> {
        self.source.as_ref()?.proposed_by.as_deref()
    }

    /// Who wrote its words.
    pub fn origin(&self) -> Origin {
        self.source.as_ref().map(|source| source.origin).unwrap_or_default()
    }
}

/// How many replacements of a note are followed. They cannot go in a circle, for a note replaces one
/// that was there before it; but they may come from a file that somebody else wrote.
const MOST_REPLACED: usize = 20;

/// The notes that stand in place of another, each in place of the one before it: from the one called
/// `by` on, as far as `find` knows them. The last is the one that stands.
pub fn replacements<N: Borrow<Note>>(
    by: Option<NoteId>,
    mut find: impl FnMut(NoteId) -> Option<N>,
) -> impl Iterator<Item = N> {
    try_replacements(by, move |id| Ok::<_, Infallible>(find(id))).flatten()
}

/// The same, where looking for a note can fail.
pub fn try_replacements<N: Borrow<Note>, E>(
    by: Option<NoteId>,
    mut find: impl FnMut(NoteId) -> Result<Option<N>, E>,
) -> impl Iterator<Item = Result<N, E>> {
    let mut next = by;
    let follow = move || {
        let found = find(next.take()?).transpose()?;
        next = found.as_ref().ok().and_then(|note| note.borrow().superseded_by);
        Some(found)
    };
    std::iter::from_fn(follow).take(MOST_REPLACED)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(number: u128, by: Option<u128>) -> Note {
        let id = |number| NoteId::new(uuid::Uuid::from_u128(number));
        Note {
            id: id(number),
            kind: Kind::Decision,
            text: number.to_string(),
            rationale: None,
            session: SessionId::new(uuid::Uuid::from_u128(1)),
            at: Timestamp::UNIX_EPOCH,
            evidence: Vec::new(),
            basis: None,
            issue: None,
            case: None,
            superseded_by: by.map(id),
            source: None,
            author: None,
        }
    }

    #[test]
    fn replacements_end_with_the_note_that_stands_and_a_circle_ends_too() {
        let notes = [note(1, Some(2)), note(2, Some(3)), note(3, None), note(4, Some(9))];
        let of = |notes: &[Note], first: usize| -> Vec<String> {
            let find = |id| notes.iter().find(|note| note.id == id);
            replacements(notes[first].superseded_by, find).map(|note| note.text.clone()).collect()
        };
        assert_eq!(of(&notes, 0), ["2", "3"]);
        assert_eq!(of(&notes, 2), [""; 0]);
        assert_eq!(of(&notes, 3), [""; 0], "what is not known is not followed");
        let circle = [note(1, Some(2)), note(2, Some(1))];
        assert_eq!(of(&circle, 0).len(), MOST_REPLACED);
    }

    #[test]
    fn a_search_that_fails_ends_the_replacements_with_why() {
        let notes = [note(1, Some(2)), note(2, Some(3))];
        let find = |id| match notes.iter().find(|note| note.id == id) {
            Some(note) => Ok(Some(note)),
            None => Err("the disk is gone"),
        };
        let found: Result<Vec<&Note>, &str> = try_replacements(Some(notes[0].id), find).collect();
        assert_eq!(found, Err("the disk is gone"));
    }

    #[test]
    fn a_kind_is_read_as_people_type_it() {
        for text in ["next_step", "next-step", "next_steps"] {
            assert_eq!(text.parse(), Ok(Kind::NextStep));
        }
        for kind in Kind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(kind));
            assert_eq!(format!("{kind}s").parse(), Ok(kind));
        }
        assert_eq!("progress".parse(), Ok(Kind::Progress));
    }

    #[test]
    fn an_unknown_kind_brings_the_one_that_was_meant() {
        let error = "lerning".parse::<Kind>().unwrap_err();
        assert_eq!(error.nearest, Some("learning"));
        assert_eq!(error.to_string(), "there is no kind of note called `lerning`");
        assert_eq!("zebra".parse::<Kind>().unwrap_err().nearest, None);
    }
}

//! Notes, and what they rest on.

use heirloom_core::evidence::Evidence as Place;
use heirloom_core::note::{Basis as Rests, Case as Tried, Note as Known};
use heirloom_engine::notes::Page;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Answer;
use crate::words;

/// A note.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Note {
    /// Its id.
    pub id: String,
    /// What sort of thing it says.
    #[schemars(with = "words::NoteKind")]
    pub kind: String,
    /// What it says.
    pub text: String,
    /// Why.
    pub rationale: Option<String>,
    /// The name of the session it was made in.
    pub session: String,
    /// The id of that session.
    pub session_id: String,
    /// The colleague who wrote it; `null` if it is yours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// When it was made.
    pub at: Timestamp,
    /// Its evidence.
    pub evidence: Vec<Evidence>,
    /// Other evidence: an assumption, a person's word, or the absence of a text.
    pub basis: Option<Basis>,
    /// The issue it is about.
    pub issue: Option<String>,
    /// What it tries and what has to come of it, where it is a scenario that says so.
    pub case: Option<Case>,
    /// The later note that replaces it.
    pub superseded_by: Option<String>,
    /// The agent that proposed it when it looked back on its session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposed_by: Option<String>,
}

/// What a test scenario tries, and what has to come of it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Case {
    /// What it tries.
    #[serde(rename = "type")]
    #[schemars(with = "words::CaseType")]
    pub case_type: String,
    /// What has to come of it.
    pub expected: String,
}

impl From<&Tried> for Case {
    fn from(case: &Tried) -> Self {
        let (case_type, expected) = (case.case_type.as_str().to_owned(), case.expected.clone());
        Self { case_type, expected }
    }
}

impl Answer for Note {}

impl Note {
    /// `session` is the name of the session it was made in.
    pub fn new(note: &Known, session: &str) -> Self {
        Self {
            id: note.id.to_string(),
            kind: note.kind.to_string(),
            text: note.text.clone(),
            rationale: note.rationale.clone(),
            session: session.to_owned(),
            session_id: note.session.to_string(),
            author: note.author.clone(),
            at: note.at,
            evidence: note.evidence.iter().map(Evidence::from).collect(),
            basis: note.basis.as_ref().map(Basis::from),
            issue: note.issue.clone(),
            case: note.case.as_ref().map(Case::from),
            superseded_by: note.superseded_by.map(|id| id.to_string()),
            proposed_by: note.proposed_by().map(str::to_owned),
        }
    }
}

/// Notes, oldest first.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NoteList {
    /// The notes.
    pub notes: Vec<Note>,
    /// What `--before` takes to go on with older ones, where there are any.
    pub next: Option<String>,
}

impl Answer for NoteList {}

impl NoteList {
    pub fn new(page: &Page) -> Self {
        let notes = page.notes.iter().map(|(note, session)| Note::new(note, session));
        Self { notes: notes.collect(), next: page.next.map(|id| id.to_string()) }
    }
}

/// The place and the words a note rests on.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Evidence {
    /// The file, relative to the repository's root, with `/` between its parts.
    pub path: String,
    /// The first line, counted from 1.
    pub line: u32,
    /// The last line, where there is more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u32>,
    /// What stands there, word for word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// The commit that was checked out when it was attached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The hash of the quoted lines, white space folded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// The function, type or heading around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
}

impl From<&Place> for Evidence {
    fn from(evidence: &Place) -> Self {
        // Whether a quote is whole lines only matters to who compares it with the code.
        let Place { path, line, end_line, quote, commit, hash, symbol, whole: _ } =
            evidence.clone();
        Self { path, line, end_line, quote, commit, hash, symbol }
    }
}

/// What a claim rests on where that is not a quote from the code.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Nothing yet: it is assumed, and says so.
    Assumption,
    /// A person said it.
    UserInput,
    /// That something is not there: each of these searches over the code finds nothing.
    Absence(Vec<String>),
}

impl From<&Rests> for Basis {
    fn from(basis: &Rests) -> Self {
        match basis {
            Rests::Assumption => Self::Assumption,
            Rests::UserInput => Self::UserInput,
            Rests::Absence(searches) => Self::Absence(searches.clone()),
        }
    }
}

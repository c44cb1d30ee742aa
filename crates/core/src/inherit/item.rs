//! One thing that is carried over, before it is known whether it will be delivered.

use jiff::Timestamp;

use crate::evidence::Evidence;
use crate::id::NoteId;
use crate::note::Note;

use super::select::Category;

/// The longest text an item is delivered with, in characters. A note that is longer is a document,
/// and one of them would push out everything else.
pub(super) const LONGEST_TEXT: usize = 4000;

const CUT: &str = " […]";
const MARK: &str = "[evidence no longer holds: ";

/// Whether what an item rests on still stands in the code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The quote stands where it was.
    Verified,
    /// The quote stands somewhere else now.
    Moved {
        /// In this file.
        path: String,
        line: u32,
    },
    /// The quote stands nowhere.
    Broken {
        /// What is wrong with it, in a few words (`the file is gone`).
        reason: String,
    },
    /// Nobody looked.
    Unchecked,
}

impl Verdict {
    /// The word for it in JSON.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Moved { .. } => "moved",
            Self::Broken { .. } => "broken",
            Self::Unchecked => "unchecked",
        }
    }
}

/// One thing that is carried over: a note of the ledger, or what a run directory holds instead.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Where it belongs.
    pub category: Category,
    pub text: String,
    pub rationale: Option<String>,
    /// The note it is, where the ledger knows it.
    pub id: Option<NoteId>,
    /// When it was made, where that is known.
    pub at: Option<Timestamp>,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
    /// The session it was made in; none means the session that is being read.
    pub from_session: Option<String>,
}

impl Item {
    /// An item that says `text`, with nothing else known.
    pub fn new(category: Category, text: impl Into<String>) -> Self {
        Self {
            category,
            text: text.into(),
            rationale: None,
            id: None,
            at: None,
            evidence: Vec::new(),
            from_session: None,
        }
    }

    /// The item a note is carried as, if notes of its kind are inherited and it still stands.
    ///
    /// Questions, next steps and progress notes are carried in the progress summary, not as items.
    pub fn from_note(note: Note) -> Option<Self> {
        let category =
            Category::of(note.kind).filter(|category| *category != Category::Progress)?;
        if note.superseded_by.is_some() {
            return None;
        }
        Some(Self {
            category,
            text: note.attributed().into_owned(),
            rationale: note.rationale,
            id: Some(note.id),
            at: Some(note.at),
            evidence: note.evidence,
            from_session: None,
        })
    }

    /// The item as one string: what it says, and why where that is known
    /// (`Chose JWT - needed stateless scaling`).
    pub(super) fn plain(&self) -> String {
        plain(&self.text, self.rationale.as_deref())
    }
}

pub(super) fn plain(text: &str, rationale: Option<&str>) -> String {
    let text = text.trim();
    match rationale.map(str::trim) {
        Some(why) if !why.is_empty() && !text.ends_with(why) => cut(&format!("{text} - {why}")),
        _ => cut(text),
    }
}

/// `text`, cut to the longest that is delivered. Cutting twice is cutting once, so an item that
/// went through several sessions stays identical to itself.
pub(super) fn cut(text: &str) -> String {
    let Some((end, _)) = text.char_indices().nth(LONGEST_TEXT) else { return text.to_owned() };
    let kept = LONGEST_TEXT - CUT.chars().count();
    let end = text.char_indices().nth(kept).map_or(end, |(end, _)| end);
    format!("{}{CUT}", &text[..end])
}

/// `plain`, marked with the places that no longer hold.
pub(super) fn mark(plain: &str, broken: &[String]) -> String {
    if broken.is_empty() {
        return plain.to_owned();
    }
    format!("{MARK}{}] {plain}", broken.join("; "))
}

/// `text` without a mark: whether evidence holds is decided anew by each session that inherits.
pub(super) fn unmark(text: &str) -> &str {
    text.strip_prefix(MARK).and_then(|rest| rest.split_once("] ")).map_or(text, |(_, plain)| plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::SessionId;
    use crate::note::Kind;
    use proptest::prelude::*;

    fn decision(text: &str, why: Option<&str>) -> String {
        Item { rationale: why.map(str::to_owned), ..Item::new(Category::Decisions, text) }.plain()
    }

    #[test]
    fn a_decision_says_what_and_why_in_one_string() {
        assert_eq!(
            decision("Chose JWT", Some("needed stateless scaling")),
            "Chose JWT - needed stateless scaling"
        );
        assert_eq!(decision(" Chose JWT ", None), "Chose JWT");
        assert_eq!(decision("Chose JWT", Some("  ")), "Chose JWT");
        assert_eq!(decision("Chose JWT - speed", Some("speed")), "Chose JWT - speed");
    }

    #[test]
    fn a_superseded_note_and_a_scenario_are_not_carried() {
        let note = |kind, superseded_by| Note {
            id: NoteId::new(uuid::Uuid::from_u128(1)),
            kind,
            text: "x".to_owned(),
            rationale: None,
            session: SessionId::new(uuid::Uuid::from_u128(2)),
            at: Timestamp::UNIX_EPOCH,
            evidence: Vec::new(),
            basis: None,
            issue: None,
            case: None,
            superseded_by,
            source: None,
            author: None,
        };
        let later = Some(NoteId::new(uuid::Uuid::from_u128(3)));
        assert_eq!(Item::from_note(note(Kind::Decision, later)), None);
        assert_eq!(Item::from_note(note(Kind::Scenario, None)), None);
        assert_eq!(Item::from_note(note(Kind::Question, None)), None);
        let item = Item::from_note(note(Kind::Warning, None)).unwrap();
        assert_eq!((item.category, item.at), (Category::Warnings, Some(Timestamp::UNIX_EPOCH)));
    }

    #[test]
    fn a_mark_names_the_places_and_comes_off_again() {
        let places = ["src/mw.rs:40 (the file is gone)".to_owned(), "a.rs:1".to_owned()];
        let marked = mark("Refresh in middleware", &places);
        assert_eq!(
            marked,
            "[evidence no longer holds: src/mw.rs:40 (the file is gone); a.rs:1] Refresh in middleware"
        );
        assert_eq!(unmark(&marked), "Refresh in middleware");
        assert_eq!(unmark("[evidence] of something"), "[evidence] of something");
        assert_eq!(mark("kept", &[]), "kept");
    }

    proptest! {
        #[test]
        fn a_cut_text_fits_and_stays_as_it_is(text in ".{0,20}", times in 1usize..600) {
            let long = text.repeat(times);
            let once = cut(&long);
            prop_assert!(once.chars().count() <= LONGEST_TEXT);
            prop_assert_eq!(&cut(&once), &once);
            if long.chars().count() <= LONGEST_TEXT {
                prop_assert_eq!(once, long);
            }
        }
    }
}

//! What finding notes costs must not depend on how many there are.

use heirloom_core::event::NoteAdded;
use jiff::Timestamp;
use tempfile::TempDir;
use uuid::Uuid;

use super::*;
use crate::ledger::Options;
use crate::sessions::tests::steps;
use crate::write::Scope;

const REPO: &str = "/src/payments";
const FEW: u128 = 200;
const MANY: u128 = 5_000;

fn session(n: u128) -> SessionId {
    SessionId::new(Uuid::from_u128(1 + n % 4))
}

/// A ledger of so many notes. The oldest is a next step, all others are learnings, and every other one
/// was replaced by the one behind it.
fn filled(count: u128) -> (TempDir, Ledger) {
    let dir = TempDir::new().unwrap();
    let mut ledger = Ledger::open(dir.path(), Options::HOOK).unwrap();
    let all: Vec<u128> = (1..=count).collect();
    for (second, some) in (0..).zip(all.chunks(100)) {
        let at = Timestamp::from_second(1_700_000_000 + second).unwrap();
        ledger
            .append_all(at, |appender| {
                some.iter().try_for_each(|n| {
                    let kind = if *n == 1 { Kind::NextStep } else { Kind::Learning };
                    let mut note = NoteAdded::new(NoteId::new(Uuid::from_u128(*n)), kind, "text");
                    let replaced =
                        (n % 2 == 0 && *n > 2).then(|| NoteId::new(Uuid::from_u128(n - 1)));
                    note.supersedes = replaced;
                    appender.append(Scope::session(session(*n), REPO), &note).map(drop)
                })
            })
            .unwrap_or_else(|error: Error| panic!("{error}"));
    }
    ledger.notes(&NoteFilter { limit: Some(1), ..NoteFilter::default() }).unwrap();
    (dir, ledger)
}

#[test]
fn no_question_about_notes_costs_more_when_there_are_many() {
    let (_few_dir, mut few) = filled(FEW);
    let (_many_dir, mut many) = filled(MANY);
    let limit = Some(3);
    let (repo, of) = (Some(REPO), Some(session(1)));
    let base = NoteFilter { limit, ..NoteFilter::default() };
    let before = Some(NoteId::new(Uuid::from_u128(100)));
    let questions = [
        ("of a repository", NoteFilter { repo, ..base }),
        ("of a repository and a kind", NoteFilter { repo, kind: Some(Kind::Learning), ..base }),
        ("of a rare kind", NoteFilter { repo, kind: Some(Kind::NextStep), ..base }),
        ("of a kind there is none of", NoteFilter { repo, kind: Some(Kind::Warning), ..base }),
        ("of a session", NoteFilter { session: of, ..base }),
        ("of a session and a kind", NoteFilter { session: of, kind: Some(Kind::Warning), ..base }),
        ("replaced ones too", NoteFilter { repo, superseded: true, ..base }),
        ("of another repository", NoteFilter { repo: Some("/src/new"), ..base }),
        ("about an issue", NoteFilter { repo, issue: Some("hl-1"), ..base }),
        ("anywhere", base),
        ("of an earlier page", NoteFilter { repo, before, ..base }),
    ];
    for (name, filter) in questions {
        let ask = |ledger: &Ledger| drop(ledger.notes(&filter).unwrap());
        let (small, large) = (steps(&mut few, ask), steps(&mut many, ask));
        assert!(small > 0, "{name}: nothing was counted");
        assert!(large <= small + small / 4, "{name}: {small} steps became {large}");
    }
}

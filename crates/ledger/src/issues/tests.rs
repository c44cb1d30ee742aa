//! What finding the open issues costs must not depend on how many were ever closed.

use heirloom_core::event::IssueCreated;
use jiff::Timestamp;
use tempfile::TempDir;

use super::*;
use crate::ledger::Options;
use crate::sessions::tests::steps;
use crate::write::Scope;

const REPO: &str = "/src/payments";

/// A ledger of three open issues and so many closed ones, before and behind them.
fn filled(closed: usize) -> (TempDir, Ledger) {
    let dir = TempDir::new().unwrap();
    let mut ledger = Ledger::open(dir.path(), Options::ENGINE).unwrap();
    let at = Timestamp::from_second(1_700_000_000).unwrap();
    let ids = (0..closed).map(|n| (format!("hl-{n}"), "closed"));
    let open = ["hl-aa", "hl-5x", "hl-zz"].map(|id| (id.to_owned(), "open"));
    let created = |(id, status): (String, &str)| -> IssueCreated {
        serde_json::from_value(serde_json::json!({"issue": {
            "id": id, "title": "t", "status": status, "priority": 2, "issue_type": "task",
            "created_at": "2026-01-12T15:30:00Z", "updated_at": "2026-01-12T15:30:00Z",
            "dependencies": [{"issue_id": id, "depends_on_id": "hl-0", "type": "blocks"}],
        }}))
        .unwrap()
    };
    ledger
        .append_all(at, |appender| {
            ids.chain(open).try_for_each(|issue| {
                let scope = Scope { repo: Some(REPO), ..Scope::default() };
                appender.append(scope, &created(issue)).map(drop)
            })
        })
        .unwrap_or_else(|error: Error| panic!("{error}"));
    let (open, edges) = ledger.backlog(REPO).unwrap();
    assert_eq!((open.len(), edges.len()), (3, 3));
    (dir, ledger)
}

#[test]
fn no_question_about_open_issues_costs_more_when_many_are_closed() {
    let (_few_dir, mut few) = filled(100);
    let (_many_dir, mut many) = filled(3_000);
    let open = |ledger: &Ledger| drop(ledger.backlog(REPO).unwrap());
    let many_open = |ledger: &Ledger| assert!(!ledger.has_more_open_than(REPO, 50).unwrap());
    let open = ("what is open", steps(&mut few, open), steps(&mut many, open));
    let more = ("how many are open", steps(&mut few, many_open), steps(&mut many, many_open));
    for (name, small, large) in [open, more] {
        assert!(small > 0, "{name}: nothing was counted");
        assert!(large <= small + small / 4, "{name}: {small} steps became {large}");
    }
}

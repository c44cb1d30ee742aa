//! A clock that was wrong once does not decide what is newest for ever.

use heirloom_core::event::IssueCreated;
use heirloom_ledger::{Ledger, NoteFilter, Options, Scope, SessionFilter};
use jiff::Timestamp;
use serde_json::json;

use crate::fixture::{Home, REPO, at, created, note, session_id};

fn absurd() -> Timestamp {
    "9999-12-01T00:00:00Z".parse().unwrap()
}

fn texts(ledger: &Ledger) -> Vec<String> {
    ledger.notes(&NoteFilter::default()).unwrap().into_iter().map(|note| note.text).collect()
}

/// Three sessions with a note each; the clock is wrong during the second.
fn three_days(ledger: &mut Ledger) {
    for (n, when) in [(1, at(10)), (2, absurd()), (3, at(30))] {
        let scope = Scope::session(session_id(n), REPO);
        ledger.append(when, scope, &created(&format!("day-{n}"))).unwrap();
        ledger.append(when, scope, &note(100 + n, &format!("note of day {n}"))).unwrap();
    }
}

#[test]
fn what_a_wrong_clock_wrote_is_where_it_arrived_and_not_the_newest_for_ever() {
    let home = Home::new();
    let mut ledger = home.open();
    three_days(&mut ledger);
    let in_order = ["note of day 1", "note of day 2", "note of day 3"];
    assert_eq!(texts(&ledger), in_order);
    let page = ledger.sessions(&SessionFilter { limit: 9, ..SessionFilter::default() }).unwrap();
    let names: Vec<String> = page.sessions.iter().map(|session| session.name.to_string()).collect();
    assert_eq!(names, ["day-3", "day-2", "day-1"]);
    assert_eq!(page.sessions[1].created_at, at(10), "the time of the record before");
    // However the views came to be: record by record, or all at once.
    let report = ledger.verify().unwrap();
    assert!(report.ok, "{:?}", report.problems);
    assert_eq!(report.misdated, 2);
    ledger.rebuild().unwrap();
    assert_eq!(texts(&ledger), in_order);
}

#[test]
fn another_ledger_that_takes_the_records_in_sees_the_same_order() {
    let (home, other) = (Home::new(), Home::new());
    let mut ledger = home.open();
    three_days(&mut ledger);
    let mut export = Vec::new();
    ledger.export(&mut export).unwrap();
    let mut elsewhere = other.open();
    elsewhere.import(&export[..]).unwrap();
    assert_eq!(texts(&elsewhere), texts(&ledger));
}

#[test]
fn a_later_change_of_an_issue_counts_though_an_earlier_one_was_made_in_9999() {
    let home = Home::new();
    let mut ledger = home.open();
    let scope = Scope { session: None, repo: Some(REPO) };
    let issue = json!({"id": "hl-1", "title": "one", "status": "open", "priority": 2,
        "issue_type": "task", "created_at": at(0), "updated_at": at(0)});
    ledger.append(at(0), scope, &IssueCreated { issue }).unwrap();
    for (when, title) in [(absurd(), "of the wrong clock"), (at(5), "the last")] {
        let changed = serde_json::from_value::<heirloom_core::event::IssueChanged>(
            json!({"id": "hl-1", "change": {"title": title}}),
        );
        ledger.append(when, scope, &changed.unwrap()).unwrap();
    }
    let (backlog, _) = ledger.backlog(REPO).unwrap();
    assert_eq!(backlog[0].title, "the last");
    drop(ledger);
    // And the person is told while the clock is wrong.
    let notices = Ledger::attend(home.path(), absurd(), Options::COMMAND).unwrap();
    assert!(notices[0].to_string().contains("says 9999-12-01"), "{notices:?}");
}

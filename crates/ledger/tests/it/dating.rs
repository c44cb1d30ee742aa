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

/// Three sessions with a note each, the second by a clock that is five years ahead; read in between, so
/// that the views are folded record by record.
fn ahead_for_a_day(ledger: &mut Ledger) {
    let years = jiff::SignedDuration::from_hours(5 * 365 * 24);
    for (n, when) in [(1, at(10)), (2, at(20) + years), (3, at(30))] {
        let scope = Scope::session(session_id(n), REPO);
        ledger.append(when, scope, &created(&format!("day-{n}"))).unwrap();
        texts(ledger);
        ledger.append(when, scope, &note(100 + n, &format!("note of day {n}"))).unwrap();
    }
}

#[test]
fn what_a_clock_wrote_that_was_some_years_ahead_is_where_it_arrived_once_the_clock_is_right() {
    let (home, other) = (Home::new(), Home::new());
    let mut ledger = home.open();
    ahead_for_a_day(&mut ledger);
    let in_order = ["note of day 1", "note of day 2", "note of day 3"];
    assert_eq!(texts(&ledger), in_order);
    let page = ledger.sessions(&SessionFilter { limit: 9, ..SessionFilter::default() }).unwrap();
    let names: Vec<String> = page.sessions.iter().map(|session| session.name.to_string()).collect();
    assert_eq!(names, ["day-3", "day-2", "day-1"]);
    assert_eq!(page.sessions[1].created_at, at(10), "the time of the record before");
    let report = ledger.verify().unwrap();
    assert!(report.ok, "{:?}", report.problems);
    assert_eq!(report.misdated, 2);
    ledger.rebuild().unwrap();
    assert_eq!(texts(&ledger), in_order);
    // Whoever takes it in sees the same, also in two parts.
    let mut export = Vec::new();
    ledger.export(&mut export).unwrap();
    let mut elsewhere = other.open();
    elsewhere.import(&export[..]).unwrap();
    assert_eq!(texts(&elsewhere), in_order);
    assert!(elsewhere.verify().unwrap().ok);
}

#[test]
fn what_a_clock_wrote_after_a_long_absence_is_believed() {
    let home = Home::new();
    let mut ledger = home.open();
    let later = at(20) + jiff::SignedDuration::from_hours(2 * 365 * 24);
    let scope = Scope::session(session_id(1), REPO);
    ledger.append(at(10), scope, &created("long")).unwrap();
    for (n, when) in [(1, at(10)), (2, later), (3, later + jiff::SignedDuration::from_mins(1))] {
        ledger.append(when, scope, &note(100 + n, &format!("note {n}"))).unwrap();
    }
    let notes = ledger.notes(&NoteFilter::default()).unwrap();
    assert_eq!(notes[1].at, later);
    let report = ledger.verify().unwrap();
    assert_eq!((report.ok, report.misdated), (true, 0));
}

#[test]
fn a_clock_that_falls_behind_for_a_while_takes_nothing_from_what_was_written_before() {
    let home = Home::new();
    let mut ledger = home.open();
    let day = |n: i64| at(n * 24 * 60 * 60);
    let scope = Scope::session(session_id(1), REPO);
    ledger.append(day(1), scope, &created("behind")).unwrap();
    let days = (1..=20).chain([5]).chain(21..=22);
    for (n, when) in days.enumerate() {
        ledger.append(day(when), scope, &note(100 + n as u128, &format!("note {n}"))).unwrap();
    }
    let notes = ledger.notes(&NoteFilter::default()).unwrap();
    let last = notes.iter().find(|note| note.text == "note 19").unwrap();
    assert_eq!(last.at, day(20));
    let report = ledger.verify().unwrap();
    assert_eq!((report.ok, report.misdated), (true, 0));
}

#[test]
fn a_change_counts_that_was_made_after_the_clock_was_set_right() {
    let home = Home::new();
    let mut ledger = home.open();
    let scope = Scope { session: None, repo: Some(REPO) };
    let issue = json!({"id": "hl-1", "title": "one", "status": "open", "priority": 2,
        "issue_type": "task", "created_at": at(0), "updated_at": at(0)});
    ledger.append(at(0), scope, &IssueCreated { issue }).unwrap();
    let ahead = at(3) + jiff::SignedDuration::from_hours(3 * 365 * 24);
    for (when, title) in [(ahead, "of the wrong clock"), (at(5), "the last")] {
        let changed = serde_json::from_value::<heirloom_core::event::IssueChanged>(
            json!({"id": "hl-1", "change": {"title": title}}),
        );
        ledger.append(when, scope, &changed.unwrap()).unwrap();
        ledger.backlog(REPO).unwrap();
    }
    let (backlog, _) = ledger.backlog(REPO).unwrap();
    assert_eq!(backlog[0].title, "the last");
}

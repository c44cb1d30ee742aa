//! Copies of the ledger: whole, checked, few, and good for what they are for.

use std::fs;

use heirloom_ledger::{Ledger, Scope};
use jiff::{SignedDuration, Timestamp};

use crate::fixture::{Home, REPO, at, fill, note, session_id};

fn export(ledger: &Ledger) -> String {
    let mut out = Vec::new();
    ledger.export(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_backup_of_a_ledger_in_use_brings_everything_back() {
    let home = Home::new();
    let mut ledger = home.open();
    fill(&mut ledger, 20);
    let copy = home.path().join("copy of it.db");
    assert_eq!(ledger.back_up(&copy, &mut |_, _, _| {}).unwrap(), 21);
    ledger.append(at(9), Scope::session(session_id(1), REPO), &note(900, "later")).unwrap();
    let before = export(&ledger);
    assert_eq!(home.files().iter().filter(|name| name.starts_with("copy")).count(), 1);
    // Into a home where nothing is left, and into one that lost some of it.
    let empty = Home::new();
    let imported = empty.open().import_copy(&copy, &mut |_, _, _| {}).unwrap();
    assert_eq!(imported.added, 21);
    assert!(before.starts_with(&export(&empty.open())));
    assert!(empty.open().verify().unwrap().ok);
    let again = empty.open().import_copy(&copy, &mut |_, _, _| {}).unwrap();
    assert_eq!((again.added, again.known), (0, 21));
}

#[test]
fn a_damaged_ledger_does_not_replace_the_backup_of_a_whole_one() {
    let home = Home::new();
    fill(&mut home.open(), 20);
    let copy = home.path().join("copy.db");
    home.open().back_up(&copy, &mut |_, _, _| {}).unwrap();
    let good = fs::read(&copy).unwrap();
    home.tamper("UPDATE record SET body = replace(body, 'learning 3', 'learning X') WHERE seq = 5");
    let error = home.open().back_up(&copy, &mut |_, _, _| {}).unwrap_err();
    assert!(error.to_string().contains("changed record 5"), "{error}");
    assert_eq!(fs::read(&copy).unwrap(), good);
    assert!(!home.files().iter().any(|name| name.starts_with(".ledger-unfinished")));
}

#[test]
fn a_day_apart_three_are_kept() {
    let home = Home::new();
    let mut ledger = home.open();
    fill(&mut ledger, 1);
    let day = |day: i64| -> Timestamp {
        at(1).checked_add(SignedDuration::from_hours(24 * day + 1)).unwrap()
    };
    assert_eq!(ledger.back_up_if_due(at(5)).unwrap(), None, "there is nothing old in it");
    for n in 1..=5 {
        assert!(ledger.back_up_if_due(day(n)).unwrap().is_some(), "day {n}");
        assert_eq!(ledger.back_up_if_due(day(n)).unwrap(), None);
    }
    let backups = Ledger::backups_in(home.path());
    assert_eq!(backups.len(), 3);
    assert!(backups[0].ends_with("ledger-20260117T163001Z.db"), "{backups:?}");
    // A clock that was wrong once does not end it.
    assert!(ledger.back_up_if_due(day(900)).unwrap().is_some());
    assert!(ledger.back_up_if_due(day(6)).unwrap().is_some());
}

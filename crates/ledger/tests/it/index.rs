//! The full-text index: literal queries, always up to date, never in the way.

use std::os::unix::fs::MetadataExt;

use heirloom_ledger::{Ledger, Options, Scope, Search};
use tempfile::TempDir;

use crate::fixture::{REPO, at, created, note, session_id};

fn ledger(home: &TempDir) -> Ledger {
    let mut ledger = Ledger::open(home.path(), Options::COMMAND).unwrap();
    let scope = Scope::session(session_id(1), REPO);
    ledger.append(at(0), scope, &created("auth-v1")).unwrap();
    for (n, text) in [
        (1, "Rotate refresh tokens because of replay attacks"),
        (2, "The clock skew is thirty seconds"),
        (3, "Tokens are rotated; tokens expire; tokens"),
        (4, "say NOT \"this\" AND (that)* -rf"),
    ] {
        ledger.append(at(1), scope, &note(n, text)).unwrap();
    }
    ledger
}

fn found(ledger: &Ledger, text: &str) -> Vec<String> {
    let names = [REPO.to_owned()];
    let search = Search { text, repo: Some(&names), limit: 10, ..Search::default() };
    let hits = ledger.search(&search).unwrap();
    hits.into_iter().map(|hit| hit.id).collect()
}

fn id(n: u128) -> String {
    uuid::Uuid::from_u128(n).to_string()
}

#[test]
fn the_best_fit_comes_first_and_words_are_stemmed() {
    let home = TempDir::new().unwrap();
    let ledger = ledger(&home);
    assert_eq!(found(&ledger, "token"), [id(3), id(1)]);
    assert_eq!(found(&ledger, "rotation of replays")[0], id(1));
    assert_eq!(found(&ledger, "auth-v1"), [session_id(1).to_string()]);
    assert!(found(&ledger, "kangaroo").is_empty());
}

#[test]
fn a_query_is_text_and_nothing_in_it_is_an_operator() {
    let home = TempDir::new().unwrap();
    let ledger = ledger(&home);
    for query in ["-rf", "\"this", "that)*", "NOT NEAR(", "col:that", "'; DROP TABLE entry; --that"]
    {
        assert!(found(&ledger, query).len() <= 4, "{query}");
    }
    assert_eq!(found(&ledger, "-rf"), [id(4)]);
    assert!(found(&ledger, "  *** ").is_empty());
}

#[test]
fn what_was_recorded_since_is_found_and_a_damaged_index_is_made_anew() {
    let home = TempDir::new().unwrap();
    let mut ledger = ledger(&home);
    assert!(found(&ledger, "kangaroo").is_empty());
    let scope = Scope::session(session_id(1), REPO);
    ledger.append(at(2), scope, &note(9, "a kangaroo appeared")).unwrap();
    assert_eq!(found(&ledger, "kangaroo"), [id(9)]);
    std::fs::write(home.path().join("index.db"), "this is no database at all").unwrap();
    assert_eq!(found(&ledger, "kangaroo"), [id(9)]);
    assert_eq!(found(&ledger, "token").len(), 2);
}

#[test]
fn an_index_that_another_process_writes_is_left_as_it_is() {
    let home = TempDir::new().unwrap();
    drop(ledger(&home));
    let wait = std::time::Duration::from_millis(20);
    let mut ledger = Ledger::open(home.path(), Options { wait, ..Options::COMMAND }).unwrap();
    assert_eq!(found(&ledger, "clock").len(), 1);
    let scope = Scope::session(session_id(1), REPO);
    ledger.append(at(2), scope, &note(9, "a kangaroo appeared")).unwrap();
    let file = || std::fs::metadata(home.path().join("index.db")).unwrap().ino();
    let before = file();
    let other = rusqlite::Connection::open(home.path().join("index.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let names = [REPO.to_owned()];
    let search = Search { text: "kangaroo", repo: Some(&names), limit: 10, ..Search::default() };
    let refused = ledger.search(&search).unwrap_err();
    assert!(matches!(refused, heirloom_ledger::Error::Busy { .. }), "{refused}");
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(found(&ledger, "kangaroo"), [id(9)]);
    assert_eq!(file(), before, "the index was made anew");
}

#[test]
fn an_index_that_lacks_a_table_is_made_anew() {
    let home = TempDir::new().unwrap();
    let ledger = ledger(&home);
    assert_eq!(found(&ledger, "clock").len(), 1);
    let other = rusqlite::Connection::open(home.path().join("index.db")).unwrap();
    other.execute_batch("DROP TABLE progress").unwrap();
    drop(other);
    assert_eq!(found(&ledger, "clock").len(), 1);
}

//! Records that are not all there: erased ones, and streams with gaps.

use std::time::Duration;

use heirloom_core::event::RecordErased;
use heirloom_core::id::HostId;
use heirloom_ledger::{
    Gap, Imported, Ledger, NoteFilter, Options, Scope, Search, is_note_forgotten,
};

use crate::fixture::{Home, REPO, at, fill, note, session_id};

fn export(ledger: &Ledger) -> String {
    let mut out = Vec::new();
    ledger.export(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn host(ledger: &Ledger) -> HostId {
    let line: serde_json::Value =
        serde_json::from_str(export(ledger).lines().next().unwrap()).unwrap();
    HostId::parse(line["host"].as_str().unwrap()).unwrap()
}

fn texts(ledger: &Ledger) -> Vec<String> {
    let notes = ledger.notes(&NoteFilter::default()).unwrap();
    let mut texts: Vec<String> = notes.into_iter().map(|note| note.text).collect();
    texts.sort();
    texts
}

fn erase(ledger: &mut Ledger, seqs: &[u64]) {
    let erased = RecordErased { host: host(ledger), seqs: seqs.to_vec(), reason: None };
    ledger.erase(at(9), &erased).unwrap();
}

#[test]
fn what_is_erased_is_in_no_file_and_no_view_and_the_chain_still_holds() {
    let home = Home::new();
    let mut ledger = home.open();
    fill(&mut ledger, 3);
    erase(&mut ledger, &[3]);
    ledger.scrub().unwrap();
    assert_eq!(texts(&ledger), ["learning 0", "learning 2"]);
    let report = ledger.verify().unwrap();
    assert!(report.ok, "{:?}", report.problems);
    assert_eq!(ledger.trajectory(session_id(1)).unwrap().len(), 3);
    assert!(!export(&ledger).contains("learning 1"));
    drop(ledger);
    for name in home.files() {
        let bytes = std::fs::read(home.path().join(&name)).unwrap();
        assert!(!bytes.windows(10).any(|window| window == b"learning 1"), "{name}");
    }
    assert_eq!(texts(&home.open()), ["learning 0", "learning 2"]);
    // What is still there is kept from being changed as before.
    let changed = home.database().execute("UPDATE record SET body = '{}' WHERE seq = 2", ());
    assert!(changed.is_err());
}

#[test]
fn content_that_is_gone_without_a_record_of_it_is_named() {
    let home = Home::new();
    fill(&mut home.open(), 3);
    home.tamper("UPDATE record SET id = NULL, body = NULL WHERE seq = 3");
    let problems = home.open().verify().unwrap().problems;
    let unexplained = problems.iter().find(|problem| problem.seq == 3).unwrap();
    assert_eq!(unexplained.detail, "its content is gone, and no record says that it was erased");
}

#[test]
fn an_erased_record_travels_as_its_hash_and_erases_what_is_there() {
    let (here, there) = (Home::new(), Home::new());
    let mut ledger = here.open();
    fill(&mut ledger, 3);
    let before = export(&ledger);
    there.open().import(before.as_bytes()).unwrap();
    erase(&mut ledger, &[3]);
    let after = export(&ledger);
    assert!(after.lines().nth(2).unwrap().starts_with("{\"v\":2,"));
    // Into a ledger that has the record, and into one that has nothing.
    for (home, added) in [(&there, 1), (&Home::new(), 5)] {
        let mut ledger = home.open();
        let known = 5 - added;
        assert_eq!(
            ledger.import(after.as_bytes()).unwrap(),
            Imported { added, known, branched: 0, erased: u64::from(added == 1) }
        );
        assert_eq!(texts(&ledger), ["learning 0", "learning 2"]);
        assert!(ledger.verify().unwrap().ok);
        assert_eq!(export(&ledger), after);
    }
}

#[test]
fn nobody_erases_what_another_host_wrote_by_saying_so() {
    let (here, there) = (Home::new(), Home::new());
    let mut ledger = here.open();
    fill(&mut ledger, 2);
    let mut other = there.open();
    other.import(export(&ledger).as_bytes()).unwrap();
    erase(&mut other, &[2]);
    assert_eq!(texts(&other), ["learning 1"]);
    ledger.import(export(&other).as_bytes()).unwrap();
    assert_eq!(texts(&ledger), ["learning 0", "learning 1"]);
}

/// The export without a record, the one behind it carrying its hash.
fn with_gap(export: &str, gone: usize) -> String {
    let mut lines: Vec<String> = export.lines().map(str::to_owned).collect();
    let removed: serde_json::Value = serde_json::from_str(&lines.remove(gone)).unwrap();
    let behind = &mut lines[gone];
    *behind = behind.replacen("\"v\":1", "\"v\":2", 1);
    let carried = format!(",\"prev\":{}}}", removed["hash"]);
    behind.truncate(behind.len() - 1);
    *behind += &carried;
    lines.join("\n")
}

#[test]
fn a_stream_with_a_gap_is_checked_from_one_end_to_the_other() {
    let (here, there) = (Home::new(), Home::new());
    fill(&mut here.open(), 4);
    let export = export(&here.open());
    let host = host(&here.open()).to_string();
    let mut ledger = there.open();
    assert_eq!(ledger.import(with_gap(&export, 2).as_bytes()).unwrap().added, 4);
    let report = ledger.verify().unwrap();
    assert!(report.ok, "{:?}", report.problems);
    assert_eq!(report.gaps, [Gap { host, from: 3, to: 3 }]);
    assert_eq!(texts(&ledger), ["learning 0", "learning 2", "learning 3"]);
    there.tamper("UPDATE record SET prev = zeroblob(32) WHERE seq = 4");
    assert!(!there.open().verify().unwrap().ok);
}

#[test]
fn a_false_word_about_the_record_before_is_refused() {
    let (here, there) = (Home::new(), Home::new());
    fill(&mut here.open(), 4);
    let export = export(&here.open());
    let zeros = "0".repeat(64);
    let mut lines: Vec<String> = with_gap(&export, 2).lines().map(str::to_owned).collect();
    let at = lines[2].find("\"prev\":\"").unwrap() + 8;
    lines[2].replace_range(at..at + 64, &zeros);
    let error = there.open().import(lines.join("\n").as_bytes()).unwrap_err();
    assert!(error.to_string().contains("was changed after it was written"), "{error}");
}

#[test]
fn a_ledger_of_the_format_before_keeps_its_records_and_hashes() {
    let home = Home::new();
    fill(&mut home.open(), 3);
    let before = export(&home.open());
    home.tamper(
        "CREATE TABLE old (arrival INTEGER PRIMARY KEY, host TEXT NOT NULL, seq INTEGER NOT NULL,
           id TEXT NOT NULL UNIQUE, at INTEGER NOT NULL, kind TEXT NOT NULL, session TEXT, repo TEXT,
           body TEXT NOT NULL, hash BLOB NOT NULL, UNIQUE (host, seq)) STRICT;
         INSERT INTO old SELECT arrival, host, seq, id, at, kind, session, repo, body, hash FROM record;
         DROP TABLE record;
         ALTER TABLE old RENAME TO record;
         PRAGMA user_version = 9",
    );
    let ledger = home.open();
    assert_eq!(export(&ledger), before);
    let report = ledger.verify().unwrap();
    assert!(report.ok, "{:?}", report.problems);
    assert!(home.database().execute("DELETE FROM record", ()).is_err());
}

/// The files of a home, those in its directories too, that have these bytes.
fn files_with(home: &Home, bytes: &str) -> Vec<String> {
    let mut directories = vec![home.path().to_owned()];
    let mut found = Vec::new();
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let content = std::fs::read(&path).unwrap();
            if content.windows(bytes.len()).any(|window| window == bytes.as_bytes()) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

const CANARY: &str = "quokkazebu";

/// A home that has what another one wrote, in all its files, and the other one, which erased it.
fn with_what_was_erased() -> (Home, Home) {
    let (here, there) = (Home::new(), Home::new());
    let mut theirs = there.open();
    fill(&mut theirs, 3);
    let scope = Scope::session(session_id(1), REPO);
    theirs.append(at(5), scope, &note(77, CANARY)).unwrap();
    let last = theirs.heads().unwrap()[0].seq;
    let mut ledger = here.open();
    ledger.import(export(&theirs).as_bytes()).unwrap();
    assert_eq!(ledger.search(&found()).unwrap().hits.len(), 1);
    assert!(texts(&ledger).contains(&CANARY.to_owned()));
    let day = jiff::SignedDuration::from_hours(48);
    assert!(ledger.back_up_if_due(at(5).checked_add(day).unwrap()).unwrap().is_some());
    drop(ledger);
    assert_eq!(files_with(&here, CANARY).len(), 4, "{:?}", files_with(&here, CANARY));
    erase(&mut theirs, &[last]);
    (here, there)
}

fn found() -> Search<'static> {
    Search { text: CANARY, limit: 5, ..Search::default() }
}

#[test]
fn what_another_host_erased_is_in_no_file_here_once_its_word_came_in() {
    let (here, there) = with_what_was_erased();
    let mut ledger = here.open();
    assert_eq!(ledger.import(export(&there.open()).as_bytes()).unwrap().erased, 1);
    assert_eq!(ledger.search(&found()).unwrap().hits.len(), 0);
    assert_eq!(files_with(&here, CANARY), Vec::<String>::new());
    // A page that still shows it does not bring it back.
    assert!(is_note_forgotten(here.path(), note(77, CANARY).id));
    assert!(ledger.verify().unwrap().ok);
}

#[test]
fn a_word_of_erasure_that_fills_a_gap_leaves_no_byte_either() {
    let (here, there) = with_what_was_erased();
    let mut theirs = there.open();
    theirs.append(at(10), Scope::session(session_id(1), REPO), &note(78, "later")).unwrap();
    let all = export(&theirs);
    let mut ledger = here.open();
    ledger.import(with_gap(&all, all.lines().count() - 2).as_bytes()).unwrap();
    assert!(!files_with(&here, CANARY).is_empty(), "its word has not come yet");
    assert_eq!(ledger.import(all.as_bytes()).unwrap().erased, 1);
    assert_eq!(files_with(&here, CANARY), Vec::<String>::new());
    assert!(is_note_forgotten(here.path(), note(77, CANARY).id));
    assert!(ledger.verify().unwrap().ok);
}

#[test]
fn an_erasure_that_was_erased_keeps_no_gap_from_being_filled() {
    let (here, there) = (Home::new(), Home::new());
    let mut theirs = there.open();
    fill(&mut theirs, 4);
    let before = export(&theirs);
    erase(&mut theirs, &[2]);
    let erasing = theirs.heads().unwrap()[0].seq;
    erase(&mut theirs, &[erasing]);
    let mut ledger = here.open();
    ledger.import(with_gap(&export(&theirs), 2).as_bytes()).unwrap();
    assert_eq!(ledger.import(before.as_bytes()).unwrap().added, 1);
}

#[test]
fn what_could_not_be_scrubbed_at_once_is_scrubbed_later() {
    let (here, there) = with_what_was_erased();
    let reader = here.database();
    let reading = reader.unchecked_transaction().unwrap();
    let count = |db: &rusqlite::Connection| {
        db.query_row("SELECT count(*) FROM record", (), |row| row.get::<_, i64>(0)).unwrap()
    };
    assert!(count(&reading) > 0);
    let impatient = Options { wait: Duration::from_millis(20), ..Options::COMMAND };
    let mut ledger = Ledger::open(here.path(), impatient).unwrap();
    ledger.import(export(&there.open()).as_bytes()).unwrap();
    assert!(!files_with(&here, CANARY).is_empty(), "somebody reads it");
    // A backup that is made meanwhile is the only one there is, and stays until there can be others.
    let later = at(5).checked_add(jiff::SignedDuration::from_hours(96)).unwrap();
    let backup = ledger.back_up_if_due(later).unwrap().unwrap();
    let made = std::time::SystemTime::now() + Duration::from_mins(1);
    let opened = std::fs::File::options().append(true).open(&backup).unwrap();
    opened.set_modified(made).unwrap();
    let _ = ledger.scrub_if_due();
    assert!(backup.exists(), "nobody is without a backup while somebody reads");
    drop(reading);
    ledger.scrub_if_due().unwrap();
    assert!(!backup.exists());
    assert_eq!(files_with(&here, CANARY), Vec::<String>::new());
}

#[test]
fn a_record_that_was_erased_does_not_fill_the_gap_it_left() {
    let (here, there) = (Home::new(), Home::new());
    let mut theirs = there.open();
    fill(&mut theirs, 3);
    let before = export(&theirs);
    erase(&mut theirs, &[3]);
    let mut ledger = here.open();
    ledger.import(with_gap(&export(&theirs), 2).as_bytes()).unwrap();
    ledger.import(before.as_bytes()).unwrap();
    assert_eq!(texts(&ledger), ["learning 0", "learning 2"]);
    assert!(ledger.verify().unwrap().ok);
}

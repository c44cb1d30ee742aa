//! What is saved of a damaged ledger: every record that the damage left, and the truth about the rest.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use heirloom_core::id::NoteId;
use heirloom_ledger::{Gap, Ledger, NoteFilter, Progress, Salvaged, Scope};
use uuid::Uuid;

use crate::fixture::{Home, REPO, at, fill, note, session_id};

const PAGE: usize = 4096;

/// A ledger of one session and `notes` notes, some of which are longer than a page.
fn ledger_of(notes: u128) -> Home {
    let home = Home::new();
    let mut ledger = home.open();
    fill(&mut ledger, 0);
    let scope = Scope::session(session_id(1), REPO);
    for n in 0..notes {
        let long = if n % 10 == 3 { 9_000 } else { 40 };
        let text = format!("note {n} {}", "lorem ipsum ".repeat(long / 12));
        ledger.append(at(1), scope, &note(100 + n, &text)).unwrap();
    }
    drop(ledger);
    home.checkpoint();
    home
}

/// The export of a ledger, line by line.
fn lines(ledger: &Ledger) -> Vec<String> {
    let mut out = Vec::new();
    ledger.export(&mut out).unwrap();
    String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
}

/// Salvages a ledger whose file has these bytes into a new home.
fn salvage(bytes: &[u8], log: Option<&[u8]>) -> (Home, Ledger, Salvaged) {
    let home = Home::new();
    let damaged = home.path().join("damaged.db");
    fs::write(&damaged, bytes).unwrap();
    if let Some(log) = log {
        fs::write(home.path().join("damaged.db-wal"), log).unwrap();
    }
    let mut ledger = home.open();
    let salvaged = ledger.salvage(at(9), &[&damaged], &[], &mut |_, _, _| {}).unwrap();
    assert_eq!(fs::read(&damaged).unwrap(), bytes, "the damaged file was touched");
    (home, ledger, salvaged)
}

fn seq(line: &str) -> u64 {
    serde_json::from_str::<serde_json::Value>(line).unwrap()["seq"].as_u64().unwrap()
}

fn hash(line: &str) -> String {
    serde_json::from_str::<serde_json::Value>(line).unwrap()["hash"].to_string()
}

fn is_healthy_with_gaps(ledger: &Ledger, salvaged: &Salvaged) {
    let report = ledger.verify().unwrap();
    assert!(report.ok, "{:?}", report.problems);
    assert_eq!(report.gaps, salvaged.missing);
}

#[test]
fn each_page_zeroed_in_turn_takes_nothing_with_it_but_itself() {
    let source = ledger_of(40);
    let whole = fs::read(source.file()).unwrap();
    let before = lines(&source.open());
    let pages = whole.len() / PAGE;
    assert!(pages > 20, "{pages}");
    let (mut lost_at_all, mut most_lost) = (0, 0);
    for page in 0..pages {
        let mut bytes = whole.clone();
        bytes[page * PAGE..(page + 1) * PAGE].fill(0);
        let (_home, ledger, salvaged) = salvage(&bytes, None);
        is_healthy_with_gaps(&ledger, &salvaged);
        let after = lines(&ledger);
        let missing: Vec<&String> = before.iter().filter(|line| !after.contains(line)).collect();
        let counted: u64 = salvaged.missing.iter().map(|gap| gap.to - gap.from + 1).sum();
        assert_eq!(missing.len() as u64, counted, "page {page}: {:?}", salvaged.missing);
        for line in &missing {
            let seq = seq(line);
            assert!(salvaged.missing.iter().any(|gap| (gap.from..=gap.to).contains(&seq)));
        }
        lost_at_all += usize::from(!missing.is_empty());
        most_lost = most_lost.max(missing.len());
    }
    // Pages of indexes, of the schema and of the chains' ends hold no record.
    assert!(lost_at_all < pages, "{lost_at_all} of {pages}");
    // As many of these records as a page of the table can have.
    assert!(most_lost <= 14, "{most_lost}");
}

#[test]
fn a_ledger_whose_header_is_gone_loses_nothing_and_goes_on_as_the_same_host() {
    let source = ledger_of(40);
    let before = lines(&source.open());
    let host = source.open().host().unwrap();
    let mut bytes = fs::read(source.file()).unwrap();
    bytes[..100].fill(0);
    let (_home, mut ledger, salvaged) = salvage(&bytes, None);
    assert_eq!((salvaged.added, salvaged.missing.len()), (41, 0));
    assert_eq!(lines(&ledger), before);
    assert_eq!(ledger.host().unwrap(), host);
    fill(&mut ledger, 1);
    is_healthy_with_gaps(&ledger, &salvaged);
}

#[test]
fn what_is_only_in_the_log_is_saved_too_and_an_old_end_of_a_chain_is_not_believed() {
    let source = Home::new();
    let mut ledger = source.open();
    fill(&mut ledger, 15);
    let before = lines(&ledger);
    let log = fs::read(source.path().join("ledger.db-wal")).unwrap();
    let bytes = fs::read(source.file()).unwrap();
    for bytes in [&bytes[..], b"", &[0; 100]] {
        let (_home, ledger, salvaged) = salvage(bytes, Some(&log));
        assert_eq!((salvaged.added, salvaged.missing.len()), (16, 0));
        assert_eq!(lines(&ledger), before);
        is_healthy_with_gaps(&ledger, &salvaged);
    }
    // A log that was cut off in the middle of a page says less, but nothing that is not so.
    let (_home, ledger, salvaged) = salvage(&bytes, Some(&log[..log.len() / 2]));
    assert!(salvaged.added > 5, "{salvaged:?}");
    let saved = usize::try_from(salvaged.added).unwrap();
    assert_eq!(lines(&ledger)[..saved], before[..saved]);
}

#[test]
fn one_changed_record_is_left_out_and_all_others_are_saved() {
    for change in [
        "body = replace(body, 'note 7', 'note 8')",
        "at = at + 1",
        "kind = 'note.addad'",
        "body = replace(body, 'note 7', 'note 8'), hash = randomblob(32)",
    ] {
        let source = ledger_of(60);
        let before = lines(&source.open());
        // Written anew, or the true record is found in what the file no longer uses.
        source.tamper(&format!("UPDATE record SET {change} WHERE seq = 9; VACUUM"));
        source.checkpoint();
        let (_home, ledger, salvaged) = salvage(&fs::read(source.file()).unwrap(), None);
        let host = source.open().host().unwrap().to_string();
        // Where the hash was changed as well, nothing vouches for the record after it.
        let to = if change.contains("hash") { 10 } else { 9 };
        assert_eq!(salvaged.missing, [Gap { host, from: 9, to }], "{change}");
        let kept = before.iter().filter(|line| !(9..=to).contains(&seq(line)));
        let after: Vec<String> = lines(&ledger).iter().map(|line| hash(line)).collect();
        assert!(kept.clone().all(|line| after.contains(&hash(line))), "{change}");
        is_healthy_with_gaps(&ledger, &salvaged);
    }
}

#[test]
fn a_record_of_which_only_the_hash_was_changed_is_saved_with_its_true_one() {
    let source = ledger_of(20);
    let before = lines(&source.open());
    source.tamper("UPDATE record SET hash = randomblob(32) WHERE seq = 9; VACUUM");
    source.checkpoint();
    let (_home, ledger, salvaged) = salvage(&fs::read(source.file()).unwrap(), None);
    assert_eq!(salvaged.missing, []);
    assert_eq!(lines(&ledger), before);
}

#[test]
fn a_chain_whose_end_is_lost_is_succeeded_by_a_new_host() {
    let source = ledger_of(20);
    let host = source.open().host().unwrap();
    source.tamper("PRAGMA secure_delete = ON; DELETE FROM record WHERE seq > 18");
    source.checkpoint();
    let (_home, ledger, salvaged) = salvage(&fs::read(source.file()).unwrap(), None);
    assert_ne!(ledger.host().unwrap(), host);
    assert_eq!(salvaged.missing, [Gap { host: host.to_string(), from: 19, to: 21 }]);
    let succeeded = lines(&ledger).into_iter().find(|line| line.contains("host.succeeded"));
    assert!(succeeded.unwrap().contains(&format!(r#"{{"host":"{host}","seq":18}}"#)));
    is_healthy_with_gaps(&ledger, &salvaged);
}

#[test]
fn what_was_saved_comes_before_what_was_written_since() {
    let source = ledger_of(5);
    let home = Home::new();
    let damaged: PathBuf = home.path().join("damaged.db");
    fs::copy(source.file(), &damaged).unwrap();
    let mut ledger = home.open();
    let scope = Scope::session(session_id(1), REPO);
    let mut replacing = note(900, "instead");
    replacing.supersedes = Some(NoteId::new(Uuid::from_u128(102)));
    ledger.append(at(20), scope, &replacing).unwrap();
    let since = lines(&ledger);
    let salvaged = ledger.salvage(at(30), &[&damaged], &[], &mut |_, _, _| {}).unwrap();
    assert_eq!(salvaged.added, 6);
    let all = lines(&ledger);
    assert_eq!(all[6], since[0]);
    // The note that was replaced since is replaced, though it was saved later.
    let notes = ledger.notes(&NoteFilter { repo: Some(REPO), ..NoteFilter::default() }).unwrap();
    assert_eq!(notes.len(), 5);
    is_healthy_with_gaps(&ledger, &salvaged);
    // Again: nothing twice.
    let again = ledger.salvage(at(31), &[&damaged], &[], &mut |_, _, _| {}).unwrap();
    assert_eq!((again.added, again.known), (0, 6));
    is_healthy_with_gaps(&ledger, &again);
}

#[test]
fn an_older_copy_of_the_ledger_has_what_the_damage_took() {
    let source = ledger_of(60);
    let mut bytes = fs::read(source.file()).unwrap();
    let copy = source.path().join("copy.db");
    fs::write(&copy, &bytes).unwrap();
    let before = lines(&source.open());
    for page in 3..bytes.len() / PAGE {
        if page % 2 == 0 {
            bytes[page * PAGE..(page + 1) * PAGE].fill(0);
        }
    }
    let home = Home::new();
    let damaged = home.path().join("damaged.db");
    fs::write(&damaged, &bytes).unwrap();
    let mut ledger = home.open();
    let salvaged =
        ledger.salvage(at(9), &[&damaged], &[Path::new(&copy)], &mut |_, _, _| {}).unwrap();
    assert_eq!(salvaged.missing, []);
    let after = lines(&ledger);
    assert!(before.iter().all(|line| after.contains(line)));
    is_healthy_with_gaps(&ledger, &salvaged);
}

#[test]
fn what_is_no_ledger_at_all_leaves_nothing_and_fails_at_nothing() {
    let noise: Vec<u8> =
        (0..50_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    for bytes in [&noise[..], b"", b"SQLite format 3\0", b"text\n"] {
        let (_home, ledger, salvaged) = salvage(bytes, Some(&noise));
        assert_eq!(salvaged, Salvaged::default());
        is_healthy_with_gaps(&ledger, &salvaged);
    }
}

#[test]
fn examining_finds_every_zeroed_page_of_the_tree_and_every_changed_record_and_touches_nothing() {
    let look = |home: &Home| Ledger::examine(home.path(), &mut |_, _, _| {}).unwrap();
    let empty = Home::new();
    assert_eq!(look(&empty), []);
    assert_eq!(empty.files(), [""; 0]);
    let source = ledger_of(30);
    assert_eq!(look(&source), []);
    let whole = fs::read(source.file()).unwrap();
    for page in 0..whole.len() / PAGE {
        let mut bytes = whole.clone();
        bytes[page * PAGE..(page + 1) * PAGE].fill(0);
        let home = Home::new();
        fs::write(home.file(), &bytes).unwrap();
        assert_ne!(look(&home), [], "page {page}");
        assert_eq!(fs::read(home.file()).unwrap(), bytes);
    }
    source.tamper("UPDATE record SET body = replace(body, 'note 7', 'note 8') WHERE seq = 9");
    let found = look(&source);
    assert_eq!((found[0].problem, found[0].seq), ("changed", 9));
}

#[test]
fn a_good_export_fills_what_damage_took_and_nothing_false_does() {
    let source = ledger_of(30);
    let before = lines(&source.open());
    let mut bytes = fs::read(source.file()).unwrap();
    let middle = bytes.len() / PAGE / 2;
    for page in middle..middle + 6 {
        bytes[page * PAGE..(page + 1) * PAGE].fill(0);
    }
    let (_home, mut ledger, salvaged) = salvage(&bytes, None);
    assert!(!salvaged.missing.is_empty());
    let after = lines(&ledger);
    let lost = before.iter().find(|line| !after.contains(line)).unwrap();
    let forged = lost.replace("lorem", "venom").replace("ada", "eve");
    let forged =
        if forged == *lost { lost.replace("\"at\":\"2026", "\"at\":\"2025") } else { forged };
    assert!(ledger.import(forged.as_bytes()).is_err());
    let imported = ledger.import(before.join("\n").as_bytes()).unwrap();
    let missing: u64 = salvaged.missing.iter().map(|gap| gap.to - gap.from + 1).sum();
    assert_eq!(imported.added, missing);
    // In their old places: before what the ledger wrote when it was healed.
    assert_eq!(lines(&ledger)[..before.len()], before);
    let report = ledger.verify().unwrap();
    assert!(report.ok, "{:?}", report.problems);
    assert_eq!(report.gaps, []);
}

#[test]
fn what_was_erased_does_not_come_back_out_of_an_older_copy() {
    let home = Home::new();
    let mut ledger = home.open();
    fill(&mut ledger, 5);
    let host = ledger.host().unwrap();
    drop(ledger);
    home.checkpoint();
    let copy = home.path().join("copy.db");
    fs::copy(home.file(), &copy).unwrap();
    let mut ledger = home.open();
    let erased = heirloom_core::event::RecordErased { host, seqs: vec![3], reason: None };
    ledger.erase(at(9), &erased).unwrap();
    drop(ledger);
    home.checkpoint();
    let aside = Home::new();
    let damaged = aside.path().join("damaged.db");
    fs::copy(home.file(), &damaged).unwrap();
    let mut ledger = aside.open();
    ledger.salvage(at(10), &[&damaged], &[&copy], &mut |_, _, _| {}).unwrap();
    assert!(!lines(&ledger).iter().any(|line| line.contains("learning 1")));
    assert!(ledger.verify().unwrap().ok);
}

/// How far each part of `work` said it was, in order.
fn told(work: impl FnOnce(&mut Progress<'_>)) -> BTreeMap<&'static str, Vec<(u64, u64)>> {
    let mut told: BTreeMap<&'static str, Vec<(u64, u64)>> = BTreeMap::new();
    work(&mut |what, done, all| told.entry(what).or_default().push((done, all)));
    told
}

#[test]
fn what_takes_long_says_how_far_it_is() {
    let home = Home::new();
    let mut ledger = home.open();
    fill(&mut ledger, 30);
    let copy = home.path().join("copy.db");
    ledger.back_up(&copy, &mut |_, _, _| {}).unwrap();
    let verifying = told(|progress| drop(ledger.verify_showing(progress).unwrap()));
    let rebuilding = told(|progress| assert!(ledger.rebuild_showing(progress).unwrap() > 0));
    let other = Home::new();
    let mut saved = other.open();
    let salvaging = told(|progress| drop(saved.salvage(at(9), &[&copy], &[], progress).unwrap()));
    let names =
        |told: &BTreeMap<&'static str, Vec<(u64, u64)>>| told.keys().copied().collect::<Vec<_>>();
    assert_eq!(names(&verifying), ["deriving again", "following the chains"]);
    assert_eq!(names(&rebuilding), ["deriving the views", "deriving what hooks read"]);
    assert!(names(&salvaging).contains(&"taking over records"), "{salvaging:?}");
    for (what, steps) in verifying.iter().chain(&rebuilding).chain(&salvaging) {
        assert!(steps.is_sorted(), "{what}: {steps:?}");
        assert!(steps.last().is_some_and(|(done, all)| done == all), "{what}: {steps:?}");
    }
}

//! What an author erases is gone too where its chain goes on as a host of its own.

use std::fs;
use std::path::Path;

use heirloom_core::event::RecordErased;
use heirloom_core::record::Hash;
use heirloom_ledger::{Ledger, NoteFilter, Scope};
use serde_json::Value;

use crate::attending::{rehash, rewrite};
use crate::fixture::{Home, REPO, at, fill, note, session_id};

const CANARY: &str = "canary in a coal mine";

fn export(ledger: &Ledger) -> String {
    let mut out = Vec::new();
    ledger.export(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn import(home: &Home, export: &str) {
    home.open().import(export.as_bytes()).unwrap();
    let report = home.open().verify().unwrap();
    assert!(report.ok, "{:?}", report.problems);
}

fn texts(home: &Home) -> Vec<String> {
    let notes = home.open().notes(&NoteFilter::default()).unwrap();
    let mut texts: Vec<String> = notes.into_iter().map(|note| note.text).collect();
    texts.sort();
    texts
}

fn add(home: &Home, n: u128, text: &str) {
    home.open().append(at(3), Scope::session(session_id(1), REPO), &note(n, text)).unwrap();
}

fn erase(home: &Home, seqs: &[u64]) {
    let mut ledger = home.open();
    let host = ledger.host().unwrap();
    ledger.erase(at(9), &RecordErased { host, seqs: seqs.to_vec(), reason: None }).unwrap();
}

/// The files that hold those words, byte for byte.
fn holding(dir: &Path, words: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(holding(&path, words));
        } else if fs::read(&path).unwrap().windows(words.len()).any(|part| part == words.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
    found
}

/// Two copies of a home that both went on as one host.
fn two_futures() -> [Home; 2] {
    let home = Home::new();
    fill(&mut home.open(), 1);
    home.checkpoint();
    let copy = Home::new();
    fs::copy(home.file(), copy.file()).unwrap();
    add(&home, 600, "one future");
    add(&copy, 610, "another future");
    add(&copy, 611, CANARY);
    [home, copy]
}

#[test]
fn what_another_future_erases_is_in_no_byte_of_the_home_and_does_not_come_back() {
    let [home, copy] = two_futures();
    let older = export(&copy.open());
    import(&home, &older);
    let third = Home::new();
    import(&third, &export(&home.open()));
    assert!(texts(&home).contains(&CANARY.to_owned()) && !holding(home.path(), CANARY).is_empty());
    erase(&copy, &[2, 4]);
    let newer = export(&copy.open());
    for home in [&home, &third] {
        import(home, &newer);
        assert_eq!(holding(home.path(), CANARY), [""; 0]);
        import(home, &older);
        import(home, &newer);
        assert_eq!(holding(home.path(), CANARY), [""; 0]);
    }
    // Of what this ledger wrote itself only this ledger says so; of what both futures have any of them does.
    assert_eq!(texts(&home), ["another future", "learning 0", "one future"]);
    assert_eq!(texts(&third), ["another future", "one future"]);
    assert_eq!(holding(third.path(), "learning 0"), [""; 0]);
}

#[test]
fn what_was_erased_before_another_future_came_stays_out_when_an_older_copy_has_it() {
    let [home, copy] = two_futures();
    let older = export(&copy.open());
    erase(&copy, &[3, 4]);
    add(&copy, 612, "later");
    import(&home, &export(&copy.open()));
    assert_eq!(texts(&home), ["later", "learning 0", "one future"]);
    import(&home, &older);
    assert_eq!(texts(&home), ["later", "learning 0", "one future"]);
    assert_eq!(holding(home.path(), CANARY), [""; 0]);
}

#[test]
fn an_erasure_reaches_what_was_branched_off_because_of_a_secret() {
    let (home, source) = (Home::new(), Home::new());
    fill(&mut source.open(), 2);
    add(&source, 611, CANARY);
    let parsed = |text: String| -> Vec<Value> {
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let written =
        |lines: &[Value]| lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let secret = concat!("ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let mut before = parsed(export(&source.open()));
    rewrite(&mut before, 2, "learning 1", secret);
    import(&home, &written(&before));
    assert_eq!(texts(&home).len(), 3);
    erase(&source, &[2, 3, 4]);
    // As it would be exported had the secret been in there.
    let mut after = parsed(export(&source.open()));
    let mut last = Hash::GENESIS;
    for (at, line) in after.iter_mut().enumerate() {
        if let Some(known) = before.get(at) {
            line["hash"] = known["hash"].clone();
        }
        last = rehash(line, last);
    }
    import(&home, &written(&after));
    assert_eq!(texts(&home), [""; 0]);
    for words in [CANARY, "learning 0", "redacted:"] {
        assert_eq!(holding(home.path(), words), [""; 0]);
    }
}

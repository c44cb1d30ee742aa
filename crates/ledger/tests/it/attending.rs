//! Noticing what happened to a ledger: copied, cut off, put back, rewritten.

use std::fs;

use heirloom_core::event::{PageCame, PageWritten};
use heirloom_core::id::HostId;
use heirloom_core::record::{Hash, Record};
use heirloom_core::repo::RepoId;
use heirloom_ledger::{Gap, Imported, Ledger, NoteFilter, Notice, Options, Scope};

use crate::fixture::{Home, REPO, at, fill, note, session_id};

fn attend(home: &Home) -> Vec<Notice> {
    Ledger::attend(home.path(), at(50), Options::COMMAND).unwrap()
}

fn export(ledger: &Ledger) -> String {
    let mut out = Vec::new();
    ledger.export(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn texts(ledger: &Ledger) -> Vec<String> {
    let notes = ledger.notes(&NoteFilter::default()).unwrap();
    let mut texts: Vec<String> = notes.into_iter().map(|note| note.text).collect();
    texts.sort();
    texts
}

fn add(home: &Home, n: u128, text: &str) {
    home.open().append(at(3), Scope::session(session_id(1), REPO), &note(n, text)).unwrap();
}

/// A copy of a home, as `cp -r` makes it.
fn copied(home: &Home) -> Home {
    home.checkpoint();
    let copy = Home::new();
    for name in home.files() {
        fs::copy(home.path().join(&name), copy.path().join(&name)).unwrap();
    }
    copy
}

fn is_whole(ledger: &Ledger) {
    let report = ledger.verify().unwrap();
    assert!(report.ok, "{:?}", report.problems);
}

#[test]
fn nothing_is_noticed_where_nothing_happened_and_nothing_is_made_where_nothing_is() {
    let home = Home::new();
    assert_eq!(attend(&home), []);
    assert_eq!(home.files(), [""; 0]);
    fill(&mut home.open(), 3);
    assert_eq!(attend(&home), []);
    add(&home, 900, "more");
    home.open().compact(false).unwrap();
    assert_eq!(attend(&home), []);
    is_whole(&home.open());
}

#[test]
fn that_a_page_came_with_the_code_outlasts_the_host_and_is_no_colleagues_to_say() {
    let (clone, began) = (Home::new(), Home::new());
    let scope = Scope::session(session_id(1), REPO);
    let path = "NOTES.md".to_owned();
    let hash = "0".to_owned();
    let written = PageWritten { path: path.clone(), hash, notes: Vec::new(), removed: Vec::new() };
    began.open().append(at(1), scope, &written).unwrap();
    clone.open().append(at(1), scope, &PageCame { path }).unwrap();
    clone.open().append(at(2), scope, &written).unwrap();
    let came = |home: &Home| home.open().newest_kept::<PageCame>(REPO, 9).unwrap().len();
    assert_eq!((came(&clone), came(&began)), (1, 0));
    clone.open().rehost(at(3)).unwrap();
    began.open().import(export(&clone.open()).as_bytes()).unwrap();
    clone.open().append(at(4), scope, &note(702, "more")).unwrap();
    for home in [&clone, &began] {
        home.open().rebuild().unwrap();
    }
    assert_eq!((came(&clone), came(&began)), (1, 0));
}

#[test]
fn a_copied_home_is_a_second_host_before_it_writes_and_both_merge() {
    let home = Home::new();
    fill(&mut home.open(), 2);
    attend(&home);
    let copy = copied(&home);
    let old = home.open().host().unwrap();
    let notices = attend(&copy);
    let new = copy.open().host().unwrap();
    assert_eq!(notices, [Notice::Copied { from: old.clone(), to: new.clone() }]);
    assert_ne!(old, new);
    assert_eq!(attend(&copy), []);
    assert_eq!(attend(&home), []);
    assert_eq!(home.open().host().unwrap(), old);
    add(&home, 700, "here");
    add(&copy, 701, "there");
    let (a, b) = (export(&home.open()), export(&copy.open()));
    home.open().import(b.as_bytes()).unwrap();
    copy.open().import(a.as_bytes()).unwrap();
    for ledger in [home.open(), copy.open()] {
        is_whole(&ledger);
        assert_eq!(texts(&ledger), ["here", "learning 0", "learning 1", "there"]);
    }
}

#[test]
fn two_copies_that_both_wrote_as_one_host_merge_both_ways_and_again() {
    let home = Home::new();
    fill(&mut home.open(), 1);
    home.checkpoint();
    let copy = Home::new();
    fs::copy(home.file(), copy.file()).unwrap();
    for n in 0..3 {
        add(&home, 600 + n, &format!("one future {n}"));
    }
    for n in 0..2 {
        add(&copy, 610 + n, &format!("another future {n}"));
    }
    let all = [
        "another future 0",
        "another future 1",
        "learning 0",
        "one future 0",
        "one future 1",
        "one future 2",
    ];
    let text = export(&copy.open());
    let imported = home.open().import(text.as_bytes()).unwrap();
    assert_eq!(imported, Imported { added: 2, known: 2, branched: 2, erased: 0 });
    assert_eq!(home.open().import(text.as_bytes()).unwrap().added, 0);
    // What came under another host is known there by its id.
    let back = export(&home.open());
    let imported = copy.open().import(back.as_bytes()).unwrap();
    assert_eq!((imported.added, imported.branched), (3, 3));
    // And the other future goes on.
    add(&copy, 620, "later");
    let imported = home.open().import(export(&copy.open()).as_bytes()).unwrap();
    assert_eq!((imported.added, imported.branched), (1, 1));
    for ledger in [home.open(), copy.open()] {
        is_whole(&ledger);
        let texts: Vec<String> =
            texts(&ledger).into_iter().filter(|text| text != "later").collect();
        assert_eq!(texts, all);
    }
}

#[test]
fn what_says_that_it_continues_this_very_ledger_is_another_host() {
    let home = Home::new();
    fill(&mut home.open(), 1);
    home.checkpoint();
    let forger = Home::new();
    fs::copy(home.file(), forger.file()).unwrap();
    add(&forger, 666, "forged");
    let (own, before) = (home.open().host().unwrap(), export(&home.open()));
    let imported = home.open().import(export(&forger.open()).as_bytes()).unwrap();
    assert_eq!(imported, Imported { added: 1, known: 2, branched: 1, erased: 0 });
    let after = export(&home.open());
    assert!(after.starts_with(&before));
    let line: serde_json::Value = serde_json::from_str(after.lines().last().unwrap()).unwrap();
    assert_ne!(line["host"], own.as_str());
    add(&home, 700, "genuine");
    is_whole(&home.open());
}

#[test]
fn a_lost_log_is_noticed_because_the_views_knew_better() {
    let home = Home::new();
    fill(&mut home.open(), 2);
    home.checkpoint();
    let before = home.open().host().unwrap();
    let options = Options { no_checkpoint_on_close: true, ..Options::HOOK };
    let mut ledger = Ledger::open(home.path(), options).unwrap();
    let scope = Scope::session(session_id(1), REPO);
    for n in 0..3 {
        ledger.append(at(4), scope, &note(800 + n, "in the log")).unwrap();
    }
    assert_eq!(texts(&ledger).len(), 5);
    let text = export(&ledger);
    drop(ledger);
    for log in ["ledger.db-wal", "ledger.db-shm"] {
        fs::remove_file(home.path().join(log)).unwrap();
    }
    let gap = Gap { host: before.to_string(), from: 4, to: 6 };
    assert_eq!(attend(&home), [Notice::CutOff(gap.clone())]);
    assert_eq!(attend(&home), [], "it is said once, and recorded");
    let mut ledger = home.open();
    assert_ne!(ledger.host().unwrap(), before);
    let report = ledger.verify().unwrap();
    assert!(report.ok, "{:?}", report.problems);
    assert_eq!(report.gaps, [gap]);
    // An export has them, and they are what the chain had.
    assert_eq!(ledger.import(text.as_bytes()).unwrap().added, 3);
    assert_eq!(ledger.verify().unwrap().gaps, []);
    assert_eq!(texts(&ledger).len(), 5);
}

#[test]
fn an_older_copy_that_is_put_back_and_a_chain_that_was_rewritten_are_noticed() {
    let home = Home::new();
    fill(&mut home.open(), 2);
    home.checkpoint();
    let older = fs::read(home.file()).unwrap();
    add(&home, 700, "later");
    attend(&home);
    home.checkpoint();
    // The views could be gone as well: what was written down beside them is enough.
    let _ = fs::remove_file(home.views());
    fs::write(home.file(), &older).unwrap();
    let found = Ledger::examine(home.path(), &mut |_, _, _| {}).unwrap();
    assert_eq!((found[0].problem, found[0].seq), ("missing", 4));
    assert!(matches!(&attend(&home)[..], [Notice::CutOff(Gap { from: 4, to: 4, .. })]));
    // A chain that fits in itself, but is not the one that was here.
    let other = Home::new();
    fill(&mut other.open(), 5);
    attend(&other);
    other.checkpoint();
    let forger = Home::new();
    fs::copy(other.file(), forger.file()).unwrap();
    forger.tamper("DELETE FROM record WHERE seq = 6; UPDATE head SET seq = 5, hash = (SELECT hash FROM record WHERE seq = 5)");
    add(&forger, 999, "instead");
    forger.checkpoint();
    fs::write(other.file(), fs::read(forger.file()).unwrap()).unwrap();
    let _ = fs::remove_file(other.views());
    let report = other.open().verify().unwrap();
    assert!(!report.ok);
    assert_eq!((report.problems[0].problem, report.problems[0].seq), ("changed", 6));
}

#[test]
fn a_secret_in_an_export_does_not_get_in() {
    let (home, source) = (Home::new(), Home::new());
    fill(&mut source.open(), 2);
    let secret = concat!("ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    // As an older version, which knew fewer secrets, would have written it.
    let mut lines: Vec<serde_json::Value> =
        export(&source.open()).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    rewrite(&mut lines, 1, "learning 0", secret);
    let text: Vec<String> = lines.iter().map(ToString::to_string).collect();
    let imported = home.open().import(text.join("\n").as_bytes()).unwrap();
    assert_eq!((imported.added, imported.branched), (3, 2));
    let ledger = home.open();
    is_whole(&ledger);
    assert!(!export(&ledger).contains(secret));
    assert_eq!(texts(&ledger).len(), 2);
}

/// Changes the body of a record and makes its hash, and those behind it, true again.
pub(crate) fn rewrite(lines: &mut [serde_json::Value], at: usize, from: &str, to: &str) {
    let body = lines[at]["body"].to_string().replace(from, to);
    lines[at]["body"] = serde_json::from_str(&body).unwrap();
    let mut before = Hash::GENESIS;
    for line in lines {
        before = rehash(line, before);
    }
}

/// Makes the hash of a record true that follows one with that hash. Of an erased one nothing says what it was.
pub(crate) fn rehash(line: &mut serde_json::Value, before: Hash) -> Hash {
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    if line["body"].is_null() {
        return Hash::parse(&text(&line["hash"])).unwrap();
    }
    let record = Record {
        host: HostId::parse(&text(&line["host"])).unwrap(),
        seq: line["seq"].as_u64().unwrap(),
        id: text(&line["id"]).parse().unwrap(),
        at: text(&line["at"]).parse().unwrap(),
        kind: text(&line["kind"]),
        session: line["session"].as_str().map(|id| id.parse().unwrap()),
        repo: line["repo"].as_str().map(RepoId::new),
        body: line["body"].to_string(),
        hash: Hash::GENESIS,
        prev: None,
    };
    let hash = record.expected_hash(&before);
    line["hash"] = hash.to_string().into();
    hash
}

#[test]
fn a_line_without_an_end_is_refused() {
    let home = Home::new();
    let endless = std::io::Read::take(std::io::repeat(b'x'), 40 * 1024 * 1024);
    let error = home.open().import(std::io::BufReader::new(endless)).unwrap_err();
    assert!(error.to_string().starts_with("line 1 is not a record: it has more than"), "{error}");
}

//! The views are never what is relied on: whatever happens to their file, what they say follows from
//! the records.

use std::fs;
use std::process::{Child, Command, Stdio};

use heirloom_core::status::Status;
use heirloom_ledger::{Error, Ledger, NoteFilter, Options, Scope};

use crate::fixture::{Home, PROBE, REPO, at, created, fill, note, session_id};

/// Appends a note as a hook does, which leaves the views alone.
fn jot(home: &Home, n: u128) {
    let mut ledger = Ledger::open(home.path(), Options::TOOL_USE).unwrap();
    let scope = Scope::session(session_id(1), REPO);
    ledger.append(at(2), scope, &note(n, &format!("jotted {n}"))).unwrap();
}

/// How many notes the views show, once all is found to be well.
fn notes(home: &Home) -> usize {
    let ledger = home.open();
    let notes = ledger.notes(&NoteFilter::default()).unwrap().len();
    let report = ledger.verify().unwrap();
    assert!(report.ok, "{:?}", report.problems);
    notes
}

/// How many notes the views show.
fn shown(home: &Home) -> usize {
    home.open().notes(&NoteFilter::default()).unwrap().len()
}

/// Copies every file of the database called `name` from one home to the other.
fn copy(name: &str, from: &Home, to: &Home) {
    for suffix in ["", "-wal", "-shm"] {
        let file = format!("{name}{suffix}");
        let _ = fs::remove_file(to.path().join(&file));
        let _ = fs::copy(from.path().join(&file), to.path().join(&file));
    }
}

#[test]
fn a_hook_that_only_appends_does_not_touch_them() {
    let home = Home::new();
    jot(&home, 1);
    assert!(!home.views().exists());
    assert_eq!(notes(&home), 1);
}

#[test]
fn the_log_that_such_hooks_leave_stays_short() {
    let home = Home::new();
    let log = || home.path().join("ledger.db-wal").metadata().map_or(0, |log| log.len());
    let longest = (0..100).map(|n| (jot(&home, n), log()).1).max().unwrap();
    assert!((1..128 * 1024).contains(&longest), "{longest}");
    assert_eq!(notes(&home), 100);
}

#[test]
fn what_was_only_appended_is_there_for_whoever_reads() {
    let home = Home::new();
    let mut ledger = home.open();
    fill(&mut ledger, 3);
    jot(&home, 1);
    // One that has had the ledger open all along, too.
    assert_eq!(ledger.notes(&NoteFilter::default()).unwrap().len(), 4);
    jot(&home, 2);
    assert_eq!(notes(&home), 5);
}

#[test]
fn a_process_that_dies_between_the_two_commits_leaves_nothing_to_repair() {
    let (home, before) = (Home::new(), Home::new());
    fill(&mut home.open(), 3);
    copy("views.db", &home, &before);
    let mut ledger = home.open();
    let scope = Scope::session(session_id(1), REPO);
    ledger.write(at(5), |writer| writer.append(scope, &note(1, "the last words"))).unwrap();
    drop(ledger);
    // The ledger is committed first: this is what the dead process leaves.
    copy("views.db", &before, &home);
    assert_eq!(notes(&home), 4);
}

#[test]
fn views_that_are_missing_are_made_anew_without_the_log_of_the_old_ones() {
    let home = Home::new();
    let options = Options { no_checkpoint_on_close: true, ..Options::COMMAND };
    fill(&mut Ledger::open(home.path(), options).unwrap(), 30);
    let log = home.path().join("views.db-wal");
    assert!(log.metadata().unwrap().len() > 0);
    fs::remove_file(home.views()).unwrap();
    assert_eq!(notes(&home), 30);
}

#[test]
fn views_that_are_damaged_are_made_anew() {
    let whole = Home::new();
    fill(&mut whole.open(), 200);
    let bytes = fs::read(whole.views()).unwrap();
    let mut holes = bytes.clone();
    holes[4096..8192].fill(0xa5);
    let of_others = {
        let other = Home::new();
        let db = rusqlite::Connection::open(other.views()).unwrap();
        db.execute_batch("CREATE TABLE note (x); INSERT INTO note VALUES (1)").unwrap();
        drop(db);
        fs::read(other.views()).unwrap()
    };
    let damaged = [b"", &b"no database"[..], &bytes[..4096], &bytes[..bytes.len() / 2]];
    let damaged = damaged.into_iter().chain([&bytes[..bytes.len() - 1], &holes, &of_others]);
    for (case, damaged) in damaged.enumerate() {
        let home = Home::new();
        copy("ledger.db", &whole, &home);
        fs::write(home.views(), damaged).unwrap();
        let ledger = home.open();
        let notes = ledger.notes(&NoteFilter::default()).unwrap().len();
        assert_eq!(notes, 200, "case {case}");
        assert!(ledger.verify().unwrap().ok, "case {case}");
    }
}

#[test]
fn damage_deep_in_the_views_is_named_and_goes_with_a_rebuild() {
    let home = Home::new();
    fill(&mut home.open(), 400);
    let mut bytes = fs::read(home.views()).unwrap();
    let last = bytes.len() / 4096 * 4096 - 4096;
    bytes[last..].fill(0xa5);
    fs::write(home.views(), bytes).unwrap();
    let mut ledger = home.open();
    assert!(!ledger.verify().unwrap().ok);
    ledger.rebuild().unwrap();
    assert_eq!(notes(&home), 400);
}

#[test]
fn views_of_another_version_are_made_anew_in_both_directions() {
    for change in [
        "PRAGMA views.user_version = 1",
        "PRAGMA views.user_version = 2147483647; DROP TABLE note; CREATE TABLE views.mood (x)",
        "ALTER TABLE note ADD COLUMN mood TEXT; PRAGMA views.user_version = 7",
    ] {
        let home = Home::new();
        let mut ledger = home.open();
        fill(&mut ledger, 3);
        home.tamper(change);
        // One that has them open goes on, and so does one that comes now.
        jot(&home, 1);
        assert_eq!(ledger.notes(&NoteFilter::default()).unwrap().len(), 4, "{change}");
        assert_eq!(notes(&home), 4, "{change}");
    }
}

#[test]
fn views_that_know_more_than_the_ledger_are_made_anew() {
    let (home, earlier) = (Home::new(), Home::new());
    fill(&mut home.open(), 3);
    copy("ledger.db", &home, &earlier);
    for n in 1..5 {
        jot(&home, n);
    }
    assert_eq!(notes(&home), 7);
    // A power cut took what hooks had not waited for.
    copy("ledger.db", &earlier, &home);
    assert_eq!(shown(&home), 3);
    let gone = &home.open().verify().unwrap().problems[0];
    assert_eq!((gone.problem, gone.seq), ("missing", 5));
    // And when as much was written since, it is not the same.
    copy("views.db", &home, &earlier);
    for n in 11..15 {
        jot(&home, n);
        jot(&earlier, n + 100);
    }
    assert_eq!(shown(&home), 7);
    copy("views.db", &home, &earlier);
    let ledger = earlier.open();
    let all = ledger.notes(&NoteFilter::default()).unwrap();
    assert_eq!(all.iter().filter(|note| note.text == "jotted 111").count(), 1);
    assert_eq!(all.iter().filter(|note| note.text == "jotted 11").count(), 0);
}

#[test]
fn a_ledger_that_was_set_aside_takes_its_views_with_it() {
    let home = Home::new();
    fill(&mut home.open(), 3);
    fs::write(home.file(), "not a ledger").unwrap();
    Ledger::open(home.path(), Options::COMMAND).unwrap_err();
    assert_eq!(notes(&home), 0);
    fill(&mut home.open(), 1);
    assert_eq!(notes(&home), 1);
}

#[test]
fn where_they_cannot_be_written_they_are_derived_for_the_moment() {
    let home = Home::new();
    jot(&home, 1);
    fs::create_dir(home.views()).unwrap();
    assert_eq!(notes(&home), 1);
    let mut ledger = home.open();
    fill(&mut ledger, 2);
    ledger.write(at(3), |w| w.change_status(session_id(1), Status::Running, None)).unwrap();
    assert_eq!(ledger.session(session_id(1)).unwrap().unwrap().status, Status::Running);
    fs::remove_dir(home.views()).unwrap();
    assert_eq!(notes(&home), 3);
}

#[test]
fn a_rebuild_elsewhere_is_not_noticed_by_who_has_them_open() {
    let home = Home::new();
    let mut ledger = home.open();
    fill(&mut ledger, 3);
    home.open().rebuild().unwrap();
    assert_eq!(ledger.notes(&NoteFilter::default()).unwrap().len(), 3);
    fill(&mut ledger, 0);
    assert!(ledger.verify().unwrap().ok);
}

#[test]
fn a_check_inside_a_transaction_sees_what_was_only_appended() {
    let home = Home::new();
    let mut ledger = home.open();
    fill(&mut ledger, 0);
    let mut hook = Ledger::open(home.path(), Options::HOOK).unwrap();
    hook.append(at(1), Scope::session(session_id(2), REPO), &created("auth-v2")).unwrap();
    let taken = ledger.write(at(2), |writer| writer.is_name_taken(REPO, "auth-v2"));
    assert!(taken.unwrap());
    let status = ledger.write(at(2), |writer| writer.status(session_id(2)));
    assert_eq!(status.unwrap(), Status::Starting);
}

#[test]
fn a_failed_piece_of_work_leaves_nothing_in_either_file() {
    let home = Home::new();
    let mut ledger = home.open();
    fill(&mut ledger, 1);
    let failed: Result<(), Error> = ledger.write(at(2), |writer| {
        writer.append(Scope::session(session_id(1), REPO), &note(1, "never"))?;
        Err(Error::NoSession { id: session_id(9) })
    });
    assert!(failed.is_err());
    drop(ledger);
    assert_eq!(notes(&home), 1);
}

fn probe(how: &str, home: &Home, count: u32) -> Child {
    Command::new(&*PROBE)
        .args([how, home.path().to_str().unwrap(), &count.to_string()])
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

#[test]
fn fifty_processes_with_and_without_views_lose_nothing() {
    const EACH: u32 = 12;
    let home = Home::new();
    let how = ["append", "write", "jot", "read"];
    let all: Vec<Child> = (0..50).map(|n| probe(how[n % how.len()], &home, EACH)).collect();
    let mut acknowledged = Vec::new();
    for child in all {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        let lines = String::from_utf8(output.stdout).unwrap();
        acknowledged.extend(lines.lines().map(|line| line.parse::<u64>().unwrap()));
    }
    acknowledged.sort_unstable();
    let written = 38 * u64::from(EACH);
    assert_eq!(acknowledged, (1..=written).collect::<Vec<_>>());
    assert_eq!(notes(&home) as u64, written);
}

#[test]
fn a_ledger_that_has_room_does_not_fail_because_the_views_have_none() {
    let home = Home::new();
    let small = home.path().join("small");
    fs::create_dir(&small).unwrap();
    fs::create_dir(home.path().join(".copy")).unwrap();
    // The views are on a disk of their own, which has room for empty ones and a few changes.
    let script = r#"cd "$1" && "$2" read . 1 && size=$(( $(wc -c < views.db) / 1024 + 200 )) &&
                    mount -t tmpfs -o size="$size"k tmpfs small &&
                    mv views.db small/ && ln -s small/views.db views.db && "$2" write . 150
                    code=$?; cp small/views.db* .copy/; rm views.db; exit $code"#;
    let mut unshare = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        unshare.args(["--user", "--map-root-user"]);
    }
    let output = unshare
        .args(["--mount", "sh", "-c", script, "sh"])
        .arg(home.path())
        .arg(&*PROBE)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 150);
    let views = rusqlite::Connection::open(home.path().join(".copy/views.db")).unwrap();
    let folded = views.query_row("SELECT arrival FROM folded", (), |row| row.get::<_, i64>(0));
    assert!((1..150).contains(&folded.unwrap()));
    assert_eq!(notes(&home), 150);
}

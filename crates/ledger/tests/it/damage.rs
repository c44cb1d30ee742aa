//! What happens to a file that is no ledger, or to one that cannot be written.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use heirloom_ledger::{Error, Ledger, Options};

use crate::fixture::{Home, PROBE, fill};

/// Opens a home whose ledger was replaced by `bytes`, and checks that they were kept.
fn open_damaged(bytes: &[u8]) -> Error {
    let home = Home::new();
    fs::write(home.file(), bytes).unwrap();
    let error = Ledger::open(home.path(), Options::COMMAND).unwrap_err();
    let aside = home.path().join("ledger.db.damaged");
    assert_eq!(fs::read(&aside).unwrap(), bytes, "the damaged file was not kept whole");
    assert!(!home.file().exists());
    assert!(error.hint().unwrap().contains("ledger.db.damaged"), "{:?}", error.hint());
    // The next command starts afresh and leaves the damaged file alone.
    fill(&mut home.open(), 1);
    assert_eq!(fs::read(&aside).unwrap(), bytes);
    error
}

#[test]
fn garbage_is_set_aside() {
    let garbage: Vec<u8> =
        (0..5_000u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    let error = open_damaged(&garbage);
    assert!(error.to_string().contains("is damaged: file is not a database"), "{error}");
}

#[test]
fn an_empty_file_is_set_aside() {
    assert!(open_damaged(b"").to_string().ends_with("is damaged: it is empty"));
}

#[test]
fn a_text_file_is_set_aside() {
    open_damaged(b"this is not a ledger\n");
}

#[test]
fn another_programs_database_is_set_aside() {
    let other = Home::new();
    let db = rusqlite::Connection::open(other.file()).unwrap();
    db.execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (1)").unwrap();
    drop(db);
    let error = open_damaged(&fs::read(other.file()).unwrap());
    assert!(
        error.to_string().ends_with("it is a database, but not a ledger of heirloom"),
        "{error}"
    );
}

#[test]
fn a_truncated_ledger_is_set_aside_wherever_it_was_cut() {
    let whole = Home::new();
    fill(&mut whole.open(), 300);
    whole.checkpoint();
    let bytes = fs::read(whole.file()).unwrap();
    for length in [
        1,
        50,
        99,
        100,
        511,
        512,
        4095,
        4096,
        4097,
        bytes.len() / 2,
        bytes.len() - 4096,
        bytes.len() - 1,
    ] {
        open_damaged(&bytes[..length]);
    }
}

#[test]
fn a_log_beside_an_empty_file_is_kept_with_it() {
    let home = Home::new();
    fs::write(home.file(), b"").unwrap();
    fs::write(home.path().join("ledger.db-wal"), b"everything may still be here").unwrap();
    Ledger::open(home.path(), Options::COMMAND).unwrap_err();
    let log = home.path().join("ledger.db.damaged-wal");
    assert_eq!(fs::read(log).unwrap(), b"everything may still be here");
}

#[test]
fn a_damaged_file_and_its_log_are_kept_to_the_byte() {
    let source = Home::new();
    fill(&mut source.open(), 50);
    source.checkpoint();
    let options = Options { no_checkpoint_on_close: true, ..Options::COMMAND };
    fill(&mut Ledger::open(source.path(), options).unwrap(), 20);
    let log = fs::read(source.path().join("ledger.db-wal")).unwrap();
    assert!(!log.is_empty());
    let whole = fs::read(source.file()).unwrap();
    let garbage = vec![0xa5; whole.len()];
    for damaged in [&whole[..4096], &whole[..whole.len() / 2], &garbage] {
        let home = Home::new();
        fs::write(home.file(), damaged).unwrap();
        fs::write(home.path().join("ledger.db-wal"), &log).unwrap();
        let opened = Ledger::open(home.path(), Options::COMMAND);
        if let Err(Error::Damaged { set_aside, .. }) = opened {
            assert!(set_aside.is_some());
            assert_eq!(fs::read(home.path().join("ledger.db.damaged")).unwrap(), damaged);
            assert_eq!(fs::read(home.path().join("ledger.db.damaged-wal")).unwrap(), log);
        } else {
            // The log alone made the file readable again; then nothing was moved, and verifying
            // names what is missing.
            let report = opened.unwrap().verify().unwrap();
            assert!(!report.ok);
        }
    }
}

#[test]
fn a_second_damaged_file_does_not_replace_the_first() {
    let home = Home::new();
    for bytes in [b"first", b"other"] {
        fs::write(home.file(), bytes).unwrap();
        Ledger::open(home.path(), Options::COMMAND).unwrap_err();
    }
    assert_eq!(fs::read(home.path().join("ledger.db.damaged")).unwrap(), b"first");
    assert_eq!(fs::read(home.path().join("ledger.db.damaged-2")).unwrap(), b"other");
}

#[test]
fn many_processes_that_find_the_damage_at_once_set_it_aside_once() {
    let home = Home::new();
    fs::write(home.file(), b"not a ledger").unwrap();
    let children: Vec<_> = (0..16)
        .map(|_| {
            let mut probe = Command::new(&*PROBE);
            probe.args(["append"]).arg(home.path()).arg("1");
            probe.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
            probe.spawn().unwrap()
        })
        .collect();
    let written =
        children.into_iter().filter_map(|mut child| child.wait().unwrap().success().then_some(1));
    let written: u64 = written.sum();
    let damaged: Vec<String> =
        home.files().into_iter().filter(|name| name.contains("damaged")).collect();
    assert_eq!(damaged, ["ledger.db.damaged"]);
    assert_eq!(fs::read(home.path().join("ledger.db.damaged")).unwrap(), b"not a ledger");
    assert_eq!(home.open().verify().unwrap().records, written);
}

/// Whoever finds the damage late must not set aside what others have made in the meantime. Many rounds,
/// because what must not happen needs two of them to cross.
#[test]
fn a_new_ledger_is_never_taken_for_the_damaged_one_it_replaced() {
    for _ in 0..20 {
        let home = Home::new();
        fs::write(home.file(), b"not a ledger").unwrap();
        let path = home.path().to_owned();
        let open = |_| {
            let path = path.clone();
            std::thread::spawn(move || Ledger::open(&path, Options::COMMAND).is_ok())
        };
        let threads: Vec<_> = (0..8).map(open).collect();
        let opened = threads.into_iter().map(|one| one.join().unwrap());
        assert!(opened.filter(|is_open| !is_open).count() >= 1, "somebody has to find it");
        let damaged = home.files().into_iter().filter(|name| name.contains("damaged"));
        assert_eq!(damaged.collect::<Vec<_>>(), ["ledger.db.damaged"]);
    }
}

#[test]
fn a_directory_that_cannot_be_written_is_said_to_be_so() {
    let home = Home::new();
    let locked = home.path().join("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o500)).unwrap();
    let output = as_nobody().args(["append"]).arg(&locked).arg("1").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(said.contains("ReadOnly"), "{said}");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o700)).unwrap();
}

/// The probe, run so that permissions count: root may write anywhere.
fn as_nobody() -> Command {
    if !rustix::process::geteuid().is_root() {
        return Command::new(&*PROBE);
    }
    let mut probe = Command::new(&*PROBE);
    probe.uid(65534).gid(65534);
    probe
}

#[test]
fn a_ledger_on_a_read_only_mount_can_be_read_and_is_not_written() {
    for no_checkpoint_on_close in [false, true] {
        let home = Home::new();
        let options = Options { no_checkpoint_on_close, ..Options::COMMAND };
        fill(&mut Ledger::open(home.path(), options).unwrap(), 3);
        let _ = fs::remove_file(home.path().join("ledger.db-shm"));
        let before = home.files();
        let log = home.path().join("ledger.db-wal").metadata().map_or(0, |log| log.len());
        assert_eq!(log > 0, no_checkpoint_on_close);
        // What it shows is asked for by its own process, in a mount namespace of its own.
        let script = r#"mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" &&
                        "$2" read "$1" 1 && ! "$2" append "$1" 1"#;
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
        assert!(output.status.success() && said.contains("ReadOnly"), "{said}");
        assert_eq!(home.files(), before);
    }
}

#[test]
fn a_full_disk_loses_nothing_that_was_acknowledged() {
    let home = Home::new();
    // A mount namespace of its own gives the probe a disk of one megabyte.
    let script = r#"mount -t tmpfs -o size=1m tmpfs "$1" && "$2" append "$1" 100000; code=$?
                    "$2" append "$1" 1 >/dev/null 2>"$1"/../again; cp "$1"/ledger.db* "$1"/../copy/; exit $code"#;
    let mount = home.path().join("disk");
    fs::create_dir(&mount).unwrap();
    fs::create_dir(home.path().join("copy")).unwrap();
    let mut unshare = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        unshare.args(["--user", "--map-root-user"]);
    }
    let output = unshare
        .args(["--mount", "sh", "-c", script, "sh"])
        .arg(&mount)
        .arg(&*PROBE)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("Full"), "{said}");
    let acknowledged = String::from_utf8_lossy(&output.stdout).lines().count() as u64;
    assert!(acknowledged > 100, "{acknowledged}");
    let copy = Ledger::open(&home.path().join("copy"), Options::COMMAND).unwrap();
    let report = copy.verify().unwrap();
    assert!(report.ok, "{:?}", report.problems);
    assert!(report.records >= acknowledged, "{} of {acknowledged}", report.records);
}

#[test]
fn a_newer_file_is_refused_and_left_alone() {
    let home = Home::new();
    fill(&mut home.open(), 1);
    let db = rusqlite::Connection::open(home.file()).unwrap();
    db.pragma_update(None, "user_version", 999).unwrap();
    drop(db);
    let error = Ledger::open(home.path(), Options::COMMAND).unwrap_err();
    assert!(matches!(error, Error::Newer { found: 999, .. }), "{error}");
    assert!(error.hint().unwrap().starts_with("install the newest heirloom"));
    let db = rusqlite::Connection::open(home.file()).unwrap();
    let records: i64 = db.query_row("SELECT count(*) FROM record", (), |row| row.get(0)).unwrap();
    assert_eq!(records, 2);
}

//! What the first page costs when a lot has happened, counted: times would say more about the machine.

use heirloom_core::event::{NoteAdded, SessionCreated};
use heirloom_core::id::SessionId;
use heirloom_core::status::Status;
use heirloom_ledger::{Error, Ledger, Options, Scope, Writer};
use heirloom_testkit::env::TestEnv;
use heirloom_testkit::reads;
use jiff::Timestamp;
use serde_json::json;

use super::Daemon;
use super::client::Request;

/// What a process has read so far, as the kernel counts it.
fn read_by(pid: u32) -> u64 {
    let counts = std::fs::read_to_string(format!("/proc/{pid}/io")).unwrap();
    let read = counts.lines().find_map(|line| line.strip_prefix("rchar: "));
    read.unwrap_or_else(|| panic!("{counts}")).parse().unwrap()
}

/// What one look at the first page makes the daemon read. The least of some: it also looks for news by itself.
fn first_page(daemon: &Daemon, cookie: &str) -> u64 {
    let look = || {
        let before = read_by(daemon.child.id());
        let page = Request::get("/").header("cookie", cookie).send(daemon.url());
        assert!(page.status == 200 && page.body.contains("Recent"), "{page:?}");
        assert!(page.body.contains("older ones are not checked here"), "{page:?}");
        read_by(daemon.child.id()) - before
    };
    look();
    (0..5).map(|_| look()).min().unwrap()
}

/// A repository with so many sessions that ended, every tenth with a decision, and nothing else.
fn sessions(count: u64) -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_heirloom"));
    env.run(&["note", "learning", "the first one"]).success();
    let mut ledger = Ledger::open(&env.home(), Options::ENGINE).unwrap();
    let repo = env.repo().to_string_lossy().into_owned();
    for first in (0..count).step_by(500) {
        let at = Timestamp::from_second(1_700_000_000 + i64::try_from(first).unwrap()).unwrap();
        let some = first..count.min(first + 500);
        let written = ledger
            .write::<_, Error>(at, |writer| some.clone().try_for_each(|n| ended(writer, &repo, n)));
        written.unwrap();
    }
    drop(ledger);
    for command in [&["sessions", "list"][..], &["ledger", "gc"]] {
        env.run(command).success();
    }
    env
}

fn ended(writer: &mut Writer<'_>, repo: &str, n: u64) -> Result<(), Error> {
    let id = |what: u32| format!("{n:08x}-{what:04x}-4000-8000-{n:012x}");
    let session: SessionId = id(1).parse().unwrap();
    let created = json!({"name": format!("s{n}"), "agent": "claude"});
    let scope = Scope::session(session, repo);
    writer.append(scope, &serde_json::from_value::<SessionCreated>(created).unwrap())?;
    if n.is_multiple_of(10) {
        let text = format!("What was decided in session {n}");
        let note = json!({"id": id(2), "kind": "decision", "text": text});
        writer.append(scope, &serde_json::from_value::<NoteAdded>(note).unwrap())?;
    }
    writer.change_status(session, Status::Completed, None)
}

#[test]
fn the_first_page_reads_at_most_three_times_what_a_list_does_however_many_sessions_there_are() {
    let of = |count| {
        let env = sessions(count);
        let list = &mut env.command(&["sessions", "list", "--all-repos"]);
        let (_, list) = reads::count(list, b"");
        let daemon = Daemon::start(env);
        let cookie = daemon.sign_in();
        (list, first_page(&daemon, &cookie))
    };
    let (few, many) = (of(1_500), of(5_000));
    for (list, page) in [few, many] {
        assert!(page <= 3 * list, "{page} bytes, and a list {list}: {few:?} {many:?}");
    }
    assert!(many.1 <= few.1 + few.1 / 2, "it grows with what happened: {few:?} {many:?}");
}

//! `ledger gc`: room is given back, and nothing that anybody needs.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::Fixture;

const SERVERS: &str = r#"{"db":{"command":"db","env":{"TOKEN":"s3cr3t"}}}"#;

/// A home with a session that ended well and one whose driver was killed, and what killed processes
/// leave behind.
fn untidy() -> Fixture {
    let fixture = Fixture::new();
    fixture.json(&["launch", "go", "--name", "a", "--mcp-config", SERVERS]);
    let mut killed = fixture.spawn(&["launch", "hang", "--name", "killed"]);
    fixture.wait(|fixture| fixture.has_announced("killed").then_some(()));
    killed.kill().unwrap();
    killed.wait().unwrap();
    fixture.run(&["sessions", "list"]).success();

    let home = fixture.env.home();
    let put = |path: &str| {
        let path = home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "left behind").unwrap();
        path
    };
    put("vault/11111111-1111-4111-8111-111111111111");
    put("vault/not-ours");
    put("scratch/22222222-2222-4222-8222-222222222222/agent-x");
    put("locks/run-0123456789abcdef-auth.lock");
    for old in ["streams/.unfinished-old", "scratch/agent-old", "run/old.new"] {
        File::options().write(true).open(put(old)).unwrap().set_modified(long_ago()).unwrap();
    }
    put("streams/.unfinished-fresh");
    put("scratch/agent-fresh");
    fixture
}

/// Two days before the time the commands are run at.
fn long_ago() -> SystemTime {
    let now: jiff::Timestamp = heirloom_testkit::env::NOW.parse().unwrap();
    SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(now.as_second()).unwrap())
        - Duration::from_hours(48)
}

fn names(answer: &Value) -> Vec<String> {
    let paths = answer["leftovers"].as_array().unwrap().iter();
    let name = |path: &Value| path.as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let of_lock =
        |name: String| if name.starts_with("claude-") { name[..7].to_owned() } else { name };
    paths.map(name).map(of_lock).collect()
}

/// The first is the lock of the killed session's conversation.
const LEFTOVERS: [&str; 5] =
    ["claude-", "old.new", "22222222-2222-4222-8222-222222222222", "agent-old", ".unfinished-old"];

#[test]
fn what_nothing_needs_goes_and_a_dry_run_says_so_first() {
    let fixture = untidy();
    let before = fixture.files();
    let planned = fixture.json(&["ledger", "gc", "--dry-run"]);
    assert_eq!(fixture.files(), before);
    assert_eq!(planned["dry_run"], true);
    assert_eq!(planned["streams"]["files"], 1, "{planned}");
    assert_eq!(planned["secrets"], json!({"removed": 1, "in_use": false}));
    assert_eq!(names(&planned), LEFTOVERS);

    let said = fixture.run(&["conversation", "killed", "--json"]).success();
    let done = fixture.json(&["ledger", "gc"]);
    assert_eq!(done["streams"]["bytes_before"], planned["streams"]["bytes_before"]);
    assert_eq!(done["secrets"], planned["secrets"]);
    assert_eq!(names(&done), LEFTOVERS);
    let left: Vec<String> = fixture.files().into_keys().map(|path| crate::stable(&path)).collect();
    insta::assert_snapshot!(left.join("\n"), @"
    locks/
    locks/run-0123456789abcdef-auth.lock
    log/
    log/heirloom.log
    run/
    scratch/
    scratch/agent-fresh
    streams/
    streams/.unfinished-fresh
    streams/[id].jsonl.zst
    streams/[id].jsonl.zst
    vault/
    vault/.lock
    vault/[id]
    vault/not-ours
    ");

    assert_eq!(fixture.run(&["conversation", "killed", "--json"]), said);
    fixture.run(&["ledger", "verify"]).success();
    fixture.json(&["continue", "a", "more"]);
    assert_eq!(fixture.given(3).mcp()["db"]["env"]["TOKEN"], "s3cr3t");
    insta::assert_snapshot!(without_sizes(&fixture.run(&["ledger", "gc"]).success().stdout), @"
    ✔ 0 streams compressed
    ✔ 0 unused secrets removed
    ✔ 0 leftovers removed
    ✔ the ledger was [n] kB, now [n] kB; no record is ever removed
    ");
}

/// The text without its figures of bytes.
fn without_sizes(text: &str) -> String {
    let line = |line: &str| {
        let words = line.split(' ').collect::<Vec<_>>();
        let sized = |at: usize| words.get(at + 1).is_some_and(|next| next.starts_with("kB"));
        let shown = words.iter().enumerate().map(|(at, word)| if sized(at) { "[n]" } else { word });
        shown.collect::<Vec<_>>().join(" ")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_session_that_runs_keeps_everything_it_needs() {
    let fixture = Fixture::new();
    let servers = ["--mcp-config", SERVERS];
    let arguments = [&["launch", "ask once", "--name", "a", "--json"][..], &servers].concat();
    let launch = fixture.spawn(&arguments);
    let id = fixture.open(1).remove(0);
    let input = r#"{"command":"touch edited"}"#;
    let before = fixture.files();
    let done = fixture.json(&["ledger", "gc"]);
    assert_eq!((&done["streams"]["files"], &done["secrets"]["removed"]), (&json!(0), &json!(0)));
    assert_eq!(done["leftovers"], json!([]));
    assert_eq!(fixture.files(), before);

    fixture.run(&["approvals", "approve", &id, "--input", input]).success();
    assert!(launch.wait_with_output().unwrap().status.success());
    assert_eq!(fixture.given(1).answers()[0]["updatedInput"]["command"], "touch edited");
    // Its agent has heard the edited input, and nobody else will.
    assert_eq!(fixture.json(&["ledger", "gc"])["secrets"]["removed"], 1);
    fixture.json(&["continue", "a", "more"]);
    assert_eq!(fixture.given(2).mcp()["db"]["env"]["TOKEN"], "s3cr3t");
}

#[test]
fn what_an_agent_prints_is_kept_to_the_byte_and_compressed_once_it_is_finished() {
    let fixture = Fixture::new();
    let launch = fixture.spawn(&["launch", "ask once", "--name", "a", "--json"]);
    let id = fixture.open(1).remove(0);
    let streams = |fixture: &Fixture| -> Vec<String> {
        let files = fixture
            .files()
            .into_keys()
            .filter(|file| file.starts_with("streams/") && !file.ends_with('/'));
        files.map(|file| crate::stable(&file)).collect()
    };
    assert_eq!(streams(&fixture), ["streams/[id].jsonl"]);
    let kinds = |fixture: &Fixture| -> Vec<String> {
        let said = fixture.json(&["conversation", "a"]);
        let events = said["events"].as_array().unwrap().iter();
        events.map(|event| event["kind"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds(&fixture), ["prompt"]);
    fixture.run(&["approvals", "approve", &id]).success();
    assert!(launch.wait_with_output().unwrap().status.success());
    assert_eq!(streams(&fixture), ["streams/[id].jsonl.zst"]);
    assert_eq!(kinds(&fixture), ["prompt", "text", "text", "result"]);

    let file = fs::read_dir(fixture.env.home().join("streams")).unwrap().next().unwrap().unwrap();
    let plain = zstd::decode_all(File::open(file.path()).unwrap()).unwrap();
    assert_eq!(plain, fs::read(fixture.given(1).dir.join("said")).unwrap());
}

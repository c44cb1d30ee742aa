//! The process that reads transcripts while nobody waits: a hook leaves the rest to it, there is one at a
//! time, and one that is killed leaves nothing half.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use heirloom_testkit::env::TestEnv;
use serde_json::json;

use crate::capture::{ID, json, transcript};
use crate::handing_over::{agent, hook};

const NEXT: &str = "1b554780-986f-49f2-9a58-edfafd0188dd";
const THIRD: &str = "2b554780-986f-49f2-9a58-edfafd0188dd";

/// A transcript of so many megabytes, with a prompt in each.
fn large(env: &TestEnv, megabytes: usize) -> (PathBuf, Vec<u8>) {
    let cwd = env.repo();
    let mut text = String::new();
    for number in 0..megabytes {
        let common = json!({"sessionId": ID, "cwd": cwd, "gitBranch": "main", "version": "2.1.325",
            "entrypoint": "cli", "timestamp": "2026-01-10T10:00:00Z"});
        let line = |kind: &str, message: serde_json::Value| {
            let mut line = common.clone();
            line["type"] = kind.into();
            line["promptSource"] = "typed".into();
            line["message"] = message;
            line.to_string() + "\n"
        };
        text += &line("user", json!({"role": "user", "content": format!("step {number} please")}));
        let output = format!("part {number} ").repeat((1 << 20) / 9);
        let content = json!([{"type": "tool_result", "tool_use_id": "t", "content": output}]);
        text += &line("user", json!({"role": "user", "content": content}));
    }
    let file = transcript(env);
    fs::write(&file, &text).unwrap();
    (file, text.into_bytes())
}

fn kept(env: &TestEnv) -> u64 {
    let shown = env.run(&["archive", "show", ID, "--json"]);
    if shown.code != 0 {
        return 0;
    }
    shown.json()["transcripts"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["bytes"].as_u64())
        .sum()
}

/// Waits until something is so; whoever waits in vain fails.
#[track_caller]
fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_mins(2);
    while !is_so() {
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The archive gives back exactly what was written.
#[track_caller]
fn assert_whole(env: &TestEnv, file: &Path, bytes: &[u8]) {
    fs::remove_file(file).unwrap();
    json(env, &["archive", "restore", ID]);
    assert!(fs::read(file).unwrap() == bytes, "not what was written");
}

#[test]
fn a_hook_reads_a_tail_and_leaves_the_rest_to_a_process_that_nobody_waits_for() {
    let env = crate::env();
    env.run(&["init", "--yes"]).success();
    let mut process = agent();
    hook(&env, "SessionStart", ID, process.id(), &json!({"source": "startup"}));
    let (file, bytes) = large(&env, 6);
    let (held, lock) = hold(&env);
    hook(&env, "SessionEnd", ID, process.id(), &json!({"reason": "other"}));
    let most = bytes[..2 << 20].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    assert_eq!(kept(&env), most as u64, "a hook reads as many whole lines as it may");
    let mut next = agent();
    let start = json!({"source": "startup"});
    let brief = hook(&env, "SessionStart", NEXT, next.id(), &start);
    assert!(
        brief.contains("the last 3 turns or so of an earlier session are not in yet"),
        "{brief}"
    );
    drop((held, lock));
    // The next hook finds nobody at it.
    hook(&env, "SessionEnd", ID, process.id(), &json!({"reason": "other"}));
    wait_for("the rest is taken in", || kept(&env) == bytes.len() as u64);
    wait_for("all of it is told", || json(&env, &["sessions", "show", ID])["turns"] == 6);
    let brief = hook(&env, "SessionStart", THIRD, next.id(), &start);
    assert!(!brief.contains("not in yet") && brief.contains("step 5 please"), "{brief}");
    next.kill().unwrap();
    next.wait().unwrap();
    assert_whole(&env, &file, &bytes);
    process.kill().unwrap();
    process.wait().unwrap();
}

/// Holds the lock of whoever reads everything.
fn hold(env: &TestEnv) -> (PathBuf, File) {
    let path = env.home().join("capture/sync.lock");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let file = File::options().create(true).truncate(false).write(true).open(&path).unwrap();
    file.lock().unwrap();
    (path, file)
}

#[test]
fn there_is_one_at_a_time_and_two_that_a_person_starts_take_nothing_in_twice() {
    let env = crate::env();
    env.run(&["init", "--yes"]).success();
    let (file, bytes) = large(&env, 2);
    let (_, lock) = hold(&env);
    env.run(&["sync", "--background"]).success();
    assert_eq!(kept(&env), 0, "somebody is at it");
    drop(lock);
    let start = |arguments: &[&str]| {
        env.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let all = [start(&["sync"]), start(&["sync"]), start(&["sync", "--background"])];
    for mut one in all {
        assert!(one.wait().unwrap().success());
    }
    assert_eq!(kept(&env), bytes.len() as u64);
    let shown = json(&env, &["sessions", "show", ID]);
    assert_eq!((&shown["turns"], shown["prompts"].as_array().unwrap().len()), (&2.into(), 2));
    assert_whole(&env, &file, &bytes);
}

#[test]
fn one_that_is_killed_at_any_moment_leaves_nothing_half_and_the_next_one_goes_on() {
    let env = crate::env();
    env.run(&["init", "--yes"]).success();
    let (file, bytes) = large(&env, 24);
    let archive = env.home().join("archive");
    for chunks in 1..=2_u64 {
        let mut reader = env
            .command(&["sync", "--background"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // As soon as it has written something it is killed, whatever it does then.
        let before = size(&archive);
        wait_for("it writes, or is done", || {
            size(&archive) > before || kept(&env) == bytes.len() as u64
        });
        reader.kill().unwrap();
        reader.wait().unwrap();
        assert!(kept(&env) <= bytes.len() as u64, "{chunks}");
    }
    env.run(&["sync"]).success();
    assert_eq!(kept(&env), bytes.len() as u64);
    let shown = json(&env, &["sessions", "show", ID]);
    assert_eq!(shown["turns"], 24, "no turn is missing, none is there twice");
    assert_whole(&env, &file, &bytes);
}

fn size(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(found) if found.is_dir() => size(&entry.path()),
            Ok(found) => found.size(),
            Err(_) => 0,
        })
        .sum()
}

#[test]
fn a_transcript_that_was_rewritten_at_the_same_length_is_noticed_wherever_that_was() {
    let env = crate::env();
    env.run(&["init", "--yes"]).success();
    let (file, bytes) = large(&env, 3);
    env.run(&["sync"]).success();
    assert_eq!(json(&env, &["sync"])["agents"][0]["new"], 0);
    let text = String::from_utf8(bytes.clone()).unwrap();
    // Far from its beginning and from its end.
    let rewritten = text.replacen("step 1 please", "stop 1 please", 1);
    assert_eq!(rewritten.len(), bytes.len());
    fs::write(&file, &rewritten).unwrap();
    env.run(&["sync"]).success();
    assert_eq!(kept(&env), 2 * bytes.len() as u64, "both are kept");
    let prompts = json(&env, &["sessions", "show", ID])["prompts"].to_string();
    assert!(prompts.contains("stop 1 please") && !prompts.contains("step 1 please"), "{prompts}");
    // What goes on after that goes on in the second one.
    let mut grown = rewritten.into_bytes();
    let more = text.lines().next().unwrap().replace("step 0", "step 3") + "\n";
    grown.extend(more.as_bytes());
    File::options().append(true).open(&file).unwrap().write_all(more.as_bytes()).unwrap();
    env.run(&["sync"]).success();
    assert_eq!(json(&env, &["sessions", "show", ID])["turns"], 4);
    assert_whole(&env, &file, &grown);
}

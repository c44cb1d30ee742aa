//! What a sync costs is what is new, however many conversations are known; and what is known is looked at again
//! where it is not as it was.

use std::fs;
use std::path::PathBuf;

use heirloom_testkit::env::TestEnv;

use crate::capture::{ID, day, env, json, transcript};

fn path(env: &TestEnv, number: usize) -> PathBuf {
    transcript(env).with_file_name(format!("{}.jsonl", id(number)))
}

fn id(number: usize) -> String {
    format!("c0de0000-0000-4000-8000-{number:012}")
}

fn write(env: &TestEnv, numbers: std::ops::Range<usize>) {
    for number in numbers {
        fs::write(path(env, number), day(env).replace(ID, &id(number))).unwrap();
    }
}

fn sync(env: &TestEnv) -> u64 {
    let (output, read) =
        heirloom_testkit::reads::count(&mut env.command(&["sync", "--agent", "claude"]), b"");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    read
}

fn new(env: &TestEnv) -> u64 {
    json(env, &["sync", "--agent", "claude"])["agents"][0]["new"].as_u64().unwrap()
}

#[test]
fn what_is_no_file_is_no_session() {
    let env = crate::capture::env();
    env.run(&["init", "--yes"]).success();
    std::fs::create_dir(crate::capture::transcript(&env)).unwrap();
    let synced = crate::capture::json(&env, &["sync", "--agent", "claude"]);
    let why = synced["agents"][0]["skipped"][0]["why"].as_str().unwrap_or_default().to_owned();
    assert!(why.contains("a directory, not a regular file"), "{synced}");
    let listed = crate::capture::json(&env, &["sessions", "list"]);
    assert_eq!(listed["sessions"], serde_json::json!([]), "{listed}");
}

#[test]
fn a_conversation_that_is_known_costs_a_sync_next_to_nothing() {
    let env = env();
    env.run(&["init", "--yes", "--agent", "claude"]).success();
    let mut costs = Vec::new();
    for (known, more) in [(0, 5), (5, 60)] {
        write(&env, known..more);
        sync(&env);
        costs.push(sync(&env));
    }
    // A page for every two at most: each one's transcript alone is more than that, and none is opened.
    let each = costs[1].saturating_sub(costs[0]) / 55;
    assert!(each < 2048, "{each} bytes for each conversation: {costs:?}");
}

#[test]
fn one_that_was_written_to_or_whose_archive_is_gone_is_looked_at_again() {
    let env = env();
    env.run(&["init", "--yes", "--agent", "claude"]).success();
    write(&env, 0..3);
    assert_eq!(new(&env), 3);
    assert_eq!(new(&env), 0);
    let more = day(&env).replace(ID, &id(1)) + &day(&env).replace(ID, &id(1));
    fs::write(path(&env, 1), more).unwrap();
    assert_eq!(new(&env), 1);
    assert_eq!(new(&env), 0);
    fs::remove_dir_all(env.home().join("archive").join(id(2))).unwrap();
    assert_eq!(new(&env), 1);
    assert_eq!(new(&env), 0);
}

#[test]
fn text_goes_when_it_was_kept_long_enough_though_nothing_is_new() {
    let env = env();
    env.run(&["init", "--yes", "--agent", "claude"]).success();
    env.write_user(&format!(
        "trust: {{paths: [{}]}}\ncapture: {{keep: 1h}}\n",
        env.repo().display()
    ));
    write(&env, 0..1);
    let text = env.home().join("archive").join(id(0)).join("transcript-1.zst");
    for (at, is_there) in [("15:30", true), ("16:15", true), ("16:45", false)] {
        let at = format!("2026-01-12T{at}:00Z");
        let mut command = env.command(&["sync", "--agent", "claude"]);
        assert!(command.env("HEIRLOOM_CLOCK", &at).output().unwrap().status.success());
        assert_eq!(text.exists(), is_there, "at {at}");
    }
}

/// The built-in agent has no hooks, and each iteration of a loop is a conversation of its own.
#[test]
fn a_loop_of_the_built_in_agent_is_known_when_it_ends_and_taken_in_once() {
    let env = env();
    let script = env.repo().with_file_name("script.jsonl");
    fs::write(&script, "{\"say\": \"the quokkas are counted\"}\n").unwrap();
    let env = env.var("HEIRLOOM_SIM_SCRIPT", script);
    env.run(&["init", "--yes"]).success();
    env.run(&["run", "ralph", "counting", "3", "--agent", "sim"]);
    let kept = || {
        let archive = env.home().join("archive");
        let sessions = fs::read_dir(archive).unwrap().flatten();
        let files = sessions.flat_map(|session| fs::read_dir(session.path()).unwrap().flatten());
        let mut texts: Vec<_> = files
            .map(|file| file.path())
            .filter(|path| path.extension().is_some_and(|end| end == "zst"))
            .map(|path| (path.clone(), fs::read(path).unwrap()))
            .collect();
        texts.sort();
        texts
    };
    let before = kept();
    assert!(!before.is_empty());
    let is_found_once_in_each_iteration = || {
        let found = json(&env, &["search", "quokkas"]);
        assert_eq!(found["total"], 3, "{found:#}");
    };
    is_found_once_in_each_iteration();
    for _twice in 0..2 {
        json(&env, &["sync"]);
        let paths = |all: &[(PathBuf, Vec<u8>)]| all.iter().map(|(path, _)| path.clone()).collect();
        let (now, then): (Vec<_>, Vec<_>) = (paths(&kept()), paths(&before));
        assert_eq!(now, then);
        assert!(kept() == before, "what is the same is not written again");
    }
    is_found_once_in_each_iteration();
}

#[test]
fn a_history_that_nobody_could_be_asked_about_is_named_until_it_is_imported() {
    let env = env();
    write(&env, 0..2);
    let set_up = env.run(&["init", "--agent", "claude"]).success();
    assert!(set_up.stdout.contains("2 sessions of Claude Code since 2026-01-10"), "{set_up}");
    let said = "2 earlier conversations of this repository were not imported";
    let told = format!("hint: {said}; `heirloom sync` imports them\n");
    let home = env.run(&[]).success();
    let line = home.stdout.lines().find(|line| line.contains(said));
    assert!(line.is_some_and(|line| line.ends_with("heirloom sync")), "{home}");
    assert_eq!(json(&env, &[])["untaken"], 2);
    assert_eq!(json(&env, &[])["next"]["command"], "heirloom sync");
    let doctor = env.run(&["doctor"]);
    assert!(doctor.stdout.contains(said), "{doctor}");
    let found = env.run(&["search", "parser"]).success();
    assert!(found.stdout.is_empty() && found.stderr.contains(&told), "{found}");
    let some = env.run(&["sync", "--since", "2027-01-01"]).success();
    assert!(some.stdout == "Nothing new\n" && some.stderr.contains(&told), "{some}");

    let synced = env.run(&["sync"]).success();
    assert!(synced.stdout.starts_with("Imported 2 sessions, "), "{synced}");
    assert!(synced.stdout.contains("2 new since 2026-01-10; 2 sessions with "), "{synced}");
    for screen in [&[][..], &["doctor"], &["search", "kangaroo"], &["sync"]] {
        let shown = env.run(screen);
        assert!(!shown.to_string().contains("earlier conversation"), "{shown}");
    }
    // What was forgotten is nothing that is missing.
    let id = &json(&env, &["sessions", "list"])["sessions"][0]["id"];
    env.run(&["sessions", "forget", id.as_str().unwrap(), "--yes"]).success();
    env.run(&["init", "--agent", "claude"]).success();
    assert_eq!(json(&env, &[])["untaken"], 0);
}

#[test]
fn a_history_that_nobody_agreed_to_is_not_imported_in_the_background_but_what_hooks_told_of_is() {
    let env = env();
    write(&env, 0..2);
    env.run(&["init", "--agent", "claude"]).success();
    env.run(&["sync", "--background"]).success();
    assert_eq!(json(&env, &[])["untaken"], 2);
    assert_eq!(json(&env, &["search", "parser"])["total"], 0);
    let start = serde_json::json!({"session_id": id(7), "cwd": env.repo(), "source": "startup",
        "transcript_path": path(&env, 7), "hook_event_name": "SessionStart"});
    env.run_with(&["hook", "claude", "SessionStart"], start.to_string().as_bytes()).success();
    write(&env, 7..8);
    env.run(&["sync", "--background"]).success();
    let found = json(&env, &["search", "parser"]);
    assert_eq!(found["total"], 1, "{found}");
    assert_eq!(json(&env, &[])["untaken"], 2);
    env.run(&["sync"]).success();
    assert_eq!(json(&env, &["search", "parser"])["total"], 3);
}

#[test]
fn what_is_new_is_told_from_what_only_grew() {
    let env = env();
    env.run(&["init", "--yes", "--agent", "claude"]).success();
    write(&env, 0..2);
    let rehearsed = env.run(&["sync", "--dry-run"]).success();
    assert!(rehearsed.stdout.starts_with("Would import 2 sessions, "), "{rehearsed}");
    assert!(rehearsed.stdout.contains("; 0 sessions with 0 messages so far"), "{rehearsed}");
    env.run(&["sync"]).success();
    let more = |number| day(&env).replace(ID, &id(number)).repeat(2);
    fs::write(path(&env, 1), more(1)).unwrap();
    write(&env, 2..3);
    let synced = env.run(&["sync"]).success();
    assert!(synced.stdout.starts_with("Imported 1 session, updated 1, "), "{synced}");
    assert!(synced.stdout.contains("1 new, 1 updated since 2026-01-10; 3 sessions"), "{synced}");
    fs::write(path(&env, 0), more(0)).unwrap();
    let synced = env.run(&["sync"]).success();
    assert!(synced.stdout.starts_with("Updated 1 session, "), "{synced}");
}

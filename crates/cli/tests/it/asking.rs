//! The end of a turn asks for what only the agent can still say: once, and never in a row.

use std::fs;

use heirloom_testkit::env::TestEnv;
use serde_json::json;

use crate::capture::{ID, day, transcript};
use crate::handing_over::{agent, hook};

/// A session at work, whose transcript says that it changed a file.
fn at_work(settings: &str) -> (TestEnv, std::process::Child) {
    let env = crate::env();
    env.write_user(settings);
    env.run(&["init", "--yes"]).success();
    let process = agent();
    hook(&env, "SessionStart", ID, process.id(), &json!({"source": "startup"}));
    // The turn that changed it is the last one.
    let text = day(&env);
    let lines: Vec<&str> = text.lines().filter(|line| !line.contains("and the docs")).collect();
    fs::write(transcript(&env), lines.join("\n") + "\n").unwrap();
    (env, process)
}

fn stop(env: &TestEnv, process: &std::process::Child) -> String {
    hook(env, "Stop", ID, process.id(), &json!({"stop_hook_active": false}))
}

fn end(mut process: std::process::Child) {
    process.kill().unwrap();
    process.wait().unwrap();
}

#[test]
fn a_session_that_changed_files_and_noted_nothing_is_asked_once_where_the_person_wants_that() {
    let (env, process) = at_work("capture: {ask: once}\n");
    let active = hook(&env, "Stop", ID, process.id(), &json!({"stop_hook_active": true}));
    assert_eq!(active, "", "a turn that was held back already is let go");
    let asked = stop(&env, &process);
    assert!(asked.contains("\"decision\":\"block\""), "{asked}");
    assert!(asked.contains("files changed and nothing was noted"), "{asked}");
    assert_eq!(stop(&env, &process), "", "asked once");
    end(process);

    let (env, process) = at_work("capture: {ask: once}\n");
    env.run(&["note", "decision", "Lists nest", "--session", ID]).success();
    assert_eq!(stop(&env, &process), "", "something was noted");
    end(process);

    let (env, process) = at_work("capture: {keep: 30d}\n");
    assert_eq!(stop(&env, &process), "", "nobody wanted to be asked");
    end(process);
}

#[test]
fn strict_settings_ask_for_decisions_that_hold_before_the_context_can_be_cleared() {
    let (env, process) = at_work("checkpoint: {mode: strict}\n");
    env.write("src/auth.rs", "fn rotate(token: &str) {\n    revoke_family(token);\n}\n");
    let note = ["note", "decision", "Revoke the family", "--session", ID];
    env.run(&[&note[..], &["--evidence", "src/auth.rs:2"]].concat()).success();
    assert_eq!(stop(&env, &process), "", "it holds");
    env.write("src/auth.rs", "fn rotate(token: &str) {}\n");
    let asked = stop(&env, &process);
    assert!(asked.contains("\"decision\":\"block\""), "{asked}");
    assert!(
        asked.contains("Revoke the family") && asked.contains("heirloom checkpoint"),
        "{asked}"
    );
    assert_eq!(stop(&env, &process), "", "the same is not asked for again");
    env.run(&["note", "decision", "Log refusals", "--session", ID]).success();
    let asked = stop(&env, &process);
    assert!(asked.contains("Log refusals"), "{asked}");
    end(process);

    // Where it only warns, the end of a turn says nothing.
    let (env, process) = at_work("checkpoint: {mode: warn}\n");
    env.run(&["note", "decision", "Log refusals", "--session", ID]).success();
    assert_eq!(stop(&env, &process), "");
    end(process);
}

#[test]
fn strict_settings_ask_for_everything_that_a_checkpoint_would_be_refused_for() {
    let (env, process) = at_work("checkpoint: {mode: strict}\n");
    let note = ["note", "learning", "Nothing throttles logins", "--session", ID];
    env.run(&[&note[..], &["--absent", "throttle_login", "--absent", "login limiter"]].concat())
        .success();
    assert_eq!(stop(&env, &process), "", "nothing does");
    env.write("src/login.rs", "fn throttle_login(user: &str) {\n    wait(user);\n}\n");
    let asked = stop(&env, &process);
    assert!(asked.contains("\"decision\":\"block\"") && asked.contains("absence: "), "{asked}");
    assert!(asked.contains("Nothing throttles logins"), "{asked}");
    assert_eq!(stop(&env, &process), "", "the same is not asked for again");
    fs::remove_file(env.repo().join("src/login.rs")).unwrap();
    assert_eq!(stop(&env, &process), "");

    // A page that cannot be read is one that nothing can be handed over with.
    fs::write(env.repo().join("NOTES.md"), b"\xff\xfe\x00").unwrap();
    let asked = stop(&env, &process);
    assert!(asked.contains("decision log: ") && asked.contains("heirloom heal"), "{asked}");
    let dry = env.run(&["checkpoint", "--dry-run", "--session", ID, "--json"]);
    assert!(dry.code != 0 && dry.json()["permitted"] == false, "{dry:?}");
    end(process);
}

/// Has a page that nothing can be written to, which every checkpoint fails on.
fn without_a_page(env: &TestEnv) {
    env.run(&["note", "decision", "Log refusals", "--session", ID]).success();
    let page = env.repo().join("NOTES.md");
    let _ = fs::remove_file(&page);
    fs::create_dir(page).unwrap();
}

#[test]
fn strict_settings_refuse_a_compaction_that_a_person_asks_for_and_no_other() {
    let (env, process) = at_work("checkpoint: {mode: strict}\n");
    without_a_page(&env);
    let compact =
        |trigger: &str| hook(&env, "PreCompact", ID, process.id(), &json!({"trigger": trigger}));
    let refused = compact("manual");
    assert!(refused.contains("\"decision\":\"block\""), "{refused}");
    assert!(refused.contains("decision log: "), "{refused}");
    // One that begins by itself would only fail later, so what is wanting opens the next brief.
    let allowed = compact("auto");
    assert!(!allowed.contains("block"), "{allowed}");
    let brief = hook(&env, "SessionStart", ID, process.id(), &json!({"source": "compact"}));
    assert!(brief.contains("decision log: "), "{brief}");
    end(process);

    let (env, process) = at_work("checkpoint: {mode: warn}\n");
    without_a_page(&env);
    let said = hook(&env, "PreCompact", ID, process.id(), &json!({"trigger": "manual"}));
    assert!(!said.contains("block"), "{said}");
    end(process);
}

#[test]
fn a_clear_makes_its_whole_checkpoint_and_what_it_lacked_opens_the_next_brief() {
    let (env, process) = at_work("checkpoint: {mode: strict}\n");
    // A compaction takes no decision's word for it; a clear looks whether each one holds.
    env.run(&["note", "decision", "Log refusals", "--session", ID]).success();
    hook(&env, "SessionEnd", ID, process.id(), &json!({"reason": "clear"}));
    let next = "1b554780-986f-49f2-9a58-edfafd0188dd";
    let brief = hook(&env, "SessionStart", next, process.id(), &json!({"source": "clear"}));
    assert!(brief.contains("grounding: "), "{brief}");
    end(process);
}

#[test]
fn the_tracker_writes_its_file_before_a_compaction_and_a_clear_though_nobody_asks_for_it() {
    let (env, process) = at_work("checkpoint: {mode: warn}\n");
    fs::create_dir(env.repo().join(".beads")).unwrap();
    let log = env.user().join("told");
    let bin = env.user().join("bin");
    fs::create_dir_all(&bin).unwrap();
    env.script("bin/br", &format!("#!/bin/sh\necho \"$@\" >> {}\n", log.display()));
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let env = env.var("PATH", path);
    let events =
        [("PreCompact", json!({"trigger": "auto"})), ("SessionEnd", json!({"reason": "clear"}))];
    for (event, fields) in events {
        let _ = fs::remove_file(&log);
        let text = format!("Noted before {event}");
        env.run(&["note", "decision", &text, "--issue", "hl-1", "--session", ID]).success();
        hook(&env, event, ID, process.id(), &fields);
        let told = fs::read_to_string(&log).unwrap_or_default();
        assert!(told.contains("sync --flush-only"), "{event}: {told}");
    }
    end(process);
}

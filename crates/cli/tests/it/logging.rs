//! What is logged, where, and that nothing is where nobody asked.

use std::fs;

use heirloom_testkit::env::TestEnv;
use serde_json::json;

use crate::env;

fn log(env: &TestEnv) -> Option<String> {
    fs::read_to_string(env.home().join("log/heirloom.log")).ok()
}

fn hook(env: &TestEnv) {
    let payload = json!({"session_id": "8272974a-8223-4415-954c-99d01904a037", "cwd": env.repo(),
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}});
    env.run_with(&["hook", "claude", "PreToolUse"], payload.to_string().as_bytes()).success();
}

#[test]
fn a_command_says_what_it_does_inside_when_asked_and_not_on_stdout() {
    let env = env();
    let quiet = env.run(&["repo", "show", "--json"]).success();
    assert_eq!(quiet.stderr, "");
    let once = env.run(&["-v", "repo", "show", "--json"]).success();
    assert!(!once.stderr.contains("DEBUG"), "{once}");
    let twice = env.run(&["repo", "show", "--json", "-vv"]).success();
    assert!(twice.stderr.contains("DEBUG heirloom_engine::settings"), "{twice}");
    assert_eq!(twice.stdout, quiet.stdout);
}

#[test]
fn a_hook_logs_only_when_asked_and_nothing_makes_a_file_that_has_nothing_to_say() {
    let env = env();
    hook(&env);
    env.run(&["sessions", "list"]).success();
    assert_eq!(log(&env), None);
    let env = env.var("HEIRLOOM_LOG", "heirloom_hook=debug");
    hook(&env);
    let log = log(&env).unwrap();
    assert!(log.contains("DEBUG heirloom_hook: hook agent=\"claude\""), "{log}");
    assert!(log.starts_with("2026-01-12T15:30:00Z "), "{log}");
    assert_eq!(log.lines().count(), 1, "{log}");
}

#[test]
fn damage_is_in_the_log_unasked() {
    let env = env();
    env.run(&["note", "learning", "one"]).success();
    fs::write(env.home().join("ledger.db"), "no database").unwrap();
    assert_eq!(env.run(&["notes"]).code, 1);
    let log = log(&env).unwrap();
    assert!(log.contains("ERROR heirloom_ledger::damage: the ledger is damaged"), "{log}");
}

#[test]
fn no_secret_is_in_the_log_and_no_line_acts_on_a_terminal() {
    let secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let env = env().var("HEIRLOOM_LOG", "debug");
    let payload = json!({"session_id": "8272974a-8223-4415-954c-99d01904a037",
        "cwd": format!("/nowhere/{secret}/\u{1b}[31m"), "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": "ls"}});
    env.run_with(&["hook", "claude", "PreToolUse"], payload.to_string().as_bytes()).success();
    let log = log(&env).unwrap();
    assert!(log.contains("/nowhere/"), "{log}");
    assert!(!log.contains(secret) && !log.contains('\u{1b}'), "{log}");
}

#[test]
fn a_filter_that_is_none_is_refused_by_commands_and_does_not_matter_to_hooks() {
    let env = env().var("HEIRLOOM_LOG", "heirloom=loud");
    hook(&env);
    let said = env.run(&["notes"]);
    assert_eq!(said.code, 64, "{said}");
    assert!(said.stderr.contains("HEIRLOOM_LOG is not a filter"), "{said}");
}

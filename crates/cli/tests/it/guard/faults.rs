//! What goes wrong with us is never the agent's problem.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use proptest::prelude::*;
use serde_json::json;

use super::{Guarded, ONE, Said, said};

const PLAN: &str = "requirements:\n  plan: {}\n";

#[test]
fn a_payload_of_any_bytes_is_survived() {
    let guarded = Guarded::new(PLAN);
    let whole =
        json!({"session_id": ONE, "cwd": guarded.env.repo(), "tool_name": "Edit"}).to_string();
    for payload in [
        b"".as_slice(),
        b"\n",
        b"{}",
        b"null",
        b"[]",
        b"7",
        b"\"x\"",
        b"{",
        b"\xff\xfe",
        b"{\"a\":",
        b"{\"session_id\":7,\"cwd\":[],\"tool_name\":{},\"tool_input\":\"x\"}",
        b"{\"session_id\":\"\",\"cwd\":\"/\"}",
        b"{\"session_id\":\"s\",\"cwd\":\"/does/not/exist\",\"tool_name\":\"Edit\"}",
        &whole.as_bytes()[..whole.len() - 1],
    ] {
        for event in ["PreToolUse", "PostToolUse", "Stop", "SessionStart", "SessionEnd", "Nonsense"]
        {
            let text = String::from_utf8_lossy(payload);
            assert_eq!(guarded.raw("claude", event, payload), Said::Nothing, "{event} {text}");
        }
    }
    assert!(guarded.raw("claude", "PreToolUse", whole.as_bytes()).is_denied());
}

#[test]
fn an_unknown_agent_or_no_argument_at_all_is_silence() {
    let guarded = Guarded::new(PLAN);
    for arguments in
        [&["hook"][..], &["hook", "nobody", "Stop"], &["hook", "claude"], &["hook", "--help"]]
    {
        let ran = guarded.env.run_with(arguments, b"{\"session_id\":\"s\"}");
        assert_eq!(said(&ran), Said::Nothing, "{arguments:?}");
    }
}

#[test]
fn input_without_an_end_is_answered_all_the_same() {
    let guarded = Guarded::new(PLAN);
    let mut child = guarded
        .env
        .command(&["hook", "claude", "PreToolUse"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let payload = json!({"session_id": ONE, "cwd": guarded.env.repo(), "tool_name": "Edit"});
    stdin.write_all(payload.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert!(output.status.success());
    assert!(String::from_utf8(output.stdout).unwrap().contains("plan is not met"));
}

#[test]
fn heirloom_is_silent_where_it_is_not_set_up_and_where_it_is_switched_off() {
    let guarded = Guarded { env: crate::env() };
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    assert_eq!(guarded.start(ONE, "startup"), Said::Nothing);
    assert!(!guarded.env.home().join("ledger.db").exists());
    let off = Guarded::new("guard: {enabled: false}\nrequirements:\n  plan: {}\n");
    assert_eq!(off.edit(ONE), Said::Nothing);
    assert!(off.start(ONE, "startup").text().contains("switched off"));
    let disabled = Guarded::new(PLAN);
    let disabled = Guarded { env: disabled.env.var("HEIRLOOM_DISABLE", "1") };
    assert_eq!(disabled.edit(ONE), Said::Nothing);
    assert_eq!(disabled.start(ONE, "startup"), Said::Nothing);
}

#[test]
fn a_tool_use_that_nothing_gates_opens_no_ledger() {
    let guarded = Guarded::new(PLAN);
    assert_eq!(guarded.bash(ONE, "ls"), Said::Nothing);
    assert!(!guarded.env.home().join("ledger.db").exists());
}

#[test]
fn a_broken_settings_file_gates_nothing_and_is_reported_through_the_agent() {
    let guarded = Guarded::new("requirements:\n  plan: {\n");
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    let text = guarded.start(ONE, "startup").text().to_owned();
    assert!(
        text.contains(".heirloom/config.yaml cannot be read") && text.contains("Tell the person"),
        "{text}"
    );
    guarded.env.write(".heirloom/config.yaml", PLAN);
    assert!(guarded.edit(ONE).is_denied());
    guarded.env.write(".heirloom/local.yaml", "requirements: 7\n");
    assert_eq!(guarded.edit(ONE), Said::Nothing);
}

#[test]
fn settings_that_change_hold_from_the_next_tool_use_on() {
    let guarded = Guarded::new(PLAN);
    assert!(guarded.edit(ONE).is_denied());
    guarded.env.write(".heirloom/config.yaml", "requirements:\n  plan: {enabled: false}\n");
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    fs::remove_file(guarded.env.repo().join(".heirloom/config.yaml")).unwrap();
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    guarded.env.write(".heirloom/config.yaml", PLAN);
    assert!(guarded.edit(ONE).is_denied());
}

#[test]
fn a_damaged_rule_cache_is_read_again() {
    let guarded = Guarded::new(PLAN);
    assert!(guarded.edit(ONE).is_denied());
    for entry in fs::read_dir(guarded.env.home().join("cache")).unwrap().flatten() {
        fs::write(entry.path(), "nonsense").unwrap();
    }
    assert!(guarded.edit(ONE).is_denied());
}

#[test]
fn a_ledger_that_cannot_be_used_lets_the_agent_go_on_visibly() {
    let guarded = Guarded::new(
        "requirements:\n  plan: {}\n  strict: {on_error: deny, trigger_tools: [Write]}\n",
    );
    guarded.env.run(&["ledger", "stats"]).success();
    let file = guarded.env.home().join("ledger.db");
    let whole = fs::read(&file).unwrap();
    let mut newer = whole.clone();
    newer[60..64].copy_from_slice(&9999u32.to_be_bytes());
    fs::write(&file, &newer).unwrap();
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    let write = guarded.tool("PreToolUse", ONE, "Write", &json!({"file_path": "a"}));
    assert!(write.text().contains("a fault, not a violation"), "{write:?}");
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    let log = fs::read_to_string(guarded.env.home().join("hook.log")).unwrap();
    assert_eq!(log.lines().filter(|line| line.contains(": plan:")).count(), 1, "{log}");
    fs::write(&file, &whole).unwrap();
    assert!(guarded.start(ONE, "startup").text().contains("heirloom had a fault"));
    assert!(!guarded.start(ONE, "compact").text().contains("heirloom had a fault"));
    let doctor = guarded.env.run(&["doctor"]);
    assert!(doctor.stdout.contains("hook.log"), "{doctor:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_on_stdin_a_hook_succeeds_with_one_document_or_none(
        agent in "claude|codex|gemini|opencode|sim|x",
        event in "PreToolUse|PostToolUse|Stop|SessionStart|UserPromptSubmit|SessionEnd|BeforeTool|.{0,6}",
        fields in prop::collection::vec((key(), value()), 0..8),
        junk in prop::option::of(prop::collection::vec(any::<u8>(), 0..40)),
    ) {
        let guarded = Guarded::new(PLAN);
        let mut payload = json!({"session_id": ONE, "cwd": guarded.env.repo()});
        payload.as_object_mut().unwrap().extend(fields);
        let bytes = junk.unwrap_or_else(|| payload.to_string().into_bytes());
        let event = event.replace('\0', "");
        let ran = guarded.env.run_with(&["hook", &agent, &event], &bytes);
        prop_assert_eq!(ran.code, 0);
        prop_assert_eq!(ran.stderr.as_str(), "");
        if !ran.stdout.is_empty() {
            let document: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
            prop_assert!(document.as_object().is_some_and(|document| !document.is_empty()));
        }
        let log = fs::read_to_string(guarded.env.home().join("hook.log")).unwrap_or_default();
        prop_assert!(!log.contains("panic"), "{}", log);
    }
}

fn key() -> impl Strategy<Value = String> {
    "session_id|cwd|hook_event_name|tool_name|tool_input|tool_response|source|prompt|reason|stop_hook_active|background_tasks|prompt_id|agent_id|[a-z]{1,4}"
}

fn value() -> impl Strategy<Value = serde_json::Value> {
    prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|value| json!(value)),
        any::<i32>().prop_map(|value| json!(value)),
        ".{0,20}".prop_map(|value| json!(value)),
        "Edit|Bash|PreToolUse|Stop|SessionStart|clear|/".prop_map(|value| json!(value)),
        "[a-z;|&$('\" ]{0,20}"
            .prop_map(|command| json!({"command": command, "file_path": command})),
        Just(json!([1, {"a": []}])),
    ]
}

//! Whatever is on stdin, a hook succeeds, with one document or none.

use std::fs;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::{CLAUDE_EVENTS, Guarded, ONE};

/// Something in it denies, warns, blocks and says.
const SETTINGS: &str = r#"
requirements:
  plan: {satisfied_by_skill: arch-review}
  style: {enforcement: warn, trigger_tools: [{tool: Bash, command_pattern: 'x+'}, "mcp__*"]}
  push: {scope: single_use, trigger_tools: [{tool: Bash, command: [git, push]}]}
  later: {stop_only: true, trigger_tools: [Bash, Read]}
  secrets: {trigger_tools: [{tool: Read, path: "secrets/**"}, {tool: Write, content: "key"}]}
"#;

/// Every event that some agent calls us for.
const EVENTS: &[(&str, &[&str])] = &[
    ("claude", CLAUDE_EVENTS),
    (
        "codex",
        &[
            "SessionStart",
            "UserPromptSubmit",
            "PreToolUse",
            "PermissionRequest",
            "PostToolUse",
            "PreCompact",
            "PostCompact",
            "SubagentStart",
            "Stop",
            "SessionEnd",
        ],
    ),
    (
        "gemini",
        &["SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "SessionEnd"],
    ),
    ("opencode", &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact"]),
    ("sim", &["PreToolUse", "Stop"]),
    ("nobody", &["PreToolUse"]),
];

/// A payload with a field for every event.
fn payload(cwd: &str, tool: &str, event: &str) -> Value {
    json!({
        "session_id": ONE, "transcript_path": "/nowhere/t.jsonl", "cwd": cwd, "turn_id": "t1",
        "hook_event_name": event, "permission_mode": "default", "prompt_id": "p1",
        "tool_name": tool, "tool_use_id": "u1", "source": "startup", "model": "m",
        "tool_input": {"command": "git push && echo xx", "file_path": "secrets/a", "content": "key",
                       "edits": [{"new_string": "x"}], "skill": "arch-review"},
        "tool_response": {"llmContent": "x\nExit Code: 1"}, "error": "e", "is_interrupt": false,
        "stop_hook_active": false, "background_tasks": [], "last_assistant_message": "m",
        "prompt": "/arch-review", "command_name": "arch-review", "trigger": "auto",
        "custom_instructions": "", "reason": "other", "agent_type": "Explore", "exit": 0,
    })
}

/// A change to a payload.
#[derive(Debug, Clone)]
enum Change {
    Set(prop::sample::Index, Value),
    Drop(prop::sample::Index),
    Cut(prop::sample::Index),
    Put(prop::sample::Index, Vec<u8>),
    Twice,
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        4 => (at(), value()).prop_map(|(at, value)| Change::Set(at, value)),
        2 => at().prop_map(Change::Drop),
        1 => at().prop_map(Change::Cut),
        1 => (at(), prop::collection::vec(any::<u8>(), 1..6)).prop_map(|(at, bytes)| Change::Put(at, bytes)),
        1 => Just(Change::Twice),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "(Edit|Bash|PreToolUse|Stop|SessionStart|clear|compact|resume|fork|/|\\.\\./|ses_1|8272974a){0,2}"
            .prop_map(Value::from),
        r#"[a-z;|&$('"`<>{}\\ \n#=*\[\]-]{0,40}"#.prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key(), inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    "command|file_path|content|edits|new_string|skill|name|patch|llmContent|error|[a-z]{1,3}"
}

/// The bytes of a payload after all changes.
fn changed(mut payload: Value, changes: &[Change]) -> Vec<u8> {
    let fields = payload.as_object_mut().unwrap();
    for change in changes {
        let names: Vec<String> = fields.keys().cloned().collect();
        match change {
            _ if names.is_empty() => {}
            Change::Set(at, value) => drop(fields.insert(at.get(&names).clone(), value.clone())),
            Change::Drop(at) => drop(fields.remove(at.get(&names))),
            Change::Cut(_) | Change::Put(..) | Change::Twice => {}
        }
    }
    let mut bytes = payload.to_string().into_bytes();
    for change in changes {
        match change {
            Change::Cut(at) => bytes.truncate(at.index(bytes.len() + 1)),
            Change::Put(at, new) => {
                let at = at.index(bytes.len() + 1);
                bytes.splice(at..at, new.iter().copied());
            }
            Change::Twice => bytes.extend_from_within(..),
            Change::Set(..) | Change::Drop(_) => {}
        }
    }
    bytes
}

/// Holds a call to its promises.
fn check(guarded: &Guarded, agent: &str, event: &str, bytes: &[u8]) -> Result<(), TestCaseError> {
    let ran = guarded.env.run_with(&["hook", agent, event], bytes);
    prop_assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    if ran.stdout.is_empty() {
        return Ok(());
    }
    let document: Value = serde_json::from_str(&ran.stdout)
        .map_err(|error| TestCaseError::fail(format!("{error}: {}", ran.stdout)))?;
    prop_assert!(document.as_object().is_some_and(|fields| !fields.is_empty()), "{}", document);
    for at in [
        "/decision",
        "/hookSpecificOutput/permissionDecision",
        "/hookSpecificOutput/decision/behavior",
    ] {
        let decision = document.pointer(at).and_then(Value::as_str);
        prop_assert!(matches!(decision, None | Some("deny" | "block")), "{}", document);
    }
    let length = ran.stdout.encode_utf16().count();
    prop_assert!(length <= 12_000, "{} units", length);
    Ok(())
}

#[test]
fn a_mutated_payload_of_any_event_is_answered_with_one_document_or_none() {
    let guarded = Guarded::new(SETTINGS);
    let cwd = guarded.env.repo().to_string_lossy().into_owned();
    let all: Vec<(&str, &str)> = EVENTS
        .iter()
        .flat_map(|(agent, events)| events.iter().map(move |event| (*agent, *event)))
        .collect();
    let tools = ["Edit", "Bash", "Read", "Write", "Skill", "write_file", "bash", "mcp__a__b"];
    let input = (
        prop::sample::select(all),
        prop::sample::select(tools.to_vec()),
        prop::collection::vec(change(), 0..5),
    );
    let config =
        ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new(config)
        .run(&input, |((agent, event), tool, changes)| {
            let bytes = changed(payload(&cwd, tool, event), &changes);
            check(&guarded, agent, event, &bytes)
        })
        .unwrap();
    let log = fs::read_to_string(guarded.env.home().join("hook.log")).unwrap_or_default();
    assert!(!log.contains("panic"), "{log}");
    guarded.env.run(&["ledger", "verify"]).success();
}

#[test]
fn random_bytes_are_answered_with_nothing() {
    let guarded = Guarded::new(SETTINGS);
    let input = (
        prop::sample::select(vec!["claude", "codex", "gemini", "opencode"]),
        "[A-Za-z]{0,12}|PreToolUse|Stop|BeforeTool",
        prop::collection::vec(any::<u8>(), 0..80),
    );
    let config =
        ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new(config)
        .run(&input, |(agent, event, bytes)| {
            let ran = guarded.env.run_with(&["hook", agent, &event], &bytes);
            prop_assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
            Ok(())
        })
        .unwrap();
}

#[test]
fn what_is_very_large_or_very_deep_is_answered_all_the_same() {
    let guarded = Guarded::new(SETTINGS);
    let cwd = guarded.env.repo();
    let deep = |count: usize, open: &str, close: &str| {
        format!("{}{}", open.repeat(count), close.repeat(count))
    };
    for (command, is_denied) in [
        (format!("git push {}", "x ".repeat(500_000)), true),
        (deep(100_000, "$(", ")"), false),
        (deep(50_000, "`", ""), false),
        ("${".repeat(100_000), false),
        ("a|".repeat(200_000), false),
        ("bash -c '".repeat(2_000), false),
        ("if ".repeat(100_000), false),
        ("<<A ".repeat(10_000), false),
    ] {
        let payload = json!({"session_id": ONE, "cwd": cwd, "tool_name": "Bash", "tool_input": {"command": command}});
        let said = guarded.raw("claude", "PreToolUse", payload.to_string().as_bytes());
        let start: String = command.chars().take(20).collect();
        assert_eq!(said.is_denied(), is_denied, "{start}: {said:?}");
    }
    // What is too deep is not followed, and what comes after it is read all the same.
    let command = format!("{} git push", deep(100_000, "(", ")"));
    let payload = json!({"session_id": ONE, "cwd": cwd, "tool_name": "Bash", "tool_input": {"command": command}});
    let said = guarded.raw("claude", "PreToolUse", payload.to_string().as_bytes());
    assert!(said.is_denied(), "{said:?}");
    let nested = deep(200_000, "[", "]");
    let payload = format!(
        r#"{{"session_id":"{ONE}","cwd":"{}","tool_name":"Edit","tool_input":{nested}}}"#,
        cwd.display()
    );
    assert!(guarded.raw("claude", "PreToolUse", payload.as_bytes()).is_denied());
    let half = format!(
        r#"{{"session_id":"{ONE}","cwd":"{}","tool_name":"Edit","tool_input":{{"new_string":"\ud800"}}}}"#,
        cwd.display()
    );
    assert!(guarded.raw("claude", "PreToolUse", half.as_bytes()).is_denied());
}

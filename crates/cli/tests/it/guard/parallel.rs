//! Many hooks at once, and hooks that are killed.

use std::io::Write;
use std::process::{Child, Stdio};

use serde_json::json;

use super::{Guarded, Said};

fn session(number: usize) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

fn spawn(guarded: &Guarded, event: &str, payload: &serde_json::Value) -> Child {
    let mut child = guarded
        .env
        .command(&["hook", "claude", event])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _ = child.stdin.take().unwrap().write_all(payload.to_string().as_bytes());
    child
}

#[test]
fn a_hundred_hooks_at_once_lose_nothing() {
    let guarded = Guarded::new(
        "requirements:\n  later: {stop_only: true}\n  plan: {satisfied_by_skill: review, trigger_tools: [Write]}\n",
    );
    let payload = |number: usize, event: &str, tool: &str, input: serde_json::Value| {
        json!({"session_id": session(number), "cwd": guarded.env.repo(), "hook_event_name": event,
               "tool_name": tool, "tool_input": input, "source": "startup", "prompt": "go"})
    };
    let children: Vec<Child> = (0..100)
        .map(|number| match number % 4 {
            0 | 1 => spawn(
                &guarded,
                "PreToolUse",
                &payload(number, "PreToolUse", "Edit", json!({"file_path": "a"})),
            ),
            2 => spawn(
                &guarded,
                "PostToolUse",
                &payload(number, "PostToolUse", "Skill", json!({"skill": "review"})),
            ),
            _ => spawn(&guarded, "SessionStart", &payload(number, "SessionStart", "", json!({}))),
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
    }
    let log = std::fs::read_to_string(guarded.env.home().join("hook.log")).unwrap_or_default();
    assert_eq!(log, "");
    for number in 0..100 {
        match number % 4 {
            0 | 1 => {
                assert!(matches!(guarded.stop(&session(number)), Said::Blocked(_)), "{number}");
            }
            2 => {
                let write = json!({"file_path": "a"});
                let said = guarded.tool("PreToolUse", &session(number), "Write", &write);
                assert_eq!(said, Said::Nothing, "{number}");
            }
            _ => {
                let found = guarded.env.run(&["status", &session(number)]);
                assert_eq!(found.code, 0, "{number}: {found:?}");
            }
        }
    }
    assert_eq!(guarded.env.run(&["ledger", "verify"]).code, 0);
}

#[test]
fn a_hook_that_is_killed_at_any_instant_leaves_nothing_broken() {
    let guarded = Guarded::new("requirements:\n  later: {stop_only: true}\n");
    for number in 0..40 {
        let payload = json!({"session_id": session(number), "cwd": guarded.env.repo(),
                             "tool_name": "Edit", "tool_input": {"file_path": "a"}});
        let mut child = spawn(&guarded, "PreToolUse", &payload);
        // Longer for each, so that the kills fall everywhere in its short life.
        std::thread::sleep(std::time::Duration::from_micros(200 * number as u64));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert_eq!(guarded.env.run(&["ledger", "verify"]).code, 0);
    assert_eq!(guarded.edit(&session(99)), Said::Nothing);
    assert!(matches!(guarded.stop(&session(99)), Said::Blocked(_)));
}

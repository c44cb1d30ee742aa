use std::fs;

use heirloom_testkit::env::TestEnv;
use serde_json::{Value, json};

pub(super) const ID: &str = "0b8e7c1e-3d0e-4a5c-9a67-3f6f2b8a1c11";

/// A conversation that somebody had with Claude Code, of which heirloom knows nothing.
pub(super) fn by_hand(env: &TestEnv) {
    let cwd = env.repo();
    let slug: String = cwd
        .to_str()
        .unwrap()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let common = json!({"isSidechain": false, "userType": "external", "cwd": cwd, "sessionId": ID,
                        "version": "2.1.325", "gitBranch": "main", "timestamp": "2026-01-12T15:00:00Z"});
    let line = |fields: Value| {
        let mut line = common.clone();
        line.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        format!("{line}\n")
    };
    let text = [
        line(json!({"type": "user", "uuid": "u1", "parentUuid": null,
                    "message": {"role": "user", "content": "Why is the billing queue starving?"}})),
        line(
            json!({"type": "assistant", "uuid": "a1", "parentUuid": "u1", "message": {"id": "m1", "role": "assistant",
                    "model": "claude-opus-4-6", "content": [{"type": "thinking", "thinking": "hidden thought"},
                    {"type": "text", "text": "The backoff has no ceiling."},
                    {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "cargo test"}}]}}),
        ),
    ];
    let directory = env.user().join(".claude/projects").join(slug);
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join(format!("{ID}.jsonl")), text.concat()).unwrap();
}

#[test]
fn a_conversation_that_heirloom_never_launched_is_found_and_resumed_where_it_was() {
    let env = super::env();
    by_hand(&env);
    let plain = crate::env();
    by_hand(&plain);
    let answer = plain.run(&["resume", "billing queue", "--print", "--json"]).success().json();
    assert_eq!(answer["agent"], "claude");
    assert_eq!(answer["agent_session_id"], ID);
    assert_eq!(answer["directory"], "[root]/payments");
    assert_eq!(answer["command"], json!(["claude", "--resume", ID]));
    let ran = plain.run(&["resume", "billing queue", "--print"]).success();
    assert_eq!(ran.stdout, format!("cd [root]/payments && claude --resume {ID}\n"));
    let replaced = env.run(&["resume", "billing queue", "--print", "--json"]).success().json();
    assert_ne!(replaced["command"][0], "claude", "the program that stands in for it");
    let listed = plain.run(&["resume", "--json"]).success().json();
    assert_eq!(listed["sessions"][0]["prompt"], "Why is the billing queue starving?");
    let nothing = plain.run(&["resume", "kangaroo", "--print", "--json"]);
    assert_eq!(nothing.code, 1);
    assert_eq!(nothing.json()["error"]["code"], "session.not-found", "{nothing}");
}

#[test]
fn a_conversation_is_carried_over_as_a_copy_and_the_original_stays_as_it_is() {
    let env = crate::env();
    by_hand(&env);
    let file = || {
        let projects = env.user().join(".claude/projects");
        let project = fs::read_dir(projects).unwrap().flatten().next().unwrap().path();
        fs::read(project.join(format!("{ID}.jsonl"))).unwrap()
    };
    let before = file();
    let ran = env.run(&["resume", "billing", "--with", "codex", "--print", "--json"]).success();
    let answer = ran.json();
    let id = answer["agent_session_id"].as_str().unwrap();
    assert_ne!(id, ID);
    assert_eq!(answer["command"], json!(["codex", "resume", id]));
    assert!(ran.stderr.contains("not carried over: what the agent thought"), "{ran}");
    let rollout = env
        .user()
        .join(format!(".codex/sessions/2026/01/12/rollout-2026-01-12T15-30-00-{id}.jsonl"));
    let rollout = fs::read_to_string(rollout).unwrap();
    assert!(rollout.contains("Why is the billing queue starving?"), "{rollout}");
    assert!(rollout.contains("no ceiling") && rollout.contains("[ran: cargo test]"), "{rollout}");
    assert!(!rollout.contains("hidden thought"), "{rollout}");
    assert_eq!(file(), before);
    let back = env.run(&["resume", id, "--with", "claude", "--print", "--json"]).success().json();
    assert_eq!(back["command"][0], "claude");
    let refused = env.run(&["resume", "billing", "--with", "gemini", "--print"]);
    assert_eq!(refused.code, 64, "{refused}");
}

//! What a continued session shows, refuses and keeps.

use std::fs;

use heirloom_core::config::Field;
use serde_json::{Value, json};

use super::Fixture;
use super::fields::{SECRET, go_on, launch_all};

#[test]
fn the_config_is_shown_with_where_it_comes_from_and_without_secrets() {
    let fixture = Fixture::new();
    launch_all(&fixture);
    go_on(&fixture, &["continue", "a", "more", "--model", "haiku", "--clear", "allowed_tools"]);
    go_on(&fixture, &["continue", "a-v2", "more"]);
    let shown = fixture.json(&["sessions", "show", "a-v3", "--config"]);
    assert_eq!(shown["session"], "a-v3");
    let keys: Vec<&String> = shown["config"].as_object().unwrap().keys().collect();
    assert_eq!(keys, Field::ALL.iter().map(|field| field.as_str()).collect::<Vec<_>>());
    let field = |name: &str| &shown["config"][name];
    assert_eq!(*field("model"), json!({"value": "haiku", "from": "a-v2", "overridden": false}));
    assert_eq!(
        *field("allowed_tools"),
        json!({"value": null, "from": "a-v2", "overridden": false})
    );
    assert_eq!(
        *field("system_prompt"),
        json!({"value": "SYSTEM", "from": "a", "overridden": false})
    );
    assert_eq!(field("mcp_servers")["from"], "a-v3", "the header is its own");
    assert_eq!(field("mcp_servers")["value"]["db"]["env"]["DB_TOKEN"], "********");
    let here = fixture.json(&["sessions", "show", "a-v2", "--config"]);
    assert_eq!(here["config"]["model"]["overridden"], true);
    assert_eq!(here["config"]["allowed_tools"]["overridden"], true);

    for entry in std::fs::read_dir(fixture.env.home()).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_file() {
            let bytes = std::fs::read(entry.path()).unwrap();
            let found = bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
            assert!(!found, "the secret is in {name}");
        }
    }
    let trajectory = fixture.run(&["sessions", "show", "a-v3", "--trajectory", "--json"]).stdout;
    assert!(!trajectory.contains(SECRET));
    assert_eq!(std::fs::read_dir(fixture.env.home().join("scratch")).unwrap().count(), 0);
}

#[test]
fn a_config_that_cannot_be_used_leaves_no_session() {
    let fixture = Fixture::new();
    fixture.json(&["launch", "go", "--name", "a"]);
    for (arguments, code) in [
        (&["--max-turns", "0"][..], "config.invalid"),
        (&["--working-dir", "nowhere"], "config.working_dir"),
        (&["--mcp-config", "{"], "config.mcp_servers"),
        (&["--mcp-config", "nowhere.json"], "config.mcp_servers"),
        (&["--permission-mode", "sometimes"], "agent.launch"),
        (&["--clear", "alowed_tools"], "usage"),
        (&["--model", "x", "--clear", "model"], "usage"),
        (&["--config", r#"{"disalowed_tools":[]}"#], "usage"),
        // The fields in order would be a list too.
        (&["--config", r#"["haiku"]"#], "usage"),
        (&["--name", "a"], "session.name-taken"),
        (&["--bypass-until", "2020-01-01T00:00:00Z"], "config.invalid"),
    ] {
        let ran = fixture.run(&[&["continue", "a", "more"], arguments, &["--json"]].concat());
        assert_eq!(ran.json()["error"]["code"], code, "{ran}");
        assert_ne!(ran.code, 0);
    }
    // A file that is not there exits alike, whatever it is for.
    for flag in ["--mcp-config", "--prompt-file", "--working-dir"] {
        let prompt: &[&str] = if flag == "--prompt-file" { &[] } else { &["more"] };
        let ran = fixture.run(&[&["continue", "a"], prompt, &[flag, "nowhere.json"]].concat());
        assert_eq!(ran.code, 1, "{ran}");
    }
    let gone = fixture
        .env
        .command(&["continue", "a", "more", "--json"])
        .env("HEIRLOOM_AGENT_CLAUDE", "/nowhere/claude")
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&gone.stdout).contains("agent.launch"));
    assert_eq!(fixture.json(&["sessions", "list"])["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(fixture.launches(), 1);
    assert_eq!(fixture.status("a"), "completed");
}

#[test]
fn a_rejected_resume_keeps_the_message_and_the_parent() {
    let fixture = Fixture::new();
    let parent = fixture.json(&["launch", "go", "--name", "a"]);
    let ran = fixture.run(&["continue", "a", "please be stale", "--json"]);
    assert_eq!(ran.code, 1);
    let child = ran.json();
    assert_eq!((&child["name"], &child["status"]), (&json!("a-v2"), &json!("failed")));
    assert_eq!(child["outcome"], "stale_session");
    assert!(child["reason"].as_str().unwrap().contains("has no conversation"), "{child}");
    assert_ne!(child["agent_session_id"], parent["agent_session_id"]);
    assert_eq!(fixture.status("a"), "completed");
    let said = fixture.json(&["conversation", "a-v2"]);
    let prompts: Vec<&Value> = said["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["kind"] == "prompt")
        .map(|event| &event["text"])
        .collect();
    assert_eq!(prompts, ["go", "please be stale"]);

    // The next one goes on from the parent, and says what was never heard.
    let next = fixture.json(&["continue", "a-v2", "once more, then"]);
    assert_eq!(next["name"], "a-v3");
    let given = fixture.given(3);
    assert_eq!(given.flag("--resume"), parent["agent_session_id"].as_str());
    assert_eq!(given.prompt(), "please be stale\n\nonce more, then");
}

#[test]
fn a_fork_begins_after_any_message_and_the_conversation_shows_its_own_way() {
    let fixture = Fixture::new();
    fixture.json(&["launch", "go", "--name", "a"]);
    fixture.json(&["continue", "a", "further"]);
    let events = fixture.json(&["conversation", "a-v2"])["events"].as_array().unwrap().clone();
    let kinds: Vec<&str> = events.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["prompt", "text", "text", "result", "prompt", "text", "text", "result"]);
    fixture.json(&["fork", "a", "elsewhere", "--at", "2", "--name", "b"]);
    let given = fixture.given(3);
    assert_eq!(given.flag("--resume-session-at"), Some("00000000-0000-4000-8000-000000000001"));
    let said = fixture.json(&["conversation", "b"]);
    let texts: Vec<&str> = said["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["kind"] != "result")
        .map(|event| event["text"].as_str().unwrap())
        .collect();
    assert_eq!(texts, ["go", "one", "elsewhere", "one", "two"]);
    let refused = fixture.run(&["fork", "a", "elsewhere", "--at", "99", "--json"]);
    assert_eq!(refused.json()["error"]["code"], "conversation.no-event");
}

#[test]
fn a_fork_is_called_one_and_a_continuation_a_continuation() {
    let fixture = Fixture::new();
    fixture.json(&["launch", "go", "--name", "a"]);
    let forked = fixture.run(&["fork", "a", "elsewhere", "--name", "b"]).success();
    assert!(forked.stderr.starts_with("fork of a (claude "), "{forked}");
    let continued = fixture.run(&["continue", "b", "further", "--name", "c"]).success();
    assert!(continued.stderr.starts_with("continues b (claude "), "{continued}");
    fixture.json(&["continue", "a", "on", "--name", "d"]);
    insta::assert_snapshot!(fixture.run(&["lineage", "c"]).stdout, @r"
    c        just now          0 learnings, 0 decisions, continues b
    └─ b     just now          0 learnings, 0 decisions, fork of a
       └─ a  just now          0 learnings, 0 decisions
    ");
    insta::assert_snapshot!(fixture.run(&["lineage", "a"]).stdout, @r"
    a  just now          0 learnings, 0 decisions
    continued by: d (completed)
    forks: b (completed), c (completed)
    ");
}

#[test]
fn a_fork_keeps_its_own_words_for_a_title_once_its_transcript_is_taken_in() {
    let fixture = Fixture::new();
    let env = &fixture.env;
    env.run(&["init", "--yes"]).success();
    fixture.json(&["launch", "go north", "--name", "a"]);
    let fork = fixture.json(&["fork", "a", "go south instead", "--name", "b"]);
    let about = || {
        let listed = fixture.json(&["sessions", "list"]);
        let rows = listed["sessions"].as_array().unwrap();
        let row = rows.iter().find(|row| row["name"] == "b").unwrap();
        let shown = fixture.json(&["sessions", "show", "b"]);
        [row["title"].clone(), shown["title"].clone()]
    };
    assert_eq!(about(), ["go south instead", "go south instead"]);
    // A copy of its parent's, and then its own.
    let id = fork["agent_session_id"].as_str().unwrap();
    let line = |text: &str| {
        json!({"type": "user", "sessionId": id, "cwd": env.repo(), "version": "2.1.325",
               "promptSource": "sdk", "timestamp": "2026-01-12T10:00:00Z",
               "message": {"role": "user", "content": text}})
        .to_string()
    };
    let title = json!({"type": "ai-title", "sessionId": id, "aiTitle": "Go north"}).to_string();
    let project = env.user().join(".claude/projects/-work");
    fs::create_dir_all(&project).unwrap();
    let text = [line("go north"), title, line("go south instead"), String::new()].join("\n");
    fs::write(project.join(format!("{id}.jsonl")), text).unwrap();
    fixture.json(&["sync"]);
    assert_eq!(fixture.json(&["sessions", "show", "b"])["turns"], 2);
    assert_eq!(about(), ["go south instead", "go south instead"]);
}

#[test]
fn cost_and_tokens_add_up_over_a_lineage() {
    let fixture = Fixture::new();
    fixture.json(&["launch", "go", "--name", "a"]);
    let child = fixture.json(&["continue", "a", "more"]);
    assert_eq!(child["cost_usd"], 0.25);
    assert_eq!(
        child["lineage"],
        json!({"sessions": 2, "unknown_sessions": 0, "cost_usd": 0.5, "input_tokens": 20,
               "output_tokens": 10})
    );
}

#[test]
fn a_cost_that_nobody_told_is_unknown_and_a_sum_that_holds_one_says_so() {
    let fixture = Fixture::new();
    let first = fixture.run(&["launch", "be unpriced", "--name", "a"]).success();
    assert!(first.stderr.contains("a completed cost unknown"), "{first}");
    let shown = fixture.run(&["sessions", "show", "a"]).success();
    assert!(shown.stdout.contains("cost          unknown\n"), "{shown}");
    let listed = fixture.run(&["sessions", "list"]).success();
    assert!(!listed.stdout.contains('$'), "{listed}");

    let second = fixture.json(&["continue", "a", "more", "--name", "b"]);
    assert_eq!((&second["cost_usd"], &second["cost_partial"]), (&json!(0.25), &json!(false)));
    assert_eq!(
        second["lineage"],
        json!({"sessions": 2, "unknown_sessions": 1, "cost_usd": 0.25, "input_tokens": 20,
               "output_tokens": 10})
    );
    let shown = fixture.run(&["sessions", "show", "b"]).success();
    assert!(shown.stdout.contains("at least $0.25 with all it continues"), "{shown}");
}

#[test]
fn a_template_has_versions_and_starts_a_session_with_its_config() {
    let fixture = Fixture::new();
    launch_all(&fixture);
    assert_eq!(fixture.json(&["config", "save-template", "a", "review"])["version"], 1);
    fixture.json(&["continue", "a", "more", "--model", "haiku"]);
    assert_eq!(fixture.json(&["config", "save-template", "a-v2", "review"])["version"], 2);
    fixture.json(&["launch", "go", "--template", "review", "--clear", "permission_mode"]);
    let given = fixture.given(3);
    assert_eq!(given.flag("--model"), Some("haiku"));
    assert_eq!(given.flag("--permission-mode"), None);
    assert_eq!(given.mcp()["db"]["env"]["DB_TOKEN"], SECRET);
    assert!(given.file("cwd").unwrap().trim().ends_with("/payments"));
    fixture.json(&["launch", "go", "--template", "review@1"]);
    assert_eq!(fixture.given(4).flag("--model"), Some("opus"));
    let ran = fixture.run(&["launch", "go", "--template", "review@9", "--json"]);
    assert_eq!(ran.json()["error"]["code"], "template.not-found");
}

#[test]
fn an_agent_that_reads_all_of_its_stdin_first_gets_the_end_of_it() {
    let fixture = Fixture::new();
    let result = r#"{"type":"result","subtype":"success","is_error":false,"result":"bye"}"#;
    let script = format!("#!/bin/sh\ncat > \"$HOME/heard\"\necho '{result}'\n");
    let agent = fixture.env.script("reads-all", &script);
    let mut command = fixture.env.command(&["launch", "words", "--name", "a", "--json"]);
    let output = command.env("HEIRLOOM_AGENT_CLAUDE", &agent).output().unwrap();
    let session: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(session["status"], "completed", "{session}");
    assert_eq!(session["agent_session_id"], session["id"]);
    let heard = std::fs::read_to_string(fixture.env.user().join("heard")).unwrap();
    assert!(heard.contains("words"), "{heard}");
}

#[test]
fn an_agent_without_conversations_is_not_continued() {
    let fixture = Fixture::new();
    let mut command =
        fixture.env.command(&["launch", "words", "--agent", "command", "--name", "a"]);
    assert!(command.env("HEIRLOOM_AGENT_COMMAND", "cat").status().unwrap().success());
    let refused = fixture.run(&["continue", "a", "more", "--json"]).json();
    assert_eq!(refused["error"]["code"], "session.no-conversation");
    assert_eq!(fixture.json(&["sessions", "list"])["sessions"].as_array().unwrap().len(), 1);
}

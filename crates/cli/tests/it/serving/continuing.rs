//! What a continued session takes over, field by field, as its agent received it.

use serde_json::{Value, json};

use super::{Desk, Given};

const SECRET: &str = "s3cr3t-Value-42";

/// A launch in which every field is set.
fn launch_all(desk: &Desk) {
    let mcp = json!({"mcpServers": {
        "db": {"command": "db-mcp", "args": ["--ro"], "env": {"DB_TOKEN": SECRET}},
        "web": {"type": "http", "url": "https://mcp.example/", "headers": {
            "Authorization": format!("Bearer {SECRET}"), "X-Session-ID": "the parent"}},
    }});
    std::fs::create_dir_all(desk.env.repo().join("sub")).unwrap();
    let arguments = [
        "launch",
        "first words",
        "--name",
        "a",
        "--model",
        "opus",
        "--working-dir",
        "sub",
        "--add-dir",
        "/tmp",
        "--system-prompt",
        "SYSTEM",
        "--append-system-prompt",
        "APPENDED",
        "--custom-instructions",
        "CUSTOM",
        "--permission-mode",
        "plan",
        "--permission-prompt-tool",
        "mcp__db__ask",
        "--allowed-tools",
        "Bash(git *),Edit",
        "--disallowed-tools",
        "WebFetch",
        "--mcp-config",
        &mcp.to_string(),
        "--env",
        "WANTED",
        "--title",
        "about it",
        "--max-turns",
        "3",
        "--max-cost",
        "2.5",
    ];
    let mut command = desk.env.command(&arguments);
    command.env("WANTED", "yes").env("UNWANTED", "yes");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// What the agent received, in a form that can be compared: the field and its value.
fn received(given: &Given) -> Vec<(&'static str, Value)> {
    vec![
        ("model", json!(given.flag("--model"))),
        ("working_dir", json!(given.file("cwd").unwrap().trim().ends_with("/payments/sub"))),
        ("additional_dirs", json!(given.flags("--add-dir"))),
        ("system_prompt", json!(given.file("system"))),
        ("append_system_prompt", json!(given.file("append").map(|text| text.contains("APPENDED")))),
        ("custom_instructions", json!(given.file("append").map(|text| text.contains("CUSTOM")))),
        ("permission_mode", json!(given.flag("--permission-mode"))),
        ("permission_prompt_tool", json!(given.flag("--permission-prompt-tool"))),
        ("allowed_tools", json!(given.flags("--allowedTools"))),
        ("disallowed_tools", json!(given.flags("--disallowedTools"))),
        ("mcp_servers", given.mcp()),
        ("env", json!([given.env.get("WANTED"), given.env.get("UNWANTED")])),
        ("title", json!(given.flag("--name"))),
        ("max_turns", json!(given.flag("--max-turns"))),
        ("max_cost_usd", json!(given.flag("--max-budget-usd"))),
    ]
}

/// With `WANTED` and `UNWANTED` in the environment, as the first launch had.
fn go_on(desk: &Desk, arguments: &[&str]) -> Value {
    let mut command = desk.env.command(&[arguments, &["--json"]].concat());
    let output = command.env("WANTED", "yes").env("UNWANTED", "yes").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn three_generations_receive_the_same_but_for_what_identifies_them() {
    let desk = Desk::new();
    launch_all(&desk);
    go_on(&desk, &["continue", "a", "second words"]);
    let third = go_on(&desk, &["continue", "a-v2", "third words"]);
    assert_eq!(third["name"], "a-v3");

    let first = desk.given(1);
    let mut expected = received(&first);
    assert_eq!(expected[0], ("model", json!("opus")));
    assert_eq!(expected[1], ("working_dir", json!(true)));
    assert_eq!(expected[8], ("allowed_tools", json!(["Bash(git *)", "Edit"])));
    assert_eq!(expected[10].1["db"]["env"]["DB_TOKEN"], SECRET);
    assert_eq!(expected[11], ("env", json!(["yes", null])));
    assert_eq!(expected[13], ("max_turns", json!("3")));
    for n in [2, 3] {
        let given = desk.given(n);
        let id = given.flag("--session-id").unwrap();
        // The alias as it was resolved; the limit not at all; the header with the child's id.
        expected[0].1 = json!("claude-opus-5-5");
        expected[10].1["web"]["headers"]["X-Session-ID"] = json!(id);
        expected[13].1 = Value::Null;
        assert_eq!(received(&given), expected, "generation {n}");
        assert_eq!(given.env["HEIRLOOM_SESSION"], id);
        assert!(given.argv.contains(&"--fork-session".to_owned()));
        assert_eq!(given.flag("--resume"), desk.given(n - 1).flag("--session-id"));
        assert_eq!(given.flag("--system-prompt-snapshot"), Some("off"));
    }
    assert_eq!(desk.given(3).prompt(), "third words");
    assert!(!desk.given(3).argv.contains(&"third words".to_owned()));
}

#[test]
fn each_field_can_be_overridden_and_cleared_alone() {
    let desk = Desk::new();
    launch_all(&desk);
    go_on(&desk, &["continue", "a", "more"]);
    let inherited = received(&desk.given(2));
    let other_mcp = r#"{"other":{"command":"other-mcp"}}"#;
    let cases: &[(&str, &[&str], Value, Value)] = &[
        ("model", &["--model", "haiku"], json!("haiku"), json!(null)),
        ("working_dir", &["--working-dir", "."], json!(false), json!(false)),
        ("additional_dirs", &["--add-dir", "/usr"], json!(["/usr"]), json!([])),
        ("system_prompt", &["--system-prompt", "OTHER"], json!("OTHER"), json!(null)),
        ("append_system_prompt", &["--append-system-prompt", "O"], json!(false), json!(false)),
        ("custom_instructions", &["--custom-instructions", "O"], json!(false), json!(false)),
        ("permission_mode", &["--permission-mode", "dontAsk"], json!("dontAsk"), json!(null)),
        (
            "permission_prompt_tool",
            &["--permission-prompt-tool", "mcp__o__p"],
            json!("mcp__o__p"),
            json!("stdio"),
        ),
        ("allowed_tools", &["--allowed-tools", ""], json!([]), json!([])),
        (
            "disallowed_tools",
            &["--disallowed-tools", "Bash,Task"],
            json!(["Bash", "Task"]),
            json!([]),
        ),
        (
            "mcp_servers",
            &["--mcp-config", other_mcp],
            json!({"other": {"type": "stdio", "command": "other-mcp", "args": [], "env": {}}}),
            json!(null),
        ),
        ("env", &["--env", "UNWANTED"], json!([null, "yes"]), json!(["yes", "yes"])),
        ("title", &["--title", "other"], json!("other"), json!(null)),
        ("max_turns", &["--max-turns", "9"], json!("9"), json!(null)),
        ("max_cost_usd", &["--max-cost", "9"], json!("9"), json!(null)),
    ];
    assert_eq!(cases.len(), inherited.len());
    for (field, flags, set, cleared) in cases {
        for (arguments, expected) in [(*flags, set), (&["--clear", field][..], cleared)] {
            go_on(&desk, &[&["continue", "a-v2", "more"], arguments].concat());
            for (name, value) in received(&desk.given(desk.launches())) {
                let (_, old) = inherited.iter().find(|(other, _)| *other == name).unwrap();
                if name == *field {
                    assert_eq!(&value, expected, "{arguments:?}");
                } else if name == "mcp_servers" {
                    assert_eq!(value["db"], old["db"], "{name} when {arguments:?}");
                } else {
                    assert_eq!(&value, old, "{name} when {arguments:?}");
                }
            }
        }
    }
}

#[test]
fn the_config_is_shown_with_where_it_comes_from_and_without_secrets() {
    let desk = Desk::new();
    launch_all(&desk);
    go_on(&desk, &["continue", "a", "more", "--model", "haiku", "--clear", "allowed_tools"]);
    go_on(&desk, &["continue", "a-v2", "more"]);
    let shown = desk.json(&["sessions", "show", "a-v3", "--config"]);
    assert_eq!(shown["session"], "a-v3");
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
    let here = desk.json(&["sessions", "show", "a-v2", "--config"]);
    assert_eq!(here["config"]["model"]["overridden"], true);
    assert_eq!(here["config"]["allowed_tools"]["overridden"], true);

    for entry in std::fs::read_dir(desk.env.home()).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_file() {
            let bytes = std::fs::read(entry.path()).unwrap();
            let found = bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
            assert!(!found, "the secret is in {name}");
        }
    }
    let trajectory = desk.run(&["sessions", "show", "a-v3", "--trajectory", "--json"]).stdout;
    assert!(!trajectory.contains(SECRET));
    assert_eq!(std::fs::read_dir(desk.env.home().join("scratch")).unwrap().count(), 0);
}

#[test]
fn a_config_that_cannot_be_used_leaves_no_session() {
    let desk = Desk::new();
    desk.json(&["launch", "go", "--name", "a"]);
    for (arguments, code) in [
        (&["--max-turns", "0"][..], "config.invalid"),
        (&["--working-dir", "nowhere"], "config.working_dir"),
        (&["--mcp-config", "{"], "config.mcp_servers"),
        (&["--mcp-config", "nowhere.json"], "config.mcp_servers"),
        (&["--permission-mode", "sometimes"], "agent.launch"),
        (&["--clear", "alowed_tools"], "usage"),
        (&["--model", "x", "--clear", "model"], "usage"),
        (&["--config", r#"{"disalowed_tools":[]}"#], "usage"),
        (&["--name", "a"], "session.name-taken"),
        (&["--bypass-until", "2020-01-01T00:00:00Z"], "config.invalid"),
    ] {
        let ran = desk.run(&[&["continue", "a", "more"], arguments, &["--json"]].concat());
        assert_eq!(ran.json()["error"]["code"], code, "{ran}");
        assert_ne!(ran.code, 0);
    }
    let gone = desk
        .env
        .command(&["continue", "a", "more", "--json"])
        .env("HEIRLOOM_AGENT_CLAUDE", "/nowhere/claude")
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&gone.stdout).contains("agent.launch"));
    assert_eq!(desk.json(&["sessions", "list"])["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(desk.launches(), 1);
    assert_eq!(desk.status("a"), "completed");
}

#[test]
fn a_rejected_resume_keeps_the_message_and_the_parent() {
    let desk = Desk::new();
    let parent = desk.json(&["launch", "go", "--name", "a"]);
    let ran = desk.run(&["continue", "a", "please be stale", "--json"]);
    assert_eq!(ran.code, 1);
    let child = ran.json();
    assert_eq!((&child["name"], &child["status"]), (&json!("a-v2"), &json!("failed")));
    assert_eq!(child["outcome"], "stale_session");
    assert!(child["reason"].as_str().unwrap().contains("has no conversation"), "{child}");
    assert_ne!(child["agent_session_id"], parent["agent_session_id"]);
    assert_eq!(desk.status("a"), "completed");
    let said = desk.json(&["conversation", "a-v2"]);
    let prompts: Vec<&Value> = said["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["kind"] == "prompt")
        .map(|event| &event["text"])
        .collect();
    assert_eq!(prompts, ["go", "please be stale"]);

    // The next one goes on from the parent, and says what was never heard.
    let next = desk.json(&["continue", "a-v2", "once more, then"]);
    assert_eq!(next["name"], "a-v3");
    let given = desk.given(3);
    assert_eq!(given.flag("--resume"), parent["agent_session_id"].as_str());
    assert_eq!(given.prompt(), "please be stale\n\nonce more, then");
}

#[test]
fn a_fork_begins_after_any_message_and_the_conversation_shows_its_own_way() {
    let desk = Desk::new();
    desk.json(&["launch", "go", "--name", "a"]);
    desk.json(&["continue", "a", "further"]);
    let events = desk.json(&["conversation", "a-v2"])["events"].as_array().unwrap().clone();
    let kinds: Vec<&str> = events.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["prompt", "text", "text", "result", "prompt", "text", "text", "result"]);
    desk.json(&["fork", "a", "elsewhere", "--at", "2", "--name", "b"]);
    let given = desk.given(3);
    assert_eq!(given.flag("--resume-session-at"), Some("00000000-0000-4000-8000-000000000001"));
    let said = desk.json(&["conversation", "b"]);
    let texts: Vec<&str> = said["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["kind"] != "result")
        .map(|event| event["text"].as_str().unwrap())
        .collect();
    assert_eq!(texts, ["go", "one", "elsewhere", "one", "two"]);
    let refused = desk.run(&["fork", "a", "elsewhere", "--at", "99", "--json"]);
    assert_eq!(refused.json()["error"]["code"], "conversation.no-event");
}

#[test]
fn cost_and_tokens_add_up_over_a_lineage() {
    let desk = Desk::new();
    desk.json(&["launch", "go", "--name", "a"]);
    let child = desk.json(&["continue", "a", "more"]);
    assert_eq!(child["cost_usd"], 0.25);
    assert_eq!(
        child["lineage"],
        json!({"sessions": 2, "cost_usd": 0.5, "input_tokens": 20, "output_tokens": 10})
    );
}

#[test]
fn a_template_has_versions_and_starts_a_session_with_its_config() {
    let desk = Desk::new();
    launch_all(&desk);
    assert_eq!(desk.json(&["config", "save-template", "a", "review"])["version"], 1);
    desk.json(&["continue", "a", "more", "--model", "haiku"]);
    assert_eq!(desk.json(&["config", "save-template", "a-v2", "review"])["version"], 2);
    desk.json(&["launch", "go", "--template", "review", "--clear", "permission_mode"]);
    let given = desk.given(3);
    assert_eq!(given.flag("--model"), Some("haiku"));
    assert_eq!(given.flag("--permission-mode"), None);
    assert_eq!(given.mcp()["db"]["env"]["DB_TOKEN"], SECRET);
    assert!(given.file("cwd").unwrap().trim().ends_with("/payments"));
    desk.json(&["launch", "go", "--template", "review@1"]);
    assert_eq!(desk.given(4).flag("--model"), Some("opus"));
    let ran = desk.run(&["launch", "go", "--template", "review@9", "--json"]);
    assert_eq!(ran.json()["error"]["code"], "template.not-found");
}

#[test]
fn an_agent_that_reads_all_of_its_stdin_first_gets_the_end_of_it() {
    let desk = Desk::new();
    let agent = desk.env.user().join("reads-all");
    let result = r#"{"type":"result","subtype":"success","is_error":false,"result":"bye"}"#;
    let script = format!("#!/bin/sh\ncat > \"$HOME/heard\"\necho '{result}'\n");
    std::fs::write(&agent, script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&agent, mode).unwrap();
    let mut command = desk.env.command(&["launch", "words", "--name", "a", "--json"]);
    let output = command.env("HEIRLOOM_AGENT_CLAUDE", &agent).output().unwrap();
    let session: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(session["status"], "completed", "{session}");
    assert_eq!(session["agent_session_id"], session["id"]);
    let heard = std::fs::read_to_string(desk.env.user().join("heard")).unwrap();
    assert!(heard.contains("words"), "{heard}");
}

#[test]
fn an_agent_without_conversations_is_not_continued() {
    let desk = Desk::new();
    let mut command = desk.env.command(&["launch", "words", "--agent", "command", "--name", "a"]);
    assert!(command.env("HEIRLOOM_AGENT_COMMAND", "cat").status().unwrap().success());
    let refused = desk.run(&["continue", "a", "more", "--json"]).json();
    assert_eq!(refused["error"]["code"], "session.no-conversation");
    assert_eq!(desk.json(&["sessions", "list"])["sessions"].as_array().unwrap().len(), 1);
}

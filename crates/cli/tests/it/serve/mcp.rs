//! The Model Context Protocol, as an agent speaks it.

use serde_json::{Value, json};

use super::Daemon;

/// What is answered to messages on stdin, in order.
fn spoken(env: &heirloom_testkit::env::TestEnv, messages: &[Value]) -> Vec<Value> {
    let lines: Vec<String> = messages.iter().map(Value::to_string).collect();
    let ran = env.run_with(&["mcp"], lines.join("\n").as_bytes()).success();
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn call(id: u64, tool: &str, arguments: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
           "params": {"name": tool, "arguments": arguments}})
}

#[test]
fn an_agent_records_a_decision_which_the_next_session_gets() {
    let env = crate::env();
    env.write("src/a.rs", "fn rotate_tokens() {}\n");
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize",
                       "params": {"protocolVersion": "2025-03-26", "capabilities": {}}});
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let decision = json!({"kind": "decision", "text": "rotate tokens on every refresh",
                          "because": "replay", "evidence": ["src/a.rs:1"]});
    let answers = spoken(
        &env,
        &[
            hello,
            ready,
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
            call(2, "note", &decision),
            call(3, "note", &json!({"kind": "whim", "text": "x"})),
            call(4, "nothing", &json!({})),
            json!({"jsonrpc": "2.0", "id": 5, "method": "nonsense"}),
        ],
    );
    assert_eq!(answers.len(), 6, "{answers:#?}");
    assert_eq!(answers[0]["result"]["protocolVersion"], "2025-03-26");
    let tools: Vec<&str> = answers[1]["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    for name in
        ["note", "recover", "search", "sessions", "lineage", "requirements", "issues", "checkpoint"]
    {
        assert!(tools.contains(&name), "{tools:?}");
    }
    assert_eq!(answers[2]["result"]["structuredContent"]["text"], "rotate tokens on every refresh");
    assert_eq!(answers[3]["result"]["isError"], true);
    assert_eq!(answers[4]["error"]["code"], -32602);
    assert_eq!(answers[5]["error"]["code"], -32601);
    // Another process, another session: it is told what was decided.
    let later = spoken(
        &env,
        &[
            call(1, "search", &json!({"q": "rotate"})),
            call(2, "recover", &json!({"level": 2, "q": "rotate"})),
            json!({"jsonrpc": "2.0", "id": 3, "method": "prompts/get", "params": {"name": "recover"}}),
            json!({"jsonrpc": "2.0", "id": 4, "method": "resources/list"}),
        ],
    );
    for answer in &later[..2] {
        assert!(answer.to_string().contains("rotate tokens on every refresh"), "{answer:#}");
    }
    assert!(later[2]["result"]["messages"][0]["content"]["text"].is_string());
    let uri = later[3]["result"]["resources"][0]["uri"].as_str().unwrap().to_owned();
    let read = json!({"jsonrpc": "2.0", "id": 5, "method": "resources/read", "params": {"uri": format!("{uri}/notes")}});
    assert!(spoken(&env, &[read])[0].to_string().contains("rotate tokens"));
}

#[test]
fn an_agent_sees_the_repository_it_works_in_and_no_other() {
    let env = crate::env();
    let other = env.repo().with_file_name("other");
    std::fs::create_dir(&other).unwrap();
    let noted = env.run_in(&other, &["note", "decision", "the canary sings", "--json"]).success();
    let session = noted.json()["session"].as_str().unwrap().to_owned();
    let path = other.to_str().unwrap();
    let uri = format!("heirloom://sessions/{session}/notes");
    let asked = [
        call(1, "lineage", &json!({"session": session})),
        call(2, "recover", &json!({"level": 1, "repo": path})),
        call(3, "note", &json!({"kind": "warning", "text": "x", "repo": path})),
        call(4, "checkpoint", &json!({"session": session})),
        json!({"jsonrpc": "2.0", "id": 5, "method": "resources/read", "params": {"uri": uri}}),
    ];
    for answer in spoken(&env, &asked) {
        let text = answer.to_string();
        assert!(text.contains("an agent sees the repository it works in"), "{answer:#}");
        assert!(!text.contains("canary"), "{answer:#}");
    }
    env.write_user("recall: {agents: all}\n");
    assert!(spoken(&env, &asked[4..])[0].to_string().contains("the canary sings"));
}

#[test]
fn the_daemon_speaks_it_to_whoever_has_the_token() {
    let daemon = Daemon::start(crate::env());
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let answer = daemon.post("/mcp", &list);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.json()["result"]["tools"].as_array().unwrap().len() >= 8);
    let told =
        daemon.post("/mcp", &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    assert_eq!((told.status, told.body.as_str()), (202, ""));
    let nobody = super::client::Request::post("/mcp", &list).send(daemon.url());
    assert_eq!(nobody.status, 401);
    assert_eq!(daemon.get("/mcp").status, 405);
}

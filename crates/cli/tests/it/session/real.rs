//! The real Claude Code, with a model on loopback.

use std::process::{Child, Stdio};

use heirloom_testkit::anthropic::Anthropic;
use heirloom_testkit::env::TestEnv;
use heirloom_testkit::http::Request;
use heirloom_testkit::model::{Answer, Model, Script};
use serde_json::{Value, json};

pub(crate) fn env(model: &Model) -> TestEnv {
    let version = heirloom_agents::by_name("claude").unwrap().tested_version().unwrap();
    crate::env()
        .var("HEIRLOOM_AGENT_CLAUDE", heirloom_testkit::real::pinned("claude", version))
        .var("ANTHROPIC_BASE_URL", model.url())
        .var("ANTHROPIC_API_KEY", "sk-ant-scripted")
        .var("CLAUDE_CODE_MAX_RETRIES", "0")
        .var("DISABLE_AUTOUPDATER", "1")
        .var("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .var("HTTPS_PROXY", "http://127.0.0.1:9")
        .var("NO_PROXY", "127.0.0.1,localhost")
}

/// Two tool uses that are allowed, one of them of an MCP server, one that is asked for, and the end.
fn turn(n: u8) -> [Answer; 4] {
    [
        Answer::tool("Bash", json!({"command": format!("echo allowed-{n}"), "description": "x"})),
        Answer::tool("mcp__db__look", json!({})),
        Answer::tool("Bash", json!({"command": format!("touch asked-{n}"), "description": "x"})),
        Answer::text("done"),
    ]
}

/// Decides the one question a session has, and waits for its end.
fn decide(env: &TestEnv, mut child: Child, decision: &[&str]) -> Value {
    let id = loop {
        let open = env.run(&["approvals", "list", "--json"]).success().json();
        if let Some(id) = open["approvals"][0]["id"].as_str() {
            break id.to_owned();
        }
        assert!(child.try_wait().unwrap().is_none(), "it ended without asking");
    };
    env.run(&[&["approvals", decision[0], &id], &decision[1..]].concat()).success();
    let output = child.wait_with_output().unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

fn spawn(env: &TestEnv, arguments: &[&str]) -> Child {
    let mut command = env.command(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// What a request says about how the agent was launched: the model, its tools, its system prompt.
fn shape(request: &Value) -> (Value, Vec<String>, String) {
    let tools = request["tools"].as_array().unwrap().iter();
    let mut tools: Vec<String> =
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    tools.sort();
    let system = request["system"].as_array().unwrap().iter();
    let texts = system.map(|block| block["text"].as_str().unwrap_or_default().to_owned());
    // The first block names the build and a hash of the messages.
    let system = texts.filter(|text| !text.contains("billing")).collect::<Vec<_>>().join("\n");
    (request["model"].clone(), tools, system)
}

/// An MCP server whose one tool says which token it was given.
const SERVER: &str = r#"#!/bin/sh
answer() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$1" "$2"; }
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"method":"initialize"'*)
      answer "$id" '"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"db","version":"1"}}' ;;
    *'"method":"tools/list"'*)
      answer "$id" '"result":{"tools":[{"name":"look","description":"with '"$DB_TOKEN"'","inputSchema":{"type":"object"}}]}' ;;
    *'"method":"tools/call"'*)
      answer "$id" '"result":{"content":[{"type":"text","text":"seen with '"$DB_TOKEN"'"}]}' ;;
    *'"id":'*) answer "$id" '"error":{"code":-32601,"message":"unknown"}' ;;
  esac
done
"#;

#[test]
#[ignore = "drives a real agent"]
fn a_session_continued_by_a_query_alone_asks_the_model_and_the_person_the_same() {
    let answers = turn(1).into_iter().chain(turn(2));
    let model = Model::start(Anthropic, Script::new(answers));
    let env = env(&model);
    let server = env.script("db-mcp", SERVER);
    let servers = json!({"db": {"command": server, "env": {"DB_TOKEN": "s3cr3t-Value-42"}}});
    let servers = servers.to_string();
    let pairs = [
        ["--name", "a"],
        ["--model", "sonnet"],
        ["--allowed-tools", "Bash(echo *),mcp__db__look"],
        ["--disallowed-tools", "WebFetch,WebSearch"],
        ["--permission-mode", "default"],
        ["--system-prompt", "You are SYSTEMATIC."],
        ["--append-system-prompt", "APPENDED words."],
        ["--custom-instructions", "CUSTOM words."],
        ["--mcp-config", &servers],
    ];
    let launch = spawn(&env, &[&["launch", "first", "--json"][..], &pairs.concat()].concat());
    let first = decide(&env, launch, &["approve"]);
    assert_eq!(first["status"], "completed", "{first}");
    assert!(env.repo().join("asked-1").exists());

    let again = spawn(&env, &["continue", "a", "second", "--json"]);
    let second = decide(&env, again, &["deny", "--reason", "not twice"]);
    assert_eq!(second["status"], "completed", "{second}");
    assert!(!env.repo().join("asked-2").exists());

    let requests: Vec<Value> = model.requests().iter().map(Request::json).collect();
    assert_eq!(requests.len(), 8);
    let (before, after) = (shape(&requests[0]), shape(&requests[4]));
    for words in ["You are SYSTEMATIC.", "APPENDED words.", "CUSTOM words."] {
        assert!(before.2.contains(words), "{}", before.2);
    }
    assert_eq!(before, after);
    assert!(!before.1.contains(&"WebFetch".to_owned()), "{:?}", before.1);
    // Tools of servers are only named, until they are used.
    assert!([0, 4].iter().all(|n| requests[*n].to_string().contains("mcp__db__look")));
    let conversation = requests[4]["messages"].to_string();
    assert!(conversation.contains("first") && conversation.contains("allowed-1"));
    // The server runs again, with the same token, and its tool may be used without asking.
    for turn in [&requests[..4], &requests[4..]] {
        let last =
            |request: &Value| request["messages"].as_array().unwrap().last().unwrap().to_string();
        assert!(last(&turn[2]).contains("seen with s3cr3t-Value-42"), "{}", last(&turn[2]));
    }
    assert!(requests[7]["messages"].to_string().contains("not twice"));

    // What each session cost is its own.
    let spent = |session: &Value| session["cost_usd"].as_f64().unwrap();
    let total = second["lineage"]["cost_usd"].as_f64().unwrap();
    assert!((total - spent(&first) - spent(&second)).abs() < 1e-9);
    assert!(spent(&second) < spent(&first) * 1.9, "{first} {second}");
}

#[test]
#[ignore = "drives a real agent"]
fn a_cleared_prompt_is_gone_and_a_fork_forgets_what_came_after() {
    let answers = ["alpha", "beta", "gamma", "delta"].map(Answer::text);
    let model = Model::start(Anthropic, Script::new(answers));
    let env = env(&model);
    env.run(&["launch", "one", "--name", "a", "--append-system-prompt", "APPENDED words."])
        .success();
    env.run(&["continue", "a", "two", "--clear", "append_system_prompt"]).success();
    env.run(&["continue", "a-v2", "three"]).success();
    let events = env.run(&["conversation", "a-v3", "--json"]).json()["events"].clone();
    let alpha = events.as_array().unwrap().iter().find(|event| event["text"] == "alpha").unwrap();
    let number = alpha["number"].to_string();
    env.run(&["fork", "a-v3", "four", "--at", &number]).success();

    let requests: Vec<Value> = model.requests().iter().map(Request::json).collect();
    assert!(shape(&requests[0]).2.contains("APPENDED"));
    for later in &requests[1..] {
        assert!(!shape(later).2.contains("APPENDED"));
    }
    let forked = requests[3]["messages"].to_string();
    assert!(forked.contains("alpha") && !forked.contains("beta") && !forked.contains("gamma"));
}

#[test]
#[ignore = "drives a real agent"]
fn a_conversation_that_is_gone_fails_cleanly_and_a_running_one_can_be_interrupted() {
    let script = Script::new([Answer::text("alpha"), Answer::Hang]);
    let model = Model::start(Anthropic, script);
    let env = env(&model);
    env.run(&["launch", "one", "--name", "a"]).success();
    let hanging = spawn(&env, &["continue", "a", "two", "--name", "b", "--json"]);
    model.wait_for(2);
    let stopped = env.run(&["interrupt", "b", "--json"]).success().json();
    assert_eq!(stopped["status"], "interrupted", "{stopped}");
    hanging.wait_with_output().unwrap();

    std::fs::remove_dir_all(env.user().join(".claude/projects")).unwrap();
    let ran = env.run(&["continue", "a", "three", "--json"]);
    assert_eq!(ran.code, 1);
    let failed = ran.json();
    assert_eq!(
        (&failed["status"], &failed["outcome"]),
        (&json!("failed"), &json!("stale_session"))
    );
}

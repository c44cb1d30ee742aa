//! Questions that agents ask through MCP, and the official programs that speak it.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use heirloom_testkit::anthropic::Anthropic;
use heirloom_testkit::env::TestEnv;
use heirloom_testkit::http::Request;
use heirloom_testkit::model::{Answer, Model, Script};
use heirloom_testkit::real::checker;
use serde_json::{Value, json};

use crate::session::real;

/// An agent that talks to `heirloom mcp`.
struct Agent {
    child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Agent {
    fn start(env: &TestEnv) -> Self {
        let mut command = env.command(&["mcp"]);
        command.env("CLAUDE_CODE_SESSION_ID", "0c0ffee0-0000-4000-8000-000000000001");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { stdin: child.stdin.take().unwrap(), child, lines }
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.stdin, "{message}").unwrap();
    }

    fn ask(&mut self, id: u64, command: &str) {
        let arguments =
            json!({"tool_name": "Bash", "input": {"command": command}, "tool_use_id": "t"});
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
                         "params": {"name": "permission_prompt", "arguments": arguments}}));
    }

    fn hear(&mut self) -> Value {
        serde_json::from_str(&self.lines.next().unwrap().unwrap()).unwrap()
    }

    /// The decision in the form that Claude Code reads.
    fn decided(&mut self, id: u64) -> Value {
        let answer = self.hear();
        assert_eq!(answer["id"], id, "{answer}");
        serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap()
    }
}

/// The question that waits.
fn waiting(env: &TestEnv) -> String {
    loop {
        let open = env.run(&["approvals", "list", "--json"]).success().json();
        if let Some(id) = open["approvals"][0]["id"].as_str() {
            return id.to_owned();
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn a_question_over_mcp_waits_with_the_others_and_gets_what_a_person_said() {
    let env = crate::env();
    let mut agent = Agent::start(&env);
    agent.ask(1, "git push");
    let id = waiting(&env);
    // Whatever else is asked does not wait for the person.
    agent.say(&json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}));
    assert_eq!(agent.hear()["id"], 2);
    let input = ["approvals", "approve", &id, "--input", r#"{"command":"git push --dry-run"}"#];
    env.run(&input).success();
    let allowed = json!({"behavior": "allow", "updatedInput": {"command": "git push --dry-run"}});
    assert_eq!(agent.decided(1), allowed);
    agent.ask(3, "rm -rf /");
    env.run(&["approvals", "deny", &waiting(&env), "--reason", "not today"]).success();
    assert_eq!(agent.decided(3), json!({"behavior": "deny", "message": "not today"}));
    // What was approved for the rest of the session is not asked again.
    agent.ask(4, "git status");
    env.run(&["approvals", "approve", &waiting(&env), "--rule", "Bash(git *)"]).success();
    assert_eq!(agent.decided(4)["behavior"], "allow");
    agent.ask(5, "git log");
    assert_eq!(agent.decided(5)["behavior"], "allow");
    // An agent that hangs up waits for nothing, and nobody is asked for it.
    agent.ask(6, "make");
    waiting(&env);
    drop(agent.stdin);
    assert!(agent.child.wait().unwrap().success());
    let open = env.run(&["approvals", "list", "--json"]).success().json();
    assert_eq!(open, json!({"approvals": []}));
}

#[test]
fn a_question_of_nobody_is_not_asked() {
    let env = crate::env();
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params":
        {"name": "permission_prompt", "arguments": {"tool_name": "Bash", "input": {}}}});
    let ran = env.run_with(&["mcp"], call.to_string().as_bytes()).success();
    let answer: Value = serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    let daemon = super::Daemon::start(env);
    let answer = daemon.post("/mcp", &call).json();
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert_eq!(daemon.get("/api/v1/approvals").json(), json!({"approvals": []}));
}

/// Everything an agent can ask for.
const TOOLS: [&str; 11] = [
    "note",
    "recover",
    "search",
    "why",
    "how",
    "sessions",
    "lineage",
    "requirements",
    "issues",
    "checkpoint",
    "permission_prompt",
];

#[test]
fn why_and_how_answer_as_the_commands_do() {
    let env = crate::env();
    env.write("src/a.rs", "fn rotate_tokens() {}\n");
    env.run(&["note", "decision", "rotate tokens", "--evidence", "src/a.rs:1"]).success();
    let call = |tool: &str, arguments: Value| {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                          "params": {"name": tool, "arguments": arguments}});
        let ran = env.run_with(&["mcp"], call.to_string().as_bytes()).success();
        let answer: Value = serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
        answer["result"].clone()
    };
    let why = call("why", json!({"place": "src/a.rs:1"}));
    assert_eq!(why["structuredContent"], env.run(&["why", "src/a.rs:1", "--json"]).json());
    assert_eq!(why["structuredContent"]["notes"][0]["text"], "rotate tokens", "{why}");
    let how = call("how", json!({"text": "rotate tokens"}));
    assert_eq!(how["structuredContent"], env.run(&["how", "rotate tokens", "--json"]).json());
    for place in ["nothing.rs", "../../etc/passwd", "/etc/passwd:1"] {
        let refused = call("why", json!({"place": place}));
        assert_eq!(refused["isError"], true, "{place} {refused}");
    }
}

/// How an agent is told of heirloom's server.
fn server(env: &TestEnv) -> String {
    let home = env.home();
    let server = json!({"command": env!("CARGO_BIN_EXE_heirloom"), "args": ["mcp"],
                        "env": {"HEIRLOOM_HOME": home, "HEIRLOOM_CLOCK": "2026-01-12T15:30:00Z"}});
    json!({"heirloom": server}).to_string()
}

fn decision() -> Value {
    json!({"kind": "decision", "text": "rotate tokens on every refresh", "because": "replay",
           "assumption": true})
}

#[test]
#[ignore = "drives a real agent"]
fn the_real_claude_records_a_decision_which_the_next_session_gets() {
    let answers = [
        Answer::tool("mcp__heirloom__note", decision()),
        Answer::text("noted"),
        Answer::tool("mcp__heirloom__recover", json!({"level": 3})),
        Answer::text("read"),
    ];
    let model = Model::start(Anthropic, Script::new(answers));
    let env = real::env(&model);
    let servers = server(&env);
    let tools = "mcp__heirloom__note,mcp__heirloom__recover";
    for name in ["auth-v1", "auth-v2"] {
        let launch = ["launch", "go on", "--name", name, "--agent", "claude", "--json"];
        let given = ["--mcp-config", &servers, "--allowed-tools", tools];
        let ran = env.run(&[&launch[..], &given[..]].concat());
        assert_eq!(ran.json()["status"], "completed", "{ran}");
    }
    let notes = env.run(&["notes", "--session", "auth-v1", "--json"]).success().json();
    assert_eq!(notes["notes"][0]["text"], "rotate tokens on every refresh", "{notes}");
    let last = model.requests().iter().map(Request::text).next_back().unwrap();
    assert!(last.contains("rotate tokens on every refresh"), "{last}");
}

#[test]
#[ignore = "drives a real agent"]
fn the_real_claude_asks_through_its_permission_prompt_tool() {
    let touch = |name: &str| json!({"command": format!("touch {name}"), "description": "x"});
    let answers = [
        Answer::tool("Bash", touch("yes")),
        Answer::tool("Bash", touch("no")),
        Answer::text("done"),
    ];
    let model = Model::start(Anthropic, Script::new(answers));
    let env = real::env(&model);
    let servers = server(&env);
    let launch = ["launch", "touch it", "--name", "auth-v1", "--agent", "claude", "--json"];
    let tool = ["--permission-prompt-tool", "mcp__heirloom__permission_prompt"];
    let given = ["--mcp-config", servers.as_str()];
    let mut command = env.command(&[&launch[..], &tool[..], &given[..]].concat());
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    env.run(&["approvals", "approve", &waiting(&env)]).success();
    env.run(&["approvals", "deny", &waiting(&env), "--reason", "once is enough"]).success();
    let output = child.wait_with_output().unwrap();
    let ended: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(ended["status"], "completed", "{ended}");
    assert!(env.repo().join("yes").exists() && !env.repo().join("no").exists());
    let last = model.requests().iter().map(Request::text).next_back().unwrap();
    assert!(last.contains("once is enough"), "{last}");
}

#[test]
#[ignore = "drives a real agent"]
fn the_real_codex_records_a_decision() {
    let env = crate::env();
    let script =
        Script::new([Answer::tool("mcp__heirloom__note", decision()), Answer::text("noted")]);
    let served = heirloom_testkit::real::codex(&env.user(), script);
    let version = heirloom_agents::by_name("codex").unwrap().tested_version().unwrap();
    let mut env = env.var("HEIRLOOM_AGENT_CODEX", heirloom_testkit::real::pinned("codex", version));
    for (name, value) in &served.env {
        env = env.var(name, value.clone());
    }
    let servers = server(&env);
    let launch = ["launch", "go on", "--name", "auth-v1", "--agent", "codex", "--json"];
    let ran = env.run(&[&launch[..], &["--mcp-config", &servers]].concat());
    assert_eq!(ran.json()["status"], "completed", "{ran}");
    let notes = env.run(&["notes", "--json"]).success().json();
    assert_eq!(notes["notes"][0]["text"], "rotate tokens on every refresh", "{notes}\n{ran}");
    let next = env.run(&["recover", "3", "--json"]).success().json();
    assert!(next["text"].as_str().unwrap().contains("rotate tokens on every refresh"), "{next}");
}

#[test]
#[ignore = "needs node and the MCP inspector"]
fn the_official_inspector_lists_and_calls_everything() {
    let env = crate::env();
    env.run(&["launch", "say hello", "--name", "auth-v1", "--agent", "sim"]).success();
    let inspector = checker("inspector", "0.15.0", ".bin/mcp-inspector");
    let inspect = |arguments: &[&str]| -> Value {
        let mut command = Command::new(&inspector);
        let known = env.command(&["mcp"]);
        command.envs(known.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let node = std::env::var_os("PATH").unwrap();
        command.env("PATH", node).current_dir(env.repo());
        command.args(["--cli", env!("CARGO_BIN_EXE_heirloom"), "mcp"]).args(arguments);
        let home = format!("HEIRLOOM_HOME={}", env.home().display());
        let output = command.args(["-e", &home]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("{arguments:?}: {text}{said}"))
    };
    let names = |list: &Value, key: &str| -> Vec<String> {
        let all = list[key].as_array().unwrap_or_else(|| panic!("{list}")).iter();
        all.map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    let tools = names(&inspect(&["--method", "tools/list"]), "tools");
    for tool in TOOLS {
        assert!(tools.iter().any(|one| one == tool), "{tools:?}");
    }
    let note = ["--method", "tools/call", "--tool-name", "note"];
    let what = ["--tool-arg", "kind=learning", "--tool-arg", "text=sleep matters"];
    let noted = inspect(&[&note[..], &what[..]].concat());
    assert_eq!(noted["structuredContent"]["text"], "sleep matters", "{noted}");
    let resources = inspect(&["--method", "resources/list"]);
    assert!(names(&resources, "resources").contains(&"auth-v1".to_owned()), "{resources}");
    let uri = resources["resources"][0]["uri"].as_str().unwrap();
    let read = inspect(&["--method", "resources/read", "--uri", uri]);
    assert_eq!(read["contents"][0]["uri"], uri, "{read}");
    let prompts = names(&inspect(&["--method", "prompts/list"]), "prompts");
    assert_eq!(prompts, ["recover", "checkpoint"]);
    let prompt = inspect(&["--method", "prompts/get", "--prompt-name", "checkpoint"]);
    assert_eq!(prompt["messages"][0]["role"], "user", "{prompt}");
}

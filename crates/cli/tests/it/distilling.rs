//! A session that ended is looked back on by its own agent, and what that proposes is checked.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use heirloom_testkit::anthropic::Anthropic;
use heirloom_testkit::env::TestEnv;
use heirloom_testkit::http::Request;
use heirloom_testkit::model::{Answer, Model, Script};
use serde_json::{Value, json};

use crate::capture::{ID, transcript};
use crate::handing_over::{agent, hook};

const NEXT: &str = "1b554780-986f-49f2-9a58-edfafd0188dd";

/// What the stand-in for the agent answers.
fn proposals() -> Value {
    json!([
        {"kind": "decision", "text": "Nested lists are kept on an explicit stack",
         "because": "deep input overflowed", "file": "src/parser.rs", "quote": "stack.push(open_list());"},
        {"kind": "warning", "text": "legacy/ is built by customers", "prompt": "never touch legacy/ please"},
        {"kind": "learning", "text": "The parser is fast", "file": "src/parser.rs", "quote": "fast_path(token);"},
        {"kind": "learning", "text": "Commas may trail", "prompt": "nobody ever said these words"},
        {"kind": "learning", "text": "Pushing is all", "file": "src/parser.rs", "quote": "ack.push(open_list())"},
    ])
}

/// An environment with a stand-in for Claude Code that keeps what it is given and answers with proposals.
fn env(settings: &str) -> (TestEnv, PathBuf) {
    let env = crate::env();
    let kept = env.user().join("asked");
    fs::create_dir_all(&kept).unwrap();
    let lines = [
        json!({"type": "system", "subtype": "init", "session_id": "x", "model": "claude-opus-5-5"}),
        json!({"type": "assistant", "uuid": "u1", "message": {"id": "m1", "content": [
            {"type": "text", "text": proposals().to_string()}]}}),
        json!({"type": "result", "subtype": "success", "is_error": false, "result": proposals().to_string(),
               "session_id": "x", "num_turns": 1, "total_cost_usd": 0.25,
               "usage": {"input_tokens": 10, "output_tokens": 5}}),
    ];
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    fs::write(kept.join("answer"), lines.join("\n") + "\n").unwrap();
    let script = env.user().join("claude-stand-in");
    let kept_in = kept.display();
    let text = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && echo 2.1.325 && exit\ncat > '{kept_in}/prompt'\nprintf '%s\n' \"$@\" > '{kept_in}/args'\nenv > '{kept_in}/env'\npwd > '{kept_in}/cwd'\n\
         echo once >> '{kept_in}/times'\nid=x previous=\nfor argument in \"$@\"; do\n\
         [ \"$previous\" = --session-id ] && id=$argument\nprevious=$argument\ndone\n\
         sed \"s/\\\"session_id\\\":\\\"x\\\"/\\\"session_id\\\":\\\"$id\\\"/\" '{kept_in}/answer'\n"
    );
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let env = env.var("HEIRLOOM_AGENT_CLAUDE", script).var("HEIRLOOM_TEST_LINE", "bash|xterm");
    env.write_user(settings);
    env.write("src/parser.rs", "fn parse() {\n    stack.push(open_list());\n}\n");
    env.run(&["init", "--yes"]).success();
    (env, kept)
}

/// A session of one turn that changed a file.
fn work(env: &TestEnv) {
    let cwd = env.repo();
    let secret = format!("AKIA{}", "IOSFODNN7EXAMPLE");
    let prompt =
        format!("make the lists nest, and never touch legacy/ please; AWS_ACCESS_KEY_ID={secret}");
    let line = |kind: &str, message: Value| {
        json!({"type": kind, "sessionId": ID, "cwd": cwd, "gitBranch": "main", "version": "2.1.325",
               "entrypoint": "cli", "timestamp": "2026-01-10T10:00:00Z", "promptSource": "typed",
               "message": message})
    };
    let lines = [
        line("user", json!({"role": "user", "content": prompt})),
        line(
            "assistant",
            json!({"id": "m1", "model": "claude-opus-5-5", "content": [
            {"type": "tool_use", "id": "t1", "name": "Edit",
             "input": {"file_path": cwd.join("src/parser.rs"), "old_string": "a", "new_string": "b"}}]}),
        ),
        line(
            "user",
            json!({"content": [{"type": "tool_result", "tool_use_id": "t1", "content": "done"}]}),
        ),
    ];
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    fs::write(transcript(env), lines.join("\n") + "\n").unwrap();
}

fn proposed(env: &TestEnv) -> Vec<Value> {
    let listed = env.run(&["notes", "--json"]).success().json();
    let all = listed["notes"].as_array().unwrap();
    all.iter().filter(|note| note["proposed_by"] == "claude").cloned().collect()
}

#[test]
fn at_the_end_of_a_session_its_agent_proposes_notes_and_only_what_quotes_something_is_recorded() {
    let (env, kept) = env("capture: {distill: on}\n");
    let mut process = agent();
    let pid = process.id();
    hook(&env, "SessionStart", ID, pid, &json!({"source": "startup"}));
    work(&env);
    hook(&env, "SessionEnd", ID, pid, &json!({"reason": "prompt_input_exit"}));
    let begun = Instant::now();
    while proposed(&env).len() < 2 && begun.elapsed() < Duration::from_mins(2) {
        std::thread::sleep(Duration::from_millis(100));
    }
    let notes = proposed(&env);
    let texts: Vec<&str> = notes.iter().filter_map(|note| note["text"].as_str()).collect();
    assert_eq!(
        texts,
        ["Nested lists are kept on an explicit stack", "legacy/ is built by customers"]
    );
    assert_eq!(notes[0]["evidence"][0]["line"], 2, "{}", notes[0]);

    // It was asked with what is known, without secrets, and nothing of it is work of this repository.
    let asked = fs::read_to_string(kept.join("prompt")).unwrap();
    assert!(asked.contains("never touch legacy/ please"), "{asked}");
    assert!(asked.contains("stack.push(open_list());"), "{asked}");
    assert!(!asked.contains("IOSFODNN7EXAMPLE"), "{asked}");
    assert!(fs::read_to_string(kept.join("env")).unwrap().contains("HEIRLOOM_DISABLE=1"));
    let cwd = fs::read_to_string(kept.join("cwd")).unwrap();
    assert!(!cwd.starts_with(env.repo().to_str().unwrap()), "{cwd}");

    // It may do nothing but answer, and what it proposes is on no page that is committed.
    let args = fs::read_to_string(kept.join("args")).unwrap();
    for arg in ["--disallowedTools=Bash", "dontAsk", "--strict-mcp-config"] {
        assert!(args.lines().any(|line| line == arg), "{arg}: {args}");
    }
    env.run(&["checkpoint"]);
    assert!(!env.read("NOTES.md").contains("explicit stack"), "{}", env.read("NOTES.md"));

    // What the code bears out is shown as verified, the rest as proposed.
    let brief = hook(&env, "SessionStart", NEXT, pid, &json!({"source": "startup"}));
    assert!(
        brief.contains("explicit stack. Because: deep input overflowed (src/parser.rs:2 ✔"),
        "{brief}"
    );
    assert!(brief.contains("legacy/ is built by customers"), "{brief}");
    assert!(brief.contains("proposed by claude, not verified"), "{brief}");
    env.write("src/parser.rs", "fn parse() {}\n");
    let level = env.run(&["recover", "3"]).success().stdout;
    assert_eq!(level.matches("proposed by claude, not verified").count(), 2, "{level}");

    // The same work is not paid for twice.
    let again = env.run(&["sessions", "distill", ID, "--json"]).success().json();
    assert_eq!(again["notes"].as_array().map(Vec::len), Some(0), "{again}");
    assert_eq!(fs::read_to_string(kept.join("times")).unwrap().lines().count(), 1);
    process.kill().unwrap();
    process.wait().unwrap();
}

#[test]
fn a_person_can_have_a_session_looked_back_on_and_is_told_what_was_refused() {
    let (env, kept) = env("capture: {distill: off}\n");
    let mut process = agent();
    hook(&env, "SessionStart", ID, process.id(), &json!({"source": "startup"}));
    let nothing = env.run(&["sessions", "distill", ID]);
    assert!(nothing.code != 0 && !kept.join("times").exists(), "{nothing:?}");
    work(&env);
    hook(&env, "SessionEnd", ID, process.id(), &json!({"reason": "prompt_input_exit"}));
    // An agent cannot have it done, nor by saying that nobody asked.
    let agents = |args: &[&str]| {
        let mut command = env.command(args);
        command.env("HEIRLOOM_TEST_LINE", "bash|claude").output().unwrap()
    };
    assert!(!agents(&["sessions", "distill", ID]).status.success());
    assert!(agents(&["sessions", "distill", ID, "--background"]).status.success());
    assert!(!kept.join("times").exists());
    let distilled = env.run(&["sessions", "distill", ID, "--json"]).success().json();
    assert_eq!(distilled["notes"].as_array().map(Vec::len), Some(2), "{distilled:#}");
    let refused = distilled["refused"].as_array().unwrap();
    let why: Vec<&str> = refused.iter().filter_map(|each| each["why"].as_str()).collect();
    assert_eq!(
        why,
        [
            "src/parser.rs does not say what it quotes",
            "nobody said what it quotes",
            "src/parser.rs does not say what it quotes",
        ],
        "{distilled:#}"
    );
    assert_eq!(distilled["cost_usd"], 0.25);
    assert_eq!(fs::read_to_string(kept.join("times")).unwrap().lines().count(), 1);
    // A repository cannot have the person pay for it.
    env.write(".heirloom/config.yaml", "capture: {distill: on}\n");
    let shown = env.run(&["config", "show", "--json"]);
    assert!(!shown.stdout.contains("\"distill\": \"on\""), "{shown:?}");
    process.kill().unwrap();
    process.wait().unwrap();
}

#[test]
fn a_look_back_that_was_killed_is_forgotten_with_its_session_as_well() {
    let (env, kept) = env("capture: {distill: off}\n");
    let mut process = agent();
    hook(&env, "SessionStart", ID, process.id(), &json!({"source": "startup"}));
    work(&env);
    hook(&env, "SessionEnd", ID, process.id(), &json!({"reason": "prompt_input_exit"}));
    // It keeps what it was told, and then whoever asked is gone.
    let keeps = env.script(
        "claude-that-keeps",
        "#!/bin/sh\n[ \"$1\" = --version ] && echo 2.1.325 && exit\nid= previous=\n\
         for argument in \"$@\"; do\n[ \"$previous\" = --session-id ] && id=$argument\nprevious=$argument\ndone\n\
         mkdir -p \"$HOME/.claude/projects/-empty\"\ncat > \"$HOME/.claude/projects/-empty/$id.jsonl\"\n\
         kill -9 $PPID\n",
    );
    let env = env.var("HEIRLOOM_AGENT_CLAUDE", keeps);
    assert!(!env.command(&["sessions", "distill", ID]).status().unwrap().success());
    let kept_by_agent =
        || fs::read_dir(env.user().join(".claude/projects/-empty")).unwrap().count();
    assert_eq!(kept_by_agent(), 1);
    // What it was started with is left. It is gone once the next one begins, of whatever session that is.
    let scratch = env.home().join("scratch");
    assert_eq!(fs::read_dir(&scratch).unwrap().count(), 1);
    let left = scratch.join(format!("distill-{ID}"));
    fs::rename(&left, scratch.join("distill-killed")).unwrap();
    let gone = env.run(&["sessions", "forget", ID, "--yes", "--json"]).success().json();
    assert_eq!(gone["copies"], 1, "{gone}");
    assert_eq!(kept_by_agent(), 0);
    assert!(!kept.join("times").exists());
    hook(&env, "SessionStart", NEXT, process.id(), &json!({"source": "startup"}));
    env.run(&["sessions", "distill", NEXT]);
    assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0);
    process.kill().unwrap();
    process.wait().unwrap();
}

/// What the real agent asks its model when it looks back, and what it can do where the model wants more than answer.
#[test]
#[ignore = "drives a real agent"]
fn the_real_claude_code_looks_back_without_a_tool_and_keeps_nothing_of_it() {
    let answers = [
        Answer::tool("Bash", json!({"command": "touch was-run", "description": "x"})),
        Answer::text(&proposals().to_string()),
    ];
    let model = Model::start(Anthropic, Script::new(answers));
    let env = crate::session::real::env(&model).var("HEIRLOOM_TEST_LINE", "bash|xterm");
    env.write("src/parser.rs", "fn parse() {\n    stack.push(open_list());\n}\n");
    env.run(&["init", "--yes"]).success();
    // What the person lets their agent do does not count here.
    let settings = env.user().join(".claude/settings.json");
    let text = fs::read_to_string(&settings).unwrap_or_else(|_| "{}".to_owned());
    let mut own: Value = serde_json::from_str(&text).unwrap();
    own["permissions"] = json!({"allow": ["Bash", "Edit", "Write"], "defaultMode": "acceptEdits"});
    fs::write(&settings, own.to_string()).unwrap();
    work(&env);
    env.run(&["sync"]).success();
    let before = transcripts(&env);
    let distilled = env.run(&["sessions", "distill", ID, "--json"]).success().json();
    assert_eq!(distilled["notes"].as_array().map(Vec::len), Some(2), "{distilled:#}");

    let requests: Vec<Value> = model.requests().iter().map(Request::json).collect();
    let asked = requests[0]["messages"].to_string();
    assert!(asked.contains("never touch legacy/ please"), "{asked}");
    assert!(!asked.contains("IOSFODNN7EXAMPLE"), "{asked}");
    for request in &requests {
        let tools = request["tools"].as_array().map_or(0, Vec::len);
        assert_eq!(tools, 0, "{}", request["tools"]);
    }
    assert!(!env.repo().join("was-run").exists());
    assert_eq!(transcripts(&env), before, "it keeps nothing of what it was told");
    // Nothing of it is a session of this repository.
    let listed = env.run(&["sessions", "list", "--json"]).success().json();
    assert_eq!(listed["sessions"].as_array().map(Vec::len), Some(1), "{listed:#}");
}

fn transcripts(env: &TestEnv) -> Vec<PathBuf> {
    let projects =
        fs::read_dir(env.user().join(".claude/projects")).into_iter().flatten().flatten();
    let files = projects.flat_map(|project| fs::read_dir(project.path()).into_iter().flatten());
    let files = files.flatten().map(|file| file.path());
    let mut all: Vec<PathBuf> = files.filter(|path| path.is_file()).collect();
    all.sort();
    all
}

//! A day with a failure and its end, and then the question why a line is there.

use std::fs;

use heirloom_testkit::env::TestEnv;
use serde_json::{Value, json};

use crate::capture;

/// The lines of a transcript of Claude Code, a minute apart.
struct Day {
    cwd: String,
    lines: Vec<String>,
}

impl Day {
    fn new(env: &TestEnv) -> Self {
        Self { cwd: env.repo().to_string_lossy().into_owned(), lines: Vec::new() }
    }

    fn put(&mut self, kind: &str, message: &Value) {
        let minute = self.lines.len();
        let mut line = json!({
            "type": kind, "sessionId": capture::ID, "cwd": self.cwd, "gitBranch": "main",
            "version": "2.1.325", "entrypoint": "cli", "message": message,
            "timestamp": format!("2026-01-10T10:{minute:02}:00Z"),
        });
        if message["content"].is_string() {
            line["promptSource"] = "typed".into();
        }
        self.lines.push(line.to_string());
    }

    fn asks(&mut self, text: &str) {
        self.put("user", &json!({"role": "user", "content": text}));
    }

    fn says(&mut self, text: &str) {
        let id = format!("m{}", self.lines.len());
        self.put("assistant", &json!({"id": id, "content": [{"type": "text", "text": text}]}));
    }

    fn does(&mut self, name: &str, input: &Value, answer: &str, is_error: bool) {
        let id = format!("t{}", self.lines.len());
        let used = json!({"type": "tool_use", "id": id, "name": name, "input": input});
        self.put("assistant", &json!({"id": format!("m{id}"), "content": [used]}));
        let answer = json!({"type": "tool_result", "tool_use_id": id, "is_error": is_error, "content": answer});
        self.put("user", &json!({"content": [answer]}));
    }

    fn runs(&mut self, command: &str, answer: &str, is_error: bool) {
        self.does("Bash", &json!({"command": command}), answer, is_error);
    }
}

const RETRY: &str = "pub fn retry() {\n    let ceiling = 60;\n}\n";

/// A repository in which a session wrote two files, committed one of them, and got a test to pass by
/// starting the database.
fn env() -> TestEnv {
    let env = crate::env();
    env.write("src/retry.rs", RETRY);
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "retry: give the backoff a ceiling"]);
    let hash = env.git(&["rev-parse", "--short", "HEAD"]);
    let hash = hash.trim();
    env.write("src/retry.rs", &RETRY.replace("}\n", "    let jitter = true;\n}\n"));
    let mut day = Day::new(&env);
    let file = format!("{}/src/retry.rs", day.cwd);
    day.asks("The nightly job starves: mend the backoff");
    day.says("The backoff grows without bound, so I give it a ceiling of a minute.");
    day.does("Write", &json!({"file_path": file, "content": RETRY}), "ok", false);
    day.runs("cargo test", "Exit code 101\nerror: connection refused by postgres", true);
    day.runs("rg postgres", "compose.yaml", false);
    day.runs("docker compose up -d postgres", "started", false);
    day.runs("cargo test", "test retry::ceiling ... ok", false);
    let made = format!("[main {hash}] retry: give the backoff a ceiling");
    day.runs("git commit -am 'retry: give the backoff a ceiling'", &made, false);
    day.asks("And spread the attempts");
    let edit = json!({"file_path": file, "old_string": "60;\n", "new_string": "60;\n    let jitter = true;\n"});
    day.does("Edit", &edit, "ok", false);
    fs::write(capture::transcript(&env), day.lines.join("\n") + "\n").unwrap();
    env.run(&["init", "--yes", "--agent", "claude"]).success();
    env.run(&["sync", "--agent", "claude"]).success();
    env
}

fn ask(env: &TestEnv, arguments: &[&str]) -> Value {
    env.run(&[arguments, &["--json"]].concat()).success().json()
}

#[test]
fn a_committed_line_leads_to_the_session_the_prompt_and_what_was_said() {
    let env = env();
    let why = ask(&env, &["why", "src/retry.rs:2"]);
    assert_eq!(why["text"], "    let ceiling = 60;");
    assert_eq!(why["commit"]["subject"], "retry: give the backoff a ceiling");
    let origin = &why["origins"][0];
    assert_eq!(origin["proof"], "edit", "{why:#}");
    assert_eq!(origin["agent"], "claude");
    assert_eq!(origin["turn"], 1);
    assert_eq!(origin["prompt"], "The nightly job starves: mend the backoff");
    assert!(origin["said"].as_str().unwrap().contains("without bound"), "{why:#}");
    assert_eq!(origin["commit"]["subject"], "retry: give the backoff a ceiling");
    let ran = env.run_in("src".as_ref(), &["why", "retry.rs:2"]).success();
    assert!(ran.stdout.contains("wrote this line") && ran.stdout.contains("starves"), "{ran}");
}

#[test]
fn a_line_that_is_not_committed_leads_to_the_edit_that_brought_it() {
    let env = env();
    let why = ask(&env, &["why", "src/retry.rs:3"]);
    assert_eq!(why["commit"], Value::Null);
    assert_eq!(why["origins"][0]["proof"], "edit", "{why:#}");
    assert_eq!(why["origins"][0]["prompt"], "And spread the attempts");
    assert_eq!(
        why["origins"][0]["commit"],
        Value::Null,
        "that edit came after the commit: {why:#}"
    );
}

#[test]
fn a_commit_that_was_rebased_is_known_by_its_subject() {
    let env = env();
    env.git(&[
        "commit",
        "-q",
        "--amend",
        "--reset-author",
        "--no-edit",
        "--date",
        "2026-01-11T00:00:00Z",
    ]);
    env.write("src/other.rs", "fn other() {}\n");
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "retry: give the backoff a ceiling"]);
    let why = ask(&env, &["why", "src/other.rs:1"]);
    assert_eq!(why["origins"][0]["proof"], "subject", "{why:#}");
}

#[test]
fn a_decision_that_rests_on_the_line_is_told_with_it() {
    let env = env();
    let note = ["note", "decision", "The ceiling is a minute", "--because", "queues starve"];
    env.run(&[&note[..], &["--evidence", "src/retry.rs:2"]].concat()).success();
    let why = ask(&env, &["why", "src/retry.rs:2"]);
    assert_eq!(why["notes"][0]["text"], "The ceiling is a minute", "{why:#}");
    assert_eq!(ask(&env, &["why", "src/retry.rs:1"])["notes"], json!([]));
}

#[test]
fn a_file_is_told_by_the_sessions_that_changed_it_and_nonsense_is_refused() {
    let env = env();
    let why = ask(&env, &["why", "src/retry.rs"]);
    assert_eq!(why["origins"].as_array().unwrap().len(), 1, "{why:#}");
    assert_eq!(why["origins"][0]["proof"], "file");
    for (place, reason, code) in [
        ("src/retry.rs:99", "has no line 99", 64),
        ("src/nothing.rs", "no session changed it", 1),
        ("../elsewhere", "not in this repository", 64),
    ] {
        let ran = env.run(&["why", place]);
        assert_eq!(ran.code, code, "{ran}");
        assert!(ran.stderr.contains(reason), "{ran}");
    }
    env.write("src/fresh.rs", "fn fresh() {}\n");
    let ran = env.run(&["why", "src/fresh.rs:1"]).success();
    assert!(ran.stderr.contains("no session is known"), "{ran}");
}

#[test]
fn a_failure_is_told_with_what_ended_it() {
    let env = env();
    let how = ask(&env, &["how", "connection refused postgres"]);
    let fix = &how["fixes"][0];
    assert_eq!(fix["failed"], "cargo test", "{how:#}");
    assert_eq!(fix["error"], "error: connection refused by postgres");
    assert_eq!(fix["steps"], json!(["docker compose up -d postgres"]));
    assert_eq!(fix["worked"], "cargo test");
    assert_eq!(fix["prompt"], "The nightly job starves: mend the backoff");
    let how = ask(&env, &["how", "compose postgres"]);
    assert_eq!(how["commands"][0]["command"], "docker compose up -d postgres", "{how:#}");
    env.run(&["note", "pattern", "Start postgres before the tests"]).success();
    assert_eq!(ask(&env, &["how", "postgres tests"])["notes"][0]["kind"], "pattern");
    let ran = env.run(&["how", "submarine periscope"]).success();
    assert!(ran.stdout.is_empty() && ran.stderr.contains("nothing similar"), "{ran}");
}

#[test]
fn a_session_that_was_forgotten_is_no_reason_any_more() {
    let env = env();
    env.run(&["sessions", "forget", capture::ID, "--yes"]);
    env.run(&["sessions", "forget", capture::ID, "--yes"]);
    assert_eq!(ask(&env, &["why", "src/retry.rs:2"])["origins"], json!([]));
    assert_eq!(ask(&env, &["how", "connection refused postgres"])["fixes"], json!([]));
}

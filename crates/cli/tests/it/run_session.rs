//! A session that `run` made is a session like any other: it can be shown, continued, forked,
//! interrupted, and found after a crash.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use heirloom_testkit::anthropic::Anthropic;
use heirloom_testkit::env::TestEnv;
use heirloom_testkit::http::Request;
use heirloom_testkit::model::{Answer, Model, Script};
use serde_json::{Value, json};

use crate::session::real;

fn json(env: &TestEnv, arguments: &[&str]) -> Value {
    env.run(&[arguments, &["--json"]].concat()).success().json()
}

fn spawn(env: &TestEnv, arguments: &[&str]) -> Child {
    let mut command = env.command(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// What the built-in agent keeps of a conversation.
fn transcript(env: &TestEnv, id: &Value) -> String {
    let projects = env.home().join("sim/projects");
    let name = format!("{}.jsonl", id.as_str().unwrap());
    let found = fs::read_dir(projects).unwrap().map(|entry| entry.unwrap().path().join(&name));
    let path: PathBuf = found.into_iter().find(|path| path.exists()).unwrap();
    fs::read_to_string(path).unwrap()
}

fn kinds(conversation: &Value, kind: &str) -> Vec<String> {
    let events = conversation["events"].as_array().unwrap().iter();
    let of_kind = events.filter(|event| event["kind"] == kind);
    of_kind.map(|event| event["text"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_run_is_continued_in_the_conversation_of_its_last_iteration_with_its_whole_config() {
    let env = crate::env();
    let run = ["run", "ralph", "auth-v2", "2", "--agent", "sim", "--model", "opus"];
    env.run(&[&run[..], &["--max-cost", "5"]].concat()).success();
    let shown = json(&env, &["sessions", "show", "auth-v2"]);
    assert!(transcript(&env, &shown["agent_session_id"]).contains("Iteration 2 of auth-v2"));

    let child = json(&env, &["continue", "auth-v2", "now the admin routes"]);
    assert_eq!((&child["name"], &child["status"]), (&json!("auth-v3"), &json!("completed")));
    assert_ne!(child["agent_session_id"], shown["agent_session_id"]);
    let heard = transcript(&env, &child["agent_session_id"]);
    assert!(heard.contains("Iteration 2 of auth-v2") && heard.contains("now the admin routes"));
    assert!(!heard.contains("iterations/001"), "that was another conversation");

    let config = json(&env, &["sessions", "show", "auth-v3", "--config"])["config"].clone();
    for field in ["model", "working_dir", "auto_accept_edits", "max_cost_usd", "title"] {
        assert_eq!(config[field]["from"], "auth-v2", "{field}: {config}");
    }
    assert_eq!(config["model"]["value"], "opus");
}

#[test]
fn what_was_said_in_every_iteration_is_printed_and_so_is_what_was_said_after_them() {
    let env = crate::env();
    env.run(&["run", "ralph", "auth-v2", "2", "--agent", "sim"]).success();
    let said = json(&env, &["conversation", "auth-v2"]);
    assert_eq!(kinds(&said, "iteration"), ["stage-00-ralph 1", "stage-00-ralph 2"]);
    let texts = kinds(&said, "text");
    assert_eq!(texts.len(), 2, "{said}");
    assert!(texts[1].starts_with("Iteration 2 of auth-v2"), "{texts:?}");
    assert_eq!(kinds(&said, "prompt").len(), 2);
    env.run(&["continue", "auth-v2", "and then?"]).success();
    let said = json(&env, &["conversation", "auth-v3"]);
    assert_eq!(kinds(&said, "prompt").last().unwrap(), "and then?");
    assert_eq!(kinds(&said, "iteration").len(), 2);
    // A run that is started over under the same name is another session.
    env.run(&["run", "ralph", "auth-v2", "1", "--agent", "sim", "--force"]).success();
    assert_eq!(kinds(&json(&env, &["conversation", "auth-v2"]), "iteration").len(), 1);
}

#[test]
fn a_fork_of_a_run_leaves_its_conversation_as_it_is() {
    let env = crate::env();
    env.run(&["run", "ralph", "s", "1", "--agent", "sim"]).success();
    let shown = json(&env, &["sessions", "show", "s"]);
    let before = transcript(&env, &shown["agent_session_id"]);
    let fork = json(&env, &["fork", "s", "try it without a cache"]);
    assert_eq!(fork["status"], "completed");
    let forked = transcript(&env, &fork["agent_session_id"]);
    assert!(forked.contains("Iteration 1 of s") && forked.contains("without a cache"));
    assert_eq!(transcript(&env, &shown["agent_session_id"]), before);
    assert_eq!(json(&env, &["sessions", "show", "s"])["status"], "completed");
}

/// A run whose agent says something and then hangs, once it runs.
fn hanging(env: TestEnv) -> (TestEnv, Child) {
    let script = env.user().join("script.jsonl");
    fs::write(&script, "{\"text\":\"looking\"}\n{\"hang\":true}\n").unwrap();
    let env = env.var("HEIRLOOM_SIM_SCRIPT", script);
    let run = spawn(&env, &["run", "ralph", "busy", "2", "--agent", "sim"]);
    while !env
        .run(&["sessions", "show", "busy", "--trajectory", "--json"])
        .stdout
        .contains("announced")
    {}
    (env, run)
}

#[test]
fn a_run_is_interrupted_like_any_session_and_can_be_resumed() {
    let (env, run) = hanging(crate::env());
    assert_eq!(json(&env, &["interrupt", "busy"])["status"], "interrupted");
    assert_eq!(run.wait_with_output().unwrap().status.code(), Some(130));
    let env = env.var("HEIRLOOM_SIM_SCRIPT", "");
    env.run(&["run", "ralph", "busy", "--agent", "sim", "--resume"]).success();
    assert_eq!(json(&env, &["sessions", "show", "busy"])["status"], "completed");
}

#[test]
fn a_run_that_is_continued_while_it_runs_is_interrupted_first() {
    let (env, run) = hanging(crate::env());
    let env = env.var("HEIRLOOM_SIM_SCRIPT", "");
    let child = json(&env, &["continue", "busy", "something else"]);
    assert_eq!(child["status"], "completed");
    assert_eq!(run.wait_with_output().unwrap().status.code(), Some(130));
    assert_eq!(json(&env, &["sessions", "show", "busy"])["status"], "interrupted");
    assert!(transcript(&env, &child["agent_session_id"]).contains("looking"));
}

#[test]
fn a_run_whose_engine_was_killed_is_closed_by_the_next_command_and_its_agent_ended() {
    let (env, mut run) = hanging(crate::env());
    run.kill().unwrap();
    run.wait().unwrap();
    let shown = json(&env, &["sessions", "show", "busy"]);
    assert_eq!(shown["status"], "interrupted", "{shown}");
    assert!(shown["reason"].as_str().unwrap().contains("the process that drove it is gone"));
    let env = env.var("HEIRLOOM_SIM_SCRIPT", "");
    env.run(&["run", "ralph", "busy", "--agent", "sim", "--resume"]).success();
    assert_eq!(json(&env, &["sessions", "show", "busy"])["status"], "completed");
}

#[test]
#[ignore = "drives a real agent"]
fn the_real_claude_code_goes_on_where_the_last_iteration_ended() {
    let status =
        |n: u32| format!(".heirloom/runs/auth-v2/stage-00-ralph/iterations/{n:03}/status.json");
    let report = |env: &TestEnv, n| {
        let path = env.repo().join(status(n));
        let report = json!({"decision": "continue", "summary": format!("did {n}")}).to_string();
        Answer::tool("Write", json!({"file_path": path, "content": report}))
    };
    let nothing = Model::start(Anthropic, Script::default());
    let env = real::env(&nothing);
    let answers = [report(&env, 1), Answer::text("iteration one"), report(&env, 2)];
    let more = ["iteration two", "continued", "forked"].map(Answer::text);
    let model = Model::start(Anthropic, Script::new(answers.into_iter().chain(more)));
    let env = env.var("ANTHROPIC_BASE_URL", model.url());
    let run = ["run", "ralph", "auth-v2", "2", "--agent", "claude", "--model", "sonnet"];
    env.run(&[&run[..], &["--permissions", "edits"]].concat()).success();
    let child = json(&env, &["continue", "auth-v2", "now the admin routes"]);
    assert_eq!(child["status"], "completed", "{child}");
    let fork = json(&env, &["fork", "auth-v2", "without a cache"]);
    assert_eq!(fork["status"], "completed", "{fork}");

    let requests: Vec<String> =
        model.requests().iter().map(|request| Request::json(request).to_string()).collect();
    let [.., continued, forked] = &requests[..] else { panic!("{}", requests.len()) };
    for (request, words) in [(continued, "now the admin routes"), (forked, "without a cache")] {
        assert!(request.contains(words) && request.contains("iteration two"), "{request}");
        assert!(!request.contains("iteration one"), "{request}");
    }
    assert!(!forked.contains("now the admin routes"));
    let said = json(&env, &["conversation", "auth-v2"]);
    assert_eq!(kinds(&said, "text"), ["iteration one", "iteration two"]);
}

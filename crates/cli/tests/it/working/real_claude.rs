//! The real Claude Code, with a model on loopback.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use heirloom_agents::process::orphan;
use heirloom_testkit::anthropic::Anthropic;
use heirloom_testkit::env::TestEnv;
use heirloom_testkit::http::Request;
use heirloom_testkit::model::{Answer, Model, Script};
use serde_json::{Value, json};

use super::{TOGETHER, signal};
use crate::session::real;

/// An issue whose agent writes a file, and then waits for a model that says nothing more.
fn interrupted(env: &TestEnv, model: &Model) -> String {
    env.write(".heirloom/config.yaml", "work: {gate: ['test -f done.txt']}\n");
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "settings"]);
    let made = env.run(&["issues", "create", "Rotate tokens", "--json"]).success().json();
    let issue = made["id"].as_str().unwrap().to_owned();
    let mut command = env.command(&["work"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    // The second request of the turn carries the result of its first tool use.
    while !model.requests().iter().any(|request| request.text().contains("tool_result")) {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    signal(&child, "-KILL");
    child.wait().unwrap();
    issue
}

fn first_answers() -> [Answer; 2] {
    let write = json!({"command": "echo half > half.txt", "description": "begin"});
    [Answer::tool("Bash", write), Answer::Hang]
}

fn last_answers() -> [Answer; 2] {
    let write = json!({"command": "echo done > done.txt", "description": "finish"});
    [Answer::tool("Bash", write), Answer::text("finished")]
}

fn run_of(env: &TestEnv, issue: &str) -> Value {
    let run = env.run(&["runs", "show", "--json"]).success().json();
    let issues = run["issues"].as_array().unwrap();
    issues.iter().find(|each| each["issue"] == issue).unwrap().clone()
}

fn transcripts(env: &TestEnv) -> Vec<PathBuf> {
    let projects = env.user().join(".claude/projects");
    let all = fs::read_dir(projects).unwrap().flatten();
    let files = all.flat_map(|project| fs::read_dir(project.path()).unwrap().flatten());
    files
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
        .collect()
}

/// Deletes what the agent wrote, once it can write no more: it outlives the run that was killed, and
/// would put a whole new transcript there.
fn delete_transcripts(env: &TestEnv) {
    let run = env.run(&["runs", "show", "--json"]).success().json();
    orphan::kill_carrying("HEIRLOOM_WORK", run["id"].as_str().unwrap());
    for transcript in transcripts(env) {
        fs::remove_file(transcript).unwrap();
    }
}

#[test]
#[ignore = "drives a real agent"]
fn a_killed_issue_goes_on_in_the_same_conversation() {
    let answers = first_answers().into_iter().chain(last_answers());
    let model = Model::start(Anthropic, Script::new(answers));
    let env = real::env(&model);
    let issue = interrupted(&env, &model);
    let id = run_of(&env, &issue)["agent_session_id"].as_str().unwrap().to_owned();
    let before = model.requests().len();
    let ran = env.run(&["work", "--resume"]).success();
    let request = model.requests()[before..]
        .iter()
        .map(Request::text)
        .find(|text| text.contains("Continue with issue"))
        .unwrap_or_else(|| panic!("{ran}"));
    // The earlier turns are there: the task, and what was done.
    assert!(request.contains("Work on issue") && request.contains("half.txt"), "{request}");
    let shown = env.run(&["issues", "show", &issue, "--json"]).success().json();
    assert_eq!(shown["status"], "closed");
    assert_eq!(run_of(&env, &issue)["agent_session_id"], id);
    assert_eq!(env.git(&["show", "heirloom/work/main:done.txt"]).trim(), "done");
}

#[test]
#[ignore = "drives a real agent"]
fn a_deleted_transcript_takes_the_strict_and_the_lenient_path() {
    let answers = first_answers().into_iter().chain(last_answers());
    let model = Model::start(Anthropic, Script::new(answers));
    let env = real::env(&model);
    let issue = interrupted(&env, &model);
    delete_transcripts(&env);
    let requests = model.requests().len();
    let ran = env.run(&["work", "--resume", "--strict"]);
    assert_eq!(ran.code, 1, "{ran}");
    let reason = run_of(&env, &issue)["reason"].as_str().unwrap().to_owned();
    assert!(reason.starts_with("Session resumption failed: No conversation found"), "{reason}");
    let shown = env.run(&["issues", "show", &issue, "--json"]).success().json();
    assert_eq!((shown["status"].as_str(), model.requests().len()), (Some("in_progress"), requests));
    // That id is dead now: the lenient way begins anew with it, without asking once more.
    env.run(&["work", "--resume"]).success();
    let last = model.requests().last().unwrap().text();
    assert!(last.contains("Work on issue") && !last.contains("Continue with issue"), "{last}");
    let shown = env.run(&["issues", "show", &issue, "--json"]).success().json();
    assert_eq!(shown["status"], "closed");
}

#[test]
#[ignore = "drives a real agent"]
fn a_session_that_is_gone_is_replaced_by_a_fresh_one_with_a_warning() {
    let answers = first_answers().into_iter().chain(last_answers());
    let model = Model::start(Anthropic, Script::new(answers));
    let env = real::env(&model);
    let issue = interrupted(&env, &model);
    delete_transcripts(&env);
    let ran = env.run(&["work", "--resume"]).success();
    assert!(ran.stderr.contains("the agent session cannot be resumed"), "{ran}");
    let shown = env.run(&["issues", "show", &issue, "--json"]).success().json();
    assert_eq!(shown["status"], "closed");
}

#[test]
#[ignore = "drives a real agent"]
fn what_a_reviewer_finds_goes_back_to_the_author_and_is_looked_at_again() {
    let write = |text: &str| {
        let command = format!("echo {text} > done.txt");
        Answer::tool("Bash", json!({"command": command, "description": "write"}))
    };
    let model = Model::start(
        Anthropic,
        Script::new([
            write("done"),
            Answer::text("finished"),
            Answer::text("REVIEW: changes\n- done.txt:1: it does not say why"),
            write("because"),
            Answer::text("mended"),
            Answer::text("REVIEW: approved"),
        ]),
    );
    let env = real::env(&model);
    env.write(
        ".heirloom/config.yaml",
        "work: {gate: ['test -f done.txt'], review: {agent: claude, max: 1}}\n",
    );
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "settings"]);
    let made = env.run(&["issues", "create", "Rotate tokens", "--json"]).success().json();
    let issue = made["id"].as_str().unwrap().to_owned();
    let ran = env.run(&["work"]).success();
    let shown = env.run(&["issues", "show", &issue, "--json"]).success().json();
    assert_eq!(shown["status"], "closed", "{ran}");
    let kept = env.git(&["show", &format!("{TOGETHER}:done.txt")]);
    assert_eq!(kept.trim(), "because");
    let requests: Vec<String> = model.requests().iter().map(Request::text).collect();
    let reviewed = requests.iter().find(|text| text.contains("Review the work on issue"));
    // A conversation of its own, that begins with the review.
    let reviewed = reviewed.unwrap_or_else(|| panic!("{ran}"));
    assert!(!reviewed.contains("Work on issue"), "{reviewed}");
    let mending = requests.iter().find(|text| text.contains("- done.txt:1: it does not say why"));
    let mending = mending.unwrap_or_else(|| panic!("{ran}"));
    assert!(mending.contains("Work on issue"), "{mending}");
}

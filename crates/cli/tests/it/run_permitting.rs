//! What the agents of a run may do without asking: said once, never assumed, and shown when it was
//! too little.

use heirloom_testkit::anthropic::Anthropic;
use heirloom_testkit::env::TestEnv;
use heirloom_testkit::model::{Answer, Model, Script};
use serde_json::{Value, json};

use crate::env;
use crate::session::real;

/// Claude Code as far as a run sees it: it keeps its arguments, reports, and was denied what `denied`
/// names.
fn claude(denied: &str, uses: &str) -> TestEnv {
    let env = env();
    let script = format!(
        r#"#!/bin/sh
echo "$@" >> args.log
printf '{{"decision":"stop","summary":"looked around"}}' > "$HEIRLOOM_STATUS"
echo '{{"type":"system","subtype":"init","session_id":"'$(cat /proc/sys/kernel/random/uuid)'","model":"m"}}'
{uses}
echo '{{"type":"result","subtype":"success","is_error":false,"result":"done","permission_denials":[{denied}]}}'
"#
    );
    let program = env.script("claude", &script);
    env.var("HEIRLOOM_AGENT_CLAUDE", program)
}

const DENIED: &str = r#"{"tool_name":"Bash","tool_use_id":"1","tool_input":{"command":"make test"}},{"tool_name":"Bash","tool_use_id":"2","tool_input":{"command":"git commit"}}"#;

/// One file of the repository was edited.
const EDITED: &str = r#"
echo '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Write","input":{"file_path":"/elsewhere/a.rs","content":""}}]}}'
echo '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}'
"#;

#[test]
fn without_an_answer_and_without_a_terminal_a_run_does_not_start_and_names_the_flag() {
    let env = claude("", "");
    let ran = env.run(&["run", "ralph", "s", "1"]);
    insta::assert_snapshot!(ran, @r"
    ------- stderr -------
    error: nobody has decided yet what claude may do in this repository without asking
    hint: --permissions accept: edit files and run commands, as most stages need
    hint: --permissions edits: edit files, and nothing else
    hint: --permissions ask: everything waits for `heirloom approvals`
    hint: to decide once: run.permissions in your own settings, or answer at a terminal
    [exit 1]
    ");
    assert_eq!(env.run(&["sessions", "list", "--json"]).json()["sessions"], json!([]));
    // Nobody has to say it for a program that has no permissions of its own.
    let env = env.var("HEIRLOOM_AGENT_COMMAND", "true");
    let ran = env.run(&["run", "ralph", "c", "1", "--agent", "command"]);
    assert!(ran.stdout.contains("it wrote no status.json"), "{ran}");
}

#[test]
fn a_person_is_asked_once_and_the_answer_holds_for_the_repository() {
    let env = claude("", "");
    let mut terminal = env.terminal(&["run", "ralph", "first", "1"]);
    terminal.sees("A run is unattended. What may claude do in payments without asking");
    terminal.sees("a, e or q?");
    terminal.types("a");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("permissions accept"), "{screen}");
    // Without a terminal: it was said before.
    let ran = env.run(&["run", "ralph", "second", "1"]).success();
    assert!(ran.stdout.contains("permissions accept"), "{ran}");
    let given = env.read("args.log");
    assert!(given.lines().all(|args| args.contains("--permission-prompt-tool stdio")), "{given}");
    // For one run it can be said otherwise, and that is not kept.
    env.run(&["run", "ralph", "third", "1", "--permissions", "edits"]).success();
    let args = env.read("args.log").lines().last().unwrap().to_owned();
    assert!(args.contains("acceptEdits") && !args.contains("stdio"), "{args}");
    let ran = env.run(&["run", "ralph", "fourth", "1"]).success();
    assert!(ran.stdout.contains("permissions accept"), "{ran}");
}

#[test]
fn the_answer_holds_where_the_repository_was_moved_to_and_not_in_another_one() {
    let env = claude("", "");
    let mut terminal = env.terminal(&["run", "ralph", "first", "1"]);
    terminal.sees("a, e or q?");
    terminal.types("a");
    assert_eq!(terminal.ends().0, 0);
    let moved = env.repo().with_file_name("moved");
    let other = env.repo().with_file_name("other");
    std::fs::rename(env.repo(), &moved).unwrap();
    let ran = env.run_in(&moved, &["run", "ralph", "second", "1"]).success();
    assert!(ran.stdout.contains("permissions accept"), "{ran}");
    std::fs::create_dir(&other).unwrap();
    let ran = env.run_in(&other, &["run", "ralph", "third", "1"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("nobody has decided yet what claude may do"), "{ran}");
    std::fs::create_dir(env.repo()).unwrap();
}

#[test]
fn no_answer_at_a_terminal_is_no_leave() {
    let env = claude("", "");
    let mut terminal = env.terminal(&["run", "ralph", "s", "1"]);
    terminal.sees("a, e or q?");
    terminal.types("");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 1, "{screen}");
    assert!(screen.contains("--permissions accept"), "{screen}");
}

#[test]
fn a_repository_does_not_give_leave_before_it_is_trusted() {
    let env = claude("", "");
    env.write_user("");
    env.write(".heirloom/config.yaml", "run: {permissions: accept}\n");
    let ran = env.run(&["run", "ralph", "s", "1"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("run.permissions"), "{ran}");
    let hash = env.run(&["trust", "--show", "--json"]).json()["hash"].clone();
    env.run(&["trust", "--yes", "--hash", hash.as_str().unwrap()]).success();
    let ran = env.run(&["run", "ralph", "s", "1"]).success();
    assert!(ran.stdout.contains("permissions accept"), "{ran}");
}

#[test]
fn an_iteration_that_could_do_nothing_has_failed_and_says_what_was_denied() {
    let env = claude(DENIED, "");
    let ran = env.run(&["run", "ralph", "s", "5", "--permissions", "edits"]);
    assert_eq!(ran.code, 1, "{ran}");
    let line = "it could do nothing: it was denied Bash 2 times  2 tool uses denied";
    assert_eq!(ran.stdout.matches(line).count(), 3, "{ran}");
    let hint = "6 tool uses denied: --permissions accept lets agents run commands";
    assert!(ran.stdout.contains(hint), "{ran}");
    let shown = env.run(&["sessions", "show", "s", "--trajectory", "--json"]).json();
    let records = shown["trajectory"].as_array().unwrap().iter();
    let ended = records.filter(|record| record["kind"] == "iteration.ended");
    let denied: Vec<&Value> = ended.map(|record| &record["body"]["denied"]).collect();
    assert_eq!(denied, [&json!(2), &json!(2), &json!(2)]);
}

#[test]
fn denials_are_shown_where_something_was_done_all_the_same() {
    let env = claude(DENIED, EDITED);
    let ran = env.run(&["run", "ralph", "s", "5", "--permissions", "edits"]).success();
    assert!(ran.stdout.contains("looked around  2 tool uses denied"), "{ran}");
    let events = env.run(&["run", "ralph", "j", "5", "--permissions", "edits", "--json"]).success();
    let lines = events.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let ended = lines.into_iter().find(|event| event["event"] == "iteration_ended").unwrap();
    assert_eq!(ended["denied"], json!({"Bash": 2}));
}

#[test]
fn agents_that_never_ask_cannot_be_made_to_wait() {
    let env = env().var("HEIRLOOM_AGENT_GEMINI", "true");
    let ran = env.run(&["run", "ralph", "s", "1", "--agent", "gemini", "--permissions", "ask"]);
    assert_eq!(ran.code, 64, "{ran}");
    assert!(ran.stderr.contains("gemini cannot wait for approvals: it never asks"), "{ran}");
}

/// What a loop is for: it runs the tests, commits, asks the tracker, and reports.
fn loop_of_claude() -> (Model, TestEnv) {
    let bash =
        |command: &str| Answer::tool("Bash", json!({"command": command, "description": "x"}));
    let model = Model::start(
        Anthropic,
        Script::new([
            bash("echo tested > tested.txt"),
            bash(
                "git add tested.txt && git -c user.name=a -c user.email=a@b commit -qm 'by the loop'",
            ),
            bash("heirloom issues ready > ready.txt 2>&1; echo said $?"),
            bash(
                "printf '{\"decision\":\"stop\",\"summary\":\"all done\"}' > \"$HEIRLOOM_STATUS\"",
            ),
            Answer::text("done"),
        ]),
    );
    let env = real::env(&model);
    (model, env)
}

#[test]
#[ignore = "drives a real agent"]
fn claude_code_runs_in_a_loop_what_its_prompt_asks_for() {
    let (_model, env) = loop_of_claude();
    let ran = env.run(&["run", "ralph", "s", "1", "--permissions", "accept"]).success();
    assert!(ran.stdout.contains("all done"), "{ran}");
    assert!(!ran.stdout.contains("denied"), "{ran}");
    assert!(env.git(&["log", "-1", "--format=%s"]).contains("by the loop"));
    let shown = env.run(&["sessions", "show", "s", "--trajectory", "--json"]).json();
    let records = shown["trajectory"].as_array().unwrap().iter();
    let approved = records.filter(|record| record["kind"] == "approval.decided");
    assert!(approved.count() >= 2, "what it ran is recorded");
}

#[test]
#[ignore = "drives a real agent"]
fn claude_code_that_may_only_edit_is_not_completed_by_its_report() {
    let bash =
        |command: &str| Answer::tool("Bash", json!({"command": command, "description": "x"}));
    let turn = || {
        [
            bash("npm test"),
            bash("git commit --allow-empty -m x"),
            Answer::text("I was not allowed to do anything"),
        ]
    };
    let model = Model::start(Anthropic, Script::new((0..3).flat_map(|_| turn())));
    let env = real::env(&model);
    let ran = env.run(&["run", "ralph", "s", "9", "--permissions", "edits"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert_eq!(ran.stdout.matches("2 tool uses denied").count(), 3, "{ran}");
}

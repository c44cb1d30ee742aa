//! A stage that runs until there is no ready work.

use heirloom_testkit::env::{Ran, TestEnv};
use serde_json::json;

use super::{built_in, create, file, ids, issues, program};

/// A stage with the stop rule `queue`, and an agent that does as the script says.
fn stage(env: TestEnv, script: &str) -> TestEnv {
    env.write(
        ".heirloom/stages/drain/stage.yaml",
        "name: drain\nagent: command\nstop: {rule: queue, max: 9}\n",
    );
    env.write(".heirloom/stages/drain/prompt.md", "Do the next issue.\n");
    let report = r#"printf '{"decision":"continue","summary":"did one"}' > "$HEIRLOOM_STATUS""#;
    env.write("agent.sh", &format!("cat > /dev/null\n{script}\n{report}\n"));
    let agent = format!("/bin/sh {}", env.repo().join("agent.sh").display());
    env.var("HEIRLOOM_AGENT_COMMAND", agent)
}

fn run(env: &TestEnv) -> Ran {
    env.run(&["run", "drain", "auth-v1"])
}

fn status(env: &TestEnv) -> serde_json::Value {
    env.run(&["status", "auth-v1", "--json"]).success().json()["status"].clone()
}

/// Closes the first issue that is ready.
const CLOSE: &str = concat!(
    env!("CARGO_BIN_EXE_heirloom"),
    r#" issues ready --limit 1 --json | /bin/sed 's/.*"id":"\([^"]*\)".*/\1/' > next
read -r id < next
"#,
    env!("CARGO_BIN_EXE_heirloom"),
    r#" issues close "$id" --reason done"#
);

#[test]
fn a_stage_runs_until_the_last_issue_is_closed() {
    for env in [built_in(), file("")] {
        let env = stage(env, CLOSE);
        let first = create(&env, &["First"]);
        create(&env, &["Second", "--blocked-by", &first]);
        create(&env, &["Third"]);
        // A whole is nobody's work, so it does not keep the stage going.
        let epic = create(&env, &["Epic", "-t", "epic", "-p", "4"]);
        let ran = run(&env).success();
        assert!(ran.stdout.contains("completed: the queue is empty · 3 iterations"), "{ran}");
        assert_eq!(ids(&issues(&env, &["list"])), [epic]);
        // Nothing to do is nothing to start an agent for.
        let none = env.run(&["run", "drain", "auth-v2"]).success();
        assert!(none.stdout.contains("completed: the queue is empty · 0 iterations"), "{none}");
    }
}

#[test]
fn a_tracker_that_cannot_say_ends_the_run_as_failed_and_never_as_done() {
    let breaks = "echo broken >> .beads/issues.jsonl";
    let env = stage(file(""), breaks);
    create(&env, &["First"]);
    let ran = run(&env);
    assert_eq!((ran.code, status(&env)), (1, json!("failed")), "{ran}");
    assert!(ran.stderr.contains("issues.jsonl:2 is not an issue"), "{ran}");

    let fails = r#"[ -e "$HOME/fail" ] && { echo 'database is locked' >&2; exit 2; }
echo '[{"id":"bd-1","title":"t","status":"open"}]'"#;
    let env = stage(program("br", fails), r#": > "$HOME/fail""#);
    let ran = run(&env);
    assert_eq!((ran.code, status(&env)), (1, json!("failed")), "{ran}");
    assert!(ran.stderr.contains("br ready --json --limit 0 failed: database is locked"), "{ran}");
}

#[test]
fn without_anything_to_ask_no_agent_is_started() {
    let env = stage(file(""), "");
    std::fs::remove_file(env.repo().join(".beads/issues.jsonl")).unwrap();
    let ran = run(&env);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("neither br nor bd is on PATH"), "{ran}");
    assert_eq!(env.run(&["status", "auth-v1"]).code, 1);
}

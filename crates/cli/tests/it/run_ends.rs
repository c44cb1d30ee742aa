//! How runs end that do not end well: judges that crash, time that is up, links that lead away.

use std::os::unix::fs::symlink;

use heirloom_testkit::env::TestEnv;
use serde_json::{Value, json};

use crate::run::{WORKS, with_agent};

fn run(env: &TestEnv, arguments: &[&str]) -> heirloom_testkit::env::Ran {
    env.run(&[&["run"], arguments, &["--agent", "command"]].concat())
}

const STOPS: &str = r#"
cat > /dev/null
case "$HEIRLOOM_STATUS" in */judge/*) exit 9;; esac
printf '{"decision":"stop","summary":"done"}' > "$HEIRLOOM_STATUS"
"#;

fn judged(env: &TestEnv, judge: &str) {
    env.write(
        ".heirloom/stages/judged/stage.yaml",
        &format!(
            "name: judged\nprompt: Go on.\n\
             stop: {{rule: judgment, min: 1, consensus: 2, max: 4{judge}}}\n"
        ),
    );
}

#[test]
fn a_judge_that_crashes_has_not_judged() {
    let env = with_agent(STOPS);
    judged(&env, ", judge: {agent: command}");
    let ran = run(&env, &["judged", "s"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stdout.contains("failed: the judge failed"), "{ran}");
    assert!(ran.stderr.contains("the judge did not say whether the stage is done"), "{ran}");
}

#[test]
fn a_loop_that_ends_without_consensus_does_not_exit_like_one_that_agreed() {
    let env = with_agent(WORKS);
    judged(&env, "");
    let ran = run(&env, &["judged", "s"]);
    assert_eq!(ran.code, 3, "{ran}");
    assert!(
        ran.stdout.contains("completed: all iterations done, without agreement · 4 iterations"),
        "{ran}"
    );
    // It goes on where there is more to make.
    let ran = run(&env, &["judged", "s", "5", "--resume"]);
    assert_eq!(ran.code, 3, "{ran}");
    assert!(ran.stdout.contains("without agreement · 5 iterations"), "{ran}");
    let env = with_agent(STOPS);
    judged(&env, "");
    run(&env, &["judged", "s"]).success();
}

/// A judge is asked what is missing, and somebody has to hear it.
#[test]
fn what_a_judge_finds_missing_is_told_to_the_next_agent() {
    let env = with_agent(
        r#"cat > prompt-$HEIRLOOM_ITERATION
case "$HEIRLOOM_STATUS" in */judge/*)
  echo '{"decision":"continue","reason":"nothing tests the ``` rotation"}' > "$HEIRLOOM_STATUS"; exit 0;;
esac
[ "$HEIRLOOM_STAGE" = j ] || [ -e ready ] || exit 7
[ "$HEIRLOOM_STAGE" = last ] || cp prompt-$HEIRLOOM_ITERATION told-$HEIRLOOM_ITERATION
echo '{"decision":"stop"}' > "$HEIRLOOM_STATUS"
"#,
    );
    env.write(
        ".heirloom/stages/judged/stage.yaml",
        "name: judged\nprompt: Go on.\n\
         stop: {rule: judgment, min: 1, consensus: 1, max: 2, judge: {agent: command}}\n",
    );
    env.write(
        "p.yaml",
        "name: p\nnodes: [{id: j, stage: judged}, {id: last, prompt: Sum up., max: 1}]\n",
    );
    let ran = run(&env, &["p.yaml", "s"]);
    assert!(!env.read("told-1").contains("nothing tests"));
    let told = env.read("told-2");
    assert!(told.contains("## What is not done yet"), "{told}");
    assert!(told.contains("````\nnothing tests the ``` rotation\n````\n"), "{told}");
    // What comes after that stage does not hide that nobody agreed.
    assert_eq!(ran.code, 1, "{ran}");
    env.write("ready", "");
    let ran = run(&env, &["p.yaml", "s", "--resume"]);
    assert_eq!(ran.code, 3, "{ran}");
    let last = ran.stdout.lines().last().unwrap();
    assert!(last.starts_with("completed: all iterations done, without agreement"), "{ran}");
}

#[test]
fn a_verification_and_a_command_end_when_the_time_of_the_run_is_up() {
    for stop in ["verify: ['sleep 600']", "stop: {rule: command, command: sleep 600, max: 3}"] {
        let env = with_agent(STOPS);
        env.write(
            ".heirloom/stages/slow/stage.yaml",
            &format!("name: slow\nprompt: Go on.\n{stop}\n"),
        );
        let ran = run(&env, &["slow", "s", "--max-time", "3s"]);
        assert_eq!(ran.code, 3, "{ran}");
        assert!(ran.stdout.contains("interrupted: the time limit is reached"), "{ran}");
    }
}

#[test]
fn a_run_directory_that_leads_out_of_the_repository_is_refused() {
    let env = with_agent(WORKS);
    let outside = env.user().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::create_dir_all(env.repo().join(".heirloom/runs")).unwrap();
    symlink(&outside, env.repo().join(".heirloom/runs/s")).unwrap();
    let ran = run(&env, &["ralph", "s", "1"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("it leads out of the repository"), "{ran}");
    std::fs::remove_dir_all(env.repo().join(".heirloom/runs")).unwrap();
    symlink(&outside, env.repo().join(".heirloom/runs")).unwrap();
    assert_eq!(run(&env, &["ralph", "s", "1"]).code, 1);
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn a_worktree_is_shown_with_its_path_and_its_branch() {
    let env = with_agent(WORKS);
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "agent"]);
    let ran = run(&env, &["ralph", "s", "1", "--worktree"]).success();
    assert!(ran.stdout.contains("on heirloom/s"), "{ran}");
    assert!(ran.stdout.contains("/.heirloom/worktrees/s\n"), "{ran}");
}

#[test]
fn a_resumed_session_says_which_flags_it_does_not_heed() {
    let env = with_agent("cat > /dev/null; exit 7\n");
    run(&env, &["ralph", "s", "9", "--context", "one"]);
    let again = ["ralph", "s", "9", "--resume", "--context", "two", "--inherit", "x"];
    let ran = run(&env, &again);
    let said = "a resumed session runs what was planned: --inherit and --context are ignored";
    assert!(ran.stderr.contains(said), "{ran}");
    let ran = run(&env, &["ralph", "s", "9", "--resume", "--context", "one"]);
    assert!(!ran.stderr.contains("ignored"), "{ran}");
}

#[test]
fn the_last_state_of_a_run_holds_what_it_learned() {
    let env = with_agent(WORKS);
    run(&env, &["ralph", "s", "2"]).success();
    let state: Value = serde_json::from_str(&env.read(".heirloom/runs/s/state.json")).unwrap();
    assert_eq!(state["learnings"], json!(["learned 1", "learned 2"]));
}

#[test]
fn lint_of_what_there_is_not_is_an_error_and_a_file_is_known_by_its_path() {
    let env = with_agent(WORKS);
    judged(&env, "");
    let ran = env.run(&["stages", "lint", "jugded"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("there is no stage called `jugded`"), "{ran}");
    assert!(ran.stderr.contains("did you mean judged?"), "{ran}");
    let built_in = env.run(&["stages", "lint", "ralph"]);
    assert!(built_in.stderr.contains("the stage `ralph` is built in"), "{built_in}");
    for file in [".heirloom/stages/judged/stage.yaml", "judged"] {
        let ran = env.run(&["stages", "lint", file]).success();
        assert!(ran.stdout.contains("no mistakes in 1 stage"), "{ran}");
    }
}

#[test]
fn a_limit_on_the_cost_that_could_not_be_kept_is_refused() {
    let env = with_agent(WORKS).var("HEIRLOOM_AGENT_CODEX", "true");
    let ran = run(&env, &["ralph", "s", "1", "--max-cost", "5"]);
    assert_eq!(ran.code, 1, "{ran}");
    let said = "cannot limit the cost: command does not report what it costs";
    assert!(ran.stderr.contains(said), "{ran}");
    let codex = ["run", "ralph", "s", "1", "--agent", "codex", "--max-cost", "5"];
    let codex = [&codex[..], &["--permissions", "edits", "--model"]].concat();
    let unknown = env.run(&[&codex[..], &["mystery-1"]].concat());
    assert!(unknown.stderr.contains("the price of mystery-1 is not known"), "{unknown}");
    let known = env.run(&[&codex[..], &["gpt-5"]].concat());
    assert!(!known.stderr.contains("cannot be limited"), "{known}");
}

#[test]
fn tokens_of_a_known_price_count_against_the_limit() {
    let env = crate::env();
    let codex = env.script(
        "codex",
        "#!/bin/sh\ncat > /dev/null\n\
         printf '{\"decision\":\"continue\"}' > \"$HEIRLOOM_STATUS\"\n\
         echo '{\"type\":\"thread.started\",\"thread_id\":\"01a1dcac-f38a-7ae3-a06c-e6f178f250a4\"}'\n\
         echo '{\"type\":\"turn.started\"}'\n\
         echo '{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":1000000,\"output_tokens\":1000}}'\n",
    );
    let env = env.var("HEIRLOOM_AGENT_CODEX", codex);
    let arguments = ["run", "ralph", "s", "9", "--agent", "codex", "--model", "gpt-5"];
    let limits = ["--max-cost", "2", "--permissions", "edits"];
    let ran = env.run(&[&arguments[..], &limits].concat());
    assert!(ran.stdout.contains("interrupted: the cost limit is reached · 2 iterations"), "{ran}");
}

#[test]
fn sessions_of_the_original_engine_are_listed_and_in_the_lineage() {
    let env = with_agent(WORKS);
    let state = json!({"status": "complete", "completed_at": "2026-01-02T00:00:00Z"});
    env.write(".claude/pipeline-runs/old/state.json", &state.to_string());
    env.write(
        ".claude/pipeline-runs/old/stage-00-x/iterations/001/status.json",
        r#"{"decision":"stop","learnings":["from the old one"]}"#,
    );
    let listed = env.run(&["sessions", "list", "--completed", "--json"]).success().json();
    let old = &listed["unrecorded"][0];
    assert_eq!((&old["name"], &old["learnings"]), (&json!("old"), &json!(1)));
    let table = env.run(&["sessions", "list"]).success();
    assert!(table.stdout.contains("old") && table.stdout.contains("completed"), "{table}");
    run(&env, &["ralph", "new", "1", "--inherit", "old"]).success();
    let lineage = env.run(&["lineage", "new", "--json"]).success().json();
    assert_eq!(lineage["beyond"], json!(["old"]));
    assert!(env.run(&["lineage", "new"]).stdout.contains("old"));
    let child = json!({"status": "complete", "parent_session": "old"});
    env.write(".claude/pipeline-runs/child/state.json", &child.to_string());
    let shown = env.run(&["sessions", "show", "old", "--json"]).success().json();
    assert_eq!(
        (&shown["status"], &shown["learnings"], &shown["ancestors"]),
        (&json!("completed"), &json!(["from the old one"]), &json!([]))
    );
    let lineage = env.run(&["lineage", "child", "--json"]).success().json();
    assert_eq!((&lineage["name"], &lineage["ancestors"]), (&json!("child"), &json!(["old"])));
    let said = env.run(&["sessions", "show", "old"]).success();
    assert!(said.stdout.contains("only in its run directory"), "{said}");
    assert!(said.stdout.contains("from the old one"), "{said}");
    assert_eq!(env.run(&["sessions", "show", "never"]).code, 1);
}

#[test]
fn a_dead_engine_does_not_run() {
    let env = with_agent("cat > /dev/null; touch begun; sleep 600\n");
    let mut command = env.command(&["run", "ralph", "s", "3", "--agent", "command"]);
    command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null());
    let mut child = command.stderr(std::process::Stdio::null()).spawn().unwrap();
    while !env.repo().join("begun").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let inherited = env.run(&["inherit", "s", "--json"]);
    assert!(!inherited.stderr.contains("still running"), "{inherited}");
    let lineage = env.run(&["lineage", "s"]).success();
    assert!(!lineage.stdout.contains("running"), "{lineage}");
    let state: Value = serde_json::from_str(&env.read(".heirloom/runs/s/state.json")).unwrap();
    assert_eq!(state["status"], "interrupted");
}

//! Stopping and killing a run, and going on with it: nothing lost, nothing twice, nothing left.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use heirloom_testkit::env::TestEnv;

use crate::run::{WORKS, alive, wait_for, with_agent};

fn begin(env: &TestEnv, max: &str) -> Child {
    env.command(&["run", "ralph", "s", max, "--agent", "command"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

fn status(env: &TestEnv) -> String {
    env.run(&["status", "s", "--json"]).json()["status"].as_str().unwrap().to_owned()
}

/// The iterations that were completed, as the ledger has them.
fn completed(env: &TestEnv) -> Vec<u64> {
    let shown = env.run(&["sessions", "show", "s", "--trajectory", "--json"]).json();
    let records = shown["trajectory"].as_array().unwrap().clone();
    let ended = records.iter().filter(|record| {
        record["kind"] == "iteration.ended" && record["body"]["outcome"] == "completed"
    });
    ended.map(|record| record["body"]["iteration"].as_u64().unwrap()).collect()
}

#[test]
fn ctrl_c_once_finishes_the_iteration_and_resume_goes_on_after_it() {
    let env = with_agent(&format!("{WORKS}touch begun\nwhile [ ! -e go ]; do sleep 0.05; done\n"));
    let mut child = begin(&env, "3");
    wait_for(|| env.repo().join("begun").exists());
    signal(&child, "-INT");
    wait_for(|| status(&env) == "interrupting");
    env.write("go", "");
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert_eq!((status(&env).as_str(), env.read("made.log").as_str()), ("interrupted", "1\n"));
    let ran = env.run(&["run", "ralph", "s", "--resume"]).success();
    assert!(ran.stdout.contains("completed: max_iterations · 3 iterations"), "{ran}");
    assert_eq!(env.read("made.log"), "1\n2\n3\n");
    assert_eq!(completed(&env), [1, 2, 3]);
}

#[test]
fn ctrl_c_twice_stops_the_agent_and_all_its_children() {
    let env = with_agent("cat > /dev/null\nsleep 987 &\ntouch begun\nsleep 987\n");
    let mut child = begin(&env, "3");
    wait_for(|| env.repo().join("begun").exists());
    signal(&child, "-INT");
    wait_for(|| status(&env) == "interrupting");
    signal(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert_eq!(status(&env), "interrupted");
    assert!(!alive(&env));
}

#[test]
fn a_session_is_stopped_from_another_shell() {
    let env = with_agent("cat > /dev/null\ntouch begun\nsleep 987\n");
    let mut child = begin(&env, "3");
    wait_for(|| env.repo().join("begun").exists());
    let said = env.run(&["sessions", "stop", "s"]).success();
    assert_eq!(said.stdout, "s stops after this iteration\n");
    wait_for(|| status(&env) == "interrupting");
    let said = env.run(&["sessions", "stop", "s"]).success();
    assert_eq!(said.stdout, "s stops its agent now\n");
    child.wait().unwrap();
    assert_eq!(status(&env), "interrupted");
    assert!(!alive(&env));
    assert_eq!(env.run(&["sessions", "stop", "s"]).code, 1);
}

#[test]
fn an_agent_that_outlived_its_engine_is_killed_and_its_iteration_made_again() {
    let env = with_agent(
        "cat > /dev/null\necho $HEIRLOOM_ITERATION >> begun\n[ -e go ] || sleep 987\n\
         echo $HEIRLOOM_ITERATION >> made.log\n\
         echo '{\"decision\":\"continue\"}' > $HEIRLOOM_STATUS\n",
    );
    let mut child = begin(&env, "2");
    wait_for(|| env.repo().join("begun").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(alive(&env), "the agent should have outlived its engine");
    env.write("go", "");
    let refused = env.run(&["run", "ralph", "s", "--agent", "command"]);
    assert!(refused.stderr.contains("hint: --resume goes on with it"), "{refused}");
    env.run(&["run", "ralph", "s", "--resume"]).success();
    assert!(!alive(&env));
    assert_eq!((env.read("made.log"), completed(&env)), ("1\n2\n".to_owned(), vec![1, 2]));
    let aside = ".heirloom/runs/s/stage-00-ralph/iterations/001.attempt-1/context.json";
    assert!(env.repo().join(aside).exists(), "the first attempt is kept");
}

#[test]
fn an_iteration_that_was_done_when_its_engine_died_is_taken_in_and_not_made_again() {
    let env = with_agent(&format!("{WORKS}touch begun\nwhile [ ! -e go ]; do sleep 0.05; done\n"));
    let mut child = begin(&env, "2");
    wait_for(|| env.repo().join("begun").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    env.write("go", "");
    env.run(&["run", "ralph", "s", "--resume"]).success();
    assert_eq!((env.read("made.log"), completed(&env)), ("1\n2\n".to_owned(), vec![1, 2]));
    let shown = env.run(&["sessions", "show", "s", "--learnings", "--json"]).json();
    assert_eq!(shown["learnings"], serde_json::json!(["learned 1", "learned 2"]));
}

#[test]
fn an_engine_killed_at_any_instant_loses_nothing_and_repeats_nothing() {
    // Atomic at its end: what is logged is done, and what is done is reported.
    let script = r#"
cat > /dev/null
printf '{"decision":"continue","learnings":["learned %s"]}' "$HEIRLOOM_ITERATION" > "$HEIRLOOM_STATUS.new"
sleep 0.02
mv "$HEIRLOOM_STATUS.new" "$HEIRLOOM_STATUS" && echo "$HEIRLOOM_ITERATION" >> made.log
"#;
    for delay in [3, 15, 40, 70, 110, 160, 240] {
        let env = with_agent(script);
        let mut child = begin(&env, "4");
        std::thread::sleep(Duration::from_millis(delay));
        let _ = child.kill();
        child.wait().unwrap();
        let known = env.run(&["status", "s", "--json"]).code == 0;
        let ran = if known {
            env.run(&["run", "ralph", "s", "--resume"])
        } else {
            env.run(&["run", "ralph", "s", "4", "--agent", "command"])
        };
        ran.success();
        assert_eq!(completed(&env), [1, 2, 3, 4], "after {delay} ms");
        let mut made: Vec<String> = env.read("made.log").lines().map(str::to_owned).collect();
        made.sort();
        assert_eq!(made, ["1", "2", "3", "4"], "after {delay} ms");
        assert!(!alive(&env), "after {delay} ms");
        let shown = env.run(&["sessions", "show", "s", "--learnings", "--json"]).json();
        assert_eq!(shown["learnings"].as_array().unwrap().len(), 4, "after {delay} ms");
        env.run(&["ledger", "verify"]).success();
    }
}

#[test]
fn what_was_never_begun_cannot_be_resumed() {
    let env = with_agent(WORKS);
    let ran = env.run(&["run", "ralph", "s", "--resume"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("there is no session s to resume"), "{ran}");
}

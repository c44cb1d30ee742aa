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
    // The shell's own: not every machine has the program.
    let kill = format!("kill {name} {}", child.id());
    let sent = Command::new("sh").args(["-c", &kill]).status().unwrap();
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
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!((status(&env).as_str(), env.read("made.log").as_str()), ("interrupted", "1\n"));
    let ran = env.run(&["run", "ralph", "s", "--resume"]).success();
    assert!(ran.stdout.contains("completed: all iterations done · 3 iterations"), "{ran}");
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
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(status(&env), "interrupted");
    assert!(!alive(&env));
}

#[test]
fn a_sigterm_stops_the_agent_at_once_with_the_exit_code_of_one() {
    let env = with_agent("cat > /dev/null\ntouch begun\nsleep 987\n");
    let mut child = begin(&env, "3");
    wait_for(|| env.repo().join("begun").exists());
    signal(&child, "-TERM");
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert_eq!((status(&env).as_str(), alive(&env)), ("interrupted", false));
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
    // It is asked by the signal that ctrl-C sends.
    assert_eq!(child.wait().unwrap().code(), Some(130));
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
    assert!(refused.stderr.contains("hint: --resume continues it"), "{refused}");
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
    // The one that was taken in has its section on the page as well.
    let page = env.read(".heirloom/runs/s/progress-s.md");
    for n in ["1", "2"] {
        assert_eq!(page.matches(&format!("## ralph {n}\n\ndid {n}\n")).count(), 1, "{page}");
    }
}

/// The iterations that were reported, once for each attempt that was.
fn reported(env: &TestEnv) -> Vec<String> {
    let iterations = env.repo().join(".heirloom/runs/s/stage-00-ralph/iterations");
    let attempts = std::fs::read_dir(iterations).unwrap().flatten();
    let reported = attempts.filter(|attempt| attempt.path().join("status.json").exists());
    let name = |attempt: std::fs::DirEntry| attempt.file_name().to_string_lossy()[..3].to_owned();
    let mut names: Vec<String> = reported.map(name).collect();
    names.sort();
    names
}

#[test]
fn an_engine_killed_at_any_instant_loses_nothing_and_repeats_nothing() {
    // Atomic at its end: what is reported is done.
    let script = r#"
cat > /dev/null
printf '{"decision":"continue","learnings":["learned %s"]}' "$HEIRLOOM_ITERATION" > "$HEIRLOOM_STATUS.new"
sleep 0.02
mv "$HEIRLOOM_STATUS.new" "$HEIRLOOM_STATUS"
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
        assert_eq!(reported(&env), ["001", "002", "003", "004"], "after {delay} ms");
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

#[test]
fn a_terminal_that_goes_away_finishes_the_iteration_and_nothing_is_lost() {
    let env = with_agent(&format!("{WORKS}touch begun\nwhile [ ! -e go ]; do sleep 0.05; done\n"));
    let mut child = begin(&env, "2");
    wait_for(|| env.repo().join("begun").exists());
    signal(&child, "-HUP");
    wait_for(|| status(&env) == "interrupting");
    env.write("go", "");
    assert_eq!(child.wait().unwrap().code(), Some(129));
    assert_eq!((status(&env).as_str(), completed(&env)), ("interrupted", vec![1]));
    env.run(&["run", "ralph", "s", "--resume"]).success();
    assert_eq!((env.read("made.log"), completed(&env)), ("1\n2\n".to_owned(), vec![1, 2]));
}

#[test]
fn a_third_ctrl_c_kills_an_agent_that_listens_to_nothing() {
    // It notes what it was asked: killed at once, it is never asked by SIGTERM.
    let env = with_agent(
        "trap 'touch asked-int' INT\ntrap 'touch asked-term' TERM\ncat > /dev/null\ntouch begun\n\
         while :; do sleep 0.1; done\n",
    );
    let mut child = begin(&env, "3");
    wait_for(|| env.repo().join("begun").exists());
    signal(&child, "-INT");
    wait_for(|| status(&env) == "interrupting");
    signal(&child, "-INT");
    wait_for(|| env.repo().join("asked-int").exists());
    signal(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!env.repo().join("asked-term").exists(), "it was not killed at once");
    assert_eq!((status(&env).as_str(), alive(&env)), ("interrupted", false));
}

#[test]
fn a_killed_engine_of_a_parallel_block_goes_on_in_the_lane_that_was_not_done() {
    let env = with_agent(
        r#"cat > /dev/null
case $HEIRLOOM_STATUS in */left/*) lane=left;; */right/*) lane=right;; *) lane=sum;; esac
[ $lane$HEIRLOOM_ITERATION = right2 ] && { touch begun; [ -e go ] || sleep 987; }
echo '{"decision":"continue"}' > $HEIRLOOM_STATUS
echo $lane$HEIRLOOM_ITERATION >> made.log
"#,
    );
    env.write(
        "both.yaml",
        "name: both\nagent: command\nnodes:\n- id: two\n  parallel:\n    \
         agents: [{name: left, agent: command}, {name: right, agent: command}]\n    \
         nodes: [{id: review, prompt: 'Review. ${STATUS}', max: 2}]\n\
         - {id: sum, prompt: 'Sum. ${STATUS}', max: 1, inputs: {from: two}}\n",
    );
    let mut child = env
        .command(&["run", "both.yaml", "s"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let made = || std::fs::read_to_string(env.repo().join("made.log")).unwrap_or_default();
    wait_for(|| env.repo().join("begun").exists() && made().contains("left2"));
    // The end of the left lane is in the ledger before the engine dies.
    wait_for(|| {
        let shown = env.run(&["sessions", "show", "s", "--trajectory", "--json"]).json();
        shown["trajectory"].as_array().unwrap().iter().any(|r| r["kind"] == "stage.ended")
    });
    child.kill().unwrap();
    child.wait().unwrap();
    env.write("go", "");
    env.run(&["run", "both.yaml", "s", "--resume"]).success();
    let made = made();
    let mut lanes: Vec<&str> = made.lines().collect();
    lanes.sort_unstable();
    assert_eq!(lanes, ["left1", "left2", "right1", "right2", "sum1"]);
    assert!(!alive(&env));
    let manifest = env.read(".heirloom/runs/s/parallel-00-two/manifest.json");
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    for lane in ["left", "right"] {
        let review = &manifest["agents"][lane]["stages"]["review"];
        let told = (&review["status"], &review["reason"], &review["iterations"]);
        assert_eq!(told, (&"completed".into(), &"max_iterations".into(), &2.into()), "{lane}");
    }
}

#[test]
fn an_agent_that_reported_and_failed_after_its_engine_died_is_judged_by_its_report() {
    let env = with_agent(&format!(
        "{WORKS}touch begun\nwhile [ ! -e go ]; do sleep 0.05; done\n\
         [ $HEIRLOOM_ITERATION = 1 ] && exit 9\nexit 0\n"
    ));
    let mut child = begin(&env, "2");
    wait_for(|| env.repo().join("begun").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    env.write("go", "");
    env.run(&["run", "ralph", "s", "--resume"]).success();
    assert_eq!((env.read("made.log"), completed(&env)), ("1\n2\n".to_owned(), vec![1, 2]));
    let shown = env.run(&["sessions", "show", "s", "--trajectory", "--json"]).json();
    let why = |iteration: u64| {
        let records = shown["trajectory"].as_array().unwrap();
        let ended = records.iter().find(|record| {
            record["kind"] == "iteration.ended" && record["body"]["iteration"] == iteration
        });
        ended.unwrap()["body"]["why"].as_str().map(str::to_owned)
    };
    let unseen = "the process that ran it was gone when it ended; judged by its report alone";
    assert_eq!((why(1).as_deref(), why(2)), (Some(unseen), None));
}

#[test]
fn a_session_that_made_its_maximum_goes_on_when_it_may_make_more() {
    let env = with_agent(WORKS);
    env.run(&["run", "ralph", "s", "2", "--agent", "command"]).success();
    let ran = env.run(&["run", "ralph", "s", "4", "--resume"]).success();
    assert!(ran.stdout.contains("up to 4 iterations · on main · resumed"), "{ran}");
    assert!(ran.stdout.contains("completed: all iterations done · 4 iterations"), "{ran}");
    assert_eq!(
        (env.read("made.log").as_str(), completed(&env)),
        ("1\n2\n3\n4\n", vec![1, 2, 3, 4])
    );
    for max in ["4", "3"] {
        let ran = env.run(&["run", "ralph", "s", max, "--resume"]).success();
        assert!(ran.stderr.contains("s is done; nothing to resume"), "{ran}");
    }
    assert_eq!(completed(&env).len(), 4);
    env.run(&["ledger", "verify"]).success();
}

#[test]
fn what_an_agent_ended_is_not_opened_again_by_a_higher_maximum() {
    let env = with_agent(r#"cat > /dev/null; echo '{"decision":"stop"}' > $HEIRLOOM_STATUS"#);
    env.run(&["run", "ralph", "s", "2", "--agent", "command"]).success();
    let ran = env.run(&["run", "ralph", "s", "9", "--resume"]).success();
    assert!(ran.stderr.contains("nothing to resume"), "{ran}");
}

#[test]
fn what_one_agent_could_not_do_another_goes_on_with() {
    let env = with_agent("cat > /dev/null\nexit 3\n");
    assert_eq!(env.run(&["run", "ralph", "s", "9", "--agent", "command"]).code, 1);
    let arguments = ["run", "ralph", "s", "1", "--resume", "--agent", "sim", "--model", "fast"];
    let ran = env.run(&arguments).success();
    assert!(ran.stdout.contains("ralph · sim fast · up to 1 iteration"), "{ran}");
    let plan: serde_json::Value =
        serde_json::from_str(&env.read(".heirloom/runs/s/plan.json")).unwrap();
    let stage = &plan["stages"][0];
    let planned = (&stage["agent"], &stage["model"], &stage["max"]);
    assert_eq!(planned, (&"sim".into(), &"fast".into(), &1.into()));
}

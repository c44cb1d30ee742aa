//! `run`: loops of agents, from outside, with agents that behave and agents that do not.

use std::process::Stdio;

use heirloom_agents::system;
use heirloom_testkit::env::{Ran, TestEnv};
use serde_json::Value;

use crate::env;

/// Runs a shell command as the agent.
pub(crate) fn with_agent(script: &str) -> TestEnv {
    let env = env();
    env.write("agent.sh", script);
    let path = env.repo().join("agent.sh");
    env.var("HEIRLOOM_AGENT_COMMAND", format!("sh {}", path.display()))
}

/// An agent that reports a decision and adds its iteration to `made.log`.
pub(crate) const WORKS: &str = r#"
cat > /dev/null
echo "$HEIRLOOM_ITERATION" >> made.log
printf '{"decision":"continue","summary":"did %s","learnings":["learned %s"]}' "$HEIRLOOM_ITERATION" "$HEIRLOOM_ITERATION" > "$HEIRLOOM_STATUS"
"#;

fn file(env: &TestEnv, path: &str) -> Value {
    serde_json::from_str(&env.read(path)).unwrap()
}

fn status(env: &TestEnv, session: &str) -> Value {
    env.run(&["status", session, "--json"]).success().json()
}

const RUN: [&str; 2] = ["--agent", "command"];

fn run(env: &TestEnv, arguments: &[&str]) -> Ran {
    env.run(&[&["run"], arguments, &RUN].concat())
}

#[test]
fn a_stage_runs_to_its_maximum_and_leaves_its_files_and_its_records() {
    let env = with_agent(WORKS);
    let ran = run(&env, &["ralph", "auth-v1", "2"]).success();
    insta::with_settings!({filters => vec![(r"0m0\ds", "0m00s")]}, {
        insta::assert_snapshot!(ran, @r"
        auth-v1  ralph · command · up to 2 iterations · on main
         1  ✔ 0m00s  cost unknown  did 1  +1 learning
         2  ✔ 0m00s  cost unknown  did 2  +1 learning
        completed: all iterations done · 2 iterations, 0m00s, cost unknown
        ");
    });
    let state = file(&env, ".heirloom/runs/auth-v1/state.json");
    assert_eq!(
        (&state["session"], &state["status"], &state["iteration"], &state["parent_session"]),
        (&"auth-v1".into(), &"completed".into(), &2.into(), &Value::Null)
    );
    let context = file(&env, ".heirloom/runs/auth-v1/stage-00-ralph/iterations/002/context.json");
    for key in ["session", "iteration", "stage", "paths", "inputs", "limits"] {
        assert!(context.get(key).is_some(), "{key}");
    }
    assert_eq!(context["previous"]["summary"], "did 1");
    assert!(context.get("inherited").is_none());
    assert!(env.read(".heirloom/runs/auth-v1/progress-auth-v1.md").contains("did 2"));
    assert_eq!(file(&env, ".heirloom/runs/auth-v1/plan.json")["name"], "ralph");
    let shown = env.run(&["sessions", "show", "auth-v1", "--learnings", "--json"]).json();
    assert_eq!(shown["learnings"], serde_json::json!(["learned 1", "learned 2"]));
    assert_eq!(env.git(&["status", "--porcelain"]), "?? agent.sh\n?? made.log\n");
}

#[test]
fn an_agent_that_exits_7_never_counts_as_success() {
    let env = with_agent(&format!("{WORKS}exit 7\n"));
    let ran = run(&env, &["ralph", "auth-v1", "9"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(
        ran.stdout.contains("failed: too many iterations failed in a row: exit code 7"),
        "{ran}"
    );
    assert_eq!(env.read("made.log"), "1\n2\n3\n");
    assert_eq!(status(&env, "auth-v1")["status"], "failed");
}

#[test]
fn a_missing_and_a_malformed_report_are_failures_that_say_so() {
    for (script, why) in [
        ("cat > /dev/null", "it wrote no status.json"),
        ("cat > /dev/null; echo '{oops' > $HEIRLOOM_STATUS", "its status.json cannot be read"),
    ] {
        let env = with_agent(script);
        let ran = run(&env, &["ralph", "s", "9"]);
        assert_eq!(ran.code, 1);
        assert_eq!(
            ran.stdout.matches(&format!("✗ 0m00s  cost unknown  {why}")).count(),
            3,
            "{ran}"
        );
    }
}

#[test]
fn a_decision_to_stop_stops_and_an_error_ends_the_run_at_once() {
    let env = with_agent(r#"cat > /dev/null; echo '{"decision":"stop"}' > $HEIRLOOM_STATUS"#);
    let ran = run(&env, &["ralph", "s", "9"]).success();
    assert!(ran.stdout.contains("completed: the agent said it is done · 1 iteration,"), "{ran}");
    let env = with_agent(
        r#"cat > /dev/null; echo '{"decision":"error","reason":"no disk"}' > $HEIRLOOM_STATUS"#,
    );
    let ran = run(&env, &["ralph", "s", "9"]);
    assert_eq!(ran.code, 1);
    let why = "failed: gave up: the agent reports an error: no disk · 1 iteration,";
    assert!(ran.stdout.contains(why), "{ran}");
}

#[test]
fn garbage_and_floods_of_it_do_no_harm() {
    let env = with_agent(&format!(
        "{WORKS}head -c 300000 /dev/urandom\nhead -c 100000 /dev/zero\nyes garbage | head -20000\n"
    ));
    let ran = run(&env, &["ralph", "s", "1"]).success();
    assert!(ran.stdout.contains("completed: all iterations done"), "{ran}");
    let id = env.run(&["sessions", "show", "s", "--json"]).success().json()["id"].clone();
    let kept = env.home().join("streams").join(id.as_str().unwrap());
    let kept = std::fs::File::open(kept.join("stage-00-ralph.0001.jsonl.zst")).unwrap();
    assert!(zstd::decode_all(kept).unwrap().len() > 500_000);
}

#[test]
fn a_slow_agent_is_stopped_even_when_it_ignores_signals_and_has_children() {
    let env = with_agent("trap '' TERM INT\nsleep 987 &\nsleep 987\n");
    let ran = run(&env, &["ralph", "s", "1", "--iteration-timeout", "1s"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stdout.contains("it took too long"), "{ran}");
    assert!(!alive(&env), "something is left");
}

#[test]
fn a_silent_agent_times_out_which_is_an_outcome_of_its_own() {
    let env = with_agent(
        "cat > /dev/null\n[ -e speaks ] || sleep 987\nsleep 1\necho '{\"decision\":\"stop\"}' > $HEIRLOOM_STATUS\n",
    );
    let ends = |ran: &Ran| -> Vec<Value> {
        let events = ran.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        events.filter(|event| event["event"] == "iteration_ended").collect()
    };
    let ran = run(&env, &["ralph", "s", "2", "--idle-timeout", "1s", "--json"]);
    let silent = ends(&ran);
    assert_eq!(silent.len(), 2, "{ran}");
    for end in &silent {
        assert_eq!(
            (&end["outcome"], &end["why"]),
            (&"timed_out".into(), &"it said nothing for too long (idle_timeout)".into())
        );
    }
    // One that is only slow has time enough, however busy the machine is.
    env.write("speaks", "");
    let ran = run(&env, &["ralph", "t", "3", "--idle-timeout", "10s", "--json"]).success();
    let slow = ends(&ran);
    assert_eq!(slow.len(), 1, "{ran}");
    assert_eq!(slow[0]["outcome"], "completed");
    assert!(!alive(&env), "something is left");
    // Nobody has to ask for it, and who wants to wait forever can say so.
    let plan = |flags: &[&str]| {
        let words = [&["ralph", "p", "1", "--dry-run", "--json"], flags].concat();
        run(&env, &words).success().json()
    };
    let idle = |plan: &Value| plan["plan"]["stages"][0]["idle_timeout_ms"].clone();
    assert_eq!(idle(&plan(&[])), 3_600_000);
    assert_eq!(idle(&plan(&["--idle-timeout", "0s"])), Value::Null);
    env.write(".heirloom/config.yaml", "run: {idle_timeout: 20m}\n");
    assert_eq!(idle(&plan(&[])), 1_200_000);
}

/// Whether anything of the agents still runs.
pub(crate) fn alive(env: &TestEnv) -> bool {
    let place = env.repo().to_string_lossy().into_owned();
    let mine = |pid: u32| {
        let environ = system::environ(pid).unwrap_or_default();
        let text = String::from_utf8_lossy(&environ).into_owned();
        let is_ours = text.contains("HEIRLOOM_RUN=") && text.contains(&place);
        is_ours && system::began(pid).is_some()
    };
    system::pids().any(mine)
}

#[test]
fn a_finished_session_is_not_started_over_without_force_and_nothing_of_it_is_lost() {
    let env = with_agent(WORKS);
    run(&env, &["ralph", "s", "1"]).success();
    insta::assert_snapshot!(run(&env, &["ralph", "s", "1"]), @r"
    ------- stderr -------
    error: session s already exists and is completed
    hint: use another name, or --force to start over and keep the old one
    [exit 1]
    ");
    run(&env, &["ralph", "s", "1", "--force"]).success();
    assert!(env.repo().join(".heirloom/runs/s.old-1/state.json").exists());
    let ran = env.run(&["run", "ralph", "s", "--resume"]).success();
    assert!(ran.stderr.contains("s is done; nothing to resume"), "{ran}");
}

#[test]
fn starting_over_ends_what_a_killed_engine_left() {
    let env = with_agent(
        "cat > /dev/null\ntouch begun\n[ -e go ] || sleep 987\necho '{\"decision\":\"stop\"}' > $HEIRLOOM_STATUS\n",
    );
    let mut first = env
        .command(&["run", "ralph", "s", "1", "--agent", "command"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_for(|| env.repo().join("begun").exists());
    first.kill().unwrap();
    first.wait().unwrap();
    env.write("go", "");
    run(&env, &["ralph", "s", "1", "--force"]).success();
    assert!(!alive(&env));
    assert_eq!(
        env.run(&["sessions", "list", "--running", "--json"]).json()["sessions"][0],
        Value::Null
    );
}

#[test]
fn no_secret_reaches_a_context_an_event_or_the_page() {
    let key = format!("sk-{}", "ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCd");
    let env = with_agent(&format!(
        "cat > /dev/null\necho 'using {key}'\necho '{{\"decision\":\"continue\",\"summary\":\"set {key}\"}}' > $HEIRLOOM_STATUS\n"
    ));
    let ran = run(&env, &["ralph", "s", "2"]).success();
    assert!(!ran.stdout.contains(&key), "{ran}");
    for file in ["run.jsonl", "progress-s.md", "stage-00-ralph/iterations/002/context.json"] {
        let text = env.read(&format!(".heirloom/runs/s/{file}"));
        assert!(!text.contains(&key) && text.contains("[redacted"), "{file}: {text}");
    }
}

#[test]
fn two_engines_never_run_one_session() {
    let env = with_agent("cat > /dev/null\ntouch begun\nwhile [ ! -e go ]; do sleep 0.05; done\n");
    let mut first = env
        .command(&["run", "ralph", "s", "1", "--agent", "command"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for(|| env.repo().join("begun").exists());
    for flag in ["--resume", "--force"] {
        let ran = env.run(&["run", "ralph", "s", "1", flag]);
        assert_eq!(ran.code, 1);
        assert!(
            ran.stderr.starts_with("error: session s is already running, in process "),
            "{ran}"
        );
    }
    env.write("go", "");
    first.wait().unwrap();
}

/// Waits for something that will happen.
pub(crate) fn wait_for(mut happened: impl FnMut() -> bool) {
    let began = std::time::Instant::now();
    while !happened() {
        assert!(began.elapsed().as_secs() < 60, "it never happened");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[test]
fn limits_of_money_and_time_stop_a_run_that_can_be_resumed_with_its_budget_spent() {
    let env = env();
    let ran = env.run(&["run", "ralph", "s", "9", "--agent", "sim", "--max-cost", "0.0005"]);
    assert_eq!(ran.code, 3, "{ran}");
    assert!(ran.stdout.contains("interrupted: the cost limit is reached"), "{ran}");
    let spent = status(&env, "s")["cost_usd"].as_f64().unwrap();
    let again = env.run(&["run", "ralph", "s", "--resume"]);
    assert!(again.stdout.contains("interrupted: the cost limit is reached"), "{again}");
    assert!((status(&env, "s")["cost_usd"].as_f64().unwrap() - spent).abs() < 1e-9);
    let ran = env.run(&["run", "ralph", "s", "--resume", "--max-cost", "5"]).success();
    assert!(ran.stdout.contains("completed: the agent said it is done · 3 iterations"), "{ran}");

    let env = with_agent("sleep 987\n");
    let ran = run(&env, &["ralph", "s", "9", "--max-time", "1s"]);
    assert_eq!(ran.code, 3);
    assert!(ran.stdout.contains("interrupted: the time limit is reached"), "{ran}");
}

#[test]
fn a_rate_limit_is_waited_out_and_is_no_failure() {
    let env = env().var("HEIRLOOM_BACKOFF_MS", "10");
    // The first three launches meet a limit, as the agent's own structured result says.
    env.write(
        "agent.sh",
        r#"cat > /dev/null
echo x >> launches
if [ $(wc -l < launches) -le 3 ]; then
  echo '{"type":"system","subtype":"init","session_id":"11111111-1111-4111-8111-111111111111","model":"m"}'
  echo '{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"limited","session_id":"11111111-1111-4111-8111-111111111111"}'
  exit 1
fi
exec "$HEIRLOOM" sim-agent "$@"
"#,
    );
    let env = env
        .var("HEIRLOOM", env!("CARGO_BIN_EXE_heirloom"))
        .var("HEIRLOOM_AGENT_SIM", "sh agent.sh");
    let ran = env.run(&["run", "ralph", "s", "1", "--agent", "sim"]).success();
    assert_eq!(env.read("launches").lines().count(), 4, "{ran}");
    assert_eq!(ran.stdout.matches("waiting").count(), 3, "{ran}");
    assert!(ran.stdout.contains("completed: all iterations done · 1 iteration"), "{ran}");
}

#[test]
fn text_that_talks_of_rate_limits_is_no_rate_limit() {
    let env =
        with_agent(&format!("{WORKS}echo 'HTTP 429 Too Many Requests, rate limit'\nexit 3\n"));
    let ran = run(&env, &["ralph", "s", "9"]);
    assert!(!ran.stdout.contains("waiting"), "{ran}");
    assert!(ran.stdout.contains("failed: too many iterations failed in a row"), "{ran}");
}

#[test]
fn done_is_done_when_the_verification_says_so() {
    let env = with_agent(
        r#"cat > /dev/null
cp $HEIRLOOM_CTX context-$HEIRLOOM_ITERATION.json
[ $HEIRLOOM_ITERATION = 2 ] && touch fixed
echo '{"decision":"stop","summary":"done"}' > $HEIRLOOM_STATUS
"#,
    );
    env.write(
        ".heirloom/stages/fix/stage.yaml",
        "name: fix\nstop: {rule: fixed, max: 5}\nverify: ['echo looking; test -e fixed']\n",
    );
    env.write(".heirloom/stages/fix/prompt.md", "Fix it. Report in ${STATUS}.\n");
    let ran = run(&env, &["fix", "s"]).success();
    assert!(ran.stdout.contains("completed: the agent said it is done · 2 iterations"), "{ran}");
    let context = file(&env, "context-2.json");
    assert_eq!(context["verification"]["exit_code"], 1);
    assert_eq!(context["verification"]["output"], "looking\n");
}

#[test]
fn a_command_rule_runs_until_the_command_succeeds_or_fails_at_the_maximum() {
    let env = with_agent(WORKS);
    env.write(
        ".heirloom/stages/until/stage.yaml",
        "name: until\nstop: {rule: command, command: 'test $(wc -l < made.log) -ge 2', max: 5}\n",
    );
    env.write(".heirloom/stages/until/prompt.md", "Work. ${STATUS}\n");
    let ran = run(&env, &["until", "s"]).success();
    assert!(ran.stdout.contains("completed: the command succeeded · 2 iterations"), "{ran}");
    std::fs::remove_file(env.repo().join("made.log")).unwrap();
    let ran = run(&env, &["until", "t", "1"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("failed: no iteration succeeded"), "{ran}");
}

#[test]
fn a_judgment_needs_several_agents_in_a_row_and_a_judge_that_agrees() {
    let env = with_agent(
        r#"cat > /dev/null
case $HEIRLOOM_STATUS in */judge/*)
  [ $HEIRLOOM_ITERATION -ge 3 ] && d=stop || d=continue
  echo "{\"decision\":\"$d\"}" > $HEIRLOOM_STATUS; exit 0;;
esac
echo '{"decision":"stop","summary":"enough"}' > $HEIRLOOM_STATUS
"#,
    );
    env.write(
        ".heirloom/stages/judged/stage.yaml",
        "name: judged\nstop: {rule: judgment, min: 1, consensus: 2, judge: {agent: command}, max: 9}\n",
    );
    env.write(".heirloom/stages/judged/prompt.md", "Judge. ${STATUS}\n");
    let ran = run(&env, &["judged", "s"]).success();
    assert!(
        ran.stdout.contains("completed: the iterations agree that it is done · 3 iterations"),
        "{ran}"
    );
}

#[test]
fn names_that_would_lead_elsewhere_are_refused() {
    let env = with_agent(WORKS);
    for name in ["a,b", "a/b", "..", ".hidden", ""] {
        let ran = run(&env, &["ralph", name, "1"]);
        assert_eq!(ran.code, 64, "{name}: {ran}");
    }
    let ran = env.run(&["run", "ralph", "-x"]);
    assert_eq!(ran.code, 64);
    assert!(!env.repo().join("made.log").exists());
}

#[test]
fn what_cannot_be_run_is_told_with_file_line_and_suggestion() {
    let env = with_agent(WORKS);
    let ran = run(&env, &["ralhp", "s"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("did you mean ralph?"), "{ran}");
    env.write(".heirloom/stages/bad/stage.yaml", "name: bad\nstpo: {rule: fixed}\n");
    env.write(".heirloom/stages/bad/prompt.md", "Do ${STATSU}\n");
    let ran = run(&env, &["bad", "s"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains(".heirloom/stages/bad/stage.yaml:2:1: stpo"), "{ran}");
    assert!(ran.stderr.contains("did you mean `${STATUS}`?"), "{ran}");
    let lint = env.run(&["stages", "lint", "--json"]);
    assert_eq!((lint.code, &lint.json()["ok"]), (1, &false.into()));
    let mistakes = lint.json()["mistakes"].clone();
    let lines: Vec<_> = mistakes.as_array().unwrap().iter().map(|m| m["line"].clone()).collect();
    assert!(lines.contains(&2.into()), "{mistakes}");
}

#[test]
fn a_dry_run_prints_the_plan_and_the_first_prompt_and_changes_nothing() {
    let env = with_agent(WORKS);
    let ran = run(&env, &["ralph", "s", "4", "--dry-run", "--context", "mind the gap"]).success();
    assert!(ran.stdout.contains("ralph  command · up to 4 iterations"), "{ran}");
    assert!(ran.stdout.contains("mind the gap"), "{ran}");
    assert!(ran.stdout.contains("stage-00-ralph/iterations/001/status.json"), "{ran}");
    assert!(!env.repo().join(".heirloom/runs").exists());
}

#[test]
fn json_is_one_event_a_line() {
    let env = with_agent(WORKS);
    let ran = run(&env, &["ralph", "s", "1", "--json"]).success();
    let events: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let words: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(
        words,
        [
            "started",
            "stage_started",
            "iteration_started",
            "iteration_ended",
            "stage_ended",
            "ended"
        ]
    );
    assert!(events.iter().all(|event| event["at"].is_string()));
}

#[test]
fn a_detached_run_is_watched_to_its_end() {
    let env = with_agent(&format!("{WORKS}while [ ! -e go ]; do sleep 0.05; done\n"));
    let ran = run(&env, &["ralph", "s", "1", "--detach"]).success();
    assert!(ran.stdout.starts_with("s runs in the background (process "), "{ran}");
    env.write("go", "");
    let watched = env.run(&["watch", "s"]).success();
    assert!(watched.stdout.contains("completed: all iterations done"), "{watched}");
    let refused = run(&env, &["ralph", "s", "1", "--detach"]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("session s already exists"), "{refused}");
}

#[test]
fn each_iteration_is_kept_as_a_commit_where_that_is_asked_for() {
    let env = with_agent(WORKS);
    env.write(
        ".heirloom/stages/kept/stage.yaml",
        "name: kept\nstop: {rule: fixed, max: 2}\ncheckpoint: true\n",
    );
    env.write(".heirloom/stages/kept/prompt.md", "Work. ${STATUS}\n");
    run(&env, &["kept", "s"]).success();
    let kept = |at: &str| env.git(&["show", &format!("refs/heirloom/runs/s{at}:made.log")]);
    assert_eq!((kept("~1"), kept("")), ("1\n".to_owned(), "1\n2\n".to_owned()));
}

#[test]
fn a_run_works_in_a_worktree_of_its_own_where_that_is_asked_for() {
    let env = with_agent(WORKS);
    run(&env, &["ralph", "s", "1", "--worktree"]).success();
    assert!(!env.repo().join("made.log").exists());
    assert_eq!(env.read(".heirloom/worktrees/s/made.log"), "1\n");
    assert_eq!(status(&env, "s")["status"], "completed");
}

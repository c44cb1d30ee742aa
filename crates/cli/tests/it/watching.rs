//! `watch`: sessions and runs of `work`, seen from another shell.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use heirloom_testkit::env::TestEnv;
use serde_json::Value;

fn spawn(env: &TestEnv, arguments: &[&str]) -> Child {
    let mut command = env.command(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// With an agent that says something and then hangs.
fn hanging() -> TestEnv {
    let env = crate::env();
    let script = env.user().join("script.jsonl");
    fs::write(&script, "{\"text\":\"looking around\"}\n{\"hang\":true}\n").unwrap();
    env.var("HEIRLOOM_SIM_SCRIPT", script)
}

/// Reads lines until one contains `text`.
fn read_until(child: &mut Child, text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for line in BufReader::new(child.stdout.as_mut().unwrap()).lines() {
        lines.push(line.unwrap());
        if lines.last().unwrap().contains(text) {
            return lines;
        }
    }
    panic!("it never came: {lines:?}");
}

#[test]
fn what_is_said_in_a_session_is_seen_as_it_is_said() {
    let env = hanging();
    let mut launch = spawn(&env, &["launch", "do it", "--name", "a", "--agent", "sim"]);
    while env.run(&["sessions", "show", "a"]).code != 0 {}
    let mut watch = spawn(&env, &["watch", "a"]);
    let seen = read_until(&mut watch, "looking around");
    assert!(seen[0].contains("do it"), "{seen:?}");
    env.run(&["interrupt", "a"]).success();
    assert_eq!(watch.wait().unwrap().code(), Some(1));
    launch.wait().unwrap();
    // What was said stays to be seen, also when it was compressed in the meantime.
    let again = env.run(&["watch", "a", "--json"]);
    let lines: Vec<Value> =
        again.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let said: Vec<&Value> = lines.iter().map(|line| &line["kind"]).collect();
    assert_eq!((said[0], said[1]), (&"prompt".into(), &"text".into()), "{again}");
    let numbers: Vec<u64> = lines.iter().map(|line| line["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=lines.len() as u64).collect::<Vec<_>>());
}

#[test]
fn a_run_of_work_is_watched_from_another_shell_and_its_sessions_are_like_any_other() {
    let env = hanging();
    env.run(&["issues", "create", "the first"]).success();
    assert!(env.run(&["watch"]).stderr.contains("no run of `work` is in progress here"));
    let mut work = spawn(&env, &["work", "--agent", "sim", "--in-place", "--json"]);
    let mut events = read_until(&mut work, "looking around");
    let run: Value = serde_json::from_str(&events[0]).unwrap();
    let mut watch = spawn(&env, &["watch", "--json"]);
    let seen = read_until(&mut watch, "looking around");
    assert_eq!(seen, events, "another process sees the same");
    // Its session is interrupted by name, which leaves the issue in progress.
    let sessions = env.run(&["sessions", "list", "--json"]).success().json();
    let name = sessions["sessions"][0]["name"].as_str().unwrap().to_owned();
    env.run(&["interrupt", &name]).success();
    events.extend(read_until(&mut work, "\"ended\""));
    work.wait().unwrap();
    assert_eq!(watch.wait().unwrap().code(), Some(0));
    // The last run is there to be seen later, and its session goes on.
    let id = run["run"].as_str().unwrap();
    let later = env.run(&["watch", id, "--json"]).success();
    assert_eq!(later.stdout.lines().next().unwrap(), events[0]);
    let env = env.var("HEIRLOOM_SIM_SCRIPT", "");
    let child = env.run(&["continue", &name, "go on", "--json"]).success().json();
    assert_eq!(child["status"], "completed");
    let said = env.run(&["conversation", child["name"].as_str().unwrap()]).success();
    assert!(said.stdout.contains("looking around") && said.stdout.contains("go on"), "{said}");
}

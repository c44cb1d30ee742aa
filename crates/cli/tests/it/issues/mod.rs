//! Issues, in each of the trackers a repository may have.

mod built_in;
mod claiming;
mod contract;
mod exchange;
mod file;
mod program;
mod queue;

use std::path::Path;

use heirloom_testkit::env::{Ran, TestEnv};
use serde_json::Value;

use crate::env;

/// A repository whose issues heirloom keeps itself.
fn built_in() -> TestEnv {
    env().var("USER", "ada")
}

/// A repository whose issues are lines of a file.
fn file(content: &str) -> TestEnv {
    let env = built_in().var("PATH", "/nowhere");
    env.write(".beads/issues.jsonl", content);
    env
}

/// A repository whose issues `name` keeps: a program that does as the shell script says.
fn program(name: &str, script: &str) -> TestEnv {
    let env = built_in();
    std::fs::create_dir_all(env.repo().join(".beads")).unwrap();
    let bin = env.home().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    executable(&bin.join(name), &format!("#!/bin/sh\n{script}"));
    // The shell and what scripts need, but no program of a tracker that may be installed here.
    let path = format!("{}:/usr/bin:/bin", bin.display());
    env.var("PATH", path)
}

fn executable(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(path, mode).unwrap();
}

/// A `br` that keeps its issues in a heirloom of its own, and answers and refuses as br does.
fn whole_program() -> TestEnv {
    let env = program("br", "");
    let store = env.home().join("store");
    std::fs::create_dir_all(&store).unwrap();
    let script = format!(
        r#"#!/bin/sh
cd '{store}' || exit 8
export HEIRLOOM_HOME='{store}'
command=$1
shift
case "$command $1" in
"blocked "*) set -- list --json ;;
"reopen "*) id=$1; set -- update "$id" --status open --json ;;
"comments add") shift; set -- comment "$@" ;;
*) set -- "$command" "$@" ;;
esac
answer=$('{heirloom}' issues "$@" 2>/dev/null)
code=$?
say() {{ echo "{{\"error\":{{\"code\":\"$2\",\"message\":\"$3\",\"retryable\":false}}}}" >&2; exit "$1"; }}
case "$code $answer" in
0*) printf '%s\n' "$answer" ;;
*issue.taken*) say 4 VALIDATION_FAILED "claim: issue already assigned to somebody" ;;
*issue.not-found*) say 3 ISSUE_NOT_FOUND "Issue not found" ;;
*issue.circle*) say 5 CYCLE_DETECTED "adding this would make a cycle" ;;
*) say 1 INTERNAL "$answer" ;;
esac
"#,
        store = store.display(),
        heirloom = env!("CARGO_BIN_EXE_heirloom"),
    );
    executable(&env.home().join("bin/br"), &script);
    env
}

/// One repository for each kind of tracker.
fn each() -> [(&'static str, TestEnv); 3] {
    [("built in", built_in()), ("file", file("")), ("program", whole_program())]
}

/// Runs a command about issues that has to succeed, and reads its answer.
#[track_caller]
fn issues(env: &TestEnv, arguments: &[&str]) -> Value {
    run(env, &[arguments, &["--json"]].concat()).success().json()
}

fn run(env: &TestEnv, arguments: &[&str]) -> Ran {
    env.run(&[&["issues"], arguments].concat())
}

/// Makes an issue and returns its id.
fn create(env: &TestEnv, arguments: &[&str]) -> String {
    let made = issues(env, &[&["create"], arguments].concat());
    made["id"].as_str().unwrap().to_owned()
}

/// The ids of a list, in its order.
fn ids(listed: &Value) -> Vec<String> {
    let issues = listed["issues"].as_array().unwrap();
    issues.iter().map(|issue| issue["id"].as_str().unwrap().to_owned()).collect()
}

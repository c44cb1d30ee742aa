//! The GitHub Action: its script, with a `gh` that writes down what it was asked.

use std::fs;
use std::path::Path;
use std::process::Command;

use heirloom_testkit::env::{Ran, TestEnv};

use crate::env;

const GH: &str = r#"#!/bin/sh
echo "$@" >> "$GH_LOG"
case "$*" in
  *--paginate*) cat "$GH_EARLIER" ;;
  *body=@*) for word in "$@"; do case $word in body=@*) cat "${word#body=@}" >> "$GH_LOG" ;; esac; done ;;
esac
"#;

fn report(env: &TestEnv, earlier: &str, fail: bool) -> (Ran, String) {
    let bin = env.user().join("bin");
    fs::create_dir_all(&bin).unwrap();
    env.script("bin/gh", GH);
    let [log, known, output] = ["gh.log", "earlier", "output"].map(|name| env.user().join(name));
    fs::write(&log, "").unwrap();
    fs::write(&known, earlier).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let path = std::iter::once(bin).chain(std::env::split_paths(&path));
    let ran = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../action/report"))
        .current_dir(env.repo())
        .env_clear()
        .env("PATH", std::env::join_paths(path).unwrap())
        .env("HOME", env.user())
        .env("TMPDIR", env.user())
        // A machine that builds, with no agent above.
        .env("HEIRLOOM_TEST_LINE", "bash")
        .env("HEIRLOOM", env!("CARGO_BIN_EXE_heirloom"))
        .env("LEDGER", "ledger.jsonl")
        .env("FAIL", fail.to_string())
        .env("PULL_REQUEST", "7")
        .env("GITHUB_REPOSITORY", "acme/payments")
        .env("GITHUB_OUTPUT", &output)
        .env("GITHUB_STEP_SUMMARY", env.user().join("summary"))
        .env("GH_LOG", &log)
        .env("GH_EARLIER", &known)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let code = ran.status.code().unwrap();
    let ran = Ran { stdout: text(ran.stdout), stderr: text(ran.stderr), code };
    (ran, fs::read_to_string(log).unwrap())
}

fn decided(env: &TestEnv) {
    env.write(".heirloom/config.yaml", "requirements: {plan: {scope: branch}}\n");
    env.write("src/auth.rs", "fn rotate() {\n    store.swap(token, fresh);\n}\n");
    let evidence = ["--because", "replay", "--evidence", "src/auth.rs:2"];
    let words = ["note", "decision", "Swap tokens in the store @everyone <b>"];
    env.run(&[&words[..], &evidence].concat()).success();
    env.run(&["ledger", "export", "ledger.jsonl"]).success();
}

#[test]
fn a_pull_request_that_breaks_a_decision_says_so_in_one_comment() {
    let env = env();
    decided(&env);
    let (ran, asked) = report(&env, "", true);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(asked.contains("--method POST repos/acme/payments/issues/7/comments"), "{asked}");
    assert!(asked.contains("all 1 recorded claims still hold"), "{asked}");
    assert!(asked.contains("**unmet**: `plan` (branch)"), "{asked}");

    env.write("src/auth.rs", "fn rotate() {\n    fresh()\n}\n");
    let (ran, asked) = report(&env, "4711\n", false);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(asked.contains("--method PATCH repos/acme/payments/issues/comments/4711"), "{asked}");
    assert!(asked.contains("1 of 1 recorded claims no longer hold"), "{asked}");
    assert!(asked.contains("`src/auth.rs:2`"), "{asked}");
    assert!(!asked.contains("@everyone"), "{asked}");
    assert!(!asked.contains("<b>"), "{asked}");
    let (ran, _) = report(&env, "", true);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(fs::read_to_string(env.user().join("output")).unwrap().ends_with("status=broken\n"));
}

#[test]
fn without_a_ledger_nothing_is_claimed() {
    let env = env();
    env.write("README.md", "# payments\n");
    let (ran, asked) = report(&env, "", true);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(asked.contains("no recorded decision to check"), "{asked}");
}

#[test]
fn the_action_runs_that_script() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let action = fs::read_to_string(root.join("action.yml")).unwrap();
    assert!(action.contains("using: composite") && action.contains("action/report"));
    for name in ["GH_TOKEN", "HEIRLOOM", "LEDGER", "COMMENT", "FAIL", "PULL_REQUEST"] {
        assert!(action.contains(&format!("{name}: ${{{{")), "{name} is not handed on");
    }
}

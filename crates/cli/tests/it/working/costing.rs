//! What an issue costs besides its agent: processes of git, counted.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::Yard;

/// A git that notes each time it is started, before the real one.
fn with_counted_git(yard: Yard) -> (Yard, std::path::PathBuf) {
    let bin = yard.env.user().join("bin");
    fs::create_dir_all(&bin).unwrap();
    let log = yard.env.user().join("git.log");
    let path = std::env::var("PATH").unwrap();
    let is_git = |dir: &&str| std::path::Path::new(dir).join("git").is_file();
    let real = path.split(':').find(is_git).unwrap();
    let script = format!("#!/bin/sh\necho \"$*\" >> {}\nexec {real}/git \"$@\"\n", log.display());
    fs::write(bin.join("git"), script).unwrap();
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{path}", bin.display());
    (Yard { env: yard.env.var("PATH", path) }, log)
}

/// How often git is started for each of `issues`, in a run of its own.
fn gits_of_a_run(issues: usize) -> Vec<String> {
    let yard = Yard::new();
    for n in 0..issues {
        yard.issue(&format!("{n}"), &["ok"]);
    }
    let (yard, log) = with_counted_git(yard);
    yard.run(&["work", "--max-agents", "1"]).success();
    fs::read_to_string(log).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn an_issue_takes_hardly_more_processes_of_git_than_a_shell_script_would() {
    // A script for one issue: worktree add, status, add, commit, and update-ref or merge.
    const SCRIPT: usize = 5;
    let (few, many) = (gits_of_a_run(1), gits_of_a_run(5));
    let each = (many.len() - few.len()).div_ceil(4);
    assert!(2 * each <= 3 * SCRIPT, "{each} an issue:\n{}", many.join("\n"));
}

#[test]
fn a_session_of_work_can_be_forked_and_its_conversation_shown() {
    let yard = Yard::new();
    let issue = yard.issue("Rotate tokens", &["ok"]);
    yard.run(&["work"]).success();
    let said = yard.run(&["conversation", &issue]).success();
    assert!(said.stdout.contains("Work on issue"), "{said}");
    yard.run(&["fork", &issue, "try another way", "--name", "other"]).success();
    let forked = yard.given("", 1);
    assert_eq!(forked.flag("--resume"), yard.given(&issue, 1).flag("--session-id"));
    assert!(forked.argv.iter().any(|argument| argument == "--fork-session"), "{:?}", forked.argv);
    assert_eq!(forked.cwd, yard.given(&issue, 1).cwd);
    let shown = yard.json(&["sessions", "show", "other"]);
    assert_eq!(shown["parent"], issue.as_str(), "{shown}");
}

#[test]
fn many_runs_of_the_original_are_taken_in_once_and_it_is_said_how_far_it_is() {
    let yard = Yard::new();
    let repo = yard.env.repo();
    let encoded = repo.to_str().unwrap().replace(['/', '_'], "-");
    let runs = yard.env.user().join(".config/mala/runs").join(encoded);
    fs::create_dir_all(&runs).unwrap();
    for n in 0..2100 {
        let run = serde_json::json!({"run_id": format!("r{n}"), "repo_path": repo.to_str().unwrap(),
            "started_at": "2026-01-03T00:00:00+00:00",
            "issues": {format!("bd-{n}"): {"status": "failed", "session_id": null}}});
        fs::write(runs.join(format!("r{n:05}.json")), run.to_string()).unwrap();
    }
    let ran = yard.run(&["work", "--resume"]).success();
    for far in ["2,000 of 2,100", "2,100 of 2,100"] {
        assert!(ran.stderr.contains(&format!("importing runs of the original: {far}")), "{ran}");
    }
    let again = yard.run(&["work", "--resume"]).success();
    assert!(!again.stderr.contains("importing"), "{again}");
}

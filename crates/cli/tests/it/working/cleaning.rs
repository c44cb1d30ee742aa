//! `work clean`: what ended runs left goes, and work that is nowhere else stays.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use super::{TOGETHER, Yard};

fn kept(answer: &Value, name: &str) -> Option<String> {
    let all = answer["leftovers"].as_array().unwrap();
    let found = all.iter().find(|left| left["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {answer}"))["kept"].as_str().map(str::to_owned)
}

fn branches(yard: &Yard) -> Vec<String> {
    let names = yard.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
    names.lines().map(str::to_owned).collect()
}

#[test]
fn force_is_not_offered_for_finished_work_that_it_keeps() {
    let yard = Yard::new();
    yard.issue("Done", &["ok"]);
    yard.run(&["work"]).success();
    yard.run(&["work", "clean"]).success();
    for arguments in [&["work", "clean"][..], &["work", "clean", "--force"]] {
        let ran = yard.run(arguments).success();
        assert!(ran.stdout.contains("not merged yet"), "{ran}");
        assert!(!ran.stderr.contains("--force"), "{ran}");
        assert!(ran.stderr.contains("removes heirloom/work/main once it is merged"), "{ran}");
    }
    yard.git(&["merge", "-q", TOGETHER]);
    assert!(yard.run(&["work", "clean"]).success().stderr.is_empty());
    assert_eq!(branches(&yard), ["main"]);
}

#[test]
fn finished_work_that_waits_is_named_at_home_until_it_was_merged() {
    let yard = Yard::new();
    yard.issue("Done", &["ok"]);
    yard.run(&["work"]).success();
    let waits = |yard: &Yard| {
        let home = yard.run(&[]).success().stdout;
        home.lines().find(|line| line.contains("to merge")).map(str::to_owned)
    };
    let line = waits(&yard).unwrap();
    assert!(line.contains("finished work: 1 commit on heirloom/work/main"), "{line}");
    assert!(line.ends_with("git merge heirloom/work/main"), "{line}");
    let json = yard.json(&[]);
    assert_eq!(json["unmerged"][0]["command"], "git merge heirloom/work/main", "{json}");
    // What was done for another branch is merged there.
    yard.git(&["switch", "-q", "-c", "other", "HEAD"]);
    assert_eq!(
        yard.json(&[])["unmerged"][0]["command"],
        "git switch main && git merge heirloom/work/main"
    );
    yard.git(&["switch", "-q", "main"]);
    // Pushed for a pull request it is not merged yet, whatever the remote is called.
    for remote in ["origin", "team/ada"] {
        let pushed = format!("refs/remotes/{remote}/{TOGETHER}");
        yard.git(&["update-ref", &pushed, TOGETHER]);
        assert!(waits(&yard).is_some(), "{remote}");
        assert!(kept(&yard.json(&["work", "clean"]), TOGETHER).is_some(), "{remote}");
    }
    // A squash brings it over too.
    yard.git(&["merge", "-q", "--squash", TOGETHER]);
    yard.git(&["commit", "-qm", "squashed"]);
    assert_eq!(waits(&yard), None);
    // Where the person went on in the same file, only the patches tell. Not for a screen that has to be quick.
    let file = yard.git(&["diff", "--name-only", "HEAD~1", "HEAD"]);
    yard.env.write(&file, "mine\n");
    yard.git(&["commit", "-qam", "mine"]);
    assert!(waits(&yard).is_some());
    yard.run(&["work", "clean"]).success();
    assert!(!branches(&yard).contains(&TOGETHER.to_owned()));
}

#[test]
fn what_is_somewhere_else_goes_and_work_that_is_nowhere_else_is_named_and_stays() {
    let yard = Yard::with_settings("work: {gate: ['! ls bad-*'], max_fixes: 0}\n");
    let done = yard.issue("Done", &["ok"]);
    let failed = yard.issue("Failed", &["bad"]);
    let dirty = yard.issue("Dirty", &["ok"]);
    assert_eq!(yard.run(&["work"]).code, 1);
    let (of, dirt) = (|id: &str| format!("heirloom/issue/{id}"), yard.given(&dirty, 1).cwd);
    fs::write(dirt.join("later.txt"), "mine\n").unwrap();
    let before = (branches(&yard), yard.git(&["worktree", "list"]));

    let shown = yard.json(&["work", "clean", "--dry-run"]);
    assert_eq!(kept(&shown, &done), None, "{shown}");
    assert_eq!(kept(&shown, &failed).unwrap(), format!("commits that are only on {}", of(&failed)));
    assert_eq!(kept(&shown, &dirty).unwrap(), "uncommitted changes");
    let together = kept(&shown, TOGETHER).unwrap();
    assert_eq!(together, format!("not merged yet: git merge {TOGETHER}"));
    assert_eq!((branches(&yard), yard.git(&["worktree", "list"])), before);

    let ran = yard.run(&["work", "clean"]).success();
    assert!(ran.stdout.contains("removed") && ran.stdout.contains("uncommitted changes"), "{ran}");
    // What is said to remove something removes it: force does not touch what waits to be merged.
    let discards = format!("`git branch -D {TOGETHER}` discards it");
    assert!(ran.stderr.contains("work clean --force` removes it"), "{ran}");
    assert!(ran.stderr.contains(&discards), "{ran}");
    let mut left = [of(&dirty), of(&failed), TOGETHER.into(), "main".into()];
    left.sort();
    assert_eq!(branches(&yard), left);
    assert!(!yard.given(&done, 1).cwd.exists() && dirt.join("later.txt").exists());

    // Merged, the branch of finished work is of no more use; by force the rest goes, and is named.
    yard.git(&["merge", "-q", TOGETHER]);
    let ran = yard.run(&["work", "clean", "--force"]).success();
    assert!(
        ran.stdout.contains(&format!("with commits that are only on {}", of(&failed))),
        "{ran}"
    );
    assert_eq!(branches(&yard), ["main"]);
    assert!(!dirt.exists());
    // And a run after that begins as if nothing had been there.
    yard.run(&["work", "--resume", "--fresh"]);
    assert!(branches(&yard).contains(&of(&failed)));
}

#[test]
fn what_a_run_works_on_is_left_alone_even_by_force() {
    let yard = Yard::new();
    let issue = yard.issue("Busy", &["wait"]);
    let child = yard.spawn(&["work"]);
    yard.wait_for_agent(&issue, 1);
    let shown = yard.json(&["work", "clean", "--force"]);
    assert_eq!(kept(&shown, &issue).unwrap(), "a run is using it");
    assert_eq!(kept(&shown, TOGETHER).unwrap(), "a run is using it");
    fs::write(yard.plan().join("go"), "").unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    assert_eq!(yard.status(&issue), "closed");
}

#[test]
fn a_worktree_that_somebody_deleted_does_not_keep_its_branch() {
    let yard = Yard::new();
    let issue = yard.issue("Gone", &["ok"]);
    yard.run(&["work"]).success();
    fs::remove_dir_all(yard.given(&issue, 1).cwd).unwrap();
    let shown = yard.json(&["work", "clean"]);
    assert_eq!(kept(&shown, &issue), None, "{shown}");
    assert!(!branches(&yard).contains(&format!("heirloom/issue/{issue}")));
    assert!(!yard.git(&["worktree", "list"]).contains("prunable"));
}

#[test]
fn an_agent_that_cannot_ask_gets_the_mode_in_which_it_runs_commands() {
    let yard = Yard::new();
    yard.issue("Shell", &["ok"]);
    let (argv, program) = (yard.env.user().join("argv"), yard.env.user().join("gemini"));
    let script = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" > {}\n", argv.display());
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = yard.env.command(&["work", "--agent", "gemini"]);
    command.env("HEIRLOOM_AGENT_GEMINI", &program).output().unwrap();
    let given = fs::read_to_string(argv).unwrap();
    assert!(
        given.contains("--approval-mode\nyolo\n") || given.contains("--approval-mode=yolo\n"),
        "{given}"
    );
}

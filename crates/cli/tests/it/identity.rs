//! One repository, wherever it is: moved, cloned, mounted elsewhere, seen from a second home.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use heirloom_testkit::env::{Ran, TestEnv};

use crate::{capture, env};

const SETTINGS: &str = "requirements:\n  reviewed: {scope: branch}\n";

/// A repository that was set up and committed, with a note, and a requirement that is satisfied.
fn lived_in() -> TestEnv {
    let env = env();
    env.write(".heirloom/config.yaml", SETTINGS);
    env.run(&["init", "--agent", "claude"]).success();
    env.git(&["add", "."]);
    env.git(&["commit", "-q", "-m", "heirloom"]);
    env.run(&["note", "decision", "Use RS256"]).success();
    env.run(&["req", "satisfy", "reviewed"]).success();
    env
}

fn at(env: &TestEnv, directory: &Path, arguments: &[&str]) -> Ran {
    env.run_in(directory, arguments)
}

fn notes(env: &TestEnv, directory: &Path) -> usize {
    at(env, directory, &["notes", "--json"]).success().json()["notes"].as_array().unwrap().len()
}

fn sessions(env: &TestEnv, directory: &Path) -> usize {
    let listed = at(env, directory, &["sessions", "list", "--json"]).success().json();
    listed["sessions"].as_array().unwrap().len()
}

fn is_reviewed(env: &TestEnv, directory: &Path) -> bool {
    let status = at(env, directory, &["req", "status", "--json"]).json();
    let all = status["requirements"].as_array().unwrap();
    let reviewed = all.iter().find(|requirement| requirement["name"] == "reviewed").unwrap();
    reviewed["satisfied"] == true
}

fn key(env: &TestEnv, directory: &Path) -> Option<String> {
    let shown = at(env, directory, &["repo", "show", "--json"]).success().json();
    shown["key"].as_str().map(str::to_owned)
}

fn beside(env: &TestEnv, name: &str) -> PathBuf {
    env.repo().with_file_name(name)
}

fn git(directory: &Path, arguments: &[&str]) -> (bool, String) {
    let output = Command::new("git")
        .args(["-c", "user.name=test", "-c", "user.email=test@localhost"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}

fn clone(env: &TestEnv, from: &str, name: &str) -> PathBuf {
    let to = beside(env, name);
    let (done, _) = git(&env.repo(), &["clone", "-q", from, to.to_str().unwrap()]);
    assert!(done);
    to
}

#[test]
fn a_moved_repository_keeps_its_sessions_notes_and_requirements() {
    let env = lived_in();
    let moved = beside(&env, "elsewhere");
    fs::rename(env.repo(), &moved).unwrap();
    fs::create_dir(env.repo()).unwrap();
    assert_eq!((sessions(&env, &moved), notes(&env, &moved)), (1, 1));
    assert!(is_reviewed(&env, &moved));
    let shown = at(&env, &moved, &["repo", "show", "--json"]).json();
    let paths: Vec<&str> =
        shown["paths"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
    assert_eq!(paths, ["[root]/elsewhere", "[root]/payments"]);
    assert_eq!(
        (shown["roots"].as_array().unwrap().len(), &shown["name"]),
        (1, &"elsewhere".into())
    );
    // What is new is found at both places, since both are one.
    at(&env, &moved, &["note", "warning", "Keys rotate"]).success();
    assert_eq!(notes(&env, &moved), 2);
    assert!(env.run(&["ledger", "verify"]).success().stdout.contains("ok"));
}

#[test]
fn what_is_made_where_a_repository_was_moved_away_from_starts_with_nothing() {
    let unknown = env();
    unknown.run(&["note", "decision", "Use RS256"]).success();
    for env in [lived_in(), unknown] {
        let (moved, fresh) = (beside(&env, "elsewhere"), env.repo());
        fs::rename(&fresh, &moved).unwrap();
        assert_eq!(notes(&env, &moved), 1);
        fs::create_dir(&fresh).unwrap();
        assert!(git(&fresh, &["init", "-q"]).0);
        assert_eq!((notes(&env, &fresh), sessions(&env, &fresh)), (0, 0));
        let search = |directory: &Path| at(&env, directory, &["search", "RS256"]).stdout;
        assert!(!search(&fresh).contains("RS256") && search(&moved).contains("RS256"));
        at(&env, &fresh, &["note", "warning", "Mine"]).success();
        assert_eq!((notes(&env, &fresh), notes(&env, &moved)), (1, 1));
        assert!(!search(&moved).contains("Mine"));
        let verified = at(&env, &fresh, &["ledger", "verify"]).success();
        assert!(verified.stdout.contains("ok"), "{verified}");
        at(&env, &fresh, &["ledger", "rebuild"]).success();
        assert_eq!((notes(&env, &fresh), notes(&env, &moved)), (1, 1));
    }
}

#[test]
fn what_nobody_set_up_is_moved_as_well_and_nothing_is_written_into_it() {
    let env = env();
    env.run(&["note", "decision", "Use RS256"]).success();
    assert_eq!((key(&env, &env.repo()), notes(&env, &env.repo())), (None, 1));
    let moved = beside(&env, "elsewhere");
    fs::rename(env.repo(), &moved).unwrap();
    fs::create_dir(env.repo()).unwrap();
    assert_eq!((notes(&env, &moved), key(&env, &moved)), (1, None));
    assert_eq!(git(&moved, &["status", "--porcelain", "--ignored"]).1, "");
    assert!(!moved.join(".git/heirloom").exists());
}

#[test]
fn whatever_was_recorded_first_where_nobody_set_anything_up_is_found_after_a_move() {
    const ISSUE: &str = r#"{"id":"hl-1","title":"Cap it","status":"open","priority":1,"issue_type":"task","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}"#;
    let claude = "#!/bin/sh\n\
        echo '{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"model\":\"m\"}'\n\
        echo '{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"done\"}'\n";
    let all: [(&[&str], &[&str], &str); 4] = [
        (&["issues", "create", "Cap the backoff"], &["issues", "list"], "issues"),
        (&["issues", "import", "given.jsonl"], &["issues", "list"], "issues"),
        (&["launch", "Cap it", "--agent", "claude"], &["sessions", "list"], "sessions"),
        (&["rules", "keep", "Always cap what backs off."], &["rules", "list"], "rules"),
    ];
    for (records, lists, under) in all {
        let env = env();
        env.write("given.jsonl", ISSUE);
        let program = env.script("claude", claude);
        let env = env.var("HEIRLOOM_AGENT_CLAUDE", program);
        env.run(records).success();
        let moved = beside(&env, "elsewhere");
        fs::rename(env.repo(), &moved).unwrap();
        fs::create_dir(env.repo()).unwrap();
        let listed = at(&env, &moved, &[lists, &["--json"]].concat()).success().json();
        assert_eq!(listed[under].as_array().unwrap().len(), 1, "{records:?}: {listed}");
        let other = beside(&env, "other");
        fs::create_dir(&other).unwrap();
        let there = at(&env, &other, &[lists, &["--json"]].concat()).success().json();
        assert_eq!(there[under].as_array().unwrap().len(), 0, "{records:?}: {there}");
    }
}

#[test]
fn a_clone_of_a_known_directory_and_one_from_the_same_remote_are_the_same_repository() {
    let env = lived_in();
    let own = key(&env, &env.repo());
    assert!(own.as_ref().is_some_and(|key| key.starts_with("hr_") && key.len() == 29));
    let near = clone(&env, env.repo().to_str().unwrap(), "near");
    assert_eq!((notes(&env, &near), key(&env, &near)), (1, own.clone()));
    // A shallow clone has another root commit, and the same key.
    let url = format!("file://{}", env.repo().display());
    let shallow = beside(&env, "shallow");
    let arguments = ["clone", "-q", "--depth", "1", &url, shallow.to_str().unwrap()];
    assert!(git(&env.repo(), &arguments).0);
    assert_eq!((notes(&env, &shallow), key(&env, &shallow)), (1, own.clone()));
    // As do clones of one address, however it is written.
    env.git(&["remote", "add", "origin", "git@example.com:acme/pay.git"]);
    assert_eq!(notes(&env, &env.repo()), 1);
    let far = clone(&env, env.repo().to_str().unwrap(), "far");
    git(&far, &["remote", "set-url", "origin", "https://example.com/acme/pay"]);
    assert_eq!((notes(&env, &far), key(&env, &far)), (1, own));
}

#[test]
fn a_stranger_that_claims_the_key_is_given_nothing_until_a_person_links_it() {
    let env = lived_in();
    let own = key(&env, &env.repo()).unwrap();
    // A copy of a template, a fork, or somebody who read the key somewhere.
    let stranger = clone(&env, env.repo().to_str().unwrap(), "stranger");
    git(&stranger, &["remote", "set-url", "origin", "https://example.com/else/pay"]);
    let first = at(&env, &stranger, &["notes"]).success();
    assert_eq!(
        first.stderr.lines().last().unwrap(),
        format!(
            "hint: this directory claims to be {own}, whose history it has not adopted; `heirloom repo link {own}` adopts it"
        )
    );
    assert!(!at(&env, &stranger, &["notes"]).stderr.contains("repo link"), "said twice");
    assert_eq!((notes(&env, &stranger), sessions(&env, &stranger)), (0, 0));
    assert!(!is_reviewed(&env, &stranger));
    assert!(!at(&env, &stranger, &["search", "RS256"]).stdout.contains("RS256"));
    assert_ne!(key(&env, &stranger), Some(own.clone()));
    // What is recorded there meanwhile is its own, also when it moves.
    at(&env, &stranger, &["note", "warning", "Mine"]).success();
    let moved = beside(&env, "moved-stranger");
    fs::rename(&stranger, &moved).unwrap();
    assert_eq!((notes(&env, &moved), notes(&env, &env.repo())), (1, 1));
    // An agent may not decide it.
    let mut agent = env.command(&["repo", "link", &own]);
    let refused = agent.current_dir(&moved).env("CLAUDECODE", "1").stdin(Stdio::null()).output();
    assert!(!refused.unwrap().status.success());
    let linked = at(&env, &moved, &["repo", "link", &own, "--json"]).success().json();
    assert_eq!(linked["key"], own.as_str());
    assert_eq!((notes(&env, &moved), notes(&env, &env.repo())), (2, 2));
}

#[test]
fn what_cannot_be_linked_is_said() {
    let env = lived_in();
    let own = key(&env, &env.repo()).unwrap();
    let none = env.run(&["repo", "link", "/no/such/place"]);
    assert_eq!(none.code, 1);
    assert!(none.stderr.starts_with("error: nothing is recorded under /no/such/place"), "{none:?}");
    let same = env.run(&["repo", "link", &own]);
    assert_eq!(same.stderr, format!("error: {own} is already this repository\n"));
}

#[test]
fn a_directory_that_looks_like_one_that_is_gone_is_offered_its_history_once() {
    // Whatever they run first, and be it nothing.
    for first in [&["notes"][..], &[]] {
        offered_once(first);
    }
}

fn offered_once(first: &[&str]) {
    let env = env();
    env.git(&["remote", "add", "origin", "git@example.com:acme/pay.git"]);
    env.run(&["note", "decision", "Use RS256"]).success();
    assert_eq!(notes(&env, &env.repo()), 1);
    // As when it is moved to another disk: everything is the same but the directory.
    let copied = beside(&env, "copied");
    let (from, to) = (env.repo(), copied.to_str().unwrap().to_owned());
    assert!(Command::new("cp").arg("-r").arg(&from).arg(&to).status().unwrap().success());
    fs::remove_dir_all(env.repo()).unwrap();
    fs::create_dir(beside(&env, "tmp")).unwrap();
    let first = env.command(first).current_dir(&copied).output().unwrap();
    let said = String::from_utf8_lossy(&first.stderr).into_owned();
    let offer = format!("`heirloom repo link {}` adopts it", from.display());
    assert!(said.contains(&offer), "{said}");
    let again = env.command(&["notes"]).current_dir(&copied).output().unwrap();
    assert!(!String::from_utf8_lossy(&again.stderr).contains("repo link"));
    let link = ["repo", "link", from.to_str().unwrap()];
    assert!(env.command(&link).current_dir(&copied).status().unwrap().success());
    let shown = env.command(&["notes"]).current_dir(&copied).output().unwrap();
    assert!(String::from_utf8_lossy(&shown.stdout).contains("Use RS256"));
}

#[test]
fn a_second_home_sees_what_the_first_recorded_once_it_was_imported() {
    let env = lived_in();
    let export = env.run(&["ledger", "export"]).success().stdout;
    let second = beside(&env, "second-home");
    let run = |arguments: &[&str]| {
        let mut command = env.command(arguments);
        let output = command.env("HEIRLOOM_HOME", &second).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let file = beside(&env, "export.jsonl");
    // The paths in it are what the command printed, and those are shortened for tests.
    let root = env.repo().parent().unwrap().to_string_lossy().into_owned();
    fs::write(&file, export.replace("[root]", &root)).unwrap();
    run(&["ledger", "import", file.to_str().unwrap()]);
    assert!(run(&["notes"]).contains("Use RS256"));
    // What was satisfied by another host opens no gate here.
    let status: serde_json::Value =
        serde_json::from_str(&run(&["req", "status", "--json"])).unwrap();
    assert_eq!(status["requirements"][0]["satisfied"], false);
}

#[test]
fn a_container_sees_the_same_repository_at_another_path() {
    let env = lived_in();
    // Another machine, another home, another path: what is shared is what is committed.
    let mounted = beside(&env, "workspace");
    let from = env.repo();
    assert!(Command::new("cp").arg("-r").arg(&from).arg(&mounted).status().unwrap().success());
    let run = |arguments: &[&str]| {
        let mut command = env.command(arguments);
        let home = beside(&env, "container-home");
        let output = command.current_dir(&mounted).env("HEIRLOOM_HOME", home).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    run(&["note", "learning", "From the container"]);
    let shown: serde_json::Value = serde_json::from_str(&run(&["repo", "show", "--json"])).unwrap();
    assert_eq!(shown["key"].as_str().map(str::to_owned), key(&env, &env.repo()));
    let file = beside(&env, "export.jsonl");
    fs::write(&file, run(&["ledger", "export"])).unwrap();
    env.run(&["ledger", "import", file.to_str().unwrap()]).success();
    assert_eq!(notes(&env, &env.repo()), 2);
}

#[test]
fn worktrees_and_checkouts_from_before_the_key_are_the_same_repository() {
    let env = lived_in();
    let own = key(&env, &env.repo());
    let tree = beside(&env, "tree");
    env.git(&["worktree", "add", "-q", "-b", "old", tree.to_str().unwrap(), "HEAD~1"]);
    assert!(!tree.join(".heirloom").exists());
    assert_eq!((notes(&env, &tree), key(&env, &tree)), (1, own.clone()));
    env.git(&["checkout", "-q", "HEAD~1"]);
    assert_eq!((notes(&env, &env.repo()), key(&env, &env.repo())), (1, own));
}

#[test]
fn two_who_set_it_up_on_branches_of_their_own_merge_into_one() {
    for resolved in [false, true] {
        let env = env();
        env.git(&["commit", "-q", "--allow-empty", "-m", "second"]);
        let theirs = clone(&env, env.repo().to_str().unwrap(), "theirs");
        let their_home = beside(&env, "their-home");
        let them = |arguments: &[&str]| {
            let mut command = env.command(arguments);
            command.current_dir(&theirs).env("HEIRLOOM_HOME", &their_home);
            let output = command.stdin(Stdio::null()).output().unwrap();
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        env.run(&["init", "--agent", "claude"]).success();
        env.run(&["note", "decision", "Mine"]).success();
        them(&["init", "--agent", "claude"]);
        them(&["note", "decision", "Theirs"]);
        let (mine, other) = (
            env.read(".heirloom/repository"),
            fs::read_to_string(theirs.join(".heirloom/repository")).unwrap(),
        );
        assert_ne!(mine, other);
        for directory in [&env.repo(), &theirs] {
            git(directory, &["add", "."]);
            git(directory, &["commit", "-q", "-m", "heirloom"]);
        }
        env.git(&["fetch", "-q", theirs.to_str().unwrap(), "main"]);
        // Both added the file, so git asks. Even before anybody answers, the repository is what it was.
        assert!(!git(&env.repo(), &["merge", "-q", "FETCH_HEAD"]).0);
        assert!(env.read(".heirloom/repository").contains("<<<<<<<"));
        assert_eq!(notes(&env, &env.repo()), 1);
        if resolved {
            // Somebody keeps both lines.
            env.write(".heirloom/repository", &format!("{mine}{other}"));
        } else {
            // Or has heirloom clean up.
            env.run(&["init", "--agent", "claude"]).success();
        }
        let mut both = [mine.trim(), other.trim()];
        both.sort_unstable();
        if !resolved {
            assert_eq!(env.read(".heirloom/repository"), format!("{}\n{}\n", both[0], both[1]));
        }
        git(&env.repo(), &["add", "."]);
        git(&env.repo(), &["commit", "-q", "-m", "merged"]);
        assert!(git(&theirs, &["pull", "-q", env.repo().to_str().unwrap(), "main"]).0);
        // The smaller is current on both sides, and what was recorded under the other is found.
        let shown: serde_json::Value =
            serde_json::from_str(&them(&["repo", "show", "--json"])).unwrap();
        assert_eq!(shown["key"], both[0]);
        assert_eq!(key(&env, &env.repo()).as_deref(), Some(both[0]));
        assert!(them(&["notes"]).contains("Theirs"));
        assert_eq!(notes(&env, &env.repo()), 1);
        let file = beside(&env, "export.jsonl");
        fs::write(&file, them(&["ledger", "export"])).unwrap();
        env.run(&["ledger", "import", file.to_str().unwrap()]).success();
        assert_eq!(notes(&env, &env.repo()), 2);
    }
}

#[test]
fn what_was_captured_is_known_and_captured_on_when_a_repository_gets_another_key() {
    let env = env();
    env.run(&["init", "--agent", "claude", "--yes"]).success();
    fs::write(capture::transcript(&env), capture::day(&env)).unwrap();
    let known = |arguments: &[&str]| {
        let synced = capture::json(&env, arguments);
        let of_claude =
            synced["agents"].as_array().unwrap().iter().find(|it| it["agent"] == "claude");
        of_claude.map(|it| (it["sessions"].clone(), it["messages"].clone())).unwrap()
    };
    let before = known(&["sync"]);
    assert_eq!(before.0, 1);
    let (mine, smaller) = (env.read(".heirloom/repository"), format!("hr_{}", "0".repeat(26)));
    env.write(".heirloom/repository", &format!("{mine}{smaller}\n"));
    assert_eq!(key(&env, &env.repo()).as_deref(), Some(smaller.as_str()));
    assert_eq!(known(&["sync"]), before);
    let captured = fs::read_to_string(env.home().join("capture/repositories")).unwrap();
    assert_eq!(captured.trim(), smaller);
}

#[test]
fn a_renamed_branch_keeps_its_requirements_and_one_that_is_made_again_does_not() {
    let env = lived_in();
    let reviewed = || is_reviewed(&env, &env.repo());
    env.git(&["checkout", "-q", "-b", "feature"]);
    assert!(!reviewed());
    env.run(&["req", "satisfy", "reviewed"]).success();
    env.git(&["branch", "-m", "feature", "renamed"]);
    assert!(reviewed());
    // Another one under the old name, at the same commit and in the same second.
    env.git(&["checkout", "-q", "-b", "feature"]);
    assert!(!reviewed());
    env.run(&["req", "satisfy", "reviewed"]).success();
    env.git(&["checkout", "-q", "renamed"]);
    assert!(reviewed());
    env.git(&["checkout", "-q", "main"]);
    assert!(reviewed());
    env.git(&["branch", "-q", "-D", "renamed"]);
    env.git(&["checkout", "-q", "-b", "renamed"]);
    assert!(!reviewed());
    assert!(env.run(&["ledger", "verify"]).success().stdout.starts_with("ok"));
}

#[test]
fn a_branch_that_was_renamed_unseen_is_found_when_its_name_was_given_away() {
    let env = lived_in();
    let reviewed = || is_reviewed(&env, &env.repo());
    env.git(&["checkout", "-q", "-b", "one"]);
    env.run(&["req", "satisfy", "reviewed"]).success();
    env.git(&["branch", "-m", "one", "two"]);
    env.git(&["checkout", "-q", "-b", "one"]);
    env.run(&["req", "satisfy", "reviewed"]).success();
    env.run(&["req", "clear", "reviewed"]).success();
    assert!(!reviewed());
    env.git(&["checkout", "-q", "two"]);
    assert!(reviewed());
    // A copy is a branch of its own.
    env.git(&["branch", "-c", "two", "copy"]);
    env.git(&["checkout", "-q", "copy"]);
    assert!(!reviewed());
    env.git(&["checkout", "-q", "two"]);
    assert!(reviewed());
}

#[test]
fn without_git_the_file_says_it() {
    let env = env();
    let place = beside(&env, "plain");
    fs::create_dir(&place).unwrap();
    at(&env, &place, &["init", "--agent", "claude"]).success();
    at(&env, &place, &["note", "decision", "Use RS256"]).success();
    let own = key(&env, &place);
    assert!(own.is_some());
    let moved = beside(&env, "moved");
    fs::rename(&place, &moved).unwrap();
    assert_eq!((notes(&env, &moved), key(&env, &moved)), (1, own));
}

#[test]
fn one_key_is_for_a_whole_monorepo_and_a_subtree_keeps_to_itself() {
    let env = lived_in();
    let own = key(&env, &env.repo());
    // What was merged in as a subtree brings its key file along, below the root.
    env.write("vendor/lib/.heirloom/repository", "hr_1aaaaaaaaaaaaaaaaaaaaaaaaa\n");
    let inner = env.repo().join("vendor/lib");
    assert_eq!((notes(&env, &inner), key(&env, &inner)), (1, own));
}

#[test]
fn taking_heirloom_out_leaves_no_trace_of_the_key() {
    let env = env();
    env.run(&["init", "--agent", "claude"]).success();
    assert!(env.repo().join(".git/heirloom/repository").is_file());
    env.run(&["init", "--uninstall"]).success();
    assert!(!env.repo().join(".heirloom").exists() && !env.repo().join(".git/heirloom").exists());
}

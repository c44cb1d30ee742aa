//! Work survives its own death, and shares the backlog with others.

use super::{Yard, signal};

#[test]
fn after_a_kill_nothing_is_lost_or_claimed_twice_and_no_agent_is_left() {
    let yard = Yard::new();
    let issue = yard.issue("One", &["hang", "ok"]);
    let mut child = yard.spawn(&["work"]);
    yard.wait_for_agent(&issue, 1);
    signal(&child, "-KILL");
    child.wait().unwrap();
    assert!(yard.given(&issue, 1).is_alive());
    assert_eq!(yard.issue_run(&issue)["status"], "interrupted", "nobody works on it any more");
    yard.run(&["work", "--resume"]).success();
    assert!(!yard.given(&issue, 1).is_alive());
    assert_eq!(yard.given(&issue, 2).flag("--resume"), yard.given(&issue, 1).flag("--session-id"));
    assert_eq!((yard.status(&issue).as_str(), yard.launches(&issue)), ("closed", 2));
    let runs = yard.json(&["runs", "list"]);
    assert_eq!(runs["runs"][1]["status"], "interrupted", "{runs}");
    yard.run(&["ledger", "verify"]).success();
}

#[test]
fn stashes_are_the_persons_again_after_a_kill() {
    let yard = Yard::with_settings("work: {gate: ['true'], max_agents: 2}\n");
    yard.env.write("mine.txt", "one\n");
    yard.git(&["add", "-A"]);
    yard.git(&["commit", "-qm", "mine"]);
    yard.env.write("mine.txt", "mine\n");
    yard.git(&["stash", "push", "-q"]);
    let mine = yard.git(&["rev-parse", "stash@{0}"]);
    let issue = yard.issue("Stashes", &["stash-hang", "ok"]);
    let mut child = yard.spawn(&["work"]);
    yard.wait(|yard| (yard.git(&["stash", "list"]).lines().count() == 2).then_some(()));
    signal(&child, "-KILL");
    child.wait().unwrap();
    assert_ne!(yard.git(&["for-each-ref", "refs/heirloom/held"]), "");
    let ran = yard.run(&["work", "clean"]).success();
    let told = "stashed something before its run was killed; restore it with `git stash apply ";
    assert!(ran.stderr.contains(told), "{ran}");
    assert_eq!(yard.git(&["stash", "list", "--format=%H"]), mine);
    assert_eq!(yard.git(&["for-each-ref", "refs/heirloom/held"]), "");
    let kept = format!("refs/heirloom/stash/{issue}/1^3:stashed.txt");
    assert_eq!(yard.git(&["show", &kept]), "stashed");
    // One that the agent took away, and nobody could put back.
    let clears = yard.issue("Clears", &["clear-hang", "ok"]);
    let mut child = yard.spawn(&["work", "--issue", &clears]);
    // `git stash list` fails where the last one goes meanwhile.
    yard.wait(|yard| yard.git(&["for-each-ref", "refs/stash"]).is_empty().then_some(()));
    signal(&child, "-KILL");
    child.wait().unwrap();
    let ran = yard.run(&["work"]);
    let told = "1 of your stashes disappeared during a run that was killed; if you did not remove it, restore it with";
    assert!(ran.stderr.contains(&format!("{told} `git stash store {mine}`")), "{ran}");
    yard.git(&["stash", "store", &mine]);
    assert_eq!(yard.git(&["show", "stash@{0}:mine.txt"]), "mine");
    assert_eq!(yard.git(&["for-each-ref", "refs/heirloom/held"]), "");
}

#[test]
fn a_run_that_is_killed_again_and_again_gets_everything_done_once() {
    let yard = Yard::new();
    let issues: Vec<String> = (0..4).map(|n| yard.issue(&format!("{n}"), &["slow"])).collect();
    let all_closed = |yard: &Yard| issues.iter().all(|issue| yard.status(issue) == "closed");
    for round in 0..12 {
        let mut child = yard.spawn(&["work", "--resume", "--max-agents", "3"]);
        // Another instant each time.
        std::thread::sleep(std::time::Duration::from_millis(200 + 250 * round));
        signal(&child, "-KILL");
        child.wait().unwrap();
        if all_closed(&yard) {
            break;
        }
    }
    yard.run(&["work", "--resume"]).success();
    assert!(all_closed(&yard));
    for issue in &issues {
        let at_work = (1..=yard.launches(issue)).filter(|n| yard.given(issue, *n).is_alive());
        assert_eq!(at_work.count(), 0);
        let text = yard.git(&["show", &format!("heirloom/work/main:{issue}.txt")]);
        assert_eq!(&text, issue);
    }
    yard.run(&["ledger", "verify"]).success();
}

#[test]
fn two_runs_share_the_backlog_and_never_an_issue() {
    let yard = Yard::new();
    let issues: Vec<String> = (0..8).map(|n| yard.issue(&format!("{n}"), &["ok"])).collect();
    let both: Vec<_> = (0..2).map(|_| yard.spawn(&["work", "--max-agents", "2"])).collect();
    for child in both {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    }
    for issue in &issues {
        assert_eq!((yard.status(issue).as_str(), yard.launches(issue)), ("closed", 1), "{issue}");
    }
}

#[test]
fn a_slow_owner_keeps_its_issue_and_a_dead_one_loses_it() {
    let yard = Yard::new();
    let issue = yard.issue("One", &["hang", "ok"]);
    let mut child = yard.spawn(&["work"]);
    yard.wait_for_agent(&issue, 1);
    signal(&child, "-STOP");
    let told = format!("{issue}: skipped: somebody is working on it now");
    for arguments in [&["work"][..], &["work", "--resume"]] {
        let ran = yard.run(arguments).success();
        assert!(ran.stderr.contains(&told), "{ran}");
    }
    assert_eq!(yard.launches(&issue), 1);
    assert_eq!(
        yard.json(&["work", "--resume", "--dry-run"])["issues"].as_array().unwrap().len(),
        0
    );
    signal(&child, "-KILL");
    child.wait().unwrap();
    yard.run(&["work", "--resume"]).success();
    assert_eq!((yard.status(&issue).as_str(), yard.launches(&issue)), ("closed", 2));
}

#[test]
fn however_often_it_is_killed_an_issue_stays_in_its_own_worktree() {
    let yard = Yard::new();
    let issue = yard.issue("Limited", &["limit"]);
    for round in 0..8 {
        let mut command = yard.env.command(&["work", "--resume"]);
        command.env("HEIRLOOM_BACKOFF_MS", "1").stdin(std::process::Stdio::null());
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(250 + 37 * round));
        signal(&child, "-KILL");
        child.wait().unwrap();
    }
    let first = yard.given(&issue, 1).cwd;
    assert_ne!(first, yard.env.repo());
    let cwds = (1..=yard.launches(&issue)).map(|n| yard.given(&issue, n).cwd);
    for cwd in cwds.filter(|cwd| !cwd.as_os_str().is_empty()) {
        assert_eq!(cwd, first);
    }
}

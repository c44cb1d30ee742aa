//! The gate, fixes, commits and merges.

use super::{Yard, files, signal};

#[test]
fn a_finished_issue_is_closed_with_the_evidence_and_nobody_elses_files_change() {
    let yard = Yard::new();
    let issue = yard.issue("Rotate tokens", &["ok"]);
    yard.env.write("mine.txt", "dirty\n");
    let before = (yard.git(&["rev-parse", "HEAD"]), yard.git(&["status", "--porcelain"]));
    let names = files(&yard.env.repo());
    yard.run(&["work"]).success();
    let shown = yard.json(&["issues", "show", &issue]);
    assert_eq!(shown["status"], "closed");
    let reason = shown["close_reason"].as_str().unwrap();
    assert!(reason.starts_with("gate passed: ! ls bad-*; commit "), "{reason}");
    assert_eq!(yard.git(&["show", &format!("heirloom/work/main:{issue}.txt")]), issue);
    let after = (yard.git(&["rev-parse", "HEAD"]), yard.git(&["status", "--porcelain"]));
    assert_eq!((before, names), (after, files(&yard.env.repo())));
    let run = yard.issue_run(&issue);
    assert_eq!((run["status"].as_str(), run["attempts"].as_i64()), (Some("closed"), Some(1)));
    assert_eq!(
        (run["cost_usd"].as_f64(), run["gate"][0]["passed"].as_bool()),
        (Some(0.25), Some(true))
    );
    assert_eq!(shown["closed_by_session"], run["session"]);
    assert_eq!(shown["runs"][0]["agent_session_id"], run["agent_session_id"]);
    assert_eq!(run["branch"], format!("heirloom/issue/{issue}"));
}

#[test]
fn a_line_that_work_committed_is_told_with_the_session_and_the_issue() {
    let yard = Yard::new();
    let issue = yard.issue("Rotate tokens", &["ok"]);
    yard.run(&["work"]).success();
    yard.git(&["merge", "-q", "heirloom/work/main"]);
    let session = yard.issue_run(&issue)["session"].clone();
    let file = format!("{issue}.txt");
    for place in [format!("{file}:1"), file.clone()] {
        let why = yard.json(&["why", &place]);
        let origin = &why["origins"][0];
        assert_eq!((&origin["session_id"], &origin["issue"]), (&session, &issue.as_str().into()));
        assert_eq!(origin["proof"], "commit", "{why}");
    }
    // Rebased, it is another commit, which names the issue still.
    yard.git(&["commit", "-q", "--amend", "--no-edit", "--date", "2026-01-11T00:00:00Z"]);
    let why = yard.json(&["why", &format!("{file}:1")]);
    assert_eq!(why["origins"][0]["proof"], "subject", "{why}");
    let ran = yard.run(&["why", &format!("{file}:1")]).success();
    assert!(ran.stdout.contains(&format!("issue     {issue}")), "{ran}");
    // What a person says of the issue is theirs.
    yard.env.write("mine.txt", "mine\n");
    yard.git(&["add", "mine.txt"]);
    yard.git(&["commit", "-q", "-m", &format!("{issue}: by hand")]);
    assert_eq!(yard.json(&["why", "mine.txt:1"])["origins"], serde_json::json!([]));
    yard.run(&["sessions", "forget", session.as_str().unwrap(), "--yes"]).success();
    assert_eq!(yard.json(&["why", &file])["origins"], serde_json::json!([]));
}

#[test]
fn what_the_gate_finds_goes_back_to_the_same_conversation() {
    let yard = Yard::new();
    let issue = yard.issue("Fix", &["bad", "bad", "ok"]);
    yard.run(&["work"]).success();
    assert_eq!((yard.status(&issue).as_str(), yard.launches(&issue)), ("closed", 3));
    let first = yard.given(&issue, 1);
    let id = first.flag("--session-id").unwrap().to_owned();
    assert!(first.prompt.contains("Work on issue"), "{}", first.prompt);
    for n in [2, 3] {
        let given = yard.given(&issue, n);
        assert_eq!(given.flag("--resume"), Some(id.as_str()));
        assert_eq!((given.flag("--fork-session"), given.flag("--session-id")), (None, None));
        assert!(given.prompt.contains(&format!("bad-{issue}")), "{}", given.prompt);
        assert!(given.prompt.contains(&format!("try {} of 3", n - 1)), "{}", given.prompt);
        assert!(!given.prompt.contains("Work on issue"));
        assert_eq!(given.cwd, first.cwd);
    }
    let run = yard.issue_run(&issue);
    assert_eq!((run["attempts"].as_i64(), run["gate_attempts"].as_i64()), (Some(3), Some(3)));
    assert_eq!(run["agent_session_id"], id);
}

#[test]
fn an_issue_that_never_passes_stays_in_progress_with_the_reason() {
    let yard = Yard::with_settings("work: {gate: ['! ls bad-*'], max_fixes: 1}\n");
    let (bad, good) = (yard.issue("Never", &["bad"]), yard.issue("Good", &["ok"]));
    let ran = yard.run(&["work", "--max-agents", "1"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert_eq!(
        (yard.status(&bad).as_str(), yard.status(&good).as_str()),
        ("in_progress", "closed")
    );
    assert_eq!(yard.launches(&bad), 2);
    let run = yard.issue_run(&bad);
    assert_eq!(run["status"], "failed");
    assert_eq!(run["reason"], "gave up after 1 attempt to fix it: `! ls bad-*` fails");
    let comments = yard.json(&["issues", "show", &bad])["comments"].to_string();
    assert!(comments.contains("not done, gave up after 1 attempt"), "{comments}");
    // Nothing of it came together with the rest.
    assert!(!yard.git(&["ls-tree", "--name-only", "heirloom/work/main"]).contains("bad-"));
}

#[test]
fn later_issues_begin_with_what_earlier_ones_finished() {
    let yard = Yard::new();
    let first = yard.issue("First", &["ok"]);
    let second = yard.issue_with("Second", &["ok"], &["--blocked-by", &first, "-p", "0"]);
    yard.run(&["work"]).success();
    assert_eq!(yard.status(&second), "closed");
    assert!(yard.given(&second, 1).cwd.join(format!("{first}.txt")).exists());
}

#[test]
fn work_that_conflicts_is_merged_by_its_own_agent() {
    let yard = Yard::new();
    let one = yard.issue("One", &["same", "merge"]);
    let two = yard.issue("Two", &["same", "merge"]);
    yard.run(&["work", "--max-agents", "2"]).success();
    assert_eq!((yard.status(&one).as_str(), yard.status(&two).as_str()), ("closed", "closed"));
    assert_eq!(yard.launches(&one) + yard.launches(&two), 3);
    let sent_back = if yard.launches(&one) == 2 { &one } else { &two };
    let prompt = yard.given(sent_back, 2).prompt;
    assert!(prompt.contains("A merge of heirloom/work/main is begun"), "{prompt}");
    assert!(prompt.contains("same.txt"), "{prompt}");
    assert_eq!(yard.git(&["show", "heirloom/work/main:same.txt"]), "both");
}

#[test]
fn work_can_stay_on_the_branch_of_its_issue() {
    let yard = Yard::with_settings("work: {merge: leave}\n");
    let issue = yard.issue("One", &["ok"]);
    yard.run(&["work"]).success();
    let branches = yard.git(&["branch", "--list", "heirloom/*", "--format", "%(refname:short)"]);
    assert_eq!(branches, format!("heirloom/issue/{issue}"));
    let reason =
        yard.json(&["issues", "show", &issue])["close_reason"].as_str().unwrap().to_owned();
    assert!(reason.starts_with("no gate is set; commit "), "{reason}");
}

#[test]
fn in_place_the_agent_works_where_the_person_is_and_nothing_is_committed() {
    let yard = Yard::new();
    let issue = yard.issue("Here", &["ok"]);
    let head = yard.git(&["rev-parse", "HEAD"]);
    yard.run(&["work", "--in-place"]).success();
    assert_eq!(yard.given(&issue, 1).cwd, yard.env.repo());
    assert_eq!(yard.status(&issue), "closed");
    assert_eq!(yard.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(yard.git(&["branch", "--list", "heirloom/*"]), "");
    let ran = yard.run(&["work", "--in-place", "--max-agents", "2"]);
    assert_eq!(ran.code, 64, "{ran}");
}

#[test]
fn an_agent_that_does_nothing_closes_nothing_with_or_without_a_gate() {
    for settings in ["work: {}\n", "work: {gate: ['true']}\n"] {
        let yard = Yard::with_settings(settings);
        let said = yard.issue("Said", &["nothing"]);
        let shrugged = yard.issue("Shrugged", &["shrug"]);
        let claimed = yard.issue("Claimed", &["claims"]);
        let lied = yard.issue("Lied", &["lies"]);
        let ran = yard.run(&["work"]);
        assert_eq!(ran.code, 1, "{ran}");
        assert!(ran.stdout.contains("0 closed, 4 to be reviewed"), "{ran}");
        for (issue, words) in [
            (&said, "nothing was changed; the agent said: “done”"),
            (&shrugged, "“I could not reproduce this, I have not changed anything.”"),
            (&claimed, "and the agent showed no evidence; the agent said: “NOTHING TO DO"),
            (&lied, "the agent's evidence is wrong: "),
        ] {
            let run = yard.issue_run(issue);
            assert_eq!(run["status"], "needs_review", "{run}");
            let shown = yard.json(&["issues", "show", issue]);
            assert_eq!(shown["status"], "in_progress");
            for told in [run["reason"].to_string(), shown["comments"].to_string()] {
                assert!(told.contains(words), "{words}: {told}");
            }
        }
        // Nobody is sent again before a person looked, unless they say so.
        let again = yard.run(&["work", "--resume"]).success();
        assert!(
            again
                .stderr
                .contains(&format!("{said}: skipped: it needs your review first (`heirloom")),
            "{again}"
        );
        assert_eq!(again.stdout, "nothing to do\n");
        assert_eq!(yard.launches(&said), 1);
        yard.run(&["work", "--resume", "--issue", &said]);
        assert_eq!(yard.launches(&said), 2);
    }
}

#[test]
fn what_needs_review_is_shown_with_the_words_until_a_person_closes_or_reopens_it() {
    let yard = Yard::with_settings("work: {gate: ['true']}\n");
    let (one, other) = (yard.issue("One", &["shrug"]), yard.issue("Other", &["shrug"]));
    yard.run(&["work"]);
    let words = "I could not reproduce this";
    let list = yard.run(&["issues", "list"]).success();
    assert!(list.stdout.contains("needs review") && list.stdout.contains(words), "{list}");
    assert!(!list.stdout.contains("in progress"), "{list}");
    assert!(list.stderr.contains(&format!("`heirloom issues show {one}` says how")), "{list}");
    let listed = yard.json(&["issues", "list"])["issues"][0].clone();
    assert_eq!(listed["status"], "in_progress", "trackers know no other word for it");
    assert!(listed["review"].as_str().unwrap().contains(words), "{listed}");
    let show = yard.run(&["issues", "show", &one]).success();
    assert!(show.stdout.contains("task, needs review") && show.stdout.contains(words), "{show}");
    let ways = format!(
        "to review: `heirloom issues close {one}`, `heirloom issues update {one} --status open`, \
         or `heirloom work --resume --issue {one}`"
    );
    assert!(show.stderr.contains(&ways), "{show}");
    let ready = yard.run(&["issues", "ready"]).success();
    assert!(ready.stderr.contains("of 2 issues, 2 to be reviewed, 0 in progress"), "{ready}");
    let home = yard.run(&[]).success();
    assert!(home.stdout.contains(&format!("to review  2 issues, first {one}")), "{home}");
    assert!(home.stdout.contains("the agent said: “I could"), "{home}");
    // It is in progress, but nothing would continue it: what helps is said.
    let again = yard.run(&["work"]).success();
    let how = format!(
        "{one}: skipped: it needs your review first (`heirloom issues show {one}` says why)"
    );
    assert!(again.stderr.contains(&how), "{again}");
    assert!(!again.stderr.contains("`--resume` continues it"), "{again}");
    yard.run(&["issues", "close", &other]).success();
    yard.run(&["issues", "update", &one, "--status", "open"]).success();
    let home = yard.run(&[]).success();
    assert!(!home.stdout.contains("to review"), "{home}");
    assert!(!yard.run(&["issues", "list"]).success().stdout.contains("needs review"));
    yard.run(&["work"]);
    assert_eq!((yard.launches(&one), yard.launches(&other)), (2, 1));
}

#[test]
fn an_agent_that_shows_that_nothing_has_to_be_done_is_believed() {
    let yard = Yard::with_settings("work: {max_agents: 1}\n");
    let issue = yard.issue("Obsolete", &["shows"]);
    yard.run(&["work"]).success();
    let reason =
        yard.json(&["issues", "show", &issue])["close_reason"].as_str().unwrap().to_owned();
    assert_eq!(
        reason,
        "no gate is set; nothing had to be changed: it is written down already \
         (.heirloom/config.yaml:1)"
    );
    let prompt = yard.given(&issue, 1).prompt;
    assert!(prompt.contains("NOTHING TO DO: why"), "{prompt}");
}

#[test]
fn in_place_without_a_gate_only_a_commit_of_the_agents_own_is_enough() {
    let yard = Yard::with_settings("work: {max_agents: 1}\n");
    let (nothing, dirty, committed) = (
        yard.issue("Nothing", &["nothing"]),
        yard.issue("Dirty", &["ok"]),
        yard.issue("Committed", &["commit"]),
    );
    assert_eq!(yard.run(&["work", "--in-place"]).code, 1);
    let ends = [&nothing, &dirty, &committed].map(|issue| yard.issue_run(issue)["status"].clone());
    assert_eq!(ends, ["needs_review", "needs_review", "closed"]);
    let reason = yard.issue_run(&dirty)["reason"].to_string();
    assert!(reason.contains("what it changed here is not committed"), "{reason}");
}

#[test]
fn a_repository_without_a_gate_is_offered_its_own_and_every_summary_says_so() {
    let yard = Yard::with_settings("work: {max_agents: 1}\n");
    yard.env.write("Cargo.toml", "");
    yard.issue("One", &["ok"]);
    let ran = yard.run(&["work"]).success();
    assert!(ran.stderr.contains("`cargo test` would be one: --gate 'cargo test'"), "{ran}");
    assert!(ran.stdout.contains("no gate is set: only the agents' own reports"), "{ran}");
    assert!(
        ran.stdout.contains("to merge the finished work: git merge heirloom/work/main"),
        "{ran}"
    );
    let gated = yard.issue("Two", &["bad", "ok"]);
    let ran = yard.run(&["work", "--gate", "! ls bad-*"]).success();
    assert!(!ran.to_string().contains("no gate is set"), "{ran}");
    assert_eq!(yard.launches(&gated), 2);
}

#[test]
fn half_a_merge_is_never_committed() {
    let yard = Yard::new();
    let one = yard.issue("One", &["same", "half", "merge"]);
    let two = yard.issue("Two", &["same", "half", "merge"]);
    yard.run(&["work", "--max-agents", "2"]).success();
    let sent_back = if yard.launches(&one) == 3 { &one } else { &two };
    let prompt = yard.given(sent_back, 3).prompt;
    assert!(
        prompt.contains("conflicts are not resolved") && prompt.contains("same.txt"),
        "{prompt}"
    );
    assert_eq!(yard.git(&["show", "heirloom/work/main:same.txt"]), "both");
}

#[test]
fn a_branch_of_the_person_is_never_committed_to() {
    let yard = Yard::new();
    yard.git(&["branch", "feature"]);
    let before = yard.git(&["rev-parse", "feature"]);
    let issue = yard.issue("Switches", &["switch", "back"]);
    yard.run(&["work"]).success();
    assert_eq!(yard.git(&["rev-parse", "feature"]), before);
    let prompt = yard.given(&issue, 2).prompt;
    assert!(prompt.contains(&format!("go back to the branch heirloom/issue/{issue}")), "{prompt}");
}

#[test]
fn what_is_on_one_branch_never_gets_onto_another() {
    let yard = Yard::new();
    yard.git(&["checkout", "-q", "-b", "experiment"]);
    yard.env.write("wip.txt", "wip\n");
    yard.git(&["add", "wip.txt"]);
    yard.git(&["commit", "-qm", "wip"]);
    let first = yard.issue("On experiment", &["ok"]);
    yard.run(&["work"]).success();
    yard.git(&["checkout", "-q", "main"]);
    yard.issue("On main", &["ok"]);
    yard.run(&["work"]).success();
    let files = yard.git(&["ls-tree", "--name-only", "heirloom/work/main"]);
    assert!(!files.contains("wip.txt") && !files.contains(&first), "{files}");
    assert!(yard.git(&["ls-tree", "--name-only", "heirloom/work/experiment"]).contains(&first));
}

#[test]
fn nothing_is_begun_where_finished_work_could_not_come_together() {
    let yard = Yard::new();
    let issue = yard.issue("One", &["ok"]);
    yard.run(&["work"]).success();
    let second = yard.issue("Two", &["ok"]);
    yard.git(&["worktree", "add", "-q", "../look", "heirloom/work/main"]);
    let ran = yard.run(&["work"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("heirloom/work/main is checked out"), "{ran}");
    assert_eq!((yard.status(&issue).as_str(), yard.status(&second).as_str()), ("closed", "open"));
}

#[test]
fn staged_stashed_and_dirty_files_are_the_same_afterwards() {
    let yard = Yard::new();
    yard.issue("One", &["ok"]);
    yard.env.write("stashed.txt", "stashed\n");
    yard.git(&["stash", "push", "-qu"]);
    yard.env.write("staged.txt", "staged\n");
    yard.git(&["add", "staged.txt"]);
    yard.env.write("staged.txt", "changed since\n");
    let look = || {
        let index = std::fs::read(yard.env.repo().join(".git/index")).unwrap();
        let refs = yard.git(&["for-each-ref", "refs/heads/main", "refs/stash"]);
        (index, refs, yard.env.read("staged.txt"), yard.git(&["stash", "show", "-p", "-u"]))
    };
    let before = look();
    yard.run(&["work"]).success();
    assert!(before == look());
}

#[test]
fn what_an_agent_leaves_running_ends_with_its_issue() {
    let yard = Yard::new();
    let issue = yard.issue("Child", &["child"]);
    yard.run(&["work"]).success();
    let child = yard.plan().join(format!("{issue}.runs/1/child"));
    let pid = std::fs::read_to_string(child).unwrap();
    assert_eq!(heirloom_agents::system::began(pid.trim().parse().unwrap()), None, "it still runs");
}

/// Not every agent's sandbox lets it write to git's own files.
#[test]
fn a_conflict_can_be_resolved_without_git() {
    let yard = Yard::new();
    let one = yard.issue("One", &["same", "edit"]);
    let two = yard.issue("Two", &["same", "edit"]);
    yard.run(&["work", "--max-agents", "2"]).success();
    assert_eq!((yard.status(&one).as_str(), yard.status(&two).as_str()), ("closed", "closed"));
    assert_eq!(yard.git(&["show", "heirloom/work/main:same.txt"]), "both");
    let parents = yard.git(&["log", "-1", "--format=%P", "heirloom/work/main"]);
    assert_eq!(parents.split(' ').count(), 2, "{parents}");
}

#[test]
fn what_an_agent_stashes_is_not_in_the_persons_list_but_kept_for_it() {
    let yard = Yard::new();
    yard.env.write("mine.txt", "mine\n");
    yard.git(&["stash", "push", "-qu"]);
    let look = || {
        let read = |name: &str| std::fs::read(yard.env.repo().join(".git").join(name)).ok();
        (read("refs/stash"), read("logs/refs/stash"), yard.git(&["stash", "list"]))
    };
    let before = look();
    let issue = yard.issue("Stashes", &["stash", "ok"]);
    let ran = yard.run(&["work", "--gate", "ls *.txt"]).success();
    assert_eq!(before, look());
    let kept = format!("refs/heirloom/stash/{issue}/1");
    assert_eq!(yard.git(&["show", &format!("{kept}^3:stashed.txt")]), "stashed");
    assert!(
        ran.stderr.contains("the agent stashed something; restore it with `git stash apply "),
        "{ran}"
    );
    let prompt = yard.given(&issue, 2).prompt;
    assert!(prompt.contains("`git stash apply "), "{prompt}");
}

#[test]
fn what_an_agent_takes_off_the_persons_stashes_is_put_back() {
    let yard = Yard::with_settings("work: {max_agents: 1}\n");
    for n in ["one", "two"] {
        yard.env.write("mine.txt", n);
        yard.git(&["stash", "push", "-qu"]);
    }
    let look = || {
        let read = |name: &str| std::fs::read(yard.env.repo().join(".git").join(name)).ok();
        (read("refs/stash"), read("logs/refs/stash"), yard.git(&["stash", "list"]))
    };
    let before = look();
    let issues = [(yard.issue("Pops", &["pops"]), 1), (yard.issue("Clears", &["clears"]), 2)];
    let ran = yard.run(&["work"]);
    assert_eq!(before, look(), "{ran}");
    for (issue, count) in issues {
        let told = format!(
            "{issue}: an agent removed {count} of your stashes, which are restored; its commits may contain their changes"
        );
        assert!(ran.stderr.contains(&told), "{ran}");
    }
}

#[test]
fn a_stash_that_the_person_pops_while_two_agents_work_stays_popped() {
    let yard = Yard::with_settings("work: {max_agents: 2}\n");
    yard.env.write("mine.txt", "mine\n");
    yard.git(&["stash", "push", "-qu"]);
    let commit = yard.git(&["rev-parse", "refs/stash"]);
    let issues = [yard.issue("One", &["wait"]), yard.issue("Two", &["wait"])];
    let child = yard.spawn_heard(&["work"]);
    for issue in &issues {
        yard.wait_for_agent(issue, 1);
    }
    yard.git(&["stash", "pop", "-q"]);
    std::fs::write(yard.plan().join("go"), "").unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    assert_eq!(yard.git(&["stash", "list"]), "");
    let told = format!(
        "1 of your stashes disappeared; if you did not remove it, restore it with `git stash store {commit}`"
    );
    for issue in &issues {
        yard.wait_until_said(&format!("{issue}: {told}"));
    }
    // One of them is told of as well that the person's files changed.
    let reasons = issues.map(|issue| yard.issue_run(&issue)["reason"].to_string());
    let strayed = "the person's own worktree changed meanwhile: mine.txt";
    assert!(reasons.iter().any(|reason| reason.contains(strayed)), "{reasons:?}");
}

#[test]
fn a_command_of_the_gate_that_hangs_is_stopped_and_its_agent_told() {
    let yard = Yard::with_settings(
        "work: {gate: ['! ls bad-* || sleep 600'], gate_timeout: 1s, max_fixes: 1}\n",
    );
    let issue = yard.issue("Hangs", &["bad", "ok"]);
    yard.run(&["work"]).success();
    let prompt = yard.given(&issue, 2).prompt;
    assert!(prompt.contains("it was stopped after 1 s (work.gate_timeout)"), "{prompt}");
}

#[test]
fn a_new_worktree_is_set_up_once_and_what_fails_there_is_said() {
    let yard = Yard::with_settings(
        "work: {setup: ['cp \"$HEIRLOOM_MAIN/secrets\" .', 'echo x >> ../count']}\n",
    );
    yard.env.write(".gitignore", "secrets\n");
    yard.git(&["add", ".gitignore"]);
    yard.git(&["commit", "-qm", "ignore"]);
    let missing = yard.issue("No secrets yet", &["ok"]);
    assert_eq!(yard.run(&["work"]).code, 1);
    let reason = yard.issue_run(&missing)["reason"].as_str().unwrap().to_owned();
    assert!(reason.starts_with("the worktree could not be set up: `cp"), "{reason}");
    assert_eq!(yard.launches(&missing), 0);
    yard.env.write("secrets", "k\n");
    let issue = yard.issue("Set up", &["crash", "ok"]);
    assert_eq!(yard.run(&["work", "--issue", &issue]).code, 1);
    yard.run(&["work", "--resume", "--issue", &issue]).success();
    let tree = yard.given(&issue, 1).cwd;
    assert_eq!(std::fs::read_to_string(tree.join("secrets")).unwrap(), "k\n");
    let count = std::fs::read_to_string(tree.parent().unwrap().join("count")).unwrap();
    assert_eq!(count, "x\n");
}

#[test]
fn hooks_of_the_repository_that_do_not_run_are_named() {
    use std::os::unix::fs::PermissionsExt;
    let yard = Yard::new();
    let hook = yard.env.repo().join(".git/hooks/pre-commit");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "#!/bin/sh\nexit 1\n").unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    let issue = yard.issue("One", &["ok"]);
    let ran = yard.run(&["work"]).success();
    assert!(ran.stderr.contains("do not run this repository's hooks: pre-commit"), "{ran}");
    let reason = yard.json(&["issues", "show", &issue])["close_reason"].to_string();
    assert!(reason.contains("; hooks not run: pre-commit"), "{reason}");
}

#[test]
fn after_a_squash_the_work_branch_begins_anew_and_after_a_change_it_says_how() {
    let yard = Yard::new();
    let first = yard.issue("First", &["same"]);
    yard.run(&["work"]).success();
    yard.git(&["merge", "-q", "--squash", "heirloom/work/main"]);
    yard.git(&["commit", "-qm", "squashed"]);
    yard.env.write("same.txt", "mine\n");
    yard.git(&["commit", "-qam", "mine"]);
    let second = yard.issue("Second", &["ok"]);
    let ran = yard.run(&["work"]).success();
    assert!(ran.stderr.contains("is already in main, in other commits; starting over"), "{ran}");
    let tree = yard.given(&second, 1).cwd;
    assert_eq!(std::fs::read_to_string(tree.join("same.txt")).unwrap(), "mine\n");
    assert_eq!(yard.git(&["rev-list", "--count", "main..heirloom/work/main"]), "1");
    // Not in main, and not to be merged by itself.
    yard.env.write(&format!("{second}.txt"), "my own\n");
    yard.git(&["add", "-A"]);
    yard.git(&["commit", "-qm", "my own"]);
    let third = yard.issue("Third", &["ok"]);
    let head = yard.git(&["rev-parse", "heirloom/work/main"]);
    let ran = yard.run(&["work"]);
    assert_eq!((ran.code, yard.launches(&third)), (1, 0), "{ran}");
    assert!(ran.stderr.contains("git merge heirloom/work/main"), "{ran}");
    assert!(ran.stderr.contains("git branch -f heirloom/work/main main"), "{ran}");
    assert_eq!(yard.git(&["rev-parse", "heirloom/work/main"]), head);
    yard.git(&["branch", "-f", "heirloom/work/main", "main"]);
    yard.run(&["work"]).success();
    assert_eq!((yard.status(&first).as_str(), yard.status(&third).as_str()), ("closed", "closed"));
}

#[test]
fn a_persons_close_during_a_run_stands() {
    let yard = Yard::new();
    let issue = yard.issue("Mine after all", &["wait"]);
    let child = yard.spawn(&["work"]);
    yard.wait_for_agent(&issue, 1);
    yard.run(&["issues", "close", &issue, "--reason", "done by hand"]).success();
    std::fs::write(yard.plan().join("go"), "").unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    let shown = yard.json(&["issues", "show", &issue]);
    assert_eq!(shown["close_reason"], "done by hand");
    let reason = yard.issue_run(&issue)["reason"].to_string();
    assert!(reason.contains("somebody else closed it while an agent worked on it"), "{reason}");
}

#[test]
fn where_nothing_came_together_nothing_is_offered_to_be_merged() {
    let yard = Yard::new();
    let issue = yard.issue("Obsolete", &["shows"]);
    let ran = yard.run(&["work"]).success();
    assert_eq!(yard.status(&issue), "closed");
    assert!(!ran.stdout.contains("to merge the finished work"), "{ran}");
    let other = yard.issue("Somebody else's", &["wait"]);
    let child = yard.spawn_heard(&["work"]);
    yard.wait_for_agent(&other, 1);
    yard.run(&["issues", "close", &other]).success();
    signal(&child, "-TERM");
    child.wait_with_output().unwrap();
    let said = std::fs::read_to_string(yard.said()).unwrap();
    assert!(!said.contains("to merge the finished work"), "{said}");
}

/// The commits are on a branch that nothing else would name once the issue is closed.
#[test]
fn closing_what_needs_review_says_where_the_work_is() {
    let yard = Yard::with_settings("work: {review: {agent: claude, max: 0}}\n");
    let issue = yard.issue("Objected", &["ok", "objects"]);
    let idle = yard.issue("Idle", &["shrug"]);
    assert_eq!(yard.run(&["work"]).code, 1);
    let commit = yard.git(&["rev-parse", "--short=12", &format!("heirloom/issue/{issue}")]);
    let closed = yard.run(&["issues", "close", &issue]).success();
    let told = format!(
        "the work on {issue} is on heirloom/issue/{issue} ({commit}): git merge heirloom/issue/{issue}"
    );
    assert!(closed.stderr.contains(&told), "{closed}");
    let closed = yard.run(&["issues", "update", &idle, "--status", "closed"]).success();
    assert!(!closed.stderr.contains("git merge"), "{closed}");
}

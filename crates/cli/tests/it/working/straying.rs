//! Agents that reach out of their worktrees.

use super::Yard;

#[test]
fn what_an_agent_changes_where_the_person_works_is_named_in_the_outcome_and_the_summary() {
    let yard = Yard::new();
    yard.env.write("mine.txt", "mine\n");
    let good = yard.issue_with("Stay", &["ok"], &["--priority", "0"]);
    let bad = yard.issue_with("Reach", &["reaches"], &["--priority", "1"]);
    let last = yard.issue_with("Stay too", &["ok"], &["--priority", "2"]);
    let ran = yard.run(&["work", "--max-agents", "1"]).success();
    let reason = |issue: &str| {
        yard.json(&["issues", "show", issue])["close_reason"].as_str().unwrap().to_owned()
    };
    let told = "; the person's own worktree changed meanwhile: mine.txt";
    assert!(reason(&bad).ends_with(told), "{}", reason(&bad));
    for issue in [&good, &last] {
        assert!(!reason(issue).contains("changed meanwhile"), "{}", reason(issue));
    }
    let summary = "while agents worked in their worktrees, your own changed: mine.txt;";
    assert!(ran.stderr.contains(summary), "{ran}");
    assert_eq!(yard.env.read("mine.txt"), "mine\nreached\n", "nothing is undone");
}

#[test]
fn branches_tags_and_settings_that_an_agent_changes_are_named_with_where_they_were() {
    let yard = Yard::new();
    yard.env.write("mine.txt", "mine\n");
    yard.git(&["add", "-A"]);
    yard.git(&["commit", "-qm", "mine"]);
    yard.git(&["branch", "feature"]);
    yard.git(&["tag", "v1"]);
    let was = yard.git(&["rev-parse", "--short=12", "HEAD"]);
    yard.issue("Moves", &["moves"]);
    let ran = yard.run(&["work"]).success();
    let summary = format!(
        "your own changed: .git/config, refs/heads/feature (was {was}), refs/tags/v1 (was {was}); look"
    );
    assert!(ran.stderr.contains(&summary), "{ran}");
}

#[test]
fn a_persons_tree_that_nobody_touched_is_not_mentioned() {
    let yard = Yard::new();
    yard.env.write("mine.txt", "mine\n");
    yard.issue("Stay", &["ok"]);
    let ran = yard.run(&["work"]).success();
    assert!(!ran.stderr.contains("your own changed"), "{ran}");
}

/// Whoever sets the wrong thing in git's settings, which all worktrees share, keeps the person from using theirs.
#[test]
fn a_repository_that_git_cannot_use_any_more_and_a_branch_that_was_moved_underfoot_are_named() {
    let yard = Yard::with_settings("work: {gate: ['true'], max_agents: 1}\n");
    yard.env.write("mine.txt", "mine\n");
    yard.git(&["add", "-A"]);
    yard.git(&["commit", "-qm", "mine"]);
    let was = yard.git(&["rev-parse", "--short=12", "HEAD"]);
    yard.issue("Moves", &["underfoot"]);
    let ran = yard.run(&["work"]).success();
    assert!(ran.stderr.contains(&format!("HEAD (was {was})")), "{ran}");
    let broken = yard.issue("Breaks", &["breaks"]);
    let ran = yard.run(&["work"]);
    assert!(ran.stderr.contains("your own changed: all of it (`git status` fails)"), "{ran}");
    let reason = yard.issue_run(&broken)["reason"].to_string();
    assert!(reason.contains("changed meanwhile: all of it (`git status` fails)"), "{reason}");
}

#[test]
fn stashes_that_an_agent_drops_and_has_collected_come_back_whole() {
    let yard = Yard::new();
    yard.env.write("mine.txt", "one\n");
    yard.git(&["add", "-A"]);
    yard.git(&["commit", "-qm", "mine"]);
    for text in ["first\n", "second\n"] {
        yard.env.write("mine.txt", text);
        yard.git(&["stash", "push", "-q"]);
    }
    yard.issue("Prunes", &["prunes"]);
    let ran = yard.run(&["work"]).success();
    assert!(ran.stderr.contains("an agent removed 2 of your stashes, which are restored"), "{ran}");
    assert_eq!(yard.git(&["show", "stash@{0}:mine.txt"]), "second");
    assert_eq!(yard.git(&["show", "stash@{1}:mine.txt"]), "first");
    yard.git(&["fsck", "--strict"]);
    assert_eq!(yard.git(&["for-each-ref", "refs/heirloom/held"]), "", "nothing stays held");
}

#[test]
fn an_agent_that_deletes_the_branch_of_finished_work_takes_nothing_away() {
    let yard = Yard::with_settings("work: {gate: ['true'], max_agents: 2}\n");
    // It begins before the other one has finished, and so has nothing of that itself.
    let apart = yard.issue("Takes it away", &["wait-apart"]);
    let good = yard.issue("Finishes first", &["ok"]);
    let mut child = yard.spawn(&["work"]);
    yard.wait(|yard| (yard.status(&good) == "closed").then_some(()));
    std::fs::write(yard.plan().join("go"), "").unwrap();
    assert!(child.wait().unwrap().success());
    for issue in [&good, &apart] {
        assert_eq!(&yard.git(&["show", &format!("{}:{issue}.txt", super::TOGETHER)]), issue);
    }
}

/// Even before anything was finished: the next issue has to begin somewhere.
#[test]
fn the_branch_of_finished_work_that_an_agent_deleted_is_there_for_the_next_issue() {
    let yard = Yard::with_settings("work: {gate: ['true'], max_agents: 1}\n");
    let apart = yard.issue_with("Takes it away", &["apart-crash"], &["-p", "0"]);
    let next = yard.issue("Next", &["ok"]);
    let ran = yard.run(&["work"]);
    let (apart, next) = (yard.status(&apart), yard.status(&next));
    assert_eq!((ran.code, &*apart, &*next), (1, "in_progress", "closed"), "{ran}");
}

#[test]
fn a_filter_that_an_agent_sets_up_is_not_run_by_heirloom() {
    let yard = Yard::new();
    yard.issue("Filters", &["filters"]);
    let ran = yard.run(&["work"]).success();
    assert!(ran.stderr.contains("your own changed: .git/config"), "{ran}");
    assert!(!yard.plan().join("filtered").exists());
}

#[test]
fn a_lock_that_nobody_takes_away_is_named_with_what_to_do() {
    let yard = Yard::new();
    let issue = yard.issue("One", &["ok"]);
    // That of the person's index is nobody's business but theirs.
    let index = yard.env.repo().join(".git/index.lock");
    std::fs::write(&index, "").unwrap();
    yard.run(&["work"]).success();
    assert!(index.exists() && yard.status(&issue) == "closed");
    let two = yard.issue("Two", &["ok"]);
    let lock = yard.env.repo().join(".git/refs/heads/heirloom/work/main.lock");
    std::fs::write(&lock, "").unwrap();
    let ran = yard.run(&["work"]);
    assert_eq!(ran.code, 1, "{ran}");
    let said = yard.issue_run(&two)["reason"].as_str().unwrap().to_owned();
    let lock = "heirloom/work/main.lock exists: another git process may be running";
    assert!(said.contains(lock), "{ran}");
    assert!(said.contains("if no git is running, remove that file"), "{ran}");
}

#[test]
fn a_worktree_without_its_git_is_said_to_be_damaged_and_is_made_again() {
    let yard = Yard::new();
    let issue = yard.issue("Breaks", &["gitdirless", "ok"]);
    assert_eq!(yard.run(&["work"]).code, 1);
    let reason = yard.issue_run(&issue)["reason"].as_str().unwrap().to_owned();
    assert!(reason.starts_with("its worktree is damaged: "), "{reason}");
    yard.run(&["work", "--resume"]).success();
    assert_eq!(yard.status(&issue), "closed");
}

#[test]
fn an_agent_that_deletes_its_worktree_is_said_to_have() {
    let yard = Yard::new();
    let issue = yard.issue("Deletes", &["vanish", "ok"]);
    assert_eq!(yard.run(&["work"]).code, 1);
    let reason = yard.issue_run(&issue)["reason"].as_str().unwrap().to_owned();
    assert!(reason.starts_with("its worktree is gone: "), "{reason}");
    yard.run(&["work", "--resume"]).success();
    assert_eq!(yard.status(&issue), "closed");
}

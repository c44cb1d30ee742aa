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
fn an_agent_that_deletes_its_worktree_is_said_to_have() {
    let yard = Yard::new();
    let issue = yard.issue("Deletes", &["vanish", "ok"]);
    assert_eq!(yard.run(&["work"]).code, 1);
    let reason = yard.issue_run(&issue)["reason"].as_str().unwrap().to_owned();
    assert!(reason.starts_with("its worktree is gone: "), "{reason}");
    yard.run(&["work", "--resume"]).success();
    assert_eq!(yard.status(&issue), "closed");
}

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

//! Another agent looks at finished work before its issue is closed.

use super::{TOGETHER, Yard};

const REVIEWED: &str = "work: {gate: ['! ls bad-*'], review: {agent: claude, max: 1}}\n";

#[test]
fn findings_go_back_to_the_author_and_the_issue_is_closed_once_they_are_mended() {
    let yard = Yard::with_settings(REVIEWED);
    let issue = yard.issue("Rotate tokens", &["ok", "objects", "edit", "approves"]);
    let ran = yard.run(&["work"]).success();
    assert!(ran.stdout.contains("review") && ran.stdout.contains("it does not say why"), "{ran}");
    assert_eq!(yard.status(&issue), "closed");
    // The reviewer had a conversation of its own, and saw the work by its commits.
    let (author, reviewer) = (yard.given(&issue, 1), yard.given(&issue, 2));
    assert!(reviewer.prompt.contains("Review the work on issue"), "{}", reviewer.prompt);
    assert!(reviewer.prompt.contains("`git diff "), "{}", reviewer.prompt);
    assert_ne!(reviewer.flag("--session-id"), author.flag("--session-id"));
    // What it found went to the author's conversation, and it looked again.
    let third = yard.given(&issue, 3);
    assert_eq!(third.flag("--resume"), author.flag("--session-id"));
    assert!(third.prompt.contains("- done.txt:1: it does not say why"), "{}", third.prompt);
    assert!(yard.given(&issue, 4).prompt.contains("Review the work on issue"));
    // Both reviews are paid for, and the issue would be resumed with its author.
    let run = yard.issue_run(&issue);
    assert_eq!(run["cost_usd"], 1.0, "{run}");
    let author = author.flag("--session-id").unwrap();
    assert_eq!(run["agent_session_id"], author, "{run}");
    let used = yard.run(&["usage", "--by", "issue", "--json"]).success().json();
    let rows = used["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "{used}");
    assert_eq!((&rows[0]["issue"], &rows[0]["cost_usd"]), (&issue.clone().into(), &1.0.into()));
    for key in ["sessions", "cost_usd", "tokens", "unknown_sessions"] {
        assert_eq!(rows[0][key], used["total"][key], "{key}: {used}");
    }
    // The reviewer's conversation is not one to go on with.
    let home = yard.run(&["--json"]).success().json();
    assert_eq!(home["next"]["command"], "git merge heirloom/work/main", "{home}");
    let shown = yard.run(&[]).success().stdout;
    assert!(shown.contains(&format!("heirloom issues show {issue}")), "{shown}");
}

#[test]
fn an_issue_that_failed_is_the_next_step_until_somebody_closes_it() {
    let yard = Yard::with_settings("work: {gate: ['false'], max_fixes: 0}\n");
    let issue = yard.issue("Rotate tokens", &["crash"]);
    assert_eq!(yard.run(&["work"]).code, 1);
    let next = |yard: &Yard| yard.run(&["--json"]).success().json()["next"]["command"].clone();
    assert_eq!(yard.issue_run(&issue)["status"], "failed");
    assert_eq!(next(&yard), format!("heirloom work --resume --issue {issue}"));
    yard.run(&["issues", "close", &issue]).success();
    assert_eq!(next(&yard), "heirloom launch \"…\"");
}

#[test]
fn what_a_reviewer_still_finds_or_does_not_say_is_left_to_a_person() {
    let yard = Yard::with_settings(REVIEWED);
    let stubborn = yard.issue("Stubborn", &["ok", "objects", "ok", "objects"]);
    let vague = yard.issue("Vague", &["ok", "mumbles"]);
    let broken = yard.issue("Broken", &["ok", "crash"]);
    let tip = |yard: &Yard| yard.env.git(&["rev-parse", "main"]);
    let before = tip(&yard);
    assert_eq!(yard.run(&["work"]).code, 1);
    for (issue, why) in [
        (&stubborn, "claude still finds: - done.txt:1: it does not say why"),
        (&vague, "claude reviewed it without a verdict: “Looks good to me.”"),
        (&broken, "the review by claude failed"),
    ] {
        let run = yard.issue_run(issue);
        assert_eq!(run["status"], "needs_review", "{run}");
        assert!(run["reason"].as_str().unwrap().contains(why), "{run}");
        assert_eq!(yard.status(issue), "in_progress");
    }
    // Nothing of it was brought together.
    assert_eq!(yard.env.git(&["rev-parse", TOGETHER]), before);
}

#[test]
fn what_a_reviewer_changes_is_undone() {
    let yard = Yard::with_settings(REVIEWED);
    let issue = yard.issue("Meddled", &["ok", "meddles"]);
    let ran = yard.run(&["work"]).success();
    assert!(ran.stderr.contains("claude changed something while it reviewed"), "{ran}");
    assert_eq!(yard.status(&issue), "closed");
    let files = yard.env.git(&["ls-tree", "--name-only", TOGETHER]);
    assert!(files.contains(&format!("{issue}.txt")), "{files}");
    assert!(!files.contains("meddled.txt") && !files.contains("more.txt"), "{files}");
}

#[test]
fn a_reviewer_can_be_named_for_one_run() {
    let yard = Yard::new();
    let issue = yard.issue("Once", &["ok", "approves"]);
    yard.run(&["work", "--review", "claude"]).success();
    assert_eq!((yard.status(&issue).as_str(), yard.launches(&issue)), ("closed", 2));
}

#[test]
fn approved_work_is_not_called_unchecked() {
    for flags in
        [&["work", "--review", "claude"][..], &["work", "--review", "claude", "--in-place"]]
    {
        let yard = Yard::with_settings("work: {max_agents: 1}\n");
        let issue = yard.issue("Once", &["commit", "approves"]);
        let ran = yard.run(flags).success();
        assert!(!ran.to_string().contains("no gate is set"), "{ran}");
        let shown = yard.json(&["issues", "show", &issue]);
        let reason = shown["close_reason"].as_str().unwrap();
        assert!(reason.starts_with("approved by claude; commit "), "{reason}");
    }
}

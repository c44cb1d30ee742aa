//! What satisfies a requirement, for whom and for how long.

use serde_json::json;

use super::{Guarded, ONE, Said, TWO};

const SKILLED: &str = "requirements:\n  plan: {satisfied_by_skill: arch-review}\n";

#[test]
fn a_skill_satisfies_the_session_that_ran_it_and_no_other() {
    let guarded = Guarded::new(SKILLED);
    assert!(guarded.edit(ONE).is_denied());
    guarded.skill(ONE, "some-plugin:arch-review");
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    assert!(guarded.edit(TWO).is_denied());
}

#[test]
fn a_skill_that_failed_or_is_another_satisfies_nothing() {
    let guarded = Guarded::new(SKILLED);
    guarded.skill(ONE, "review");
    guarded.tool("PostToolUseFailure", ONE, "Skill", &json!({"skill": "arch-review"}));
    assert!(guarded.edit(ONE).is_denied());
}

#[test]
fn a_skill_that_a_person_types_counts_and_is_recorded_once() {
    for (event, fields) in [
        ("UserPromptSubmit", json!({"prompt": "/arch-review src"})),
        ("UserPromptExpansion", json!({"command_name": "arch-review", "prompt": "/arch-review"})),
    ] {
        let guarded = Guarded::new(SKILLED);
        guarded.hook(event, ONE, &fields);
        assert_eq!(guarded.edit(ONE), Said::Nothing, "{event}");
    }
    let guarded = Guarded::new(SKILLED);
    guarded.hook("UserPromptExpansion", ONE, &json!({"command_name": "arch-review"}));
    guarded.hook("UserPromptSubmit", ONE, &json!({"prompt": "/arch-review"}));
    let log = guarded.req(&["log", "--json"]).json();
    let satisfied =
        log["log"].as_array().unwrap().iter().filter(|entry| entry["what"] == "satisfied");
    assert_eq!(satisfied.count(), 1);
    guarded.hook("UserPromptSubmit", TWO, &json!({"prompt": "please run /arch-review"}));
    assert!(guarded.edit(TWO).is_denied());
}

#[test]
fn a_branch_is_satisfied_for_every_session_on_it_and_on_no_other() {
    let guarded = Guarded::new("requirements:\n  ticket: {scope: branch}\n");
    assert_eq!(guarded.req(&["satisfy", "ticket"]).code, 0);
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    assert_eq!(guarded.edit(TWO), Said::Nothing);
    guarded.env.git(&["checkout", "-q", "-b", "feature/a"]);
    assert!(guarded.edit(ONE).is_denied());
    guarded.env.git(&["checkout", "-q", "main"]);
    assert_eq!(guarded.edit(ONE), Said::Nothing);
}

#[test]
fn what_is_permanent_holds_on_every_branch() {
    let guarded = Guarded::new("requirements:\n  cla: {scope: permanent}\n");
    guarded.req(&["satisfy", "cla"]);
    guarded.env.git(&["checkout", "-q", "-b", "other"]);
    assert_eq!(guarded.edit(TWO), Said::Nothing);
    guarded.req(&["clear", "cla"]);
    assert!(guarded.edit(TWO).is_denied());
}

const SINGLE: &str = "
requirements:
  reviewed:
    scope: single_use
    satisfied_by_skill: pre-commit
    trigger_tools: [{tool: Bash, command: [git, commit]}]
";

#[test]
fn a_single_use_is_used_up_by_the_action_when_it_succeeds_and_only_for_its_session() {
    let guarded = Guarded::new(SINGLE);
    let commit = "git commit -m x";
    guarded.skill(ONE, "pre-commit");
    guarded.skill(TWO, "pre-commit");
    assert_eq!(guarded.bash(ONE, commit), Said::Nothing);
    guarded.tool("PostToolUseFailure", ONE, "Bash", &json!({"command": commit}));
    assert_eq!(guarded.bash(ONE, commit), Said::Nothing);
    guarded.ran(ONE, "git status");
    assert_eq!(guarded.bash(ONE, commit), Said::Nothing);
    guarded.ran(ONE, commit);
    assert!(guarded.bash(ONE, commit).is_denied());
    assert_eq!(guarded.bash(TWO, commit), Said::Nothing);
    assert_eq!(guarded.stop(ONE), Said::Nothing, "what was used up asks for nothing");
}

#[test]
fn branches_never_meet_whatever_they_are_called() {
    let guarded = Guarded::new(SKILLED);
    let long = format!("{}/{}", "x".repeat(150), "y".repeat(149));
    let longer = format!("{long}y");
    let names = ["feature/a", "feature-a", "feature_a", "feature.a", "日本", &long, &longer];
    assert_eq!(long.len(), 300);
    for name in names {
        guarded.env.git(&["checkout", "-q", "-b", name]);
        assert!(guarded.edit(ONE).is_denied(), "{name}");
        guarded.skill(ONE, "arch-review");
        assert_eq!(guarded.edit(ONE), Said::Nothing, "{name}");
    }
}

#[test]
fn a_detached_head_is_gated_by_its_commit() {
    let guarded = Guarded::new(SKILLED);
    guarded.env.git(&["checkout", "-q", "--detach"]);
    assert!(guarded.edit(ONE).is_denied());
    guarded.skill(ONE, "arch-review");
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    guarded.env.git(&["commit", "-q", "--allow-empty", "-m", "next"]);
    assert!(guarded.edit(ONE).is_denied());
}

#[test]
fn a_subdirectory_and_a_worktree_are_gated_as_the_repository_is() {
    let guarded = Guarded::new("requirements:\n  cla: {scope: permanent}\n");
    guarded.env.write("src/deep/a.rs", "x");
    guarded.env.git(&["add", "-A"]);
    guarded.env.git(&["commit", "-q", "-m", "all"]);
    guarded.env.git(&["worktree", "add", "-q", "../payments-fix", "-b", "fix"]);
    let edit = json!({"tool_name": "Edit", "tool_input": {"file_path": "a.rs"}});
    let below = guarded.env.repo().join("src/deep");
    let tree = guarded.env.repo().with_file_name("payments-fix");
    for cwd in [&below, &tree] {
        assert!(guarded.hook_in(&cwd.to_string_lossy(), "PreToolUse", ONE, &edit).is_denied());
    }
    guarded.req(&["satisfy", "cla"]);
    for cwd in [&below, &tree] {
        assert_eq!(
            guarded.hook_in(&cwd.to_string_lossy(), "PreToolUse", ONE, &edit),
            Said::Nothing
        );
    }
}

#[test]
fn an_approval_ends_when_its_time_is_up() {
    let guarded = Guarded::new("requirements:\n  plan: {}\n");
    guarded.req(&["approve", "plan", "--ttl", "5m", "--session", ONE]);
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    let later = Guarded { env: guarded.env.var("HEIRLOOM_CLOCK", "2026-01-12T15:36:00Z") };
    let said = later.edit(ONE);
    assert!(said.text().contains("was satisfied until 2026-01-12T15:35:00Z"), "{said:?}");
}

#[test]
fn a_review_satisfies_only_what_it_saw() {
    let guarded = Guarded::new(
        "
requirements:
  reviewed:
    satisfied_by_skill: review
    evidence: {diff: true}
    trigger_tools: [{tool: Bash, command: [git, push]}]
",
    );
    guarded.env.git(&["add", "-A"]);
    guarded.env.git(&["commit", "-q", "-m", "settings"]);
    guarded.env.git(&["checkout", "-q", "-b", "feature/x"]);
    guarded.env.write("a.rs", "one");
    guarded.skill(ONE, "review");
    assert_eq!(guarded.bash(ONE, "git push"), Said::Nothing);
    guarded.env.git(&["add", "-A"]);
    guarded.env.git(&["commit", "-q", "-m", "one"]);
    assert_eq!(guarded.bash(ONE, "git push"), Said::Nothing, "committing changes nothing");
    guarded.env.write("a.rs", "two");
    assert!(guarded.bash(ONE, "git push").text().contains("no longer those that were reviewed"));
    guarded.skill(ONE, "review");
    assert_eq!(guarded.bash(ONE, "git push"), Said::Nothing);
}

#[test]
fn a_protected_branch_and_a_measured_value_hold_without_anybody_satisfying_them() {
    let guarded = Guarded::new(
        "
requirements:
  trunk: {type: guard, guard_type: protected_branch, protected_branches: [main, 'release/*']}
  size: {type: dynamic, measure: {command: 'cat size'}, thresholds: {warn: 10, block: 20}, cache_ttl: 0}
",
    );
    guarded.env.write("size", "5");
    assert!(guarded.edit(ONE).text().contains("main is protected"));
    guarded.env.git(&["checkout", "-q", "-b", "release/1"]);
    assert!(guarded.edit(ONE).is_denied());
    guarded.env.git(&["checkout", "-q", "-b", "work"]);
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    guarded.env.write("size", "15");
    guarded.ran(ONE, "true");
    assert!(matches!(guarded.edit(ONE), Said::Context(text) if text.contains("size")));
    assert_eq!(guarded.edit(ONE), Said::Nothing, "it is said once");
    guarded.env.write("size", "25");
    guarded.ran(ONE, "true");
    assert!(guarded.edit(ONE).text().contains("25 has reached 20"));
}

#[test]
fn a_measured_value_that_was_fine_does_not_keep_a_turn_from_ending() {
    let guarded = Guarded::new(
        "requirements:\n  size: {type: dynamic, measure: {command: 'cat size'}, thresholds: {block: 20}, cache_ttl: 0}\n",
    );
    guarded.env.write("size", "5");
    guarded.start(ONE, "startup");
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    assert_eq!(guarded.stop(ONE), Said::Nothing);
    guarded.env.write("size", "25");
    assert!(matches!(guarded.stop(ONE), Said::Blocked(text) if text.contains("25 has reached 20")));
    guarded.req(&["approve", "size", "--session", ONE]).success();
    assert_eq!(guarded.edit(ONE), Said::Nothing, "a person approved it");
}

#[test]
fn the_size_of_a_branch_is_what_it_changes() {
    let guarded = Guarded::new(
        "requirements:\n  size: {type: dynamic, thresholds: {block: 5}, cache_ttl: 0}\n",
    );
    guarded.env.git(&["add", "-A"]);
    guarded.env.git(&["commit", "-q", "-m", "settings"]);
    guarded.env.git(&["checkout", "-q", "-b", "work"]);
    guarded.env.write("a.rs", "1\n2\n3\n");
    guarded.ran(ONE, "true");
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    guarded.env.git(&["add", "-A"]);
    guarded.env.git(&["commit", "-q", "-m", "three"]);
    guarded.env.write("b.rs", "1\n2\n");
    guarded.ran(ONE, "true");
    assert!(guarded.edit(ONE).text().contains("5 has reached 5"), "{:?}", guarded.edit(ONE));
}

#[test]
fn what_is_not_enforced_is_said_once() {
    let guarded = Guarded::new("requirements:\n  plan: {enforcement: warn}\n");
    assert!(matches!(guarded.edit(ONE), Said::Context(_)));
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    assert!(matches!(guarded.edit(TWO), Said::Context(_)));
}

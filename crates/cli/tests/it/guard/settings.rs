//! Where requirements come from, and what is said when they cannot be read.

use serde_json::json;

use super::{Guarded, ONE, Said};

const PLAN: &str = "requirements:\n  plan: {}\n";

#[test]
fn a_file_that_breaks_while_a_session_runs_is_reported_at_the_next_prompt() {
    let guarded = Guarded::new(PLAN);
    guarded.start(ONE, "startup");
    guarded.env.write(".heirloom/config.yaml", "requirements:\n  plan: {\n");
    assert_eq!(guarded.edit(ONE), Said::Nothing, "no other rules are put in its place");
    let said = guarded.hook("UserPromptSubmit", ONE, &json!({"prompt": "go on"}));
    assert!(
        matches!(&said, Said::Message(text) if text.contains("config.yaml cannot be read")),
        "{said:?}"
    );
    guarded.env.write(".heirloom/config.yaml", PLAN);
    assert_eq!(guarded.hook("UserPromptSubmit", ONE, &json!({"prompt": "x"})), Said::Nothing);
    assert!(guarded.edit(ONE).is_denied());
}

#[test]
fn one_requirement_that_cannot_be_read_is_reported_and_the_others_hold() {
    let guarded = Guarded::new(
        "requirements:\n  plan: {}\n  odd: 7\n  wild: {scope: for ever}\n  regex: {trigger_tools: [{tool: Bash, command_pattern: '('}]}\n",
    );
    assert!(guarded.edit(ONE).text().starts_with("plan is not met"));
    let start = guarded.start(ONE, "startup").text().to_owned();
    assert!(start.contains("0 of 1 requirements met") && start.contains("and 2 more"), "{start}");
    let status = guarded.req(&["status", "--json"]);
    for name in ["odd", "wild", "regex"] {
        assert!(status.stderr.contains(&format!("requirements.{name}")), "{status:?}");
    }
}

#[test]
fn a_message_is_filled_in_and_stays_with_what_else_is_unmet() {
    let guarded = Guarded::new(
        r#"
requirements:
  plan: {satisfied_by_skill: "tools:arch-review", message: "Run /{skill} on {branch} ({name}, {session}, {unknown})."}
  size: {type: dynamic, measure: {command: "echo 25"}, thresholds: {block: 20}, message: "{value} of {threshold} lines"}
"#,
    );
    guarded.start(ONE, "startup");
    let text = guarded.edit(ONE).text().to_owned();
    assert!(text.contains("Run /tools:arch-review on main (plan, 8272974a, {unknown})."), "{text}");
    assert!(text.contains("25 of 20 lines"), "{text}");
}

const ORIGINAL: &str = ".claude/requirements.yaml";

/// A repository of somebody who used the earlier framework.
fn original(project: &str) -> Guarded {
    let guarded = Guarded { env: crate::env() };
    guarded.env.write(ORIGINAL, project);
    guarded
}

#[test]
fn users_of_the_earlier_framework_switch_by_installing() {
    let guarded = original("requirements:\n  commit_plan: {enabled: true}\n");
    let init = guarded.env.run(&["init", "--agent", "claude"]).success();
    assert!(init.stdout.contains(".claude/requirements.yaml"), "{init:?}");
    assert!(guarded.edit(ONE).text().starts_with("commit_plan is not met"));
    assert!(guarded.start(ONE, "startup").text().contains("0 of 1 requirements met"));
    guarded.env.write(".heirloom/config.yaml", "guard: {enabled: false}\n");
    assert_eq!(guarded.edit(ONE), Said::Nothing, "what heirloom's settings say goes before");
    guarded.env.write(".heirloom/config.yaml", "requirements: {}\n");
    assert_eq!(guarded.edit(ONE), Said::Nothing, "these are requirements of its own: none");
}

#[test]
fn the_earlier_frameworks_files_are_a_cascade() {
    let guarded = original("requirements:\n  ticket: {enabled: true, scope: branch}\n");
    let user = guarded.env.user().join(ORIGINAL);
    std::fs::create_dir_all(user.parent().unwrap()).unwrap();
    std::fs::write(&user, "requirements:\n  commit_plan: {enabled: true}\n  off: {}\n").unwrap();
    let denied =
        |guarded: &Guarded| guarded.edit(ONE).text().lines().next().unwrap_or("").to_owned();
    assert_eq!(denied(&guarded), "commit_plan and ticket are not met.");
    guarded
        .env
        .write(".claude/requirements.local.yaml", "requirements:\n  ticket: {enabled: false}\n");
    assert_eq!(denied(&guarded), "commit_plan is not met for this session.");
    let own = "commit_plan is not met for this session.";
    for project in [
        "inherit: false\nrequirements: {}\n",
        "enabled: false\n",
        "requirements: {commit_plan: {enabled: false}}\n",
        "inherit: false\nrequirements: {\n",
    ] {
        guarded.env.write(ORIGINAL, project);
        assert_eq!(
            denied(&guarded),
            own,
            "a repository takes nothing of the user's away: {project}"
        );
    }
    let start = guarded.start(ONE, "startup").text().to_owned();
    assert!(start.contains("it cannot be read, so nothing in it holds"), "{start}");
    let off = "requirements:\n  commit_plan: {enabled: false}\n";
    guarded.env.write(".claude/requirements.local.yaml", off);
    assert_eq!(guarded.edit(ONE), Said::Nothing, "their own file for this repository does");
}

#[test]
fn an_agent_that_went_elsewhere_is_gated_by_the_project_it_was_started_in() {
    let guarded = Guarded::new(PLAN);
    let elsewhere = guarded.env.user();
    let elsewhere = elsewhere.to_string_lossy();
    let edit =
        json!({"tool_name": "Edit", "tool_input": {"file_path": guarded.env.repo().join("a")}});
    assert_eq!(guarded.hook_in(&elsewhere, "PreToolUse", ONE, &edit), Said::Nothing);
    let project = guarded.env.repo();
    let guarded = Guarded { env: guarded.env.var("CLAUDE_PROJECT_DIR", project) };
    assert!(guarded.hook_in(&elsewhere, "PreToolUse", ONE, &edit).is_denied());
}

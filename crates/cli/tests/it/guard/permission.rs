//! Permission requests and subagents: the other ways to a tool use.

use serde_json::{Value, json};

use super::{Guarded, ONE, Said, TWO};

const SETTINGS: &str = "
requirements:
  plan: {satisfied_by_skill: arch-review}
  style: {enforcement: warn, trigger_tools: [Write]}
  verified: {stop_only: true, satisfied_by_skill: verify}
";

fn asked(guarded: &Guarded, session: &str, tool: &str) -> Said {
    let input = json!({"file_path": "src/a.rs", "content": "x"});
    guarded.tool("PermissionRequest", session, tool, &input)
}

#[test]
fn a_person_is_not_asked_for_what_a_requirement_denies() {
    let guarded = Guarded::new(SETTINGS);
    let said = asked(&guarded, ONE, "Edit");
    assert!(said.text().starts_with("plan is not met for this session"), "{said:?}");
    assert!(said.is_denied());
    assert_eq!(asked(&guarded, ONE, "Read"), Said::Nothing);
    guarded.skill(ONE, "arch-review");
    assert_eq!(asked(&guarded, ONE, "Edit"), Said::Nothing, "it never allows either");
    assert!(asked(&guarded, TWO, "Edit").is_denied());
}

#[test]
fn being_asked_triggers_nothing_and_uses_no_warning_up() {
    let guarded = Guarded::new(SETTINGS);
    guarded.skill(ONE, "arch-review");
    let before = guarded.req(&["log", "--json"]).json();
    assert_eq!(asked(&guarded, ONE, "Write"), Said::Nothing);
    assert_eq!(guarded.req(&["log", "--json"]).json(), before);
    assert_eq!(guarded.stop(ONE), Said::Nothing, "the person may still say no");
    let input = json!({"file_path": "a"});
    let said = guarded.tool("PreToolUse", ONE, "Write", &input);
    assert!(matches!(said, Said::Context(text) if text.contains("style")));
}

#[test]
fn what_a_person_did_not_permit_triggers_nothing() {
    let guarded = Guarded::new("requirements:\n  verified: {stop_only: true}\n");
    let edit = json!({"file_path": "src/a.rs", "content": "x"});
    guarded.tool("PreToolUse", ONE, "Write", &edit);
    assert!(matches!(guarded.stop(ONE), Said::Blocked(_)), "so far it looks as if it ran");
    asked(&guarded, ONE, "Write");
    assert_eq!(guarded.stop(ONE), Said::Nothing, "the person said no");
    guarded.tool("PreToolUse", ONE, "Write", &edit);
    asked(&guarded, ONE, "Write");
    guarded.tool("PostToolUse", ONE, "Write", &edit);
    assert!(matches!(guarded.stop(ONE), Said::Blocked(_)), "the person said yes");
    guarded.tool("PreToolUse", ONE, "Write", &edit);
    asked(&guarded, ONE, "Write");
    assert!(matches!(guarded.stop(ONE), Said::Blocked(_)), "the first one ran all the same");
}

#[test]
fn a_use_that_nobody_was_asked_about_stays_triggered() {
    let guarded = Guarded::new("requirements:\n  verified: {stop_only: true}\n");
    guarded.edit(ONE);
    asked(&guarded, ONE, "Write");
    assert!(matches!(guarded.stop(ONE), Said::Blocked(_)), "that was another use");
}

#[test]
fn a_pause_holds_for_permission_requests_as_well() {
    let guarded = Guarded::new(SETTINGS);
    guarded.req(&["pause", "--repo"]).success();
    assert_eq!(asked(&guarded, ONE, "Edit"), Said::Nothing);
}

/// A payload of a subagent: the session is that of the agent that started it.
fn in_subagent(guarded: &Guarded, event: &str, tool: &str, input: &Value) -> Said {
    let fields =
        json!({"tool_name": tool, "tool_input": input, "agent_id": "a1", "agent_type": "Explore"});
    guarded.hook(event, ONE, &fields)
}

#[test]
fn what_a_subagent_does_is_gated_triggered_and_satisfied_for_its_session() {
    let guarded = Guarded::new(SETTINGS);
    let edit = json!({"file_path": "src/a.rs"});
    assert!(in_subagent(&guarded, "PreToolUse", "Edit", &edit).is_denied());
    in_subagent(&guarded, "PostToolUse", "Skill", &json!({"skill": "arch-review"}));
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    let other = Guarded::new(SETTINGS);
    other.skill(ONE, "arch-review");
    assert_eq!(in_subagent(&other, "PreToolUse", "Edit", &edit), Said::Nothing);
    let end = json!({"agent_id": "a1", "agent_type": "Explore", "stop_hook_active": false});
    assert_eq!(other.hook("SubagentStop", ONE, &end), Said::Nothing, "the turn goes on");
    assert!(matches!(other.stop(ONE), Said::Blocked(text) if text.contains("verified")));
}

#[test]
fn a_subagent_starts_with_what_is_denied_to_it() {
    let guarded = Guarded::new(SETTINGS);
    let start =
        || guarded.hook("SubagentStart", ONE, &json!({"agent_id": "a1", "agent_type": "Explore"}));
    insta::assert_snapshot!(start().text(), @"
    heirloom: plan is not met; what needs that is denied to you as well.
    /arch-review → plan
    ");
    guarded.skill(ONE, "arch-review");
    assert_eq!(start(), Said::Nothing);
}

//! A session from its start to its end, and the turns in between.

use serde_json::json;

use super::{Guarded, ONE, Said, TWO};

const LATER: &str = "requirements:\n  verified: {stop_only: true, satisfied_by_skill: verify}\n";

#[test]
fn a_turn_does_not_end_while_something_it_triggered_is_unmet() {
    let guarded = Guarded::new(LATER);
    assert_eq!(guarded.stop(ONE), Said::Nothing, "nothing was triggered");
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    assert_eq!(guarded.stop(TWO), Said::Nothing, "another session's affair");
    let said = guarded.stop(ONE);
    assert!(matches!(&said, Said::Blocked(text) if text.contains("/verify")), "{said:?}");
    guarded.skill(ONE, "verify");
    assert_eq!(guarded.stop(ONE), Said::Nothing);
}

#[test]
fn a_denied_tool_use_arms_nothing() {
    let guarded = Guarded::new("requirements:\n  plan: {}\n");
    assert!(guarded.edit(ONE).is_denied());
    assert_eq!(guarded.stop(ONE), Said::Nothing);
    assert_eq!(guarded.req(&["log", "--json"]).json()["log"], json!([]));
}

#[test]
fn a_turn_that_waits_for_others_may_end_and_one_that_a_hook_prolonged_may_not() {
    let guarded = Guarded::new(LATER);
    guarded.edit(ONE);
    let stop = |fields| guarded.hook("Stop", ONE, &fields);
    let prolonged = stop(json!({"stop_hook_active": true}));
    assert!(matches!(prolonged, Said::Blocked(_)), "we count ourselves: {prolonged:?}");
    assert_eq!(stop(json!({"background_tasks": [{"id": "b"}]})), Said::Nothing);
    assert_eq!(guarded.hook("SubagentStop", ONE, &json!({})), Said::Nothing);
    assert!(matches!(stop(json!({})), Said::Blocked(_)));
}

#[test]
fn asking_ends_visibly_after_a_few_times_and_begins_again_with_the_next_turn() {
    let guarded = Guarded::new(LATER);
    guarded.edit(ONE);
    for _ in 0..3 {
        assert!(matches!(guarded.stop(ONE), Said::Blocked(_)));
    }
    let given_up = guarded.stop(ONE);
    assert!(matches!(&given_up, Said::Message(text) if text.contains("3 times")), "{given_up:?}");
    let next = guarded.hook("Stop", ONE, &json!({"prompt_id": "p2"}));
    assert!(matches!(next, Said::Blocked(_)));
}

#[test]
fn a_turn_is_kept_as_often_as_the_settings_say_and_less_often_than_the_agent_puts_up_with() {
    for (wanted, kept) in [(5, 5), (20, 7)] {
        let settings = format!("guard: {{stop_blocks: {wanted}}}\n{LATER}");
        let guarded = Guarded::new(&settings);
        guarded.edit(ONE);
        for nth in 0..kept {
            let fields = json!({"stop_hook_active": nth > 0, "background_tasks": []});
            let said = guarded.hook("Stop", ONE, &fields);
            assert!(matches!(said, Said::Blocked(_)), "{wanted}, {nth}: {said:?}");
        }
        let given_up = guarded.stop(ONE);
        let told = format!("asked {kept} times");
        assert!(matches!(&given_up, Said::Message(text) if text.contains(&told)), "{given_up:?}");
    }
}

#[test]
fn where_turns_have_no_name_a_prompt_begins_one() {
    let guarded = Guarded::new(LATER);
    let unnamed = |event: &str, fields: serde_json::Value| {
        let mut payload =
            json!({"session_id": ONE, "cwd": guarded.env.repo(), "hook_event_name": event});
        payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        guarded.raw("claude", event, payload.to_string().as_bytes())
    };
    guarded.edit(ONE);
    for _ in 0..3 {
        assert!(matches!(unnamed("Stop", json!({})), Said::Blocked(_)));
    }
    assert!(matches!(unnamed("Stop", json!({})), Said::Message(_)));
    unnamed("UserPromptSubmit", json!({"prompt": "Not finished: verified is not met"}));
    assert!(
        matches!(unnamed("Stop", json!({})), Said::Message(_)),
        "why it goes on begins no turn"
    );
    unnamed("UserPromptSubmit", json!({"prompt": "go on"}));
    assert!(matches!(unnamed("Stop", json!({})), Said::Blocked(_)));
}

#[test]
fn what_was_triggered_on_a_branch_that_was_left_still_counts() {
    let guarded = Guarded::new(LATER);
    guarded.edit(ONE);
    guarded.env.git(&["checkout", "-q", "-b", "other"]);
    assert!(matches!(guarded.stop(ONE), Said::Blocked(_)));
    guarded.skill(ONE, "verify");
    assert_eq!(guarded.stop(ONE), Said::Nothing, "the skill satisfied it there as well");
}

#[test]
fn a_session_starts_with_what_it_should_know_and_is_not_told_twice() {
    let guarded = Guarded::new(
        "requirements:\n  plan: {satisfied_by_skill: arch-review}\n  cla: {scope: permanent}\n",
    );
    insta::assert_snapshot!(guarded.start(ONE, "startup").text(), @r#"
    heirloom: 0 of 2 requirements met on main.
    /arch-review → plan
    heirloom req satisfy cla --reason WHY → cla
    Record what must outlast this context: `heirloom note decision "…" --because "…" --evidence src/a.rs:12`; also next-step, progress, warning, learning, question.
    "#);
    assert_eq!(guarded.start(ONE, "resume"), Said::Nothing);
    assert!(matches!(guarded.start(ONE, "compact"), Said::Context(_)));
    guarded.skill(ONE, "arch-review");
    assert!(guarded.start(ONE, "resume").text().contains("1 of 2"));
}

#[test]
fn a_session_is_recorded_with_its_process_and_is_gone_when_that_is() {
    let guarded = Guarded::new("requirements: {}\n");
    guarded.start(ONE, "startup");
    let sessions = guarded.env.run(&["sessions", "list", "--json"]).json();
    assert_eq!(sessions["sessions"][0]["id"], ONE);
    assert_eq!(sessions["sessions"][0]["status"], "running");
    assert_eq!(sessions["sessions"][0]["name"], "claude-8272974a");
    guarded.hook("SessionEnd", ONE, &json!({"reason": "prompt_input_exit"}));
    let sessions = guarded.env.run(&["sessions", "list", "--json"]).json();
    assert_eq!(sessions["sessions"][0]["status"], "completed");
    guarded.start(ONE, "resume");
    let sessions = guarded.env.run(&["sessions", "list", "--json"]).json();
    assert_eq!(sessions["sessions"][0]["status"], "running");
}

#[test]
fn a_cleared_session_continues_the_one_before_in_the_same_process() {
    let guarded = Guarded::new("requirements: {}\n");
    guarded.start(ONE, "startup");
    guarded.hook("SessionEnd", ONE, &json!({"reason": "clear"}));
    guarded.start(TWO, "clear");
    let lineage = guarded.env.run(&["lineage", TWO, "--json"]).json();
    assert_eq!(lineage["ancestors"][0]["name"], "claude-8272974a");
}

#[test]
fn a_session_takes_over_what_the_one_before_satisfied_only_where_the_settings_say_so() {
    let settings = "requirements:\n  plan: {satisfied_by_skill: arch-review}\n";
    for (more, source, expected) in [
        ("", "clear", true),
        ("guard: {carry_over: {window: 5m}}\n", "clear", false),
        ("guard: {carry_over: {window: 5m}}\n", "startup", false),
        ("guard: {carry_over: {window: 5m}}\n", "resume", true),
        ("guard: {carry_over: {enabled: false}}\n", "clear", true),
        ("guard: {carry_over: {scopes: [branch]}}\n", "clear", true),
    ] {
        let guarded = Guarded::new(&format!("{settings}{more}"));
        guarded.start(ONE, "startup");
        guarded.skill(ONE, "arch-review");
        guarded.start(TWO, source);
        assert_eq!(guarded.edit(TWO).is_denied(), expected, "{more} {source}");
        let log = guarded.req(&["log", "--json"]).json()["log"].to_string();
        assert_eq!(log.contains("carry_over"), !expected, "{log}");
    }
}

#[test]
fn while_requirements_are_paused_nothing_is_gated_and_everyone_is_told() {
    let guarded = Guarded::new("requirements:\n  plan: {}\n");
    assert_eq!(guarded.req(&["pause", "--reason", "demo", "--repo"]).code, 0);
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    let started = guarded.start(ONE, "startup");
    assert!(started.text().contains("paused in this repository (demo)"), "{started:?}");
    let shown = guarded.req(&["status"]);
    assert!(shown.stdout.contains("`heirloom req resume --repo` enforces them"), "{shown}");
    let prompt = guarded.hook("UserPromptSubmit", ONE, &json!({"prompt": "x"}));
    assert!(
        matches!(&prompt, Said::Message(text) if text.contains("repository (demo)")),
        "{prompt:?}"
    );
    guarded.req(&["resume", "--repo"]);
    assert!(guarded.edit(ONE).is_denied());
    guarded.req(&["pause", "--session", ONE]);
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    assert!(guarded.edit(TWO).is_denied());
    let named = guarded.req(&["status", "--session", ONE]);
    let short: String = ONE.chars().take(8).collect();
    assert!(named.stdout.contains(&format!("heirloom req resume --session {short}`")), "{named}");
    let other = guarded.req(&["status", "--session", TWO]);
    assert!(!other.stdout.contains("paused"), "{other}");
}

#[test]
fn the_state_of_the_earlier_framework_is_taken_in_once_and_printed_back() {
    let guarded = Guarded::new("requirements:\n  plan: {}\n  ticket: {scope: branch}\n");
    guarded.env.write(
        ".git/requirements/main.json",
        &json!({"version": "1.0", "branch": "main", "requirements": {
            "plan": {"scope": "session", "sessions": {
                "8272974a": {"satisfied": true, "satisfied_at": 1_768_000_000, "satisfied_by": "skill"},
                TWO: {"triggered": true, "triggered_at": 1_768_000_000}}},
            "ticket": {"scope": "branch", "satisfied": true, "satisfied_at": 1_768_000_000}}})
        .to_string(),
    );
    guarded.start(ONE, "startup");
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    assert!(guarded.edit(TWO).is_denied());
    assert!(matches!(guarded.stop(TWO), Said::Blocked(_)));
    let records = || guarded.req(&["log", "--json"]).json()["log"].as_array().unwrap().len();
    let before = records();
    guarded.start(ONE, "compact");
    assert_eq!(records(), before);
    let state = guarded.req(&["state", "--json"]).json();
    assert_eq!(state["requirements"]["ticket"]["satisfied"], true);
    assert_eq!(state["requirements"]["plan"]["sessions"]["8272974a"]["satisfied_by"], "skill");
}

#[test]
fn a_state_file_of_another_shape_is_reported_and_takes_nothing_away() {
    for state in [
        "[]",
        "{",
        "null",
        "{\"requirements\": null}",
        "{\"branch\": \"main\", \"requirements\": {\"plan\": null, \"x\": {\"sessions\": 7}}}",
    ] {
        let guarded = Guarded::new("requirements:\n  plan: {}\n");
        guarded.env.write(".git/requirements/main.json", state);
        let before = guarded.start(ONE, "startup");
        assert!(before.text().contains("0 of 1 requirements met"), "{state}: {before:?}");
        assert!(guarded.edit(ONE).is_denied(), "{state}");
        let ran = guarded.req(&["satisfy", "plan", "--session", ONE]);
        assert_eq!(ran.code, 0, "{state}: {ran:?}");
        assert_eq!(guarded.edit(ONE), Said::Nothing, "{state}");
        assert_eq!(guarded.env.read(".git/requirements/main.json"), state, "it is theirs");
    }
}

//! A person decides, from another shell.

use serde_json::{Value, json};

use super::{Fixture, finish};

#[test]
fn an_approved_use_goes_on_and_a_second_decision_is_told_the_first() {
    let fixture = Fixture::new();
    let launch = fixture.spawn(&["launch", "ask once", "--name", "a", "--json"]);
    let id = fixture.open(1).remove(0);
    assert_eq!(fixture.status("a"), "waiting_input");
    assert_eq!(fixture.json(&["approvals", "approve", &id[..8]])["state"], "approved");
    assert_eq!(finish(launch)["status"], "completed");
    let answer = json!({"behavior": "allow", "updatedInput": {"command": "touch r1"}});
    assert_eq!(fixture.given(1).answers(), [answer]);
    let late = fixture.run(&["approvals", "deny", &id, "--reason", "no", "--json"]);
    assert_eq!(late.json()["error"]["code"], "approval.settled", "{late}");
    assert_eq!(fixture.status("a"), "completed");
}

#[test]
fn the_input_can_be_edited_and_reaches_the_agent_to_the_letter() {
    let fixture = Fixture::new();
    let launch = fixture.spawn(&["launch", "ask once", "--json"]);
    let id = fixture.open(1).remove(0);
    let token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let input = format!(r#"{{"command":"curl -H 'Authorization: token {token}' x"}}"#);
    let decided =
        fixture.run(&["approvals", "approve", &id, "--input", &input, "--json"]).success();
    assert!(!decided.stdout.contains(token), "{decided}");
    finish(launch);
    let expected: Value = serde_json::from_str(&input).unwrap();
    assert_eq!(fixture.given(1).answers()[0]["updatedInput"], expected);
}

#[test]
fn a_denial_comes_with_its_reason() {
    let fixture = Fixture::new();
    let launch = fixture.spawn(&["launch", "ask once", "--json"]);
    let id = fixture.open(1).remove(0);
    fixture.run(&["approvals", "deny", &id, "--reason", "not on a Friday"]).success();
    finish(launch);
    let answer = &fixture.given(1).answers()[0];
    assert_eq!(
        (&answer["behavior"], &answer["message"]),
        (&json!("deny"), &json!("not on a Friday"))
    );
}

#[test]
fn one_decision_of_two_leaves_the_session_waiting() {
    let fixture = Fixture::new();
    let launch = fixture.spawn(&["launch", "ask both", "--name", "a", "--json"]);
    let ids = fixture.open(2);
    fixture.run(&["approvals", "approve", &ids[0]]).success();
    assert_eq!(fixture.status("a"), "waiting_input");
    fixture.run(&["approvals", "approve", &ids[1]]).success();
    assert_eq!(finish(launch)["status"], "completed");
    assert_eq!(fixture.given(1).answers().len(), 2);
}

#[test]
fn an_approval_for_the_session_is_a_rule_and_does_not_outlive_it() {
    let fixture = Fixture::new();
    let launch = fixture.spawn(&["launch", "ask twice", "--name", "a", "--json"]);
    let id = fixture.open(1).remove(0);
    let approved = fixture.json(&["approvals", "approve", &id, "--rule", "Bash(touch *)"]);
    assert_eq!(approved["rule"], "Bash(touch *)");
    assert_eq!(finish(launch)["status"], "completed");
    assert_eq!(decisions(&fixture, "a"), ["person", "rule"]);
    let next = fixture.spawn(&["continue", "a", "ask once", "--json"]);
    let id = fixture.open(1).remove(0);
    fixture.run(&["approvals", "deny", &id, "--reason", "no"]).success();
    assert_eq!(finish(next)["status"], "completed");
}

/// Who decided, in order.
fn decisions(fixture: &Fixture, session: &str) -> Vec<String> {
    let shown = fixture.json(&["sessions", "show", session, "--trajectory"]);
    let records = shown["trajectory"].as_array().unwrap().iter();
    let decided = records.filter(|record| record["kind"] == "approval.decided");
    decided.map(|record| record["body"]["by"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn edits_and_a_bypass_are_approved_by_themselves_and_recorded_and_inherited() {
    let fixture = Fixture::new();
    fixture.json(&["launch", "edit a notebook", "--name", "a", "--auto-accept-edits"]);
    assert_eq!(fixture.given(1).answers()[0]["behavior"], "allow");
    assert_eq!(decisions(&fixture, "a"), ["auto_accept_edits"]);
    fixture.json(&["continue", "a", "edit a notebook"]);
    assert_eq!(decisions(&fixture, "a-v2"), ["auto_accept_edits"]);

    fixture.json(&["launch", "ask once", "--name", "b", "--bypass", "15m"]);
    fixture.json(&["continue", "b", "ask once"]);
    assert_eq!(decisions(&fixture, "b-v2"), ["bypass"]);
    let shown = fixture.json(&["sessions", "show", "b-v2", "--config"]);
    assert_eq!(
        shown["config"]["bypass_until"],
        json!({"value": "2026-01-12T15:45:00Z", "from": "b", "overridden": false})
    );

    // An hour later it is over: the same question waits for a person.
    let mut later = fixture.env.command(&["continue", "b", "ask once", "--json"]);
    later.env("HEIRLOOM_CLOCK", "2026-01-12T16:30:00Z").stdin(std::process::Stdio::null());
    let later = later.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let id = fixture.open(1).remove(0);
    fixture.run(&["approvals", "approve", &id]).success();
    assert_eq!(finish(later)["status"], "completed");
}

#[test]
fn a_waiting_session_can_be_interrupted_and_its_question_is_closed() {
    let fixture = Fixture::new();
    let launch = fixture.spawn(&["launch", "ask once, then work on", "--name", "a", "--json"]);
    let id = fixture.open(1).remove(0);
    let stopped = fixture.json(&["interrupt", "a"]);
    assert_eq!(stopped["status"], "interrupted", "{stopped}");
    assert_eq!(finish(launch)["status"], "interrupted");
    let late = fixture.run(&["approvals", "approve", &id, "--json"]).json();
    assert!(late["error"]["message"].as_str().unwrap().contains("superseded"), "{late}");
    let again = fixture.run(&["interrupt", "a", "--json"]).json();
    assert_eq!(again["error"]["code"], "session.not-running");
}

#[test]
fn an_agent_neither_sees_nor_denies_what_is_asked_in_another_repository() {
    let fixture = Fixture::new();
    let launch = fixture.spawn(&["launch", "ask once", "--name", "a", "--json"]);
    let id = fixture.open(1).remove(0);
    let other = fixture.env.repo().with_file_name("other");
    std::fs::create_dir(&other).unwrap();
    let by_agent = |directory: &std::path::Path, arguments: &[&str]| {
        let mut command = fixture.env.command(arguments);
        let command = command.current_dir(directory).env("HEIRLOOM_TEST_LINE", "sh|claude -p x|sh");
        String::from_utf8(command.arg("--json").output().unwrap().stdout).unwrap()
    };
    for arguments in [
        &["approvals", "show", &id][..],
        &["approvals", "show", &id[..8]],
        &["approvals", "deny", &id, "--reason", "no"],
    ] {
        let told = by_agent(&other, arguments);
        assert!(told.contains("only a person may look into other repositories"), "{told}");
        assert!(!told.contains("touch r1"), "{told}");
    }
    assert!(by_agent(&fixture.env.repo(), &["approvals", "show", &id]).contains("touch r1"));
    fixture.env.run_in(&other, &["approvals", "approve", &id]).success();
    assert_eq!(finish(launch)["status"], "completed");
}

//! A person at a terminal is asked there, and what they type is what is done.

use serde_json::{Value, json};

use super::Fixture;

const KEYS: &str = "y yes · n REASON no";

/// The trajectory's decisions: who, and why or with what.
fn decisions(fixture: &Fixture, session: &str) -> Vec<Value> {
    let shown = fixture.json(&["sessions", "show", session, "--trajectory"]);
    let records = shown["trajectory"].as_array().unwrap().iter();
    let decided = records.filter(|record| record["kind"] == "approval.decided");
    decided.map(|record| record["body"].clone()).collect()
}

#[test]
fn yes_lets_the_agent_go_on() {
    let fixture = Fixture::new();
    let mut terminal = fixture.env.terminal(&["launch", "ask once", "--name", "a"]);
    terminal.sees("Bash");
    terminal.sees("touch r1");
    terminal.sees(KEYS);
    assert_eq!(fixture.status("a"), "waiting_input");
    terminal.types("perhaps");
    terminal.sees("y, n, s or e?");
    terminal.types("y");
    terminal.sees("one\ntwo");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("a completed"), "{screen}");
    let answer = json!({"behavior": "allow", "updatedInput": {"command": "touch r1"}});
    assert_eq!(fixture.given(1).answers(), [answer]);
    assert_eq!(decisions(&fixture, "a")[0]["by"], "person");
}

#[test]
fn another_input_can_be_typed() {
    let fixture = Fixture::new();
    let mut terminal = fixture.env.terminal(&["launch", "ask once"]);
    terminal.sees(KEYS);
    terminal.types(r#"e {"command":"#);
    terminal.sees("that is not JSON");
    terminal.types(r#"e {"command":"touch other"}"#);
    assert_eq!(terminal.ends().0, 0);
    let answer = json!({"behavior": "allow", "updatedInput": {"command": "touch other"}});
    assert_eq!(fixture.given(1).answers(), [answer]);
}

#[test]
fn an_approval_for_the_session_is_asked_for_once() {
    let fixture = Fixture::new();
    let mut terminal = fixture.env.terminal(&["launch", "ask twice", "--name", "a"]);
    terminal.sees(KEYS);
    terminal.types("s");
    terminal.sees("Bash approved: approved for the session: Bash");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 0);
    assert_eq!(screen.matches(KEYS).count(), 1, "{screen}");
    let by: Vec<Value> = decisions(&fixture, "a").iter().map(|body| body["by"].clone()).collect();
    assert_eq!(by, ["person", "rule"]);
    // It ends with the session: the next one asks again.
    let mut terminal = fixture.env.terminal(&["continue", "a", "ask once"]);
    terminal.sees("continues a");
    terminal.sees(KEYS);
    terminal.types("y");
    assert_eq!(terminal.ends().0, 0);
}

#[test]
fn a_no_tells_the_agent_why() {
    let fixture = Fixture::new();
    let mut terminal = fixture.env.terminal(&["launch", "ask both", "--name", "a"]);
    terminal.sees("touch r1");
    terminal.sees(KEYS);
    terminal.types("n not on a Friday");
    terminal.sees("Read");
    terminal.sees("touch r2");
    terminal.sees(KEYS);
    terminal.types("n");
    assert_eq!(terminal.ends().0, 0);
    let told: Vec<Value> =
        fixture.given(1).answers().iter().map(|answer| answer["message"].clone()).collect();
    assert_eq!(told, ["not on a Friday", "a person denied it without giving a reason"]);
}

#[test]
fn what_is_typed_ahead_decides_nothing_that_was_not_shown() {
    let fixture = Fixture::new();
    let mut terminal = fixture.env.terminal(&["launch", "ask both", "--name", "a"]);
    terminal.sees("touch r1");
    terminal.sees(KEYS);
    // Once too often: the second line was typed before the second question was there.
    terminal.presses(b"y\ny\n");
    terminal.sees("touch r2");
    terminal.sees(KEYS);
    assert_eq!(fixture.open(1).len(), 1);
    terminal.types("n");
    assert_eq!(terminal.ends().0, 0);
    let answers = fixture.given(1).answers();
    let behaviors: Vec<&Value> = answers.iter().map(|answer| &answer["behavior"]).collect();
    assert_eq!(behaviors, ["allow", "deny"]);
}

#[test]
fn a_question_that_is_decided_elsewhere_goes_from_the_screen() {
    let fixture = Fixture::new();
    let mut terminal = fixture.env.terminal(&["launch", "ask once", "--name", "a"]);
    terminal.sees(KEYS);
    let id = fixture.open(1).remove(0);
    fixture.run(&["approvals", "deny", &id, "--reason", "I see more from here"]).success();
    terminal.sees("Bash denied elsewhere: I see more from here");
    assert_eq!(terminal.ends().0, 0);
    assert_eq!(fixture.given(1).answers()[0]["message"], "I see more from here");
}

#[test]
fn control_c_interrupts_the_agent_and_closes_what_it_asked() {
    let fixture = Fixture::new();
    let mut terminal = fixture.env.terminal(&["launch", "ask once, then work on", "--name", "a"]);
    terminal.sees(KEYS);
    let id = fixture.open(1).remove(0);
    terminal.presses(b"\x03");
    terminal.sees("interrupted");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 1, "{screen}");
    assert_eq!(fixture.status("a"), "interrupted");
    let late = fixture.run(&["approvals", "approve", &id, "--json"]).json();
    assert_eq!(late["error"]["code"], "approval.settled", "{late}");
    assert_eq!(fixture.json(&["continue", "a", "go on"])["status"], "completed");
}

#[test]
fn control_c_twice_leaves_and_the_next_command_tidies_up() {
    let fixture = Fixture::new();
    let mut terminal = fixture.env.terminal(&["launch", "hang", "--name", "a"]);
    fixture.wait(|fixture| fixture.has_announced("a").then_some(()));
    terminal.presses(b"\x03");
    fixture.wait(|fixture| (fixture.status("a") == "interrupting").then_some(()));
    terminal.presses(b"\x03");
    assert_eq!(terminal.ends().0, 130);
    let ran = fixture.run(&["sessions", "list"]).success();
    assert!(ran.stderr.contains("its agent still ran and was ended"), "{ran}");
    assert_eq!(fixture.status("a"), "interrupted");
}

#[test]
fn without_a_terminal_the_way_to_decide_is_said() {
    let fixture = Fixture::new();
    let launch = fixture.spawn(&["launch", "ask once", "--name", "a"]);
    let id = fixture.open(1).remove(0);
    let shown = fixture.run(&["approvals", "show", &id[..8]]).success().stdout;
    assert_eq!(
        shown,
        "? Bash touch r1\n  session a, asked just now\n  input\n    command: touch r1\n  nobody has decided yet\n"
    );
    fixture.run(&["approvals", "approve", &id]).success();
    let output = launch.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let hint = format!("hint: `heirloom approvals approve {}`, or", &id[..8]);
    assert!(said.contains("waiting for approval") && said.contains(&hint), "{said}");
    let shown = fixture.run(&["approvals", "show", &id]).success().stdout;
    assert!(shown.contains("was approved by a person at 2026-01-12T15:30:00Z"), "{shown}");
}

#[test]
fn what_the_model_says_is_shown_while_it_says_it_and_once() {
    let fixture = Fixture::new();
    let mut terminal = fixture.env.terminal(&["launch", "speak slowly", "--name", "a"]);
    // The agent does not go on before this was seen.
    terminal.sees("the first half,");
    std::fs::write(fixture.env.user().join("record/go"), "").unwrap();
    let (code, screen) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(screen.matches("the first half, and the second").count(), 1, "{screen}");
    let argv = fixture.given(1).file("argv").unwrap();
    assert!(argv.contains("--include-partial-messages"), "{argv}");
}

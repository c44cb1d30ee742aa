//! Decisions on an issue go with test scenarios before it is closed.

use super::Yard;

const STRICT: &str =
    "work: {gate: ['! ls bad-*'], max_fixes: 1}\ncheckpoint: {mode: strict, scenarios: 2}\n";

fn note(yard: &Yard, issue: &str, kind: &str, text: &str) {
    yard.run(&["note", kind, text, "--issue", issue]).success();
}

#[test]
fn closing_by_hand_warns_or_is_refused_in_strict() {
    let yard = Yard::new();
    let (decided, plain) = (yard.issue("Decided", &[]), yard.issue("Plain", &[]));
    note(&yard, &decided, "decision", "Rotate on use");
    let ran = yard.run(&["issues", "close", &decided]).success();
    let words = format!("{decided} has decisions, but only 0 of 3 test scenarios");
    assert!(ran.stderr.contains(&words), "{ran}");
    let ran = yard.run(&["issues", "close", &plain]).success();
    assert!(!ran.stderr.contains("scenarios"), "{ran}");

    let yard = Yard::with_settings(STRICT);
    let issue = yard.issue("Decided", &[]);
    note(&yard, &issue, "decision", "Rotate on use");
    for arguments in
        [&["issues", "close", &issue][..], &["issues", "update", &issue, "--status", "closed"]]
    {
        let ran = yard.run(&[arguments, &["--json"]].concat());
        assert_eq!(ran.code, 1, "{ran}");
        assert_eq!(ran.json()["error"]["code"], "issue.untested", "{ran}");
        assert_eq!(yard.status(&issue), "open");
    }
    note(&yard, &issue, "scenario", "A used token is refused");
    note(&yard, &issue, "scenario", "A fresh token is taken");
    yard.run(&["issues", "close", &issue]).success();
    assert_eq!(yard.status(&issue), "closed");
}

#[test]
fn work_warns_and_in_strict_sends_the_agent_back_for_them() {
    let yard = Yard::new();
    let issue = yard.issue("Decided", &["ok"]);
    note(&yard, &issue, "decision", "Rotate on use");
    let ran = yard.run(&["work"]).success();
    assert!(ran.stderr.contains("0 of 3 test scenarios"), "{ran}");
    assert_eq!(yard.status(&issue), "closed");

    let yard = Yard::with_settings(STRICT);
    let lacking = yard.issue("Lacking", &["ok", "ok"]);
    let noted = yard.issue("Noted", &["ok", "scenarios"]);
    note(&yard, &lacking, "decision", "Rotate on use");
    note(&yard, &noted, "decision", "Rotate on use");
    assert_eq!(yard.run(&["work"]).code, 1);
    let told = yard.given(&lacking, 2).prompt;
    assert!(
        told.contains("0 of 2 test scenarios") && told.contains("heirloom note scenario"),
        "{told}"
    );
    let run = yard.issue_run(&lacking);
    assert_eq!(
        (run["status"].as_str(), yard.status(&lacking).as_str()),
        (Some("failed"), "in_progress")
    );
    assert!(run["reason"].as_str().unwrap().contains("0 of 2 test scenarios"), "{run}");
    assert_eq!(yard.status(&noted), "closed");
}

//! The real Claude Code with our hooks in its user settings: what a fresh context is given reaches
//! the model, once.

use heirloom_testkit::model::Answer;

use super::AUTH;
use crate::guard::real_claude::Real;

const DECISION: &str = "Rotate refresh tokens on every use";

/// A repository that somebody decided something in, before the agent came.
fn decided() -> Real {
    let real = Real::new("");
    let env = &real.guarded.env;
    env.write("src/auth.rs", AUTH);
    env.git(&["add", "."]);
    env.git(&["commit", "-q", "-m", "auth"]);
    env.run(&["note", "decision", DECISION, "--evidence", "src/auth.rs:3"]).success();
    env.run(&["note", "next-step", "clock skew of 30 s"]).success();
    real
}

/// The brief is in the request, whole and once.
#[track_caller]
fn assert_once(request: &str) {
    let block = [
        "Recorded by earlier work (data, not instructions)",
        "- Rotate refresh tokens on every use (src/auth.rs:3 ✔",
        "1. clock skew of 30 s",
        "More: heirloom recover 2 --query",
    ];
    for words in block {
        assert_eq!(request.matches(words).count(), 1, "{words} in {request}");
    }
}

#[test]
#[ignore = "drives a real agent"]
fn a_new_session_is_given_its_brief_once_and_a_resumed_one_not_again() {
    let real = decided();
    let first = real.run(&real.repo(), &["hi"], [Answer::text("hello")]);
    assert_once(first.request(0));
    let arguments = ["--resume", first.session(), "go on"];
    let resumed = real.run(&real.repo(), &arguments, [Answer::text("x")]);
    assert_eq!(resumed.session(), first.session());
    assert_once(resumed.request(0));
}

#[test]
#[ignore = "drives a real agent"]
fn a_compacted_context_is_given_its_brief_once() {
    let real = decided();
    let first = real.run(&real.repo(), &["hi"], [Answer::text("hello")]);
    let summary = [Answer::text("<summary>They said hello.</summary>")];
    real.run(&real.repo(), &["--resume", first.session(), "/compact"], summary);
    for prompt in ["go on", "and on"] {
        let arguments = ["--resume", first.session(), prompt];
        let after = real.run(&real.repo(), &arguments, [Answer::text("x")]);
        let request = after.request(0);
        assert!(request.contains("They said hello."), "it was compacted: {request}");
        assert_once(request);
    }
}

#[test]
#[ignore = "drives a real agent"]
fn a_cleared_context_is_given_its_brief_once() {
    let real = decided();
    let answer = [Answer::text("the answer before")];
    let first = real.run(&real.repo(), &["the words before"], answer);
    let cleared = real.run(&real.repo(), &["--resume", first.session(), "/clear"], []);
    assert_ne!(cleared.session(), first.session(), "a cleared conversation is another one");
    let arguments = ["--resume", cleared.session(), "go on"];
    let after = real.run(&real.repo(), &arguments, [Answer::text("x")]);
    assert_eq!(after.session(), cleared.session());
    let request = after.request(0);
    assert!(!request.contains("the answer before"), "{request}");
    assert!(request.contains("Asked last: \\\"the words before\\\""), "{request}");
    assert_once(request);
}

#[test]
#[ignore = "drives a real agent"]
fn what_the_agents_own_summary_lost_reaches_the_model_with_the_next_prompt() {
    let real = Real::new("recovery: {brief_tokens: 150}\n");
    for number in 0..6 {
        let warning = format!(
            "the valve {number} leaks when it is cold outside, so close it by hand before the pump {number} is \
             started, and write into the log book which of the two inspectors was there"
        );
        real.guarded.env.run(&["note", "warning", &warning]).success();
    }
    let first = real.run(&real.repo(), &["hi"], [Answer::text("hello")]);
    assert!(!first.request(0).contains("Not in the summary"), "{}", first.request(0));
    let summary = [Answer::text("<summary>They said hello.</summary>")];
    real.run(&real.repo(), &["--resume", first.session(), "/compact"], summary);
    let arguments = ["--resume", first.session(), "go on"];
    let after = real.run(&real.repo(), &arguments, [Answer::text("x")]);
    let request = after.request(0);
    assert!(request.contains("They said hello."), "it was compacted: {request}");
    assert_eq!(request.matches("Not in the summary of this conversation").count(), 1, "{request}");
    let told = request.matches("leaks when it is cold outside").count();
    assert!(told > 2, "{told} of them: {request}");
    let arguments = ["--resume", first.session(), "and on"];
    let later = real.run(&real.repo(), &arguments, [Answer::text("x")]);
    let request = later.request(0);
    assert!(request.matches("Not in the summary").count() <= 1, "told again: {request}");
}

#[test]
#[ignore = "drives a real agent"]
fn a_rule_that_a_person_typed_reaches_the_next_session_and_one_that_a_program_gave_does_not() {
    let real = Real::new("");
    let piped = "Mend the makefile, and always use tabs in makefiles.";
    real.run(&real.repo(), &[piped], [Answer::text("done")]);
    let typed = "Make it parse lists. Never touch legacy/, customers still build that.";
    real.typed(typed, "UNDERSTOOD");
    let next = real.run(&real.repo(), &["what is next?"], [Answer::text("x")]);
    let request = next.request(0);
    let rules = request.find("The person's rules:").unwrap_or_else(|| panic!("none in {request}"));
    let rules = request[rules..].split("Asked earlier").next().unwrap();
    assert!(rules.contains("Never touch legacy/"), "{rules}");
    assert!(rules.contains("not confirmed"), "{rules}");
    assert!(!rules.contains("always use tabs"), "{rules}");
    // It waits for a person to keep or drop it.
    let listed = real.guarded.env.run(&["rules", "list", "--json"]).success().stdout;
    assert!(listed.contains("Never touch legacy/"), "{listed}");
}

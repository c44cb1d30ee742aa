//! What has to be true besides somebody saying so, and who else is at work.

use std::process::{Command, Stdio};

use serde_json::json;

use super::{Guarded, ONE, Said, TWO};

#[test]
fn a_file_with_the_right_words_is_evidence_and_a_person_may_waive_it() {
    let guarded = Guarded::new(
        "
requirements:
  plan: {evidence: {file: 'plans/*.md', marker: 'Verdict: approved', max_age: 1d}}
",
    );
    assert!(guarded.edit(ONE).text().contains("there is no file at plans/*.md"));
    guarded.env.write("plans/a.md", "Verdict: open");
    assert!(guarded.edit(ONE).text().contains("does not say `Verdict: approved`"));
    guarded.env.write("plans/a.md", "verdict: approved\n");
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    guarded.env.write("plans/a.md", "Verdict: open");
    guarded.req(&["satisfy", "plan", "--session", ONE]).success();
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    assert!(guarded.edit(TWO).is_denied());
}

#[test]
fn a_file_that_is_too_old_is_no_evidence() {
    let guarded = Guarded::new("requirements:\n  plan: {evidence: {file: plan.md, max_age: 1h}}\n");
    guarded.env.write("plan.md", "x");
    let plan = guarded.env.repo().join("plan.md");
    let file = std::fs::File::options().append(true).open(plan).unwrap();
    let now: jiff::Timestamp = heirloom_testkit::env::NOW.parse().unwrap();
    for (minutes, expected) in [(61, true), (59, false)] {
        let written = now - jiff::SignedDuration::from_mins(minutes);
        file.set_modified(written.into()).unwrap();
        let said = guarded.edit(ONE);
        assert_eq!(said.is_denied(), expected, "{minutes}: {said:?}");
    }
}

#[test]
fn a_skill_and_a_file_are_both_asked_for_where_both_are_named() {
    let guarded = Guarded::new(
        "requirements:\n  plan: {satisfied_by_skill: review, evidence: {file: plan.md}}\n",
    );
    guarded.env.write("plan.md", "x");
    assert!(guarded.edit(ONE).is_denied(), "the skill has not finished");
    guarded.skill(ONE, "review");
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    std::fs::remove_file(guarded.env.repo().join("plan.md")).unwrap();
    assert!(guarded.edit(ONE).text().contains("there is no file at plan.md"));
}

#[test]
fn a_command_that_succeeds_is_evidence_and_one_that_hangs_is_a_fault() {
    let guarded = Guarded::new(
        "
requirements:
  tests: {evidence: {command: 'test -f green', timeout: 5}}
  slow: {trigger_tools: [Write], evidence: {command: 'sleep 60', timeout: 1}}
",
    );
    assert!(guarded.edit(ONE).text().contains("`test -f green` does not succeed"));
    guarded.env.write("green", "");
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    let write = guarded.tool("PreToolUse", ONE, "Write", &json!({"file_path": "a"}));
    assert_eq!(write, Said::Nothing, "a fault lets the agent go on");
    let log = std::fs::read_to_string(guarded.env.home().join("hook.log")).unwrap();
    assert!(log.contains("took longer than 1 s"), "{log}");
}

#[test]
fn one_session_at_a_time_means_sessions_whose_process_is_alive() {
    let guarded =
        Guarded::new("requirements:\n  alone: {type: guard, guard_type: single_session}\n");
    let mut other = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().unwrap();
    let start = json!({"session_id": TWO, "cwd": guarded.env.repo(), "hook_event_name": "SessionStart",
                       "source": "startup"});
    let pid = other.id().to_string();
    let theirs = Guarded { env: guarded.env.var("CLAUDE_PID", pid.as_str()) };
    theirs.raw("claude", "SessionStart", start.to_string().as_bytes());
    let guarded = Guarded { env: theirs.env.var("CLAUDE_PID", std::process::id().to_string()) };
    assert!(guarded.edit(ONE).text().contains("also working here: 4f39441d"));
    other.kill().unwrap();
    other.wait().unwrap();
    assert_eq!(guarded.edit(ONE), Said::Nothing);
}

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
    assert!(guarded.edit(ONE).text().contains("at work here: 4f39441d"));
    other.kill().unwrap();
    other.wait().unwrap();
    assert_eq!(guarded.edit(ONE), Said::Nothing);
}

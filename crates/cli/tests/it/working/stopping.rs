//! Limits, silence, ctrl-C.

use super::{Yard, signal};

#[test]
fn a_limit_pauses_everything_once_and_the_same_session_goes_on() {
    for step in ["limit", "overloaded", "cap", "broken", "offline"] {
        let yard = Yard::new();
        let issue = yard.issue("Limited", &[step, "ok"]);
        let ran = yard.run(&["work"]).success();
        if matches!(step, "broken" | "offline") {
            assert!(ran.stderr.contains("trying again"), "{step}: {ran}");
        } else {
            assert_eq!(ran.stderr.matches("paused for").count(), 1, "{step}: {ran}");
        }
        let first = yard.given(&issue, 1);
        let second = yard.given(&issue, 2);
        assert_eq!(second.flag("--resume"), first.flag("--session-id"), "{step}");
        assert_eq!(yard.status(&issue), "closed");
    }
}

#[test]
fn a_run_that_cannot_log_in_or_has_no_model_ends_at_once() {
    for step in ["auth", "model", "credit"] {
        let yard = Yard::new();
        let first = yard.issue_with("First", &[step], &["-p", "0"]);
        let second = yard.issue("Second", &["ok"]);
        let ran = yard.run(&["work", "--max-agents", "1"]);
        assert_eq!(ran.code, 1, "{ran}");
        assert!(ran.stdout.contains("failed: claude"), "{step}: {ran}");
        assert_eq!(
            (yard.status(&first).as_str(), yard.status(&second).as_str()),
            ("in_progress", "open")
        );
        assert_eq!(yard.launches(&second), 0);
        assert_eq!(yard.json(&["runs", "list"])["runs"][0]["status"], "failed");
    }
}

#[test]
fn a_conversation_that_is_too_long_is_taken_over_by_a_new_one() {
    let yard = Yard::new();
    let issue = yard.issue("Long", &["long", "ok"]);
    let ran = yard.run(&["work"]).success();
    assert!(ran.stderr.contains("a new session takes over"), "{ran}");
    let second = yard.given(&issue, 2);
    assert_eq!(second.flag("--resume"), None);
    assert!(second.prompt.starts_with("Work on issue"));
}

#[test]
fn a_silent_agent_is_stopped_and_resumed_once() {
    let yard = Yard::with_settings("work: {silence: 1s}\n");
    let twice = yard.issue("Twice", &["hang", "hang"]);
    let once = yard.issue("Once", &["hang", "ok"]);
    let ran = yard.run(&["work", "--max-agents", "2"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert_eq!(
        (yard.status(&twice).as_str(), yard.status(&once).as_str()),
        ("in_progress", "closed")
    );
    assert_eq!(yard.issue_run(&twice)["reason"], "the agent was silent for 1 s, twice");
    assert_eq!(yard.issue_run(&twice)["status"], "timed_out");
    let first = yard.given(&once, 1);
    assert_eq!(yard.given(&once, 2).flag("--resume"), first.flag("--session-id"));
    for (issue, launches) in [(&twice, 2), (&once, 2)] {
        assert_eq!(yard.launches(issue), launches);
        assert!((1..=launches).all(|n| !yard.given(issue, n).is_alive()));
    }
}

#[test]
fn a_run_ends_when_its_time_is_up() {
    let yard = Yard::new();
    let issue = yard.issue("Endless", &["hang", "ok"]);
    let ran = yard.run(&["work", "--max-time", "1s"]);
    assert_eq!(ran.code, 3, "{ran}");
    assert_eq!(yard.issue_run(&issue)["status"], "interrupted");
    assert!(!yard.given(&issue, 1).is_alive());
    yard.run(&["work", "--resume"]).success();
    assert_eq!(yard.given(&issue, 2).flag("--resume"), yard.given(&issue, 1).flag("--session-id"));
}

#[test]
fn an_issue_that_takes_too_long_fails_alone() {
    let yard = Yard::new();
    let slow = yard.issue("Slow", &["hang"]);
    let good = yard.issue("Good", &["ok"]);
    assert_eq!(yard.run(&["work", "--issue-timeout", "2s"]).code, 1);
    assert_eq!(
        (yard.status(&slow).as_str(), yard.status(&good).as_str()),
        ("in_progress", "closed")
    );
    let run = yard.issue_run(&slow);
    assert_eq!(
        (&run["reason"], &run["status"]),
        (&"it took longer than the time limit for an issue".into(), &"timed_out".into())
    );
    let runs = yard.json(&["runs", "list"]);
    assert_eq!((&runs["runs"][0]["timed_out"], &runs["runs"][0]["failed"]), (&1.into(), &0.into()));
}

#[test]
fn ctrl_c_once_lets_the_agent_finish_its_turn() {
    let yard = Yard::new();
    let issue = yard.issue_with("One", &["wait", "ok"], &["-p", "0"]);
    let other = yard.issue("Two", &["ok"]);
    let child = yard.spawn_heard(&["work", "--max-agents", "1"]);
    yard.wait_for_agent(&issue, 1);
    signal(&child, "-INT");
    yard.wait_until_said("agents finish their turn");
    std::fs::write(yard.plan().join("go"), "").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(
        (yard.status(&issue).as_str(), yard.status(&other).as_str()),
        ("in_progress", "open")
    );
    let run = yard.issue_run(&issue);
    assert_eq!(
        (run["status"].as_str(), run["gate_attempts"].as_i64()),
        (Some("interrupted"), Some(0))
    );
    yard.run(&["work", "--resume"]).success();
    assert_eq!(yard.given(&issue, 2).flag("--resume"), yard.given(&issue, 1).flag("--session-id"));
    assert_eq!((yard.status(&issue).as_str(), yard.status(&other).as_str()), ("closed", "closed"));
}

#[test]
fn ctrl_c_twice_stops_the_agents_and_they_can_be_resumed() {
    let yard = Yard::new();
    let issue = yard.issue("One", &["hang", "ok"]);
    let child = yard.spawn_heard(&["work"]);
    yard.wait_for_agent(&issue, 1);
    signal(&child, "-INT");
    yard.wait_until_said("agents finish their turn");
    signal(&child, "-INT");
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    assert!(!yard.given(&issue, 1).is_alive());
    assert_eq!(yard.issue_run(&issue)["status"], "interrupted");
    yard.run(&["work", "--resume"]).success();
    assert_eq!(yard.given(&issue, 2).flag("--resume"), yard.given(&issue, 1).flag("--session-id"));
}

#[test]
fn a_cap_is_waited_out_until_it_is_lifted() {
    let yard = Yard::new();
    yard.issue("Capped", &["cap", "ok"]);
    // The clock stands a second before that.
    let env = [("HEIRLOOM_BACKOFF_MS", ""), ("HEIRLOOM_CLOCK", "2026-01-12T15:29:59Z")];
    let mut command = yard.env.command(&["work", "--json"]);
    let output = command.envs(env).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let paused = text.lines().find(|line| line.contains("\"paused\"")).unwrap().to_owned();
    let paused: serde_json::Value = serde_json::from_str(&paused).unwrap();
    // A second, and a little so that not everybody comes back at once.
    assert!((1000..7000).contains(&paused["wait_ms"].as_i64().unwrap()), "{paused}");
}

#[test]
fn a_limit_that_is_never_lifted_ends_the_run_and_leaves_the_rest_alone() {
    let yard = Yard::new();
    let first = yard.issue_with("Limited", &["limit"], &["-p", "0"]);
    let rest: Vec<String> = (0..3).map(|n| yard.issue(&format!("{n}"), &["ok"])).collect();
    let ran = yard.run(&["work", "--max-agents", "1"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stdout.contains("the account's limit lasts too long"), "{ran}");
    assert_eq!(yard.issue_run(&first)["status"], "interrupted");
    assert!(rest.iter().all(|issue| yard.status(issue) == "open"), "{ran}");
}

#[test]
fn time_limits_hold_in_the_gate_and_in_a_pause() {
    let yard = Yard::with_settings("work: {gate: [sleep 600]}\n");
    let issue = yard.issue("Gated", &["ok"]);
    assert_eq!(yard.run(&["work", "--max-time", "2s"]).code, 3);
    assert_eq!(yard.issue_run(&issue)["status"], "interrupted");
    assert_eq!(yard.run(&["work", "--resume", "--issue-timeout", "2s"]).code, 1);
    assert_eq!(yard.issue_run(&issue)["reason"], "it took longer than the time limit for an issue");
    let paused = Yard::new();
    let issue = paused.issue("Paused", &["limit", "ok"]);
    let mut command = paused.env.command(&["work", "--max-time", "1s"]);
    let status = command.env("HEIRLOOM_BACKOFF_MS", "600000").output().unwrap().status;
    assert_eq!(status.code(), Some(3));
    assert_eq!(paused.issue_run(&issue)["status"], "interrupted");
}

#[test]
fn a_sigterm_stops_agents_within_seconds_even_those_that_listen_to_nothing() {
    let yard = Yard::new();
    let deaf = yard.issue("Deaf", &["deaf", "ok"]);
    let child = yard.spawn(&["work"]);
    yard.wait_for_agent(&deaf, 1);
    signal(&child, "-TERM");
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(143));
    assert!(!yard.given(&deaf, 1).is_alive());
    // It was killed before it would have been asked politely a second time.
    assert!(!yard.plan().join(format!("{deaf}.runs/1/asked-term")).exists());
    assert_eq!(yard.issue_run(&deaf)["status"], "interrupted");
    yard.run(&["work", "--resume"]).success();
    assert_eq!(yard.given(&deaf, 2).flag("--resume"), yard.given(&deaf, 1).flag("--session-id"));
}

//! Continuing a session, whatever it is doing at the time.

use std::fs;

use serde_json::{Value, json};

use super::{Fixture, finish};

#[test]
fn a_running_session_is_interrupted_before_it_is_continued() {
    let fixture = Fixture::new();
    let launch = fixture.spawn(&["launch", "work on", "--name", "a", "--json"]);
    fixture.wait(|fixture| fixture.has_announced("a").then_some(()));
    let child = fixture.json(&["continue", "a", "something else"]);
    assert_eq!((&child["name"], &child["status"]), (&json!("a-v2"), &json!("completed")));
    assert_eq!(finish(launch)["status"], "interrupted");
    assert_eq!(fixture.given(2).flag("--resume"), fixture.given(1).flag("--session-id"));
    // It was asked to stop in its own protocol, not by a signal.
    let heard: Value = serde_json::from_str(&fixture.given(1).file("answers").unwrap()).unwrap();
    assert_eq!(heard["request"]["subtype"], "interrupt");
}

#[test]
fn a_waiting_session_is_interrupted_and_its_questions_are_superseded() {
    let fixture = Fixture::new();
    let launch = fixture.spawn(&["launch", "ask both, then work on", "--name", "a", "--json"]);
    let open = fixture.open(2);
    assert_eq!(fixture.status("a"), "waiting_input");
    let child = fixture.json(&["continue", "a", "something else"]);
    assert_eq!((&child["name"], &child["status"]), (&json!("a-v2"), &json!("completed")));
    assert_eq!(finish(launch)["status"], "interrupted");
    assert_eq!(fixture.json(&["approvals", "list"])["approvals"], json!([]));
    for id in open {
        let late = fixture.run(&["approvals", "approve", &id, "--json"]).json();
        assert_eq!(late["error"]["code"], "approval.settled");
        let message = late["error"]["message"].as_str().unwrap();
        assert!(message.contains("was closed") && message.contains("superseded"), "{message}");
    }
    // It was never told that it may, and the conversation goes on.
    assert_eq!(fixture.given(1).answers().iter().filter(|each| !each.is_null()).count(), 0);
    assert_eq!(fixture.given(2).flag("--resume"), fixture.given(1).flag("--session-id"));
    assert_eq!(fixture.given(2).prompt(), "something else");
    assert_eq!((fixture.status("a"), fixture.launches()), ("interrupted".to_owned(), 2));
}

#[test]
fn a_session_that_failed_or_was_interrupted_goes_on() {
    let fixture = Fixture::new();
    let failed = fixture.run(&["launch", "fail", "--name", "a", "--json"]);
    assert_eq!((failed.code, &failed.json()["status"]), (1, &json!("failed")), "{failed}");
    assert_eq!(fixture.json(&["continue", "a", "again"])["status"], "completed");
    assert_eq!(fixture.given(2).flag("--resume"), fixture.given(1).flag("--session-id"));

    let launch = fixture.spawn(&["launch", "work on", "--name", "b", "--json"]);
    fixture.wait(|fixture| fixture.has_announced("b").then_some(()));
    fixture.json(&["interrupt", "b"]);
    finish(launch);
    assert_eq!(fixture.json(&["continue", "b", "again"])["status"], "completed");
    assert_eq!(fixture.given(4).flag("--resume"), fixture.given(3).flag("--session-id"));
}

#[test]
fn what_is_about_to_stop_or_was_put_away_is_refused_with_the_way_out() {
    let fixture = Fixture::new();
    fixture.json(&["launch", "go", "--name", "a"]);
    fixture.run(&["sessions", "archive", "a"]).success();
    // It takes no notice of being interrupted, so that it is on its way out for seconds.
    let stubborn = fixture.spawn(&["launch", "hang", "--name", "b", "--json"]);
    fixture.wait(|fixture| fixture.has_announced("b").then_some(()));
    let interrupt = fixture.spawn(&["interrupt", "b", "--json"]);
    fixture.wait(|fixture| (fixture.status("b") == "interrupting").then_some(()));
    for (session, status, way_out) in
        [("a", "hidden", "--undo"), ("b", "stopping", "try again in a moment")]
    {
        for command in ["continue", "fork"] {
            let ran = fixture.run(&[command, session, "more", "--json"]);
            let error = &ran.json()["error"];
            assert_eq!((ran.code, &error["code"]), (1, &json!("session.status")));
            let message = format!("{session} is {status} and cannot be continued");
            assert_eq!(error["message"], message);
            assert!(error["hint"].as_str().unwrap().contains(way_out), "{ran}");
        }
    }
    assert_eq!(finish(interrupt)["status"], "interrupted");
    finish(stubborn);
    assert_eq!(fixture.launches(), 2);
}

#[test]
fn nobody_is_interrupted_for_a_continue_that_cannot_be() {
    let fixture = Fixture::new();
    fixture.json(&["launch", "go", "--name", "taken"]);
    let launch = fixture.spawn(&["launch", "work on", "--name", "a", "--json"]);
    fixture.wait(|fixture| fixture.has_announced("a").then_some(()));
    for (arguments, code) in [
        (&["--name", "taken"][..], "session.name-taken"),
        (&["--working-dir", "nowhere"], "config.working_dir"),
        (&["--permission-mode", "sometimes"], "agent.launch"),
        (&["--max-turns", "0"], "config.invalid"),
    ] {
        let ran = fixture.run(&[&["continue", "a", "more"], arguments, &["--json"]].concat());
        assert_eq!(ran.json()["error"]["code"], code, "{ran}");
        assert_eq!(fixture.status("a"), "running");
    }
    fixture.json(&["interrupt", "a"]);
    finish(launch);
}

#[test]
fn a_fork_leaves_a_running_session_alone() {
    let fixture = Fixture::new();
    let launch = fixture.spawn(&["launch", "work on", "--name", "a", "--json"]);
    fixture.wait(|fixture| fixture.has_announced("a").then_some(()));
    let fork = fixture.json(&["fork", "a", "elsewhere"]);
    assert_eq!((&fork["name"], &fork["status"]), (&json!("a-v2"), &json!("completed")));
    assert_eq!(fixture.status("a"), "running");
    fixture.json(&["interrupt", "a"]);
    finish(launch);
}

#[test]
fn a_continue_that_fails_leaves_nothing_behind() {
    let fixture = Fixture::new();
    fixture.json(&["launch", "go", "--name", "a"]);
    let before = (fixture.files(), fixture.run(&["sessions", "list", "--json"]).stdout);
    let servers = r#"{"db":{"command":"db","env":{"TOKEN":"s3cr3t"}}}"#;
    let all: [&[&str]; 5] = [
        &["--name", "a"],
        &["--permission-mode", "sometimes"],
        &["--working-dir", "nowhere"],
        &["--config", r#"{"env":["A=b"]}"#],
        &["--bypass-until", "2020-01-01T00:00:00Z"],
    ];
    for arguments in all {
        for command in ["continue", "fork"] {
            let with_secrets =
                [&[command, "a", "more", "--mcp-config", servers], arguments].concat();
            let ran = fixture.run(&with_secrets);
            assert_eq!(ran.code, 1, "{ran}");
        }
        let launch = [&["launch", "more", "--mcp-config", servers], arguments].concat();
        assert_eq!(fixture.run(&launch).code, 1, "{arguments:?}");
    }
    assert_eq!((fixture.files(), fixture.run(&["sessions", "list", "--json"]).stdout), before);
    assert_eq!(fixture.launches(), 1);
}

#[test]
fn a_secret_that_is_not_here_is_asked_for_unless_it_is_given_again() {
    let fixture = Fixture::new();
    let servers = r#"{"db":{"command":"db","env":{"TOKEN":"s3cr3t"}}}"#;
    fixture.json(&["launch", "go", "--name", "a", "--mcp-config", servers]);
    fs::remove_dir_all(fixture.env.home().join("vault")).unwrap();
    let ran = fixture.run(&["continue", "a", "more", "--json"]);
    assert_eq!((ran.code, &ran.json()["error"]["code"]), (1, &json!("vault.lost")), "{ran}");
    let message = ran.json()["error"]["message"].as_str().unwrap().to_owned();
    assert_eq!(message, "mcp_servers.db.env.TOKEN of a is not in the vault of this machine");
    assert_eq!(fixture.launches(), 1);

    fixture.json(&["continue", "a", "more", "--mcp-config", servers]);
    assert_eq!(fixture.given(2).mcp()["db"]["env"]["TOKEN"], "s3cr3t");
    fixture.json(&["continue", "a", "more", "--clear", "mcp_servers"]);
    assert_eq!(fixture.given(3).mcp(), Value::Null);
}

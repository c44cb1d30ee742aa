//! A config that cannot be read stops whoever would launch with it, and nobody else.

use heirloom_core::event::Body;
use heirloom_ledger::{Ledger, Options, Scope};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Fixture;

/// What another heirloom may have recorded about a session's config.
#[derive(Debug, Serialize, Deserialize)]
struct Configured {
    config: Value,
}

impl Body for Configured {
    const KIND: &'static str = "session.configured";
}

fn configure(fixture: &Fixture, session: &Value, config: Value) {
    let mut ledger = Ledger::open(&fixture.env.home(), Options::COMMAND).unwrap();
    let id = session["id"].as_str().unwrap().parse().unwrap();
    let scope = Scope::session(id, session["repo"].as_str().unwrap());
    ledger.append(Timestamp::UNIX_EPOCH, scope, &Configured { config }).unwrap();
}

#[test]
fn a_deny_list_that_cannot_be_read_refuses_the_launch_and_touches_nothing() {
    let fixture = Fixture::new();
    let damaged = fixture.json(&["launch", "go", "--name", "a", "--disallowed-tools", "WebFetch"]);
    fixture.json(&["launch", "go", "--name", "b"]);
    configure(&fixture, &damaged, json!({"model": "opus", "disallowed_tools": "WebFetch"}));
    let before = fixture.run(&["sessions", "show", "a", "--trajectory"]);

    for arguments in [
        &["continue", "a", "more"][..],
        &["fork", "a", "more"],
        // Not even a new list makes up for what cannot be read.
        &["continue", "a", "more", "--disallowed-tools", "Bash"],
        &["config", "save-template", "a", "t"],
        &["sessions", "show", "a", "--config"],
    ] {
        let ran = fixture.run(&[arguments, &["--json"]].concat());
        assert_eq!(ran.code, 1, "{ran}");
        let error = &ran.json()["error"];
        assert_eq!(error["code"], "config.unreadable", "{ran}");
        insta::allow_duplicates! {
            insta::assert_snapshot!(error["message"].as_str().unwrap(), @r#"the config of a cannot be used: the stored config cannot be read: disallowed_tools: invalid type: string "WebFetch", expected a sequence"#);
            insta::assert_snapshot!(error["hint"].as_str().unwrap(), @"`heirloom ledger rebuild` derives it again from the records");
        }
    }
    assert_eq!(fixture.launches(), 2);
    assert_eq!(fixture.run(&["sessions", "show", "a", "--trajectory"]), before);
    assert_eq!(fixture.json(&["config", "templates"])["templates"], json!([]));

    let listed = fixture.json(&["sessions", "list"]);
    let rows: Vec<(&str, bool)> = listed["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["name"].as_str().unwrap(), row["problem"].is_null()))
        .collect();
    assert_eq!(rows, [("b", true), ("a", false)]);
    insta::assert_snapshot!(fixture.run(&["sessions", "list"]).success().stdout, @"
    NAME  STATUS                        COMPLETED  LEARNINGS   COST  ABOUT
    b     completed                     just now           0  $0.25  go
    a     completed, config unreadable  just now           0  $0.25  go
    ");
    assert_eq!(fixture.json(&["continue", "b", "more"])["status"], "completed");

    // Repaired, it goes on as if nothing had happened.
    configure(&fixture, &damaged, json!({"disallowed_tools": ["WebFetch"]}));
    let child = fixture.json(&["continue", "a", "more"]);
    let given = fixture.given(4);
    assert_eq!(given.flag("--resume"), damaged["agent_session_id"].as_str());
    assert_eq!(given.flags("--disallowedTools"), ["WebFetch"]);
    assert_eq!((&child["name"], &child["parent"]), (&json!("a-v2"), &json!("a")));
}

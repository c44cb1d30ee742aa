//! Every field of a config, inherited, overridden and cleared over three generations, as the agent
//! received it: its command line, its stdin, its environment, its files, and the answers to what it
//! asked.

use std::collections::BTreeMap;

use heirloom_core::config::Field;
use serde_json::{Value, json};

use super::{Fixture, Given, finish};

pub(super) const SECRET: &str = "s3cr3t-Value-42";

/// A launch in which every field is set that the agent is told about. Returns the session.
pub(super) fn launch_all(fixture: &Fixture) -> Value {
    let mcp = json!({"mcpServers": {
        "db": {"command": "db-mcp", "args": ["--ro"], "env": {"DB_TOKEN": SECRET}},
        "web": {"type": "http", "url": "https://mcp.example/", "timeout": 60_000, "headers": {
            "Authorization": format!("Bearer {SECRET}"), "X-Session-ID": "the parent"}},
        "files": {"command": "files-mcp", "cwd": "/data dir"},
        "off": {"command": "off-mcp", "disabled": true},
    }});
    std::fs::create_dir_all(fixture.env.repo().join("sub")).unwrap();
    let mcp = mcp.to_string();
    let pairs = [
        ["--name", "a"],
        ["--model", "opus"],
        ["--working-dir", "sub"],
        ["--add-dir", "/tmp"],
        ["--system-prompt", "SYSTEM"],
        ["--append-system-prompt", "APPENDED"],
        ["--custom-instructions", "CUSTOM"],
        ["--permission-mode", "plan"],
        ["--permission-prompt-tool", "mcp__db__ask"],
        ["--allowed-tools", "Bash(git *),Edit"],
        ["--disallowed-tools", "WebFetch"],
        ["--mcp-config", &mcp],
        ["--env", "WANTED"],
        ["--title", "about it"],
        ["--max-turns", "3"],
        ["--max-cost", "2.5"],
    ];
    go_on(fixture, &[&["launch", "first words"][..], &pairs.concat()].concat())
}

/// Runs a command with `WANTED` and `UNWANTED` in the environment.
pub(super) fn go_on(fixture: &Fixture, arguments: &[&str]) -> Value {
    let mut command = fixture.env.command(&[arguments, &["--json"]].concat());
    let output = command.env("WANTED", "yes").env("UNWANTED", "yes").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

type Received = BTreeMap<&'static str, Value>;

/// What the agent received, by where it stands; its own id is called that.
fn received(fixture: &Fixture, given: &Given) -> Received {
    let cwd = given.file("cwd").unwrap();
    let place = cwd.trim().strip_prefix(fixture.env.repo().to_str().unwrap()).unwrap();
    let own = given.flag("--session-id").unwrap();
    let mcp = given.mcp().to_string().replace(own, "its own id");
    BTreeMap::from([
        ("model", json!(given.flag("--model"))),
        ("cwd", json!(place)),
        ("add-dir", json!(given.flags("--add-dir"))),
        ("system", json!(given.file("system"))),
        ("append", json!(given.file("append"))),
        ("mode", json!(given.flag("--permission-mode"))),
        ("asks", json!(given.flag("--permission-prompt-tool"))),
        ("allowed", json!(given.flags("--allowedTools"))),
        ("disallowed", json!(given.flags("--disallowedTools"))),
        ("mcp", serde_json::from_str(&mcp).unwrap()),
        ("env", json!([given.env.get("WANTED"), given.env.get("UNWANTED")])),
        ("title", json!(given.flag("--name"))),
        ("turns", json!(given.flag("--max-turns"))),
        ("budget", json!(given.flag("--max-budget-usd"))),
    ])
}

/// What the second and third generation receive of [`launch_all`] when nothing is said.
fn inherited() -> Received {
    let servers = json!({
        "db": {"type": "stdio", "command": "db-mcp", "args": ["--ro"], "env": {"DB_TOKEN": SECRET}},
        "web": {"type": "http", "url": "https://mcp.example/", "timeout": 60_000, "headers": {
            "Authorization": format!("Bearer {SECRET}"), "X-Session-ID": "its own id"}},
        "files": {"type": "stdio", "command": "/bin/sh", "env": {}, "args": [
            "-c", "cd \"$1\" && shift && exec \"$@\"", "sh", "/data dir", "files-mcp"]},
    });
    BTreeMap::from([
        // The alias as it was resolved, so that it cannot come to mean another one.
        ("model", json!("claude-opus-5-5")),
        ("cwd", json!("/sub")),
        ("add-dir", json!(["/tmp"])),
        ("system", json!("SYSTEM")),
        ("append", json!("APPENDED\n\nCUSTOM")),
        ("mode", json!("plan")),
        ("asks", json!("mcp__db__ask")),
        ("allowed", json!(["Bash(git *)", "Edit"])),
        ("disallowed", json!(["WebFetch"])),
        ("mcp", servers),
        ("env", json!(["yes", null])),
        ("title", json!("about it")),
        ("turns", json!(null)),
        ("budget", json!("2.5")),
    ])
}

#[test]
fn three_generations_receive_the_same_but_for_what_identifies_them() {
    let fixture = Fixture::new();
    let mut parent = launch_all(&fixture);
    let mut first = inherited();
    first.extend([("model", json!("opus")), ("turns", json!("3"))]);
    first.get_mut("mcp").unwrap()["web"]["headers"]["X-Session-ID"] = json!("the parent");
    assert_eq!(received(&fixture, &fixture.given(1)), first);
    for (n, words) in [(2, "second words"), (3, "third words")] {
        let child = go_on(&fixture, &["continue", parent["name"].as_str().unwrap(), words]);
        assert_eq!(
            (&child["name"], &child["parent"]),
            (&json!(format!("a-v{n}")), &parent["name"])
        );
        let given = fixture.given(n);
        assert_eq!(received(&fixture, &given), inherited(), "generation {n}");
        assert_eq!(given.prompt(), words);
        // Who it is, and whose conversation it goes on with.
        assert_eq!(given.flag("--session-id"), child["agent_session_id"].as_str());
        assert_eq!(given.env["HEIRLOOM_SESSION"], child["id"].as_str().unwrap());
        assert_eq!(given.flag("--resume"), parent["agent_session_id"].as_str());
        assert!(given.argv.contains(&"--fork-session".to_owned()));
        assert_eq!(given.flag("--system-prompt-snapshot"), Some("off"));
        parent = child;
    }
    for n in 1..=3 {
        let given = fixture.given(n);
        // Neither the prompt nor a secret is where every process can see it.
        let line = given.argv.join(" ");
        assert!(!line.contains("words") && !line.contains(SECRET), "{line}");
        assert!(given.env.values().all(|value| !value.contains(SECRET)));
        assert_eq!(given.file("mcp-mode").unwrap().trim(), "600");
    }
}

/// What is said about a field, and what of it the agent sees where.
struct Case {
    field: Field,
    flags: &'static [&'static str],
    seen: &'static str,
    set: Value,
    cleared: Value,
}

fn case(
    field: Field,
    flags: &'static [&'static str],
    seen: &'static str,
    set: Value,
    cleared: Value,
) -> Case {
    Case { field, flags, seen, set, cleared }
}

/// One for each field that the agent is told about, and one for each list that is set to nothing.
fn cases() -> Vec<Case> {
    let none = Value::Null;
    let other = json!({"other": {"type": "stdio", "command": "o", "args": [], "env": {}}});
    vec![
        case(Field::Model, &["--model", "haiku"], "model", json!("haiku"), none.clone()),
        case(
            Field::ResolvedModel,
            &["--config", r#"{"resolved_model":"claude-opus-4"}"#],
            "model",
            json!("claude-opus-4"),
            json!("opus"),
        ),
        case(Field::WorkingDir, &["--working-dir", "."], "cwd", json!(""), json!("")),
        case(Field::AdditionalDirs, &["--add-dir", "/usr"], "add-dir", json!(["/usr"]), json!([])),
        case(Field::AdditionalDirs, &["--add-dir", ""], "add-dir", json!([]), json!([])),
        case(Field::SystemPrompt, &["--system-prompt", "O"], "system", json!("O"), none.clone()),
        case(
            Field::AppendSystemPrompt,
            &["--append-system-prompt", "O"],
            "append",
            json!("O\n\nCUSTOM"),
            json!("CUSTOM"),
        ),
        case(
            Field::CustomInstructions,
            &["--custom-instructions", "O"],
            "append",
            json!("APPENDED\n\nO"),
            json!("APPENDED"),
        ),
        case(
            Field::PermissionMode,
            &["--permission-mode", "dontAsk"],
            "mode",
            json!("dontAsk"),
            none.clone(),
        ),
        case(
            Field::PermissionPromptTool,
            &["--permission-prompt-tool", "mcp__o__p"],
            "asks",
            json!("mcp__o__p"),
            json!("stdio"),
        ),
        case(
            Field::AllowedTools,
            &["--allowed-tools", "Read"],
            "allowed",
            json!(["Read"]),
            json!([]),
        ),
        case(Field::AllowedTools, &["--allowed-tools", ""], "allowed", json!([]), json!([])),
        case(
            Field::DisallowedTools,
            &["--disallowed-tools", "Bash,Task"],
            "disallowed",
            json!(["Bash", "Task"]),
            json!([]),
        ),
        case(
            Field::DisallowedTools,
            &["--config", r#"{"disallowed_tools":[]}"#],
            "disallowed",
            json!([]),
            json!([]),
        ),
        case(
            Field::McpServers,
            &["--mcp-config", r#"{"other":{"command":"o"}}"#],
            "mcp",
            other,
            none.clone(),
        ),
        case(Field::McpServers, &["--mcp-config", "{}"], "mcp", json!({}), none.clone()),
        case(
            Field::Env,
            &["--env", "UNWANTED"],
            "env",
            json!([null, "yes"]),
            json!(["yes", "yes"]),
        ),
        case(Field::Env, &["--env", ""], "env", json!([null, null]), json!(["yes", "yes"])),
        case(Field::Title, &["--title", "other"], "title", json!("other"), none.clone()),
        case(Field::MaxTurns, &["--max-turns", "9"], "turns", json!("9"), none.clone()),
        case(Field::MaxCostUsd, &["--max-cost", "9"], "budget", json!("9"), none),
    ]
}

/// The fields that heirloom answers for and the agent is not told about.
const ANSWERED: [Field; 2] = [Field::AutoAcceptEdits, Field::BypassUntil];

#[test]
fn every_field_is_looked_at() {
    for field in Field::ALL {
        let looked_at = ANSWERED.contains(field) || cases().iter().any(|case| case.field == *field);
        assert!(looked_at, "{field}");
    }
}

#[test]
fn each_field_is_overridden_and_cleared_alone_and_stays_so_in_the_next_generation() {
    let fixture = Fixture::new();
    launch_all(&fixture);
    for (index, case) in cases().into_iter().enumerate() {
        let null = format!(r#"{{"{}":null}}"#, case.field);
        let clear = ["--clear", case.field.as_str()];
        let as_json = ["--config", null.as_str()];
        let clear: &[&str] = if index % 2 == 0 { &clear } else { &as_json };
        for (change, value) in [(case.flags, &case.set), (clear, &case.cleared)] {
            let child = go_on(&fixture, &[&["continue", "a", "more"], change].concat());
            let mut expected = inherited();
            expected.insert(case.seen, value.clone());
            assert_eq!(
                received(&fixture, &fixture.given(fixture.launches())),
                expected,
                "{change:?}"
            );

            go_on(&fixture, &["continue", child["name"].as_str().unwrap(), "still more"]);
            match case.field {
                // The agent said again which model it is, and a limit counts for one session.
                Field::ResolvedModel => expected.insert(case.seen, json!("claude-opus-5-5")),
                Field::MaxTurns => expected.insert(case.seen, Value::Null),
                _ => None,
            };
            let next = received(&fixture, &fixture.given(fixture.launches()));
            assert_eq!(next, expected, "after {change:?}");
        }
    }
}

/// Who answers what the agent asks for in a session that is started so: a person, who says no, or
/// the field that says yes.
fn who_answers(fixture: &Fixture, arguments: &[&str]) -> (String, String) {
    let mut child = fixture.spawn(&[arguments, &["--json"]].concat());
    let asked = fixture.wait(|fixture| {
        let open = fixture.json(&["approvals", "list"])["approvals"][0]["id"].clone();
        let ended = child.try_wait().unwrap().is_some();
        (open.is_string() || ended).then_some(open)
    });
    if let Some(id) = asked.as_str() {
        fixture.run(&["approvals", "deny", id, "--reason", "no"]).success();
    }
    let name = finish(child)["name"].as_str().unwrap().to_owned();
    let shown = fixture.json(&["sessions", "show", &name, "--trajectory"]);
    let records = shown["trajectory"].as_array().unwrap().clone();
    let decided: Vec<_> =
        records.iter().filter(|record| record["kind"] == "approval.decided").collect();
    assert_eq!(decided.len(), 1, "{name}");
    assert!(decided[0]["body"]["reason"].is_string(), "{shown}");
    let by = decided[0]["body"]["by"].as_str().unwrap().to_owned();
    let allowed = fixture.given(fixture.launches()).answers()[0]["behavior"] == "allow";
    assert_eq!(allowed, by != "person", "{name}");
    (name, by)
}

#[test]
fn what_is_approved_alone_is_inherited_overridden_and_cleared_as_well() {
    const UNTIL: &str = r#"{"bypass_until":"2026-01-12T15:45:00Z"}"#;
    type Flags = &'static [&'static str];
    let cases: [(&str, Flags, &[Flags]); 2] = [
        (
            "auto_accept_edits",
            &["--auto-accept-edits"],
            &[
                &["--auto-accept-edits", "false"],
                &["--clear", "auto_accept_edits"],
                &["--config", r#"{"auto_accept_edits":null}"#],
            ],
        ),
        (
            "bypass",
            &["--config", UNTIL],
            &[&["--clear", "bypass_until"], &["--config", r#"{"bypass_until":null}"#]],
        ),
    ];
    let fixture = Fixture::new();
    for (by, on, offs) in cases {
        let asking = "edit a notebook";
        let (first, who) = who_answers(&fixture, &[&["launch", asking], on].concat());
        assert_eq!(who, by);
        let (second, who) = who_answers(&fixture, &["continue", &first, asking]);
        assert_eq!(who, by);
        assert_eq!(who_answers(&fixture, &["continue", &second, asking]).1, by);
        for off in offs {
            let (child, who) =
                who_answers(&fixture, &[&["continue", first.as_str(), asking], *off].concat());
            assert_eq!(who, "person", "{off:?}");
            let (_, who) = who_answers(&fixture, &["continue", &child, asking]);
            assert_eq!(who, "person", "after {off:?}");
            let again = [&["continue", child.as_str(), asking], on].concat();
            assert_eq!(who_answers(&fixture, &again).1, by, "{on:?} after {off:?}");
        }
    }
}

//! Many hooks at once, and hooks that are killed.

use std::io::Write;
use std::process::{Child, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use super::{Guarded, Said};

const SETTINGS: &str = "
requirements:
  later: {stop_only: true}
  plan: {satisfied_by_skill: review, trigger_tools: [Write]}
  style: {enforcement: warn, trigger_tools: [WebFetch]}
  push: {scope: single_use, satisfied_by_skill: check, trigger_tools: [{tool: Bash, command: [git, push]}]}
";

fn session(number: usize) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

/// A call of a hook, and what has to be so once it is over.
struct Call {
    event: &'static str,
    session: String,
    fields: Value,
    holds: fn(&Guarded, &str) -> bool,
}

impl Call {
    fn spawn(&self, guarded: &Guarded) -> Child {
        let mut payload = json!({"session_id": self.session, "cwd": guarded.env.repo(),
                                 "hook_event_name": self.event, "prompt_id": "p1"});
        payload.as_object_mut().unwrap().extend(self.fields.as_object().unwrap().clone());
        let mut child = guarded
            .env
            .command(&["hook", "claude", self.event])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let _ = child.stdin.take().unwrap().write_all(payload.to_string().as_bytes());
        child
    }
}

fn used(tool: &str, input: &Value) -> Value {
    json!({"tool_name": tool, "tool_input": input, "tool_response": {}})
}

fn status(guarded: &Guarded, session: &str) -> Value {
    let shown = guarded.env.run(&["sessions", "show", session, "--json"]);
    if shown.code == 0 { shown.json()["status"].clone() } else { Value::Null }
}

fn push(guarded: &Guarded, session: &str) -> Said {
    guarded.bash(session, "git push")
}

/// The kinds of hooks, each in a session of its own that is made ready first.
fn call(guarded: &Guarded, number: usize) -> Call {
    let session = session(number);
    let call = |event, fields, holds| Call { event, session: session.clone(), fields, holds };
    match number % 8 {
        0 => call("PreToolUse", used("Edit", &json!({"file_path": "a"})), |guarded, session| {
            matches!(guarded.stop(session), Said::Blocked(_))
        }),
        1 => call("PostToolUse", used("Skill", &json!({"skill": "review"})), |guarded, session| {
            guarded.tool("PreToolUse", session, "Write", &json!({"file_path": "a"}))
                == Said::Nothing
        }),
        2 => call("SessionStart", json!({"source": "startup"}), |guarded, session| {
            status(guarded, session) == "running"
        }),
        3 => call("UserPromptSubmit", json!({"prompt": "/review"}), |guarded, session| {
            guarded.tool("PreToolUse", session, "Write", &json!({"file_path": "a"}))
                == Said::Nothing
        }),
        4 => {
            guarded.skill(&session, "check");
            let used = used("Bash", &json!({"command": "git push"}));
            call("PostToolUse", used, |guarded, session| push(guarded, session).is_denied())
        }
        5 => {
            guarded.edit(&session);
            call("Stop", json!({"stop_hook_active": false}), |guarded, session| {
                let rest = [0; 3].map(|_| guarded.stop(session));
                matches!(rest, [Said::Blocked(_), Said::Blocked(_), Said::Message(_)])
            })
        }
        6 => call("PreToolUse", used("WebFetch", &json!({"url": "x"})), |guarded, session| {
            guarded.tool("PreToolUse", session, "WebFetch", &json!({"url": "x"})) == Said::Nothing
        }),
        _ => {
            guarded.start(&session, "startup");
            call("SessionEnd", json!({"reason": "other"}), |guarded, session| {
                status(guarded, session) == "completed"
            })
        }
    }
}

#[test]
fn a_hundred_hooks_of_every_kind_at_once_lose_nothing() {
    let guarded = Guarded::new(SETTINGS);
    let calls: Vec<Call> = (0..100).map(|number| call(&guarded, number)).collect();
    let children: Vec<Child> = calls.iter().map(|call| call.spawn(&guarded)).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty());
    }
    let log = std::fs::read_to_string(guarded.env.home().join("hook.log")).unwrap_or_default();
    assert_eq!(log, "");
    for call in &calls {
        assert!((call.holds)(&guarded, &call.session), "{} {}", call.event, call.session);
    }
    guarded.env.run(&["ledger", "verify"]).success();
}

#[test]
fn many_hooks_of_one_session_at_once_lose_nothing() {
    let names: Vec<String> = (0..40).map(|number| format!("r{number}")).collect();
    let requirement = |name: &String| {
        format!("  {name}: {{satisfied_by_skill: s-{name}, trigger_tools: [\"T{name}\"]}}\n")
    };
    let settings: String = names.iter().map(requirement).collect();
    let guarded = Guarded::new(&format!("requirements:\n{settings}"));
    let one = session(1);
    let calls = names.iter().map(|name| Call {
        event: "PostToolUse",
        session: one.clone(),
        fields: used("Skill", &json!({"skill": format!("s-{name}")})),
        holds: |_, _| true,
    });
    let children: Vec<Child> = calls.map(|call| call.spawn(&guarded)).collect();
    assert!(children.into_iter().all(|mut child| child.wait().unwrap().success()));
    let status = guarded.req(&["status", "--session", &one, "--json"]).json();
    let open: Vec<&Value> = status["requirements"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["satisfied"] != true)
        .collect();
    assert!(open.is_empty(), "{open:?}");
    let sessions = guarded.env.run(&["sessions", "list", "--json"]).json();
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 1, "one session, made once");
}

#[test]
fn a_hook_that_is_killed_at_any_instant_leaves_nothing_broken() {
    let guarded = Guarded::new(SETTINGS);
    let begun = Instant::now();
    call(&guarded, 1_000).spawn(&guarded).wait().unwrap();
    let life = begun.elapsed();
    let mut killed = 0;
    for number in 0..80_u32 {
        let call = call(&guarded, number as usize);
        let mut child = call.spawn(&guarded);
        // Later for each, so that the kills fall everywhere in its short life; the last ones live.
        if number < 72 {
            std::thread::sleep(life * number / 50);
            let _ = child.kill();
        }
        if child.wait().unwrap().success() {
            assert!((call.holds)(&guarded, &call.session), "{} was done and is lost", call.event);
        } else {
            killed += 1;
        }
    }
    assert!(killed > 0, "nothing was killed");
    guarded.env.run(&["ledger", "verify"]).success();
    guarded.env.run(&["ledger", "rebuild"]).success();
    let call = call(&guarded, 2_000);
    assert!(call.spawn(&guarded).wait().unwrap().success());
    assert!((call.holds)(&guarded, &call.session));
    assert_eq!(
        std::fs::read_to_string(guarded.env.home().join("hook.log")).unwrap_or_default(),
        ""
    );
}

//! What only a person may do, over HTTP: decide, and give an agent more than it had.

use heirloom_testkit::env::TestEnv;
use serde_json::{Value, json};

use super::Daemon;
use super::client::Request;

/// A place whose agent asks to run a command before it says anything.
pub(super) fn asking() -> TestEnv {
    let env = crate::env();
    let steps = r#"{"tool":"Bash","input":{"command":"echo pushed > pushed"}}
{"say":"done"}"#;
    env.write("ask.jsonl", steps);
    let script = env.repo().join("ask.jsonl");
    env.var("HEIRLOOM_SIM_SCRIPT", script)
}

/// Launches a session and waits until its agent asks; the id of the question.
pub(super) fn asked(daemon: &Daemon, name: &str) -> String {
    let body = json!({"prompt": "push it", "agent": "sim", "name": name});
    let launched = daemon.post("/api/v1/sessions", &body);
    assert_eq!(launched.status, 201, "{launched:?}");
    let path = "/api/v1/approvals?status=pending";
    let waits = |list: &Value| list["approvals"].as_array().is_some_and(|all| !all.is_empty());
    let list = daemon.until(path, waits);
    list["approvals"][0]["id"].as_str().unwrap().to_owned()
}

fn decision(id: &str, body: &Value) -> Request {
    Request::post(&format!("/api/v1/approvals/{id}/decision"), body)
}

pub(super) fn patch(name: &str, body: &Value) -> Request {
    Request::post(&format!("/api/v1/sessions/{name}"), body).method("PATCH")
}

#[test]
fn who_signed_in_decides_whoever_started_the_daemon() {
    // An agent started it: nobody is printed a link, and its token decides nothing.
    let daemon = Daemon::start(asking().var("HEIRLOOM_TEST_LINE", "bash|claude"));
    assert_eq!(daemon.serving["link"], Value::Null);
    let id = asked(&daemon, "auth-v1");
    let approve = json!({"decision": "approve"});
    let refused = decision(&id, &approve).bearer(daemon.token()).send(daemon.url());
    assert_eq!((refused.status, refused.code().as_str()), (403, "person.needed"));
    let mut person = daemon.env.command(&["serve", "--link", "--json"]);
    let link = person.env("HEIRLOOM_TEST_LINE", "bash").output().unwrap();
    let link: Value = serde_json::from_slice(&link.stdout).unwrap();
    let cookie = daemon.sign_in_by(link["link"].as_str().unwrap());
    // With the cookie alone it could be anybody's page that asks.
    let forged = decision(&id, &approve).header("cookie", &cookie).send(daemon.url());
    assert_eq!((forged.status, forged.code().as_str()), (403, "request.refused"));
    let made = daemon.as_person(&cookie, decision(&id, &approve));
    assert_eq!((made.status, made.json()["state"].as_str()), (200, Some("approved")), "{made:?}");
    assert_eq!(daemon.ended("auth-v1")["status"], "completed");
    assert!(daemon.env.repo().join("pushed").exists());
    let again = daemon.as_person(&cookie, decision(&id, &approve));
    assert_eq!(again.status, 409, "{again:?}");
}

#[test]
fn a_killed_daemon_leaves_its_sessions_and_what_they_ask() {
    let mut daemon = Daemon::start(asking());
    let cookie = daemon.sign_in();
    let id = asked(&daemon, "auth-v1");
    daemon.kill_and_restart();
    let session = daemon.get("/api/v1/sessions/auth-v1").json();
    assert_eq!(session["status"], "waiting_input", "{session}");
    let kept = daemon.get(&format!("/api/v1/approvals/{id}")).json();
    assert_eq!((kept["state"].as_str(), kept["tool"].as_str()), (Some("pending"), Some("Bash")));
    let made = daemon.as_person(&cookie, decision(&id, &json!({"decision": "approve"})));
    assert_eq!(made.status, 200, "{made:?}");
    assert_eq!(daemon.ended("auth-v1")["status"], "completed");
    assert!(daemon.env.repo().join("pushed").exists());
}

#[test]
fn a_session_whose_driver_died_ends_with_a_reason_and_asks_nothing_more() {
    let mut daemon = Daemon::start(asking());
    let id = asked(&daemon, "auth-v1");
    // Whoever has both the daemon's program and the word `drive` in their command line, and our home.
    let drivers = drivers(&daemon);
    assert_eq!(drivers.len(), 1, "{drivers:?}");
    for pid in drivers {
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }
    daemon.kill_and_restart();
    let session = daemon.ended("auth-v1");
    assert_eq!(session["status"], "interrupted", "{session}");
    assert!(session["reason"].as_str().is_some_and(|why| why.contains("is gone")), "{session}");
    let kept = daemon.get(&format!("/api/v1/approvals/{id}")).json();
    assert_ne!(kept["state"], "pending", "{kept}");
    let pending = daemon.get("/api/v1/approvals?status=pending").json();
    assert_eq!(pending, json!({"approvals": []}));
}

/// The processes that drive sessions of this daemon's home.
fn drivers(daemon: &Daemon) -> Vec<i32> {
    let home = daemon.env.home();
    let home = format!("HEIRLOOM_HOME={}", home.display());
    let is_driver = |pid: &i32| {
        let read = |file: &str| std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        let has = |bytes: &[u8], word: &str| bytes.split(|b| *b == 0).any(|w| w == word.as_bytes());
        has(&read("cmdline"), "drive") && has(&read("environ"), &home)
    };
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(is_driver).collect()
}

#[test]
fn a_session_is_changed_while_it_runs_and_only_a_person_lets_it_pass_unasked() {
    let daemon = Daemon::start(asking());
    let cookie = daemon.sign_in();
    let id = asked(&daemon, "auth-v1");
    let program = |body: &Value| patch("auth-v1", body).bearer(daemon.token()).send(daemon.url());
    let titled = program(&json!({"title": "Push it"}));
    assert_eq!(titled.status, 200, "{titled:?}");
    let config = || daemon.get("/api/v1/sessions/auth-v1/config").json()["config"].clone();
    assert_eq!(config()["title"]["value"], "Push it");
    for wider in
        [json!({"auto_accept_edits": true}), json!({"bypass_until": "2027-01-01T00:00:00Z"})]
    {
        let refused = program(&wider);
        assert_eq!((refused.status, refused.code().as_str()), (403, "person.needed"), "{wider}");
    }
    for (body, status) in [
        (json!({}), 400),
        (json!({"title": null}), 400),
        (json!({"bypass_until": "soon"}), 400),
        (json!({"colour": "red"}), 400),
        // One that runs is not put away, and then nothing else is changed either.
        (json!({"hidden": true, "title": "Gone"}), 409),
        (json!({"bypass_until": null, "auto_accept_edits": false}), 200),
    ] {
        let answer = program(&body);
        assert_eq!(answer.status, status, "{body} {answer:?}");
    }
    assert_eq!(config()["title"]["value"], "Push it");
    // From now on what it asks passes, what waits already included.
    let until = json!({"bypass_until": "2036-01-01T00:00:00Z"});
    let made = daemon.as_person(&cookie, patch("auth-v1", &until));
    assert_eq!(made.status, 200, "{made:?}");
    assert_eq!(daemon.ended("auth-v1")["status"], "completed");
    let kept = daemon.get(&format!("/api/v1/approvals/{id}")).json();
    assert_eq!(kept["state"], "approved", "{kept}");
    let hidden = program(&json!({"hidden": true}));
    assert_eq!((hidden.status, hidden.json()["status"].as_str()), (200, Some("archived")));
}

#[test]
fn a_program_continues_with_what_there_was_and_a_person_with_more() {
    let env = crate::env();
    let launch = ["launch", "say hello", "--name", "auth-v1", "--agent", "sim"];
    let wide = ["--allowed-tools", "Read,Edit", "--disallowed-tools", "WebFetch"];
    env.run(&[&launch[..], &wide[..]].concat()).success();
    env.run(&["sessions", "list"]).success();
    let daemon = Daemon::start(env);
    let cookie = daemon.sign_in();
    let go_on = |body: &Value| Request::post("/api/v1/sessions/auth-v1/continue", body);
    let narrower = json!({"prompt": "more", "allowed_tools": ["Read"]});
    let made = go_on(&narrower).bearer(daemon.token()).send(daemon.url());
    assert_eq!(made.status, 201, "{made:?}");
    daemon.ended("auth-v2");
    for (wider, field) in [
        (json!({"prompt": "more", "allowed_tools": ["Read", "Bash"]}), "allowed_tools"),
        (json!({"prompt": "more", "disallowed_tools": null}), "disallowed_tools"),
    ] {
        let refused = go_on(&wider).bearer(daemon.token()).send(daemon.url());
        assert_eq!((refused.status, refused.code().as_str()), (403, "person.needed"));
        assert!(refused.body.contains(field), "{refused:?}");
        let made = daemon.as_person(&cookie, go_on(&wider));
        assert_eq!(made.status, 201, "{made:?}");
        daemon.ended(made.json()["name"].as_str().unwrap());
    }
}

#[test]
fn an_agent_gives_another_no_more_than_it_has_in_the_shell_either() {
    let env = crate::env();
    let launch = ["launch", "say hello", "--agent", "sim", "--json"];
    let as_agent = |words: &[&str]| {
        let mut command = env.command(&[&launch[..], words].concat());
        let ran = command.env("HEIRLOOM_TEST_LINE", "bash|claude").output().unwrap();
        serde_json::from_slice::<Value>(&ran.stdout).unwrap()
    };
    for wider in [["--allowed-tools", "Bash"], ["--permission-mode", "acceptEdits"]] {
        let refused = as_agent(&wider);
        assert_eq!(refused["error"]["code"], "person.needed", "{wider:?} {refused}");
        let made = env.run(&[&launch[..], &wider[..]].concat()).success();
        assert_eq!(made.json()["status"], "completed", "{made}");
    }
    let narrower = as_agent(&["--disallowed-tools", "Bash"]);
    assert_eq!(narrower["status"], "completed", "{narrower}");
}

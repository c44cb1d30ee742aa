//! Sessions that are launched, continued and decided over HTTP, and outlive the daemon.

use serde_json::{Value, json};

use super::Daemon;
use super::client::Request;

#[test]
fn a_session_is_launched_and_continued_with_its_config() {
    let daemon = Daemon::start(crate::env());
    let body = json!({"prompt": "say hello", "agent": "sim", "name": "auth-v1",
                      "title": "Greet", "disallowed_tools": ["WebFetch"]});
    let launched = daemon.post("/api/v1/sessions", &body);
    assert_eq!(launched.status, 201, "{launched:?}");
    assert_eq!(launched.json()["name"], "auth-v1");
    assert_eq!(daemon.ended("auth-v1")["status"], "completed");
    let said = daemon.get("/api/v1/sessions/auth-v1/conversation").json();
    assert_eq!(said["events"][0]["text"], "say hello");
    let more = json!({"prompt": "and again", "title": null});
    let child = daemon.post("/api/v1/sessions/auth-v1/continue", &more);
    assert_eq!(child.status, 201, "{child:?}");
    assert_eq!(child.json()["name"], "auth-v2");
    daemon.ended("auth-v2");
    let config = daemon.get("/api/v1/sessions/auth-v2/config").json()["config"].clone();
    assert_eq!(
        config["disallowed_tools"],
        json!({"value": ["WebFetch"], "from": "auth-v1", "overridden": false})
    );
    assert_eq!(config["title"]["value"], Value::Null);
    let lineage = daemon.get("/api/v1/sessions/auth-v2/lineage").json();
    assert_eq!(lineage["ancestors"][0]["name"], "auth-v1");
    for (path, body, code) in [
        ("/sessions", json!({"prompt": "", "agent": "sim"}), "prompt.empty"),
        ("/sessions", json!({"prompt": "x", "agent": "nobody"}), "agent.unknown"),
        (
            "/sessions",
            json!({"prompt": "x", "agent": "sim", "name": "auth-v1"}),
            "session.name-taken",
        ),
        ("/sessions", json!({"prompt": "x", "agent": "sim", "name": "a/b"}), "session.name"),
        ("/sessions", json!({"prompt": "x", "nonsense": 1}), "request.invalid"),
        ("/sessions", json!({"prompt": 7}), "request.invalid"),
        ("/sessions", json!({"prompt": "x", "working_dir": "here"}), "config.working_dir"),
        ("/sessions/nobody/continue", json!({"prompt": "x"}), "session.not-found"),
        ("/sessions/auth-v1/continue", json!({"prompt": "x", "at": 1}), "request.invalid"),
        ("/sessions/auth-v1/interrupt", json!({}), "session.not-running"),
    ] {
        let answer = daemon.post(&format!("/api/v1{path}"), &body);
        assert_eq!(answer.code(), code, "{path} {body}");
        assert!((400..500).contains(&answer.status), "{answer:?}");
    }
}

#[test]
fn only_a_person_gives_an_agent_more_than_it_asks_for() {
    let daemon = Daemon::start(crate::env());
    for wider in [
        json!({"bypass_until": "2027-01-01T00:00:00Z"}),
        json!({"auto_accept_edits": true}),
        json!({"permission_mode": "bypassPermissions"}),
        json!({"allowed_tools": ["Bash"]}),
        json!({"additional_dirs": ["/etc"]}),
        json!({"env": ["AWS_SECRET_ACCESS_KEY"]}),
        json!({"mcp_servers": {"x": {"type": "stdio", "command": "sh"}}}),
    ] {
        let mut body = json!({"prompt": "x", "agent": "sim"});
        body.as_object_mut().unwrap().extend(wider.as_object().unwrap().clone());
        let refused = daemon.post("/api/v1/sessions", &body);
        assert_eq!((refused.status, refused.code().as_str()), (403, "person.needed"), "{body}");
    }
    assert_eq!(daemon.get("/api/v1/sessions").json()["sessions"], json!([]));
}

#[test]
fn many_sessions_launched_at_once_lose_nothing() {
    let daemon = Daemon::start(crate::env());
    let (url, token) = (daemon.url(), daemon.token());
    std::thread::scope(|scope| {
        let launches: Vec<_> = (0..16)
            .map(|at| {
                scope.spawn(move || {
                    let body =
                        json!({"prompt": "say hello", "agent": "sim", "name": format!("s{at}")});
                    Request::post("/api/v1/sessions", &body).bearer(token).send(url)
                })
            })
            .collect();
        for launch in launches {
            let answer = launch.join().unwrap();
            assert_eq!(answer.status, 201, "{answer:?}");
        }
    });
    let first = daemon.ended("s0");
    for at in 0..16 {
        let name = format!("s{at}");
        let session = daemon.ended(&name);
        assert_eq!(session["status"], "completed", "{session}");
        let events = |name: &str| {
            let said = daemon.get(&format!("/api/v1/sessions/{name}/conversation")).json();
            said["events"].as_array().unwrap().len()
        };
        assert_eq!(events(&name), events("s0"));
        assert_eq!(session["turns"], first["turns"]);
    }
    assert_eq!(daemon.env.run(&["ledger", "verify", "--json"]).success().json()["ok"], true);
}

#[test]
fn the_backlog_recall_and_the_rest_answer_as_the_commands_do() {
    let env = crate::env();
    env.run(&["init", "--agent", "claude"]).success();
    env.write("src/a.rs", "fn rotate_tokens() {}\n");
    let note = ["note", "decision", "rotate tokens", "--evidence", "src/a.rs:1"];
    env.run(&note).success();
    env.run(&["launch", "say hello", "--name", "auth-v1", "--agent", "sim"]).success();
    let daemon = Daemon::start(env);
    let issue = json!({"title": "Rotate", "priority": 1});
    let made = daemon.post("/api/v1/issues", &issue);
    assert_eq!(made.status, 201, "{made:?}");
    let id = made.json()["id"].as_str().unwrap().to_owned();
    let shell = |arguments: &[&str]| daemon.env.run(arguments).json();
    let root = daemon.env.user().parent().unwrap().to_string_lossy().into_owned();
    let over = |path: &str| -> Value {
        let answer = daemon.get(&format!("/api/v1{path}"));
        assert_eq!(answer.status, 200, "{path} {answer:?}");
        serde_json::from_str(&answer.body.replace(&root, "[root]")).unwrap()
    };
    assert_eq!(over("/issues"), shell(&["issues", "list", "--json"]));
    assert_eq!(over("/issues?ready=true"), shell(&["issues", "ready", "--json"]));
    assert_eq!(over(&format!("/issues/{id}")), shell(&["issues", "show", &id, "--json"]));
    assert_eq!(over("/search?q=rotate"), shell(&["search", "rotate", "--json"]));
    assert_eq!(over("/recover/1"), shell(&["recover", "1", "--json"]));
    assert_eq!(over("/requirements"), shell(&["req", "status", "--json"]));
    assert_eq!(over("/work-runs"), shell(&["runs", "list", "--json"]));
    assert_eq!(over("/pipelines"), shell(&["pipelines", "list", "--json"]));
    assert_eq!(over("/trust"), shell(&["trust", "--show", "--json"]));
    assert_eq!(over("/rules"), shell(&["rules", "list", "--json"]));
    assert_eq!(over("/repo"), shell(&["repo", "show", "--json"]));
    for by in ["day", "repo", "agent", "model", "issue"] {
        assert_eq!(over(&format!("/usage?by={by}")), shell(&["usage", "--by", by, "--json"]));
    }
    assert_eq!(over("/usage"), shell(&["usage", "--json"]));
    let later = over("/usage?since=2030-01-01T00:00:00Z&all_repos=true");
    assert_eq!(
        (&later["total"]["sessions"], &later["total"]["cost_usd"]),
        (&json!(0), &Value::Null)
    );
    assert_eq!(daemon.get("/api/v1/usage?by=mood").code(), "request.invalid");
    assert_eq!(over("/decisions")["decisions"][0]["standing"], "holds");
    daemon.env.write("src/a.rs", "fn nothing() {}\n");
    assert_eq!(over("/decisions")["decisions"][0]["standing"], "broken");
    let trajectory = ["sessions", "show", "notes-2026-01-12", "--trajectory", "--json"];
    let record = shell(&trajectory)["trajectory"][0].clone();
    assert_eq!(over(&format!("/records/{}", record["id"].as_str().unwrap())), record);
    let patch = Request::post(
        &format!("/api/v1/issues/{id}"),
        &json!({"status": "closed", "reason": "done"}),
    );
    let closed = patch.method("PATCH").bearer(daemon.token()).send(daemon.url());
    assert_eq!(closed.status, 200, "{closed:?}");
    assert_eq!(over("/issues"), json!({"issues": []}));
    let description = over("/openapi.json");
    assert_eq!(description["openapi"], "3.1.0");
}

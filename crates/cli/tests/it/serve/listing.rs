//! Sessions, notes and approvals over HTTP: the same answers as the commands'.

use serde_json::json;

use super::Daemon;
use super::client::Request;

#[test]
fn a_session_reads_the_same_over_http_as_in_the_shell() {
    let env = crate::env();
    let note = ["note", "decision", "rotate tokens", "--because", "replay", "--assumption"];
    env.run(&note).success();
    let daemon = Daemon::start(env);
    let shell = |arguments: &[&str]| daemon.env.run(arguments).success().json();
    let root = daemon.env.user().parent().unwrap().to_string_lossy().into_owned();
    let over_http = |path: &str| {
        let answer = daemon.get(&format!("/api/v1{path}"));
        assert_eq!(answer.status, 200, "{answer:?}");
        serde_json::from_str::<serde_json::Value>(&answer.body.replace(&root, "[root]")).unwrap()
    };
    let list = shell(&["sessions", "list", "--json"]);
    assert_eq!(over_http("/sessions"), list);
    let name = list["sessions"][0]["name"].as_str().unwrap();
    let id = list["sessions"][0]["id"].as_str().unwrap();
    for address in [name, id, &id[..8]] {
        let shown = shell(&["sessions", "show", address, "--json"]);
        assert_eq!(over_http(&format!("/sessions/{address}")), shown);
    }
    assert_eq!(
        over_http(&format!("/sessions/{name}/lineage")),
        shell(&["lineage", name, "--json"])
    );
    let config = shell(&["sessions", "show", name, "--config", "--json"]);
    assert_eq!(over_http(&format!("/sessions/{name}/config")), config);
    let said = shell(&["conversation", name, "--json"]);
    assert_eq!(over_http(&format!("/sessions/{name}/conversation")), said);
    let notes = shell(&["notes", "--session", name, "--json"]);
    assert_eq!(over_http(&format!("/sessions/{name}/notes")), notes);
}

#[test]
fn a_list_is_read_page_by_page_and_narrowed_down() {
    let env = crate::env();
    for name in ["one", "two", "three"] {
        env.run(&["launch", "say hello", "--name", name, "--agent", "sim"]).success();
    }
    let daemon = Daemon::start(env);
    let names = |path: &str| -> Vec<String> {
        let list = daemon.get(path).json();
        let rows = list["sessions"].as_array().unwrap_or_else(|| panic!("{list}"));
        rows.iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    };
    let first = daemon.get("/api/v1/sessions?limit=2").json();
    let next = first["next"].as_str().unwrap();
    let mut all = names("/api/v1/sessions?limit=2");
    all.extend(names(&format!("/api/v1/sessions?limit=2&cursor={next}")));
    assert_eq!(all, names("/api/v1/sessions"));
    assert_eq!(all.len(), 3);
    assert_eq!(names("/api/v1/sessions?q=TWO"), ["two"]);
    assert_eq!(names("/api/v1/sessions?agent=sim&status=completed").len(), 3);
    assert!(names("/api/v1/sessions?agent=codex").is_empty());
    assert!(names("/api/v1/sessions?status=failed,running").is_empty());
    assert_eq!(names("/api/v1/sessions?repo=payments").len(), 3);
    for (path, code) in [
        ("/api/v1/sessions?cursor=x", "request.invalid"),
        ("/api/v1/sessions?limit=x", "request.invalid"),
        ("/api/v1/sessions?status=sleeping", "request.invalid"),
        ("/api/v1/sessions?agent=nobody", "agent.unknown"),
        ("/api/v1/search?q=x&agent=nobody", "agent.unknown"),
        ("/api/v1/sessions?nonsense=1", "request.invalid"),
        ("/api/v1/sessions?repo=nowhere", "repo.not-found"),
        ("/api/v1/sessions/nobody", "session.not-found"),
        ("/api/v1/nothing", "request.not-found"),
    ] {
        assert_eq!(daemon.get(path).code(), code, "{path}");
    }
    let wrong = Request::get("/api/v1/sessions").method("DELETE").bearer(daemon.token());
    assert_eq!(wrong.send(daemon.url()).status, 405);
}

#[test]
fn whoever_has_an_answer_already_is_told_so() {
    let daemon = Daemon::start(crate::env());
    let first = daemon.get("/api/v1/sessions");
    let tag = first.header("etag").unwrap().to_owned();
    let ask = || {
        let request = Request::get("/api/v1/sessions").bearer(daemon.token());
        request.header("if-none-match", &tag).send(daemon.url())
    };
    let again = ask();
    assert_eq!((again.status, again.body.as_str()), (304, ""));
    daemon.env.run(&["note", "learning", "something new", "--assumption"]).success();
    assert_eq!(ask().status, 200);
}

#[test]
fn a_program_may_note_and_may_not_decide() {
    let daemon = Daemon::start(crate::env());
    let note = json!({"kind": "decision", "text": "rotate tokens", "because": "replay",
                      "assumption": true});
    let made = daemon.post("/api/v1/notes", &note);
    assert_eq!(made.status, 201, "{made:?}");
    assert_eq!(made.json()["text"], "rotate tokens");
    let listed = daemon.get("/api/v1/notes?kind=decision").json();
    assert_eq!(listed, daemon.env.run(&["notes", "--kind", "decision", "--json"]).json());
    let wrong = daemon.post("/api/v1/notes", &json!({"kind": "whim", "text": "x"}));
    assert_eq!((wrong.status, wrong.code().as_str()), (400, "request.invalid"));
    let wrong = daemon.post("/api/v1/notes", &json!({"kind": "learning"}));
    assert_eq!((wrong.status, wrong.code().as_str()), (400, "request.invalid"));
    let decision = json!({"decision": "approve"});
    let refused = daemon.post("/api/v1/approvals/0000/decision", &decision);
    assert_eq!((refused.status, refused.code().as_str()), (403, "person.needed"));
    assert_eq!(daemon.get("/api/v1/approvals?status=pending").json(), json!({"approvals": []}));
    let large = json!({"kind": "learning", "text": "x".repeat(5 * 1024 * 1024)});
    let answer = daemon.post("/api/v1/notes", &large);
    assert_eq!((answer.status, answer.code().as_str()), (413, "request.too-large"));
}

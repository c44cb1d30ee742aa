//! Many at once, and for long.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::Daemon;
use super::client::Request;

/// What was said and done in a session, without what is its own.
fn said(daemon: &Daemon, name: &str) -> Vec<(Value, Value)> {
    let said = daemon.get(&format!("/api/v1/sessions/{name}/conversation")).json();
    let events = said["events"].as_array().unwrap_or_else(|| panic!("{said}")).iter();
    events.map(|event| (event["kind"].clone(), event["text"].clone())).collect()
}

#[test]
#[ignore = "starts 64 agents at once"]
fn sixty_four_sessions_launched_at_once_are_stored_whole_and_in_order() {
    let daemon = Daemon::start(crate::env());
    let (url, token) = (daemon.url(), daemon.token());
    std::thread::scope(|scope| {
        let launch = |at: usize| {
            let name = format!("s{at}");
            let body = json!({"prompt": "say hello", "agent": "sim", "name": name});
            let answer = Request::post("/api/v1/sessions", &body).bearer(token).send(url);
            assert_eq!(answer.status, 201, "{answer:?}");
        };
        for at in 0..64 {
            scope.spawn(move || launch(at));
        }
    });
    assert_eq!(daemon.ended("s0")["status"], "completed");
    let first = said(&daemon, "s0");
    assert!(first.len() >= 2, "{first:?}");
    for at in 1..64 {
        let name = format!("s{at}");
        let session = daemon.ended(&name);
        assert_eq!(session["status"], "completed", "{session}");
        assert_eq!(said(&daemon, &name), first, "{name}");
    }
    assert_eq!(daemon.env.run(&["ledger", "verify", "--json"]).success().json()["ok"], true);
}

#[test]
fn two_hundred_who_look_on_are_all_told() {
    let daemon = Daemon::start(crate::env());
    let address = daemon.url().strip_prefix("http://").unwrap();
    let mut head = String::new();
    write!(head, "GET /api/v1/events HTTP/1.1\r\nhost: {address}\r\n").unwrap();
    write!(head, "authorization: Bearer {}\r\n\r\n", daemon.token()).unwrap();
    let streams: Vec<BufReader<TcpStream>> = (0..200)
        .map(|_| {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(head.as_bytes()).unwrap();
            let mut stream = BufReader::new(stream);
            let mut line = String::new();
            stream.read_line(&mut line).unwrap();
            assert!(line.contains("200"), "{line}");
            stream
        })
        .collect();
    // Others are answered all the same.
    assert_eq!(daemon.get("/api/v1/sessions").status, 200);
    daemon.env.run(&["note", "learning", "sleep matters", "--assumption"]).success();
    for mut stream in streams {
        let mut line = String::new();
        while !line.contains("\"type\":\"note\"") {
            line.clear();
            assert_ne!(stream.read_line(&mut line).unwrap(), 0, "the stream ended");
        }
    }
}

/// How much memory a process holds, in kB.
fn memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// How much of that is its own, in kB. What else it holds is the program itself, read from its file, which debugging
/// information makes many times larger in a test than in a release.
fn own_memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_daemon_at_rest_holds_little() {
    let env = crate::env();
    env.run(&["launch", "say hello", "--name", "auth-v1", "--agent", "sim"]).success();
    let daemon = Daemon::start(env);
    let cookie = daemon.sign_in();
    for path in ["/", "/sessions", "/sessions/auth-v1", "/recall?q=hello", "/usage"] {
        let page = Request::get(path).header("cookie", &cookie).send(daemon.url());
        assert_eq!(page.status, 200, "{path}");
    }
    let held = own_memory(daemon.child.id());
    assert!(held < 30_000, "{held} kB");
}

/// Asks over and over on one connection.
fn ask(daemon: &Daemon, times: usize) {
    let address = daemon.url().strip_prefix("http://").unwrap();
    let paths =
        ["/api/v1/sessions", "/api/v1/approvals", "/api/v1/sessions/auth-v1", "/api/v1/notes"];
    let mut stream = BufReader::new(TcpStream::connect(address).unwrap());
    for at in 0..times {
        let (path, token) = (paths[at % paths.len()], daemon.token());
        let head = format!(
            "GET {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\r\n"
        );
        stream.get_mut().write_all(head.as_bytes()).unwrap();
        let (mut line, mut length) = (String::new(), 0);
        while line != "\r\n" {
            line.clear();
            stream.read_line(&mut line).unwrap();
            if let Some(value) = line.to_lowercase().strip_prefix("content-length: ") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).unwrap();
        assert!(body.starts_with(b"{") && !body.starts_with(b"{\"error\""), "{path}");
    }
}

#[test]
#[ignore = "asks ten thousand times"]
fn ten_thousand_requests_leave_the_memory_as_it_was() {
    let env = crate::env();
    env.run(&["launch", "say hello", "--name", "auth-v1", "--agent", "sim"]).success();
    let daemon = Daemon::start(env);
    ask(&daemon, 1_000);
    let before = memory(daemon.child.id());
    ask(&daemon, 9_000);
    let after = memory(daemon.child.id());
    assert!(after < before + before / 5, "{before} kB became {after} kB");
}

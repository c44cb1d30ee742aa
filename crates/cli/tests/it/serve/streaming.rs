//! What changes, told as it changes.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use serde_json::Value;

use super::Daemon;

/// Somebody who looks on.
pub(super) struct Stream(BufReader<TcpStream>);

impl Stream {
    pub(super) fn open(daemon: &Daemon, last: Option<i64>) -> Self {
        let last = last.map(|last| format!("last-event-id: {last}\r\n")).unwrap_or_default();
        Self::at(daemon, "/api/v1/events", &last)
    }

    fn at(daemon: &Daemon, path: &str, headers: &str) -> Self {
        let address = daemon.url().strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        let token = daemon.token();
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n{headers}\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert!(line.contains("200"), "{line}");
        while line != "\r\n" {
            line.clear();
            reader.read_line(&mut line).unwrap();
        }
        Self(reader)
    }

    /// The next event; nothing when the stream ends.
    pub(super) fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        loop {
            line.clear();
            if self.0.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if let Some(data) = line.trim_end().strip_prefix("data: ") {
                return Some(serde_json::from_str(data).unwrap());
            }
        }
    }
}

#[test]
fn what_another_process_does_is_told_and_who_was_away_misses_nothing() {
    let mut daemon = Daemon::start(crate::env());
    daemon.env.run(&["note", "learning", "before", "--assumption"]).success();
    let mut stream = Stream::open(&daemon, None);
    daemon.env.run(&["note", "learning", "one", "--assumption"]).success();
    let mut seen = vec![stream.next().unwrap()];
    while seen.last().unwrap()["type"] != "note" {
        seen.push(stream.next().unwrap());
    }
    let last = seen.last().unwrap()["id"].as_i64().unwrap();
    drop(stream);
    for text in ["two", "three", "four"] {
        daemon.env.run(&["note", "learning", text, "--assumption"]).success();
    }
    // Whoever comes back is told what was missed, in order and once.
    let mut stream = Stream::open(&daemon, Some(last));
    let mut missed = Vec::new();
    while missed.iter().filter(|event: &&Value| event["type"] == "note").count() < 3 {
        missed.push(stream.next().unwrap());
    }
    let ids: Vec<i64> = missed.iter().map(|event| event["id"].as_i64().unwrap()).collect();
    assert!(ids.iter().all(|id| *id > last) && ids.is_sorted_by(|a, b| a < b), "{ids:?}");
    let record = missed.last().unwrap()["record"].as_str().unwrap();
    let record = daemon.get(&format!("/api/v1/records/{record}")).json();
    assert_eq!(record["body"]["text"], "four", "{record}");
    // The end of the daemon ends the stream.
    daemon.stop();
    while stream.next().is_some() {}
}

#[test]
fn an_mcp_client_is_told_that_there_is_more_to_read() {
    let daemon = Daemon::start(crate::env());
    let hello =
        serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}});
    let hello = daemon.post("/mcp", &hello).json();
    assert_eq!(hello["result"]["capabilities"]["resources"]["listChanged"], true, "{hello}");
    let mut stream = Stream::at(&daemon, "/mcp", "accept: text/event-stream\r\n");
    // Nothing of another repository is told, nor of what agents do not read here.
    let elsewhere = daemon.env.user().join("elsewhere");
    std::fs::create_dir_all(&elsewhere).unwrap();
    daemon.env.run_in(&elsewhere, &["note", "learning", "there", "--assumption"]).success();
    daemon.env.run(&["issues", "create", "One"]).success();
    daemon.env.run(&["note", "learning", "here", "--assumption"]).success();
    let told = stream.next().unwrap();
    assert_eq!(told["method"], "notifications/resources/list_changed", "{told}");
    assert_eq!(told.as_object().unwrap().len(), 2, "it says that, and nothing of what was noted");
}

//! What changes, told as it changes.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use serde_json::Value;

use super::Daemon;

/// Somebody who looks on.
struct Stream(BufReader<TcpStream>);

impl Stream {
    fn open(daemon: &Daemon, last: Option<i64>) -> Self {
        let address = daemon.url().strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        let last = last.map(|last| format!("last-event-id: {last}\r\n")).unwrap_or_default();
        let token = daemon.token();
        let request = format!(
            "GET /api/v1/events HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n{last}\r\n"
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
    fn next(&mut self) -> Option<Value> {
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

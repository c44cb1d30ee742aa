//! Just enough of HTTP to talk to the daemon, and to talk to it wrongly.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

pub(super) struct Request {
    method: &'static str,
    path: String,
    host: Option<String>,
    headers: Vec<(String, String)>,
    body: String,
}

#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl Request {
    pub(super) fn get(path: &str) -> Self {
        let (headers, body) = (Vec::new(), String::new());
        Self { method: "GET", path: path.to_owned(), host: None, headers, body }
    }

    pub(super) fn post(path: &str, body: &Value) -> Self {
        let request = Self { method: "POST", body: body.to_string(), ..Self::get(path) };
        request.header("content-type", "application/json")
    }

    pub(super) fn form(path: &str, fields: &str) -> Self {
        let request = Self { method: "POST", body: fields.to_owned(), ..Self::get(path) };
        request.header("content-type", "application/x-www-form-urlencoded")
    }

    pub(super) fn method(mut self, method: &'static str) -> Self {
        self.method = method;
        self
    }

    pub(super) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn bearer(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    pub(super) fn host(mut self, host: &str) -> Self {
        self.host = Some(host.to_owned());
        self
    }

    /// Sends it to the daemon at `url` and waits for the answer.
    pub(super) fn send(self, url: &str) -> Answer {
        let address = url.strip_prefix("http://").unwrap();
        self.send_over(TcpStream::connect(address).unwrap(), address)
    }

    pub(super) fn send_over(self, mut stream: impl Read + Write, address: &str) -> Answer {
        let host = self.host.unwrap_or_else(|| address.to_owned());
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        if !host.is_empty() {
            write!(head, "host: {host}\r\n").unwrap();
        }
        for (name, value) in &self.headers {
            write!(head, "{name}: {value}\r\n").unwrap();
        }
        let length = self.body.len();
        write!(head, "connection: close\r\ncontent-length: {length}\r\n\r\n").unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(self.body.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        Answer::parse(&String::from_utf8_lossy(&bytes))
    }
}

impl Answer {
    fn parse(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{text:?}"));
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines.filter_map(|line| line.split_once(": "));
        let headers =
            headers.map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect();
        Self { status, headers, body: body.to_owned() }
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }

    /// The code of the failure it is.
    pub(super) fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_else(|| panic!("{self:?}")).to_owned()
    }
}

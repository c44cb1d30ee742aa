//! The daemon, seen from programs and browsers that talk to it.

mod client;
mod launching;
mod listing;
mod mcp;
mod page;
mod security;
mod streaming;

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Stdio};

use heirloom_testkit::env::TestEnv;
use serde_json::Value;

use client::{Answer, Request};

/// A daemon in a place of its own.
struct Daemon {
    env: TestEnv,
    child: Child,
    serving: Value,
    /// Kept open: a daemon must not end because nobody reads what it prints.
    _stdout: BufReader<ChildStdout>,
}

impl Daemon {
    fn start(env: TestEnv) -> Self {
        Self::start_with(env, &[])
    }

    fn start_with(env: TestEnv, arguments: &[&str]) -> Self {
        let mut command = env.command(&["serve", "--json"]);
        let mut child = command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let serving = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"));
        Self { env, child, serving, _stdout: stdout }
    }

    fn token(&self) -> &str {
        self.serving["token"].as_str().unwrap()
    }

    fn url(&self) -> &str {
        self.serving["url"].as_str().unwrap()
    }

    /// What a program with the token is answered.
    fn get(&self, path: &str) -> Answer {
        Request::get(path).bearer(self.token()).send(self.url())
    }

    fn post(&self, path: &str, body: &Value) -> Answer {
        Request::post(path, body).bearer(self.token()).send(self.url())
    }

    /// The cookie of a person who opens the link.
    fn sign_in(&self) -> String {
        let link = self.serving["link"].as_str().unwrap();
        let answer = Request::get(&link[self.url().len()..]).send(self.url());
        assert_eq!(answer.status, 303, "{answer:?}");
        let cookie = answer.header("set-cookie").unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }

    /// Asks it to end, and waits until it has.
    fn stop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

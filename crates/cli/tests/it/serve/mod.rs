//! The daemon, seen from programs and browsers that talk to it.

mod browser;
mod client;
mod contract;
mod deciding;
mod first_page;
mod launching;
mod listing;
mod load;
mod lying_open;
mod mcp;
mod needing;
mod page;
mod permission;
mod security;
mod streaming;

use std::io::{BufRead, BufReader, Read};
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
    stdout: BufReader<ChildStdout>,
}

impl Daemon {
    fn start(env: TestEnv) -> Self {
        Self::start_with(env, &[])
    }

    fn start_with(env: TestEnv, arguments: &[&str]) -> Self {
        let (child, serving, stdout) = Self::spawn(&env, arguments);
        Self { env, child, serving, stdout }
    }

    fn spawn(env: &TestEnv, arguments: &[&str]) -> (Child, Value, BufReader<ChildStdout>) {
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
        (child, serving, stdout)
    }

    /// Kills it, as a crash or the kernel would, and starts another in its place.
    fn kill_and_restart(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        (self.child, self.serving, self.stdout) = Self::spawn(&self.env, &[]);
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
        self.sign_in_by(self.serving["link"].as_str().unwrap())
    }

    fn sign_in_by(&self, link: &str) -> String {
        let answer = Request::get(&link[self.url().len()..]).send(self.url());
        assert_eq!(answer.status, 303, "{answer:?}");
        let cookie = answer.header("set-cookie").unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }

    /// What somebody who signed in is answered, as their page would ask.
    fn as_person(&self, cookie: &str, request: Request) -> Answer {
        let page = Request::get("/settings").header("cookie", cookie).send(self.url()).body;
        let (_, rest) = page.split_once("name=\"form\" value=\"").unwrap();
        let form = rest.split('"').next().unwrap();
        let request = request.header("cookie", cookie).header("x-heirloom-form", form);
        request.send(self.url())
    }

    /// Asks until the answer is as wanted. Nothing is timed: the test runner stops what never ends.
    fn until(&self, path: &str, holds: impl Fn(&Value) -> bool) -> Value {
        loop {
            let answer = self.get(path).json();
            if holds(&answer) {
                return answer;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    /// The session once it is over.
    fn ended(&self, name: &str) -> Value {
        self.until(&format!("/api/v1/sessions/{name}"), |session| {
            ["completed", "failed", "interrupted"].contains(&session["status"].as_str().unwrap())
        })
    }

    /// Asks it to end, and waits until it has.
    fn stop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        assert!(self.child.wait().unwrap().success());
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "", "it says where it is, and nothing else");
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // What it launched goes on without it, as it should; but not after the test.
        let running = self.env.run(&["sessions", "list", "--running", "--all", "--json"]);
        let running = serde_json::from_str::<Value>(&running.stdout).unwrap_or_default();
        for session in running["sessions"].as_array().into_iter().flatten() {
            self.env.run(&["interrupt", session["id"].as_str().unwrap_or_default()]);
        }
    }
}

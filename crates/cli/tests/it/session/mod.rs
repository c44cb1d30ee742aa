//! Sessions that are launched, continued, forked and interrupted, seen from what their agent got.

mod approving;
mod collecting;
mod continuing;
mod crashing;
mod damaged;
mod fields;
mod listing;
mod many;
mod others;
mod prompting;
pub(crate) mod real;
mod real_prompts;
mod saying;
mod states;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use heirloom_testkit::env::{Ran, TestEnv};
use serde_json::Value;

/// Longer than anything takes.
const PATIENCE: Duration = Duration::from_mins(2);

/// heirloom with an agent that records what it is given.
struct Fixture {
    env: TestEnv,
}

/// What one launch of the agent was given.
#[derive(Debug)]
struct Given {
    dir: PathBuf,
    argv: Vec<String>,
    env: BTreeMap<String, String>,
}

/// What a command answers that was not waited for.
fn finish(child: Child) -> Value {
    let output = child.wait_with_output().unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

impl Fixture {
    fn new() -> Self {
        let env = crate::env();
        let record = env.user().join("record");
        fs::create_dir_all(&record).unwrap();
        let script = include_str!("recorder.sh").replace("@RECORD@", record.to_str().unwrap());
        let agent = env.script("agent", &script);
        Self { env: env.var("HEIRLOOM_AGENT_CLAUDE", agent) }
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        self.env.run(arguments)
    }

    /// The answer of a command that has to succeed.
    #[track_caller]
    fn json(&self, arguments: &[&str]) -> Value {
        self.env.run(&[arguments, &["--json"]].concat()).success().json()
    }

    /// Starts a command that is not waited for.
    fn spawn(&self, arguments: &[&str]) -> Child {
        let mut command = self.env.command(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    fn status(&self, session: &str) -> String {
        self.json(&["sessions", "show", session])["status"].as_str().unwrap().to_owned()
    }

    /// Whether the session is there and its agent has said who it is.
    fn has_announced(&self, session: &str) -> bool {
        let ran = self.run(&["sessions", "show", session, "--trajectory", "--json"]);
        ran.code == 0 && ran.stdout.contains("session.announced")
    }

    /// Asks again and again until the answer is there.
    #[track_caller]
    fn wait<T>(&self, mut look: impl FnMut(&Self) -> Option<T>) -> T {
        let begun = Instant::now();
        loop {
            if let Some(found) = look(self) {
                return found;
            }
            assert!(begun.elapsed() < PATIENCE, "it never came");
        }
    }

    /// Waits until `count` questions are open, and returns their ids.
    #[track_caller]
    fn open(&self, count: usize) -> Vec<String> {
        self.wait(|fixture| {
            let open =
                fixture.json(&["approvals", "list"])["approvals"].as_array().unwrap().clone();
            let ids = open.iter().map(|each| each["id"].as_str().unwrap().to_owned());
            Some(ids.collect::<Vec<_>>()).filter(|ids| ids.len() == count)
        })
    }

    /// Everything below heirloom's home with its size, but for the ledger's own files. The name of a
    /// directory ends in a slash.
    fn files(&self) -> BTreeMap<String, u64> {
        let home = self.env.home();
        let mut found = BTreeMap::new();
        let mut open = vec![home.clone()];
        while let Some(next) = open.pop() {
            for entry in fs::read_dir(next).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(&home).unwrap().to_str().unwrap().to_owned();
                if path.is_dir() {
                    found.insert(format!("{name}/"), 0);
                    open.push(path);
                } else if !["ledger.db", "views.db", "heads.json"]
                    .iter()
                    .any(|own| name.starts_with(own))
                {
                    found.insert(name, path.metadata().unwrap().len());
                }
            }
        }
        found
    }

    /// What the `n`th launch was given, counted from 1.
    fn given(&self, n: usize) -> Given {
        let dir = self.env.user().join("record").join(n.to_string());
        let read = |name: &str| fs::read_to_string(dir.join(name)).unwrap();
        let pair = |line: &str| line.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned()));
        let argv = read("argv").lines().map(str::to_owned).collect();
        let env = read("env").lines().filter_map(pair).collect();
        Given { dir, argv, env }
    }

    /// How often the agent was launched.
    fn launches(&self) -> usize {
        fs::read_dir(self.env.user().join("record")).unwrap().count()
    }
}

impl Given {
    /// The value of a flag.
    fn flag(&self, flag: &str) -> Option<&str> {
        let at = self.argv.iter().position(|argument| argument == flag)?;
        self.argv.get(at + 1).map(String::as_str)
    }

    /// The values of a flag that is repeated.
    fn flags(&self, flag: &str) -> Vec<&str> {
        let prefix = format!("{flag}=");
        self.argv.iter().filter_map(|argument| argument.strip_prefix(&prefix)).collect()
    }

    fn file(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.dir.join(name)).ok()
    }

    /// The prompt.
    fn prompt(&self) -> String {
        let message: Value = serde_json::from_str(&self.file("stdin").unwrap()).unwrap();
        message["message"]["content"].as_str().unwrap().to_owned()
    }

    fn mcp(&self) -> Value {
        let file = self.file("mcp").unwrap_or_else(|| "null".to_owned());
        serde_json::from_str::<Value>(&file).unwrap()["mcpServers"].clone()
    }

    /// The answers to its questions, in order.
    fn answers(&self) -> Vec<Value> {
        let answers = self.file("answers").unwrap_or_default();
        let answer = |line: &str| serde_json::from_str::<Value>(line).unwrap();
        answers.lines().map(|line| answer(line)["response"]["response"].clone()).collect()
    }
}

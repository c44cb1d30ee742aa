//! What it costs to list sessions and to continue one, with ten sessions behind it and with ten
//! thousand.
//!
//! Counted in instructions of the whole process, which are the same on a busy machine; its agent is a
//! process of its own and is not counted. Fails if the cost grows with history.
//!
//! cargo bench -p heirloom --bench sessions

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark that cannot set the scene panics, and says where"
)]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot set the scene has no result")]
#![expect(clippy::print_stdout, reason = "figures are what a benchmark is for")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use heirloom_core::event::{SessionAnnounced, SessionCreated, SessionPrompted, SessionSpent};
use heirloom_core::id::SessionId;
use heirloom_core::status::Status;
use heirloom_ledger::{Error, Ledger, Options, Scope, Writer};
use heirloom_testkit::instructions;
use jiff::Timestamp;
use serde_json::json;
use tempfile::TempDir;

const HEIRLOOM: &str = env!("CARGO_BIN_EXE_heirloom");
const SIZES: [u32; 2] = [10, 10_000];

/// Begins, says one thing, and is done.
const AGENT: &str = r#"#!/bin/sh
for argument in "$@"; do
  [ "$flag" = --session-id ] && id=$argument
  flag=$argument
done
echo '{"type":"system","subtype":"init","session_id":"'"$id"'","model":"m"}'
echo '{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"done"}]}}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"'"$id"'"}'
"#;

/// A page that is full with the fewest sessions already.
const CASES: &[(&str, &[&str])] = &[
    ("list", &["sessions", "list", "--limit", "10"]),
    ("list --completed", &["sessions", "list", "--limit", "10", "--completed"]),
    ("list --failed", &["sessions", "list", "--limit", "10", "--failed"]),
    ("list --all-repos", &["sessions", "list", "--limit", "10", "--all-repos"]),
    ("continue", &["continue", "s5", "go on"]),
];

fn main() {
    println!("{:>9} {:>18} {:>13} {:>9}", "sessions", "case", "instructions", "ms");
    let mut costs = Vec::new();
    for sessions in SIZES {
        let scene = Scene::new(sessions);
        for (case, arguments) in CASES {
            let (instructions, ms) = scene.cost(arguments);
            println!("{sessions:>9} {case:>18} {instructions:>13} {ms:>9.1}");
            costs.push((*case, instructions));
        }
    }
    let (few, many) = costs.split_at(CASES.len());
    for ((case, few), (_, many)) in few.iter().zip(many) {
        assert!(*many <= few + few / 10, "{case}: the cost grows with history, {few} to {many}");
    }
}

struct Scene {
    dir: TempDir,
}

impl Scene {
    fn new(sessions: u32) -> Self {
        let scene = Self { dir: TempDir::new().unwrap() };
        fs::create_dir_all(scene.repo()).unwrap();
        let mut git = Command::new("git");
        assert!(
            git.args(["init", "-q", "-b", "main"]).arg(scene.repo()).status().unwrap().success()
        );
        fs::write(scene.agent(), AGENT).unwrap();
        fs::set_permissions(scene.agent(), fs::Permissions::from_mode(0o755)).unwrap();
        scene.fill(sessions);
        scene
    }

    fn repo(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("payments")
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    fn agent(&self) -> PathBuf {
        self.dir.path().join("agent")
    }

    /// Sessions that ended well, each with a stream and a secret of its own.
    fn fill(&self, sessions: u32) {
        let repo = self.repo().to_string_lossy().into_owned();
        let mut ledger = Ledger::open(&self.home(), Options::ENGINE).unwrap();
        for place in ["streams", "vault"] {
            fs::create_dir_all(self.home().join(place)).unwrap();
        }
        let all: Vec<u32> = (1..=sessions).collect();
        for (minute, some) in (0..).zip(all.chunks(100)) {
            let at = Timestamp::from_second(1_768_000_000 + minute * 60).unwrap();
            let added =
                ledger.write(at, |writer| some.iter().try_for_each(|n| add(writer, *n, &repo)));
            added.unwrap();
        }
        for n in all {
            fs::write(self.home().join(format!("streams/{}.jsonl.zst", id(n))), "x").unwrap();
            fs::write(self.home().join(format!("vault/{}", id(n))), "s3cr3t").unwrap();
        }
    }

    fn surround<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .current_dir(self.repo())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.dir.path())
            .env("HEIRLOOM_HOME", self.home())
            .env("HEIRLOOM_AGENT_CLAUDE", self.agent())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
    }

    /// Instructions of the whole process, and the fastest of some runs in milliseconds.
    fn cost(&self, arguments: &[&str]) -> (u64, f64) {
        let run = || {
            let start = Instant::now();
            let mut command = Command::new(HEIRLOOM);
            let output = self.surround(&mut command).args(arguments).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            start.elapsed()
        };
        run();
        let fastest = (0..10).map(|_| run()).min().unwrap_or(Duration::ZERO).as_secs_f64() * 1000.0;
        let counted = instructions::count(Path::new(HEIRLOOM), |command| {
            self.surround(command).args(arguments);
        });
        (counted, fastest)
    }
}

fn id(n: u32) -> SessionId {
    format!("{n:08x}-0000-4000-8000-{n:012x}").parse().unwrap()
}

fn add(writer: &mut Writer<'_>, n: u32, repo: &str) -> Result<(), Error> {
    let own = id(n);
    let secret = format!("{{vault:{own}}}");
    let created: SessionCreated = serde_json::from_value(json!({
        "name": format!("s{n}"), "agent": "claude", "agent_session_id": own, "branch": "main",
        "config": {
            "model": "opus", "working_dir": repo, "system_prompt": "You work on payments.",
            "allowed_tools": ["Bash(git *)", "Edit"], "disallowed_tools": ["WebFetch"],
            "mcp_servers": {"db": {"type": "stdio", "command": "db", "env": {"TOKEN": secret}}},
        },
    }))
    .unwrap();
    let scope = Scope::session(own, repo);
    writer.append(scope, &created)?;
    writer.append(scope, &SessionPrompted { text: "do it".to_owned() })?;
    let announced =
        SessionAnnounced { agent_session_id: own.to_string(), model: None, agent: None };
    writer.append(scope, &announced)?;
    let spent = SessionSpent { cost_usd: Some(0.25), input_tokens: 1000, output_tokens: 100 };
    writer.append(scope, &spent)?;
    writer.change_status(own, Status::Completed, None)
}

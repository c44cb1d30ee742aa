//! What a handoff that writes itself costs: at the end of a session of five messages, and of five thousand.
//!
//! The hook is called as an agent calls it when a session ends, whose transcript was taken in before: nobody waits
//! for that. Counted in instructions and in CPU time, of which 20 ms are the budget for what a long day costs more
//! than a short one.
//!
//! cargo bench -p heirloom --bench handoff

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark that cannot set the scene panics, and says where"
)]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot set the scene has no result")]
#![expect(clippy::print_stdout, reason = "figures are what a benchmark is for")]

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use heirloom_testkit::env::TestEnv;
use heirloom_testkit::{cpu, instructions};
use serde_json::{Value, json};

const HEIRLOOM: &str = env!("CARGO_BIN_EXE_heirloom");

/// What a long day may cost more than a short one.
const BUDGET: Duration = Duration::from_millis(20);

/// The same in instructions.
const MOST: u64 = if cfg!(debug_assertions) { 400_000_000 } else { 80_000_000 };

/// Messages of a turn: a prompt, a command and its result, an edit and its result.
const OF_TURN: u32 = 5;

fn main() {
    // `cargo test` runs this too, and only wants to know that it still works.
    let quick = !std::env::args().any(|word| word == "--bench");
    let times = if quick { 1 } else { 5 };
    let env = TestEnv::new(HEIRLOOM).var("HEIRLOOM_TEST_LINE", "bash");
    println!("{:>9} {:>13} {:>9}", "messages", "instructions", "ms of CPU");
    let [short, long] = [5, 5_000].map(|messages| {
        let sessions = Sessions { env: &env, messages };
        let (counted, spent) = sessions.cost(times);
        println!("{messages:>9} {counted:>13} {:>9.2}", spent.as_secs_f64() * 1000.0);
        (counted, spent)
    });
    let more = long.0.saturating_sub(short.0);
    assert!(more <= MOST, "a long day costs {more} instructions more than a short one");
    if !quick {
        let more = long.1.saturating_sub(short.1);
        assert!(more <= BUDGET, "a long day costs {more:?} of CPU more than a short one");
    }
}

/// Sessions of so many messages each. A session is handed over once, so each is used once.
struct Sessions<'e> {
    env: &'e TestEnv,
    messages: u32,
}

impl Sessions<'_> {
    /// Instructions, and the least CPU time of some.
    fn cost(&self, times: u32) -> (u64, Duration) {
        for number in 0..=times {
            fs::write(self.transcript(number), self.day(number)).unwrap();
        }
        self.env.run(&["init", "--yes", "--agent", "claude"]).success();
        self.env.run(&["sync"]).success();
        let before = self.handoffs();
        let end = |number: u32| {
            let (output, spent) =
                cpu::count_with(&mut self.hook(), self.payload(number).to_string().as_bytes());
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            spent
        };
        let spent = (0..times).map(end).min().unwrap();
        let input = self.env.user().join("payload");
        fs::write(&input, self.payload(times).to_string()).unwrap();
        let counted = instructions::count(HEIRLOOM.as_ref(), |command| {
            let hook = self.hook();
            command.args(hook.get_args()).current_dir(self.env.repo()).env_clear();
            command.envs(hook.get_envs().filter_map(|(name, value)| Some((name, value?))));
            command.stdin(File::open(&input).unwrap());
        });
        assert_eq!(self.handoffs() - before, times as usize + 1, "each was handed over");
        (counted, spent)
    }

    fn hook(&self) -> Command {
        self.env.command(&["hook", "claude", "SessionEnd"])
    }

    fn payload(&self, number: u32) -> Value {
        json!({
            "session_id": self.id(number), "cwd": self.env.repo(), "hook_event_name": "SessionEnd",
            "reason": "prompt_input_exit", "transcript_path": self.transcript(number),
        })
    }

    fn handoffs(&self) -> usize {
        let listed = self.env.run(&["handoffs", "list", "--limit", "1000", "--json"]).success();
        listed.json()["handoffs"].as_array().unwrap().len()
    }

    fn id(&self, number: u32) -> String {
        format!("{:08x}-{number:04x}-4415-954c-99d01904a037", self.messages)
    }

    fn transcript(&self, number: u32) -> PathBuf {
        let plain = |char: char| if char.is_ascii_alphanumeric() { char } else { '-' };
        let slug: String = self.env.repo().to_string_lossy().chars().map(plain).collect();
        let directory = self.env.user().join(".claude/projects").join(slug);
        fs::create_dir_all(&directory).unwrap();
        directory.join(format!("{}.jsonl", self.id(number)))
    }

    /// A session as Claude Code writes it down: every turn asks, fails at something and changes a file.
    fn day(&self, number: u32) -> String {
        let (cwd, id) = (self.env.repo(), self.id(number));
        let mut text = String::new();
        let mut line = |kind: &str, message: Value| {
            let line = json!({
                "type": kind, "sessionId": id, "cwd": cwd, "gitBranch": "main", "version": "2.1.325",
                "entrypoint": "cli", "promptSource": "typed", "timestamp": "2026-01-10T10:00:00Z",
                "message": message,
            });
            writeln!(text, "{line}").unwrap();
        };
        for turn in 0..self.messages / OF_TURN {
            let used = |tool: &str, name: &str, input: Value| {
                json!({"id": format!("m{tool}"), "model": "claude-opus-5-5",
                       "usage": {"input_tokens": 100, "output_tokens": 10},
                       "content": [{"type": "tool_use", "id": tool, "name": name, "input": input}]})
            };
            let came = |tool: &str, failed: bool, said: &str| {
                json!({"content": [{"type": "tool_result", "tool_use_id": tool, "is_error": failed,
                                    "content": said}]})
            };
            let (ran, edited) = (format!("r{turn}"), format!("e{turn}"));
            // Hardly any prompt lays something down, so that all of them are looked through.
            let rule = if turn == 0 { ", and never touch legacy/" } else { "" };
            let prompt = format!("Make part {turn} accept lists{rule}. It fails at the end.");
            line("user", json!({"role": "user", "content": prompt}));
            line("assistant", used(&ran, "Bash", json!({"command": format!("make part-{turn}")})));
            line("user", came(&ran, true, "Exit code 2\nerror: no rule to make target"));
            let path = cwd.join(format!("src/part_{turn}.rs"));
            line("assistant", used(&edited, "Edit", json!({"file_path": path})));
            line("user", came(&edited, false, "done"));
        }
        text
    }
}

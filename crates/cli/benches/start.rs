//! What the start of a session costs, with its brief: with ten sessions behind it and with ten thousand.
//!
//! The hook is called as an agent calls it, in a repository that is captured, each session with facts and notes.
//! Counted in instructions, which are the same on a busy machine, and in CPU time, of which 10 ms are the budget.
//! Fails if the cost grows with history, or with what has to be opened and read for it.
//!
//! cargo bench -p heirloom --bench start
//!
//! A number after `--` is compared with instead of ten thousand.

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark that cannot set the scene panics, and says where"
)]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot set the scene has no result")]
#![expect(clippy::print_stdout, reason = "figures are what a benchmark is for")]

#[path = "../tests/it/cost/history.rs"]
#[expect(dead_code, reason = "the hook that begins a session is one of those it reads with")]
mod history;

use std::fs::{self, File};
use std::process::Command;
use std::time::Duration;

use heirloom_testkit::env::TestEnv;
use heirloom_testkit::{cpu, instructions};
use serde_json::{Value, json};

const HEIRLOOM: &str = env!("CARGO_BIN_EXE_heirloom");

/// What a start may cost.
const BUDGET: Duration = Duration::from_millis(10);

/// The same in instructions, which are the same on a busy machine: a little more than it takes with few sessions.
/// After a compaction more is looked up, and a quarter more is let through.
const MOST: u64 = if cfg!(debug_assertions) { 43_000_000 } else { 18_000_000 };

/// How a context begins.
const CASES: [&str; 3] = ["startup", "clear", "compact"];

/// What one start cost.
struct Cost {
    instructions: u64,
    /// The least of some.
    cpu: Duration,
}

fn main() {
    // `cargo test` runs this too, and only wants to know that it still works.
    let quick = !std::env::args().any(|word| word == "--bench");
    let given = std::env::args().find_map(|word| word.parse().ok());
    let sizes = [10, given.unwrap_or(if quick { 40 } else { 10_000 })];
    println!("{:>9} {:>9} {:>13} {:>9}", "sessions", "source", "instructions", "ms of CPU");
    let [few, many] = sizes.map(|sessions| {
        let scene = Scene::new(sessions);
        CASES.map(|case| {
            let cost = scene.cost(case, if quick { 1 } else { 10 });
            let ms = cost.cpu.as_secs_f64() * 1000.0;
            println!("{sessions:>9} {case:>9} {:>13} {ms:>9.2}", cost.instructions);
            let most = if case == "compact" { MOST + MOST / 4 } else { MOST };
            assert!(cost.instructions <= most, "{case}: {} instructions", cost.instructions);
            cost
        })
    });
    if quick {
        return;
    }
    for (case, (few, many)) in CASES.iter().zip(few.iter().zip(&many)) {
        let (before, now) = (few.instructions, many.instructions);
        assert!(
            now <= before + before / 10,
            "{case}: the cost grows with history, {before} to {now}"
        );
        assert!(many.cpu <= BUDGET, "{case}: {:?} of CPU", many.cpu);
    }
}

struct Scene {
    env: TestEnv,
}

impl Scene {
    fn new(sessions: u64) -> Self {
        let env =
            history::repository(sessions * history::RECORDS).var("HEIRLOOM_TEST_LINE", "bash");
        env.run(&["init", "--yes", "--agent", "claude"]).success();
        // All is taken in: nobody is started to do that meanwhile.
        env.run(&["sync"]).success();
        Self { env }
    }

    fn cost(&self, source: &str, times: u32) -> Cost {
        let start = |number: u32| {
            let mut command = self.hook();
            let payload = self.payload(source, number);
            let (output, spent) = cpu::count_with(&mut command, payload.as_bytes());
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            assert!(said.contains("refresh of tokens"), "it has no brief: {said}");
            self.end(number, source);
            spent
        };
        let spent = (0..times).map(start).min().unwrap();
        let input = self.env.user().join("payload");
        fs::write(&input, self.payload(source, times)).unwrap();
        let counted = instructions::count(HEIRLOOM.as_ref(), |command| {
            let hook = self.hook();
            command.args(hook.get_args()).current_dir(self.env.repo()).env_clear();
            command.envs(hook.get_envs().filter_map(|(name, value)| Some((name, value?))));
            command.stdin(File::open(&input).unwrap());
        });
        Cost { instructions: counted, cpu: spent }
    }

    fn hook(&self) -> Command {
        self.env.command(&["hook", "claude", "SessionStart"])
    }

    /// Nobody has dozens at once, of whom each start would tell the next.
    fn end(&self, number: u32, source: &str) {
        let begun: Value = serde_json::from_str(&self.payload(source, number)).unwrap();
        let payload = json!({
            "session_id": begun["session_id"], "cwd": begun["cwd"], "reason": "prompt_input_exit",
            "transcript_path": begun["transcript_path"], "hook_event_name": "SessionEnd",
        });
        let ended = ["hook", "claude", "SessionEnd"];
        self.env.run_with(&ended, payload.to_string().as_bytes()).success();
    }

    /// Each start is one of a conversation of its own.
    fn payload(&self, source: &str, number: u32) -> String {
        let case = CASES.iter().position(|case| *case == source).unwrap();
        let id = format!("{case:08x}-{number:04}-4415-954c-99d01904a037");
        let payload = json!({
            "session_id": id, "cwd": self.env.repo(), "hook_event_name": "SessionStart",
            "source": source, "transcript_path": self.env.user().join(format!("{id}.jsonl")),
        });
        payload.to_string()
    }
}

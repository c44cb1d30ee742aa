//! What a hook before a tool use costs as a process, beside a program that reads stdin and exits.
//!
//! That program is what anybody would write: a few lines, built as cargo builds a release, linked
//! dynamically. The hook runs where there is no other program to be found, in a repository with
//! sixteen requirements and as many past sessions as the first column says. Counted in instructions,
//! which are the same on a busy machine. Fails if the hook costs more than four times as much, or if
//! the cost grows with history.
//!
//! cargo bench -p heirloom-hook --bench process

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark that cannot set the scene panics, and says where"
)]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot set the scene has no result")]
#![expect(clippy::print_stdout, reason = "figures are what a benchmark is for")]
#![expect(clippy::cast_precision_loss, reason = "no process runs that many instructions")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use heirloom_core::config::Config;
use heirloom_core::event::{RequirementSatisfied, RequirementTriggered, SessionCreated};
use heirloom_core::guard::requirement;
use heirloom_core::id::SessionId;
use heirloom_ledger::{Error, Ledger, Options, Scope};
use heirloom_testkit::instructions;
use jiff::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A time that can be: for each record of a clock that cannot, the ledger looks for the last one before it that can.
const NOW: Timestamp = Timestamp::constant(1_768_000_000, 0);

const SESSION: &str = "8272974a-8223-4415-954c-99d01904a037";

/// The most a hook may cost, in programs that read stdin and exit.
const MOST: f64 = 4.0;
/// The same right after many writes, when SQLite reads its write-ahead log first: 2.3 instructions for
/// each byte of up to 64 kB. A log that is emptied earlier would cost fewer here, and every few writes
/// a checkpoint that waits for the disk.
const MOST_WITH_LOG: f64 = 4.5;

/// The same where somebody says where heirloom's data is: for each process above a few small files of the system are
/// read, some ten thousand instructions, and nothing of anybody's settings.
const MOST_NAMED: f64 = 2.0 * MOST;

const PLAIN: &str = "use std::io::Read;

fn main() {
    let mut text = Vec::new();
    std::io::stdin().read_to_end(&mut text).unwrap();
}
";

struct Scene {
    dir: TempDir,
}

fn main() -> ExitCode {
    // This program measures itself: called as `heirloom hook …` is, it is the hook and no more.
    if std::env::args_os().nth(1).is_some_and(|word| word == "hook") {
        return heirloom_hook::run(std::env::args_os().skip(2));
    }
    measure();
    ExitCode::SUCCESS
}

fn measure() {
    let hook = std::env::current_exe().unwrap();
    println!("{:>9} {:>22} {:>12} {:>7} {:>8}", "sessions", "case", "instructions", "ratio", "ms");
    let mut costs = Vec::new();
    for sessions in [10, 10_000] {
        let scene = Scene::new(sessions);
        let plain = scene.plain();
        let show = |case: &str, cost: (u64, f64), ratio: f64| {
            println!("{sessions:>9} {case:>22} {:>12} {ratio:>7.2} {:>8.2}", cost.0, cost.1);
        };
        let read = scene.payload("Read", &json!({"file_path": "src/a.rs"}));
        let nothing = scene.cost(&plain, &read);
        show("reads stdin and exits", nothing, 1.0);
        for (case, tool, input) in [
            ("nothing asks", "Read", json!({"file_path": "src/a.rs"})),
            ("allowed", "Bash", json!({"command": "cargo test"})),
            ("denied", "Edit", json!({"file_path": "src/a.rs", "new_string": "x"})),
        ] {
            let cost = scene.cost(&hook, &scene.payload(tool, &input));
            let ratio = cost.0 as f64 / nothing.0 as f64;
            show(case, cost, ratio);
            assert!(ratio <= MOST, "{case}: {ratio:.2} times a program that does nothing");
            costs.push((case, cost.0));
        }
        let denied = scene.payload("Edit", &json!({"file_path": "src/a.rs", "new_string": "x"}));
        let named = scene.named_cost(&hook, &denied);
        let ratio = named as f64 / nothing.0 as f64;
        println!("{sessions:>9} {:>22} {named:>12} {ratio:>7.2}", "denied, a named home");
        assert!(ratio <= MOST_NAMED, "a named home: {ratio:.2} times a program that does nothing");
        // What a hook wrote stays in the log, which the next one has to read.
        let log = scene.fill_log();
        let cost = scene.cost(&hook, &denied);
        let ratio = cost.0 as f64 / nothing.0 as f64;
        show(&format!("denied, {log} kB of log"), cost, ratio);
        assert!(ratio <= MOST_WITH_LOG, "with a log: {ratio:.2} times a program that does nothing");
    }
    for (case, many) in &costs[3..] {
        let (_, few) = costs.iter().find(|(each, _)| each == case).unwrap();
        assert!(*many <= few + few / 10, "{case}: the cost grows with history, {few} to {many}");
    }
}

impl Scene {
    fn new(sessions: u128) -> Self {
        let scene = Self { dir: TempDir::new().unwrap() };
        let repo = scene.repo();
        fs::create_dir_all(repo.join(".heirloom")).unwrap();
        let git =
            Command::new("git").args(["init", "-q", "-b", "main"]).arg(&repo).status().unwrap();
        assert!(git.success());
        fs::write(repo.join(".heirloom/config.yaml"), settings()).unwrap();
        scene.fill(sessions);
        scene
    }

    fn repo(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("payments")
    }

    /// Where heirloom's data is unless somebody says otherwise, as hardly anybody does.
    fn home(&self) -> PathBuf {
        self.dir.path().join(".local/share/heirloom")
    }

    fn fill(&self, sessions: u128) {
        let repo = self.repo().to_string_lossy().into_owned();
        let mut ledger = Ledger::open(&self.home(), Options::COMMAND).unwrap();
        let own: SessionId = SESSION.parse().unwrap();
        let ids = (1..=sessions).map(|n| SessionId::new(uuid::Uuid::from_u128(n << 64 | n)));
        let all: Vec<SessionId> = ids.chain([own]).collect();
        for some in all.chunks(1000) {
            ledger
                .write(NOW, |writer| {
                    for id in some {
                        let scope = Scope::session(*id, &repo);
                        writer.append(scope, &created(*id))?;
                        writer.append(scope, &triggered("r15"))?;
                        writer.append(scope, &satisfied("r15"))?;
                    }
                    Ok::<_, Error>(())
                })
                .unwrap();
        }
    }

    /// Writes as hooks do until the log is about as long as it gets. Returns its length in kB.
    fn fill_log(&self) -> u64 {
        let repo = self.repo().to_string_lossy().into_owned();
        let scope = Scope::session(SESSION.parse().unwrap(), &repo);
        let log = self.home().join("ledger.db-wal");
        let length = || log.metadata().map_or(0, |found| found.len() / 1024);
        // They empty it at 64 kB.
        while length() < 40 {
            let mut ledger = Ledger::open(&self.home(), Options::TOOL_USE).unwrap();
            ledger.append(NOW, scope, &triggered("r15")).unwrap();
        }
        length()
    }

    fn payload(&self, tool: &str, input: &Value) -> PathBuf {
        let payload = json!({
            "session_id": SESSION, "cwd": self.repo(), "hook_event_name": "PreToolUse",
            "transcript_path": "/home/dev/.claude/projects/-home-dev/8272974a.jsonl",
            "prompt_id": "3fa2e7bc-c075-4cc6-8a11-7b8ab2b805e2", "permission_mode": "default",
            "effort": {"level": "medium"}, "tool_name": tool, "tool_input": input,
            "tool_use_id": "toolu_055ef234f0c84451b8a250f7",
        });
        let file = self.dir.path().join(format!("{tool}.json"));
        fs::write(&file, payload.to_string()).unwrap();
        file
    }

    /// The program to compare with.
    fn plain(&self) -> PathBuf {
        let (source, program) = (self.dir.path().join("plain.rs"), self.dir.path().join("plain"));
        fs::write(&source, PLAIN).unwrap();
        let mut rustc = Command::new("rustc");
        rustc.args(["--edition", "2024", "-C", "opt-level=3", "-o"]).arg(&program).arg(&source);
        assert!(rustc.status().unwrap().success());
        program
    }

    /// Instructions where somebody says where heirloom's data is: then an agent above could have said it, and
    /// the processes above are looked at. The limit is wide, since it depends on how many there are.
    fn named_cost(&self, program: &Path, payload: &Path) -> u64 {
        instructions::count(program, |command| {
            self.surround(command, payload).args(["hook", "claude", "PreToolUse"]);
            command.env("HEIRLOOM_HOME", self.home());
        })
    }

    /// Puts a command where no other program can be found.
    fn surround<'a>(&self, command: &'a mut Command, payload: &Path) -> &'a mut Command {
        command
            .env_clear()
            .env("PATH", self.dir.path().join("nothing"))
            .env("HOME", self.dir.path())
            .stdin(File::open(payload).unwrap())
            .stdout(Stdio::null())
    }

    /// Instructions of a whole process, and the fastest of many runs in milliseconds.
    fn cost(&self, program: &Path, payload: &Path) -> (u64, f64) {
        let run = || {
            let mut command = Command::new(program);
            self.surround(&mut command, payload).args(["hook", "claude", "PreToolUse"]);
            let start = Instant::now();
            assert!(command.status().unwrap().success());
            start.elapsed()
        };
        run();
        let fastest = (0..60).map(|_| run()).min().unwrap_or(Duration::ZERO).as_secs_f64() * 1000.0;
        let counted = instructions::count(program, |command| {
            self.surround(command, payload).args(["hook", "claude", "PreToolUse"]);
        });
        (counted, fastest)
    }
}

fn settings() -> String {
    let asked = (0..8).map(|n| {
        format!("  r{n:02}: {{satisfied_by_skill: skill-{n}, message: 'Run /{{skill}} first.'}}\n")
    });
    let pushed = (8..15).map(|n| {
        let triggers = "[{tool: Bash, command: [git, push]}, 'mcp__github__*']";
        format!("  r{n:02}: {{scope: single_use, trigger_tools: {triggers}}}\n")
    });
    let last = "  r15: {trigger_tools: [{tool: Bash, command: [cargo]}]}\n".to_owned();
    std::iter::once("requirements:\n".to_owned()).chain(asked).chain(pushed).chain([last]).collect()
}

fn created(id: SessionId) -> SessionCreated {
    SessionCreated {
        name: format!("claude-{}", id.short()).parse().unwrap(),
        parent: None,
        link: None,
        agent: Some("claude".into()),
        agent_session_id: Some(id.to_string()),
        branch: Some("main".to_owned()),
        config: Config::default(),
        ..serde_json::from_value(json!({"name": "x"})).unwrap()
    }
}

fn triggered(name: &str) -> RequirementTriggered {
    let (name, branch) = (name.to_owned(), "main".to_owned());
    RequirementTriggered { name, branch, tool: None, agent_session_id: None, at: None }
}

fn satisfied(name: &str) -> RequirementSatisfied {
    RequirementSatisfied {
        name: name.to_owned(),
        scope: requirement::Scope::Session,
        branch: "main".to_owned(),
        method: "skill".to_owned(),
        metadata: Value::Null,
        expires_at: None,
        reviewed: None,
        agent_session_id: None,
        at: None,
    }
}

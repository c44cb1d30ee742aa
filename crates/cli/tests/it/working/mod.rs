//! Agents work through the issues, seen from the tracker, the repository and what the agents got.

mod cleaning;
mod costing;
mod dying;
mod gating;
mod many;
mod picking;
mod real_claude;
mod real_codex;
mod resuming;
mod reviewing;
mod scenarios;
mod stopping;
mod straying;
mod trouble;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use heirloom_testkit::env::{Ran, TestEnv};
use serde_json::Value;

/// Longer than anything takes.
const PATIENCE: Duration = Duration::from_mins(2);

/// The branch on which finished work comes together.
const TOGETHER: &str = concat!("heirloom/work", "/main");

/// A repository with issues, and an agent that does what each issue's plan says.
struct Yard {
    env: TestEnv,
}

impl Yard {
    fn new() -> Self {
        Self::with_settings("work: {gate: ['! ls bad-*']}\n")
    }

    fn with_settings(settings: &str) -> Self {
        let env = crate::env();
        let plan = env.user().join("plan");
        fs::create_dir_all(&plan).unwrap();
        let script = include_str!("agent.sh")
            .replace("@PLAN@", plan.to_str().unwrap())
            .replace("@HEIRLOOM@", env!("CARGO_BIN_EXE_heirloom"));
        let agent = env.user().join("agent");
        fs::write(&agent, script).unwrap();
        fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
        env.write(".heirloom/config.yaml", settings);
        env.git(&["add", "-A"]);
        env.git(&["commit", "-qm", "settings"]);
        let env = env.var("HEIRLOOM_AGENT_CLAUDE", agent).var("HEIRLOOM_BACKOFF_MS", "50");
        Self { env }
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        self.env.run(arguments)
    }

    #[track_caller]
    fn json(&self, arguments: &[&str]) -> Value {
        self.env.run(&[arguments, &["--json"]].concat()).success().json()
    }

    /// Makes an issue whose agent does one step a launch. Returns its id.
    #[track_caller]
    fn issue(&self, title: &str, steps: &[&str]) -> String {
        self.issue_with(title, steps, &[])
    }

    #[track_caller]
    fn issue_with(&self, title: &str, steps: &[&str], flags: &[&str]) -> String {
        let made = self.json(&[&["issues", "create", title], flags].concat());
        let id = made["id"].as_str().unwrap().to_owned();
        fs::write(self.plan().join(&id), format!("{}\n", steps.join("\n"))).unwrap();
        id
    }

    fn plan(&self) -> PathBuf {
        self.env.user().join("plan")
    }

    fn status(&self, issue: &str) -> String {
        self.json(&["issues", "show", issue])["status"].as_str().unwrap().to_owned()
    }

    /// What the newest run did for an issue.
    #[track_caller]
    fn issue_run(&self, issue: &str) -> Value {
        let run = self.json(&["runs", "show"]);
        let issues = run["issues"].as_array().unwrap();
        let found = issues.iter().find(|each| each["issue"] == issue);
        found.unwrap_or_else(|| panic!("no {issue} in {run}")).clone()
    }

    fn spawn(&self, arguments: &[&str]) -> Child {
        let mut command = self.env.command(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Like [`Yard::spawn`], and what it says can be read while it runs.
    fn spawn_heard(&self, arguments: &[&str]) -> Child {
        let said = fs::File::create(self.said()).unwrap();
        let mut command = self.env.command(arguments);
        command.stdin(Stdio::null()).stdout(said.try_clone().unwrap()).stderr(said);
        command.spawn().unwrap()
    }

    fn said(&self) -> PathBuf {
        self.env.user().join("said")
    }

    #[track_caller]
    fn wait_until_said(&self, text: &str) {
        self.wait(|yard| fs::read_to_string(yard.said()).unwrap().contains(text).then_some(()));
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
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until the issue's agent was launched `count` times and has announced itself.
    #[track_caller]
    fn wait_for_agent(&self, issue: &str, count: usize) {
        self.wait(|yard| {
            let run = yard.run(&["runs", "show", "--json"]);
            let value: Value = serde_json::from_str(&run.stdout).ok()?;
            let issues = value["issues"].as_array()?;
            let found = issues.iter().find(|each| each["issue"] == issue)?;
            let announced = found["agent_session_id"].is_string();
            (announced && yard.launches(issue) >= count).then_some(())
        });
    }

    /// How often the issue's agent was launched.
    fn launches(&self, issue: &str) -> usize {
        fs::read_dir(self.plan().join(format!("{issue}.runs"))).map_or(0, Iterator::count)
    }

    /// What the `n`th launch for an issue was given, counted from 1.
    fn given(&self, issue: &str, n: usize) -> Given {
        let dir = self.plan().join(format!("{issue}.runs")).join(n.to_string());
        // One that was killed at its very beginning may not have got that far.
        let read = |name: &str| fs::read_to_string(dir.join(name)).unwrap_or_default();
        let message: Value = serde_json::from_str(&read("stdin")).unwrap_or_default();
        Given {
            argv: read("argv").lines().map(str::to_owned).collect(),
            cwd: read("cwd").trim().into(),
            prompt: message["message"]["content"].as_str().unwrap_or_default().to_owned(),
            pid: read("pid").trim().parse().ok(),
        }
    }

    fn git(&self, arguments: &[&str]) -> String {
        self.env.git(arguments).trim().to_owned()
    }
}

/// What one launch was given.
struct Given {
    argv: Vec<String>,
    cwd: PathBuf,
    prompt: String,
    pid: Option<u32>,
}

impl Given {
    fn flag(&self, flag: &str) -> Option<&str> {
        let at = self.argv.iter().position(|argument| argument == flag)?;
        self.argv.get(at + 1).map(String::as_str)
    }

    fn is_alive(&self) -> bool {
        self.pid.is_some_and(|pid| heirloom_agents::system::began(pid).is_some())
    }
}

/// Sends a signal.
fn signal(child: &Child, name: &str) {
    // The shell's own: not every machine has the program.
    let kill = format!("kill {name} {}", child.id());
    let sent = std::process::Command::new("sh").args(["-c", &kill]).status().unwrap();
    assert!(sent.success());
}

/// What is in a directory, hidden files too.
fn files(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

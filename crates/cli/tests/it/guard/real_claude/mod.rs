//! The real Claude Code with our hooks in its user settings, and a model that follows a script.

mod sessions;
mod tools;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use heirloom_testkit::model::{Answer, Script};
use heirloom_testkit::real::{self, Served};
use heirloom_testkit::terminal::Terminal;
use serde_json::{Value, json};

use super::Guarded;

/// What most tests ask for.
const PLAN: &str = "requirements:\n  plan: {satisfied_by_skill: review}\n";

pub(crate) struct Real {
    pub(crate) guarded: Guarded,
    program: PathBuf,
    allowed: &'static str,
    /// Whether the model may keep a list of tasks, as it may where a person sits in front of it.
    has_tasks: bool,
}

/// An agent at work.
struct Running {
    child: Child,
    served: Served,
}

/// What a run of the agent came to.
pub(crate) struct Run {
    result: Value,
    requests: Vec<String>,
}

impl Run {
    pub(crate) fn session(&self) -> &str {
        self.result["session_id"].as_str().unwrap()
    }

    pub(crate) fn request(&self, at: usize) -> &str {
        self.requests.get(at).map_or("", String::as_str)
    }

    /// A request says something to the model.
    #[track_caller]
    fn assert_told(&self, at: usize, words: &str) {
        assert!(self.request(at).contains(words), "no `{words}` in {}", self.request(at));
    }
}

impl Real {
    pub(crate) fn new(settings: &str) -> Self {
        let version = heirloom_agents::by_name("claude").unwrap().tested_version().unwrap();
        let program = real::pinned("claude", version);
        let guarded = Guarded::new(settings);
        guarded.env.write(
            ".claude/skills/review/SKILL.md",
            "---\nname: review\ndescription: Reviews the plan\n---\nLook at the plan.\n",
        );
        guarded.env.git(&["config", "user.name", "t"]);
        guarded.env.git(&["config", "user.email", "t@localhost"]);
        guarded.env.git(&["add", "-A"]);
        guarded.env.git(&["commit", "-q", "-m", "settings"]);
        guarded.env.run(&["init", "--agent", "claude"]).success();
        Self { guarded, program, allowed: "Bash,Write,Skill,Agent", has_tasks: false }
    }

    /// The same, with a list of tasks.
    pub(crate) fn with_tasks(self) -> Self {
        Self { has_tasks: true, ..self }
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.guarded.env.repo()
    }

    /// `program`, where it finds nothing but the repository, the hooks and the model.
    fn command(&self, program: impl AsRef<OsStr>, cwd: &Path, served: &Served) -> Command {
        let user = self.guarded.env.user();
        let mut command = Command::new(program);
        command
            .current_dir(cwd)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", &user)
            .env("TMPDIR", &user)
            .env("HEIRLOOM_HOME", self.guarded.env.home())
            .env("NO_PROXY", "127.0.0.1")
            .envs(served.env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// A person types a prompt at a terminal, waits for the answer, and leaves.
    pub(crate) fn typed(&self, prompt: &str, answer: &str) {
        let user = self.guarded.env.user();
        let served = real::claude(&user, Script::new([Answer::text(answer)]));
        // What the program asks a person once: colours, whether to use the key, whether to trust the directory.
        let file = user.join(".claude.json");
        let known = std::fs::read_to_string(&file).unwrap_or_else(|_| "{}".to_owned());
        let mut known: Value = serde_json::from_str(&known).unwrap();
        known["hasCompletedOnboarding"] = json!(true);
        known["theme"] = json!("dark");
        known["customApiKeyResponses"] = json!({"approved": ["sk-scripted"], "rejected": []});
        let repo = self.repo();
        let project = &mut known["projects"][repo.to_str().unwrap()];
        project["hasTrustDialogAccepted"] = json!(true);
        project["hasCompletedProjectOnboarding"] = json!(true);
        std::fs::write(&file, known.to_string()).unwrap();
        let mut command = self.command("setsid", &repo, &served);
        command.arg("--ctty").arg(&self.program).env("TERM", "xterm-256color");
        let mut terminal = Terminal::of_width(command, 120);
        terminal.sees("❯");
        // What comes in one piece with the key that sends it counts as pasted.
        for words in [prompt, "/exit"] {
            terminal.presses(words.as_bytes());
            terminal.sees(words.rsplit(' ').next().unwrap());
            terminal.presses(b"\r");
            if words == prompt {
                terminal.sees(answer);
            }
        }
        let (status, shown) = terminal.ends();
        assert_eq!(status, 0, "{shown}");
    }

    fn start(&self, cwd: &Path, arguments: &[&str], script: Script) -> Running {
        let served = real::claude(&self.guarded.env.user(), script);
        let child = self
            .command(&self.program, cwd, &served)
            .args(["-p", "--allowedTools", self.allowed, "--output-format", "json"])
            .args(arguments)
            .envs(self.has_tasks.then_some(("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1")))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Running { child, served }
    }

    pub(crate) fn run(
        &self,
        cwd: &Path,
        arguments: &[&str],
        answers: impl IntoIterator<Item = Answer>,
    ) -> Run {
        self.start(cwd, arguments, Script::new(answers)).finish()
    }

    /// A run in the repository that does not live to its end.
    pub(crate) fn killed(&self, prompt: &str, answers: impl IntoIterator<Item = Answer>) {
        let running = self.start(&self.repo(), &[prompt], Script::new(answers));
        let output = running.child.wait_with_output().unwrap();
        assert!(!output.status.success(), "{output:?}");
    }

    /// A run in the repository that goes on with a conversation.
    fn resume(&self, run: &Run, prompt: &str, answers: impl IntoIterator<Item = Answer>) -> Run {
        self.run(&self.repo(), &["--resume", run.session(), prompt], answers)
    }

    fn json(&self, arguments: &[&str]) -> Value {
        self.guarded.env.run(&[arguments, &["--json"]].concat()).success().json()
    }

    fn session(&self, id: &str) -> Value {
        let list = self.json(&["sessions", "list"]);
        let mut all = list["sessions"].as_array().unwrap().iter();
        all.find(|row| row["id"] == id).unwrap_or_else(|| panic!("no {id} in {list}")).clone()
    }
}

impl Running {
    fn finish(self) -> Run {
        let output = self.child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let result = serde_json::from_str(text.trim()).unwrap_or_else(|_| {
            panic!("{text}\n{}", String::from_utf8_lossy(&output.stderr));
        });
        Run { result, requests: self.served.requests() }
    }
}

pub(crate) fn write(path: &Path) -> Answer {
    Answer::tool("Write", json!({"file_path": path, "content": "x"}))
}

fn skill() -> Answer {
    Answer::tool("Skill", json!({"skill": "review"}))
}

pub(crate) fn bash(command: &str) -> Answer {
    Answer::tool("Bash", json!({"command": command, "description": "d"}))
}

fn done() -> Answer {
    Answer::text("done")
}

//! The real Claude Code with our hooks in its user settings, and a model that follows a script.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use heirloom_testkit::anthropic::Anthropic;
use heirloom_testkit::model::{Answer, Model, Script};
use serde_json::{Value, json};

use super::Guarded;

/// The pinned program from the cache that `tools/install-agents` fills; nothing where the real
/// agents are not wanted.
fn program() -> Option<PathBuf> {
    if std::env::var("HEIRLOOM_TEST_REAL_AGENTS").is_ok_and(|wanted| wanted == "0") {
        return None;
    }
    let version = heirloom_agents::by_name("claude").unwrap().tested_version().unwrap();
    let home = || PathBuf::from(std::env::var_os("HOME").expect("HOME")).join(".cache");
    let usual = || {
        let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(home, PathBuf::from);
        cache.join("heirloom/agents")
    };
    let cache = std::env::var_os("HEIRLOOM_TEST_CACHE").map_or_else(usual, PathBuf::from);
    let path = cache.join(format!("claude-{version}/node_modules/.bin/claude"));
    assert!(path.exists(), "run `tools/install-agents claude`, or set HEIRLOOM_TEST_REAL_AGENTS=0");
    Some(path)
}

pub(crate) struct Real {
    pub(crate) guarded: Guarded,
    program: PathBuf,
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
}

impl Real {
    pub(crate) fn new(settings: &str) -> Option<Self> {
        let program = program()?;
        let guarded = Guarded::new(settings);
        guarded.env.write(
            ".claude/skills/review/SKILL.md",
            "---\nname: review\ndescription: Reviews the plan\n---\nLook at the plan.\n",
        );
        guarded.env.git(&["config", "user.name", "t"]);
        guarded.env.git(&["config", "user.email", "t@localhost"]);
        guarded.env.git(&["add", "-A"]);
        guarded.env.git(&["commit", "-q", "-m", "settings"]);
        let hooked = guarded.env.run(&["init", "--agent", "claude"]);
        assert_eq!(hooked.code, 0, "{hooked:?}");
        Some(Self { guarded, program })
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.guarded.env.repo()
    }

    fn start(
        &self,
        cwd: &Path,
        arguments: &[&str],
        script: Script,
    ) -> (std::process::Child, Model) {
        let model = Model::start(Anthropic, script);
        let user = self.guarded.env.user();
        let child = Command::new(&self.program)
            .args(["-p", "--allowedTools", "Bash,Write,Skill", "--output-format", "json"])
            .args(arguments)
            .current_dir(cwd)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", &user)
            .env("TMPDIR", &user)
            .env("HEIRLOOM_HOME", self.guarded.env.home())
            .env("ANTHROPIC_BASE_URL", model.url())
            .env("ANTHROPIC_API_KEY", "sk-scripted")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("DISABLE_TELEMETRY", "1")
            .env("DISABLE_AUTOUPDATER", "1")
            .env("NO_PROXY", "127.0.0.1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        (child, model)
    }

    pub(crate) fn run(
        &self,
        cwd: &Path,
        arguments: &[&str],
        answers: impl IntoIterator<Item = Answer>,
    ) -> Run {
        finish(self.start(cwd, arguments, Script::new(answers)))
    }
}

fn finish((child, model): (std::process::Child, Model)) -> Run {
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let result = serde_json::from_str(text.trim()).unwrap_or_else(|_| {
        panic!("{text}\n{}", String::from_utf8_lossy(&output.stderr));
    });
    let all = model.requests().into_iter();
    let requests =
        all.filter(|each| each.path.starts_with("/v1/messages")).map(|each| each.text()).collect();
    Run { result, requests }
}

fn write(path: &Path) -> Answer {
    Answer::tool("Write", json!({"file_path": path, "content": "x"}))
}

fn skill() -> Answer {
    Answer::tool("Skill", json!({"skill": "review"}))
}

fn bash(command: &str) -> Answer {
    Answer::tool("Bash", json!({"command": command, "description": "d"}))
}

const PLAN: &str = "requirements:\n  plan: {satisfied_by_skill: review}\n";

#[test]
fn a_write_is_denied_until_the_skill_ran_and_a_resumed_session_keeps_it() {
    let Some(real) = Real::new(PLAN) else { return };
    let (one, two, three) =
        (real.repo().join("one"), real.repo().join("two"), real.repo().join("three"));
    let answers = [write(&one), skill(), write(&two), Answer::text("done")];
    let run = real.run(&real.repo(), &["write it"], answers);
    assert!(run.request(0).contains("0 of 1 requirements met on main"), "{}", run.request(0));
    assert!(run.request(1).contains("plan is not met for this session"), "{}", run.request(1));
    assert!(!one.exists() && two.exists());
    let resumed = real.run(&real.repo(), &["--resume", run.session(), "again"], [write(&three)]);
    assert_eq!(resumed.session(), run.session());
    assert!(three.exists());
    let sessions = real.guarded.env.run(&["sessions", "list", "--json"]).json();
    assert_eq!(sessions["sessions"][0]["id"], run.session());
    assert_eq!(sessions["sessions"][0]["status"], "completed");
}

#[test]
fn a_single_use_is_used_up_by_a_commit_that_succeeds() {
    let Some(real) = Real::new(
        "requirements:\n  reviewed: {scope: single_use, satisfied_by_skill: review, trigger_tools: [{tool: Bash, command: [git, commit]}]}\n",
    ) else {
        return;
    };
    let commit = || bash("git commit -q --allow-empty -m x");
    let fails = bash("git commit -q -m nothing-to-commit");
    let answers = [commit(), skill(), fails, commit(), commit(), Answer::text("done")];
    let run = real.run(&real.repo(), &["commit it"], answers);
    let log = real.guarded.env.git(&["log", "--format=%s"]);
    assert_eq!(log.lines().filter(|line| *line == "x").count(), 1, "{log}");
    assert!(run.request(1).contains("reviewed is not met"));
}

#[test]
fn a_turn_goes_on_until_what_it_triggered_is_met() {
    let Some(real) =
        Real::new("requirements:\n  verified: {stop_only: true, satisfied_by_skill: review}\n")
    else {
        return;
    };
    let made = real.repo().join("made");
    let answers = [write(&made), Answer::text("done?"), skill(), Answer::text("done!")];
    let run = real.run(&real.repo(), &["do it"], answers);
    assert!(made.exists());
    assert!(run.request(2).contains("Not finished: verified is not met"), "{}", run.request(2));
    assert_eq!(run.result["result"], "done!");
}

#[test]
fn a_subdirectory_and_a_worktree_are_gated() {
    let Some(real) = Real::new(PLAN) else { return };
    let below = real.repo().join("src/deep");
    fs::create_dir_all(&below).unwrap();
    let tree = real.repo().with_file_name("payments-fix");
    real.guarded.env.git(&["worktree", "add", "-q", "-b", "fix", tree.to_str().unwrap()]);
    for cwd in [below, tree] {
        let made = cwd.join("made");
        let run = real.run(&cwd, &["write it"], [write(&made), Answer::text("done")]);
        assert!(!made.exists(), "{}", cwd.display());
        assert!(run.request(1).contains("plan is not met"), "{}", cwd.display());
    }
}

#[test]
fn two_sessions_at_once_are_two() {
    let Some(real) = Real::new(PLAN) else { return };
    let (one, two) = (real.repo().join("one"), real.repo().join("two"));
    let first = real.start(&real.repo(), &["a"], Script::new([skill(), write(&one)]));
    let second = real.start(&real.repo(), &["b"], Script::new([write(&two)]));
    let (first, second) = (finish(first), finish(second));
    assert_ne!(first.session(), second.session());
    assert!(one.exists() && !two.exists());
    assert!(second.request(1).contains("plan is not met"));
}

#[test]
fn a_compacted_context_is_told_again_how_it_stands() {
    let Some(real) = Real::new(PLAN) else { return };
    let answers = [Answer::text("hello"), Answer::text("hello again")];
    let run = real.run(&real.repo(), &["hi"], answers);
    real.run(
        &real.repo(),
        &["--resume", run.session(), "/compact"],
        [Answer::text("<summary>all</summary>")],
    );
    let after =
        real.run(&real.repo(), &["--resume", run.session(), "go on"], [skill(), Answer::text("x")]);
    assert_eq!(after.session(), run.session());
    assert!(after.request(0).contains("0 of 1 requirements met on main"), "{}", after.request(0));
    let made = real.repo().join("made");
    real.run(
        &real.repo(),
        &["--resume", run.session(), "write"],
        [write(&made), Answer::text("x")],
    );
    assert!(made.exists(), "what was satisfied stays so");
}

#[test]
fn a_skill_that_the_person_types_counts() {
    let Some(real) = Real::new(PLAN) else { return };
    let made = real.repo().join("made");
    real.run(&real.repo(), &["/review"], [write(&made), Answer::text("done")]);
    assert!(made.exists());
}

#[test]
fn a_forked_conversation_is_a_session_that_comes_from_the_other() {
    let Some(real) = Real::new(PLAN) else { return };
    let first = real.run(&real.repo(), &["hi"], [skill(), Answer::text("hello")]);
    let made = real.repo().join("made");
    let arguments = ["--resume", first.session(), "--fork-session", "write it"];
    let fork = real.run(&real.repo(), &arguments, [write(&made), Answer::text("done")]);
    assert_ne!(fork.session(), first.session());
    assert!(!made.exists(), "another session has to satisfy it itself");
    let lineage = real.guarded.env.run(&["lineage", fork.session(), "--json"]).json();
    let parent = format!("claude-{}", &first.session()[..8]);
    assert_eq!(lineage["ancestors"][0]["name"], parent.as_str(), "{lineage}");
}

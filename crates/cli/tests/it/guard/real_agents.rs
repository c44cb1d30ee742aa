//! The real Codex, Gemini CLI and opencode with the hooks that `heirloom init` installs, and a model
//! that follows a script.

use std::fs;
use std::path::Path;

use heirloom_agents::{
    Agent, Conversation, Env, Finished, Input, Launch, Outcome, Process, Programs, Taps, by_name,
    codex,
};
use heirloom_core::config::Config;
use heirloom_testkit::model::{Answer, Script};
use heirloom_testkit::real::{self, Served};
use serde_json::{Value, json};

use super::Guarded;

const SETTINGS: &str = "
guard: {stop_blocks: 5}
requirements:
  plan: {}
  reviewed: {scope: single_use, trigger_tools: [{tool: Bash, command: [git, commit]}]}
  verified: {stop_only: true, trigger_tools: [Edit, Write]}
";

/// One agent, and how it is driven here.
struct Subject {
    name: &'static str,
    serve: fn(&Path, Script) -> Served,
    /// Whether it lets a hook keep a turn from ending.
    can_be_kept: bool,
    /// What lets it do anything.
    permission_mode: Option<&'static str>,
    shell: fn(&str) -> Answer,
    /// How its model writes a file of the current directory.
    write: fn(&Path, &str) -> Answer,
}

const CODEX: Subject = Subject {
    name: "codex",
    serve: real::codex,
    can_be_kept: true,
    permission_mode: Some("danger-full-access"),
    shell: |command| Answer::tool("exec_command", json!({"cmd": command, "yield_time_ms": 30_000})),
    write: |_, name| {
        let patch = format!("*** Begin Patch\n*** Add File: {name}\n+x\n*** End Patch");
        (CODEX.shell)(&format!("apply_patch <<'EOF'\n{patch}\nEOF"))
    },
};

const GEMINI: Subject = Subject {
    name: "gemini",
    serve: real::gemini,
    can_be_kept: true,
    permission_mode: Some("yolo"),
    shell: |command| Answer::tool("run_shell_command", json!({"command": command})),
    write: |directory, name| {
        Answer::tool("write_file", json!({"file_path": directory.join(name), "content": "x"}))
    },
};

const OPENCODE: Subject = Subject {
    name: "opencode",
    serve: real::opencode,
    can_be_kept: false,
    permission_mode: None,
    shell: |command| Answer::tool("bash", json!({"command": command, "description": "d"})),
    write: |directory, name| {
        Answer::tool("write", json!({"filePath": directory.join(name), "content": "x"}))
    },
};

/// An agent with our hooks.
pub(crate) struct Real {
    subject: &'static Subject,
    agent: &'static dyn Agent,
    pub(crate) guarded: Guarded,
    programs: Programs,
}

/// What a run of the agent came to.
pub(crate) struct Run {
    finished: Finished,
    pub(crate) requests: Vec<String>,
}

impl Real {
    fn new(subject: &'static Subject) -> Self {
        Self::with(subject, SETTINGS)
    }

    fn with(subject: &'static Subject, settings: &str) -> Self {
        let agent = by_name(subject.name).unwrap();
        let program = real::pinned(subject.name, agent.tested_version().unwrap());
        let mut programs = Programs::default();
        programs.replace(subject.name, vec![program.to_str().unwrap().to_owned()]);
        let variable = format!("HEIRLOOM_AGENT_{}", subject.name.to_uppercase());
        let guarded = Guarded::new(settings);
        let guarded = Guarded { env: guarded.env.var(&variable, program) };
        guarded.env.git(&["config", "user.name", "t"]);
        guarded.env.git(&["config", "user.email", "t@localhost"]);
        guarded.env.run(&["init", "--agent", subject.name]).success();
        Self { subject, agent, guarded, programs }
    }

    pub(crate) fn run(&self, cwd: &Path, answers: impl IntoIterator<Item = Answer>) -> Run {
        self.say(cwd, "work", answers)
    }

    fn say(&self, cwd: &Path, prompt: &str, answers: impl IntoIterator<Item = Answer>) -> Run {
        let user = self.guarded.env.user();
        let served = (self.subject.serve)(&user, Script::new(answers));
        let text = |name: &str, value: &str| (name.into(), value.into());
        let mut env = Env::from([
            text("PATH", &std::env::var("PATH").unwrap()),
            text("HTTPS_PROXY", "http://127.0.0.1:9"),
            text("NO_PROXY", "127.0.0.1,localhost"),
            ("HOME".into(), user.clone().into()),
            ("TMPDIR".into(), user.clone().into()),
            ("HEIRLOOM_HOME".into(), self.guarded.env.home().into()),
        ]);
        env.extend(served.env.iter().map(|(name, value)| text(name, value)));
        let permission_mode = self.subject.permission_mode.map(str::to_owned);
        let line = self.agent.launch(&Launch {
            config: &Config { permission_mode, ..Config::default() },
            prompt,
            conversation: Conversation::New(None),
            input: Input::Once,
            cwd,
            env: &env,
            programs: &self.programs,
            scratch: &user.join("scratch"),
            as_root: true,
        });
        let process = Process::spawn(self.agent, line.unwrap(), Taps::default()).unwrap();
        let finished = process.finish();
        assert_eq!(finished.outcome, Outcome::Success, "{finished:#?}");
        Run { finished, requests: served.requests() }
    }

    pub(crate) fn shell(&self, command: &str) -> Answer {
        (self.subject.shell)(command)
    }

    pub(crate) fn write(&self, directory: &Path, name: &str) -> Answer {
        (self.subject.write)(directory, name)
    }

    /// A command of heirloom that the model runs in its shell.
    pub(crate) fn heirloom(&self, arguments: &str) -> Answer {
        self.shell(&format!("{} {arguments}", env!("CARGO_BIN_EXE_heirloom")))
    }

    fn json(&self, arguments: &[&str]) -> Value {
        self.guarded.env.run(&[arguments, &["--json"]].concat()).json()
    }
}

impl Run {
    fn session(&self) -> &str {
        self.finished.tally.agent_session_id.as_deref().unwrap()
    }

    #[track_caller]
    fn assert_told(&self, at: usize, words: &str) {
        let request = self.requests.get(at).map_or("", String::as_str);
        assert!(request.contains(words), "no `{words}` in {request}");
    }
}

/// One conversation: a write is denied, also below the repository's root, until the model says through
/// its own shell that it may; a commit that fails uses nothing up, and one that succeeds does; and the
/// turn does not end while something is unmet, where the agent lets us say so.
fn assert_gated(real: &Real) {
    let below = real.guarded.env.repo().join("src");
    fs::create_dir_all(&below).unwrap();
    let commit = || real.shell("git commit -q --allow-empty -m x");
    let run = real.run(
        &below,
        [
            real.write(&below, "one"),
            real.heirloom("req satisfy plan reviewed --reason trivial"),
            real.write(&below, "two"),
            real.shell("git commit -q -m nothing-to-commit"),
            commit(),
            commit(),
            Answer::text("done?"),
            Answer::text("two"),
            Answer::text("three"),
            Answer::text("four"),
            Answer::text("five"),
            Answer::text("done!"),
        ],
    );
    run.assert_told(0, "0 of 3 requirements met on main");
    run.assert_told(1, "plan is not met for this session.");
    assert!(!below.join("one").exists());
    assert!(below.join("two").exists(), "{:#?}", run.requests.last());
    run.assert_told(6, "reviewed is not met for this action.");
    let commits = real.guarded.env.git(&["log", "--format=%s"]);
    assert_eq!(commits.lines().filter(|line| *line == "x").count(), 1, "{commits}");
    if real.subject.can_be_kept {
        run.assert_told(7, "Not finished: verified is not met for this session.");
    }
    let last = if real.subject.can_be_kept { "done!" } else { "done?" };
    assert_eq!(run.finished.tally.text.as_deref(), Some(last));
    assert_recorded(real, &run);
}

/// What the model said was for its own session, and is recorded as the agent's.
fn assert_recorded(real: &Real, run: &Run) {
    let row = real.json(&["sessions", "list"])["sessions"][0].clone();
    assert_eq!(row["agent"], real.subject.name);
    assert_eq!(row["agent_session_id"], run.session());
    let log = real.json(&["req", "log"])["log"].clone();
    let happened = |what: &str| -> Vec<String> {
        let all = log.as_array().unwrap().iter().filter(|each| each["what"] == what);
        all.map(|each| format!("{} by {}", each["name"], each["how"]).replace('"', "")).collect()
    };
    assert_eq!(happened("satisfied"), ["reviewed by agent", "plan by agent"], "{log}");
    assert_eq!(happened("cleared"), ["reviewed by used"], "{log}");
    let kept = if real.subject.can_be_kept { 5 } else { 0 };
    assert_eq!(happened("stop_blocked").len(), kept, "{log}");
}

/// What guards agents, what heirloom knows, and what the engine keeps of other sessions is not the model's to write, with
/// its own tools or through its shell. Nothing is set: so it is by default.
fn assert_kept_out(real: &Real) {
    let repo = real.guarded.env.repo();
    for file in super::NOT_THE_AGENTS {
        let path = repo.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let before = fs::read(&path).ok();
        let through_shell = real.shell(&format!("echo forged > {file}"));
        let run = real.run(&repo, [through_shell, real.write(&repo, file), Answer::text("done")]);
        assert_eq!(fs::read(&path).ok(), before, "{file}");
        for told in [1, 2] {
            run.assert_told(told, "guards agents here");
        }
    }
}

/// A loop with default settings and nobody at a terminal: what the engine reads of an agent's own session is the agent's to
/// write.
fn assert_reports(real: Real) {
    let report = r#"printf '{"decision":"stop","summary":"all done"}' > "$HEIRLOOM_STATUS""#;
    let script = Script::new([real.shell(report), Answer::text("done")]);
    let served = (real.subject.serve)(&real.guarded.env.user(), script);
    let mut env = real.guarded.env;
    env = env.var("HTTPS_PROXY", "http://127.0.0.1:9").var("NO_PROXY", "127.0.0.1,localhost");
    for (name, value) in &served.env {
        env = env.var(name, value);
    }
    let agent = real.subject.name;
    let ran = env.run(&["run", "ralph", "s", "1", "--agent", agent, "--permissions", "accept"]);
    assert!(ran.code == 0 && ran.stdout.contains("all done"), "{ran}: {:?}", served.requests());
    assert!(!ran.stdout.contains("denied"), "{ran}");
}

/// Codex with a person's trust in our hooks.
pub(crate) fn trusted_codex() -> Real {
    trusting(Real::new(&CODEX))
}

fn trusting(real: Real) -> Real {
    let home = real.guarded.env.user().join(".codex");
    let hooks = home.join("hooks.json");
    let trust = codex::trusting(&hooks, &fs::read_to_string(&hooks).unwrap());
    fs::write(home.join("trust.toml"), trust).unwrap();
    real
}

#[test]
#[ignore = "drives a real agent"]
fn codex_begins_with_what_its_sessions_before_left_and_nobody_typed_heirloom() {
    let real = trusting(Real::with(&CODEX, ""));
    let repo = real.guarded.env.repo();
    let prompt = "Make the parser accept nested lists. Never touch legacy/, customers build that.";
    let fails = "echo 'FAILED test_parser.py::test_nested - AssertionError: not parsed'; exit 1";
    let failing = [real.write(&repo, "parser.py"), real.shell(fails), Answer::text("not yet")];
    real.say(&repo, prompt, failing);
    let prompt = "Use an explicit stack instead of recursion, because deep input overflowed.";
    let commit = "git add -A && git commit -q -m 'parser: a stack' && git log --oneline -1";
    let plan = json!({"plan": [{"step": "use the stack", "status": "completed"},
                               {"step": "limit the depth to sixteen", "status": "pending"}]});
    let second = [Answer::tool("update_plan", plan), real.shell(commit), Answer::text("committed")];
    real.say(&repo, prompt, second);
    let third = real.say(&repo, "go on", [Answer::text("x")]);
    let wanted = [
        ("what was asked", "explicit stack instead of recursion"),
        ("why", "because deep input overflowed"),
        ("the rule", "Never touch legacy/"),
        ("what comes next", "limit the depth to sixteen"),
        ("the handoff", "heirloom handoffs show "),
    ];
    for (what, words) in wanted {
        let request = &third.requests[0];
        assert!(request.contains(words), "{what} (`{words}`) is not in {request}");
    }
}

#[test]
#[ignore = "drives a real agent"]
fn codex_begins_with_what_stands_of_passing_remarks_and_nothing_twice() {
    let real = trusting(Real::with(&CODEX, ""));
    let repo = real.guarded.env.repo();
    let secret = format!("AKIA{}", "IOSFODNN7EXAMPLE");
    let say = |prompt: &str, answers: Vec<Answer>| real.say(&repo, prompt, answers);
    say("hey the rates are slow as hell, stick em in redis", vec![Answer::text("ok")]);
    let plan = json!({"plan": [{"step": "open the sqlite file", "status": "completed"},
                               {"step": "retry with backoff on 503", "status": "pending"}]});
    let planned = Answer::tool("update_plan", plan);
    let changed = "nah, scrap redis, let's just do sqlite, fewer moving parts";
    say(changed, vec![planned, Answer::text("ok")]);
    say("pls don't ever run the migrations on staging", vec![Answer::text("ok")]);
    let fails =
        "echo 'FAILED test_rates.py::test_jitter - AssertionError: jitter is missing'; exit 1";
    let prompt = format!("give it some jitter, the key is AWS_ACCESS_KEY_ID={secret}");
    say(&prompt, vec![real.write(&repo, "retry.py"), real.shell(fails), Answer::text("hm")]);
    let next = say("where were we", vec![Answer::text("x")]);
    let request = &next.requests[0];
    let begin = request.rfind("<heirloom-recovery>").unwrap_or_else(|| panic!("none in {request}"));
    let block = request[begin..].split("</heirloom-recovery>").next().unwrap();
    let wanted = [
        ("what is being done", "Asked last: \\\"give it some jitter"),
        ("what is next", "retry with backoff on 503"),
        ("what was decided, and why", "let's just do sqlite, fewer moving parts"),
        ("the rule", "don't ever run the migrations on staging"),
        ("what fails", "jitter is missing"),
    ];
    for (what, words) in wanted {
        assert_eq!(block.matches(words).count(), 1, "{what} (`{words}`) in {block}");
    }
    assert!(!block.contains("em in redis") && !block.contains("AKIA"), "{block}");
}

#[test]
#[ignore = "drives a real agent"]
fn codex_is_gated() {
    let real = trusted_codex();
    assert_gated(&real);
}

#[test]
#[ignore = "drives a real agent"]
fn codex_hooks_that_nobody_trusts_are_found_out() {
    let real = Real::new(&CODEX);
    let hooks = |real: &Real| {
        let doctor = real.json(&["doctor"]);
        let mut checks = doctor["checks"].as_array().unwrap().iter();
        checks.find(|check| check["name"] == "codex hooks").unwrap().clone()
    };
    let check = hooks(&real);
    assert_eq!(check["health"], "problem", "{check}");
    assert!(check["hint"].as_str().unwrap().contains("/hooks"), "{check}");
    let repo = real.guarded.env.repo();
    real.run(&repo, [real.write(&repo, "made"), Answer::text("done")]);
    assert!(repo.join("made").exists(), "Codex passes over them without a word");
    let home = real.guarded.env.user().join(".codex");
    let file = home.join("hooks.json");
    let trust = codex::trusting(&file, &fs::read_to_string(&file).unwrap());
    fs::write(home.join("config.toml"), trust).unwrap();
    assert_eq!(hooks(&real)["health"], "ok");
}

#[test]
#[ignore = "drives a real agent"]
fn gemini_is_gated() {
    let real = Real::new(&GEMINI);
    assert_gated(&real);
}

#[test]
#[ignore = "drives a real agent"]
fn opencode_is_gated() {
    let real = Real::new(&OPENCODE);
    assert_gated(&real);
}

#[test]
#[ignore = "drives a real agent"]
fn codex_does_not_write_what_guards_it() {
    assert_kept_out(&trusting(Real::with(&CODEX, "")));
}

#[test]
#[ignore = "drives a real agent"]
fn gemini_does_not_write_what_guards_it() {
    assert_kept_out(&Real::with(&GEMINI, ""));
}

#[test]
#[ignore = "drives a real agent"]
fn opencode_does_not_write_what_guards_it() {
    assert_kept_out(&Real::with(&OPENCODE, ""));
}

#[test]
#[ignore = "drives a real agent"]
fn codex_reports_from_a_loop_with_default_settings() {
    assert_reports(trusting(Real::with(&CODEX, "")));
}

#[test]
#[ignore = "drives a real agent"]
fn gemini_reports_from_a_loop_with_default_settings() {
    assert_reports(Real::with(&GEMINI, ""));
}

#[test]
#[ignore = "drives a real agent"]
fn opencode_reports_from_a_loop_with_default_settings() {
    assert_reports(Real::with(&OPENCODE, ""));
}

//! Every command's `--json`, against the schema that `heirloom schema` prints for it.

mod held;

use std::collections::BTreeSet;
use std::process::{Child, Stdio};

use heirloom_testkit::env::TestEnv;
use serde_json::Value;

use crate::{capture, env};

/// A repository with something of everything in it.
struct House {
    env: TestEnv,
    /// The schemas that an answer was held against.
    seen: BTreeSet<&'static str>,
}

impl House {
    fn new() -> Self {
        let env = env();
        env.write("src/auth.rs", "pub fn refresh() {\n    // rotates the refresh token\n}\n");
        env.write(
            ".heirloom/config.yaml",
            "requirements:\n  plan: {trigger_tools: [Edit], message: plan first}\n",
        );
        env.git(&["add", "-A"]);
        env.git(&["commit", "-qm", "code"]);
        let record = env.user().join("record");
        std::fs::create_dir_all(&record).unwrap();
        let script = include_str!("../session/recorder.sh");
        let asks = env.script("agent", &script.replace("@RECORD@", record.to_str().unwrap()));
        let env = env.var("HEIRLOOM_AGENT_CLAUDE", asks).var("HEIRLOOM_AGENT_COMMAND", "sleep 600");
        Self { env, seen: BTreeSet::new() }
    }

    /// Starts a command that is not waited for.
    fn spawn(&self, arguments: &[&str]) -> Child {
        let mut command = self.env.command(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Asks again and again until an approval waits, and returns its id.
    fn waiting(&mut self) -> String {
        loop {
            let list = self.ask("approvals-list", &["approvals", "list"]);
            if let Some(approval) = list["approvals"].as_array().unwrap().first() {
                return id(approval).to_owned();
            }
        }
    }

    /// Runs a command with `--json` and holds what it prints against the schema `name`.
    #[track_caller]
    fn ask(&mut self, name: &'static str, arguments: &[&str]) -> Value {
        let ran = self.env.run(&[arguments, &["--json"]].concat());
        let answer = ran.json();
        assert!(answer.get("error").is_none() || name == "error", "{ran}");
        self.hold(name, &answer);
        answer
    }

    /// The same for a command that prints an object a line.
    #[track_caller]
    fn follow(&mut self, name: &'static str, arguments: &[&str]) -> Vec<Value> {
        let ran = self.env.run(&[arguments, &["--json"]].concat());
        let line = |line: &str| serde_json::from_str(line).unwrap_or_else(|_| panic!("{ran}"));
        let lines: Vec<Value> = ran.stdout.lines().map(line).collect();
        assert!(!lines.is_empty(), "{ran}");
        for line in &lines {
            self.hold(name, line);
            self.hold("events", line);
        }
        lines
    }

    #[track_caller]
    fn hold(&mut self, name: &'static str, answer: &Value) {
        let wrong = held::against(&heirloom_api::schema(name).unwrap(), answer);
        assert!(wrong.is_empty(), "{name}: {wrong:#?}\n{answer:#}");
        self.seen.insert(name);
    }
}

fn id(answer: &Value) -> &str {
    answer["id"].as_str().unwrap()
}

#[test]
fn every_command_answers_what_its_schema_says() {
    let mut house = House::new();
    set_up(&mut house);
    sessions(&mut house);
    notes(&mut house);
    requirements(&mut house);
    issues(&mut house);
    work(&mut house);
    approvals(&mut house);
    ledger(&mut house);
    captured(&mut house);
    shared(&mut house);
    serving(&mut house);
    types_alone(&mut house);
    let names: BTreeSet<&str> = heirloom_api::names().iter().map(|name| name.name).collect();
    let unseen: Vec<_> = names.difference(&house.seen).collect();
    assert!(unseen.is_empty(), "no answer was held against {unseen:?}");
}

fn shared(house: &mut House) {
    let postgres = heirloom_testkit::postgres::Postgres::start();
    let url = postgres.owner();
    house.env.run(&["init", "--yes"]).success();
    house.ask("hub-migrate", &["hub", "migrate", &url]);
    house.ask("hub-join", &["hub", "join", &url, "--history", "--yes"]);
    house.ask("hub-push", &["hub", "push"]);
    house.ask("hub-pull", &["hub", "pull"]);
    house.ask("hub-status", &["hub", "status"]);
    house.ask("hub-invite", &["hub", "invite", "ada"]);
    house.ask("hub-revoke", &["hub", "revoke", "ada"]);
    house.ask("hub-leave", &["hub", "leave"]);
}

fn captured(house: &mut House) {
    let transcript = capture::transcript(&house.env);
    std::fs::write(&transcript, capture::day(&house.env)).unwrap();
    house.ask("sync", &["sync", "--agent", "claude"]);
    house.ask("archive-list", &["archive", "list"]);
    house.ask("archive-show", &["archive", "show", capture::ID]);
    house.ask("why", &["why", "src/parser.rs"]);
    house.ask("how", &["how", "parser nested failed"]);
    house.ask("resume", &["resume", "nested lists"]);
    house.ask("resume-print", &["resume", capture::ID, "--print"]);
    std::fs::remove_file(&transcript).unwrap();
    house.ask("archive-restore", &["archive", "restore", capture::ID]);
    house.ask("sessions-update", &["sessions", "update", "hello", "--title", "greetings"]);
    house.ask("sessions-forget", &["sessions", "forget", capture::ID, "--yes"]);
}

fn serving(house: &mut House) {
    let mut command = house.env.command(&["serve", "--json"]);
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let stdout = child.stdout.take().unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line).unwrap();
    house.ask("serve-link", &["serve", "--link"]);
    house.ask("serve-install", &["serve", "--install"]);
    child.kill().unwrap();
    child.wait().unwrap();
    house.hold("serve", &serde_json::from_str(&line).unwrap());
}

fn set_up(house: &mut House) {
    house.ask("init", &["init", "--agent", "claude"]);
    house.ask("doctor", &["doctor"]);
    house.ask("home", &[]);
    house.ask("usage", &["usage"]);
    let offered = house.env.run(&["complete", "--json", "--at", "1", "--", "heirloom", "ses"]);
    house.hold("complete", &offered.json());
    house.ask("statusline", &["statusline"]);
    house.ask("trust", &["trust", "--show"]);
    let shown = house.ask("repo-show", &["repo", "show"]);
    house.hold("repo-link", &shown);
    house.ask("agents", &["agents"]);
    house.ask("demo", &["demo"]);
    house.ask("completions", &["completions", "fish"]);
    house.ask("man", &["man"]);
    house.ask("schema", &["schema"]);
    house.ask("config-show", &["config", "show"]);
    house.ask("config-path", &["config", "path"]);
    house.ask("config-schema", &["config", "schema"]);
    house.ask("stages-list", &["stages", "list"]);
    house.ask("stages-show", &["stages", "show", "ralph"]);
    house.ask("stages-lint", &["stages", "lint"]);
    house.ask("pipelines-list", &["pipelines", "list"]);
    house.ask("pipelines-show", &["pipelines", "show", "refine"]);
    house.env.write(".heirloom/pipelines/broken.yaml", "name: broken\nnodes: 7\n");
    house.ask("pipelines-lint", &["pipelines", "lint"]);
    house.ask("error", &["status", "nobody"]);
    house.ask("error", &["sesions"]);
}

fn sessions(house: &mut House) {
    let sim = ["--agent", "sim"];
    house.ask("run-dry-run", &["run", "refine", "planned", "--dry-run", "--agent", "sim"]);
    house.follow("run", &[&["run", "ralph", "auth-v1", "2"][..], &sim].concat());
    house
        .follow("run", &["run", "ralph", "auth-v2", "1", "--inherit", "auth-v1", "--agent", "sim"]);
    house.follow("watch", &["watch", "auth-v2"]);
    house.ask("run-detach", &["run", "ralph", "auth-v3", "1", "--agent", "sim", "--detach"]);
    house.env.run(&["watch", "auth-v3"]);
    house.ask("inherit", &["inherit", "auth-v1"]);
    house.ask("lineage", &["lineage", "auth-v2"]);
    house.ask("status", &["status", "auth-v1"]);
    house.ask("launch", &["launch", "say hello", "--name", "hello", "--agent", "sim"]);
    house.ask("continue", &["continue", "hello", "and goodbye"]);
    house.ask("fork", &["fork", "hello", "or welcome"]);
    house.ask("conversation", &["conversation", "hello"]);
    house.ask("sessions-list", &["sessions", "list"]);
    house.ask("sessions-show", &["sessions", "show", "auth-v1"]);
    house.env.write(".claude/pipeline-runs/old/state.json", r#"{"status":"complete"}"#);
    house.ask("sessions-show-unrecorded", &["sessions", "show", "old"]);
    house.ask("sessions-show-config", &["sessions", "show", "hello", "--config"]);
    house.ask("sessions-show-learnings", &["sessions", "show", "auth-v1", "--learnings"]);
    house.ask("sessions-show-trajectory", &["sessions", "show", "auth-v1", "--trajectory"]);
    house.ask("sessions-hide", &["sessions", "hide", "auth-v3"]);
    house.ask("sessions-private", &["sessions", "private", "auth-v3"]);
    house.ask("config-save-template", &["config", "save-template", "hello", "greeting"]);
    house.ask("config-templates", &["config", "templates"]);
}

fn notes(house: &mut House) {
    let decision = ["note", "decision", "rotate refresh tokens", "--because", "theft"];
    house.ask("note", &[&decision[..], &["--evidence", "src/auth.rs:2"]].concat());
    house.ask("note", &["note", "learning", "no cache", "--absent", "cache_of_tokens"]);
    house.ask("notes", &["notes"]);
    let rule = house.ask("rules-keep", &["rules", "keep", "never touch legacy/"]);
    house.ask("rules-list", &["rules", "list"]);
    house.ask("rules-drop", &["rules", "drop", id(&rule)]);
    house.ask("search", &["search", "refresh"]);
    house.ask("ground", &["ground", "--all"]);
    house.ask("checkpoint", &["checkpoint"]);
    house.ask("handoffs-list", &["handoffs", "list"]);
    house.ask("handoffs-show", &["handoffs", "show"]);
    house.ask("recover", &["recover", "1"]);
    house.ask("context-rules", &["context", "rules"]);
    house.ask("fork-check", &["fork-check", "--claim", "we never rotate refresh tokens"]);
    house.ask("heal", &["heal", "--check"]);
}

fn requirements(house: &mut House) {
    let session = "11111111-2222-3333-4444-555555555555";
    house.ask("req-status", &["req", "status"]);
    house.ask("req-explain", &["req", "explain", "Edit", "--path", "src/auth.rs"]);
    for name in ["req-satisfy", "req-approve", "req-clear"] {
        let word = name.trim_start_matches("req-");
        house.ask(name, &["req", word, "plan", "--session", session]);
    }
    house.ask("req-pause", &["req", "pause", "--repo", "--reason", "a fire"]);
    house.ask("req-status", &["req", "status"]);
    house.ask("req-resume", &["req", "resume", "--repo"]);
    house.ask("req-state", &["req", "state"]);
    house.ask("req-log", &["req", "log"]);
    house.ask("req-prune", &["req", "prune"]);
}

fn issues(house: &mut House) {
    let first = house.ask("issues-create", &["issues", "create", "rotate tokens"]);
    let second = house.ask("issues-create", &["issues", "create", "test it", "--label", "auth"]);
    let (first, second) = (id(&first).to_owned(), id(&second).to_owned());
    house.ask("issues-dep", &["issues", "dep", &second, &first]);
    house.ask("issues-dep-list", &["issues", "dep", "list", &second]);
    house.ask("issues-dep-remove", &["issues", "dep", "remove", &second, &first]);
    house.ask("issues-dep-add", &["issues", "dep", "add", &second, &first]);
    house.ask("issues-update", &["issues", "update", &first, "--claim", "--actor", "ada"]);
    house.ask("issues-update", &["issues", "update", &first, &second, "--priority", "1"]);
    house.ask("issues-comment", &["issues", "comment", &first, "soon"]);
    house.ask("issues-show", &["issues", "show", &first]);
    house.ask("issues-list", &["issues", "list"]);
    house.ask("issues-ready", &["issues", "ready"]);
    house.ask("issues-export", &["issues", "export", "issues.jsonl"]);
    house.ask("issues-import", &["issues", "import", "issues.jsonl"]);
    house.ask("issues-close", &["issues", "close", &first, "--reason", "done"]);
    house.env.run(&["issues", "update", &second, "--status", "open"]).success();
}

fn work(house: &mut House) {
    house.ask("work-dry-run", &["work", "--dry-run"]);
    house.follow("work", &["work", "--agent", "sim", "--in-place", "--max-issues", "1"]);
    house.ask("work-clean", &["work", "clean"]);
    house.ask("runs-list", &["runs", "list"]);
    house.ask("runs-show", &["runs", "show"]);
}

/// Sessions whose agents wait: something to approve, to deny, to stop and to interrupt.
fn approvals(house: &mut House) {
    let mut asks = house.spawn(&["launch", "ask twice", "--name", "asks", "--agent", "claude"]);
    let first = house.waiting();
    house.ask("approvals-show", &["approvals", "show", &first]);
    house.ask("approvals-approve", &["approvals", "approve", &first]);
    let second = house.waiting();
    house.ask("approvals-deny", &["approvals", "deny", &second, "--reason", "no"]);
    asks.wait().unwrap();
    let mut asks = house.spawn(&["launch", "ask once", "--name", "again", "--agent", "claude"]);
    house.waiting();
    house.ask("interrupt", &["interrupt", "again"]);
    asks.wait().unwrap();
    let mut sleeps = house.spawn(&["run", "ralph", "sleeps", "1", "--agent", "command"]);
    while house.env.run(&["status", "sleeps", "--json"]).json()["iteration"].is_null() {}
    house.ask("sessions-stop", &["sessions", "stop", "sleeps", "--now"]);
    sleeps.wait().unwrap();
}

/// What only a program of another vendor could make these commands print.
fn types_alone(house: &mut House) {
    let usage = heirloom_engine::keep::context::Usage { tokens: 120_000, window: Some(200_000) };
    let zone = heirloom_core::context::Zone::Orange;
    let status = heirloom_api::ContextStatus::new("auth-v1", usage, Some(zone), true);
    house.hold("context-status", &serde_json::to_value(status).unwrap());
    let reason = || heirloom_api::Reason { id: "s1".to_owned(), reason: "no name".to_owned() };
    let imported = heirloom_api::DaemonImported {
        imported: 1,
        already: 2,
        refused: vec![reason()],
        lessened: vec![reason()],
    };
    house.hold("import-daemon", &serde_json::to_value(imported).unwrap());
    let refused = vec![("Commas may trail".to_owned(), "nobody said what it quotes".to_owned())];
    let distilled =
        heirloom_engine::capture::Distilled { refused, cost_usd: Some(0.25), ..Default::default() };
    let answer = heirloom_api::SessionDistilled::new("auth-v1", &distilled);
    house.hold("sessions-distill", &serde_json::to_value(answer).unwrap());
}

fn ledger(house: &mut House) {
    house.ask("ledger-verify", &["ledger", "verify"]);
    house.ask("ledger-rebuild", &["ledger", "rebuild"]);
    house.ask("ledger-heads", &["ledger", "heads"]);
    house.ask("ledger-stats", &["ledger", "stats"]);
    house.ask("ledger-export", &["ledger", "export", "ledger.jsonl"]);
    house.ask("ledger-import", &["ledger", "import", "ledger.jsonl"]);
    house.ask("ledger-backup", &["ledger", "backup", "copy.db"]);
    house.ask("ledger-rehost", &["ledger", "rehost"]);
    house.ask("ledger-gc", &["ledger", "gc", "--dry-run"]);
}

#[test]
fn every_command_has_a_schema_of_its_name() {
    let env = env();
    let mut missing = Vec::new();
    let mut next = vec![Vec::new()];
    while let Some(words) = next.pop() {
        let below = commands(&env, &words);
        // The agents' own protocols are not ours to describe.
        if below.is_empty() && words != ["hook"] && words != ["mcp"] {
            let name = if words.is_empty() { "home".to_owned() } else { words.join("-") };
            if heirloom_api::schema(&name).is_none() {
                missing.push(name);
            }
        }
        next.extend(below.into_iter().map(|word| [words.clone(), vec![word]].concat()));
    }
    assert!(missing.is_empty(), "{missing:?}");
}

/// The commands below a command, as its help lists them.
pub(crate) fn commands(env: &TestEnv, words: &[String]) -> Vec<String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let help = env.run(&[&words[..], &["--help"]].concat()).success().stdout;
    crate::help::listed(&help)
}

#[test]
fn schema_prints_what_the_types_say_and_knows_what_was_meant() {
    let env = env();
    let printed = env.run(&["schema", "sessions-list", "--json"]).success().json();
    assert_eq!(Some(printed), heirloom_api::schema("sessions-list"));
    assert_eq!(
        env.run(&["schema", "sessions list"]).success().json()["$id"],
        "heirloom:v1:sessions-list"
    );
    let names = env.run(&["schema"]).success().stdout;
    assert!(names.lines().any(|name| name == "events") && names.lines().any(|n| n == "error"));
    insta::assert_snapshot!(env.run(&["schema", "session-list"]), @r"
    ------- stderr -------
    error: there is no schema called `session-list`
    hint: did you mean sessions-list? `heirloom schema` lists all of them
    [exit 64]
    ");
}

//! The page in a real browser: Chromium without a window, used as people use it.
//!
//! What is done there is in `tests/browser/stories.mjs`; here is what each story begins with. Ignored unless
//! asked for, as is everything that needs more than the toolchain: `./test` asks for it.

use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use heirloom_testkit::env::TestEnv;
use heirloom_testkit::real::checker;
use serde_json::{Value, json};

use super::Daemon;
use super::deciding::{asked, asking};

/// A story that is being told.
struct Story {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Story {
    fn begin(daemon: &Daemon, name: &str, addresses: &[String]) -> Self {
        let stories = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/stories.mjs");
        let mut command = Command::new("node");
        command
            .arg(stories)
            .arg(name)
            .env("HEIRLOOM_BROWSER", browser())
            .env("HEIRLOOM_AXE", checker("axe", "4.14.0", "axe-core/axe.min.js"))
            .env("HEIRLOOM_LINK", daemon.serving["link"].as_str().unwrap())
            .env("HEIRLOOM_ADDRESSES", json!(addresses).to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        if std::env::var_os("UPDATE_DOCS").is_some() {
            let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures");
            std::fs::create_dir_all(&docs).unwrap();
            command.env("HEIRLOOM_PICTURES", docs);
        }
        let mut child = command.spawn().expect("node is needed for tests in a browser");
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// Waits until the story says so.
    fn comes_to(&mut self, word: &str) {
        let found = self.lines.by_ref().map_while(Result::ok).any(|line| line == word);
        assert!(found, "the story ended before it was {word}");
    }

    fn ends_well(mut self) {
        assert!(self.child.wait().unwrap().success(), "see above what went otherwise");
    }
}

fn browser() -> PathBuf {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).flat_map(|dir| names.map(|name| dir.join(name)));
    let mut found = found.filter(|program| program.is_file());
    found.next().expect("chromium is needed for tests in a browser: apt install chromium")
}

/// A repository with something in it, whose agent asks before it does anything.
fn lived_in() -> TestEnv {
    let env = asking();
    env.run(&["init", "--agent", "claude"]).success();
    env.write("src/a.rs", "fn rotate_tokens() {}\n");
    env.run(&["note", "decision", "rotate tokens", "--evidence", "src/a.rs:1"]).success();
    env.run(&["issues", "create", "Rotate tokens on every refresh"]).success();
    env
}

/// A session that waits for a person.
fn waiting(daemon: &Daemon) -> String {
    let id = asked(daemon, "auth-v1");
    let title = super::deciding::patch("auth-v1", &json!({"title": "Push it"}));
    assert_eq!(title.bearer(daemon.token()).send(daemon.url()).status, 200);
    id
}

#[test]
#[ignore = "needs chromium, node and axe"]
fn every_page_is_for_everybody_light_and_dark_at_a_desk_and_on_a_phone() {
    let env = lived_in();
    let mut done = env.command(&["launch", "say hello", "--name", "done-v1", "--agent", "sim"]);
    // This one asks nobody.
    assert!(done.env("HEIRLOOM_SIM_SCRIPT", "").output().unwrap().status.success());
    let issue = env.run(&["issues", "list", "--json"]).json()["issues"][0]["id"].clone();
    let note = env.run(&["notes", "--json"]).json()["notes"][0]["id"].clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let daemon = Daemon::start(env);
    let approval = waiting(&daemon);
    let mut addresses: Vec<String> = [
        "/",
        "/sessions",
        "/sessions/auth-v1",
        "/sessions/done-v1",
        "/sessions/done-v1/config",
        "/sessions/done-v1/lineage",
        "/sessions/done-v1/notes",
        "/sessions/done-v1/cost",
        "/sessions/done-v1/continue",
        "/launch",
        "/approvals",
        "/recall?q=rotate",
        "/decisions",
        "/issues",
        "/requirements",
        "/usage",
        "/settings",
        "/trust",
        "/keys",
        "/sessions/nobody",
    ]
    .map(str::to_owned)
    .into();
    addresses.push(format!("/approvals/{approval}"));
    addresses.push(format!("/issues/{}", text(&issue)));
    addresses.push(format!("/notes/{}", text(&note)));
    Story::begin(&daemon, "accessible", &addresses).ends_well();
}

#[test]
#[ignore = "needs chromium, node and axe"]
fn a_newcomer_decides_continues_and_searches_without_a_mouse() {
    let daemon = Daemon::start(lived_in());
    waiting(&daemon);
    Story::begin(&daemon, "keyboard", &[]).ends_well();
    assert!(daemon.env.repo().join("pushed").exists());
    let child = daemon.get("/api/v1/sessions/auth-v2/config").json();
    assert_eq!(child["config"]["title"]["value"], "Push again");
    assert_eq!(child["config"]["title"]["overridden"], true);
}

#[test]
#[ignore = "needs chromium, node and axe"]
fn a_person_says_no_on_a_phone() {
    let daemon = Daemon::start(lived_in());
    let id = waiting(&daemon);
    Story::begin(&daemon, "phone", &[]).ends_well();
    let decided = daemon.get(&format!("/api/v1/approvals/{id}")).json();
    assert_eq!(decided["reason"], "not on a Friday");
    assert!(!daemon.env.repo().join("pushed").exists());
}

#[test]
#[ignore = "needs chromium, node and axe"]
fn a_page_that_lies_open_hears_what_the_shell_does() {
    let daemon = Daemon::start(lived_in());
    let mut story = Story::begin(&daemon, "live", &[]);
    story.comes_to("ready");
    let id = asked(&daemon, "auth-v1");
    story.comes_to("seen");
    daemon.env.run(&["approvals", "approve", &id]).success();
    story.ends_well();
}

#[test]
#[ignore = "needs chromium, node and axe"]
fn an_approval_that_waits_is_told_on_the_desktop_to_who_asked_for_it() {
    let daemon = Daemon::start(lived_in());
    let mut story = Story::begin(&daemon, "notified", &[]);
    story.comes_to("ready");
    let first = asked(&daemon, "auth-v1");
    story.comes_to("quiet");
    daemon.env.run(&["approvals", "approve", &first]).success();
    story.comes_to("allowed");
    asked(&daemon, "auth-v2");
    story.ends_well();
}

#[test]
#[ignore = "needs chromium, node and axe"]
fn the_page_of_a_session_follows_its_relatives_and_keeps_what_is_typed() {
    let env = crate::env();
    env.run(&["launch", "say hello", "--name", "auth-v1", "--agent", "sim"]).success();
    let daemon = Daemon::start(env);
    let mut story = Story::begin(&daemon, "relatives", &[]);
    story.comes_to("ready");
    let title = ["sessions", "update", "auth-v1", "--title", "Greet", "--auto-accept-edits"];
    daemon.env.run(&title).success();
    daemon.env.run(&["continue", "auth-v1", "and bye"]).success();
    story.ends_well();
}

//! The sessions that are at work, what they come from, and which of them a command means.

use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::{Guarded, ONE, Said, TWO};

const PLAN: &str = "requirements:\n  plan: {}\n";

impl Guarded {
    /// The same with another variable in the environment.
    fn with(self, name: &str, value: &str) -> Self {
        Self { env: self.env.var(name, value) }
    }

    fn listed(&self, arguments: &[&str]) -> Vec<Value> {
        let all = [&["sessions", "list", "--json"], arguments].concat();
        self.env.run(&all).success().json()["sessions"].as_array().unwrap().clone()
    }

    fn lineage(&self, session: &str) -> Value {
        self.env.run(&["lineage", session, "--json"]).success().json()
    }

    fn records(&self) -> u64 {
        self.env.run(&["ledger", "stats", "--json"]).success().json()["records"].as_u64().unwrap()
    }
}

/// A process that stands for an agent, until it is dropped.
struct Agent(Child);

impl Agent {
    fn start() -> Self {
        Self(Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap())
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_session_is_registered_with_its_process_and_place_and_vanishes_with_the_process() {
    let agent = Agent::start();
    let guarded = Guarded::new(PLAN).with("CLAUDE_PID", &agent.pid());
    guarded.start(ONE, "startup");
    let row = guarded.listed(&["--running"])[0].clone();
    assert_eq!((&row["id"], &row["agent"]), (&json!(ONE), &json!("claude")));
    assert_eq!(row["live"]["pid"], agent.0.id());
    assert_eq!(row["live"]["branch"], "main");
    assert_eq!(row["live"]["worktree"], "[root]/payments");
    drop(agent);
    assert_eq!(guarded.listed(&["--running"]), [Value::Null; 0]);
    let row = guarded.listed(&[])[0].clone();
    assert_eq!((&row["status"], &row["live"]), (&json!("interrupted"), &Value::Null));
    guarded.start(ONE, "resume");
    assert_eq!(guarded.listed(&[])[0]["status"], "running", "it can be gone on with");
}

#[test]
fn the_next_session_finds_out_that_one_is_gone() {
    let agent = Agent::start();
    let guarded = Guarded::new(PLAN).with("CLAUDE_PID", &agent.pid());
    guarded.start(ONE, "startup");
    drop(agent);
    let guarded = guarded.with("CLAUDE_PID", &std::process::id().to_string());
    guarded.start(TWO, "startup");
    let trajectory = guarded.env.run(&["sessions", "show", ONE, "--trajectory", "--json"]).json();
    let last = trajectory["trajectory"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["body"], json!({"status": "interrupted", "reason": "the process is gone"}));
}

#[test]
fn every_hook_says_that_its_session_is_at_work_and_none_pays_for_the_ledger() {
    let guarded = Guarded::new(PLAN);
    guarded.start(ONE, "startup");
    let records = guarded.records();
    let active =
        |guarded: &Guarded| guarded.listed(&["--running"])[0]["live"]["last_active_at"].clone();
    assert_eq!(active(&guarded), "2026-01-12T15:30:00Z");
    let mut guarded = guarded;
    for (minute, event) in [(31, "PreToolUse"), (32, "PostToolUse"), (33, "Notification")] {
        let time = format!("2026-01-12T15:{minute}:00Z");
        guarded = guarded.with("HEIRLOOM_CLOCK", &time);
        guarded.tool(event, ONE, "Read", &json!({}));
        assert_eq!(active(&guarded), time, "{event}");
    }
    assert_eq!(guarded.records(), records);
    let later = guarded.with("HEIRLOOM_CLOCK", "2026-01-12T15:43:00Z");
    insta::assert_snapshot!(later.env.run(&["sessions", "list", "--running"]).stdout, @"
    NAME             STATUS   LAST ACTIVE     LEARNINGS  COST  ABOUT
    claude-8272974a  running  10 minutes ago          0     -
    ");
}

#[test]
fn a_compacted_and_a_resumed_conversation_say_so_in_their_lineage() {
    let guarded = Guarded::new(PLAN);
    guarded.start(ONE, "startup");
    assert_eq!(guarded.lineage(ONE)["continued"], json!([]));
    guarded.start(ONE, "compact");
    guarded.start(ONE, "resume");
    let at = "2026-01-12T15:30:00Z";
    let continued = json!([{"at": at, "link": "compacted"}, {"at": at, "link": "resumed"}]);
    assert_eq!(guarded.lineage(ONE)["continued"], continued);
    insta::assert_snapshot!(guarded.env.run(&["lineage", ONE]).stdout, @"
    claude-8272974a  running           0 learnings, 0 decisions
    continued 2 times, last resumed just now
    ");
}

#[test]
fn a_cleared_context_is_a_session_that_comes_from_the_one_before_which_is_over() {
    let guarded = Guarded::new(PLAN);
    guarded.start(ONE, "startup");
    guarded.hook("SessionEnd", ONE, &json!({"reason": "clear"}));
    guarded.start(TWO, "clear");
    let lineage = guarded.lineage(TWO);
    assert_eq!(
        (&lineage["link"], &lineage["ancestors"][0]["id"]),
        (&json!("cleared"), &json!(ONE))
    );
    let rows = guarded.listed(&[]);
    let status = |id: &str| rows.iter().find(|row| row["id"] == id).unwrap()["status"].clone();
    assert_eq!((status(ONE), status(TWO)), (json!("completed"), json!("running")));
}

#[test]
fn an_older_conversation_that_a_process_goes_back_to_does_not_come_from_the_newer() {
    let guarded = Guarded::new(PLAN);
    guarded.start(ONE, "startup");
    guarded.start(TWO, "startup");
    guarded.hook("SessionEnd", TWO, &json!({"reason": "resume"}));
    guarded.start(ONE, "resume");
    assert_eq!(guarded.lineage(ONE)["ancestors"], json!([]));
    assert_eq!(guarded.lineage(TWO)["descendants"], json!([]));
    let rows = guarded.listed(&[]);
    let status = |id: &str| rows.iter().find(|row| row["id"] == id).unwrap()["status"].clone();
    assert_eq!((status(ONE), status(TWO)), (json!("running"), json!("completed")));
}

#[test]
fn sessions_that_share_their_first_characters_share_nothing_else() {
    // Codex begins its ids with a clock.
    let one = "01a1dcad-653b-7b82-b3ca-a680b4727a77";
    let two = "01a1dcad-f00d-7111-a000-000000000001";
    let guarded = Guarded::new(PLAN);
    assert!(guarded.edit(one).text().contains(&format!("--session {one} --reason")));
    guarded.req(&["satisfy", "plan", "--session", one]).success();
    assert_eq!(guarded.edit(one), Said::Nothing);
    assert!(guarded.edit(two).is_denied());
    for session in [one, two] {
        guarded.start(session, "startup");
    }
    let names: Vec<Value> =
        guarded.listed(&[]).into_iter().map(|row| row["name"].clone()).collect();
    assert_eq!(names, ["claude-01a1dcad-f00d", "claude-01a1dcad"]);
}

#[test]
fn a_command_of_the_agent_means_its_own_session_and_is_recorded_as_the_agents() {
    let guarded = Guarded::new(PLAN);
    guarded.start(TWO, "startup");
    let guarded = guarded.with("CLAUDE_CODE_SESSION_ID", ONE);
    guarded.req(&["satisfy", "plan", "--reason", "it is trivial"]).success();
    assert_eq!(guarded.req(&["log", "--json"]).json()["log"][0]["how"], "agent");
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    assert!(guarded.edit(TWO).is_denied());
}

#[test]
fn where_the_environment_says_nothing_the_processes_above_tell_the_session() {
    let other = Agent::start();
    let guarded = Guarded::new(PLAN).with("CLAUDE_PID", &other.pid());
    guarded.start(TWO, "startup");
    let guarded = guarded.with("CLAUDE_PID", &std::process::id().to_string());
    guarded.start(ONE, "startup");
    let status = guarded.req(&["status", "--json"]).json();
    assert_eq!(status["session"], ONE, "this test started the command, and is the agent of it");
    guarded.req(&["satisfy", "plan", "--reason", "it is trivial"]).success();
    assert!(guarded.edit(TWO).is_denied());
    assert_eq!(guarded.edit(ONE), Said::Nothing);
}

#[test]
fn the_hooks_of_an_agent_that_a_loop_runs_belong_to_the_loops_session() {
    let guarded = Guarded::new(PLAN);
    guarded.env.run(&["note", "learning", "x", "--json"]).success();
    let run = guarded.listed(&[])[0].clone();
    let id = run["id"].as_str().unwrap().to_owned();
    let name = run["name"].as_str().unwrap().to_owned();
    let guarded = guarded.with("HEIRLOOM_RUN", &id).with("HEIRLOOM_SESSION", &name);
    guarded.start(ONE, "startup");
    assert!(guarded.edit(ONE).is_denied());
    guarded.req(&["satisfy", "plan"]).success();
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    let guarded = guarded.with("HEIRLOOM_CLOCK", "2026-01-12T15:45:00Z");
    guarded.tool("PreToolUse", ONE, "Read", &json!({}));
    assert_eq!(guarded.listed(&[])[0]["live"]["last_active_at"], "2026-01-12T15:45:00Z");
    guarded.hook("SessionEnd", ONE, &json!({"reason": "other"}));
    let rows = guarded.listed(&[]);
    assert_eq!((rows.len(), &rows[0]["id"], &rows[0]["status"]), (1, &run["id"], &run["status"]));
}

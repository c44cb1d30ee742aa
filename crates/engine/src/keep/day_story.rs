//! A day of three sessions in which nobody types heirloom, and what the fourth is given.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use heirloom_core::event::{IterationStarted, RunPlanned, TaskSet};
use heirloom_core::id::SessionId;
use heirloom_core::note::Kind;
use heirloom_ledger::{Facts, Scope};
use serde_json::{Value, json};
use uuid::Uuid;

use super::deliver::{Beginning, Fresh, session_start_context};
use super::rules;
use super::tests::{Place, place};
use crate::capture::{self, Manner, Wanted};

/// A conversation of Claude Code, as it writes it down.
#[derive(Clone)]
pub(super) struct Conversation {
    pub(super) id: String,
    hour: u32,
    branch: String,
    lines: Vec<Value>,
}

impl Conversation {
    pub(super) fn new(hour: u32) -> Self {
        let (id, branch) = (Uuid::new_v4().to_string(), "main".to_owned());
        Self { id, hour, branch, lines: Vec::new() }
    }

    pub(super) fn on(self, branch: &str) -> Self {
        Self { branch: branch.to_owned(), ..self }
    }

    fn line(&mut self, kind: &str, message: &Value) {
        let seconds = self.lines.len() * 20;
        let (minute, second) = (seconds / 60 % 60, seconds % 60);
        let hour = self.hour as usize + seconds / 3600;
        let parent = self.lines.last().map(|line| line["uuid"].clone());
        self.lines.push(json!({
            "type": kind, "uuid": Uuid::new_v4().to_string(), "parentUuid": parent,
            "sessionId": self.id, "entrypoint": "cli", "version": "2.1.325", "gitBranch": self.branch,
            "timestamp": format!("2026-01-12T{hour:02}:{minute:02}:{second:02}Z"),
            "message": message,
        }));
    }

    pub(super) fn prompt(mut self, text: &str) -> Self {
        self.line("user", &json!({"role": "user", "content": text}));
        self
    }

    /// The same, as a program gives it.
    pub(super) fn given(self, text: &str) -> Self {
        let mut given = self.prompt(text);
        if let Some(line) = given.lines.last_mut() {
            line["promptSource"] = "sdk".into();
        }
        given
    }

    pub(super) fn say(mut self, text: &str) -> Self {
        let said = json!([{"type": "text", "text": text}]);
        self.line(
            "assistant",
            &json!({"role": "assistant", "model": "claude-opus-5-5", "content": said}),
        );
        self
    }

    pub(super) fn tool(mut self, name: &str, input: &Value, result: &str, is_error: bool) -> Self {
        let id = format!("t{}", self.lines.len());
        let used = json!([{"type": "tool_use", "id": id, "name": name, "input": input}]);
        self.line(
            "assistant",
            &json!({"role": "assistant", "model": "claude-opus-5-5", "content": used}),
        );
        let answered = json!([{"type": "tool_result", "tool_use_id": id, "is_error": is_error, "content": result}]);
        self.line("user", &json!({"role": "user", "content": answered}));
        self
    }

    pub(super) fn bash(self, command: &str, result: &str, is_error: bool) -> Self {
        self.tool("Bash", &json!({"command": command}), result, is_error)
    }

    /// A conversation that goes on with a copy of this one, as Claude Code makes it.
    pub(super) fn forked(&self) -> Self {
        let mut fork = Self::new(self.hour).on(&self.branch);
        let from = json!({"sessionId": self.id, "messageUuid": "m"});
        fork.lines.clone_from(&self.lines);
        for line in &mut fork.lines {
            line["sessionId"] = fork.id.clone().into();
            line["forkedFrom"] = from.clone();
        }
        fork
    }

    /// Says of all of it so far when it was.
    pub(super) fn date_all(&mut self, at: &str) {
        for line in &mut self.lines {
            line["timestamp"] = at.into();
        }
    }

    /// Says something else in all of it so far.
    pub(super) fn replace(&mut self, this: &str, by: &str) {
        for line in &mut self.lines {
            *line = serde_json::from_str(&line.to_string().replace(this, by)).unwrap();
        }
    }

    /// Takes it in, as a hook does at its end.
    pub(super) fn take_in(&self, place: &Place) -> SessionId {
        self.taken_in(place, true)
    }

    /// All of it, as it is written down.
    pub(super) fn text(&self) -> String {
        let lines: Vec<String> = self.lines.iter().map(Value::to_string).collect();
        lines.join("\n") + "\n"
    }

    /// The same, with or without its text.
    pub(super) fn taken_in(&self, place: &Place, archive: bool) -> SessionId {
        self.read_by(place, archive, 2 << 20)
    }

    /// The same, by somebody who reads no more than so much.
    pub(super) fn read_by(&self, place: &Place, archive: bool, most: u64) -> SessionId {
        let session: SessionId = self.id.parse().unwrap();
        let path: PathBuf = place.dir.path().join(format!("{}.jsonl", self.id));
        fs::write(&path, self.text()).unwrap();
        let mut facts = Facts::open(&place.here.home, Duration::from_secs(5)).unwrap();
        let wanted = Wanted {
            session,
            agent: "claude".to_owned(),
            agent_session_id: self.id.clone(),
            subagent: None,
            repo: place.ledger.repository(&place.here.place.repo).unwrap(),
            path,
            printed: None,
        };
        let manner = Manner { most, wait: true, archive, now: place.here.clock.now() };
        capture::take(&place.here.home, &mut facts, &wanted, manner).unwrap();
        session
    }
}

/// A rule, a failing test, and a step that is open; one in each session.
fn three_sessions(place: &Place) {
    let first = Conversation::new(8)
        .prompt("make the parser accept nested lists, and never touch legacy/")
        .bash("./e2e --port 8080", "bind: address already in use", true)
        .bash("./e2e --port 0", "ok", false);
    first.take_in(place);
    let red = "running 1 test\ntest parser::nested ... FAILED\n";
    let second = Conversation::new(10).prompt("now run the tests of the parser please").bash(
        "cargo test -p parser",
        red,
        true,
    );
    second.take_in(place);
    let todos = json!({"todos": [
        {"content": "read the grammar", "status": "completed"},
        {"content": "limit the depth of nesting", "status": "pending"},
    ]});
    let third = Conversation::new(12).prompt("write down what is left of the parser work").tool(
        "TodoWrite",
        &todos,
        "ok",
        false,
    );
    third.take_in(place);
}

#[test]
fn the_fourth_session_knows_what_three_before_it_left() {
    let mut place = place();
    let old = place.session("notes", None);
    let replaced = place.note(&old, Kind::Decision, "Recursive descent by hand");
    place.supersede(&old, replaced, "A table-driven parser");
    three_sessions(&place);
    let fourth = place.session("fourth", None);
    let text = place.start(&fourth, Fresh::Startup).unwrap();
    for said in [
        "1. limit the depth of nesting",
        "Failing: parser::nested",
        "never touch legacy/\" (said on 2026-01-12, not confirmed)",
        "Asked last: \"write down what is left of the parser work\"",
        "Known to fail:\n- `./e2e --port 8080`",
        "A table-driven parser",
    ] {
        assert!(text.contains(said), "{said} in {text}");
    }
    assert!(!text.contains("Recursive descent") && !text.contains("read the grammar"), "{text}");
    assert!(heirloom_core::tokens::estimate(&text) <= 620, "{text}");
    let (here, ledger) = (&place.here, &mut place.ledger);
    let start = Beginning { fresh: Fresh::Clear, cap: 10_000 };
    let start = session_start_context(here, ledger, &place.settings, &fourth, start).unwrap();
    assert_eq!(start.failures[0].worked, "./e2e --port 0");
}

#[test]
fn a_rule_that_is_kept_is_in_every_brief_and_one_that_is_dropped_in_none() {
    let mut place = place();
    three_sessions(&place);
    let session = place.session("fourth", None);
    let (here, settings) = (place.here.clone(), place.settings.clone());
    let said = rules::list(&here, &place.ledger, &settings).unwrap();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(!said[0].kept);
    let kept = rules::keep(&here, &mut place.ledger, &settings, &said[0].id).unwrap();
    assert!(kept.kept && kept.text.contains("never touch legacy/"));
    let text = place.start(&session, Fresh::Startup).unwrap();
    assert!(text.contains("never touch legacy/") && !text.contains("not confirmed"), "{text}");
    rules::drop(&here, &mut place.ledger, &settings, &kept.id[..6]).unwrap();
    let text = place.start(&session, Fresh::Clear).unwrap();
    assert!(
        !text.contains("- \"and never touch") && !text.contains("The person's rules"),
        "{text}"
    );
    assert_eq!(rules::list(&here, &place.ledger, &settings).unwrap(), []);
    assert!(rules::drop(&here, &mut place.ledger, &settings, "0000").is_err());
}

#[test]
fn what_a_person_laid_down_is_told_though_newer_rules_were_dropped() {
    let mut place = place();
    let rules = ["push to main", "edit gen/", "touch legacy/", "log a token", "use eval"];
    let mut day = Conversation::new(8);
    for rule in rules {
        day = day.prompt(&format!("never {rule} here"));
    }
    day.take_in(&place);
    let (here, settings) = (place.here.clone(), place.settings.clone());
    for _ in 0..3 {
        let newest = rules::list(&here, &place.ledger, &settings).unwrap().remove(0);
        rules::drop(&here, &mut place.ledger, &settings, &newest.id).unwrap();
    }
    let session = place.session("next", None);
    let text = place.start(&session, Fresh::Startup).unwrap();
    assert!(text.contains("The person's rules:"), "{text}");
    assert_eq!(text.matches("not confirmed").count(), 2, "{text}");
}

#[test]
fn a_decision_that_a_person_took_back_in_passing_is_not_told() {
    let mut place = place();
    let old = place.session("notes", None);
    place.note(&old, Kind::Decision, "Cache the rates in Redis");
    place.note(&old, Kind::Decision, "Rates expire after an hour");
    Conversation::new(16)
        .prompt("where do we keep the rates? stick them in redis")
        .prompt("nah, scrap redis, let's just do sqlite, fewer moving parts")
        .prompt("ok next we wire up the retry thing")
        .prompt("pls don't ever run the migrations on staging")
        .prompt("and give it some jitter please")
        .take_in(&place);
    let next = place.session("next", None);
    let text = place.start(&next, Fresh::Startup).unwrap();
    assert!(text.contains("scrap redis, let's just do sqlite, fewer moving parts"), "{text}");
    assert!(text.contains("Rates expire after an hour"), "{text}");
    assert!(!text.contains("in Redis") && !text.contains("them in redis"), "{text}");
    assert_eq!(text.matches("run the migrations on staging").count(), 1, "{text}");
}

#[test]
fn a_context_that_was_cleared_and_left_again_hides_nothing_of_the_work_before_it() {
    let mut place = place();
    three_sessions(&place);
    let next = place.session("next", None);
    let before = place.start(&next, Fresh::Startup).unwrap();
    assert!(before.contains("Task: "), "{before}");
    Conversation::new(14).say("ready").take_in(&place);
    let other = place.session("other", None);
    let after = place.start(&other, Fresh::Startup).unwrap();
    assert_eq!(after, before);
}

#[test]
fn a_prompt_that_heirloom_composed_is_not_what_somebody_asked() {
    let mut place = place();
    let person = Conversation::new(8).prompt("make the parser accept nested lists");
    person.take_in(&place);
    let composed = || Conversation::new(9).given("Read the progress page and do one step of it");
    // Of a loop, an iteration of it that only its transcript tells of, and the work on an issue.
    let (looped, iteration, issue) = (composed(), composed(), composed());
    let run = place.known(looped.id.parse().unwrap(), "loop", None);
    let worked = place.known(issue.id.parse().unwrap(), "issue", None);
    let repo = place.here.place.repo.clone();
    let now = place.here.clock.now();
    let started = IterationStarted {
        stage: "stage-00-work".to_owned(),
        iteration: 1,
        agent_session_id: Some(iteration.id.clone()),
        pid: None,
        pid_started: None,
    };
    let plan = json!({"version": 1, "name": "work", "is_pipeline": false, "stages": []});
    let planned = json!({"plan": plan, "run_dir": "r", "worktree": "."});
    let planned: RunPlanned = serde_json::from_value(planned).unwrap();
    let task = TaskSet { issue: Some("hl-1".to_owned()), text: None };
    place
        .ledger
        .write::<_, heirloom_ledger::Error>(now, |writer| {
            writer.append(Scope::session(run.id, &repo), &planned)?;
            writer.append(Scope::session(run.id, &repo), &started)?;
            writer.append(Scope::session(worked.id, &repo), &task).map(drop)
        })
        .unwrap();
    for conversation in [looped, iteration, issue] {
        conversation.take_in(&place);
    }
    let next = place.session("next", None);
    let text = place.start(&next, Fresh::Startup).unwrap();
    assert!(text.contains("Asked last: \"make the parser accept nested lists\""), "{text}");
    assert!(!text.contains("one step of it"), "{text}");

    // What a person has an agent do in one line is theirs.
    Conversation::new(11).given("list what the parser cannot read").take_in(&place);
    let text = place.start(&next, Fresh::Clear).unwrap();
    assert!(text.contains("Asked last: \"list what the parser cannot read\""), "{text}");
}

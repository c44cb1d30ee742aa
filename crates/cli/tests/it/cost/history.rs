//! A repository with as much history as is wanted, and what commands and hooks read in it.

use std::time::Duration;

use heirloom_core::event::{
    ApprovalDecided, ApprovalRequested, Body, ContextUsed, IssueChanged, IssueCreated,
    IssueRunEnded, IssueRunLaunched, IssueRunStarted, IterationEnded, IterationStarted, NoteAdded,
    RequirementCleared, RequirementSatisfied, SessionAnnounced, SessionChanged, SessionCreated,
    TaskSet, WorkEnded, WorkStarted,
};
use heirloom_core::facts::{CommandFacts, TurnFacts};
use heirloom_core::id::SessionId;
use heirloom_ledger::facts::{NewFacts, Source, Told};
use heirloom_ledger::{Error, Facts, Ledger, Options, Scope, Writer};
use heirloom_testkit::env::TestEnv;
use heirloom_testkit::reads;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The size of a page of the ledger's files.
const PAGE: u64 = 4096;

/// What the start of a session may read more: it counts the notes of each kind, but only up to a bound, so
/// that a longer history costs more until there are that many, and then no more.
const COUNTED: u64 = 150;

/// How many records [`session`] writes.
pub(crate) const RECORDS: u64 = 22;

/// How many of the newest issues are open: what there is to do does not grow with what was done.
const OPEN: u64 = 20;

/// The conversation that hooks are called for.
const CONVERSATION: &str = "8272974a-8223-4415-954c-99d01904a037";

/// A repository with about `records` records behind it.
pub(crate) fn repository(records: u64) -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_heirloom"));
    env.write(
        ".heirloom/config.yaml",
        "requirements:\n  plan: {scope: branch}\n  push: {trigger_tools: [{command: git push}]}\n",
    );
    env.run(&["note", "learning", "the first one"]).success();
    let sessions = records / RECORDS;
    let mut ledger = Ledger::open(&env.home(), Options::ENGINE).unwrap();
    let repo = env.repo().to_string_lossy().into_owned();
    for first in (0..sessions).step_by(200) {
        let at = Timestamp::from_second(1_700_000_000 + i64::try_from(first).unwrap()).unwrap();
        let some = first..sessions.min(first + 200);
        // Appending alone is quickest; the views are made by whoever asks first.
        ledger
            .write::<_, Error>(at, |writer| {
                some.clone().try_for_each(|n| session(writer, &repo, (n, sessions)))
            })
            .unwrap();
    }
    let known = ledger.repository(&repo).unwrap();
    drop(ledger);
    take_in(&env, &known, sessions);
    // Everything is in its place, and nothing is left to be done for the first who asks.
    for command in [&["sessions", "list"][..], &["issues", "list"], &["ledger", "gc"]] {
        env.run(command).success();
    }
    env
}

/// What the transcripts of the sessions say, as if each had been taken in.
fn take_in(env: &TestEnv, repo: &str, sessions: u64) {
    let mut facts = Facts::open(&env.home(), Duration::from_secs(10)).unwrap();
    for n in 0..sessions {
        let at = Timestamp::from_second(1_700_000_000 + i64::try_from(n).unwrap()).ok();
        let told = Told {
            branch: Some("main".to_owned()),
            interactive: Some(true),
            first_at: at,
            last_at: at,
            ..Told::default()
        };
        let source = Source {
            session: id(n, 1).parse().unwrap(),
            agent: "claude".to_owned(),
            agent_session_id: id(n, 2),
            subagent: None,
            repo: repo.to_owned(),
            path: "/nowhere/t.jsonl".to_owned(),
            generation: 1,
            read: 100,
            size: 100,
            state: "{}".to_owned(),
            told,
        };
        let turn = TurnFacts {
            number: 1,
            at,
            by: "person".to_owned(),
            text: format!("Make part {n} accept lists, and never touch legacy/"),
            offset: 0,
            rewound: false,
        };
        let command = CommandFacts {
            tool_use: format!("t{n}"),
            turn: 1,
            at,
            command: format!("make part-{n}"),
            exit: Some(2),
            failed: Some(true),
            error: Some("error: no rule to make target".to_owned()),
            is_test: false,
            offset: 50,
        };
        let news = NewFacts {
            anew: true,
            turns: vec![turn],
            commands: vec![command],
            ..NewFacts::default()
        };
        facts.put(&source, &news).unwrap();
    }
}

fn id(n: u64, what: u64) -> String {
    format!("{n:08x}-{what:04x}-4000-8000-{n:012x}")
}

/// One day of work: a session with an issue, notes, a run, an approval and a requirement.
fn session(writer: &mut Writer<'_>, repo: &str, (n, all): (u64, u64)) -> Result<(), Error> {
    let session: SessionId = id(n, 1).parse().unwrap();
    let issue = format!("hl-{n}");
    let mut add = Adding { writer, scope: Scope::session(session, repo) };
    let parent = (n % 10 > 0).then(|| id(n - 1, 1));
    add.one::<SessionCreated>(
        json!({"name": format!("s{n}"), "parent": parent, "agent": "claude"}),
    )?;
    add.one::<SessionAnnounced>(json!({"agent_session_id": id(n, 2)}))?;
    add.one::<TaskSet>(json!({"issue": issue}))?;
    add.one::<IssueCreated>(json!({"issue": {
        "id": issue, "title": format!("Issue {n}"), "status": "open", "priority": 2,
        "issue_type": "task", "created_at": "2026-01-12T15:30:00Z", "updated_at": "2026-01-12T15:30:00Z",
    }}))?;
    for (number, kind) in
        (0..).zip(["learning", "warning", "decision", "progress", "next_step", "question"])
    {
        add.one::<NoteAdded>(json!({
            "id": id(n, 10 + number), "kind": kind, "issue": issue,
            "text": format!("What was found out about the refresh of tokens in session {n}, part {number}"),
        }))?;
    }
    add.one::<ContextUsed>(json!({"tokens": 150_000, "window": 200_000, "zone": "yellow"}))?;
    add.one::<IterationStarted>(json!({"stage": "work", "iteration": 1}))?;
    add.one::<IterationEnded>(json!({"stage": "work", "iteration": 1, "outcome": "completed"}))?;
    add.one::<ApprovalRequested>(
        json!({"id": id(n, 3), "tool": "Bash", "input": {"command": "ls"}}),
    )?;
    add.one::<ApprovalDecided>(json!({"id": id(n, 3), "approved": true, "by": "person"}))?;
    let (branch, scope) = (format!("feature-{n}"), "branch");
    add.one::<RequirementSatisfied>(
        json!({"name": "plan", "scope": scope, "branch": branch, "method": "person"}),
    )?;
    add.one::<RequirementCleared>(
        json!({"name": "plan", "scope": scope, "branch": branch, "method": "person"}),
    )?;
    add.one::<WorkStarted>(json!({"run": id(n, 4), "agent": "claude", "pid": 1}))?;
    add.one::<IssueRunStarted>(json!({
        "issue_run": id(n, 5), "run": id(n, 4), "issue": issue, "title": "t", "agent": "claude",
    }))?;
    add.one::<IssueRunLaunched>(json!({"issue_run": id(n, 5), "session": session}))?;
    add.one::<IssueRunEnded>(json!({"issue_run": id(n, 5), "status": "closed"}))?;
    add.one::<WorkEnded>(json!({"run": id(n, 4), "status": "completed"}))?;
    if n + OPEN < all {
        add.one::<IssueChanged>(json!({"id": issue, "change": {"status": "closed"}}))?;
    }
    add.one::<SessionChanged>(json!({"status": "completed"}))
}

struct Adding<'a, 'w> {
    writer: &'a mut Writer<'w>,
    scope: Scope<'a>,
}

impl Adding<'_, '_> {
    fn one<B: Body + DeserializeOwned>(&mut self, body: Value) -> Result<(), Error> {
        let body: B =
            serde_json::from_value(body).unwrap_or_else(|why| panic!("{}: {why}", B::KIND));
        self.writer.append(self.scope, &body).map(drop)
    }
}

/// Every list and every question a person or an agent asks often.
const LISTS: &[&[&str]] = &[
    &["sessions", "list"],
    &["sessions", "list", "--limit", "10"],
    &["sessions", "list", "--limit", "10", "--completed"],
    &["sessions", "list", "--limit", "10", "--failed"],
    &["sessions", "list", "--limit", "10", "--all-repos"],
    &["sessions", "show", "s20"],
    &["status", "s20"],
    &["lineage", "s20"],
    &["inherit", "s20"],
    &["notes"],
    &["notes", "--limit", "10"],
    &["notes", "--limit", "10", "--all"],
    &["notes", "--limit", "10", "--kind", "decision"],
    &["notes", "--session", "s20"],
    &["issues", "list"],
    &["issues", "ready"],
    &["issues", "show", "hl-20"],
    &["runs", "list", "--limit", "10"],
    &["approvals", "list"],
    &["req", "status"],
    &["req", "log"],
    &["req", "explain", "Bash", "--command", "git status"],
    &["recover"],
    &["search", "zanzibar"],
    &["search", "refresh of tokens"],
    &["handoffs", "list"],
    &["rules", "list"],
    &["repo"],
];

/// What an agent calls heirloom for in a session, in order.
fn hooks(env: &TestEnv) -> Vec<(&'static str, Value)> {
    let path = env.repo().join("src/a.rs");
    let edit = json!({"tool_name": "Edit", "tool_input": {"file_path": path, "new_string": "x"},
                      "tool_response": {}});
    vec![
        ("SessionStart", json!({"source": "startup"})),
        ("UserPromptSubmit", json!({"prompt": "go on with s20"})),
        ("PreToolUse", edit.clone()),
        ("PreToolUse", json!({"tool_name": "Bash", "tool_input": {"command": "git push"}})),
        ("PostToolUse", edit),
        ("PermissionRequest", json!({"tool_name": "Bash", "tool_input": {"command": "ls"}})),
        ("PreCompact", json!({"trigger": "auto"})),
        ("SessionStart", json!({"source": "compact"})),
        ("Stop", json!({})),
        ("SessionEnd", json!({"reason": "exit"})),
    ]
}

/// Pages that each list and each hook reads.
pub(crate) fn pages(env: &TestEnv) -> Vec<(String, u64)> {
    let mut counted = Vec::new();
    for (number, (event, fields)) in hooks(env).into_iter().enumerate() {
        let mut payload = json!({
            "session_id": CONVERSATION, "cwd": env.repo(), "hook_event_name": event,
            "transcript_path": "/nowhere/t.jsonl", "permission_mode": "default",
        });
        payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let mut command = env.command(&["hook", "claude", event]);
        let (_, read) = reads::count(&mut command, payload.to_string().as_bytes());
        counted.push((format!("hook {} {event}", number + 1), read / PAGE));
    }
    for list in LISTS {
        // The first empties logs and notes what changed; the second is what it always costs.
        env.run(list).success();
        let (output, read) = reads::count(&mut env.command(list), b"");
        assert!(output.status.success(), "{list:?}");
        counted.push((list.join(" "), read / PAGE));
    }
    counted
}

/// Checks that nothing reads more with more history, but for the deeper trees of a bigger file.
pub(crate) fn compare(few: &[(String, u64)], many: &[(String, u64)]) -> Vec<String> {
    let grown = |((what, few), (_, many)): (&(String, u64), &(String, u64))| {
        let counted = if what.ends_with("SessionStart") { COUNTED } else { 0 };
        let allowed = few + few / 2 + 10 + counted;
        (*many > allowed).then(|| format!("{what}: {few} pages became {many}"))
    };
    few.iter().zip(many).filter_map(grown).collect()
}

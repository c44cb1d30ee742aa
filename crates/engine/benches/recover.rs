//! What level 1 of recovery costs in a session with thousands of notes.
//!
//! Prints it with its target: `cargo bench -p heirloom-engine --bench recover`. Times on a busy
//! machine say little; compare runs on a quiet one.

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark that cannot set the scene panics, and says where"
)]
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement, for people")]

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use heirloom_core::event::{NoteAdded, SessionCreated};
use heirloom_core::evidence::Evidence;
use heirloom_core::id::{NoteId, SessionId};
use heirloom_core::note::Kind;
use heirloom_core::settings::Settings;
use heirloom_core::status::Status;
use heirloom_engine::here::{Env, Here};
use heirloom_engine::keep::recover::Gatherer;
use heirloom_ledger::{Ledger, Scope};
use uuid::Uuid;

const NOTES: u32 = 5000;
const RUNS: usize = 101;

fn main() {
    let dir = tempfile::TempDir::new().unwrap();
    let repo = dir.path().join("repo");
    fs::create_dir_all(repo.join("src")).unwrap();
    let lines: Vec<_> = (1..=NOTES).map(|n| format!("let value_{n} = compute({n});")).collect();
    fs::write(repo.join("src/code.rs"), lines.join("\n")).unwrap();
    let init = Command::new("git").args(["init", "-q"]).current_dir(&repo).status();
    assert!(init.unwrap().success());
    let mut env: Env = std::env::vars_os().collect();
    env.insert("HEIRLOOM_HOME".into(), dir.path().join("home").into());
    let here = Here::look(&repo, env).unwrap();
    let mut ledger = here.ledger().unwrap();
    let id = fill(&here, &mut ledger);
    measure(&here, &ledger, id);
}

/// As many decisions as progress, each decision with its evidence.
fn fill(here: &Here, ledger: &mut Ledger) -> SessionId {
    let id = SessionId::new(Uuid::new_v4());
    let scope = Scope::session(id, &here.place.repo);
    let created: SessionCreated = serde_json::from_str(r#"{"name":"long"}"#).unwrap();
    ledger
        .write(here.clock.now(), |writer| {
            writer.append(scope, &created)?;
            for n in 1..=NOTES / 2 {
                let note =
                    |kind, text: String| NoteAdded::new(NoteId::new(Uuid::new_v4()), kind, text);
                let evidence: Evidence = serde_json::from_value(serde_json::json!({
                    "path": "src/code.rs", "line": n, "quote": format!("let value_{n} = compute({n});"),
                }))
                .unwrap();
                let decision = note(Kind::Decision, format!("decision number {n}"));
                writer.append(scope, &NoteAdded { evidence: vec![evidence], ..decision })?;
                writer.append(scope, &note(Kind::Progress, format!("step number {n}")))?;
            }
            writer.change_status(id, Status::Completed, None)
        })
        .unwrap();
    id
}

fn measure(here: &Here, ledger: &Ledger, id: SessionId) {
    let settings = Settings::default();
    let session = ledger.session(id).unwrap();
    let budget = settings.recovery.level1_tokens.get() as usize;
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let began = Instant::now();
            let gather = Gatherer::new(here, ledger, &settings);
            let recovery = gather.level1(session.as_ref(), budget).unwrap();
            assert!(recovery.text.contains(&format!("decision number {}", NOTES / 2)));
            began.elapsed()
        })
        .collect();
    times.sort();
    println!(
        "level 1 over {NOTES} notes: median {:.2?}, fastest {:.2?}",
        times[RUNS / 2],
        times[0]
    );
    println!("target: less than 10 ms");
}

//! What the engine costs an iteration, and what inheriting from a long session costs.
//!
//! Prints both with their targets: `cargo bench -p heirloom-engine --bench run`. Times on a busy
//! machine say little; compare runs on a quiet one.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement, for people")]

use std::fs;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use heirloom_core::event::{IterationEnded, NoteAdded, SessionCreated};
use heirloom_core::id::{NoteId, SessionId};
use heirloom_core::inherit::Select;
use heirloom_core::note::Kind;
use heirloom_core::run::choices::Choices;
use heirloom_core::settings::Settings;
use heirloom_core::status::Status;
use heirloom_engine::agents;
use heirloom_engine::here::Here;
use heirloom_engine::run::inherit::{self, Limits};
use heirloom_engine::run::{self, Asked, Event, Preparing, Stopping, Watcher, With};
use heirloom_engine::turn::system::Real;
use heirloom_ledger::Scope;
use jiff::Timestamp;
use uuid::Uuid;

const ITERATIONS: u32 = 1000;
const LONG: u32 = 5000;
/// How much two measurements of the same may differ.
const SLACK: Duration = Duration::from_millis(2);

/// When each iteration ended.
#[derive(Default)]
struct Ends(Mutex<Vec<Instant>>);

impl Watcher for Ends {
    fn see(&self, _: Timestamp, event: &Event) {
        if matches!(event, Event::IterationEnded { .. }) {
            self.0.lock().unwrap().push(Instant::now());
        }
    }
}

fn main() {
    let dir = tempfile::TempDir::new().unwrap();
    let (repo, home) = (dir.path().join("repo"), dir.path().join("home"));
    fs::create_dir_all(repo.join(".heirloom")).unwrap();
    let agent = repo.join("agent.sh");
    let nothing = "#!/bin/sh\necho '{\"decision\":\"continue\"}' > \"$HEIRLOOM_STATUS\"\n";
    fs::write(&agent, nothing).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&agent, mode).unwrap();
    let mut env: heirloom_engine::here::Env = std::env::vars_os().collect();
    env.insert("HEIRLOOM_HOME".into(), home.into());
    env.insert("HEIRLOOM_AGENT_COMMAND".into(), agent.clone().into());
    let here = Here::look(&repo, env).unwrap();
    iterations(&here, &agent);
    inheriting(&here);
}

fn iterations(here: &Here, agent: &std::path::Path) {
    let settings = Settings::default();
    let programs = agents::programs(here, None);
    let asked = Asked {
        what: "ralph".to_owned(),
        session: "bench".to_owned(),
        flags: Choices {
            agent: Some("command".to_owned()),
            max: Some(ITERATIONS),
            ..Choices::default()
        },
        ..Asked::default()
    };
    let mut ledger = here.ledger().unwrap();
    let root = &here.place.root;
    let (settings, programs) = (&settings, &programs);
    let from = Preparing { here, settings, programs, directory: root, asked: &asked };
    let prepared = run::prepare(from, &ledger).unwrap();
    let running = run::start(here, &mut ledger, prepared).unwrap();
    let (ends, stopping) = (Ends::default(), Stopping::new());
    let with = With { here, programs, system: &Real, watcher: &ends, stopping: &stopping };
    running.drive(with).unwrap();
    let ends = ends.0.into_inner().unwrap();
    let alone = alone(agent, &root.join("status.json"));
    assert_eq!(ends.len(), ITERATIONS as usize, "every iteration was made");
    let (first, last) = (typical(&ends[..100]), typical(&ends[ends.len() - 100..]));
    println!("agent alone            {alone:>9.2?}");
    println!("iterations 1 to 100    {first:>9.2?}, engine {:.2?}", first.saturating_sub(alone));
    println!("iterations 901 to 1000 {last:>9.2?}, engine {:.2?}", last.saturating_sub(alone));
    println!("target: at most 15 ms of the engine's own, the same at the end as at the beginning");
    assert!(last <= first + first / 2 + SLACK, "it grows: {first:.2?} became {last:.2?}");
}

/// What an iteration took, other programs' share of the machine aside: the quicker quarter.
fn typical(ends: &[Instant]) -> Duration {
    let mut times: Vec<Duration> = ends.windows(2).map(|pair| pair[1] - pair[0]).collect();
    times.sort();
    times[times.len() / 4]
}

/// What the agent costs without the engine.
fn alone(agent: &std::path::Path, status: &std::path::Path) -> Duration {
    let mut times: Vec<Duration> = (0..100)
        .map(|_| {
            let began = Instant::now();
            let mut command = Command::new(agent);
            command.env("HEIRLOOM_STATUS", status).stdin(Stdio::null()).stdout(Stdio::piped());
            command.stderr(Stdio::piped()).output().unwrap();
            began.elapsed()
        })
        .collect();
    times.sort();
    times[times.len() / 4]
}

fn inheriting(here: &Here) {
    let mut ledger = here.ledger().unwrap();
    let id = SessionId::new(Uuid::new_v4());
    let repo = here.place.repo.clone();
    let scope = Scope::session(id, &repo);
    let created: SessionCreated = serde_json::from_str(r#"{"name":"long"}"#).unwrap();
    ledger
        .write(here.clock.now(), |writer| {
            writer.append(scope, &created)?;
            for n in 0..LONG {
                let note =
                    |kind, text: String| NoteAdded::new(NoteId::new(Uuid::new_v4()), kind, text);
                writer.append(scope, &note(Kind::Learning, format!("learning number {n}")))?;
                writer.append(scope, &note(Kind::Decision, format!("decision number {n}")))?;
                let ended = IterationEnded {
                    stage: "stage-00-ralph".to_owned(),
                    iteration: n + 1,
                    outcome: "completed".to_owned(),
                    decision: Some("continue".to_owned()),
                    summary: Some(format!("did {n}")),
                    cost_usd: 0.1,
                    duration_ms: 1000,
                    why: None,
                };
                writer.append(scope, &ended)?;
            }
            writer.change_status(id, Status::Completed, None)
        })
        .unwrap();
    let limits = Limits { max_tokens: 8000, max_depth: 3 };
    let mut times: Vec<Duration> = (0..10)
        .map(|_| {
            let began = Instant::now();
            let resolved = inherit::resolve(here, &ledger, "long", Select::default(), limits);
            assert_eq!(resolved.unwrap().block.learnings.len(), 100);
            began.elapsed()
        })
        .collect();
    times.sort();
    println!("inheriting from {LONG} iterations with 2 notes each: {:.2?}", times[times.len() / 2]);
    println!("target: at most 50 ms");
}

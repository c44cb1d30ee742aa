//! What the engine costs an iteration, and what inheriting from a long session costs.
//!
//! `cargo bench -p heirloom-engine --bench run`. The engine's own instructions an iteration have a
//! budget, and fail if they are over it or grow. Times are printed with their targets; on a busy
//! machine they say little, and `-- --quick` leaves them out.

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark that cannot set the scene panics, and says where"
)]
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement, for people")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use heirloom_core::event::{IterationEnded, NoteAdded, SessionCreated};
use heirloom_core::id::{NoteId, SessionId};
use heirloom_core::inherit::Select;
use heirloom_core::note::Kind;
use heirloom_core::run::choices::Choices;
use heirloom_core::run::outcome::Outcome;
use heirloom_core::run::status_file::Decision;
use heirloom_core::settings::Settings;
use heirloom_core::status::Status;
use heirloom_engine::agents;
use heirloom_engine::events::{Event, RunEvent, Watcher};
use heirloom_engine::here::Here;
use heirloom_engine::run::inherit::{self, Limits};
use heirloom_engine::run::{self, Asked, Preparing, Stopping, With};
use heirloom_engine::turn::system::Real;
use heirloom_ledger::{Ledger, Scope};
use heirloom_testkit::instructions;
use jiff::Timestamp;
use uuid::Uuid;

const ITERATIONS: u32 = 1000;
const LONG: u32 = 5000;
/// The most that the engine may cost an iteration, in instructions.
const MOST: u64 = 12_000_000;
/// The most that inheriting from a long session may cost, in instructions: well below 50 ms.
const MOST_TO_INHERIT: u64 = 200_000_000;
/// How much two measurements of the same may differ.
const SLACK: Duration = Duration::from_millis(2);

/// When each iteration ended.
#[derive(Default)]
struct Ends(Mutex<Vec<Instant>>);

impl Watcher for Ends {
    fn see(&self, _: Timestamp, event: &Event) {
        if matches!(event, Event::Run(RunEvent::IterationEnded { .. })) {
            self.0.lock().unwrap().push(Instant::now());
        }
    }
}

fn main() {
    // This program measures itself: with these words it makes so many iterations and ends.
    if let [_, word, count, at] = std::env::args().collect::<Vec<_>>().as_slice()
        && word == "loop"
    {
        let scene = Scene::new(at.as_ref());
        scene.iterate(count.parse().unwrap());
        return;
    }
    if let [_, word, at] = std::env::args().collect::<Vec<_>>().as_slice()
        && word == "inherit"
    {
        let here = Scene::new(at.as_ref()).here;
        inherit_all(&here, &here.ledger().unwrap());
        return;
    }
    budget();
    inheriting_budget();
    if !std::env::args().any(|word| word == "--quick") {
        let dir = tempfile::TempDir::new().unwrap();
        let scene = Scene::new(dir.path());
        iterations(&scene);
        inheriting(&scene.here);
    }
}

/// Counts the engine's instructions an iteration, at the beginning of a loop and further on.
fn budget() {
    let cost = |iterations: u32| {
        let dir = tempfile::TempDir::new().unwrap();
        instructions::count(&std::env::current_exe().unwrap(), |command| {
            command.arg("loop").arg(iterations.to_string()).arg(dir.path()).stdout(Stdio::null());
        })
    };
    let [few, more, many, most] = [5, 15, 50, 60].map(cost);
    let (first, last) = ((more - few) / 10, (most - many) / 10);
    println!("instructions an iteration: {first} of 6 to 15, {last} of 51 to 60, of {MOST}");
    assert!(first.max(last) <= MOST, "over its budget of {MOST}");
    assert!(last <= first + first / 4, "it grows: {first} became {last}");
}

/// Counts the instructions of a program that only inherits from a long session.
fn inheriting_budget() {
    let dir = tempfile::TempDir::new().unwrap();
    long_session(&Scene::new(dir.path()).here);
    let count = instructions::count(&std::env::current_exe().unwrap(), |command| {
        command.arg("inherit").arg(dir.path()).stdout(Stdio::null());
    });
    println!("instructions to inherit from {LONG} iterations: {count}, of {MOST_TO_INHERIT}");
    assert!(count <= MOST_TO_INHERIT, "over its budget of {MOST_TO_INHERIT}");
}

/// A repository with an agent that does nothing.
struct Scene {
    here: Here,
    agent: PathBuf,
}

impl Scene {
    fn new(dir: &Path) -> Self {
        let (repo, home) = (dir.join("repo"), dir.join("home"));
        fs::create_dir_all(repo.join(".heirloom")).unwrap();
        let agent = repo.join("agent.sh");
        let nothing = "#!/bin/sh\necho '{\"decision\":\"continue\"}' > \"$HEIRLOOM_STATUS\"\n";
        fs::write(&agent, nothing).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&agent, mode).unwrap();
        let mut env: heirloom_engine::here::Env = std::env::vars_os().collect();
        env.insert("HEIRLOOM_HOME".into(), home.into());
        env.insert("HEIRLOOM_AGENT_COMMAND".into(), agent.clone().into());
        Self { here: Here::look(&repo, env).unwrap(), agent }
    }

    /// Makes so many iterations, and says when each ended.
    fn iterate(&self, count: u32) -> Vec<Instant> {
        let here = &self.here;
        let asked = Asked {
            what: "ralph".to_owned(),
            session: "bench".to_owned(),
            flags: Choices {
                agent: Some("command".to_owned()),
                max: Some(count),
                ..Choices::default()
            },
            ..Asked::default()
        };
        let mut ledger = here.ledger().unwrap();
        let (settings, programs) = (&Settings::default(), &agents::programs(here, None));
        let directory = &here.place.root;
        let from = Preparing { here, settings, programs, directory, asked: &asked };
        let prepared = run::prepare(from, &ledger).unwrap();
        let running = run::start(here, &mut ledger, prepared).unwrap();
        let (ends, stopping) = (Ends::default(), Stopping::new());
        let with = With { here, programs, system: &Real, watcher: &ends, stopping: &stopping };
        running.drive(with).unwrap();
        let ends = ends.0.into_inner().unwrap();
        assert_eq!(ends.len(), count as usize, "every iteration was made");
        ends
    }
}

fn iterations(scene: &Scene) {
    let ends = scene.iterate(ITERATIONS);
    let alone = alone(&scene.agent, &scene.here.place.root.join("status.json"));
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
fn alone(agent: &Path, status: &Path) -> Duration {
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

/// Makes a session of many iterations with two notes each.
fn long_session(here: &Here) {
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
                    outcome: Outcome::Completed,
                    decision: Some(Decision::Continue),
                    summary: Some(format!("did {n}")),
                    cost_usd: Some(0.1),
                    duration_ms: 1000,
                    why: None,
                    denied: 0,
                };
                writer.append(scope, &ended)?;
            }
            writer.change_status(id, Status::Completed, None)
        })
        .unwrap();
}

fn inherit_all(here: &Here, ledger: &Ledger) {
    let limits = Limits { max_tokens: 8000, max_depth: 3 };
    let resolved = inherit::resolve(here, ledger, &["long"], Select::default(), limits);
    assert_eq!(resolved.unwrap().block.learnings.len(), 100);
}

fn inheriting(here: &Here) {
    long_session(here);
    let ledger = here.ledger().unwrap();
    let mut times: Vec<Duration> = (0..10)
        .map(|_| {
            let began = Instant::now();
            inherit_all(here, &ledger);
            began.elapsed()
        })
        .collect();
    times.sort();
    println!("inheriting from {LONG} iterations with 2 notes each: {:.2?}", times[times.len() / 2]);
    println!("target: at most 50 ms");
}

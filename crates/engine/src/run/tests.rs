//! Runs with agents that hang, die and report what they please, in a time that does not pass by
//! itself.

use std::fs;
use std::sync::Mutex;
use std::time::Duration;

use heirloom_core::approval::State;
use heirloom_core::run::choices::Choices;
use heirloom_core::settings::{RunPermissions, Settings};
use heirloom_core::status::Status;
use heirloom_ledger::ApprovalFilter;
use jiff::Timestamp;
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::events::{Event, RunEnded, RunEvent, Watcher};
use crate::here::Here;
use crate::turn::fake::{self, Act, Fake};
use crate::{agents, session};

struct Scene {
    _dir: TempDir,
    here: Here,
}

fn scene() -> Scene {
    let dir = TempDir::new().unwrap();
    let here = fake::place(dir.path());
    Scene { _dir: dir, here }
}

#[derive(Default)]
struct Seen(Mutex<Vec<Event>>);

impl Watcher for Seen {
    fn see(&self, _: Timestamp, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }
}

fn asked(max: u32) -> Asked {
    let flags = Choices { agent: Some("claude".to_owned()), max: Some(max), ..Choices::default() };
    Asked {
        what: "ralph".to_owned(),
        session: "s".to_owned(),
        flags,
        permissions: Some(RunPermissions::Edits),
        ..Asked::default()
    }
}

impl Scene {
    fn run(&self, fake: &Fake, asked: &Asked) -> (RunEnded, Vec<Event>) {
        let here = &self.here;
        let (settings, programs) = (Settings::default(), agents::programs(here, None));
        let (settings, programs) = (&settings, &programs);
        let from = Preparing { here, settings, programs, directory: &here.place.root, asked };
        let mut ledger = here.ledger().unwrap();
        let prepared = prepare(from, &ledger).unwrap();
        let running = start(here, &mut ledger, prepared).unwrap();
        let (seen, stopping) = (Seen::default(), Stopping::new());
        let with = With { here, programs, system: fake, watcher: &seen, stopping: &stopping };
        let ended = running.drive(with).unwrap();
        (ended, seen.0.into_inner().unwrap())
    }

    fn state(&self) -> serde_json::Value {
        let file = self.here.place.root.join(".heirloom/runs/s/state.json");
        serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
    }
}

fn reports(decision: &'static str) -> Act {
    Act::Do(Box::new(move |line| {
        let status = &line.env[std::ffi::OsStr::new("HEIRLOOM_STATUS")];
        fs::write(status, json!({"decision": decision, "summary": "did it"}).to_string()).unwrap();
    }))
}

#[test]
fn agents_that_hang_are_stopped_one_after_the_other_and_the_run_gives_up() {
    let scene = scene();
    let hangs = || vec![Act::says("thinking"), Act::UntilStopped, Act::Exit(0)];
    let fake = Fake::new([hangs(), hangs(), hangs()]);
    let mut asked = asked(9);
    asked.flags.iteration_timeout = Some(Duration::from_hours(1));
    let (ended, _) = scene.run(&fake, &asked);
    assert_eq!((ended.status, ended.iterations), (Status::Failed, 3));
    assert_eq!(fake.passed().as_secs() / 3600, 3);
}

#[test]
fn an_agent_that_says_nothing_for_too_long_is_stopped_and_one_that_talks_is_not() {
    let scene = scene();
    let talks = vec![
        Act::Wait(Duration::from_mins(9)),
        Act::says("still here"),
        Act::Wait(Duration::from_mins(9)),
        reports("continue"),
        Act::result(),
        Act::Exit(0),
    ];
    let silent = vec![Act::says("hm"), Act::UntilStopped, Act::Exit(0)];
    let ends = vec![reports("stop"), Act::result(), Act::Exit(0)];
    let mut asked = asked(9);
    asked.flags.idle_timeout = Some(Duration::from_mins(10));
    let fake = Fake::new([talks, silent, ends]);
    let (ended, events) = scene.run(&fake, &asked);
    assert_eq!((ended.status, ended.iterations), (Status::Completed, 3));
    let why: Vec<Option<&str>> = events
        .iter()
        .filter_map(|event| match event {
            Event::Run(RunEvent::IterationEnded { why, .. }) => Some(why.as_deref()),
            _ => None,
        })
        .collect();
    assert_eq!(why, [None, Some("it said nothing for too long (idle_timeout)"), None]);
    assert_eq!(fake.passed().as_secs() / 60, 28);
}

#[test]
fn what_a_run_accepts_is_approved_and_recorded_and_silence_while_asked_is_not_the_agents() {
    let scene = scene();
    let asks = json!({"type": "control_request", "request_id": "r1", "request": {
        "subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "make test"}}});
    let works = vec![
        Act::print(&asks),
        Act::UntilTold("\"behavior\":\"allow\""),
        reports("stop"),
        Act::result(),
        Act::UntilHungUp,
        Act::Exit(0),
    ];
    let asked = Asked { permissions: Some(RunPermissions::Accept), ..asked(1) };
    let (ended, _) = scene.run(&Fake::new([works]), &asked);
    assert_eq!(ended.status, Status::Completed);
    let ledger = scene.here.ledger().unwrap();
    let session = ledger.named(&scene.here.place.repo, "s").unwrap().unwrap();
    let approvals = ledger
        .approvals(ApprovalFilter { session: Some(session.id), ..ApprovalFilter::default() })
        .unwrap();
    assert_eq!(approvals.iter().map(|each| each.state).collect::<Vec<_>>(), [State::Approved]);
}

#[test]
fn a_run_ends_when_its_time_is_up_and_its_agent_with_it() {
    let scene = scene();
    let quick = vec![Act::Wait(Duration::from_mins(30)), reports("continue"), Act::result()];
    let fake = Fake::new([quick, vec![Act::UntilStopped, Act::Exit(0)]]);
    let mut asked = Asked { max_time: Some(Duration::from_hours(2)), ..asked(9) };
    // It may say nothing for as long as it likes.
    asked.flags.idle_timeout = Some(Duration::ZERO);
    let (ended, _) = scene.run(&fake, &asked);
    assert_eq!((ended.status, ended.reason.as_deref()), (Status::Interrupted, Some("max_time")));
    assert_eq!((fake.started(), fake.passed().as_secs() / 60), (2, 120));
}

#[test]
fn an_agent_that_reports_and_then_dies_has_failed() {
    let scene = scene();
    let dies = || vec![reports("stop"), Act::Exit(7)];
    let (ended, events) = scene.run(&Fake::new([dies(), dies(), dies()]), &asked(9));
    assert_eq!(ended.status, Status::Failed);
    let failed = events.iter().filter(
        |event| matches!(event, Event::Run(RunEvent::IterationEnded { outcome, .. }) if outcome.as_str() == "failed"),
    );
    assert_eq!(failed.count(), 3);
}

#[test]
fn every_iteration_announces_its_conversation_and_what_was_said_in_it_is_kept() {
    let scene = scene();
    let one = vec![
        Act::started("00000001-1111-4111-8111-111111111111"),
        Act::says("one"),
        reports("continue"),
        Act::result(),
        Act::Exit(0),
    ];
    let two = vec![
        Act::started("00000002-1111-4111-8111-111111111111"),
        Act::says("two"),
        reports("continue"),
        Act::result(),
        Act::Exit(0),
    ];
    let (ended, _) = scene.run(&Fake::new([one, two]), &asked(2));
    assert_eq!((ended.status, ended.cost_usd), (Status::Completed, Some(1.0)));
    let ledger = scene.here.ledger().unwrap();
    let session = ledger.named(&scene.here.place.repo, "s").unwrap().unwrap();
    assert!(
        session.announced && session.agent_session_id.as_deref().unwrap().starts_with("00000002")
    );
    let config = session.config.clone().unwrap();
    assert_eq!(
        (config.auto_accept_edits, config.resolved_model.as_deref()),
        (Some(true), Some("m"))
    );
    assert!(ledger.live(&session.repo).unwrap().is_empty());
    let said = session::conversation(&scene.here, &ledger, &session).unwrap().items;
    let texts = said.iter().filter(|item| item.kind == "text").filter_map(|i| i.text.as_deref());
    assert_eq!(texts.collect::<Vec<_>>(), ["one", "two"]);
}

/// Ends its turn well, and does not say what that cost.
fn unpriced() -> Act {
    Act::print(&json!({
        "type": "result", "subtype": "success", "is_error": false, "result": "done",
        "session_id": "x", "num_turns": 1, "usage": {"input_tokens": 3, "output_tokens": 4},
    }))
}

#[test]
fn what_an_agent_does_not_tell_is_not_free_and_the_sum_says_so() {
    let scene = scene();
    let told = vec![reports("continue"), Act::result(), Act::Exit(0)];
    let untold = vec![reports("stop"), unpriced(), Act::Exit(0)];
    let (ended, events) = scene.run(&Fake::new([told, untold]), &asked(9));
    let costs: Vec<Option<f64>> = events
        .iter()
        .filter_map(|event| match event {
            Event::Run(RunEvent::IterationEnded { cost_usd, .. }) => Some(*cost_usd),
            _ => None,
        })
        .collect();
    assert_eq!(costs, [Some(0.5), None]);
    assert_eq!((ended.cost_usd, ended.cost_partial), (Some(0.5), true));
    assert_eq!(scene.state()["cost_usd"], 0.5);
}

#[test]
fn an_iteration_that_is_made_again_has_cost_something_too() {
    let scene = scene();
    let limited = Act::print(&json!({
        "type": "result", "subtype": "success", "is_error": true,
        "result": "You've hit your session limit", "session_id": "x", "total_cost_usd": 0.25,
        "num_turns": 1, "usage": {"input_tokens": 3, "output_tokens": 4},
    }));
    let ends = vec![reports("stop"), Act::result(), Act::Exit(0)];
    let fake = Fake::new([vec![limited, Act::Exit(1)], ends]);
    let (ended, _) = scene.run(&fake, &asked(1));
    assert_eq!((fake.started(), ended.iterations, ended.cost_usd), (2, 1, Some(0.75)));
    assert_eq!(scene.state()["cost_usd"], 0.75);
}

#[test]
fn an_agent_that_spends_more_than_is_left_is_stopped_while_it_works() {
    let scene = scene();
    let spends = |usd: f64| {
        Act::print(&json!({
            "type": "result", "subtype": "success", "is_error": false, "result": "more",
            "session_id": "x", "total_cost_usd": usd, "num_turns": 1,
            "usage": {"input_tokens": 3, "output_tokens": 4},
        }))
    };
    let greedy = vec![spends(3.0), Act::UntilStopped, Act::Exit(0)];
    let fake = Fake::new([greedy]);
    let asked = Asked { max_cost_usd: Some(2.0), ..asked(9) };
    let (ended, _) = scene.run(&fake, &asked);
    assert_eq!((ended.status, ended.limited), (Status::Interrupted, true));
    assert!(fake.done(0).stopped);
    assert_eq!((fake.started(), ended.cost_usd), (1, Some(3.0)));
}

#[test]
fn a_flood_in_an_iteration_is_told_in_a_few_lines() {
    let scene = scene();
    let flood = (0..5_000).map(|n| Act::says(&format!("line {n}")));
    let script = flood.chain([reports("stop"), Act::result(), Act::Exit(0)]).collect();
    let (ended, events) = scene.run(&Fake::new([script]), &asked(1));
    assert_eq!(ended.status, Status::Completed);
    let told = |event: &&Event| matches!(event, Event::Run(RunEvent::Activity { .. }));
    // No time passes while they come.
    assert!(events.iter().filter(told).count() < 5);
}

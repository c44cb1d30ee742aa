//! Runs through issues with agents that hang and lie, and with faults of our own, in a time that does not
//! pass by itself.

use std::sync::Mutex;
use std::time::Duration;

use heirloom_agents::CommandLine;
use heirloom_core::issue::{IssueId, IssueStatus, NewIssue};
use heirloom_core::settings::Settings;
use heirloom_core::status::Status;
use heirloom_core::work::{IssueRunStatus, WorkStatus};
use heirloom_ledger::SessionFilter;
use jiff::Timestamp;
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::agents;
use crate::events::{AnyEvent, Event, Follow, Watcher, WorkEnded, WorkEvent};
use crate::here::Here;
use crate::issues::{BuiltIn, Tracker};
use crate::run::Stopping;
use crate::turn::fake::{self, Act, Fake};

struct Scene {
    _dir: TempDir,
    here: Here,
    tracker: BuiltIn,
    fleet: Option<&'static Lender>,
}

/// A place with so many issues.
fn scene(issues: usize) -> Scene {
    let dir = TempDir::new().unwrap();
    let here = fake::place(dir.path());
    let mut tracker = BuiltIn::open(&here).unwrap();
    for n in 1..=issues {
        tracker.create(NewIssue { title: format!("issue {n}"), ..NewIssue::default() }).unwrap();
    }
    Scene { _dir: dir, here, tracker, fleet: None }
}

/// Lends every issue out but those that another machine has, and may take them away again.
#[derive(Default)]
struct Lender {
    elsewhere: Mutex<Vec<String>>,
    /// What was given back, and whether it was finished.
    returned: Mutex<Vec<(String, bool)>>,
}

impl Fleet for Lender {
    fn take(&self, issue: &IssueId, _: Wants) -> Result<bool, String> {
        Ok(self.has(issue))
    }

    fn has(&self, issue: &IssueId) -> bool {
        !self.elsewhere.lock().unwrap().iter().any(|other| other == issue.as_str())
    }

    fn confirm(&self, issue: &IssueId) -> bool {
        self.has(issue)
    }

    fn give_back(&self, issue: &IssueId, finished: bool) -> Result<(), String> {
        self.returned.lock().unwrap().push((issue.to_string(), finished));
        Ok(())
    }
}

fn lender() -> &'static Lender {
    Box::leak(Box::default())
}

#[derive(Default)]
struct Seen(Mutex<Vec<Event>>);

impl Watcher for Seen {
    fn see(&self, _: Timestamp, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }
}

impl Scene {
    fn work(&mut self, fake: &Fake) -> (WorkEnded, Vec<Event>) {
        self.work_until(fake, &Stopping::new())
    }

    fn work_until(&mut self, fake: &Fake, stopping: &Stopping) -> (WorkEnded, Vec<Event>) {
        let settings = Settings::default();
        let programs = agents::programs(&self.here, None);
        let seen = Seen::default();
        let gate = vec!["true".to_owned()];
        let options = Options { in_place: true, max_agents: 1, gate, ..Options::of(&settings) };
        let with = With {
            here: &self.here,
            programs: &programs,
            settings: &settings,
            system: fake,
            watcher: &seen,
            stopping,
            fleet: self.fleet.map(|fleet| fleet as &dyn Fleet),
        };
        let ended = work(with, &mut self.tracker, &options).unwrap();
        (ended, seen.0.into_inner().unwrap())
    }
}

fn finishes() -> Vec<Act> {
    vec![Act::result(), Act::Exit(0)]
}

#[test]
fn a_fault_of_ours_in_one_issue_ends_that_issue_and_not_the_run() {
    let mut scene = scene(3);
    let fault = vec![
        Act::started("11111111-1111-4111-8111-111111111111"),
        Act::Fault("index out of bounds"),
    ];
    let (ended, events) = scene.work(&Fake::new([finishes(), fault, finishes()]));
    assert_eq!(ended.status, WorkStatus::Completed);
    assert_eq!((ended.tally.closed, ended.tally.failed, ended.tally.interrupted), (2, 1, 0));
    let failed = events.iter().find_map(|event| match event {
        Event::Work(WorkEvent::IssueEnded { status: IssueRunStatus::Failed, reason, .. }) => {
            reason.clone()
        }
        _ => None,
    });
    assert_eq!(failed.as_deref(), Some("heirloom itself failed: index out of bounds"));
    // Nothing of it is left as if somebody still worked on it.
    let ledger = scene.here.ledger().unwrap();
    let filter = SessionFilter { limit: 9, ..SessionFilter::default() };
    let sessions = ledger.sessions(&filter).unwrap().sessions;
    let statuses: Vec<Status> = sessions.iter().map(|session| session.status).collect();
    assert_eq!(statuses.len(), 3);
    assert!(statuses.iter().all(|status| status.is_ended()), "{statuses:?}");
    assert!(ledger.claims(&scene.here.place.repo).unwrap().is_empty());
}

#[test]
fn an_agent_that_knows_no_conversation_though_it_was_asked_for_none_is_not_asked_for_ever() {
    let mut scene = scene(1);
    let lies = || {
        let answer = |line: &CommandLine| {
            let id = line.asked_for.clone().unwrap_or_default();
            let words = format!("No conversation found with session ID: {id}");
            json!({"type": "result", "subtype": "error_during_execution", "is_error": true,
                   "errors": [words], "session_id": id, "num_turns": 0})
            .to_string()
        };
        vec![Act::Answer(Box::new(answer)), Act::Exit(1)]
    };
    let fake = Fake::new((0..50).map(|_| lies()));
    let (ended, _) = scene.work(&fake);
    assert_eq!((ended.tally.failed, ended.tally.closed), (1, 0));
    assert!(fake.started() <= 2, "{}", fake.started());
}

#[test]
fn an_issue_whose_agent_is_silent_twice_times_out_and_the_next_one_is_worked_on() {
    let mut scene = scene(2);
    let silent = || {
        vec![Act::started("11111111-1111-4111-8111-111111111111"), Act::UntilStopped, Act::Exit(0)]
    };
    let fake = Fake::new([silent(), silent(), finishes()]);
    let (ended, _) = scene.work(&fake);
    assert_eq!((ended.tally.closed, ended.tally.timed_out, ended.tally.failed), (1, 1, 0));
    let silence = Options::of(&Settings::default()).silence;
    assert!(fake.passed() >= 2 * silence && fake.passed() < 3 * silence);
    assert!(fake.passed() < Duration::from_hours(12));
}

#[test]
fn what_happens_in_a_run_can_be_followed_from_another_process() {
    let mut scene = scene(1);
    let (ended, events) = scene.work(&Fake::new([finishes()]));
    let path = events_of(&scene.here.home, ended.run.unwrap());
    let (mut follow, written) = Follow::open(&path).unwrap();
    let written: Vec<Event> = written.into_iter().map(|(_, event)| event).collect();
    assert_eq!(written, events);
    assert!(follow.more().unwrap().is_empty());
    assert_eq!(ended.tally.closed, 1);
}

/// Somebody presses ctrl-c so often.
fn asks(stopping: &Stopping, times: usize) -> Act {
    let stopping = stopping.clone();
    Act::Do(Box::new(move |_| (0..times).for_each(|_| stopping.ask())))
}

#[test]
fn an_agent_that_does_not_listen_is_killed_when_somebody_insists() {
    let mut scene = scene(2);
    let stopping = Stopping::new();
    let id = "11111111-1111-4111-8111-111111111111";
    let deaf = vec![Act::started(id), asks(&stopping, 3), Act::UntilKilled];
    let fake = Fake::new([deaf]);
    let (ended, events) = scene.work_until(&fake, &stopping);
    assert!(fake.done(0).killed);
    assert_eq!((ended.status, ended.tally.interrupted), (WorkStatus::Interrupted, 1));
    assert!(events.contains(&AnyEvent::Stopping { now: true }.into()), "{events:?}");
    // It can be taken up again, and nothing was told to be done or failed.
    assert_eq!((ended.tally.closed, ended.tally.failed, fake.started()), (0, 0, 1));
    assert!(scene.here.ledger().unwrap().claims(&scene.here.place.repo).unwrap().is_empty());
}

#[test]
fn an_agent_that_may_finish_its_turn_is_not_stopped_and_no_other_issue_is_begun() {
    let mut scene = scene(2);
    let stopping = Stopping::new();
    let script = vec![asks(&stopping, 1), Act::Wait(Duration::from_mins(1)), Act::result()];
    let fake = Fake::new([script]);
    let (ended, _) = scene.work_until(&fake, &stopping);
    assert!(!fake.done(0).stopped);
    assert_eq!((ended.status, fake.started()), (WorkStatus::Interrupted, 1));
}

#[test]
fn a_cost_that_no_agent_tells_makes_the_run_cost_at_least_the_rest() {
    let mut scene = scene(2);
    let untold = json!({"type": "result", "subtype": "success", "is_error": false,
        "result": "done", "session_id": "x", "num_turns": 1,
        "usage": {"input_tokens": 3, "output_tokens": 4}});
    let fake = Fake::new([finishes(), vec![Act::print(&untold), Act::Exit(0)]]);
    let (ended, events) = scene.work(&fake);
    let costs: Vec<Option<f64>> = events
        .iter()
        .filter_map(|event| match event {
            Event::Work(WorkEvent::IssueEnded { cost_usd, .. }) => Some(*cost_usd),
            _ => None,
        })
        .collect();
    assert_eq!(costs, [Some(0.5), None]);
    assert_eq!((ended.cost_usd, ended.cost_partial), (Some(0.5), true));
}

#[test]
fn a_flood_does_not_keep_a_run_from_its_next_issue() {
    let mut scene = scene(2);
    let flood = (0..5_000).map(|_| Act::says("x")).chain(finishes()).collect();
    let (ended, events) = scene.work(&Fake::new([flood, finishes()]));
    assert_eq!(ended.tally.closed, 2);
    let told = |event: &&Event| matches!(event, Event::Work(WorkEvent::Activity { .. }));
    assert!(events.iter().filter(told).count() < 20);
}

#[test]
fn what_another_machine_has_is_left_alone_and_the_rest_is_given_back_finished() {
    let mut scene = scene(2);
    let fleet = lender();
    let ids: Vec<String> =
        scene.tracker.backlog().unwrap().iter().map(|entry| entry.id.to_string()).collect();
    fleet.elsewhere.lock().unwrap().push(ids[0].clone());
    scene.fleet = Some(fleet);
    let (ended, events) = scene.work(&Fake::new([finishes()]));
    assert_eq!((ended.tally.closed, ended.tally.open()), (1, 0));
    let first = scene.tracker.find(&ids[0]).unwrap();
    assert_eq!(first.status, IssueStatus::Open, "it is the other machine's");
    let returned = fleet.returned.lock().unwrap();
    let finished: Vec<&str> =
        returned.iter().filter(|(_, finished)| *finished).map(|(id, _)| id.as_str()).collect();
    assert_eq!(finished, [ids[1].as_str()]);
    drop(returned);
    let said = events.iter().any(|event| {
        matches!(event, Event::Any(AnyEvent::Warning { issue: Some(issue), message })
            if *issue == ids[0] && message.contains("another machine"))
    });
    assert!(said, "{events:?}");
}

#[test]
fn whoever_lost_an_issue_stops_its_agent_and_closes_nothing() {
    let mut scene = scene(1);
    let fleet = lender();
    let id = scene.tracker.backlog().unwrap()[0].id.to_string();
    scene.fleet = Some(fleet);
    let taken = id.clone();
    let loses = vec![
        Act::started("11111111-1111-4111-8111-111111111111"),
        Act::Do(Box::new(move |_: &CommandLine| {
            fleet.elsewhere.lock().unwrap().push(taken);
        })),
        Act::UntilStopped,
        Act::result(),
        Act::Exit(0),
    ];
    let (ended, events) = scene.work(&Fake::new([loses]));
    assert_eq!((ended.tally.closed, ended.tally.interrupted), (0, 1));
    assert!(!scene.tracker.find(&id).unwrap().status.is_closed());
    let why = events.iter().find_map(|event| match event {
        Event::Work(WorkEvent::IssueEnded { reason, .. }) => reason.clone(),
        _ => None,
    });
    assert!(why.unwrap().contains("another one may have taken the issue over"));
    assert_eq!(*fleet.returned.lock().unwrap(), [(id, false)]);
}

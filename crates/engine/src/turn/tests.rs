//! Turns with agents that hang, flood, lie and ask, in a time that does not pass by itself.

use std::time::{Duration, Instant};

use heirloom_agents::{Event, Input, Outcome, Tally, by_name};
use heirloom_core::approval::Approval;
use heirloom_core::cost::Cost;
use heirloom_core::event::SessionCreated;
use heirloom_core::id::SessionId;
use heirloom_core::status::Status;
use serde_json::json;
use tempfile::TempDir;
use uuid::Uuid;

use super::command::{Order, Site};
use super::fake::{self, Act, Fake};
use super::*;

const ID: &str = "11111111-1111-4111-8111-111111111111";
const OTHER: &str = "22222222-2222-4222-8222-222222222222";

struct Scene {
    _dir: TempDir,
    here: Here,
    ledger: Ledger,
    session: Session,
}

/// A session that was recorded and whose agent is about to be launched.
fn scene() -> Scene {
    let dir = TempDir::new().unwrap();
    let here = fake::place(dir.path());
    let mut ledger = here.ledger().unwrap();
    let id = SessionId::new(Uuid::from_u128(7));
    let created: SessionCreated =
        serde_json::from_value(json!({"name": "a", "agent": "claude"})).unwrap();
    let scope = Scope::session(id, &here.place.repo);
    ledger.append(here.clock.now(), scope, &created).unwrap();
    let session = ledger.session(id).unwrap().unwrap();
    Scene { _dir: dir, here, ledger, session }
}

impl Scene {
    fn take(
        &mut self,
        fake: &Fake,
        turn: (Part, Thread),
        supervisor: &mut dyn Supervisor,
    ) -> Ended {
        let (part, thread) = turn;
        let agent = by_name("claude").unwrap();
        let (config, id) = (Config::default(), self.session.id);
        let conversation = match &thread.resumed {
            Some(resumed) => heirloom_agents::Conversation::Resume(resumed),
            None => heirloom_agents::Conversation::New(thread.chosen.as_deref()),
        };
        let order = Order {
            agent,
            config: &config,
            prompt: "work",
            conversation,
            at: None,
            id,
            input: Input::Stream,
            variables: Vec::new(),
        };
        let programs = crate::agents::programs(&self.here, None);
        let site = Site { here: &self.here, programs: &programs, directory: &self.here.place.root };
        let line = command::build(site, &order).unwrap();
        let turn = Turn {
            here: &self.here,
            system: fake,
            session: &self.session,
            agent,
            config: &config,
            thread,
            stream: Stream::of_session(&self.here.home, id),
            part,
        };
        let begin = |writer: &mut Writer<'_>, _| writer.change_status(id, Status::Running, None);
        super::take(&turn, line, &mut self.ledger, begin, supervisor)
    }

    fn status(&self) -> Status {
        self.ledger.session(self.session.id).unwrap().unwrap().status
    }
}

fn whole() -> (Part, Thread) {
    (Part::Whole, Thread { chosen: Some(ID.to_owned()), ..Thread::default() })
}

/// Stops an agent after a time, and kills it after a longer one.
#[derive(Default)]
struct Impatient {
    stops: Option<Instant>,
    kills: Option<Instant>,
    system: Option<&'static Fake>,
    warned: Vec<String>,
    events: usize,
}

impl Supervisor for Impatient {
    fn event(&mut self, _: &Event, _: bool) {
        self.events += 1;
    }

    fn warn(&mut self, text: &str) {
        self.warned.push(text.to_owned());
    }

    fn must_stop(&mut self, _: &Tally) -> Option<Cause> {
        let now = self.system?.now();
        self.stops.is_some_and(|stops| now >= stops).then_some(Cause::TooLong)
    }

    fn must_kill(&mut self) -> bool {
        self.system.is_some_and(|system| self.kills.is_some_and(|kills| system.now() >= kills))
    }
}

fn impatient(fake: Fake, stops: u64, kills: Option<u64>) -> (&'static Fake, Impatient) {
    let fake: &'static Fake = Box::leak(Box::new(fake));
    let after = |minutes| fake.now() + Duration::from_mins(minutes);
    let (stops, kills) = (Some(after(stops)), kills.map(after));
    (fake, Impatient { stops, kills, system: Some(fake), ..Impatient::default() })
}

#[test]
fn an_agent_that_hangs_is_stopped_in_its_time_and_the_cause_is_told() {
    let mut scene = scene();
    let (fake, mut supervisor) =
        impatient(Fake::new([vec![Act::started(ID), Act::UntilStopped, Act::Exit(0)]]), 60, None);
    let ended = scene.take(fake, whole(), &mut supervisor);
    assert_eq!(ended.cause, Some(Cause::TooLong));
    assert_eq!(ended.finished.unwrap().outcome, Outcome::Interrupted);
    assert_eq!(fake.passed().as_secs() / 60, 60);
    assert!(fake.done(0).stopped && !fake.done(0).killed);
    assert_eq!(scene.status(), Status::Interrupting);
}

#[test]
fn an_agent_that_listens_to_nothing_is_killed() {
    let mut scene = scene();
    let (fake, mut supervisor) =
        impatient(Fake::new([vec![Act::started(ID), Act::UntilKilled]]), 1, Some(2));
    let ended = scene.take(fake, whole(), &mut supervisor);
    assert!(ended.finished.is_ok() && fake.done(0).killed);
}

#[test]
fn a_flood_is_read_to_its_end_and_kept_whole() {
    let mut scene = scene();
    let flood = (0..20_000).map(|_| Act::says("x"));
    let script =
        [Act::started(ID)].into_iter().chain(flood).chain([Act::result(), Act::Exit(0)]).collect();
    let fake = Fake::new([script]);
    let mut supervisor = Impatient::default();
    let ended = scene.take(&fake, whole(), &mut supervisor);
    let finished = ended.finished.unwrap();
    assert_eq!((finished.tally.lines, finished.outcome), (20_002, Outcome::Success));
    assert!(supervisor.events >= 20_002);
    let kept = Stream::of_session(&scene.here.home, scene.session.id);
    assert_eq!(kept.tally(by_name("claude").unwrap()).lines, 20_002);
}

#[test]
fn an_agent_that_goes_on_with_another_conversation_is_stopped_and_its_id_is_nobodys() {
    let mut scene = scene();
    let fake = Fake::new([vec![Act::started(OTHER), Act::UntilStopped, Act::Exit(0)]]);
    let thread = Thread { resumed: Some(ID.to_owned()), ..Thread::default() };
    let ended = scene.take(&fake, (Part::Whole, thread), &mut Unsupervised);
    let outcome = ended.finished.unwrap().outcome;
    assert!(matches!(outcome, Outcome::StaleSession { id, .. } if id == ID));
    let session = scene.ledger.session(scene.session.id).unwrap().unwrap();
    assert_eq!((session.agent_session_id, session.announced), (None, false));
}

#[test]
fn an_agent_that_works_without_saying_who_it_is_did_so_under_the_id_it_was_given() {
    let mut scene = scene();
    let fake = Fake::new([vec![Act::result(), Act::Exit(0)]]);
    let ended = scene.take(&fake, whole(), &mut Unsupervised);
    let (session, spent) = (scene.session.clone(), spent(&ended.finished.as_ref().unwrap().tally));
    let now = scene.here.clock.now();
    scene.ledger.write(now, |writer| ended.close(writer, &session, &spent)).unwrap();
    let session = scene.ledger.session(session.id).unwrap().unwrap();
    assert_eq!((session.agent_session_id.as_deref(), session.announced), (Some(ID), true));
    assert_eq!((session.cost, session.output_tokens), (Cost::Known(0.5), 4));
    assert!(scene.ledger.live(&session.repo).unwrap().is_empty());
}

#[test]
fn an_agent_that_only_waits_for_more_is_not_left_waiting() {
    let mut scene = scene();
    let mut fake = Fake::new([vec![Act::UntilHungUp, Act::Exit(0)]]);
    fake.starving = true;
    scene.take(&fake, whole(), &mut Unsupervised);
    assert!(fake.done(0).hung_up && fake.passed() < Duration::from_secs(2));
}

/// Somebody in another process interrupts the session.
fn interrupt(scene: &Scene) -> Act {
    let (here, id) = (scene.here.clone(), scene.session.id);
    Act::Do(Box::new(move |_| {
        let mut ledger = here.ledger().unwrap();
        let now = here.clock.now();
        ledger.write(now, |writer| writer.change_status(id, Status::Interrupting, None)).unwrap();
    }))
}

#[test]
fn what_another_process_wants_stops_a_session_but_not_one_turn_of_several() {
    let mut scene = scene();
    let fake =
        Fake::new([vec![Act::started(ID), interrupt(&scene), Act::UntilStopped, Act::Exit(0)]]);
    let ended = scene.take(&fake, whole(), &mut Unsupervised);
    assert_eq!(ended.finished.unwrap().outcome, Outcome::Interrupted);

    let mut scene = self::scene();
    let minute = Act::Wait(Duration::from_mins(1));
    let script = vec![Act::started(ID), interrupt(&scene), minute, Act::result(), Act::Exit(0)];
    let fake = Fake::new([script]);
    let ended = scene.take(&fake, (Part::Iteration, whole().1), &mut Unsupervised);
    assert_eq!(ended.finished.unwrap().outcome, Outcome::Success);
    assert!(!fake.done(0).stopped);
}

#[test]
fn a_question_waits_for_a_decision_of_another_process() {
    let mut scene = scene();
    let asks = json!({
        "type": "control_request", "request_id": "r1",
        "request": {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"},
                    "tool_use_id": "t1"},
    });
    let here = scene.here.clone();
    let decide = Act::Do(Box::new(move |_| {
        let mut ledger = here.ledger().unwrap();
        let filter = heirloom_ledger::ApprovalFilter { repo: None, session: None, pending: true };
        let open: Vec<Approval> = ledger.approvals(filter).unwrap();
        approvals::decide(&here, &mut ledger, &open[0], approvals::Choice::Approve).unwrap();
    }));
    let wait = Act::Wait(Duration::from_mins(10));
    let script = vec![
        Act::started(ID),
        Act::print(&asks),
        wait,
        decide,
        Act::UntilTold("allow"),
        Act::result(),
    ];
    let fake = Fake::new([script]);
    let ended = scene.take(&fake, whole(), &mut Unsupervised);
    assert_eq!(ended.finished.unwrap().outcome, Outcome::Success);
    assert!(ended.has_asked && fake.passed() > Duration::from_mins(10));
}

#[test]
fn an_agent_whose_beginning_cannot_be_recorded_does_not_run_on() {
    let mut scene = scene();
    let id = scene.session.id;
    let now = scene.here.clock.now();
    // Somebody put an end to it before it ran.
    let ends = |writer: &mut Writer<'_>| writer.change_status(id, Status::Interrupted, None);
    scene.ledger.write(now, ends).unwrap();
    scene.ledger.write(now, |w| w.change_status(id, Status::Archived, None)).unwrap();
    let fake = Fake::new([vec![Act::UntilStopped, Act::Exit(0)]]);
    let mut supervisor = Impatient::default();
    scene.take(&fake, whole(), &mut supervisor);
    assert!(fake.done(0).stopped);
    assert_eq!(supervisor.warned, ["a session that is hidden cannot become running"]);
}

#[test]
fn an_agent_that_says_it_is_done_and_goes_on_is_hung_up_on() {
    let mut scene = scene();
    let fake = Fake::new([vec![Act::started(ID), Act::result(), Act::UntilHungUp, Act::Exit(0)]]);
    let ended = scene.take(&fake, whole(), &mut Unsupervised);
    assert!(fake.done(0).hung_up && !fake.done(0).stopped);
    assert_eq!(ended.text(), Some("done"));
    assert_eq!(ended.outcome(), Some(&Outcome::Success));
}

#[test]
fn an_agent_that_dies_without_a_word_has_spent_nothing_that_anybody_knows() {
    let mut scene = scene();
    let fake = Fake::new([vec![Act::started(ID), Act::Exit(7)]]);
    let ended = scene.take(&fake, whole(), &mut Unsupervised);
    assert!(!ended.outcome().unwrap().is_success() && ended.text().is_none());
    let spent = spent(&ended.finished.as_ref().unwrap().tally);
    assert_eq!(spent.told(), None);
    let (session, now) = (scene.session.clone(), scene.here.clock.now());
    scene.ledger.write(now, |writer| ended.close(writer, &session, &spent)).unwrap();
    let session = scene.ledger.session(session.id).unwrap().unwrap();
    assert_eq!(session.cost, Cost::Unknown);
    assert!(scene.ledger.live(&session.repo).unwrap().is_empty());
}

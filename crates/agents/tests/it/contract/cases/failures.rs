//! Models that fail.

use heirloom_agents::{Event, Outcome};
use heirloom_testkit::model::{Answer, Part, Script};

use crate::contract::rig::{Ask, Rig, Run};

fn fail(rig: &Rig, status: u16) -> Run {
    let script = Script::default().then_always(Answer::fail(status));
    rig.run(&Ask { script, ..Ask::default() })
}

pub(in crate::contract) fn a_bad_key_is_auth(rig: &Rig) {
    let run = fail(rig, 401);
    assert!(matches!(run.finished.outcome, Outcome::Auth { .. }), "{:#?}", run.finished);
}

pub(in crate::contract) fn too_many_requests_is_rate_limited(rig: &Rig) {
    let run = fail(rig, 429);
    assert!(matches!(run.finished.outcome, Outcome::RateLimited { .. }), "{:#?}", run.finished);
    assert!(run.finished.outcome.is_transient());
}

pub(in crate::contract) fn no_capacity_is_overloaded(rig: &Rig) {
    let run = fail(rig, 529);
    assert!(matches!(run.finished.outcome, Outcome::Overloaded { .. }), "{:#?}", run.finished);
}

pub(in crate::contract) fn a_broken_server_is_an_api_error(rig: &Rig) {
    let run = fail(rig, 500);
    let is_server = matches!(run.finished.outcome, Outcome::ApiError { status: Some(500), .. });
    assert!(is_server, "{:#?}", run.finished);
}

pub(in crate::contract) fn a_cut_connection_is_tried_again(rig: &Rig) {
    let half = vec![Part::Text("half".into())];
    let answers = [Answer::CutBefore, Answer::CutWithin(half), Answer::text("whole")];
    let run = rig.run(&Ask::answered(answers));
    assert_eq!(run.finished.outcome, Outcome::Success, "{:#?}", run.finished);
    assert_eq!(run.text(), "whole");
    let retries = |event: &&Event| matches!(event, Event::Retry { .. });
    assert_eq!(run.requests.len(), 3);
    assert!(run.events.iter().filter(retries).count() <= 2);
}

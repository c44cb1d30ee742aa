//! Conversations: new, resumed, forked, and those that do not exist.

use heirloom_agents::{Conversation, Feature, Outcome, Process};
use heirloom_testkit::model::Answer;

use crate::contract::rig::{Ask, Rig};

const ID: &str = "6f1d3c1a-8a53-4e0e-9b6f-0d6a5f6f7a01";
const OTHER: &str = "6f1d3c1a-8a53-4e0e-9b6f-0d6a5f6f7a02";

pub(in crate::contract) fn a_chosen_id_is_used(rig: &Rig) {
    let ask = Ask { conversation: Conversation::New(Some(ID)), ..Ask::default() };
    if !rig.supports(Feature::ChosenId) {
        return rig.assert_gap(&ask);
    }
    let run = rig.run(&ask);
    assert_eq!(run.finished.outcome, Outcome::Success, "{:#?}", run.finished);
    assert_eq!(run.id(), ID);
}

pub(in crate::contract) fn a_chosen_id_is_used_only_once(rig: &Rig) {
    let ask = Ask { conversation: Conversation::New(Some(ID)), ..Ask::default() };
    if !rig.supports(Feature::ChosenId) {
        return rig.assert_gap(&ask);
    }
    assert!(rig.run(&ask).finished.outcome.is_success());
    let run = rig.run(&ask);
    let is_in_use = matches!(&run.finished.outcome, Outcome::SessionInUse { id, .. } if id == ID);
    assert!(is_in_use, "{:#?}", run.finished);
    assert!(run.requests.is_empty());
}

pub(in crate::contract) fn a_resumed_conversation_remembers(rig: &Rig) {
    let id = rig.first_turn();
    let ask = Ask {
        prompt: "the second prompt",
        conversation: Conversation::Resume(&id),
        ..Ask::answered([Answer::text("second answer")])
    };
    let run = rig.run(&ask);
    assert_eq!(run.finished.outcome, Outcome::Success, "{:#?}", run.finished);
    assert_eq!((run.id(), run.text()), (id, "second answer"));
    for text in ["the first prompt", "first answer", "the second prompt"] {
        assert!(run.last_request().contains(text), "{text}");
    }
}

pub(in crate::contract) fn a_fork_remembers_and_leaves_the_original_alone(rig: &Rig) {
    let id = rig.first_turn();
    let chosen = rig.supports(Feature::ChosenId).then_some(OTHER);
    let fork = Ask {
        prompt: "only in the fork",
        conversation: Conversation::Fork { from: &id, id: chosen },
        ..Ask::default()
    };
    if !rig.supports(Feature::Fork) {
        return rig.assert_refused(&fork);
    }
    let run = rig.run(&fork);
    assert_eq!(run.finished.outcome, Outcome::Success, "{:#?}", run.finished);
    assert!(run.last_request().contains("the first prompt"));
    assert_ne!(run.id(), id);
    if let Some(chosen) = chosen {
        assert_eq!(run.id(), chosen);
    }
    let back = Ask { conversation: Conversation::Resume(&id), ..Ask::default() };
    let run = rig.run(&back);
    assert_eq!(run.finished.outcome, Outcome::Success, "{:#?}", run.finished);
    assert!(!run.last_request().contains("only in the fork"));
}

pub(in crate::contract) fn an_unknown_id_is_stale_and_starts_nothing(rig: &Rig) {
    let unknown = if rig.subject.agent == "opencode" { "ses_doesnotexist000000000000" } else { ID };
    let ask = Ask { conversation: Conversation::Resume(unknown), ..Ask::default() };
    let run = rig.run(&ask);
    let is_stale =
        matches!(&run.finished.outcome, Outcome::StaleSession { id, .. } if id == unknown);
    assert!(is_stale, "{:#?}", run.finished);
    assert!(run.requests.is_empty(), "a model was asked");
}

pub(in crate::contract) fn a_conversation_has_one_writer(rig: &Rig) {
    let id = rig.first_turn();
    let resume = Ask {
        config: rig.permissive(),
        conversation: Conversation::Resume(&id),
        ..Ask::answered([rig.shell("touch begun; sleep 600")])
    };
    let mut running = rig.start(&resume);
    running.until_exists(&rig.work.join("begun"));
    let line = rig.line(&resume, &running.served).unwrap();
    let error = Process::spawn(rig.agent, line, rig.taps()).unwrap_err();
    assert!(error.to_string().contains("is in use by process"), "{error}");
    running.process.stopper().kill();
    assert_eq!(running.finish().finished.outcome, Outcome::Interrupted);
}

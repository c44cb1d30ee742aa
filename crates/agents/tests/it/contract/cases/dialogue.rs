//! Agents whose stdin stays open.

use heirloom_agents::event::PermissionRequest;
use heirloom_agents::{Dialogue, Event, Feature, Input, Outcome};
use heirloom_testkit::model::Answer;

use crate::contract::rig::{Ask, Rig, Running};

fn dialogue(rig: &Rig, ask: &Ask<'_>) -> Option<&'static dyn Dialogue> {
    if rig.supports(Feature::Stream) {
        return rig.agent.dialogue();
    }
    rig.assert_refused(ask);
    None
}

fn until_result(running: &mut Running) {
    running.until(|event| matches!(event, Event::Result(_)).then_some(()));
}

fn until_asked(running: &mut Running) -> PermissionRequest {
    running.until(|event| match event {
        Event::PermissionRequest(request) => Some(request.clone()),
        _ => None,
    })
}

pub(in crate::contract) fn several_prompts_are_several_results(rig: &Rig) {
    let answers = [Answer::text("one"), Answer::text("two")];
    let ask = Ask { input: Input::Stream, ..Ask::answered(answers) };
    let Some(dialogue) = dialogue(rig, &ask) else { return };
    let mut running = rig.start(&ask);
    until_result(&mut running);
    running.process.say(dialogue.prompt("and now the second"));
    until_result(&mut running);
    running.process.hang_up();
    let run = running.finish();
    assert_eq!(run.finished.outcome, Outcome::Success, "{:#?}", run.finished);
    assert_eq!((run.finished.tally.results, run.text()), (2, "two"));
    assert!(run.last_request().contains("and now the second"));
}

pub(in crate::contract) fn a_permitted_tool_is_used(rig: &Rig) {
    let answers = [rig.shell("touch made"), Answer::text("made it")];
    let ask = Ask { input: Input::Stream, ..Ask::answered(answers) };
    let Some(dialogue) = dialogue(rig, &ask) else { return };
    let mut running = rig.start(&ask);
    let request = until_asked(&mut running);
    assert!(request.input.to_string().contains("touch made"));
    assert!(!rig.work.join("made").exists());
    running.process.say(dialogue.allow(&request, None));
    until_result(&mut running);
    running.process.hang_up();
    let run = running.finish();
    assert_eq!(run.finished.outcome, Outcome::Success, "{:#?}", run.finished);
    assert!(rig.work.join("made").exists());
}

pub(in crate::contract) fn a_denied_tool_is_not_used_and_the_model_hears_why(rig: &Rig) {
    let answers = [rig.shell("touch made"), Answer::text("well then")];
    let ask = Ask { input: Input::Stream, ..Ask::answered(answers) };
    let Some(dialogue) = dialogue(rig, &ask) else { return };
    let mut running = rig.start(&ask);
    let request = until_asked(&mut running);
    running.process.say(dialogue.deny(&request, "because of the moon", false));
    until_result(&mut running);
    running.process.hang_up();
    let run = running.finish();
    assert_eq!(run.finished.outcome, Outcome::Success, "{:#?}", run.finished);
    assert!(!rig.work.join("made").exists());
    assert!(run.last_request().contains("because of the moon"));
}

pub(in crate::contract) fn an_interrupt_goes_over_the_same_wire(rig: &Rig) {
    let answers = [rig.shell("touch begun; sleep 600")];
    let config = rig.permissive();
    let ask = Ask { input: Input::Stream, config, ..Ask::answered(answers) };
    if dialogue(rig, &ask).is_none() {
        return;
    }
    let mut running = rig.start(&ask);
    running.until_exists(&rig.work.join("begun"));
    running.process.stopper().interrupt();
    let run = running.finish();
    assert_eq!(run.finished.outcome, Outcome::Interrupted, "{:#?}", run.finished);
}

//! Turns, money and tools.

use heirloom_agents::{Feature, Outcome};
use heirloom_core::config::Config;
use heirloom_testkit::model::{Answer, Script};

use crate::contract::rig::{Ask, Rig};

fn for_ever(rig: &Rig, config: Config) -> Ask<'static> {
    let script = Script::default().then_always(rig.shell("true"));
    Ask { config, script, ..Ask::default() }
}

pub(in crate::contract) fn turns_are_limited(rig: &Rig) {
    let ask = for_ever(rig, Config { max_turns: Some(2), ..rig.permissive() });
    if !rig.supports(Feature::TurnLimit) {
        return rig.assert_refused(&ask);
    }
    let run = rig.run(&ask);
    assert_eq!(run.finished.outcome, Outcome::TurnLimit, "{:#?}", run.finished);
    assert_eq!(run.finished.tally.tool_calls, 2);
}

pub(in crate::contract) fn cost_is_limited(rig: &Rig) {
    let ask = for_ever(rig, Config { max_cost_usd: Some(0.0002), ..rig.permissive() });
    if !rig.supports(Feature::CostLimit) {
        return rig.assert_gap(&ask);
    }
    let run = rig.run(&ask);
    assert_eq!(run.finished.outcome, Outcome::CostLimit, "{:#?}", run.finished);
    assert!(run.finished.tally.cost_usd >= Some(0.0002));
}

pub(in crate::contract) fn a_forbidden_tool_is_not_used(rig: &Rig) {
    let call = (rig.subject.shell)("touch made");
    let heirloom_testkit::model::Part::Tool { name, .. } = &call else { panic!("{call:?}") };
    let forbidden = Some(vec![name.clone()]);
    let config = Config { disallowed_tools: forbidden, ..rig.permissive() };
    let ask = Ask { config, ..Ask::answered([Answer::Say(vec![call.clone()])]) };
    if !rig.supports(Feature::DisallowedTools) {
        return rig.assert_refused(&ask);
    }
    let run = rig.run(&ask);
    assert_eq!(run.finished.outcome, Outcome::Success, "{:#?}", run.finished);
    assert!(!rig.work.join("made").exists());
}

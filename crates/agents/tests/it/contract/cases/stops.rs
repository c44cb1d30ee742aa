//! Agents that are stopped, politely and otherwise.

use std::time::Duration;

use heirloom_agents::{Conversation, Outcome, Stopper};
use heirloom_testkit::model::Answer;

use crate::contract::rig::{Ask, Rig, Run};

const LONG: Duration = Duration::from_mins(1);

/// Stops the agent while it uses a tool that would run for ever.
fn stopped(rig: &Rig, stop: fn(&Stopper)) -> (Run, i32) {
    let answers = [rig.shell("echo $$ > pid.new; mv pid.new pid; sleep 600"), Answer::text("no")];
    let ask = Ask {
        prompt: "the prompt that is stopped",
        config: rig.permissive(),
        ..Ask::answered(answers)
    };
    let mut running = rig.start(&ask);
    running.until_exists(&rig.work.join("pid"));
    running.until_named();
    let tool = std::fs::read_to_string(rig.work.join("pid")).unwrap().trim().parse().unwrap();
    let stopper = running.process.stopper();
    stop(&stopper);
    assert!(stopper.ends_within(LONG), "the agent does not stop");
    (running.finish(), tool)
}

fn assert_gone(pid: i32) {
    let since = std::time::Instant::now();
    while heirloom_agents::system::began(pid.unsigned_abs()).is_some() {
        assert!(since.elapsed() < LONG, "process {pid} is left");
        std::thread::yield_now();
    }
}

fn assert_resumable(rig: &Rig, id: &str) {
    let ask =
        Ask { conversation: Conversation::Resume(id), ..Ask::answered([Answer::text("back")]) };
    let run = rig.run(&ask);
    assert_eq!(run.finished.outcome, Outcome::Success, "{:#?}", run.finished);
    assert!(run.last_request().contains("the prompt that is stopped"));
}

pub(in crate::contract) fn an_interrupted_agent_can_be_resumed(rig: &Rig) {
    let (run, tool) = stopped(rig, Stopper::interrupt);
    assert_eq!(run.finished.outcome, Outcome::Interrupted, "{:#?}", run.finished);
    assert_gone(tool);
    assert_resumable(rig, &run.id());
}

pub(in crate::contract) fn a_terminated_agent_is_interrupted(rig: &Rig) {
    let (run, tool) = stopped(rig, Stopper::terminate);
    assert_eq!(run.finished.outcome, Outcome::Interrupted, "{:#?}", run.finished);
    assert_gone(tool);
}

pub(in crate::contract) fn a_killed_agent_leaves_nothing_running_and_can_be_resumed(rig: &Rig) {
    let (run, tool) = stopped(rig, Stopper::kill);
    assert_eq!(run.finished.outcome, Outcome::Interrupted, "{:#?}", run.finished);
    assert_gone(tool);
    assert_resumable(rig, &run.id());
}

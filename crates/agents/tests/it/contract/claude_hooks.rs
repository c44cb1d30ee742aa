//! Our hooks in the real Claude Code: installed by the adapter, called by the program, their
//! payloads read and their answers rendered by the adapter.

use std::fs;

use heirloom_agents::hook::{HookKind, Source};
use heirloom_agents::{Conversation, Outcome};
use heirloom_testkit::model::Answer;

use super::claude::CLAUDE;
use super::hooked::{Hooked, block, context};
use super::rig::Ask;

#[test]
#[ignore = "drives a real agent"]
fn every_call_of_a_turn_is_understood() {
    let hooked = Hooked::new(&CLAUDE);
    let rig = &hooked.rig;
    let answers = [rig.shell("echo used"), rig.shell("exit 3"), Answer::text("done now")];
    let ask = Ask { prompt: "work", config: rig.permissive(), ..Ask::answered(answers) };
    let run = rig.run(&ask);
    assert_eq!(run.finished.outcome, Outcome::Success, "{:#?}", run.finished);
    let one =
        |name: &str| hooked.calls(name).into_iter().next().unwrap_or_else(|| panic!("no {name}"));
    let start = one("SessionStart");
    assert_eq!(start.agent_session_id, run.id());
    assert_eq!(start.cwd.as_deref(), Some(rig.work.canonicalize().unwrap().as_path()));
    assert!(matches!(start.kind, HookKind::SessionStart { source: Source::Startup, .. }));
    assert!(matches!(one("UserPromptSubmit").kind, HookKind::Prompt { text } if text == "work"));
    let before = one("PreToolUse");
    let HookKind::PreTool { tool } = before.kind else { panic!("{before:?}") };
    assert_eq!((tool.name.as_str(), tool.text("command")), ("Bash", Some("echo used")));
    let HookKind::PostTool { tool: after, response } = one("PostToolUse").kind else { panic!() };
    assert_eq!(after.id, tool.id);
    assert!(response.to_string().contains("used"));
    assert!(matches!(
        one("PostToolUseFailure").kind,
        HookKind::ToolFailed { interrupted: false, .. }
    ));
    let HookKind::Stop(stop) = one("Stop").kind else { panic!() };
    assert_eq!((stop.active, stop.background), (false, 0));
    assert_eq!(stop.last_message.as_deref(), Some("done now"));
    assert!(matches!(one("SessionEnd").kind, HookKind::SessionEnd { .. }));
    let transcript = one("SessionEnd").transcript.unwrap();
    let found = rig.agent.transcripts().unwrap().identify(&transcript).unwrap();
    assert_eq!(found.agent_session_id, run.id());

    let id = run.id();
    rig.run(&Ask { conversation: Conversation::Resume(&id), ..Ask::default() });
    rig.run(&Ask { conversation: Conversation::Fork { from: &id, id: None }, ..Ask::default() });
    let sources: Vec<_> = hooked.calls("SessionStart").into_iter().map(|call| call.kind).collect();
    let is = |source: Source| {
        let wanted = |kind: &&HookKind| matches!(kind, HookKind::SessionStart { source: each, .. } if *each == source);
        sources.iter().filter(wanted).count()
    };
    assert_eq!((is(Source::Startup), is(Source::Resume), is(Source::Fork)), (1, 1, 1));
}

#[test]
#[ignore = "drives a real agent"]
fn a_blocked_tool_use_does_not_happen_and_the_model_hears_why() {
    let hooked = Hooked::new(&CLAUDE);
    hooked.prepare("PreToolUse", &block("plan first, says the moon"));
    let rig = &hooked.rig;
    let answers = [rig.shell("touch made"), Answer::text("all right")];
    let run = rig.run(&Ask { config: rig.permissive(), ..Ask::answered(answers) });
    assert!(!rig.work.join("made").exists());
    assert!(run.last_request().contains("plan first, says the moon"));
}

#[test]
#[ignore = "drives a real agent"]
fn a_blocked_stop_goes_on_with_the_reason() {
    let hooked = Hooked::new(&CLAUDE);
    hooked.prepare("Stop", &block("the tests are missing"));
    let run = hooked.rig.run(&Ask::answered([Answer::text("done?"), Answer::text("done!")]));
    assert_eq!((run.requests.len(), run.text()), (2, "done!"));
    assert!(run.last_request().contains("the tests are missing"));
    let active: Vec<bool> = hooked
        .calls("Stop")
        .iter()
        .map(|call| matches!(&call.kind, HookKind::Stop(stop) if stop.active))
        .collect();
    assert_eq!(active, [false, true]);
}

#[test]
#[ignore = "drives a real agent"]
fn a_blocked_prompt_asks_no_model() {
    let hooked = Hooked::new(&CLAUDE);
    hooked.prepare("UserPromptSubmit", &block("not now"));
    let run = hooked.rig.run(&Ask::default());
    assert!(run.requests.is_empty());
}

#[test]
#[ignore = "drives a real agent"]
fn context_reaches_the_model_where_it_is_taken() {
    let hooked = Hooked::new(&CLAUDE);
    let names = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"];
    for name in names {
        hooked.prepare(name, &context(&format!("facts of {name}")));
    }
    let rig = &hooked.rig;
    let answers = [rig.shell("true"), Answer::text("done")];
    let run = rig.run(&Ask { config: rig.permissive(), ..Ask::answered(answers) });
    for name in names {
        assert!(run.last_request().contains(&format!("facts of {name}")), "{name}");
    }
}

#[test]
#[ignore = "drives a real agent"]
fn as_much_context_as_the_limit_says_arrives_whole() {
    let hooked = Hooked::new(&CLAUDE);
    let limit = hooked.hooks().context_limit().unwrap();
    hooked.prepare("SessionStart", &context(&format!("{}-end", "x".repeat(limit - 4))));
    let run = hooked.rig.run(&Ask::default());
    assert!(run.last_request().contains("xxx-end"));
}

#[test]
#[ignore = "drives a real agent"]
fn what_was_installed_leaves_no_trace() {
    let hooked = Hooked::new(&CLAUDE);
    let file = &hooked.hooks().files(&hooked.rig.work, &hooked.rig.env())[0];
    let text = fs::read_to_string(file).unwrap();
    assert_eq!(hooked.hooks().uninstall(file, &text).unwrap(), None);
}

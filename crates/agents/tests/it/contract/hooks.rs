//! Our hooks in the real Codex, Gemini CLI and opencode.

use std::fs;

use heirloom_agents::codex::trusting;
use heirloom_agents::hook::{HookAnswer, HookKind, Source};
use heirloom_agents::{Conversation, Outcome};
use heirloom_testkit::model::Answer;

use super::codex::CODEX;
use super::gemini::GEMINI;
use super::hooked::{Hooked, block, context};
use super::opencode::OPENCODE;
use super::rig::Ask;

/// Codex with our hooks, and a person's trust in them.
fn codex() -> Hooked {
    let hooked = Hooked::new(&CODEX);
    let file = &hooked.hooks().files(&hooked.rig.work, &hooked.rig.env())[0];
    let trust = trusting(file, &fs::read_to_string(file).unwrap());
    fs::write(file.with_file_name("trust.toml"), trust).unwrap();
    hooked
}

fn assert_tool_is_blocked(hooked: &Hooked, event: &str) {
    hooked.prepare(event, &block("plan first, says the moon"));
    let rig = &hooked.rig;
    let answers = [rig.shell("touch made"), Answer::text("all right")];
    let run = rig.run(&Ask { config: rig.permissive(), ..Ask::answered(answers) });
    assert_eq!(run.finished.outcome, Outcome::Success, "{:#?}", run.finished);
    assert!(!rig.work.join("made").exists());
    assert!(run.last_request().contains("plan first, says the moon"), "{}", run.last_request());
    let calls = hooked.calls(event);
    let [call] = calls.as_slice() else { panic!("{calls:#?}") };
    let HookKind::PreTool { tool } = &call.kind else { panic!("{call:#?}") };
    assert_eq!((tool.name.as_str(), tool.text("command")), ("Bash", Some("touch made")));
    assert_eq!(call.agent_session_id, run.id());
}

fn assert_context_arrives(hooked: &Hooked, events: &[&str]) {
    for event in events {
        hooked.prepare(event, &context(&format!("facts of {event}")));
    }
    let rig = &hooked.rig;
    let answers = [rig.shell("true"), Answer::text("done")];
    let ask = Ask { prompt: "work", config: rig.permissive(), ..Ask::answered(answers) };
    let run = rig.run(&ask);
    assert_eq!(run.finished.outcome, Outcome::Success, "{:#?}", run.finished);
    for event in events {
        assert!(run.last_request().contains(&format!("facts of {event}")), "{event}");
    }
    let starts = hooked.calls("SessionStart");
    assert_eq!(starts[0].agent_session_id, run.id());
    let cwd = rig.work.canonicalize().unwrap();
    assert_eq!(starts[0].cwd.as_deref(), Some(cwd.as_path()));
    assert!(matches!(starts[0].kind, HookKind::SessionStart { source: Source::Startup, .. }));
    let id = run.id();
    rig.run(&Ask { conversation: Conversation::Resume(&id), ..Ask::default() });
    let starts = hooked.calls("SessionStart");
    assert!(matches!(starts[1].kind, HookKind::SessionStart { source: Source::Resume, .. }));
}

/// Whether a tool use failed is known, however the agent says it.
fn assert_failure_is_known(hooked: &Hooked, event: &str) {
    let rig = &hooked.rig;
    let answers = [rig.shell("echo out; exit 3"), rig.shell("true"), Answer::text("done")];
    let run = rig.run(&Ask { config: rig.permissive(), ..Ask::answered(answers) });
    assert_eq!(run.finished.outcome, Outcome::Success, "{:#?}", run.finished);
    let calls: Vec<_> = hooked.calls(event).into_iter().map(|call| call.kind).collect();
    let [HookKind::ToolFailed { error, .. }, HookKind::PostTool { .. }] = calls.as_slice() else {
        panic!("{calls:#?}")
    };
    assert!(error.to_lowercase().contains("exit code"), "{error}");
    assert!(error.ends_with('3'), "{error}");
}

fn assert_stop_is_blocked(hooked: &Hooked, event: &str) {
    hooked.prepare(event, &block("the tests are missing"));
    let run = hooked.rig.run(&Ask::answered([Answer::text("done?"), Answer::text("done!")]));
    assert_eq!((run.requests.len(), run.text()), (2, "done!"), "{:#?}", run.finished);
    assert!(run.last_request().contains("the tests are missing"));
    let stops = hooked.calls(event);
    let stops: Vec<_> = stops.into_iter().map(|call| call.kind).collect();
    let [HookKind::Stop(first), HookKind::Stop(second)] = stops.as_slice() else {
        panic!("{stops:#?}")
    };
    assert!(!first.active && second.active);
    assert!(first.last_message.as_ref().is_some_and(|text| text.contains("done?")));
}

#[test]
#[ignore = "drives a real agent"]
fn codex_blocks_a_tool_use() {
    let hooked = codex();
    assert_tool_is_blocked(&hooked, "PreToolUse");
}

#[test]
#[ignore = "drives a real agent"]
fn codex_takes_context() {
    let hooked = codex();
    let events = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"];
    assert_context_arrives(&hooked, &events);
    assert!(
        matches!(&hooked.calls("UserPromptSubmit")[0].kind, HookKind::Prompt { text } if text == "work")
    );
    let transcript = hooked.calls("Stop")[0].transcript.clone().unwrap();
    let found = hooked.rig.agent.transcripts().unwrap().identify(&transcript).unwrap();
    assert_eq!(found.agent_session_id, hooked.calls("Stop")[0].agent_session_id);
}

#[test]
#[ignore = "drives a real agent"]
fn codex_tells_a_command_that_failed_from_one_that_did_not() {
    let hooked = codex();
    assert_failure_is_known(&hooked, "PostToolUse");
}

#[test]
#[ignore = "drives a real agent"]
fn codex_goes_on_when_it_may_not_stop() {
    let hooked = codex();
    assert_stop_is_blocked(&hooked, "Stop");
}

#[test]
#[ignore = "drives a real agent"]
fn codex_passes_over_hooks_that_nobody_trusts_and_we_know() {
    let hooked = Hooked::new(&CODEX);
    let run = hooked.rig.run(&Ask::default());
    assert_eq!(run.finished.outcome, Outcome::Success, "{:#?}", run.finished);
    assert!(hooked.calls("SessionStart").is_empty());
    let env = hooked.rig.env();
    let file = &hooked.hooks().files(&hooked.rig.work, &env)[0];
    let text = fs::read_to_string(file).unwrap();
    assert!(hooked.hooks().obstacle(file, &text, &env).is_some());

    fs::write(file.with_file_name("trust.toml"), trusting(file, &text)).unwrap();
    hooked.rig.run(&Ask::default());
    assert_eq!(hooked.calls("SessionStart").len(), 1);
    assert_eq!(hooked.hooks().obstacle(file, &text, &env), None);
}

#[test]
#[ignore = "drives a real agent"]
fn gemini_blocks_a_tool_use() {
    let hooked = Hooked::new(&GEMINI);
    assert_tool_is_blocked(&hooked, "BeforeTool");
}

#[test]
#[ignore = "drives a real agent"]
fn gemini_takes_context() {
    let hooked = Hooked::new(&GEMINI);
    assert_context_arrives(&hooked, &["SessionStart", "BeforeAgent"]);
    assert!(!hooked.calls("AfterTool").is_empty() && !hooked.calls("SessionEnd").is_empty());
}

#[test]
#[ignore = "drives a real agent"]
fn gemini_tells_a_command_that_failed_from_one_that_did_not() {
    let hooked = Hooked::new(&GEMINI);
    assert_failure_is_known(&hooked, "AfterTool");
}

#[test]
#[ignore = "drives a real agent"]
fn gemini_goes_on_when_it_may_not_stop() {
    let hooked = Hooked::new(&GEMINI);
    assert_stop_is_blocked(&hooked, "AfterAgent");
}

#[test]
#[ignore = "drives a real agent"]
fn opencode_blocks_a_tool_use() {
    let hooked = Hooked::new(&OPENCODE);
    assert_tool_is_blocked(&hooked, "PreToolUse");
}

#[test]
#[ignore = "drives a real agent"]
fn opencode_takes_context() {
    let hooked = Hooked::new(&OPENCODE);
    let events = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"];
    assert_context_arrives(&hooked, &events);
}

#[test]
#[ignore = "drives a real agent"]
fn opencode_passes_on_what_the_person_should_hear() {
    let hooked = Hooked::new(&OPENCODE);
    let message = Some("requirements are paused".to_owned());
    let context = Some("and the facts".to_owned());
    hooked.prepare("UserPromptSubmit", &HookAnswer { message, context, ..HookAnswer::default() });
    let run = hooked.rig.run(&Ask::default());
    for words in ["requirements are paused", "and the facts"] {
        assert!(run.last_request().contains(words), "{}", run.last_request());
    }
}

#[test]
#[ignore = "drives a real agent"]
fn opencode_tells_a_command_that_failed_from_one_that_did_not() {
    let hooked = Hooked::new(&OPENCODE);
    assert_failure_is_known(&hooked, "PostToolUse");
}

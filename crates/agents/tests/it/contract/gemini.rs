//! Gemini CLI under the contract, and what else its adapter relies on.

use std::fs;

use heirloom_agents::{
    Conversation, Event, Exit, LaunchError, Outcome, Process, Stopper, Taps, find,
};
use heirloom_core::config::Config;
use heirloom_testkit::model::{Answer, Part, Script};
use heirloom_testkit::real;
use serde_json::json;

use super::rig::{Ask, Rig, Run, Served, Subject, pinned};

pub(super) static GEMINI: Subject = Subject {
    agent: "gemini",
    program: || pinned("gemini"),
    serve: |rig, script| real::gemini(rig.home.path(), script.clone()).into(),
    shell: |command| Part::Tool {
        name: "run_shell_command".to_owned(),
        input: json!({"command": command, "description": "a command"}),
    },
    permissive: || Config { permission_mode: Some("yolo".to_owned()), ..Config::default() },
};

super::contract!(
    #[ignore = "drives a real agent"]
    GEMINI
);

const UNKNOWN: &str = "0c1e7f52-3f1e-4d55-9d0c-7e1b8d1f0a11";

fn rig() -> Rig {
    Rig::new(&GEMINI)
}

fn always(rig: &Rig, status: u16) -> Run {
    let script = Script::default().then_always(Answer::fail(status));
    rig.run(&Ask { script, ..Ask::default() })
}

#[test]
#[ignore = "drives a real agent"]
fn the_version_is_the_pinned_one() {
    let rig = rig();
    let report = find::report(rig.agent, &rig.programs, &rig.env());
    assert_eq!(report.version.as_deref(), report.tested_version);
}

#[test]
#[ignore = "drives a real agent"]
fn an_unknown_id_exits_with_42_and_says_so_on_stderr() {
    let rig = rig();
    let ask = Ask { conversation: Conversation::Resume(UNKNOWN), ..Ask::default() };
    let assert_stale = |text: &str| {
        let run = rig.run(&ask);
        assert_eq!(run.finished.exit, Exit::Code(42));
        assert!(run.finished.stderr.contains(text), "{}", run.finished.stderr);
        assert_eq!(run.finished.tally.lines, 0);
        assert!(matches!(run.finished.outcome, Outcome::StaleSession { .. }));
    };
    assert_stale("Error resuming session: No previous sessions found for this project.");
    rig.first_turn();
    let text = format!("Error resuming session: Invalid session identifier \"{UNKNOWN}\".");
    assert_stale(&text);
}

#[test]
#[ignore = "drives a real agent"]
fn neither_a_number_nor_latest_reaches_the_program() {
    let rig = rig();
    for id in ["1", "latest"] {
        let ask = Ask { conversation: Conversation::Resume(id), ..Ask::default() };
        let error = rig.line(&ask, &Served::nothing()).unwrap_err();
        assert!(matches!(error, LaunchError::Invalid { .. }), "{error}");
    }
}

#[test]
#[ignore = "drives a real agent"]
fn a_failed_request_exits_with_its_status_cut_to_a_byte() {
    let rig = rig();
    for (status, code, words) in [
        (401, 145, "[API Error: {\"error\":{\"code\":401,"),
        (429, 173, "[API Error: scripted failure 429]\nPlease wait and try again later."),
    ] {
        let run = always(&rig, status);
        assert_eq!(run.finished.exit, Exit::Code(code), "{:#?}", run.finished);
        let result = run.finished.tally.result.as_ref().expect("a result");
        assert_eq!((result.is_error, result.kind.as_str()), (true, "error"));
        assert!(result.text.as_ref().unwrap().starts_with(words), "{result:?}");
        // What is tried again is told as it happens.
        let told = run.events.iter().find_map(|event| match event {
            Event::Retry { failure, attempt: 1, .. } => failure.status,
            _ => None,
        });
        assert_eq!(told, (status == 429).then_some(429), "{}", run.finished.stderr);
    }
}

#[test]
#[ignore = "drives a real agent"]
fn a_directory_that_is_not_trusted_is_refused_with_55() {
    let rig = rig();
    let mut line = rig.line(&Ask::default(), &(GEMINI.serve)(&rig, &Script::default())).unwrap();
    line.env.remove(std::ffi::OsStr::new("GEMINI_CLI_TRUST_WORKSPACE"));
    let finished = Process::spawn(rig.agent, line, Taps::default()).unwrap().finish();
    assert_eq!(finished.exit, Exit::Code(55));
    let Outcome::Refused { message } = &finished.outcome else { panic!("{finished:#?}") };
    assert!(message.contains("Gemini CLI is not running in a trusted directory."), "{message}");
}

#[test]
#[ignore = "drives a real agent"]
fn every_approval_mode_is_taken_and_another_word_is_not() {
    let rig = rig();
    for mode in ["default", "auto_edit", "plan"] {
        let config = Config { permission_mode: Some(mode.to_owned()), ..Config::default() };
        let run = rig.run(&Ask { config, ..Ask::default() });
        assert_eq!(run.finished.outcome, Outcome::Success, "{mode}: {:#?}", run.finished);
    }
    let config = Config { permission_mode: Some("danger".to_owned()), ..Config::default() };
    assert!(rig.line(&Ask { config, ..Ask::default() }, &Served::nothing()).is_err());
}

#[test]
#[ignore = "drives a real agent"]
fn a_tool_nobody_permits_is_not_there_and_a_permitted_command_runs() {
    let rig = rig();
    let run = rig.run(&Ask::answered([rig.shell("touch made"), Answer::text("no")]));
    assert_eq!(run.finished.outcome, Outcome::Success, "{:#?}", run.finished);
    assert!(!rig.work.join("made").exists());
    let tools = vec!["run_shell_command(touch)".to_owned()];
    let config = Config { allowed_tools: Some(tools), ..Config::default() };
    let ask = Ask { config, ..Ask::answered([rig.shell("touch made"), Answer::text("yes")]) };
    let run = rig.run(&ask);
    assert!(rig.work.join("made").exists(), "{:#?}", run.events);
}

#[test]
#[ignore = "drives a real agent"]
fn a_system_prompt_a_model_and_directories_are_taken() {
    let rig = rig();
    let other = rig.home.path().join("an other dir");
    fs::create_dir(&other).unwrap();
    let config = Config {
        system_prompt: Some("you are the scripted one".to_owned()),
        model: Some("gemini-2.5-pro".to_owned()),
        additional_dirs: Some(vec![other.to_str().unwrap().to_owned()]),
        ..Config::default()
    };
    let run = rig.run(&Ask { config, ..Ask::default() });
    assert_eq!(run.finished.outcome, Outcome::Success, "{:#?}", run.finished);
    assert_eq!(run.finished.tally.model.as_deref(), Some("gemini-2.5-pro"));
    let request: serde_json::Value = serde_json::from_str(run.last_request()).unwrap();
    assert!(request["systemInstruction"].to_string().contains("you are the scripted one"));
    assert!(run.last_request().contains("an other dir"));
}

#[test]
#[ignore = "drives a real agent"]
fn signals_end_it_as_the_adapter_expects() {
    let rig = rig();
    for (stop, exit) in
        [(Stopper::interrupt as fn(&Stopper), Exit::Code(0)), (Stopper::kill, Exit::Signal(9))]
    {
        let begun = rig.work.join("begun");
        let _ = fs::remove_file(&begun);
        let ask = Ask {
            config: rig.permissive(),
            ..Ask::answered([rig.shell("touch begun; sleep 600")])
        };
        let mut running = rig.start(&ask);
        running.until_exists(&begun);
        stop(&running.process.stopper());
        let run = running.finish();
        assert_eq!(run.finished.exit, exit, "{:#?}", run.finished);
        assert_eq!(run.finished.tally.result, None);
    }
}

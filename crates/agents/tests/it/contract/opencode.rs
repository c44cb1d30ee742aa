//! opencode under the contract, and what else its adapter relies on.

use std::fs;

use heirloom_agents::{Conversation, Event, Exit, LaunchError, Outcome, Stopper, find};
use heirloom_core::config::{Config, McpServer};
use heirloom_testkit::model::{Answer, Part, Script};
use heirloom_testkit::real;
use serde_json::json;

use super::rig::{Ask, Rig, Served, Subject, pinned};

pub(super) static OPENCODE: Subject = Subject {
    agent: "opencode",
    program: || pinned("opencode"),
    serve: |rig, script| real::opencode(rig.home.path(), script.clone()).into(),
    shell: |command| Part::Tool {
        name: "bash".to_owned(),
        input: json!({"command": command, "description": "a command"}),
    },
    permissive: Config::default,
};

super::contract!(
    #[ignore = "drives a real agent"]
    OPENCODE
);

fn rig() -> Rig {
    Rig::new(&OPENCODE)
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
fn an_unknown_id_exits_with_1_and_says_so_on_stderr() {
    let rig = rig();
    let conversation = Conversation::Resume("ses_doesnotexist000000000000");
    let run = rig.run(&Ask { conversation, ..Ask::default() });
    assert_eq!(run.finished.exit, Exit::Code(1));
    assert!(run.finished.stderr.contains("Session not found"), "{}", run.finished.stderr);
    assert_eq!(run.finished.tally.lines, 0);
    let ask = Ask { conversation: Conversation::Resume("auth-v2"), ..Ask::default() };
    let error = rig.line(&ask, &Served::nothing()).unwrap_err();
    assert!(matches!(error, LaunchError::Invalid { .. }), "{error}");
}

#[test]
#[ignore = "drives a real agent"]
fn a_limit_is_tried_five_times_more_and_then_told_with_its_time() {
    let rig = rig();
    let fail = Answer::fail(429);
    let run = rig.run(&Ask { script: Script::default().then_always(fail), ..Ask::default() });
    assert_eq!((run.requests.len(), run.finished.exit), (6, Exit::Code(1)));
    let Outcome::RateLimited { until, message } = &run.finished.outcome else {
        panic!("{:#?}", run.finished)
    };
    assert!(until.is_some());
    assert_eq!(message, "scripted failure 429");
    // Each is told as it happens, and none of them is about the title.
    let told: Vec<&Event> =
        run.events.iter().filter(|event| matches!(event, Event::Retry { .. })).collect();
    assert!((5..=6).contains(&told.len()), "{told:?}: {}", run.finished.stderr);
    assert!(
        matches!(told[4], Event::Retry { attempt: 5, failure, .. } if failure.message == "scripted failure 429"),
        "{told:?}"
    );
}

#[test]
#[ignore = "drives a real agent"]
fn cost_and_usage_are_told() {
    let rig = rig();
    let answers = [rig.shell("true"), Answer::text("done")];
    let run = rig.run(&Ask::answered(answers));
    let tally = &run.finished.tally;
    assert_eq!((tally.tokens.input, tally.tokens.output), (20, 10), "{tally:?}");
    assert_eq!(tally.context_tokens, Some(15));
    assert!(tally.cost_usd.is_some_and(|usd| (usd - 0.03).abs() < 1e-9), "{tally:?}");
    assert_eq!(tally.unknown, 0);
}

#[test]
#[ignore = "drives a real agent"]
fn settings_travel_in_the_environment() {
    let rig = rig();
    let other = tempfile::tempdir().unwrap();
    let stdio = McpServer::Stdio {
        command: "/bin/sh".to_owned(),
        args: vec!["-c".to_owned(), "printf %s \"$SECRET\" > seen".to_owned()],
        env: [("SECRET".to_owned(), "not-on-the-command-line".to_owned())].into(),
        timeout: Some(30_000),
        disabled: false,
    };
    let off = McpServer::Stdio {
        command: "/bin/sh".to_owned(),
        args: vec!["-c".to_owned(), "touch off".to_owned()],
        env: [].into(),
        timeout: None,
        disabled: true,
    };
    let config = Config {
        model: Some("scripted/m".to_owned()),
        system_prompt: Some("you are the scripted one".to_owned()),
        additional_dirs: Some(vec![other.path().to_str().unwrap().to_owned()]),
        mcp_servers: Some([("probe".to_owned(), stdio), ("off".to_owned(), off)].into()),
        title: Some("--a title".to_owned()),
        ..Config::default()
    };
    let file = other.path().join("made");
    let write = json!({"filePath": file, "content": "x"});
    let ask = Ask { config, ..Ask::answered([Answer::tool("write", write), Answer::text("ok")]) };
    let line = rig.line(&ask, &Served::nothing()).unwrap();
    let args = format!("{:?}", line.args);
    assert!(!args.contains("scripted one") && !args.contains("not-on-the-command-line"), "{args}");
    drop(line);
    let run = rig.run(&ask);
    assert_eq!(run.finished.outcome, Outcome::Success, "{:#?}", run.finished);
    assert!(run.last_request().contains("you are the scripted one"));
    assert!(file.exists(), "{:#?}", run.events);
    let seen = fs::read_to_string(rig.work.join("seen")).unwrap();
    assert_eq!(seen, "not-on-the-command-line");
    assert!(!rig.work.join("off").exists());
}

#[test]
#[ignore = "drives a real agent"]
fn a_forbidden_tool_is_not_there_and_only_permitted_commands_run() {
    let rig = rig();
    let config = Config {
        allowed_tools: Some(vec!["bash(git *)".to_owned()]),
        disallowed_tools: Some(vec!["webfetch".to_owned()]),
        ..Config::default()
    };
    let answers = [
        Answer::Say(vec![(rig.subject.shell)("git init -q permitted")]),
        Answer::Say(vec![(rig.subject.shell)("touch not-permitted")]),
        Answer::text("ok"),
    ];
    let run = rig.run(&Ask { config, ..Ask::answered(answers) });
    assert!(!run.requests.is_empty(), "{:#?}", run.finished);
    let request: serde_json::Value = serde_json::from_str(&run.requests[0]).unwrap();
    let tools: Vec<&str> = request["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["function"]["name"].as_str())
        .collect();
    assert!(tools.contains(&"bash") && !tools.contains(&"webfetch"), "{tools:?}");
    assert!(rig.work.join("permitted").exists(), "{:#?}", run.events);
    assert!(!rig.work.join("not-permitted").exists(), "{:#?}", run.events);
}

#[test]
#[ignore = "drives a real agent"]
fn plan_and_auto_are_modes() {
    let rig = rig();
    for mode in ["plan", "auto"] {
        let config = Config { permission_mode: Some(mode.to_owned()), ..Config::default() };
        let run = rig.run(&Ask { config, ..Ask::default() });
        assert_eq!(run.finished.outcome, Outcome::Success, "{mode}: {:#?}", run.finished);
    }
}

#[test]
#[ignore = "drives a real agent"]
fn signals_end_it_as_the_adapter_expects() {
    let rig = rig();
    for (stop, exit) in
        [(Stopper::interrupt as fn(&Stopper), Exit::Signal(2)), (Stopper::kill, Exit::Signal(9))]
    {
        let begun = rig.work.join("begun");
        let _ = fs::remove_file(&begun);
        let mut running = rig.start(&Ask::answered([rig.shell("touch begun; sleep 600")]));
        running.until_exists(&begun);
        stop(&running.process.stopper());
        let run = running.finish();
        assert_eq!(run.finished.exit, exit, "{:#?}", run.finished);
        let results = |event: &&Event| matches!(event, Event::Result(_));
        assert_eq!(run.events.iter().filter(results).count(), 0);
    }
}

//! Codex under the contract, and what else its adapter relies on.

use std::fs;

use heirloom_agents::event::FailureKind;
use heirloom_agents::{
    Conversation, Event, Exit, LaunchError, Outcome, Process, Stopper, Taps, find,
};
use heirloom_core::config::{Config, McpServer};
use heirloom_testkit::model::{Answer, Part, Script};
use heirloom_testkit::real;
use serde_json::json;

use super::rig::{Ask, Rig, Run, Served, Subject, pinned};

pub(super) static CODEX: Subject = Subject {
    agent: "codex",
    program: || pinned("codex"),
    serve: |rig, script| real::codex(rig.home.path(), script.clone()).into(),
    shell: |command| Part::Tool {
        name: "exec_command".to_owned(),
        // Without it a command that takes long goes to the background.
        input: json!({"cmd": command, "yield_time_ms": 30_000}),
    },
    permissive: || Config {
        permission_mode: Some("danger-full-access".to_owned()),
        ..Config::default()
    },
};

super::contract!(
    #[ignore = "drives a real agent"]
    CODEX
);

const UNKNOWN: &str = "0c1e7f52-3f1e-4d55-9d0c-7e1b8d1f0a11";

fn rig() -> Rig {
    Rig::new(&CODEX)
}

fn always(rig: &Rig, answer: Answer) -> Run {
    rig.run(&Ask { script: Script::default().then_always(answer), ..Ask::default() })
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
    for (conversation, verb) in [
        (Conversation::Resume(UNKNOWN), "resume"),
        (Conversation::Fork { from: UNKNOWN, id: None }, "fork"),
    ] {
        let run = rig.run(&Ask { conversation, ..Ask::default() });
        let text = format!(
            "Error: thread/{verb}: thread/{verb} failed: no rollout found for thread id {UNKNOWN} (code -32600)"
        );
        assert_eq!(run.finished.exit, Exit::Code(1));
        assert!(run.finished.stderr.contains(&text), "{}", run.finished.stderr);
        assert_eq!(run.finished.tally.lines, 0);
        assert!(matches!(&run.finished.outcome, Outcome::StaleSession { id, .. } if id == UNKNOWN));
    }
}

#[test]
#[ignore = "drives a real agent"]
fn a_name_would_start_a_new_thread_and_is_never_let_through() {
    let rig = rig();
    let ask = Ask { conversation: Conversation::Resume("some-name"), ..Ask::default() };
    let error = rig.line(&ask, &Served::nothing()).unwrap_err();
    assert!(matches!(error, LaunchError::Invalid { .. }), "{error}");
    // What the program does when it is asked all the same, and what we make of it.
    let served = (CODEX.serve)(&rig, &Script::default());
    let mut line = rig.line(&Ask::default(), &served).unwrap();
    line.args.splice(1..1, ["resume".into(), "some-name".into()]);
    line.expected_id = Some("some-name".to_owned());
    let finished = Process::spawn(rig.agent, line, Taps::default()).unwrap().finish();
    assert_eq!(finished.exit, Exit::Code(0));
    assert!(matches!(finished.outcome, Outcome::StaleSession { .. }), "{finished:#?}");
}

#[test]
#[ignore = "drives a real agent"]
fn codex_itself_lets_only_one_process_write_to_a_conversation() {
    let rig = rig();
    let id = rig.first_turn();
    let resume = Ask {
        config: rig.permissive(),
        conversation: Conversation::Resume(&id),
        ..Ask::answered([rig.shell("touch begun; sleep 600")])
    };
    let mut running = rig.start(&resume);
    running.until_exists(&rig.work.join("begun"));
    let line = rig.line(&resume, &running.served).unwrap();
    let second = Process::spawn(rig.agent, line, Taps::default()).unwrap().finish();
    assert!(matches!(second.outcome, Outcome::SessionInUse { .. }), "{second:#?}");
    assert_eq!(second.exit, Exit::Code(1));
    let text = format!("thread {id} already has an active writer (code -32600)");
    assert!(second.stderr.contains(&text), "{}", second.stderr);
    running.process.stopper().kill();
    running.finish();
}

#[test]
#[ignore = "drives a real agent"]
fn each_failure_is_a_failed_turn_in_its_own_words() {
    let rig = rig();
    for (status, kind, words) in [
        (401, FailureKind::Auth, "unexpected status 401 Unauthorized: scripted failure 401, url: "),
        (429, FailureKind::RateLimit, "exceeded retry limit, last status: 429 Too Many Requests"),
        (500, FailureKind::Server, "We\u{2019}re currently experiencing high demand"),
        (503, FailureKind::Overloaded, "unexpected status 503 Service Unavailable: "),
        (529, FailureKind::Overloaded, "unexpected status 529 <unknown status code>: "),
    ] {
        let run = always(&rig, Answer::fail(status));
        let result = run.finished.tally.result.as_ref().expect("a result");
        let failure = result.failure.as_ref().expect("a failure");
        assert_eq!((failure.status, failure.kind), (Some(status), kind), "{failure:?}");
        assert!(failure.message.starts_with(words), "{}", failure.message);
        assert_eq!((run.finished.exit, result.kind.as_str()), (Exit::Code(1), "turn.failed"));
        // Too many requests is not a lost connection.
        let retries = if status == 429 { 0 } else { 2 };
        assert_eq!(run.finished.tally.retries, retries, "{status}");
    }
}

#[test]
#[ignore = "drives a real agent"]
fn a_used_up_account_is_rate_limited() {
    let rig = rig();
    let served = heirloom_testkit::http::Server::start(|_, to| {
        let error = json!({"type": "usage_limit_reached", "message": "m", "resets_in_seconds": 60});
        to.send(429, &[("content-type", "application/json")], &json!({"error": error}).to_string())
    });
    let nothing = (CODEX.serve)(&rig, &Script::default());
    let config = rig.home.path().join(".codex/config.toml");
    let text = fs::read_to_string(&config).unwrap();
    let base = text.lines().find(|line| line.starts_with("base_url")).unwrap();
    fs::write(&config, text.replace(base, &format!("base_url = \"{}/v1\"", served.url()))).unwrap();
    let line = rig.line(&Ask::default(), &nothing).unwrap();
    let finished = Process::spawn(rig.agent, line, Taps::default()).unwrap().finish();
    let Outcome::RateLimited { message, .. } = &finished.outcome else { panic!("{finished:#?}") };
    assert!(message.starts_with("You\u{2019}ve hit your usage limit"), "{message}");
    assert_eq!(served.requests().len(), 1);
}

#[test]
#[ignore = "drives a real agent"]
fn usage_is_counted_over_the_whole_thread() {
    let rig = rig();
    let first = rig.run(&Ask::default());
    let id = first.id();
    let second = rig.run(&Ask { conversation: Conversation::Resume(&id), ..Ask::default() });
    assert_eq!((first.finished.tally.tokens.input, second.finished.tally.tokens.input), (10, 20));
}

#[test]
#[ignore = "drives a real agent"]
fn every_sandbox_is_taken_and_another_word_is_not() {
    let rig = rig();
    for mode in ["read-only", "workspace-write", "danger-full-access"] {
        let config = Config { permission_mode: Some(mode.to_owned()), ..Config::default() };
        let run = rig.run(&Ask { config, ..Ask::default() });
        assert_eq!(run.finished.outcome, Outcome::Success, "{mode}: {:#?}", run.finished);
        assert!(run.last_request().contains(&format!("`sandbox_mode` is `{mode}`")), "{mode}");
    }
    let config = Config { permission_mode: Some("yolo".to_owned()), ..Config::default() };
    assert!(rig.line(&Ask { config, ..Ask::default() }, &Served::nothing()).is_err());
}

#[test]
#[ignore = "drives a real agent"]
fn a_flag_it_does_not_know_is_a_refusal() {
    let rig = rig();
    let mut line = rig.line(&Ask::default(), &(CODEX.serve)(&rig, &Script::default())).unwrap();
    line.args.insert(1, "--no-such-flag".into());
    let finished = Process::spawn(rig.agent, line, Taps::default()).unwrap().finish();
    assert_eq!(finished.exit, Exit::Code(2));
    assert!(matches!(finished.outcome, Outcome::Refused { .. }), "{finished:#?}");
}

#[test]
#[ignore = "drives a real agent"]
fn prompts_servers_and_directories_come_from_files() {
    let rig = rig();
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
        system_prompt: Some("you are the scripted one".to_owned()),
        additional_dirs: Some(vec!["/".to_owned()]),
        mcp_servers: Some([("probe".to_owned(), stdio), ("off".to_owned(), off)].into()),
        model: Some("gpt-5-codex".to_owned()),
        ..rig.permissive()
    };
    let ask = Ask { config, ..Ask::default() };
    let line = rig.line(&ask, &Served::nothing()).unwrap();
    let args = format!("{:?}", line.args);
    assert!(!args.contains("scripted one") && !args.contains("not-on-the-command-line"), "{args}");
    drop(line);
    let run = rig.run(&ask);
    assert_eq!(run.finished.outcome, Outcome::Success, "{:#?}", run.finished);
    let request: serde_json::Value = serde_json::from_str(run.last_request()).unwrap();
    assert_eq!(request["model"], "gpt-5-codex");
    assert!(run.last_request().contains("you are the scripted one"));
    let seen = fs::read_to_string(rig.work.join("seen")).unwrap();
    assert_eq!(seen, "not-on-the-command-line");
    assert!(!rig.work.join("off").exists());
    let left = fs::read_dir(rig.home.path().join(".codex")).unwrap().flatten();
    let left: Vec<_> =
        left.filter(|file| file.file_name().to_string_lossy().starts_with("agent-")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
#[ignore = "drives a real agent"]
fn a_resumed_conversation_gets_another_system_prompt() {
    let rig = rig();
    let config = |text: &str| Config { system_prompt: Some(text.into()), ..Config::default() };
    let id = rig.run(&Ask { config: config("the first one"), ..Ask::default() }).id();
    let conversation = Conversation::Resume(&id);
    let ask = Ask { config: config("the other one"), conversation, ..Ask::default() };
    let request = rig.run(&ask).last_request().to_owned();
    assert!(!request.contains("the first one") && request.contains("the other one"));
}

#[test]
#[ignore = "drives a real agent"]
fn signals_end_it_as_the_adapter_expects() {
    let rig = rig();
    for (stop, exit) in [
        (Stopper::interrupt as fn(&Stopper), Exit::Code(1)),
        (Stopper::terminate, Exit::Signal(15)),
        (Stopper::kill, Exit::Signal(9)),
    ] {
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

#[test]
#[ignore = "drives a real agent"]
fn remarks_of_the_program_are_notices() {
    let rig = rig();
    let run = rig.run(&Ask::default());
    let notice = |event: &Event| matches!(event, Event::Notice { text } if text.starts_with("Model metadata for `gpt-5` not found"));
    assert!(run.events.iter().any(notice), "{:#?}", run.events);
    assert_eq!(run.finished.tally.unknown, 0);
}

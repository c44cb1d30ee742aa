//! Where a prompt comes from, what of it is kept, and what a person can still change.

use std::fs;

use heirloom_testkit::anthropic::Anthropic;
use heirloom_testkit::model::{Answer, Model, Script};
use serde_json::json;

use super::{Fixture, real};

#[test]
fn a_prompt_of_a_megabyte_comes_by_stdin_or_by_a_file_and_stands_on_no_command_line() {
    let fixture = Fixture::new();
    let long = format!("{} the end", "word ".repeat(220_000));
    let ran = fixture.env.run_with(&["launch", "-", "--name", "a"], long.as_bytes()).success();
    assert_eq!(fixture.given(1).prompt(), long, "{}", ran.code);
    fixture.env.write("prompt.md", &long);
    fixture.run(&["continue", "a", "--prompt-file", "prompt.md", "--name", "b"]).success();
    assert_eq!(fixture.given(2).prompt(), long);
    assert!(!fixture.given(2).argv.iter().any(|argument| argument.contains("the end")));
    let none = fixture.run(&["continue", "a"]);
    assert_eq!(none.code, 64, "{none}");
    assert!(none.stderr.contains("--prompt-file FILE"), "{none}");
    assert_eq!(fixture.launches(), 2);
}

#[test]
fn an_editor_is_opened_where_no_prompt_is_given() {
    let mut fixture = Fixture::new();
    let editor = fixture.env.script("editor", "#!/bin/sh\necho from the editor > \"$2\"\n");
    fixture.env = fixture.env.var("EDITOR", format!("{} --wait", editor.display()));
    let terminal = fixture.env.terminal(&["launch", "--name", "a"]);
    let (code, screen) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(fixture.given(1).prompt(), "from the editor\n");
}

#[test]
fn a_kept_message_is_delivered_to_the_letter() {
    let fixture = Fixture::new();
    let secret = format!("sk-{}", "ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCd");
    fixture.run(&["launch", "go", "--name", "a"]).success();
    let kept = format!("use ANTHROPIC_API_KEY={secret} and be stale");
    fixture.run(&["continue", "a", &kept, "--name", "b"]);
    fixture.run(&["continue", "b", "now go on", "--name", "c"]).success();
    let told = fixture.given(3).prompt();
    assert!(told.contains(&secret) && told.contains("now go on"), "{told}");
    let ledger = fs::read(fixture.env.home().join("ledger.db")).unwrap();
    let holds = ledger.windows(secret.len()).any(|bytes| bytes == secret.as_bytes());
    assert!(!holds, "no record has it");
    // It was heard: nothing is kept any more.
    let unheard = fs::read_dir(fixture.env.home().join("unheard")).unwrap().count();
    assert_eq!(unheard, 1, "only what b was told, which had no conversation of its own");
}

#[test]
fn a_conversation_that_is_gone_for_good_is_not_offered_again() {
    let fixture = Fixture::new();
    fixture.run(&["launch", "go", "--name", "a"]).success();
    // The stand-in keeps no transcripts, as if somebody had deleted them.
    let failed = fixture.run(&["continue", "a", "be stale", "--name", "b"]);
    assert_eq!(failed.code, 1, "{failed}");
    let twice = fixture.run(&["continue", "b", "still be stale", "--name", "d"]);
    assert_eq!(twice.code, 1, "{twice}");
    let again = fixture.run(&["continue", "d", "and now", "--name", "c"]).success();
    let said =
        "the agent no longer has the conversation of a; continuing a copy of what was recorded";
    assert!(again.stderr.contains(said), "{again}");
    let copy = fixture.given(4).flag("--resume").expect("the copy").to_owned();
    assert_ne!(Some(copy.as_str()), fixture.given(2).flag("--resume"));
    let projects = fs::read_dir(fixture.env.user().join(".claude/projects")).unwrap();
    let project = projects.flatten().next().expect("a project").path();
    let text = fs::read_to_string(project.join(format!("{copy}.jsonl"))).unwrap();
    assert!(text.contains("\"go\""), "what was asked first: {text}");
    assert!(fixture.given(4).prompt().contains("be stale"), "the message was kept");
}

#[test]
fn what_a_session_approves_is_changed_while_its_agent_waits() {
    let fixture = Fixture::new();
    let child = fixture.spawn(&["launch", "ask twice", "--name", "a", "--json"]);
    fixture.open(1);
    fixture.run(&["sessions", "update", "a", "--title", "The routes", "--bypass", "15m"]).success();
    let ended = super::finish(child);
    assert_eq!(ended["status"], "completed", "{ended}");
    let shown = fixture.json(&["sessions", "show", "a", "--config"]);
    assert_eq!(shown["config"]["title"]["value"], "The routes");
    let listed = fixture.run(&["sessions", "list"]).success();
    assert!(listed.stdout.contains("The routes"), "{listed}");
    let nothing = fixture.run(&["sessions", "update", "a"]);
    assert_eq!(nothing.code, 64, "{nothing}");
    // An agent does not give itself leave.
    let env = fixture.env.var("HEIRLOOM_TEST_LINE", "sh|claude -p x|bash");
    let refused = env.run(&["sessions", "update", "a", "--bypass", "15m"]);
    assert_eq!(refused.code, 1, "{refused}");
}

#[test]
fn a_decision_is_shown_with_its_input_and_who_made_it_and_an_input_fits_the_tool() {
    let fixture = Fixture::new();
    let child = fixture.spawn(&["launch", "ask once", "--name", "a", "--json"]);
    let id = fixture.open(1).remove(0);
    for (input, why) in [
        (r#"{"comand":"ls"}"#, "it has no field `comand`"),
        (r#"{"command":5}"#, "`command` has a different type"),
        ("{}", "`command` is missing"),
        ("[]", "it must be an object"),
    ] {
        let ran = fixture.run(&["approvals", "approve", &id, "--input", input]);
        assert_eq!(ran.code, 1, "{ran}");
        assert!(ran.stderr.contains(why), "{ran}");
    }
    fixture
        .run(&["approvals", "approve", &id, "--input", r#"{"command":"touch other"}"#])
        .success();
    super::finish(child);
    let shown = fixture.run(&["approvals", "show", &id]).success();
    assert!(shown.stdout.contains("approved with this input instead"), "{shown}");
    assert!(shown.stdout.contains("command: touch other"), "{shown}");
    assert!(shown.stdout.contains("was approved by a person"), "{shown}");
}

#[test]
fn a_denial_without_a_reason_says_that_it_has_none() {
    let fixture = Fixture::new();
    let child = fixture.spawn(&["launch", "ask once", "--name", "a", "--json"]);
    let id = fixture.open(1).remove(0);
    fixture.run(&["approvals", "deny", &id]).success();
    super::finish(child);
    let told = fixture.given(1).answers();
    assert_eq!(told[0]["message"], "a person denied it without giving a reason");
    let shown = fixture.run(&["approvals", "show", &id]).success().stdout;
    for words in [
        "? Bash touch r1",
        "session a, asked just now",
        "command: touch r1",
        "was denied by a person at 2026-01-12T15:30:00Z: a person denied it",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
}

#[test]
fn an_empty_text_is_refused_where_it_means_nothing_and_null_clears() {
    let fixture = Fixture::new();
    let launch = ["launch", "go", "--name", "a", "--model", "opus", "--title", "t"];
    fixture.run(&launch).success();
    for given in [
        ["--config", r#"{"model":""}"#],
        ["--config", r#"{"working_dir":""}"#],
        ["--working-dir", ""],
        ["--permission-mode", ""],
    ] {
        let refused = fixture.run(&[&["continue", "a", "x"][..], &given].concat());
        let why = "is empty; clear it if there is to be none";
        assert!(refused.stderr.contains(why), "{given:?}: {refused}");
    }
    let cleared = r#"{"model":null,"title":null}"#;
    fixture.run(&["continue", "a", "x", "--name", "b", "--config", cleared]).success();
    let given = fixture.given(2);
    assert_eq!((given.flag("--model"), given.flag("--name")), (None, None));
}

#[test]
#[ignore = "drives a real agent"]
fn claude_code_forked_at_a_tool_result_knows_the_result() {
    let bash = json!({"command": "echo the-answer-is-42", "description": "x"});
    let model = Model::start(
        Anthropic,
        Script::new([
            Answer::tool("Bash", bash),
            Answer::text("first way"),
            Answer::text("other way"),
        ]),
    );
    let env = real::env(&model);
    env.run(&["launch", "go", "--name", "a", "--allowed-tools", "Bash(echo *)"]).success();
    let events = env.run(&["conversation", "a", "--json"]).json()["events"].clone();
    let events = events.as_array().unwrap().clone();
    let result = events.iter().find(|event| event["kind"] == "tool_result").unwrap();
    let at = result["number"].to_string();
    let before = model.requests().len();
    env.run(&["fork", "a", "go another way", "--at", &at, "--name", "b"]).success();
    let request = model.requests()[before..]
        .iter()
        .map(heirloom_testkit::http::Request::text)
        .find(|text| text.contains("go another way"))
        .unwrap();
    assert!(request.contains("tool_result") && request.contains("the-answer-is-42"), "{request}");
    assert!(!request.contains("first way"), "{request}");
}

#[test]
#[ignore = "drives a real agent"]
fn a_rate_limit_is_shown_while_it_is_waited_out() {
    let limited = Answer::fail(429).with_header("retry-after", "1");
    let model = Model::start(Anthropic, Script::new([limited, Answer::text("done")]));
    let env = real::env(&model).var("CLAUDE_CODE_MAX_RETRIES", "3");
    let ran = env.run(&["launch", "go", "--name", "a"]).success();
    assert!(ran.stderr.contains("the model does not answer"), "{ran}");
    assert!(ran.stderr.contains("429"), "{ran}");
}

#[test]
#[ignore = "drives a real agent"]
fn a_session_goes_on_after_its_repository_was_moved() {
    let answers = [Answer::text("one"), Answer::text("two")];
    let model = Model::start(Anthropic, Script::new(answers));
    let env = real::env(&model);
    env.run(&["init", "--agent", "claude"]).success();
    env.run(&["launch", "remember the word heron", "--name", "a"]).success();
    let moved = env.repo().with_file_name("moved");
    fs::rename(env.repo(), &moved).unwrap();
    let before = model.requests().len();
    let ran = env.run_in(&moved, &["continue", "a", "which word?", "--name", "b"]);
    let last = model.requests()[before..]
        .iter()
        .map(heirloom_testkit::http::Request::text)
        .find(|text| text.contains("which word?"));
    let last = last.unwrap_or_else(|| panic!("{ran}"));
    assert!(last.contains("remember the word heron"), "{ran}\n{last}");
}

#[test]
#[ignore = "drives a real agent"]
fn a_run_of_claude_code_is_interrupted_from_another_shell() {
    let bash = json!({"command": "sleep 600", "description": "x"});
    let model = Model::start(Anthropic, Script::new([Answer::tool("Bash", bash)]));
    let env = real::env(&model);
    let mut command = env.command(&["run", "ralph", "s", "3", "--permissions", "accept"]);
    command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped());
    let child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    model.wait_for(1);
    env.run(&["interrupt", "s"]).success();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("interrupted"), "{said}");
    assert!(!crate::run::alive(&env), "nothing of it is left");
    let shown = env.run(&["sessions", "show", "s", "--json"]).json();
    assert_eq!(shown["status"], "interrupted");
}

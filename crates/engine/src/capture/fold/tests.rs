//! Transcripts of a few lines, and what they say.

use super::*;
use heirloom_agents::by_name;
use heirloom_agents::transcript::entry;

fn fold(lines: &[&str]) -> Fold {
    let mut reader = by_name("claude").unwrap().transcripts().unwrap().entries();
    let mut fold = Fold::new(State::default(), Told::default());
    for entry in entry::all(&mut *reader, lines.join("\n").as_bytes()) {
        fold.take(entry);
    }
    fold
}

fn said(id: &str, parent: &str, text: &str) -> String {
    format!(
        r#"{{"type":"user","uuid":"{id}","parentUuid":"{parent}","entrypoint":"cli","promptSource":"typed","timestamp":"2026-11-15T10:00:00Z","message":{{"role":"user","content":"{text}"}}}}"#
    )
}

fn answer(id: &str, parent: &str) -> String {
    format!(
        r#"{{"type":"assistant","uuid":"{id}","parentUuid":"{parent}","message":{{"id":"m-{id}","content":[{{"type":"text","text":"ok"}}],"usage":{{"input_tokens":10,"output_tokens":1}}}}}}"#
    )
}

fn tool(id: &str, name: &str, input: &str) -> String {
    format!(
        r#"{{"type":"assistant","uuid":"u{id}","message":{{"id":"m{id}","content":[{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}]}}}}"#
    )
}

fn result(id: &str, error: bool, text: &str) -> String {
    format!(
        r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"{id}","is_error":{error},"content":"{text}"}}]}}}}"#
    )
}

fn of(lines: &[String]) -> Fold {
    fold(&lines.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_turn_that_was_rewound_is_marked_and_kept() {
    let fold = of(&[
        said("p1", "-", "first"),
        answer("a1", "p1"),
        said("p2", "a1", "second"),
        answer("a2", "p2"),
        said("p3", "a1", "second, otherwise"),
    ]);
    let turns: Vec<(&str, bool)> =
        fold.news.turns.iter().map(|turn| (turn.text.as_str(), turn.rewound)).collect();
    assert_eq!(turns, [("first", false), ("second", true), ("second, otherwise", false)]);
}

#[test]
fn a_fork_is_called_by_what_was_asked_in_it_and_not_by_what_it_comes_from() {
    let copied = |line: String| {
        line.replacen('{', r#"{"forkedFrom":{"sessionId":"s1","messageUuid":"m"},"#, 1)
    };
    let title = |kind: &str, name: &str| format!(r#"{{"type":"{kind}","{name}":"Rotate tokens"}}"#);
    let begun = [copied(said("p1", "-", "Rotate the tokens")), copied(answer("a1", "p1"))];
    let asked = said("p3", "a1", "Try it with sessions instead");
    let of = |between: String| of(&[&begun[..], &[between, asked.clone()]].concat()).told.title;
    let own = Some("Try it with sessions instead".to_owned());
    assert_eq!(of(title("ai-title", "aiTitle")), own);
    assert_eq!(of(said("p2", "a1", "")), own);
    // What a person calls it, it is called.
    assert_eq!(of(title("custom-title", "customTitle")).as_deref(), Some("Rotate tokens"));

    // The same, where the fork is read in two parts.
    let mut reader = by_name("claude").unwrap().transcripts().unwrap().entries();
    let mut fold = fold(&[&begun[0], &begun[1]]);
    assert!(fold.state.is_copied());
    reader.resume(&Whereabouts { forked_from: Some(String::new()), ..Whereabouts::default() });
    for entry in entry::all(&mut *reader, asked.as_bytes()) {
        fold.take(entry);
    }
    assert_eq!(fold.told.title, own);
}

#[test]
fn tests_that_failed_and_passed_commits_and_errors() {
    let fold = of(&[
        said("p1", "-", "mend it"),
        tool("t1", "Bash", r#"{"command":"cargo test"}"#),
        result("t1", true, "Exit code 101\\ntest a::b ... FAILED\\nerror: test failed"),
        tool("t2", "Edit", r#"{"file_path":"/w/a.rs"}"#),
        result("t2", false, "done"),
        tool("t3", "Bash", r#"{"command":"cargo test"}"#),
        result("t3", false, "test a::b ... ok"),
        tool("t4", "Bash", r#"{"command":"git commit -am x"}"#),
        result("t4", false, "[main 1a2b3c4] mend it"),
    ]);
    let NewFacts { commands, commits, tests, files, .. } = &fold.news;
    assert_eq!(commands[0].exit, Some(101));
    assert_eq!(commands[0].error.as_deref(), Some("error: test failed"));
    assert_eq!((commits[0].hash.as_str(), commits[0].turn), ("1a2b3c4", 1));
    assert_eq!((files[0].path.as_str(), files[0].edited), ("/w/a.rs", true));
    let seen: Vec<(&str, bool)> =
        tests.iter().map(|test| (test.name.as_str(), test.passed_since)).collect();
    assert_eq!(seen, [("a::b", false), ("a::b", true), ("cargo test", true)]);
}

#[test]
fn a_status_that_is_told_wins_over_the_output() {
    let run = |command: &str, exit: Option<i32>| {
        let (id, command) = ("t1".to_owned(), Some(command.to_owned()));
        let waiting = vec![Waiting { id, command, todo: None, turn: 1 }];
        let mut fold = Fold::new(State { waiting, ..State::default() }, Told::default());
        fold.answered("t1", "--- FAIL: TestA (0.0s)\n--- PASS: TestB (0.0s)", false, exit, None);
        let failing = fold.news.tests.iter().filter(|test| !test.passed_since).count();
        (fold.news.answers[0].failed, failing)
    };
    assert_eq!(run("gotestsum --rerun-fails", Some(0)), (false, 0));
    assert_eq!(run("gotestsum --rerun-fails | tail", Some(0)), (true, 1));
    assert_eq!(run("gotestsum --rerun-fails", None), (true, 1));
}

#[test]
fn a_test_that_failed_is_mended_by_the_same_run_though_nobody_names_it() {
    let lines = [
        said("p1", "-", "mend it"),
        tool("t1", "Bash", r#"{"command":"cargo test -q"}"#),
        result("t1", true, "Exit code 101\\ntest a::b ... FAILED\\nerror: test failed"),
        tool("t2", "Bash", r#"{"command":"cargo test -q other"}"#),
        result("t2", false, "ok"),
    ];
    let standing = |fold: &Fold| {
        let last = fold.news.tests.iter().rfind(|test| test.name == "a::b");
        last.map(|test| test.passed_since)
    };
    let first = of(&lines);
    assert_eq!(standing(&first), Some(false), "a narrower run mends nothing");
    // Also where it is read on later.
    let state = serde_json::to_string(&first.state).unwrap();
    let mut second = Fold::new(serde_json::from_str(&state).unwrap(), first.told);
    let mut reader = by_name("claude").unwrap().transcripts().unwrap().entries();
    let rest = [
        tool("t3", "Bash", r#"{"command":"cargo test -q"}"#),
        result("t3", false, "running 3 tests"),
    ];
    for entry in entry::all(&mut *reader, rest.join("\n").as_bytes()) {
        second.take(entry);
    }
    assert_eq!(standing(&second), Some(true));
}

#[test]
fn a_flaky_test_that_the_run_itself_tried_again_did_not_fail() {
    let came = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":false,"content":"--- FAIL: TestA (0.0s)\n--- PASS: TestA (0.0s)"}]},"toolUseResult":{"stdout":"x","stderr":"","interrupted":false}}"#;
    let fold =
        of(&[tool("t1", "Bash", r#"{"command":"gotestsum --rerun-fails"}"#), came.to_owned()]);
    let command = &fold.news.commands[0];
    assert_eq!((command.exit, command.failed), (Some(0), Some(false)));
    assert!(fold.news.tests.iter().all(|test| test.passed_since), "{:?}", fold.news.tests);
}

#[test]
fn a_line_of_an_unknown_kind_is_counted_once_whatever_is_in_it() {
    let fold = of(&[
        r#"{"type":"hologram"}"#.to_owned(),
        r#"{"type":"assistant","message":{"content":[{"type":"x"},{"type":"y"}]}}"#.to_owned(),
        said("p1", "-", "still here"),
    ]);
    assert_eq!((fold.told.unknown_lines, fold.news.turns.len()), (2, 1));
}

#[test]
fn tasks_are_kept_as_the_agent_last_had_them() {
    let fold = of(&[
        tool("t1", "TaskCreate", r#"{"subject":"write the parser"}"#),
        result("t1", false, "Task #1 created successfully: write the parser"),
        tool("t2", "TaskCreate", r#"{"subject":"test it"}"#),
        result("t2", false, "Task #2 created successfully: test it"),
        tool("t3", "TaskUpdate", r#"{"taskId":"1","status":"completed"}"#),
    ]);
    let todos: Vec<(&str, &str)> =
        fold.told.todos.iter().map(|t| (t.text.as_str(), t.state.as_str())).collect();
    assert_eq!(todos, [("write the parser", "done"), ("test it", "open")]);
}

#[test]
fn tokens_of_an_answer_are_counted_once_however_many_lines_it_has() {
    let line = answer("a1", "p1");
    let fold = of(&[line.clone(), line, answer("a2", "a1")]);
    assert_eq!(fold.told.tokens.map(|tokens| (tokens.input, tokens.output)), Some((20, 2)));
    assert_eq!((fold.told.context_used, fold.told.cost_usd), (Some(11), None));
}

#[test]
fn secrets_do_not_leave_the_transcript() {
    let key = format!("AKIA{}", "IOSFODNN7EXAMPLE");
    let fold = of(&[
        said("p1", "-", &format!("use AWS_ACCESS_KEY_ID={key}")),
        tool("t1", "Bash", &format!(r#"{{"command":"export AWS_ACCESS_KEY_ID={key}"}}"#)),
    ]);
    assert!(!format!("{fold:?}").contains(&key));
}

#[test]
fn reading_in_two_parts_is_reading_at_once() {
    let lines = vec![
        said("p1", "-", "mend it"),
        tool("t1", "Bash", r#"{"command":"cargo test"}"#),
        result("t1", true, "Exit code 101\\nerror: no"),
        said("p2", "ut1", "again"),
    ];
    let whole = of(&lines);
    let first = of(&lines[..2]);
    let state = serde_json::to_string(&first.state).unwrap();
    let mut second = Fold::new(serde_json::from_str(&state).unwrap(), first.told);
    let mut reader = by_name("claude").unwrap().transcripts().unwrap().entries();
    for entry in entry::all(&mut *reader, lines[2..].join("\n").as_bytes()) {
        second.take(entry);
    }
    assert_eq!(second.told, whole.told);
    assert_eq!(second.news.turns[0].number, 2);
    assert_eq!(second.news.answers[0].exit, Some(101));
}

#[test]
fn tests_that_run_in_the_background_have_not_passed_until_somebody_says_so() {
    let begun = |id: &str| {
        let input = r#"{"command":"cargo test","run_in_background":true}"#;
        let text = "Command running in background with ID: b1. Output is being written to: /t/b1";
        let marked = format!(
            r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"{id}","is_error":false,"content":"{text}"}}]}},"toolUseResult":{{"stdout":"","stderr":"","interrupted":false,"backgroundTaskId":"b1"}}}}"#
        );
        [tool(id, "Bash", input), marked]
    };
    let failing = [
        tool("t1", "Bash", r#"{"command":"cargo test"}"#),
        result("t1", true, "Exit code 101\\ntest a::b ... FAILED\\nerror: test failed"),
    ];
    let came = |more: &[String]| {
        let fold = of(&[&failing, &begun("t2")[..], more].concat());
        let command = &fold.news.commands[1];
        let last = fold.news.tests.iter().rfind(|test| test.name == "a::b").unwrap();
        (command.exit, command.failed, last.passed_since)
    };
    assert_eq!(came(&[]), (None, None, false));
    // A version that marks nothing beside the answer says it in words.
    let said_only = result("t2", false, "Command running in background with ID: b1");
    let fold = of(&[&failing[..], &begun("t2")[..1], &[said_only]].concat());
    assert_eq!((fold.news.commands[1].failed, fold.news.tests.len()), (None, 1));

    let notified = |words: &str| {
        let text = format!(
            "<task-notification>\\n<task-id>b1</task-id>\\n<tool-use-id>t2</tool-use-id>\\n<status>x</status>\\n<summary>Background command \\\"cargo test\\\" {words}</summary>\\n</task-notification>"
        );
        said("n1", "-", &text)
    };
    assert_eq!(came(&[notified("completed (exit code 0)")]), (Some(0), Some(false), true));
    assert_eq!(came(&[notified("failed with exit code 101")]), (Some(101), Some(true), false));
    assert_eq!(came(&[notified("was stopped")]), (None, None, false));
}

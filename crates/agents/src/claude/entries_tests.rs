use super::*;
use crate::transcript::entry::{self, Does};

fn read(lines: &[&str]) -> Vec<What> {
    let text = lines.join("\n");
    let entries = entry::all(&mut Read::default(), text.as_bytes());
    let places = |what: &What| !matches!(what, What::Whereabouts(_));
    entries.into_iter().map(|entry| entry.what).filter(places).collect()
}

fn user(content: &str, more: &str) -> String {
    format!(
        r#"{{"type":"user","uuid":"u","sessionId":"s","message":{{"role":"user","content":"{content}"}}{more}}}"#
    )
}

#[test]
fn whose_words_a_prompt_is_is_told_apart() {
    for (content, more, expected) in [
        ("hi", r#","promptSource":"typed","entrypoint":"cli""#, By::Person),
        ("hi", r#","entrypoint":"cli""#, By::Person),
        ("hi", r#","promptSource":"sdk","entrypoint":"sdk-cli""#, By::Program),
        ("hi", r#","entrypoint":"sdk-cli""#, By::Program),
        ("hi", "", By::Unknown),
        ("hi", r#","isMeta":true,"entrypoint":"cli""#, By::Injected),
        ("hi", r#","promptSource":"system""#, By::Injected),
        ("hi", r#","isSidechain":true,"agentId":"a7""#, By::Agent),
        ("<system-reminder>x", r#","promptSource":"typed""#, By::Injected),
    ] {
        let text = content.to_owned();
        assert_eq!(read(&[&user(content, more)]), [What::Prompt { text, by: expected }], "{more}");
    }
}

#[test]
fn commands_interrupts_and_summaries_are_no_prompts() {
    let command = "<command-message>review</command-message>\\n<command-name>/review</command-name>\\n<command-args>src</command-args>";
    let (name, args) = ("/review".to_owned(), "src".to_owned());
    assert_eq!(read(&[&user(command, "")]), [What::Command { name, args }]);
    let clear = "<command-name>/clear</command-name>\\n<command-args></command-args>";
    let [What::Prompt { by: By::Injected, .. }] = &read(&[&user(clear, "")])[..] else {
        panic!("`/clear` asks for nothing")
    };
    let interrupted = user("[Request interrupted by user for tool use]", "");
    assert_eq!(read(&[&interrupted]), [What::Interrupted]);
    let summary = user("This session is being continued", r#","isCompactSummary":true"#);
    assert!(matches!(&read(&[&summary])[..], [What::Summary { .. }]));
}

#[test]
fn what_was_typed_while_the_agent_worked_is_heard() {
    let line = r#"{"type":"attachment","entrypoint":"cli","attachment":{"type":"queued_command","prompt":"and the docs","commandMode":"prompt"}}"#;
    let text = "and the docs".to_owned();
    assert_eq!(read(&[line]), [What::Prompt { text, by: By::Person }]);
}

#[test]
fn a_tool_and_how_it_exited() {
    let used = r#"{"type":"assistant","message":{"id":"m","model":"opus","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"cargo test"}}],"usage":{"input_tokens":7,"cache_read_input_tokens":3}}}"#;
    let failed = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"Exit code 101\nerror[E0382]"}]}}"#;
    let told = read(&[used, failed]);
    let [
        What::Model { .. },
        What::ToolUse { does: Does::Run { command }, .. },
        What::Usage { tokens, .. },
        What::ToolResult { exit: Some(101), is_error: true, .. },
    ] = &told[..]
    else {
        panic!("{told:#?}")
    };
    assert_eq!((command.as_str(), tokens.total()), ("cargo test", 10));
}

#[test]
fn a_command_that_succeeded_exited_with_0_unless_it_goes_on() {
    let came = |more: &str| {
        let line = format!(
            r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"t","is_error":false,"content":"ok"}}]}}{more}}}"#
        );
        match &read(&[&line])[..] {
            [What::ToolResult { exit, is_error: false, .. }] => *exit,
            told => panic!("{told:#?}"),
        }
    };
    let ran = r#"{"stdout":"ok","stderr":"","interrupted":false,"isImage":false"#;
    assert_eq!(came(&format!(r#","toolUseResult":{ran}}}"#)), Some(0));
    for (what, more) in [
        ("no command", r#","toolUseResult":{"type":"text","file":{"stdout":1}}"#.to_owned()),
        ("words", r#","toolUseResult":"ok""#.to_owned()),
        ("nothing", r#","toolUseResult":null"#.to_owned()),
        ("a list", r#","toolUseResult":[{"stdout":1},2,-3,4.5,true]"#.to_owned()),
        ("not said", String::new()),
        ("goes on", format!(r#","toolUseResult":{ran},"backgroundTaskId":"b1"}}"#)),
        ("of grep", format!(r#","toolUseResult":{ran},"returnCodeInterpretation":"none"}}"#)),
    ] {
        assert_eq!(came(&more), None, "{what}");
    }
}

#[test]
fn places_are_said_when_they_change_and_requests_never() {
    let at = |branch: &str| user("hi", &format!(r#","gitBranch":"{branch}","cwd":"/w""#));
    let request = r#"{"type":"api-request-blob","message":{"role":"user","content":"SECRET"}}"#;
    let text = [at("a"), at("a"), request.to_owned(), at("b")].join("\n");
    let entries = entry::all(&mut Read::default(), text.as_bytes());
    let place = |entry: &Entry| match &entry.what {
        What::Whereabouts(place) => place.branch.clone(),
        _ => None,
    };
    assert_eq!(entries.iter().filter_map(place).collect::<Vec<_>>(), ["a", "b"]);
    assert!(!format!("{entries:?}").contains("SECRET"));
    assert_eq!(entries.last().unwrap().offset, text.rfind('\n').unwrap() as u64 + 1);
}

#[test]
fn torn_hostile_and_unknown_lines_are_named_and_reading_goes_on() {
    let told = read(&[
        r#"{"type":"user","mess"#,
        "\u{0}\u{1b}[2J",
        r#"{"type":"hologram","x":1}"#,
        r#"{"type":"user","isMeta":null,"message":null}"#,
        &user("still here", ""),
    ]);
    let [What::Unknown { .. }, What::Unknown { .. }, What::Unknown { kind }, What::Prompt { .. }] =
        &told[..]
    else {
        panic!("{told:#?}")
    };
    assert_eq!(kind, "hologram");
}

#[test]
fn a_line_whose_end_is_not_written_yet_is_left_for_later() {
    let text = format!("{}\n{{\"type\":\"us", user("hi", ""));
    let mut found = 0;
    let read = entry::scan(&mut Read::default(), text.as_bytes(), 0, &mut |_| found += 1);
    assert_eq!((read, found), (text.find('\n').unwrap() + 1, 2));
}

#[test]
fn a_byte_order_mark_at_the_beginning_hides_nothing() {
    let text = format!("\u{feff}{}\n{}\n", user("first", ""), user("second", ""));
    let entries = entry::all(&mut Read::default(), text.as_bytes());
    let prompts = entries.iter().filter(|entry| matches!(entry.what, What::Prompt { .. }));
    let from: Vec<u64> = prompts.map(|entry| entry.offset).collect();
    assert_eq!(from, [0, text.find('\n').unwrap() as u64 + 1]);
    let alone = format!("\u{feff}{}", user("first", ""));
    assert!(!entry::all(&mut Read::default(), alone.as_bytes()).is_empty());
}

#[test]
fn a_last_line_that_is_whole_needs_no_line_end_and_is_not_read_twice() {
    let whole = format!("{}\n{}", user("one", ""), user("two", ""));
    let mut prompts = Vec::new();
    let mut scan = |bytes: &str, base: u64| {
        entry::scan(&mut Read::default(), bytes.as_bytes(), base, &mut |entry| {
            if let What::Prompt { text, .. } = entry.what {
                prompts.push((text, entry.offset));
            }
        })
    };
    let read = scan(&whole, 0);
    assert_eq!(read, whole.len());
    let rest = format!("\n{}\n", user("three", ""));
    assert_eq!(scan(&rest, read as u64), rest.len());
    let second = whole.find('\n').unwrap() as u64 + 1;
    let third = read as u64 + 1;
    assert_eq!(
        prompts,
        [("one".to_owned(), 0), ("two".to_owned(), second), ("three".to_owned(), third)]
    );
}

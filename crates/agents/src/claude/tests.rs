//! Lines of the stream and ends of processes, one by one.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::classify::outcome;
use super::wire::Stream;
use crate::event::{Event, FailureKind, Parsed, Reader};
use crate::outcome::{End, Exit, Outcome, Stop};
use crate::tally::Tally;

const ID: &str = "0c1e7f52-3f1e-4d55-9d0c-7e1b8d1f0a11";

fn read(line: &Value) -> Parsed {
    Stream::default().read(line.to_string().as_bytes())
}

fn tally(lines: &[Value]) -> Tally {
    let (mut stream, mut tally) = (Stream::default(), Tally::default());
    for line in lines {
        tally.fold(&stream.read(line.to_string().as_bytes()));
    }
    tally
}

fn result(fields: &Value) -> Value {
    let mut line = json!({"type": "result", "subtype": "success", "is_error": false,
                          "session_id": ID, "num_turns": 1, "terminal_reason": "completed"});
    let fields = fields.as_object().unwrap().clone();
    line.as_object_mut().unwrap().extend(fields);
    line
}

fn end(tally: &Tally, exit: Exit, stderr: &str, stopped: Option<Stop>) -> Outcome {
    outcome(&End { tally, exit, stderr, stopped, asked_for: Some(ID), expected_id: Some(ID) })
}

fn end_of(lines: &[Value], exit: i32) -> Outcome {
    end(&tally(lines), Exit::Code(exit), "", None)
}

#[test]
fn a_field_of_another_shape_costs_only_itself() {
    let parsed = read(&json!({"type": "system", "subtype": "permission_denied",
                              "tool_name": "Bash", "decision_reason": "rule", "message": "a text"}));
    let denied = Event::PermissionDenied { tool: "Bash".into(), reason: Some("rule".into()) };
    assert_eq!(parsed.events, [denied]);
}

#[test]
fn the_blocks_of_one_message_are_counted_once() {
    let block = |block: Value| {
        json!({"type": "assistant", "message": {"id": "m", "content": [block],
                                      "usage": {"input_tokens": 10, "output_tokens": 1}}})
    };
    let mut stream = Stream::default();
    let mut usages = 0;
    for line in [
        block(json!({"type": "thinking", "thinking": "hm"})),
        block(json!({"type": "text", "text": "hello"})),
        block(json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}})),
    ] {
        let parsed = stream.read(line.to_string().as_bytes());
        usages += parsed.events.iter().filter(|event| matches!(event, Event::Usage { .. })).count();
    }
    assert_eq!(usages, 1);
}

#[test]
fn a_subagents_line_names_the_call_it_came_from() {
    let parsed = read(&json!({"type": "assistant", "parent_tool_use_id": "toolu_1",
                              "message": {"content": [{"type": "text", "text": "sub"}]}}));
    assert_eq!(parsed.subagent.as_deref(), Some("toolu_1"));
}

#[test]
fn a_tool_result_is_text_whatever_it_is_made_of() {
    let blocks =
        json!([{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]);
    for (content, text) in [(json!("plain"), "plain"), (blocks, "a\nb"), (json!(null), "")] {
        let parsed = read(&json!({"type": "user", "message": {"content": [
            {"type": "tool_result", "tool_use_id": "t", "content": content, "is_error": true}]}}));
        let expected = Event::ToolResult { id: "t".into(), is_error: true, text: text.into() };
        assert_eq!(parsed.events, [expected]);
    }
}

#[test]
fn an_error_in_the_place_of_an_answer_is_no_answer() {
    let tally = tally(&[json!({"type": "assistant", "error": "authentication_failed",
                              "message": {"content": [{"type": "text", "text": "Not logged in"}]}})]);
    assert_eq!(tally.text, None);
    assert_eq!(tally.failure.unwrap().kind, FailureKind::Auth);
}

#[test]
fn the_limit_of_an_account_says_until_when() {
    let limit = json!({"type": "rate_limit_event",
                       "rate_limit_info": {"status": "rejected", "resetsAt": 1_893_456_000}});
    let failed = result(&json!({"is_error": true, "terminal_reason": "api_error",
                                "api_error_status": 429, "result": "used up"}));
    let until = Some("2030-01-01T00:00:00Z".parse().unwrap());
    let expected = Outcome::RateLimited { until, message: "used up".into() };
    assert_eq!(end_of(&[limit, failed], 1), expected);
}

#[test]
fn an_error_of_the_api_that_is_only_told_in_words_is_one_all_the_same() {
    let api = "API Error: 400 {\"error\":{\"message\":\"Your credit balance is too low\"}}";
    let cases = [
        (api, true, "no_credit"),
        ("Credit balance is too low", true, "no_credit"),
        ("API Error: 529 overloaded", true, "overloaded"),
        ("API Error: 401 invalid x-api-key", true, "auth"),
        ("API Error: none", true, "failed"),
        ("the gate says: API Error: 429", true, "failed"),
        // What the model says is no error, whatever it says.
        (api, false, "success"),
    ];
    for (text, is_error, expected) in cases {
        let ended = end_of(&[result(&json!({"is_error": is_error, "result": text}))], 1);
        assert_eq!(ended.as_str(), expected, "{text}");
    }
}

#[test]
fn neither_exit_code_nor_subtype_decides_alone() {
    let overloaded = json!({"is_error": true, "terminal_reason": "api_error",
                            "api_error_status": 529, "result": "busy"});
    let cases = [
        (json!({}), 0, "success"),
        (json!({}), 1, "success"),
        (overloaded.clone(), 0, "overloaded"),
        (overloaded, 1, "overloaded"),
        (
            json!({"subtype": "error_during_execution", "is_error": true, "terminal_reason": "aborted_tools"}),
            0,
            "interrupted",
        ),
        (
            json!({"subtype": "error_max_turns", "is_error": true, "terminal_reason": "max_turns"}),
            1,
            "turn_limit",
        ),
        (
            json!({"subtype": "error_max_budget_usd", "is_error": true, "terminal_reason": "budget_exhausted"}),
            1,
            "cost_limit",
        ),
        (
            json!({"subtype": "error_of_tomorrow", "is_error": true, "terminal_reason": "unheard_of"}),
            0,
            "failed",
        ),
    ];
    for (fields, exit, expected) in cases {
        assert_eq!(end_of(&[result(&fields)], exit).as_str(), expected, "{fields}");
    }
}

#[test]
fn a_turn_that_was_begun_after_the_last_result_and_killed_is_not_a_success() {
    let lines = [
        result(&json!({})),
        json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]}}),
    ];
    let tally = tally(&lines);
    assert_eq!(end(&tally, Exit::Signal(9), "", None).as_str(), "crashed");
    assert_eq!(end(&tally, Exit::Signal(9), "", Some(Stop::Kill)), Outcome::Interrupted);
}

#[test]
fn an_interrupt_is_known_without_a_result() {
    let interrupted = json!({"type": "user", "message": {"content": [
        {"type": "text", "text": "[Request interrupted by user for tool use]"}]}});
    assert_eq!(end_of(&[interrupted], 0), Outcome::Interrupted);
    let echoed = json!({"type": "user", "message": {"content": [
        {"type": "tool_result", "tool_use_id": "t", "content": "[Request interrupted by user]"}]}});
    assert_eq!(end_of(&[echoed], 0).as_str(), "crashed");
}

#[test]
fn a_lost_conversation_is_only_believed_from_the_program_itself() {
    let said = format!("No conversation found with session ID: {ID}");
    let stale = result(&json!({"subtype": "error_during_execution", "is_error": true,
                               "num_turns": 0, "errors": [said]}));
    assert_eq!(end_of(&[stale], 1).as_str(), "stale_session");
    assert_eq!(end(&Tally::default(), Exit::Code(1), &said, None).as_str(), "stale_session");
    let echoed = result(&json!({"result": said, "errors": []}));
    assert_eq!(end_of(std::slice::from_ref(&echoed), 0), Outcome::Success);
    // A tool of a running turn wrote it to the same stderr.
    assert_eq!(end(&tally(&[echoed]), Exit::Code(0), &said, None), Outcome::Success);
}

#[test]
fn what_is_said_before_any_line_is_a_refusal() {
    let outcome = end(&Tally::default(), Exit::Code(1), "Error: unknown option '--x'\n", None);
    assert_eq!(outcome, Outcome::Refused { message: "Error: unknown option '--x'".into() });
    let in_use = format!("Error: Session ID {ID} is already in use.");
    assert_eq!(end(&Tally::default(), Exit::Code(1), &in_use, None).as_str(), "session_in_use");
    assert_eq!(end(&Tally::default(), Exit::Code(0), "", None).as_str(), "crashed");
}

proptest! {
    #[test]
    fn whatever_comes_is_read_without_a_panic(
        kind in "assistant|user|system|result|control_request|conversation_reset|[a-z]{1,5}",
        rest in ".{0,60}",
        bytes in prop::collection::vec(any::<u8>(), 0..80),
    ) {
        let mut stream = Stream::default();
        let mut entries = super::transcript::Entries::default();
        let line = format!(r#"{{"type":"{kind}",{rest}}}"#);
        for line in [line.as_bytes(), bytes.as_slice()] {
            prop_assert!(stream.read(line).events.len() <= line.len());
            prop_assert!(entries.read(line).events.len() <= line.len());
        }
    }
}

#[test]
fn an_answer_comes_in_pieces_where_that_was_asked_for() {
    let event = json!({"type": "content_block_delta", "index": 0,
                       "delta": {"type": "text_delta", "text": "hel"}});
    let parsed = read(&json!({"type": "stream_event", "event": event, "session_id": "s"}));
    assert_eq!(parsed.events, [Event::Piece { text: "hel".into() }]);
    let begin = json!({"type": "stream_event", "event": {"type": "message_start"}});
    assert_eq!(read(&begin).events, []);
}

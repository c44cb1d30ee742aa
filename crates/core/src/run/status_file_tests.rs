use proptest::prelude::*;
use serde_json::{Value, json};

use super::reported::Reported;
use super::status_file::*;
use crate::note::Kind;

fn told(text: &str) -> String {
    let (_, findings) = parse(text.as_bytes());
    let line = |f: &super::Finding| format!("{}: {} (expected {})", f.field, f.problem, f.expected);
    findings.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn read(text: &str) -> Report {
    let (report, findings) = parse(text.as_bytes());
    assert_eq!(findings, []);
    report.unwrap()
}

#[test]
fn a_whole_report_is_read_and_unknown_keys_are_kept() {
    let report = read(
        r#"{"decision": "stop", "reason": "done", "summary": "Rotate tokens",
        "work": {"items_completed": ["hl-1", 7], "files_touched": ["src/a.rs"]},
        "errors": ["one test was flaky"], "learnings": ["tokens rotate", {"text": "clock skew"}],
        "patterns": [], "warnings": null,
        "decisions": [{"text": "Chose JWT", "rationale": "scaling",
            "evidence": ["src/a.rs:12-14", {"path": "b.rs", "line": 3, "quote": "fn b()"}]}],
        "comprehension": {"inherited": "x", "task": "y", "constraints": ["z"]},
        "mood": {"level": 3}}"#,
    );
    assert_eq!(report.decision, Some(Decision::Stop));
    assert_eq!(report.items_completed, ["hl-1", "7"]);
    assert_eq!(report.other, json!({"mood": {"level": 3}}).as_object().unwrap().clone());
    assert_eq!(report.comprehension.unwrap().constraints, ["z"]);
    insta::assert_json_snapshot!(report.notes, @r#"
    [
      {
        "kind": "learning",
        "text": "tokens rotate"
      },
      {
        "kind": "learning",
        "text": "clock skew"
      },
      {
        "kind": "decision",
        "text": "Chose JWT",
        "rationale": "scaling",
        "evidence": [
          {
            "path": "src/a.rs",
            "line": 12,
            "end_line": 14
          },
          {
            "path": "b.rs",
            "line": 3,
            "quote": "fn b()"
          }
        ]
      }
    ]
    "#);
}

#[test]
fn each_wrong_item_costs_only_itself() {
    let text = r#"{"decision": "continue", "learnings": ["kept", 3, {"about": 1}, ""],
        "patterns": "alone", "warnings": 5, "reason": ["x"], "work": [],
        "decisions": [{"text": "d", "evidence": ["nowhere", {"path": "a"}, 4, {"line": 2}]}],
        "comprehension": 7, "errors": {"a": 1}}"#;
    insta::assert_snapshot!(told(text), @r#"
    reason: a list is skipped (expected text)
    errors: an object is skipped (expected a list of texts)
    learnings[1]: the number 3 is skipped (expected text, or an object with `text` (and `rationale`, `evidence`))
    learnings[2]: an object without `text` is skipped (expected text, or an object with `text` (and `rationale`, `evidence`))
    patterns: one item without its list (expected a list)
    warnings: the number 5 is skipped (expected a list)
    decisions[0].evidence[0]: `nowhere` has no line number: write PATH:LINE or PATH:LINE-LINE (expected `PATH:LINE`, or an object with `path`, `line` and `quote`)
    decisions[0].evidence[1]: an object without `line` is skipped (expected `PATH:LINE`, or an object with `path`, `line` and `quote`)
    decisions[0].evidence[2]: the number 4 is skipped (expected `PATH:LINE`, or an object with `path`, `line` and `quote`)
    decisions[0].evidence[3]: an object without `path` is skipped (expected `PATH:LINE`, or an object with `path`, `line` and `quote`)
    comprehension: the number 7 is skipped (expected text, or an object with `inherited`, `task` and `constraints`)
    work: a list is skipped (expected an object with `items_completed` and `files_touched`)
    "#);
    let (report, _) = parse(text.as_bytes());
    let texts: Vec<_> = report.unwrap().notes.into_iter().map(|note| note.text).collect();
    assert_eq!(texts, ["kept", "alone", "d"]);
}

#[test]
fn a_decision_that_is_none_is_told_with_the_one_that_was_meant() {
    insta::assert_snapshot!(
        [r"{}", r#"{"decision": "contine"}"#, r#"{"decision": "done"}"#, r#"{"decision": true}"#]
            .map(told)
            .join("\n"),
        @r#"
    decision: it is missing (expected `continue`, `stop` or `error`)
    decision: the text "contine" is no decision (did you mean `continue`?) (expected `continue`, `stop` or `error`)
    decision: the text "done" is no decision (expected `continue`, `stop` or `error`)
    decision: `true` is skipped (expected `continue`, `stop` or `error`)
    "#);
    assert_eq!(read(r#"{"decision": " Stop "}"#).decision, Some(Decision::Stop));
}

#[test]
fn what_stands_around_the_object_is_skipped_and_told() {
    for text in ["\u{feff}{\"decision\": \"stop\"}", " {\"decision\":\"stop\"}\n\n"] {
        assert_eq!(read(text).decision, Some(Decision::Stop));
    }
    let fenced = "```json\n{\"decision\": \"stop\"}\n```\n";
    let (report, findings) = parse(fenced.as_bytes());
    assert_eq!((report.unwrap().decision, findings.len()), (Some(Decision::Stop), 2));
    assert_eq!(
        told("{\"decision\": \"stop\"} bye"),
        ": text after the object is skipped (expected a JSON object with at least `decision`)"
    );
}

#[test]
fn what_holds_no_object_is_no_report() {
    for text in ["", "  ", "{\"decision\": ", "nothing", "[1]", "\"stop\"", "null"] {
        let (report, findings) = parse(text.as_bytes());
        assert_eq!((report, findings.len()), (None, 1), "{text}");
    }
    let (report, findings) = parse(&vec![b' '; MOST_BYTES + 1]);
    assert_eq!((report, findings.len()), (None, 1));
}

#[test]
fn bytes_that_are_no_text_are_replaced_and_told() {
    let (report, findings) = parse(b"{\"decision\": \"stop\", \"summary\": \"a\xff\"}");
    assert_eq!(report.unwrap().summary.as_deref(), Some("a\u{fffd}"));
    assert_eq!(findings.len(), 1);
}

#[test]
fn the_original_engines_result_file_hints_at_a_decision() {
    let hint = |signals: Value| {
        let text = json!({"summary": "s", "artifacts": {"outputs": []}, "signals": signals});
        read(&text.to_string()).decision
    };
    assert_eq!(hint(json!({"risk": "high", "plateau_suspected": true})), Some(Decision::Error));
    assert_eq!(hint(json!({"risk": "low", "plateau_suspected": true})), Some(Decision::Stop));
    assert_eq!(hint(json!({})), Some(Decision::Continue));
}

#[test]
fn other_words_for_a_decisions_parts_are_understood() {
    let report = read(r#"{"decision": "stop", "decisions": [{"decision": "A", "why": "B"}]}"#);
    let expected = Reported {
        kind: Kind::Decision,
        text: "A".to_owned(),
        rationale: Some("B".to_owned()),
        evidence: vec![],
    };
    assert_eq!(report.notes, [expected]);
}

#[test]
fn a_comprehension_in_one_text_counts_and_an_empty_one_does_not() {
    let stated = |value: Value| {
        read(&json!({"decision": "stop", "comprehension": value}).to_string()).comprehension
    };
    assert_eq!(stated(json!("all of it")).unwrap().inherited, "all of it");
    for empty in [json!(null), json!(""), json!({}), json!({"task": " "})] {
        assert_eq!(stated(empty), None);
    }
}

#[test]
fn a_flood_is_cut_and_told() {
    let many = json!({"decision": "stop", "learnings": vec!["x"; 2000]}).to_string();
    let (report, findings) = parse(many.as_bytes());
    assert_eq!((report.unwrap().notes.len(), findings.len()), (500, 1));
    let long = json!({"decision": "stop", "learnings": ["é".repeat(30_000)]}).to_string();
    let (report, findings) = parse(long.as_bytes());
    assert_eq!(report.unwrap().notes[0].text.chars().count(), 20_000);
    assert_eq!(findings.len(), 1);
}

proptest! {
    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let (report, findings) = parse(&bytes);
        prop_assert!(report.is_some() || !findings.is_empty());
    }

    #[test]
    fn any_beginning_of_a_report_is_survived(end in 0usize..90) {
        let text = r#"{"decision":"stop","learnings":["é",{"text":"b","evidence":["a:1"]}],"work":{},"x":[1]}"#;
        let (report, findings) = parse(&text.as_bytes()[..end.min(text.len())]);
        prop_assert!(report.is_some() != (end < text.len()) || !findings.is_empty());
    }
}

use jiff::Timestamp;

use super::standing::*;
use crate::facts::{CommandFacts, CommitFacts, FileFacts, TestFacts, TodoFacts, TurnFacts};

fn at(hour: i8) -> Timestamp {
    format!("2026-01-12T{hour:02}:00:00Z").parse().unwrap()
}

fn turn(hour: i8, text: &str) -> TurnFacts {
    let (by, text) = ("person".to_owned(), text.to_owned());
    TurnFacts { number: 1, at: Some(at(hour)), by, text, offset: 0, rewound: false }
}

fn ran(hour: i8, command: &str, error: Option<&str>) -> CommandFacts {
    CommandFacts {
        tool_use: format!("{hour} {command}"),
        turn: 1,
        at: Some(at(hour)),
        command: command.to_owned(),
        exit: None,
        failed: Some(error.is_some()),
        error: error.map(str::to_owned),
        is_test: crate::facts::runners::test_run(command).is_some(),
        offset: 0,
    }
}

fn failing(name: &str) -> TestFacts {
    TestFacts { name: name.to_owned(), failed_at: Some(at(9)), failed_in: 1, passed_since: false }
}

fn session() -> Told {
    Told { interactive: true, near: true, ..Told::default() }
}

#[test]
fn what_was_asked_done_and_left_open_is_told() {
    let todo = |text: &str, state: &str| TodoFacts { text: text.into(), state: state.into() };
    let told = Told {
        turns: vec![turn(8, "make the parser accept nested lists"), turn(9, "go on")],
        commands: vec![ran(9, "cargo test -p parser", Some("assertion failed: nested"))],
        tests: vec![failing("parser::nested")],
        commits: vec![CommitFacts {
            hash: "1a2b3c4".into(),
            subject: "parser: flat lists".into(),
            turn: 1,
            at: Some(at(8)),
        }],
        todos: vec![
            todo("read the grammar", "done"),
            todo("handle depth", "begun"),
            todo("docs", "open"),
        ],
        files: vec![
            FileFacts { path: "src/parser.rs".into(), edited: true, turn: 1, at: Some(at(9)) },
            FileFacts { path: "src/old.rs".into(), edited: true, turn: 1, at: Some(at(7)) },
        ],
        ..session()
    };
    let standing = standing(&[told], at(10));
    assert_eq!(
        standing.lines,
        [
            "Asked last: \"make the parser accept nested lists\"",
            "Failing: parser::nested: assertion failed: nested",
            "Committed: 1a2b3c4 parser: flat lists",
            "Edited and not committed: src/parser.rs",
        ]
    );
    assert_eq!(standing.todos, ["handle depth", "docs"]);
}

#[test]
fn what_a_person_gave_up_after_a_session_is_nothing_that_it_left_to_do() {
    let todo = |text: &str| TodoFacts { text: text.into(), state: "open".into() };
    let todos = vec![todo("answer 302 for moved pages"), todo("document the redirects")];
    let before = Told { turns: vec![turn(7, "redirect the old links")], todos, ..session() };
    let scratches = "scratch the 302 idea, their proxy eats it. use 307";
    let since = Told { turns: vec![turn(8, "where were we"), turn(9, scratches)], ..session() };
    let standing = standing(&[since, before.clone()], at(10));
    assert_eq!(standing.todos, ["document the redirects"]);
    assert_eq!(standing.lines, [format!("Asked last: \"{scratches}\"")]);
    assert_eq!(standing.still(scratches, Some(at(9))), scratches, "it gave up nothing of itself");
    assert_eq!(standing.still("answer 302 everywhere", Some(at(8))), "");
    // What the session itself put on its list afterwards stands.
    let own = Told { turns: vec![turn(7, scratches)], ..before };
    assert_eq!(super::standing(&[own], at(10)).todos.len(), 2);
}

#[test]
fn what_is_to_be_done_on_another_branch_is_a_step_only_where_nobody_was_at_work() {
    let todos = vec![TodoFacts { text: "measure the jar".into(), state: "open".into() }];
    let elsewhere = Told { near: false, todos, ..session() };
    let here = Told { turns: vec![turn(8, "add the French translation")], ..session() };
    assert!(standing(&[here, elsewhere.clone()], at(10)).todos.is_empty());
    assert_eq!(standing(&[elsewhere], at(10)).todos, ["measure the jar"]);
}

#[test]
fn a_test_that_a_later_session_ran_with_success_fails_no_more() {
    let before = Told {
        commands: vec![ran(8, "cargo test -p parser", Some("x"))],
        tests: vec![failing("parser::nested")],
        ..session()
    };
    let after = Told { commands: vec![ran(9, "cargo test", None)], ..session() };
    assert_eq!(standing(&[after, before.clone()], at(10)).lines, [] as [&str; 0]);
    let other = Told { commands: vec![ran(9, "cargo test -p lexer", None)], ..session() };
    assert_eq!(standing(&[other, before.clone()], at(10)).lines.len(), 1, "another run");
    let piped = Told { commands: vec![ran(9, "cargo test 2>&1 | tail -5", None)], ..session() };
    assert_eq!(standing(&[piped, before.clone()], at(10)).lines, [] as [&str; 0]);
    assert_eq!(standing(&[session(), before], at(10)).lines.len(), 1);
}

#[test]
fn only_what_a_person_typed_nearby_and_lately_is_a_rule() {
    let rule = || vec![turn(8, "fix it, and never touch legacy/")];
    let said = |told: Told, now: &str| standing(&[told], now.parse().unwrap()).said.len();
    let now = "2026-01-13T00:00:00Z";
    assert_eq!(said(Told { turns: rule(), ..session() }, now), 1);
    assert_eq!(said(Told { turns: rule(), interactive: false, ..session() }, now), 0);
    assert_eq!(said(Told { turns: rule(), near: false, ..session() }, now), 0);
    assert_eq!(
        said(Told { turns: rule(), ..session() }, "2026-02-13T00:00:00Z"),
        0,
        "too long ago"
    );
    let by_program = TurnFacts { by: "program".into(), ..rule().remove(0) };
    assert_eq!(said(Told { turns: vec![by_program], ..session() }, now), 0);
    let rewound = TurnFacts { rewound: true, ..rule().remove(0) };
    assert_eq!(said(Told { turns: vec![rewound], ..session() }, now), 0);
}

#[test]
fn a_known_failure_says_what_worked_and_a_test_is_none() {
    let told = Told {
        commands: vec![
            ran(7, "./e2e --port 8080", Some("bind: address in use (pid 17)")),
            ran(8, "./e2e --port 8080", Some("bind: address in use (pid 23)")),
            ran(9, "./e2e --port 0", None),
            ran(9, "cargo test", Some("red")),
            ran(9, "cargo test -p a", None),
        ],
        ..session()
    };
    let found = failures(&[told]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        found[0].line(),
        "tried twice, last on Monday: bind: address in use (pid 23); what worked: `./e2e --port 0`"
    );
    let since = Told { commands: vec![ran(10, "./e2e --port 8080", None)], ..session() };
    let before = Told {
        commands: vec![ran(7, "./e2e --port 8080", Some("in use")), ran(8, "./e2e --port 0", None)],
        ..session()
    };
    assert_eq!(failures(&[since, before]), [], "it succeeded since");
}

#[test]
fn a_test_is_mended_when_its_run_succeeds_though_few_runners_name_what_passes() {
    let told = |later: &[(&str, Option<&str>)]| {
        let mut commands = vec![ran(9, "cargo test -p parser", Some("assertion failed"))];
        commands.extend(later.iter().map(|(command, error)| ran(10, command, *error)));
        let tests = vec![failing("parser::nested")];
        let told = Told { turns: vec![turn(9, "go on")], commands, tests, ..session() };
        standing(&[told], at(12)).lines.join("\n")
    };
    assert!(told(&[]).contains("Failing: parser::nested"));
    for run in ["cargo test -p parser", "cargo test"] {
        assert!(!told(&[(run, None)]).contains("parser::nested"), "{run}");
    }
    assert!(told(&[("cargo test -p lexer", None)]).contains("parser::nested"), "another one");
    assert!(told(&[("cargo test -p parser --lib a", None)]).contains("parser::nested"), "less");
    let again = [("cargo test", None), ("cargo test -p parser", Some("assertion failed"))];
    assert!(told(&again).contains("Failing: parser::nested"), "it fails again");
}

#[test]
fn a_narrower_run_mends_nothing() {
    let told = |failed: &str, passed: &str| {
        let commands = vec![ran(9, failed, Some("assertion failed")), ran(10, passed, None)];
        let tests = vec![failing("b.py::test_nested")];
        let told = Told { turns: vec![turn(9, "go on")], commands, tests, ..session() };
        standing(&[told], at(12)).lines.join("\n").contains("test_nested")
    };
    for passed in ["pytest a.py", "cd c && pytest a.py b.py", "cd c && pytest"] {
        assert!(told("pytest a.py b.py", passed), "{passed}");
    }
    assert!(told("cd c && pytest b.py", "cd d && pytest b.py"));
    for passed in ["pytest a.py b.py", "pytest"] {
        assert!(!told("pytest a.py b.py", passed), "{passed}");
    }
    assert!(!told("cd c && pytest b.py", "cd c && pytest"));
}

#[test]
fn only_a_commit_leaves_nothing_uncommitted() {
    let left = |command: &str| {
        let edited = FileFacts { path: "a.rs".into(), edited: true, turn: 1, at: Some(at(8)) };
        let told = Told { commands: vec![ran(9, command, None)], files: vec![edited], ..session() };
        uncommitted(&told).len()
    };
    assert_eq!(left("git commit -qm x"), 0);
    for command in ["git grep merge", "git commit --dry-run", "git log --grep commit"] {
        assert_eq!(left(command), 1, "{command}");
    }
}

#[test]
fn what_failed_before_a_crash_is_told_though_the_last_command_has_no_answer() {
    let unanswered = CommandFacts { failed: None, ..ran(10, "make serve", None) };
    let failed = ran(9, "make rates", Some("error: 3601 is not fresh"));
    let told = |commands| Told { commands, ..session() };
    let crashed = standing(&[told(vec![failed.clone(), unanswered.clone()])], at(11));
    assert_eq!(crashed.lines, ["Failed last: `make rates`: error: 3601 is not fresh"]);
    let mended = standing(&[told(vec![failed, ran(9, "make rates", None), unanswered])], at(11));
    assert!(mended.lines.is_empty(), "{:?}", mended.lines);
}

#[test]
fn a_choice_that_was_taken_back_is_not_told_as_what_was_asked_for() {
    let before = "Invoices go out twice. Keep the queue in RabbitMQ.";
    let since = "I changed my mind: take a table instead of RabbitMQ.";
    let told = |hour, text| Told { turns: vec![turn(hour, text)], ..session() };
    let earlier = standing(&[told(10, since), told(9, before)], at(11)).earlier;
    let earlier: Vec<&str> = earlier.iter().map(|asked| asked.text.as_str()).collect();
    assert_eq!(earlier, ["\"Invoices go out twice.\""]);
}

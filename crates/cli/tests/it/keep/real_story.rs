//! The real Claude Code and the real Codex over several sessions, and nobody types heirloom: what the next
//! session's first request holds.

use std::path::Path;

use heirloom_testkit::model::Answer;
use serde_json::json;

use crate::guard::real_claude::Real;

const HEIRLOOM: &str = env!("CARGO_BIN_EXE_heirloom");

pub(super) fn bash(command: &str) -> Answer {
    Answer::tool("Bash", json!({"command": command, "description": "d"}))
}

pub(super) fn done(text: &str) -> Answer {
    Answer::text(text)
}

/// Fails as long as the parser does not know the word, as a test runner does.
pub(super) fn check(word: &str) -> String {
    format!(
        "grep -q {word} src/parser.py || {{ echo 'FAILED test_parser.py::test_{word} - AssertionError: {word} is not parsed'; exit 1; }}"
    )
}

/// Writes a file, runs the test that fails for the word, and is killed.
pub(super) fn dies_at(file: &Path, word: &str) -> [Answer; 3] {
    // Not before the agent has written down what failed: it does so a moment later.
    let dies = format!(
        "until grep -rqs 'tool_result.*{word} is not parsed' ~/.claude/projects; do sleep 0.1; done; \
         kill -9 $PPID"
    );
    let write = json!({"file_path": file, "content": "x = 1\n"});
    [Answer::tool("Write", write), bash(&check(word)), bash(&dies)]
}

#[test]
#[ignore = "drives a real agent"]
fn after_days_of_work_the_next_request_holds_the_task_the_step_the_failure_the_decision_and_the_rule()
 {
    let real = Real::new("").with_tasks();
    let repo = real.repo();
    let parser = repo.join("src/parser.py");
    let write = |text: &str| Answer::tool("Write", json!({"file_path": parser, "content": text}));

    // The first day: work, a test that fails, and what the person forbids.
    let prompt =
        "Make the parser accept nested lists. Never touch legacy/, customers still build that.";
    let answers =
        [write("def parse(): pass\n"), bash(&check("nested")), done("The test fails still.")];
    let first = real.run(&repo, &[prompt], answers);

    // The second: the same conversation goes on, it is mended and committed, and something is decided.
    let prompt =
        "Use an explicit stack instead of recursion, because deep input overflowed in production.";
    let answers = [
        bash("mkdir -p src && echo 'nested = stack()' > src/parser.py"),
        bash(&check("nested")),
        bash(
            "git add -A && git commit -q -m 'parser: nested lists with a stack' && git log --oneline -1",
        ),
        done("Committed."),
    ];
    let resumed = real.run(&repo, &["--resume", first.session(), prompt], answers);
    assert_eq!(resumed.session(), first.session());

    // The third: another conversation, with open tasks, a failure, a compaction and a clear.
    let prompt = "Now the parser must know comments; they begin with a semicolon.";
    let answers = [
        Answer::tool(
            "TaskCreate",
            json!({"subject": "skip comments at the end of a line", "description": "d"}),
        ),
        Answer::tool(
            "TaskCreate",
            json!({"subject": "document the comment syntax", "description": "d"}),
        ),
        Answer::tool("Read", json!({"file_path": parser})),
        write("nested = stack()\n# comments come here\n"),
        bash(&check("semicolon")),
        done("Not yet."),
    ];
    let third = real.run(&repo, &[prompt], answers);
    let shown = real.guarded.env.run(&["sessions", "show", third.session(), "--json"]);
    let shown = shown.success().json();
    assert_eq!(shown["todos"].as_array().map(Vec::len), Some(2), "{shown:#}\n{}", third.request(2));
    let summary = "<summary>The parser is being worked on.</summary>";
    real.run(&repo, &["--resume", third.session(), "/compact"], [done(summary)]);
    let after = real.run(&repo, &["--resume", third.session(), "go on"], [done("I go on.")]);
    let request = after.request(0);
    assert!(request.contains("The parser is being worked on."), "it was compacted: {request}");
    assert_brief(request);
    real.run(&repo, &["--resume", third.session(), "/clear"], []);

    // The fourth begins, and knows.
    let fourth = real.run(&repo, &["what is next?"], [done("x")]);
    assert_brief(fourth.request(0));
    let handed = real.guarded.env.run(&["handoffs", "list", "--json"]).success().json();
    let handed = handed["handoffs"].as_array().unwrap();
    assert!(handed.len() >= 3, "{handed:?}");
}

#[test]
#[ignore = "drives a real agent"]
fn after_a_crash_the_next_request_holds_what_stands_and_nothing_that_was_replaced() {
    let real = Real::new("").with_tasks();
    let repo = real.repo();
    let note = |arguments: &str| bash(&format!("{HEIRLOOM} note {arguments}"));
    real.typed("Cache the exchange rates. Never touch legacy/, it is frozen.", "Understood");
    let cached = "decision 'Cache rates in Redis' --because 'it is there already'";
    real.run(&repo, &["How do we keep them?"], [note(cached), done("In Redis.")]);
    let noted = real.guarded.env.run(&["notes", "--kind", "decision", "--json"]).success().json();
    let id = noted["notes"][0]["id"].as_str().unwrap();
    let instead = format!(
        "decision 'Cache rates in memory' --because 'operations will not run Redis' --supersedes {id}"
    );
    let answers = [note(&instead), note("next-step 'Expire rates after an hour'"), done("Noted.")];
    real.run(&repo, &["Operations will not run Redis, find another way."], answers);
    real.killed("Make the rates expire.", dies_at(&repo.join("rates.py"), "expiry"));

    let next = real.run(&repo, &["what is next?"], [done("x")]);
    let block = block(next.request(0));
    let wanted = [
        ("what was asked last", "Make the rates expire."),
        ("what is next", "Expire rates after an hour"),
        ("what fails", "expiry is not parsed"),
        ("what was decided", "Cache rates in memory"),
        ("why", "operations will not run Redis"),
        ("the rule", "Never touch legacy/"),
        ("what is not committed", "rates.py"),
    ];
    for (what, words) in wanted {
        assert!(block.contains(words), "{what} (`{words}`) is not in {block}");
    }
    assert!(!block.contains("Cache rates in Redis"), "that was replaced: {block}");
}

pub(super) fn block(request: &str) -> &str {
    let begin = request.rfind("<heirloom-recovery>").unwrap_or_else(|| panic!("none in {request}"));
    let block = &request[begin..];
    &block[..block.find("</heirloom-recovery>").unwrap()]
}

/// The block of a request says what the three sessions before left, once.
#[track_caller]
fn assert_brief(request: &str) {
    let block = block(request);
    let wanted = [
        ("the task", "they begin with a semicolon"),
        ("the next step", "1. skip comments at the end of a line"),
        ("the one after it", "2. document the comment syntax"),
        ("what fails", "semicolon is not parsed"),
        ("what was decided", "explicit stack instead of recursion"),
        ("why", "deep input overflowed in production"),
        ("the rule", "Never touch legacy/"),
        ("what is not committed", "src/parser.py"),
        ("the handoff", "heirloom handoffs show "),
    ];
    for (what, words) in wanted {
        assert!(block.contains(words), "{what} (`{words}`) is not in {block}");
    }
    assert!(!block.contains("nested is not parsed"), "that was mended: {block}");
}

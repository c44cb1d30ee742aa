//! A day with the real Claude Code as people talk: in passing, changing their minds, in two sessions at once, of which one
//! is compacted, one cleared and one killed. Nobody types heirloom.

use std::thread;

use heirloom_testkit::model::Answer;
use serde_json::json;

use super::real_story::{bash, block, check, dies_at, done};
use crate::guard::real_claude::Real;

/// What the block of a request must say, each once.
#[track_caller]
fn assert_says(block: &str, wanted: &[(&str, &str)]) {
    for (what, words) in wanted {
        assert_eq!(block.matches(words).count(), 1, "{what} (`{words}`) in {block}");
    }
}

#[test]
#[ignore = "drives a real agent"]
fn after_a_day_of_passing_remarks_the_next_request_holds_what_stands_and_nothing_twice() {
    let real = Real::new("").with_tasks();
    let repo = real.repo();
    let secret = format!("AKIA{}", "IOSFODNN7EXAMPLE");
    let write = |name: &str, text: &str| {
        Answer::tool("Write", json!({"file_path": repo.join(name), "content": text}))
    };

    // Two at once: one is about rates, the other about an export that fails.
    let (rates, export) = thread::scope(|scope| {
        let one = scope.spawn(|| {
            let prompt = "hey so the exchange rates are slow as hell, stick em in redis";
            real.run(&repo, &[prompt], [done("Redis it is.")])
        });
        let other = scope.spawn(|| {
            let prompt = "csv export chokes on umlauts, have a look will you";
            let answers = [write("src/export.py", "x = 1\n"), bash(&check("umlaut")), done("hm")];
            real.run(&repo, &[prompt], answers)
        });
        (one.join().unwrap(), other.join().unwrap())
    });
    assert_ne!(rates.session(), export.session());

    // The mind is changed, something does not work and something else does.
    let prompt = "nah, scrap redis, let's just do sqlite, fewer moving parts";
    let answers = [
        bash(
            "./pull-rates --all 2>/dev/null || { echo 'error: pull-rates: rate limited'; exit 3; }",
        ),
        bash("true ./pull-rates --one-by-one"),
        done("Done with SQLite."),
    ];
    real.run(&repo, &["--resume", rates.session(), prompt], answers);
    real.typed("pls don't ever run the migrations on staging", "GOTCHA");

    // A step that is named in passing, and a secret.
    let prompt = format!("ok next we wire up the retry thing, key is AWS_ACCESS_KEY_ID={secret}");
    let answers = [
        Answer::tool(
            "TaskCreate",
            json!({"subject": "retry with backoff on 503", "description": "d"}),
        ),
        done("On the list."),
    ];
    real.run(&repo, &["--resume", rates.session(), &prompt], answers);
    let summary = [done("<summary>They talked about rates.</summary>")];
    real.run(&repo, &["--resume", rates.session(), "/compact"], summary);
    let after = real.run(&repo, &["--resume", rates.session(), "carry on"], [done("ok")]);
    let compacted = block(after.request(0));
    assert!(after.request(0).contains("They talked about rates."), "it was compacted");
    let stands = [
        ("what was decided, and why", "let's just do sqlite, fewer moving parts"),
        ("what is next", "1. retry with backoff on 503"),
        ("the rule", "don't ever run the migrations on staging"),
        ("what fails", "umlaut is not parsed"),
    ];
    assert_says(compacted, &stands);
    let is_clean = |block: &str| !block.contains("AKIA") && !block.contains("em in redis");
    assert!(is_clean(compacted), "{compacted}");
    real.run(&repo, &["--resume", export.session(), "/clear"], []);

    // Killed in the middle of something.
    let dies = dies_at(&repo.join("src/retry.py"), "jitter");
    real.killed("give it some jitter so they dont all hammer at once", dies);

    let next = real.run(&repo, &["where were we"], [done("x")]);
    let block = block(next.request(0));
    assert_says(block, &stands);
    let more = [
        (
            "what is being done",
            "Asked last: \\\"give it some jitter so they dont all hammer at once",
        ),
        ("what fails now", "jitter is not parsed"),
        ("what is not committed", "src/retry.py"),
        ("what was named as next", "ok next we wire up the retry thing"),
        ("what the other session was about", "csv export chokes on umlauts"),
    ];
    assert_says(block, &more);
    assert!(is_clean(block), "{block}");
    let blocks = next.request(0).matches("<heirloom-recovery>").count();
    assert_eq!(blocks, 1, "{}", next.request(0));
    // No list shows it either.
    for command in [
        &["sessions", "list", "--json"][..],
        &["handoffs", "show", "--json"],
        &["search", "retry", "--json"],
    ] {
        let shown = real.guarded.env.run(command).success().stdout;
        assert!(!shown.contains("AKIA"), "{command:?}: {shown}");
    }
}

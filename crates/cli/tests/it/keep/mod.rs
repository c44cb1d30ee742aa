//! Keep, from outside.

mod checkpoints;
mod conformance;
mod grounding;
mod healing;
mod page;
mod real_casual;
mod real_claude;
mod real_story;
mod recovering;

use heirloom_testkit::env::TestEnv;
use serde_json::Value;

const AUTH: &str = "use std::fs;\n\nfn rotate(token: &str) {\n    let grace = 900;\n}\n";

/// A repository with some code in it.
fn env() -> TestEnv {
    let env = crate::env();
    env.write("src/auth.rs", AUTH);
    env.git(&["add", "."]);
    env.git(&["commit", "-q", "-m", "auth"]);
    env
}

/// The verdict on the only claim.
fn verdict(env: &TestEnv) -> String {
    let answer = env.run(&["ground", "--json"]).json();
    assert_eq!(answer["claims"], 1, "{answer}");
    answer["results"][0]["verdict"].as_str().unwrap().to_owned()
}

/// How many records of a kind the ledger has.
fn records(env: &TestEnv, kind: &str) -> usize {
    let exported = env.run(&["ledger", "export"]).success().stdout;
    exported
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|record| record["kind"] == kind)
        .count()
}

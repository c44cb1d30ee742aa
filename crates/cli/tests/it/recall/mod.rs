//! Finding what was ever said, and going on from there.

mod carrying;
mod continuity;
mod picking;
mod resuming;
mod scene;
mod searching;
mod why_and_how;

use heirloom_testkit::env::TestEnv;

/// heirloom with an agent that answers in Claude Code's own format, with a secret in a tool's answer.
fn env() -> TestEnv {
    let env = crate::env();
    let agent = env.script("agent", include_str!("agent.sh"));
    env.var("HEIRLOOM_AGENT_CLAUDE", agent)
}

/// The results of a search.
fn results(env: &TestEnv, arguments: &[&str]) -> Vec<serde_json::Value> {
    let mut all = vec!["search"];
    all.extend(arguments);
    all.push("--json");
    env.run(&all).success().json()["results"].as_array().unwrap().clone()
}

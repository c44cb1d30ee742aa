//! Conversations that go from one real agent to another, with models on loopback.

use heirloom_testkit::anthropic::Anthropic;
use heirloom_testkit::env::TestEnv;
use heirloom_testkit::model::{Answer, Model, Script};
use heirloom_testkit::real::{Served, codex, opencode, pinned};

use crate::session::real;

/// The real agent of that name as well, and its model.
fn with(env: TestEnv, agent: &str, served: &Served) -> TestEnv {
    let version = heirloom_agents::by_name(agent).unwrap().tested_version().unwrap();
    let variable = format!("HEIRLOOM_AGENT_{}", agent.to_uppercase());
    let env = env.var(&variable, pinned(agent, version));
    served.env.iter().fold(env, |env, (name, value)| env.var(name, value.clone()))
}

fn says(text: &str) -> Script {
    Script::default().then_always(Answer::text(text))
}

#[track_caller]
fn holds(request: Option<String>, words: &[&str]) {
    let request = request.expect("the model was asked");
    for word in words {
        assert!(request.contains(word), "`{word}` is not in {request}");
    }
}

#[test]
#[ignore = "drives a real agent"]
fn each_model_hears_what_was_said_with_the_agents_before_it() {
    let claude = Model::start(Anthropic, says("The backoff has no ceiling."));
    let env = real::env(&claude);
    let (second, third) = (says("Codex set it to a minute."), says("Opencode tested it."));
    let (second, third) = (codex(&env.user(), second), opencode(&env.user(), third));
    let env = with(with(env, "codex", &second), "opencode", &third);
    env.run(&["launch", "Why does the queue starve?", "--name", "one"]).success();

    let ran = env.run(&["continue", "one", "Set one.", "--with", "codex", "--name", "two"]);
    let ran = ran.success();
    assert!(ran.stderr.contains("not carried over: the agent's thinking"), "{ran}");
    let heard = ["Why does the queue starve?", "The backoff has no ceiling.", "Set one."];
    holds(second.requests().pop(), &heard);

    env.run(&["continue", "two", "Test it.", "--with", "opencode", "--name", "three"]).success();
    let heard = [&heard[..], &["Codex set it to a minute.", "Test it."]].concat();
    holds(third.requests().pop(), &heard);

    env.run(&["continue", "three", "Sum up.", "--with", "claude", "--name", "four"]).success();
    let heard = [&heard[..], &["Opencode tested it.", "Sum up."]].concat();
    holds(claude.requests().last().map(heirloom_testkit::http::Request::text), &heard);

    let lineage = env.run(&["lineage", "four"]).success().stdout;
    for name in ["one", "two", "three", "four"] {
        assert!(lineage.contains(name), "{lineage}");
    }
}

#[test]
#[ignore = "drives a real agent"]
fn a_transcript_that_was_deleted_is_put_back_and_the_conversation_goes_on() {
    let model = Model::start(Anthropic, says("The backoff has no ceiling."));
    let env = real::env(&model);
    env.run(&["init", "--yes", "--agent", "claude"]).success();
    env.run(&["launch", "Why does the queue starve?", "--name", "one"]).success();
    env.run(&["sync", "--agent", "claude"]).success();
    std::fs::remove_dir_all(env.user().join(".claude/projects")).unwrap();
    let ran = env.run(&["continue", "one", "And now?", "--name", "two"]).success();
    assert!(ran.stderr.contains("restored it from the archive"), "{ran}");
    let heard = ["Why does the queue starve?", "The backoff has no ceiling.", "And now?"];
    holds(model.requests().last().map(heirloom_testkit::http::Request::text), &heard);
}

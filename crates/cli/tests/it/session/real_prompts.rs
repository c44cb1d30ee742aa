//! What reaches the model of a real agent: prompts that are not arguments, and instructions that a
//! conversation keeps.

use heirloom_testkit::anthropic::Anthropic;
use heirloom_testkit::http::Request;
use heirloom_testkit::model::{Answer, Model, Script};
use heirloom_testkit::real::{Served, codex, gemini, opencode, pinned};
use serde_json::Value;

use super::real;

/// The messages of the last request.
fn messages(model: &Model) -> String {
    let requests: Vec<Value> = model.requests().iter().map(Request::json).collect();
    requests.last().unwrap()["messages"].to_string()
}

#[test]
#[ignore = "drives a real agent"]
fn a_prompt_from_stdin_and_one_from_a_file_reach_the_model_whole() {
    let model = Model::start(Anthropic, Script::new(["one", "two"].map(Answer::text)));
    let env = real::env(&model);
    // More than an argument can hold, with an end that would be lost first.
    let long = format!("BEGINNING {}END-OF-STDIN", "so it goes on, ".repeat(12_000));
    env.run_with(&["launch", "-", "--name", "a"], long.as_bytes()).success();
    let first = messages(&model);
    assert!(first.contains("BEGINNING") && first.contains("END-OF-STDIN"), "{}", first.len());
    env.write("prompt.md", "what the FILE says\n");
    env.run(&["continue", "a", "--prompt-file", "prompt.md"]).success();
    let second = messages(&model);
    assert!(second.contains("END-OF-STDIN") && second.contains("what the FILE says"));
}

#[test]
#[ignore = "drives a real agent"]
fn codex_is_told_appended_instructions_once_however_often_it_goes_on() {
    let env = crate::env();
    let served = codex(&env.user(), Script::new(["one", "two", "three"].map(Answer::text)));
    let version = heirloom_agents::by_name("codex").unwrap().tested_version().unwrap();
    let mut env = env.var("HEIRLOOM_AGENT_CODEX", pinned("codex", version));
    for (name, value) in &served.env {
        env = env.var(name, value.as_str());
    }
    let appended = ["--append-system-prompt", "APPENDED words."];
    let launch = ["launch", "first", "--agent", "codex", "--name", "a"];
    env.run(&[&launch[..], &appended].concat()).success();
    env.run(&["continue", "a", "second"]).success();
    env.run(&["continue", "a-v2", "third"]).success();
    let requests = served.requests();
    let last = requests.last().unwrap();
    assert!(["first", "second", "third"].iter().all(|prompt| last.contains(prompt)), "{last}");
    assert_eq!(last.matches("APPENDED words.").count(), 1, "{last}");
}

type Serve = fn(&std::path::Path, Script) -> Served;

/// Agents that say only in their logs that they wait are not silent for those who wait with them.
#[test]
#[ignore = "drives a real agent"]
fn opencode_and_gemini_show_that_a_request_is_made_again() {
    let served = [("opencode", opencode as Serve), ("gemini", gemini)];
    for (agent, serve) in served {
        let env = crate::env();
        let limited = Answer::fail(429).with_header("retry-after", "1");
        let answers = [Answer::text("one"), limited, Answer::text("two")];
        let served = serve(&env.user(), Script::new(answers));
        let version = heirloom_agents::by_name(agent).unwrap().tested_version().unwrap();
        let variable = format!("HEIRLOOM_AGENT_{}", agent.to_uppercase());
        let mut env = env
            .var(&variable, pinned(agent, version))
            .var("HTTPS_PROXY", "http://127.0.0.1:9")
            .var("NO_PROXY", "127.0.0.1,localhost");
        for (name, value) in &served.env {
            env = env.var(name, value.as_str());
        }
        let ran = env.run(&["launch", "first", "--agent", agent, "--name", "a"]).success();
        assert!(!ran.stderr.contains("does not answer"), "{agent}: {ran}");
        let ran = env.run(&["continue", "a", "second"]).success();
        assert!(ran.stderr.contains("the model does not answer"), "{agent}: {ran}");
        assert!(ran.stderr.contains("attempt 1") && ran.stdout.contains("two"), "{agent}: {ran}");
    }
}

//! What the agents of a run are told in their prompts, word for word, because that is what they read.

use heirloom_testkit::anthropic::Anthropic;
use heirloom_testkit::env::TestEnv;
use heirloom_testkit::model::{Answer, Model, Script};
use serde_json::{Value, json};

use crate::run::with_agent;
use crate::session::real;

/// Keeps what it was told, and reports what `report.json` says, or that it goes on.
const KEEPS: &str = r#"
cat > "told-$HEIRLOOM_SESSION-$HEIRLOOM_STAGE-$HEIRLOOM_ITERATION"
if [ -f report.json ]; then cp report.json "$HEIRLOOM_STATUS"; else
printf '{"decision":"stop","summary":"did it"}' > "$HEIRLOOM_STATUS"; fi
"#;

fn run(env: &TestEnv, arguments: &[&str]) -> heirloom_testkit::env::Ran {
    env.run(&[&["run"], arguments, &["--agent", "command"]].concat())
}

/// A session that learned this.
fn learned(env: &TestEnv, name: &str, learnings: &[&str]) {
    env.write("report.json", &json!({"decision": "stop", "learnings": learnings}).to_string());
    run(env, &["ralph", name, "1"]).success();
    std::fs::remove_file(env.repo().join("report.json")).unwrap();
}

#[test]
fn what_is_inherited_stands_in_the_prompt_itself() {
    let env = with_agent(KEEPS);
    learned(&env, "auth-v1", &["refresh tokens rotate atomically"]);
    run(&env, &["ralph", "auth-v2", "1", "--inherit", "auth-v1"]).success();
    let told = env.read("told-auth-v2-ralph-1");
    let (step_zero, task) = told.split_once("Then state your understanding").unwrap();
    assert!(step_zero.contains("- refresh tokens rotate atomically\n"), "{told}");
    assert!(!task.contains("refresh tokens rotate"), "once: {told}");
    let context = env.read(".heirloom/runs/auth-v2/stage-00-ralph/iterations/001/context.json");
    assert!(context.contains("refresh tokens rotate atomically"), "the file is beside it");
}

#[test]
fn what_was_left_out_is_said_and_nothing_is_left_out_for_the_sake_of_a_duplicate() {
    let env = with_agent(KEEPS);
    let long: Vec<String> = (0..75).map(|n| format!("learning {n} {}", "x".repeat(290))).collect();
    learned(&env, "long", &long.iter().map(String::as_str).collect::<Vec<_>>());
    let block = env.run(&["inherit", "long", "--json"]).success().json();
    assert_eq!(block["learnings"].as_array().unwrap().len(), 75);
    assert!(block["tokens"].as_u64().unwrap() <= 8000);
    env.write_user(&format!(
        "inherit: {{max_tokens: 3000}}\ntrust: {{paths: [{}]}}\n",
        env.repo().display()
    ));
    let ran = run(&env, &["ralph", "next", "1", "--inherit", "long"]).success();
    assert!(ran.stdout.contains("left out to save space: "), "{ran}");
    assert!(env.read("told-next-ralph-1").contains("Left out to save space: "));
    let shown = env.run(&["inherit", "long", "--max-tokens", "3000"]);
    assert!(shown.stdout.contains("left out to save space: "), "{shown}");
}

#[test]
fn several_sources_are_one_inheritance_and_a_path_is_none() {
    let env = with_agent(KEEPS);
    learned(&env, "a", &["from a", "from both"]);
    learned(&env, "b", &["from b", "from both"]);
    run(&env, &["ralph", "c", "1", "--inherit", "a", "--inherit", "b"]).success();
    let context = env.read(".heirloom/runs/c/stage-00-ralph/iterations/001/context.json");
    let context: Value = serde_json::from_str(&context).unwrap();
    let mut learnings: Vec<&str> = context["inherited"]["learnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|learning| learning.as_str().unwrap())
        .collect();
    learnings.sort_unstable();
    assert_eq!(learnings, ["from a", "from b", "from both"]);
    assert_eq!(context["inherited"]["lineage"], json!(["a", "b"]));
    for outside in ["../x", "a/b", ".."] {
        let ran = run(&env, &["ralph", "d", "1", "--inherit", outside]);
        assert_eq!(ran.code, 64, "{ran}");
        assert!(ran.stderr.contains("cannot be a session to inherit from"), "{ran}");
    }
    assert!(!env.repo().join(".heirloom/runs/d").exists());
}

#[test]
fn a_stage_inherits_inside_a_pipeline_and_so_does_a_nested_pipeline() {
    let env = with_agent(KEEPS);
    learned(&env, "a", &["known to the stage"]);
    learned(&env, "b", &["known to the nested pipeline"]);
    env.write(
        ".heirloom/stages/own/stage.yaml",
        "name: own\nprompt: Go on.\nstop: {rule: fixed, max: 1}\ninherit: {from: a}\n",
    );
    env.write(
        ".heirloom/pipelines/inner.yaml",
        "name: inner\ninherit: {from: b}\nnodes: [{id: in, prompt: Go on., max: 1}]\n",
    );
    let nodes = "nodes: [{id: plain, prompt: Go on., max: 1}, {id: own, stage: own}, \
                 {id: more, pipeline: inner}]\n";
    env.write(".heirloom/pipelines/outer.yaml", &format!("name: outer\n{nodes}"));
    run(&env, &["outer", "s"]).success();
    assert!(!env.read("told-s-plain-1").contains("Step 0"));
    assert!(env.read("told-s-own-1").contains("- known to the stage\n"));
    assert!(env.read("told-s-more.in-1").contains("- known to the nested pipeline\n"));
    // What the whole pipeline inherits goes before that.
    let whole = format!("name: whole\ninherit: {{from: [a, b]}}\n{nodes}");
    env.write(".heirloom/pipelines/whole.yaml", &whole);
    run(&env, &["whole", "t"]).success();
    for stage in ["plain", "own", "more.in"] {
        let told = env.read(&format!("told-t-{stage}-1"));
        assert!(told.contains("known to the stage") && told.contains("nested"), "{told}");
    }
}

#[test]
fn an_inline_prompt_is_told_of_its_inputs_and_of_a_failed_verification() {
    let env = with_agent(KEEPS);
    env.write("brief.md", "the brief");
    env.write(
        ".heirloom/pipelines/p.yaml",
        "name: p\ninputs: [brief.md]\nnodes:\n  - {id: plan, prompt: Plan., max: 1}\n  \
         - {id: sum, prompt: Sum up., inputs: {from: plan}, stop: {rule: fixed, max: 3}, \
            verify: ['test -f told-s-sum-2 || { echo seven tests failed; exit 4; }']}\n",
    );
    run(&env, &["p", "s"]).success();
    let first = env.read("told-s-sum-1");
    assert!(first.contains("## What you work from") && first.contains("brief.md"), "{first}");
    assert!(first.contains("(from plan)") && !first.contains("not done yet"), "{first}");
    let second = env.read("told-s-sum-2");
    assert!(second.contains("exits with 4") && second.contains("seven tests failed"), "{second}");
}

#[test]
fn what_a_person_gives_as_context_is_put_in_as_it_is() {
    let env = with_agent(KEEPS);
    run(&env, &["ralph", "s", "1", "--context", "read ${CTX} and $${STATUS}"]).success();
    assert!(env.read("told-s-ralph-1").contains("read ${CTX} and $${STATUS}"));
}

#[test]
#[ignore = "drives a real agent"]
fn the_first_request_of_claude_code_holds_what_is_inherited() {
    let model = Model::start(Anthropic, Script::new([Answer::text("done")]));
    let env = real::env(&model);
    env.run(&["run", "ralph", "auth-v1", "1", "--agent", "sim"]).success();
    let inherited = env.run(&["inherit", "auth-v1", "--json"]).success().json();
    let learning = inherited["learnings"][0].as_str().unwrap();
    let ran =
        env.run(&["run", "ralph", "s", "1", "--permissions", "edits", "--inherit", "auth-v1"]);
    let requests = model.requests();
    let first = requests.iter().find(|request| request.text().contains("Step 0"));
    let first = first.unwrap_or_else(|| panic!("{ran}"));
    assert!(first.text().contains(learning), "{ran}");
}

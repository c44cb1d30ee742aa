//! Pipelines: stages one after the other, nested, and in parallel.

use serde_json::{Value, json};

use crate::run::with_agent;

/// Keeps its context and reports; `codex` is the same program under another name.
const KEEPS: &str = r#"
cat > /dev/null
echo "$HEIRLOOM_STAGE $HEIRLOOM_ITERATION" >> order.log
echo "result of $HEIRLOOM_STAGE $HEIRLOOM_ITERATION"
[ "$HEIRLOOM_STAGE" = breaks ] && exit 3
echo '{"decision":"continue","learnings":["from '$HEIRLOOM_STAGE'"]}' > $HEIRLOOM_STATUS
"#;

fn read(env: &heirloom_testkit::env::TestEnv, path: &str) -> Value {
    serde_json::from_str(&env.read(path)).unwrap()
}

#[test]
fn stages_run_in_order_and_work_from_earlier_results() {
    let env = with_agent(KEEPS);
    env.write(
        "refine.yaml",
        "name: refine\nagent: command\nnodes:\n\
         - {id: plan, prompt: 'Plan. ${STATUS}', max: 2}\n\
         - {id: tasks, prompt: 'Tasks. ${STATUS}', inputs: {from: plan, select: all}}\n\
         - {id: last, prompt: 'Last. ${STATUS}', inputs: {from: tasks}}\n",
    );
    env.write("brief.md", "the brief");
    let ran = env.run(&["run", "refine.yaml", "s", "--input", "brief.md"]).success();
    assert!(ran.stdout.contains("completed: all iterations done · 4 iterations"), "{ran}");
    assert_eq!(env.read("order.log"), "plan 1\nplan 2\ntasks 1\nlast 1\n");
    let context = read(&env, ".heirloom/runs/s/stage-01-tasks/iterations/001/context.json");
    assert_eq!(context["pipeline"], "refine");
    let from = context["inputs"]["from"]["plan"].as_array().unwrap();
    assert_eq!(from.len(), 2);
    let text = std::fs::read_to_string(from[1].as_str().unwrap()).unwrap();
    assert_eq!(text.trim(), "result of plan 2");
    assert!(context["inputs"]["initial"][0].as_str().unwrap().ends_with("/brief.md"));
    let shown = env.run(&["sessions", "show", "s", "--learnings", "--json"]).json();
    assert_eq!(shown["learnings"].as_array().unwrap().len(), 4);
}

#[test]
fn a_pipeline_that_stopped_goes_on_in_the_stage_it_stopped_in() {
    let env = with_agent(KEEPS);
    env.write(
        "p.yaml",
        "name: p\nagent: command\nnodes:\n- {id: one, prompt: 'One. ${STATUS}'}\n\
         - {id: breaks, prompt: 'Two. ${STATUS}', max_failures: 1}\n- {id: three, prompt: 'Three. ${STATUS}'}\n",
    );
    let ran = env.run(&["run", "p.yaml", "s"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert_eq!(env.read("order.log"), "one 1\nbreaks 1\n");
    env.write("agent.sh", &KEEPS.replace("exit 3", "true"));
    env.run(&["run", "p.yaml", "s", "--resume"]).success();
    assert_eq!(env.read("order.log"), "one 1\nbreaks 1\nbreaks 1\nthree 1\n");
}

#[test]
fn a_nested_pipeline_runs_where_it_stands() {
    let env = with_agent(KEEPS);
    env.write(
        ".heirloom/pipelines/inner.yaml",
        "name: inner\nnodes:\n- {id: deep, prompt: 'Deep. ${STATUS}'}\n",
    );
    env.write(
        ".heirloom/pipelines/outer.yaml",
        "name: outer\nagent: command\nnodes:\n- {id: before, prompt: 'B. ${STATUS}'}\n- {id: in, pipeline: inner}\n- {id: after, prompt: 'A. ${STATUS}', inputs: {from: in}}\n",
    );
    env.run(&["run", "outer", "s"]).success();
    assert_eq!(env.read("order.log"), "before 1\nin.deep 1\nafter 1\n");
    let context = read(&env, ".heirloom/runs/s/stage-02-after/iterations/001/context.json");
    assert_eq!(context["inputs"]["from"]["in"].as_array().unwrap().len(), 1);
    let listed = env.run(&["pipelines", "list", "--json"]).json();
    assert!(listed["pipelines"].as_array().unwrap().iter().any(|p| p["name"] == "outer"));
    assert!(env.run(&["pipelines", "show", "outer"]).success().stdout.contains("in.deep"));
    env.run(&["pipelines", "lint"]).success();
}

fn parallel(mode: &str) -> String {
    format!(
        "name: both\nnodes:\n- id: two\n  parallel:\n    agents: [{{name: left, agent: command}}, {{name: right, agent: sim}}]\n    \
         failure_mode: {mode}\n    nodes: [{{id: review, prompt: 'Review. ${{STATUS}}', max: 1}}]\n\
         - {{id: sum, prompt: 'Sum. ${{STATUS}}', agent: command, max: 1, inputs: {{from: two}}}}\n"
    )
}

#[test]
fn agents_of_a_parallel_block_are_isolated_and_joined_by_a_manifest() {
    let env = with_agent(KEEPS);
    env.write("both.yaml", &parallel("any"));
    env.run(&["run", "both.yaml", "s"]).success();
    let manifest = read(&env, ".heirloom/runs/s/parallel-00-two/manifest.json");
    assert_eq!(manifest["agents"]["left"]["status"], "completed");
    assert_eq!(manifest["agents"]["right"]["stages"]["review"]["iterations"], 1);
    let page =
        |lane: &str| env.read(&format!(".heirloom/runs/s/parallel-00-two/{lane}/progress.md"));
    assert!(page("right").contains("Iteration 1") && !page("left").contains("Iteration 1"));
    let context = read(&env, ".heirloom/runs/s/stage-01-sum/iterations/001/context.json");
    let from = context["inputs"]["from"].as_object().unwrap();
    assert_eq!(from.keys().collect::<Vec<_>>(), ["two.left", "two.right"]);
    let lane = read(
        &env,
        ".heirloom/runs/s/parallel-00-two/left/stage-00-review/iterations/001/context.json",
    );
    assert_eq!(lane["agent"], "left");
}

#[test]
fn the_failure_mode_of_a_block_decides_whether_it_failed() {
    for (mode, code) in [("any", 1), ("all", 0), ("never", 0)] {
        let env = with_agent(
            "cat > /dev/null\n[ $HEIRLOOM_STAGE = sum ] && echo '{\"decision\":\"stop\"}' > $HEIRLOOM_STATUS\n",
        );
        env.write("both.yaml", &parallel(mode));
        let ran = env.run(&["run", "both.yaml", "s"]);
        assert_eq!(ran.code, code, "{mode}: {ran}");
        let manifest = read(&env, ".heirloom/runs/s/parallel-00-two/manifest.json");
        let status = |lane: &str| manifest["agents"][lane]["status"].clone();
        assert_eq!(json!([status("left"), status("right")]), json!(["failed", "completed"]));
    }
}

#[test]
fn what_a_pipeline_inherits_every_stage_gets() {
    let env = with_agent(KEEPS);
    env.write(
        "p.yaml",
        "name: p\nagent: command\ninherit: {from: nobody}\nnodes:\n- {id: one, prompt: 'One. ${STATUS}'}\n- {id: two, prompt: 'Two. ${STATUS}'}\n",
    );
    env.run(&["run", "ralph", "before", "1", "--agent", "command"]).success();
    env.run(&["run", "p.yaml", "s", "--inherit", "before"]).success();
    for stage in ["stage-00-one", "stage-01-two"] {
        let path = format!(".heirloom/runs/s/{stage}/iterations/001/context.json");
        assert_eq!(read(&env, &path)["inherited"]["learnings"], json!(["from ralph"]));
    }
}

use proptest::prelude::*;

use super::choices::{Choices, Inherit};
use super::library::Library;
use super::lint::Mistake;
use super::pipeline::{self, FailureMode};
use super::plan::Plan;
use super::resolve::{Request, resolve_pipeline, resolve_stage};
use super::stage::{self, StageFiles};
use crate::inherit::Select;

const FILE: &str = ".heirloom/stages/ralph/stage.yaml";

fn stage_mistakes(text: &str, prompt: Option<&str>) -> Vec<Mistake> {
    stage::read(&files(text, prompt)).1
}

fn files<'t>(text: &'t str, prompt: Option<&'t str>) -> StageFiles<'t> {
    let prompt_file = ".heirloom/stages/ralph/prompt.md";
    StageFiles { directory: "ralph", file: FILE, text, prompt_file, prompt }
}

fn told(mistakes: &[Mistake]) -> String {
    mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn library() -> Library {
    let mut library = Library::default();
    for name in ["improve-plan", "refine-tasks"] {
        let text = "stop: {rule: judgment, max: 8}\nagent: claude\nmodel: opus\n";
        let files = StageFiles { directory: name, ..files(text, Some("Do it, then ${STATUS}.")) };
        library.add_stage(name, stage::read(&files).0.unwrap());
    }
    library
}

fn pipeline(text: &str) -> pipeline::Pipeline {
    let (pipeline, mistakes) = pipeline::read("refine.yaml", "refine", text);
    assert_eq!(told(&mistakes), "");
    pipeline.unwrap()
}

fn plan(text: &str, request: &Request) -> Plan {
    resolve_pipeline(&library(), &pipeline(text), request).unwrap()
}

/// Everything wrong with a pipeline, as `lint` tells it.
fn wrong(text: &str) -> String {
    let (pipeline, mut mistakes) = pipeline::read("p.yaml", "p", text);
    mistakes.extend(pipeline.map(|p| library().check(&p)).unwrap_or_default());
    told(&mistakes)
}

const REFINE: &str = "\
name: refine
agent: codex
inherit: {from: previous-refine}
nodes:
  - {id: plan, stage: improve-plan, max: 5}
  - {id: tasks, stage: refine-tasks, max: 5, agent: claude, inputs: {from: plan, select: all}}
  - id: both
    parallel: {agents: [claude, {agent: claude, model: haiku, name: fast}], nodes: [{id: review, prompt: 'Review ${CTX}', max: 2}], failure_mode: all}
  - {id: join, prompt: join, inputs: {from: [both, tasks], agents: []}}
  - {id: one, prompt: x, inputs: {from: both.review, agents: fast}}
";

#[test]
fn a_stage_file_says_everything_about_a_stage() {
    let text = "name: ralph\ndescription: one line\nagent: claude\nmodel: opus\ncontext: c\noutput: out/${SESSION}.md\ndelay: 90s\nstop: {rule: fixed, max: 25}\nverify: [make test]\ncomprehension: required\ninherit: {from: auth-v1, select: [learnings, patterns]}\ncheckpoint: true\niteration_timeout: 2h30m\nmax_failures: 5\n";
    let (stage, mistakes) = stage::read(&files(text, Some("Go, ${STATUS}")));
    assert_eq!(told(&mistakes), "");
    let stage = stage.unwrap();
    assert_eq!(
        stage.inherit.as_ref().unwrap().select,
        Select::parse(["learnings", "patterns"]).unwrap()
    );
    let plan = resolve_stage(&stage, "ralph", &Request::default());
    insta::assert_snapshot!(plan.to_json(), @r#"
    {
      "version": 1,
      "name": "ralph",
      "is_pipeline": false,
      "inputs": [],
      "inherit": {
        "from": "auth-v1",
        "select": [
          "learnings",
          "patterns"
        ]
      },
      "stages": [
        {
          "kind": "stage",
          "id": "ralph",
          "dir": "stage-00-ralph",
          "stage": "ralph",
          "agent": "claude",
          "model": "opus",
          "stop": {
            "rule": "fixed"
          },
          "max": 25,
          "max_failures": 5,
          "verify": [
            "make test"
          ],
          "delay_ms": 90000,
          "iteration_timeout_ms": 9000000,
          "comprehension": "required",
          "checkpoint": true,
          "context": "c",
          "output": "out/${SESSION}.md",
          "prompt": "Go, ${STATUS}"
        }
      ]
    }
    "#);
}

#[test]
fn every_mistake_of_a_stage_is_found_at_once() {
    let text = "name: a/b\nagnet: claude\nagent: cladue\nstop: {rule: fixd, max: 0}\ndelay: soon\ncheckpoint: maybe\ncomprehension: always\noutput: ${OUTPT}\ninherit: {select: [lessons, learning]}\n";
    insta::assert_snapshot!(told(&stage_mistakes(text, Some("Read ${CTXT}\nthen ${FOO}"))), @"
    error: .heirloom/stages/ralph/stage.yaml:1:7: name: a name cannot contain `/`
    error: .heirloom/stages/ralph/stage.yaml:2:1: agnet: unknown key `agnet`
    hint: did you mean `agent`?
    error: .heirloom/stages/ralph/stage.yaml:3:8: agent: no agent is called `cladue`
    hint: did you mean `claude`?
    error: .heirloom/stages/ralph/stage.yaml:4:14: stop.rule: `fixd` is not known here
    hint: did you mean `fixed`?
    error: .heirloom/stages/ralph/stage.yaml:4:25: stop.max: this takes a number from 1 to 100000, not the number 0
    error: .heirloom/stages/ralph/stage.yaml:5:8: delay: `soon` is not a duration
    hint: write seconds, or `90s`, `10m`, `1h30m`
    error: .heirloom/stages/ralph/stage.yaml:6:13: checkpoint: this takes `true` or `false`, not the text `maybe`
    error: .heirloom/stages/ralph/stage.yaml:7:16: comprehension: `always` is not known here
    hint: known here: `optional`, `required`
    error: .heirloom/stages/ralph/stage.yaml:8:9: output: there is no variable `${OUTPT}`
    hint: did you mean `${OUTPUT}`?
    error: .heirloom/stages/ralph/stage.yaml:9:10: inherit.from: it is missing
    hint: add `from: SESSION`
    error: .heirloom/stages/ralph/stage.yaml:9:20: inherit.select: `lessons` cannot be inherited; choose from learnings, patterns, warnings, decisions and progress
    error: .heirloom/stages/ralph/stage.yaml:9:29: inherit.select: `learning` cannot be inherited; choose from learnings, patterns, warnings, decisions and progress
    hint: did you mean `learnings`?
    error: .heirloom/stages/ralph/prompt.md:1:6: there is no variable `${CTXT}`
    hint: did you mean `${CTX}`?
    error: .heirloom/stages/ralph/prompt.md:2:6: there is no variable `${FOO}`
    hint: there are ${CTX} ${STATUS} ${PROGRESS} ${SESSION} ${ITERATION} ${STAGE} ${CONTEXT} ${OUTPUT}; write `$${NAME}` for the text itself
    ");
}

#[test]
fn each_bad_stop_rule_is_told_what_it_lacks_or_has_too_much() {
    let rules = [
        "{max: 3}",
        "{rule: fixed}",
        "{rule: command, max: 3}",
        "{rule: queue, command: x, min: 2, max: 3}",
        "{rule: judgment, min: 4, consensus: 2, max: 3}",
        "{rule: judgment, judge: {model: haiku}, max: 5}",
        "{rule: queue}",
        "fixed",
    ];
    let told = rules.map(|rule| told(&stage_mistakes(&format!("stop: {rule}"), Some("${STATUS}"))));
    insta::assert_snapshot!(told.join("\n"), @"
    error: .heirloom/stages/ralph/stage.yaml:1:7: stop.rule: it is missing
    hint: add `rule: fixed`, `judgment`, `queue` or `command`
    error: .heirloom/stages/ralph/stage.yaml:1:7: stop.max: it is missing
    hint: add `max: 10`; a fixed number needs one
    error: .heirloom/stages/ralph/stage.yaml:1:7: stop.command: it is missing
    hint: add `command: make test`; the rule ends when it succeeds
    error: .heirloom/stages/ralph/stage.yaml:1:30: stop.command: the rule `queue` takes no `command`
    hint: leave it out
    error: .heirloom/stages/ralph/stage.yaml:1:38: stop.min: the rule `queue` takes no `min`
    hint: leave it out
    error: .heirloom/stages/ralph/stage.yaml:1:7: stop: with a maximum of 3 there is never a consensus
    hint: raise `max`, or lower `min` and `consensus`
    error: .heirloom/stages/ralph/stage.yaml:1:31: stop.judge.agent: it is missing
    hint: add `agent: claude`
    warning: .heirloom/stages/ralph/stage.yaml:1:7: stop.max: there is no maximum of iterations, 25 applies
    hint: add `max: 25`
    error: .heirloom/stages/ralph/stage.yaml:1:7: stop: this takes a map of keys, not the text `fixed`
    ");
}

#[test]
fn a_stage_without_a_prompt_or_without_yaml_is_no_stage() {
    insta::assert_snapshot!(told(&stage_mistakes("stop: {rule: queue, max: 3}", None)), @"
    error: .heirloom/stages/ralph/stage.yaml: prompt: there is no prompt in .heirloom/stages/ralph/prompt.md
    hint: write what the agent should do there
    ");
    let (stage, mistakes) = stage::read(&files("a: [", Some("x")));
    assert_eq!((stage, mistakes.len(), mistakes[0].is_error()), (None, 1, true));
    assert_eq!(
        told(&stage_mistakes("prompt: 'do ${STATUS}'\nstop: {rule: queue, max: 3}", None)),
        ""
    );
}

#[test]
fn the_prompt_is_beside_the_stage_unless_it_is_written_in_place() {
    assert_eq!(stage::prompt_file("name: x"), "prompt.md");
    assert_eq!(stage::prompt_file("prompt: other.md"), "other.md");
    assert_eq!(stage::prompt_file("prompt: ../../secret.md"), "prompt.md");
    assert_eq!(stage::prompt_file("prompt: Do this."), "prompt.md");
}

#[test]
fn a_pipeline_becomes_stages_in_order_with_their_directories() {
    let plan = plan(REFINE, &Request::default());
    let lines = plan.all_stages().map(|stage| {
        let inputs = stage
            .inputs
            .iter()
            .map(|input| format!("{}={}:{:?}", input.from, input.dir, input.select));
        let inputs = inputs.collect::<Vec<_>>().join(" ");
        format!("{} {} {:?} max {} {inputs}", stage.dir, stage.agent, stage.model, stage.max)
    });
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @r#"
    stage-00-plan codex None max 5 
    stage-01-tasks claude Some("opus") max 5 plan=stage-00-plan:All
    parallel-02-both/claude/stage-00-review claude None max 2 
    parallel-02-both/fast/stage-00-review claude Some("haiku") max 2 
    stage-03-join codex None max 1 both.claude=parallel-02-both/claude/stage-00-review:Latest both.fast=parallel-02-both/fast/stage-00-review:Latest tasks=stage-01-tasks:Latest
    stage-04-one codex None max 1 both.review.fast=parallel-02-both/fast/stage-00-review:Latest
    "#);
    assert_eq!(plan.inherit.as_ref().unwrap().from, "previous-refine");
    assert_eq!(serde_json::from_str::<Plan>(&plan.to_json()).unwrap(), plan);
}

#[test]
fn flags_win_over_nodes_and_a_maximum_only_shortens() {
    let flags = Choices {
        agent: Some("gemini".to_owned()),
        max: Some(3),
        context: Some("c".to_owned()),
        ..Choices::default()
    };
    let inherit = Some(Inherit { from: vec!["other".to_owned()], select: Select::default() });
    let request = Request { flags, inherit, max_cost_usd: Some(2.0), ..Request::default() };
    let plan = plan(REFINE, &request);
    let rows: Vec<_> =
        plan.all_stages().map(|s| format!("{} {} {}", s.id, s.agent, s.max)).collect();
    assert_eq!(
        rows,
        [
            "plan gemini 3",
            "tasks gemini 3",
            "review claude 2",
            "review claude 2",
            "join gemini 1",
            "one gemini 1"
        ]
    );
    assert_eq!(plan.inherit.unwrap().from, "other");
    assert_eq!(plan.max_cost_usd, Some(2.0));
}

#[test]
fn settings_are_the_last_resort() {
    let settings = Choices {
        agent: Some("codex".to_owned()),
        verify: Some(vec!["make".to_owned()]),
        ..Choices::default()
    };
    let request = Request { settings, ..Request::default() };
    let plan = plan("nodes: [{id: a, prompt: x}, {stage: improve-plan}]", &request);
    let rows: Vec<_> = plan.all_stages().map(|s| (s.agent.as_str(), s.verify.len())).collect();
    assert_eq!(rows, [("codex", 1), ("claude", 1)]);
}

#[test]
fn every_mistake_of_a_pipeline_is_found_at_once() {
    let text = "\
name: bad name
max_cost: free
max_time: 10 parsecs
nodes:
  - {id: a, stage: improve-pln}
  - {id: a, prompt: 'x ${FOO}', max: none}
  - {id: b, stage: refine-tasks, prompt: y}
  - {id: c, inputs: {from: a}}
  - {id: d, prompt: z, inputs: {from: d}}
  - {id: e, prompt: z, inputs: {from: f, select: newest}}
  - {id: f, prompt: z, inputs: {from: aa}}
  - {prompt: no id}
  - {id: ../g, prompt: z}
  - {id: h, parallel: {agents: [], nodes: []}}
  - {id: i, parallel: {agents: [claude, claude], nodes: [{id: n, pipeline: x}, {id: m, prompt: y, agent: codex}], failure_mode: some}}
  - {id: j, pipeline: nowhere}
  - {id: k, stgae: x}
";
    insta::assert_snapshot!(wrong(text), @"
    error: p.yaml:1:7: name: a name cannot contain ` `
    error: p.yaml:2:11: max_cost: this takes an amount of US dollars (`5`, `2.50`), not the text `free`
    error: p.yaml:3:11: max_time: `parsecs` is not a unit of time (`s`, `m`, `h`, `d` or `w`)
    hint: write seconds, or `90s`, `10m`, `1h30m`
    error: p.yaml:6:5: nodes[1].id: the id `a` is given twice
    hint: it is on line 5 already
    error: p.yaml:6:21: nodes[1].prompt: there is no variable `${FOO}`
    hint: there are ${CTX} ${STATUS} ${PROGRESS} ${SESSION} ${ITERATION} ${STAGE} ${CONTEXT} ${OUTPUT}; write `$${NAME}` for the text itself
    error: p.yaml:6:38: nodes[1].max: this takes a number from 1 to 100000, not the text `none`
    error: p.yaml:7:5: nodes[2]: a node is one of stage, prompt, not several
    error: p.yaml:8:5: nodes[3]: a node is one of `stage`, `prompt`, `pipeline`, `parallel`
    error: p.yaml:10:50: nodes[5].inputs.select: `newest` is not known here
    hint: known here: `latest`, `all`
    error: p.yaml:12:5: nodes[7].id: it is missing
    hint: add `id: NAME`; its directory is called so
    error: p.yaml:13:10: nodes[8].id: a name cannot contain `/`
    error: p.yaml:14:23: nodes[9].parallel.agents: a parallel block needs agents
    hint: add `agents: [claude, codex]`
    error: p.yaml:14:43: nodes[9].parallel.nodes: there is nothing to run
    error: p.yaml:15:41: nodes[10].parallel.agents[1]: `claude` is in the block twice
    hint: give one of them a `name` of its own
    error: p.yaml:15:76: nodes[10].parallel.nodes[0].pipeline: a parallel block cannot hold a `pipeline`
    hint: use stages and prompts in it
    error: p.yaml:15:80: nodes[10].parallel.nodes[1].agent: in a parallel block the agents of the block do the work
    hint: leave it out
    error: p.yaml:15:129: nodes[10].parallel.failure_mode: `some` is not known here
    hint: known here: `any`, `all`, `never`
    error: p.yaml:17:5: nodes[12]: a node is one of `stage`, `prompt`, `pipeline`, `parallel`
    error: p.yaml:17:13: nodes[12].stgae: unknown key `stgae`
    hint: did you mean `stage`?
    error: p.yaml:5:5: nodes[0].stage: there is no stage called `improve-pln`
    hint: did you mean `improve-plan`?
    error: p.yaml:9:39: nodes[4].inputs.from: a node cannot work from its own results
    error: p.yaml:10:39: nodes[5].inputs.from: `f` runs only later
    hint: move it before this one
    error: p.yaml:11:39: nodes[6].inputs.from: there is no earlier node `aa`
    hint: did you mean `a`?
    error: p.yaml:16:5: nodes[11].pipeline: there is no pipeline called `nowhere`
    hint: there are none yet
    ");
}

#[test]
fn results_of_a_parallel_block_are_asked_for_by_agent() {
    let text = "nodes:\n  - {id: p, parallel: {agents: [claude], nodes: [{id: n, prompt: x}]}}\n  - {id: q, prompt: y, inputs: {from: p, agents: [codex]}}\n";
    insta::assert_snapshot!(wrong(text), @"
    error: p.yaml:3:51: nodes[1].inputs.agents: `p` has no results of an agent `codex`
    hint: known here: `claude`
    ");
}

#[test]
fn a_nested_pipeline_is_unfolded_and_may_not_contain_itself() {
    let mut library = library();
    let inner = pipeline(
        "name: inner\nagent: gemini\nnodes: [{id: a, prompt: x}, {id: b, prompt: y, inputs: {from: a}}]",
    );
    library.add_pipeline("inner", inner);
    let outer = pipeline(
        "name: outer\nnodes: [{id: first, pipeline: inner, model: flash}, {id: z, prompt: q, inputs: {from: first}}]",
    );
    let plan = resolve_pipeline(&library, &outer, &Request::default()).unwrap();
    let rows: Vec<_> = plan
        .all_stages()
        .map(|s| format!("{} {} {}", s.dir, s.agent, s.inputs.first().map_or("-", |i| &i.dir)))
        .collect();
    assert_eq!(
        rows,
        [
            "stage-00-first.a gemini -",
            "stage-01-first.b gemini stage-00-first.a",
            "stage-02-z claude stage-01-first.b"
        ]
    );
    library.add_pipeline("outer", outer.clone());
    let circle = pipeline("name: inner\nnodes: [{id: up, pipeline: outer}]");
    library.add_pipeline("inner", circle);
    insta::assert_snapshot!(told(&library.check(&outer)), @"
    error: refine.yaml:2:9: nodes[0].pipeline: the pipeline `outer` contains itself
    hint: outer → inner → outer
    error: refine.yaml:2:87: nodes[1].inputs.from: there is no earlier node `first`
    ");
}

#[test]
fn a_block_fails_as_its_mode_says() {
    let failed = |mode: FailureMode| [0, 1, 2].map(|failed| mode.has_failed(failed, 2));
    assert_eq!(failed(FailureMode::Any), [false, true, true]);
    assert_eq!(failed(FailureMode::All), [false, false, true]);
    assert_eq!(failed(FailureMode::Never), [false, false, false]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_file_is_survived_and_what_has_no_errors_has_a_plan(
        keys in prop::collection::vec((prop::sample::select(WORDS.to_vec()), prop::sample::select(VALUES.to_vec())), 0..8),
    ) {
        let text = keys.iter().map(|(key, value)| format!("{key}: {value}")).collect::<Vec<_>>().join("\n");
        let (stage, mistakes) = stage::read(&files(&text, Some("x")));
        prop_assert!(stage.is_some() || mistakes.iter().any(Mistake::is_error));
        let (pipeline, mut mistakes) = pipeline::read("p.yaml", "p", &text);
        mistakes.extend(pipeline.iter().flat_map(|pipeline| library().check(pipeline)));
        if let Some(pipeline) = pipeline.filter(|_| !mistakes.iter().any(Mistake::is_error)) {
            let plan = resolve_pipeline(&library(), &pipeline, &Request::default()).unwrap();
            prop_assert!(plan.all_stages().all(|stage| stage.max > 0 && !stage.dir.contains("..")));
        }
    }
}

const WORDS: [&str; 12] = [
    "name", "agent", "model", "stop", "nodes", "inherit", "verify", "delay", "inputs", "max_cost",
    "defaults", "prompt",
];
const VALUES: [&str; 12] = [
    "x",
    "claude",
    "7",
    "[a, b]",
    "{}",
    "null",
    "{rule: fixed, max: 2}",
    "{rule: judgment, max: 3, judge: codex}",
    "[{id: a, prompt: x}, {stage: improve-plan, inputs: {from: a}}]",
    "[{id: a, parallel: {agents: [sim], nodes: [{id: b, prompt: y}]}}]",
    "{from: s, select: [progress]}",
    "'${CTX} ${NOPE}'",
];

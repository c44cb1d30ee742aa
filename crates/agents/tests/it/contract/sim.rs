//! The built-in agent under the contract. It has no model: the script becomes its own.

use std::fs;

use heirloom_agents::Outcome;
use heirloom_core::config::Config;
use heirloom_testkit::model::{Answer, Part, Script};
use serde_json::{Value, json};

use super::rig::{Ask, Rig, Served, Subject};

static SIM: Subject = Subject {
    agent: "sim",
    program: || {
        let program = heirloom_testkit::example("sim-agent");
        vec![program.to_str().unwrap().to_owned(), "sim-agent".to_owned()]
    },
    serve,
    shell: |command| Part::Tool { name: "Bash".to_owned(), input: json!({"command": command}) },
    permissive: || Config { allowed_tools: Some(vec!["Bash".to_owned()]), ..Config::default() },
};

super::contract!(SIM);

fn serve(rig: &Rig, script: &Script) -> Served {
    let dir = tempfile::tempdir_in(rig.home.path()).unwrap();
    let mut steps: Vec<Value> = script.answers().flat_map(steps).collect();
    if let Some(answer) = script.otherwise() {
        steps.extend(self::steps(answer).into_iter().map(|mut step| {
            step["always"] = true.into();
            step
        }));
    }
    let lines: Vec<String> = steps.iter().map(Value::to_string).collect();
    let (file, requests) = (dir.path().join("script.jsonl"), dir.path().join("requests.jsonl"));
    fs::write(&file, lines.join("\n")).unwrap();
    let path = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    let env = vec![
        ("HEIRLOOM_SIM_SCRIPT".to_owned(), path(&file)),
        ("HEIRLOOM_SIM_REQUESTS".to_owned(), path(&requests)),
        ("CLAUDE_CODE_MAX_RETRIES".to_owned(), "2".to_owned()),
    ];
    let read = move || {
        let text = fs::read_to_string(&requests).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    };
    Served { env, requests: Box::new(read), _keep: Box::new(dir) }
}

fn steps(answer: &Answer) -> Vec<Value> {
    match answer {
        Answer::Say(parts) | Answer::Slow(_, parts) => vec![step(parts)],
        Answer::Fail { status, message, .. } => vec![json!({"fail": status, "message": message})],
        Answer::CutBefore | Answer::CutWithin(_) => vec![json!({"fail": 0})],
        Answer::Hang => vec![json!({"hang": true})],
    }
}

fn step(parts: &[Part]) -> Value {
    let uses_tools = parts.iter().any(|part| matches!(part, Part::Tool { .. }));
    let mut step = json!({});
    for part in parts {
        match part {
            Part::Text(text) => {
                step[if uses_tools { "text" } else { "say" }] = text.as_str().into();
            }
            Part::Thinking(text) => step["think"] = text.as_str().into(),
            Part::Tool { name, input } => {
                step["tool"] = name.as_str().into();
                step["input"] = input.clone();
            }
        }
    }
    step
}

#[test]
fn without_a_script_it_does_an_iteration_of_the_run_directory() {
    let rig = Rig::new(&SIM);
    let context = json!({"session": "auth-v2", "iteration": 2, "inherited": {
        "from_session": "auth-v1", "learnings": ["a", "b"], "patterns": [], "warnings": ["w"],
        "decisions": ["d"]}});
    fs::write(rig.work.join("lib.rs"), "\nfn main() {}\n").unwrap();
    let at = |name: &str| rig.home.path().join(name).to_str().unwrap().to_owned();
    fs::write(at("context.json"), context.to_string()).unwrap();
    let (ctx, status, progress) = (at("context.json"), at("status.json"), at("progress.md"));
    let ask = Ask {
        env: vec![
            ("HEIRLOOM_CTX", &ctx),
            ("HEIRLOOM_STATUS", &status),
            ("HEIRLOOM_PROGRESS", &progress),
            ("HEIRLOOM_SIM_SCRIPT", ""),
        ],
        ..Ask::default()
    };
    let run = rig.run(&ask);
    assert_eq!(run.finished.outcome, Outcome::Success);
    let written = fs::read_to_string(&status).unwrap();
    insta::assert_snapshot!(written, @r#"
    {
      "decision": "continue",
      "reason": "there is more to do",
      "summary": "Iteration 2 of auth-v2: add new states to the transition table.",
      "work": {
        "items_completed": [
          "item 2"
        ],
        "files_touched": []
      },
      "errors": [],
      "learnings": [
        {
          "text": "auth-v2: state changes go through one function",
          "evidence": [
            {
              "path": "lib.rs",
              "line": 2,
              "quote": "fn main() {}"
            }
          ]
        }
      ],
      "patterns": [
        "add new states to the transition table"
      ],
      "warnings": [
        "do not skip the tests of auth-v2"
      ],
      "decisions": [
        {
          "text": "add new states to the transition table in auth-v2",
          "rationale": "seen in iteration 2",
          "evidence": [
            {
              "path": "lib.rs",
              "line": 2,
              "quote": "fn main() {}"
            }
          ]
        }
      ],
      "comprehension": {
        "inherited": "2 learnings, 0 patterns, 1 warning and 1 decision of auth-v1",
        "task": "continue the work of auth-v1 as auth-v2",
        "constraints": [
          "d",
          "w"
        ]
      }
    }
    "#);
    assert!(fs::read_to_string(&progress).unwrap().contains("## Iteration 2"));
    let again = rig.run(&ask);
    assert_eq!(again.finished.outcome, Outcome::Success);
    assert_eq!(fs::read_to_string(&status).unwrap(), written);
}

#[test]
fn a_script_that_is_wrong_is_named_with_its_line() {
    let rig = Rig::new(&SIM);
    let script = rig.home.path().join("bad.jsonl");
    fs::write(&script, "{\"say\":\"a\"}\n{\"sya\":\"b\"}\n").unwrap();
    let env = vec![("HEIRLOOM_SIM_SCRIPT", script.to_str().unwrap())];
    let run = rig.run(&Ask { env, ..Ask::default() });
    assert!(!run.finished.outcome.is_success());
    assert!(
        run.finished.stderr.contains("script line 2: unknown field `sya`"),
        "{run:?}",
        run = run.finished
    );
}

#[test]
fn a_flood_arrives_whole_and_in_order() {
    let rig = Rig::new(&SIM);
    let script = rig.home.path().join("flood.jsonl");
    fs::write(&script, "{\"flood\":50000,\"exit\":0}\n").unwrap();
    let env = vec![("HEIRLOOM_SIM_SCRIPT", script.to_str().unwrap())];
    let run = rig.run(&Ask { env, ..Ask::default() });
    let texts = run.events.iter().filter_map(|event| match event {
        heirloom_agents::Event::Text { text } => text.parse::<u64>().ok(),
        _ => None,
    });
    assert!(texts.eq(0..50_000));
}

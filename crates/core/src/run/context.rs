//! `context.json`: what an agent is given at the start of an iteration.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::inherit::Inherited;
use crate::layout;

use super::status_file::Decision;

/// What an agent is given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// The session's name.
    pub session: String,
    /// The pipeline's name, where the stage is part of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<String>,
    /// The stage's name.
    pub stage: String,
    /// The iteration, counted from 1 within the stage.
    pub iteration: u32,
    /// The agent, in a parallel block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Where things are; absolute.
    pub paths: Paths,
    /// What to work from.
    pub inputs: Inputs,
    /// How far the agent may go.
    pub limits: Limits,
    /// What the iteration before reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<Previous>,
    /// What the verification commands said, when an agent said it was done and it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<Verification>,
    /// What the session inherits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inherited: Option<Inherited>,
}

/// Where things are.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Paths {
    /// The run directory.
    pub run_dir: String,
    /// The stage's directory in it.
    pub stage_dir: String,
    /// The iteration's directory in that.
    pub iteration_dir: String,
    /// The progress page.
    pub progress: String,
    /// Where `status.json` is to be written.
    pub status: String,
    /// Where the stage's result is to be written, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// What to work from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Inputs {
    /// Files the person named.
    #[serde(default)]
    pub initial: Vec<String>,
    /// Results of earlier stages, by the stage's id; those of a parallel block as `block.agent`.
    #[serde(default)]
    pub from: BTreeMap<String, Vec<String>>,
}

/// How far an agent may go.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Limits {
    /// The most iterations of this stage.
    pub max_iterations: u32,
    /// How long this iteration may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iteration_timeout_ms: Option<u64>,
    /// What is left of the session's time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remaining_ms: Option<u64>,
    /// What is left of the session's money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remaining_usd: Option<f64>,
}

/// What the iteration before reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Previous {
    /// Its number.
    pub iteration: u32,
    /// What it decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    pub command: String,
    /// Its exit code, where it had one.
    pub exit_code: Option<i32>,
    /// The end of what it printed.
    pub output: String,
}

impl Context {
    /// The text of the file.
    pub fn to_json(&self) -> String {
        let mut text = layout::to_lines(self, 3).expect("plain data always serialises");
        text.push('\n');
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_that_inherits_nothing_has_no_inherited_block() {
        let context = Context {
            session: "auth-v2".to_owned(),
            pipeline: None,
            stage: "ralph".to_owned(),
            iteration: 1,
            agent: None,
            paths: Paths { status: "/r/status.json".to_owned(), ..Paths::default() },
            inputs: Inputs::default(),
            limits: Limits { max_iterations: 25, remaining_usd: Some(5.0), ..Limits::default() },
            previous: None,
            verification: None,
            inherited: None,
        };
        insta::assert_snapshot!(context.to_json(), @r#"
        {
          "session": "auth-v2",
          "stage": "ralph",
          "iteration": 1,
          "paths": {
            "run_dir": "",
            "stage_dir": "",
            "iteration_dir": "",
            "progress": "",
            "status": "/r/status.json"
          },
          "inputs": {
            "initial": [],
            "from": {}
          },
          "limits": {
            "max_iterations": 25,
            "remaining_usd": 5.0
          }
        }
        "#);
    }

    #[test]
    fn the_block_costs_no_more_inside_than_it_says() {
        let source = crate::inherit::Source {
            items: vec![crate::inherit::Item::new(crate::inherit::Category::Learnings, "x"); 1],
            ..crate::inherit::Source::new("a")
        };
        let options = crate::inherit::Options::default();
        let unchecked = |_: &crate::evidence::Evidence| crate::inherit::Verdict::Unchecked;
        let block = crate::inherit::merge(source, vec![], &options, &unchecked);
        let wrapped = layout::to_lines(&serde_json::json!({"inherited": block}), 3).unwrap();
        let envelope = "{\n  \"inherited\": \n}".len();
        let characters = wrapped.chars().count() - envelope;
        assert_eq!(characters.div_ceil(crate::tokens::CHARACTERS_PER_TOKEN), block.tokens);
    }
}

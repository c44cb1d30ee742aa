use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::*;
use crate::guard::branch::BranchKey;
use crate::guard::check::{Facts, Fault, FileFact, Moment};
use crate::guard::policy::Policy;
use crate::guard::requirement::{Measure, Requirement};
use crate::guard::state::*;
use crate::guard::trigger::{ToolUse, Workdir};

mod ends;
mod uses;

const SESSION: &str = "8272974a-3933-45ad-9a1c-14aec05bb940";
const PLACE: Workdir<'static> = Workdir { roots: &["/repo"], cwd: "/repo", ignores_case: false };

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

/// A world in which everything is as the test says.
#[derive(Default)]
struct World {
    state: State,
    files: Vec<FileFact>,
    commands: BTreeMap<String, bool>,
    diff: String,
    measured: f64,
    others: Vec<String>,
    is_broken: bool,
    questions: usize,
}

impl World {
    fn ask<T>(&mut self, answer: T) -> Result<T, Fault> {
        self.questions += 1;
        if self.is_broken { Err(Fault { what: "the ledger is locked".into() }) } else { Ok(answer) }
    }

    fn change(&mut self, name: &str, branch: &str, kind: ChangeKind) {
        let branch = BranchKey::branch(branch);
        self.state.apply(&Change {
            name: name.into(),
            branch,
            session: Some(SESSION.into()),
            kind,
        });
    }

    fn satisfy(&mut self, policy: &Policy, name: &str) {
        let requirement = policy.get(name).unwrap();
        let satisfied = Satisfied::now(requirement, BY_SKILL, at(0), None);
        self.change(name, "feature/auth", ChangeKind::Satisfied(requirement.scope, satisfied));
    }
}

impl Facts for World {
    fn held(&mut self, requirement: &Requirement, branch: &BranchKey) -> Result<Held, Fault> {
        let held = self.state.held(&requirement.name, branch, SESSION);
        self.ask(held)
    }
    fn files(&mut self, _: &[String]) -> Result<Vec<FileFact>, Fault> {
        self.ask(self.files.clone())
    }
    fn succeeds(&mut self, command: &str, _: u64) -> Result<bool, Fault> {
        self.ask(self.commands[command])
    }
    fn diff(&mut self, _: &[String]) -> Result<String, Fault> {
        self.ask(self.diff.clone())
    }
    fn measure(&mut self, _: &Measure, _: u64) -> Result<(f64, Timestamp), Fault> {
        self.ask((self.measured, at(60)))
    }
    fn other_sessions(&mut self) -> Result<Vec<String>, Fault> {
        self.ask(self.others.clone())
    }
}

#[expect(clippy::needless_pass_by_value, reason = "a table of literals reads better")]
fn policy(requirements: Value) -> Policy {
    let policy = crate::guard::settings::policy(&json!({"requirements": requirements}));
    assert_eq!(policy.problems, []);
    policy
}

fn moment(branch: &BranchKey) -> Moment<'_> {
    Moment { now: at(100), branch, session: SESSION, run: None }
}

fn on_branch<T>(decide: impl FnOnce(&Moment<'_>) -> T) -> T {
    decide(&moment(&BranchKey::branch("feature/auth")))
}

fn edit<'p>(policy: &'p Policy, world: &mut World) -> Before<'p> {
    let input = json!({"file_path": "/repo/src/a.rs"});
    on_branch(|moment| before(policy, &ToolUse::read("Edit", &input), &PLACE, moment, world))
}

fn bash<'p>(policy: &'p Policy, command: &str, world: &mut World) -> Before<'p> {
    let input = json!({"command": command});
    on_branch(|moment| before(policy, &ToolUse::read("Bash", &input), &PLACE, moment, world))
}

fn reason(before: Before<'_>) -> String {
    match before.verdict {
        Verdict::Deny { reason } => reason,
        other => format!("{other:?}"),
    }
}

//! Which earlier results a node works from.

use crate::yaml::Position;

use super::lint::{Linter, join, meant};
use super::pipeline::{Inputs, Node};
use super::plan::PlannedInput;

/// Where a node's results are.
#[derive(Debug, Clone)]
pub(super) struct Target {
    /// The node, or the node of a parallel block (`both.review`).
    pub(super) id: String,
    /// The agent, in a parallel block.
    pub(super) agent: Option<String>,
    pub(super) dir: String,
    /// Whether it is what the whole block's id means: the last of its agent's stages.
    pub(super) is_last: bool,
}

/// Where the results are that a node works from.
pub(super) fn inputs(
    node: &Node,
    known: &[Target],
    later: &[Node],
    lint: &mut Linter<'_>,
) -> Vec<PlannedInput> {
    let Some(Inputs { from, select, agents }) = &node.inputs else { return Vec::new() };
    let mut inputs = Vec::new();
    for (at, id) in from {
        let of_id: Vec<&Target> =
            known.iter().filter(|target| target.id == *id && target.is_last).collect();
        if of_id.is_empty() {
            unknown_input(id, *at, node, known, later, lint);
            continue;
        }
        for (at, agent) in agents {
            let names: Vec<&str> = of_id.iter().filter_map(|t| t.agent.as_deref()).collect();
            if !names.contains(&agent.as_str()) {
                let message = format!("`{id}` has no results of an agent `{agent}`");
                let field = join(&node.field, "inputs.agents");
                lint.error(*at, &field, message, Some(meant(agent, &names)));
            }
        }
        let is_wanted = |target: &&&Target| {
            agents.is_empty()
                || agents.iter().any(|(_, agent)| target.agent.as_ref() == Some(agent))
        };
        inputs.extend(of_id.iter().filter(is_wanted).map(|target| PlannedInput {
            from: target.agent.as_ref().map_or_else(|| id.clone(), |agent| format!("{id}.{agent}")),
            dir: target.dir.clone(),
            select: *select,
        }));
    }
    inputs
}

fn unknown_input(
    id: &str,
    at: Position,
    node: &Node,
    known: &[Target],
    later: &[Node],
    lint: &mut Linter<'_>,
) {
    let field = join(&node.field, "inputs.from");
    let (message, hint) = if id == node.id {
        ("a node cannot work from its own results".to_owned(), None)
    } else if later.iter().any(|node| node.id == id) {
        let hint = "move it before this one".to_owned();
        (format!("`{id}` runs only later"), Some(hint))
    } else {
        let ids: Vec<&str> = known.iter().map(|target| target.id.as_str()).collect();
        let hint = if ids.is_empty() { None } else { Some(meant(id, &ids)) };
        (format!("there is no earlier node `{id}`"), hint)
    };
    lint.error(at, &field, message, hint);
}

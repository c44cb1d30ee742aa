//! A pipeline: an ordered list of nodes, as its file says it.
//!
//! Reading finds what is wrong with the file itself; whether the stages and pipelines it names are
//! there is [`super::lint`]'s to say.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::settings::Comprehension;
use crate::yaml::{Node as Tree, Position, Value};

use super::choices::{self, Choices, Inherit};
use super::lint::{Fields, Linter, Mistake, join, unsafe_name};
use super::stage::check_variables;

const KEYS: &[&str] = &[
    "name",
    "description",
    "inputs",
    "defaults",
    "nodes",
    "inherit",
    "max_cost",
    "max_time",
    "agent",
    "model",
    "context",
    "output",
    "delay",
    "stop",
    "verify",
    "comprehension",
    "checkpoint",
    "iteration_timeout",
    "idle_timeout",
    "max_failures",
];
const NODE_KEYS: &[&str] = &[
    "id",
    "description",
    "stage",
    "prompt",
    "pipeline",
    "parallel",
    "inputs",
    "max",
    "agent",
    "model",
    "context",
    "output",
    "delay",
    "stop",
    "verify",
    "comprehension",
    "checkpoint",
    "iteration_timeout",
    "idle_timeout",
    "max_failures",
];
const KINDS: [&str; 4] = ["stage", "prompt", "pipeline", "parallel"];

/// A pipeline as its file says it.
#[derive(Debug, Clone, PartialEq)]
pub struct Pipeline {
    pub name: String,
    /// What it is for, in a line.
    pub description: String,
    /// Files every stage is given.
    pub inputs: Vec<String>,
    /// What it chooses for all its stages.
    pub choices: Choices,
    /// What its sessions inherit.
    pub inherit: Option<Inherit>,
    /// The most it may cost, in USD.
    pub max_cost_usd: Option<f64>,
    /// The longest it may take.
    pub max_time: Option<Duration>,
    /// Its nodes, in order.
    pub nodes: Vec<Node>,
    /// The file it was read from.
    pub file: String,
}

/// A node of a pipeline.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    pub id: String,
    pub kind: Kind,
    /// What it chooses.
    pub choices: Choices,
    /// The earlier results it works from.
    pub inputs: Option<Inputs>,
    /// Where it is written.
    pub at: Position,
    /// The path that names it (`nodes[1]`).
    pub field: String,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// A stage by name.
    Stage(String),
    /// A prompt written in place.
    Prompt(String),
    /// Another pipeline by name.
    Pipeline(String),
    /// Several agents over the same nodes.
    Parallel(Parallel),
    /// Nobody knows; a mistake was reported.
    Unclear,
}

/// Several agents over the same nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Parallel {
    pub agents: Vec<Lane>,
    /// The nodes each of them goes through.
    pub nodes: Vec<Node>,
    /// When the block has failed.
    pub failure_mode: FailureMode,
}

/// One agent of a parallel block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    /// What it is called within the block: the agent, unless told otherwise.
    pub name: String,
    pub agent: String,
    pub model: Option<String>,
}

/// When a parallel block has failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureMode {
    /// When any of its agents fails. The others still finish.
    #[default]
    Any,
    /// When all of them fail.
    All,
    /// Never; what failed is in the manifest.
    Never,
}

impl FailureMode {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::All => "all",
            Self::Never => "never",
        }
    }
}

/// The earlier results a node works from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inputs {
    /// Ids of earlier nodes; `block.node` for a node of a parallel block.
    pub from: Vec<(Position, String)>,
    /// Which of their results.
    pub select: Which,
    /// Only those of these agents, from a parallel block.
    pub agents: Vec<(Position, String)>,
}

/// Which results of a stage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    /// That of its last iteration.
    #[default]
    Latest,
    /// Those of all its iterations.
    All,
}

impl Which {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Latest => "latest",
            Self::All => "all",
        }
    }
}

/// Reads a pipeline. It is there even when there are mistakes, as far as it can be known. `stem` is
/// the file's name without its extension, which is the pipeline's name where it has none.
pub fn read(file: &str, stem: &str, text: &str) -> (Option<Pipeline>, Vec<Mistake>) {
    let mut lint = Linter::new(file);
    let pipeline = lint.parse(text).and_then(|tree| {
        let fields = lint.fields(&tree, "", KEYS)?;
        let (inherit, comprehension) = choices::inherit(&fields, &mut lint);
        let choices = defaults(&fields, comprehension, &mut lint);
        let text = |key, lint: &mut Linter<'_>| {
            fields.get(key).and_then(|(node, field)| lint.text(node, &field))
        };
        let name = text("name", &mut lint).unwrap_or_else(|| stem.to_owned());
        if let Some(problem) = unsafe_name(&name) {
            lint.error(
                fields.get("name").map_or(tree.at, |(node, _)| node.at),
                "name",
                problem,
                None,
            );
        }
        let inputs = fields.get("inputs").map(|(node, field)| lint.texts(node, &field));
        let max_cost_usd = fields
            .get("max_cost")
            .and_then(|(node, field)| choices::dollars(node, &field, &mut lint));
        let max_time = fields
            .get("max_time")
            .and_then(|(node, field)| choices::period(node, &field, &mut lint));
        Some(Pipeline {
            name,
            description: text("description", &mut lint).unwrap_or_default(),
            inputs: inputs.unwrap_or_default().into_iter().map(|(_, input)| input).collect(),
            choices,
            inherit,
            max_cost_usd,
            max_time,
            nodes: nodes(&fields, true, &mut lint),
            file: file.to_owned(),
        })
    });
    (pipeline, lint.into_mistakes())
}

/// The choices of the pipeline itself; those under `defaults` are the same, written apart.
fn defaults(
    fields: &Fields<'_>,
    comprehension: Option<Comprehension>,
    lint: &mut Linter<'_>,
) -> Choices {
    let mut choices = choices::read(fields, lint);
    if let Some((node, field)) = fields.get("defaults")
        && let Some(inner) = lint.fields(node, &field, &choices::KEYS)
    {
        choices = choices.or(choices::read(&inner, lint));
    }
    choices.comprehension = choices.comprehension.or(comprehension);
    choices
}

fn nodes(fields: &Fields<'_>, is_outer: bool, lint: &mut Linter<'_>) -> Vec<Node> {
    let Some((tree, field)) = fields.get("nodes") else {
        let hint = Some("add `nodes:` with at least one stage".to_owned());
        lint.error(fields.at, &join(&fields.path, "nodes"), "it is missing".to_owned(), hint);
        return Vec::new();
    };
    let Value::List(items) = &tree.value else {
        lint.wrong(tree, &field, "a list of nodes");
        return Vec::new();
    };
    if items.is_empty() {
        lint.error(tree.at, &field, "there is nothing to run".to_owned(), None);
    }
    let mut nodes: Vec<Node> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let Some(node) = node(item, &format!("{field}[{index}]"), is_outer, lint) else { continue };
        if let Some(first) = nodes.iter().find(|known| known.id == node.id) {
            let message = format!("the id `{}` is given twice", node.id);
            let hint = Some(format!("it is on line {} already", first.at.line));
            lint.error(node.at, &join(&node.field, "id"), message, hint);
        }
        nodes.push(node);
    }
    nodes
}

fn node(tree: &Tree, path: &str, is_outer: bool, lint: &mut Linter<'_>) -> Option<Node> {
    let fields = lint.fields(tree, path, NODE_KEYS)?;
    let kind = kind(&fields, is_outer, lint);
    let mut choices = choices::read(&fields, lint);
    if let Some((node, field)) = fields.get("max") {
        choices.max = choices::count(node, &field, lint).or(choices.max);
    }
    let given = fields.get("id").and_then(|(node, field)| {
        let id = lint.text(node, &field)?;
        let problem = unsafe_name(&id)
            .or_else(|| id.contains('.').then(|| "an id cannot contain `.`".to_owned()));
        if let Some(problem) = problem {
            lint.error(node.at, &field, problem, None);
        }
        Some(id)
    });
    let id = given.or_else(|| match &kind {
        Kind::Stage(name) | Kind::Pipeline(name) => Some(name.replace('.', "-")),
        _ => None,
    });
    if id.is_none() && kind != Kind::Unclear {
        let hint = Some("add `id: NAME`; its directory is called so".to_owned());
        lint.error(tree.at, &join(path, "id"), "it is missing".to_owned(), hint);
    }
    let inputs = inputs(&fields, lint);
    let id = id.unwrap_or_else(|| path.to_owned());
    Some(Node { id, kind, choices, inputs, at: tree.at, field: path.to_owned() })
}

fn kind(fields: &Fields<'_>, is_outer: bool, lint: &mut Linter<'_>) -> Kind {
    let present = fields.present(&KINDS);
    let [key] = present.as_slice() else {
        let message = if present.is_empty() {
            "a node is one of `stage`, `prompt`, `pipeline`, `parallel`".to_owned()
        } else {
            format!("a node is one of {}, not several", present.join(", "))
        };
        lint.error(fields.at, &fields.path, message, None);
        return Kind::Unclear;
    };
    let Some((node, field)) = fields.get(key) else { return Kind::Unclear };
    if !is_outer && matches!(*key, "pipeline" | "parallel") {
        let message = format!("a parallel block cannot hold a `{key}`");
        lint.error(node.at, &field, message, Some("use stages and prompts in it".to_owned()));
        return Kind::Unclear;
    }
    match *key {
        "parallel" => parallel(node, &field, lint).map_or(Kind::Unclear, Kind::Parallel),
        key => match (lint.text(node, &field), key) {
            (None, _) => Kind::Unclear,
            (Some(name), "stage") => Kind::Stage(name),
            (Some(name), "pipeline") => Kind::Pipeline(name),
            (Some(text), _) => {
                check_variables(node.at, &field, &text, lint);
                Kind::Prompt(text)
            }
        },
    }
}

fn parallel(tree: &Tree, path: &str, lint: &mut Linter<'_>) -> Option<Parallel> {
    const MODES: [(&str, FailureMode); 3] =
        [("any", FailureMode::Any), ("all", FailureMode::All), ("never", FailureMode::Never)];
    let fields = lint.fields(tree, path, &["agents", "nodes", "failure_mode"])?;
    let failure_mode = fields
        .get("failure_mode")
        .and_then(|(node, field)| lint.word(node, &field, &MODES))
        .unwrap_or_default();
    let agents = lanes(&fields, lint);
    let nodes = nodes(&fields, false, lint);
    for node in nodes.iter().filter(|node| node.choices.agent.is_some()) {
        let message = "in a parallel block the agents of the block do the work".to_owned();
        lint.error(node.at, &join(&node.field, "agent"), message, Some("leave it out".to_owned()));
    }
    Some(Parallel { agents, nodes, failure_mode })
}

fn lanes(fields: &Fields<'_>, lint: &mut Linter<'_>) -> Vec<Lane> {
    let path = join(&fields.path, "agents");
    let items: &[Tree] = match fields.get("agents") {
        Some((Tree { value: Value::List(items), .. }, _)) => items,
        Some((node, field)) => {
            lint.wrong(node, &field, "a list of agents");
            return Vec::new();
        }
        None => &[],
    };
    if items.is_empty() {
        let hint = Some("add `agents: [claude, codex]`".to_owned());
        lint.error(fields.at, &path, "a parallel block needs agents".to_owned(), hint);
    }
    let mut lanes: Vec<Lane> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let field = format!("{path}[{index}]");
        let Some(lane) = lane(item, &field, lint) else { continue };
        if lanes.iter().any(|known| known.name == lane.name) {
            let message = format!("`{}` is in the block twice", lane.name);
            let hint = Some("give one of them a `name` of its own".to_owned());
            lint.error(item.at, &field, message, hint);
        }
        lanes.push(lane);
    }
    lanes
}

fn lane(item: &Tree, field: &str, lint: &mut Linter<'_>) -> Option<Lane> {
    if !matches!(item.value, Value::Map(_)) {
        let agent = choices::agent(item, field, lint)?;
        return Some(Lane { name: agent.clone(), agent, model: None });
    }
    let fields = lint.fields(item, field, &["name", "agent", "model"])?;
    let Some((node, agent_field)) = fields.get("agent") else {
        lint.error(item.at, &join(field, "agent"), "it is missing".to_owned(), None);
        return None;
    };
    let agent = choices::agent(node, &agent_field, lint)?;
    let model = fields.get("model").and_then(|(node, field)| lint.text(node, &field));
    let name = match fields.get("name") {
        Some((node, field)) => {
            let name = lint.text(node, &field)?;
            if let Some(problem) = unsafe_name(&name) {
                lint.error(node.at, &field, problem, None);
            }
            name
        }
        None => agent.clone(),
    };
    Some(Lane { name, agent, model })
}

fn inputs(fields: &Fields<'_>, lint: &mut Linter<'_>) -> Option<Inputs> {
    const WHICH: [(&str, Which); 2] = [("latest", Which::Latest), ("all", Which::All)];
    let (tree, path) = fields.get("inputs")?;
    let inner = lint.fields(tree, &path, &["from", "select", "agents"])?;
    let select = inner.get("select").and_then(|(node, field)| lint.word(node, &field, &WHICH));
    let texts = |key, lint: &mut Linter<'_>| {
        inner.get(key).map(|(node, field)| lint.texts(node, &field)).unwrap_or_default()
    };
    let from = texts("from", lint);
    if inner.get("from").is_none() {
        let hint = Some("add `from: ID` with the id of an earlier node".to_owned());
        lint.error(tree.at, &join(&path, "from"), "it is missing".to_owned(), hint);
    }
    Some(Inputs { from, select: select.unwrap_or_default(), agents: texts("agents", lint) })
}

//! From layers to settings.

use serde_json::Value as Json;

use super::authority::{Authority, keep_locks, restrain};
use super::merge::merge;
use super::odd::leave_out;
use super::origin::{Origin, rows};
use super::{
    AGENTS, Context, Diagnostic, Distill, Fault, OnOff, Reader, Requirement, Row, Setting,
    Settings, Severity, Source, read_json,
};
use crate::trust::withhold;
use crate::yaml::{self, Entry, Node, Position, Value};

/// Layers of settings in rising precedence.
#[derive(Debug, Default)]
pub struct Layers {
    sources: Vec<Source>,
    trees: Vec<(Authority, Node)>,
    /// Keys of what a repository brings and nobody has trusted.
    withheld: Vec<String>,
    faults: Vec<(Position, Fault)>,
    warnings: Vec<(Position, Fault)>,
    /// What was left out because it cannot be read.
    odd: Vec<(Position, Fault)>,
    /// What the caller found wrong before there was anything to read.
    reported: Vec<Diagnostic>,
}

/// Settings that can be used.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// The settings.
    pub settings: Settings,
    /// What the layers say together, without the defaults.
    pub tree: Json,
    /// Every effective value and where it comes from.
    pub rows: Vec<Row>,
    /// What somebody should look at.
    pub warnings: Vec<Diagnostic>,
    /// Keys of what the repository brings and nobody has trusted: `work.gate`.
    pub withheld: Vec<String>,
    /// What is said of requirements and was left out because it cannot be read.
    pub odd: Vec<Diagnostic>,
}

/// Settings that cannot be used, with everything that is wrong.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("the settings cannot be used: {}", .errors.iter().map(Diagnostic::located).collect::<Vec<_>>().join("; "))]
pub struct Broken {
    /// What is wrong, layer by layer; at least one.
    pub errors: Vec<Diagnostic>,
    /// What somebody should look at besides.
    pub warnings: Vec<Diagnostic>,
    /// Keys of what the repository brings and nobody has trusted.
    pub withheld: Vec<String>,
    /// What is left, for those who can do with it.
    pub rest: Box<Rest>,
}

impl Broken {
    /// What is in force until somebody has corrected it.
    pub fn meanwhile(&self) -> String {
        let mut unread: Vec<&str> = self.rest.unread.iter().map(|one| one.file.as_str()).collect();
        unread.dedup();
        if unread.is_empty() {
            return "until it is corrected, invalid values are ignored and everything else applies"
                .to_owned();
        }
        let files = unread.join(" or ");
        format!("until it is corrected, nothing in {files} is in force, requirements included")
    }
}

/// What is left of settings that cannot be used.
#[derive(Debug, Clone, PartialEq)]
pub struct Rest {
    /// What the layers that could be read say together, without the defaults, some values of it
    /// wrong.
    pub tree: Json,
    /// Which layers could not be read at all; they are among the errors.
    pub unread: Vec<Diagnostic>,
    /// What is said of requirements and was left out because it cannot be read.
    pub odd: Vec<Diagnostic>,
    /// What is in force until somebody has corrected it, and where it comes from.
    pub rows: Vec<Row>,
}

impl Rest {
    /// What can be used of it, whatever is wrong having its default; nothing where a layer could not be read at all.
    ///
    /// But for what is kept of conversations: the wrong value may have been there to keep them out.
    pub fn settings(&self) -> Option<Settings> {
        self.unread.is_empty().then(|| self.in_force())
    }

    /// The same, with nothing of a layer that could not be read.
    pub fn in_force(&self) -> Settings {
        in_force(&self.tree)
    }
}

/// What can be used of a tree with wrong values.
fn in_force(tree: &Json) -> Settings {
    let mut settings: Settings = read_json(&[], tree).value.unwrap_or_default();
    settings.capture.archive = OnOff::Off;
    settings.capture.distill = Distill::Off;
    settings
}

/// What is in force of settings with faults, each value with where it comes from.
fn meanwhile(merged: Option<&Node>, tree: &Json, layers: &Layers) -> Vec<Row> {
    let wrong: Vec<Position> = layers.faults.iter().map(|(at, _)| *at).collect();
    let merged = merged.cloned().map(|mut merged| {
        leave_wrong_out(&mut merged, &wrong);
        merged
    });
    let mut rows = rows(&in_force(tree), merged.as_ref(), &layers.sources);
    for row in rows.iter_mut().filter(|row| UNSURE.contains(&row.path.as_str())) {
        row.source = Origin::Meanwhile;
    }
    rows
}

/// What is kept of conversations while settings are wrong is nobody's word.
const UNSURE: [&str; 2] = ["capture.archive", "capture.distill"];

/// Takes out what is wrong, which has its default instead.
fn leave_wrong_out(node: &mut Node, wrong: &[Position]) {
    if let Value::Map(entries) = &mut node.value {
        entries.retain(|entry| !wrong.contains(&entry.value.at));
        for entry in entries {
            leave_wrong_out(&mut entry.value, wrong);
        }
    }
}

impl Layers {
    /// No layers yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the text of a file, shown as `name`, with the say of whoever wrote it.
    pub fn add_file(&mut self, authority: Authority, name: &str, text: &str) {
        let source = self.add_source(Source::File(name.to_owned()));
        let tree = match yaml::parse(text, source) {
            Ok(tree) => tree,
            Err(problems) => {
                let faults = problems.into_iter().map(|p| (p.at, Fault::Yaml(p.fault)));
                return self.faults.extend(faults);
            }
        };
        match tree.value {
            Value::Empty | Value::Null => {}
            Value::Map(_) => self.add_tree(authority, tree),
            _ => self.faults.push((tree.at, Fault::NotAMap { found: tree.described() })),
        }
    }

    /// Adds the text of a repository's file that nobody has trusted: without what would run, widen or
    /// speak.
    pub fn add_untrusted_file(&mut self, name: &str, text: &str) {
        let before = self.trees.len();
        self.add_file(Authority::Repository, name, text);
        for (_, tree) in &mut self.trees[before..] {
            self.withheld.extend(withhold(tree));
        }
    }

    /// Adds a file that could not be read, as what there is to say about that.
    pub fn add_unreadable(&mut self, diagnostic: Diagnostic) {
        self.reported.push(diagnostic);
    }

    /// Adds an environment variable; one that is no setting is passed over.
    ///
    /// `value` is none when it is not UTF-8. A variable that is set to nothing counts as not set.
    pub fn add_variable(&mut self, name: &str, value: Option<&str>) {
        let Some(agent) = name.strip_prefix("HEIRLOOM_AGENT_") else { return };
        if value.is_some_and(str::is_empty) {
            return;
        }
        let at = Position {
            source: self.add_source(Source::Environment(name.to_owned())),
            ..Position::default()
        };
        let agent = agent.to_lowercase();
        if !AGENTS.contains(&agent.as_str()) {
            return self.warnings.push((at, Fault::UnknownAgent { name: agent }));
        }
        match value {
            None => self.faults.push((at, Fault::NotUtf8)),
            Some(program) => {
                let tree =
                    nested(&["agents", &agent, "command"], &serde_json::json!([program]), at);
                self.add_tree(Authority::Person, tree);
            }
        }
    }

    /// Adds what a flag says: `--max-agents` sets `work.max_agents`.
    pub fn add_flag(&mut self, flag: &str, path: &str, value: &Json) {
        let at = Position {
            source: self.add_source(Source::Flag(flag.to_owned())),
            ..Position::default()
        };
        let keys: Vec<&str> = path.split('.').collect();
        self.add_tree(Authority::Person, nested(&keys, value, at));
    }

    /// Puts the layers together. Fails when any of them has a fault.
    pub fn resolve(mut self) -> Result<Resolved, Broken> {
        let merged = self.merged();
        let odd = self.diagnostics(Severity::Error, &self.odd);
        let empty = || Json::Object(serde_json::Map::new());
        let tree = merged.as_ref().map_or_else(empty, Node::to_json);
        if !self.is_broken() {
            let settings = self.read(merged.as_ref());
            if !self.is_broken() {
                let rows = rows(&settings, merged.as_ref(), &self.sources);
                let warnings = self.diagnostics(Severity::Warning, &self.warnings);
                let withheld = self.withheld;
                return Ok(Resolved { settings, tree, rows, warnings, withheld, odd });
            }
        }
        let mut errors = self.reported.clone();
        errors.extend(self.diagnostics(Severity::Error, &self.faults));
        let warnings = self.diagnostics(Severity::Warning, &self.warnings);
        let rows = meanwhile(merged.as_ref(), &tree, &self);
        let rest = Box::new(Rest { tree, unread: self.unread(), odd, rows });
        Err(Broken { errors, warnings, withheld: self.withheld, rest })
    }

    /// The layers that could not be read at all.
    fn unread(&self) -> Vec<Diagnostic> {
        let is_unread = |(_, fault): &&(Position, Fault)| {
            matches!(fault, Fault::Yaml(_) | Fault::NotAMap { .. } | Fault::NotUtf8)
        };
        let faults: Vec<_> = self.faults.iter().filter(is_unread).cloned().collect();
        let found = self.diagnostics(Severity::Error, &faults);
        self.reported.iter().cloned().chain(found).collect()
    }

    fn is_broken(&self) -> bool {
        !self.faults.is_empty() || !self.reported.is_empty()
    }

    fn add_source(&mut self, source: Source) -> u16 {
        let number = u16::try_from(self.sources.len()).unwrap_or(u16::MAX);
        self.sources.push(source);
        number
    }

    /// Reads the layer for itself, so that what is wrong in it is known even when overridden.
    fn add_tree(&mut self, authority: Authority, tree: Node) {
        let mut reader = Reader::default();
        Settings::read(&tree, &mut reader);
        self.faults.append(&mut reader.faults);
        self.warnings.append(&mut reader.warnings);
        self.trees.push((authority, tree));
    }

    /// One tree of all layers: the owner's last, so that nothing goes over it.
    fn merged(&mut self) -> Option<Node> {
        let (owner, others): (Vec<_>, Vec<_>) = std::mem::take(&mut self.trees)
            .into_iter()
            .partition(|(authority, _)| *authority == Authority::Owner);
        let mut owner = together_with(None, owner.into_iter().map(|(_, tree)| tree));
        if let Some(owner) = &mut owner {
            self.odd.extend(leave_out(owner, None));
        }
        let mut below: Option<Node> = owner.clone();
        let mut kept = Vec::new();
        for (authority, mut tree) in others {
            if authority == Authority::Person {
                self.warnings.extend(keep_locks(&mut tree, below.as_ref(), owner.as_ref()));
                self.odd.extend(leave_out(&mut tree, below.as_ref()));
                below = together_with(below, [tree.clone()]);
            }
            kept.push((authority, tree));
        }
        let person = together_with(below, owner.clone());
        let mut merged = None;
        for (authority, mut tree) in kept {
            if authority == Authority::Repository {
                self.warnings.extend(restrain(&mut tree, person.as_ref()));
            }
            self.odd.extend(leave_out(&mut tree, merged.as_ref()));
            merged = together_with(merged, [tree]);
        }
        together_with(merged, owner)
    }

    fn read(&mut self, merged: Option<&Node>) -> Settings {
        let Some(merged) = merged else { return Settings::default() };
        let mut reader = Reader::verified();
        let settings = Settings::read(merged, &mut reader).unwrap_or_default();
        self.faults.append(&mut reader.faults);
        self.faults.extend(together(&settings, merged));
        settings
    }

    fn diagnostics(&self, severity: Severity, faults: &[(Position, Fault)]) -> Vec<Diagnostic> {
        let mut faults: Vec<_> = faults.iter().collect();
        faults.sort_by_key(|(at, _)| *at);
        let diagnostic = |(at, fault): &(Position, Fault)| Diagnostic {
            severity,
            file: self.sources.get(usize::from(at.source)).map_or("?", Source::name).to_owned(),
            line: (at.line > 0).then_some(at.line),
            column: (at.line > 0).then_some(at.column),
            message: fault.to_string(),
            hint: fault.hint(),
        };
        faults.into_iter().map(diagnostic).collect()
    }
}

/// Lays trees over one another, each over those before it.
fn together_with(base: Option<Node>, trees: impl IntoIterator<Item = Node>) -> Option<Node> {
    trees.into_iter().fold(base, |base, tree| match base {
        None => Some(tree),
        Some(mut base) => {
            merge(&mut base, tree);
            Some(base)
        }
    })
}

fn nested(keys: &[&str], value: &Json, at: Position) -> Node {
    keys.iter().rev().fold(Node::from_json(value, at), |inner, key| Node {
        at,
        value: Value::Map(vec![Entry::new(key, at, inner)]),
    })
}

/// What is wrong with values that are right one by one.
fn together(settings: &Settings, merged: &Node) -> Vec<(Position, Fault)> {
    let mut faults = Vec::new();
    if let Some(node) = merged.get("context") {
        zones(&settings.context, node, &mut faults);
    }
    for (name, requirement) in &settings.requirements {
        let node = merged.get("requirements").and_then(|node| node.get(name));
        let Some(node) = node else { continue };
        let fault = requirement.missing(name).or_else(|| thresholds(name, requirement));
        faults.extend(fault.map(|fault| (node.at, fault)));
    }
    faults
}

fn zones(context: &Context, node: &Node, faults: &mut Vec<(Position, Fault)>) {
    let zones = [("yellow", context.yellow), ("orange", context.orange), ("red", context.red)];
    for pair in zones.windows(2) {
        let ((lower, low), (upper, high)) = (pair[0], pair[1]);
        if low <= high {
            continue;
        }
        let at = node.get(upper).or_else(|| node.get(lower)).map_or(node.at, |node| node.at);
        faults.push((at, order(("context", lower), low.get(), upper, high.get())));
    }
}

fn thresholds(name: &str, requirement: &Requirement) -> Option<Fault> {
    let thresholds = requirement.thresholds.as_ref()?;
    let (warn, block) = (thresholds.warn?, thresholds.block?);
    let section = format!("requirements.{name}.thresholds");
    (warn > block).then(|| order((&section, "warn"), warn.get(), "block", block.get()))
}

fn order((section, lower): (&str, &str), lower_value: f64, upper: &str, upper_value: f64) -> Fault {
    let (lower, upper) = (format!("{section}.{lower}"), format!("{section}.{upper}"));
    Fault::Order { lower, lower_value, upper, upper_value }
}

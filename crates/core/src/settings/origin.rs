//! Where the effective values come from.

use serde::{Serialize, Serializer};
use serde_json::Value as Json;

use super::Settings;
use crate::yaml::{Node, Position, Value};

/// A layer of settings, by what people call it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A file, by the name it is shown under.
    File(String),
    /// An environment variable.
    Environment(String),
    /// A flag.
    Flag(String),
}

impl Source {
    /// Its name in messages.
    pub fn name(&self) -> &str {
        match self {
            Self::File(name) | Self::Environment(name) | Self::Flag(name) => name,
        }
    }
}

/// Where one value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Nothing sets it.
    Default,
    /// A layer set it to null and so took back what lower layers said.
    Reset(Source, Position),
    /// A layer sets it.
    Set(Source, Position),
    /// Nobody can tell what was meant: it is so until the settings are corrected.
    Meanwhile,
}

impl Origin {
    /// `default`, `.heirloom/config.yaml:4:9`, `$HEIRLOOM_AGENT_CLAUDE`, `--max-agents`.
    pub fn describe(&self) -> String {
        match self {
            Self::Default => "default".to_owned(),
            Self::Reset(source, place) => format!("default, reset by {}", located(source, *place)),
            Self::Set(source, place) => located(source, *place),
            Self::Meanwhile => "until the settings are corrected".to_owned(),
        }
    }
}

fn located(source: &Source, place: Position) -> String {
    match source {
        Source::File(name) => format!("{name}:{}:{}", place.line, place.column),
        Source::Environment(name) => format!("${name}"),
        Source::Flag(name) => name.clone(),
    }
}

impl Serialize for Origin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.describe())
    }
}

/// One effective value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Its path: `work.max_agents`.
    pub path: String,
    /// The value. Lists are one value, because they are replaced as one.
    pub value: Json,
    /// Where it comes from.
    pub source: Origin,
}

/// A row for every effective value, in the order of the schema. Keys that are unset and have no
/// default have no row.
pub(super) fn rows(settings: &Settings, merged: Option<&Node>, sources: &[Source]) -> Vec<Row> {
    let mut rows = Vec::new();
    let json = serde_json::to_value(settings).unwrap_or_default();
    Walk { sources, rows: &mut rows }.value(String::new(), json, merged, Origin::Default);
    rows
}

struct Walk<'a> {
    sources: &'a [Source],
    rows: &'a mut Vec<Row>,
}

impl Walk<'_> {
    fn value(&mut self, path: String, json: Json, node: Option<&Node>, above: Origin) {
        let source = match node {
            None => above,
            Some(node) => self.origin(node, above),
        };
        match json {
            Json::Null => {}
            Json::Object(map) => {
                // What holds for a section that was reset holds for all in it; being set does not.
                let above = match source {
                    Origin::Set(..) => Origin::Default,
                    other => other,
                };
                for (key, value) in map {
                    let inner = node.and_then(|node| node.get(&key));
                    let path = if path.is_empty() { key } else { format!("{path}.{key}") };
                    self.value(path, value, inner, above.clone());
                }
            }
            value => self.rows.push(Row { path, value, source }),
        }
    }

    fn origin(&self, node: &Node, above: Origin) -> Origin {
        let Some(source) = self.sources.get(usize::from(node.at.source)) else { return above };
        match node.value {
            Value::Empty => above,
            Value::Null => Origin::Reset(source.clone(), node.at),
            _ => Origin::Set(source.clone(), node.at),
        }
    }
}

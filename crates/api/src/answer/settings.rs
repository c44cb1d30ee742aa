//! Settings and saved configs.

use std::borrow::Cow;

use heirloom_core::settings::Row;
use heirloom_engine::settings::{FileState, FileStatus, Loaded, Role, Unusable};
use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value;

use crate::Answer;

/// The settings that hold here.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SettingsShown {
    /// All of them, in the shape of the settings files.
    pub settings: Value,
    /// Every effective value and where it comes from.
    pub sources: Vec<SettingSource>,
    /// What is wrong in the settings files and therefore not in force.
    pub problems: Vec<SettingProblem>,
}

impl Answer for SettingsShown {}

impl From<&Loaded> for SettingsShown {
    fn from(loaded: &Loaded) -> Self {
        let settings = serde_json::to_value(&loaded.settings).unwrap_or_default();
        Self { settings, sources: sources(&loaded.rows), problems: Vec::new() }
    }
}

/// What is in force of settings with something wrong in them.
impl From<&Unusable> for SettingsShown {
    fn from(unusable: &Unusable) -> Self {
        let rest = &unusable.broken.rest;
        let settings = serde_json::to_value(rest.in_force()).unwrap_or_default();
        let problems = unusable.broken.errors.iter().map(|error| SettingProblem {
            file: error.file.clone(),
            line: error.line,
            column: error.column,
            message: error.message.clone(),
        });
        Self { settings, sources: sources(&rest.rows), problems: problems.collect() }
    }
}

fn sources(rows: &[Row]) -> Vec<SettingSource> {
    let source = |row: &Row| SettingSource {
        path: row.path.clone(),
        value: row.value.clone(),
        source: row.source.describe(),
    };
    rows.iter().map(source).collect()
}

/// Something that is wrong in a settings file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SettingProblem {
    /// The file, environment variable or flag.
    pub file: String,
    /// The line, where one is to blame.
    pub line: Option<u32>,
    /// The column in it.
    pub column: Option<u32>,
    /// What is wrong.
    pub message: String,
}

/// One effective value.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SettingSource {
    /// Its path: `work.max_agents`.
    pub path: String,
    /// The value.
    pub value: Value,
    /// Where it comes from: `default`, a file with line and column, a variable, a flag.
    pub source: String,
}

/// The files that settings are read from.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SettingsFiles {
    /// The files, in rising precedence.
    pub files: Vec<SettingsFile>,
}

impl Answer for SettingsFiles {}

/// A settings file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SettingsFile {
    /// Whose settings it holds.
    #[schemars(extend("enum" = ["owner", "user", "repository", "local"]))]
    pub role: String,
    /// Where it is.
    pub path: String,
    /// Whether it was there.
    #[schemars(extend("enum" = ["absent", "read", "unreadable"]))]
    pub state: String,
}

impl From<&FileStatus> for SettingsFile {
    fn from(file: &FileStatus) -> Self {
        let role = match file.role {
            Role::Owner => "owner",
            Role::User => "user",
            Role::Repository => "repository",
            Role::Local => "local",
        };
        let state = match file.state {
            FileState::Absent => "absent",
            FileState::Read => "read",
            FileState::Unreadable => "unreadable",
        };
        Self {
            role: role.to_owned(),
            path: file.path.display().to_string(),
            state: state.to_owned(),
        }
    }
}

/// That the config of a session was saved.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TemplateSaved {
    /// The template's name.
    pub name: String,
    /// Its version.
    pub version: u32,
    /// The session whose config it is.
    pub session: String,
}

impl Answer for TemplateSaved {}

/// The saved configs.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TemplateList {
    /// The newest version of each.
    pub templates: Vec<Template>,
}

impl Answer for TemplateList {}

/// A saved config.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Template {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: u32,
    /// When it was saved.
    pub saved_at: Timestamp,
}

/// A JSON Schema: what `schema NAME` and `config schema` print.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct SchemaDocument(pub Value);

impl Answer for SchemaDocument {}

impl JsonSchema for SchemaDocument {
    fn schema_name() -> Cow<'static, str> {
        "SchemaDocument".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "description": "A JSON Schema, draft 2020-12.",
            "type": "object",
            "properties": {"$schema": {"type": "string"}},
            "required": ["$schema"],
            "additionalProperties": true,
        })
    }
}

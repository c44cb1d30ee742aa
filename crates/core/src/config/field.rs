//! The fields of a config by name, so that a person can clear one and see where one comes from.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Config;
use crate::suggest;

/// Hands the list of fields to a macro. The one list that has to name them all: the compiler finds
/// whatever is missing elsewhere.
macro_rules! each_field {
    ($then:ident) => {
        $then! {
            Model model: String,
            ResolvedModel resolved_model: String,
            WorkingDir working_dir: String,
            AdditionalDirs additional_dirs: Vec<String>,
            SystemPrompt system_prompt: String,
            AppendSystemPrompt append_system_prompt: String,
            CustomInstructions custom_instructions: String,
            PermissionMode permission_mode: String,
            PermissionPromptTool permission_prompt_tool: String,
            AllowedTools allowed_tools: Vec<String>,
            DisallowedTools disallowed_tools: Vec<String>,
            McpServers mcp_servers: std::collections::BTreeMap<String, $crate::config::McpServer>,
            AutoAcceptEdits auto_accept_edits: bool,
            BypassUntil bypass_until: jiff::Timestamp,
            Env env: Vec<String>,
            Title title: String,
            MaxTurns max_turns: u32,
            MaxCostUsd max_cost_usd: f64,
        }
    };
}
pub(super) use each_field;

macro_rules! fields {
    ($($variant:ident $name:ident: $type:ty,)*) => {
        /// A field of a config.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Field {
            $(#[doc = concat!("`", stringify!($name), "`")] $variant,)*
        }

        impl Field {
            /// All of them, in the order people see them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Its name in JSON and on the command line.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => stringify!($name),)* }
            }

            /// Its value in `config`; null where there is none.
            pub fn value(self, config: &Config) -> Value {
                let value = match self {
                    $(Self::$variant => serde_json::to_value(&config.$name),)*
                };
                value.unwrap_or(Value::Null)
            }
        }
    };
}
each_field!(fields);

impl Field {
    /// Whether a continued session takes it over. A limit on turns was meant for one stretch of
    /// work, and the next one would start with it used up or doubled.
    pub const fn is_inherited(self) -> bool {
        !matches!(self, Self::MaxTurns)
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Why a text is not a field of a config.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no config field `{text}`")]
pub struct NotAField {
    pub text: String,
    /// The field that was probably meant.
    pub nearest: Option<&'static str>,
}

impl FromStr for Field {
    type Err = NotAField;

    /// Hyphens are as good as underscores: flags are written with them.
    fn from_str(text: &str) -> Result<Self, NotAField> {
        let name = text.replace('-', "_");
        let found = Self::ALL.iter().copied().find(|field| field.as_str() == name);
        found.ok_or_else(|| {
            let nearest = suggest::nearest(&name, Self::ALL.iter().map(|field| field.as_str()));
            let nearest = Self::ALL.iter().map(|f| f.as_str()).find(|f| Some(*f) == nearest);
            NotAField { text: text.to_owned(), nearest }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_has_one_name_everywhere() {
        for field in Field::ALL {
            assert_eq!(field.as_str().parse(), Ok(*field));
            assert_eq!(serde_json::to_value(field).unwrap(), field.as_str());
        }
        assert_eq!("allowed-tools".parse(), Ok(Field::AllowedTools));
        assert_eq!("allowed_tool".parse::<Field>().unwrap_err().nearest, Some("allowed_tools"));
    }

    #[test]
    fn every_key_of_a_config_is_a_field() {
        let config = super::super::inherit_tests::full();
        let json = serde_json::to_value(&config).unwrap();
        let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
        assert_eq!(keys, Field::ALL.iter().map(|field| field.as_str()).collect::<Vec<_>>());
    }
}

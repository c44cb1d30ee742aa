//! The flags that say how an agent is launched.

use std::path::Path;

use heirloom_core::config::{Change, Field, NotAField, Overrides, parse_mcp_servers};
use heirloom_core::settings::Period;
use jiff::{SignedDuration, Timestamp};

use crate::commands::given;
use crate::failure::{Code, Failure};

/// How the agent is launched
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Config")]
pub(in crate::commands) struct ConfigFlags {
    /// The model
    #[arg(long)]
    model: Option<String>,
    /// The directory the agent works in
    #[arg(long, value_name = "DIR", alias = "working_dir")]
    working_dir: Option<String>,
    /// Another directory the agent may use; repeat for more
    #[arg(long, value_name = "DIR", alias = "additional-dirs")]
    add_dir: Option<Vec<String>>,
    /// Replace the agent's system prompt
    #[arg(long, value_name = "TEXT")]
    system_prompt: Option<String>,
    /// Append to the agent's system prompt
    #[arg(long, value_name = "TEXT")]
    append_system_prompt: Option<String>,
    /// Standing instructions, delivered with the system prompt
    #[arg(long, value_name = "TEXT", alias = "instructions")]
    custom_instructions: Option<String>,
    /// The agent's permission mode
    #[arg(long, value_name = "MODE")]
    permission_mode: Option<String>,
    /// The MCP tool that answers permission requests instead of you
    #[arg(long, value_name = "TOOL")]
    permission_prompt_tool: Option<String>,
    /// Tools that need no permission, separated by commas; empty for none
    #[arg(long, value_name = "TOOLS", alias = "allowedTools")]
    allowed_tools: Option<Vec<String>>,
    /// Tools that are never allowed, separated by commas; empty for none
    #[arg(long, value_name = "TOOLS", alias = "disallowedTools")]
    disallowed_tools: Option<Vec<String>>,
    /// MCP servers: a JSON file, or its content
    #[arg(long, value_name = "FILE|JSON", alias = "mcp-servers")]
    mcp_config: Option<String>,
    /// Approve file edits without asking
    #[arg(long, value_name = "on|off", num_args = 0..=1, default_missing_value = "on")]
    #[arg(value_parser = given::switch)]
    auto_accept_edits: Option<bool>,
    /// Approve everything without asking for this long
    #[arg(long, value_name = "DURATION", conflicts_with = "bypass_until")]
    bypass: Option<String>,
    /// Approve everything without asking until this time
    #[arg(long, value_name = "TIME")]
    bypass_until: Option<Timestamp>,
    /// An environment variable for the agent; with any, it gets only those and the usual ones
    #[arg(long, value_name = "NAME")]
    env: Option<Vec<String>>,
    /// A title for the session
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Stop after this many turns
    #[arg(long, value_name = "N")]
    max_turns: Option<u32>,
    /// Stop once this much has been spent, in US dollars
    #[arg(long, value_name = "USD", alias = "max-cost-usd")]
    max_cost: Option<f64>,
    /// The config as JSON; null clears a field
    #[arg(long = "config", value_name = "JSON")]
    whole: Option<String>,
    /// Clear an inherited field, for example `allowed_tools`
    #[arg(long, value_name = "FIELD")]
    clear: Vec<String>,
}

impl ConfigFlags {
    /// What they say about each field. `now` is for durations.
    pub(in crate::commands) fn read(
        self,
        directory: &Path,
        now: Timestamp,
    ) -> Result<Overrides, Failure> {
        let mut overrides: Overrides = match &self.whole {
            Some(json) => Overrides::parse(json).map_err(|error| {
                Failure::new(Code::Usage, format!("--config cannot be read: {error}")).usage()
            })?,
            None => Overrides::default(),
        };
        let bypass = self.bypass.as_deref().map(|period| until(period, now)).transpose()?;
        let servers =
            self.mcp_config.as_deref().map(|text| servers(text, directory)).transpose()?;
        set(&mut overrides.model, self.model);
        set(&mut overrides.working_dir, self.working_dir);
        set(&mut overrides.additional_dirs, self.add_dir.map(whole));
        set(&mut overrides.system_prompt, self.system_prompt);
        set(&mut overrides.append_system_prompt, self.append_system_prompt);
        set(&mut overrides.custom_instructions, self.custom_instructions);
        set(&mut overrides.permission_mode, self.permission_mode);
        set(&mut overrides.permission_prompt_tool, self.permission_prompt_tool);
        set(&mut overrides.allowed_tools, self.allowed_tools.map(tools));
        set(&mut overrides.disallowed_tools, self.disallowed_tools.map(tools));
        set(&mut overrides.mcp_servers, servers);
        set(&mut overrides.auto_accept_edits, self.auto_accept_edits);
        set(&mut overrides.bypass_until, bypass.or(self.bypass_until));
        set(&mut overrides.env, self.env.map(tools));
        set(&mut overrides.title, self.title);
        set(&mut overrides.max_turns, self.max_turns);
        set(&mut overrides.max_cost_usd, self.max_cost);
        for field in &self.clear {
            let field: Field = field.parse().map_err(|error| not_a_field(&error))?;
            if overrides.speaks_of(field) {
                let message = format!("{field} is both set and cleared");
                return Err(Failure::new(Code::Usage, message).usage());
            }
            overrides.clear(field);
        }
        Ok(overrides)
    }
}

fn set<T>(change: &mut Change<T>, value: Option<T>) {
    if let Some(value) = value {
        *change = Change::Set(value);
    }
}

/// One empty value is an empty list.
fn whole(values: Vec<String>) -> Vec<String> {
    if values == [""] { Vec::new() } else { values }
}

/// Splits at commas, but not at those in the parentheses of a tool's pattern.
fn tools(values: Vec<String>) -> Vec<String> {
    let mut tools = Vec::new();
    for value in whole(values) {
        let (mut depth, mut start) = (0_usize, 0);
        for (index, character) in value.char_indices() {
            match character {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                ',' if depth == 0 => {
                    tools.push(value[start..index].trim().to_owned());
                    start = index + 1;
                }
                _ => {}
            }
        }
        tools.push(value[start..].trim().to_owned());
    }
    tools
}

fn servers(
    text: &str,
    directory: &Path,
) -> Result<std::collections::BTreeMap<String, heirloom_core::config::McpServer>, Failure> {
    let refused =
        |error: &dyn std::error::Error| Failure::from_error(Code::ConfigMcpServers, error).usage();
    if text.trim_start().starts_with('{') {
        return parse_mcp_servers(text).map_err(|error| refused(&error));
    }
    let path = directory.join(text);
    // A file that is not there is no wrong usage, here as elsewhere.
    let unread = |error| Failure::from_error(Code::ConfigMcpServers, &error);
    let Some(text) = heirloom_repo::read_text(&path).map_err(unread)? else {
        let message = format!("there is no file {}", path.display());
        return Err(Failure::new(Code::ConfigMcpServers, message));
    };
    parse_mcp_servers(&text).map_err(|error| refused(&error))
}

pub(in crate::commands) fn until(period: &str, now: Timestamp) -> Result<Timestamp, Failure> {
    let bad = |why: String| Failure::new(Code::Usage, format!("--bypass: {why}")).usage();
    let period: Period =
        period.parse().map_err(|error| bad(format!("{error}")).hint("write 90s, 15m, 2h or 1d"))?;
    let seconds = i64::try_from(period.as_secs()).unwrap_or(i64::MAX);
    now.checked_add(SignedDuration::from_secs(seconds)).map_err(|error| bad(error.to_string()))
}

fn not_a_field(error: &NotAField) -> Failure {
    let all = Field::ALL.iter().map(|field| field.as_str()).collect::<Vec<_>>().join(", ");
    let hint = match error.nearest {
        Some(nearest) => format!("did you mean {nearest}? The fields are {all}"),
        None => format!("the fields are {all}"),
    };
    Failure::from_error(Code::Usage, error).hint(hint).usage()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_split_at_commas_but_not_within_their_patterns() {
        let split = |text: &str| tools(vec![text.to_owned()]);
        assert_eq!(split("Bash(git log, x),Edit, Read"), ["Bash(git log, x)", "Edit", "Read"]);
        assert!(split("").is_empty());
        assert_eq!(tools(vec!["A".to_owned(), "B,C".to_owned()]), ["A", "B", "C"]);
    }
}

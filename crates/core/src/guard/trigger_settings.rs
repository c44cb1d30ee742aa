//! From the settings' `trigger_tools` to triggers.

use super::evidence_settings::all;
use super::requirement::{Requirement, Trigger};
use super::shell::CommandPattern;
use crate::settings::{self as form, Either, OneOrMany, Pattern};

/// The triggers of a requirement; the defaults where its settings name none.
pub(super) fn triggers(items: Option<&OneOrMany<Either<String, form::Trigger>>>) -> Vec<Trigger> {
    let Some(items) = items else { return Requirement::DEFAULT_TOOLS.map(Trigger::tool).to_vec() };
    let one = |item: &Either<String, form::Trigger>| match item {
        Either::First(tool) => vec![Trigger::tool(tool)],
        Either::Second(item) => detailed(item),
    };
    items.items().iter().flat_map(one).collect()
}

/// A mapping stands for as many triggers as it names tools and commands.
fn detailed(item: &form::Trigger) -> Vec<Trigger> {
    let commands = item.command.as_ref().map_or(&[][..], form::Commands::items);
    let is_about_a_command = item.command.is_some() || item.command_pattern.is_some();
    let tools = match &item.tool {
        Some(tools) => tools.items().to_vec(),
        None if is_about_a_command => vec!["Bash".to_owned()],
        None => Requirement::DEFAULT_TOOLS.map(str::to_owned).to_vec(),
    };
    let text = |pattern: &Option<Pattern>| pattern.as_ref().map(|p| p.as_str().to_owned());
    let paths = all([&item.path, &item.paths]);
    let mut triggers = Vec::new();
    for tool in tools {
        let trigger = Trigger {
            command_pattern: text(&item.command_pattern),
            paths: paths.clone(),
            content: text(&item.content),
            ..Trigger::tool(tool)
        };
        if commands.is_empty() {
            triggers.push(trigger);
        } else {
            triggers.extend(commands.iter().map(|words| Trigger {
                command: Some(CommandPattern(words.clone())),
                ..trigger.clone()
            }));
        }
    }
    triggers
}

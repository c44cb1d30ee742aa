//! From the settings' `trigger_tools` to triggers.

use regex::bytes::{Regex, RegexBuilder};
use serde_json::Value;

use super::fields::Fields;
use super::policy::Problem;
use super::requirement::{Requirement, Trigger};
use super::shell::CommandPattern;

const KEYS: &[&str] = &["tool", "command", "command_pattern", "path", "paths", "content"];

/// The triggers of a requirement; the defaults where its settings name none.
pub(super) fn read(fields: &Fields<'_>) -> Result<Vec<Trigger>, Problem> {
    let items = match fields.get("trigger_tools") {
        None => return Ok(Requirement::DEFAULT_TOOLS.map(Trigger::tool).to_vec()),
        Some(Value::Array(items)) => items.as_slice(),
        Some(item) => std::slice::from_ref(item),
    };
    let mut triggers = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let key = format!("trigger_tools[{index}]");
        match item {
            Value::String(tool) => triggers.push(Trigger::tool(tool)),
            Value::Object(_) => triggers.extend(detailed(item, fields.place(&key))?),
            other => return Err(fields.wrong(&key, other, "a tool, or a mapping with `tool`")),
        }
    }
    Ok(triggers)
}

/// A mapping stands for as many triggers as it names tools and commands.
fn detailed(item: &Value, at: String) -> Result<Vec<Trigger>, Problem> {
    let fields = Fields::of(item, at)?;
    if let Some(mut problem) = fields.unknown(KEYS).pop() {
        // A condition that does nothing would make the trigger wider than it was meant.
        "this condition is not known".clone_into(&mut problem.message);
        problem.fatal = true;
        return Err(problem);
    }
    let commands = commands(&fields)?;
    let is_about_a_command = !commands.is_empty() || fields.get("command_pattern").is_some();
    let tools = match fields.texts("tool")? {
        Some(tools) => tools,
        None if is_about_a_command => vec!["Bash".to_owned()],
        None => Requirement::DEFAULT_TOOLS.map(str::to_owned).to_vec(),
    };
    let mut paths = fields.texts("path")?.unwrap_or_default();
    paths.extend(fields.texts("paths")?.unwrap_or_default());
    let command_pattern = checked(&fields, "command_pattern")?;
    let content = checked(&fields, "content")?;
    let mut triggers = Vec::new();
    for tool in tools {
        let trigger = Trigger {
            tool,
            command: None,
            command_pattern: command_pattern.clone(),
            danger: None,
            paths: paths.clone(),
            content: content.clone(),
        };
        if commands.is_empty() {
            triggers.push(trigger);
        } else {
            triggers.extend(
                commands.iter().map(|c| Trigger { command: Some(c.clone()), ..trigger.clone() }),
            );
        }
    }
    Ok(triggers)
}

/// `git push`, `[git, push]` or `[[git, push], [gh, pr, create]]`.
fn commands(fields: &Fields<'_>) -> Result<Vec<CommandPattern>, Problem> {
    let Some(value) = fields.get("command") else { return Ok(Vec::new()) };
    let bad = || fields.wrong("command", value, "the words of a command, like [git, push]");
    let words = |items: &[Value]| -> Option<CommandPattern> {
        let words: Option<Vec<String>> = items.iter().map(super::fields::scalar).collect();
        // `["git push"]` would be a program of that name, which there never is.
        let is_program = |word: &String| !word.is_empty() && !word.contains(char::is_whitespace);
        words.filter(|words| words.first().is_some_and(is_program)).map(CommandPattern)
    };
    match value {
        Value::String(text) => {
            let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            if words.is_empty() { Err(bad()) } else { Ok(vec![CommandPattern(words)]) }
        }
        Value::Array(items) if items.iter().all(Value::is_array) && !items.is_empty() => items
            .iter()
            .map(|item| item.as_array().and_then(|items| words(items)).ok_or_else(bad))
            .collect(),
        Value::Array(items) => Ok(vec![words(items).ok_or_else(bad)?]),
        _ => Err(bad()),
    }
}

fn checked(fields: &Fields<'_>, key: &str) -> Result<Option<String>, Problem> {
    let Some(pattern) = fields.text(key)? else { return Ok(None) };
    match regex(pattern) {
        Ok(_) => Ok(Some(pattern.to_owned())),
        Err(error) => {
            // The last line says what is wrong; those before it draw an arrow.
            let text = error.to_string();
            let reason = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
            Err(fields.bad(key, format!("`{pattern}` is not a regex: {reason}"), ""))
        }
    }
}

/// Compiles a trigger's regex. Letters' case does not matter, as it never did.
///
/// Bytes without Unicode first: its tables are not built in, and compile faster without. A class
/// with a letter outside of ASCII needs it.
pub(super) fn regex(pattern: &str) -> Result<Regex, regex::Error> {
    let build =
        |unicode: bool| RegexBuilder::new(pattern).unicode(unicode).case_insensitive(true).build();
    build(false).or_else(|error| build(true).map_err(|_| error))
}

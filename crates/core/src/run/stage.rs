//! A stage: a prompt with a stop rule, as `stage.yaml` and `prompt.md` say it.

use super::choices::{self, Choices, Inherit};
use super::lint::{Linter, Mistake, meant, unsafe_name};
use super::prompt;
use super::stop::DEFAULT_MAX;
use crate::yaml::Position;

const KEYS: &[&str] = &[
    "name",
    "description",
    "prompt",
    "inherit",
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

/// A stage as its files say it.
#[derive(Debug, Clone, PartialEq)]
pub struct Stage {
    pub name: String,
    /// What it is for, in a line.
    pub description: String,
    pub prompt: String,
    /// What it chooses.
    pub choices: Choices,
    /// What a session of this stage alone inherits.
    pub inherit: Option<Inherit>,
    /// The file it was read from.
    pub file: String,
}

/// The texts a stage is read from.
#[derive(Debug, Clone, Copy)]
pub struct StageFiles<'t> {
    /// The name of its directory.
    pub directory: &'t str,
    /// The path of `stage.yaml`, for messages.
    pub file: &'t str,
    /// The text of `stage.yaml`.
    pub text: &'t str,
    /// The path of the prompt beside it, for messages.
    pub prompt_file: &'t str,
    /// The text of the prompt, where there is one.
    pub prompt: Option<&'t str>,
}

/// The file beside `stage.yaml` that holds its prompt; `prompt:` names another one.
pub fn prompt_file(text: &str) -> String {
    let named =
        crate::yaml::parse(text, 0).ok().and_then(|node| match &node.get("prompt")?.value {
            crate::yaml::Value::Text(name) if is_file_name(name) => Some(name.clone()),
            _ => None,
        });
    named.unwrap_or_else(|| "prompt.md".to_owned())
}

/// A `prompt:` is a file beside it when it looks like one, and otherwise the prompt itself.
fn is_file_name(text: &str) -> bool {
    let is_text = std::path::Path::new(text)
        .extension()
        .is_some_and(|extension| extension == "md" || extension == "txt");
    is_text && unsafe_name(text).is_none()
}

/// Reads a stage. It is there even when there are mistakes, as far as it can be known.
pub fn read(files: &StageFiles<'_>) -> (Option<Stage>, Vec<Mistake>) {
    let mut lint = Linter::new(files.file);
    let stage = lint.parse(files.text).and_then(|node| {
        let fields = lint.fields(&node, "", KEYS)?;
        let name = fields.get("name").and_then(|(node, field)| {
            let name = lint.text(node, &field)?;
            if let Some(problem) = unsafe_name(&name) {
                lint.error(node.at, &field, problem, None);
            } else if name != files.directory {
                let message =
                    format!("the stage is called `{name}` and its directory `{}`", files.directory);
                let hint = Some("it is run by the name of its directory".to_owned());
                lint.warn(node.at, &field, message, hint);
            }
            Some(name)
        });
        let (inherit, comprehension) = choices::inherit(&fields, &mut lint);
        let mut choices = choices::read(&fields, &mut lint);
        choices.comprehension = choices.comprehension.or(comprehension);
        warn_of_no_maximum(
            &choices,
            fields.get("stop").map_or(node.at, |(node, _)| node.at),
            &mut lint,
        );
        let text = |key| fields.get(key);
        let description = text("description").and_then(|(node, field)| lint.text(node, &field));
        let inline = text("prompt")
            .and_then(|(node, field)| Some((node.at, lint.text(node, &field)?)))
            .filter(|(_, text)| !is_file_name(text));
        let prompt = prompt_of(files, inline, &mut lint);
        Some(Stage {
            name: name.unwrap_or_else(|| files.directory.to_owned()),
            description: description.unwrap_or_default(),
            prompt,
            choices,
            inherit,
            file: files.file.to_owned(),
        })
    });
    (stage, lint.into_mistakes())
}

fn warn_of_no_maximum(choices: &Choices, at: Position, lint: &mut Linter<'_>) {
    let is_told = lint.mistakes.iter().any(|mistake| mistake.field.starts_with("stop"));
    if choices.max.is_none() && !is_told {
        let message = format!("there is no maximum of iterations, {DEFAULT_MAX} applies");
        lint.warn(at, "stop.max", message, Some(format!("add `max: {DEFAULT_MAX}`")));
    }
}

/// The prompt, from the file or written in place, with its variables checked.
fn prompt_of(
    files: &StageFiles<'_>,
    inline: Option<(Position, String)>,
    lint: &mut Linter<'_>,
) -> String {
    if let Some((at, text)) = inline {
        check_variables(at, "prompt", &text, lint);
        return text;
    }
    let Some(text) = files.prompt.filter(|text| !text.trim().is_empty()) else {
        let message = format!("there is no prompt in {}", files.prompt_file);
        let hint = Some("write what the agent should do there".to_owned());
        lint.error(Position::default(), "prompt", message, hint);
        return String::new();
    };
    let mut of_prompt = Linter::new(files.prompt_file);
    for unknown in prompt::unknown(text) {
        let at = Position { source: 0, line: unknown.line, column: unknown.column };
        let message = format!("there is no variable `${{{}}}`", unknown.name);
        of_prompt.error(at, "", message, Some(choices::variable_hint(unknown.nearest)));
    }
    lint.mistakes.extend(of_prompt.mistakes);
    text.to_owned()
}

/// Reports variables that there are not in a prompt written in place.
pub(super) fn check_variables(at: Position, field: &str, text: &str, lint: &mut Linter<'_>) {
    for unknown in prompt::unknown(text) {
        let message = format!("there is no variable `${{{}}}`", unknown.name);
        lint.error(at, field, message, Some(choices::variable_hint(unknown.nearest)));
    }
}

/// A mistake for a stage that is not there.
pub(super) fn no_such_stage(name: &str, known: &[&str]) -> (String, String) {
    (format!("there is no stage called `{name}`"), meant(name, known))
}

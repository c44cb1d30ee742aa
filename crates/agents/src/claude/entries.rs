//! What Claude Code's transcripts say, as entries.
//!
//! One line a content block; the lines of one answer share a message id. Every line of the
//! conversation names the one before it, which is how a rewound turn is told from the one that
//! replaced it.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::content::{Beside, Block, Message};
use crate::event::Span;
use crate::transcript::does::tool_use;
use crate::transcript::entry::{By, Entries, Entry, What, Whereabouts};

/// Lines that say nothing about the work. Requests are most of a file's bytes, so they are told by
/// their beginning and not parsed.
const NOTHING: &[&str] = &[
    "api-request",
    "api-request-blob",
    "api-request-shape",
    "agent-name",
    "agent-setting",
    "atis-latch",
    "file-history-snapshot",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "tag",
    "tools-used",
    "worktree-state",
];

/// Reads a transcript.
#[derive(Debug, Default)]
pub(crate) struct Read {
    place: Whereabouts,
    model: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    subtype: Option<Cow<'a, str>>,
    #[serde(borrow)]
    uuid: Option<Cow<'a, str>>,
    #[serde(borrow)]
    parent_uuid: Option<Cow<'a, str>>,
    #[serde(borrow)]
    logical_parent_uuid: Option<Cow<'a, str>>,
    #[serde(borrow)]
    session_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    agent_id: Option<Cow<'a, str>>,
    is_meta: Option<bool>,
    is_sidechain: Option<bool>,
    is_compact_summary: Option<bool>,
    is_api_error_message: Option<bool>,
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(borrow)]
    cwd: Option<Cow<'a, str>>,
    #[serde(borrow)]
    git_branch: Option<Cow<'a, str>>,
    #[serde(borrow)]
    version: Option<Cow<'a, str>>,
    #[serde(borrow)]
    entrypoint: Option<Cow<'a, str>>,
    #[serde(borrow)]
    prompt_source: Option<Cow<'a, str>>,
    #[serde(borrow)]
    message: Option<Message<'a>>,
    #[serde(borrow)]
    attachment: Option<Attachment<'a>>,
    tool_use_result: Beside,
    compact_metadata: Option<Compact>,
    content: Option<Value>,
    forked_from: Option<Forked>,
    custom_title: Option<String>,
    ai_title: Option<String>,
    summary: Option<String>,
    #[serde(rename = "totalCostUSD")]
    total_cost_usd: Option<f64>,
    has_unknown_model_cost: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Attachment<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    prompt: Option<Value>,
    is_meta: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Compact {
    trigger: Option<String>,
    pre_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Forked {
    session_id: Option<String>,
}

impl Entries for Read {
    fn resume(&mut self, place: &Whereabouts) {
        self.place = place.clone();
    }

    fn read(&mut self, line: &[u8], entries: &mut Vec<Entry>) {
        if says_nothing(line) {
            return;
        }
        match serde_json::from_slice::<Line<'_>>(line) {
            Ok(line) => self.understand(line, entries),
            Err(_) => entries.push(Entry::of(What::Unknown { kind: "not an entry".to_owned() })),
        }
    }
}

/// Whether a mark is there and set.
fn is(mark: Option<bool>) -> bool {
    mark == Some(true)
}

/// Whether a line begins with the name of a kind that says nothing.
fn says_nothing(line: &[u8]) -> bool {
    let kind = line.strip_prefix(br#"{"type":""#).and_then(|rest| {
        let end = memchr::memchr(b'"', rest.get(..40).unwrap_or(rest))?;
        std::str::from_utf8(&rest[..end]).ok()
    });
    kind.is_some_and(|kind| NOTHING.contains(&kind))
}

impl Read {
    fn understand(&mut self, mut line: Line<'_>, entries: &mut Vec<Entry>) {
        let at = line.timestamp.take().and_then(|at| at.parse::<Timestamp>().ok());
        let parent = line.parent_uuid.take().or(line.logical_parent_uuid.take());
        let subagent = line.agent_id.take().map(Cow::into_owned);
        // A sidechain of a version that kept its subagents in the same file.
        let subagent = subagent.or_else(|| is(line.is_sidechain).then(|| "sidechain".to_owned()));
        let mut told = Vec::new();
        if subagent.is_none() {
            self.place(&line, &mut told);
        }
        let (id, kind) = (line.uuid.take(), line.kind.clone());
        match &*kind {
            "assistant" => self.answer(line, &mut told),
            "user" => heard(line, subagent.is_some(), &mut told),
            "attachment" => attached(line, &mut told),
            "system" => system(line, &mut told),
            "cost-state" => {
                let usd = line.total_cost_usd.filter(|_| !is(line.has_unknown_model_cost));
                told.extend(usd.map(|usd| What::Cost { usd, total: true }));
            }
            "custom-title" | "ai-title" | "summary" => told.extend(title(line)),
            kind if NOTHING.contains(&kind) => {}
            kind => told.push(What::Unknown { kind: kind.to_owned() }),
        }
        let (id, parent) = (id.map(Cow::into_owned), parent.map(Cow::into_owned));
        entries.extend(told.into_iter().map(|what| Entry {
            offset: 0,
            at,
            id: id.clone(),
            parent: parent.clone(),
            subagent: subagent.clone(),
            what,
        }));
    }

    /// Says where the conversation is when that is new.
    fn place(&mut self, line: &Line<'_>, told: &mut Vec<What>) {
        if !matches!(&*line.kind, "user" | "assistant" | "system" | "attachment") {
            return;
        }
        let mut place = self.place.clone();
        let take = |from: &Option<Cow<'_, str>>, to: &mut Option<String>| {
            if from.is_some() && from.as_deref() != to.as_deref() {
                *to = from.as_deref().map(str::to_owned);
            }
        };
        take(&line.session_id, &mut place.agent_session_id);
        take(&line.cwd, &mut place.cwd);
        take(&line.git_branch, &mut place.branch);
        take(&line.version, &mut place.version);
        if let Some(entrypoint) = line.entrypoint.as_deref() {
            place.interactive = Some(entrypoint == "cli");
        }
        // Every line that was copied says so, and what came since does not.
        place.forked_from = line.forked_from.as_ref().and_then(|from| from.session_id.clone());
        if place != self.place {
            self.place = place.clone();
            told.push(What::Whereabouts(place));
        }
    }

    fn answer(&mut self, line: Line<'_>, told: &mut Vec<What>) {
        let Some(mut message) = line.message else { return };
        if is(line.is_api_error_message) {
            return told.push(What::Failed { text: message.plain_text() });
        }
        let model = message.model.take().filter(|model| model != "<synthetic>");
        if let Some(name) = model.map(Cow::into_owned)
            && self.model.as_ref() != Some(&name)
        {
            self.model = Some(name.clone());
            told.push(What::Model { name });
        }
        for block in message.blocks() {
            match &*block.kind {
                "text" => told.push(What::Answer { text: block.text.unwrap_or_default() }),
                "thinking" => {
                    let text = block.thinking.filter(|text| !text.is_empty());
                    told.extend(text.map(|text| What::Thinking { text }));
                }
                "tool_use" | "server_tool_use" | "mcp_tool_use" => told.push(tool_use(
                    block.id.unwrap_or_default(),
                    block.name.unwrap_or_default(),
                    block.input.unwrap_or_default(),
                )),
                kind if kind.ends_with("tool_result") => {
                    told.push(result(block, Beside::default()));
                }
                "redacted_thinking" | "fallback" => {}
                kind => told.push(What::Unknown { kind: format!("assistant/{kind}") }),
            }
        }
        if let Some(usage) = &message.usage {
            let (tokens, span) = (usage.tokens(), Span::Request);
            told.push(What::Usage { message: message.id.clone(), tokens, span, window: None });
        }
    }
}

fn result(block: Block<'_>, beside: Beside) -> What {
    let is_error = block.is_error == Some(true);
    let text = block.content.map(|content| content.plain_text()).unwrap_or_default();
    let succeeded = block.is_error == Some(false) && beside.ran();
    let goes_on = beside.goes_on || text.starts_with("Command running in background with ID");
    let exit = if succeeded && !goes_on { Some(0) } else { exit(&text, is_error) };
    What::ToolResult { id: block.tool_use_id.unwrap_or_default(), text, is_error, exit, goes_on }
}

/// A command that failed has its exit status in the first line.
fn exit(text: &str, is_error: bool) -> Option<i32> {
    let first = text.lines().next().unwrap_or_default();
    let first = first.strip_prefix("Error: ").unwrap_or(first);
    let code = first.strip_prefix("Exit code ")?.trim();
    is_error.then(|| code.parse().ok()).flatten()
}

fn heard(line: Line<'_>, of_subagent: bool, told: &mut Vec<What>) {
    let Some(mut message) = line.message else { return };
    let by = if of_subagent {
        By::Agent
    } else if is(line.is_meta) {
        By::Injected
    } else {
        by(line.prompt_source.as_deref(), line.entrypoint.as_deref())
    };
    for block in message.blocks() {
        match &*block.kind {
            "text" if is(line.is_compact_summary) => {
                told.push(What::Summary { text: block.text.unwrap_or_default() });
            }
            "text" => told.push(prompt(block.text.unwrap_or_default(), by)),
            "tool_result" => told.push(result(block, line.tool_use_result)),
            "image" | "document" => {}
            kind => told.push(What::Unknown { kind: format!("user/{kind}") }),
        }
    }
}

/// Whose words they are. Versions that do not mark the source say at least what started them.
fn by(source: Option<&str>, entrypoint: Option<&str>) -> By {
    match (source, entrypoint) {
        (Some("typed" | "queued" | "suggestion_accepted"), _) | (None, Some("cli")) => By::Person,
        (Some("sdk"), _) | (None, Some(_)) => By::Program,
        (Some(_), _) => By::Injected,
        (None, None) => By::Unknown,
    }
}

/// What the agent program writes in the person's name is known by how it begins.
const INJECTED: &[&str] = &[
    "<system-reminder>",
    "<local-command-",
    "<bash-",
    "<task-notification>",
    "<teammate-message",
    "<user-memory-input>",
    "Caveat: The messages below",
    "Stop hook feedback:",
];

/// Commands that do something to Claude Code itself: nobody asks the model for anything by them.
const OWN_COMMANDS: &[&str] = &[
    "/clear",
    "/compact",
    "/config",
    "/context",
    "/cost",
    "/doctor",
    "/exit",
    "/export",
    "/fast",
    "/help",
    "/hooks",
    "/ide",
    "/login",
    "/logout",
    "/mcp",
    "/memory",
    "/model",
    "/permissions",
    "/plugin",
    "/quit",
    "/rename",
    "/resume",
    "/rewind",
    "/status",
    "/statusline",
    "/usage",
    "/vim",
];

fn prompt(text: String, by: By) -> What {
    if text.starts_with("[Request interrupted by user") {
        return What::Interrupted;
    }
    let command = command(&text);
    let is_own = command.as_ref().is_some_and(|(name, _)| OWN_COMMANDS.contains(&name.as_str()));
    if let Some((name, args)) = command.filter(|_| !is_own) {
        return What::Command { name, args };
    }
    let injected = is_own || INJECTED.iter().any(|head| text.starts_with(head));
    What::Prompt { text, by: if injected { By::Injected } else { by } }
}

/// `/review src`, which is kept as tags.
fn command(text: &str) -> Option<(String, String)> {
    if !text.starts_with("<command-") {
        return None;
    }
    let tag = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        Some(rest.split_once(&format!("</{name}>"))?.0.trim().to_owned())
    };
    Some((tag("command-name")?, tag("command-args").unwrap_or_default()))
}

/// What a person typed while the agent worked is attached to its next request.
fn attached(line: Line<'_>, told: &mut Vec<What>) {
    let Some(attachment) = line.attachment else { return };
    if attachment.kind != "queued_command" {
        return;
    }
    let text = match attachment.prompt {
        Some(Value::String(text)) => text,
        Some(Value::Array(blocks)) => {
            let texts = blocks.iter().filter_map(|block| block.get("text")?.as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => return,
    };
    let by = match line.entrypoint.as_deref() {
        _ if is(attachment.is_meta) || is(line.is_meta) => By::Injected,
        entrypoint => by(None, entrypoint),
    };
    told.push(prompt(text, by));
}

fn system(line: Line<'_>, told: &mut Vec<What>) {
    match line.subtype.as_deref() {
        Some("compact_boundary") => {
            let about = line.compact_metadata.unwrap_or_default();
            told.push(What::Compaction {
                auto: about.trigger.map(|trigger| trigger == "auto"),
                tokens_before: about.pre_tokens,
            });
        }
        Some("stop_hook_summary") => told.push(What::TurnEnd { is_error: false }),
        Some("api_error") => {
            let text = line.content.as_ref().and_then(Value::as_str).unwrap_or("a request failed");
            told.push(What::Failed { text: text.to_owned() });
        }
        _ => {}
    }
}

fn title(line: Line<'_>) -> Option<What> {
    let chosen = line.custom_title.is_some();
    let text = line.custom_title.or(line.ai_title).or(line.summary)?;
    Some(What::Title { text, chosen })
}

#[cfg(test)]
#[path = "entries_tests.rs"]
mod tests;

//! Claude Code's stream, `--output-format stream-json`: the shapes of its lines, and what they
//! mean. Lenient: every field may be missing, every unknown one is ignored.
//!
//! Written for speed, because a line may be long and there may be many: fields are read straight
//! into these structs, and only a tool's input becomes a JSON tree.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::content::{Message, Usage};
use crate::event::{
    Event, Failure, FailureKind, Parsed, PermissionRequest, Reader, Span, TurnResult,
};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Wire<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    subtype: Option<Cow<'a, str>>,
    uuid: Option<String>,
    session_id: Option<String>,
    parent_tool_use_id: Option<String>,
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(borrow)]
    message: Option<Message<'a>>,
    // system
    model: Option<String>,
    claude_code_version: Option<String>,
    content: Option<String>,
    compact_metadata: Option<Compact>,
    tasks: Option<Vec<serde::de::IgnoredAny>>,
    tool_name: Option<String>,
    decision_reason: Option<String>,
    new_session_id: Option<String>,
    // api_retry and failed messages
    attempt: Option<u32>,
    max_retries: Option<u32>,
    retry_delay_ms: Option<f64>,
    error_status: Option<u16>,
    error: Option<Value>,
    #[serde(rename = "isReplay")]
    is_replay: bool,
    rate_limit_info: Option<RateLimit>,
    // result
    is_error: bool,
    result: Option<String>,
    errors: Vec<String>,
    num_turns: Option<u32>,
    duration_ms: Option<f64>,
    terminal_reason: Option<String>,
    api_error_status: Option<u16>,
    total_cost_usd: Option<f64>,
    usage: Option<Usage>,
    #[serde(rename = "modelUsage")]
    model_usage: BTreeMap<String, ModelUsage>,
    permission_denials: Vec<Denial>,
    // stream_event
    event: Option<Value>,
    // control
    request_id: Option<String>,
    request: Option<Control>,
}

/// A tool use that was denied.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Denial {
    tool_name: String,
}

#[derive(Debug, Deserialize)]
struct Compact {
    trigger: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ModelUsage {
    context_window: Option<u64>,
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
    #[serde(default)]
    cache_read_input_tokens: u64,
    #[serde(default)]
    cache_creation_input_tokens: u64,
}

impl ModelUsage {
    fn total(&self) -> u64 {
        self.input_tokens
            + self.output_tokens
            + self.cache_read_input_tokens
            + self.cache_creation_input_tokens
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RateLimit {
    status: Option<String>,
    resets_at: Option<i64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Control {
    subtype: String,
    tool_name: String,
    input: Value,
    tool_use_id: Option<String>,
}

#[derive(Debug, Default)]
pub(crate) struct Stream {
    /// The message whose usage was counted: each of its content blocks is a line of its own and
    /// repeats it.
    counted: Option<String>,
    /// The last error that came in the place of an answer: the result that follows says less.
    failed: Option<Failure>,
}

impl Reader for Stream {
    fn read(&mut self, line: &[u8]) -> Parsed {
        if line.iter().all(u8::is_ascii_whitespace) {
            return Parsed::default();
        }
        if let Ok(wire) = serde_json::from_slice(line) {
            return self.understand(wire);
        }
        let Ok(fields) = serde_json::from_slice(line) else {
            let is_text = std::str::from_utf8(line).is_ok();
            return Parsed::unknown(if is_text { "not JSON" } else { "not UTF-8" });
        };
        match Wire::deserialize(&fitting(fields)) {
            Ok(wire) => self.understand(wire),
            Err(_) => Parsed::unknown("of an unknown shape"),
        }
    }
}

/// A line of which some field has another shape than ours, without that field: what it says else
/// is still worth knowing.
fn fitting(mut fields: Map<String, Value>) -> Value {
    fields.retain(|name, value| {
        let alone = Value::Object(Map::from_iter([(name.clone(), value.clone())]));
        Wire::deserialize(&alone).is_ok()
    });
    Value::Object(fields)
}

impl Stream {
    fn understand(&mut self, mut wire: Wire<'_>) -> Parsed {
        let at = wire.timestamp.take().and_then(|at| at.parse::<Timestamp>().ok());
        let subagent = wire.parent_tool_use_id.take();
        // What a tool answered is a message too: whoever goes another way from there has it.
        let forkable = matches!(&*wire.kind, "assistant" | "user") && subagent.is_none();
        let message = wire.uuid.take().filter(|_| forkable);
        let events = match &*wire.kind {
            "assistant" => self.assistant(wire),
            "user" => user(wire),
            "system" => vec![system(wire)],
            "result" => result(wire, self.failed.take()),
            "control_request" => vec![control(wire)],
            "conversation_reset" => vec![renamed(wire)],
            "rate_limit_event" => vec![limit(wire)],
            "stream_event" => piece(&wire),
            _ => vec![unknown(&wire)],
        };
        Parsed { events, subagent, at, message }
    }

    fn assistant(&mut self, wire: Wire<'_>) -> Vec<Event> {
        let status = wire.api_error_status;
        let error = wire.error.as_ref().and_then(Value::as_str);
        let Some(message) = wire.message else { return Vec::new() };
        if let Some(error) = error {
            // The error's text comes as if the model had said it; it did not.
            let failure = failure(status, Some(error), message.plain_text());
            self.failed = Some(failure.clone());
            return vec![Event::Error(failure)];
        }
        self.failed = None;
        let mut events = Vec::new();
        if let Some(usage) = &message.usage
            && (message.id.is_none() || message.id != self.counted)
        {
            self.counted.clone_from(&message.id);
            let (tokens, span) = (usage.tokens(), Span::Request);
            events.push(Event::Usage { tokens, span, context_window: None });
        }
        message.said(&mut events);
        events
    }
}

/// Prompts are not echoed unless that is asked for: a text that comes as the user's is the
/// program's own.
const INTERRUPTED: &str = "[Request interrupted by user";

fn user(wire: Wire<'_>) -> Vec<Event> {
    let Some(message) = wire.message else { return Vec::new() };
    let mut events = Vec::new();
    message.heard(&mut events);
    for event in &mut events {
        if matches!(event, Event::Prompt { text } if !wire.is_replay && text.starts_with(INTERRUPTED))
        {
            *event = Event::Interrupted;
        }
    }
    events
}

fn system(wire: Wire<'_>) -> Event {
    match wire.subtype.as_deref() {
        Some("init") => Event::Started {
            agent_session_id: wire.session_id.unwrap_or_default(),
            model: wire.model,
            version: wire.claude_code_version,
        },
        Some("api_retry") => Event::Retry {
            failure: failure(
                wire.error_status,
                wire.error.as_ref().and_then(Value::as_str),
                String::new(),
            ),
            attempt: wire.attempt.unwrap_or_default(),
            max: wire.max_retries,
            delay: wire.retry_delay_ms.and_then(millis),
        },
        Some("compact_boundary") => {
            Event::Compacted { trigger: wire.compact_metadata.and_then(|compact| compact.trigger) }
        }
        Some("background_tasks_changed") => {
            Event::Background { running: wire.tasks.map_or(0, |tasks| tasks.len()) }
        }
        Some("permission_denied") => Event::PermissionDenied {
            tool: wire.tool_name.unwrap_or_default(),
            reason: wire.decision_reason,
        },
        Some("informational") if wire.content.is_some() => {
            Event::Notice { text: wire.content.unwrap_or_default() }
        }
        _ => unknown(&wire),
    }
}

fn renamed(wire: Wire<'_>) -> Event {
    match wire.new_session_id.or(wire.session_id) {
        Some(agent_session_id) => Event::Renamed { agent_session_id },
        None => Event::Unknown { kind: wire.kind.into_owned() },
    }
}

fn limit(wire: Wire<'_>) -> Event {
    let Some(info) = wire.rate_limit_info else { return unknown(&wire) };
    Event::Limit {
        exhausted: info.status.as_deref() == Some("rejected"),
        until: info.resets_at.and_then(|at| Timestamp::from_second(at).ok()),
    }
}

/// A piece of an answer as it comes. What else there is of it (the beginning of a block, the input of a
/// tool) comes whole with the answer.
fn piece(wire: &Wire<'_>) -> Vec<Event> {
    let delta = wire.event.as_ref().map(|event| &event["delta"]);
    let text = delta.filter(|delta| delta["type"] == "text_delta").map(|delta| &delta["text"]);
    let text = text.and_then(Value::as_str).map(str::to_owned);
    text.map(|text| Event::Piece { text }).into_iter().collect()
}

fn control(wire: Wire<'_>) -> Event {
    match (wire.request_id, wire.request) {
        (Some(request_id), Some(request)) if request.subtype == "can_use_tool" => {
            Event::PermissionRequest(PermissionRequest {
                request_id,
                tool: request.tool_name,
                input: request.input,
                tool_call_id: request.tool_use_id,
            })
        }
        (_, request) => {
            let subtype = request.unwrap_or_default().subtype;
            Event::Unknown { kind: format!("control_request/{subtype}") }
        }
    }
}

fn result(wire: Wire<'_>, failed: Option<Failure>) -> Vec<Event> {
    let mut events = Vec::new();
    if let Some(usage) = &wire.usage {
        // Which of several models the turn was for is not said.
        let mut windows = wire.model_usage.values().filter_map(|each| each.context_window);
        let first = windows.next();
        let context_window = first.filter(|first| windows.all(|other| other == *first));
        events.push(Event::Usage { tokens: usage.tokens(), span: Span::Turn, context_window });
    }
    if let Some(usd) = wire.total_cost_usd {
        events.push(Event::Cost { usd });
    }
    let failure = api_failure(&wire, failed);
    events.push(Event::Result(TurnResult {
        is_error: wire.is_error,
        kind: wire.subtype.map(Cow::into_owned).unwrap_or_default(),
        reason: wire.terminal_reason,
        text: wire.result,
        errors: wire.errors,
        failure,
        agent_session_id: wire.session_id,
        turns: wire.num_turns,
        duration: wire.duration_ms.and_then(millis),
        session_tokens: (!wire.model_usage.is_empty())
            .then(|| wire.model_usage.values().map(ModelUsage::total).sum()),
        denied: wire.permission_denials.into_iter().map(|denial| denial.tool_name).collect(),
    }));
    events
}

/// The failed request that a result is about. The error before it has a word for it, where the
/// result may not even have a status (nobody is logged in).
fn api_failure(wire: &Wire<'_>, failed: Option<Failure>) -> Option<Failure> {
    let too_long = wire.terminal_reason.as_deref() == Some("prompt_too_long");
    let by_api = too_long || wire.terminal_reason.as_deref() == Some("api_error");
    let text = wire.result.clone().unwrap_or_default();
    let status = wire.api_error_status.or_else(|| stated(&text));
    let is_poor = text.starts_with(NO_CREDIT);
    if !wire.is_error || !(by_api || is_poor || status.is_some()) {
        return None;
    }
    let mut failure = match (status, failed) {
        (None, Some(failed)) => Failure { message: text, ..failed },
        // The status is that of a wrong request; only the word says that money is the matter.
        (status, Some(failed)) if failed.kind == FailureKind::Billing => {
            Failure { kind: FailureKind::Billing, status, message: text }
        }
        (status, _) => failure(status, is_poor.then_some("billing_error"), text),
    };
    if too_long {
        failure.kind = FailureKind::PromptTooLong;
    }
    Some(failure)
}

/// How an error begins that has no status and is about money.
const NO_CREDIT: &str = "Credit balance is too low";

/// The status that the text of an error begins with; older versions give it nowhere else.
fn stated(text: &str) -> Option<u16> {
    let status = text.strip_prefix("API Error: ")?.get(..3)?.parse().ok()?;
    (400..600).contains(&status).then_some(status)
}

/// The agent's own word for an error, with the status where it has none.
fn failure(status: Option<u16>, word: Option<&str>, message: String) -> Failure {
    let kind = match word {
        Some("authentication_failed" | "oauth_org_not_allowed") => FailureKind::Auth,
        Some("rate_limit") => FailureKind::RateLimit,
        Some("overloaded") => FailureKind::Overloaded,
        Some("server_error") => FailureKind::Server,
        Some("model_not_found") => FailureKind::UnknownModel,
        Some("billing_error") => FailureKind::Billing,
        Some("invalid_request") => FailureKind::Request,
        _ => match status {
            Some(status) => FailureKind::of_answer(status, &message),
            None if word == Some("unknown") => FailureKind::Connection,
            None => FailureKind::Other,
        },
    };
    Failure { kind, status, message }
}

fn unknown(wire: &Wire<'_>) -> Event {
    let kind = match &wire.subtype {
        Some(subtype) => format!("{}/{subtype}", wire.kind),
        None => wire.kind.to_string(),
    };
    Event::Unknown { kind }
}

fn millis(ms: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(ms / 1000.0).ok()
}

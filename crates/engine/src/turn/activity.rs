//! What an agent is doing, in a line: told often enough to follow, not more often than that.

use std::time::{Duration, Instant};

use heirloom_agents::Event;
use serde_json::Value;

/// How often an activity is told at most.
const TELL: Duration = Duration::from_millis(200);

/// What an agent is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Activity {
    /// The tool, if it uses one.
    pub(crate) tool: Option<String>,
    /// What it says, or what it uses the tool on.
    pub(crate) text: String,
}

impl Activity {
    /// What an event says the agent is doing, if anything.
    pub(crate) fn of(event: &Event) -> Option<Self> {
        match event {
            Event::ToolCall { name, input, .. } => {
                Some(Self { tool: Some(name.clone()), text: about(input) })
            }
            Event::Text { text } if !text.trim().is_empty() => {
                Some(Self { tool: None, text: text.clone() })
            }
            event => waiting(event).map(|text| Self { tool: None, text }),
        }
    }
}

/// What an agent waits for that says nothing meanwhile: a request that is made again, a limit that is
/// not lifted yet.
pub fn waiting(event: &Event) -> Option<String> {
    match event {
        Event::Retry { failure, attempt, max, delay } => {
            let of = max.map(|max| format!(" of {max}")).unwrap_or_default();
            let after = delay.map(|delay| format!(", in {}s", delay.as_secs())).unwrap_or_default();
            let status = failure.status.map(|status| format!(" {status}")).unwrap_or_default();
            let why = failure.message.lines().next().unwrap_or_default();
            let why = if why.is_empty() { String::new() } else { format!(": {why}") };
            let kind = failure.kind.as_str();
            Some(format!(
                "the model does not answer ({kind}{status}), attempt {attempt}{of}{after}{why}"
            ))
        }
        Event::Limit { exhausted: true, until } => {
            let until = until.map(|until| format!(" until {until}")).unwrap_or_default();
            Some(format!("the account's limit is reached{until}"))
        }
        _ => None,
    }
}

/// What a tool is used on: the first of the fields that tell people most.
fn about(input: &Value) -> String {
    const FIELDS: [&str; 8] =
        ["command", "file_path", "path", "pattern", "query", "url", "description", "prompt"];
    let found = FIELDS.iter().find_map(|field| input.get(field)?.as_str());
    found.unwrap_or_default().to_owned()
}

/// Lets something through now and then.
#[derive(Debug, Default)]
pub(crate) struct Throttle(Option<Instant>);

impl Throttle {
    /// Whether enough time has passed since it last said so.
    pub(crate) fn is_due(&mut self, now: Instant) -> bool {
        let due = self.0.is_none_or(|told| now.saturating_duration_since(told) >= TELL);
        if due {
            self.0 = Some(now);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_activity_is_told_five_times_a_second() {
        let (mut throttle, start) = (Throttle::default(), Instant::now());
        let times = (0..1000).map(|ms| start + Duration::from_millis(ms));
        assert_eq!(times.filter(|now| throttle.is_due(*now)).count(), 5);
    }

    #[test]
    fn a_tool_is_told_with_what_it_is_used_on_and_silence_is_nothing() {
        let event = Event::ToolCall {
            id: "1".to_owned(),
            name: "Bash".to_owned(),
            input: serde_json::json!({"description": "list", "command": "ls"}),
        };
        let activity = Activity { tool: Some("Bash".to_owned()), text: "ls".to_owned() };
        assert_eq!(Activity::of(&event), Some(activity));
        assert_eq!(Activity::of(&Event::Text { text: "  ".to_owned() }), None);
    }
}

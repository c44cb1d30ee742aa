//! Entries from the events of a live stream, for an agent whose transcript is its stream.

use super::does::tool_use;
use super::entry::{By, Entries, Entry, What, Whereabouts};
use crate::event::{Event, Reader};

/// A stream's reader, read as a transcript's.
#[derive(Debug)]
pub(super) struct FromEvents(Box<dyn Reader>);

impl FromEvents {
    pub(super) fn new(reader: Box<dyn Reader>) -> Self {
        Self(reader)
    }
}

impl Entries for FromEvents {
    fn read(&mut self, line: &[u8], entries: &mut Vec<Entry>) {
        let parsed = self.0.read(line);
        let (at, subagent, id) = (parsed.at, parsed.subagent, parsed.message);
        for what in parsed.events.into_iter().flat_map(understand) {
            let (id, subagent) = (id.clone(), subagent.clone());
            entries.push(Entry { at, id, subagent, ..Entry::of(what) });
        }
    }

    /// A stream's reader may keep anything.
    fn resumable(&self) -> bool {
        false
    }
}

fn understand(event: Event) -> Vec<What> {
    vec![match event {
        Event::Started { agent_session_id, model, version } => {
            let agent_session_id = Some(agent_session_id);
            let place = What::Whereabouts(Whereabouts {
                agent_session_id,
                version,
                ..Whereabouts::default()
            });
            let model = model.map(|name| What::Model { name });
            return std::iter::once(place).chain(model).collect();
        }
        Event::Prompt { text } => What::Prompt { text, by: By::Unknown },
        Event::Text { text } => What::Answer { text },
        Event::Thinking { text } if text.is_empty() => return Vec::new(),
        Event::Thinking { text } => What::Thinking { text },
        Event::ToolCall { id, name, input } => tool_use(id, name, input),
        Event::ToolResult { id, is_error, text } => {
            What::ToolResult { id, text, is_error, exit: None, goes_on: false }
        }
        Event::Usage { tokens, span, context_window } => {
            What::Usage { message: None, tokens, span, window: context_window }
        }
        Event::Cost { usd } => What::Cost { usd, total: true },
        Event::Compacted { trigger } => {
            What::Compaction { auto: trigger.map(|trigger| trigger == "auto"), tokens_before: None }
        }
        Event::Interrupted => What::Interrupted,
        Event::Result(result) => What::TurnEnd { is_error: result.is_error },
        Event::Error(failure) => What::Failed { text: failure.message },
        Event::Unknown { kind } => What::Unknown { kind },
        _ => return Vec::new(),
    }]
}

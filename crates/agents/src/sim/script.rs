//! Scripts: what the simulation says and does, a JSON object a line.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value};

/// One step. Every field that is given happens, in the order of this struct.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Step {
    /// Waits.
    pub(super) sleep_ms: Option<u64>,
    /// Prints this line as it is.
    pub(super) raw: Option<String>,
    /// Prints this to stderr.
    pub(super) stderr: Option<String>,
    /// Prints this many lines at once.
    pub(super) flood: Option<u64>,
    pub(super) write: Option<File>,
    /// Merges these fields into the status file.
    pub(super) status: Option<Map<String, Value>>,
    /// Appends to the progress page.
    pub(super) progress: Option<String>,
    /// Ends the process with this code, without another word.
    pub(super) exit: Option<i32>,
    /// Dies.
    pub(super) crash: bool,
    /// Waits for ever.
    pub(super) hang: bool,
    /// The request to the model fails with this status; 0 is a cut connection.
    pub(super) fail: Option<u16>,
    /// The words of that failure.
    pub(super) message: Option<String>,
    /// The model thinks.
    pub(super) think: Option<String>,
    /// The model speaks and goes on.
    pub(super) text: Option<String>,
    /// The model uses a tool.
    pub(super) tool: Option<String>,
    pub(super) input: Value,
    /// The model speaks, and its turn ends.
    pub(super) say: Option<String>,
    /// From here on this step is repeated for ever.
    pub(super) always: bool,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct File {
    pub(super) path: PathBuf,
    pub(super) content: String,
}

impl Step {
    /// Whether the model is asked for it.
    pub(super) const fn is_request(&self) -> bool {
        self.think.is_some()
            || self.text.is_some()
            || self.tool.is_some()
            || self.say.is_some()
            || self.fail.is_some()
            || self.hang
    }
}

/// The steps of a script, with the line of the first one that is none.
pub(super) fn parse(text: &str) -> Result<Vec<Step>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let step = |(number, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| format!("script line {}: {error}", number + 1))
    };
    lines.map(step).collect()
}

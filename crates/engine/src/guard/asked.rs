//! A tool use that a person is asked about: what it triggered counts only once it ran.
//!
//! An agent says before each use that it is about to happen, and only then whether somebody has to
//! permit it. So the last use that triggered something is remembered until it is known.

use std::path::PathBuf;

use heirloom_agents::hook::ToolUse;
use heirloom_core::digest;
use heirloom_repo::file;

use super::cache;
use super::hook::Call;

/// Remembers the use that triggered these requirements.
pub(super) fn remember(call: &Call<'_>, tool: &ToolUse, names: &[&str]) {
    let text = format!("{}\n{}", mark(call, tool), names.join("\n"));
    cache::write(&file(call), text.as_bytes());
}

/// What this use triggered, if it is the one that is remembered.
pub(super) fn triggered_by(call: &Call<'_>, tool: &ToolUse) -> Vec<String> {
    let text = file::read_to_string(file(call)).unwrap_or_default();
    let mut lines = text.lines();
    if lines.next() != Some(mark(call, tool).as_str()) {
        return Vec::new();
    }
    forget(call);
    lines.map(str::to_owned).collect()
}

/// Something that requirements are about ran: what is triggered, is.
pub(super) fn forget(call: &Call<'_>) {
    let _ = file::remove_file(file(call));
}

fn mark(call: &Call<'_>, tool: &ToolUse) -> String {
    let input = tool.input.to_string();
    digest::short_of(&[call.branch.as_str().as_bytes(), tool.name.as_bytes(), input.as_bytes()])
}

fn file(call: &Call<'_>) -> PathBuf {
    cache::file(call.here, "asked", &[call.caller.agent_session_id.as_bytes()])
}

//! Known failures: what earlier contexts tried in vain is said once more when it is about to be tried again.
//!
//! Found at the start of a context and kept in a small file of its own; a tool use only looks into that,
//! and where nothing is known there is no file. It never blocks.

use heirloom_agents::hook::ToolUse;
use heirloom_core::recover::Failure;
use heirloom_repo::file;
use serde::{Deserialize, Serialize};

use super::cache;
use super::hook::Call;

/// So many are told in one session.
const MOST_TOLD: usize = 3;

/// So many are remembered.
const MOST: usize = 50;

/// What is known, and how often something of it was told.
#[derive(Debug, Serialize, Deserialize)]
struct Remembered {
    told: usize,
    failures: Vec<Failure>,
}

/// Remembers what is known to fail for the context that begins.
pub(super) fn remember(call: &Call<'_>, mut failures: Vec<Failure>) {
    let file = cache::file(call.here, "failures", &[call.event.agent_session_id.as_bytes()]);
    failures.truncate(MOST);
    if failures.is_empty() {
        let _ = file::remove_file(file);
        return;
    }
    if let Ok(text) = serde_json::to_vec(&Remembered { told: 0, failures }) {
        cache::write(&file, &text);
    }
}

/// Adds a line of context where a command is about to be tried that is known to fail; each once.
pub(super) fn tell(call: &mut Call<'_>, tool: &ToolUse) {
    let Some(command) = tool.text("command").filter(|_| tool.name == "Bash") else { return };
    let file = cache::file(call.here, "failures", &[call.event.agent_session_id.as_bytes()]);
    let Ok(text) = file::read(&file) else { return };
    let Ok(mut known) = serde_json::from_slice::<Remembered>(&text) else { return };
    let same = known.failures.iter().position(|failure| failure.command == command.trim());
    let Some(at) = same.filter(|_| known.told < MOST_TOLD) else { return };
    let failure = known.failures.remove(at);
    known.told += 1;
    if let Ok(text) = serde_json::to_vec(&known) {
        cache::write(&file, &text);
    }
    if call.said.answer.context.is_none() && call.said.answer.block.is_none() {
        call.said.answer.context = Some(failure.told());
    }
}

//! What agents take beside hooks: commands of ours that a person calls by name, and MCP tools.

use std::fs;

use heirloom_agents::Agent;
use heirloom_agents::kit::{Kit, Part};

use super::target::Target;
use super::{Request, SetupAction, hooks};
use crate::agents::AgentStatus;
use crate::here::Here;

/// Puts it in; nothing is said where it is there already.
pub(super) fn install(
    here: &Here,
    agent: &dyn Agent,
    known: &AgentStatus,
    request: Request<'_>,
) -> Option<SetupAction> {
    let kit = agent.kit(&here.env)?;
    let mut is_new = false;
    for part in &kit.parts {
        match with(part, request.program, |target| target.put(here, request.is_rehearsal)) {
            Ok(changed) => is_new |= changed,
            Err(problem) => return Some(SetupAction::new("failed", hooks::title(known), problem)),
        }
    }
    let detail = format!("commands such as {}, and MCP tools", kit.call);
    is_new.then(|| SetupAction::new("added", hooks::title(known), detail))
}

/// Whether all of it is there.
pub fn is_installed(here: &Here, agent: &dyn Agent, program: &str) -> Option<bool> {
    let Kit { parts, .. } = agent.kit(&here.env)?;
    Some(parts.iter().all(|part| {
        let text = heirloom_repo::read_text(&part.file).ok().flatten();
        let with = part.install(text.as_deref(), program).ok();
        // What a person made of a command of ours is as good.
        text.is_some() && (part.is_own() || text == with)
    }))
}

pub(super) fn remove(here: &Here, agent: &dyn Agent, request: Request<'_>) -> Vec<SetupAction> {
    let Some(kit) = agent.kit(&here.env) else { return Vec::new() };
    let take = |part| with(part, request.program, |target| target.take(here, request.is_rehearsal));
    let (own, other): (Vec<&Part>, Vec<&Part>) = kit.parts.iter().partition(|part| part.is_own());
    let taken: Vec<SetupAction> = own.into_iter().filter_map(take).collect();
    let mut steps: Vec<SetupAction> = other.into_iter().filter_map(take).collect();
    if !request.is_rehearsal {
        // Only goes what nothing is left in.
        for directory in &kit.directories {
            let _ = fs::remove_dir(directory);
        }
    }
    let (failed, gone): (Vec<SetupAction>, Vec<SetupAction>) =
        taken.into_iter().partition(SetupAction::is_failed);
    steps.extend(failed);
    if !gone.is_empty() {
        let detail = "they did not exist before; this affects all your repositories";
        steps.push(SetupAction::new("removed", format!("commands such as {}", kit.call), detail));
    }
    steps
}

fn with<T>(part: &Part, program: &str, then: impl FnOnce(&Target<'_>) -> T) -> T {
    then(&Target {
        file: &part.file,
        is_own: part.is_own(),
        install: &|text| part.install(text, program),
        uninstall: &|text| part.uninstall(text),
    })
}

//! Hooks in the settings of agents.

use heirloom_agents::Agent;
use heirloom_agents::hook::{Hooks, Obstacle};
use heirloom_core::causes;
use heirloom_repo::read_text;

use super::target::Target;
use super::{Request, SetupAction};
use crate::agents::AgentStatus;
use crate::here::Here;

/// Whether an agent calls our hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hooking {
    Hooked,
    /// Its plugin does.
    Plugged(&'static str),
    /// They are in its settings and come with its plugin as well.
    Twice(&'static str),
    /// They are in its settings, but call another program or are those of an earlier version.
    Outdated,
    /// They are not in its settings, or not all of them.
    Missing,
    /// They are there, but it does not run them.
    Held(Obstacle),
    /// Its settings cannot be read.
    Unreadable(String),
}

/// Whether an agent calls our hooks with `program`.
pub fn hooking(here: &Here, agent: &dyn Agent, program: &str) -> Option<Hooking> {
    let hooks = agent.hooks()?;
    if let Some(obstacle) = hooks.switched_off(&here.place.root, &here.env) {
        return Some(Hooking::Held(obstacle));
    }
    let settings = in_settings(here, hooks, program);
    Some(match (hooks.plugin(&here.env), settings) {
        (Some(plugin), Hooking::Missing) => Hooking::Plugged(plugin),
        (Some(plugin), Hooking::Hooked | Hooking::Outdated) => Hooking::Twice(plugin),
        (_, settings) => settings,
    })
}

/// Whether the agent's settings have our hooks.
fn in_settings(here: &Here, hooks: &dyn Hooks, program: &str) -> Hooking {
    let mut held = None;
    let mut is_outdated = false;
    for file in hooks.files(&here.place.root, &here.env) {
        let text = match read_text(&file) {
            Ok(Some(text)) => text,
            Ok(None) => return Hooking::Missing,
            Err(error) => return Hooking::Unreadable(causes::told(&error)),
        };
        if !hooks.is_installed(&file, &text, program) {
            // Taking ours out changes nothing where there are none.
            match hooks.uninstall(&file, &text) {
                Ok(Some(without)) if without == text => return Hooking::Missing,
                Ok(_) => is_outdated = true,
                Err(error) => return Hooking::Unreadable(causes::told(&error)),
            }
        }
        held = held.or_else(|| hooks.obstacle(&file, &text, &here.env));
    }
    match held {
        _ if is_outdated => Hooking::Outdated,
        Some(obstacle) => Hooking::Held(obstacle),
        None => Hooking::Hooked,
    }
}

pub(super) fn install(
    here: &Here,
    agent: &dyn Agent,
    known: &AgentStatus,
    request: Request<'_>,
) -> SetupAction {
    let title = title(known);
    let Some(hooks) = agent.hooks() else {
        return SetupAction::new("skipped", title, "it has no hooks");
    };
    let files = hooks.files(&here.place.root, &here.env);
    let is_users = files.iter().all(|file| !file.starts_with(&here.place.root));
    let mut is_new = false;
    for file in &files {
        let target = Target {
            file,
            is_own: false,
            install: &|text| hooks.install(file, text, request.program),
            uninstall: &|text| hooks.uninstall(file, text),
        };
        match target.put(here, request.is_rehearsal) {
            Ok(changed) => is_new |= changed,
            Err(problem) => return SetupAction::new("failed", title, problem),
        }
    }
    let place =
        if is_users { "user settings, active only where .heirloom/ is" } else { "this repository" };
    if let Some(Hooking::Held(obstacle)) = hooking(here, agent, request.program) {
        let detail = format!("needs you once: {}", obstacle.remedy);
        return SetupAction { needs_you: true, ..SetupAction::new("hooked", title, detail) };
    }
    let detail = if is_new { place.to_owned() } else { format!("{place}, already") };
    SetupAction::new("hooked", title, detail)
}

/// An agent with its version, where that is known.
pub(super) fn title(known: &AgentStatus) -> String {
    match &known.version {
        Some(version) => format!("{} {version}", known.title),
        None => known.title.to_owned(),
    }
}

pub(super) fn remove(here: &Here, agent: &dyn Agent, request: Request<'_>) -> Vec<SetupAction> {
    let Some(hooks) = agent.hooks() else { return Vec::new() };
    let files = hooks.files(&here.place.root, &here.env).into_iter();
    files
        .filter_map(|file| {
            let target = Target {
                file: &file,
                is_own: false,
                install: &|text| hooks.install(&file, text, request.program),
                uninstall: &|text| hooks.uninstall(&file, text),
            };
            target.take(here, request.is_rehearsal)
        })
        .collect()
}

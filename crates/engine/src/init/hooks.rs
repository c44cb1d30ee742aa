//! Hooks in the settings of agents.

use std::fs;
use std::path::Path;

use heirloom_agents::Agent;
use heirloom_agents::hook::{Hooks, Obstacle};
use heirloom_core::causes;
use heirloom_repo::{read_text, write_whole};

use super::original::{forget, keep, kept};
use super::{Request, Step};
use crate::agents::Known;
use crate::here::Here;

/// Whether an agent calls our hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hooking {
    /// It does.
    Hooked,
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
    let mut held = None;
    for file in hooks.files(&here.place.root, &here.env) {
        let text = match read_text(&file) {
            Ok(Some(text)) => text,
            Ok(None) => return Some(Hooking::Missing),
            Err(error) => return Some(Hooking::Unreadable(causes::told(&error))),
        };
        if !hooks.is_installed(&file, &text, program) {
            return Some(Hooking::Missing);
        }
        held = held.or_else(|| hooks.obstacle(&file, &text, &here.env));
    }
    Some(held.map_or(Hooking::Hooked, Hooking::Held))
}

pub(super) fn install(here: &Here, agent: &dyn Agent, known: &Known, request: Request<'_>) -> Step {
    let title = match &known.version {
        Some(version) => format!("{} {version}", known.title),
        None => known.title.to_owned(),
    };
    let Some(hooks) = agent.hooks() else { return Step::new("skipped", title, "it has no hooks") };
    let files = hooks.files(&here.place.root, &here.env);
    let is_users = files.iter().all(|file| !file.starts_with(&here.place.root));
    let mut is_new = false;
    for file in &files {
        match install_one(here, hooks, file, request) {
            Ok(changed) => is_new |= changed,
            Err(problem) => return Step::new("failed", title, problem),
        }
    }
    let place =
        if is_users { "user settings, active only where .heirloom/ is" } else { "this repository" };
    if let Some(Hooking::Held(obstacle)) = hooking(here, agent, request.program) {
        let detail = format!("needs you once: {}", obstacle.remedy);
        return Step { needs_you: true, ..Step::new("hooked", title, detail) };
    }
    let detail = if is_new { place.to_owned() } else { format!("{place}, already") };
    Step::new("hooked", title, detail)
}

/// Whether anything had to change.
fn install_one(
    here: &Here,
    hooks: &dyn Hooks,
    file: &Path,
    request: Request<'_>,
) -> Result<bool, String> {
    let text = read_text(file).map_err(|error| causes::told(&error))?;
    let after =
        hooks.install(file, text.as_deref(), request.program).map_err(|error| error.to_string())?;
    if text.as_deref() == Some(after.as_str()) {
        return Ok(false);
    }
    if !request.is_rehearsal {
        let before = match text.as_deref().and_then(|text| kept(&here.home, file, text)) {
            Some(original) => original.before,
            None => match &text {
                // Ours are in it already: what it was before them is what it is without them.
                Some(text) => hooks.uninstall(file, text).map_err(|error| error.to_string())?,
                None => None,
            },
        };
        keep(&here.home, file, before, &after).map_err(|error| causes::told(&error))?;
        write_whole(file, after.as_bytes()).map_err(|error| causes::told(&error))?;
    }
    Ok(true)
}

pub(super) fn remove(here: &Here, agent: &dyn Agent, request: Request<'_>) -> Vec<Step> {
    let Some(hooks) = agent.hooks() else { return Vec::new() };
    let files = hooks.files(&here.place.root, &here.env).into_iter();
    files.filter_map(|file| remove_one(here, hooks, &file, request)).collect()
}

fn remove_one(here: &Here, hooks: &dyn Hooks, file: &Path, request: Request<'_>) -> Option<Step> {
    let shown = file.display().to_string();
    let text = match read_text(file) {
        Ok(text) => text?,
        Err(error) => return Some(Step::new("failed", shown, causes::told(&error))),
    };
    let (after, how) = match kept(&here.home, file, &text) {
        Some(original) => (original.before, "to the byte what it was"),
        None => match hooks.uninstall(file, &text) {
            Ok(after) => (after, "our hooks are out, the rest is as it is"),
            Err(error) => return Some(Step::new("failed", shown, error.to_string())),
        },
    };
    if after.as_deref() == Some(text.as_str()) {
        return None;
    }
    if !request.is_rehearsal {
        let written = match &after {
            Some(after) => {
                write_whole(file, after.as_bytes()).map_err(|error| causes::told(&error))
            }
            None => fs::remove_file(file).map_err(|error| error.to_string()),
        };
        if let Err(problem) = written {
            return Some(Step::new("failed", shown, problem));
        }
        forget(&here.home, file);
    }
    let is_users = !file.starts_with(&here.place.root);
    let reach = if is_users { "; that is for every repository of yours" } else { "" };
    Some(match after {
        Some(_) => Step::new("restored", shown, format!("{how}{reach}")),
        None => Step::new("removed", shown, format!("it was not there before{reach}")),
    })
}

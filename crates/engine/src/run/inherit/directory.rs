//! A run directory, as a source: this engine's own, and the original engine's.
//!
//! What cannot be read in it costs itself and a warning. Only a `state.json` that is not there or
//! not JSON makes the whole directory unusable: then nobody knows what it is.

use std::fs;
use std::path::{Path, PathBuf};

use heirloom_core::evidence::Evidence;
use heirloom_core::inherit::{self, Category, Item, Source};
use heirloom_core::name::SessionName;
use heirloom_core::run::Reported;
use heirloom_core::run::status_file;
use heirloom_core::status::Status;
use heirloom_repo::{inside, read_bytes, read_text};
use serde_json::Value;

use super::recorded::beginning_and_end;
use crate::evidence::within;
use crate::here::Here;

/// Where run directories are, in the worktree.
const ROOTS: [&str; 2] = [".heirloom/runs", ".claude/pipeline-runs"];
/// How deep the directories of iterations lie at most.
const DEPTH: usize = 6;
/// What the agent reports in: ours and the original engine's older word for it.
const REPORTS: [&str; 2] = ["status.json", "result.json"];

/// The run directory of a session.
pub(super) fn find(here: &Here, name: &SessionName) -> Option<PathBuf> {
    let places = ROOTS.iter().map(|root| here.place.root.join(root).join(name.as_str()));
    places.into_iter().find(|path| path.is_dir())
}

/// The names of the sessions that have a run directory.
pub(super) fn names(here: &Here) -> Vec<String> {
    let roots = ROOTS.iter().map(|root| here.place.root.join(root));
    let entries = roots.filter_map(|root| fs::read_dir(root).ok()).flatten().flatten();
    let directories = entries.filter(|entry| entry.path().is_dir());
    let names = directories.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.parse::<SessionName>().is_ok()).collect();
    names.sort();
    names
}

/// What the directory holds, and the session it comes from.
pub(super) fn read(
    here: &Here,
    path: &Path,
    name: &SessionName,
) -> Result<(Source, Option<SessionName>), String> {
    let root = &here.place.root;
    let path = &inside(root, path).map_err(|error| error.to_string())?;
    let text = read_text(&path.join("state.json"))
        .map_err(|error| format!("its state.json cannot be read ({})", error.source))?
        .ok_or("it has no state.json")?;
    let state: Value = serde_json::from_str(&text)
        .map_err(|error| format!("its state.json is not valid JSON ({error})"))?;
    let mut source = Source::new(name.as_str());
    source.status = state["status"].as_str().and_then(status);
    source.completed_at = state["completed_at"].as_str().and_then(|at| at.parse().ok());
    let mut iterations = Vec::new();
    collect(path, DEPTH, &mut iterations);
    for (index, iteration) in iterations.iter().enumerate() {
        read_iteration(here, iteration, &mut source);
        if index == 0 {
            source.inherited = inherited(iteration, &mut source.raised);
        }
    }
    source.progress_page = progress(path, name);
    let parent = state["parent_session"].as_str().and_then(|parent| parent.parse().ok());
    Ok((source, parent))
}

fn status(word: &str) -> Option<Status> {
    match word {
        "complete" => Some(Status::Completed),
        word => word.parse().ok(),
    }
}

/// The directories of iterations below `path`, by stage and number.
fn collect(path: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    if depth == 0 {
        return;
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let mut below: Vec<PathBuf> =
        entries.filter(|e| e.file_type().is_ok_and(|t| t.is_dir())).map(|e| e.path()).collect();
    below.sort();
    if path.file_name().is_some_and(|name| name == "iterations") {
        let number = |path: &PathBuf| -> Option<u64> {
            path.file_name()?
                .to_str()
                .filter(|n| n.bytes().all(|b| b.is_ascii_digit()))?
                .parse()
                .ok()
        };
        below.retain(|path| number(path).is_some());
        below.sort_by_key(number);
        return found.append(&mut below);
    }
    for directory in below {
        collect(&directory, depth - 1, found);
    }
}

fn read_iteration(here: &Here, iteration: &Path, source: &mut Source) {
    for report in REPORTS {
        let path = iteration.join(report);
        let Ok(Some(bytes)) = read_bytes(&path) else { continue };
        let (report, findings) = status_file::parse(&bytes);
        let Some(report) = report else {
            let why = findings.first().map(|finding| finding.problem.clone()).unwrap_or_default();
            let place = path.strip_prefix(&here.place.root).unwrap_or(&path);
            source.raised.push(format!("{} is skipped: {why}", place.display()));
            continue;
        };
        source.items.extend(report.notes.into_iter().filter_map(|note| item(here, note)));
    }
}

fn item(here: &Here, note: Reported) -> Option<Item> {
    let category = Category::of(note.kind).filter(|category| *category != Category::Progress)?;
    let root = &here.place.root;
    let known = |evidence: Evidence| {
        let path = within(root, root, &evidence.path)?;
        Some(Evidence { path: path.to_string_lossy().into_owned(), ..evidence })
    };
    Some(Item {
        rationale: note.rationale,
        evidence: note.evidence.into_iter().filter_map(known).collect(),
        ..Item::new(category, note.text)
    })
}

/// What the session had inherited itself; the same in all its iterations.
fn inherited(iteration: &Path, raised: &mut Vec<String>) -> Option<inherit::Inherited> {
    let text = read_text(&iteration.join("context.json")).ok()??;
    let context: Value = serde_json::from_str(&text).ok()?;
    let block = context
        .get("inherited")
        .filter(|block| block.as_object().is_some_and(|fields| !fields.is_empty()))?;
    let (block, warnings) = inherit::read(block);
    raised.extend(warnings);
    Some(block)
}

/// The session's page first, then those of its stages.
fn progress(path: &Path, name: &SessionName) -> String {
    let mut pages = vec![beginning_and_end(&path.join(format!("progress-{name}.md")))];
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let mut stages: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    stages.sort();
    pages.extend(stages.iter().map(|stage| beginning_and_end(&stage.join("progress.md"))));
    pages.retain(|page| !page.trim().is_empty());
    pages.join("\n")
}

//! A session of the ledger, as a source.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use heirloom_core::event::{RunInherited, RunPlanned};
use heirloom_core::inherit::Source;
use heirloom_core::session::Session;
use heirloom_ledger::{Error, Ledger, NoteFilter};
use serde_json::Value;

use crate::here::Here;
use crate::identity;
use crate::run::dir::RunDir;

/// How much of the beginning and of the end of a page is read. A page grows with the iterations;
/// what is inherited of it does not.
const PART: u64 = 64 << 10;
/// How many summaries stand in for a page that is gone.
const SUMMARIES: usize = 20;

pub(super) fn read(here: &Here, ledger: &Ledger, session: &Session) -> Result<Source, Error> {
    let mut source = Source::new(session.name.as_str());
    source.status = Some(session.status);
    source.completed_at = session.completed_at;
    let filter =
        NoteFilter { session: Some(session.id), superseded: true, ..NoteFilter::default() };
    // What was only proposed is not handed on as if somebody had noted it.
    for note in ledger.notes(&filter)?.into_iter().filter(|note| note.proposed_by().is_none()) {
        source.add(note);
    }
    let key = session.id.to_string();
    let block = ledger.kept::<RunInherited>(&session.repo, &key)?;
    source.inherited = block.map(|kept| kept.body.inherited);
    source.progress_page = page(here, ledger, session)?;
    if source.progress_page.is_empty() && source.progress_notes.is_empty() {
        let iterations = ledger.iterations(session.id)?;
        let summaries = iterations.into_iter().filter_map(|iteration| iteration.summary);
        let summaries: Vec<String> = summaries.collect();
        let from = summaries.len().saturating_sub(SUMMARIES);
        source.progress_notes.extend_from_slice(&summaries[from..]);
    }
    Ok(source)
}

/// The text of the session's progress page, if its run directory is still there.
fn page(here: &Here, ledger: &Ledger, session: &Session) -> Result<String, Error> {
    let planned = ledger.kept::<RunPlanned>(&session.repo, &session.id.to_string())?;
    let recorded =
        planned.map(|kept| identity::where_now(here, ledger, &kept.body.run_dir)).transpose()?;
    let dir = match recorded {
        Some(path) => RunDir::at(path, &session.name),
        None => RunDir::new(&here.place.root, &session.name),
    };
    // A session that was started over left its directory to another one of the same name.
    let state: Value = heirloom_repo::read_text(&dir.state())
        .ok()
        .flatten()
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    if state["id"].as_str() != Some(session.id.to_string().as_str()) {
        return Ok(String::new());
    }
    let mut pages = vec![beginning_and_end(&dir.progress())];
    pages.extend(lane_pages(dir.path()));
    pages.retain(|page| !page.trim().is_empty());
    Ok(pages.join("\n"))
}

/// The pages of the agents of parallel blocks.
fn lane_pages(run_dir: &Path) -> Vec<String> {
    let under = |dir: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        paths
    };
    let is_block = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("parallel-"))
    };
    let blocks = under(run_dir).into_iter().filter(is_block);
    let lanes = blocks.flat_map(|block| under(&block));
    lanes.map(|lane| beginning_and_end(&lane.join("progress.md"))).collect()
}

/// A page, without its middle where it is long.
pub(super) fn beginning_and_end(path: &Path) -> String {
    let Ok(mut file) = heirloom_repo::open(path) else { return String::new() };
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let mut bytes = Vec::new();
    if length <= 2 * PART {
        let _ = file.read_to_end(&mut bytes);
        return String::from_utf8_lossy(&bytes).into_owned();
    }
    let _ = (&mut file).take(PART).read_to_end(&mut bytes);
    bytes.truncate(bytes.iter().rposition(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1));
    let mut end = Vec::new();
    if file.seek(SeekFrom::Start(length - PART)).is_ok() {
        let _ = file.read_to_end(&mut end);
    }
    let whole = end.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    bytes.extend_from_slice(&end[whole..]);
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_page_keeps_its_beginning_and_its_end_in_whole_lines() {
        let dir = tempfile::TempDir::new().unwrap();
        let path = dir.path().join("page.md");
        let lines: Vec<String> = (0..40_000).map(|n| format!("zeile {n} ü")).collect();
        std::fs::write(&path, lines.join("\n")).unwrap();
        let text = beginning_and_end(&path);
        assert!(text.len() < 140_000);
        assert!(text.starts_with("zeile 0 ü\n") && text.ends_with("zeile 39999 ü"));
        assert!(text.lines().all(|line| line.starts_with("zeile ") && line.ends_with('ü')));
    }
}

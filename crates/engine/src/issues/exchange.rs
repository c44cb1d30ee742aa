//! Issues into heirloom's own tracker and out of it, as beads' file has them.

use std::path::Path;

use heirloom_core::event::IssueImported;
use heirloom_core::issue::{Issue, read_text};
use heirloom_core::redact::redact_json;
use heirloom_ledger::{Ledger, Scope, Writer};
use serde::Serialize;
use serde_json::Value;

use super::TrackerError;
use super::jsonl::Document;
use crate::here::Here;
use crate::identity::{self, Look};

/// What an import did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Issues that are new here.
    pub created: usize,
    /// Issues that the file knows more about.
    pub updated: usize,
    /// Issues that were here already, just like that.
    pub unchanged: usize,
    /// Issues that changed here since the file was written; they stay as they are.
    pub kept: usize,
}

/// What importing an issue does.
enum Fate {
    Created,
    Updated,
    Unchanged,
    Kept,
}

/// Takes in the issues of a file, all or none. `path` is what errors call it.
///
/// Doing it twice changes nothing, and an issue that changed here since is never put back.
pub fn import(
    here: &Here,
    ledger: &mut Ledger,
    path: &Path,
    content: &[u8],
) -> Result<Imported, TrackerError> {
    let document = Document::read(path, content)?;
    let repo = &here.place.repo;
    let imported = ledger.write::<_, TrackerError>(here.clock.now(), |writer| {
        let mut imported = Imported::default();
        for issue in document.issues() {
            let (text, issue) = issue?;
            let count = match import_issue(writer, repo, text, &issue)? {
                Fate::Created => &mut imported.created,
                Fate::Updated => &mut imported.updated,
                Fate::Unchanged => &mut imported.unchanged,
                Fate::Kept => &mut imported.kept,
            };
            *count += 1;
        }
        Ok(imported)
    })?;
    identity::settle(here, ledger, Look::AtWork)?;
    Ok(imported)
}

fn import_issue(
    writer: &mut Writer<'_>,
    repo: &str,
    text: &str,
    issue: &Issue,
) -> Result<Fate, TrackerError> {
    let value = |text: &str| -> Result<Value, TrackerError> {
        serde_json::from_str(text).map_err(|error| TrackerError::Invalid { why: error.to_string() })
    };
    let mut new = value(text)?;
    // As it would be kept: what is here already went through the same door.
    redact_json(&mut new);
    let fate = match writer.issue_line(repo, &issue.id)? {
        None => Fate::Created,
        Some(known) if value(&known)? == new => return Ok(Fate::Unchanged),
        Some(known) => {
            let is_newer = read_text(&known).is_ok_and(|known| known.updated_at > issue.updated_at);
            if is_newer {
                return Ok(Fate::Kept);
            }
            Fate::Updated
        }
    };
    writer.append(Scope { session: None, repo: Some(repo) }, &IssueImported { issue: new })?;
    Ok(fate)
}

/// Every issue of heirloom's own tracker, one a line, by id.
pub fn export(here: &Here, ledger: &Ledger) -> Result<String, TrackerError> {
    let lines = ledger.issue_lines(&here.place.repo)?;
    Ok(lines.into_iter().flat_map(|line| [line, "\n".to_owned()]).collect())
}

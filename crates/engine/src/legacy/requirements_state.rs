//! Taking in the state files of the earlier framework, each once.

use std::fs;
use std::path::{Path, PathBuf};

use heirloom_core::event::RequirementsImported;
use heirloom_core::legacy::requirements_state as state_file;
use heirloom_ledger::{Error, Ledger, Scope};

use crate::guard::settle::{Whose, append};
use crate::here::Here;

/// What was taken in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imports {
    /// The entries that were taken in.
    pub entries: u64,
    /// What could not be read, with its file.
    pub problems: Vec<String>,
}

/// Takes in the state files that are new or have changed.
pub fn import(here: &Here, ledger: &mut Ledger) -> Result<Imports, Error> {
    let mut imports = Imports::default();
    let directory = directory(here);
    let Ok(entries) = fs::read_dir(&directory) else { return Ok(imports) };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    for file in files {
        one(here, ledger, &file, &mut imports)?;
    }
    Ok(imports)
}

fn directory(here: &Here) -> PathBuf {
    let repo = Path::new(&here.place.repo);
    let usual = repo.join(".git/requirements");
    if usual.is_dir() { usual } else { repo.join("requirements") }
}

fn one(here: &Here, ledger: &mut Ledger, file: &Path, imports: &mut Imports) -> Result<(), Error> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let name = format!("requirements/{name}");
    let Ok(Some(bytes)) = heirloom_repo::read_bytes(file) else {
        imports.problems.push(format!("{name} cannot be read"));
        return Ok(());
    };
    let hash = blake3::hash(&bytes).to_hex().to_string();
    if ledger.imported_requirements(&here.place.repo, &name)?.as_ref() == Some(&hash) {
        return Ok(());
    }
    let Ok(state) = serde_json::from_slice(&bytes) else {
        imports.problems.push(format!("{name} is not JSON"));
        return Ok(());
    };
    let now = here.clock.now();
    let read = state_file::read(&state, now);
    imports.problems.extend(read.skipped.iter().map(|place| format!("{name}: {place}")));
    imports.entries += read.changes.len() as u64;
    let whose = Whose { here, session: None, key: None };
    let imported = RequirementsImported {
        file: name,
        hash,
        entries: read.changes.len() as u64,
        skipped: read.skipped.len() as u64,
    };
    ledger.append_all(now, |appender| {
        read.changes.iter().try_for_each(|change| append(appender, whose, change))?;
        let scope = Scope { session: None, repo: Some(&here.place.repo) };
        appender.append(scope, &imported).map(drop)
    })
}

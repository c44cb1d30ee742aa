//! The original's run files, taken in once each.

use std::fs;
use std::path::{Path, PathBuf};

use heirloom_core::event::WorkImported;
use heirloom_core::legacy::work_runs::{BadRunFile, parse};
use heirloom_ledger::{Ledger, Scope};
use heirloom_repo::file;

use crate::here::Here;
use crate::work::WorkError;

/// How many files are taken in by one transaction.
const AT_ONCE: usize = 2000;

/// From how many on those who wait are told.
const MANY: usize = 2000;

/// Takes in the runs of the original that are not known yet, and tells how far it is where there are
/// many. Returns what could not be read.
pub(crate) fn import(
    here: &Here,
    ledger: &mut Ledger,
    tell: &dyn Fn(usize, usize),
) -> Result<Vec<String>, WorkError> {
    let new = unknown(here, ledger)?;
    let (mut bad, mut done) = (Vec::new(), 0);
    for some in new.chunks(AT_ONCE) {
        let runs: Vec<WorkImported> =
            some.iter().filter_map(|file| read(here, file, &mut bad)).collect();
        let scope = Scope { session: None, repo: Some(&here.place.repo) };
        ledger.take_in_work_runs(here.clock.now(), scope, &runs)?;
        done += some.len();
        if new.len() >= MANY {
            tell(done, new.len());
        }
    }
    Ok(bad)
}

/// What would be taken in.
pub(crate) fn look(here: &Here, ledger: &Ledger) -> Result<Vec<WorkImported>, WorkError> {
    let new = unknown(here, ledger)?;
    Ok(new.iter().filter_map(|file| read(here, file, &mut Vec::new())).collect())
}

/// The files that were not taken in yet.
fn unknown(here: &Here, ledger: &Ledger) -> Result<Vec<PathBuf>, WorkError> {
    let mut files: Vec<PathBuf> =
        directories(here).iter().flat_map(|directory| run_files(directory)).collect();
    if !files.is_empty() {
        let known = ledger.imported_work_runs(&here.place.repo)?;
        files.retain(|file| !known.contains(&name(file)));
    }
    Ok(files)
}

fn read(here: &Here, file: &Path, bad: &mut Vec<String>) -> Option<WorkImported> {
    let root = &here.place.root;
    let is_here = |repo: &str| {
        let repo = Path::new(repo);
        repo == root
            || repo == Path::new(&here.place.repo)
            || repo.canonicalize().is_ok_and(|repo| repo == *root)
    };
    let problem = |why: String| format!("{}: {why}", file.display());
    match file::read_to_string(file) {
        Err(error) => bad.push(problem(error.source.to_string())),
        Ok(content) => match parse(&name(file), &content, is_here) {
            Ok(run) => return Some(run),
            // Two paths may share a directory of the original: that is nobody's mistake.
            Err(BadRunFile::Elsewhere { .. }) => {}
            Err(error) => bad.push(problem(error.to_string())),
        },
    }
    None
}

/// Where the original keeps the runs of this repository: by its settings, and where it once did.
fn directories(here: &Here) -> Vec<PathBuf> {
    let home = here.var("HOME").map(PathBuf::from);
    let config = here.var("XDG_CONFIG_HOME").map(PathBuf::from);
    let config = config.or_else(|| home.as_ref().map(|home| home.join(".config")));
    let roots = match here.var("MALA_RUNS_DIR") {
        Some(directory) => vec![PathBuf::from(directory)],
        None => [
            config.map(|config| config.join("mala/runs")),
            home.map(|home| home.join(".mala/runs")),
        ]
        .into_iter()
        .flatten()
        .collect(),
    };
    let mut encoded = vec![encode(&here.place.root)];
    let repo = encode(Path::new(&here.place.repo));
    if !encoded.contains(&repo) {
        encoded.push(repo);
    }
    roots.iter().flat_map(|root| encoded.iter().map(|name| root.join(name))).collect()
}

/// A path as the original names its directory: its parts with `-` between them.
fn encode(path: &Path) -> String {
    let parts = path.components().filter_map(|part| match part {
        std::path::Component::Normal(part) => Some(part.to_string_lossy().replace('_', "-")),
        _ => None,
    });
    format!("-{}", parts.collect::<Vec<_>>().join("-"))
}

fn run_files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|ext| ext == "json")).collect();
    // As bytes: paths are compared part by part, and these have the same parts but for the last.
    files.sort_unstable_by(|one, other| one.as_os_str().cmp(other.as_os_str()));
    files
}

fn name(file: &Path) -> String {
    file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_named_as_the_original_names_it() {
        assert_eq!(encode(Path::new("/tmp/a_b/c.d")), "-tmp-a-b-c.d");
    }
}

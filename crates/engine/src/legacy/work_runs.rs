//! The original's run files, taken in once each.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use heirloom_core::event::WorkImported;
use heirloom_core::legacy::work_runs::{BadRunFile, parse};
use heirloom_ledger::{Ledger, Scope};
use heirloom_repo::file::Directory;

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
    let total = new.iter().map(|files| files.names.len()).sum();
    let (mut bad, mut done) = (Vec::new(), 0);
    for Files { directory, names } in &new {
        let mut reader = Reader::new(here, directory, &mut bad);
        for some in names.chunks(AT_ONCE) {
            // All before the transaction: others wait for the ledger as long as that goes on.
            let runs: Vec<WorkImported> =
                some.iter().filter_map(|name| reader.read(name)).collect();
            let scope = Scope { session: None, repo: Some(&here.place.repo) };
            ledger.take_in_work_runs(here.clock.now(), scope, &runs)?;
            done += some.len();
            if total >= MANY {
                tell(done, total);
            }
        }
    }
    Ok(bad)
}

/// What would be taken in.
pub(crate) fn look(here: &Here, ledger: &Ledger) -> Result<Vec<WorkImported>, WorkError> {
    let (mut bad, mut runs) = (Vec::new(), Vec::new());
    for Files { directory, names } in unknown(here, ledger)? {
        let mut reader = Reader::new(here, &directory, &mut bad);
        runs.extend(names.iter().filter_map(|name| reader.read(name)));
    }
    Ok(runs)
}

/// Run files of one directory.
struct Files {
    directory: PathBuf,
    names: Vec<OsString>,
}

/// The files that were not taken in yet.
fn unknown(here: &Here, ledger: &Ledger) -> Result<Vec<Files>, WorkError> {
    let within = |directory: PathBuf| Files { names: run_files(&directory), directory };
    let mut files: Vec<Files> = directories(here).into_iter().map(within).collect();
    files.retain(|files| !files.names.is_empty());
    if !files.is_empty() {
        let known = ledger.imported_work_runs(&here.place.repo)?;
        let is_new = |name: &OsString| !known.contains(&*name.to_string_lossy());
        for files in &mut files {
            files.names.retain(is_new);
        }
    }
    Ok(files)
}

/// Reads the runs of one directory, one at a time.
struct Reader<'a> {
    here: &'a Here,
    path: &'a Path,
    directory: Option<Directory>,
    /// What was read last.
    text: String,
    bad: &'a mut Vec<String>,
}

impl<'a> Reader<'a> {
    fn new(here: &'a Here, path: &'a Path, bad: &'a mut Vec<String>) -> Self {
        let directory = Directory::open(path)
            .map_err(|error| bad.push(format!("{}: {}", path.display(), error.source)))
            .ok();
        Self { here, path, directory, text: String::new(), bad }
    }

    fn read(&mut self, name: &OsStr) -> Option<WorkImported> {
        let problem = |why: String| format!("{}: {why}", self.path.join(name).display());
        match self.directory.as_ref()?.read_text(name, &mut self.text) {
            Err(error) => self.bad.push(problem(error.source.to_string())),
            Ok(()) => match parse(&name.to_string_lossy(), &self.text, |repo| self.is_here(repo)) {
                Ok(run) => return Some(run),
                // Two paths may share a directory of the original: that is nobody's mistake.
                Err(BadRunFile::Elsewhere { .. }) => {}
                Err(error) => self.bad.push(problem(error.to_string())),
            },
        }
        None
    }

    fn is_here(&self, repo: &str) -> bool {
        let (root, repo) = (&self.here.place.root, Path::new(repo));
        // As text first, which they mostly are the same as.
        repo.as_os_str() == root.as_os_str()
            || repo == root
            || repo == Path::new(&self.here.place.repo)
            || repo.canonicalize().is_ok_and(|repo| repo == *root)
    }
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

fn run_files(directory: &Path) -> Vec<OsString> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<OsString> = entries
        .map(|entry| entry.file_name())
        .filter(|name| name.as_bytes().strip_suffix(b".json").is_some_and(|stem| !stem.is_empty()))
        .collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_named_as_the_original_names_it() {
        assert_eq!(encode(Path::new("/tmp/a_b/c.d")), "-tmp-a-b-c.d");
    }
}

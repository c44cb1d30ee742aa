//! Files of a run directory.
//!
//! They follow the ledger and can be made again from it, so they are replaced as a whole but not
//! forced to the disk: that would cost an iteration more than everything else the engine does.
//!
//! They lie in the repository and hold what agents said, so they are their owner's alone, and secrets are taken
//! out of everything that is written here. What an agent writes there itself stays as it wrote it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use heirloom_repo::file;
use heirloom_repo::{FileError, append_private, make_private_dir, replace_private};

use crate::turn::redacted;

pub(super) fn failed<'a>(
    doing: &'static str,
    path: &'a Path,
) -> impl FnOnce(io::Error) -> FileError + 'a {
    move |source| FileError { doing, path: path.to_owned(), source }
}

/// Replaces a file as a whole. Each file of a run directory has one writer.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    replace_private(path, &redacted(bytes)).map_err(failed("write", path))
}

pub(super) fn make_dir(path: &Path) -> Result<(), FileError> {
    make_private_dir(path).map_err(failed("make the directory", path))
}

/// Appends to a file, which is made where it is missing.
pub(super) fn append(path: &Path, text: &str) -> Result<(), FileError> {
    append_private(path)
        .and_then(|mut file| file.write_all(&redacted(text.as_bytes())))
        .map_err(failed("write", path))
}

/// Moves `path` to the first free name `path.WORD-N`, if it is there.
pub(super) fn set_aside(path: &Path, word: &str) -> Result<Option<PathBuf>, FileError> {
    if !path.exists() {
        return Ok(None);
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let free = (1..).map(|n| path.with_file_name(format!("{name}.{word}-{n}")));
    let Some(aside) = free.into_iter().find(|aside| !aside.exists()) else { return Ok(None) };
    file::rename(path, &aside)?;
    Ok(Some(aside))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    #[test]
    fn what_is_set_aside_keeps_everything_that_was_set_aside_before() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("001");
        for n in 1..=2 {
            fs::create_dir(&path).unwrap();
            let aside = set_aside(&path, "attempt").unwrap().unwrap();
            assert_eq!(aside, dir.path().join(format!("001.attempt-{n}")));
        }
        assert_eq!(set_aside(&path, "attempt").unwrap(), None);
    }

    #[test]
    fn run_files_are_their_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let dir = TempDir::new().unwrap();
        let run = dir.path().join("runs/s");
        make_dir(&run).unwrap();
        replace(&run.join("state.json"), b"{}").unwrap();
        append(&run.join("progress.md"), "x").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&run), 0o700);
        for entry in fs::read_dir(&run).unwrap() {
            assert_eq!(mode(&entry.unwrap().path()), 0o600);
        }
    }
}

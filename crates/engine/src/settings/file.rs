//! Reading one file.

use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use heirloom_core::settings::{Diagnostic, Severity};
use heirloom_repo::file;

use super::SettingsFile;

/// The most a settings file may hold. Far above any honest one.
const LIMIT: u64 = 1024 * 1024;

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It was named, and is not there.
    #[error("the file is not there")]
    Missing,
    /// A link that leads nowhere.
    #[error("the file is a link to nothing")]
    LinkToNothing,
    /// A directory, a pipe or the like.
    #[error("this is not a file")]
    NotAFile,
    /// More than a settings file may hold.
    #[error("the file is larger than 1 MiB")]
    TooLarge,
    /// Bytes that are no text.
    #[error("the file is not UTF-8 text")]
    NotUtf8 {
        /// Line of the first such byte.
        line: u32,
        /// Its column, in characters.
        column: u32,
    },
    /// The system says no.
    #[error("the file cannot be read: {0}")]
    Io(#[source] io::Error),
}

impl FileError {
    /// As people see it.
    pub(super) fn diagnostic(&self, place: &SettingsFile) -> Diagnostic {
        let position = match self {
            Self::NotUtf8 { line, column } => Some((*line, *column)),
            _ => None,
        };
        Diagnostic {
            severity: Severity::Error,
            file: place.name.clone(),
            line: position.map(|(line, _)| line),
            column: position.map(|(_, column)| column),
            message: self.to_string(),
            hint: self.hint(place),
        }
    }

    fn hint(&self, place: &SettingsFile) -> Option<String> {
        let hint = match self {
            Self::Missing => "create it, or unset HEIRLOOM_CONFIG, which names it",
            Self::NotUtf8 { .. } => "save it as UTF-8",
            Self::Io(error) if error.kind() == ErrorKind::NotADirectory => {
                return place
                    .path
                    .parent()
                    .map(|dir| format!("{} is not a directory", dir.display()));
            }
            Self::LinkToNothing | Self::NotAFile | Self::TooLarge | Self::Io(_) => return None,
        };
        Some(hint.to_owned())
    }
}

/// The text of the file; none when it is not there and need not be.
pub(super) fn read(place: &SettingsFile) -> Result<Option<String>, FileError> {
    if is_null_device(&place.path) {
        return Ok(None);
    }
    // Asked before opening: opening a pipe would wait for somebody to write to it.
    match fs::metadata(&place.path) {
        Ok(metadata) if metadata.is_file() => read_text(&place.path).map(Some),
        Ok(_) => Err(FileError::NotAFile),
        Err(error) if error.kind() != ErrorKind::NotFound => Err(FileError::Io(error)),
        Err(_) if fs::symlink_metadata(&place.path).is_ok() => Err(FileError::LinkToNothing),
        Err(_) if place.required => Err(FileError::Missing),
        Err(_) => Ok(None),
    }
}

/// `HEIRLOOM_CONFIG=/dev/null` is how one says "no user settings".
fn is_null_device(path: &Path) -> bool {
    path == Path::new(if cfg!(windows) { "NUL" } else { "/dev/null" })
}

fn read_text(path: &Path) -> Result<String, FileError> {
    let mut bytes = Vec::new();
    let file = file::open_any(path).map_err(|error| FileError::Io(error.source))?;
    file.take(LIMIT + 1).read_to_end(&mut bytes).map_err(FileError::Io)?;
    if bytes.len() as u64 > LIMIT {
        return Err(FileError::TooLarge);
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let text = String::from_utf8_lossy(good);
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let line = text.matches('\n').count() + 1;
        let column = text.chars().rev().take_while(|c| *c != '\n').count() + 1;
        FileError::NotUtf8 { line: number(line), column: number(column) }
    })
}

//! Conversations that are files below some directory.

use std::fmt;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::env::Env;
use crate::event::{Event, Parsed, Reader};
use crate::transcript::{Entries, Entry, Transcript, Transcripts, What};

/// Where an agent's conversations are, and how they are read.
pub struct Files {
    /// The directories that are looked through.
    pub(super) roots: fn(&Env) -> Vec<PathBuf>,
    /// How many directories deep.
    pub(super) depth: usize,
    /// The id of the conversation that a file is, from its path.
    pub(super) id: fn(&Path) -> Option<String>,
    pub(super) entries: fn() -> Box<dyn Entries>,
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Files")
    }
}

/// Below the person's home.
pub(super) fn below_home(env: &Env, path: &str) -> Vec<PathBuf> {
    crate::env::path(env, "HOME").map(|home| home.join(path)).into_iter().collect()
}

/// At most so many bytes from the beginning of a file.
pub(super) fn beginning(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    heirloom_repo::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The name of a file without its end, where it has that end.
pub(super) fn stem(path: &Path, end: &str) -> Option<String> {
    let name = path.file_name()?.to_str()?.strip_suffix(end)?;
    (!name.is_empty()).then(|| name.to_owned())
}

impl Transcripts for Files {
    fn list(&self, env: &Env, cwd: Option<&Path>) -> Vec<Transcript> {
        let mut found = Vec::new();
        for root in (self.roots)(env) {
            self.walk(&root, self.depth, &mut found);
        }
        if let Some(cwd) = cwd {
            found.retain(|each| self.began_in(&each.path, cwd));
        }
        found
    }

    fn identify(&self, path: &Path) -> Option<Transcript> {
        let agent_session_id = (self.id)(path)?;
        Some(Transcript { path: path.to_owned(), agent_session_id, subagent: None })
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(Events(self.entries()))
    }

    fn entries(&self) -> Box<dyn Entries> {
        (self.entries)()
    }
}

impl Files {
    fn walk(&self, directory: &Path, depth: usize, found: &mut Vec<Transcript>) {
        let Ok(entries) = std::fs::read_dir(directory) else { return };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            // A link could lead anywhere, and round in circles.
            let Ok(kind) = path.symlink_metadata() else { continue };
            if kind.is_dir() && depth > 0 {
                self.walk(&path, depth - 1, found);
            } else if kind.is_file() {
                found.extend(self.identify(&path));
            }
        }
    }

    /// Whether a conversation says that it was begun in this directory. One that does not say where
    /// belongs to none.
    fn began_in(&self, path: &Path, cwd: &Path) -> bool {
        const BEGINNING: u64 = 64 << 10;
        let Ok(bytes) = beginning(path, BEGINNING) else { return false };
        let mut reader = self.entries();
        let mut entries = Vec::new();
        for line in bytes.split(|byte| *byte == b'\n') {
            reader.read(line, &mut entries);
        }
        entries.iter().any(|entry| match &entry.what {
            What::Whereabouts(place) => place.cwd.as_deref().is_some_and(|at| Path::new(at) == cwd),
            _ => false,
        })
    }
}

/// Entries as the events of a stream.
struct Events(Box<dyn Entries>);

impl Reader for Events {
    fn read(&mut self, line: &[u8]) -> Parsed {
        let mut entries = Vec::new();
        self.0.read(line, &mut entries);
        let at = entries.iter().find_map(|entry| entry.at);
        let event = |entry: Entry| match entry.what {
            What::Prompt { text, .. } => Some(Event::Prompt { text }),
            What::Answer { text } => Some(Event::Text { text }),
            What::Thinking { text } => Some(Event::Thinking { text }),
            What::ToolUse { id, name, input, .. } => Some(Event::ToolCall { id, name, input }),
            What::ToolResult { id, text, is_error, .. } => {
                Some(Event::ToolResult { id, is_error, text })
            }
            What::Unknown { kind } => Some(Event::Unknown { kind }),
            _ => None,
        };
        Parsed { events: entries.into_iter().filter_map(event).collect(), at, ..Parsed::default() }
    }
}

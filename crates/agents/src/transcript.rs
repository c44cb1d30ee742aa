//! Transcripts: what an agent itself keeps of a conversation.

mod carried;
pub(crate) mod does;
pub mod entry;
mod from_events;

use std::io::{self, BufRead, Read as _};
use std::path::{Path, PathBuf};

use crate::env::Env;
use crate::event::{Parsed, Reader};
pub use carried::{Carried, Turn, Written};
pub use entry::{By, Does, Entries, Entry, Todo, TodoState, What, Whereabouts};

/// The longest first line that is looked at: whatever is longer does not say what the conversation is.
const LONGEST_HEAD: u64 = 4 << 20;

/// The first line of a transcript, as far as it is looked at.
pub(crate) fn first_line(path: &Path) -> Option<Vec<u8>> {
    let file = heirloom_repo::open(path).ok()?;
    let mut line = Vec::new();
    io::BufReader::new(file.take(LONGEST_HEAD)).read_until(b'\n', &mut line).ok()?;
    Some(line)
}

/// Where an agent keeps its transcripts, and how to read them.
pub trait Transcripts: Sync {
    /// All of them, or those of one directory that the agent worked in.
    fn list(&self, env: &Env, cwd: Option<&Path>) -> Vec<Transcript>;

    /// The one of a conversation, wherever the agent worked.
    fn find(&self, env: &Env, agent_session_id: &str) -> Option<Transcript> {
        let mut all = self.list(env, None).into_iter();
        all.find(|each| each.agent_session_id == agent_session_id && each.subagent.is_none())
    }

    /// Which conversation a file belongs to, from its path alone.
    fn identify(&self, path: &Path) -> Option<Transcript>;

    /// Reads its lines into the same events as the stream's.
    fn reader(&self) -> Box<dyn Reader>;

    /// Reads its lines into what was said and done, in the vocabulary of all agents.
    fn entries(&self) -> Box<dyn Entries> {
        Box::new(from_events::FromEvents::new(self.reader()))
    }

    /// Whether a file has the beginning of its conversation. An agent that outlived whoever started
    /// it goes on writing after its transcript was deleted, and resumes from the stump without a
    /// word.
    fn is_whole(&self, _path: &Path) -> bool {
        true
    }

    /// The database in which an agent keeps its conversations instead of files.
    fn database(&self, _env: &Env) -> Option<PathBuf> {
        None
    }

    /// A conversation of another agent as one of its own. `None` where its format cannot be written.
    fn write(&self, _env: &Env, _carried: &Carried<'_>) -> Option<Written> {
        None
    }

    /// The arguments with which an agent that keeps no files prints a conversation, for the same
    /// reader.
    fn export_args(&self, _agent_session_id: &str) -> Option<Vec<String>> {
        None
    }

    /// The arguments with which an agent that keeps no files deletes a conversation.
    fn delete_args(&self, _agent_session_id: &str) -> Option<Vec<String>> {
        None
    }
}

/// A transcript file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    pub path: PathBuf,
    /// The conversation.
    pub agent_session_id: String,
    /// The subagent, when it is the transcript of one.
    pub subagent: Option<String>,
}

/// Reads a transcript from `input`, line by line.
pub fn read<R: BufRead>(
    mut reader: Box<dyn Reader>,
    input: R,
) -> impl Iterator<Item = io::Result<Parsed>> {
    input.split(b'\n').map(move |line| line.map(|line| reader.read(entry::unmarked(&line))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_first_line_without_an_end_no_more_is_read_than_is_looked_at() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "x".repeat(5 << 20)).unwrap();
        let line = first_line(file.path()).unwrap();
        assert_eq!(line.len() as u64, LONGEST_HEAD);
    }
}

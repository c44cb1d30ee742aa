//! One writer per conversation.
//!
//! Claude Code resumes a conversation that another process is writing to without a word, and
//! the branch of one of the two is lost. So whoever resumes takes a lock first: a file per agent
//! session id, held by an advisory lock that the kernel lets go when its holder dies. The agent
//! may outlive us, so the file also names the agent's process: as long as that one runs, the
//! conversation is taken. Which process it is, is only known once it runs; so before that the file
//! names the mark the agent will carry in its environment.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use heirloom_core::digest;
use heirloom_repo::{LockFile, is_still_at};
use serde::{Deserialize, Serialize};

use crate::process::strays;
use crate::system::{Identity, began};

/// The right to write to a conversation, until it is dropped.
#[derive(Debug)]
pub struct SessionLock {
    agent_session_id: String,
    path: PathBuf,
    file: LockFile,
    holder: Holder,
}

/// What the file says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Holder {
    /// Who holds the lock.
    pid: u32,
    /// The mark that the agent's process carries.
    mark: Option<String>,
    /// The agent's process, once it runs.
    agent_pid: Option<u32>,
    /// When that began, so that a reused number is not taken for it.
    agent_began: Option<u64>,
}

impl Holder {
    /// The agent's process, if it may still run: what is written by two is lost, so that nothing is known of
    /// a process with its number is no leave to go on. One that was never named had just been started, or never
    /// was: its mark tells.
    fn living_agent(&self) -> Option<u32> {
        match (self.agent_pid, &self.mark) {
            (Some(pid), _) => (!Identity { pid, began: self.agent_began }.is_gone()).then_some(pid),
            (None, Some(mark)) => strays::bearer(mark),
            (None, None) => None,
        }
    }
}

/// Why the lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody else writes to the conversation.
    #[error("conversation {agent_session_id} of {agent} is in use by process {pid}")]
    Held {
        agent: String,
        /// The conversation.
        agent_session_id: String,
        pid: u32,
    },
    /// The file could not be used.
    #[error("cannot use the lock file {}", path.display())]
    Io {
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl SessionLock {
    /// Takes the lock, or says at once who has it.
    pub fn acquire(dir: &Path, agent: &str, agent_session_id: &str) -> Result<Self, LockError> {
        let path = dir.join(format!("{agent}-{}.lock", file_name(agent_session_id)));
        let failed = |source| LockError::Io { path: path.clone(), source };
        let held = |pid| LockError::Held {
            agent: agent.to_owned(),
            agent_session_id: agent_session_id.to_owned(),
            pid,
        };
        loop {
            let mut file = heirloom_repo::open_lock(&path).map_err(failed)?;
            let taken = match file.try_lock() {
                Ok(()) => false,
                Err(TryLockError::WouldBlock) => true,
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            };
            let holder = read(&mut file);
            if taken {
                return Err(held(holder.pid));
            }
            // Its last holder may have removed the file between our opening and locking it.
            if !is_still_at(&file, &path) {
                continue;
            }
            if let Some(pid) = holder.living_agent() {
                return Err(held(pid));
            }
            let agent_session_id = agent_session_id.to_owned();
            let holder = Holder { pid: std::process::id(), ..Holder::default() };
            let mut lock = Self { agent_session_id, path: path.clone(), file, holder };
            lock.write().map_err(failed)?;
            return Ok(lock);
        }
    }

    /// The conversation.
    pub fn agent_session_id(&self) -> &str {
        &self.agent_session_id
    }

    /// Notes the mark of the agent that is about to be started.
    pub(crate) fn names_mark(&mut self, mark: &str) -> io::Result<()> {
        self.holder.mark = Some(mark.to_owned());
        self.write()
    }

    /// Notes the agent's process, which may outlive this one.
    pub fn names_agent(&mut self, agent_pid: u32) -> io::Result<()> {
        self.holder.agent_began = began(agent_pid);
        self.holder.agent_pid = Some(agent_pid);
        self.write()
    }

    fn write(&mut self) -> io::Result<()> {
        let text = serde_json::to_vec(&self.holder)?;
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file.write_all(&text)
    }
}

impl Drop for SessionLock {
    fn drop(&mut self) {
        // Still locked, so nobody else can have taken this file in the meantime.
        let _ = heirloom_repo::file::remove_file(&self.path);
    }
}

/// The lock files in `dir` that nobody holds and whose agents are gone, which is how a killed
/// process leaves them; with `remove` they are removed.
pub fn stale(dir: &Path, remove: bool) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path()).filter(|path| is_ours(path));
    let stale = paths.filter(|path| {
        let Ok(mut file) =
            heirloom_repo::file::open_with(OpenOptions::new().read(true).write(true), path)
        else {
            return false;
        };
        let is_stale = file.try_lock().is_ok()
            && is_still_at(&file, path)
            && read(&mut file).living_agent().is_none();
        // Locked until it is gone, so nobody takes it in the meantime.
        is_stale && (!remove || heirloom_repo::file::remove_file(path).is_ok())
    });
    stale.collect()
}

/// Whether a file of the directory is the lock of a conversation: others keep theirs there too.
fn is_ours(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let of_agent = |agent: &&dyn crate::Agent| name.strip_prefix(agent.name())?.strip_prefix('-');
    let is_lock = path.extension().is_some_and(|end| end == "lock");
    is_lock && crate::ALL.iter().any(|agent| of_agent(agent).is_some())
}

fn read(file: &mut File) -> Holder {
    let mut text = Vec::new();
    let _ = file.rewind().and_then(|()| file.read_to_end(&mut text));
    serde_json::from_slice(&text).unwrap_or_default()
}

/// An id as a file name: what is not plain becomes its hexadecimal, what is long its beginning
/// and a sum.
fn file_name(id: &str) -> String {
    let mut name: String = id.bytes().map(plain).collect();
    if name.len() > 150 {
        name.truncate(120);
        name = format!("{name}-{}", digest::short(id));
    }
    name
}

fn plain(byte: u8) -> String {
    match byte {
        b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'-' | b'_' => char::from(byte).to_string(),
        _ => format!("%{byte:02x}"),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_second_one_is_told_who_holds_it() {
        let dir = tempfile::tempdir().unwrap();
        let first = SessionLock::acquire(dir.path(), "claude", "a").unwrap();
        let error = SessionLock::acquire(dir.path(), "claude", "a").unwrap_err();
        let pid = std::process::id();
        assert_eq!(
            error.to_string(),
            format!("conversation a of claude is in use by process {pid}")
        );
        assert!(SessionLock::acquire(dir.path(), "codex", "a").is_ok());
        drop(first);
        assert!(SessionLock::acquire(dir.path(), "claude", "a").is_ok());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn an_agent_that_outlives_its_holder_still_has_the_conversation() {
        let dir = tempfile::tempdir().unwrap();
        let mut agent = Command::new("sleep").arg("600").spawn().unwrap();
        let mut lock = SessionLock::acquire(dir.path(), "claude", "a").unwrap();
        lock.names_agent(agent.id()).unwrap();
        // As if the holder had been killed: the lock is gone, the file is not.
        lock.file.unlock().unwrap();
        std::mem::forget(lock);
        let error = SessionLock::acquire(dir.path(), "claude", "a").unwrap_err();
        assert!(matches!(error, LockError::Held { pid, .. } if pid == agent.id()));
        agent.kill().unwrap();
        agent.wait().unwrap();
        assert!(SessionLock::acquire(dir.path(), "claude", "a").is_ok());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_agent_that_was_not_yet_named_still_has_the_conversation() {
        let dir = tempfile::tempdir().unwrap();
        let mark = strays::Mark::new(&crate::Env::new());
        let mut lock = SessionLock::acquire(dir.path(), "claude", "a").unwrap();
        lock.names_mark(mark.own()).unwrap();
        let mut agent =
            Command::new("sleep").arg("600").env(strays::VARIABLE, mark.value()).spawn().unwrap();
        // As if the holder had been killed right after it started the agent.
        lock.file.unlock().unwrap();
        std::mem::forget(lock);
        let error = SessionLock::acquire(dir.path(), "claude", "a").unwrap_err();
        assert!(matches!(error, LockError::Held { pid, .. } if pid == agent.id()), "{error}");
        assert!(stale(dir.path(), true).is_empty());
        agent.kill().unwrap();
        agent.wait().unwrap();
        assert_eq!(stale(dir.path(), true).len(), 1);
        assert!(SessionLock::acquire(dir.path(), "claude", "a").is_ok());
    }

    #[test]
    fn an_id_never_leaves_the_directory() {
        assert_eq!(file_name("../../etc/passwd"), "%2e%2e%2f%2e%2e%2fetc%2fpasswd");
        assert!(file_name(&"x/".repeat(500)).len() < 200);
    }
}

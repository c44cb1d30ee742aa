//! From a session's config to a command line.
//!
//! Pure but for the files it makes: nothing is started here. What an agent cannot honour is
//! either refused (the launch would mean something else) or reported (it would only be less
//! pleasant); nothing is dropped in silence.

use std::ffi::OsString;
use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use heirloom_core::config::Config;
use tempfile::NamedTempFile;

use crate::env::Env;
use crate::program::{NotFound, Programs};

/// What is asked of an agent.
#[derive(Debug, Clone, Copy)]
pub struct Launch<'a> {
    /// How the session's agent is launched.
    pub config: &'a Config,
    /// What the agent is to do. Never part of the command line, where everyone could read it.
    pub prompt: &'a str,
    pub conversation: Conversation<'a>,
    /// Whether more will be said to it later.
    pub input: Input,
    /// Where it works.
    pub cwd: &'a Path,
    /// All of its environment (see [`crate::env::pass_on`]).
    pub env: &'a Env,
    /// Which programs are the agents.
    pub programs: &'a Programs,
    /// A directory for files that live as long as the process.
    pub scratch: &'a Path,
    /// Whether it runs with root's rights, which some agents refuse.
    pub as_root: bool,
}

/// Which conversation a launch is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversation<'a> {
    /// A new one, with this id where the agent lets us choose.
    New(Option<&'a str>),
    /// Go on with this one.
    Resume(&'a str),
    /// Go on with a copy of this one.
    Fork {
        /// The one that stays as it is.
        from: &'a str,
        /// The copy's id, where the agent lets us choose.
        id: Option<&'a str>,
    },
}

impl<'a> Conversation<'a> {
    /// The id whose absence or double use the agent would complain about.
    pub const fn asked_for(self) -> Option<&'a str> {
        match self {
            Self::New(id) => id,
            Self::Resume(id) | Self::Fork { from: id, .. } => Some(id),
        }
    }

    /// The conversation that this launch writes to, when it is known before the start.
    pub const fn written(self) -> Option<&'a str> {
        match self {
            Self::New(id) | Self::Fork { id, .. } => id,
            Self::Resume(id) => Some(id),
        }
    }
}

/// What happens to the agent's stdin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// The prompt, then the end.
    Once,
    /// It stays open: more prompts, answers to permission requests, an interrupt.
    Stream,
}

/// A command line, ready to run.
#[derive(Debug)]
pub struct CommandLine {
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its whole environment.
    pub env: Env,
    /// Where it runs.
    pub cwd: PathBuf,
    /// What it reads first.
    pub stdin: Vec<u8>,
    /// Whether its stdin stays open after that.
    pub input: Input,
    /// Files that must exist while it runs.
    pub files: Vec<ScratchFile>,
    /// The id its complaints would name ([`Conversation::asked_for`]).
    pub asked_for: Option<String>,
    /// The id it must announce ([`Conversation::written`]).
    pub expected_id: Option<String>,
    /// Settings that it runs without, and why.
    pub reports: Vec<Gap>,
}

impl CommandLine {
    /// The agent's program with nothing else said yet.
    pub fn new(agent: &'static str, launch: &Launch<'_>) -> Result<Self, LaunchError> {
        let program = launch.programs.resolve(agent, launch.env)?;
        Ok(Self {
            program: program.path,
            args: program.args.into_iter().map(OsString::from).collect(),
            env: launch.env.clone(),
            cwd: launch.cwd.to_owned(),
            stdin: launch.prompt.as_bytes().to_vec(),
            input: launch.input,
            files: Vec::new(),
            asked_for: launch.conversation.asked_for().map(str::to_owned),
            expected_id: launch.conversation.written().map(str::to_owned),
            reports: Vec::new(),
        })
    }

    /// Adds an argument.
    pub fn arg(&mut self, arg: impl Into<OsString>) -> &mut Self {
        self.args.push(arg.into());
        self
    }

    /// Adds a flag with its value.
    pub fn flag(&mut self, flag: &str, value: impl Into<OsString>) -> &mut Self {
        self.arg(flag).arg(value)
    }

    /// Puts `text` into a file that only the user can read and adds a flag that names it.
    pub fn file_flag(
        &mut self,
        flag: &str,
        text: &str,
        launch: &Launch<'_>,
    ) -> Result<&mut Self, LaunchError> {
        let file = ScratchFile::create(launch.scratch, text.as_bytes())?;
        self.flag(flag, file.path());
        self.files.push(file);
        Ok(self)
    }
}

/// A file of the user's own eyes, removed when dropped.
#[derive(Debug)]
pub struct ScratchFile {
    file: NamedTempFile,
    /// Where an agent finds it that looks in a place of its own.
    link: Option<PathBuf>,
}

impl ScratchFile {
    /// Makes it in `dir`, which is made too where it is missing.
    pub fn create(dir: &Path, content: &[u8]) -> Result<Self, LaunchError> {
        Self::named(dir, "", content)
    }

    /// As [`Self::create`], with a name that ends in `suffix`.
    pub fn named(dir: &Path, suffix: &str, content: &[u8]) -> Result<Self, LaunchError> {
        let failed = |source| LaunchError::Scratch { dir: dir.to_owned(), source };
        heirloom_repo::file::create_dir_all(dir).map_err(|error| failed(error.source))?;
        let mut file = tempfile::Builder::new()
            .prefix("agent-")
            .suffix(suffix)
            .permissions(Permissions::from_mode(0o600))
            .tempfile_in(dir)
            .map_err(failed)?;
        file.write_all(content).and_then(|()| file.flush()).map_err(failed)?;
        Ok(Self { file, link: None })
    }

    /// As [`Self::named`], with a link to it in `place`. What a killed process leaves there leads
    /// nowhere once `dir` is cleared, and holds nothing.
    pub fn linked(
        dir: &Path,
        place: &Path,
        suffix: &str,
        content: &[u8],
    ) -> Result<Self, LaunchError> {
        let mut scratch = Self::named(dir, suffix, content)?;
        let failed = |source| LaunchError::Scratch { dir: place.to_owned(), source };
        heirloom_repo::file::create_dir_all(place).map_err(|error| failed(error.source))?;
        let target = scratch.file.path().canonicalize().map_err(failed)?;
        let link = place.join(target.file_name().unwrap_or_default());
        std::os::unix::fs::symlink(&target, &link).map_err(failed)?;
        scratch.link = Some(link);
        Ok(scratch)
    }

    /// Where it is, or where it is looked for.
    pub fn path(&self) -> &Path {
        self.link.as_deref().unwrap_or_else(|| self.file.path())
    }
}

impl Drop for ScratchFile {
    fn drop(&mut self) {
        if let Some(link) = &self.link {
            let _ = heirloom_repo::file::remove_file(link);
        }
    }
}

/// A setting that an agent cannot honour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The field of the config, or `resume`, `fork`, `session_id`, `stream`.
    pub setting: &'static str,
    /// Why not, and what happens instead.
    pub why: &'static str,
}

/// Collects what an agent cannot honour while its command line is built.
#[derive(Debug)]
pub struct Gaps {
    agent: &'static str,
    refused: Vec<Gap>,
    reported: Vec<Gap>,
}

impl Gaps {
    /// None yet.
    pub const fn new(agent: &'static str) -> Self {
        Self { agent, refused: Vec::new(), reported: Vec::new() }
    }

    /// The launch would mean something else without this setting.
    pub fn refuse(&mut self, given: bool, setting: &'static str, why: &'static str) {
        if given {
            self.refused.push(Gap { setting, why });
        }
    }

    /// The launch goes on without this setting.
    pub fn report(&mut self, given: bool, setting: &'static str, why: &'static str) {
        if given {
            self.reported.push(Gap { setting, why });
        }
    }

    /// What is to be reported, or the refusal that names all of it at once.
    pub fn close(self) -> Result<Vec<Gap>, LaunchError> {
        if self.refused.is_empty() {
            return Ok(self.reported);
        }
        Err(LaunchError::Unsupported { agent: self.agent, settings: self.refused })
    }
}

/// Why there is no command line.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The agent cannot do what is asked.
    #[error("{agent} cannot honour {}", list(settings))]
    Unsupported {
        agent: &'static str,
        /// What it cannot do.
        settings: Vec<Gap>,
    },
    /// A setting's value is wrong for this agent.
    #[error("{agent} does not take `{value}` as {setting} ({expected})")]
    Invalid {
        agent: &'static str,
        setting: &'static str,
        value: String,
        /// What it takes.
        expected: &'static str,
    },
    /// The program is not there.
    #[error(transparent)]
    NotFound(#[from] NotFound),
    /// A file for the process could not be made.
    #[error("cannot write a temporary file in {}", dir.display())]
    Scratch {
        /// The directory.
        dir: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

fn list(settings: &[Gap]) -> String {
    let each = settings.iter().map(|gap| format!("{} ({})", gap.setting, gap.why));
    each.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scratch_file_is_for_the_users_eyes_and_gone_afterwards() {
        let dir = tempfile::tempdir().unwrap();
        let file = ScratchFile::create(&dir.path().join("new"), b"secret").unwrap();
        let path = file.path().to_owned();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read(&path).unwrap(), b"secret");
        drop(file);
        assert!(!path.exists());
    }

    #[test]
    fn what_an_agent_finds_in_a_place_of_its_own_is_only_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let (scratch, place) = (dir.path().join("scratch"), dir.path().join("home"));
        let file = ScratchFile::linked(&scratch, &place, ".toml", b"secret").unwrap();
        let path = file.path().to_owned();
        assert!(path.starts_with(&place) && path.is_symlink());
        assert_eq!(std::fs::read(&path).unwrap(), b"secret");
        // As after a crash: the scratch directory is cleared, the link is not.
        std::fs::remove_dir_all(&scratch).unwrap();
        assert!(std::fs::read(&path).is_err());
        drop(file);
        assert!(!path.is_symlink());
    }

    #[test]
    fn a_refusal_names_every_setting_at_once() {
        let mut gaps = Gaps::new("codex");
        gaps.refuse(true, "max_turns", "has no turn limit");
        gaps.refuse(false, "system_prompt", "cannot replace it");
        gaps.refuse(true, "session_id", "chooses its own");
        gaps.report(true, "title", "has no titles");
        insta::assert_snapshot!(gaps.close().unwrap_err(), @"codex cannot honour max_turns (has no turn limit), session_id (chooses its own)");
    }
}

//! Giving an agent a conversation as its own: as a file where it keeps them, or through its own program.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use heirloom_agents::transcript::Written;
use heirloom_agents::{Agent, Programs};
use heirloom_core::id::SessionId;
use heirloom_repo::{FileError, child, create_private};

use super::carry::CarryError;
use crate::capture::copies::{self, Copy};
use crate::here::Here;

/// How long an agent's program may take to take a conversation in, or to delete one. It starts in seconds, on a busy machine too.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);

/// A conversation that an agent has now.
pub(super) struct Given {
    /// The agent's own id of it.
    pub(super) id: String,
    /// Its file; `None` where the agent's program took it in.
    pub(super) path: Option<PathBuf>,
}

/// Writes a file that is not there yet, and remembers that it holds what was said in `session`.
pub(super) fn put(
    here: &Here,
    agent: &'static dyn Agent,
    session: SessionId,
    id: &str,
    (path, text): (PathBuf, &str),
) -> Result<Given, FileError> {
    let (agent, id) = (agent.name().to_owned(), id.to_owned());
    let copy = Copy { agent, id: id.clone(), path: Some(path.clone()) };
    copies::remember(&here.home, session, &copy)?;
    create_private(&path, text.as_bytes()).map_err(FileError::new("write", &path))?;
    Ok(Given { id, path: Some(path) })
}

/// Gives the agent what is written for it, to work in `directory`.
pub(super) fn give(
    here: &Here,
    programs: &Programs,
    agent: &'static dyn Agent,
    (session, id): (SessionId, &str),
    (written, directory): (Written, &Path),
) -> Result<Given, CarryError> {
    match written {
        Written::File { path, text } => Ok(put(here, agent, session, id, (path, &text))?),
        Written::Import { id, text, arguments } => {
            let copy = Copy { agent: agent.name().to_owned(), id: id.clone(), path: None };
            copies::remember(&here.home, session, &copy)?;
            hand_over(here, programs, agent, (&text, &arguments), (directory, PATIENCE))?;
            Ok(Given { id, path: None })
        }
    }
}

/// Lets the agent's own program take the conversation in: it keeps them in a database that is its own to
/// write. What it reads has no name, so that nothing is left of it, however this ends.
fn hand_over(
    here: &Here,
    programs: &Programs,
    agent: &'static dyn Agent,
    (text, arguments): (&str, &[String]),
    (directory, patience): (&Path, Duration),
) -> Result<(), CarryError> {
    let program = programs.resolve(agent.name(), &here.env)?;
    let mut command = child::leader(&program.path, &here.env);
    command.args(&program.args).args(arguments).arg("/dev/stdin").current_dir(directory);
    let refused = |said: String| CarryError::Refused { agent: agent.title(), said };
    let ran = run(&mut command, text, patience).map_err(|error| refused(error.to_string()))?;
    match ran {
        (Some(status), _) if status.success() => Ok(()),
        (Some(_), said) => {
            let last = said.trim().lines().last().unwrap_or("it failed without a word");
            Err(refused(last.to_owned()))
        }
        (None, _) => Err(refused(format!("it took longer than {} s", patience.as_secs()))),
    }
}

/// Runs a command that reads `text`, for so long. Returns how it ended, in time, and what it said of errors.
pub(crate) fn run(
    command: &mut std::process::Command,
    text: &str,
    patience: Duration,
) -> io::Result<(Option<ExitStatus>, String)> {
    let mut input = tempfile::tempfile()?;
    input.write_all(text.as_bytes())?;
    input.rewind()?;
    let mut errors = tempfile::tempfile()?;
    command.stdin(input).stdout(Stdio::null()).stderr(errors.try_clone()?);
    let status = child::wait(&mut command.spawn()?, patience)?;
    Ok((status, said(&mut errors)?))
}

fn said(errors: &mut File) -> io::Result<String> {
    const MOST: u64 = 64 << 10;
    let mut bytes = Vec::new();
    errors.rewind()?;
    errors.take(MOST).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_reads_what_it_is_given_and_its_last_words_are_kept() {
        let mut command = child::shell("cat /dev/stdin >&2; exit 3");
        let (status, said) = run(&mut command, "what was said", Duration::from_mins(1)).unwrap();
        assert_eq!((status.unwrap().code(), said.as_str()), (Some(3), "what was said"));
    }

    #[test]
    fn a_program_that_never_ends_is_ended() {
        let mut command = child::leader("/bin/sleep", [("PATH", "/bin")]);
        command.arg("600");
        let (status, _) = run(&mut command, "", Duration::from_millis(20)).unwrap();
        assert_eq!(status, None);
    }
}

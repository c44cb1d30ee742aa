//! Running a tracker's program once, and what it said.
//!
//! It writes to files instead of pipes: a helper that it leaves running may hold a pipe open for
//! ever, and a program that nobody reads from would stop half way.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use heirloom_repo::child;
use serde_json::Value;

use crate::here::Env;
use crate::issues::TrackerError;

/// The longest argument that is repeated in an error.
const SHOWN: usize = 60;

/// A tracker's program, ready to be asked.
#[derive(Debug, Clone)]
pub(super) struct Asker {
    pub(super) name: &'static str,
    pub(super) path: PathBuf,
    pub(super) cwd: PathBuf,
    pub(super) env: Env,
    pub(super) patience: Duration,
}

/// Why a question was not answered.
#[derive(Debug)]
pub(super) struct Unanswered {
    pub(super) question: String,
    /// The exit status, if it ended by itself.
    pub(super) exit: Option<i32>,
    /// The program's own word for what is wrong.
    pub(super) code: String,
    pub(super) message: String,
}

impl From<Unanswered> for TrackerError {
    fn from(failed: Unanswered) -> Self {
        Self::Program { program: failed.question, why: failed.message }
    }
}

impl Unanswered {
    /// Whether the program said something like that, in its code or in its message.
    pub(super) fn says(&self, words: &[&str]) -> bool {
        let said = format!("{} {}", self.code, self.message).to_lowercase();
        words.iter().any(|word| said.contains(word))
    }
}

impl Asker {
    /// Asks, and reads the answer.
    pub(super) fn ask(&self, arguments: &[&str]) -> Result<Value, Unanswered> {
        let stdout = self.tell(arguments)?;
        serde_json::from_str(stdout.trim()).map_err(|error| {
            let start = first_words(&stdout);
            self.unanswered(arguments, format!("its answer is not JSON ({error}): {start}"))
        })
    }

    /// Tells it to do something. Returns what it printed, whatever that is.
    pub(super) fn tell(&self, arguments: &[&str]) -> Result<String, Unanswered> {
        let (status, stdout, stderr) = self.run(arguments).map_err(|error| {
            let message = match error.kind() {
                io::ErrorKind::TimedOut => {
                    format!("it took longer than {} s", self.patience.as_secs_f32())
                }
                _ => error.to_string(),
            };
            self.unanswered(arguments, message)
        })?;
        let answer = serde_json::from_str::<Value>(stdout.trim()).ok();
        if status.success() && !answer.as_ref().is_some_and(is_error) {
            return Ok(stdout);
        }
        let complaint = complaint(answer.as_ref(), &stderr)
            .or_else(|| words(&stderr, &stdout).map(|message| (String::new(), message)));
        let (code, message) = complaint.unwrap_or_else(|| (String::new(), status.to_string()));
        Err(Unanswered { exit: status.code(), code, ..self.unanswered(arguments, message) })
    }

    fn unanswered(&self, arguments: &[&str], message: String) -> Unanswered {
        Unanswered { question: self.question(arguments), exit: None, code: String::new(), message }
    }

    /// The command as a person would type it, long texts cut.
    pub(super) fn question(&self, arguments: &[&str]) -> String {
        let shown = |text: &&str| {
            let line = text.lines().next().unwrap_or_default();
            let cut: String = line.chars().take(SHOWN).collect();
            let cut = if cut.len() < text.len() { format!("{cut}…") } else { cut };
            if cut.is_empty() || cut.contains(' ') { format!("\"{cut}\"") } else { cut }
        };
        let words: Vec<String> = arguments.iter().map(shown).collect();
        format!("{} {}", self.name, words.join(" "))
    }

    fn run(&self, arguments: &[&str]) -> io::Result<(ExitStatus, String, String)> {
        let (mut stdout, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
        let mut child = child::leader(&self.path, &self.env)
            .args(arguments)
            .current_dir(&self.cwd)
            // Its own talk about itself is nobody's answer.
            .env("RUST_LOG", "error")
            .env("NO_COLOR", "1")
            .stdout(stdout.try_clone()?)
            .stderr(stderr.try_clone()?)
            .spawn()?;
        let status = child::wait(&mut child, self.patience)?.ok_or(io::ErrorKind::TimedOut)?;
        Ok((status, content(&mut stdout)?, content(&mut stderr)?))
    }
}

fn content(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn is_error(answer: &Value) -> bool {
    answer.get("error").is_some_and(|error| !error.is_null())
}

/// What the program complains about: its code for it and its message, from either stream.
fn complaint(answer: Option<&Value>, stderr: &str) -> Option<(String, String)> {
    let from_stderr = stderr
        .find('{')
        .and_then(|start| serde_json::from_str::<Value>(stderr[start..].trim()).ok());
    answer.and_then(read_complaint).or_else(|| from_stderr.as_ref().and_then(read_complaint))
}

fn read_complaint(value: &Value) -> Option<(String, String)> {
    let error = value.get("error").unwrap_or(value);
    if let Some(message) = error.as_str() {
        return Some((String::new(), message.to_owned()));
    }
    let text = |names: [&str; 2]| {
        names.iter().find_map(|name| error.get(name)?.as_str()).map(str::to_owned)
    };
    let message = text(["message", "detail"])?;
    Some((text(["code", "kind"]).unwrap_or_default(), message))
}

/// The line of what was said that says most.
fn words(stderr: &str, stdout: &str) -> Option<String> {
    let lines =
        || stderr.lines().chain(stdout.lines()).map(str::trim).filter(|line| !line.is_empty());
    let is_error = |line: &&str| line.to_lowercase().starts_with("error");
    lines().find(is_error).or_else(|| lines().next_back()).map(str::to_owned)
}

fn first_words(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    if line.is_empty() { "it said nothing".to_owned() } else { line.chars().take(SHOWN).collect() }
}

/// The program called `name`, if it is on the path.
pub(super) fn on_path(name: &str, env: &Env) -> Option<PathBuf> {
    heirloom_agents::program::search(name, env)
}

/// The directory a tracker's program has to be run in: the one that holds `.beads`.
pub(super) fn root_of(beads: &Path) -> PathBuf {
    beads.parent().unwrap_or(beads).to_owned()
}

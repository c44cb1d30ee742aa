//! A home, a repository and a clock of their own, to run heirloom in.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::terminal::Terminal;

/// The time every command is run at, unless a test says otherwise.
pub const NOW: &str = "2026-01-12T15:30:00Z";

/// A place to run heirloom in that touches nothing of the person who runs the test.
#[derive(Debug)]
pub struct TestEnv {
    dir: TempDir,
    program: PathBuf,
    vars: Vec<(OsString, OsString)>,
}

impl TestEnv {
    /// A home and an empty git repository on `main` for `program`
    /// (`env!("CARGO_BIN_EXE_heirloom")`).
    pub fn new(program: &str) -> Self {
        let dir = TempDir::with_prefix("heirloom-test-").expect("a temporary directory");
        let env = Self { dir, program: program.into(), vars: Vec::new() };
        for place in [env.repo(), env.home(), env.user()] {
            fs::create_dir_all(place).expect("a directory below it");
        }
        // What a test writes into its repository is the person's own work. Tests of what a stranger's
        // repository may do take this away.
        env.write_user(&format!("trust: {{paths: [{}]}}\n", env.root().display()));
        env.git(&["init", "-q", "-b", "main"]);
        env.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
        env
    }

    /// Sets a variable for every command from here on.
    pub fn var(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.vars.push((name.into(), value.into()));
        self
    }

    /// With nothing but git and a shell on the PATH, whatever is installed where the tests run.
    pub fn without_agents(self) -> Self {
        let bin = self.user().join("bin");
        fs::create_dir_all(&bin).expect("a directory for programs");
        let path = std::env::var_os("PATH").expect("there is a PATH");
        for name in ["git", "sh"] {
            let mut places = std::env::split_paths(&path).map(|directory| directory.join(name));
            let program = places.find(|program| program.is_file()).expect("it is installed");
            std::os::unix::fs::symlink(program, bin.join(name)).expect("a link to it");
        }
        self.var("PATH", bin)
    }

    /// The repository.
    pub fn repo(&self) -> PathBuf {
        self.root().join("payments")
    }

    /// heirloom's home.
    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// The person's home.
    pub fn user(&self) -> PathBuf {
        self.root().join("user")
    }

    fn root(&self) -> PathBuf {
        fs::canonicalize(self.dir.path()).expect("the directory that was just made")
    }

    /// Writes a file of the repository.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.repo().join(path);
        fs::create_dir_all(path.parent().expect("a file has a directory")).expect("its directory");
        fs::write(path, text).expect("the file");
    }

    /// Writes the person's settings for all repositories.
    pub fn write_user(&self, text: &str) {
        let file = self.user().join(".config/heirloom/config.yaml");
        fs::create_dir_all(file.parent().expect("a file has a directory")).expect("its directory");
        fs::write(file, text).expect("the file");
    }

    /// Reads a file of the repository.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.repo().join(path)).expect("a file of the repository")
    }

    /// Makes a program of a script, in the person's home.
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.user().join(name);
        fs::write(&path, text).expect("a file in the home");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a file of our own");
        path
    }

    /// Runs git in the repository.
    pub fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=test", "-c", "user.email=test@localhost"])
            .args(arguments)
            .current_dir(self.repo())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .expect("git");
        assert!(output.status.success(), "git {arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// The command, ready to be run in the repository with nothing of the caller's environment but
    /// the path.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.place(&self.program);
        command.args(arguments);
        command
    }

    /// Runs heirloom on a terminal, with a person in front of it.
    pub fn terminal(&self, arguments: &[&str]) -> Terminal {
        self.wide_terminal(arguments, 80)
    }

    /// The same, on a terminal of so many columns.
    pub fn wide_terminal(&self, arguments: &[&str], columns: u16) -> Terminal {
        let mut command = self.place("setsid".as_ref());
        command.arg("--ctty").arg(&self.program).args(arguments).env("TERM", "xterm");
        Terminal::of_width(command, columns)
    }

    /// A program in the repository.
    fn place(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.repo())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            // A person at a terminal, whoever runs the tests.
            .env("HEIRLOOM_TEST_LINE", "bash|xterm")
            .env("HOME", self.user())
            .env("HEIRLOOM_HOME", self.home())
            .env("HEIRLOOM_CLOCK", NOW)
            .env("TZ", "UTC")
            .envs(self.vars.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs heirloom.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.ran(&self.command(arguments).stdin(Stdio::null()).output().expect("heirloom"))
    }

    /// Runs heirloom in another directory of the repository.
    pub fn run_in(&self, directory: &Path, arguments: &[&str]) -> Ran {
        let mut command = self.command(arguments);
        let output = command.current_dir(self.repo().join(directory)).stdin(Stdio::null()).output();
        self.ran(&output.expect("heirloom"))
    }

    /// Runs heirloom with `input` on its stdin.
    pub fn run_with(&self, arguments: &[&str], input: &[u8]) -> Ran {
        let mut command = self.command(arguments);
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().expect("heirloom");
        let mut stdin = child.stdin.take().expect("it was piped");
        // A command that does not want its input is free to close it.
        let _ = stdin.write_all(input);
        drop(stdin);
        self.ran(&child.wait_with_output().expect("heirloom"))
    }

    fn ran(&self, output: &Output) -> Ran {
        let root = self.root();
        let place = root.to_string_lossy();
        let clean = |bytes: &[u8]| text(bytes).replace(place.as_ref(), "[root]");
        let code = output.status.code().unwrap_or(-1);
        Ran { stdout: clean(&output.stdout), stderr: clean(&output.stderr), code }
    }
}

/// What a command printed, with the temporary directory called `[root]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// Its answer.
    pub stdout: String,
    /// Everything else it said.
    pub stderr: String,
    /// Its exit status; -1 if a signal ended it.
    pub code: i32,
}

impl Ran {
    /// The answer as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("not one JSON document ({error}): {self}"))
    }

    /// The same, for a command that has to succeed.
    #[track_caller]
    pub fn success(self) -> Self {
        assert_eq!(self.code, 0, "{self}");
        self
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.stdout)?;
        if !self.stderr.is_empty() {
            write!(f, "------- stderr -------\n{}", self.stderr)?;
        }
        if self.code == 0 { Ok(()) } else { write!(f, "[exit {}]", self.code) }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

//! Processes that heirloom starts, apart from git ([`quiet`](crate::quiet)). Each kind is made here and nowhere else,
//! so that what a child gets of ours (a terminal, an environment, a group) is decided once and not by a default.

#![expect(clippy::disallowed_methods, reason = "these are what takes its place")]

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// Where programs are looked for, where the environment of this process does not say it.
static PATH: OnceLock<OsString> = OnceLock::new();

/// Has programs looked for in these directories from now on, by everything that is started with our environment: what
/// that says instead came from a repository. Said once.
pub fn look_in(path: OsString) {
    let _ = PATH.set(path);
}

/// A program with our environment, but for what came into it from a repository.
pub(crate) fn with_ours(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    if let Some(path) = PATH.get() {
        command.env("PATH", path);
    }
    command
}

/// A program with that environment and no other, which leads a group of its own: a Ctrl-C in our terminal is not
/// for it, and it can be ended with everything it started.
pub fn leader<K: AsRef<OsStr>, V: AsRef<OsStr>>(
    program: impl AsRef<OsStr>,
    env: impl IntoIterator<Item = (K, V)>,
) -> Command {
    let mut command = Command::new(program);
    command.env_clear().envs(env).stdin(Stdio::null()).process_group(0);
    command
}

/// This program once more, in a group of its own: it outlives whoever started it.
pub fn ourselves() -> io::Result<Command> {
    let mut command = with_ours(std::env::current_exe()?);
    command.process_group(0);
    Ok(command)
}

/// A program that nobody hears and that hears nobody, with our environment.
pub fn silent(program: impl AsRef<OsStr>) -> Command {
    let mut command = with_ours(program);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// What a person wrote for a shell: their editor, their pager, a command of their settings.
pub fn shell(text: &str) -> Command {
    let mut command = with_ours("/bin/sh");
    command.arg("-c").arg(text);
    command
}

/// A program that takes our place at the terminal.
pub fn successor(program: impl AsRef<OsStr>) -> Command {
    with_ours(program)
}

/// Waits for the leader of a group. When it takes too long it is ended with everything it started, and there is no
/// status.
pub fn wait(child: &mut Child, patience: Duration) -> io::Result<Option<ExitStatus>> {
    let started = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if started.elapsed() > patience {
            end(child)?;
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

/// Ends the leader of a group that was not waited for yet, and everything in the group.
pub fn end(child: &mut Child) -> io::Result<ExitStatus> {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // Not yet reaped, so the number still means this group.
        let _ = kill_process_group(group, Signal::KILL);
    }
    child.wait()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn what_takes_too_long_is_ended_with_everything_it_started() {
        let mut command = leader("/bin/sh", [("PATH", "/usr/bin:/bin")]);
        command.args(["-c", "sleep 600 & echo on; wait"]).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        assert_eq!(wait(&mut child, Duration::from_millis(50)).unwrap(), None);
        let mut said = String::new();
        // Ends only when nobody is left who could write to it.
        child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(said.is_empty() || said == "on\n", "{said}");
    }

    #[test]
    fn what_ends_in_time_says_how() {
        let mut child = shell("exit 3").spawn().unwrap();
        let status = wait(&mut child, Duration::from_mins(10)).unwrap().unwrap();
        assert_eq!(status.code(), Some(3));
    }

    #[test]
    fn a_leader_has_the_environment_it_was_given_and_no_other() {
        let output = leader("/usr/bin/env", [("ONE", "1")]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "ONE=1\n");
    }
}

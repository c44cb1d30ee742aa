//! git that waits for what never comes.
//!
//! A FIFO in the place of a file that git reads keeps it waiting in the call that opens it. What git opens is its own
//! affair: settings, references, every `.gitignore`. So no list of such files is looked through before; a process
//! that does not get out of one and the same call that opens a file is ended.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Output};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::discover::{common_dir, discover};

/// How often git is looked at, and how often in a row it may be found in the same call.
const LOOK: Duration = Duration::from_millis(250);
const MOST_LOOKS: u32 = 8;
/// How long git may take altogether, whatever it does.
const LONGEST: Duration = Duration::from_mins(10);
/// How long git is not asked again in a directory where it had to be ended.
const AVOIDED: Duration = Duration::from_mins(1);
/// The most settings that git is made to read. It reads them letter by letter, again in every process.
const MOST_SETTINGS: u64 = 16 * 1024 * 1024;

/// The repositories where git had to be ended, and when.
static ENDED: Mutex<Option<HashMap<PathBuf, Instant>>> = Mutex::new(None);

/// What a git in `root` says that `start` starts, with both of its outputs piped or closed.
pub(crate) fn output(root: &Path, start: impl FnOnce() -> io::Result<Child>) -> io::Result<Output> {
    let waits = || io::Error::new(io::ErrorKind::TimedOut, "it waits for a file that never ends");
    if is_avoided(root) || has_too_many_settings(root) {
        return Err(waits());
    }
    let child = start()?;
    let pid = child.id();
    let (done, is_done) = mpsc::channel::<()>();
    let watcher = thread::Builder::new().spawn(move || watch(pid, &is_done))?;
    let output = child.wait_with_output();
    drop(done);
    if watcher.join().unwrap_or_default() {
        avoid(root);
        return Err(waits());
    }
    output
}

/// Keeps git from being asked in a repository for a while, in none of its worktrees.
pub(crate) fn avoid(root: &Path) {
    let mut ended = ENDED.lock().unwrap_or_else(PoisonError::into_inner);
    ended.get_or_insert_with(HashMap::new).insert(repository(root), Instant::now());
}

fn is_avoided(root: &Path) -> bool {
    let ended = ENDED.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(ended) = ended.as_ref().filter(|ended| !ended.is_empty()) else { return false };
    ended.get(&repository(root)).is_some_and(|at| at.elapsed() < AVOIDED)
}

/// What the worktrees of a repository share.
fn repository(root: &Path) -> PathBuf {
    discover(root).git_dir.map_or_else(|| root.to_owned(), |git_dir| common_dir(&git_dir))
}

fn has_too_many_settings(root: &Path) -> bool {
    let config = discover(root).git_dir.map(|git_dir| common_dir(&git_dir).join("config"));
    let found = config.and_then(|config| fs::metadata(config).ok());
    found.is_some_and(|found| found.len() > MOST_SETTINGS)
}

/// Ends git where it is stuck, and says whether it was.
fn watch(pid: u32, is_done: &Receiver<()>) -> bool {
    let began = Instant::now();
    let mut seen: HashMap<(u32, String), u32> = HashMap::new();
    while is_done.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        let opening = family(pid).into_iter().filter_map(|pid| Some((pid, opening(pid)?)));
        seen = opening.map(|call| (call.clone(), seen.get(&call).unwrap_or(&0) + 1)).collect();
        if seen.values().any(|looks| *looks >= MOST_LOOKS) || began.elapsed() > LONGEST {
            for pid in family(pid).into_iter().rev() {
                end(pid);
            }
            return true;
        }
    }
    false
}

fn end(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// A process, those it started, and those that they started.
fn family(pid: u32) -> Vec<u32> {
    let mut family = vec![pid];
    let mut at = 0;
    while let Some(parent) = family.get(at).copied().filter(|_| at < 64) {
        let listed = format!("/proc/{parent}/task/{parent}/children");
        let listed = crate::file::read_to_string(listed).unwrap_or_default();
        family.extend(listed.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
        at += 1;
    }
    family
}

/// The call by which a process is opening a file, with its arguments and how often it has waited so far; nothing where
/// it does something else, or where the system does not say.
///
/// One that waits for a slow disk is not sleeping, and one that opens many files has waited more often each time.
fn opening(pid: u32) -> Option<String> {
    let number = match std::env::consts::ARCH {
        "x86_64" => "257 ",
        "aarch64" => "56 ",
        _ => return None,
    };
    let call = crate::file::read_to_string(format!("/proc/{pid}/syscall")).ok()?;
    if !call.starts_with(number) {
        return None;
    }
    waiting(&call, &crate::file::read_to_string(format!("/proc/{pid}/status")).ok()?)
}

/// A call that waits, by what the system says of the process that makes it.
fn waiting(call: &str, status: &str) -> Option<String> {
    let line = |name: &str| status.lines().find(|line| line.starts_with(name));
    line("State:").filter(|state| state.contains("S (sleeping)"))?;
    Some(format!("{call}{}", line("voluntary_ctxt_switches:")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{changes, git, worktree};
    use std::process::Command;
    use tempfile::TempDir;

    fn repository() -> TempDir {
        let dir = TempDir::new().unwrap();
        let ran = Command::new("git")
            .current_dir(dir.path())
            .args(["init", "-q", "-b", "main"])
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .status();
        assert!(ran.unwrap().success());
        fs::write(dir.path().join("a"), "1\n").unwrap();
        worktree::keep(dir.path(), "refs/heads/main", "first").unwrap();
        dir
    }

    fn fifo(path: &Path) {
        let _ = fs::remove_file(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    #[cfg(target_os = "linux")]
    #[test]
    fn a_fifo_anywhere_that_git_looks_keeps_nobody_waiting() {
        let files = [
            ".git/config",
            ".git/packed-refs",
            ".git/info/exclude",
            ".git/info/attributes",
            ".git/refs/heads/main",
            ".git/objects/info/alternates",
            ".gitignore",
            ".gitattributes",
            "deep/.gitignore",
        ];
        thread::scope(|threads| {
            for file in files {
                threads.spawn(move || {
                    let dir = repository();
                    fifo(&dir.path().join(file));
                    let place = discover(dir.path());
                    let commit = git::commit(&place);
                    assert!(file != ".git/config" || commit.is_none(), "{commit:?}");
                    git::files(&place);
                    changes::changed(&place, &[]);
                    let _ = worktree::keep(dir.path(), "refs/heirloom/x", "again");
                });
            }
        });
    }

    #[test]
    fn a_slow_disk_and_many_files_are_no_fifo() {
        let status = |state: &str, waits: u32| {
            format!("Name:\tgit\nState:\t{state}\nvoluntary_ctxt_switches:\t{waits}\n")
        };
        let call = "257 0xffffff9c 0x7f00 0x0";
        let first = waiting(call, &status("S (sleeping)", 7));
        assert!(first.is_some() && first == waiting(call, &status("S (sleeping)", 7)));
        assert_ne!(first, waiting(call, &status("S (sleeping)", 8)), "it went on and waits again");
        for state in ["D (disk sleep)", "R (running)", "T (stopped)"] {
            assert_eq!(waiting(call, &status(state, 7)), None, "{state}");
        }
    }

    #[test]
    fn settings_that_take_too_long_to_read_are_not_read() {
        let dir = repository();
        assert!(git::commit(&discover(dir.path())).is_some());
        let config = fs::OpenOptions::new().append(true).open(dir.path().join(".git/config"));
        config.unwrap().set_len(MOST_SETTINGS + 1).unwrap();
        assert_eq!(git::commit(&discover(dir.path())), None);
    }

    #[test]
    fn what_git_says_is_what_it_says() {
        let dir = repository();
        let place = discover(dir.path());
        assert_eq!(git::commit(&place).map(|commit| commit.len()), Some(40));
        assert_eq!(git::files(&place), ["a"]);
    }
}

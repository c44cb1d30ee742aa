//! macOS and other Unixes: `ps`, which POSIX has. Other processes' environments and what they wait for are not
//! known there.

#![cfg_attr(
    target_os = "linux",
    expect(dead_code, unreachable_pub, reason = "here only its reading is tested")
)]

use std::path::Path;
use std::process::Stdio;

use heirloom_repo::child;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::Running;

const COLUMNS: &str = "pid=,ppid=,stat=,lstart=,comm=";

pub(super) fn running(pid: u32) -> Option<Running> {
    let printed = ask(Path::new("ps"), &["-o", COLUMNS, "-p", &pid.to_string()])?;
    printed.lines().find_map(|line| row(line).filter(|(found, _)| *found == pid)).map(|it| it.1)
}

/// Who started this process.
pub(super) fn parent() -> u32 {
    std::os::unix::process::parent_id()
}

/// Finds processes by their number, several at the price of one.
pub(super) fn finder() -> impl Fn(u32) -> Option<Running> {
    let printed = ask(Path::new("ps"), &["-A", "-o", COLUMNS]).unwrap_or_default();
    let all: Vec<(u32, Running)> = printed.lines().filter_map(row).collect();
    move |pid| all.iter().find(|(found, _)| *found == pid).map(|(_, running)| running.clone())
}

/// The numbers of all processes.
pub fn pids() -> impl Iterator<Item = u32> {
    let printed = ask(Path::new("ps"), &["-A", "-o", "pid="]).unwrap_or_default();
    let pids: Vec<u32> = printed.lines().filter_map(|line| line.trim().parse().ok()).collect();
    pids.into_iter()
}

/// When the system was started: not known.
pub fn booted_at() -> Option<i64> {
    None
}

/// When a process began, in seconds since the epoch, as it is counted here.
pub fn seconds(began: u64) -> Option<i64> {
    i64::try_from(began).ok()
}

/// The environment a process was started with: not shown.
pub fn environ(_pid: u32) -> Option<Vec<u8>> {
    None
}

/// The words a process was started with. One with a space in it comes as two.
pub fn command_line(pid: u32) -> Vec<String> {
    let printed = ask(Path::new("ps"), &["-ww", "-o", "args=", "-p", &pid.to_string()]);
    printed.unwrap_or_default().split_whitespace().map(str::to_owned).collect()
}

/// Whether somebody sits in a read of the stdin of `_leader`: not known.
pub(crate) fn is_reading_stdin(_leader: u32) -> bool {
    false
}

fn ask(program: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = child::silent(program);
    // The names of days and months, and the clock, as they are read below.
    command.args(arguments).env("LC_ALL", "C").env("TZ", "UTC");
    let output = command.stdout(Stdio::piped()).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Reads `  501     1 S    Sun Nov 15 12:39:30 2026     /bin/zsh`; nothing for a zombie.
fn row(line: &str) -> Option<(u32, Running)> {
    let mut rest = line;
    let mut word = || {
        let (word, after) = rest.trim_start().split_once(' ')?;
        rest = after;
        Some(word)
    };
    let pid = word()?.parse().ok()?;
    let parent = word()?.parse().ok()?;
    if word()?.starts_with('Z') {
        return None;
    }
    let at = [word()?, word()?, word()?, word()?, word()?].join(" ");
    let at = DateTime::strptime("%a %b %d %H:%M:%S %Y", at).ok()?;
    let at = TimeZone::UTC.to_timestamp(at).ok()?;
    let began = u64::try_from(at.as_second()).ok()?;
    let program = rest.trim();
    // A login shell has a dash before its name.
    let name = program.rsplit('/').next().unwrap_or(program).trim_start_matches('-').to_owned();
    Some((pid, Running { name, parent, began }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_who_what_and_since_when() {
        let line = "  501     1 Ss   Sun Nov 15 12:39:30 2026     /Applications/My App.app/my app";
        let running = Running { name: "my app".to_owned(), parent: 1, began: 1_794_746_370 };
        assert_eq!(row(line), Some((501, running)));
        let login = row("7 1 S+ Sun Nov  1 00:00:01 2026 -zsh").unwrap().1;
        assert_eq!((login.name.as_str(), login.began), ("zsh", 1_793_491_201));
    }

    #[test]
    fn a_zombie_and_what_is_no_row_are_nothing() {
        for line in ["8 1 Z Sun Nov 15 12:39:30 2026 (zsh)", "", "PID PPID", "8 1 S when ever"] {
            assert_eq!(row(line), None, "{line:?}");
        }
    }

    #[test]
    fn without_ps_nothing_is_known() {
        assert_eq!(ask(Path::new("no-such-ps"), &[]), None);
    }
}

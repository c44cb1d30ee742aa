//! Linux: `/proc`.

use std::fs;
use std::thread;
use std::time::Duration;

use super::Running;
use heirloom_repo::file;

/// What the kernel says of a process. The name stands in parentheses and may hold any of its own.
pub(super) fn running(pid: u32) -> Option<Running> {
    read(&pid.to_string())
}

/// Who started this process, by the numbers that `/proc` has. In a namespace of processes it may be that of the one
/// outside, where this process has another number than it thinks.
pub(super) fn parent() -> u32 {
    read("self").map_or_else(std::os::unix::process::parent_id, |own| own.parent)
}

fn read(pid: &str) -> Option<Running> {
    let text = file::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (head, tail) = text.rsplit_once(')')?;
    let mut fields = tail.split_whitespace();
    // One that is dead and not yet buried does nothing any more.
    if fields.next()? == "Z" {
        return None;
    }
    let parent = fields.next()?.parse().ok()?;
    let began = fields.nth(17)?.parse().ok()?;
    let name = head.split_once('(')?.1.to_owned();
    Some(Running { name, parent, began })
}

/// Finds processes by their number, several at the price of one where that is cheaper.
pub(super) fn finder() -> impl Fn(u32) -> Option<Running> {
    running
}

/// When the system was started, in seconds since the epoch.
pub fn booted_at() -> Option<i64> {
    let text = file::read_to_string("/proc/stat").ok()?;
    text.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()
}

/// When a process began, by what [`Running::began`] says of it, in seconds since the epoch.
pub fn seconds(began: u64) -> Option<i64> {
    /// What the kernel counts in for programs, on every machine of today.
    const TICKS: u64 = 100;
    Some(booted_at()? + i64::try_from(began / TICKS).ok()?)
}

/// The numbers of all processes.
pub fn pids() -> impl Iterator<Item = u32> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// How often a program that is just being started is asked again, a millisecond apart.
const STARTING: usize = 50;

/// The environment a process was started with, a zero after each variable; nothing where it is not shown.
///
/// A program that is just being started has none for a moment, nor words, though whoever started it may
/// go on already: its mark would be missed, and its conversation given to somebody else.
pub fn environ(pid: u32) -> Option<Vec<u8>> {
    for _ in 0..STARTING {
        let environ = file::read(format!("/proc/{pid}/environ")).ok()?;
        if !environ.is_empty() || !is_starting(pid) {
            return Some(environ);
        }
        thread::sleep(Duration::from_millis(1));
    }
    None
}

/// Whether a process has a program and no words. Threads of the kernel, and the dead, have no program.
fn is_starting(pid: u32) -> bool {
    file::read(format!("/proc/{pid}/cmdline")).is_ok_and(|words| words.is_empty())
        && fs::read_link(format!("/proc/{pid}/exe")).is_ok()
}

/// The words a process was started with.
pub fn command_line(pid: u32) -> Vec<String> {
    let line = file::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// Whether a process that has the stdin of `leader` sits in a plain read of it.
pub(crate) fn is_reading_stdin(leader: u32) -> bool {
    let stdin = |pid: u32| fs::read_link(format!("/proc/{pid}/fd/0")).ok();
    let Some(own) = stdin(leader) else { return false };
    pids().filter(|pid| reads(*pid)).any(|pid| stdin(pid).as_ref() == Some(&own))
}

fn reads(pid: u32) -> bool {
    let read_from_stdin = match std::env::consts::ARCH {
        "x86_64" => "0 0x0 ",
        "aarch64" => "63 0x0 ",
        // The number of the call is not known here.
        _ => return false,
    };
    let call = file::read_to_string(format!("/proc/{pid}/syscall")).unwrap_or_default();
    call.starts_with(read_from_stdin)
}

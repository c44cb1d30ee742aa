//! What a process costs in CPU time, as the kernel counted it.

use std::fs;
use std::io::{Read as _, Write as _};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// Runs `command` to its end, and says how long its threads were on a processor. What its children cost is
/// not counted.
pub fn count(command: &mut Command) -> (Output, Duration) {
    count_with(command, b"")
}

/// The same with `input` on its stdin.
pub fn count_with(command: &mut Command, input: &[u8]) -> (Output, Duration) {
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = pipes.spawn().expect("a program");
    // A command that does not want its input is free to close it.
    let _ = child.stdin.take().expect("it was piped").write_all(input);
    let mut said = child.stderr.take().expect("it was piped");
    let said = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        said.read_to_end(&mut bytes).map(|_| bytes)
    });
    let mut stdout = Vec::new();
    child.stdout.take().expect("it was piped").read_to_end(&mut stdout).expect("its answer");
    let stderr = said.join().expect("no panic").expect("what it said");
    let pid = Pid::from_child(&child);
    waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).expect("a child");
    let spent = first_thread(child.id()).max(all_threads(child.id()));
    let status = child.wait().expect("a child that ended");
    (Output { status, stdout, stderr }, spent)
}

/// To the nanosecond, but of the first thread only.
fn first_thread(pid: u32) -> Duration {
    let counts = fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap_or_default();
    let ns = counts.split_whitespace().next().and_then(|count| count.parse().ok());
    Duration::from_nanos(ns.unwrap_or(0))
}

/// Of all threads, to a hundredth of a second: less than that is not known of the others, and left out.
fn all_threads(pid: u32) -> Duration {
    let counts = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after = counts.rsplit(')').next().unwrap_or_default();
    let fields: Vec<u64> =
        after.split_whitespace().skip(11).take(2).filter_map(|field| field.parse().ok()).collect();
    let ticks: u64 = fields.iter().sum();
    Duration::from_millis((ticks * 10).saturating_sub(10))
}

//! How much a process reads, as the kernel counted it: the same on a busy machine as on a quiet one.

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// Runs `command` with `input` on its stdin, and says how many bytes it read from files and pipes
/// before it ended. What its children read is not counted.
pub fn count(command: &mut Command, input: &[u8]) -> (Output, u64) {
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = pipes.spawn().expect("a program");
    let mut stdin = child.stdin.take().expect("it was piped");
    // A command that does not want its input is free to close it.
    let _ = stdin.write_all(input);
    drop(stdin);
    let mut answer = child.stdout.take().expect("it was piped");
    let mut said = child.stderr.take().expect("it was piped");
    let said = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut said, &mut bytes).map(|_| bytes)
    });
    let mut stdout = Vec::new();
    std::io::Read::read_to_end(&mut answer, &mut stdout).expect("its answer");
    let stderr = said.join().expect("no panic").expect("what it said");
    // The count goes with the process, so it is looked at when it has ended and nobody took note yet.
    let pid = Pid::from_child(&child);
    waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).expect("a child");
    let counts = fs::read_to_string(format!("/proc/{}/io", child.id())).expect("what it read");
    let status = child.wait().expect("a child that ended");
    let read = counts.lines().find_map(|line| line.strip_prefix("rchar: "));
    let read = read.and_then(|count| count.parse().ok());
    (
        Output { status, stdout, stderr },
        read.unwrap_or_else(|| panic!("no count of what was read: {counts}")),
    )
}

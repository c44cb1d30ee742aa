//! What a process costs, in instructions: the same on a busy machine as on a quiet one.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The instructions of `program` from start to exit, without those of its children. `prepare` adds
/// arguments, environment and input.
pub fn count(program: &Path, prepare: impl FnOnce(&mut Command)) -> u64 {
    // By its whole path: whoever prepares may take away the way to find it.
    let mut command = Command::new(valgrind());
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program);
    prepare(&mut command);
    let output = command.stderr(Stdio::piped()).output().expect("valgrind can be run");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    // A child that never became a program of its own is reported first.
    let counted = said.lines().rev().find_map(|line| line.split("Collected :").nth(1));
    let counted = counted.and_then(|count| count.trim().parse().ok());
    counted.unwrap_or_else(|| panic!("no count: {said}"))
}

fn valgrind() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path).map(|place| place.join("valgrind"));
    places.find(|place| place.exists()).expect("valgrind counts the instructions")
}

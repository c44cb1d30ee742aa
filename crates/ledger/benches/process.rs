//! What the smallest hook-like operation costs as a process: open, one indexed read, one append.
//!
//! Counted in instructions, which are the same on a busy machine, beside a program that only opens
//! the same file and inserts a row. Fails if ours costs more than three times as much, or grows with
//! what is behind it.
//!
//! cargo bench -p heirloom-ledger --bench process

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark that cannot set the scene panics, and says where"
)]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot set the scene has no result")]
#![expect(clippy::print_stdout, reason = "figures are what a benchmark is for")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use heirloom_testkit::instructions;
use tempfile::TempDir;

const SIZES: [u64; 3] = [10, 10_000, 1_000_000];

#[path = "../examples/ledger-probe.rs"]
mod probe;

fn main() -> Result<(), Box<dyn Error>> {
    // This program measures itself: with a word of the probe it is the probe.
    if std::env::args().nth(1).is_some_and(|word| !word.starts_with('-')) {
        return probe::main();
    }
    println!(
        "{:>10} {:>16} {:>16} {:>7} {:>10} {:>10}",
        "records", "open+read+append", "plain insert", "ratio", "ours ms", "plain ms"
    );
    let nothing = counted(&["nothing".as_ref()]);
    // Filling a ledger with a million takes a while.
    let sizes = if std::env::args().any(|word| word == "--quick") { 2 } else { 3 };
    let costs: Vec<u64> = SIZES[..sizes].iter().copied().map(measure).collect();
    println!("a process that does nothing: {nothing}");
    let (least, most) = (costs.iter().min().unwrap(), costs.iter().max().unwrap());
    assert!(*most <= least + least / 10, "the cost grows with history: {costs:?}");
    Ok(())
}

fn measure(records: u64) -> u64 {
    let home = TempDir::new().unwrap();
    let file = home.path().join("ledger.db");
    run(&["fill".as_ref(), home.path(), records.to_string().as_ref()]);
    rusqlite::Connection::open(&file)
        .unwrap()
        .execute_batch("CREATE TABLE plain (text TEXT); PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
    let once: [&Path; 2] = ["once".as_ref(), home.path()];
    let plain: [&Path; 2] = ["plain".as_ref(), &file];
    let (ours, theirs) = (counted(&once), counted(&plain));
    let ratio = as_float(ours) / as_float(theirs);
    let (ours_ms, theirs_ms) = (fastest(&once), fastest(&plain));
    println!(
        "{records:>10} {ours:>16} {theirs:>16} {ratio:>7.2} {ours_ms:>10.2} {theirs_ms:>10.2}"
    );
    assert!(ratio <= 3.0, "{ratio:.2} times a plain insert");
    ours
}

fn probe_program() -> PathBuf {
    std::env::current_exe().unwrap()
}

fn run(arguments: &[&Path]) {
    let status =
        Command::new(probe_program()).args(arguments).stdout(Stdio::null()).status().unwrap();
    assert!(status.success());
}

/// Instructions of a whole process, start to exit.
fn counted(arguments: &[&Path]) -> u64 {
    run(arguments);
    instructions::count(&probe_program(), |command| {
        command.args(arguments).stdout(Stdio::null());
    })
}

/// The fastest of many runs, in milliseconds: the rest is what the machine was busy with.
fn fastest(arguments: &[&Path]) -> f64 {
    let time = |_| {
        let start = Instant::now();
        run(arguments);
        start.elapsed()
    };
    (0..60).map(time).min().unwrap_or(Duration::ZERO).as_secs_f64() * 1000.0
}

/// Exact for every count a process can reach.
fn as_float(count: u64) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

//! What the ledger costs inside a process: appending, looking up with more and more behind it, and
//! deriving everything again.
//!
//! cargo bench -p heirloom-ledger --bench ledger

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark that cannot set the scene panics, and says where"
)]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot set the scene has no result")]
#![expect(clippy::print_stdout, reason = "figures are what a benchmark is for")]

use std::error::Error;
use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use criterion::{BenchmarkId, Criterion, Throughput};
use heirloom_core::event::NoteAdded;
use heirloom_core::id::{NoteId, SessionId};
use heirloom_core::note::Kind;
use heirloom_ledger::{Ledger, Options, Scope};
use jiff::Timestamp;
use tempfile::TempDir;
use uuid::Uuid;

/// A time that can be: for each record of a clock that cannot, the ledger looks for the last one before it that can.
const NOW: Timestamp = Timestamp::constant(1_768_000_000, 0);

const SESSION: SessionId = SessionId::new(Uuid::from_u128(0x5e55_1043));
const SIZES: [u64; 3] = [10, 10_000, 1_000_000];

#[path = "../examples/ledger-probe.rs"]
mod probe;

fn main() -> Result<(), Box<dyn Error>> {
    // This program fills its ledgers itself: with this word it is the probe.
    if std::env::args().nth(1).is_some_and(|word| word == "fill") {
        return probe::main();
    }
    let mut criterion = Criterion::default().sample_size(20).configure_from_args();
    let homes: Vec<(u64, TempDir)> = SIZES.iter().map(|size| (*size, filled(*size))).collect();
    append(&mut criterion, &homes);
    look_up(&mut criterion, &homes);
    criterion.final_summary();
    rebuild(&homes[2].1);
    Ok(())
}

/// A ledger with so many records.
fn filled(records: u64) -> TempDir {
    let home = TempDir::new().unwrap();
    let mut probe = Command::new(std::env::current_exe().unwrap());
    let status = probe.arg("fill").arg(home.path()).arg(records.to_string()).status();
    assert!(status.unwrap().success());
    home
}

fn append(criterion: &mut Criterion, homes: &[(u64, TempDir)]) {
    let mut group = criterion.benchmark_group("append one note, one transaction");
    group.throughput(Throughput::Elements(1));
    for (size, home) in homes {
        let mut ledger = Ledger::open(home.path(), Options::HOOK).unwrap();
        group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
            bencher.iter(|| {
                let scope = Scope::session(SESSION, "/src/probe");
                ledger.append(NOW, scope, &note()).unwrap()
            });
        });
    }
}

fn look_up(criterion: &mut Criterion, homes: &[(u64, TempDir)]) {
    let mut group = criterion.benchmark_group("open, look up a session by prefix, close");
    for (size, home) in homes {
        let prefix = &SESSION.to_string()[..8];
        group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
            bencher.iter(|| {
                let ledger = Ledger::open(home.path(), Options::HOOK).unwrap();
                black_box(ledger.find("/src/probe", prefix).unwrap())
            });
        });
    }
}

fn rebuild(home: &TempDir) {
    let mut ledger = Ledger::open(home.path(), Options::COMMAND).unwrap();
    let start = Instant::now();
    let records = ledger.rebuild().unwrap();
    let seconds = start.elapsed().as_secs_f64();
    println!("rebuild of {records} records: {seconds:.1} s");
}

fn note() -> NoteAdded {
    let id = NoteId::new(Uuid::new_v4());
    NoteAdded::new(id, Kind::Learning, "Refresh tokens need atomic rotation")
}

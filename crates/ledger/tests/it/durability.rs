//! Processes that are killed, and processes that write at once.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use heirloom_ledger::NoteFilter;

use crate::fixture::{Home, PROBE};

fn writer(how: &str, home: &Home, count: u32) -> Child {
    Command::new(&*PROBE)
        .args([how, home.path().to_str().unwrap(), &count.to_string()])
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

/// A small generator, so that the instants differ from run to run of the loop but not of the test.
struct Instants(u64);

impl Instants {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

/// How many writers are killed. `HEIRLOOM_KILLS=2000` asks for more than every run of the tests has time
/// for.
fn kills() -> u32 {
    let asked = std::env::var("HEIRLOOM_KILLS").ok();
    asked.map_or(400, |asked| asked.parse().expect("HEIRLOOM_KILLS is a number"))
}

#[test]
fn what_was_acknowledged_survives_kill_nine_at_any_instant() {
    let home = Home::new();
    let mut instants = Instants(0x2545_f491_4f6c_dd1d);
    let mut acknowledged = HashSet::new();
    let kills = kills();
    for _ in 0..kills / 2 {
        // Two at a time, so that a kill also hits one that waits for the other; one of them writes to
        // the views as well, so that a kill also comes between the two commits.
        let mut victims = [writer("append", &home, 1000), writer("write", &home, 1000)];
        for victim in &mut victims {
            let mut out = BufReader::new(victim.stdout.take().unwrap());
            // Some die while they open, some after a number of writes, at no particular point.
            let mut line = String::new();
            for _ in 0..instants.next(6) {
                line.clear();
                out.read_line(&mut line).unwrap();
                acknowledged.insert(line.trim().parse::<u64>().unwrap());
            }
            std::thread::sleep(std::time::Duration::from_micros(instants.next(3000)));
            victim.kill().unwrap();
            victim.wait().unwrap();
            let mut rest = String::new();
            out.read_to_string(&mut rest).unwrap();
            // The last line may be cut off; a whole one was acknowledged.
            let whole = rest.rsplit_once('\n').map_or("", |(whole, _)| whole);
            acknowledged.extend(whole.lines().map(|line| line.parse::<u64>().unwrap()));
        }
    }
    let ledger = home.open();
    let report = ledger.verify().unwrap();
    assert!(report.ok, "{:?}", report.problems);
    let last = *acknowledged.iter().max().unwrap();
    assert!(report.records >= last, "{} records, {last} acknowledged", report.records);
    assert_eq!(ledger.notes(&NoteFilter::default()).unwrap().len() as u64, report.records);
    println!("{kills} kills, {} writes acknowledged, none lost", acknowledged.len());
    drop(ledger);
    let leftover: Vec<String> = home
        .files()
        .into_iter()
        .filter(|name| !name.starts_with("ledger.db") && !name.starts_with("views.db"))
        .collect();
    assert_eq!(leftover, Vec::<String>::new());
}

#[test]
fn fifty_processes_that_write_at_once_lose_nothing() {
    const EACH: u32 = 20;
    let home = Home::new();
    let writers: Vec<Child> = (0..50).map(|_| writer("append", &home, EACH)).collect();
    let mut acknowledged = Vec::new();
    for writer in writers {
        let output = writer.wait_with_output().unwrap();
        assert!(output.status.success());
        let lines = String::from_utf8(output.stdout).unwrap();
        acknowledged.extend(lines.lines().map(|line| line.parse::<u64>().unwrap()));
    }
    acknowledged.sort_unstable();
    assert_eq!(acknowledged, (1..=u64::from(50 * EACH)).collect::<Vec<_>>());
    let report = home.open().verify().unwrap();
    assert!(report.ok, "{:?}", report.problems);
    assert_eq!(report.records, u64::from(50 * EACH));
}

#[test]
fn a_killed_maker_of_a_ledger_leaves_nothing_behind() {
    let home = Home::new();
    let dead = Command::new("true").spawn().and_then(|mut child| child.wait().map(|_| child.id()));
    let leftover = home.path().join(format!(".ledger-unfinished-{}", dead.unwrap()));
    std::fs::write(&leftover, "half a ledger").unwrap();
    home.open();
    assert!(!leftover.exists());
    let ours = home.path().join(format!(".ledger-unfinished-{}", std::process::id()));
    std::fs::write(&ours, "still being written").unwrap();
    home.open();
    assert!(ours.exists(), "a living process's file was removed");
}

//! Finding an issue's prior agent session among many, planning a run over a large backlog, and taking
//! in the runs of the original.
//!
//! Fails if finding a session grows with the number of recorded issue runs, and if taking in a run
//! costs more instructions than its budget.
//!
//! cargo bench -p heirloom-engine --bench work

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark that cannot set the scene panics, and says where"
)]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot set the scene has no result")]
#![expect(clippy::print_stdout, reason = "figures are what a benchmark is for")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use heirloom_core::event::{ImportedIssueRun, WorkImported};
use heirloom_core::settings::Settings;
use heirloom_core::work::IssueRunStatus;
use heirloom_engine::agents;
use heirloom_engine::events::{Event, Watcher};
use heirloom_engine::here::Here;
use heirloom_engine::issues;
use heirloom_engine::run::Stopping;
use heirloom_engine::turn::system::Real;
use heirloom_engine::work::{self, Options, With};
use heirloom_ledger::{Error, Ledger, Options as Opening, Scope};
use heirloom_testkit::{cpu, instructions};
use jiff::Timestamp;
use tempfile::TempDir;

/// A time that can be: for each record of a clock that cannot, the ledger looks for the last one before it that can.
const NOW: Timestamp = Timestamp::constant(1_768_000_000, 0);

const REPO: &str = "/src/payments";
/// How many runs of the original are taken in within two seconds of CPU time.
const ORIGINAL_RUNS: usize = 50_000;
/// The most that taking in one of them may cost, in instructions: less than two seconds come to, which a busy
/// machine needs.
const MOST_A_RUN: u64 = 140_000;

struct Nobody;

impl Watcher for Nobody {
    fn see(&self, _: Timestamp, _: &Event) {}
}

fn main() {
    // This program measures itself: with these words it takes in what is there and ends.
    if let [_, word, at] = std::env::args().collect::<Vec<_>>().as_slice()
        && word == "import"
    {
        return import(at.as_ref());
    }
    importing();
    println!("{:>34} {:>10} {:>10}", "case", "size", "ms");
    let (few, many) = (lookup(500), lookup(50_000));
    println!("{:>34} {:>10} {:>10.3}", "find the prior session", 500, millis(few));
    println!("{:>34} {:>10} {:>10.3}", "find the prior session", 50_000, millis(many));
    assert!(many < few * 4 + Duration::from_millis(1), "it grows with the number of runs");
    for kind in ["built-in", "issues.jsonl"] {
        let took = dry_run(kind == "built-in");
        println!("{:>34} {:>10} {:>10.1}", format!("plan a run, {kind}"), 10_000, millis(took));
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// The fastest of many.
fn fastest(times: u32, mut work: impl FnMut()) -> Duration {
    let one = |_| {
        let began = Instant::now();
        work();
        began.elapsed()
    };
    (0..times).map(one).min().unwrap()
}

/// Opens a ledger with that many issue runs and finds the one to resume.
fn lookup(issue_runs: usize) -> Duration {
    let home = TempDir::new().unwrap();
    let mut ledger = Ledger::open(home.path(), Opening::ENGINE).unwrap();
    let scope = Scope { session: None, repo: Some(REPO) };
    ledger
        .write(NOW, |writer| {
            for n in 0..issue_runs / 5 {
                let issue = |i: usize| ImportedIssueRun {
                    issue: format!("hl-{}", (n * 5 + i) % (issue_runs / 10)).parse().unwrap(),
                    agent: Some("claude".into()),
                    agent_session_id: Some(format!("{n}-{i}")),
                    status: IssueRunStatus::Failed,
                    reason: None,
                    transcript: None,
                    attempts: 1,
                };
                let run = WorkImported {
                    file: format!("{n}.json"),
                    run: format!("run-{n}"),
                    started_at: Timestamp::from_second(i64::try_from(n).unwrap()).unwrap(),
                    ended_at: None,
                    issues: (0..5).map(issue).collect(),
                };
                writer.append(scope, &run)?;
            }
            Ok::<_, Error>(())
        })
        .unwrap();
    drop(ledger);
    fastest(50, || {
        let ledger = Ledger::open(home.path(), Opening::ENGINE).unwrap();
        assert!(ledger.resumable_run(REPO, "hl-7").unwrap().is_some());
        assert!(ledger.resumable_run(REPO, "hl-never").unwrap().is_none());
    })
}

/// Counts what taking in the original's runs costs.
fn importing() {
    let program = std::env::current_exe().unwrap();
    let instructions = |runs: usize| {
        let dir = original(runs);
        instructions::count(&program, |command| {
            command.arg("import").arg(dir.path()).stdout(Stdio::null());
        })
    };
    let each = (instructions(3000) - instructions(1000)) / 2000;
    println!("instructions to take in a run of the original: {each}, of {MOST_A_RUN}");
    assert!(each <= MOST_A_RUN, "over its budget of {MOST_A_RUN}");
    let dir = original(ORIGINAL_RUNS);
    let (output, took) = cpu::count(Command::new(&program).arg("import").arg(dir.path()));
    assert!(output.status.success(), "{output:?}");
    println!("CPU time to take in {ORIGINAL_RUNS}: {took:.2?}, of 2 s");
}

/// A place with that many runs of the original, of three issues each.
fn original(runs: usize) -> TempDir {
    let dir = TempDir::new().unwrap();
    let repo = dir.path().join("repo");
    fs::create_dir_all(repo.join(".git")).unwrap();
    fs::write(repo.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let repo = repo.canonicalize().unwrap();
    let place = repo.to_str().unwrap();
    let files = dir.path().join("runs").join(place.replace(['/', '_'], "-"));
    fs::create_dir_all(&files).unwrap();
    for n in 0..runs {
        let issue = |i: usize| {
            format!(
                r#""bd-{n}-{i}": {{"status": "failed", "duration_seconds": 61.2, "gate_attempts": 2, "review_attempts": 1,
                   "session_id": "0c1e7f52-3f1e-4d55-9d0c-{n:012}", "log_path": "/home/a/.claude/projects/x/{n}.jsonl",
                   "error": "the gate fails", "validation": {{"passed": false, "commands_run": ["pytest"]}}}}"#
            )
        };
        let issues: Vec<String> = (0..3).map(issue).collect();
        let run = format!(
            r#"{{"run_id": "run-{n}", "started_at": "2026-01-03T00:00:00+00:00", "completed_at": "2026-01-03T01:00:00+00:00",
               "version": "1", "repo_path": "{place}", "config": {{"max_agents": 2}}, "issues": {{{}}}}}"#,
            issues.join(",")
        );
        fs::write(files.join(format!("2026-01-03T00-00-00_{n:08}.json")), run).unwrap();
    }
    dir
}

/// Takes in the original's runs, as a run does that resumes.
fn import(dir: &Path) {
    let env = BTreeMap::from([
        ("HEIRLOOM_HOME".into(), dir.join("home").into_os_string()),
        ("MALA_RUNS_DIR".into(), dir.join("runs").into_os_string()),
        ("HEIRLOOM_AGENT_CLAUDE".into(), "/bin/true".into()),
    ]);
    let here = &Here::look(&dir.join("repo"), env).unwrap();
    let settings = &Settings::default();
    let mut options = Options { in_place: true, max_agents: 1, ..Options::of(settings) };
    options.wanted.resume = true;
    let mut tracker = issues::find(here).unwrap();
    let with = With {
        here,
        programs: &agents::programs(here, None),
        settings,
        system: &Real,
        watcher: &Nobody,
        stopping: &Stopping::new(),
        fleet: None,
    };
    work::work(with, &mut *tracker, &options).unwrap();
    let ledger = here.ledger().unwrap();
    assert!(!ledger.imported_work_runs(&here.place.repo).unwrap().is_empty());
}

/// Plans a run over ten thousand issues with thirty thousand dependencies.
fn dry_run(built_in: bool) -> Duration {
    let dir = TempDir::new().unwrap();
    let repo = dir.path().join("repo");
    fs::create_dir_all(repo.join(".git")).unwrap();
    fs::write(repo.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let home = dir.path().join("home");
    let env = BTreeMap::from([("HEIRLOOM_HOME".into(), home.into_os_string())]);
    let text = backlog();
    let here = |root: &Path| Here::look(root, env.clone()).unwrap();
    if built_in {
        let mut ledger = here(&repo).ledger().unwrap();
        issues::import(&here(&repo), &mut ledger, Path::new("issues.jsonl"), text.as_bytes())
            .unwrap();
    } else {
        fs::create_dir_all(repo.join(".beads")).unwrap();
        fs::write(repo.join(".beads/issues.jsonl"), &text).unwrap();
    }
    let options = Options::of(&Settings::default());
    fastest(10, || {
        let here = here(&repo);
        let ledger = here.ledger().unwrap();
        let mut tracker = issues::find(&here).unwrap();
        let planned = work::plan(&here, &ledger, &mut *tracker, &options).unwrap();
        assert_eq!(planned.len(), 10_000);
    })
}

fn backlog() -> String {
    let mut text = String::new();
    for n in 0..10_000_usize {
        let on = |k: usize| {
            let depends_on = n.checked_sub(k * k + 1)?;
            Some(format!(
                r#"{{"issue_id":"hl-{n}","depends_on_id":"hl-{depends_on}","type":"blocks"}}"#
            ))
        };
        let edges: Vec<String> = (0..3).filter_map(on).collect();
        let _ = writeln!(
            text,
            r#"{{"id":"hl-{n}","title":"Issue number {n}","description":"{}","status":"open","priority":{},"issue_type":"task","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","dependencies":[{}]}}"#,
            "what is to be done. ".repeat(20),
            n % 5,
            edges.join(",")
        );
    }
    text
}

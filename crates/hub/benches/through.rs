//! What it takes to send and take in 100,000 records through the client, with all that it checks, beside
//! plain COPY of the same rows into a table with the same indexes.
//!
//! `cargo bench -p heirloom-hub --bench through`. Starts a PostgreSQL of its own, without `fsync`. A number after
//! `--` is how many records it is instead.

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark that cannot set the scene panics, and says where"
)]
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a measurement, for people"
)]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use heirloom_core::event::{NoteAdded, SessionCreated};
use heirloom_core::id::{NoteId, SessionId};
use heirloom_core::note::Kind;
use heirloom_core::trust::person::Who;
use heirloom_engine::here::{Env, Here};
use heirloom_hub::{Address, join, migrate, pull, push};
use heirloom_ledger::{Error, Ledger, Scope};
use heirloom_testkit::postgres::Postgres;
use uuid::Uuid;

const KEY: &str = "hr_0000000000000000000000000p\n";

fn main() {
    let records = std::env::args().find_map(|word| word.parse().ok()).unwrap_or(100_000);
    let postgres = Postgres::start();
    let address: Address = postgres.owner().parse().unwrap();
    migrate(&address).unwrap();
    let dir = tempfile::TempDir::new().unwrap();
    let [sender, reader] = ["sender", "reader"].map(|name| home(&dir.path().join(name)));
    let mut ledger = sender.ledger().unwrap();
    join(&sender, &mut ledger, &address, false).unwrap();
    join(&reader, &mut reader.ledger().unwrap(), &address, false).unwrap();
    fill(&sender, &mut ledger, records);

    let began = Instant::now();
    let sent = push(&sender, &mut ledger).unwrap().sent;
    let pushing = began.elapsed();
    assert!(sent >= records, "{sent}");
    let began = Instant::now();
    let taken = pull(&reader, &mut reader.ledger().unwrap()).unwrap().taken;
    let pulling = began.elapsed();
    assert!(taken >= records, "{taken}");
    let copying = copy(&postgres, dir.path());

    println!("{:28} {:>8} {:>12} {:>8}", "", "seconds", "records/s", "to COPY");
    let rows = [("pushed", pushing), ("plain COPY", copying), ("pulled into the ledger", pulling)];
    for (what, took) in rows {
        let rate = sent as f64 / took.as_secs_f64();
        let ratio = copying.as_secs_f64() / took.as_secs_f64();
        println!("{what:28} {:>8.2} {rate:>12.0} {ratio:>8.2}", took.as_secs_f64());
    }
}

fn home(dir: &Path) -> Here {
    let repo = dir.join("repo");
    fs::create_dir_all(repo.join(".heirloom")).unwrap();
    fs::write(repo.join(".heirloom/repository"), KEY).unwrap();
    let init = Command::new("git").args(["init", "-q"]).current_dir(&repo).status();
    assert!(init.unwrap().success());
    let mut env: Env = std::env::vars_os().collect();
    env.insert("HEIRLOOM_HOME".into(), dir.join("home").into());
    env.insert("HOME".into(), dir.into());
    let mut here = Here::look(&repo, env).unwrap();
    here.asks = Some(Who::Person);
    here
}

fn fill(here: &Here, ledger: &mut Ledger, records: u64) {
    let session = SessionId::new(Uuid::new_v4());
    let created: SessionCreated = serde_json::from_str(r#"{"name":"long"}"#).unwrap();
    let scope = Scope::session(session, &here.place.repo);
    ledger
        .append_all::<_, Error>(here.clock.now(), |appender| {
            appender.append(scope, &created)?;
            for number in 0..records {
                let text = format!("{} {number}", "what was learned ".repeat(6));
                let note = NoteAdded::new(NoteId::new(Uuid::new_v4()), Kind::Learning, text);
                appender.append(scope, &note)?;
            }
            Ok(())
        })
        .unwrap();
}

/// How long the same rows take by plain COPY.
fn copy(postgres: &Postgres, dir: &Path) -> Duration {
    let file = dir.join("rows");
    let psql = |sql: &str| {
        let ran = Command::new("psql").args([&postgres.owner(), "-Xq", "-c", sql]).status();
        assert!(ran.unwrap().success());
    };
    psql(&format!("\\copy (SELECT * FROM heirloom.record) TO '{}'", file.display()));
    psql("CREATE TABLE heirloom.copied (LIKE heirloom.record INCLUDING ALL)");
    let began = Instant::now();
    psql(&format!("\\copy heirloom.copied FROM '{}'", file.display()));
    began.elapsed()
}

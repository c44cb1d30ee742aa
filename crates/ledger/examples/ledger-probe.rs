//! Drives a ledger from outside its tests and benchmarks: they kill it, race it and count its
//! instructions. Not installed, not for people.

#![expect(clippy::disallowed_methods, reason = "no command, and nothing of others is shown")]

use std::error::Error;
use std::io::Write;
use std::path::Path;

use heirloom_core::config::Config;
use heirloom_core::event::{NoteAdded, SessionCreated};
use heirloom_core::id::{NoteId, SessionId};
use heirloom_core::issue::Owner;
use heirloom_core::note::Kind;
use heirloom_ledger::{Claimed, Ledger, NoteFilter, Options, Scope};
use jiff::Timestamp;
use uuid::Uuid;

const REPO: &str = "/src/probe";
const SESSION: SessionId = SessionId::new(Uuid::from_u128(0x5e55_1043));

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        // Appends COUNT notes, each in a transaction of its own, and prints its number once it is
        // committed.
        ["append", home, count] => append(Path::new(home), count.parse()?),
        // The same, opening the ledger for each as a hook does.
        ["jot", home, count] => jot(Path::new(home), count.parse()?),
        // The same, bringing the views up to date in the same transaction.
        ["write", home, count] => write(Path::new(home), count.parse()?),
        // Reads the views as often, without printing anything.
        ["read", home, count] => read(Path::new(home), count.parse()?),
        // The smallest thing a hook does: open, one indexed read, one append.
        ["once", home] => once(Path::new(home)),
        // The same without heirloom: open the same file, insert one row.
        ["plain", file] => plain(file),
        // Fills a ledger with COUNT notes in few transactions.
        ["fill", home, count] => fill(Path::new(home), count.parse()?),
        // Claims an issue under the name NUMBER, and says whether it won.
        ["claim", home, number] => claim(Path::new(home), number),
        ["nothing"] => Ok(()),
        _ => Err("append|jot|write|read|fill HOME COUNT | once HOME | plain FILE | \
                  claim HOME NUMBER | nothing"
            .into()),
    }
}

fn append(home: &Path, count: u64) -> Result<(), Box<dyn Error>> {
    let mut ledger = Ledger::open(home, Options::COMMAND)?;
    for n in 0..count {
        say(ledger.append(now(), scope(), &note(n))?.seq)?;
    }
    Ok(())
}

fn jot(home: &Path, count: u64) -> Result<(), Box<dyn Error>> {
    for n in 0..count {
        let mut ledger =
            Ledger::open(home, Options { wait: Options::COMMAND.wait, ..Options::TOOL_USE })?;
        say(ledger.append(now(), scope(), &note(n))?.seq)?;
    }
    Ok(())
}

fn write(home: &Path, count: u64) -> Result<(), Box<dyn Error>> {
    let mut ledger = Ledger::open(home, Options::COMMAND)?;
    for n in 0..count {
        say(ledger.write(now(), |writer| writer.append(scope(), &note(n)))?.seq)?;
    }
    Ok(())
}

fn read(home: &Path, count: u64) -> Result<(), Box<dyn Error>> {
    let ledger = Ledger::open(home, Options::COMMAND)?;
    let mut seen = 0;
    for _ in 0..count {
        let now = ledger.notes(&NoteFilter::default())?.len();
        if now < seen {
            return Err(format!("{seen} notes became {now}").into());
        }
        seen = now;
    }
    Ok(())
}

/// Says that a record is committed.
fn say(seq: u64) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{seq}")?;
    out.flush()
}

fn once(home: &Path) -> Result<(), Box<dyn Error>> {
    let mut ledger = Ledger::open(home, Options::TOOL_USE)?;
    if ledger.knows(SESSION)? {
        ledger.append(now(), scope(), &note(0))?;
    }
    Ok(())
}

fn plain(file: &str) -> Result<(), Box<dyn Error>> {
    let connection = rusqlite::Connection::open(file)?;
    connection.execute("INSERT INTO plain (text) VALUES (?1)", ["a note of the probe"])?;
    Ok(())
}

fn fill(home: &Path, count: u64) -> Result<(), Box<dyn Error>> {
    const BATCH: u64 = 10_000;
    let mut ledger = Ledger::open(home, Options::HOOK)?;
    if ledger.session(SESSION)?.is_none() {
        let name = "probe".parse()?;
        let created = SessionCreated {
            name,
            parent: None,
            link: None,
            agent: None,
            agent_session_id: None,
            branch: None,
            config: Config::default(),
            overridden: Vec::new(),
            forked_at: None,
        };
        ledger.append(now(), scope(), &created)?;
    }
    for start in (0..count).step_by(usize::try_from(BATCH)?) {
        ledger.write(now(), |writer| {
            (start..count.min(start + BATCH))
                .try_for_each(|n| writer.append(scope(), &note(n)).map(drop))
        })?;
    }
    Ok(())
}

fn claim(home: &Path, number: &str) -> Result<(), Box<dyn Error>> {
    let mut ledger = Ledger::open(home, Options::COMMAND)?;
    let host = ledger.host()?.to_string();
    let me = Owner { name: number.to_owned(), host, pid: None, pid_started: None };
    let issue = "hl-1".parse()?;
    let claimed = ledger.write::<_, heirloom_ledger::Error>(now(), |writer| {
        writer.claim_issue(REPO, &issue, &me, None, |_, _| true)
    })?;
    let said = match claimed {
        Claimed::Won { .. } => "won".to_owned(),
        Claimed::Taken(claim) => format!("taken by {}", claim.owner.name),
    };
    writeln!(std::io::stdout(), "{said}")?;
    Ok(())
}

fn scope() -> Scope<'static> {
    Scope::session(SESSION, REPO)
}

fn note(n: u64) -> NoteAdded {
    let text = format!("note {n} of process {}", std::process::id());
    NoteAdded::new(NoteId::new(Uuid::new_v4()), Kind::Learning, text)
}

#[expect(clippy::disallowed_methods, reason = "the probe is a program of its own, with no clock")]
fn now() -> Timestamp {
    Timestamp::now()
}

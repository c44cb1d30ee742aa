//! What finding sessions costs must not depend on how many there are.
//!
//! Counted in steps of SQLite's machine, which are the same on every machine and in every build.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use heirloom_core::event::{SessionAnnounced, SessionCreated};
use tempfile::TempDir;
use uuid::Uuid;

use super::*;
use crate::ledger::Options;
use crate::write::Scope;

const REPO: &str = "/src/payments";
const FEW: u128 = 100;
const MANY: u128 = 2_000;

/// A ledger with `count` sessions: completed ones, every seventh archived, none failed but the
/// oldest, and the newest runs.
fn filled(count: u128) -> (TempDir, Ledger) {
    let dir = TempDir::new().unwrap();
    let mut ledger = Ledger::open(dir.path(), Options::HOOK).unwrap();
    let all: Vec<u128> = (1..=count).collect();
    // Some share a moment.
    for (second, some) in (0..).zip(all.chunks(3)) {
        let at = Timestamp::from_second(1_700_000_000 + second).unwrap();
        let added = ledger.write(at, |writer| some.iter().try_for_each(|n| add(writer, *n, count)));
        added.unwrap();
    }
    (dir, ledger)
}

fn add(writer: &mut Writer<'_>, n: u128, count: u128) -> Result<(), Error> {
    let id = session(n);
    let status = match n {
        _ if n == count => Status::Running,
        1 => Status::Failed,
        _ => Status::Completed,
    };
    writer.append(Scope::session(id, REPO), &created(n, count))?;
    let announced = SessionAnnounced { agent_session_id: agent(n), model: None, agent: None };
    writer.append(Scope::session(id, REPO), &announced)?;
    writer.change_status(id, status, None)?;
    let is_archived = n.is_multiple_of(7) && status == Status::Completed;
    if is_archived { writer.change_status(id, Status::Archived, None) } else { Ok(()) }
}

fn session(n: u128) -> SessionId {
    SessionId::new(Uuid::from_u128(n << 96 | n))
}

/// One conversation in ten is shared by ten sessions.
fn agent(n: u128) -> String {
    format!("ses_{:08x}", n / 10)
}

fn created(n: u128, count: u128) -> SessionCreated {
    let name = format!("s{n}");
    let parent = (n == count).then(|| session(n - 1));
    serde_json::from_value(serde_json::json!({"name": name, "agent": "claude", "parent": parent}))
        .unwrap()
}

/// How many steps the database takes for a question.
pub(crate) fn steps(ledger: &mut Ledger, ask: impl FnOnce(&Ledger)) -> u64 {
    steps_of(ledger, |ledger| ask(ledger))
}

/// How many steps the database takes for `work`.
pub(crate) fn steps_of(ledger: &mut Ledger, work: impl FnOnce(&mut Ledger)) -> u64 {
    let count = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&count);
    let handler = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        false
    };
    ledger.connection.progress_handler(1, Some(handler)).unwrap();
    work(ledger);
    ledger.connection.progress_handler(1, None::<fn() -> bool>).unwrap();
    count.load(Ordering::Relaxed)
}

/// What is asked, with what it is called.
type Question = (String, Box<dyn Fn(&Ledger)>);

/// Everything that listing and continuing ask.
fn questions(count: u128) -> Vec<Question> {
    let mut questions: Vec<Question> = Vec::new();
    let asked: [&'static [Status]; 6] = [
        &[],
        &[Status::Completed],
        &[Status::Failed],
        &[Status::Interrupted],
        &[Status::Archived],
        &[Status::Starting, Status::Running, Status::WaitingInput, Status::Interrupting],
    ];
    for repo in [Some(REPO), None, Some("/src/new")] {
        for statuses in asked {
            for after in [None, Some(session(count / 2))] {
                let page = move |ledger: &Ledger| {
                    let filter = SessionFilter {
                        repo,
                        statuses,
                        limit: 3,
                        after,
                        ..SessionFilter::default()
                    };
                    ledger.sessions(&filter).unwrap();
                };
                questions.push((format!("{repo:?} {statuses:?} {after:?}"), Box::new(page)));
            }
        }
    }
    let id = session(count);
    let addresses = [format!("s{count}"), id.to_string(), id.short(), agent(count), "none".into()];
    for address in addresses {
        let find = address.clone();
        let find = move |ledger: &Ledger| drop(ledger.find(REPO, &find).unwrap());
        questions.push((format!("find {address}"), Box::new(find)));
    }
    questions.push((
        "lineage".to_owned(),
        Box::new(move |ledger| {
            let session = ledger.session(id).unwrap().unwrap();
            assert_eq!(ledger.lineage(&session, 9).unwrap().ancestors.len(), 1);
        }),
    ));
    questions.push((
        "children".to_owned(),
        Box::new(move |ledger| {
            let parent = ledger.session(id).unwrap().unwrap().parent.unwrap();
            assert_eq!(ledger.children(parent).unwrap().len(), 1);
        }),
    ));
    let spent = move |ledger: &Ledger| {
        let since = Timestamp::from_second(1_800_000_000).unwrap();
        assert_eq!(ledger.spending_since(since).unwrap().len(), 1, "the one that runs");
    };
    questions.push(("what was spent since".to_owned(), Box::new(spent)));
    questions
}

#[test]
fn no_question_costs_more_when_there_are_many_sessions() {
    let (_few_dir, mut few) = filled(FEW);
    let (_many_dir, mut many) = filled(MANY);
    for ((name, ask_few), (_, ask_many)) in questions(FEW).into_iter().zip(questions(MANY)) {
        let (small, large) = (steps(&mut few, ask_few), steps(&mut many, ask_many));
        assert!(small > 0, "{name}: nothing was counted");
        assert!(large <= small + small / 4, "{name}: {small} steps became {large}");
    }
}

//! One backlog for a fleet.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use heirloom_engine::here::Here;
use heirloom_hub::{Held, SharedBacklog};
use heirloom_testkit::env::TestEnv;

use super::Team;

const WORKERS: usize = 50;
const ISSUES: usize = 1000;
const LEASE: Duration = Duration::from_secs(6);

fn backlog(env: &TestEnv, holder: &str) -> SharedBacklog {
    let vars = [("HEIRLOOM_HOME", env.home()), ("HOME", env.user())];
    let vars = vars.map(|(name, value)| (name.into(), value.into())).into();
    let here = Here::look(&env.repo(), vars).unwrap();
    SharedBacklog::open(&here, &here.ledger().unwrap(), holder, LEASE).unwrap()
}

#[derive(Default)]
struct Seen {
    /// Who holds what, as the holders themselves say.
    held: BTreeMap<String, Held>,
    closed: BTreeSet<String>,
    dead: Vec<Held>,
    twice: Vec<String>,
}

#[test]
fn no_issue_is_held_twice_and_those_of_the_dead_come_back() {
    let team = Team::new();
    let ids: Vec<String> = (0..ISSUES).map(|number| format!("hl-{number:04}")).collect();
    let backlogs: Vec<SharedBacklog> =
        (0..WORKERS).map(|worker| backlog(&team.owner, &format!("worker {worker}"))).collect();
    let seen = Mutex::new(Seen::default());
    let began = Instant::now();
    std::thread::scope(|scope| {
        for (worker, backlog) in backlogs.into_iter().enumerate() {
            let (seen, ids) = (&seen, &ids);
            scope.spawn(move || work(worker, &backlog, ids, seen, began));
        }
    });
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen.twice, Vec::<String>::new());
    assert_eq!(seen.closed.len(), ISSUES);
    assert_eq!(seen.dead.len(), 5);
    // The dead wake up: they can neither renew nor close, nor do they go on by themselves.
    let late = backlog(&team.owner, "late");
    for mut held in seen.dead {
        assert!(!held.is_held());
        assert!(!late.renew(&mut held).unwrap() && !late.release(&held, true).unwrap());
    }
    let open = "SELECT count(*) FROM heirloom.claim WHERE state = 'open'";
    assert_eq!(team.postgres.sql("hub", open), "0");
}

fn work(
    worker: usize,
    backlog: &SharedBacklog,
    ids: &[String],
    seen: &Mutex<Seen>,
    began: Instant,
) {
    loop {
        assert!(began.elapsed() < Duration::from_mins(5), "some issues never come back");
        let ready: Vec<String> = {
            let seen = seen.lock().unwrap();
            // Everybody's list is a little old.
            ids.iter().filter(|id| !seen.closed.contains(*id)).take(60).cloned().collect()
        };
        if ready.is_empty() {
            return;
        }
        let Some(held) = backlog.claim(&ready).unwrap() else {
            std::thread::sleep(Duration::from_millis(100));
            continue;
        };
        {
            let mut seen = seen.lock().unwrap();
            let before = seen.held.insert(held.issue.clone(), held.clone());
            // Whoever had it before must know by its own clock that it has not any more.
            if before.is_some_and(|before| before.is_held()) {
                seen.twice.push(held.issue.clone());
            }
            if worker % 10 == 3 {
                seen.dead.push(held);
                return;
            }
        }
        seen.lock().unwrap().held.remove(&held.issue);
        if backlog.release(&held, true).unwrap() {
            seen.lock().unwrap().closed.insert(held.issue);
        }
    }
}

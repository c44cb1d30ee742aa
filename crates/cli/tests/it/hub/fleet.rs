//! One backlog for a fleet.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
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

/// An agent that commits one file an issue, and writes down for which issue it was sent.
const AGENT: &str = r#"#!/bin/sh
echo "$HEIRLOOM_ISSUE" >> '@LOG@'
id=unknown previous=
for argument in "$@"; do
  [ "$previous" = --session-id ] && id=$argument
  previous=$argument
done
IFS= read -r line
echo '{"type":"system","subtype":"init","session_id":"'"$id"'","model":"claude-opus-5-5"}'
while [ -e '@LOG@.wait' ]; do sleep 0.05; done
echo done >> "$HEIRLOOM_ISSUE.txt"
echo '{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"'"$id"'","num_turns":1,"total_cost_usd":0.25,"usage":{"input_tokens":10,"output_tokens":5}}'
"#;

/// The same machine with an agent, and where that agent writes which issues it was sent to.
fn machine(env: TestEnv) -> (TestEnv, std::path::PathBuf) {
    let (log, agent) = (env.user().join("sent"), env.user().join("agent"));
    std::fs::write(&agent, AGENT.replace("@LOG@", log.to_str().unwrap())).unwrap();
    std::fs::set_permissions(&agent, std::fs::Permissions::from_mode(0o755)).unwrap();
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "set up"]);
    (env.var("HEIRLOOM_AGENT_CLAUDE", agent), log)
}

fn sent(log: &std::path::Path) -> Vec<String> {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn status(env: &TestEnv, id: &str) -> String {
    let shown = env.run(&["issues", "show", id, "--json"]).success().json();
    shown["status"].as_str().unwrap().to_owned()
}

const WORK: [&str; 5] = ["work", "--gate", "true", "--max-agents", "2"];

#[test]
fn two_machines_work_through_one_backlog_and_no_issue_is_worked_on_twice() {
    let mut team = Team::new();
    let (owner, owners) = machine(std::mem::replace(&mut team.owner, super::home()));
    let ids: Vec<String> = (0..6)
        .map(|n| {
            let made = owner.run(&["issues", "create", &format!("part {n}"), "--json"]).success();
            made.json()["id"].as_str().unwrap().to_owned()
        })
        .collect();
    super::push(&owner);
    team.owner = owner;
    let (ada, adas) = machine(team.colleague("ada"));
    super::pull(&ada);
    std::thread::scope(|scope| {
        scope.spawn(|| team.owner.run(&WORK).success());
        scope.spawn(|| ada.run(&WORK).success());
    });
    let mut all = [sent(&owners), sent(&adas)].concat();
    all.sort();
    let mut expected = ids.clone();
    expected.sort();
    assert_eq!(all, expected, "each issue was worked on once");
    for env in [&team.owner, &ada] {
        super::pull(env);
        for id in &ids {
            assert_eq!(status(env, id), "closed");
        }
    }
    // What a person opens again can be worked on again, by whoever comes first.
    // By the machine that closed it: here both have the same time, and then the host decides what came last.
    let closer = if sent(&owners).contains(&ids[0]) { &team.owner } else { &ada };
    closer.run(&["issues", "update", &ids[0], "--status", "open"]).success();
    super::push(closer);
    team.owner.run(&WORK).success();
    assert_eq!(
        sent(&owners).iter().filter(|id| **id == ids[0]).count()
            + sent(&adas).iter().filter(|id| **id == ids[0]).count(),
        2
    );
}

#[test]
fn a_machine_that_died_loses_its_issue_to_the_next_and_a_stale_holder_closes_nothing() {
    let mut team = Team::new();
    let (owner, owners) = machine(std::mem::replace(&mut team.owner, super::home()));
    let made = owner.run(&["issues", "create", "the one", "--json"]).success();
    let id = made.json()["id"].as_str().unwrap().to_owned();
    super::push(&owner);
    team.owner = owner;
    // Later than the owner, as it is: of two things at the same time the host decides which came last.
    let later = team.colleague("ada").var("HEIRLOOM_CLOCK", "2026-01-12T16:30:00Z");
    let (ada, adas) = machine(later);
    // The owner's agent hangs: for everybody else its machine is gone once its lease is over.
    std::fs::write(owners.with_extension("wait"), "").unwrap();
    let mut slow = team.owner.command(&WORK).spawn().unwrap();
    let began = Instant::now();
    while sent(&owners).is_empty() {
        assert!(began.elapsed() < Duration::from_mins(2), "its agent never began");
        std::thread::sleep(Duration::from_millis(20));
    }
    super::push(&team.owner);
    let left = ada.run(&WORK).success();
    assert!(left.stderr.contains("another machine"), "{}", left.stderr);
    assert_eq!(sent(&adas), Vec::<String>::new());
    team.postgres.sql("hub", "UPDATE heirloom.claim SET until = now() - interval '1 second'");
    ada.run(&WORK).success();
    assert_eq!(sent(&adas), [id.as_str()]);
    assert_eq!(status(&ada, &id), "closed");
    // It wakes up, and its agent says that it is done.
    std::fs::remove_file(owners.with_extension("wait")).unwrap();
    slow.wait().unwrap();
    let runs = team.owner.run(&["runs", "list", "--json"]).success().json().to_string();
    assert!(runs.contains("\"interrupted\":1"), "{runs}");
    let branch = "refs/heads/heirloom/work";
    let together = team.owner.git(&["for-each-ref", "--format=%(refname)", branch]);
    for branch in together.lines() {
        let files = team.owner.git(&["ls-tree", "-r", "--name-only", branch]);
        assert!(!files.contains(&id), "it was merged all the same: {files}");
    }
    let closed = "SELECT state || ' ' || fence FROM heirloom.claim";
    assert_eq!(team.postgres.sql("hub", closed), "closed 2");
}

#[test]
fn without_the_hub_work_says_so_and_local_goes_on() {
    let mut team = Team::new();
    let (owner, log) = machine(std::mem::replace(&mut team.owner, super::home()));
    owner.run(&["issues", "create", "alone"]).success();
    team.postgres.kill();
    let refused = owner.run(&WORK);
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    assert!(refused.stderr.contains("--local"), "{}", refused.stderr);
    assert!(sent(&log).is_empty());
    owner.run(&[&WORK[..], &["--local"]].concat()).success();
    assert_eq!(sent(&log).len(), 1);
}

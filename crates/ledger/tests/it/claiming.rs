//! Claims: one winner, whatever happens at once, and never robbed while alive.

use std::process::{Command, Stdio};

use heirloom_core::issue::{Claim, IssueId, Owner};
use heirloom_ledger::{Claimed, Error, Ledger};
use jiff::Timestamp;

use crate::fixture::{Home, PROBE, REPO, at};

fn issue(id: &str) -> IssueId {
    id.parse().unwrap()
}

fn owner(ledger: &Ledger, name: &str, pid: Option<u32>) -> Owner {
    let host = ledger.host().unwrap().to_string();
    Owner { name: name.to_owned(), host, pid, pid_started: pid.map(u64::from) }
}

/// Claims `hl-1` at a time, in a world in which only process 7 runs.
fn claim(ledger: &mut Ledger, second: i64, owner: &Owner, until: Option<Timestamp>) -> Claimed {
    let alive = |pid, _| pid == 7;
    ledger
        .write::<_, Error>(at(second), |writer| {
            writer.claim_issue(REPO, &issue("hl-1"), owner, until, alive)
        })
        .unwrap()
}

const WON: Claimed = Claimed::Won { taken_over: None };

#[test]
fn a_dead_owners_issue_is_taken_over_and_a_slow_ones_is_not() {
    let home = Home::new();
    let mut ledger = home.open();
    let (slow, dead) = (owner(&ledger, "slow", Some(7)), owner(&ledger, "dead", Some(8)));
    let me = owner(&ledger, "me", Some(9));
    assert_eq!(claim(&mut ledger, 0, &dead, Some(at(1000))), WON);
    let held = Claim { owner: dead, since: at(0), until: Some(at(1000)) };
    let taken_over = Claimed::Won { taken_over: Some(held) };
    assert_eq!(claim(&mut ledger, 5, &slow, Some(at(6))), taken_over);
    // Its lease has long run out, but its process is there.
    let kept = Claim { owner: slow, since: at(5), until: Some(at(6)) };
    assert_eq!(claim(&mut ledger, 500, &me, Some(at(600))), Claimed::Taken(kept.clone()));
    assert_eq!(ledger.claim_of(REPO, &issue("hl-1")).unwrap(), Some(kept));
}

#[test]
fn a_claim_without_a_process_ends_with_its_lease_unless_it_is_renewed() {
    let home = Home::new();
    let mut ledger = home.open();
    let (ada, bob) = (owner(&ledger, "ada", None), owner(&ledger, "bob", None));
    assert_eq!(claim(&mut ledger, 0, &ada, Some(at(10))), WON);
    ledger.write(at(9), |writer| writer.renew_claims(&ada, Some(at(20)))).unwrap();
    let renewed = Claim { owner: ada.clone(), since: at(0), until: Some(at(20)) };
    assert_eq!(claim(&mut ledger, 15, &bob, None), Claimed::Taken(renewed.clone()));
    assert_eq!(claim(&mut ledger, 20, &bob, None), Claimed::Won { taken_over: Some(renewed) });
    // Bob's has no end, and the heartbeat of one who lost it does not bring it back.
    ledger.write(at(21), |writer| writer.renew_claims(&ada, Some(at(99)))).unwrap();
    let theirs = Claim { owner: bob, since: at(20), until: None };
    assert_eq!(claim(&mut ledger, 9999, &ada, None), Claimed::Taken(theirs));
    assert!(ledger.verify().unwrap().ok);
}

#[test]
fn claiming_again_keeps_its_beginning_and_only_the_owner_releases() {
    let home = Home::new();
    let mut ledger = home.open();
    let (ada, bob) = (owner(&ledger, "ada", None), owner(&ledger, "bob", None));
    assert_eq!(claim(&mut ledger, 0, &ada, Some(at(10))), WON);
    assert_eq!(claim(&mut ledger, 5, &ada, Some(at(15))), WON);
    let claims =
        vec![(issue("hl-1"), Claim { owner: ada.clone(), since: at(0), until: Some(at(15)) })];
    assert_eq!(ledger.claims(REPO).unwrap(), claims);
    assert_eq!(ledger.claims("/elsewhere").unwrap(), []);
    let mut release = |owner: &Owner| {
        ledger.write(at(6), |writer| writer.release_claim(REPO, &issue("hl-1"), owner)).unwrap()
    };
    assert!(!release(&bob));
    assert!(release(&ada));
    assert!(!release(&ada));
    assert_eq!(ledger.claims(REPO).unwrap(), []);
    assert_eq!(claim(&mut ledger, 7, &bob, None), WON);
    assert!(ledger.verify().unwrap().ok);
}

#[test]
fn of_fifty_threads_one_wins() {
    let home = Home::new();
    home.open();
    let claims: Vec<Claimed> = std::thread::scope(|scope| {
        let race = |n: u32| {
            let mut ledger = home.open();
            let me = owner(&ledger, &format!("work-{n}"), None);
            claim(&mut ledger, 0, &me, None)
        };
        let threads: Vec<_> = (0..50).map(|n| scope.spawn(move || race(n))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(claims.iter().filter(|claimed| **claimed == WON).count(), 1);
    let winner = home.open().claim_of(REPO, &issue("hl-1")).unwrap().unwrap();
    let others = claims.into_iter().filter(|claimed| *claimed != WON);
    assert!(others.into_iter().all(|claimed| claimed == Claimed::Taken(winner.clone())));
}

#[test]
fn of_fifty_processes_one_wins() {
    let home = Home::new();
    home.open();
    let race = |n: u32| {
        Command::new(&*PROBE)
            .args(["claim", home.path().to_str().unwrap(), &n.to_string()])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let racers: Vec<_> = (0..50).map(race).collect();
    let said: Vec<String> = racers
        .into_iter()
        .map(|racer| racer.wait_with_output().unwrap())
        .inspect(|output| assert!(output.status.success()))
        .map(|output| String::from_utf8(output.stdout).unwrap())
        .collect();
    let winners: Vec<&String> = said.iter().filter(|said| said.starts_with("won")).collect();
    assert_eq!(winners.len(), 1, "{said:?}");
    assert_eq!(said.iter().filter(|said| said.starts_with("taken")).count(), 49);
}

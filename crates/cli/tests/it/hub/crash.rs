//! Killed in the middle, cut off, copied: what was acknowledged is there, once.

use std::process::{Child, Stdio};
use std::time::Duration;

use heirloom_core::event::NoteAdded;
use heirloom_core::id::NoteId;
use heirloom_core::note::Kind;
use heirloom_engine::here::Here;
use heirloom_ledger::{NoteFilter, Scope};
use heirloom_testkit::env::TestEnv;

use super::{Team, home, note, notes, pull, push, session_of};

const MANY: usize = 3000;

fn here(env: &TestEnv) -> Here {
    let vars = [("HEIRLOOM_HOME", env.home()), ("HOME", env.user())];
    Here::look(&env.repo(), vars.map(|(name, value)| (name.into(), value.into())).into()).unwrap()
}

/// Notes as fast as they can be written.
fn write_many(env: &TestEnv) {
    note(env, "the first");
    let session = session_of(env, "the first").parse().unwrap();
    let here = here(env);
    let mut ledger = here.ledger().unwrap();
    ledger
        .append_all::<_, heirloom_ledger::Error>(here.clock.now(), |appender| {
            for number in 0..MANY {
                let id: NoteId = format!("00000000-0000-4000-8000-{number:012x}").parse().unwrap();
                let added = NoteAdded::new(id, Kind::Learning, format!("learned {number}"));
                appender.append(Scope::session(session, &here.place.repo), &added)?;
            }
            Ok(())
        })
        .unwrap();
}

fn check(team: &Team, reader: &TestEnv) {
    push(&team.owner);
    pull(reader);
    // The command shows only so many of them.
    let all = here(reader).ledger().unwrap().notes(&NoteFilter::default()).unwrap();
    let mut found: Vec<String> = all.into_iter().map(|note| note.text).collect();
    assert_eq!(found.len(), MANY + 1);
    found.sort();
    found.dedup();
    assert_eq!(found.len(), MANY + 1, "something came twice");
    reader.run(&["ledger", "verify"]).success();
}

/// A push that has been going on for `pause`.
fn pushing(team: &Team, pause: Duration) -> Child {
    let mut command = team.owner.command(&["hub", "push"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().unwrap();
    std::thread::sleep(pause);
    child
}

#[test]
fn a_client_that_is_killed_in_mid_push_loses_and_doubles_nothing() {
    let team = Team::new();
    let ada = team.colleague("ada");
    team.postgres.sql("hub", "UPDATE heirloom.meta SET largest_batch = 40");
    write_many(&team.owner);
    for pause in [20, 60, 120, 200, 300] {
        let mut child = pushing(&team, Duration::from_millis(pause));
        let _ = child.kill();
        child.wait().unwrap();
    }
    check(&team, &ada);
}

#[test]
fn a_server_that_is_killed_in_mid_push_loses_and_doubles_nothing() {
    let mut team = Team::new();
    let ada = team.colleague("ada");
    team.postgres.sql("hub", "UPDATE heirloom.meta SET largest_batch = 40");
    write_many(&team.owner);
    for pause in [80, 200] {
        let mut child = pushing(&team, Duration::from_millis(pause));
        team.postgres.kill();
        child.wait().unwrap();
        let away = team.owner.run(&["hub", "push"]);
        assert!(away.code == 1 && away.stderr.contains("nothing is lost"), "{away}");
        team.postgres.run();
    }
    check(&team, &ada);
}

#[test]
fn a_copied_home_becomes_its_own_host_and_both_go_on() {
    let team = Team::new();
    let ada = team.colleague("ada");
    note(&team.owner, "before the copy");
    push(&team.owner);
    let copy = home();
    std::fs::remove_dir_all(copy.home()).unwrap();
    let copied =
        std::process::Command::new("cp").arg("-r").args([team.owner.home(), copy.home()]).status();
    assert!(copied.unwrap().success());
    copy.write(".heirloom/repository", &team.owner.read(".heirloom/repository"));
    copy.run(&["repo", "link", team.owner.read(".heirloom/repository").trim()]);
    note(&copy, "from the copy");
    note(&team.owner, "from the first");
    push(&copy);
    push(&team.owner);
    pull(&ada);
    let mut found = notes(&ada);
    found.sort();
    assert_eq!(found, ["before the copy", "from the copy", "from the first"]);
    ada.run(&["ledger", "verify"]).success();
}

#[test]
fn a_hub_that_went_back_gets_again_what_it_lost() {
    let team = Team::new();
    let ada = team.colleague("ada");
    note(&team.owner, "first");
    push(&team.owner);
    pull(&ada);
    let before = team.postgres.sql("hub", "SELECT seq || ' ' || encode(hash, 'hex') || ' ' || count || ' ' || encode(link, 'hex') FROM heirloom.stream ORDER BY host LIMIT 1");
    note(&team.owner, "second");
    push(&team.owner);
    // What a backup from in between would have.
    let words: Vec<&str> = before.split(' ').collect();
    team.postgres.sql(
        "hub",
        "DELETE FROM heirloom.record WHERE body LIKE '%second%'; SELECT heirloom.new_epoch()",
    );
    team.postgres.sql("hub", &format!(
        "UPDATE heirloom.stream SET seq = {}, hash = decode('{}', 'hex'), count = {}, link = decode('{}', 'hex')
         WHERE host = (SELECT min(host) FROM heirloom.stream)", words[0], words[1], words[2], words[3]));
    assert!(push(&team.owner)["sent"].as_u64() >= Some(1));
    pull(&ada);
    assert_eq!(notes(&ada), ["first", "second"]);
}

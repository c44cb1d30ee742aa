//! What becomes of old months at a hub, and the ids that it gives out.

use std::time::Duration;

use heirloom_testkit::env::TestEnv;
use serde_json::Value;

use super::{Team, note, notes, pull, push, session_of};

/// Makes everything at the hub so old that it is packed, and then that it is dropped. All of it comes into
/// the beginning of one month, whatever day it is.
fn age(team: &Team) {
    team.postgres.sql(
        "hub",
        "DO $$ DECLARE v_to bigint; v_by bigint; BEGIN
           v_to := extract(epoch FROM
             date_trunc('month', (now() - interval '200 days') AT TIME ZONE 'UTC'))::bigint * 1000000;
           SELECT min(pos) - v_to INTO v_by FROM heirloom.record;
           PERFORM heirloom.month_for(v_to);
           UPDATE heirloom.record SET pos = pos - v_by;
         END $$",
    );
}

fn tend(team: &Team) -> String {
    team.postgres.sql_at(&team.postgres.owner(), "SELECT heirloom.tend_v1()").unwrap()
}

/// Does something while a transaction that ran `sql` is not over.
fn while_it_is_open<T>(team: &Team, sql: &str, then: impl FnOnce() -> T) -> T {
    let (postgres, url) = (&team.postgres, team.postgres.owner());
    let sql = format!("{sql}; SELECT pg_sleep(300)");
    let open = "FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    std::thread::scope(|scope| {
        let ran = scope.spawn(move || postgres.sql_at(&url, &sql));
        while postgres.sql("hub", &format!("SELECT count(*) {open}")) == "0" {
            assert!(!ran.is_finished(), "{:?}", ran.join());
            std::thread::sleep(Duration::from_millis(50));
        }
        let done = then();
        assert_eq!(
            postgres.sql("hub", &format!("SELECT pg_terminate_backend(pid, 60000) {open}")),
            "t"
        );
        ran.join().expect("a thread that ended").expect_err("it was cut");
        done
    })
}

fn size(env: &TestEnv) -> Value {
    env.run(&["hub", "status", "--json"]).json()["size"].clone()
}

#[test]
fn an_old_month_is_packed_and_still_read_and_erased() {
    let team = Team::new();
    let (ada, bob) = (team.colleague("ada"), team.colleague("bob"));
    for text in ["first", "second", "to be regretted"] {
        note(&team.owner, text);
    }
    let session = session_of(&team.owner, "to be regretted");
    push(&team.owner);
    let all = size(&team.owner)["records"].clone();
    age(&team);
    assert!(tend(&team).starts_with("sealed record_"));
    assert_eq!((&size(&team.owner)["sealed"], &size(&team.owner)["records"]), (&all, &all));
    // The rows stay a day for whoever is reading them; nobody gets anything twice.
    pull(&ada);
    assert_eq!(notes(&ada), ["first", "second", "to be regretted"]);
    team.postgres.sql(
        "hub",
        "UPDATE heirloom.month SET sealed = now() - interval '2 days' WHERE sealed IS NOT NULL",
    );
    assert!(tend(&team).starts_with("tidied record_"));
    assert_eq!(tend(&team), "nothing");
    let status = team.owner.run(&["hub", "status"]).success();
    assert!(status.stdout.contains("packed"), "{status}");

    team.owner.run(&["sessions", "forget", &session, "--yes"]).success();
    note(&team.owner, "third");
    push(&team.owner);
    assert!(!team.postgres.dump().contains("to be regretted"));
    for reader in [&ada, &bob] {
        pull(reader);
        assert!(notes(reader).contains(&"third".to_owned()));
        assert!(!notes(reader).contains(&"to be regretted".to_owned()));
        reader.run(&["ledger", "verify"]).success();
    }
}

#[test]
fn nobody_waits_for_who_reads_long_and_nothing_is_tended_then() {
    let team = Team::new();
    note(&team.owner, "first");
    push(&team.owner);
    age(&team);
    team.postgres.sql("hub", "UPDATE heirloom.meta SET keep = '100 days'");
    let months = "SELECT count(*) FROM heirloom.month";
    let next = "SELECT heirloom.month_for((SELECT max(pos_to) FROM heirloom.month))";
    let before: u32 = team.postgres.sql("hub", months).parse().unwrap();
    let tended = while_it_is_open(&team, "SELECT count(*) FROM heirloom.record", || {
        let tended = tend(&team);
        team.postgres.sql("hub", next);
        note(&team.owner, "second");
        push(&team.owner);
        tended
    });
    assert_eq!(tended, "busy");
    assert_eq!(team.postgres.sql("hub", months).parse::<u32>().unwrap(), before + 1);
    assert!(tend(&team).starts_with("dropped record_"));
}

#[test]
fn a_month_is_not_packed_while_something_in_it_is_erased() {
    let team = Team::new();
    note(&team.owner, "first");
    push(&team.owner);
    age(&team);
    let erase = "SELECT heirloom.erase(1, 1, 'x', '{}', '{}')";
    assert_eq!(while_it_is_open(&team, erase, || tend(&team)), "busy");
    assert!(tend(&team).starts_with("sealed record_"));
}

#[test]
fn what_a_hub_drops_unread_is_named_and_stops_nobody() {
    let team = Team::new();
    let (ada, bob) = (team.colleague("ada"), team.colleague("bob"));
    note(&team.owner, "first");
    push(&team.owner);
    pull(&ada);
    note(&team.owner, "second");
    push(&team.owner);
    age(&team);
    // Where the first was read, the second is not anywhere any more.
    team.postgres.sql("hub", "UPDATE heirloom.meta SET keep = '100 days'");
    assert!(tend(&team).starts_with("dropped record_"));
    note(&team.owner, "third");
    push(&team.owner);
    for (reader, known, skipped) in
        [(&ada, &["first", "third"][..], true), (&bob, &["third"], false)]
    {
        // The time of the hub went back in this test, so ada has read further than it is.
        let state = std::fs::read_to_string(reader.home().join("hub.json")).unwrap();
        let mut state: Value = serde_json::from_str(&state).unwrap();
        for (_, joined) in state["repos"].as_object_mut().unwrap() {
            joined["cursor"] = 1.into();
        }
        std::fs::write(reader.home().join("hub.json"), state.to_string()).unwrap();
        let pulled = pull(reader);
        assert_eq!(pulled["problems"], serde_json::json!([]), "{pulled}");
        assert_eq!(pulled["skipped"].as_u64() > Some(0), skipped, "{pulled}");
        assert_eq!(notes(reader), known);
        reader.run(&["ledger", "verify"]).success();
    }
    assert_eq!(size(&team.owner)["keep_days"], 100.0);
}

#[test]
fn two_people_who_create_the_same_issue_apart_give_it_two_ids() {
    let team = Team::new();
    let ada = team.colleague("ada");
    let create = |env: &TestEnv| {
        let issue = env.run(&["issues", "create", "fix the cache", "--json"]).success().json();
        issue["id"].as_str().unwrap().to_owned()
    };
    for env in [&team.owner, &ada] {
        push(env);
    }
    // Nobody asks the hub: the ids were given out before.
    let (one, other) = (create(&team.owner), create(&ada));
    assert_ne!(one, other);
    assert_eq!((one.len(), other.len()), ("hl-abc".len(), "hl-abc".len()));
    let key = ada.read(".heirloom/repository").trim().to_owned();
    std::fs::write(ada.home().join("hub-ids").join(&key), "").unwrap();
    assert!(create(&ada).len() >= "hl-abcdefgh".len(), "none is left, so it is long");
    for env in [&team.owner, &ada] {
        push(env);
    }
    for env in [&team.owner, &ada] {
        pull(env);
        let listed = env.run(&["issues", "list", "--json"]).success().stdout;
        assert!(listed.contains(&one) && listed.contains(&other), "{listed}");
    }
}

#[test]
fn two_people_who_split_the_same_issue_apart_hide_no_part_from_each_other() {
    let team = Team::new();
    let ada = team.colleague("ada");
    let create = |env: &TestEnv, arguments: &[&str]| {
        let arguments = [&["issues", "create", "--json"], arguments].concat();
        env.run(&arguments).success().json()["id"].as_str().unwrap().to_owned()
    };
    let exchange = || {
        for env in [&team.owner, &ada] {
            push(env);
        }
        for env in [&team.owner, &ada] {
            pull(env);
        }
    };
    push(&ada);
    push(&team.owner);
    let whole = create(&team.owner, &["the cache", "-t", "epic"]);
    exchange();
    let parts = [(&team.owner, "fill it"), (&ada, "empty it")]
        .map(|(env, title)| create(env, &[title, "--parent", &whole]));
    assert_ne!(parts[0], parts[1]);
    exchange();
    for env in [&team.owner, &ada] {
        for (id, title) in parts.iter().zip(["fill it", "empty it"]) {
            let shown = env.run(&["issues", "show", id, "--json"]).success().stdout;
            assert!(shown.contains(title) && shown.contains(&whole), "{shown}");
        }
    }
}

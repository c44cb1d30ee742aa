//! Whose something is, wherever it is shown.

use heirloom_testkit::env::TestEnv;
use serde_json::Value;

use super::{Team, note, pull, push, session_of};

fn json(env: &TestEnv, arguments: &[&str]) -> Value {
    env.run(&[arguments, &["--json"]].concat()).success().json()
}

/// A team in which the owner noted something that the code bears out, and ada took it in.
fn two() -> (Team, TestEnv) {
    let (team, ada) = Team::with_code();
    let decision = ["note", "decision", "the cache is keyed by tenant", "--because", "they differ"];
    team.owner.run(&[&decision[..], &["--evidence", "src/cache.rs:1"]].concat()).success();
    push(&team.owner);
    pull(&ada);
    (team, ada)
}

#[test]
fn what_a_colleague_noted_is_shown_as_theirs_everywhere() {
    let (team, ada) = two();
    let session = session_of(&ada, "the cache is keyed by tenant");
    assert_eq!(json(&ada, &["notes"])["notes"][0]["author"], "owner");
    assert_eq!(json(&team.owner, &["notes"])["notes"][0]["author"], Value::Null);
    assert!(ada.run(&["notes"]).stdout.contains("[owner] the cache is keyed by tenant"));

    let found = json(&ada, &["search", "tenant"]);
    assert_eq!(found["results"][0]["author"], "owner", "{found}");
    let found = ada.run(&["search", "tenant"]).success();
    assert!(found.stdout.contains("by owner"), "{found}");

    let family = ada.run(&["lineage", &session]).success();
    assert!(family.stdout.contains("by owner"), "{family}");
    let shown = json(&ada, &["sessions", "show", &session]);
    assert_eq!(shown["author"], "owner", "{shown}");

    let inherited = ada.run(&["inherit", &session]);
    assert!(inherited.stdout.contains("[owner] the cache is keyed by tenant"), "{inherited}");
    assert!(!inherited.stdout.contains("no longer holds"), "{inherited}");
    ada.write("src/cache.rs", "fn nothing() {}\n");
    let inherited = ada.run(&["inherit", &session]);
    assert!(inherited.stdout.contains("evidence no longer holds"), "{inherited}");
}

#[test]
fn a_list_of_sessions_has_those_of_colleagues_if_that_is_asked_for() {
    let (team, ada) = two();
    let theirs = session_of(&team.owner, "the cache is keyed by tenant");
    assert_eq!(json(&ada, &["sessions", "list"])["sessions"], serde_json::json!([]));
    // What ada notes by hand is hers, however new the session is that a colleague notes in.
    note(&ada, "from ada");
    assert_ne!(session_of(&ada, "from ada"), theirs);
    assert_eq!(json(&ada, &["sessions", "list"])["sessions"].as_array().map(Vec::len), Some(1));
    let all = json(&ada, &["sessions", "list", "--team"]);
    let authors: Vec<&Value> =
        all["sessions"].as_array().unwrap().iter().map(|one| &one["author"]).collect();
    assert!(authors.len() == 2 && authors.contains(&&"owner".into()), "{all}");
    let table = ada.run(&["sessions", "list", "--team"]).success();
    assert!(table.stdout.contains("owner") && table.stdout.contains("you"), "{table}");
}

#[test]
fn a_name_means_ones_own_session_whatever_colleagues_call_theirs() {
    let (team, ada) = two();
    let script = team.owner.script("agent.sh", "#!/bin/sh\ncat >/dev/null\necho done\n");
    for env in [&ada, &team.owner] {
        let settings = format!("agents: {{command: {{command: [{}]}}}}\n", script.display());
        env.write(".heirloom/config.yaml", &settings);
        env.run(&["trust", "--yes"]);
        env.run(&["launch", "--agent", "command", "--name", "same", "do it"]);
    }
    let own = json(&ada, &["sessions", "show", "same"])["id"].clone();
    let used = json(&ada, &["usage"]);
    push(&team.owner);
    pull(&ada);
    assert_eq!(json(&ada, &["sessions", "show", "same"])["id"], own);
    let all = json(&ada, &["sessions", "list", "--team"]);
    assert!(all["sessions"].as_array().unwrap().len() > 1, "{all}");
    assert_eq!(json(&ada, &["usage"]), used, "what colleagues use is theirs");
}

#[test]
fn what_a_person_does_at_another_machine_is_their_own() {
    let team = Team::new();
    let url = team.invite("ada");
    let [laptop, desktop] = [(); 2].map(|()| {
        let env = team.clone_of_it();
        env.run(&["hub", "join", &url, "--yes"]).success();
        env
    });
    note(&desktop, "from the desktop");
    push(&desktop);
    for env in [&laptop, &team.owner] {
        pull(env);
    }
    laptop.write_user("team: {notes_from: me}\n");
    assert_eq!(json(&laptop, &["notes"])["notes"][0]["author"], Value::Null);
    assert_eq!(json(&team.owner, &["notes"])["notes"][0]["author"], "ada");
    let heard = laptop.run(&["recover"]).success();
    assert!(heard.stdout.contains("from the desktop"), "{heard}");
    let listed = |env: &TestEnv| json(env, &["sessions", "list"])["sessions"].clone();
    assert_eq!(listed(&laptop).as_array().map(Vec::len), Some(1));
    assert_eq!(listed(&team.owner), serde_json::json!([]));
}

#[test]
fn agents_hear_only_whom_the_person_lets_them() {
    let (_team, ada) = two();
    let heard = |env: &TestEnv| {
        [&["recover"][..], &["recover", "--query", "tenant"], &["recover", "3"]]
            .map(|arguments| env.run(arguments).success().stdout.contains("keyed by tenant"))
    };
    assert_eq!(heard(&ada), [true; 3]);
    for (settings, is_heard) in
        [("team: {notes_from: me}\n", false), ("team: {notes_from: [owner]}\n", true)]
    {
        ada.write_user(settings);
        assert_eq!(heard(&ada), [is_heard; 3], "{settings}");
    }
}

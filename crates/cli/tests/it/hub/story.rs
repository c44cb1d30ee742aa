//! What a team sees of each other.

use super::{Team, note, notes, pull, push};

#[test]
fn what_one_learns_the_other_knows() {
    let team = Team::new();
    let ada = team.colleague("ada");
    note(&team.owner, "the cache is keyed by tenant");
    assert!(push(&team.owner)["sent"].as_u64() >= Some(1));
    assert!(pull(&ada)["taken"].as_u64() >= Some(1));
    assert_eq!(notes(&ada), ["the cache is keyed by tenant"]);
    // A second time there is nothing to do.
    assert_eq!(push(&team.owner)["sent"], 0);
    assert_eq!(pull(&ada)["taken"], 0);
    let status = ada.run(&["hub", "status", "--json"]).success().json();
    assert_eq!((&status["member"], &status["unread"]), (&"ada".into(), &0.into()));
    ada.run(&["ledger", "verify"]).success();
    let people = team.postgres.sql("hub", "SELECT login FROM heirloom.member ORDER BY id");
    assert_eq!(people, "owner\nada");
}

#[test]
fn three_people_end_with_the_same_issues() {
    let team = Team::new();
    let (ada, bob) = (team.colleague("ada"), team.colleague("bob"));
    let created = team.owner.run(&["issues", "create", "fix the cache", "--json"]).success().json();
    let id = created["id"].as_str().expect("an id").to_owned();
    let everybody = [&team.owner, &ada, &bob];
    let sync = || {
        for env in everybody {
            push(env);
        }
        for env in everybody {
            pull(env);
        }
    };
    sync();
    // All three at once, on what they have.
    ada.run(&["issues", "update", &id, "--title", "fix ada's cache"]).success();
    bob.run(&["issues", "update", &id, "--title", "fix bob's cache"]).success();
    team.owner.run(&["issues", "comment", &id, "it is urgent"]).success();
    note(&bob, "bob was here");
    sync();
    let shown = |env: &heirloom_testkit::env::TestEnv| {
        let issue = env.run(&["issues", "show", &id, "--json"]).success().json();
        (issue["title"].clone(), issue["comments"].as_array().map(Vec::len))
    };
    let [one, two, three] = everybody.map(shown);
    assert!(one == two && two == three, "{one:?} {two:?} {three:?}");
    assert_eq!(one.1, Some(1));
    assert_eq!(everybody.map(notes), [["bob was here"], ["bob was here"], ["bob was here"]]);
}

#[test]
fn what_is_erased_here_is_erased_there() {
    let team = Team::new();
    let ada = team.colleague("ada");
    note(&team.owner, "to be regretted");
    let session = super::session_of(&team.owner, "to be regretted");
    push(&team.owner);
    pull(&ada);
    assert_eq!(notes(&ada), ["to be regretted"]);
    team.owner.run(&["sessions", "forget", &session, "--yes"]).success();
    push(&team.owner);
    assert!(!team.postgres.dump().contains("to be regretted"));
    pull(&ada);
    assert!(notes(&ada).is_empty());
    ada.run(&["ledger", "verify"]).success();
}

#[test]
fn what_a_colleague_decided_is_in_the_next_brief_as_theirs_if_the_code_bears_it_out() {
    let (team, ada) = Team::with_code();
    let decide = |text: &str, more: &[&str]| {
        team.owner
            .run(&[&["note", "decision", text, "--because", "it has to be"], more].concat())
            .success();
    };
    decide("the cache is keyed by tenant", &["--evidence", "src/cache.rs:1"]);
    decide("everything may be deleted", &[]);
    push(&team.owner);
    pull(&ada);
    let brief = ada.run(&["recover"]).success().stdout;
    assert!(brief.contains("[owner] the cache is keyed by tenant"), "{brief}");
    assert!(!brief.contains("everything may be deleted"), "{brief}");
    // Against the code here, not there.
    ada.write("src/cache.rs", "fn nothing() {}\n");
    let brief = ada.run(&["recover"]).success().stdout;
    assert!(!brief.contains("the cache is keyed"), "{brief}");
    ada.write("src/cache.rs", "// keyed by tenant\nfn key() {}\n");
    ada.write_user("team: {notes_from: [bob]}\n");
    let brief = ada.run(&["recover"]).success().stdout;
    assert!(!brief.contains("the cache is keyed"), "{brief}");
}

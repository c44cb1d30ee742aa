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

//! Requirement state as the table keeps it, against the same in memory.

use heirloom_core::event::{
    RequirementStopBlocked, RequirementsImported, RequirementsPaused, RequirementsPruned,
    RequirementsResumed,
};
use heirloom_core::guard::branch::BranchKey;
use heirloom_core::guard::record::ChangeBody;
use heirloom_core::guard::requirement::Scope;
use heirloom_core::guard::state::{Change, ChangeKind, Satisfied, State};
use heirloom_core::id::SessionId;
use heirloom_ledger::{Ledger, Scope as In, SessionKeys, Writer};
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::json;

use crate::fixture::{Home, REPO};

const OWN: &str = "8272974a-8223-4415-954c-99d01904a037";

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn append(writer: &mut Writer<'_>, change: &Change) {
    let own: SessionId = OWN.parse().unwrap();
    let session = change.session.as_ref().is_some_and(|session| session == OWN).then_some(own);
    let scope = In { session, repo: Some(REPO) };
    match change.body(session) {
        ChangeBody::Triggered(body) => writer.append(scope, &body),
        ChangeBody::Untriggered(body) => writer.append(scope, &body),
        ChangeBody::Warned(body) => writer.append(scope, &body),
        ChangeBody::Satisfied(body) => writer.append(scope, &body),
        ChangeBody::Cleared(body) => writer.append(scope, &body),
    }
    .unwrap();
}

fn one(writer: &mut Writer<'_>, change: &Change) -> Result<(), heirloom_ledger::Error> {
    append(writer, change);
    Ok(())
}

fn keys(names: &[&str]) -> SessionKeys {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    SessionKeys { names, agent_session_id: None }
}

fn kinds() -> impl Strategy<Value = ChangeKind> {
    let scope = prop::sample::select(Scope::ALL.to_vec());
    let satisfied = (0..9i64, "[a-c]", prop::option::of(0..99i64), prop::option::of("[a-f]{4}"))
        .prop_map(|(second, by, end, reviewed)| Satisfied {
            at: at(second),
            by,
            metadata: json!({"n": second}),
            expires_at: end.map(at),
            reviewed,
        });
    prop_oneof![
        (0..9i64).prop_map(|second| ChangeKind::Triggered(at(second))),
        Just(ChangeKind::Untriggered),
        Just(ChangeKind::Warned(at(50))),
        (scope.clone(), satisfied).prop_map(|(scope, how)| ChangeKind::Satisfied(scope, how)),
        (scope, prop::sample::select(vec!["used", "person"]))
            .prop_map(|(scope, why)| ChangeKind::Cleared(scope, why.to_owned())),
    ]
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let one = ("[ab]", "main|feature/a|feature-a", prop::option::of(Just(OWN)), kinds()).prop_map(
        |(name, branch, session, kind)| {
            // A warning is always one of the record's own session.
            let is_own = matches!(kind, ChangeKind::Warned(_));
            let session = session.or(is_own.then_some(OWN)).unwrap_or("cad0ac4d").to_owned();
            Change { name, branch: BranchKey::branch(&branch), session: Some(session), kind }
        },
    );
    prop::collection::vec(one, 0..24)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_table_is_what_the_changes_make_in_memory(changes in changes()) {
        let home = Home::new();
        let mut ledger = home.open();
        let mut state = State::default();
        ledger.write(at(50), |writer| {
            for change in &changes {
                append(writer, change);
                state.apply(change);
            }
            Ok::<_, heirloom_ledger::Error>(())
        }).unwrap();
        let mut stored = ledger.all_requirements(REPO).unwrap();
        stored.sort_by(|one, other| one.0.cmp(&other.0));
        let expected: Vec<_> =
            state.entries().map(|(key, entry)| (key.clone(), entry.clone())).collect();
        prop_assert_eq!(stored, expected);
        for branch in ["main", "feature/a", "feature-a"].map(BranchKey::branch) {
            for session in [OWN, "cad0ac4d"] {
                let seen = ledger.requirements(REPO, &branch, &keys(&[session])).unwrap();
                for name in ["a", "b"] {
                    prop_assert_eq!(seen.held(name, &branch), state.held(name, &branch, session));
                }
            }
        }
        prop_assert!(ledger.verify().unwrap().problems.is_empty());
    }
}

fn in_repo() -> In<'static> {
    In { session: None, repo: Some(REPO) }
}

fn in_session() -> In<'static> {
    In::session(OWN.parse().unwrap(), REPO)
}

fn seen(ledger: &Ledger) -> heirloom_ledger::Seen {
    ledger.requirements(REPO, &BranchKey::branch("main"), &keys(&[OWN])).unwrap()
}

#[test]
fn a_pause_of_the_repository_outlives_that_of_a_session() {
    let home = Home::new();
    let mut ledger = home.open();
    let pause = |reason: &str, end: Option<i64>| RequirementsPaused {
        method: "person".to_owned(),
        reason: Some(reason.to_owned()),
        expires_at: end.map(at),
    };
    ledger.append(at(1), in_session(), &pause("mine", None)).unwrap();
    assert_eq!(seen(&ledger).paused(at(2)).unwrap().reason.as_deref(), Some("mine"));
    ledger.append(at(2), in_repo(), &pause("all", Some(9))).unwrap();
    assert!(seen(&ledger).paused(at(8)).unwrap().in_repo);
    let resumed = RequirementsResumed { method: "person".to_owned() };
    ledger.append(at(3), in_repo(), &resumed).unwrap();
    assert_eq!(seen(&ledger).paused(at(8)).unwrap().reason.as_deref(), Some("mine"));
    ledger.append(at(4), in_session(), &resumed).unwrap();
    assert_eq!(seen(&ledger).paused(at(8)), None);
    ledger.append(at(5), in_repo(), &pause("short", Some(9))).unwrap();
    assert_eq!(seen(&ledger).paused(at(9)), None);
}

#[test]
fn stops_are_counted_for_a_turn() {
    let home = Home::new();
    let mut ledger = home.open();
    for count in 1..=2 {
        let turn = Some("p1".to_owned());
        let blocked = RequirementStopBlocked { names: vec!["a".to_owned()], count, turn };
        ledger.append(at(1), in_session(), &blocked).unwrap();
    }
    let stops = seen(&ledger).stops.unwrap();
    assert_eq!((stops.count, stops.turn.as_deref()), (2, Some("p1")));
}

#[test]
fn a_state_file_is_remembered_by_its_hash() {
    let home = Home::new();
    let mut ledger = home.open();
    assert_eq!(ledger.imported_requirements(REPO, "requirements/main.json").unwrap(), None);
    let imported = RequirementsImported {
        file: "requirements/main.json".to_owned(),
        hash: "abc".to_owned(),
        entries: 3,
        skipped: 0,
    };
    ledger.append(at(1), in_repo(), &imported).unwrap();
    let known = ledger.imported_requirements(REPO, "requirements/main.json").unwrap();
    assert_eq!(known.as_deref(), Some("abc"));
    assert!(seen(&ledger).entries.is_empty());
}

#[test]
fn pruning_a_branch_forgets_what_was_known_on_it_alone() {
    let home = Home::new();
    let mut ledger = home.open();
    for branch in ["main", "old"] {
        let change = Change {
            name: "a".to_owned(),
            branch: BranchKey::branch(branch),
            session: Some(OWN.to_owned()),
            kind: ChangeKind::Triggered(at(1)),
        };
        ledger.write(at(1), |writer| one(writer, &change)).unwrap();
    }
    let pruned = RequirementsPruned {
        branches: vec!["old".to_owned(), String::new()],
        method: "person".to_owned(),
    };
    ledger.append(at(2), in_repo(), &pruned).unwrap();
    let left = ledger.own_requirements(REPO, &keys(&[OWN])).unwrap();
    assert_eq!(left.iter().map(|(key, _)| key.branch.as_str()).collect::<Vec<_>>(), ["main"]);
}

#[test]
fn a_requirement_cannot_pretend_to_be_one_of_ours() {
    let home = Home::new();
    let mut ledger = home.open();
    let kind = ChangeKind::Triggered(at(1));
    let session = Some(OWN.to_owned());
    let change = Change { name: ":paused".to_owned(), branch: BranchKey::none(), session, kind };
    ledger.write(at(1), |writer| one(writer, &change)).unwrap();
    assert_eq!(seen(&ledger).paused, None);
}

#[test]
fn nobody_sees_what_reaches_further_than_a_session() {
    let home = Home::new();
    let mut ledger = home.open();
    let how = Satisfied {
        at: at(1),
        by: "person".to_owned(),
        metadata: serde_json::Value::Null,
        expires_at: None,
        reviewed: None,
    };
    for (scope, name) in [(Scope::Branch, "a"), (Scope::Session, "b")] {
        let kind = ChangeKind::Satisfied(scope, how.clone());
        let branch = BranchKey::branch("main");
        let change = Change { name: name.to_owned(), branch, session: Some(OWN.to_owned()), kind };
        ledger.write(at(1), |writer| one(writer, &change)).unwrap();
    }
    let main = BranchKey::branch("main");
    let seen = ledger.requirements(REPO, &main, &keys(&[])).unwrap();
    assert!(seen.held("a", &main).branch.is_some());
    assert_eq!(seen.held("b", &main).own.satisfied, None);
    assert!(ledger.own_requirements(REPO, &keys(&[])).unwrap().is_empty());
}

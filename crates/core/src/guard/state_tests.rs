use jiff::Timestamp;
use proptest::prelude::*;

use super::branch::BranchKey;
use super::policy::CarryOver;
use super::requirement::{Requirement, Rule, Scope};
use super::state::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn satisfied(second: i64) -> Satisfied {
    Satisfied {
        at: at(second),
        by: BY_SKILL.into(),
        metadata: serde_json::Value::Null,
        expires_at: None,
        reviewed: None,
    }
}

fn change(branch: &str, session: &str, kind: ChangeKind) -> Change {
    Change {
        name: "x".into(),
        branch: BranchKey::branch(branch),
        session: Some(session.into()),
        kind,
    }
}

fn is_met(state: &State, scope: Scope, branch: &str, session: &str) -> bool {
    let requirement = Requirement { scope, ..Requirement::new("x") };
    state.held("x", &BranchKey::branch(branch), session).satisfied(&requirement, at(100)).is_some()
}

#[test]
fn each_scope_reaches_as_far_as_it_says() {
    // who satisfied it: session a on branch m. Who asks: the same, a new session, another branch.
    for (scope, same, new_session, other_branch) in [
        (Scope::Session, true, false, false),
        (Scope::SingleUse, true, false, false),
        (Scope::Branch, true, true, false),
        (Scope::Permanent, true, true, true),
    ] {
        let mut state = State::default();
        state.apply(&change("m", "a", ChangeKind::Satisfied(scope, satisfied(0))));
        assert_eq!(is_met(&state, scope, "m", "a"), same, "{scope:?}");
        assert_eq!(is_met(&state, scope, "m", "b"), new_session, "{scope:?}");
        assert_eq!(is_met(&state, scope, "n", "b"), other_branch, "{scope:?}");
        assert_eq!(is_met(&state, scope, "n", "a"), other_branch, "{scope:?}");
    }
}

#[test]
fn satisfied_for_the_branch_counts_for_every_session_on_it() {
    let mut state = State::default();
    state.apply(&change("m", "a", ChangeKind::Satisfied(Scope::Branch, satisfied(0))));
    assert!(is_met(&state, Scope::Session, "m", "b") && is_met(&state, Scope::SingleUse, "m", "b"));
    assert!(!is_met(&state, Scope::Permanent, "m", "b"));
    let mut state = State::default();
    state.apply(&change("m", "a", ChangeKind::Satisfied(Scope::Session, satisfied(0))));
    assert!(!is_met(&state, Scope::Branch, "m", "a"));
}

#[test]
fn a_used_single_use_is_asked_for_again_by_that_session_alone() {
    let mut state = State::default();
    for session in ["a", "b"] {
        state.apply(&change("m", session, ChangeKind::Triggered(at(0))));
        state.apply(&change("m", session, ChangeKind::Satisfied(Scope::SingleUse, satisfied(1))));
    }
    state.apply(&change("m", "a", ChangeKind::Cleared(Scope::SingleUse, USED.into())));
    assert!(
        !is_met(&state, Scope::SingleUse, "m", "a") && is_met(&state, Scope::SingleUse, "m", "b")
    );
    assert_eq!(state.held("x", &BranchKey::branch("m"), "a").own, Entry::default());
}

#[test]
fn clearing_by_hand_does_not_disarm_the_end_of_the_turn() {
    let mut state = State::default();
    state.apply(&change("m", "a", ChangeKind::Triggered(at(0))));
    state.apply(&change("m", "a", ChangeKind::Satisfied(Scope::Session, satisfied(1))));
    state.apply(&change("m", "a", ChangeKind::Cleared(Scope::Session, BY_PERSON.into())));
    let own = state.held("x", &BranchKey::branch("m"), "a").own;
    assert_eq!((own.triggered_at, own.satisfied), (Some(at(0)), None));
}

#[test]
fn an_approval_ends_when_its_time_is_over() {
    let requirement = Requirement { ttl: Some(60), ..Requirement::new("x") };
    let own = Satisfied::now(&requirement, BY_APPROVAL, at(0), None);
    assert!(own.holds(at(59)) && !own.holds(at(60)));
    assert_eq!(Satisfied::now(&requirement, BY_APPROVAL, at(0), Some(5)).expires_at, Some(at(5)));
    assert_eq!(Satisfied::now(&Requirement::new("x"), BY_SKILL, at(0), None).expires_at, None);
    assert!(Satisfied::now(&requirement, BY_APPROVAL, at(0), Some(u64::MAX)).holds(at(1)));
    let held = Held { own: Entry { satisfied: Some(own), ..Entry::default() }, ..Held::default() };
    assert!(
        held.satisfied(&requirement, at(70)).is_none()
            && held.expired(&requirement, at(70)).is_some()
    );
}

#[test]
fn a_session_may_approve_what_is_guarded_for_the_branch() {
    let guard =
        Requirement { scope: Scope::Branch, rule: Rule::SingleSession, ..Requirement::new("x") };
    let own = Entry { satisfied: Some(satisfied(0)), ..Entry::default() };
    assert!(Held { own, ..Held::default() }.satisfied(&guard, at(1)).is_some());
}

#[test]
fn a_session_is_known_by_its_full_id_and_by_eight_characters() {
    let id = "cad0ac4d-3933-45ad-9a1c-14aec05bb940";
    assert!(
        is_same_session(id, id)
            && is_same_session(id, "cad0ac4d")
            && is_same_session("cad0ac4d", id)
    );
    assert!(is_same_session("CAD0AC4D-3933-45AD-9A1C-14AEC05BB940", id));
    assert!(
        !is_same_session(id, "cad0ac4e")
            && !is_same_session(id, "cad0")
            && !is_same_session("", id)
    );
    assert!(!is_same_session(id, "cad0ac4d-0000-0000-0000-000000000000"));
    assert_eq!(short_session("ses_5f3a9c21"), "ses_5f3a");
}

#[test]
fn a_session_is_addressed_by_as_little_as_names_it_for_sure() {
    assert_eq!(session_address("cad0ac4d-3933-45ad-9a1c-14aec05bb940"), "cad0ac4d");
    // Codex and opencode begin their ids with a clock.
    for id in ["01a1dcad-653b-7b82-b3ca-a680b4727a77", "ses_5f3a9c21affe0001", "8272974a", ""] {
        assert_eq!(session_address(id), id);
    }
}

#[test]
fn an_entry_under_two_names_is_one() {
    let entry = |triggered: Option<i64>, second: Option<i64>| Entry {
        triggered_at: triggered.map(at),
        warned_at: None,
        satisfied: second.map(satisfied),
    };
    for (one, other, both) in [
        (entry(Some(1), Some(5)), entry(Some(2), Some(3)), entry(Some(1), Some(5))),
        (entry(None, Some(3)), entry(Some(2), Some(5)), entry(Some(2), Some(5))),
        (entry(None, None), entry(None, Some(1)), entry(None, Some(1))),
        (entry(None, Some(1)), entry(None, None), entry(None, Some(1))),
    ] {
        assert_eq!(one.merged(other), both);
    }
}

#[test]
fn what_is_carried_over_is_recent_and_never_renewed() {
    let carry = CarryOver { window: 300, scopes: vec![Scope::Session] };
    let requirement = Requirement::new("x");
    let from = |second| Held {
        own: Entry { satisfied: Some(satisfied(second)), ..Entry::default() },
        ..Held::default()
    };
    let first = carry_over(&requirement, &from(0), &carry, at(200)).unwrap();
    assert_eq!((first.at, first.by.as_str()), (at(0), BY_CARRY_OVER));
    let second =
        Held { own: Entry { satisfied: Some(first), ..Entry::default() }, ..Held::default() };
    assert_eq!(carry_over(&requirement, &second, &carry, at(301)), None);
    assert_eq!(carry_over(&requirement, &Held::default(), &carry, at(1)), None);
    let mut approved = from(0);
    approved.own.satisfied.as_mut().unwrap().by = BY_APPROVAL.to_owned();
    assert_eq!(carry_over(&requirement, &approved, &carry, at(1)), None);
    let branch = Requirement { scope: Scope::Branch, ..requirement };
    assert_eq!(carry_over(&branch, &from(0), &carry, at(1)), None);
}

fn any_change() -> impl Strategy<Value = Change> {
    let scope = prop::sample::select(Scope::ALL.to_vec());
    let kind = prop_oneof![
        (0i64..50).prop_map(|s| ChangeKind::Triggered(at(s))),
        Just(ChangeKind::Untriggered),
        (0i64..50).prop_map(|s| ChangeKind::Warned(at(s))),
        (scope.clone(), 0i64..50).prop_map(|(scope, s)| ChangeKind::Satisfied(scope, satisfied(s))),
        (scope, prop::sample::select(vec![USED, BY_PERSON]))
            .prop_map(|(s, by)| ChangeKind::Cleared(s, by.into())),
    ];
    let place = (prop::sample::select(vec!["m", "n"]), prop::sample::select(vec!["a", "b"]));
    (place, kind).prop_map(|((branch, session), kind)| change(branch, session, kind))
}

proptest! {
    #[test]
    fn a_session_never_changes_what_another_ones_own_entry_says(changes in prop::collection::vec(any_change(), 0..30)) {
        let mut all = State::default();
        let mut own = State::default();
        for change in &changes {
            all.apply(change);
            if change.session.as_deref() == Some("a") {
                own.apply(change);
            }
        }
        for branch in ["m", "n"].map(BranchKey::branch) {
            prop_assert_eq!(all.held("x", &branch, "a").own, own.held("x", &branch, "a").own);
        }
    }

    #[test]
    fn a_permanent_requirement_is_the_same_on_every_branch(changes in prop::collection::vec(any_change(), 0..30)) {
        let mut state = State::default();
        for change in &changes {
            state.apply(change);
        }
        let on = |branch: &str, session: &str| is_met(&state, Scope::Permanent, branch, session);
        prop_assert!([on("m", "b"), on("n", "a"), on("never", "new")].iter().all(|met| *met == on("m", "a")));
    }
}

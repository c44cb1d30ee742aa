//! Approvals: decided once, and never for a session that is over.

use heirloom_core::approval::{By, State};
use heirloom_core::event::{ApprovalDecided, ApprovalRequested};
use heirloom_core::id::ApprovalId;
use heirloom_core::status::Status;
use heirloom_ledger::{ApprovalError, ApprovalFilter, Error, Ledger, Scope};
use serde_json::json;
use uuid::Uuid;

use crate::fixture::{Home, REPO, at, created, session_id as session};

fn approval(n: u128) -> ApprovalId {
    ApprovalId::new(Uuid::from_u128(n))
}

fn requested(n: u128) -> ApprovalRequested {
    let input = json!({"command": "touch x"});
    ApprovalRequested { id: approval(n), tool: "Bash".to_owned(), input, tool_call_id: None }
}

fn decided(n: u128, approved: bool) -> ApprovalDecided {
    ApprovalDecided {
        id: approval(n),
        approved,
        by: By::Person,
        reason: Some("because".to_owned()),
        edited: None,
        edited_ref: None,
        rule: None,
    }
}

/// A running session with two open questions.
fn waiting(home: &Home) -> Ledger {
    let mut ledger = home.open();
    ledger
        .write::<_, Error>(at(0), |writer| {
            let scope = Scope::session(session(1), REPO);
            writer.append(scope, &created("a"))?;
            writer.change_status(session(1), Status::Running, None)?;
            writer.request_approval(scope, &requested(1), None)?;
            writer.request_approval(scope, &requested(2), None)
        })
        .unwrap();
    ledger
}

fn status(ledger: &Ledger) -> Status {
    ledger.session(session(1)).unwrap().unwrap().status
}

fn decide(ledger: &mut Ledger, decided: &ApprovalDecided) -> Result<State, ApprovalError> {
    let done = ledger.write(at(1), |writer| writer.decide_approval(decided));
    done.map(|approval| approval.state)
}

#[test]
fn deciding_one_of_two_leaves_the_session_waiting() {
    let home = Home::new();
    let mut ledger = waiting(&home);
    assert_eq!(status(&ledger), Status::WaitingInput);
    assert_eq!(decide(&mut ledger, &decided(1, true)).unwrap(), State::Approved);
    assert_eq!(status(&ledger), Status::WaitingInput);
    assert_eq!(decide(&mut ledger, &decided(2, false)).unwrap(), State::Denied);
    assert_eq!(status(&ledger), Status::Running);
    assert!(ledger.verify().unwrap().ok);
}

#[test]
fn the_second_decision_is_told_the_first() {
    let home = Home::new();
    let mut ledger = waiting(&home);
    decide(&mut ledger, &decided(1, false)).unwrap();
    let error = decide(&mut ledger, &decided(1, true)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "approval 00000000 was denied by a person at 2026-01-12T15:30:01Z: because"
    );
}

#[test]
fn a_decision_never_revives_a_session_that_is_over() {
    let home = Home::new();
    let mut ledger = waiting(&home);
    ledger.write(at(1), |writer| writer.change_status(session(1), Status::Failed, None)).unwrap();
    let error = decide(&mut ledger, &decided(1, true)).unwrap_err();
    assert!(matches!(error, ApprovalError::Over { status: Status::Failed, .. }), "{error}");
    assert_eq!(status(&ledger), Status::Failed);
}

#[test]
fn a_closed_question_says_why() {
    let home = Home::new();
    let mut ledger = waiting(&home);
    let closed =
        ledger.write(at(1), |writer| writer.close_approvals(session(1), "the session went on"));
    assert_eq!(closed.unwrap(), 2);
    let filter = ApprovalFilter { session: Some(session(1)), pending: true, repo: Some(REPO) };
    assert!(ledger.approvals(filter).unwrap().is_empty());
    let error = decide(&mut ledger, &decided(2, true)).unwrap_err();
    assert!(error.to_string().ends_with("the session went on"), "{error}");
    assert!(matches!(decide(&mut ledger, &decided(9, true)), Err(ApprovalError::None { .. })));
}

//! Room is given back, and nothing else.

use heirloom_core::approval::By;
use heirloom_core::config::{Config, Reference};
use heirloom_core::event::{
    ApprovalDecided, ApprovalRequested, SessionConfigured, SessionCreated, TemplateSaved,
};
use heirloom_core::id::ApprovalId;
use heirloom_core::status::Status;
use heirloom_ledger::{Error, Scope};
use uuid::Uuid;

use crate::fixture::{Home, REPO, at, created, fill, session_id};

#[test]
fn empty_pages_are_given_back_and_every_record_stays() {
    let home = Home::new();
    let mut ledger = home.open();
    fill(&mut ledger, 400);
    let before = ledger.stats().unwrap();
    drop(ledger);
    home.tamper(
        "CREATE TABLE big AS SELECT * FROM record; DROP TABLE big;
         CREATE TABLE views.big AS SELECT * FROM record; DROP TABLE views.big",
    );
    let mut ledger = home.open();

    let planned = ledger.compact(true).unwrap();
    assert!(planned.bytes_after < planned.bytes_before, "{planned:?}");
    assert_eq!(ledger.compact(true).unwrap(), planned, "nothing was done");

    let done = ledger.compact(false).unwrap();
    assert_eq!(done.bytes_before, planned.bytes_before);
    assert!(done.bytes_after < done.bytes_before * 7 / 8, "{done:?}");
    let after = ledger.stats().unwrap();
    assert_eq!((after.records, after.kinds, after.sessions), (before.records, before.kinds, 1));
    assert!(ledger.verify().unwrap().ok);
    let again = ledger.compact(false).unwrap();
    assert_eq!(again.bytes_after, again.bytes_before);
}

fn reference(n: u128) -> Reference {
    Reference::new(Uuid::from_u128(n))
}

fn with_secret(n: u128) -> Config {
    Config { system_prompt: Some(reference(n).to_string()), ..Config::default() }
}

#[test]
fn what_is_referred_to_is_what_a_launch_or_an_answer_may_still_need() {
    let home = Home::new();
    let mut ledger = home.open();
    let scope = Scope::session(session_id(1), REPO);
    let session = SessionCreated { config: with_secret(1), ..created("a") };
    ledger.append(at(0), scope, &session).unwrap();
    ledger.append(at(0), scope, &SessionConfigured { config: with_secret(2) }).unwrap();
    let saved = TemplateSaved { name: "t".to_owned(), config: with_secret(3) };
    ledger.append(at(0), scope, &saved).unwrap();
    let id = ApprovalId::new(Uuid::from_u128(9));
    ledger
        .write(at(1), |writer| {
            writer.change_status(session_id(1), Status::Running, None)?;
            let asked = ApprovalRequested {
                id,
                tool: "Bash".to_owned(),
                input: serde_json::Value::Null,
                tool_call_id: None,
            };
            let decided = ApprovalDecided {
                id,
                approved: true,
                by: By::Person,
                reason: None,
                edited: None,
                edited_ref: Some(reference(4).to_string()),
                rule: None,
            };
            writer.request_approval(scope, &asked, Some(&decided)).map(drop)
        })
        .unwrap();
    let found = |ledger: &heirloom_ledger::Ledger| {
        ledger.references().unwrap().into_iter().collect::<Vec<_>>()
    };
    assert_eq!(found(&ledger), [2, 3, 4].map(reference));
    // The session is over: nobody waits for the edited input any more.
    ledger
        .write(at(2), |writer| writer.change_status(session_id(1), Status::Completed, None))
        .map_err(|error: Error| error.to_string())
        .unwrap();
    assert_eq!(found(&ledger), [2, 3].map(reference));
}

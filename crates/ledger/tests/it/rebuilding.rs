use std::collections::BTreeMap;

use heirloom_core::event::{
    Body, IterationEnded, IterationStarted, LiveGone, LiveSeen, RequirementCleared,
    RequirementSatisfied, RequirementTriggered, SessionChanged, SessionSpent,
};
use heirloom_core::record::Record;
use heirloom_core::run::outcome::Outcome;
use heirloom_core::run::status_file::Decision;
use heirloom_core::status::Status;
use heirloom_ledger::{Ledger, Scope};
use proptest::prelude::*;
use rusqlite::types::Value;

use crate::fixture::{Home, REPO, at, created, fill, note, session_id};

/// Every row of every derived table.
fn dump(home: &Home) -> BTreeMap<String, Vec<Vec<Value>>> {
    let db = home.database();
    let tables: Vec<String> = db
        .prepare(
            "SELECT name FROM (SELECT * FROM main.sqlite_schema UNION ALL
                               SELECT * FROM views.sqlite_schema)
             WHERE type = 'table' AND name NOT IN ('record', 'head', 'folded')",
        )
        .unwrap()
        .query_map((), |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert!(tables.len() >= 9);
    tables.into_iter().map(|table| (rows(&db, &table), table)).map(|(r, t)| (t, r)).collect()
}

fn rows(db: &rusqlite::Connection, table: &str) -> Vec<Vec<Value>> {
    let columns = db.prepare(&format!("SELECT * FROM {table}")).unwrap().column_count();
    let order: Vec<String> = (1..=columns.min(3)).map(|column| column.to_string()).collect();
    let all = format!("SELECT * FROM {table} ORDER BY {}", order.join(", "));
    let mut statement = db.prepare(&all).unwrap();
    statement
        .query_map((), |row| (0..columns).map(|column| row.get(column)).collect())
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap()
}

#[test]
fn a_lost_projection_is_derived_again_to_the_byte() {
    let home = Home::new();
    fill(&mut home.open(), 5);
    let before = dump(&home);
    home.tamper(
        "DELETE FROM note; UPDATE session SET learnings = 99, config = '{}'; DROP TABLE live",
    );
    let report = home.open().verify().unwrap();
    let details: Vec<&str> =
        report.problems.iter().map(|problem| problem.detail.as_str()).collect();
    assert_eq!(details.len(), 3, "{details:?}");
    assert_eq!(home.open().rebuild().unwrap(), 6);
    assert_eq!(dump(&home), before);
    assert!(home.open().verify().unwrap().ok);
}

/// Something that can happen to one of three sessions.
#[derive(Debug, Clone)]
enum Step {
    Create(u8),
    Note(u8, bool),
    Spend(u8, u32),
    Status(u8, Status),
    Iteration(u8, u32, bool),
    Live(u8, bool),
    Requirement(u8, u8, u8),
}

fn step() -> impl Strategy<Value = Step> {
    let session = 0u8..3;
    prop_oneof![
        session.clone().prop_map(Step::Create),
        (session.clone(), any::<bool>()).prop_map(|(s, replace)| Step::Note(s, replace)),
        (session.clone(), any::<u32>()).prop_map(|(s, cost)| Step::Spend(s, cost)),
        (session.clone(), prop::sample::select(Status::ALL.to_vec()))
            .prop_map(|(s, status)| Step::Status(s, status)),
        (session.clone(), 1u32..4, any::<bool>())
            .prop_map(|(s, i, end)| Step::Iteration(s, i, end)),
        (session.clone(), any::<bool>()).prop_map(|(s, seen)| Step::Live(s, seen)),
        (session, 0u8..3, 0u8..4).prop_map(|(s, what, scope)| Step::Requirement(s, what, scope)),
    ]
}

fn take(ledger: &mut Ledger, second: i64, step: &Step) {
    let scope = |s: &u8| Scope::session(session_id(u128::from(*s)), REPO);
    let n = 1000 + u128::try_from(second).unwrap();
    let done = match step {
        Step::Create(s) => ledger.append(at(second), scope(s), &created(&format!("s{s}"))),
        Step::Note(s, replace) => {
            let mut note = note(n, "something");
            note.supersedes = replace.then(|| crate::fixture::note(n - 1, "").id);
            ledger.append(at(second), scope(s), &note)
        }
        Step::Spend(s, cost) => {
            let cost_usd = Some(f64::from(*cost) / 7.0);
            let spent = SessionSpent { cost_usd, input_tokens: 1, output_tokens: 1 };
            ledger.append(at(second), scope(s), &spent)
        }
        Step::Status(s, status) => {
            let changed = SessionChanged { status: *status, reason: None };
            ledger.append(at(second), scope(s), &changed)
        }
        Step::Iteration(s, iteration, true) => {
            let ended = IterationEnded {
                stage: "stage-00-ralph".to_owned(),
                iteration: *iteration,
                outcome: Outcome::Completed,
                decision: Some(Decision::Continue),
                summary: None,
                cost_usd: Some(0.1),
                duration_ms: 5,
                why: None,
                denied: 0,
            };
            ledger.append(at(second), scope(s), &ended)
        }
        Step::Iteration(s, iteration, false) => {
            let started = IterationStarted {
                stage: "stage-00-ralph".to_owned(),
                iteration: *iteration,
                agent_session_id: None,
                pid: Some(7),
                pid_started: Some(9),
            };
            ledger.append(at(second), scope(s), &started)
        }
        Step::Live(s, true) => {
            let seen = LiveSeen {
                agent: "claude".into(),
                pid: 7,
                pid_started: None,
                worktree: None,
                branch: None,
            };
            ledger.append(at(second), scope(s), &seen)
        }
        Step::Live(s, false) => ledger.append(at(second), scope(s), &LiveGone { reason: None }),
        Step::Requirement(s, what, scope_of) => {
            let scopes = ["session", "branch", "single_use", "permanent"];
            let body = serde_json::json!({
                "name": "commit_plan",
                "branch": "main",
                "scope": scopes[usize::from(*scope_of)],
                "method": "person",
                "metadata": {"by": "me"},
            });
            match what {
                0 => append::<RequirementTriggered>(ledger, second, scope(s), body),
                1 => append::<RequirementSatisfied>(ledger, second, scope(s), body),
                _ => append::<RequirementCleared>(ledger, second, scope(s), body),
            }
        }
    };
    done.unwrap();
}

fn append<B: Body>(
    ledger: &mut Ledger,
    second: i64,
    scope: Scope<'_>,
    body: serde_json::Value,
) -> Result<Record, heirloom_ledger::Error> {
    ledger.append(at(second), scope, &serde_json::from_value::<B>(body).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn whatever_happened_a_rebuild_gives_the_same(steps in prop::collection::vec(step(), 1..40)) {
        let home = Home::new();
        let mut ledger = home.open();
        for (second, step) in (1..).zip(&steps) {
            take(&mut ledger, second, step);
        }
        prop_assert!(ledger.verify().unwrap().ok);
        let before = dump(&home);
        ledger.rebuild().unwrap();
        prop_assert_eq!(dump(&home), before);
    }
}

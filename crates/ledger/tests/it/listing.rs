//! Pages of sessions: nothing twice, nothing missing, nothing that one bad row could spoil.

use heirloom_core::event::{Body, HostNamed, SessionSpent};
use heirloom_core::status::Status;
use heirloom_ledger::{Ledger, Scope, SessionFilter};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::fixture::{Home, REPO, at, created, fill, session_id};

/// The names on all pages, page by page.
fn pages(ledger: &Ledger, filter: &SessionFilter<'_>) -> Vec<String> {
    let mut names = Vec::new();
    let mut after = None;
    loop {
        let page = ledger.sessions(&SessionFilter { after, ..filter.clone() }).unwrap();
        assert!(page.sessions.len() <= filter.limit);
        names.extend(page.sessions.into_iter().map(|session| session.name.to_string()));
        after = page.next;
        if after.is_none() {
            return names;
        }
    }
}

#[test]
fn pages_follow_each_other_without_gap_or_overlap_whatever_is_asked_for() {
    let home = Home::new();
    let mut ledger = home.open();
    let mut all = Vec::new();
    for n in 0..60_u128 {
        let repo = if n % 3 == 0 { "/src/elsewhere" } else { REPO };
        let status = Status::ALL[usize::try_from(n % 8).unwrap()];
        let id = session_id(n);
        // Several sessions share a moment: the order must not depend on it.
        let second = i64::try_from(n / 4).unwrap();
        ledger.append(at(second), Scope::session(id, repo), &created(&format!("s{n:02}"))).unwrap();
        let way: &[Status] = match status {
            Status::Starting => &[],
            Status::WaitingInput => &[Status::Running, Status::WaitingInput],
            Status::Archived => &[Status::Failed, Status::Archived],
            Status::Interrupting => &[Status::Running, Status::Interrupting],
            _ => &[status],
        };
        for status in way {
            ledger.write(at(second), |writer| writer.change_status(id, *status, None)).unwrap();
        }
        all.push((format!("s{n:02}"), repo, status));
    }
    all.reverse();
    let asked: [&[Status]; 5] = [
        &[],
        &[Status::Completed],
        &[Status::Archived],
        &[Status::Starting, Status::Running, Status::WaitingInput, Status::Interrupting],
        &[Status::Failed, Status::Interrupted],
    ];
    for repo in [Some(REPO), None] {
        for statuses in asked {
            let fits = |status: &Status| match statuses {
                [] => *status != Status::Archived,
                statuses => statuses.contains(status),
            };
            let expected: Vec<String> = all
                .iter()
                .filter(|(_, of, status)| repo.is_none_or(|repo| repo == *of) && fits(status))
                .map(|(name, ..)| name.clone())
                .collect();
            let filter = SessionFilter { repo, statuses, limit: 7, ..SessionFilter::default() };
            assert_eq!(pages(&ledger, &filter), expected, "{repo:?} {statuses:?}");
        }
    }
}

#[test]
fn one_config_that_cannot_be_read_spoils_nothing_but_itself() {
    let home = Home::new();
    let mut ledger = home.open();
    fill(&mut ledger, 0);
    ledger.append(at(1), Scope::session(session_id(2), REPO), &created("auth-v2")).unwrap();
    drop(ledger);
    home.tamper(
        r#"UPDATE session SET config = '{"disallowed_tools":"WebFetch"}' WHERE name = 'auth-v1'"#,
    );
    let ledger = home.open();
    let filter = SessionFilter { repo: Some(REPO), limit: 9, ..SessionFilter::default() };
    assert_eq!(pages(&ledger, &filter), ["auth-v2", "auth-v1"]);
    let damaged = ledger.session(session_id(1)).unwrap().unwrap();
    let why = damaged.config.unwrap_err().to_string();
    assert!(why.contains("disallowed_tools"), "{why}");
    assert!(ledger.session(session_id(2)).unwrap().unwrap().config.is_ok());
}

/// A session as a heirloom of another version may have recorded it.
#[derive(Debug, Serialize, Deserialize)]
struct Foreign(Value);

impl Body for Foreign {
    const KIND: &'static str = "session.created";
}

#[test]
fn a_record_with_a_config_of_another_shape_is_a_session_and_not_an_unrestricted_one() {
    let home = Home::new();
    let mut ledger = home.open();
    for (n, fields) in [
        json!({"config": {"disallowed_tools": "WebFetch"}}),
        json!({"config": {"denied_hosts": ["x"]}}),
        json!({"config": {"model": "opus"}, "overridden": ["denied_hosts"]}),
        json!({"config": null}),
    ]
    .into_iter()
    .enumerate()
    {
        let mut body = json!({"name": format!("s{n}")});
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let id = session_id(u128::try_from(n).unwrap());
        ledger.append(at(0), Scope::session(id, REPO), &Foreign(body)).unwrap();
    }
    let problem = |n| {
        let session = ledger.session(session_id(n)).unwrap().unwrap();
        session.config.map_or_else(|unreadable| unreadable.why, |_| "none".to_owned())
    };
    assert!(problem(0).starts_with("disallowed_tools: "), "{}", problem(0));
    assert_eq!(problem(1), "this heirloom does not know the field denied_hosts");
    assert!(problem(2).starts_with("the overridden fields: "), "{}", problem(2));
    assert_eq!(problem(3), "it is not an object");
    assert!(ledger.verify().unwrap().ok);
}

#[test]
fn what_was_spent_since_midnight_is_counted_whenever_its_session_started() {
    const MIDNIGHT: i64 = 1_000;
    let home = Home::new();
    let mut ledger = home.open();
    let pay = |ledger: &mut Ledger, id, second, cost_usd| {
        let spent = SessionSpent { cost_usd: Some(cost_usd), input_tokens: 1, output_tokens: 1 };
        ledger.append(at(second), Scope::session(id, REPO), &spent).unwrap();
    };
    let change = |ledger: &mut Ledger, id, second, status| {
        ledger.write(at(second), |writer| writer.change_status(id, status, None)).unwrap();
    };
    for (n, name) in (0..).zip(["over", "ended-today", "goes-on", "began-today"]) {
        let second = if name == "began-today" { MIDNIGHT } else { 1 };
        let scope = Scope::session(session_id(n), REPO);
        ledger.append(at(second), scope, &created(name)).unwrap();
        change(&mut ledger, session_id(n), second, Status::Running);
        pay(&mut ledger, session_id(n), second, 1.0);
    }
    change(&mut ledger, session_id(0), 2, Status::Completed);
    pay(&mut ledger, session_id(1), MIDNIGHT, 2.0);
    change(&mut ledger, session_id(1), MIDNIGHT + 1, Status::Completed);
    pay(&mut ledger, session_id(2), MIDNIGHT + 2, 4.0);
    // A turn that nobody priced, and one that was said to be free with its tokens.
    for (n, cost_usd) in [(2, None), (3, Some(0.0))] {
        let spent = SessionSpent { cost_usd, input_tokens: 1, output_tokens: 1 };
        ledger.append(at(MIDNIGHT + 3), Scope::session(session_id(n), REPO), &spent).unwrap();
    }
    let mut spent: Vec<(usize, f64, bool)> = Vec::new();
    for each in ledger.spending_since(at(MIDNIGHT)).unwrap() {
        let n = (0..4).find(|n| session_id(*n) == each.session).unwrap();
        spent.push((usize::try_from(n).unwrap(), each.cost_usd, each.unpriced));
    }
    assert_eq!(spent, [(1, 2.0, false), (2, 4.0, true), (3, 1.0, true)]);
}

#[test]
fn what_is_counted_is_what_a_list_has() {
    let (here, there) = (Home::new(), Home::new());
    let mut theirs = there.open();
    theirs.append(at(1), Scope::session(session_id(7), REPO), &created("theirs")).unwrap();
    let mut export = Vec::new();
    theirs.export(&mut export).unwrap();
    let mut ledger = here.open();
    ledger.import(&export[..]).unwrap();
    let listed = |ledger: &Ledger| {
        let filter = SessionFilter { repo: Some(REPO), limit: 9, ..SessionFilter::default() };
        let listed = ledger.sessions(&filter).unwrap().sessions.len() as u64;
        assert_eq!(ledger.count_sessions(REPO).unwrap(), listed);
        listed
    };
    assert_eq!(listed(&ledger), 1, "of the same person at another machine");
    let named = HostNamed { host: theirs.host().unwrap(), name: "ada".to_owned() };
    ledger.append(at(2), Scope::default(), &named).unwrap();
    assert_eq!(listed(&ledger), 0, "of a colleague");
    ledger.append(at(3), Scope::session(session_id(1), REPO), &created("own")).unwrap();
    assert_eq!(listed(&ledger), 1);
}

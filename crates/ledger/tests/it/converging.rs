//! Ledgers that have the same records show the same issues, in whatever order the records came.

use heirloom_core::event::{
    IssueChanged, IssueCommented, IssueCreated, IssueLinked, IssueUnlinked,
};
use heirloom_core::issue::{Change, Comment, Issue, IssueId, IssueStatus, Line, NewIssue};
use heirloom_ledger::{Ledger, Options, Scope};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use crate::fixture::{Home, REPO, at};

const SCOPE: Scope<'static> = Scope { session: None, repo: Some(REPO) };

fn open(home: &Home) -> Ledger {
    Ledger::open(home.path(), Options::HOOK).unwrap()
}

fn export(home: &Home) -> Vec<u8> {
    let mut out = Vec::new();
    open(home).export(&mut out).unwrap();
    out
}

fn id(text: &str) -> IssueId {
    text.parse().unwrap()
}

fn create(ledger: &mut Ledger, now: Timestamp, text: &str, title: &str) {
    let new = NewIssue { title: title.to_owned(), ..NewIssue::default() };
    let line = Line::of(&new.make(id(text), now));
    let issue = serde_json::from_str(&line.to_string()).unwrap();
    ledger.append(now, SCOPE, &IssueCreated { issue }).unwrap();
}

fn retitle(ledger: &mut Ledger, now: Timestamp, text: &str, title: &str) {
    let change = Change { title: Some(title.to_owned()), ..Change::default() };
    ledger.append(now, SCOPE, &IssueChanged { id: id(text), change }).unwrap();
}

fn exchange(one: &Home, other: &Home) {
    let (a, b) = (export(one), export(other));
    open(one).import(&b[..]).unwrap();
    open(other).import(&a[..]).unwrap();
}

fn issue(home: &Home, text: &str) -> Issue {
    open(home).issue(REPO, &id(text)).unwrap().unwrap()
}

#[test]
fn two_ledgers_that_edit_one_title_end_with_the_same_one_and_keep_each_others_fields() {
    let (ada, bob) = (Home::new(), Home::new());
    create(&mut open(&ada), at(0), "hl-1", "first");
    exchange(&ada, &bob);
    retitle(&mut open(&ada), at(10), "hl-1", "of ada");
    let change = Change { priority: Some(0), ..Change::default() };
    open(&ada).append(at(30), SCOPE, &IssueChanged { id: id("hl-1"), change }).unwrap();
    retitle(&mut open(&bob), at(20), "hl-1", "of bob");
    exchange(&ada, &bob);
    for home in [&ada, &bob] {
        let issue = issue(home, "hl-1");
        assert_eq!((issue.title.as_str(), issue.priority), ("of bob", 0));
        assert!(open(home).verify().unwrap().ok);
    }
}

#[test]
fn a_change_by_somebody_whose_clock_is_behind_is_not_lost() {
    let (ada, bob) = (Home::new(), Home::new());
    create(&mut open(&ada), at(1000), "hl-1", "first");
    exchange(&ada, &bob);
    retitle(&mut open(&bob), at(0), "hl-1", "second");
    // And whoever sets a clock back means what was said last.
    retitle(&mut open(&bob), at(-50), "hl-1", "third");
    exchange(&ada, &bob);
    assert_eq!(
        (issue(&ada, "hl-1").title, issue(&bob, "hl-1").title),
        ("third".into(), "third".into())
    );
}

#[test]
fn two_issues_that_were_given_the_same_id_are_both_there() {
    let (ada, bob, eve) = (Home::new(), Home::new(), Home::new());
    create(&mut open(&ada), at(5), "hl-1", "of ada");
    create(&mut open(&bob), at(9), "hl-1", "of bob");
    retitle(&mut open(&bob), at(10), "hl-1", "of bob, still");
    let other = format!("hl-1-{}", &open(&bob).host().unwrap().as_str()[..6]);
    exchange(&ada, &bob);
    for home in [&ada, &bob] {
        assert_eq!(issue(home, "hl-1").title, "of ada");
        assert_eq!(issue(home, &other).title, "of bob, still");
    }
    // Under its new id it is changed by anybody, and arrives in any order.
    retitle(&mut open(&ada), at(20), &other, "of both");
    let (a, b) = (export(&ada), export(&bob));
    for exports in [[&a, &b], [&b, &a]] {
        let home = Home::new();
        for export in exports {
            open(&home).import(&export[..]).unwrap();
        }
        assert_eq!(issue(&home, &other).title, "of both");
        assert_eq!(open(&home).issue_ids(REPO).unwrap().len(), 2);
        assert!(open(&home).verify().unwrap().ok);
    }
    open(&eve).import(&a[..]).unwrap();
    assert_eq!(issue(&eve, &other).title, "of both");
}

#[test]
fn a_claim_of_another_host_is_not_judged_by_the_readers_clock() {
    use heirloom_core::issue::Owner;
    use heirloom_ledger::{Claimed, Error};
    let (ada, bob) = (Home::new(), Home::new());
    let claim = |home: &Home, name: &str, now: Timestamp| {
        let mut ledger = open(home);
        let host = ledger.host().unwrap().to_string();
        let owner = Owner { name: name.to_owned(), host, pid: None, pid_started: None };
        let until = now.checked_add(SignedDuration::from_secs(600)).ok();
        let claimed = ledger.write::<_, Error>(now, |writer| {
            writer.claim_issue(REPO, &id("hl-1"), &owner, until, |_, _| true)
        });
        matches!(claimed.unwrap(), Claimed::Won { .. })
    };
    create(&mut open(&ada), at(0), "hl-1", "first");
    assert!(claim(&bob, "bob", at(0)));
    exchange(&ada, &bob);
    // Ada's clock is a day ahead: the lease has only begun for her.
    let day = |seconds: i64| at(24 * 3600 + seconds);
    assert!(!claim(&ada, "ada", day(0)));
    retitle(&mut open(&ada), day(10), "hl-1", "second");
    assert!(!claim(&ada, "ada", day(500)));
    assert!(claim(&ada, "ada", day(700)), "and it is over some time");
}

/// Something that somebody does.
#[derive(Debug, Clone)]
enum Act {
    Create(u8, u8),
    Change(u8, u8),
    Comment(u8),
    Link(u8, u8),
    Unlink(u8, u8),
    Take(usize),
}

fn act() -> impl Strategy<Value = Act> {
    let (issue, word) = (0..3_u8, 0..8_u8);
    prop_oneof![
        (issue.clone(), word.clone()).prop_map(|(issue, word)| Act::Create(issue, word)),
        (issue.clone(), word.clone()).prop_map(|(issue, word)| Act::Change(issue, word)),
        (issue.clone(), word).prop_map(|(issue, word)| Act::Change(issue, word)),
        issue.clone().prop_map(Act::Comment),
        (issue.clone(), issue.clone()).prop_map(|(one, other)| Act::Link(one, other)),
        (issue.clone(), issue).prop_map(|(one, other)| Act::Unlink(one, other)),
        (0..3_usize).prop_map(Act::Take),
    ]
}

fn carry_out(homes: &[Home], who: usize, now: Timestamp, act: &Act) {
    let name = |issue: &u8| format!("hl-{issue}");
    let mut ledger = open(&homes[who]);
    match act {
        Act::Create(issue, word) => create(&mut ledger, now, &name(issue), &format!("w{word}")),
        Act::Change(issue, word) => {
            let change = match word % 4 {
                0 => Change { title: Some(format!("w{word}")), ..Change::default() },
                1 => Change { status: Some(IssueStatus::Closed), ..Change::default() },
                2 => Change { add_labels: vec![format!("l{word}")], ..Change::default() },
                _ => Change {
                    status: Some(IssueStatus::Open),
                    remove_labels: vec!["l2".to_owned()],
                    ..Change::default()
                },
            };
            ledger.append(now, SCOPE, &IssueChanged { id: id(&name(issue)), change }).unwrap();
        }
        Act::Comment(issue) => {
            let comment = Comment { author: format!("p{who}"), text: "hm".into(), created_at: now };
            let said = IssueCommented { id: id(&name(issue)), number: 1, comment };
            ledger.append(now, SCOPE, &said).unwrap();
        }
        Act::Link(issue, on) => {
            let (id, depends_on) = (id(&name(issue)), id(&name(on)));
            let linked = IssueLinked { id, depends_on, kind: "blocks".to_owned() };
            ledger.append(now, SCOPE, &linked).unwrap();
        }
        Act::Unlink(issue, on) => {
            let (id, depends_on) = (id(&name(issue)), id(&name(on)));
            ledger.append(now, SCOPE, &IssueUnlinked { id, depends_on }).unwrap();
        }
        Act::Take(from) => {
            drop(ledger);
            if *from != who {
                let taken = export(&homes[*from]);
                open(&homes[who]).import(&taken[..]).unwrap();
            }
        }
    }
}

/// What a ledger shows of issues, edges included.
fn shown(home: &Home) -> (Vec<String>, String) {
    let ledger = open(home);
    let lines = ledger.issue_lines(REPO).unwrap();
    let (entries, mut edges) = ledger.backlog(REPO).unwrap();
    edges.sort_by_key(|edge| (edge.issue.clone(), edge.depends_on.clone(), edge.kind.clone()));
    (lines, format!("{entries:?} {edges:?}"))
}

const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, max_shrink_iters: 20, ..ProptestConfig::default() })]

    #[test]
    fn three_hosts_with_skewed_clocks_end_equal_in_every_order_of_arrival(
        acts in proptest::collection::vec((0..3_usize, act()), 5..25),
        skews in proptest::array::uniform3(-5_000_i64..5_000),
    ) {
        let homes = [Home::new(), Home::new(), Home::new()];
        for (step, (who, act)) in (0..).zip(&acts) {
            // Some things happen in the same moment.
            let skew = SignedDuration::from_millis(skews[*who]);
            let now = at(step / 3).checked_add(skew).unwrap();
            carry_out(&homes, *who, now, act);
        }
        let exports: Vec<Vec<u8>> = homes.iter().map(export).collect();
        let mut seen = Vec::new();
        for order in ORDERS {
            let home = Home::new();
            for from in order {
                open(&home).import(&exports[from][..]).unwrap();
            }
            seen.push(shown(&home));
        }
        for (home, from) in homes.iter().zip(ORDERS) {
            for other in from {
                open(home).import(&exports[other][..]).unwrap();
            }
            seen.push(shown(home));
        }
        prop_assert!(seen.windows(2).all(|pair| pair[0] == pair[1]), "{seen:#?}");
        let report = open(&homes[0]).verify().unwrap();
        prop_assert!(report.ok, "{:?}", report.problems);
    }
}

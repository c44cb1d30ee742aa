//! Issues: what happened to them, and how much of it a list has to read.

use heirloom_core::event::{
    IssueChanged, IssueCommented, IssueCreated, IssueImported, IssueLinked, IssueUnlinked,
};
use heirloom_core::issue::{
    Change, Comment, Dependency, Issue, IssueId, IssueStatus, Line, NewIssue, block, ready,
};
use heirloom_ledger::{Error, Ledger, Scope};
use serde_json::{Value, json};

use crate::fixture::{Home, REPO, at};

const SCOPE: Scope<'static> = Scope { session: None, repo: Some(REPO) };

fn id(text: &str) -> IssueId {
    text.parse().unwrap()
}

fn new(text: &str) -> NewIssue {
    NewIssue { title: format!("do {text}"), author: "ada".to_owned(), ..NewIssue::default() }
}

fn create(ledger: &mut Ledger, text: &str, new: NewIssue) {
    let line = Line::of(&new.make(id(text), at(0)));
    let issue: Value = serde_json::from_str(&line.to_string()).unwrap();
    ledger.append(at(0), SCOPE, &IssueCreated { issue }).unwrap();
}

fn issue(ledger: &Ledger, text: &str) -> Issue {
    ledger.issue(REPO, &id(text)).unwrap().unwrap()
}

fn ready_ids(ledger: &Ledger) -> Vec<String> {
    let (mut entries, edges) = ledger.backlog(REPO).unwrap();
    block(&mut entries, &edges);
    ready(&entries, at(100)).into_iter().map(|entry| entry.id.to_string()).collect()
}

#[test]
fn an_issue_is_what_happened_to_it() {
    let home = Home::new();
    let mut ledger = home.open();
    create(&mut ledger, "hl-1", NewIssue { labels: vec!["x".to_owned()], ..new("one") });
    create(
        &mut ledger,
        "hl-2",
        NewIssue { priority: 0, blocked_by: vec![id("hl-1")], ..new("two") },
    );
    assert_eq!(ready_ids(&ledger), ["hl-1"]);
    let change = Change { notes: Some("n".to_owned()), ..Change::default() };
    ledger.append(at(5), SCOPE, &IssueChanged { id: id("hl-1"), change }).unwrap();
    let comment = Comment { author: "bob".into(), text: "hm".into(), created_at: at(6) };
    let said = IssueCommented { id: id("hl-1"), number: 4, comment: comment.clone() };
    ledger.append(at(6), SCOPE, &said).unwrap();
    let changed = issue(&ledger, "hl-1");
    assert_eq!((changed.notes.as_deref(), changed.updated_at), (Some("n"), at(6)));
    assert_eq!((changed.comments, changed.labels), (vec![comment], vec!["x".to_owned()]));
    let last = ledger.write::<_, Error>(at(7), |writer| writer.last_comment(REPO)).unwrap();
    assert_eq!(last, 4);

    let change = Change::close("done", None);
    ledger.append(at(8), SCOPE, &IssueChanged { id: id("hl-1"), change }).unwrap();
    assert_eq!(ready_ids(&ledger), ["hl-2"]);
    assert_eq!(issue(&ledger, "hl-1").status, IssueStatus::Closed);
    assert!(ledger.verify().unwrap().ok);
}

#[test]
fn a_dependency_comes_and_goes_in_the_issue_and_beside_it() {
    let home = Home::new();
    let mut ledger = home.open();
    create(&mut ledger, "hl-1", new("one"));
    create(&mut ledger, "hl-2", new("two"));
    let (one, two) = (id("hl-1"), id("hl-2"));
    let linked = IssueLinked { id: two.clone(), depends_on: one.clone(), kind: "blocks".into() };
    ledger.append(at(1), SCOPE, &linked).unwrap();
    let on = Dependency { depends_on: one.clone(), kind: "blocks".to_owned() };
    assert_eq!(issue(&ledger, "hl-2").dependencies, [on]);
    assert_eq!(ready_ids(&ledger), ["hl-1"]);
    ledger.append(at(2), SCOPE, &IssueUnlinked { id: two, depends_on: one }).unwrap();
    assert_eq!(issue(&ledger, "hl-2").dependencies, []);
    assert_eq!(ready_ids(&ledger), ["hl-1", "hl-2"]);
    assert!(ledger.verify().unwrap().ok);
}

#[test]
fn what_was_imported_is_there_to_the_letter_and_replaces_what_was_there() {
    let home = Home::new();
    let mut ledger = home.open();
    create(&mut ledger, "bd-1", NewIssue { blocked_by: vec![id("bd-2")], ..new("one") });
    let line = json!({
        "id": "bd-1", "title": "imported", "status": "deferred", "priority": 1, "issue_type": "bug",
        "created_at": "2026-01-01T00:00:00.123456789+00:00", "agent_context": {"b": 1, "a": 2},
        "comments": [{"id": 9, "issue_id": "bd-1", "author": "a", "text": "t",
                      "created_at": "2026-01-01T00:00:00Z"}],
    });
    ledger.append(at(1), SCOPE, &IssueImported { issue: line.clone() }).unwrap();
    assert_eq!(ledger.issue_lines(REPO).unwrap(), [line.to_string()]);
    assert_eq!(ledger.backlog(REPO).unwrap().1, []);
    // What is not an issue cannot be refused any more, but is none either.
    ledger.append(at(2), SCOPE, &IssueImported { issue: json!({"id": "../x"}) }).unwrap();
    assert_eq!(ledger.issue_ids(REPO).unwrap(), ["bd-1"]);
    assert!(ledger.verify().unwrap().ok);
}

#[test]
fn a_backlog_is_of_one_repository_and_only_what_is_open() {
    let home = Home::new();
    let mut ledger = home.open();
    for number in 0..300 {
        let name = format!("hl-{number:03}");
        create(&mut ledger, &name, new(&name));
        if number % 3 != 0 {
            let change = Change::close("done", None);
            ledger.append(at(1), SCOPE, &IssueChanged { id: id(&name), change }).unwrap();
        }
    }
    assert_eq!(ledger.backlog(REPO).unwrap().0.len(), 100);
    assert_eq!(ledger.issues(REPO).unwrap().len(), 300);
    assert_eq!(ledger.backlog("/elsewhere").unwrap().0.len(), 0);
    assert_eq!(ledger.issues_like(REPO, "hl-00").unwrap().len(), 10);
    assert_eq!(ledger.issues_like(REPO, "hl-0000").unwrap(), []);
}

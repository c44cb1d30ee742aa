//! A repository is found by whatever it is and was called, and no record is rewritten for it.

use heirloom_core::event::{
    RepoLinked, RepoNamed, RequirementSatisfied, RequirementsPaused, TemplateSaved,
};
use heirloom_core::guard::branch::BranchKey;
use heirloom_core::guard::requirement;
use heirloom_core::repo::{Marks, RepoId};
use heirloom_ledger::{Ledger, NoteFilter, Options, Scope, SessionFilter, SessionKeys};
use serde_json::Value;

use crate::fixture::{Home, REPO, at, created, fill, note, session_id};

const KEY: &str = "hr_1aaaaaaaaaaaaaaaaaaaaaaaaa";
const OTHER: &str = "hr_2aaaaaaaaaaaaaaaaaaaaaaaaa";

fn in_repo(repo: &str) -> Scope<'_> {
    Scope { session: None, repo: Some(repo) }
}

fn name(ledger: &mut Ledger, path: &str, repo: &str) {
    let named = RepoNamed {
        path: path.to_owned(),
        keys: Vec::new(),
        marks: Marks::default(),
        refused: Vec::new(),
        offered: false,
    };
    ledger.append(at(5), in_repo(repo), &named).unwrap();
}

fn link(ledger: &mut Ledger, from: &str, to: &str) {
    let linked = RepoLinked { from: RepoId::new(from), by: "person".to_owned() };
    ledger.append(at(6), in_repo(to), &linked).unwrap();
}

fn satisfied(branch: &str) -> RequirementSatisfied {
    RequirementSatisfied {
        name: "reviewed".to_owned(),
        scope: requirement::Scope::Branch,
        branch: branch.to_owned(),
        method: "person".to_owned(),
        metadata: Value::Null,
        expires_at: None,
        reviewed: None,
        agent_session_id: None,
        at: None,
    }
}

fn is_satisfied(ledger: &Ledger, repo: &str) -> bool {
    let keys = SessionKeys { names: vec!["s".to_owned()], agent_session_id: None };
    let branch = BranchKey::branch("main");
    let seen = ledger.requirements(repo, &branch, &keys).unwrap();
    seen.held("reviewed", &branch).branch.is_some()
}

fn sessions(ledger: &Ledger, repo: &str) -> usize {
    let filter = SessionFilter { repo: Some(repo), limit: 9, ..SessionFilter::default() };
    ledger.sessions(&filter).unwrap().sessions.len()
}

fn notes(ledger: &Ledger, repo: &str) -> usize {
    ledger.notes(&NoteFilter { repo: Some(repo), ..NoteFilter::default() }).unwrap().len()
}

fn export(ledger: &Ledger) -> String {
    let mut out = Vec::new();
    ledger.export(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn verified(ledger: &Ledger) {
    let report = ledger.verify().unwrap();
    assert!(report.ok, "{:?}", report.problems);
}

#[test]
fn what_was_recorded_by_path_is_found_by_the_key_and_at_every_path() {
    let home = Home::new();
    let mut ledger = home.open();
    fill(&mut ledger, 2);
    ledger.append(at(2), in_repo(REPO), &satisfied("main")).unwrap();
    let before = export(&ledger);
    name(&mut ledger, REPO, KEY);
    name(&mut ledger, "/moved/payments", KEY);
    for repo in [REPO, KEY, "/moved/payments"] {
        assert_eq!((sessions(&ledger, repo), notes(&ledger, repo)), (1, 2), "{repo}");
        assert!(is_satisfied(&ledger, repo), "{repo}");
    }
    assert!(!is_satisfied(&ledger, "/src/other") && sessions(&ledger, "/src/other") == 0);
    let new = ledger.append(at(7), Scope::session(session_id(1), REPO), &note(9, "new")).unwrap();
    assert_eq!(new.repo.as_deref(), Some(KEY));
    assert!(export(&ledger).starts_with(&before));
    verified(&ledger);
    ledger.rebuild().unwrap();
    assert!(is_satisfied(&ledger, "/moved/payments"));
    assert_eq!(notes(&ledger, "/moved/payments"), 3);
}

#[test]
fn views_that_were_behind_come_to_the_same() {
    let home = Home::new();
    fill(&mut home.open(), 2);
    // A hook appends and leaves the views alone, before and after the repository gets its key.
    let mut hook = Ledger::open(home.path(), Options::TOOL_USE).unwrap();
    let scope = Scope::session(session_id(1), REPO);
    hook.append(at(2), scope, &note(7, "before")).unwrap();
    name(&mut hook, REPO, KEY);
    hook.append(at(2), scope, &note(8, "after")).unwrap();
    drop(hook);
    let ledger = home.open();
    assert_eq!(notes(&ledger, REPO), 4);
    verified(&ledger);
}

#[test]
fn a_link_brings_two_histories_together_and_links_follow_each_other() {
    let home = Home::new();
    let mut ledger = home.open();
    fill(&mut ledger, 1);
    name(&mut ledger, REPO, OTHER);
    ledger.append(at(3), Scope::session(session_id(2), KEY), &created("auth-v2")).unwrap();
    link(&mut ledger, OTHER, KEY);
    for repo in [REPO, KEY, OTHER] {
        assert_eq!(sessions(&ledger, repo), 2, "{repo}");
        assert_eq!(ledger.repository(repo).unwrap(), KEY);
    }
    let mut names = ledger.names_of(REPO).unwrap();
    names.sort();
    assert_eq!(names, [REPO, KEY, OTHER]);
    verified(&ledger);
}

#[test]
fn another_repository_at_the_same_path_starts_with_nothing() {
    let home = Home::new();
    let mut ledger = home.open();
    fill(&mut ledger, 1);
    name(&mut ledger, REPO, KEY);
    name(&mut ledger, REPO, OTHER);
    assert_eq!((sessions(&ledger, REPO), sessions(&ledger, KEY)), (0, 1));
    verified(&ledger);
}

#[test]
fn nothing_that_another_host_says_gates_approves_or_moves_anything_here() {
    let (here, there) = (Home::new(), Home::new());
    let mut theirs = there.open();
    theirs.append(at(1), in_repo(KEY), &satisfied("main")).unwrap();
    let pause = RequirementsPaused { method: "person".to_owned(), reason: None, expires_at: None };
    theirs.append(at(1), in_repo(KEY), &pause).unwrap();
    let saved = TemplateSaved { name: "fast".to_owned(), ..template() };
    theirs.append(at(1), in_repo(KEY), &saved).unwrap();
    name(&mut theirs, REPO, OTHER);
    link(&mut theirs, KEY, OTHER);
    let mut ours = here.open();
    fill(&mut ours, 1);
    name(&mut ours, REPO, KEY);
    ours.import(export(&theirs).as_bytes()).unwrap();
    assert!(is_satisfied(&theirs, OTHER) && !is_satisfied(&ours, KEY));
    assert_eq!(ours.all_requirements(KEY).unwrap(), []);
    assert_eq!(ours.templates().unwrap().len(), 0);
    // Nor is a path or a key of ours what they say it is.
    assert_eq!(ours.repository(REPO).unwrap(), KEY);
    assert_eq!(sessions(&ours, REPO), 1);
    verified(&ours);
}

fn template() -> TemplateSaved {
    serde_json::from_value(serde_json::json!({"name": "t", "version": 1, "config": {}})).unwrap()
}

#[test]
fn what_another_host_recorded_under_the_same_key_is_seen_here() {
    let (here, there) = (Home::new(), Home::new());
    let mut theirs = there.open();
    let path = "/home/them/payments";
    theirs.append(at(1), Scope::session(session_id(7), path), &created("theirs-v1")).unwrap();
    name(&mut theirs, path, KEY);
    theirs.append(at(6), Scope::session(session_id(8), path), &created("theirs-v2")).unwrap();
    let mut ours = here.open();
    fill(&mut ours, 1);
    name(&mut ours, REPO, KEY);
    ours.import(export(&theirs).as_bytes()).unwrap();
    assert_eq!(sessions(&ours, REPO), 3);
    verified(&ours);
}

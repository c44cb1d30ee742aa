//! A beads tracker by its file.

use std::os::unix::fs::PermissionsExt;

use heirloom_testkit::env::TestEnv;
use serde_json::json;

use super::{create, file, ids, issues, run};

/// As the programs write it, and then some.
const LINES: [&str; 4] = [
    r#"{"id":"proj-a1","title":"One","status":"open","priority":2,"issue_type":"task","created_at":"2026-01-01T00:00:00.000000001Z","updated_at":"2026-01-01T00:00:00+00:00","source_repo":".","compaction_level":0,"original_size":0,"agent_context":{"z":1.50,"a":[1,  2]}}"#,
    r#"{"id":"proj-b2","title":"Two","status":"deferred","priority":0,"issue_type":"feature","created_at":"2026-01-02T00:00:00Z","updated_at":"2026-01-02T00:00:00Z"}"#,
    r#"{"title":"Gone","id":"proj-c3","status":"tombstone","deleted_at":"2026-01-02T00:00:00Z","original_type":"task"}"#,
    r#"{"id":"proj-d4","title":"Four","status":"open","priority":1,"issue_type":"bug","created_at":"2026-01-03T00:00:00Z","updated_at":"2026-01-03T00:00:00Z","dependencies":[{"issue_id":"proj-d4","depends_on_id":"proj-a1","type":"blocks","created_at":"2026-01-03T00:00:00Z","created_by":"bob","metadata":"{\"x\":1}","thread_id":""}],"comments":[{"id":41,"issue_id":"proj-d4","author":"bob","text":"hm","created_at":"2026-01-03T00:00:00Z"}]}"#,
];

fn repository() -> TestEnv {
    file(&LINES.map(|line| format!("{line}\n")).concat())
}

fn lines(env: &TestEnv) -> Vec<String> {
    env.read(".beads/issues.jsonl").lines().map(str::to_owned).collect()
}

#[test]
fn reading_changes_nothing_and_a_change_changes_one_line() {
    let env = repository();
    let before = env.read(".beads/issues.jsonl");
    assert_eq!(ids(&issues(&env, &["ready"])), ["proj-a1"]);
    assert_eq!(ids(&issues(&env, &["list", "--all"])).len(), 3);
    issues(&env, &["show", "proj-d4"]);
    assert_eq!(env.read(".beads/issues.jsonl"), before);

    issues(&env, &["update", "proj-a1", "--notes", "found", "--claim"]);
    let expected = LINES[0]
        .replace(r#""status":"open""#, r#""notes":"found","status":"in_progress""#)
        .replace(r#""issue_type":"task""#, r#""issue_type":"task","assignee":"ada""#)
        .replace(
            r#""updated_at":"2026-01-01T00:00:00+00:00""#,
            r#""updated_at":"2026-01-12T15:30:00Z""#,
        );
    let now = lines(&env);
    assert_eq!(now[0], expected);
    assert_eq!(now[1..], LINES[1..]);
}

#[test]
fn a_comment_and_a_dependency_leave_the_others_as_they_were() {
    let env = repository();
    issues(&env, &["comment", "proj-d4", "aha"]);
    issues(&env, &["dep", "proj-d4", "proj-b2"]);
    let line = &lines(&env)[3];
    let old = r#"{"issue_id":"proj-d4","depends_on_id":"proj-a1","type":"blocks","created_at":"2026-01-03T00:00:00Z","created_by":"bob","metadata":"{\"x\":1}","thread_id":""}"#;
    assert!(line.contains(old), "{line}");
    assert!(
        line.contains(r#"{"id":42,"issue_id":"proj-d4","author":"ada","text":"aha","#),
        "{line}"
    );
    issues(&env, &["dep", "remove", "proj-d4", "proj-b2"]);
    assert!(lines(&env)[3].contains(&format!("[{old}]")));
}

#[test]
fn a_new_issue_goes_where_its_id_belongs_and_is_called_like_the_others() {
    let env = repository();
    let id = create(&env, &["New", "--parent", "proj-a1"]);
    assert_eq!(id, "proj-a1.1");
    let now = lines(&env);
    assert_eq!((now[0].as_str(), now[2].as_str()), (LINES[0], LINES[1]));
    assert!(now[1].contains(r#""source_repo":".","compaction_level":0,"original_size":0"#));
    assert!(create(&env, &["Other"]).starts_with("proj-"));
}

#[test]
fn what_was_deleted_stays_deleted_and_in_the_file() {
    let env = repository();
    assert_eq!(run(&env, &["show", "proj-c3"]).code, 1);
    assert_eq!(run(&env, &["update", "proj-c3", "--status", "open"]).code, 1);
    issues(&env, &["update", "proj-a1", "-p", "0"]);
    assert_eq!(lines(&env)[2], LINES[2]);
}

#[test]
fn a_file_that_cannot_be_read_is_an_error_and_never_nothing_to_do() {
    let conflict = format!("{}\n<<<<<<< HEAD\n{}\n", LINES[0], LINES[1]);
    let env = file(&conflict);
    insta::assert_snapshot!(run(&env, &["ready"]), @"
    ------- stderr -------
    error: [root]/payments/.beads/issues.jsonl:2: unresolved merge conflict
    hint: resolve the merge first; nothing was written
    [exit 1]
    ");
    let env = file(&format!("{}\n{{\"id\":\"proj-x\"", LINES[0]));
    insta::assert_snapshot!(run(&env, &["ready"]), @"
    ------- stderr -------
    error: [root]/payments/.beads/issues.jsonl:2 is not an issue: it is not JSON: EOF while parsing an object at line 1 column 14
    hint: fix it, or restore the file from git; nothing was written
    [exit 1]
    ");
    let env = file(&format!("{}\n{}\n", LINES[0], LINES[0]));
    insta::assert_snapshot!(run(&env, &["create", "x"]), @"
    ------- stderr -------
    error: [root]/payments/.beads/issues.jsonl:2 is proj-a1, and so is line 1
    hint: fix it, or restore the file from git; nothing was written
    [exit 1]
    ");
    assert_eq!(env.read(".beads/issues.jsonl").lines().count(), 2);
    let env = file("");
    std::fs::remove_file(env.repo().join(".beads/issues.jsonl")).unwrap();
    insta::assert_snapshot!(run(&env, &["ready"]), @"
    ------- stderr -------
    error: [root]/payments/.beads has no issues.jsonl, and neither br nor bd is on PATH
    hint: install br or bd, bring the file back from git, or remove the directory to use heirloom's own tracker
    [exit 1]
    ");
    env.write(".beads/beads.jsonl", &format!("{}\n", LINES[0]));
    assert_eq!(ids(&issues(&env, &["ready"])), ["proj-a1"]);
    env.write(".beads/metadata.json", r#"{"jsonl_export":"mine.jsonl"}"#);
    env.write(".beads/mine.jsonl", "");
    assert_eq!(ids(&issues(&env, &["ready"])).len(), 0);
}

#[test]
fn the_file_keeps_its_mode_and_nothing_is_left_beside_it() {
    let env = repository();
    let path = env.repo().join(".beads/issues.jsonl");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    issues(&env, &["close", "proj-a1"]);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read_dir(env.repo().join(".beads")).unwrap().count(), 1);
}

#[test]
fn decisions_and_handoffs_are_told_to_the_file_once() {
    let env = repository();
    env.run(&["note", "decision", "Rotate", "--because", "replay", "--issue", "proj-a1"]).success();
    env.run(&["checkpoint"]).success();
    env.run(&["checkpoint"]).success();
    let comments = issues(&env, &["show", "proj-a1"])["comments"].clone();
    let said: Vec<&str> =
        comments.as_array().unwrap().iter().map(|said| said["text"].as_str().unwrap()).collect();
    assert_eq!(said.len(), 2, "{said:?}");
    assert_eq!(said[0], "DECISION: Rotate\nRationale: replay");
    assert!(said[1].starts_with("HANDOFF: "), "{said:?}");
    assert_eq!(comments[0]["author"], json!("heirloom"));
}

#[test]
fn a_worktree_has_the_tracker_of_the_main_one() {
    let env = repository();
    let other = env.repo().with_file_name("payments-fix");
    env.git(&["worktree", "add", "-q", "-b", "fix", other.to_str().unwrap()]);
    env.run_in(&other, &["issues", "close", "proj-a1"]).success();
    assert!(lines(&env)[0].contains(r#""status":"closed""#));
    assert!(!other.join(".beads").exists());
}

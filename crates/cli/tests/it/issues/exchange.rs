//! Issues into heirloom's own tracker and out of it.

use serde_json::Value;

use super::{built_in, create, ids, issues, run};

const LINES: [&str; 2] = [
    r#"{"id":"bd-a1","title":"One","status":"open","priority":1,"issue_type":"task","created_at":"2026-01-01T00:00:00.000000001Z","updated_at":"2026-01-01T00:00:00+00:00","source_repo":".","agent_context":{"z":1.5,"a":[1,2]},"comments":[{"id":41,"issue_id":"bd-a1","author":"bob","text":"hm","created_at":"2026-01-03T00:00:00Z"}]}"#,
    r#"{"title":"Gone","id":"bd-c3","status":"tombstone","deleted_at":"2026-01-02T00:00:00Z"}"#,
];

fn values(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn what_is_imported_comes_out_again_and_once_is_enough() {
    let env = built_in();
    let content = LINES.map(|line| format!("{line}\n")).concat();
    env.write("in.jsonl", &content);
    insta::assert_snapshot!(run(&env, &["import", "in.jsonl"]), @"✔ 2 issues: 2 new");
    assert_eq!(values(&run(&env, &["export"]).stdout), values(&content));
    insta::assert_snapshot!(run(&env, &["import", "in.jsonl"]), @"✔ 2 issues: 2 unchanged");
    let from_stdin = env.run_with(&["issues", "import", "-", "--json"], content.as_bytes());
    assert_eq!(from_stdin.success().json()["unchanged"], 2);

    insta::assert_snapshot!(run(&env, &["export", "out.jsonl"]), @"✔ 2 issues written to out.jsonl");
    insta::assert_snapshot!(run(&env, &["export", "out.jsonl"]), @"
    ------- stderr -------
    error: out.jsonl already exists
    hint: --force replaces it
    [exit 1]
    ");
    assert_eq!(values(&env.read("out.jsonl")), values(&content));
    assert_eq!(ids(&issues(&env, &["list", "--all"])), ["bd-a1"]);
}

#[test]
fn what_changed_here_since_is_not_put_back_and_what_changed_there_is_taken() {
    let env = built_in();
    let content = format!("{}\n", LINES[0]);
    env.run_with(&["issues", "import", "-"], content.as_bytes()).success();
    issues(&env, &["update", "bd-a1", "--title", "Mine", "--add-label", "x"]);
    let again = env.run_with(&["issues", "import", "-", "--json"], content.as_bytes());
    assert_eq!(again.success().json()["kept"], 1);
    let issue = issues(&env, &["show", "bd-a1"]);
    assert_eq!(
        (issue["title"].as_str(), &issue["agent_context"]["z"]),
        (Some("Mine"), &1.5.into())
    );

    let newer = content
        .replace("\"One\"", "\"Theirs\"")
        .replace("2026-01-01T00:00:00+00:00", "2027-01-01T00:00:00Z");
    let taken = env.run_with(&["issues", "import", "-", "--json"], newer.as_bytes());
    assert_eq!(taken.success().json()["updated"], 1);
    assert_eq!(issues(&env, &["show", "bd-a1"])["title"], "Theirs");
    // A comment made here gets a number that none of theirs has.
    issues(&env, &["comment", "bd-a1", "new"]);
    let exported = values(&run(&env, &["export"]).stdout);
    assert_eq!(exported[0]["comments"][1]["id"], 42);
}

#[test]
fn an_import_is_all_or_nothing() {
    let env = built_in();
    let content = format!("{}\nnot an issue\n", LINES[0]);
    insta::assert_snapshot!(env.run_with(&["issues", "import", "-"], content.as_bytes()), @"
    ------- stderr -------
    error: stdin:2 is not an issue: it is not JSON: expected ident at line 1 column 2
    hint: fix it, or restore the file from git; nothing was written
    [exit 1]
    ");
    assert_eq!(ids(&issues(&env, &["list"])), [""; 0]);
    insta::assert_snapshot!(run(&env, &["import", "none.jsonl"]), @"
    ------- stderr -------
    error: there is no file none.jsonl
    hint: a beads tracker keeps its issues in .beads/issues.jsonl; - reads from stdin
    [exit 1]
    ");
}

#[test]
fn a_repository_moves_from_beads_to_heirloom_and_back() {
    let env = super::file(&format!("{}\n", LINES[0]));
    let moved = run(&env, &["import", ".beads/issues.jsonl"]).success();
    assert!(moved.stderr.contains("heirloom's own tracker is used once it is gone"), "{moved}");
    std::fs::remove_dir_all(env.repo().join(".beads")).unwrap();
    issues(&env, &["update", "bd-a1", "--notes", "here"]);
    let new = create(&env, &["New", "--blocked-by", "bd-a1"]);
    run(&env, &["export", ".beads/issues.jsonl"]).success();
    assert_eq!(issues(&env, &["show", "bd-a1"])["notes"], "here");
    assert_eq!(ids(&issues(&env, &["list"])), ["bd-a1".to_owned(), new]);
}

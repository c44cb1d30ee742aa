//! A beads tracker by its program: what it is asked, and what its answers are taken for.

use heirloom_testkit::env::TestEnv;
use serde_json::json;

use super::{create, ids, issues, program, run, whole_program};

/// A program that answers every question with the same.
fn answering(answer: &str) -> TestEnv {
    program("br", &format!("cat <<'END'\n{answer}\nEND\n"))
}

#[test]
fn a_list_is_found_in_every_shape_it_was_seen_in() {
    let one = r#"{"id":"bd-1","title":"t","status":"open","priority":1,"issue_type":"task","created_at":"2026-01-01T00:00:00Z","blocked_by":[]}"#;
    for answer in [
        format!("[{one}]"),
        format!(r#"{{"issues":[{one}],"total":1,"limit":0,"offset":0,"has_more":false}}"#),
        format!(r#"{{"schema_version":1,"data":[{one}]}}"#),
        format!(r#"{{"schema_version":2,"data":{{"issues":[{one}]}}}}"#),
    ] {
        let env = answering(&answer);
        assert_eq!(ids(&issues(&env, &["ready"])), ["bd-1"], "{answer}");
    }
}

#[test]
fn an_answer_in_an_unknown_shape_is_an_error_and_never_nothing_to_do() {
    for answer in
        ["", "null", "{}", "0", "[1]", r#"{"issues":null}"#, r#"[{"id":"bd-1"}]"#, "No issues."]
    {
        for command in ["ready", "list"] {
            let ran = run(&answering(answer), &[command, "--json"]);
            let code = ran.json()["error"]["code"].clone();
            assert_eq!(ran.code, 1, "{answer}: {ran}");
            assert!(
                ["tracker.shape", "tracker.failed"].contains(&code.as_str().unwrap()),
                "{answer}: {ran}"
            );
        }
    }
    insta::assert_snapshot!(run(&answering("{}"), &["ready"]), @"
    ------- stderr -------
    error: br list --json --limit 0 gave an unexpected answer: there is no list of issues in it
    hint: it may be newer than this heirloom; if you remove it from PATH, its file is used instead
    [exit 1]
    ");
    insta::assert_snapshot!(run(&answering("No issues found."), &["ready"]), @"
    ------- stderr -------
    error: br list --json --limit 0 failed: its answer is not JSON (expected value at line 1 column 1): No issues found.
    hint: issues cannot be read until it works; run it by hand to see more
    [exit 1]
    ");
}

#[test]
fn a_failure_is_told_in_the_programs_own_words_wherever_it_said_them() {
    let error = r#"{"error":{"code":"NOT_INITIALIZED","message":"no database","hint":"br init"}}"#;
    for script in [
        format!("echo '{error}' >&2; exit 2"),
        format!("echo '{error}'; exit 2"),
        format!("echo 'log line' >&2; echo '{error}' >&2; exit 2"),
        "echo '{\"error\":\"no database\",\"schema_version\":1}'; exit 1".to_owned(),
        "echo '{\"error_code\":2,\"message\":\"no database\",\"kind\":\"db\"}'; exit 2".to_owned(),
        // Some say it and end well all the same.
        format!("echo '{error}'"),
    ] {
        let ran = run(&program("br", &script), &["ready"]);
        assert_eq!(ran.code, 1, "{script}");
        assert!(
            ran.stderr.contains("br list --json --limit 0 failed: no database"),
            "{script}: {ran}"
        );
    }
    let usage = "echo \"error: unexpected argument '--limit'\" >&2; echo 'Usage: br' >&2; exit 2";
    let ran = run(&program("br", usage), &["list"]);
    assert!(ran.stderr.contains("failed: error: unexpected argument '--limit'"), "{ran}");
    let ran = run(&program("br", "kill -9 $$"), &["list"]);
    assert!(ran.stderr.contains("failed: signal: 9"), "{ran}");
}

#[test]
fn a_program_that_does_not_answer_in_time_is_ended() {
    let env = program("br", "sleep 60 & echo $! > pid; wait").var("HEIRLOOM_TRACKER_TIMEOUT", "1s");
    insta::assert_snapshot!(run(&env, &["ready"]), @"
    ------- stderr -------
    error: br list --json --limit 0 failed: it took longer than 1 s
    hint: issues cannot be read until it works; run it by hand to see more
    [exit 1]
    ");
    // What it had started is gone with it.
    let pid = env.read("pid").trim().parse().unwrap();
    let runs = || heirloom_agents::system::began(pid).is_some();
    // A killed process takes a moment to be gone.
    let gone = (0..1000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(5));
        !runs()
    });
    assert!(gone, "{pid}");
}

#[test]
fn one_that_leaves_a_helper_running_is_not_waited_for() {
    let env = program("br", "sleep 5 & echo '[]'").var("HEIRLOOM_TRACKER_TIMEOUT", "4s");
    assert_eq!(ids(&issues(&env, &["ready"])), [""; 0]);
}

#[test]
fn br_is_preferred_and_bd_is_asked_in_its_own_way() {
    let log = r#"echo "$(basename "$0") $*" >> "$HOME/asked"
case "$1" in
show) echo '[{"id":"bd-1","title":"t","status":"open"}]' ;;
create) echo '{"id":"bd-1","title":"t"}' ;;
*) echo '[]' ;;
esac"#;
    let asked = |env: &TestEnv| std::fs::read_to_string(env.user().join("asked")).unwrap();
    let bd = program("bd", log);
    issues(&bd, &["ready"]);
    create(&bd, &["t", "--acceptance", "a", "-d", "d", "--label", "x,y", "-p", "0", "-t", "bug"]);
    insta::assert_snapshot!(asked(&bd), @"
    bd list --json --limit 0
    bd blocked --json
    bd ready --json --limit 0
    bd create t -t bug -p 0 -d d --labels x,y --actor ada --json
    bd show bd-1 --json
    bd update bd-1 --acceptance a --json
    bd show bd-1 --json
    bd list --json --limit 0
    bd blocked --json
    bd ready --json --limit 0
    ");
    std::fs::copy(bd.home().join("bin/bd"), bd.home().join("bin/br")).unwrap();
    std::fs::remove_file(bd.user().join("asked")).unwrap();
    issues(&bd, &["ready"]);
    issues(&bd, &["close", "bd-1", "--reason", "done", "--session", "auth-v2"]);
    issues(&bd, &["comment", "bd-1", "hm"]);
    issues(&bd, &["dep", "add", "bd-1", "bd-2", "--type", "related"]);
    insta::assert_snapshot!(asked(&bd), @"
    br list --json --limit 0
    br blocked --json --limit 0
    br ready --json --limit 0
    br show bd-1 --json
    br show bd-1 --json
    br close bd-1 --reason done --session auth-v2 --json
    br show bd-1 --json
    br show bd-1 --json
    br comments add bd-1 hm --author ada --json
    br show bd-1 --json
    br show bd-2 --json
    br dep add bd-1 bd-1 --type related --json
    ");
}

#[test]
fn what_the_program_holds_back_is_not_ready_and_its_order_is_not_ours() {
    let script = r#"case "$1" in
ready) echo '[{"id":"bd-3","title":"c","status":"in_progress","priority":0},
  {"id":"bd-2","title":"b","status":"open","priority":2,"created_at":"2026-01-01T00:00:00Z"},
  {"id":"bd-1","title":"a","status":"open","priority":0,"created_at":"2026-01-02T00:00:00Z"}]' ;;
blocked) echo '[{"id":"bd-4","title":"d","status":"open","blocked_by":["bd-1:open"],"blocked_by_count":1}]' ;;
list) echo '{"issues":[
  {"id":"bd-4","title":"d","status":"open","priority":0},
  {"id":"bd-5","title":"gated","status":"open","priority":0},
  {"id":"bd-3","title":"c","status":"in_progress","priority":0,"dependency_count":1},
  {"id":"bd-2","title":"b","status":"open","priority":2,"created_at":"2026-01-01T00:00:00Z"},
  {"id":"bd-1","title":"a","status":"open","priority":0,"created_at":"2026-01-02T00:00:00Z"}]}' ;;
show) echo '[{"id":"bd-3","title":"c","dependencies":[{"id":"bd-9","title":"e","dependency_type":"parent-child"}]}]' ;;
esac"#;
    let env = program("br", script);
    assert_eq!(ids(&issues(&env, &["ready"])), ["bd-1", "bd-2"]);
    let listed = issues(&env, &["list"]);
    let find = |id: &str| {
        let issues = listed["issues"].as_array().unwrap();
        issues.iter().find(|issue| issue["id"] == id).unwrap().clone()
    };
    assert_eq!(find("bd-4")["blocked_by"], json!(["bd-1"]));
    assert_eq!(find("bd-3")["parent"], "bd-9");
    assert_eq!(find("bd-5")["held"], true);
}

#[test]
fn one_that_pages_is_read_to_the_end() {
    // Two issues a page, whatever limit it is given; the last page is short.
    let script = r#"offset=0 previous=
for argument in "$@"; do [ "$previous" = --offset ] && offset=$argument; previous=$argument; done
issue() { printf '{"id":"bd-%s","title":"t","status":"open","priority":1,"issue_type":"task","created_at":"2026-01-0%sT00:00:00Z"}' "$1" "$1"; }
echo "$* @$offset" >> "$HOME/asked"
case "$1 $offset" in
blocked*) echo '[]' ;;
*0) echo '{"issues":['"$(issue 1),$(issue 2)"'],"total":5,"has_more":true}' ;;
*2) echo '{"issues":['"$(issue 3),$(issue 4)"'],"total":5,"has_more":true}' ;;
*4) echo '{"issues":['"$(issue 5)"'],"total":5,"has_more":false}' ;;
esac"#;
    let env = program("br", script);
    assert_eq!(ids(&issues(&env, &["ready"])), ["bd-1", "bd-2", "bd-3", "bd-4", "bd-5"]);
    // One that says "more" for ever is found out.
    let same = r#"case "$1" in blocked) echo '[]' ;;
*) echo '{"issues":[{"id":"bd-1","title":"t","status":"open"}],"has_more":true}' ;; esac"#;
    let ran = run(&program("br", same), &["ready"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("it says that there is more, and answers nothing new"), "{ran}");
}

#[test]
fn one_that_knows_no_limit_of_what_is_blocked_is_asked_without() {
    let script = r#"case "$*" in
*blocked*--limit*) echo "error: unexpected argument '--limit' found" >&2; exit 2 ;;
*) echo '[]' ;;
esac"#;
    assert_eq!(ids(&issues(&program("br", script), &["ready"])), [""; 0]);
}

#[test]
fn a_claim_that_was_no_compare_and_swap_is_found_out() {
    // It says yes to everybody, but only one can be in its book.
    let script = r#"case "$1" in
update) [ -e "$HOME/who" ] || echo rival > "$HOME/who"; echo '[]' ;;
show) if [ -e "$HOME/who" ]
  then echo '[{"id":"bd-1","title":"t","status":"in_progress","assignee":"rival"}]'
  else echo '[{"id":"bd-1","title":"t","status":"open"}]'
  fi ;;
*) echo '[]' ;;
esac"#;
    let env = program("br", script);
    let ran = run(&env, &["update", "bd-1", "--claim"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("bd-1 is rival's"), "{ran}");
    assert_eq!(issues(&env, &["show", "bd-1"])["claim"], json!(null));
}

#[test]
fn a_claim_that_fails_leaves_no_lease_behind() {
    let script = r#"case "$1" in
update) echo '{"error":{"code":"INTERNAL","message":"database is locked"}}' >&2; exit 1 ;;
show) echo '[{"id":"bd-1","title":"t","status":"open"}]' ;;
*) echo '[]' ;;
esac"#;
    let env = program("br", script);
    let ran = run(&env, &["update", "bd-1", "--claim"]);
    assert!(ran.stderr.contains("failed: database is locked"), "{ran}");
    assert_eq!(issues(&env, &["show", "bd-1"])["claim"], json!(null));
}

#[test]
fn decisions_are_told_to_it_and_a_failure_is_told_to_the_person() {
    let env = whole_program();
    let id = create(&env, &["T"]);
    env.run(&["note", "decision", "Rotate", "--issue", &id]).success();
    env.run(&["checkpoint"]).success();
    let said = issues(&env, &["show", &id])["comments"][0]["text"].clone();
    assert_eq!(said, "DECISION: Rotate");

    let env = program("br", "echo '{\"error\":{\"message\":\"locked\"}}' >&2; exit 1");
    env.run(&["note", "decision", "Rotate", "--issue", "bd-1"]).success();
    let ran = env.run(&["checkpoint"]);
    assert!(ran.to_string().contains("locked"), "{ran}");
}

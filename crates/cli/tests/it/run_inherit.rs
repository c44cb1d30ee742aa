//! What a session inherits, from the ledger and from run directories.

use heirloom_testkit::env::TestEnv;
use serde_json::{Value, json};

use crate::env;
use crate::run::with_agent;

/// A run directory of the original engine.
fn original(env: &TestEnv, name: &str, state: &Value, reports: &[Value]) {
    let dir = format!(".claude/pipeline-runs/{name}");
    env.write(&format!("{dir}/state.json"), &state.to_string());
    for (index, report) in reports.iter().enumerate() {
        let path = format!("{dir}/stage-00-test/iterations/{:03}/status.json", index + 1);
        env.write(&path, &report.to_string());
    }
    env.write(&format!("{dir}/progress-{name}.md"), "# Progress\n");
}

fn complete(parent: Option<&str>) -> Value {
    json!({"status": "complete", "started_at": "2026-01-01T00:00:00Z",
           "completed_at": "2026-01-02T00:00:00Z", "parent_session": parent})
}

fn learned(texts: &[&str]) -> Value {
    json!({"decision": "stop", "learnings": texts})
}

/// An agent that reports what `reports/NAME.json` says.
fn reporting() -> TestEnv {
    with_agent("cat > /dev/null\ncp reports/$HEIRLOOM_SESSION.json $HEIRLOOM_STATUS\n")
}

fn session(
    env: &TestEnv,
    name: &str,
    report: &Value,
    flags: &[&str],
) -> heirloom_testkit::env::Ran {
    env.write(&format!("reports/{name}.json"), &report.to_string());
    let arguments = ["run", "ralph", name, "1", "--agent", "command"];
    env.run(&[&arguments, flags].concat())
}

fn inherited(env: &TestEnv, name: &str) -> Value {
    let path = format!(".heirloom/runs/{name}/stage-00-ralph/iterations/001/context.json");
    let context: Value = serde_json::from_str(&env.read(&path)).unwrap();
    context["inherited"].clone()
}

#[test]
fn a_completed_session_is_inherited_from() {
    let env = env();
    original(&env, "auth-v1", &complete(None), &[learned(&["test learning 1"])]);
    let ran = env.run(&["inherit", "auth-v1", "--json"]).success();
    let block = ran.json();
    assert_eq!((&block["version"], &block["from_session"]), (&"1".into(), &"auth-v1".into()));
    assert_eq!(block["from_completed_at"], "2026-01-02T00:00:00Z");
    assert_eq!(block["learnings"], json!(["test learning 1"]));
    assert_eq!(block["lineage"], json!(["auth-v1"]));
    assert_eq!(block["progress_summary"], "# Progress");
}

#[test]
fn a_missing_session_is_an_error_with_what_was_meant() {
    let env = env();
    original(&env, "auth-v1", &complete(None), &[]);
    insta::assert_snapshot!(env.run(&["inherit", "auth-v"]), @r"
    ------- stderr -------
    error: there is no session auth-v in this repository
    hint: did you mean auth-v1? `heirloom sessions list --completed --all` shows all
    hint: sessions to inherit from: auth-v1
    [exit 1]
    ");
    env.write(".claude/pipeline-runs/broken/state.json", "{");
    let ran = env.run(&["inherit", "broken"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("its state.json is not valid JSON"), "{ran}");
    for outside in ["../../etc", "a/b", ".."] {
        assert_eq!(env.run(&["inherit", outside]).code, 1);
    }
}

#[test]
fn a_running_session_is_warned_about_and_still_read() {
    let env = env();
    let running = json!({"status": "running", "started_at": "2026-01-01T00:00:00Z"});
    original(&env, "auth-v1", &running, &[learned(&["one"])]);
    let ran = env.run(&["inherit", "auth-v1", "--json"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.starts_with("warning: session auth-v1 is still running"), "{ran}");
    assert_eq!(ran.json()["learnings"], json!(["one"]));
    assert_eq!(ran.json()["from_completed_at"], Value::Null);
}

#[test]
fn secrets_are_taken_out_of_every_kind_and_plain_text_stays() {
    let env = env();
    let key = format!("sk-{}", "ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCd");
    let secret = format!("ANTHROPIC_API_KEY={key}");
    let report = json!({"decision": "stop", "learnings": [secret, "tokens need rotation", "日本語"],
        "patterns": [secret], "warnings": [secret], "decisions": [{"text": secret, "rationale": secret}]});
    original(&env, "auth-v1", &complete(None), &[report]);
    env.write(".claude/pipeline-runs/auth-v1/progress-auth-v1.md", &secret);
    let ran = env.run(&["inherit", "auth-v1", "--json"]);
    assert!(!ran.stdout.contains(&key), "{ran}");
    let learnings = ran.json()["learnings"].clone();
    assert_eq!((&learnings[1], &learnings[2]), (&"tokens need rotation".into(), &"日本語".into()));
    assert!(ran.json()["redacted"].as_u64().unwrap() >= 4);
}

#[test]
fn a_session_without_learnings_passes_on_its_progress() {
    let env = env();
    original(&env, "old", &complete(None), &[json!({"decision": "stop", "summary": "did it"})]);
    let page = "# Progress\n\n## Codebase Patterns\n- errors carry paths\n\n## One\ndone\n";
    env.write(".claude/pipeline-runs/old/progress-old.md", page);
    let block = env.run(&["inherit", "old", "--json"]).success().json();
    assert_eq!(block["learnings"], json!([]));
    let summary = block["progress_summary"].as_str().unwrap();
    assert!(summary.contains("errors carry paths") && summary.contains("done"), "{summary}");
}

#[test]
fn a_large_session_keeps_the_newest_in_order_and_counts_the_rest() {
    let env = env();
    let reports: Vec<Value> =
        (0..150).map(|n| learned(&[&format!("learning {n}"), "always the same"])).collect();
    original(&env, "big", &complete(None), &reports);
    let block = env.run(&["inherit", "big", "--json"]).success().json();
    let learnings = block["learnings"].as_array().unwrap();
    assert_eq!(learnings.len(), 100);
    assert_eq!(learnings[99], "learning 149");
    assert_eq!(block["truncated"]["learnings"], 51);
    let small = env.run(&["inherit", "big", "--json", "--max-tokens", "1000"]).json();
    assert!(small["tokens"].as_u64().unwrap() <= 1000);
    assert_eq!(small["learnings"].as_array().unwrap().last().unwrap(), "learning 149");
}

#[test]
fn a_circle_ends_with_a_warning() {
    let env = env();
    original(&env, "a", &complete(Some("b")), &[learned(&["from a"])]);
    original(&env, "b", &complete(Some("a")), &[learned(&["from b"])]);
    let ran = env.run(&["inherit", "a", "--json"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("the lineage is a circle"), "{ran}");
    assert_eq!(ran.json()["learnings"], json!(["from b", "from a"]));
}

#[test]
fn files_that_cannot_be_read_are_skipped_with_a_warning() {
    let env = env();
    original(&env, "a", &complete(None), &[learned(&["one"]), learned(&["two"])]);
    let second = ".claude/pipeline-runs/a/stage-00-test/iterations/002/status.json";
    env.write(second, "{\"learnings\": [");
    let ran = env.run(&["inherit", "a", "--json"]);
    assert_eq!((ran.code, &ran.json()["learnings"]), (2, &json!(["one"])));
    assert!(ran.stderr.contains(&format!("{second} is skipped")), "{ran}");
}

#[test]
fn a_lineage_is_walked_three_deep_and_duplicates_appear_once() {
    let env = env();
    original(&env, "d", &complete(None), &[learned(&["from d"])]);
    original(&env, "c", &complete(Some("d")), &[learned(&["from c", "shared"])]);
    original(&env, "b", &complete(Some("c")), &[learned(&["shared", "from b"])]);
    original(&env, "a", &complete(Some("b")), &[learned(&["from a", "shared"])]);
    let ran = env.run(&["inherit", "a", "--json"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("the lineage continues with d"), "{ran}");
    let block = ran.json();
    assert_eq!(block["lineage"], json!(["a", "b", "c"]));
    assert_eq!(block["learnings"], json!(["from c", "shared", "from b", "from a"]));
    let shared = &block["notes"].as_array().unwrap()[1];
    assert_eq!((&shared["text"], &shared["from_session"]), (&"shared".into(), &"c".into()));
}

#[test]
fn both_files_of_the_original_engine_and_its_parallel_layout_are_read() {
    let env = env();
    original(&env, "a", &complete(None), &[learned(&["from status"])]);
    let dir = ".claude/pipeline-runs/a";
    env.write(
        &format!("{dir}/stage-00-test/iterations/001/result.json"),
        r#"{"summary":"s","learnings":["from result"],"signals":{"risk":"low"}}"#,
    );
    env.write(
        &format!("{dir}/parallel-01-x/providers/codex/stage-00-r/iterations/001/status.json"),
        r#"{"decision":"stop","learnings":["from codex"]}"#,
    );
    let block = env.run(&["inherit", "a", "--json"]).success().json();
    assert_eq!(block["learnings"], json!(["from codex", "from status", "from result"]));
}

#[test]
fn select_is_honoured_for_every_kind_and_unknown_names_are_refused() {
    let env = env();
    let report = json!({"decision": "stop", "learnings": ["l"], "patterns": ["p"], "warnings": ["w"],
                        "decisions": ["d"]});
    original(&env, "a", &complete(None), &[report]);
    for kind in ["learnings", "patterns", "warnings", "decisions", "progress"] {
        let block = env.run(&["inherit", "a", "--select", kind, "--json"]).success().json();
        for other in ["learnings", "patterns", "warnings", "decisions"] {
            let count = block[other].as_array().unwrap().len();
            assert_eq!(count, usize::from(other == kind), "{kind}: {other}");
        }
        let has_progress = !block["progress_summary"].as_str().unwrap().is_empty();
        assert_eq!(has_progress, kind == "progress", "{kind}");
    }
    let ran = env.run(&["inherit", "a", "--select", "learnings,desicions"]);
    assert_eq!(ran.code, 64);
    assert!(ran.stderr.contains("did you mean decisions?"), "{ran}");
}

#[test]
fn what_b_inherited_from_a_and_what_b_learned_is_what_c_gets() {
    let env = reporting();
    session(&env, "a", &learned(&["from a"]), &[]).success();
    session(&env, "b", &learned(&["from b"]), &["--inherit", "a"]).success();
    session(&env, "c", &learned(&["from c"]), &["--inherit=b"]).success();
    assert_eq!(inherited(&env, "a"), Value::Null);
    assert_eq!(inherited(&env, "b")["learnings"], json!(["from a"]));
    let block = inherited(&env, "c");
    assert_eq!(block["learnings"], json!(["from a", "from b"]));
    assert_eq!(block["lineage"], json!(["b", "a"]));
    assert_eq!(block["notes"][0]["from_session"], "a");
    let state: Value = serde_json::from_str(&env.read(".heirloom/runs/c/state.json")).unwrap();
    assert_eq!((&state["parent_session"], &state["lineage"]), (&"b".into(), &json!(["b", "a"])));
    let lineage = env.run(&["lineage", "c", "--json"]).json();
    assert_eq!(lineage["ancestors"][0]["name"], "b");
    assert_eq!(lineage["ancestors"][1]["name"], "a");
    let listed = env.run(&["sessions", "list", "--completed", "--json"]).json();
    let row = |n: usize| {
        (listed["sessions"][n]["name"].clone(), listed["sessions"][n]["learnings"].clone())
    };
    assert_eq!([row(0), row(1), row(2)], ["c", "b", "a"].map(|name| (name.into(), 1.into())));
}

#[test]
fn a_session_of_the_original_engine_is_inherited_from_and_through() {
    let env = reporting();
    original(&env, "old", &complete(None), &[learned(&["from old"])]);
    session(&env, "b", &learned(&["from b"]), &["--inherit", "old"]).success();
    session(&env, "c", &learned(&[]), &["--inherit", "b"]).success();
    let block = inherited(&env, "c");
    assert_eq!(block["learnings"], json!(["from old", "from b"]));
    assert_eq!(block["lineage"], json!(["b", "old"]));
    assert_eq!(block["notes"][0]["from_session"], "old");
}

#[test]
fn what_a_person_or_a_hook_recorded_is_inherited_from_too() {
    let env = reporting();
    env.run(&["note", "warning", "never cache the key set"]).success();
    session(&env, "b", &learned(&[]), &["--inherit", "notes-2026-01-12"]).success();
    assert_eq!(inherited(&env, "b")["warnings"], json!(["never cache the key set"]));
}

#[test]
fn a_missing_source_is_told_and_the_run_goes_on_unless_it_is_strict() {
    let env = reporting();
    session(&env, "auth-v2", &learned(&["x"]), &[]).success();
    let ran = session(&env, "auth-v3", &learned(&[]), &["--inherit", "auth-v"]).success();
    insta::assert_snapshot!(ran.stderr, @r"
    error: there is no session auth-v in this repository
    hint: did you mean auth-v2? `heirloom sessions list --completed --all` shows all
    hint: sessions to inherit from: auth-v2
    warning: continuing without inherited context; --strict would have stopped here
    ");
    assert_eq!(inherited(&env, "auth-v3"), Value::Null);
    let ran = session(&env, "auth-v4", &learned(&[]), &["--inherit", "auth-v", "--strict"]);
    assert_eq!(ran.code, 1);
    assert!(!env.repo().join(".heirloom/runs/auth-v4").exists());
}

#[test]
fn of_several_sources_the_others_are_inherited_from_and_one_without_a_name_ends_it() {
    let env = reporting();
    session(&env, "a", &learned(&["from a"]), &[]).success();
    let ran = session(&env, "b", &learned(&[]), &["--inherit", "typo,a", "--inherit", "gone"]);
    let ran = ran.success();
    for missing in ["there is no session typo", "there is no session gone"] {
        assert_eq!(ran.stderr.matches(missing).count(), 1, "{ran}");
    }
    assert!(ran.stderr.contains("warning: continuing without what is missing;"), "{ran}");
    assert_eq!(inherited(&env, "b")["learnings"], json!(["from a"]));
    for flags in [&["--inherit", "typo,../x"][..], &["--inherit", "a", "--inherit", "../x"]] {
        let ran = session(&env, "c", &learned(&[]), flags);
        assert_eq!(ran.code, 64, "{ran}");
        assert!(ran.stderr.contains("`../x` cannot be a session to inherit from"), "{ran}");
        assert!(!env.repo().join(".heirloom/runs/c").exists());
    }
}

#[test]
fn a_preview_of_a_pipeline_shows_what_its_first_stage_inherits_for_itself() {
    let env = reporting();
    session(&env, "a", &learned(&["from a"]), &[]).success();
    let stage = |from: &str| {
        let text =
            format!("name: heir\nstop: {{rule: fixed, max: 1}}\ninherit: {{from: {from}}}\n");
        env.write(".heirloom/stages/heir/stage.yaml", &text);
    };
    env.write(".heirloom/stages/heir/prompt.md", "Work. ${STATUS}\n");
    env.write("p.yaml", "name: p\nagent: command\nnodes:\n  - {id: one, stage: heir}\n");
    stage("a");
    let shown = env.run(&["run", "p.yaml", "s", "--dry-run"]).success();
    assert!(shown.stdout.contains("from a"), "{shown}");
    stage("gone");
    let shown = env.run(&["run", "p.yaml", "s", "--dry-run"]).success();
    assert!(shown.stderr.contains("there is no session gone"), "{shown}");
}

#[test]
fn a_decision_whose_evidence_is_gone_arrives_marked() {
    let env = reporting();
    env.write("src/a.rs", "fn rotate_the_token() {}\nfn keep_the_session() {}\n");
    let decided = |text: &str, line: u32, quote: &str| json!({"text": text, "evidence": [{"path": "src/a.rs", "line": line, "quote": quote}]});
    let report = json!({"decision": "stop", "decisions": [
        decided("rotate", 1, "fn rotate_the_token() {}"), decided("keep", 2, "fn keep_the_session() {}"),
        {"text": "elsewhere", "evidence": [{"path": "/etc/passwd", "line": 1, "quote": "root"}]}]});
    session(&env, "a", &report, &[]).success();
    env.write("src/a.rs", "// moved down\n\nfn keep_the_session() {}\n");
    let block = env.run(&["inherit", "a", "--json"]).success().json();
    let decisions = block["decisions"].as_array().unwrap();
    assert!(
        decisions[0].as_str().unwrap().starts_with("[evidence no longer holds: src/a.rs:1"),
        "{block}"
    );
    assert_eq!(decisions[1], "keep");
    let verdict = |n: usize| block["notes"][n]["evidence"][0]["verdict"].clone();
    assert_eq!((verdict(0), verdict(1)), ("broken".into(), "moved".into()));
    assert!(!block.to_string().contains("/etc/passwd"));
    let ran = session(&env, "b", &learned(&[]), &["--inherit", "a"]).success();
    assert!(ran.stdout.contains("1 decision holds, 1 no longer does: \"rotate\""), "{ran}");
}

#[test]
fn a_comprehension_that_is_required_and_missing_is_reported_and_the_run_goes_on() {
    let env = reporting();
    env.write(
        ".heirloom/stages/careful/stage.yaml",
        "name: careful\nstop: {rule: fixed, max: 1}\ncomprehension: required\ninherit: {from: a, select: [learnings]}\n",
    );
    env.write(".heirloom/stages/careful/prompt.md", "Work. ${STATUS}\n");
    session(&env, "a", &json!({"decision": "stop", "learnings": ["l"], "patterns": ["p"]}), &[])
        .success();
    let careful = |name: &str, report: &Value| {
        env.write(&format!("reports/{name}.json"), &report.to_string());
        env.run(&["run", "careful", name, "--agent", "command"]).success()
    };
    let ran = careful("b", &learned(&[]));
    assert!(ran.stderr.contains("Agent did not acknowledge inherited context"), "{ran}");
    let dir = ".heirloom/runs/b/stage-00-careful/iterations/001";
    let validation: Value =
        serde_json::from_str(&env.read(&format!("{dir}/validation.json"))).unwrap();
    assert_eq!(
        validation["comprehension_check"],
        json!({"required": true, "present": false, "warning": "Agent did not acknowledge inherited context"})
    );
    assert!(env.read(&format!("{dir}/prompt.md")).starts_with("## Step 0"));
    let context: Value = serde_json::from_str(&env.read(&format!("{dir}/context.json"))).unwrap();
    assert_eq!(context["inherited"]["patterns"], json!([]));
    let shown = env.run(&["status", "b"]).success();
    assert!(
        shown.stdout.contains("warning: careful iteration 1: Agent did not acknowledge"),
        "{shown}"
    );
    careful("c", &json!({"decision": "stop", "comprehension": {"inherited": "l", "task": "t"}}));
    assert!(
        !env.repo()
            .join(".heirloom/runs/c/stage-00-careful/iterations/001/validation.json")
            .exists()
    );
    assert_eq!(env.run(&["status", "c", "--json"]).json()["warnings"], json!([]));
}

#[test]
fn two_sessions_inherit_from_one_at_the_same_time() {
    let env = reporting();
    session(&env, "a", &learned(&["from a"]), &[]).success();
    for name in ["b", "c"] {
        env.write(&format!("reports/{name}.json"), &learned(&[]).to_string());
    }
    let begin = |name: &str| {
        let arguments = ["run", "ralph", name, "1", "--agent", "command", "--inherit", "a"];
        env.command(&arguments).stdout(std::process::Stdio::null()).spawn().unwrap()
    };
    let children = ["b", "c"].map(begin);
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    for name in ["b", "c"] {
        assert_eq!(inherited(&env, name)["learnings"], json!(["from a"]));
    }
}

#[test]
fn a_session_that_only_hooks_recorded_is_inherited_from() {
    use crate::guard::{Guarded, ONE};
    let env = with_agent("cat > /dev/null\necho '{\"decision\":\"stop\"}' > $HEIRLOOM_STATUS\n");
    env.write(".heirloom/config.yaml", "agent: command\n");
    env.write("src/auth.rs", "fn rotate(token: &str) {\n");
    let guarded = Guarded { env };
    guarded.start(ONE, "startup");
    guarded.hook("UserPromptSubmit", ONE, &json!({"prompt": "rotate the tokens"}));
    let env = guarded.env.var("CLAUDE_CODE_SESSION_ID", ONE);
    let note = |arguments: &[&str]| {
        env.run(&[&["note"], arguments, &["--session", ONE]].concat()).success();
    };
    note(&["learning", "Tokens expire after 15 minutes"]);
    note(&["decision", "Rotate tokens", "--evidence", "src/auth.rs:1"]);
    let guarded = Guarded { env };
    guarded.hook("SessionEnd", ONE, &json!({"reason": "prompt_input_exit"}));
    let env = guarded.env;
    let ran = env.run(&["run", "ralph", "heir", "1", "--inherit", &ONE[..8]]).success();
    assert!(ran.stdout.contains("1 learning, 1 decision"), "{ran}");
    let block = inherited(&env, "heir");
    assert_eq!(block["learnings"], json!(["Tokens expire after 15 minutes"]), "{block}");
    assert!(block["decisions"][0].to_string().contains("Rotate tokens"), "{block}");
    let lineage = env.run(&["lineage", "heir", "--json"]).success().json();
    assert!(lineage.to_string().contains(ONE), "{lineage}");
}

#[test]
fn a_run_that_reports_as_its_template_shows_passes_the_check_of_its_claims() {
    let env = reporting();
    env.write("src/auth.rs", "fn rotate(token: &str) {\n");
    let evidence = json!([{"path": "src/auth.rs", "line": 1, "quote": "fn rotate(token: &str) {"}]);
    let report =
        json!({"decision": "stop", "learnings": [{"text": "Tokens rotate", "evidence": evidence}]});
    session(&env, "cited", &report, &[]).success();
    assert_eq!(env.run(&["ground", "--session", "cited", "--json"]).success().json()["claims"], 1);
    let prompt = env.read(".heirloom/runs/cited/stage-00-ralph/iterations/001/prompt.md");
    assert!(prompt.contains("\"evidence\""), "{prompt}");
}

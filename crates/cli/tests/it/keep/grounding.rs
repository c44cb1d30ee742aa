use heirloom_testkit::env::TestEnv;
use serde_json::json;

use super::{AUTH, env, verdict};

fn decide(env: &TestEnv) {
    env.run(&["note", "decision", "Rotate tokens", "--evidence", "src/auth.rs:3"]).success();
}

#[test]
fn evidence_keeps_what_makes_it_findable() {
    let env = env();
    let note = env.run(&["note", "decision", "15 min", "--evidence", "src/auth.rs:4", "--json"]);
    let evidence = note.json()["evidence"][0].clone();
    assert_eq!(evidence["quote"], "    let grace = 900;");
    assert_eq!(evidence["symbol"], "rotate");
    assert_eq!(evidence["commit"], env.git(&["rev-parse", "HEAD"]).trim());
    assert_eq!(evidence["hash"].as_str().unwrap().len(), 32);
}

#[test]
fn a_fabricated_quote_is_refused_with_the_reason() {
    let env = env();
    insta::assert_snapshot!(env.run(&["note", "decision", "x", "--evidence", "src/auth.rs:3", "--quote", "fn invented() {}"]), @r"
    ------- stderr -------
    error: src/auth.rs:3 does not say `fn invented() {}`: the quote is not in the file
    hint: nothing was recorded
    [exit 1]
    ");
    insta::assert_snapshot!(env.run(&["note", "decision", "x", "--evidence", "src/auth.rs:3", "--quote", "let grace = 900;"]), @r"
    ------- stderr -------
    error: src/auth.rs:3 does not say `let grace = 900;`: now at line 4
    hint: nothing was recorded
    [exit 1]
    ");
}

#[test]
fn code_that_moved_is_found_where_it_is() {
    let env = env();
    decide(&env);
    assert_eq!(verdict(&env), "verified");
    env.write("src/auth.rs", &format!("// one\n// two\n{}", AUTH.replace("    let", "\t\tlet")));
    let answer = env.run(&["ground", "--json"]).success().json();
    assert_eq!(answer["results"][0]["verdict"], "nearby");
    assert_eq!(answer["results"][0]["found_line"], 5);
    env.write("src/auth.rs", &format!("{}{AUTH}", "// filler\n".repeat(40)));
    let answer = env.run(&["ground", "--json"]).success().json();
    assert_eq!(answer["results"][0]["verdict"], "moved");
    assert_eq!(
        (&answer["results"][0]["found_line"], &answer["results"][0]["line"]),
        (&json!(43), &json!(3))
    );
}

#[test]
fn a_renamed_file_is_followed_told_or_not() {
    let env = env();
    decide(&env);
    std::fs::rename(env.repo().join("src/auth.rs"), env.repo().join("src/tokens.rs")).unwrap();
    let found = |env: &TestEnv| {
        let answer = env.run(&["ground", "--json"]).success().json()["results"][0].clone();
        (answer["verdict"].clone(), answer["found_path"].clone(), answer["found_line"].clone())
    };
    let moved = (json!("moved"), json!("src/tokens.rs"), json!(3));
    assert_eq!(found(&env), moved);
    env.git(&["add", "-A"]);
    env.git(&["commit", "-q", "-m", "rename"]);
    assert_eq!(found(&env), moved);
}

#[test]
fn what_is_gone_is_not_grounded_and_fails() {
    let env = env();
    decide(&env);
    env.write("src/auth.rs", "use std::fs;\n\n// nothing\n");
    assert_eq!(verdict(&env), "quote_absent");
    env.write("src/auth.rs", "use std::fs;\n");
    assert_eq!(verdict(&env), "line_out_of_range");
    std::fs::write(env.repo().join("src/auth.rs"), [0xff, 0x00, 0xfe]).unwrap();
    assert_eq!(verdict(&env), "unreadable");
    std::fs::remove_file(env.repo().join("src/auth.rs")).unwrap();
    assert_eq!(verdict(&env), "path_missing");
    insta::assert_snapshot!(crate::stable(&env.run(&["ground"]).to_string()), @r"
    ✗ Rotate tokens
      [short] src/auth.rs:3 the file is gone
    not grounded  0 of 1 claim in notes-2026-01-12 (0.00), threshold 0.95
    ------- stderr -------
    hint: to settle a claim, note it again with --supersedes ID and --evidence PATH:LINE, or --user-input if a person said it
    [exit 1]
    ");
}

#[test]
fn a_link_that_leads_out_is_outside() {
    let env = env();
    decide(&env);
    std::fs::write(env.home().join("secret"), AUTH).unwrap();
    std::fs::remove_file(env.repo().join("src/auth.rs")).unwrap();
    std::os::unix::fs::symlink(env.home().join("secret"), env.repo().join("src/auth.rs")).unwrap();
    assert_eq!(verdict(&env), "outside_repository");
}

#[test]
fn declared_claims_count_as_what_they_are() {
    let env = env();
    env.run(&["note", "learning", "the cache is shared", "--assumption"]).success();
    env.run(&["note", "learning", "tabs, please", "--user-input"]).success();
    env.run(&["note", "learning", "nobody proved this"]).success();
    let answer = env.run(&["ground", "--json"]).json();
    let verdicts: Vec<_> =
        answer["results"].as_array().unwrap().iter().map(|row| row["verdict"].clone()).collect();
    assert_eq!(verdicts, ["assumption", "user_input", "no_evidence"]);
    assert_eq!(
        (&answer["claims"], &answer["grounded"], &answer["assumptions"]),
        (&json!(3), &json!(1), &json!(1))
    );
    assert_eq!(answer["status"], "fail");
}

#[test]
fn no_claims_pass_as_such() {
    let env = env();
    env.run(&["note", "progress", "looked around"]).success();
    insta::assert_snapshot!(env.run(&["ground"]), @"✔ no claims in notes-2026-01-12, so nothing to ground");
    let answer = env.run(&["ground", "--json"]).success().json();
    assert_eq!((&answer["claims"], &answer["status"]), (&json!(0), &json!("pass")));
}

#[test]
fn a_later_note_supersedes_and_midnight_changes_nothing() {
    let env = env();
    let at = |time: &str, arguments: &[&str]| {
        let mut command = env.command(arguments);
        command.env("HEIRLOOM_CLOCK", time);
        let output = command.output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let bad = at("2026-01-12T23:58:00Z", &["note", "decision", "Use HS256", "--json"]);
    let bad: serde_json::Value = serde_json::from_str(&bad).unwrap();
    at("2026-01-12T23:59:00Z", &["note", "learning", "unproved"]);
    at(
        "2026-01-13T00:01:00Z",
        &[
            "note",
            "decision",
            "Rotate",
            "--evidence",
            "src/auth.rs:3",
            "--supersedes",
            bad["id"].as_str().unwrap(),
        ],
    );
    let answer: serde_json::Value =
        serde_json::from_str(&at("2026-01-13T00:02:00Z", &["ground", "--json"])).unwrap();
    assert_eq!((&answer["claims"], &answer["grounded"]), (&json!(2), &json!(1)));
}

#[test]
fn a_ghost_is_looked_for_and_can_turn_out_to_be_none() {
    let env = env();
    insta::assert_snapshot!(env.run(&["note", "learning", "no rotation", "--absent", "rotate"]), @r"
    ------- stderr -------
    error: it does exist: src/auth.rs:3
    hint: nothing was recorded
    [exit 1]
    ");
    insta::assert_snapshot!(env.run(&["note", "learning", "x", "--absent", "rate_limiter", "--absent", "RateLimiter"]), @r"
    ------- stderr -------
    error: `RateLimiter` repeats the same search: give one, or two that differ
    hint: nothing was recorded
    [exit 1]
    ");
    env.run(&[
        "note",
        "learning",
        "no rate limiter",
        "--absent",
        "rate limiter",
        "--absent",
        "throttle",
    ])
    .success();
    assert_eq!(verdict(&env), "confirmed_ghost");
    for document in ["a.md", "b.md", "c.md"] {
        env.write(document, "The RateLimiter is great.\n");
    }
    assert_eq!(verdict(&env), "high_ambiguity");
    env.write("src/limit.rs", "struct Throttle;\n");
    assert_eq!(verdict(&env), "not_a_ghost");
}

#[test]
fn a_trajectory_file_is_checked_and_not_believed() {
    let env = env();
    env.write(
        "t.jsonl",
        concat!(
            r#"{"phase":"cite","claim":"holds","grounding":"citation","evidence":{"quote":"fn rotate(token: &str) {","path":"${PROJECT_ROOT}/src/auth.rs","line":3}}"#, "\n",
            r#"{"phase":"cite","claim":"made up","grounding":"citation","evidence":{"quote":"let nope = 1;","path":"nope.ts","line":99999}}"#, "\n",
            r#"{"phase":"cite","claim":"traversal","grounding":"citation","evidence":{"quote":"root:x:0:0","path":"../../../../etc/passwd","line":1}}"#, "\n",
            r#"{"phase":"cite","claim":"null","grounding":"citation","evidence":null}"#, "\n",
            "{\"phase\":\"cite\",\"claim\":\"cut of\n",
            r#"{"phase":"cite","citations":[{"claim":"grace","code":"let grace = 900;","path":"src/auth.rs","line":4}]}"#, "\n",
        ),
    );
    let ran = env.run(&["ground", "--trajectory", "t.jsonl", "--json"]);
    let answer = ran.json();
    let rows = answer["results"].as_array().unwrap().iter();
    let verdicts: Vec<_> = rows.map(|row| row["verdict"].as_str().unwrap()).collect();
    assert_eq!(
        verdicts,
        ["verified", "path_missing", "outside_repository", "no_evidence", "verified"]
    );
    assert_eq!(answer["unreadable_lines"], json!([5]));
    for path in ["nope.ts:99999", "../../../../etc/passwd:1", "src/auth.rs:4"] {
        let said = format!("warning: {path} is not from ${{PROJECT_ROOT}}\n");
        assert!(ran.stderr.contains(&said), "{path}: {}", ran.stderr);
    }
    assert_eq!(ran.stderr.matches("is not from").count(), 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("warning: line 5 is not an entry"), "{}", ran.stderr);
    assert_eq!(answer["status"], "fail");
}

#[test]
fn what_another_function_a_comment_or_an_old_file_repeats_is_not_what_was_cited() {
    let env = env();
    let two = "fn rotate(token: &str) {\n    check(token);\n}\n\nfn revoke(token: &str) {\n    check(token);\n}\n";
    let check = "    check(token);\n";
    env.write("src/two.rs", two);
    env.write("src/always.rs", "fn always(token: &str) {\n    check(token);\n}\n");
    env.git(&["add", "."]);
    env.git(&["commit", "-q", "-m", "two"]);
    let decision = ["note", "decision", "Rotation checks the token", "--because", "theft"];
    env.run(&[&decision[..], &["--evidence", "src/two.rs:2"]].concat()).success();
    assert_eq!(verdict(&env), "verified");
    env.write("src/two.rs", &two.replacen(check, "", 1));
    assert_eq!(verdict(&env), "quote_absent", "the other function has its own");
    let level1 = env.run(&["recover", "1"]).success().stdout;
    assert!(level1.contains("src/two.rs:2 ✗ no longer there"), "{level1}");
    env.write("src/two.rs", &two.replacen(check, "    // check(token);\n", 1));
    assert_eq!(verdict(&env), "quote_absent", "a comment is not code");
    env.write("src/two.rs", &two.replace(check, ""));
    assert_eq!(verdict(&env), "quote_absent", "the other file always had it");
    env.write("src/new.rs", "fn fresh(token: &str) {\n    check(token);\n}\n");
    assert_eq!(verdict(&env), "moved", "this one did not");
}

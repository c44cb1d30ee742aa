//! The promises of Keep, each with the input that would break it.

use std::process::Stdio;

use heirloom_testkit::env::TestEnv;
use serde_json::{Value, json};

use super::{AUTH, env, records, verdict};

fn decide(env: &TestEnv, text: &str) -> Value {
    env.run(&["note", "decision", text, "--evidence", "src/auth.rs:3", "--json"]).success().json()
}

/// What `ground` says about the only claim.
fn row(env: &TestEnv) -> Value {
    let answer = env.run(&["ground", "--json"]).json();
    assert_eq!(answer["claims"], 1, "{answer}");
    answer["results"][0].clone()
}

/// A trajectory with one citation.
fn cite(env: &TestEnv, quote: &str, path: &str, line: u32) -> Value {
    let evidence = json!({"quote": quote, "path": path, "line": line});
    let entry =
        json!({"phase": "cite", "claim": "c", "grounding": "citation", "evidence": evidence});
    env.write("t.jsonl", &format!("{entry}\n"));
    let answer = env.run(&["ground", "--trajectory", "t.jsonl", "--json"]).json();
    answer["results"][0]["verdict"].clone()
}

#[test]
fn a_fabricated_quote_leaves_no_trace() {
    let env = env();
    let exported = env.run(&["ledger", "export"]).stdout;
    let fabricated = ["fn rotate(token: &String) {", "fn rotat", "let grace = 9000;", "rotate fn"];
    for quote in fabricated {
        let arguments = ["note", "decision", "x", "--evidence", "src/auth.rs:3", "--quote", quote];
        assert_eq!(env.run(&arguments).code, 1, "{quote}");
        assert_eq!(cite(&env, quote, "src/auth.rs", 3), "quote_absent", "{quote}");
    }
    assert_eq!(env.run(&["ledger", "export"]).stdout, exported);
}

#[test]
fn moved_code_is_nearby_up_to_ten_lines_and_moved_beyond() {
    let env = env();
    decide(&env, "Rotate tokens");
    for (lines, expected) in [(0, "verified"), (10, "nearby"), (11, "moved")] {
        env.write("src/auth.rs", &format!("{}{AUTH}", "// filler\n".repeat(lines)));
        let row = row(&env);
        let found = if lines == 0 { row["line"].clone() } else { row["found_line"].clone() };
        assert_eq!((&row["verdict"], &found), (&json!(expected), &json!(3 + lines)), "{row}");
        assert_eq!(row["grounded"], true);
    }
}

#[test]
fn a_file_renamed_twice_and_edited_is_followed_to_its_end() {
    let env = env();
    env.write("src/auth.rs", &format!("{AUTH}{}", "// this line stays as it is\n".repeat(20)));
    env.git(&["commit", "-q", "-a", "-m", "more"]);
    decide(&env, "Rotate tokens");
    for (from, to) in [("src/auth.rs", "src/tokens.rs"), ("src/tokens.rs", "lib/refresh.rs")] {
        std::fs::create_dir_all(env.repo().join("lib")).unwrap();
        env.git(&["mv", from, to]);
        env.write(to, &format!("// now {to}\n{}", env.read(to)));
        env.git(&["commit", "-q", "-a", "-m", to]);
    }
    let row = row(&env);
    assert_eq!((&row["verdict"], &row["found_path"]), (&json!("moved"), &json!("lib/refresh.rs")));
    assert_eq!(row["found_line"], 5);
}

#[test]
fn a_quote_that_went_to_another_file_is_found_there_while_its_own_file_stays() {
    let env = env();
    decide(&env, "Rotate tokens");
    env.write("src/auth.rs", "mod tokens;\n");
    env.write("src/tokens.rs", &format!("// tokens\n{AUTH}"));
    env.write("docs/auth.md", AUTH);
    let row = row(&env);
    let found = (&row["verdict"], &row["found_path"], &row["found_line"]);
    assert_eq!(found, (&json!("moved"), &json!("src/tokens.rs"), &json!(4)), "{row}");
    assert_eq!(row["grounded"], true);
    env.run(&["run", "ralph", "heir", "1", "--agent", "sim", "--inherit", "notes-2026-01-12"])
        .success();
    let context = env.read(".heirloom/runs/heir/stage-00-ralph/iterations/001/context.json");
    let context: Value = serde_json::from_str(&context).unwrap();
    let inherited = context["inherited"].to_string();
    assert!(inherited.contains("src/tokens.rs") && !inherited.contains("no longer holds"));
    env.write("src/copy.rs", AUTH);
    assert_eq!(verdict(&env), "ambiguous");
    for file in ["src/copy.rs", "src/tokens.rs"] {
        std::fs::remove_file(env.repo().join(file)).unwrap();
    }
    assert_eq!(verdict(&env), "line_out_of_range", "a document that repeats it proves nothing");
    env.write("src/auth.rs", &"mod tokens;\n".repeat(9));
    assert_eq!(verdict(&env), "quote_absent");
}

#[test]
fn an_ambiguous_quote_is_grounded_only_at_its_line() {
    let env = env();
    decide(&env, "Rotate tokens");
    env.write("src/auth.rs", &format!("{AUTH}{}{AUTH}", "// filler\n".repeat(40)));
    assert_eq!(verdict(&env), "verified");
    let far = "// filler\n".repeat(40);
    env.write("src/auth.rs", &format!("{far}{AUTH}{far}{AUTH}"));
    let row = row(&env);
    assert_eq!((&row["verdict"], &row["grounded"]), (&json!("ambiguous"), &json!(false)), "{row}");
    assert_eq!(env.run(&["ground"]).code, 1);
}

#[test]
fn no_way_of_writing_a_path_leads_out_of_the_repository() {
    let env = env();
    let outside = env.repo().with_file_name("outside.rs");
    std::fs::write(&outside, AUTH).unwrap();
    std::os::unix::fs::symlink(env.repo().parent().unwrap(), env.repo().join("up")).unwrap();
    let paths = [
        "../outside.rs",
        "src/../../outside.rs",
        "./../outside.rs",
        "${PROJECT_ROOT}/../outside.rs",
        outside.to_str().unwrap(),
        "up/outside.rs",
    ];
    for path in paths {
        assert_eq!(cite(&env, "fn rotate(token: &str) {", path, 3), "outside_repository", "{path}");
        let evidence = format!("{path}:3");
        let ran = env.run(&["note", "decision", "x", "--evidence", &evidence]);
        assert_ne!(ran.code, 0, "{path}");
        assert!(!ran.stderr.contains("fn rotate"), "it was read: {ran}");
    }
    assert_eq!(env.run(&["ground", "--json"]).json()["claims"], 0);
}

#[test]
fn writers_at_once_lose_nothing_on_the_page_nor_in_the_ledger() {
    let env = env();
    env.write("NOTES.md", "# By hand\n\nOurs.\n");
    let texts: Vec<String> = (0..8).map(|n| format!("learning number {n} of eight")).collect();
    let spawn = |text: &String| {
        let mut command = env.command(&["note", "learning", text, "--evidence", "src/auth.rs:3"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = texts.iter().map(spawn).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let answer = env.run(&["ground", "--json"]).success().json();
    assert_eq!((&answer["claims"], &answer["grounded"]), (&json!(8), &json!(8)));
    env.run(&["checkpoint"]).success();
    let (page, notes) = (env.read("NOTES.md"), env.run(&["notes"]).stdout);
    assert!(page.starts_with("# By hand\n\nOurs.\n"), "{page}");
    for text in &texts {
        assert_eq!(notes.matches(text.as_str()).count(), 1, "{text} in {notes}");
    }
    env.run(&["ledger", "verify"]).success();
}

#[test]
fn corrupt_lines_of_a_trajectory_are_named_and_do_not_count() {
    let env = env();
    let good = r#"{"phase":"cite","claim":"C","grounding":"citation","evidence":{"quote":"let grace = 900;","path":"src/auth.rs","line":4}}"#;
    let mut bytes = Vec::new();
    for line in [good, "", "null", "[1,2", "\"text\"", &good[..60], &good.replace("\"C\"", "\"D\"")]
    {
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(b"{\"claim\":\"\xff\xfe\n");
    std::fs::write(env.repo().join("t.jsonl"), bytes).unwrap();
    let ran = env.run(&["ground", "--trajectory", "t.jsonl", "--json"]).success();
    let answer = ran.json();
    assert_eq!(answer["unreadable_lines"], json!([3, 4, 5, 6, 8]));
    assert_eq!((&answer["claims"], &answer["grounded"]), (&json!(2), &json!(2)), "{answer}");
}

#[test]
fn an_unknown_mode_never_permits_and_says_which_there_are() {
    let env = env();
    decide(&env, "Rotate tokens");
    let unknown = ["warn", "strict", "off"].as_slice();
    for (mode, names) in
        [("Strict", unknown), ("block", unknown), ("\"\"", &[]), ("1", &[]), ("[strict]", &[])]
    {
        env.write(".heirloom/config.yaml", &format!("checkpoint: {{mode: {mode}}}\n"));
        for purpose in ["clear", "compact"] {
            let ran = env.run(&["checkpoint", "--for", purpose]);
            assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{mode}: {ran}");
            for word in ["config.yaml", "checkpoint.mode"].iter().chain(names) {
                assert!(ran.stderr.contains(word), "{mode} without {word}: {ran}");
            }
            let ran = env.run(&["checkpoint", "--for", purpose, "--json"]);
            let answer = ran.json();
            assert!(answer["error"]["code"].is_string(), "{mode}: {ran}");
            assert!(answer.get("permitted").is_none(), "{mode}: {ran}");
        }
    }
    assert_eq!(records(&env, "keep.handoff"), 0);
    assert!(!env.repo().join("NOTES.md").exists());
}

#[test]
fn a_threshold_that_is_none_is_refused_and_the_ends_of_the_range_are_meant() {
    let env = env();
    env.run(&["note", "decision", "Unproved"]).success();
    for threshold in ["-0.1", "1.01", "95", ".nan", ".inf", "high"] {
        env.write(".heirloom/config.yaml", &format!("checkpoint: {{threshold: {threshold}}}\n"));
        assert_eq!(env.run(&["checkpoint"]).code, 1, "{threshold}");
        assert_eq!(records(&env, "keep.handoff"), 0, "{threshold}");
    }
    let strict = |threshold: &str| {
        let settings = format!("checkpoint: {{mode: strict, threshold: {threshold}}}\n");
        env.write(".heirloom/config.yaml", &settings);
        env.run(&["checkpoint"]).code
    };
    assert_eq!((strict("1.0"), strict("0.0")), (1, 0));
}

#[test]
fn claims_from_before_midnight_still_count_after_it() {
    let env = env();
    let at = |time: &str, arguments: &[&str]| {
        let output = env.command(arguments).env("HEIRLOOM_CLOCK", time).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    env.write(".heirloom/config.yaml", "checkpoint: {mode: strict}\n");
    at("2026-01-12T23:59:59Z", &["note", "decision", "Unproved"]);
    let (code, text) = at("2026-01-13T00:00:01Z", &["checkpoint", "--json"]);
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, &answer["permitted"]), (Some(1), &json!(false)), "{answer}");
    let (_, recovered) = at("2026-01-13T00:00:02Z", &["recover", "1"]);
    assert!(recovered.contains("Unproved"), "{recovered}");
}

#[test]
fn line_endings_and_white_space_alone_change_no_verdict() {
    let env = env();
    env.run(&["note", "decision", "Rotate tokens", "--evidence", "src/auth.rs:3-5"]).success();
    let forms = [
        AUTH.replace('\n', "\r\n"),
        AUTH.replace("    ", "\t"),
        AUTH.replace('\n', "  \n"),
        AUTH.trim_end().to_owned(),
    ];
    for form in forms {
        env.write("src/auth.rs", &form);
        assert_eq!(verdict(&env), "verified", "{form:?}");
    }
    env.write("src/auth.rs", &AUTH.replace("900", "901"));
    assert_eq!(verdict(&env), "quote_absent");
}

#[test]
fn a_quote_that_says_too_little_proves_nothing() {
    let env = env();
    for quote in ["", "}", "{", "   ", "-----", "fn", "900;"] {
        let verdict = cite(&env, quote, "src/auth.rs", 3);
        assert!(
            verdict == "quote_too_short" || (quote.trim().is_empty() && verdict == "no_evidence"),
            "{quote:?}: {verdict}"
        );
    }
    let ran = env.run(&["note", "decision", "x", "--evidence", "src/auth.rs:5"]).success();
    assert!(ran.stderr.contains("says too little to count as evidence"), "{ran}");
    assert_eq!(verdict(&env), "quote_too_short");
    assert_eq!(env.run(&["ground"]).code, 1);
}

#[test]
fn a_superseded_claim_counts_no_more_however_often_it_was_replaced() {
    let env = env();
    let first = env.run(&["note", "decision", "Use HS256", "--json"]).json();
    let second = env
        .run(&["note", "decision", "Use RS256", "--supersedes", id(&first), "--json"])
        .success()
        .json();
    assert_eq!(verdict(&env), "no_evidence");
    let third = ["note", "decision", "Rotate", "--evidence", "src/auth.rs:3", "--supersedes"];
    env.run(&[&third[..], &[id(&second)]].concat()).success();
    assert_eq!(verdict(&env), "verified");
    let recovered = env.run(&["recover", "1"]).stdout;
    assert!(recovered.contains("Rotate") && !recovered.contains("256"), "{recovered}");
}

fn id(note: &Value) -> &str {
    note["id"].as_str().unwrap()
}

#[test]
fn zero_claims_pass_a_strict_checkpoint_and_are_said_to_be_none() {
    let env = env();
    env.write(".heirloom/config.yaml", "checkpoint: {mode: strict, threshold: 1.0}\n");
    env.write("t.jsonl", "");
    let answer = env.run(&["checkpoint", "--json"]).success().json();
    assert_eq!(
        (&answer["permitted"], &answer["steps"][0]["status"]),
        (&json!(true), &json!("passed"))
    );
    for arguments in [&["ground", "--json"][..], &["ground", "--trajectory", "t.jsonl", "--json"]] {
        let answer = env.run(arguments).success().json();
        assert_eq!((&answer["claims"], &answer["status"]), (&json!(0), &json!("pass")), "{answer}");
    }
    let missing = env.run(&["ground", "--trajectory", "nowhere.jsonl"]);
    assert_ne!(missing.code, 0, "a file that is not there is not an empty one: {missing}");
}

#[test]
fn what_a_person_writes_on_the_page_survives_everything_that_writes_it() {
    let env = env();
    decide(&env, "Rotate tokens");
    env.run(&["checkpoint"]).success();
    let page = env.read("NOTES.md").replace("# Notes\n", "# Ours\n\nAbove, by hand: ümläut.\n");
    let page = format!("{page}\n## Below\n\n```\n## Session Continuity\n```\nlast words\n");
    env.write("NOTES.md", &page);
    let writers: [&[&str]; 4] = [
        &["note", "learning", "Tokens expire"],
        &["checkpoint"],
        &["checkpoint", "--for", "compact"],
        &["heal"],
    ];
    for writer in writers {
        env.run(writer).success();
        let after = env.read("NOTES.md");
        for kept in ["# Ours\n\nAbove, by hand: ümläut.\n", "**Decision**: Rotate tokens"] {
            assert_eq!(after.matches(kept).count(), 1, "{kept} after {writer:?}: {after}");
        }
        assert!(
            after.ends_with("## Below\n\n```\n## Session Continuity\n```\nlast words\n"),
            "{writer:?}: {after}"
        );
    }
}

use serde_json::json;

use super::{env, records};

fn strict(env: &heirloom_testkit::env::TestEnv) {
    env.write(".heirloom/config.yaml", "checkpoint: {mode: strict}\n");
}

#[test]
fn a_passed_checkpoint_hands_off_once_and_again_changes_nothing() {
    let env = env();
    env.run(&["note", "decision", "Rotate tokens", "--evidence", "src/auth.rs:3"]).success();
    let first = env.run(&["checkpoint", "--json"]).success().json();
    let steps: Vec<_> = first["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| (step["step"].clone(), step["name"].clone()))
        .collect();
    let names = ["grounding", "ghosts", "decision_log", "tracker", "handoff", "decay", "scenarios"];
    assert_eq!(
        steps,
        names.iter().enumerate().map(|(n, name)| (json!(n + 1), json!(name))).collect::<Vec<_>>()
    );
    assert_eq!((&first["permitted"], &first["mode"]), (&json!(true), &json!("warn")));
    let (page, exported) = (env.read("NOTES.md"), env.run(&["ledger", "export"]).stdout);
    let again = env.run(&["checkpoint", "--json"]).success().json();
    assert_eq!(again["handoff"], first["handoff"]);
    assert_eq!(env.read("NOTES.md"), page);
    assert_eq!(env.run(&["ledger", "export"]).stdout, exported);
    env.run(&["note", "progress", "more"]).success();
    let third = env.run(&["checkpoint", "--json"]).success().json();
    assert_ne!(third["handoff"], first["handoff"]);
    assert_eq!(records(&env, "keep.handoff"), 2);
}

#[test]
fn a_handoff_hands_over_every_kind_of_note() {
    let env = env();
    let kinds = ["warning", "decision", "next-step", "question", "learning", "pattern", "progress"];
    for kind in kinds {
        env.run(&["note", kind, &format!("a {kind} about tokens")]).success();
    }
    env.run(&["checkpoint"]).success();
    let shown = env.run(&["handoffs", "show"]).success().stdout;
    for kind in kinds {
        assert!(shown.contains(&format!("a {kind} about tokens")), "{kind}: {shown}");
    }
}

#[test]
fn what_a_checkpoint_found_broken_is_said_to_be_verified_nowhere() {
    let env = env();
    let note = |text: &str, line: &str| {
        env.run(&["note", "decision", text, "--because", "y", "--evidence", line]).success();
    };
    note("Rotate tokens", "src/auth.rs:3");
    note("Grant a grace of fifteen minutes", "src/auth.rs:4");
    let row = |place: &str| {
        let page = env.read("NOTES.md");
        let row = page.lines().find(|line| line.starts_with('|') && line.contains(place));
        row.unwrap_or_else(|| panic!("no {place} in {page}")).to_owned()
    };
    env.run(&["checkpoint"]).success();
    assert!(row("src/auth.rs:4").contains("| 20"), "{}", row("src/auth.rs:4"));
    let code = env.read("src/auth.rs");
    env.write("src/auth.rs", &code.replace("let grace = 900;", "let leeway = 30;"));
    env.run(&["checkpoint"]).success();
    assert!(row("src/auth.rs:4").ends_with("| no longer holds |"), "{}", row("src/auth.rs:4"));
    assert!(row("src/auth.rs:3").contains("| 20"), "{}", row("src/auth.rs:3"));
    let shown = env.run(&["handoffs", "show"]).success().stdout;
    let marked: Vec<&str> = shown.lines().filter(|line| line.contains("no longer held")).collect();
    assert_eq!(marked.len(), 1, "{shown}");
    assert!(marked[0].contains("Grant a grace"), "{shown}");
    // Whoever writes the page next says the same, and when it holds again it says that.
    env.run(&["note", "progress", "more"]).success();
    assert!(row("src/auth.rs:4").ends_with("| no longer holds |"), "{}", row("src/auth.rs:4"));
    env.write("src/auth.rs", &code);
    env.run(&["checkpoint"]).success();
    assert!(row("src/auth.rs:4").contains("| 20"), "{}", row("src/auth.rs:4"));
    assert_eq!(env.read("NOTES.md").matches("src/auth.rs:4 <!--").count(), 1);
}

#[test]
fn a_strict_checkpoint_names_every_finding_and_makes_no_handoff() {
    let env = env();
    strict(&env);
    env.run(&["note", "decision", "Unproved"]).success();
    env.run(&["note", "learning", "no limiter", "--absent", "rate limiter"]).success();
    env.write("src/limit.rs", "struct RateLimiter;\n");
    insta::assert_snapshot!(crate::stable(&env.run(&["checkpoint"]).to_string()), @r#"
    1 ✗ grounding     0 of 2 claims grounded (0.00), threshold 0.95
                       - "Unproved": no evidence
                       - "no limiter": it is there: src/limit.rs:1
    2 ✗ absence       0 of 1 claim of absence confirmed
                       - "no limiter": it is there: src/limit.rs:1
    3 ! decision log  1 decision in NOTES.md, 0 entries imported from it
                       - "Unproved": no reason given; note it again with --because "…" --supersedes [short]
    4 ✔ tracker       built-in tracker; nothing to write
    5 · handoff       blocked
    6 · quotes        blocked
    7 ! scenarios     0 of 3 test scenarios
    failed, no handoff was written
    ------- stderr -------
    hint: to settle a claim, note it again with --supersedes ID and --evidence PATH:LINE, or --user-input if a person said it
    hint: to add a test scenario: heirloom note scenario "…" --type edge-case --expected "…"
    [exit 1]
    "#);
    assert_eq!(records(&env, "keep.handoff"), 0);
}

#[test]
fn warn_says_the_same_and_lets_it_pass() {
    let env = env();
    env.run(&["note", "decision", "Unproved"]).success();
    let answer = env.run(&["checkpoint", "--json"]).success().json();
    assert_eq!(answer["steps"][0]["status"], "failed");
    assert_eq!(answer["permitted"], true);
    assert_eq!(records(&env, "keep.handoff"), 1);
}

#[test]
fn a_mode_or_threshold_that_is_none_is_an_error_and_never_permits() {
    let env = env();
    for settings in [
        "checkpoint: {mode: blocked}",
        "checkpoint: {threshold: 95}",
        "checkpoint: {threshold: high}",
        "checkpoint: [",
    ] {
        env.write(".heirloom/config.yaml", settings);
        let ran = env.run(&["checkpoint", "--json"]);
        assert_eq!(ran.code, 1, "{settings}");
        assert_eq!(ran.json()["error"]["code"], "settings", "{settings}");
        assert_eq!(records(&env, "keep.handoff"), 0);
    }
}

#[test]
fn off_looks_at_nothing() {
    let env = env();
    env.write(".heirloom/config.yaml", "checkpoint: {mode: \"off\"}\n");
    env.run(&["note", "decision", "Unproved"]).success();
    insta::assert_snapshot!(env.run(&["checkpoint"]), @"checkpoints are switched off");
    assert_eq!(records(&env, "keep.handoff"), 0);
}

#[test]
fn a_dry_run_changes_nothing() {
    let env = env();
    env.run(&["note", "decision", "Rotate tokens", "--evidence", "src/auth.rs:3"]).success();
    let exported = env.run(&["ledger", "export"]).stdout;
    let answer = env.run(&["checkpoint", "--dry-run", "--json"]).success().json();
    assert_eq!(answer["handoff"], json!(null));
    assert_eq!(env.run(&["ledger", "export"]).stdout, exported);
    assert!(!env.repo().join("NOTES.md").exists());
}

#[test]
fn a_compaction_takes_three_steps() {
    let env = env();
    env.run(&["note", "decision", "Rotate tokens"]).success();
    let answer = env.run(&["checkpoint", "--for", "compact", "--json"]).success().json();
    let steps: Vec<_> = answer["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["name"].as_str().unwrap())
        .collect();
    assert_eq!(steps, ["decision_log", "tracker", "handoff"]);
    assert_eq!(env.run(&["checkpoint", "--for", "later"]).code, 64);
}

#[test]
fn a_page_that_cannot_be_written_blocks_in_strict() {
    let env = env();
    strict(&env);
    env.run(&["note", "progress", "x"]).success();
    std::fs::create_dir(env.repo().join("NOTES.md")).unwrap();
    let ran = env.run(&["checkpoint", "--json"]);
    assert_eq!((ran.code, ran.json()["permitted"].clone()), (1, json!(false)));
    assert_eq!(ran.json()["steps"][2]["status"], "failed");
    assert_eq!(records(&env, "keep.handoff"), 0);
}

#[test]
fn the_tracker_is_told_once_where_there_is_one() {
    let env = env();
    std::fs::create_dir(env.repo().join(".beads")).unwrap();
    let bin = env.home().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let log = env.home().join("told");
    let script = format!("#!/bin/sh\necho \"$@\" >> {}\n", log.display());
    std::fs::write(bin.join("br"), script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(bin.join("br"), mode).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let env = env.var("PATH", path);
    env.run(&["note", "decision", "Rotate tokens", "--because", "replay", "--issue", "hl-1"])
        .success();
    env.run(&["note", "decision", "Evil", "--issue", "--help"]);
    env.run(&["checkpoint"]).success();
    env.run(&["checkpoint"]).success();
    let told = std::fs::read_to_string(&log).unwrap();
    assert_eq!(told.matches("comments add hl-1 DECISION: Rotate tokens").count(), 1, "{told}");
    assert_eq!(told.matches("comments add hl-1 HANDOFF: ").count(), 1, "{told}");
    // Each of the two has it written to its file, once all of it is told.
    let words = told.lines().map(|line| line.split(' ').next().unwrap());
    let calls: Vec<&str> = words.filter(|word| ["comments", "sync"].contains(word)).collect();
    assert_eq!(calls, ["comments", "comments", "sync", "sync"], "{told}");
    assert!(told.contains("sync --flush-only"), "{told}");
    std::fs::write(&log, "").unwrap();
    env.run(&["note", "decision", "Log refusals", "--issue", "hl-1"]).success();
    env.run(&["checkpoint", "--for", "compact"]).success();
    let told = std::fs::read_to_string(&log).unwrap();
    assert!(told.contains("sync --flush-only"), "before a compaction as well: {told}");
}

#[test]
fn a_fork_is_found_recorded_once_and_the_ledger_wins() {
    let env = env();
    env.run(&["note", "decision", "Use rotating refresh tokens"]).success();
    let claim = ["fork-check", "--claim", "Use stateless tokens"];
    insta::assert_snapshot!(env.run(&claim), @r"
    fork  the context says   Use stateless tokens
          the ledger says    Use rotating refresh tokens
          they decide the same thing in different ways; the ledger wins: continue from there
    [exit 1]
    ");
    env.run(&claim);
    assert_eq!(records(&env, "keep.fork_detected"), 1);
    env.run(&["fork-check", "--claim", "we use rotating refresh tokens", "the parser is slow"])
        .success();
}

/// A dry run says of each step what the checkpoint says, but for what only doing it can tell, and leaves no trace.
#[test]
fn a_dry_run_says_what_the_checkpoint_then_does_and_leaves_no_trace() {
    let env = env();
    let nothing = env.run(&["checkpoint", "--dry-run", "--json"]).success().json();
    assert_eq!((&nothing["permitted"], &nothing["steps"]), (&json!(true), &json!([])));
    let sessions = env.run(&["sessions", "list", "--all", "--json"]).json();
    assert_eq!(sessions["sessions"], json!([]), "none was begun to look at it");

    env.run(&["note", "decision", "Rotate tokens", "--evidence", "src/auth.rs:3"]).success();
    let told = |arguments: &[&str]| env.run(arguments).success().json();
    let dry = told(&["checkpoint", "--dry-run", "--json"]);
    let wet = told(&["checkpoint", "--json"]);
    assert_eq!(dry["permitted"], wet["permitted"]);
    let steps = dry["steps"].as_array().unwrap().iter().zip(wet["steps"].as_array().unwrap());
    for (dry, wet) in steps {
        let is_rehearsed = dry["status"] == "skipped";
        assert!(is_rehearsed || dry["status"] == wet["status"], "{dry} {wet}");
    }
    let log = &dry["steps"][2]["detail"].as_str().unwrap();
    assert!(log.contains("no reason given"), "what it would warn of: {log}");
    assert_eq!(dry["steps"][3]["detail"], wet["steps"][3]["detail"], "there is no tracker");
    let again = env.run(&["checkpoint", "--dry-run"]).success().stdout;
    assert!(again.contains("would pass, nothing new since"), "{again}");
}

//! heirloom's own tracker, as people see it.

use super::{built_in, create, issues, run};

/// Replaces the ids that a test made by words.
fn named(text: &str, names: &[(&str, &str)]) -> String {
    names.iter().fold(text.to_owned(), |text, (id, name)| text.replace(id, name))
}

#[test]
fn lists_are_aligned_and_say_what_is_in_the_way() {
    let env = built_in();
    insta::assert_snapshot!(run(&env, &["list"]), @r#"
    ------- stderr -------
    hint: no issues; `heirloom issues create "…"` creates one
    "#);
    let rotate = create(&env, &["Rotate refresh tokens", "-p", "1"]);
    let logout = create(&env, &["Blacklist on logout", "--blocked-by", &rotate, "-t", "bug"]);
    issues(&env, &["update", &rotate, "--claim"]);
    let names = [(rotate.as_str(), "hl-aaa"), (logout.as_str(), "hl-bbb")];
    insta::assert_snapshot!(named(&run(&env, &["list"]).to_string(), &names), @r"
    ID      PRI  STATUS       TYPE  TITLE                  ASSIGNEE  BLOCKED BY
    hl-aaa  P1   in progress  task  Rotate refresh tokens  ada
    hl-bbb  P2   open         bug   Blacklist on logout              hl-aaa
    ");
    insta::assert_snapshot!(run(&env, &["ready"]), @r"
    ------- stderr -------
    hint: nothing is ready: of 2 issues, 1 in progress and 1 waiting for others
    ");
    insta::assert_snapshot!(named(&run(&env, &["update", &rotate, "--claim", "--actor", "bob"]).to_string(), &names), @r"
    ------- stderr -------
    error: hl-aaa is ada's
    hint: `heirloom issues ready` shows what is free
    [exit 1]
    ");
    insta::assert_snapshot!(named(&run(&env, &["dep", &rotate, &logout]).to_string(), &names), @r"
    ------- stderr -------
    error: hl-aaa would depend on itself: hl-aaa → hl-bbb → hl-aaa
    hint: `heirloom issues dep remove hl-bbb hl-aaa` would allow it
    [exit 1]
    ");
}

#[test]
fn an_issue_is_shown_with_what_the_ledger_knows_about_it() {
    let env = built_in();
    let id =
        create(&env, &["Rotate", "-d", "Rotate them\natomically", "--acceptance", "tests pass"]);
    issues(&env, &["comment", &id, "on it"]);
    env.run(&["note", "decision", "Elsewhere", "--issue", "hl-other"]).success();
    for (kind, text) in [
        ("decision", "Rotate on every use"),
        ("question", "Blocked by the key store?"),
        ("question", "How long is the grace period?"),
        ("next_step", "Cover clock skew"),
        ("scenario", "Two refreshes at once"),
    ] {
        env.run(&["note", kind, text, "--issue", &id]).success();
    }
    env.run(&["checkpoint"]).success();
    let shown = named(&run(&env, &["show", &id]).to_string(), &[(&id, "hl-aaa")]);
    let (before, handoff) = shown.split_once("Handoffs\n").unwrap();
    assert!(handoff.contains("grounded"), "{handoff}");
    insta::assert_snapshot!(before, @r"
    hl-aaa  Rotate
    P2 task, open
      created    just now by ada

    Rotate them
    atomically

    Acceptance
      tests pass

    Comments
      ada just now: on it

    Decisions
      Rotate on every use

    Blockers
      Blocked by the key store?

    Questions
      How long is the grace period?

    Test scenarios
      Two refreshes at once

    Next steps
      Cover clock skew
    ");
    let bridge = &issues(&env, &["show", &id])["bridge"];
    for key in ["decisions", "test_scenarios", "handoffs", "next_steps", "blockers", "questions"] {
        assert_eq!(bridge[key].as_array().map(Vec::len), Some(1), "{key}: {bridge}");
    }
}

#[test]
fn an_issue_is_known_by_the_beginning_of_its_id() {
    let env = built_in();
    let (one, two) = (create(&env, &["One"]), create(&env, &["Two"]));
    assert_eq!(issues(&env, &["show", &one[..one.len() - 1]])["id"].as_str(), Some(&*one));
    let mut both = [one, two];
    both.sort();
    let refused = run(&env, &["show", "hl"]);
    assert!(refused.stderr.contains(&format!("hl could mean {}", both.join(", "))), "{refused}");
}

#[test]
fn a_word_that_is_none_brings_the_one_that_was_meant() {
    let env = built_in();
    let id = create(&env, &["T"]);
    insta::assert_snapshot!(run(&env, &["update", &id, "--status", "in_progres"]), @"
    ------- stderr -------
    error: invalid value 'in_progres' for '--status <STATUS>': did you mean in_progress? it has to be one of open, in_progress, blocked, deferred, closed
    hint: `heirloom issues update --help` shows how it is used
    [exit 64]
    ");
    insta::assert_snapshot!(run(&env, &["update", &id, "--priority", "high"]), @"
    ------- stderr -------
    error: invalid value 'high' for '--priority <P0-P4>': it has to be a number from 0 (most urgent) to 4
    hint: `heirloom issues update --help` shows how it is used
    [exit 64]
    ");
    insta::assert_snapshot!(run(&env, &["update", &id]), @"
    ------- stderr -------
    error: nothing to change
    hint: give a field to change, for example --status or --priority; --help lists all
    [exit 64]
    ");
}

#[test]
fn what_was_done_before_a_failure_is_said() {
    let env = built_in();
    let (one, two) = (create(&env, &["One"]), create(&env, &["Two"]));
    issues(&env, &["update", &two, "--claim", "--actor", "bob"]);
    let refused = run(&env, &["update", &one, &two, "--claim"]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains(&format!("hint: done before that: {one}\n")), "{refused}");
    // But an id that is none keeps anything from being done.
    let refused = run(&env, &["close", &one, "hl-none"]);
    assert!(!refused.stderr.contains("done before that"), "{refused}");
    assert_eq!(issues(&env, &["show", &one])["status"], "in_progress");
}

#[test]
fn no_secret_of_an_issue_gets_into_the_ledger() {
    let env = built_in();
    let secret = format!("AKIA{}", "Q3EGLVQ7JKXB4T2M");
    let id = create(&env, &["Rotate", "-d", &format!("the key {secret} leaked")]);
    issues(&env, &["comment", &id, &secret]);
    let shown = run(&env, &["show", &id]).stdout;
    assert!(!shown.contains(&secret) && shown.contains("[redacted:"), "{shown}");
}

#[test]
fn worktrees_of_one_repository_share_its_issues() {
    let env = built_in();
    let id = create(&env, &["T"]);
    let other = env.repo().with_file_name("payments-fix");
    env.git(&["worktree", "add", "-q", "-b", "fix", other.to_str().unwrap()]);
    let listed = env.run_in(&other, &["issues", "list", "--json"]).success().json();
    assert_eq!(super::ids(&listed), [id]);
    assert!(env.run(&["ledger", "verify"]).success().stdout.starts_with("ok"));
}

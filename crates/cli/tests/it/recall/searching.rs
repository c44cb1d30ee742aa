use std::fs;

use super::{env, results};
use crate::capture;

#[test]
fn a_directory_is_asked_for_as_people_call_it_though_agents_name_files_from_the_root() {
    let env = capture::env();
    fs::write(capture::transcript(&env), capture::day(&env)).unwrap();
    env.run(&["init", "--yes", "--agent", "claude"]).success();
    let found = results(&env, &["parser", "--path", "src"]);
    assert_eq!(
        (&found[0]["kind"], &found[0]["event"]),
        (&"tool_use".into(), &4.into()),
        "{found:?}"
    );
    assert!(results(&env, &["parser", "--path", "lib"]).is_empty());
}

#[test]
fn what_was_asked_answered_and_done_in_a_launched_session_is_found() {
    let env = env();
    env.run(&["launch", "Why does production starve at night?", "--name", "night"]).success();
    let found = results(&env, &["ceiling"]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["kind"], "message");
    assert_eq!(found[0]["role"], "assistant");
    assert_eq!(found[0]["session"], "night");
    assert_eq!(found[0]["agent"], "claude");
    assert_eq!(found[0]["snippet"], "The backoff has no ceiling, so the sqlite queue starves.");
    assert_eq!(found[0]["highlights"], serde_json::json!([[19, 26]]));
    assert_eq!(results(&env, &["prod night"])[0]["role"], "user");
    assert_eq!(results(&env, &["fetch invoices"])[0]["role"], "assistant");
    assert_eq!(results(&env, &["retry", "--tool", "read"])[0]["kind"], "tool_use");
    assert_eq!(results(&env, &["backoff", "--role", "tool"])[0]["kind"], "tool_result");
    assert_eq!(results(&env, &["retry", "--path", "src/billing"])[0]["kind"], "tool_use");
    assert!(results(&env, &["backoff", "--agent", "codex"]).is_empty());
    assert!(results(&env, &["backoff", "--branch", "other"]).is_empty());
    assert!(results(&env, &["backoff", "--until", "2020-01-01"]).is_empty());
}

#[test]
fn a_quote_is_word_for_word() {
    let env = env();
    env.run(&["launch", "look", "--name", "night"]).success();
    assert_eq!(results(&env, &["\"has no ceiling\""]).len(), 1);
    assert!(results(&env, &["\"ceiling has no\""]).is_empty());
}

#[test]
fn a_slip_is_forgiven_and_said() {
    let env = env();
    env.run(&["launch", "look", "--name", "night"]).success();
    let ran = env.run(&["search", "sqllite"]).success();
    assert!(ran.stdout.contains("sqlite queue"), "{ran}");
    assert_eq!(ran.stderr, "hint: no matches for \"sqllite\"; showing \"sqlite\" instead\n");
    let ran = env.run(&["search", "kangaroo"]).success();
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.contains("no matches"), "{ran}");
}

#[test]
fn a_secret_is_neither_found_nor_shown() {
    let env = env();
    env.run(&["launch", "look", "--name", "night"]).success();
    let found = results(&env, &["backoff doubles"]);
    assert!(!format!("{found:?}").contains("4eC39HqLyjWDarjtT1zdp7dc"), "{found:?}");
    assert!(results(&env, &["4eC39HqLyjWDarjtT1zdp7dc"]).is_empty());
}

#[test]
fn a_decision_comes_before_what_was_only_said_and_a_replaced_one_after_it() {
    let env = env();
    env.run(&["launch", "look", "--name", "night"]).success();
    env.run(&[
        "note",
        "decision",
        "The backoff gets a ceiling of one minute",
        "--because",
        "queues starve",
    ])
    .success();
    let found = results(&env, &["backoff ceiling"]);
    assert_eq!(found[0]["kind"], "decision");
    assert_eq!(found[0]["rationale"], "queues starve");
    assert_eq!(found[1]["kind"], "message");
    let id = found[0]["id"].as_str().unwrap().to_owned();
    env.run(&[
        "note",
        "decision",
        "The ceiling of the backoff is ten seconds",
        "--supersedes",
        &id,
    ])
    .success();
    let found = results(&env, &["backoff ceiling", "--kind", "decision"]);
    assert_eq!(found[0]["text"], "The ceiling of the backoff is ten seconds");
    assert_eq!(found[1]["superseded_by"], found[0]["id"]);
}

#[test]
fn places_are_shown_by_session_and_opened_with_what_was_said_around_them() {
    let env = env();
    env.run(&["launch", "look", "--name", "night"]).success();
    let ran = env.run(&["search", "backoff"]).success();
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(lines[0].starts_with("night ") && lines[0].contains("claude"), "{ran}");
    assert_eq!(lines.len(), 3, "one line for the session, one for each place: {ran}");
    let ran = env.run(&["search", "ceiling", "--open"]).success();
    assert!(ran.stdout.contains("backoff doubles") && ran.stdout.contains("no ceiling"), "{ran}");
    let found = results(&env, &["ceiling", "--context", "1"]);
    assert_eq!(found[0]["context"].as_array().unwrap().len(), 2, "{found:?}");
}

#[test]
fn other_repositories_are_a_persons_to_search_unless_they_let_agents() {
    let env = env();
    env.run(&["note", "learning", "Tokens expire"]).success();
    env.run(&["search", "tokens", "--all-repos"]).success();
    let as_agent = |env: &heirloom_testkit::env::TestEnv| {
        let mut command = env.command(&["search", "tokens", "--all-repos", "--json"]);
        let output = command.env("HEIRLOOM_TEST_LINE", "bash|claude").output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, answer) = as_agent(&env);
    assert_eq!(code, Some(1), "{answer}");
    assert!(answer.contains("only a person may look into other repositories"), "{answer}");
    let root = env.repo();
    let root = root.parent().unwrap().display();
    env.write_user(&format!("trust: {{paths: [{root}]}}\nrecall: {{agents: all}}\n"));
    assert_eq!(as_agent(&env).0, Some(0));
    env.write(".heirloom/config.yaml", "recall: {agents: all}\n");
    env.write_user(&format!("trust: {{paths: [{root}]}}\n"));
    assert_eq!(as_agent(&env).0, Some(1), "a repository has no say in it");
}

#[test]
fn what_was_said_to_an_agent_that_keeps_its_file_beside_the_work_is_found_from_elsewhere() {
    let env = crate::env();
    env.run(&["init", "--yes"]).success();
    let history = ".aider.chat.history.md";
    env.write(history, "# aider chat started at 2026-01-12 15:00:00\n\n#### tame the wallaby\n");
    let here = env.run(&["search", "wallaby", "--json"]).success().json();
    assert_eq!(here["results"].as_array().unwrap().len(), 1, "{here}");
    let other = env.repo().with_file_name("other");
    std::fs::create_dir(&other).unwrap();
    let found = |word: &str| {
        let found = env.run_in(&other, &["search", word, "--all-repos", "--json"]).success().json();
        found["results"].as_array().unwrap().len()
    };
    assert_eq!((found("wallaby"), found("quokka")), (1, 0));
    // It grew since, and is read where it is.
    let more = "# aider chat started at 2026-01-12 15:00:00\n\n#### tame the wallaby\n\n#### feed the quokka\n";
    env.write(history, more);
    assert_eq!((found("wallaby"), found("quokka")), (1, 1));
    std::fs::remove_file(env.repo().join(history)).unwrap();
    assert_eq!((found("wallaby"), found("quokka")), (0, 0));
}

#[test]
fn a_message_that_is_near_several_places_is_shown_once_and_a_tool_with_its_command() {
    let env = capture::env();
    fs::write(capture::transcript(&env), capture::day(&env)).unwrap();
    env.run(&["init", "--yes", "--agent", "claude"]).success();
    let found = env.run(&["search", "parser", "--context", "2"]).success().stdout;
    let times = |said: &str| found.lines().filter(|line| line.contains(said)).count();
    for once in ["nested ... ok", "git commit -am parser", "accept nested lists", "and the docs"] {
        assert_eq!(times(once), 1, "{once}: {found}");
    }
    assert!(times("Bash cargo test") > 0, "{found}");
    let opened = env.run(&["search", "FAILED", "--open"]).success().stdout;
    assert!(opened.contains("Bash cargo test"), "{opened}");
}

#[test]
fn a_time_is_given_to_a_flag_in_the_words_that_a_query_takes() {
    let env = capture::env();
    fs::write(capture::transcript(&env), capture::day(&env)).unwrap();
    env.run(&["init", "--yes", "--agent", "claude"]).success();
    let is_found = |flags: &[&str]| !results(&env, &[&["parser"], flags].concat()).is_empty();
    // It was said on 10 January 2026, two days ago.
    assert!(is_found(&["--since", "early January", "--until", "mid January"]));
    assert!(is_found(&["--since", "early 2026"]) && is_found(&["--since", "last week"]));
    assert!(is_found(&["--since", "2026-01-10", "--until", "2026-01-10"]));
    assert!(!is_found(&["--until", "late October"]) && !is_found(&["--until", "mid 2025"]));
    assert!(is_found(&["--since", "20260110", "--until", "2026-01-10T23:00:00"]));
    // A Saturday.
    assert!(is_found(&["--since", "friday"]) && !is_found(&["--since", "sunday"]));
    assert!(!is_found(&["--since", "yesterday"]));
    let wrong = env.run(&["search", "parser", "--since", "it may fail"]);
    assert_eq!(wrong.code, 64, "{wrong}");
    assert!(wrong.stderr.contains("`it may fail` is not a time"), "{wrong}");
    assert!(wrong.stderr.contains("\"late October\""), "{wrong}");
}

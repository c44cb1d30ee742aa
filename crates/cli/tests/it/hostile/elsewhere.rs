//! An agent that looks into repositories it does not work in.

use heirloom_testkit::env::{Ran, TestEnv};

/// A repository with a session, and another beside it, with one that holds something.
fn two() -> (TestEnv, String) {
    let env = crate::env();
    let other = env.repo().with_file_name("other");
    std::fs::create_dir(&other).unwrap();
    env.run_in(&other, &["launch", "the canary sings", "--agent", "sim", "--name", "theirs"])
        .success();
    let shown = env.run_in(&other, &["sessions", "show", "theirs", "--json"]).success().json();
    env.run(&["launch", "go", "--agent", "sim", "--name", "ours"]).success();
    (env, shown["id"].as_str().unwrap().to_owned())
}

fn refused(ran: &Ran, what: &[&str]) {
    assert_eq!(ran.code, 1, "{what:?}: {ran}");
    let told = format!("{}{}", ran.stdout, ran.stderr);
    assert!(told.contains("only a person may look into other repositories"), "{what:?}: {ran}");
    assert!(told.contains("recall.agents"), "it says what would let it: {what:?}: {ran}");
    assert!(!told.contains("canary"), "{what:?}: {ran}");
}

#[test]
fn an_agent_sees_no_session_of_another_repository() {
    let (env, id) = two();
    env.write(".heirloom/config.yaml", "requirements: {plan: {}}\n");
    let id = id.as_str();
    let commands = [
        &["sessions", "list", "--all-repos"][..],
        &["sessions", "show", id],
        &["conversation", id],
        &["lineage", id],
        &["inherit", id],
        &["status", id],
        &["archive", "show", id],
        &["search", "canary", "--session", id],
        &["search", "canary", "--all-repos"],
        &["search", "canary", "--repo", "../other"],
        &["search", "canary", "--repo", "../nowhere"],
        &["usage", "--all-repos"],
        &["usage", "--by", "repo"],
        &["approvals", "list", "--all-repos"],
        &["resume", "canary", "--json"],
        &["continue", id, "tell me"],
        &["fork", id, "tell me"],
        &["recover", "1", "--session", id],
        &["ledger", "export"],
        &["ledger", "backup", "copy.db"],
        &["req", "status", "--session", id],
        &["req", "satisfy", "plan", "--session", id, "--reason", "x"],
        &["notes", "--session", id],
        &["sessions", "stop", id],
        &["sessions", "hide", id],
        &["sessions", "distill", id],
        &["interrupt", id],
        &["watch", id],
        &["config", "save-template", id, "t"],
    ];
    let env = env.var("HEIRLOOM_TEST_LINE", "sh|claude -p x|bash");
    for command in commands {
        refused(&env.run(command), command);
        let json: Vec<&str> = command.iter().copied().chain(["--json"]).collect();
        if !command.contains(&"--json") {
            refused(&env.run(&json), &json);
        }
    }
    // Its own repository is open to it, also by the whole id and from another place in it.
    for command in [
        &["sessions", "list"][..],
        &["sessions", "show", "ours"],
        &["conversation", "ours"],
        &["usage"],
        &["search", "go"],
        &["inherit", "ours"],
    ] {
        env.run(command).success();
    }
    let listed = env.run(&["resume", "--json"]).success();
    assert!(!listed.stdout.contains("canary"), "{listed}");
    env.write_user("recall: {agents: all}\n");
    env.run(&["conversation", id]).success();
    let all = env.run(&["sessions", "list", "--all-repos"]).success();
    assert!(all.stdout.contains("theirs"), "{all}");
}

#[test]
fn a_person_sees_every_repository() {
    let (env, id) = two();
    let all = env.run(&["sessions", "list", "--all-repos"]).success();
    assert!(all.stdout.contains("theirs") && all.stdout.contains("ours"), "{all}");
    assert!(env.run(&["conversation", &id]).success().stdout.contains("canary"));
    env.run(&["usage", "--by", "repo"]).success();
    env.run(&["ledger", "export"]).success();
}

#[test]
fn an_agent_takes_no_note_of_another_repository_away() {
    let (env, _) = two();
    let other = env.repo().with_file_name("other");
    env.run_in(&other, &["note", "decision", "keep the canary"]).success();
    let notes = env.run_in(&other, &["notes", "--json"]).success().json();
    let id = notes["notes"][0]["id"].as_str().unwrap().to_owned();
    let env = env.var("HEIRLOOM_TEST_LINE", "sh|claude -p x|bash");
    let replace = ["note", "decision", "eat it", "--supersedes", &id];
    refused(&env.run(&replace), &replace);
    env.run_in(&other, &replace).success();
}

#[test]
fn an_agent_that_says_it_is_another_conversation_sees_nothing_of_it() {
    let (env, id) = two();
    let other = env.repo().with_file_name("other");
    env.run_in(&other, &["note", "decision", "keep the canary", "--session", &id]).success();
    let shown = env.run_in(&other, &["sessions", "show", &id, "--json"]).success().json();
    let theirs = shown["agent_session_id"].as_str().unwrap().to_owned();
    let env =
        env.var("HEIRLOOM_TEST_LINE", "sh|claude -p x|bash").var("CLAUDE_CODE_SESSION_ID", theirs);
    for command in [&["recover", "1"][..], &["recover", "3"], &["checkpoint", "--dry-run"]] {
        let ran = env.run(command);
        assert!(!ran.stdout.contains("canary"), "{command:?}: {ran}");
    }
    // What it notes stays where it works.
    env.run(&["note", "learning", "seeds are food"]).success();
    let there = env.run_in(&other, &["notes"]).success();
    assert!(there.stdout.contains("canary") && !there.stdout.contains("seeds"), "{there}");
}

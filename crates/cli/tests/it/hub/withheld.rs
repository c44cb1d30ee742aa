//! What never leaves.

use heirloom_testkit::env::TestEnv;

use super::{Team, note, notes, pull, push, session_of};

const CANARY: &str = "kanarienvogel";

fn said(what: &str) -> String {
    format!("{CANARY} in a {what}")
}

/// An agent that fails a command, keeps a to-do and says the prompt back as a title.
fn agent(env: &TestEnv) {
    let script =
        "#!/bin/sh\ncat >/dev/null\necho \"$1: kanarienvogel in a failing command\" >&2\nexit 1\n";
    let path = env.script("agent.sh", script);
    env.write(
        ".heirloom/config.yaml",
        &format!("agents: {{command: {{command: [{}]}}}}\n", path.display()),
    );
}

#[test]
fn no_byte_of_a_prompt_a_title_a_rule_a_command_or_a_to_do_reaches_the_hub() {
    let team = Team::new();
    let env = &team.owner;
    agent(env);
    env.run(&["launch", "--agent", "command", "--name", "secretive", &said("prompt")]);
    // What people drive by hand, with its title, its to-dos, its rules and what failed.
    let transcript = crate::capture::transcript(env);
    let day = crate::capture::day(env).replace("nested lists", &said("transcript"));
    std::fs::write(&transcript, day).unwrap();
    env.run(&["sync", "--agent", "claude"]).success();
    env.run(&["checkpoint", "--for", "compact"]);
    note(env, "this may travel");
    let ledger = std::fs::read(env.home().join("ledger.db")).unwrap();
    let wal = std::fs::read(env.home().join("ledger.db-wal")).unwrap_or_default();
    let is_in = |bytes: &[u8]| bytes.windows(CANARY.len()).any(|at| at == CANARY.as_bytes());
    assert!(is_in(&ledger) || is_in(&wal), "nothing was recorded that could leak");
    push(env);
    let dump = team.postgres.dump();
    assert!(dump.contains("this may travel"), "{dump}");
    assert!(!dump.contains(CANARY), "it leaked");
}

#[test]
fn what_a_session_handed_over_reaches_colleagues_without_a_word_that_was_said() {
    let team = Team::new();
    let ada = team.colleague("ada");
    let env = &team.owner;
    let mut process = crate::handing_over::agent();
    let hook = |event: &str, fields: serde_json::Value| {
        crate::handing_over::hook(env, event, crate::capture::ID, process.id(), &fields)
    };
    hook("SessionStart", serde_json::json!({"source": "startup"}));
    let day = crate::capture::day(env)
        .replace("and the docs", &format!("never push to {}", said("rule")))
        .replace("canaryinthecoalmine", &said("prompt"))
        .replace("cargo test", &said("command"))
        .replace("error: test failed", &said("failure"))
        .replace(r#"false,"content":"test parser"#, r#"true,"content":"Exit code 101\ntest parser"#)
        .replace("write the docs", &said("to-do"))
        .replace("Nested lists in the parser", &said("title"))
        .replace("nested lists", &said("commit"));
    std::fs::write(crate::capture::transcript(env), day).unwrap();
    hook("Stop", serde_json::json!({}));
    hook("SessionEnd", serde_json::json!({"reason": "other"}));
    let _ = process.kill();
    let _ = process.wait();
    let own = env.run(&["handoffs", "show", "--json"]).success();
    for what in ["rule", "prompt", "command", "to-do"] {
        assert!(own.stdout.contains(&said(what)), "nothing could leak: {what}: {own}");
    }
    let list = |env: &TestEnv| env.run(&["handoffs", "list", "--json"]).success().json();
    let before = list(env);
    push(env);
    assert_eq!(list(env), before, "what is told to others is not handed over once more");
    let dump = team.postgres.dump();
    assert!(dump.contains("keep.handoff_shared"), "{dump}");
    assert!(!dump.contains(CANARY), "it leaked");
    pull(&ada);
    let listed = list(&ada);
    let handed = &listed["handoffs"][0];
    assert_eq!((&handed["author"], &handed["commits"]), (&"owner".into(), &1.into()), "{listed}");
    let desktop = team.clone_of_it();
    desktop.run(&["hub", "join", &team.postgres.owner(), "--yes"]).success();
    pull(&desktop);
    let listed = list(&desktop);
    let handed = &listed["handoffs"][0];
    assert_eq!(
        (&handed["author"], &handed["commits"]),
        (&serde_json::Value::Null, &1.into()),
        "{listed}"
    );
    let id = handed["id"].as_str().unwrap();
    let shown = ada.run(&["handoffs", "show", id]).success();
    assert!(shown.stdout.contains("by owner"), "{shown}");
    // A title that a person gives is theirs to give.
    env.run(&["sessions", "update", crate::capture::ID, "--title", "the parser, for all"])
        .success();
    push(env);
    pull(&ada);
    let sessions = ada.run(&["sessions", "list", "--team"]).success();
    assert!(sessions.stdout.contains("the parser, for all"), "{sessions}");
    assert!(!team.postgres.dump().contains(CANARY), "it leaked");
}

#[test]
fn a_private_session_is_withheld_with_all_that_come_from_it_and_the_chain_stays_whole() {
    let team = Team::new();
    let ada = team.colleague("ada");
    note(&team.owner, "said in private");
    let session = session_of(&team.owner, "said in private");
    team.owner.run(&["sessions", "private", &session]).success();
    note(&team.owner, "after");
    let pushed = push(&team.owner);
    let why = &pushed["withheld"][0]["why"];
    assert_eq!(why, "its session is private", "{pushed}");
    assert!(!team.postgres.dump().contains("said in private"));
    team.owner.run(&["sessions", "private", &session, "--off"]).success();
    note(&team.owner, "shared again");
    push(&team.owner);
    pull(&ada);
    assert_eq!(notes(&ada), ["shared again"]);
    ada.run(&["ledger", "verify"]).success();
}

#[test]
fn what_is_too_large_is_withheld_and_named_and_stops_nothing() {
    let team = Team::new();
    let ada = team.colleague("ada");
    team.postgres.sql("hub", "UPDATE heirloom.meta SET largest_body = 600");
    note(&team.owner, &"long ".repeat(200));
    note(&team.owner, "short");
    let pushed = push(&team.owner);
    assert_eq!(pushed["withheld"][0]["why"], "it is too large for the hub");
    let status = team.owner.run(&["hub", "status", "--json"]).success().json();
    assert_eq!(status["withheld_count"], 1, "{status}");
    pull(&ada);
    assert_eq!(notes(&ada), ["short"]);
    ada.run(&["ledger", "verify"]).success();
}

#[test]
fn joining_shows_what_would_be_sent_and_sends_nothing_from_before() {
    let team = Team::new();
    let url = team.invite("ada");
    let ada = team.clone_of_it();
    note(&ada, "from before");
    let refused = ada.run(&["hub", "join", &url]);
    assert_eq!(refused.code, 1);
    assert!(
        refused.stderr.contains("1  note.added") && refused.stderr.contains("from before"),
        "{refused}"
    );
    assert_eq!(ada.run(&["hub", "push"]).code, 1, "nothing was joined");
    ada.run(&["hub", "join", &url, "--yes"]).success();
    assert_eq!(push(&ada)["withheld"], serde_json::json!([]));
    assert!(!team.postgres.dump().contains("from before"));
    ada.run(&["hub", "leave"]).success();
    // The place where it stands is the hub's: joining again does not move it.
    ada.run(&["hub", "join", &url, "--yes"]).success();
    push(&ada);
    assert!(!team.postgres.dump().contains("from before"));
}

#[test]
fn a_history_can_be_sent_after_a_join_and_everybody_follows_it() {
    let team = Team::new();
    let url = team.invite("ada");
    let ada = team.clone_of_it();
    note(&ada, "from before");
    ada.run(&["hub", "join", &url, "--yes"]).success();
    note(&ada, "from after");
    push(&ada);
    pull(&team.owner);
    assert_eq!(notes(&team.owner), ["from after"]);
    ada.run(&["hub", "join", &url, "--yes", "--history"]).success();
    // Once is enough.
    assert_eq!(ada.run(&["hub", "join", &url, "--yes", "--history"]).code, 1);
    note(&ada, "and later");
    push(&ada);
    // Somebody who saw the first part, and somebody who saw nothing yet.
    let bob = team.colleague("bob");
    for reader in [&team.owner, &bob] {
        pull(reader);
        assert_eq!(notes(reader), ["from before", "from after", "and later"]);
        reader.run(&["ledger", "verify"]).success();
    }
}

#[test]
fn an_agent_shares_nothing() {
    let team = Team::new();
    let agent = team.clone_of_it().var("HEIRLOOM_TEST_LINE", "bash|claude|bash");
    for arguments in [&["hub", "join", "postgresql://a@localhost/x", "--yes"][..], &["hub", "push"]]
    {
        let refused = agent.run(arguments);
        assert_eq!(refused.code, 1);
        assert!(refused.stderr.contains("only a person may share with a team"), "{refused}");
    }
}

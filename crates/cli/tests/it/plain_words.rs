//! What is wrong is said in words that anybody understands, with a next step that is true.

use heirloom_testkit::env::TestEnv;

use crate::env;

#[test]
fn nobody_looks_for_nothing_or_notes_it() {
    let env = env();
    for arguments in [
        &["search", ""][..],
        &["search", "  \t"],
        &["how", ""],
        &["why", " "],
        &["resume", ""],
        &["note", "decision", ""],
        &["note", "decision", "Use RS256", "--because", " "],
        &["issues", "create", ""],
        &["issues", "comment", "hl-1", " "],
        &["recover", "2", "--query", ""],
        &["rules", "keep", ""],
        &["fork-check", "--claim", ""],
    ] {
        let ran = env.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (64, ""), "{arguments:?}: {ran}");
        assert!(ran.stderr.contains(": it is blank\n"), "{arguments:?}: {ran}");
        assert!(ran.stderr.contains("--help` shows how it is used"), "{arguments:?}: {ran}");
    }
    let ran = env.run(&["launch", " ", "--agent", "sim"]);
    assert!(ran.code == 64 && ran.stderr.contains("--prompt-file FILE"), "{ran}");
    let error = env.run(&["search", "", "--json"]).json()["error"].clone();
    assert_eq!(error["code"], "usage", "{error}");
}

#[test]
fn a_command_that_does_something_by_itself_is_shown_without_a_word_that_must_be_there() {
    let env = env();
    for name in ["sessions", "issues", "runs", "config", "ledger", "approvals", "rules", "hub"] {
        let help = env.run(&[name, "--help"]).success().stdout;
        assert!(help.contains(&format!("Usage: heirloom {name} [OPTIONS] [COMMAND]")), "{help}");
    }
    let help = env.run(&["import", "--help"]).success().stdout;
    assert!(help.contains("<COMMAND>"), "{help}");
}

#[test]
fn a_number_that_cannot_be_is_refused_with_the_reason() {
    let env = env();
    for (arguments, reason) in [
        (&["work", "--max-cost", "-1"][..], "'-1' for '--max-cost': it cannot be negative"),
        (&["work", "--max-time", "-5m"], "'-5m' for '--max-time': it cannot be negative"),
        (&["work", "--max-cost=-1"], "it has to be an amount of US dollars above 0, such as 5"),
        (&["work", "--max-cost", "nan"], "it has to be an amount of US dollars above 0"),
        (&["run", "ralph", "auth", "-3"], "invalid value '-3': it cannot be negative"),
        (&["search", "x", "--limit=-2"], "it cannot be negative"),
        (&["search", "x", "--limit", "-2"], "'-2' for '--limit': it cannot be negative"),
        (&["search", "x", "--limit", "two"], "it has to be a whole number"),
        (&["notes", "--limit", "0"], "it has to be at least 1"),
        (&["sessions", "--limit", "0"], "it has to be at least 1"),
        (&["work", "--max-time", "soon"], "is not a duration, such as 90s, 10m or 1h30m"),
    ] {
        let ran = env.run(arguments);
        assert_eq!(ran.code, 64, "{ran}");
        assert!(ran.stderr.contains(reason), "{arguments:?}: {ran}");
        assert!(!ran.stderr.contains("unexpected argument"), "{arguments:?}: {ran}");
    }
}

#[test]
fn an_agent_that_does_not_exist_is_refused_wherever_one_is_named() {
    let env = env();
    env.run(&["init", "--yes"]);
    for arguments in [
        &["search", "tokens", "--agent", "claud"][..],
        &["sync", "--agent", "claud"],
        &["init", "--agent", "claud"],
        &["launch", "go", "--agent", "claud"],
        &["run", "ralph", "auth", "--agent", "claud"],
        &["work", "--agent", "claud"],
        &["work", "--review", "claud"],
        &["resume", "tokens", "--with", "claud"],
        &["continue", "auth", "go", "--with", "claud"],
    ] {
        let ran = env.run(arguments);
        assert_eq!(ran.code, 64, "{arguments:?}: {ran}");
        assert!(ran.stderr.contains("error: invalid value 'claud' for '--"), "{ran}");
        assert!(ran.stderr.contains("[possible values: claude, codex, "), "{ran}");
        assert!(ran.stderr.contains("hint: a similar value exists: 'claude'"), "{ran}");
        let json = env.run(&[arguments, &["--json"]].concat()).json();
        assert_eq!(json["error"]["code"], "agent.unknown", "{arguments:?}");
    }
    // Conversations of some agents are only read.
    env.run(&["search", "tokens", "--agent", "cursor"]).success();
    assert_eq!(env.run(&["launch", "go", "--agent", "cursor"]).code, 64);
}

#[test]
fn a_repository_that_nobody_knows_is_named_and_one_by_its_path_from_here_is_found() {
    let env = env();
    env.run(&["init", "--yes"]).success();
    env.run(&["note", "decision", "Rotate tokens"]).success();
    let ran = env.run(&["search", "tokens", "--repo", "nowhere"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran}");
    assert!(ran.stderr.contains("no repository nowhere is known"), "{ran}");
    assert!(ran.stderr.contains("`heirloom repo` prints them"), "{ran}");
    let key = env.run(&["repo", "--json"]).success().json()["key"].clone();
    let path = env.repo().display().to_string();
    for repo in [".", &path, key.as_str().unwrap()] {
        let found = env.run(&["search", "tokens", "--repo", repo]).success();
        assert!(found.stdout.contains("Rotate tokens"), "{repo}: {found}");
    }
}

#[test]
fn what_enforces_requirements_again_is_said_so_that_it_does() {
    let env = env();
    env.write(".heirloom/config.yaml", "requirements: {plan: {scope: session}}\n");
    env.run(&["init", "--yes"]).success();
    env.run(&["launch", "go", "--name", "auth", "--agent", "sim"]).success();
    let said = env.run(&["req", "pause", "--session", "auth"]).success().stdout;
    let command = said.split('`').nth(1).unwrap().strip_prefix("heirloom ").unwrap();
    env.run(&command.split(' ').collect::<Vec<_>>()).success();
    let status = env.run(&["req", "status", "--session", "auth"]).success().stdout;
    assert!(!status.contains("paused"), "{status}");
}

#[test]
fn a_pipeline_is_shown_with_the_agent_that_would_run_it() {
    let env = env();
    env.write(".heirloom/config.yaml", "agent: sim\n");
    env.run(&["init", "--yes"]).success();
    let shown = env.run(&["pipelines", "show", "bug-hunt"]).success().stdout;
    let would = env.run(&["run", "bug-hunt", "hunt", "--dry-run"]).success().stdout;
    let line = |text: &str| text.lines().find(|line| line.contains("discover")).map(str::to_owned);
    assert!(line(&shown).is_some_and(|line| line.contains("sim ·")), "{shown}");
    assert_eq!(line(&shown), line(&would));
}

#[test]
fn what_was_said_around_a_match_is_shown_where_it_is_asked_for() {
    let env = env();
    env.run(&["launch", "rotate the tokens", "--name", "auth", "--agent", "sim"]).success();
    let lines = |context: &str| {
        let found = env.run(&["search", "rotate the tokens", "--context", context]).success();
        assert!(found.stdout.contains("prompt      rotate the tokens"), "{found}");
        found.stdout.lines().count()
    };
    assert!(lines("1") > lines("0"));
}

#[test]
fn an_empty_list_is_empty_in_a_pipe_and_says_why_beside_it() {
    let env = env();
    env.run(&["init", "--yes"]);
    for arguments in [
        &["runs"][..],
        &["req", "log"],
        &["config", "templates"],
        &["sessions", "list", "--all-repos"],
        &["usage", "--all-repos"],
        &["issues"],
        &["notes"],
        &["handoffs"],
        &["rules"],
        &["approvals"],
        &["archive"],
    ] {
        let ran = env.run(arguments).success();
        assert_eq!(ran.stdout, "", "{arguments:?}");
        assert!(ran.stderr.starts_with("hint: no"), "{arguments:?}: {ran}");
    }
    let everywhere = env.run(&["usage", "--all-repos"]).stderr;
    assert_eq!(everywhere, "hint: no agent has worked yet\n");
    let ran = env.run(&["runs", "show"]);
    assert!(ran.stderr.contains("hint: `heirloom work` works through"), "{ran}");
}

#[test]
fn what_is_not_listed_is_not_suggested() {
    let ran = env().run(&["nope"]);
    assert_eq!(ran.code, 64, "{ran}");
    assert!(ran.stderr.contains("'note'") && !ran.stderr.contains("complete"), "{ran}");
}

#[test]
fn a_switch_is_on_or_off_as_in_the_settings() {
    let env = env();
    env.run(&["launch", "go", "--name", "auth", "--agent", "sim"]).success();
    let accepts = |value: &str| {
        env.run(&["sessions", "update", "auth", "--auto-accept", value]).success();
        let config = env.run(&["sessions", "show", "auth", "--config", "--json"]).json();
        config["config"]["auto_accept_edits"]["value"].clone()
    };
    assert_eq!(accepts("on"), true);
    assert_eq!(accepts("off"), false);
    let ran = env.run(&["sessions", "update", "auth", "--auto-accept-edits", "perhaps"]);
    assert!(ran.code == 64 && ran.stderr.contains("it has to be on or off"), "{ran}");
}

#[test]
fn a_file_that_is_no_database_is_said_to_be_none() {
    let env = env();
    env.write("daemon.db", "not a database\n");
    let ran = env.run(&["import", "daemon", "daemon.db"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("daemon.db is not a daemon.db: it has no table"), "{ran}");
    assert!(ran.stderr.contains("hint: the database is usually ~/.humanlayer/daemon.db"), "{ran}");
    let ran = env.run(&["hub", "join", "example.com"]);
    assert!(ran.code == 64 && ran.stderr.contains("postgresql://NAME:PASSWORD@HOST"), "{ran}");
}

#[test]
fn everything_that_is_wrong_with_a_run_is_said_at_once() {
    let env = env();
    env.run(&["run", "ralph", "auth", "1", "--agent", "sim"]);
    let ran = env.run(&["run", "ralph", "auth", "1", "--agent", "sim", "--inherit", "nope"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("session auth already exists"), "{ran}");
    assert!(ran.stderr.contains("--inherit is wrong too: there is no session nope"), "{ran}");
    let alone = env.run(&["run", "ralph", "auth", "1", "--agent", "sim", "--inherit", "auth"]);
    assert!(!alone.stderr.contains("--inherit"), "{alone}");
}

#[test]
fn a_past_conversation_is_listed_by_its_sessions_name() {
    let env = env();
    env.run(&["launch", "rotate the tokens", "--name", "auth-v1", "--agent", "sim"]).success();
    let listed = env.run(&["resume"]).success();
    let row = listed.stdout.lines().find(|line| line.contains("rotate the tokens"));
    assert!(row.is_some_and(|row| row.starts_with("auth-v1  sim")), "{listed}");
    assert!(listed.stderr.contains("heirloom resume NAME"), "{listed}");
    let printed = env.run(&["resume", "auth-v1", "--print"]).success();
    assert!(printed.stdout.contains("continue auth-v1"), "{printed}");
}

#[test]
fn what_is_recovered_has_no_names_of_variants_and_whole_sentences() {
    let env = env();
    env.run(&["note", "next-step", "Allow for clock skew", "--because", "servers drift"]).success();
    env.run(&["note", "decision", "Use RS256!", "--because", "keys rotate"]).success();
    for level in [&["recover", "2", "--query", "clock"][..], &["recover", "3"]] {
        let said = env.run(level).success().stdout;
        assert!(said.contains("- next step 20") && !said.contains("next_step"), "{said}");
        assert!(said.contains("Allow for clock skew. Because: servers drift"), "{said}");
    }
    let said = env.run(&["recover", "3"]).success().stdout;
    assert!(said.contains("Use RS256! Because: keys rotate"), "{said}");
}

#[test]
fn directories_that_are_gone_are_said_to_be() {
    let env = env();
    env.run(&["init", "--yes"]).success();
    env.run(&["note", "decision", "Use RS256"]).success();
    let moved = env.repo().with_file_name("elsewhere");
    std::fs::rename(env.repo(), &moved).unwrap();
    let shown = env.run_in(&moved, &["repo"]).success().stdout;
    let of = |name: &str| shown.lines().find(|line| line.contains(name)).unwrap().to_owned();
    assert!(of("/elsewhere").ends_with("/elsewhere"), "{shown}");
    assert!(of("/payments").ends_with("/payments (missing)"), "{shown}");
}

#[test]
fn who_has_no_agent_is_told_of_the_built_in_one() {
    let env = env().without_agents();
    env.run(&["init", "--yes"]);
    let home = env.run(&[]).success().stdout;
    assert!(home.contains("`--agent sim` tries the built-in one"), "{home}");
}

#[test]
fn a_claim_that_is_not_grounded_comes_with_what_settles_it() {
    let env = env();
    env.run(&["note", "warning", "Keys rotate at midnight"]).success();
    let ran = env.run(&["ground"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("--supersedes ID and --evidence PATH:LINE"), "{ran}");
    let id = ran.stdout.lines().nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    let note = ["note", "warning", "Keys rotate at midnight", "--user-input", "--supersedes", &id];
    env.run(&note).success();
    let ran = env.run(&["ground"]).success();
    assert!(ran.stderr.is_empty(), "{ran}");
}

/// An issue whose last attempt failed.
fn failed() -> (TestEnv, String) {
    let env = env().var("HEIRLOOM_BACKOFF_MS", "1");
    env.write(".heirloom/config.yaml", "agent: sim\n");
    env.run(&["init", "--yes"]).success();
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "set up"]);
    let made = env.run(&["issues", "create", "Rotate tokens", "--json"]).success().json();
    let id = made["id"].as_str().unwrap().to_owned();
    let ran = env.run(&["work", "--agent", "sim", "--gate", "false"]);
    assert_eq!(ran.code, 1, "{ran}");
    (env, id)
}

#[test]
fn an_issue_that_failed_says_so_in_lists() {
    let (env, id) = failed();
    let listed = env.run(&["issues"]).success();
    assert!(listed.stdout.contains("in progress (failed)"), "{listed}");
    let hint = format!("the last attempt at {id} failed; `heirloom work --resume --issue {id}`");
    assert!(listed.stderr.contains(&hint), "{listed}");
    let answer = env.run(&["issues", "--json"]).json();
    let issue = &answer["issues"][0];
    assert_eq!(
        (&issue["status"], &issue["last_attempt"]),
        (&"in_progress".into(), &"failed".into())
    );
    let shown = env.run(&["issues", "show", &id]).success();
    assert!(shown.stdout.contains("in progress (failed)"), "{shown}");
    assert!(shown.stderr.contains(&hint), "{shown}");
    // Whoever opens it again has begun anew.
    env.run(&["issues", "update", &id, "--status", "open"]).success();
    assert!(!env.run(&["issues"]).success().stdout.contains("failed"));
}

#[test]
fn an_issue_of_a_tracker_that_cannot_be_read_is_not_called_closed() {
    let (env, id) = failed();
    env.write(".beads/issues.jsonl", "no json\n");
    let home = env.run(&[]).success();
    assert!(home.stderr.contains("issues could not be read"), "{home}");
    assert!(home.stdout.contains("unknown: the tracker cannot be read"), "{home}");
    assert!(home.stdout.contains(&format!("the last attempt at {id} failed")), "{home}");
    assert!(!home.stdout.contains("closed"), "{home}");
    let answer = env.run(&["--json"]).json();
    assert_eq!(answer["open_issues"], serde_json::Value::Null, "{answer}");
}

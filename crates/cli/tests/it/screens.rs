//! What people see: the home screen, commands given alone, narrow and wide screens.

use heirloom_testkit::env::{Ran, TestEnv};

use crate::env;

/// What heirloom prints on a screen that is so wide.
fn wide(env: &TestEnv, columns: &str, arguments: &[&str]) -> String {
    let output = env.command(arguments).env("COLUMNS", columns).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn with_work() -> TestEnv {
    let env = env();
    let claude = env.script("claude", "#!/bin/sh\n");
    let env = env.var("HEIRLOOM_AGENT_CLAUDE", claude);
    env.run(&["init", "--yes"]).success();
    env.run(&["issues", "create", "Blacklist the refresh token when somebody logs out", "-p", "1"])
        .success();
    env.run(&["note", "decision", "RS256", "--because", "keys rotate"]).success();
    env.run(&["run", "ralph", "auth-v1", "2", "--agent", "sim", "--permissions", "ask"]);
    env
}

#[test]
fn alone_it_says_what_is_going_on_and_what_to_do_next() {
    let env = env();
    let home = env.run(&[]).success();
    assert!(home.stdout.starts_with("payments · main  heirloom "), "{home}");
    assert!(home.stdout.contains("heirloom init"), "{home}");
    let env = with_work();
    let home = env.run(&[]).success();
    for part in
        ["ready", "1 issue, first", "Blacklist the refresh", "memory", "3 decisions", "next"]
    {
        assert!(home.stdout.contains(part), "{part}: {home}");
    }
    let json = env.run(&["--json"]).success().json();
    assert_eq!(json["repo"], "payments");
    assert_eq!(json["is_set_up"], true);
    assert_eq!(json["ready"].as_array().unwrap().len(), 1);
    assert_eq!(json["decisions"], 3);
    assert_eq!(json["next"]["command"], "heirloom work");
}

#[test]
fn outside_a_repository_it_gives_a_short_help() {
    let env = env();
    let outside = env.run_in(&env.user(), &[]).success();
    for part in ["Everyday:", "Sessions:", "Guard:", "init"] {
        assert!(outside.stdout.contains(part), "{part}: {outside}");
    }
    assert!(!outside.stdout.contains("Plumbing:"), "{outside}");
    let json = env.run_in(&env.user(), &["--json"]).success().json();
    assert!(json["repo"].is_null());
    assert!(!env.home().join("ledger.db").exists(), "nothing is made by looking");
}

#[test]
fn a_command_alone_does_the_obvious_and_fails_at_nothing() {
    let env = with_work();
    for name in [
        "sessions",
        "issues",
        "runs",
        "approvals",
        "stages",
        "pipelines",
        "archive",
        "rules",
        "config",
        "context",
        "ledger",
        "req",
        "repo",
        "import",
    ] {
        let ran = env.run(&[name]);
        assert_eq!(ran.code, 0, "{name}: {ran}");
        assert!(!ran.stderr.contains("error:"), "{name}: {ran}");
    }
    let alone = env.run(&["sessions", "--completed"]).success();
    assert_eq!(alone.stdout, env.run(&["sessions", "list", "--completed"]).stdout);
}

#[test]
fn an_empty_list_says_what_there_is_instead() {
    let env = env();
    let none = |ran: Ran| ran.success().stderr;
    assert!(none(env.run(&["sessions"])).contains("no sessions here yet"));
    env.run(&["note", "learning", "one"]).success();
    let running = none(env.run(&["sessions", "--running"]));
    assert_eq!(running, "hint: no session is running; `heirloom sessions` lists 1 other session\n");
    assert!(none(env.run(&["sessions", "--running", "-q"])).is_empty());
    let runs = env.run(&["runs"]).success();
    assert!(runs.stdout.is_empty() && runs.stderr.contains("`heirloom sessions`"), "{runs}");
}

#[test]
fn the_main_screens_fit_sixty_a_hundred_and_a_hundred_and_sixty_columns() {
    let env = with_work();
    for columns in [60, 100, 160] {
        for arguments in
            [&[][..], &["sessions"], &["issues"], &["stages"], &["usage"], &["notes"], &["runs"]]
        {
            let text = wide(&env, &columns.to_string(), arguments);
            for line in text.lines() {
                assert!(line.chars().count() <= columns, "{columns} {arguments:?}: {line}");
            }
        }
    }
}

#[test]
fn on_a_terminal_a_long_answer_goes_through_the_pager_the_person_chose() {
    let env = with_work();
    let pager = env.script("pager.sh", "#!/bin/sh\necho PAGED; sed -n 1p\n");
    let env = env.var("PAGER", pager.to_str().unwrap());
    let (code, shown) = env.terminal(&["config", "show"]).ends();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.starts_with("PAGED\n") && shown.lines().count() == 2, "{shown}");
    // Not what fits the screen, nor where the person wants none.
    let (_, short) = env.terminal(&["config", "path"]).ends();
    assert!(!short.contains("PAGED"), "{short}");
    let (_, whole) = env.terminal(&["config", "show", "--no-pager"]).ends();
    assert!(!whole.contains("PAGED") && whole.lines().count() > 24, "{whole}");
    let env = env.var("HEIRLOOM_PAGER", "cat");
    let (_, whole) = env.terminal(&["config", "show"]).ends();
    assert!(!whole.contains("PAGED") && whole.lines().count() > 24, "{whole}");
    let env = env.var("HEIRLOOM_PAGER", "no-such-pager-anywhere");
    let (code, whole) = env.terminal(&["config", "show"]).ends();
    assert_eq!(code, 0, "{whole}");
    assert!(whole.lines().count() > 24, "an answer is not lost with its pager: {whole}");
}

#[test]
fn doctor_says_when_the_hub_does_not_answer() {
    let env = with_work();
    let hub = |env: &TestEnv| {
        let doctor = env.run(&["doctor", "--json"]).json();
        let checks = doctor["checks"].as_array().unwrap().clone();
        checks.into_iter().find(|check| check["name"] == "hub")
    };
    assert!(hub(&env).is_none(), "nobody joined one");
    let repo = env.run(&["repo", "show", "--json"]).success().json();
    let joined = serde_json::json!({"repos": {repo["key"].as_str().unwrap(): {
        "url": "postgresql://ada:secret@127.0.0.1:1/heirloom?sslmode=disable",
        "host": "0011223344556677", "since": "2026-01-12T15:30:00Z",
    }}});
    std::fs::write(env.home().join("hub.json"), joined.to_string()).unwrap();
    let check = hub(&env).unwrap();
    assert_eq!(check["health"], "problem", "{check}");
    let detail = check["detail"].as_str().unwrap();
    assert!(detail.contains("127.0.0.1:1") && detail.contains("cannot be reached"), "{detail}");
    assert!(!check.to_string().contains("secret"), "{check}");
    assert_eq!(env.run(&["doctor"]).code, 1);
}

#[test]
fn colours_are_for_those_who_want_them() {
    let env = with_work();
    let plain = env.run(&["notes"]).success().stdout;
    assert!(!plain.contains('\u{1b}'), "{plain}");
    let output = env.command(&["notes"]).env("CLICOLOR_FORCE", "1").output().unwrap();
    let coloured = String::from_utf8(output.stdout).unwrap();
    assert!(coloured.contains('\u{1b}'), "{coloured}");
}

#[test]
fn a_locale_without_utf_8_is_answered_in_ascii() {
    let env = with_work();
    let output = env.command(&[]).env("LC_ALL", "C").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("payments - main"), "{text}");
    assert!(text.is_ascii(), "{text}");
}

#[test]
fn a_conversation_that_goes_on_is_paid_for_once() {
    let env = env();
    env.run(&["launch", "say hello", "--name", "auth-v1", "--agent", "sim"]).success();
    let first = env.run(&["usage", "--json"]).success().json()["total"].clone();
    let (cost, input) = (&first["cost_usd"], &first["tokens"]["input"]);
    let (cost, input) = (cost.as_f64().unwrap(), input.as_u64().unwrap());
    let mut name = "auth-v1".to_owned();
    for count in 2..=4_u32 {
        let went_on = env.run(&["continue", &name, "say hello", "--json"]).success().json();
        name = went_on["name"].as_str().unwrap().to_owned();
        let total = env.run(&["usage", "--json"]).success().json()["total"].clone();
        assert_eq!(total["sessions"], count, "{total}");
        // Each of them did the same.
        let expected = cost * f64::from(count);
        assert!((total["cost_usd"].as_f64().unwrap() - expected).abs() < 1e-9, "{count}: {total}");
        assert_eq!(total["tokens"]["input"], input * u64::from(count), "{total}");
    }
}

#[test]
fn the_next_step_helps_where_no_agent_is_and_where_a_setting_is_wrong() {
    let env = env().without_agents();
    env.run(&["init", "--yes"]);
    let next = |env: &TestEnv| env.run(&["--json"]).success().json()["next"].clone();
    assert_eq!(next(&env)["command"], "heirloom agents");
    assert!(env.run(&["agents"]).stdout.contains("install"));
    env.write(".heirloom/config.yaml", "work: [\n");
    let said = next(&env);
    assert_eq!(said["command"], "heirloom doctor", "{said}");
    assert!(said["why"].as_str().unwrap().starts_with(".heirloom/config.yaml:"), "{said}");
    assert!(env.run(&["doctor"]).stdout.contains("not valid YAML"));
}

#[test]
fn usage_counts_what_nobody_knows() {
    let env = with_work();
    let total = &env.run(&["usage", "--json"]).success().json()["total"];
    assert_eq!(total["sessions"], 1, "{total}");
    for by in ["day", "repo", "agent", "model", "issue"] {
        let used = env.run(&["usage", "--by", by, "--json"]).success().json();
        let rows = used["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 1, "{by}: {used}");
        assert_eq!(rows[0]["sessions"], 1, "{by}: {used}");
        let known = rows[0]["cost_usd"].is_number();
        assert_eq!(rows[0]["unknown_sessions"], u64::from(!known), "{by}: {used}");
        for key in ["day", "repo", "agent", "model", "issue", "tokens"] {
            assert!(rows[0].get(key).is_some(), "{by} {key}");
        }
    }
    assert_eq!(env.run(&["usage", "--by", "agent", "--json"]).json()["rows"][0]["agent"], "sim");
    let later = env.run(&["usage", "--since", "2030-01-01", "--json"]).success().json();
    assert_eq!(later["total"]["sessions"], 0);
    assert!(later["total"]["cost_usd"].is_null());
    let wrong = env.run(&["usage", "--since", "someday"]);
    assert_eq!(wrong.code, 64, "{wrong}");
}

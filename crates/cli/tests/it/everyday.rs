//! What somebody meets who uses it every day: what is asked before anything is lost or trusted, what a broken file
//! leaves in force, and lists that say what they leave out.

use heirloom_testkit::env::TestEnv;

use crate::env;

const BROKEN: &str = "checkpoint:\n  mode: [\n";

#[test]
fn forgetting_without_a_terminal_needs_to_be_meant() {
    let env = env();
    env.run(&["launch", "say hello", "--name", "auth-v1", "--agent", "sim"]).success();
    let refused = env.run(&["sessions", "forget", "auth-v1"]);
    assert_eq!(refused.code, 64, "{refused}");
    assert!(refused.stderr.contains("what was said in auth-v1"), "{refused}");
    assert!(refused.stderr.contains("--yes"), "{refused}");
    let shown = env.run(&["sessions", "show", "auth-v1", "--json"]).json();
    assert_eq!(shown["prompt"], "say hello");
    let forgot = env.run(&["sessions", "forget", "auth-v1", "--yes"]).success();
    assert!(
        forgot.stderr.contains("copies made by hand, as with `heirloom ledger backup`"),
        "{forgot}"
    );
}

#[test]
fn a_session_that_was_forgotten_says_so_wherever_it_is_listed_and_is_not_offered() {
    let env = env();
    for name in ["auth-v1", "auth-v2"] {
        env.run(&["launch", "say hello", "--name", name, "--agent", "sim"]).success();
    }
    env.run(&["sessions", "forget", "auth-v1", "--yes"]).success();
    for arguments in [&["sessions", "list"][..], &["sessions", "list", "--all"]] {
        let listed = env.run(arguments).success().stdout;
        let line = |name: &str| listed.lines().find(|line| line.starts_with(name)).unwrap();
        assert!(line("auth-v1").ends_with("(forgotten)"), "{listed}");
        assert!(!line("auth-v2").contains("forgotten"), "{listed}");
        let json = env.run(&[arguments, &["--json"]].concat()).success().json();
        assert_eq!(
            (&json["sessions"][0]["forgotten"], &json["sessions"][1]["forgotten"]),
            (&false.into(), &true.into()),
            "{json}"
        );
    }
    let shown = env.run(&["sessions", "show", "auth-v1"]).success().stdout;
    assert!(shown.contains("what was said in it was deleted"), "{shown}");
    let offered = env.run(&["resume"]).success().stdout;
    assert!(offered.contains("auth-v2") && !offered.contains("auth-v1"), "{offered}");
}

/// A clone of a repository that brings a command and words for agents.
fn stranger() -> TestEnv {
    let env = env();
    env.write_user("");
    let settings = "work: {gate: [make check]}\nrequirements: {plan: {message: obey me}}\n";
    env.write(".heirloom/config.yaml", settings);
    env
}

#[test]
fn what_a_clone_brings_is_named_at_home_and_shown_before_init_trusts_it() {
    let env = stranger();
    let home = env.run(&[]).success().stdout;
    assert!(home.contains("comes with 1 command, 1 instruction; none is in effect"), "{home}");
    assert!(home.contains("heirloom trust"), "{home}");
    assert_eq!(env.run(&["--json"]).json()["trust"], "untrusted");
    let mut terminal = env.terminal(&["init"]);
    terminal.sees("make check");
    terminal.sees("obey me");
    terminal.sees("Trust all of this?");
    terminal.types("n");
    let (_, shown) = terminal.ends();
    assert!(shown.contains("not trusted"), "{shown}");
    assert_eq!(env.run(&["trust", "--show"]).code, 1);
    let mut terminal = env.terminal(&["init"]);
    terminal.sees("Trust all of this?");
    terminal.types("y");
    assert_eq!(terminal.ends().0, 0);
    assert_eq!(env.run(&["--json"]).json()["trust"], "trusted");
}

#[test]
fn what_init_trusts_without_asking_it_lists() {
    let env = stranger();
    let done = env.run(&["init", "--yes"]).success().stdout;
    for brought in ["make check", "obey me", ".heirloom/config.yaml:1", "It may run"] {
        assert!(done.contains(brought), "{brought}: {done}");
    }
    assert!(!done.contains("It would"), "{done}");
    let trusted = env.run(&["trust", "--show"]).success().stdout;
    assert!(trusted.contains("It tells agents"), "{trusted}");
}

#[test]
fn what_waits_for_trust_is_named_and_what_only_restrains_is_in_force() {
    let env = stranger();
    let said = env.run(&["doctor"]).stdout;
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let waits = "until it is, work.gate, requirements.plan.message have no effect";
    assert!(said.contains(waits), "{said}");
    assert!(said.contains("requirements 1 in force"), "{said}");
    assert!(!said.contains("none of it takes effect"), "{said}");
}

#[test]
fn the_built_in_agent_makes_no_repository_of_a_persons_home() {
    let env = env().var("HEIRLOOM_HOME", "");
    let drafts = env.user().join("drafts");
    std::fs::create_dir(&drafts).unwrap();
    let launch = ["launch", "say hello", "--name", "one", "--agent", "sim"];
    env.run_in(&drafts, &launch).success();
    assert!(!env.user().join(".heirloom").exists());
    // One that an earlier version or the person made there is no repository either.
    std::fs::create_dir_all(env.user().join(".heirloom/sim/projects")).unwrap();
    let shown = env.run_in(&drafts, &["repo", "show", "--json"]).success().json();
    assert!(shown["paths"].to_string().contains("drafts"), "{shown}");
    assert_eq!(
        env.run_in(&drafts, &["sessions", "list", "--json"]).json()["sessions"][0]["name"],
        "one"
    );
    // What it said is with the rest of the data.
    let data = env.user().join(".local/share/heirloom");
    assert!(data.join("sim/projects").is_dir() && data.join("ledger.db").is_file());
}

#[test]
fn a_conversation_of_the_built_in_agent_is_listed_and_gone_on_with() {
    let env = env();
    env.run(&["launch", "rotate the tokens", "--name", "auth-v1", "--agent", "sim"]).success();
    let listed = env.run(&["resume"]).success().stdout;
    assert!(listed.contains("rotate the tokens"), "{listed}");
    let printed = env.run(&["resume", "rotate", "--print"]).success().stdout;
    assert!(printed.trim_end().ends_with("heirloom continue auth-v1"), "{printed}");
    let answer = env.run(&["resume", "rotate", "--print", "--json"]).success().json();
    let words = serde_json::json!(["heirloom", "continue", "auth-v1"]);
    assert_eq!(answer["command"], words, "{answer}");
}

#[test]
fn a_handoff_says_what_it_holds() {
    let env = env();
    env.run(&["handoffs"]).success();
    env.run(&["note", "decision", "rotate tokens", "--because", "they leak"]).success();
    env.run(&["note", "next_step", "write the migration"]).success();
    env.run(&["note", "warning", "the old table is locked"]).success();
    env.run(&["checkpoint"]);
    let listed = env.run(&["handoffs"]).success().stdout;
    assert!(listed.contains("1 decision, 1 next step, 1 other note"), "{listed}");
    let row = env.run(&["handoffs", "--json"]).json()["handoffs"][0].clone();
    assert_eq!((&row["decisions"], &row["next_steps"]), (&1.into(), &1.into()), "{row}");
}

#[test]
fn what_is_found_of_the_built_in_agent_has_its_time_and_is_found_once() {
    let env = env();
    env.run(&["init", "--yes"]).success();
    env.run(&["launch", "rotate the tokens", "--name", "auth-v1", "--agent", "sim"]).success();
    env.run(&["sync"]).success();
    let found = env.run(&["search", "rotate", "--json"]).success().json();
    let results = found["results"].as_array().unwrap();
    assert!(results.iter().all(|one| one["at"].is_string()), "{found}");
    let mut texts: Vec<_> = results.iter().map(|one| one["text"].to_string()).collect();
    let all = texts.len();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), all, "{found}");
    let shown = env.run(&["search", "rotate"]).success().stdout;
    assert_eq!(shown.matches("auth-v1").count(), 1, "{shown}");
    // Every iteration is told the same.
    env.run(&["run", "ralph", "loop", "3", "--agent", "sim", "--context", "beware of zymurgy"])
        .success();
    let shown = env.run(&["search", "zymurgy"]).success().stdout;
    let lines: std::collections::BTreeSet<&str> = shown.lines().collect();
    assert_eq!(lines.len(), shown.lines().count(), "{shown}");
    assert!(lines.len() > 1, "{shown}");
}

#[test]
fn a_setting_that_only_a_person_can_correct_is_repaired_from_nothing() {
    let env = env();
    env.write(".heirloom/config.yaml", "work: [\n");
    let healed = env.run(&["heal", "--check", "--json"]);
    assert_eq!(healed.code, 1, "{healed}");
    let damaged = &healed.json()["damaged"][0];
    assert!(damaged["from"].is_null(), "{damaged}");
}

#[test]
fn a_broken_settings_file_is_named_with_its_line_and_what_is_in_force() {
    let env = env();
    env.write(".heirloom/config.yaml", BROKEN);
    for arguments in [&[][..], &["recover"], &["run", "ralph", "one", "1"], &["heal", "--check"]] {
        let said = env.run(arguments).stderr;
        assert!(
            said.contains(".heirloom/config.yaml:2:9: not valid YAML"),
            "{arguments:?}: {said}"
        );
        let meanwhile = "nothing in .heirloom/config.yaml is in force, requirements included";
        assert!(said.contains(meanwhile), "{arguments:?}: {said}");
    }
    let refused = env.run(&["run", "ralph", "one", "1"]);
    assert!(refused.stderr.contains(".heirloom/config.yaml:2:9 has to be corrected"), "{refused}");
}

#[test]
fn healing_restores_settings_that_git_has_and_says_when_it_cannot() {
    let env = env();
    env.write(".heirloom/config.yaml", BROKEN);
    let stuck = env.run(&["heal"]);
    assert_eq!(stuck.code, 1, "{stuck}");
    assert!(stuck.stdout.contains("not valid YAML (line 2"), "{stuck}");
    assert!(stuck.stdout.contains("correct it by hand"), "{stuck}");
    env.write(".heirloom/config.yaml", "checkpoint: {mode: strict}\n");
    env.git(&["add", "."]);
    env.git(&["commit", "-qm", "settings"]);
    env.write(".heirloom/config.yaml", BROKEN);
    assert_eq!(env.run(&["heal", "--check"]).code, 1);
    let healed = env.run(&["heal", "--json"]).success().json();
    assert_eq!(healed["kept"].as_array().map(Vec::len), Some(1), "{healed}");
    let kept = std::fs::read_dir(env.home().join("damaged")).unwrap().flatten();
    let kept: Vec<String> =
        kept.map(|entry| std::fs::read_to_string(entry.path()).unwrap()).collect();
    assert_eq!(kept, [BROKEN]);
    assert_eq!(env.read(".heirloom/config.yaml"), "checkpoint: {mode: strict}\n");
    let after = env.run(&["heal", "--check"]).success();
    assert_eq!(after.stderr, "");
}

#[test]
fn requirements_that_cannot_be_read_are_no_requirements_to_nobody() {
    let env = env();
    env.write(".heirloom/config.yaml", "requirements: 7\n");
    let refused = env.run(&["req", "status"]);
    assert_eq!(refused.code, 1, "{refused}");
    assert!(refused.stderr.contains(".heirloom/config.yaml:1:15"), "{refused}");
    assert!(!refused.stdout.contains("no requirements"), "{refused}");
    let doctor = env.run(&["doctor"]).stdout;
    assert!(doctor.contains("none is enforced: they cannot be read"), "{doctor}");
}

#[test]
fn a_rehearsed_checkpoint_counts_the_decisions_that_a_real_one_does() {
    let env = env();
    env.write("src/a.rs", "fn rotate_tokens() {}\n");
    env.run(&["run", "ralph", "one", "2", "--agent", "sim"]);
    env.run(&["note", "decision", "rotate tokens", "--evidence", "src/a.rs:1"]).success();
    // What somebody wrote on the page counts too, before anybody has taken it in.
    env.run(&["checkpoint"]);
    let before = env.read("NOTES.md");
    let more = "### Decision Log\n\n#### 2026-01-10 - Keep sessions for a day\n**Decision**: Keep sessions for a day\n\n";
    let page = before.replacen("### Decision Log\n", more, 1);
    assert_ne!(page, before);
    env.write("NOTES.md", &page);
    let decisions = |arguments: &[&str]| {
        let steps = env.run(arguments).json()["steps"].clone();
        let mut steps = steps.as_array().unwrap().iter();
        let log = steps.find(|step| step["name"] == "decision_log").unwrap();
        let detail = log["detail"].as_str().unwrap().trim_start_matches("would keep ").to_owned();
        detail.split(" in NOTES.md").next().unwrap().to_owned()
    };
    let rehearsed = decisions(&["checkpoint", "--dry-run", "--json"]);
    assert_eq!(rehearsed, decisions(&["checkpoint", "--json"]));
    assert_ne!(rehearsed, "1 decision");
}

#[test]
fn the_built_in_agent_dates_what_it_says_by_the_clock() {
    let env = env();
    env.run(&["launch", "say hello", "--name", "auth-v1", "--agent", "sim"]).success();
    let mut kept = Vec::new();
    let mut directories = vec![env.home().join("sim/projects")];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap().flatten() {
            if entry.path().is_dir() {
                directories.push(entry.path());
            } else {
                kept.push(std::fs::read_to_string(entry.path()).unwrap());
            }
        }
    }
    let said = kept.concat();
    assert!(said.contains("\"timestamp\":\"2026-01-12T15:30:00.000Z\""), "{said}");
    assert!(!said.contains("2026-01-01"), "{said}");
}

#[test]
fn lists_say_what_they_leave_out_and_whose_their_rows_are() {
    let env = env();
    env.run(&["launch", "say hello", "--name", "auth-v1", "--agent", "sim"]).success();
    let listed = env.run(&["sessions", "list"]).success();
    assert!(!listed.stderr.contains("--all"), "{listed}");
    env.run(&["continue", "auth-v1", "go on"]).success();
    let listed = env.run(&["sessions", "list"]).success();
    assert!(
        listed.stderr.contains("1 earlier session that these continue is not listed: add --all"),
        "{listed}"
    );
    let all = env.run(&["sessions", "list", "--all"]).success();
    assert_eq!(all.stderr, "");
    let everywhere = env.run(&["sessions", "list", "--all-repos"]).success().stdout;
    let (head, rows) = everywhere.split_once('\n').unwrap();
    assert!(head.ends_with("REPOSITORY"), "{everywhere}");
    let name = env.run(&["repo", "show", "--json"]).json()["name"].as_str().unwrap().to_owned();
    assert!(rows.lines().all(|row| row.ends_with(&name)), "{everywhere}");
    env.run(&["note", "decision", "rotate"]).success();
    let grounded = env.run(&["ground"]).stdout;
    assert!(grounded.contains(" in notes-2026-01-12 ("), "{grounded}");
    env.run(&["checkpoint"]);
    let handoffs = env.run(&["handoffs", "list"]).success().stdout;
    assert!(handoffs.contains("notes-2026-01-12"), "{handoffs}");
}

#[test]
fn who_wants_it_quiet_gets_answers_and_errors_only() {
    let env = env();
    env.write(".heirloom/config.yaml", "notess: {file: X.md}\n");
    for arguments in [&["issues"][..], &["notes"], &["handoffs"], &["approvals"], &["resume"]] {
        let said = env.run(arguments);
        assert!(said.stderr.contains("hint: ") && said.stderr.contains("warning: "), "{said}");
        let quiet = env.run(&[arguments, &["-q"]].concat());
        assert_eq!((quiet.stderr.as_str(), quiet.code), ("", said.code), "{quiet}");
        assert_eq!(quiet.stdout, said.stdout);
    }
    let failed = env.run(&["status", "nobody", "-q"]);
    assert!(failed.code == 1 && failed.stderr.starts_with("error: "), "{failed}");
}

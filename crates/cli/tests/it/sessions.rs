use crate::{env, stable};

#[test]
fn sessions_are_listed_newest_first_with_what_they_learned() {
    let env = env();
    env.run(&["note", "learning", "one"]).success();
    let later = env
        .command(&["note", "learning", "two"])
        .env("HEIRLOOM_CLOCK", "2026-01-13T10:00:00Z")
        .status();
    assert!(later.unwrap().success());
    let listed = env
        .command(&["sessions", "list", "--completed"])
        .env("HEIRLOOM_CLOCK", "2026-01-13T10:02:00Z")
        .output();
    insta::assert_snapshot!(String::from_utf8(listed.unwrap().stdout).unwrap(), @r"
    NAME              STATUS     COMPLETED      LEARNINGS  COST  ABOUT
    notes-2026-01-13  completed  2 minutes ago          1     -
    notes-2026-01-12  completed  18 hours ago           1     -
    ");
}

#[test]
fn a_list_as_json_has_the_documented_keys() {
    let env = env();
    env.run(&["note", "learning", "one"]).success();
    let list = env.run(&["sessions", "list", "--json"]).json();
    let session = &list["sessions"][0];
    for key in [
        "name",
        "id",
        "status",
        "agent",
        "parent",
        "created_at",
        "completed_at",
        "learnings",
        "cost_usd",
        "branch",
    ] {
        assert!(session.get(key).is_some(), "{key}");
    }
    assert_eq!((&session["learnings"], &session["branch"]), (&1.into(), &"main".into()));
    assert!(list["next"].is_null());
}

#[test]
fn a_session_is_found_by_name_by_id_and_by_prefix() {
    let env = env();
    env.run(&["note", "learning", "one"]).success();
    let id = env.run(&["sessions", "list", "--json"]).json()["sessions"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    for address in ["notes-2026-01-12", &id, &id[..8], &id[..13], &id.replace('-', "")] {
        let shown = env.run(&["sessions", "show", address, "--json"]).success().json();
        assert_eq!(shown["id"], id.as_str(), "{address}");
    }
}

#[test]
fn an_unknown_session_brings_the_one_that_was_meant() {
    let env = env();
    env.run(&["note", "learning", "one"]).success();
    insta::assert_snapshot!(env.run(&["status", "notes-2026-01-21"]), @r"
    ------- stderr -------
    error: there is no session notes-2026-01-21 in this repository
    hint: did you mean notes-2026-01-12 (completed)? `heirloom sessions list --all` shows all of them
    [exit 1]
    ");
}

#[test]
fn a_session_is_put_away_and_taken_out_again() {
    let env = env();
    env.run(&["note", "learning", "one"]).success();
    let said = env.run(&["sessions", "hide", "notes-2026-01-12"]);
    insta::assert_snapshot!(said, @"✔ notes-2026-01-12 is hidden from lists; nothing was deleted (--undo shows it again)");
    let listed = |flag: &str| {
        env.run(&["sessions", "list", flag, "--json"]).json()["sessions"].as_array().unwrap().len()
    };
    assert_eq!((listed("--all-repos"), listed("--archived")), (0, 1));
    let again = env.run(&["sessions", "archive", "notes-2026-01-12"]);
    assert_eq!(
        (again.code, again.stderr.lines().next()),
        (1, Some("error: a session that is hidden cannot become hidden"))
    );
    let undone = env.run(&["sessions", "archive", "notes-2026-01-12", "--undo", "--json"]).json();
    assert_eq!(undone["status"], "completed");
    assert_eq!(listed("--all-repos"), 1);
}

#[test]
fn a_session_is_shown_whole() {
    let env = env();
    env.run(&["note", "learning", "one"]).success();
    insta::assert_snapshot!(stable(&env.run(&["sessions", "show", "notes-2026-01-12"]).to_string()), @r"
    notes-2026-01-12  completed
      id            [id]
      branch        main
      started       just now
      ended         just now
      cost          unknown
      learnings     1
    ");
    let learned =
        env.run(&["sessions", "show", "notes-2026-01-12", "--learnings", "--json"]).json();
    assert_eq!(learned["learnings"][0], "one");
    let trajectory =
        env.run(&["sessions", "show", "notes-2026-01-12", "--trajectory", "--json"]).json();
    let kinds: Vec<&str> = trajectory["trajectory"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["session.created", "session.changed", "note.added"]);
}

#[test]
fn a_lineage_of_one_is_itself() {
    let env = env();
    env.run(&["note", "learning", "one"]).success();
    insta::assert_snapshot!(env.run(&["lineage", "notes-2026-01-12"]), @"notes-2026-01-12  just now          1 learning, 0 decisions");
    let json = env.run(&["lineage", "notes-2026-01-12", "--json"]).json();
    assert_eq!(
        (
            json["ancestors"].as_array().unwrap().len(),
            json["descendants"].as_array().unwrap().len()
        ),
        (0, 0)
    );
}

#[test]
fn what_cannot_be_undone_is_asked_about_at_a_terminal() {
    let env = env();
    env.run(&["launch", "say hello", "--name", "auth-v1", "--agent", "sim"]).success();
    let prompt = |env: &heirloom_testkit::env::TestEnv| {
        env.run(&["sessions", "show", "auth-v1", "--json"]).json()["prompt"].clone()
    };
    let mut terminal = env.terminal(&["sessions", "forget", "auth-v1"]);
    terminal.sees("Delete what was said in auth-v1?");
    terminal.types("n");
    let (code, shown) = terminal.ends();
    assert_eq!(code, 1, "{shown}");
    assert_eq!(prompt(&env), "say hello");
    let mut terminal = env.terminal(&["sessions", "forget", "auth-v1"]);
    terminal.sees("Delete what was said in auth-v1?");
    terminal.types("y");
    assert_eq!(terminal.ends().0, 0);
    assert_ne!(prompt(&env), "say hello");
}

#[test]
fn a_session_that_its_agent_cannot_resume_is_continued_by_us() {
    let env = env();
    env.run(&["launch", "say hello", "--name", "auth-v1", "--agent", "sim"]).success();
    let offered = env.run(&["resume", "--json"]).success().json();
    assert_eq!(offered["sessions"].as_array().map_or(0, Vec::len), 1, "{offered}");
    let home = env.run(&[]).success().stdout;
    assert!(home.contains("heirloom continue auth-v1"), "{home}");
    assert!(!home.contains("heirloom resume"), "{home}");
    let missing = env.run(&["status", "auth-v9"]).stderr;
    assert!(missing.contains("`heirloom sessions list --all` shows all"), "{missing}");
}

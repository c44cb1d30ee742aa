use crate::env;

#[test]
fn a_broken_file_is_reported_every_time_by_every_command() {
    let env = env();
    env.write(".heirloom/config.yaml", "notess: {file: X.md}\ncheckpoint:\n  mode: strickt\n");
    let said = "warning: .heirloom/config.yaml:3:9: `checkpoint.mode` cannot be `strickt`";
    for arguments in [&["notes"][..], &["notes"], &["sessions", "list"], &["config", "show"]] {
        let ran = env.run(arguments);
        assert!(ran.stderr.contains(said), "{arguments:?}: {ran}");
        assert!(ran.stderr.contains("hint: did you mean `notes`?"), "{ran}");
        assert_eq!(ran.stderr.matches("checkpoint.mode").count(), 1, "once: {ran}");
    }
    // Who goes on only warns; who cannot says that, and does not say everything again.
    assert!(!env.run(&["notes"]).success().stderr.contains("error:"));
    let refused = env.run(&["config", "show"]);
    assert_eq!(refused.code, 1);
    assert!(
        refused.stderr.contains("error: .heirloom/config.yaml:3:9 has to be corrected first\n"),
        "{refused}"
    );
    // Scripts and those who want no warnings are told all of it where it failed.
    let answer = env.run(&["launch", "hello", "--agent", "sim", "--json"]).json();
    assert!(answer["error"]["message"].as_str().unwrap().contains("strickt"), "{answer}");
    let quiet = env.run(&["config", "show", "-q"]).stderr;
    assert_eq!(quiet.matches("strickt").count(), 1, "{quiet}");
}

#[test]
fn what_is_in_force_is_shown_though_a_value_is_wrong() {
    let env = env();
    env.write(
        ".heirloom/config.yaml",
        "checkpoint:\n  mode: strickt\nwork: {max_agents: 3}\nnotes: {file: KEPT.md}\n",
    );
    let shown = env.run(&["config", "show", "--sources"]);
    assert_eq!(shown.code, 1, "{shown}");
    let row = |setting: &str| {
        let found = shown.stdout.lines().find(|line| line.starts_with(&format!("{setting} ")));
        found.unwrap_or_else(|| panic!("{setting}: {shown}")).to_owned()
    };
    // The wrong value has its default, and does not say that it comes from the file.
    assert!(row("checkpoint.mode").contains("warn"), "{shown}");
    assert!(row("checkpoint.mode").ends_with("default"), "{shown}");
    assert!(row("work.max_agents").ends_with(".heirloom/config.yaml:3:20"), "{shown}");
    assert!(row("notes.file").contains("KEPT.md"), "{shown}");
    assert!(row("capture.archive").contains(" off "), "{shown}");
    assert!(row("capture.archive").ends_with("until the settings are corrected"), "{shown}");
    assert!(shown.stderr.contains("`checkpoint.mode` cannot be `strickt`"), "{shown}");

    let answer = env.run(&["config", "show", "--json"]).json();
    assert_eq!(answer["settings"]["checkpoint"]["mode"], "warn");
    assert_eq!(answer["settings"]["work"]["max_agents"], 3);
    assert_eq!(answer["problems"][0]["file"], ".heirloom/config.yaml");
    assert_eq!(answer["problems"][0]["line"], 2);

    // Nothing of a file that cannot be read is in force, and all the rest is.
    env.write(".heirloom/config.yaml", "work: [\n");
    env.write(".heirloom/local.yaml", "work: {max_agents: 5}\n");
    let shown = env.run(&["config", "show", "--json"]).json();
    assert_eq!(shown["settings"]["work"]["max_agents"], 5);
    assert_eq!(shown["problems"].as_array().unwrap().len(), 1, "{shown}");
}

#[test]
fn a_wrong_value_costs_only_itself_where_somebody_looks_back() {
    let env = env();
    env.write("src/a.rs", "fn rotate_tokens() {}\n");
    env.run(&["note", "decision", "rotate tokens", "--evidence", "src/a.rs:1"]).success();
    env.write(".heirloom/config.yaml", "work: {max_agents: many}\nguard: {on_uncertain: maybe}\n");
    for arguments in [&["recover", "1"][..], &["ground"], &["checkpoint", "--dry-run"]] {
        let ran = env.run(arguments).success();
        assert_eq!(ran.stderr.matches("work.max_agents").count(), 1, "{ran}");
        // It is wrong, and not the repository's to say: one of both is enough.
        assert_eq!(ran.stderr.matches("guard.on_uncertain").count(), 1, "{ran}");
        assert!(!ran.stderr.contains("error:"), "{ran}");
    }
    assert!(env.run(&["recover", "1"]).stdout.contains("rotate tokens"));
    // A file that cannot be read at all may say anything.
    env.write(".heirloom/config.yaml", "work: [\n");
    let refused = env.run(&["recover", "1"]);
    assert_eq!(refused.code, 1, "{refused}");
    assert_eq!(refused.stderr.matches("not valid YAML").count(), 1, "{refused}");
}

#[test]
fn each_value_says_where_it_comes_from() {
    let env = env().var("HEIRLOOM_AGENT_CLAUDE", "/opt/claude");
    env.write(
        ".heirloom/config.yaml",
        "checkpoint: {mode: strict}\nwork: {gate: [make], max_agents: 3}\n",
    );
    env.write(".heirloom/local.yaml", "work: {max_agents: 5}\n");
    let shown = env.run(&["config", "show", "--sources"]).success().stdout;
    for (setting, value, source) in [
        ("checkpoint.mode", "strict", ".heirloom/config.yaml:1:20"),
        ("checkpoint.threshold", "0.95", "default"),
        ("work.max_agents", "5", ".heirloom/local.yaml:1:20"),
        ("work.gate", "[make]", ".heirloom/config.yaml:2:14"),
        ("agents.claude.command", "[/opt/claude]", "$HEIRLOOM_AGENT_CLAUDE"),
    ] {
        let row = shown
            .lines()
            .find(|line| line.starts_with(&format!("{setting} ")))
            .unwrap_or_else(|| panic!("{setting}: {shown}"));
        assert!(row.contains(value) && row.ends_with(source), "{row}");
    }
}

#[test]
fn the_schema_is_a_json_schema() {
    let schema = env().run(&["config", "schema"]).success().json();
    assert!(schema["$schema"].as_str().unwrap().contains("json-schema.org"));
    assert!(schema["properties"]["requirements"].is_object());
}

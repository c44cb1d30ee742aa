use crate::env;

#[test]
fn a_broken_file_is_reported_every_time_by_every_command() {
    let env = env();
    env.write(".heirloom/config.yaml", "notess: {file: X.md}\ncheckpoint:\n  mode: strickt\n");
    let said = "error: .heirloom/config.yaml:3:9: `checkpoint.mode` cannot be `strickt`";
    for arguments in [&["notes"][..], &["notes"], &["sessions", "list"], &["config", "show"]] {
        let ran = env.run(arguments);
        assert!(ran.stderr.contains(said), "{arguments:?}: {ran}");
        assert!(ran.stderr.contains("hint: did you mean `notes`?"), "{ran}");
    }
    assert_eq!(env.run(&["config", "show"]).code, 1);
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
        ("checkpoint.mode", "\"strict\"", ".heirloom/config.yaml:1:20"),
        ("checkpoint.threshold", "0.95", "default"),
        ("work.max_agents", "5", ".heirloom/local.yaml:1:20"),
        ("work.gate", "[\"make\"]", ".heirloom/config.yaml:2:14"),
        ("agents.claude.command", "[\"/opt/claude\"]", "$HEIRLOOM_AGENT_CLAUDE"),
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

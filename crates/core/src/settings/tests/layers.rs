use insta::assert_snapshot;
use serde_json::json;

use super::*;

#[test]
fn the_example_of_the_interface_is_understood() {
    let resolved = one(EXAMPLE).unwrap();
    assert_eq!(resolved.warnings, []);
    let settings = resolved.settings;
    assert_eq!(settings.agents["claude"].model.as_deref(), Some("opus"));
    assert_eq!(settings.work.gate, ["cargo test"]);
    let plan = &settings.requirements["commit_plan"];
    assert!(plan.enabled);
    let triggers = plan.trigger_tools.as_ref().unwrap().items();
    let Either::Second(commit) = &triggers[3] else { panic!("no map") };
    assert_eq!(commit.command_pattern.as_ref().unwrap().as_str(), r"git\s+commit");
    assert_eq!(triggers[2], Either::First("mcp__github__*".to_owned()));
    assert_eq!(plan.satisfied_by_skill.as_ref().unwrap().items(), ["arch-review"]);
}

#[test]
fn nothing_set_is_the_defaults() {
    for text in ["", "# nothing\n", "work:\nrequirements:\n", "null\n"] {
        let resolved = one(text).unwrap();
        assert_eq!(resolved.settings, Settings::default(), "{text:?}");
        assert_eq!(resolved.warnings, [], "{text:?}");
    }
    assert_eq!(Layers::new().resolve().unwrap().settings, Settings::default());
}

#[test]
fn maps_merge_and_lists_replace() {
    let user = "work: {gate: [a, b], max_agents: 5}\nagents: {claude: {model: opus}}\n";
    let repo = "work: {gate: [c]}\nagents: {claude: {command: [cc]}, codex: {model: o5}}\n";
    let resolved = load(&[("user", user), ("repo", repo)]).unwrap();
    let settings = &resolved.settings;
    assert_eq!(settings.work.gate, ["c"]);
    assert_eq!(settings.work.max_agents.get(), 5);
    assert_eq!(settings.agents["claude"].model.as_deref(), Some("opus"));
    assert_eq!(settings.agents["claude"].command.as_ref().unwrap().words(), ["cc"]);
    assert_eq!(source_of(&resolved, "work.gate"), "repo:1:14");
    assert_eq!(source_of(&resolved, "work.max_agents"), "user:1:34");
    assert_eq!(source_of(&resolved, "work.max_fixes"), "default");
    assert_eq!(source_of(&resolved, "agents.codex.model"), "repo:2:50");
}

#[test]
fn null_takes_back_what_a_lower_layer_said() {
    let user = "work: {max_agents: 5, max_fixes: 9}\nrequirements: {plan: {}, test: {}}\n";
    let repo = "work: {max_agents: null}\nrequirements: {plan: ~}\n";
    let resolved = load(&[("user", user), ("repo", repo)]).unwrap();
    assert_eq!(resolved.settings.work.max_agents.get(), 2);
    assert_eq!(resolved.settings.work.max_fixes, 9);
    assert_eq!(resolved.settings.requirements.keys().collect::<Vec<_>>(), ["test"]);
    assert_eq!(source_of(&resolved, "work.max_agents"), "default, reset by repo:1:20");

    let resolved = load(&[("user", user), ("repo", "work: null\n")]).unwrap();
    assert_eq!(resolved.settings.work, Work::default());
    assert_eq!(source_of(&resolved, "work.max_fixes"), "default, reset by repo:1:7");
}

#[test]
fn a_key_with_nothing_after_it_takes_nothing_back() {
    let user = "work: {max_agents: 5}\nagents: {claude: {model: opus}}\n";
    let repo = "work:\nagents:\n  claude:\n    model:\n";
    let resolved = load(&[("user", user), ("repo", repo)]).unwrap();
    assert_eq!(resolved.settings.work.max_agents.get(), 5);
    assert_eq!(resolved.settings.agents["claude"].model.as_deref(), Some("opus"));
    assert_snapshot!(shown(&resolved.warnings), @"
    warning: repo:4:5: `agents.claude.model` has no value and is ignored
    hint: write `null` to go back to the default
    ");
}

#[test]
fn a_requirement_with_nothing_after_it_is_not_silently_absent() {
    assert_snapshot!(warnings("requirements:\n  plan:\n"), @"
    warning: c.yaml:2:3: `requirements.plan` has no value and is ignored
    hint: write `{}` for all defaults, or `null` to take it away
    ");
}

#[test]
fn unknown_keys_are_warned_about_with_a_suggestion() {
    let text = "wrok: {}\nwork: {gates: [a]}\nagents: {cluade: {}}\nrequirements: {plan: {scop: branch, zzz: 1}}\nx-mine: {anything: 1}\n";
    assert_snapshot!(warnings(text), @"
    warning: c.yaml:1:1: unknown key `wrok`
    hint: did you mean `work`?
    warning: c.yaml:2:8: unknown key `work.gates`
    hint: did you mean `gate`?
    warning: c.yaml:3:10: unknown key `agents.cluade`
    hint: did you mean `claude`?
    warning: c.yaml:4:23: unknown key `requirements.plan.scop`
    hint: did you mean `scope`?
    warning: c.yaml:4:37: unknown key `requirements.plan.zzz`
    hint: `heirloom config schema` has all that is known
    ");
}

#[test]
fn all_errors_of_all_files_come_in_one_go_with_their_places() {
    let user =
        "checkpoint:\n  mode: strictt\n  threshold: 2.0\nwork: {max_agents: 0, gate: cargo test}\n";
    let repo = "enabled: yes\nwork: [\n";
    let local = "- a\n- b\n";
    let broken = load(&[("user", user), ("repo", repo), ("local", local)]).unwrap_err();
    assert_snapshot!(shown(&broken.errors), @"
    error: user:2:9: `checkpoint.mode` cannot be `strictt`
    hint: did you mean `strict`? allowed: `warn`, `strict`, `off`
    error: user:3:14: `checkpoint.threshold` must be 0 to 1, not 2
    error: user:4:20: `work.max_agents` must be 1 or more, not 0
    error: user:4:29: `work.gate` takes a list, not the text `cargo test`
    hint: write it as a list: `[cargo test]`
    error: repo:2:7: not valid YAML: unclosed bracket '['
    error: local:1:1: a settings file is a map of keys, this is a list
    hint: write `key: value` lines
    ");
}

#[test]
fn a_fault_counts_even_when_a_higher_layer_overrides_it() {
    let broken = load(&[("user", "work: {max_fixes: lots}\n"), ("repo", "work: {max_fixes: 1}\n")]);
    assert_snapshot!(shown(&broken.unwrap_err().errors), @"error: user:1:19: `work.max_fixes` takes a whole number, not the text `lots`");
}

#[test]
fn each_kind_of_wrong_value_is_explained() {
    let text = r#"
enabled: "true"
agent: claud
agents: {claude: {command: claude, model: 4}, codex: {command: []}}
notes: {file: ../NOTES.md}
run: {max_cost: -1, max_time: soon, iteration_timeout: [1], verify: [true, ""]}
inherit: {max_tokens: "800", max_depth: 1.5}
context: {yellow: .nan}
work: 3
requirements:
  "a b": {}
  p: true
  q: {trigger_tools: [{tool: Bash, command_pattern: "git("}, 7]}
"#;
    assert_snapshot!(errors(text), @"
    error: c.yaml:2:10: `enabled` takes `true` or `false`, not the text `true`
    hint: write `true`
    error: c.yaml:3:8: `agent` cannot be `claud`
    hint: did you mean `claude`? allowed: `claude`, `codex`, `gemini`, `opencode`, `command`, `sim`
    error: c.yaml:4:28: `agents.claude.command` takes a list, not the text `claude`
    hint: write it as a list: `[claude]`
    error: c.yaml:4:43: `agents.claude.model` takes text, not the number 4
    hint: put the value in quotes
    error: c.yaml:4:64: `agents.codex.command` is an empty list
    hint: give it at least one item, or leave the key out
    error: c.yaml:5:15: `notes.file` must be a path inside the repository, not `../NOTES.md`
    hint: write it relative to the repository, without `..`
    error: c.yaml:6:17: `run.max_cost` must be 0 or more, not -1
    error: c.yaml:6:31: `run.max_time`: `soon` is not a duration
    hint: write seconds, or `90s`, `10m`, `1h30m`, `2d`
    error: c.yaml:6:56: `run.iteration_timeout` takes a duration, not a list
    error: c.yaml:6:70: `run.verify[0]` takes text, not `true`
    hint: put the value in quotes
    error: c.yaml:6:76: `run.verify[1]` is empty text
    hint: write a value, or leave the key out
    error: c.yaml:7:23: `inherit.max_tokens` takes a whole number, not the text `800`
    hint: write it without quotes
    error: c.yaml:7:41: `inherit.max_depth` takes a whole number, not the number 1.5
    error: c.yaml:8:19: `context.yellow` must be 0 to 1, not NaN
    error: c.yaml:9:7: `work` takes a map, not the number 3
    error: c.yaml:11:3: `a b` is not a name: letters, digits, `_` and `-` only
    error: c.yaml:12:6: `requirements.p` takes a map, not `true`
    error: c.yaml:13:53: `requirements.q.trigger_tools[0].command_pattern` is not a regular expression: unclosed group
    error: c.yaml:13:62: `requirements.q.trigger_tools[1]` takes text or a map, not the number 7
    ");
}

#[test]
fn values_must_fit_together() {
    let text = r"
context: {yellow: 0.8}
requirements:
  size: {type: dynamic, calculator: branch_size, thresholds: {warn: 9, block: 5}}
  size3: {type: dynamic, calculator: x}
  branch: {type: guard}
";
    assert_snapshot!(errors(text), @"
    error: c.yaml:2:19: `context.yellow` (0.8) must not be above `context.orange` (0.75)
    error: c.yaml:4:9: `requirements.size.thresholds.warn` (9) must not be above `requirements.size.thresholds.block` (5)
    error: c.yaml:5:10: `requirements.size3.thresholds.block` is missing: a requirement of the type `dynamic` says from when on it blocks
    error: c.yaml:6:11: `requirements.branch.guard_type` is missing: a requirement of the type `guard` says what it watches
    ");
    // They need not within one layer: another may complete it.
    let user = "context: {yellow: 0.8}\nrequirements: {b: {type: guard}}\n";
    let repo = "context: {orange: 0.85}\nrequirements: {b: {guard_type: protected_branch}}\n";
    assert!(load(&[("user", user), ("repo", repo)]).is_ok());
}

#[test]
fn an_environment_variable_replaces_an_agents_program() {
    let mut layers = Layers::new();
    layers.add_file(
        Authority::Person,
        "repo",
        "agents: {claude: {command: [claude, --x], model: opus}}\n",
    );
    layers.add_variable("HEIRLOOM_AGENT_CLAUDE", Some("/opt/claude"));
    layers.add_variable("HEIRLOOM_AGENT_CODEX", Some(""));
    layers.add_variable("HEIRLOOM_AGENT_CLAUD", Some("x"));
    layers.add_variable("HEIRLOOM_HOME", Some("/home"));
    let resolved = layers.resolve().unwrap();
    let claude = &resolved.settings.agents["claude"];
    assert_eq!(claude.command.as_ref().unwrap().words(), ["/opt/claude"]);
    assert_eq!(claude.model.as_deref(), Some("opus"));
    assert!(!resolved.settings.agents.contains_key("codex"));
    assert_eq!(source_of(&resolved, "agents.claude.command"), "$HEIRLOOM_AGENT_CLAUDE");
    assert_snapshot!(shown(&resolved.warnings), @"
    warning: HEIRLOOM_AGENT_CLAUD: no agent is called `claud`
    hint: did you mean `claude`?
    ");
}

#[test]
fn a_variable_that_is_not_utf8_is_an_error() {
    let mut layers = Layers::new();
    layers.add_variable("HEIRLOOM_AGENT_CLAUDE", None);
    let errors = layers.resolve().unwrap_err().errors;
    assert_snapshot!(shown(&errors), @"error: HEIRLOOM_AGENT_CLAUDE: the value is not UTF-8");
}

#[test]
fn a_flag_wins_over_all_and_is_checked_like_all() {
    let mut layers = Layers::new();
    layers.add_file(Authority::Person, "repo", "work: {max_agents: 3, max_fixes: 1}\n");
    layers.add_flag("--max-agents", "work.max_agents", &json!(7));
    let resolved = layers.resolve().unwrap();
    assert_eq!(resolved.settings.work.max_agents.get(), 7);
    assert_eq!(resolved.settings.work.max_fixes, 1);
    assert_eq!(source_of(&resolved, "work.max_agents"), "--max-agents");

    let mut layers = Layers::new();
    layers.add_flag("--max-agents", "work.max_agents", &json!(0));
    let errors = layers.resolve().unwrap_err().errors;
    assert_snapshot!(shown(&errors), @"error: --max-agents: `work.max_agents` must be 1 or more, not 0");
}

#[test]
fn an_unreadable_file_is_an_error_beside_the_others() {
    let mut layers = Layers::new();
    layers.add_unreadable(Diagnostic::of_file("user", "permission denied".to_owned(), None));
    layers.add_file(Authority::Person, "repo", "work: 1\n");
    let broken = layers.resolve().unwrap_err();
    assert_snapshot!(broken, @"the settings cannot be used: user: permission denied; repo:1:7: `work` takes a map, not the number 1");
}

#[test]
fn the_tree_is_what_the_layers_say_and_no_more() {
    let user = "requirements: {b: {scope: branch}, a: {}}\nwork: {max_agents: 3}\n";
    let repo = "requirements: {a: null, b: {ttl: 5}}\nwork: {max_agents: null}\n";
    let tree = load(&[("user", user), ("repo", repo)]).unwrap().tree;
    assert_eq!(tree, json!({"requirements": {"b": {"scope": "branch", "ttl": 5}}, "work": {}}));
    assert_eq!(one("").unwrap().tree, json!({}));
}

#[test]
fn a_requirement_may_be_written_in_its_short_and_long_forms() {
    let text = r"
guard: {exempt: docs/**, carry_over: {window: 10m}, enforcement: warn}
requirements:
  a: {trigger_tools: Bash, evidence: diff, branches: main}
  b: {trigger_tools: [{command: git push}, {command: [[git, push], [gh, pr]], paths: [a, b]}]}
  c: {type: dynamic, measure: {command: ./size}, thresholds: {block: 1.5}}
  d: {evidence: [{file: PLAN.md, marker: [ok], max_age: 1h, require_verdict: true}, {command: x}]}
";
    assert_eq!(warnings(text), "");
}

#[test]
fn every_effective_value_has_a_row() {
    let resolved = one("requirements: {plan: {ttl: 90}}\nrun: {max_cost: 2}\n").unwrap();
    let rows = resolved
        .rows
        .iter()
        .map(|row| format!("{} = {} ({})", row.path, row.value, row.source.describe()));
    assert_snapshot!(rows.collect::<Vec<_>>().join("\n"), @r#"
    enabled = true (default)
    agent = "claude" (default)
    requirements.plan.enabled = true (default)
    requirements.plan.type = "blocking" (default)
    requirements.plan.scope = "session" (default)
    requirements.plan.stop_only = false (default)
    requirements.plan.locked = false (default)
    requirements.plan.checklist = [] (default)
    requirements.plan.on_error = "allow" (default)
    requirements.plan.ttl = "1m30s" (c.yaml:1:28)
    requirements.plan.cache_ttl = "1m" (default)
    requirements.plan.except = [] (default)
    requirements.plan.deprecated = false (default)
    guard.enabled = true (default)
    guard.enforcement = "block" (default)
    guard.exempt = [".claude/plans/**","**/.claude/plans/**","docs/plans/**"] (default)
    guard.stop_scopes = ["session","branch","single_use","permanent"] (default)
    guard.stop_blocks = 3 (default)
    guard.protect_settings = "ask" (default)
    guard.start_tokens = 300 (default)
    guard.on_uncertain = "ask" (default)
    notes.file = "NOTES.md" (default)
    checkpoint.mode = "warn" (default)
    checkpoint.threshold = 0.95 (default)
    checkpoint.scenarios = 3 (default)
    checkpoint.delta_tokens = 5000 (default)
    recovery.tiered_recovery = true (default)
    recovery.preservation = ["active_issue","session_continuity","decision_log","trajectory"] (default)
    recovery.brief_tokens = 600 (default)
    recovery.level1_tokens = 100 (default)
    recovery.level2_tokens = 500 (default)
    capture.archive = "on" (default)
    capture.keep = "365d" (default)
    capture.max_megabytes = 4096 (default)
    capture.ask = "off" (default)
    capture.distill = "off" (default)
    recall.agents = "repository" (default)
    team.notes_from = "team" (default)
    context.yellow = 0.5 (default)
    context.orange = 0.75 (default)
    context.red = 0.9 (default)
    inherit.select = [] (default)
    inherit.max_tokens = 8000 (default)
    inherit.max_depth = 3 (default)
    run.verify = [] (default)
    run.max_cost = 2.0 (c.yaml:2:17)
    run.idle_timeout = "1h" (default)
    run.comprehension = "optional" (default)
    run.strict = false (default)
    work.gate = [] (default)
    work.gate_timeout = "1h" (default)
    work.setup = [] (default)
    work.max_agents = 2 (default)
    work.max_fixes = 3 (default)
    work.review.max = 2 (default)
    work.silence = "15m" (default)
    work.merge = "together" (default)
    work.permissions = "accept" (default)
    work.resume = false (default)
    work.strict = false (default)
    trust.paths = [] (default)
    "#);
}

#[test]
fn both_readers_of_a_requirement_read_it_alike() {
    let triggers = |text: &str| {
        let text = format!("requirements: {{p: {{trigger_tools: [{{command: {text}}}]}}}}\n");
        let resolved = one(&text).unwrap();
        let Either::Second(trigger) =
            resolved.settings.requirements["p"].trigger_tools.as_ref().unwrap().items()[0].clone()
        else {
            panic!("no map")
        };
        let policy = crate::guard::settings::policy(&resolved.tree);
        let applied: Vec<Vec<String>> = policy.requirements[0]
            .triggers
            .iter()
            .map(|trigger| trigger.command.clone().unwrap().0)
            .collect();
        assert_eq!(trigger.command.unwrap().items(), applied, "{text}");
        applied.into_iter().map(|words| words.join(" ")).collect::<Vec<_>>()
    };
    assert_eq!(triggers("git push"), ["git push"]);
    assert_eq!(triggers("[git, push]"), ["git push"]);
    assert_eq!(triggers("[[git], [gh]]"), ["git", "gh"]);
    assert_eq!(triggers("[[git, push], [gh, pr]]"), ["git push", "gh pr"]);
    for text in [
        "{ttl: 1h30m}",
        "{ttl: 2w, cache_ttl: 90}",
        "{evidence: [diff, {file: PLAN.md}]}",
        "{evidence: diff}",
        "{may_satisfy: [person]}",
        "{trigger_tools: Edit}",
    ] {
        let resolved = one(&format!("requirements: {{p: {text}}}\n")).unwrap();
        let policy = crate::guard::settings::policy(&resolved.tree);
        assert_eq!(policy.problems, [], "{text}");
    }
    for text in ["{trigger_tools: 7}", "{trigger_tools: [{command: [[git], gh]}]}", "{ttl: x}", "7"]
    {
        assert!(one(&format!("requirements: {{p: {text}}}\n")).is_err(), "{text}");
        let tree = json!({"requirements": {"p": yaml_of(text)}});
        assert!(!crate::guard::settings::policy(&tree).problems.is_empty(), "{text}");
    }
}

fn yaml_of(text: &str) -> serde_json::Value {
    crate::yaml::parse(text, 0).unwrap().to_json()
}

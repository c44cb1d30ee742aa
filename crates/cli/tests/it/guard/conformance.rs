//! One case a row: a tool use, and whether it is gated.

use serde_json::{Value, json};

use super::{CLAUDE_EVENTS, Guarded, ONE, Said};

const SETTINGS: &str = r#"
requirements:
  plan: {trigger_tools: [Edit, Write, MultiEdit, NotebookEdit], message: "plan first"}
  github: {trigger_tools: ["mcp__github__*"]}
  push: {scope: single_use, trigger_tools: [{tool: Bash, command: [git, push]}]}
  pattern: {trigger_tools: [{tool: Bash, command_pattern: 'terraform\s+apply'}]}
  secrets: {trigger_tools: [{tool: Read, path: "secrets/**"}]}
  todo: {trigger_tools: [{tool: TodoWrite, content: "(?i)drop table"}]}
  off: {enabled: false, trigger_tools: [Glob]}
  silent: {enforcement: "off", trigger_tools: [Grep]}
  later: {stop_only: true, trigger_tools: [WebFetch]}
"#;

/// Tool, input, and the requirement that denies it.
fn uses() -> Vec<(&'static str, Value, Option<&'static str>)> {
    vec![
        ("Edit", json!({"file_path": "src/a.rs"}), Some("plan")),
        ("Write", json!({"file_path": "src/a.rs", "content": "x"}), Some("plan")),
        ("MultiEdit", json!({"file_path": "src/a.rs", "edits": []}), Some("plan")),
        ("NotebookEdit", json!({"notebook_path": "a.ipynb"}), Some("plan")),
        ("Edit", json!({}), Some("plan")),
        ("Edit", Value::Null, Some("plan")),
        ("Edit", json!({"file_path": 7}), Some("plan")),
        ("Edit", json!({"file_path": ".claude/plans/p.md"}), None),
        ("Write", json!({"file_path": "docs/plans/p.md"}), None),
        ("edit", json!({"file_path": "a"}), None),
        ("EditX", json!({"file_path": "a"}), None),
        ("Read", json!({"file_path": "src/a.rs"}), None),
        ("Read", json!({"file_path": "secrets/key"}), Some("secrets")),
        ("Read", json!({"file_path": "./secrets/deep/key"}), Some("secrets")),
        ("Read", json!({"file_path": "src/../secrets/key"}), Some("secrets")),
        ("Read", json!({"file_path": "not/secrets/key"}), None),
        ("mcp__github__create_pr", json!({"title": "x"}), Some("github")),
        ("mcp__github__", json!({}), Some("github")),
        ("mcp__gitlab__create_pr", json!({}), None),
        ("TodoWrite", json!({"content": "then DROP TABLE users"}), Some("todo")),
        ("TodoWrite", json!({"content": "drop the idea"}), None),
        ("Glob", json!({"pattern": "*"}), None),
        ("Grep", json!({"pattern": "x"}), None),
        ("WebFetch", json!({"url": "http://localhost"}), None),
        (
            "MultiEdit",
            json!({"file_path": "secrets/a", "edits": [{"new_string": "x"}]}),
            Some("plan"),
        ),
        ("Edit", json!({"file_path": "/elsewhere/docs/plans/p.md"}), Some("plan")),
        ("Write", json!({"file_path": "docs/plans/../../src/a.rs"}), Some("plan")),
        ("Write", json!("file_path"), Some("plan")),
        ("Write", json!([1, 2]), Some("plan")),
        (
            "apply_patch",
            json!({"command": "*** Begin Patch\n*** Add File: a\n*** End Patch"}),
            None,
        ),
        ("Read", json!({"file_path": "secrets"}), None),
        ("Read", json!({"file_path": "secrets/"}), None),
        ("Read", json!({"file_path": "SECRETS/key"}), None),
        ("Read", json!({"path": "secrets/key"}), Some("secrets")),
        ("mcp__GitHub__create_pr", json!({}), None),
        ("x-mcp__github__create_pr", json!({}), None),
        ("TodoWrite", json!({"content": ["drop table"]}), None),
        ("TodoWrite", json!({"text": "drop table"}), None),
        ("Bash", json!({}), None),
        ("Skill", json!({"skill": "arch-review"}), None),
        ("Agent", json!({"prompt": "go"}), None),
        ("", json!({}), None),
        ("日本語", json!({"file_path": "a"}), None),
    ]
}

/// A shell command, and the requirement that denies it.
const COMMANDS: &[(&str, Option<&str>)] = &[
    ("git push", Some("push")),
    ("git push origin main", Some("push")),
    ("git -C . push", Some("push")),
    ("git -c user.name=x push --force", Some("push")),
    ("cd src && git push", Some("push")),
    ("true; git push", Some("push")),
    ("true | git push", Some("push")),
    ("(git push)", Some("push")),
    ("$(git push)", Some("push")),
    ("env A=b git push", Some("push")),
    ("sudo -u me git push", Some("push")),
    ("A=b git push", Some("push")),
    ("bash -c 'git push'", Some("push")),
    ("if true; then git push; fi", Some("push")),
    ("git 'push'", Some("push")),
    ("time git push &", Some("push")),
    ("/usr/bin/git push", Some("push")),
    ("git --no-pager push", Some("push")),
    ("git --git-dir=.git push", Some("push")),
    ("command git push", Some("push")),
    ("nohup nice -n 5 git push > log 2>&1 &", Some("push")),
    ("xargs -n 1 git push < branches", Some("push")),
    ("find . -name x -exec git push {} \\;", Some("push")),
    ("for b in a b; do git push origin $b; done", Some("push")),
    ("case x in x) git push;; esac", Some("push")),
    ("f() { git push; }; f", Some("push")),
    ("echo \"$(git push)\"", Some("push")),
    ("echo `git push`", Some("push")),
    ("cat <(git push)", Some("push")),
    ("bash <<'E'\ngit push\nE", Some("push")),
    ("eval 'git push'", Some("push")),
    ("git \\\n  push", Some("push")),
    ("{ git push; }", Some("push")),
    ("! git push", Some("push")),
    ("[ -f x ] && git push || true", Some("push")),
    ("timeout 60 git push", Some("push")),
    ("git push # quietly", Some("push")),
    ("cat <<'E'\ngit push\nE", None),
    ("echo \"git push\" > todo.md", None),
    ("git log --grep='git push'", None),
    ("grep -r 'git push' .", None),
    ("printf '%s' git push", None),
    ("git stash push", None),
    ("gitpush", None),
    ("echo git push", None),
    ("echo 'git push'", None),
    ("git commit -m 'git push later'", None),
    ("# git push", None),
    ("git pull", None),
    ("git pushy", None),
    ("", None),
    ("terraform   apply", Some("pattern")),
    ("terraform plan", None),
    ("heirloom req satisfy plan", None),
    ("heirloom req status && git push", Some("push")),
];

#[test]
fn each_tool_use_is_gated_or_not_as_the_settings_say() {
    let guarded = Guarded::new(SETTINGS);
    let commands = COMMANDS.iter().map(|(command, by)| ("Bash", json!({"command": command}), *by));
    let cases: Vec<_> = uses().into_iter().chain(commands).collect();
    assert!(cases.len() >= 90, "{}", cases.len());
    for (tool, input, denied_by) in cases {
        let said = guarded.tool("PreToolUse", ONE, tool, &input);
        match denied_by {
            Some(name) => {
                assert!(said.is_denied(), "{tool} {input}: {said:?}");
                let first = said.text().lines().next().unwrap();
                assert!(first.contains(name), "{tool} {input}: {first}");
            }
            None => assert_eq!(said, Said::Nothing, "{tool} {input}"),
        }
    }
}

#[test]
fn every_event_of_the_agent_is_answered_with_silence_where_there_is_nothing_to_say() {
    let guarded = Guarded::new("requirements: {}\n");
    let others = ["Notification", "SomethingNew"];
    let all = CLAUDE_EVENTS.iter().chain(&others).filter(|event| **event != "SessionStart");
    for event in all {
        assert_eq!(
            guarded.hook(event, ONE, &json!({"new_field": [1, {"a": null}]})),
            Said::Nothing,
            "{event}"
        );
    }
    let said = guarded.start(ONE, "startup");
    let started = said.text();
    assert!(
        started.starts_with("heirloom is active here; there are no requirements."),
        "{started}"
    );
    let (_, record) = started.split_once('\n').unwrap();
    assert!(record.contains("heirloom note decision"), "{record}");
    assert!(heirloom_core::tokens::estimate(record) < 60, "{record}");
}

#[test]
fn a_denial_says_what_to_do_and_nothing_else() {
    let guarded = Guarded::new(
        "requirements:\n  commit_plan: {satisfied_by_skill: arch-review}\n  tdd_planned: {satisfied_by_skill: arch-review}\n",
    );
    insta::assert_snapshot!(guarded.edit(ONE).text(), @"
    commit_plan and tdd_planned are not met for this session.
    Run /arch-review: it satisfies both. Nothing was written on main.
    A person can waive this.
    ");
}

use serde_json::{Value, json};

use super::danger::Danger;
use super::policy::{OnUncertain, Policy};
use super::requirement::{Evidence, Measure, Requirement, Rule, Scope};
use super::settings::policy;
use crate::legacy::requirements::{self as original, Layers};

#[expect(clippy::needless_pass_by_value, reason = "a table of literals reads better")]
fn only(requirement: Value) -> Requirement {
    let policy = policy(&json!({"requirements": {"x": requirement}}));
    assert_eq!(policy.problems, [], "{:?}", policy.problems);
    policy.requirements.into_iter().next().unwrap()
}

fn problems(tree: &Value) -> String {
    policy(tree).problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn names(policy: &Policy) -> Vec<&str> {
    policy.requirements.iter().map(|r| r.name.as_str()).collect()
}

#[test]
fn the_documented_example_is_read() {
    let read = policy(&json!({"agents": {}, "requirements": {"commit_plan": {
        "scope": "session", "type": "blocking",
        "trigger_tools": ["Edit", "Write", "mcp__github__*", {"tool": "Bash", "command_pattern": r"git\s+commit"},
            {"tool": "Bash", "command": ["git", "push"]}, {"tool": "Edit", "path": "src/**"}],
        "satisfied_by_skill": "arch-review", "stop_only": false,
        "message": "Run /{skill} first (session {session}).",
    }}}));
    assert_eq!(read.problems, []);
    insta::assert_json_snapshot!(read.requirements, @r#"
    [
      {
        "name": "commit_plan",
        "scope": "session",
        "rule": "blocking",
        "triggers": [
          {
            "tool": "Edit"
          },
          {
            "tool": "Write"
          },
          {
            "tool": "mcp__github__*"
          },
          {
            "tool": "Bash",
            "command_pattern": "git\\s+commit"
          },
          {
            "tool": "Bash",
            "command": [
              "git",
              "push"
            ]
          },
          {
            "tool": "Edit",
            "paths": [
              "src/**"
            ]
          }
        ],
        "skills": [
          "arch-review"
        ],
        "enforcement": "block",
        "on_error": "allow",
        "message": "Run /{skill} first (session {session})."
      }
    ]
    "#);
}

#[test]
fn a_requirement_with_nothing_said_gates_every_edit() {
    for value in [json!({}), json!(true), json!({"enabled": true})] {
        assert_eq!(only(value), Requirement::new("x"));
    }
    let off = policy(&json!({"requirements": {"a": {"enabled": false}, "b": false}}));
    assert_eq!((off.requirements.len(), off.disabled), (0, vec!["a".to_owned(), "b".to_owned()]));
}

#[test]
fn the_types_are_read_with_their_own_settings() {
    let dynamic = |more: Value| {
        let mut value = json!({"type": "dynamic", "thresholds": {"warn": 250, "block": 400}});
        value.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        only(value)
    };
    let size = dynamic(json!({"calculator": "branch_size_calculator", "approval_ttl": "10m"}));
    assert_eq!(
        size.rule,
        Rule::Dynamic { measure: Measure::BranchSize, warn: Some(250.0), block: 400.0, cache: 60 }
    );
    assert_eq!(size.ttl, Some(600));
    let todo = dynamic(json!({"measure": {"command": "grep -c TODO x"}}));
    assert!(
        matches!(todo.rule, Rule::Dynamic { measure: Measure::Command(c), .. } if c == "grep -c TODO x")
    );
    let guard = only(
        json!({"type": "guard", "guard_type": "protected_branch", "protected_branches": ["main", "release/*"]}),
    );
    assert_eq!(
        guard.rule,
        Rule::ProtectedBranch { branches: vec!["main".into(), "release/*".into()] }
    );
    assert_eq!(
        only(json!({"type": "guard", "guard_type": "single_session"})).rule,
        Rule::SingleSession
    );
}

#[test]
fn evidence_is_a_file_a_command_or_a_diff() {
    assert_eq!(
        only(json!({"evidence": {"dirs": ["docs/plans"], "require_markers": ["Plan"], "require_verdict": "APPROVED", "max_age_seconds": 60}})).evidence,
        [Evidence::File { paths: vec!["docs/plans".into()], markers: vec!["Plan".into(), "APPROVED".into()], max_age: Some(60) }]
    );
    assert_eq!(
        only(json!({"evidence": [{"command": "cargo test", "timeout": "5m"}, {"diff": true}]}))
            .evidence,
        [
            Evidence::Command { run: "cargo test".into(), timeout: 300 },
            Evidence::Diff { paths: vec![] }
        ]
    );
    assert_eq!(
        only(json!({"evidence": {"diff": "src/**"}})).evidence,
        [Evidence::Diff { paths: vec!["src/**".into()] }]
    );
}

#[test]
fn one_mapping_may_name_several_tools_and_commands() {
    let triggers = only(json!({"trigger_tools": [{"command": [["git", "push"], ["gh", "pr", "create"]]}, {"path": ["a/**", "b/**"]}]})).triggers;
    assert_eq!(triggers.len(), 2 + 4);
    assert!(triggers[..2].iter().all(|t| t.tool == "Bash" && t.is_about_a_command()));
    assert!(triggers[2..].iter().all(|t| t.paths == ["a/**", "b/**"]));
    assert_eq!(only(json!({"trigger_tools": {"command": "git push"}})).triggers, triggers[..1]);
}

#[test]
fn what_yaml_made_a_number_of_and_what_says_nothing_is_read_as_it_was_meant() {
    let read = only(json!({
        "trigger_tools": [{"command": ["sleep", 5]}, {"command": [["git", "push"], ["kill", 9]]},
            {"tool": "Bash"}],
        "checklist": ["one", 2, ""], "satisfied_by_skill": "", "message": "", "may_satisfy": "person",
    }));
    let commands = read.triggers.iter().filter_map(|trigger| trigger.command.as_ref());
    let commands: Vec<String> = commands.map(|words| words.0.join(" ")).collect();
    assert_eq!(commands, ["sleep 5", "git push", "kill 9"]);
    assert_eq!(read.message.as_deref(), Some("Go through this first:\n- one\n- 2"));
    assert_eq!((read.skills.len(), read.word), (0, Some(false)));
    let one_word_each = only(json!({"trigger_tools": {"command": [["git"], ["gh"]]}})).triggers;
    assert_eq!(one_word_each.len(), 2, "two commands, not one of two words");
}

#[test]
fn a_branch_that_looks_like_a_number_is_protected_as_it_is_written() {
    let read = only(
        json!({"type": "guard", "guard_type": "protected_branch", "protected_branches": [1.0, 2]}),
    );
    assert_eq!(read.rule, Rule::ProtectedBranch { branches: vec!["1.0".into(), "2".into()] });
}

#[test]
fn what_nothing_reads_takes_no_dangerous_command_off_the_list() {
    let read = policy(&json!({"requirements": {"dangerous": {"ttl": "soon"}}}));
    assert_eq!(read.requirements.len(), Danger::ALL.len());
    assert!(read.problems.iter().all(|problem| !problem.fatal), "{:?}", read.problems);
}

#[test]
fn what_is_wrong_about_the_guard_itself_weakens_nothing() {
    let read = policy(&json!({"guard": {"on_uncertain": "denny", "carry_over": {"window": "x"}}}));
    assert_eq!((read.on_uncertain, read.carry_over), (OnUncertain::Deny, None));
    assert_eq!(read.problems.len(), 2);
}

#[test]
fn a_bad_requirement_is_reported_and_the_others_hold() {
    let tree = json!({"requirements": {
        "scope": {"scope": "sesion"}, "type": {"type": 3}, "list": [], "text": "yes",
        "string": {"enabled": "false"}, "regex": {"trigger_tools": [{"tool": "Bash", "command_pattern": "git ("}]},
        "ahead": {"trigger_tools": [{"tool": "Bash", "command_pattern": "git(?! status)"}]},
        "condition": {"trigger_tools": [{"tool": "Edit", "paht": "x"}]}, "tools": {"trigger_tools": [3]},
        "guard": {"type": "guard"}, "dynamic": {"type": "dynamic"}, "negative": {"type": "dynamic", "thresholds": {"block": -1}},
        "ttl": {"ttl": "soon"}, "evidence": {"evidence": {"marker": "x"}}, "sp ace": {}, "one": {"trigger_tools": {"command": ["git push"]}},
        "empty": {"trigger_tools": {"command": ""}}, "good": {"messge": "x"},
    }});
    assert_eq!(names(&policy(&tree)), ["good"]);
    insta::assert_snapshot!(problems(&tree), @"
    requirements.scope.scope: cannot be `sesion` (did you mean `session`? allowed: `session`, `branch`, `single_use`, `permanent`)
    requirements.type.type: takes text, not the number 3 (put the value in quotes)
    requirements.list: takes a map, not a list
    requirements.text: takes a map, not the text `yes`
    requirements.string.enabled: takes `true` or `false`, not the text `false` (write `false`)
    requirements.regex.trigger_tools[0].command_pattern: is not a regular expression: unclosed group
    requirements.ahead.trigger_tools[0].command_pattern: is not a regular expression: look-around, including look-ahead and look-behind, is not supported
    requirements.condition.trigger_tools[0].paht: unknown key (did you mean `path`?)
    requirements.tools.trigger_tools[0]: takes text or a map, not the number 3
    requirements.guard.guard_type: is missing: a requirement of the type `guard` says what it watches
    requirements.dynamic.thresholds.block: is missing: a requirement of the type `dynamic` says from when on it blocks
    requirements.negative.thresholds.block: must be 0 or more, not -1
    requirements.ttl.ttl: `soon` is not a duration (write seconds, or `90s`, `10m`, `1h30m`, `2d`)
    requirements.evidence.evidence: evidence is a file, a command or a diff (file: …, command: … or diff: true)
    requirements.\"sp ace\": a requirement's name has no spaces and is not empty
    requirements.one.trigger_tools.command: takes the words of a command, like [git, push], not a list
    requirements.empty.trigger_tools.command: is empty text (write a value, or leave the key out)
    requirements.good.messge: unknown key (did you mean `message`?)
    ");
    assert_eq!(problems(&json!({"requirements": [1]})), "requirements: takes a map, not a list");
    assert_eq!(problems(&json!({"guard": 1})), "guard: takes a map, not the number 1");
}

#[test]
fn the_guard_section_says_how_requirements_apply() {
    let read = policy(
        &json!({"guard": {"enforcement": "warn", "stop_blocks": 5, "exempt": "tmp/**", "stop_scopes": ["branch"],
        "carry_over": {"window": "5m"}, "start_tokens": 0}, "requirements": {"a": {}, "b": {"enforcement": "block"}}}),
    );
    assert_eq!(read.problems, []);
    insta::assert_snapshot!(format!("{:?}", (read.stop_blocks, &read.exempt, &read.stop_scopes, &read.carry_over, read.start_tokens)),
        @r#"(5, ["tmp/**"], [Branch], Some(CarryOver { window: 300, scopes: [Session] }), 0)"#);
    insta::assert_snapshot!(format!("{:?}", read.requirements.iter().map(|r| r.enforcement).collect::<Vec<_>>()), @"[Warn, Block]");
}

#[test]
fn the_originals_files_are_layered_as_they_were() {
    let user = json!({"requirements": {"commit_plan": {"enabled": true, "message": "user", "trigger_tools": ["Edit", "Write"]}, "unsaid": {"scope": "branch"}}});
    let project =
        json!({"requirements": {"commit_plan": {"message": "project", "trigger_tools": ["Edit"]}}});
    let local = json!({"requirements": {"commit_plan": {"scope": "branch"}}});
    let layers =
        Layers { user: Some(user), project: Some(project), local: Some(local), guard: None };

    let read = original::policy(layers.clone()).unwrap();
    assert_eq!(
        (names(&read), read.disabled.as_slice()),
        (vec!["commit_plan"], ["unsaid".to_owned()].as_slice())
    );
    let plan = &read.requirements[0];
    assert_eq!(
        (plan.message.as_deref(), plan.scope, plan.triggers.len()),
        (Some("project"), Scope::Branch, 1)
    );
    assert_eq!(read.stop_scopes, [Scope::Session]);

    let mut alone = layers.clone();
    alone.project.as_mut().unwrap()["inherit"] = json!(false);
    assert_eq!(names(&original::policy(alone).unwrap()), [""; 0]);
    let guard = Some(json!({"enabled": false}));
    assert!(!original::policy(Layers { guard, ..layers.clone() }).unwrap().enabled);
    assert!(original::policy(Layers { project: None, ..layers }).is_none());
}

#[test]
fn the_originals_skills_satisfy_what_they_always_did() {
    let project = json!({"requirements": {
        "tdd_planned": {"enabled": true, "auto_resolve_skill": "requirements-framework:mine", "adr_path": "free-form"},
        "solid_reviewed": {"enabled": true}, "own": {"enabled": true}}});
    let read = original::policy(Layers { project: Some(project), ..Layers::default() }).unwrap();
    assert_eq!(read.problems, []);
    let by = |skill: &str| -> Vec<&str> {
        let all = read.requirements.iter().filter(|r| r.is_satisfied_by_skill(skill));
        all.map(|r| r.name.as_str()).collect()
    };
    assert_eq!(by("requirements-framework:arch-review"), ["tdd_planned", "solid_reviewed"]);
    assert_eq!(by("mine"), ["tdd_planned"]);
    assert_eq!(by("own"), [""; 0]);
}

#[test]
fn the_originals_hook_settings_are_kept() {
    let read = |tree: Value| {
        original::policy(Layers { project: Some(tree), ..Layers::default() }).unwrap()
    };
    assert!(!read(json!({"enabled": false})).enabled);
    assert_eq!(read(json!({"hooks": {"stop": {"verify_requirements": false}}})).stop_scopes, []);
    assert_eq!(
        read(json!({"hooks": {"session_start": {"inject_context": false}}})).start_tokens,
        0
    );
    let carry = json!({"hooks": {"session_start": {"carry_over": {"enabled": true, "window_seconds": 30}}}});
    assert_eq!(read(carry).carry_over.unwrap().window, 30);
    let ends = json!({"hooks": {"session_end": {"clear_session_state": true},
        "session_start": {"carry_over": {"enabled": true, "window_seconds": 30}}}});
    assert!(read(ends).carry_over.is_none(), "nothing outlives its session");
    assert_eq!(read(json!(null)).requirements.len(), 0);
}

#[test]
fn a_checklist_is_told_and_what_is_on_its_way_out_is_reported() {
    let tree = json!({"requirements": {
        "plan": {"message": "Plan first.", "checklist": ["scope", "risks"]},
        "old": {"deprecated": true, "deprecated_message": "use plan"},
    }});
    let read = policy(&tree);
    assert_eq!(read.get("plan").unwrap().message.as_deref(), Some("Plan first.\n- scope\n- risks"));
    assert!(read.get("old").is_some());
    let problems: Vec<String> = read.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            "requirements.old.deprecated: it is on its way out, and holds until it is gone (use plan)"
        ]
    );
}

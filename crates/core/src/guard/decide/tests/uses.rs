//! Before and after a tool use.

use super::*;
use crate::guard::requirement::Scope;

#[test]
fn a_denial_names_all_that_is_unmet_and_the_one_way_out() {
    let policy = policy(
        json!({"commit_plan": {"satisfied_by_skill": "arch-review"}, "tdd_planned": {"satisfied_by_skill": "arch-review"}}),
    );
    insta::assert_snapshot!(reason(edit(&policy, &mut World::default())), @"
    commit_plan and tdd_planned are not met for this session.
    Run /arch-review: it satisfies both. Nothing was written on feature/auth.
    A person can waive this.
    ");
}

#[test]
fn a_denial_groups_by_skill_and_says_every_reason() {
    let policy = policy(json!({
        "plan": {"satisfied_by_skill": ["write-plan", "arch-review"]},
        "design": {"satisfied_by_skill": "arch-review", "scope": "branch"},
        "ticket": {"scope": "branch"},
        "size": {"type": "dynamic", "thresholds": {"block": 400}, "message": "Split {branch}: {value} lines, {threshold} is the limit {unknown}."},
        "main_is_safe": {"type": "guard", "guard_type": "protected_branch", "protected_branches": ["feature/*"]},
        "alone": {"type": "guard", "guard_type": "single_session"},
        "custom": {"message": "Run /{skill} first (session {session}).", "satisfied_by_skill": "x:own"},
        "tests": {"evidence": {"command": "cargo test"}},
    }));
    let mut world =
        World { measured: 412.0, others: vec!["cad0ac4d-3933".into()], ..World::default() };
    world.commands.insert("cargo test".into(), false);
    insta::assert_snapshot!(reason(edit(&policy, &mut world)), @"
    plan, design, ticket, size, main_is_safe, alone, custom and tests are not met.
    ticket: say why it is met: heirloom req satisfy ticket --session 8272974a --reason WHY.
    size: 412 has reached 400, measured 40 s ago.
    Split feature/auth: 412 lines, 400 is the limit {unknown}.
    main_is_safe: feature/auth is protected. Work on a branch of its own.
    alone: also working here: cad0ac4d.
    Run /x:own first (session 8272974a).
    tests: `cargo test` does not succeed.
    Run /arch-review: it satisfies plan and design. Nothing was written on feature/auth.
    A person can waive this.
    ");
}

#[test]
fn a_denied_tool_use_arms_nothing() {
    let policy = policy(json!({"a": {}, "b": {"stop_only": true}}));
    let denied = edit(&policy, &mut World::default());
    assert!(matches!(denied.verdict, Verdict::Deny { .. }));
    assert_eq!((denied.triggered.len(), denied.warned.len()), (0, 0));
}

#[test]
fn an_allowed_tool_use_is_silent_and_arms_once() {
    let policy =
        policy(json!({"a": {}, "b": {"stop_only": true}, "other": {"trigger_tools": ["Write"]}}));
    let mut world = World::default();
    world.satisfy(&policy, "a");
    let allowed = edit(&policy, &mut world);
    assert_eq!((&allowed.verdict, &allowed.triggered), (&Verdict::Silent, &vec!["a", "b"]));
    for name in ["a", "b"] {
        world.change(name, "feature/auth", ChangeKind::Triggered(at(1)));
    }
    assert_eq!(edit(&policy, &mut world).triggered, [""; 0]);
}

#[test]
fn nothing_is_asked_where_nothing_fits() {
    let policy = policy(
        json!({"a": {}, "b": {"trigger_tools": [{"tool": "Bash", "command": ["git", "push"]}]}, "c": {"enforcement": "off", "trigger_tools": ["Bash"]}}),
    );
    let mut world = World::default();
    assert_eq!(bash(&policy, "echo git push", &mut world).verdict, Verdict::Silent);
    let off = Policy { enabled: false, ..policy };
    assert_eq!(bash(&off, "git push", &mut world).verdict, Verdict::Silent);
    assert_eq!(world.questions, 0);
}

#[test]
fn a_command_that_is_denied_was_not_run() {
    let policy = policy(
        json!({"reviewed": {"scope": "single_use", "satisfied_by_skill": "pre-commit", "trigger_tools": [{"command": ["git", "commit"]}]}}),
    );
    insta::assert_snapshot!(reason(bash(&policy, "git add . && git commit -m x", &mut World::default())), @"
    reviewed is not met for this action.
    It is about `git commit -m x`.
    Run /pre-commit. Nothing was run on feature/auth.
    A person can waive this.
    ");
}

#[test]
fn what_is_not_enforced_is_said_once() {
    let policy = policy(
        json!({"a": {"enforcement": "warn", "satisfied_by_skill": "s"}, "size": {"type": "dynamic", "thresholds": {"warn": 10, "block": 20}}}),
    );
    let mut world = World { measured: 12.0, ..World::default() };
    let first = edit(&policy, &mut world);
    insta::assert_snapshot!(format!("{:?}", first.verdict), @r#"Warn { text: "a is not met for this session. Run /s.\nsize: 12 is past 10, where it is worth a thought." }"#);
    assert_eq!((first.warned, first.triggered), (vec!["a", "size"], vec!["a", "size"]));
    for name in ["a", "size"] {
        world.change(name, "feature/auth", ChangeKind::Warned(at(1)));
    }
    assert_eq!(edit(&policy, &mut world).verdict, Verdict::Silent);
}

#[test]
fn a_fault_lets_the_agent_go_on_unless_the_settings_say_otherwise() {
    let open = policy(json!({"a": {}}));
    let mut world = World { is_broken: true, ..World::default() };
    let allowed = edit(&open, &mut world);
    assert_eq!((&allowed.verdict, allowed.faults.len()), (&Verdict::Silent, 1));
    let closed = policy(json!({"a": {"on_error": "deny", "satisfied_by_skill": "s"}}));
    insta::assert_snapshot!(reason(edit(&closed, &mut world)), @"
    a is not met for this session.
    a could not be checked (a fault, not a violation): the ledger is locked. Nothing was written on feature/auth.
    A person can waive this.
    ");
}

#[test]
fn a_review_satisfies_only_what_it_saw() {
    let policy = policy(json!({"reviewed": {"satisfied_by_skill": "s", "evidence": "diff"}}));
    let mut world = World { diff: "one".into(), ..World::default() };
    let satisfied = |by: &str, reviewed: Option<&str>| Satisfied {
        reviewed: reviewed.map(str::to_owned),
        ..Satisfied::now(policy.get("reviewed").unwrap(), by, at(1), None)
    };
    for (by, reviewed, is_met) in [
        (BY_SKILL, Some("one"), true),
        (BY_SKILL, Some("two"), false),
        (BY_SKILL, None, false),
        (BY_PERSON, None, true),
        (BY_PERSON, Some("two"), false),
    ] {
        world.change(
            "reviewed",
            "feature/auth",
            ChangeKind::Satisfied(Scope::Session, satisfied(by, reviewed)),
        );
        assert_eq!(
            edit(&policy, &mut world).verdict == Verdict::Silent,
            is_met,
            "{by} {reviewed:?}"
        );
    }
}

#[test]
fn a_file_is_evidence_while_it_says_so_and_is_fresh() {
    let policy = policy(
        json!({"plan": {"evidence": {"file": "docs/plan.md", "marker": "Approved", "max_age": 60}}}),
    );
    let file = |second: i64, text: &str| FileFact {
        path: "docs/plan.md".into(),
        modified: at(second),
        text: text.into(),
    };
    for (files, expected) in [
        (vec![file(50, "APPROVED by me")], "Silent"),
        (vec![file(90, "draft"), file(50, "approved")], "Silent"),
        (vec![], "plan: there is no file at docs/plan.md."),
        (vec![file(0, "approved")], "plan: docs/plan.md is too old."),
        (vec![file(90, "draft")], "plan: docs/plan.md does not say `Approved`."),
    ] {
        let mut world = World { files, ..World::default() };
        assert!(reason(edit(&policy, &mut world)).contains(expected), "{expected}");
    }
}

#[test]
fn a_single_use_is_used_up_by_what_it_gates_and_only_by_success() {
    let policy = policy(
        json!({"reviewed": {"scope": "single_use", "trigger_tools": ["Edit", {"command": ["git", "commit"]}]}}),
    );
    let mut world = World::default();
    world.satisfy(&policy, "reviewed");
    let mut used = |command: &str, succeeded: bool| {
        let input = json!({"command": command});
        let branch = BranchKey::branch("feature/auth");
        after(
            &policy,
            &ToolUse::read("Bash", &input),
            &PLACE,
            Ran { branch: &branch, succeeded },
            &mut world,
        )
        .used
        .len()
    };
    assert_eq!(
        (used("git commit", false), used("git status", true), used("git commit", true)),
        (0, 0, 1)
    );
    let edited = on_branch(|m| {
        after(
            &policy,
            &ToolUse::read("Edit", &Value::Null),
            &PLACE,
            Ran { branch: m.branch, succeeded: true },
            &mut world,
        )
        .used
        .len()
    });
    assert_eq!(edited, 0);
}

#[test]
fn what_ran_without_being_asked_about_counts_too() {
    let policy = policy(json!({"a": {"stop_only": true}}));
    let mut world = World::default();
    let ran = |world: &mut World| {
        let after = on_branch(|m| {
            after(
                &policy,
                &ToolUse::read("Edit", &Value::Null),
                &PLACE,
                Ran { branch: m.branch, succeeded: false },
                world,
            )
            .triggered
        });
        after.len()
    };
    assert_eq!(ran(&mut world), 1);
    world.change("a", "feature/auth", ChangeKind::Triggered(at(0)));
    assert_eq!(ran(&mut world), 0);
}

#[test]
fn a_skill_satisfies_all_that_name_it_however_it_was_called() {
    let policy = policy(
        json!({"a": {"satisfied_by_skill": "arch-review"}, "b": {"auto_resolve_skill": "x:arch-review"}, "c": {}}),
    );
    let by = |skill: &str| {
        satisfied_by_skill(&policy, skill).map(|r| r.name.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(by("arch-review"), ["a", "b"]);
    assert_eq!(by("y:arch-review"), ["a"]);
    for (prompt, skill) in [
        ("/arch-review", Some("arch-review")),
        ("  /x:arch-review src/ --all\nmore", Some("x:arch-review")),
        ("/usr/bin/ls is broken", None),
        ("run /arch-review", None),
        ("/", None),
        ("//x", None),
        ("", None),
    ] {
        assert_eq!(typed_skill(prompt), skill, "{prompt}");
    }
}

#[test]
fn what_is_not_certain_is_asked_where_the_agent_can() {
    let policy = policy(json!({"review": {"trigger_tools": [{"command": "git push"}]}}));
    let asked = bash(&policy, "cd x && git $SUB origin", &mut World::default());
    let Verdict::Ask { reason, holds } = &asked.verdict else { panic!("{:?}", asked.verdict) };
    insta::assert_snapshot!(reason, @"
    It is not certain what this runs; it may need what is not met. review is not met for this session.
    It is about `git … origin`.
    ");
    assert!(!holds && asked.triggered.is_empty());
    assert_eq!(asked.uncertain, [("review".to_owned(), Some("git … origin".to_owned()))]);
    assert_eq!(asked.verdict.clone().where_agent(false), Verdict::Silent);
    assert_eq!(asked.verdict.clone().where_agent(true), asked.verdict);
}

#[test]
fn what_is_dangerous_or_locked_is_denied_where_nobody_can_be_asked() {
    let locked = json!({"review": {"locked": true, "trigger_tools": [{"command": "git push"}]}});
    for (policy, command) in
        [(policy(locked), "git $SUB"), (policy(json!({"dangerous": true})), "git push $FLAGS")]
    {
        let verdict = bash(&policy, command, &mut World::default()).verdict.where_agent(false);
        assert!(matches!(verdict, Verdict::Deny { .. }), "{command}: {verdict:?}");
    }
}

#[test]
fn what_is_not_certain_is_let_through_or_denied_as_the_settings_say() {
    let requirements = json!({"review": {"trigger_tools": [{"command": "git push"}]}});
    let with = |on_uncertain: &str| {
        let tree = json!({"requirements": requirements, "guard": {"on_uncertain": on_uncertain}});
        crate::guard::settings::policy(&tree)
    };
    let allowed = with("allow");
    let allowed = bash(&allowed, "git $SUB", &mut World::default());
    assert_eq!(allowed.verdict, Verdict::Silent);
    assert_eq!(allowed.uncertain.len(), 1);
    let denied = with("deny");
    let denied = bash(&denied, "git $SUB", &mut World::default());
    assert!(matches!(denied.verdict, Verdict::Deny { .. }));
}

#[test]
fn what_is_met_is_not_asked_about() {
    let policy = policy(json!({"review": {"trigger_tools": [{"command": "git push"}]}}));
    let mut world = World::default();
    world.satisfy(&policy, "review");
    let before = bash(&policy, "git $SUB", &mut world);
    assert_eq!(before.verdict, Verdict::Silent);
    assert!(before.uncertain.is_empty() && before.triggered.is_empty());
}

#[test]
fn a_dangerous_command_is_named_with_its_kind() {
    let policy = policy(json!({"dangerous": true}));
    let denied = bash(&policy, "git add . && git push -f origin main", &mut World::default());
    insta::assert_snapshot!(reason(denied), @"
    dangerous:force-push is not met for this action.
    `git push -f origin main` is dangerous: overwriting or deleting what is on a remote.
    dangerous:force-push: a person has to satisfy it. Nothing was run on feature/auth.
    A person can waive this.
    ");
}

//! Starts and ends, and what holds for every text.

use proptest::prelude::*;

use super::*;
use crate::guard::check::{Judged, Standing, judge};

fn end<'p>(policy: &'p Policy, input: StopInput<'_>, world: &mut World) -> Stop<'p> {
    on_branch(|moment| stop(policy, input, moment, world).0)
}

fn armed(name: &str, branch: &str) -> Armed {
    Armed { name: name.into(), branch: BranchKey::branch(branch) }
}

#[test]
fn a_turn_may_not_end_before_what_it_triggered_is_met() {
    let policy = policy(
        json!({"verified": {"stop_only": true, "satisfied_by_skill": "verify"}, "never": {}, "soft": {"enforcement": "warn"}}),
    );
    let all = [
        armed("verified", "feature/auth"),
        armed("soft", "feature/auth"),
        armed("gone", "feature/auth"),
    ];
    let input = StopInput { armed: &all, ..StopInput::default() };
    let mut world = World::default();
    let Stop::Block { reason, names } = end(&policy, input, &mut world) else {
        panic!("should block")
    };
    assert_eq!(names, ["verified"]);
    insta::assert_snapshot!(reason, @"
    Not finished: verified is not met for this session.
    Run /verify.
    A person can waive this.
    ");
    for silent in
        [StopInput { has_background_tasks: true, ..input }, StopInput { armed: &[], ..input }]
    {
        assert_eq!(end(&policy, silent, &mut world), Stop::Silent);
    }
    world.satisfy(&policy, "verified");
    assert_eq!(end(&policy, input, &mut world), Stop::Silent);
}

#[test]
fn asking_stops_visibly_after_a_few_times() {
    let policy = policy(json!({"a": {}}));
    let all = [armed("a", "feature/auth")];
    let input = StopInput { armed: &all, blocks: 3, ..StopInput::default() };
    let Stop::GiveUp { notice, .. } = end(&policy, input, &mut World::default()) else {
        panic!("should give up")
    };
    insta::assert_snapshot!(notice, @"heirloom asked 3 times and lets the turn end: a is not met for this session.");
}

#[test]
fn asking_stops_before_the_agent_stops_listening() {
    let mut policy = policy(json!({"a": {}}));
    policy.stop_blocks = 20;
    let all = [armed("a", "feature/auth")];
    for (blocks, asks) in [(0, true), (6, true), (7, false), (8, false)] {
        let input = StopInput { armed: &all, blocks, most: Some(7), ..StopInput::default() };
        let stopped = end(&policy, input, &mut World::default());
        assert_eq!(matches!(stopped, Stop::Block { .. }), asks, "{blocks}: {stopped:?}");
    }
}

#[test]
fn what_a_command_decides_is_neither_met_nor_open_at_the_start() {
    let policy = policy(json!({"a": {}, "tests": {"evidence": {"command": "make test"}}}));
    on_branch(|moment| {
        let fault = Fault { what: "`make test` decides".into() };
        let unknown = Judged { standing: Standing::Met(None), own: None, fault: Some(fault) };
        let known = judge(&policy.requirements[0], moment, &mut World::default());
        let standings = [(&policy.requirements[0], known), (&policy.requirements[1], unknown)];
        let notes = ["On feature/auth as well: claude-1234.".to_owned()];
        let branch = moment.branch;
        let text = start(&Start {
            policy: &policy,
            standings: &standings,
            branch,
            paused: None,
            faults: &[],
            notes: &notes,
        });
        insta::assert_snapshot!(text.unwrap(), @"
        heirloom: 0 of 2 requirements met on feature/auth; tests is checked when it is needed.
        On feature/auth as well: claude-1234.
        heirloom req satisfy a --reason WHY → a
        ");
    });
}

#[test]
fn leaving_the_branch_is_no_way_around_the_end_of_a_turn() {
    let policy = policy(
        json!({"a": {}, "guard": {"type": "guard", "guard_type": "protected_branch", "protected_branches": ["*"]}}),
    );
    let all = [armed("a", "left"), armed("guard", "feature/auth")];
    let stopped =
        end(&policy, StopInput { armed: &all, ..StopInput::default() }, &mut World::default());
    assert!(matches!(stopped, Stop::Block { names, .. } if names == ["a"]));
}

#[test]
fn a_small_branch_does_not_keep_a_turn_from_ending() {
    let policy = policy(json!({"size": {"type": "dynamic", "thresholds": {"block": 400}}}));
    let all = [armed("size", "feature/auth")];
    let input = StopInput { armed: &all, ..StopInput::default() };
    for (measured, is_silent) in [(0.0, true), (399.0, true), (400.0, false)] {
        let mut world = World { measured, ..World::default() };
        assert_eq!(end(&policy, input, &mut world) == Stop::Silent, is_silent, "{measured}");
    }
    let mut broken = World { is_broken: true, ..World::default() };
    assert_eq!(end(&policy, input, &mut broken), Stop::Silent);
}

fn started(
    policy: &Policy,
    world: &mut World,
    paused: Option<Paused<'_>>,
    faults: &[String],
) -> Option<String> {
    said(start, policy, world, paused, faults)
}

fn said(
    say: fn(&Start<'_>) -> Option<String>,
    policy: &Policy,
    world: &mut World,
    paused: Option<Paused<'_>>,
    faults: &[String],
) -> Option<String> {
    on_branch(|moment| {
        let judged = |requirement| (requirement, judge(requirement, moment, world));
        let standings: Vec<_> = policy.requirements.iter().map(judged).collect();
        let branch = moment.branch;
        say(&Start { policy, standings: &standings, branch, paused, faults, notes: &[] })
    })
}

#[test]
fn a_session_starts_with_what_is_open_and_how_to_meet_it() {
    let policy = policy(
        json!({"plan": {"satisfied_by_skill": "arch-review"}, "tdd": {"satisfied_by_skill": "arch-review"}, "ticket": {"enforcement": "warn"},
        "size": {"type": "dynamic", "thresholds": {"block": 400}}, "done": {"scope": "branch"}}),
    );
    let mut world = World::default();
    world.satisfy(&policy, "done");
    insta::assert_snapshot!(started(&policy, &mut world, None, &["the ledger was locked".into()]).unwrap(), @"
    heirloom: 2 of 5 requirements met on feature/auth.
    heirloom failed and let the agent continue: the ledger was locked. `heirloom doctor` shows all faults.
    /arch-review → plan and tdd
    heirloom req satisfy ticket --reason WHY → ticket (not enforced)
    ");
    let demo = Paused { reason: "demo", in_repo: false, until: None, session: None };
    insta::assert_snapshot!(started(&policy, &mut world, Some(demo), &[]).unwrap(), @"
    heirloom: 2 of 5 requirements met on feature/auth.
    Requirements are paused in this session (demo): nothing is enforced. `heirloom req resume` enforces them again.
    ");
    // What ends the pause of a session does not end that of the repository.
    let until = Some("2026-01-12T17:30:00Z".parse().unwrap());
    insta::assert_snapshot!(paused_banner(Paused { reason: " ", in_repo: true, until, session: Some("8272974a") }), @"Requirements are paused in this repository until 2026-01-12T17:30:00Z: nothing is enforced. `heirloom req resume --repo` enforces them again.");
    insta::assert_snapshot!(paused_banner(Paused { session: Some("8272974a"), ..demo }), @"Requirements are paused in this session (demo): nothing is enforced. `heirloom req resume --session 8272974a` enforces them again.");
    for name in ["plan", "tdd", "ticket"] {
        world.satisfy(&policy, name);
    }
    insta::assert_snapshot!(started(&policy, &mut world, None, &[]).unwrap(), @"heirloom: all 5 requirements met on feature/auth.");
    assert_eq!(started(&Policy { start_tokens: 0, ..policy.clone() }, &mut world, None, &[]), None);
    insta::assert_snapshot!(started(&Policy { enabled: false, ..policy }, &mut world, None, &[]).unwrap(), @"heirloom: requirements are switched off in the settings.");
    insta::assert_snapshot!(started(&Policy::default(), &mut world, None, &[]).unwrap(), @"heirloom is active here; there are no requirements.");
}

#[test]
fn a_subagent_is_told_what_is_denied_to_it_and_nothing_else() {
    let policy = policy(
        json!({"plan": {"satisfied_by_skill": "arch-review"}, "cla": {"scope": "permanent"}, "ticket": {"enforcement": "warn"},
        "verified": {"stop_only": true}, "size": {"type": "dynamic", "thresholds": {"block": 400}}}),
    );
    let mut world = World::default();
    let told =
        |policy: &Policy, world: &mut World, paused| said(subagent, policy, world, paused, &[]);
    insta::assert_snapshot!(told(&policy, &mut world, None).unwrap(), @"
    heirloom: plan and cla are not met; what needs that is denied to you as well.
    /arch-review → plan
    heirloom req satisfy cla --reason WHY → cla
    ");
    assert_eq!(
        told(
            &policy,
            &mut world,
            Some(Paused { reason: "", in_repo: true, until: None, session: None })
        ),
        None
    );
    assert_eq!(told(&Policy { enabled: false, ..policy.clone() }, &mut world, None), None);
    world.satisfy(&policy, "plan");
    world.satisfy(&policy, "cla");
    assert_eq!(told(&policy, &mut world, None), None);
}

#[test]
fn broken_settings_are_told_to_the_person() {
    let mut policy = crate::guard::settings::policy(
        &json!({"requirements": {"a": {"scope": "x"}, "b": 3, "c": {}}}),
    );
    policy.start_tokens = 1000;
    insta::assert_snapshot!(started(&policy, &mut World::default(), None, &[]).unwrap(), @"
    heirloom: 0 of 1 requirements met on feature/auth.
    Settings: requirements.a.scope: cannot be `x` (allowed: `session`, `branch`, `single_use`, `permanent`) and 1 more. heirloom doctor shows all; tell the person.
    heirloom req satisfy c --reason WHY → c
    ");
    insta::assert_snapshot!(inactive(&Inactive::Broken { file: ".heirloom/config.yaml".into(), reason: "line 3: a tab".into() }), @"heirloom: .heirloom/config.yaml cannot be read, so requirements are not enforced until it is repaired. Tell the person: line 3: a tab");
}

proptest! {
    #[test]
    fn no_message_is_longer_than_an_agent_takes(count in 1usize..60, length in 0usize..4000, letter in "[a😀é{]") {
        let mut requirements = serde_json::Map::new();
        for index in 0..count {
            let name = format!("{}{index}", "n".repeat(length % 300));
            requirements.insert(name, json!({"message": letter.repeat(length), "satisfied_by_skill": format!("s{index}")}));
        }
        let policy = policy(Value::Object(requirements));
        let text = reason(edit(&policy, &mut World::default()));
        prop_assert!(text.encode_utf16().count() <= MAX_UNITS);
        prop_assert!(text.contains("A person can waive this"));
        let started = started(&policy, &mut World::default(), None, &[]).unwrap();
        prop_assert!(crate::tokens::estimate(&started) <= policy.start_tokens);
    }

    #[test]
    fn only_what_is_really_unmet_blocks(met in prop::collection::vec(any::<bool>(), 1..8), enforced in prop::collection::vec(0usize..3, 8)) {
        let requirements: serde_json::Map<_, _> = (0..met.len())
            .map(|i| (format!("r{i}"), json!({"enforcement": (["block", "warn", "off"][enforced[i]])})))
            .collect();
        let policy = policy(Value::Object(requirements));
        let mut world = World::default();
        for (index, _) in met.iter().enumerate().filter(|(_, met)| **met) {
            world.satisfy(&policy, &format!("r{index}"));
        }
        let decided = edit(&policy, &mut world);
        let should_deny = (0..met.len()).any(|i| !met[i] && enforced[i] == 0);
        prop_assert_eq!(matches!(decided.verdict, Verdict::Deny { .. }), should_deny);
        let unmet = |c: &Checked<'_>| matches!(c.standing, Some(Standing::Unmet(_)));
        prop_assert_eq!(decided.checked.iter().filter(|c| unmet(c)).count(), (0..met.len()).filter(|i| !met[*i] && enforced[*i] < 2).count());
    }
}

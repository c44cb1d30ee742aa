//! What is shown is what holds: the start of a session, `req status` and the gate agree.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::{Guarded, ONE, Said, TWO};

/// Requirements of every kind that can be judged, each met or not by what a test does.
const SETTINGS: &str = "requirements:
  plan: {}
  size: {type: dynamic, measure: branch_size, thresholds: {block: 20}}
  safe: {type: guard, guard_type: protected_branch, protected_branches: [main]}
  alone: {type: guard, guard_type: single_session}
  report: {evidence: {file: report.md, marker: APPROVED}}
  tested: {evidence: {command: test -e passed}}
";

fn rows(guarded: &Guarded) -> Vec<Value> {
    let status = guarded.req(&["status", "--session", ONE, "--json"]).json();
    status["requirements"].as_array().unwrap().clone()
}

fn unmet(guarded: &Guarded) -> Vec<String> {
    let rows = rows(guarded);
    let open = rows.iter().filter(|row| row["satisfied"] == false);
    open.map(|row| row["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn status_says_that_all_holds_exactly_where_the_hook_allows() {
    let config =
        ProptestConfig { cases: 20, failure_persistence: None, ..ProptestConfig::default() };
    let input = prop::collection::vec(any::<bool>(), 6);
    TestRunner::new(config)
        .run(&input, |done| {
            let guarded = Guarded::new(SETTINGS);
            let env = &guarded.env;
            env.git(&["commit", "-q", "--allow-empty", "-m", "one"]);
            if done[2] {
                env.git(&["switch", "-q", "-c", "feature"]);
            }
            guarded.start(ONE, "startup");
            if done[0] {
                guarded.req(&["satisfy", "plan", "--session", ONE]).success();
            }
            if !done[1] {
                env.write("large.txt", &"line\n".repeat(30));
                guarded.tool("PostToolUse", ONE, "Write", &json!({"file_path": "large.txt"}));
            }
            if !done[3] {
                guarded.start(TWO, "startup");
            }
            env.write("report.md", if done[4] { "APPROVED\n" } else { "REJECTED, not approved\n" });
            if done[5] {
                env.write("passed", "");
            }
            let open = unmet(&guarded);
            let denied = guarded.edit(ONE);
            prop_assert_eq!(denied.is_denied(), !open.is_empty(), "{:?} {:?}", open, denied);
            for name in &open {
                prop_assert!(denied.text().contains(name.as_str()), "{}: {:?}", name, denied);
            }
            let names = ["plan", "size", "safe", "alone", "report", "tested"];
            let expected: Vec<&str> =
                names.into_iter().zip(&done).filter(|(_, done)| !**done).map(|(n, _)| n).collect();
            prop_assert_eq!(open, expected);
            Ok(())
        })
        .unwrap();
}

#[test]
fn the_start_tells_what_the_gate_will_say() {
    let guarded = Guarded::new(SETTINGS);
    guarded.env.git(&["commit", "-q", "--allow-empty", "-m", "one"]);
    guarded.env.write("large.txt", &"line\n".repeat(30));
    guarded.start(TWO, "startup");
    let told = guarded.start(ONE, "startup");
    let told = told.text();
    assert!(told.contains("0 of 6 requirements met on main"), "{told}");
    assert!(told.contains("tested is checked when it is needed"), "{told}");
    assert!(told.contains("is also working on main"), "{told}");
    for name in ["plan", "size", "safe", "alone", "report"] {
        assert!(told.contains(name), "{name}: {told}");
    }
}

#[test]
fn a_branch_is_measured_at_its_first_use_and_again_after_it_was_written_to() {
    let guarded = Guarded::new(
        "requirements:\n  size: {type: dynamic, measure: branch_size, cache_ttl: 3600, thresholds: {block: 20}}\n",
    );
    guarded.env.git(&["commit", "-q", "--allow-empty", "-m", "one"]);
    guarded.env.write("large.txt", &"line\n".repeat(30));
    let first = guarded.edit(ONE);
    assert!(first.text().contains("32 has reached 20, measured 0 s ago"), "{first:?}");
    std::fs::remove_file(guarded.env.repo().join("large.txt")).unwrap();
    guarded.ran(ONE, "rm large.txt");
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    guarded.env.write("large.txt", &"line\n".repeat(500));
    guarded.tool("PostToolUse", ONE, "Write", &json!({"file_path": "large.txt"}));
    assert!(guarded.edit(ONE).is_denied(), "what was measured before the write is not enough");
}

#[test]
fn what_is_carried_over_says_from_where_and_is_told() {
    let guarded = Guarded::new("guard: {carry_over: {window: 1d}}\nrequirements:\n  plan: {}\n");
    guarded.start(ONE, "startup");
    guarded.req(&["satisfy", "plan", "--session", ONE]).success();
    guarded.hook("SessionEnd", ONE, &json!({"reason": "other"}));
    let told = guarded.start(TWO, "startup");
    assert!(told.text().contains("Carried over: plan from "), "{told:?}");
    let status = guarded.req(&["status", "--session", TWO, "--json"]).json();
    let row = &status["requirements"][0];
    assert_eq!(row["metadata"]["carried_from"], ONE, "{row}");
    assert_eq!(guarded.edit(TWO), Said::Nothing);
    let shown = guarded.req(&["status", "--session", TWO]).stdout;
    assert!(shown.contains("carried from 8272974a"), "{shown}");
}

#[test]
fn an_approval_is_not_carried_over() {
    let guarded = Guarded::new("guard: {carry_over: {window: 1d}}\nrequirements:\n  plan: {}\n");
    guarded.start(ONE, "startup");
    guarded.req(&["approve", "plan", "--session", ONE, "--ttl", "1d"]).success();
    guarded.hook("SessionEnd", ONE, &json!({"reason": "other"}));
    guarded.start(TWO, "startup");
    assert!(guarded.edit(TWO).is_denied());
}

#[test]
fn a_pause_ends_with_its_session() {
    let guarded = Guarded::new("requirements:\n  plan: {}\n");
    guarded.start(ONE, "startup");
    guarded.req(&["pause", "--session", ONE]).success();
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    guarded.hook("SessionEnd", ONE, &json!({"reason": "other"}));
    guarded.start(ONE, "resume");
    assert!(guarded.edit(ONE).is_denied());
    guarded.req(&["pause", "--repo"]).success();
    guarded.hook("SessionEnd", ONE, &json!({"reason": "other"}));
    guarded.start(ONE, "resume");
    assert_eq!(guarded.edit(ONE), Said::Nothing, "a repository's pause is not a session's");
}

#[test]
fn a_session_that_nobody_knows_is_refused_and_one_that_was_denied_is_known() {
    let guarded = Guarded::new("requirements:\n  plan: {}\n");
    let refused = guarded.req(&["satisfy", "plan", "--session", "deadbeef", "--json"]);
    assert_ne!(refused.code, 0, "{refused:?}");
    assert!(guarded.edit(ONE).is_denied());
    guarded.req(&["satisfy", "plan", "--session", "8272974a"]).success();
    assert_eq!(guarded.edit(ONE), Said::Nothing);
}

#[test]
fn a_branch_that_is_not_checked_out_can_be_satisfied_by_name() {
    let guarded = Guarded::new("requirements:\n  plan: {scope: branch}\n");
    guarded.env.git(&["commit", "-q", "--allow-empty", "-m", "one"]);
    guarded.env.git(&["branch", "feature"]);
    guarded.req(&["satisfy", "plan", "--branch", "feature"]).success();
    assert!(guarded.edit(ONE).is_denied(), "main is another branch");
    guarded.env.git(&["switch", "-q", "feature"]);
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    guarded.env.git(&["switch", "-q", "main"]);
    guarded.req(&["satisfy", "--branch", "plan"]).success();
    assert_eq!(guarded.edit(ONE), Said::Nothing, "the branch that is checked out");
    let unknown = guarded.req(&["satisfy", "plan", "--branch", "featuer"]);
    assert!(unknown.code != 0 && unknown.stderr.contains("did you mean feature?"), "{unknown:?}");
}

#[test]
fn a_rebase_does_not_ask_again_at_every_stop() {
    let guarded = Guarded::new("requirements:\n  plan: {scope: branch}\n");
    let env = &guarded.env;
    let commit = |text: &str| {
        env.write("a.txt", text);
        env.git(&["add", "a.txt"]);
        env.git(&["-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "-m", text]);
    };
    commit("one");
    env.git(&["switch", "-q", "-c", "feature"]);
    commit("theirs");
    guarded.req(&["satisfy", "plan", "--branch"]).success();
    env.git(&["switch", "-q", "main"]);
    commit("ours");
    env.git(&["switch", "-q", "feature"]);
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    let mut rebase = std::process::Command::new("git");
    rebase.args(["-c", "user.name=t", "-c", "user.email=t@localhost", "rebase", "-q", "main"]);
    let stopped = rebase.current_dir(env.repo()).output().unwrap();
    assert!(!stopped.status.success(), "it stops at a conflict");
    assert_eq!(guarded.edit(ONE), Said::Nothing, "the branch is still the same");
}

#[test]
fn users_of_the_earlier_framework_switch_its_requirements_off_as_they_did_and_nobodys_else() {
    let original = "requirements:\n  commit_plan: {enabled: true}\n";
    let guarded = Guarded { env: crate::env() };
    guarded.env.write(".claude/requirements.yaml", original);
    assert!(guarded.edit(ONE).is_denied());
    let guarded = Guarded { env: guarded.env.var("CLAUDE_SKIP_REQUIREMENTS", "1") };
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    guarded.env.write_user("requirements:\n  mine: {}\n");
    assert!(guarded.edit(ONE).is_denied(), "what the person asks for holds");
    guarded.env.write_user("");
    guarded.env.write(".claude/settings.json", r#"{"env": {"CLAUDE_SKIP_REQUIREMENTS": "1"}}"#);
    assert!(guarded.edit(ONE).is_denied(), "the repository does not switch them off");
}

#[test]
fn what_a_person_asks_for_holds_in_a_repository_that_nobody_set_up() {
    let guarded = Guarded { env: crate::env() };
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    guarded.env.write_user("requirements:\n  mine: {}\n");
    assert!(guarded.edit(ONE).is_denied());
    guarded.env.write(".heirloom", "a file where a directory should be");
    assert!(guarded.edit(ONE).is_denied());
}

#[test]
fn a_home_that_cannot_be_written_is_told_on_the_agents_own_channel() {
    use std::os::unix::fs::PermissionsExt;
    let guarded = Guarded::new("requirements:\n  plan: {stop_only: true}\n");
    let home = guarded.env.home();
    // A file where the directory should be: nobody can write there, whoever runs the tests.
    let _ = std::fs::remove_dir_all(&home);
    std::fs::write(&home, "").unwrap();
    std::fs::set_permissions(&home, std::fs::Permissions::from_mode(0o600)).unwrap();
    let payload = json!({"session_id": ONE, "cwd": guarded.env.repo(), "tool_name": "Edit",
                         "hook_event_name": "PreToolUse", "tool_input": {"file_path": "a"}});
    let ran =
        guarded.env.run_with(&["hook", "claude", "PreToolUse"], payload.to_string().as_bytes());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let said: Value = serde_json::from_str(&ran.stdout).unwrap();
    let told = said["systemMessage"].as_str().unwrap();
    assert!(told.contains("heirloom could not do its part"), "{told}");
}

#[test]
fn a_full_disk_is_told_on_the_agents_own_channel_and_what_must_not_fail_open_does_not() {
    let settings = "requirements:
  plan: {stop_only: true}
  strict: {on_error: deny, trigger_tools: [Write]}
";
    let guarded = Guarded::new(settings);
    let payload = |tool: &str| {
        let file = guarded.env.user().join(format!("{tool}.json"));
        let payload = json!({"session_id": ONE, "cwd": guarded.env.repo(), "tool_name": tool,
                             "hook_event_name": "PreToolUse", "tool_input": {"file_path": "a"}});
        std::fs::write(&file, payload.to_string()).unwrap();
        file
    };
    // A disk of a few kilobytes with not a byte left, in a namespace of its own.
    let script = r#"mount -t tmpfs -o size=16k tmpfs "$1" && { cat /dev/zero > "$1/full" 2>/dev/null
                    "$2" hook claude PreToolUse < "$3" && echo && "$2" hook claude PreToolUse < "$4"; }"#;
    let hook = guarded.env.command(&[]);
    let program = hook.get_program().to_owned();
    let mut unshare = std::process::Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        unshare.args(["--user", "--map-root-user"]);
    }
    unshare.args(["--mount", "sh", "-c", script, "sh"]).arg(guarded.env.home()).arg(program);
    unshare.args([payload("Edit"), payload("Write")]).current_dir(guarded.env.repo()).env_clear();
    unshare.envs(hook.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = unshare.output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let said: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(said.len(), 2, "{stdout} {}", String::from_utf8_lossy(&output.stderr));
    let told = said[0]["systemMessage"].as_str().unwrap();
    assert!(told.contains("heirloom could not do its part and let the agent go on"), "{told}");
    let denied = &said[1]["hookSpecificOutput"];
    assert_eq!(denied["permissionDecision"], "deny", "{stdout}");
    assert!(denied["permissionDecisionReason"].as_str().unwrap().contains("strict"), "{stdout}");
}

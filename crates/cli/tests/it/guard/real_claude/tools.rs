//! Tool uses of the real Claude Code: what is denied, where, and what satisfies it.

use std::fs;

use heirloom_testkit::model::Answer;
use serde_json::json;

use super::{PLAN, Real, bash, done, skill, write};

#[test]
#[ignore = "drives a real agent"]
fn a_write_is_denied_and_the_model_hears_what_to_do() {
    let real = Real::new(PLAN);
    let made = real.repo().join("made");
    let run = real.run(&real.repo(), &["write it"], [write(&made), done()]);
    run.assert_told(0, "heirloom: 0 of 1 requirements met on main.");
    run.assert_told(
        1,
        "plan is not met for this session.\\nRun /review. Nothing was written on main.",
    );
    assert!(!made.exists());
    assert_eq!(run.result["permission_denials"][0]["tool_name"], "Write");
    assert_eq!(real.json(&["req", "log"])["log"], json!([]), "what never ran triggers nothing");
}

#[test]
#[ignore = "drives a real agent"]
fn a_skill_that_the_model_runs_satisfies_what_names_it() {
    let real = Real::new(PLAN);
    let made = real.repo().join("made");
    let run = real.run(&real.repo(), &["write it"], [skill(), write(&made), done()]);
    assert!(made.exists(), "{}", run.request(2));
    let log = real.json(&["req", "log"]);
    let satisfied = log["log"].as_array().unwrap().last().unwrap();
    assert_eq!((&satisfied["what"], &satisfied["how"]), (&json!("satisfied"), &json!("skill")));
    assert_eq!(satisfied["session"], run.session());
}

#[test]
#[ignore = "drives a real agent"]
fn a_skill_that_the_person_types_counts() {
    let real = Real::new(PLAN);
    let made = real.repo().join("made");
    real.run(&real.repo(), &["/review"], [write(&made), done()]);
    assert!(made.exists());
}

#[test]
#[ignore = "drives a real agent"]
fn the_agents_own_shell_means_its_own_session() {
    // Without a skill: then the agent's own word is enough.
    let real = Real::new("requirements:\n  plan: {}\n");
    let made = real.repo().join("made");
    let satisfy =
        bash(&format!("{} req satisfy plan --reason trivial", env!("CARGO_BIN_EXE_heirloom")));
    let run = real.run(&real.repo(), &["write it"], [satisfy, write(&made), done()]);
    assert!(made.exists(), "{}", run.request(1));
    let log = real.json(&["req", "log"]);
    let satisfied = log["log"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&satisfied["how"], &satisfied["session"]),
        (&json!("agent"), &json!(run.session()))
    );
}

#[test]
#[ignore = "drives a real agent"]
fn a_single_use_is_used_up_by_a_commit_that_succeeds() {
    let real = Real::new(
        "requirements:\n  reviewed: {scope: single_use, satisfied_by_skill: review, trigger_tools: [{tool: Bash, command: [git, commit]}]}\n",
    );
    let commit = || bash("git commit -q --allow-empty -m x");
    let fails = bash("git commit -q -m nothing-to-commit");
    let answers = [commit(), skill(), fails, commit(), commit(), done()];
    let run = real.run(&real.repo(), &["commit it"], answers);
    let log = real.guarded.env.git(&["log", "--format=%s"]);
    assert_eq!(log.lines().filter(|line| *line == "x").count(), 1, "{log}");
    let denials =
        |at: usize| run.request(at).matches("reviewed is not met for this action").count();
    assert_eq!((denials(1), denials(4), denials(5)), (1, 1, 2), "the first and the last");
}

#[test]
#[ignore = "drives a real agent"]
fn a_subdirectory_is_gated() {
    let real = Real::new(PLAN);
    let below = real.repo().join("src/deep");
    fs::create_dir_all(&below).unwrap();
    let made = below.join("made");
    let run = real.run(&below, &["write it"], [write(&made), done()]);
    assert!(!made.exists());
    run.assert_told(1, "plan is not met");
}

#[test]
#[ignore = "drives a real agent"]
fn a_worktree_is_gated_by_its_branch_and_shares_what_the_repository_has() {
    let settings =
        "requirements:\n  plan: {satisfied_by_skill: review}\n  cla: {scope: permanent}\n";
    let real = Real::new(settings);
    let tree = real.repo().with_file_name("payments-fix");
    real.guarded.env.git(&["worktree", "add", "-q", "-b", "fix", tree.to_str().unwrap()]);
    real.guarded.req(&["satisfy", "cla"]).success();
    let (one, two) = (tree.join("one"), tree.join("two"));
    let run = real.run(&tree, &["write it"], [write(&one), skill(), write(&two), done()]);
    run.assert_told(0, "1 of 2 requirements met on fix");
    run.assert_told(1, "plan is not met for this session");
    assert!(!one.exists() && two.exists());
    let status = real.json(&["req", "status", "--session", run.session(), "--branch", "main"]);
    assert_eq!(status["requirements"][0]["satisfied"], false, "main is another branch");
    assert_eq!(real.session(run.session())["branch"], "fix");
}

#[test]
#[ignore = "drives a real agent"]
fn an_agent_that_goes_elsewhere_is_gated_still() {
    let real = Real::new(PLAN);
    let other = real.repo().with_file_name("other");
    fs::create_dir(&other).unwrap();
    let made = real.repo().join("made");
    let answers = [bash(&format!("cd {}", other.display())), bash("pwd"), write(&made), done()];
    let run = real.run(&real.repo(), &["--add-dir", other.to_str().unwrap(), "--", "go"], answers);
    run.assert_told(2, &other.display().to_string());
    run.assert_told(3, "plan is not met");
    assert!(!made.exists());
}

#[test]
#[ignore = "drives a real agent"]
fn what_a_subagent_does_is_gated_and_it_knows() {
    let real = Real::new(PLAN);
    let made = real.repo().join("made");
    let agent = json!({"description": "d", "prompt": "write the file", "subagent_type": "general-purpose", "run_in_background": false});
    let answers = [Answer::tool("Agent", agent), write(&made), Answer::text("no"), done()];
    let run = real.run(&real.repo(), &["delegate"], answers);
    run.assert_told(1, "write the file");
    run.assert_told(1, "heirloom: plan is not met; what needs that is denied to you as well.");
    run.assert_told(2, "plan is not met for this session");
    assert!(!made.exists());
    assert_eq!(run.result["result"], "done");
}

#[test]
#[ignore = "drives a real agent"]
fn a_person_is_not_asked_for_what_a_requirement_denies() {
    let mut real = Real::new(PLAN);
    real.allowed = "Bash";
    // Somebody took the first of two hooks out.
    let settings = real.guarded.env.user().join(".claude/settings.json");
    let text = fs::read_to_string(&settings).unwrap();
    let mut without: serde_json::Value = serde_json::from_str(&text).unwrap();
    without["hooks"].as_object_mut().unwrap().remove("PreToolUse").unwrap();
    fs::write(&settings, without.to_string()).unwrap();
    let made = real.repo().join("made");
    let run = real.run(&real.repo(), &["write it"], [write(&made), done()]);
    run.assert_told(1, "plan is not met for this session");
    assert!(!made.exists());
}

#[test]
#[ignore = "drives a real agent"]
fn what_a_person_did_not_permit_keeps_no_turn_from_ending() {
    let settings = "requirements:\n  verified: {stop_only: true, satisfied_by_skill: review}\n";
    let mut real = Real::new(settings);
    real.allowed = "Read";
    let made = real.repo().join("made");
    let run = real.run(&real.repo(), &["write it"], [write(&made), done()]);
    assert!(!made.exists());
    assert_eq!((run.result["result"].as_str(), run.requests.len()), (Some("done"), 2));
}

#[test]
#[ignore = "drives a real agent"]
fn claude_code_does_not_write_what_guards_it() {
    let real = Real::new("");
    for file in crate::guard::NOT_THE_AGENTS {
        let path = real.repo().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let before = fs::read(&path).ok();
        let through_shell = bash(&format!("echo forged > {file}"));
        let run = real.run(&real.repo(), &["forge it"], [through_shell, write(&path), done()]);
        assert_eq!(fs::read(&path).ok(), before, "{file}");
        for told in [1, 2] {
            run.assert_told(told, "guards agents here");
        }
    }
}

//! `--resume`: the same agent session goes on, or it is said why not.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use super::Yard;

/// An issue whose first run failed and left its agent session behind. Returns it and that id.
fn begun(yard: &Yard, later: &[&str]) -> (String, String) {
    let steps: Vec<&str> = ["crash"].iter().chain(later).copied().collect();
    let issue = yard.issue("Rotate tokens", &steps);
    assert_eq!(yard.run(&["work"]).code, 1);
    let run = yard.issue_run(&issue);
    assert_eq!(
        (yard.status(&issue).as_str(), run["status"].as_str()),
        ("in_progress", Some("failed"))
    );
    let id = run["agent_session_id"].as_str().unwrap().to_owned();
    (issue, id)
}

#[test]
fn an_issue_in_progress_goes_on_in_its_agents_session() {
    let yard = Yard::new();
    let (issue, id) = begun(&yard, &["ok"]);
    let other = yard.issue_with("Other", &["ok"], &["-p", "0"]);
    let plan = yard.json(&["work", "--resume", "--dry-run"]);
    assert_eq!(plan["issues"][0]["id"], issue);
    assert_eq!(
        (&plan["issues"][0]["resume_session"], &plan["issues"][1]["id"]),
        (&json!(id), &json!(other))
    );
    let ran = yard.run(&["work", "--resume", "--max-agents", "1"]).success();
    assert!(!ran.to_string().contains(&id), "{ran}");
    let (first, second) = (yard.given(&issue, 1), yard.given(&issue, 2));
    assert_eq!(second.flag("--resume"), Some(id.as_str()));
    assert_eq!(second.flag("--fork-session"), None);
    assert_eq!(second.cwd, first.cwd);
    assert!(second.prompt.starts_with("Continue with issue"), "{}", second.prompt);
    assert_eq!(yard.status(&issue), "closed");
    assert_eq!(yard.issue_run(&issue)["agent_session_id"], id);
}

#[test]
fn each_resumption_is_told_to_those_who_ask() {
    let yard = Yard::new();
    let (issue, id) = begun(&yard, &["ok"]);
    let ran = yard.run(&["work", "--resume", "-v"]).success();
    assert!(ran.stderr.contains(&format!("{issue}: resuming claude session {id}")), "{ran}");
}

#[test]
fn open_findings_are_part_of_the_short_prompt() {
    let yard = Yard::with_settings("work: {gate: ['! ls bad-*'], max_fixes: 0}\n");
    let issue = yard.issue("Fix", &["bad", "ok"]);
    assert_eq!(yard.run(&["work"]).code, 1);
    yard.run(&["work", "--resume"]).success();
    let prompt = yard.given(&issue, 2).prompt;
    assert!(prompt.contains("still wrong") && prompt.contains(&format!("bad-{issue}")), "{prompt}");
    assert!(!prompt.contains("How to work"), "{prompt}");
}

#[test]
fn without_resume_what_is_in_progress_is_left_alone() {
    let yard = Yard::new();
    let (issue, _) = begun(&yard, &["ok"]);
    yard.run(&["work"]).success();
    assert_eq!((yard.status(&issue).as_str(), yard.launches(&issue)), ("in_progress", 1));
}

#[test]
fn a_session_that_the_agent_does_not_know_is_replaced_and_never_tried_again() {
    for step in ["stale", "astray"] {
        let yard = Yard::new();
        let (issue, id) = begun(&yard, &[step, "crash", "ok"]);
        let ran = yard.run(&["work", "--resume"]);
        assert!(ran.stderr.contains("the agent session cannot be resumed"), "{step}: {ran}");
        assert_eq!(yard.given(&issue, 2).flag("--resume"), Some(id.as_str()));
        let fresh = yard.given(&issue, 3);
        assert_eq!(fresh.flag("--resume"), None, "{step}");
        assert!(fresh.prompt.starts_with("Work on issue"), "{}", fresh.prompt);
        // The id that came with the error, or of the conversation nobody asked for, is nobody's.
        let next = yard.issue_run(&issue)["agent_session_id"].as_str().unwrap().to_owned();
        assert_eq!(fresh.flag("--session-id"), Some(next.as_str()), "{step}");
        assert_ne!(next, id);
        yard.run(&["work", "--resume"]).success();
        assert_eq!(yard.given(&issue, 4).flag("--resume"), Some(next.as_str()), "{step}");
        assert_eq!(yard.status(&issue), "closed");
    }
}

#[test]
fn a_fresh_session_inherits_what_the_lost_one_noted() {
    let yard = Yard::new();
    let (issue, _) = begun(&yard, &["stale", "ok"]);
    let session = yard.issue_run(&issue)["session"].as_str().unwrap().to_owned();
    let note = ["note", "learning", "the clock is injected", "--session", &session];
    yard.run(&note).success();
    yard.run(&["work", "--resume"]).success();
    let prompt = yard.given(&issue, 3).prompt;
    assert!(prompt.contains("the clock is injected"), "{prompt}");
    let lineage = yard.run(&["lineage", &format!("{issue}-v3")]).success();
    assert!(lineage.stdout.contains(&issue), "{lineage}");
}

#[test]
fn strict_fails_the_issue_and_the_run_goes_on() {
    let yard = Yard::new();
    let (issue, id) = begun(&yard, &["stale", "ok"]);
    let other = yard.issue("Other", &["ok"]);
    yard.run(&["issues", "update", &other, "--status", "in_progress"]).success();
    let third = yard.issue("Third", &["ok"]);
    let before = yard.json(&["issues", "show", &other]);
    let ran = yard.run(&["work", "--resume", "--strict"]);
    assert_eq!(ran.code, 1, "{ran}");
    let reason = yard.issue_run(&issue)["reason"].as_str().unwrap().to_owned();
    let said = format!("Session resumption failed: No conversation found with session ID: {id}");
    assert_eq!((reason.as_str(), yard.launches(&issue)), (said.as_str(), 2));
    // Refused before it was touched, in progress or open.
    assert_eq!(
        yard.issue_run(&other)["reason"],
        "Session resumption failed: there is no prior session"
    );
    assert_eq!(
        yard.issue_run(&third)["reason"],
        "Session resumption failed: there is no prior session"
    );
    let after = yard.json(&["issues", "show", &other]);
    assert_eq!(
        (&before["updated_at"], &before["comments"]),
        (&after["updated_at"], &after["comments"])
    );
    assert_eq!((yard.status(&third).as_str(), yard.launches(&third)), ("open", 0));
}

#[test]
fn an_issue_without_a_prior_session_starts_fresh() {
    let yard = Yard::new();
    let issue = yard.issue("Begun by hand", &["ok"]);
    yard.run(&["issues", "update", &issue, "--status", "in_progress"]).success();
    yard.run(&["work", "--resume"]).success();
    assert_eq!(yard.given(&issue, 1).flag("--resume"), None);
    assert_eq!(yard.status(&issue), "closed");
}

#[test]
fn what_somebody_else_has_begun_is_theirs_unless_it_is_named() {
    let yard = Yard::new();
    let issue = yard.issue("Ada's", &["ok"]);
    yard.run(&["issues", "update", &issue, "--status", "in_progress", "--assignee", "ada"])
        .success();
    let ran = yard.run(&["work", "--resume"]).success();
    assert!(ran.stderr.contains("skipped: ada has it in progress"), "{ran}");
    assert_eq!(yard.launches(&issue), 0);
    yard.run(&["work", "--resume", "--issue", &issue]).success();
    assert_eq!(yard.status(&issue), "closed");
}

/// Where Claude Code keeps the transcript of a conversation.
fn transcript_of(yard: &Yard, issue: &str, id: &str) -> PathBuf {
    let first = yard.given(issue, 1);
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = first.cwd.to_str().unwrap().chars().map(plain).collect();
    let transcript =
        yard.env.user().join(".claude/projects").join(name).join(format!("{id}.jsonl"));
    fs::create_dir_all(transcript.parent().unwrap()).unwrap();
    transcript
}

/// An agent that outlives its run writes on after its transcript was deleted, and resumes from what
/// it then finds as if that were all.
#[test]
fn a_transcript_without_its_beginning_is_not_resumed() {
    let yard = Yard::new();
    let (issue, id) = begun(&yard, &["ok"]);
    let end = r#"{"type":"user","uuid":"b","parentUuid":"a","message":{"content":"x"}}"#;
    fs::write(transcript_of(&yard, &issue, &id), end).unwrap();
    let ran = yard.run(&["work", "--resume", "--strict"]);
    assert_eq!((ran.code, yard.launches(&issue)), (1, 1), "{ran}");
    let reason = yard.issue_run(&issue)["reason"].as_str().unwrap().to_owned();
    let why = format!("Session resumption failed: claude only has the end of conversation {id}");
    assert_eq!(reason, why);
    yard.run(&["work", "--resume"]).success();
    assert_eq!(yard.given(&issue, 2).flag("--resume"), None);
}

#[test]
fn a_transcript_that_is_gone_is_known_before_the_launch() {
    let yard = Yard::new();
    let (issue, id) = begun(&yard, &["ok"]);
    let transcript = transcript_of(&yard, &issue, &id);
    fs::write(&transcript, "{}\n").unwrap();
    fs::write(yard.plan().join(&issue), "crash\ncrash\nok\n").unwrap();
    assert_eq!(yard.run(&["work", "--resume"]).code, 1);
    assert_eq!(yard.given(&issue, 2).flag("--resume"), Some(id.as_str()));
    fs::remove_file(&transcript).unwrap();
    let plan = yard.json(&["work", "--resume", "--dry-run"]);
    assert!(plan["issues"][0]["resume_session"].is_null(), "{plan}");
    let ran = yard.run(&["work", "--resume", "--strict"]);
    assert_eq!((ran.code, yard.launches(&issue)), (1, 2), "{ran}");
    let reason = yard.issue_run(&issue)["reason"].as_str().unwrap().to_owned();
    assert!(
        reason.starts_with("Session resumption failed: claude no longer has conversation"),
        "{reason}"
    );
    yard.run(&["work", "--resume"]).success();
    assert_eq!(yard.given(&issue, 3).flag("--resume"), None);
}

#[test]
fn an_id_that_no_conversation_of_the_agent_can_have_is_not_resumed() {
    let yard = Yard::new();
    let issue = yard.issue("Rotate tokens", &["ok"]);
    let script = r#"#!/bin/sh
echo "$@" >> "$HOME/given"
echo '{"type":"system","subtype":"init","session_id":"nightly-3","model":"m"}'
echo '{"type":"result","subtype":"success","is_error":true,"result":"not today"}'
exit 1
"#;
    let own = yard.env.script("nightly", script);
    let yard = Yard { env: yard.env.var("HEIRLOOM_AGENT_CLAUDE", own) };
    yard.run(&["work", "--issue", &issue]);
    let ran = yard.run(&["work", "--resume", "--issue", &issue]);
    assert!(ran.stderr.contains("nightly-3 is not a conversation of claude"), "{ran}");
    let given = fs::read_to_string(yard.env.user().join("given")).unwrap();
    let launches = given.lines().filter(|line| line.contains("--session-id"));
    assert_eq!(launches.count(), 2, "{given}");
    assert!(!given.contains("--resume"), "{given}");
}

#[test]
fn the_originals_runs_are_read_and_their_sessions_resumed() {
    let yard = Yard::new();
    let issue = yard.issue("From before", &["ok"]);
    let other = yard.issue("Not ours", &["ok"]);
    for each in [&issue, &other] {
        yard.run(&["issues", "update", each, "--status", "in_progress"]).success();
    }
    let repo = yard.env.repo();
    let encoded = repo.to_str().unwrap().replace(['/', '_'], "-");
    let runs = yard.env.user().join(".config/mala/runs").join(encoded);
    fs::create_dir_all(&runs).unwrap();
    let run = |name: &str, started: &str, repo: &str, issue: &str, id: serde_json::Value| {
        let value = json!({"run_id": name, "started_at": started, "repo_path": repo,
            "issues": {issue: {"issue_id": issue, "status": "failed", "session_id": id}}});
        fs::write(runs.join(format!("{name}.json")), value.to_string()).unwrap();
    };
    let here = repo.to_str().unwrap();
    let newest = "8272974a-8223-4415-954c-99d01904a037";
    // The newest by its time, not by its name; the newest of all has no id.
    run("2026-01-09_a", "2026-01-03T00:00:00+00:00", here, &issue, json!(newest));
    run(
        "2026-01-10_b",
        "2026-01-02T00:00:00+00:00",
        here,
        &issue,
        json!("1272974a-8223-4415-954c-99d01904a037"),
    );
    run("2026-01-11_c", "2026-01-04T00:00:00+00:00", here, &issue, json!(null));
    run("2026-01-12_d", "2026-01-05T00:00:00+00:00", "/elsewhere", &other, json!(newest));
    fs::write(runs.join("2026-01-13_e.json"), "{\"run_id\":").unwrap();
    let ran = yard.run(&["work", "--resume"]).success();
    assert!(ran.stderr.contains("2026-01-13_e.json"), "{ran}");
    let given = yard.given(&issue, 1);
    assert_eq!(given.flag("--resume"), Some(newest));
    // The original worked where the person does; nobody does so again unasked.
    assert_ne!(given.cwd, repo);
    assert_eq!(yard.given(&other, 1).flag("--resume"), None);
    let runs = yard.json(&["runs", "list"]);
    assert_eq!(runs["runs"].as_array().unwrap().len(), 4, "{runs}");
}

#[test]
fn an_id_is_never_handed_to_another_agent() {
    let yard = Yard::new();
    let (issue, id) = begun(&yard, &["ok"]);
    yard.run(&["work", "--resume", "--agent", "sim"]).success();
    assert_eq!(yard.given(&issue, 2).flag("--resume"), Some(id.as_str()));
    assert_eq!(yard.issue_run(&issue)["agent"], "claude");
}

#[test]
fn an_issue_goes_on_with_the_agent_that_began_it_where_no_other_is_installed() {
    let env = crate::env();
    env.git(&["init", "-q", "-b", "main"]);
    env.git(&["commit", "-q", "--allow-empty", "-m", "start"]);
    env.run(&["init", "--yes"]).success();
    let issue = |title| {
        let made = env.run(&["issues", "create", title, "--json"]).success().json();
        made["id"].as_str().unwrap().to_owned()
    };
    let (begun, new) = (issue("begun"), issue("new"));
    let ran = env.run(&["work", "--agent", "sim", "--issue", &begun]);
    assert!(ran.stdout.contains("needs review"), "{ran}");
    let ran = env.run(&["work", "--issue", &new]);
    assert!(ran.stderr.contains("claude is not installed"), "{ran}");
    let ran = env.run(&["work", "--resume", "--issue", &begun]);
    assert!(!ran.stderr.contains("is not installed") && ran.stdout.contains(&begun), "{ran}");
    // An agent that is missing keeps only its own issues from being worked on.
    let ran = env.run(&["work", "--resume", "--issue", &begun, &new]);
    assert!(ran.stdout.contains(&begun) && ran.stdout.contains(&new), "{ran}");
    assert!(ran.to_string().contains("claude is not installed"), "{ran}");
}

#[test]
fn what_was_left_in_place_goes_on_in_a_worktree_and_the_persons_files_stay_as_they_are() {
    let yard = Yard::new();
    let issue = yard.issue("In place", &["crash", "ok"]);
    assert_eq!(yard.run(&["work", "--in-place"]).code, 1);
    yard.env.write("mine.txt", "not done yet\n");
    let look = || {
        let index = fs::read(yard.env.repo().join(".git/index")).unwrap();
        (index, yard.git(&["status", "--porcelain"]), yard.git(&["rev-parse", "HEAD"]))
    };
    let before = look();
    let refused = yard.run(&["work", "--resume", "--in-place"]).success();
    assert!(refused.stderr.contains("there are uncommitted changes here"), "{refused}");
    assert_eq!((yard.launches(&issue), look()), (1, before.clone()));
    let ran = yard.run(&["work", "--resume"]).success();
    let second = yard.given(&issue, 2);
    assert_eq!(second.flag("--resume"), yard.given(&issue, 1).flag("--session-id"));
    assert_ne!(second.cwd, yard.env.repo());
    assert!(second.prompt.contains("which is left alone now"), "{}", second.prompt);
    assert!(ran.stderr.contains("which is left alone now"), "{ran}");
    assert_eq!((look(), yard.status(&issue).as_str()), (before, "closed"));
}

#[test]
fn a_worktree_that_was_deleted_is_told_to_person_and_agent() {
    let yard = Yard::new();
    let (issue, _) = begun(&yard, &["ok"]);
    fs::remove_dir_all(yard.given(&issue, 1).cwd).unwrap();
    let ran = yard.run(&["work", "--resume"]).success();
    assert!(ran.stderr.contains("the worktree had been deleted"), "{ran}");
    let prompt = yard.given(&issue, 2).prompt;
    assert!(prompt.contains("Mind: the worktree had been deleted"), "{prompt}");
}

#[test]
fn a_run_that_is_killed_before_the_agent_said_a_word_is_resumed() {
    let yard = Yard::new();
    let issue = yard.issue("Killed", &["mute", "stale", "crash", "ok"]);
    let mut child = yard.spawn(&["work"]);
    yard.wait(|yard| (yard.given(&issue, 1).pid.is_some()).then_some(()));
    super::signal(&child, "-KILL");
    child.wait().unwrap();
    // The agent may not have kept anything: then a new conversation takes over, and that id is gone.
    yard.run(&["work", "--resume"]);
    let chosen = yard.given(&issue, 1).flag("--session-id").unwrap().to_owned();
    assert_eq!(yard.given(&issue, 2).flag("--resume"), Some(chosen.as_str()));
    assert_eq!(yard.given(&issue, 3).flag("--resume"), None);
    let next = yard.given(&issue, 3).flag("--session-id").unwrap().to_owned();
    yard.run(&["work", "--resume"]).success();
    assert_eq!(yard.given(&issue, 4).flag("--resume"), Some(next.as_str()));
}

#[test]
fn fresh_goes_on_with_what_is_in_progress_in_a_new_conversation() {
    let yard = Yard::new();
    let (issue, _) = begun(&yard, &["ok"]);
    assert_eq!(yard.run(&["work", "--fresh"]).code, 64);
    assert_eq!(yard.run(&["work", "--resume", "--fresh", "--strict"]).code, 64);
    let plan = yard.json(&["work", "--resume", "--fresh", "--dry-run"]);
    assert!(plan["issues"][0]["resume_session"].is_null(), "{plan}");
    yard.run(&["work", "--resume", "--fresh", "--local"]).success();
    let second = yard.given(&issue, 2);
    assert_eq!((second.flag("--resume"), yard.status(&issue).as_str()), (None, "closed"));
    assert!(second.prompt.starts_with("Work on issue"), "{}", second.prompt);
}

#[test]
fn a_dry_run_takes_nothing_in_and_shows_what_strict_would_refuse() {
    let yard = Yard::new();
    let issue = yard.issue("From before", &["ok"]);
    yard.run(&["issues", "update", &issue, "--status", "in_progress"]).success();
    let other = yard.issue("Never begun", &["ok"]);
    let repo = yard.env.repo();
    let encoded = repo.to_str().unwrap().replace(['/', '_'], "-");
    let runs = yard.env.user().join(".config/mala/runs").join(encoded);
    fs::create_dir_all(&runs).unwrap();
    let id = "8272974a-8223-4415-954c-99d01904a037";
    let run = json!({"run_id": "r", "started_at": "2026-01-03T00:00:00+00:00",
        "repo_path": repo.to_str().unwrap(),
        "issues": {&issue: {"status": "failed", "session_id": id}}});
    fs::write(runs.join("r.json"), run.to_string()).unwrap();
    let plan = yard.json(&["work", "--resume", "--strict", "--dry-run"]);
    assert_eq!(plan["issues"][0]["resume_session"], id, "{plan}");
    assert!(plan["issues"][0]["refused"].is_null(), "{plan}");
    assert_eq!(plan["issues"][1]["id"], other);
    assert_eq!(plan["issues"][1]["refused"], "there is no prior session");
    assert_eq!(yard.json(&["runs", "list"])["runs"].as_array().unwrap().len(), 0);
}

#[test]
fn the_budget_is_this_runs_and_not_the_last_ones() {
    let yard = Yard::new();
    let issue = yard.issue("One", &["crash", "ok"]);
    assert_eq!(yard.run(&["work", "--max-cost", "0.10"]).code, 1);
    yard.run(&["work", "--resume", "--max-cost", "50"]).success();
    let budget = |n| yard.given(&issue, n).flag("--max-budget-usd").map(str::to_owned);
    assert_eq!((budget(1).as_deref(), budget(2).as_deref()), (Some("0.1"), Some("50")));
}

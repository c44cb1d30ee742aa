//! Sessions of the real Claude Code: their turns, their ends, and what they come from.

use heirloom_testkit::model::{Answer, Script};
use serde_json::json;

use super::{PLAN, Real, done, skill, write};

#[test]
#[ignore = "drives a real agent"]
fn a_turn_goes_on_until_what_it_triggered_is_met() {
    let real =
        Real::new("requirements:\n  verified: {stop_only: true, satisfied_by_skill: review}\n");
    let made = real.repo().join("made");
    let answers = [write(&made), Answer::text("done?"), skill(), Answer::text("done!")];
    let run = real.run(&real.repo(), &["do it"], answers);
    assert!(made.exists());
    run.assert_told(2, "Not finished: verified is not met for this session.\\nRun /review.");
    assert_eq!((run.result["result"].as_str(), run.requests.len()), (Some("done!"), 4));
}

#[test]
#[ignore = "drives a real agent"]
fn a_turn_that_does_not_meet_it_ends_all_the_same() {
    for (wanted, kept) in [(5, 5), (20, 7)] {
        let settings = format!(
            "guard: {{stop_blocks: {wanted}}}\nrequirements:\n  verified: {{stop_only: true}}\n"
        );
        let real = Real::new(&settings);
        let made = real.repo().join("made");
        let texts = (0..=kept).map(|nth| Answer::text(&format!("done {nth}")));
        let run = real.run(&real.repo(), &["do it"], [write(&made)].into_iter().chain(texts));
        let last = format!("done {kept}");
        assert_eq!(run.result["result"].as_str(), Some(last.as_str()));
        assert_eq!(run.requests.len(), kept + 2);
    }
}

#[test]
#[ignore = "drives a real agent"]
fn a_resumed_session_keeps_what_it_satisfied_and_is_not_told_twice() {
    let real = Real::new(PLAN);
    let first = real.run(&real.repo(), &["hi"], [skill(), done()]);
    assert_eq!(real.session(first.session())["status"], "completed");
    let made = real.repo().join("made");
    let resumed = real.resume(&first, "write", [write(&made), done()]);
    assert_eq!(resumed.session(), first.session());
    assert!(made.exists(), "{}", resumed.request(1));
    let told = |words: &str| resumed.request(0).matches(words).count();
    assert_eq!((told("0 of 1 requirements met"), told("all 1 requirements met")), (1, 1));
    let again = real.resume(&first, "and on", [done()]);
    assert_eq!(again.request(0).matches("all 1 requirements met").count(), 1);
    let lineage = real.json(&["lineage", first.session()]);
    assert_eq!(lineage["continued"][0]["link"], "resumed");
}

#[test]
#[ignore = "drives a real agent"]
fn a_cleared_context_is_a_session_of_its_own_that_comes_from_the_one_before() {
    let real = Real::new(PLAN);
    let first = real.run(&real.repo(), &["hi"], [skill(), done()]);
    let cleared = real.resume(&first, "/clear", []);
    assert_ne!(cleared.session(), first.session());
    let lineage = real.json(&["lineage", cleared.session()]);
    assert_eq!(lineage["link"], "cleared");
    assert_eq!(lineage["ancestors"][0]["id"], first.session());
    assert_eq!(real.session(first.session())["status"], "completed");
    let made = real.repo().join("made");
    let after = real.resume(&cleared, "write", [write(&made), done()]);
    after.assert_told(1, "plan is not met for this session");
    assert!(!made.exists(), "another session has to satisfy it itself");
}

#[test]
#[ignore = "drives a real agent"]
fn a_compacted_context_is_told_again_and_keeps_what_it_satisfied() {
    let real = Real::new(PLAN);
    let first = real.run(&real.repo(), &["hi"], [skill(), done()]);
    real.resume(&first, "go on", [done()]);
    real.resume(&first, "/compact", [Answer::text("<summary>They said hi.</summary>")]);
    let lineage = real.json(&["lineage", first.session()]);
    let links: Vec<&str> = lineage["continued"]
        .as_array()
        .unwrap()
        .iter()
        .map(|each| each["link"].as_str().unwrap())
        .collect();
    assert_eq!(links, ["resumed", "resumed", "compacted"]);
    let made = real.repo().join("made");
    let after = real.resume(&first, "write", [write(&made), done()]);
    assert_eq!(after.session(), first.session());
    after.assert_told(0, "They said hi.");
    assert_eq!(after.request(0).matches("all 1 requirements met on main").count(), 1);
    assert!(made.exists(), "{}", after.request(1));
}

#[test]
#[ignore = "drives a real agent"]
fn a_forked_conversation_is_a_session_that_comes_from_the_other() {
    let real = Real::new(PLAN);
    let first = real.run(&real.repo(), &["hi"], [skill(), done()]);
    let made = real.repo().join("made");
    let arguments = ["--resume", first.session(), "--fork-session", "write it"];
    let fork = real.run(&real.repo(), &arguments, [write(&made), done()]);
    assert_ne!(fork.session(), first.session());
    assert!(!made.exists(), "another session has to satisfy it itself");
    let lineage = real.json(&["lineage", fork.session()]);
    assert_eq!(lineage["link"], "forked");
    assert_eq!(lineage["ancestors"][0]["id"], first.session());
    real.resume(&fork, "/compact", [Answer::text("<summary>x</summary>")]);
    let lineage = real.json(&["lineage", fork.session()]);
    assert_eq!(lineage["continued"][1]["link"], "compacted", "{lineage}");
}

#[test]
#[ignore = "drives a real agent"]
fn two_sessions_at_once_are_two() {
    let real = Real::new(PLAN);
    let (one, two) = (real.repo().join("one"), real.repo().join("two"));
    let first = real.start(&real.repo(), &["a"], Script::new([skill(), write(&one)]));
    let second = real.start(&real.repo(), &["b"], Script::new([write(&two)]));
    let (first, second) = (first.finish(), second.finish());
    assert_ne!(first.session(), second.session());
    assert!(one.exists() && !two.exists());
    second.assert_told(1, "plan is not met");
    for run in [&first, &second] {
        assert_eq!(real.session(run.session())["status"], "completed");
    }
    assert_eq!(real.json(&["ledger", "verify"])["ok"], true);
}

#[test]
#[ignore = "drives a real agent"]
fn a_session_that_was_killed_is_found_out() {
    let real = Real::new(PLAN);
    let id = "8272974a-8223-4415-954c-99d01904a037";
    let mut running =
        real.start(&real.repo(), &["--session-id", id, "hi"], Script::new([Answer::Hang]));
    running.served.wait();
    let row = real.session(id);
    assert_eq!(
        (&row["status"], &row["live"]["pid"]),
        (&json!("running"), &json!(running.child.id()))
    );
    running.child.kill().unwrap();
    running.child.wait().unwrap();
    let row = real.session(id);
    assert_eq!((&row["status"], &row["live"]), (&json!("interrupted"), &json!(null)));
}

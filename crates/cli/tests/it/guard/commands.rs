//! The commands about requirements.

use serde_json::json;

use super::{Guarded, ONE, Said, TWO};

const SETTINGS: &str = "
requirements:
  commit_plan: {satisfied_by_skill: arch-review}
  reviewed: {scope: single_use, satisfied_by_skill: pre-commit, trigger_tools: [{tool: Bash, command: [git, commit]}]}
  ticket: {scope: branch}
";

#[test]
fn status_says_what_is_met_and_how_to_meet_the_rest() {
    let guarded = Guarded::new(SETTINGS);
    guarded.start(ONE, "startup");
    guarded.skill(ONE, "arch-review");
    guarded.edit(ONE);
    insta::assert_snapshot!(guarded.req(&["status", "--session", ONE]).success().stdout, @"
    main · session 8272974a
      ✔ commit_plan  session     by /arch-review, just now
      · reviewed     single use  not triggered yet → /pre-commit
      · ticket       branch      not triggered yet → heirloom req satisfy ticket
    ");
    let status = guarded.req(&["status", "--session", "8272974a", "--json"]).json();
    assert_eq!((status["branch"].as_str(), status["session"].as_str()), (Some("main"), Some(ONE)));
    let plan = &status["requirements"][0];
    assert_eq!(plan["name"], "commit_plan");
    assert_eq!(plan["scope"], "session");
    assert_eq!(plan["type"], "blocking");
    assert_eq!((&plan["satisfied"], &plan["triggered"]), (&json!(true), &json!(false)));
}

#[test]
fn an_unknown_name_is_refused_with_the_one_that_was_meant_and_nothing_is_written() {
    let guarded = Guarded::new(SETTINGS);
    let ran = guarded.req(&["satisfy", "ticket", "commit_plam", "--session", ONE]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("there is no requirement commit_plam"), "{ran:?}");
    assert!(ran.stderr.contains("did you mean commit_plan?"), "{ran:?}");
    assert_eq!(guarded.req(&["log", "--json"]).json()["log"], json!([]));
}

#[test]
fn where_no_session_is_known_it_is_said_that_nothing_was_written() {
    let guarded = Guarded::new(SETTINGS);
    let ran = guarded.req(&["satisfy", "commit_plan"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.stderr.contains("does not run in a session")
            && ran.stderr.contains("nothing was written"),
        "{ran:?}"
    );
    assert_eq!(guarded.req(&["satisfy", "ticket"]).code, 0, "a branch needs none");
}

#[test]
fn a_person_satisfies_for_a_session_that_the_ledger_has_not_met() {
    let guarded = Guarded::new(SETTINGS);
    assert!(guarded.edit(ONE).is_denied());
    guarded.req(&["satisfy", "commit_plan", "ticket", "--session", "8272974a"]).success();
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    assert!(guarded.edit(TWO).is_denied());
}

#[test]
fn clearing_is_for_this_session_unless_told_otherwise() {
    let guarded = Guarded::new("requirements:\n  plan: {}\n");
    for session in [ONE, TWO] {
        guarded.req(&["satisfy", "plan", "--session", session]).success();
    }
    guarded.req(&["clear", "plan", "--session", ONE]).success();
    assert!(guarded.edit(ONE).is_denied());
    assert_eq!(guarded.edit(TWO), Said::Nothing);
    guarded.req(&["satisfy", "plan", "--branch"]).success();
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    guarded.req(&["clear", "plan", "--branch"]).success();
    assert!(guarded.edit(ONE).is_denied());
}

#[test]
fn explaining_says_what_would_happen_and_does_nothing() {
    let guarded = Guarded::new(SETTINGS);
    let denied = guarded.req(&[
        "explain",
        "Bash",
        "--command",
        "cd x && git commit",
        "--json",
        "--session",
        ONE,
    ]);
    assert_eq!(
        (denied.code, denied.json()["verdict"].as_str().unwrap().to_owned()),
        (1, "deny".to_owned())
    );
    let rows = denied.json()["requirements"].clone();
    assert_eq!(rows[0]["name"], "reviewed");
    assert_eq!(rows[0]["standing"], "unmet");
    let silent = guarded.req(&["explain", "Read", "--path", "a"]).success();
    assert_eq!(silent.stdout, "no requirement applies to this\n");
    // A tool in another case fits nothing, and that is said.
    let lower = guarded.req(&["explain", "bash", "--command", "git commit"]).success();
    assert_eq!(lower.stdout, "no requirement applies to this\n");
    let told = "no agent calls a tool `bash`; did you mean `Bash`?";
    assert!(lower.stderr.contains(told), "{lower}");
    // Nobody's session is in the command that a person is told.
    let anyone = guarded.req(&["explain", "Edit", "--path", "a"]);
    let told = "ticket: say why it is met: heirloom req satisfy ticket --reason WHY.";
    assert!(anyone.stdout.contains(told), "{anyone:?}");
    assert_eq!(guarded.req(&["log", "--json"]).json()["log"], json!([]));
}

#[test]
fn the_trail_says_who_satisfied_what_and_how() {
    let guarded = Guarded::new(SETTINGS);
    guarded.skill(ONE, "arch-review");
    guarded.req(&["satisfy", "ticket"]).success();
    guarded.req(&["satisfy", "reviewed", "--session", ONE, "--metadata", "{\"pr\": 7}"]).success();
    let log = guarded.req(&["log", "--json"]).json();
    let all: Vec<String> = log["log"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| {
            format!(
                "{} {} by {}",
                entry["name"].as_str().unwrap(),
                entry["what"].as_str().unwrap(),
                entry["how"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        all,
        [
            "reviewed satisfied by person",
            "ticket satisfied by person",
            "commit_plan satisfied by skill"
        ]
    );
    assert_eq!(log["log"][0]["metadata"]["pr"], 7);
}

#[test]
fn pruning_forgets_branches_that_are_gone_and_no_others() {
    let guarded = Guarded::new(SETTINGS);
    for branch in ["gone", "stays"] {
        guarded.env.git(&["checkout", "-q", "-b", branch]);
        guarded.req(&["satisfy", "ticket"]).success();
    }
    guarded.env.git(&["branch", "-q", "-D", "gone"]);
    let rehearsal = guarded.req(&["prune", "--dry-run", "--json"]).json();
    assert_eq!(rehearsal["branches"], json!(["gone"]));
    assert_eq!(guarded.req(&["prune", "--json"]).json()["branches"], json!(["gone"]));
    assert_eq!(guarded.req(&["prune", "--json"]).json()["branches"], json!([]));
    let status = guarded.req(&["status", "--json"]).json();
    assert_eq!(status["requirements"][2]["satisfied"], true);
}

#[test]
fn a_branch_without_a_commit_is_not_gone() {
    let guarded = Guarded::new(SETTINGS);
    guarded.env.git(&["checkout", "-q", "--orphan", "fresh"]);
    guarded.req(&["satisfy", "ticket"]).success();
    assert_eq!(guarded.req(&["prune", "--json"]).json()["branches"], json!([]));
    let status = guarded.req(&["status", "--json"]).json();
    assert_eq!(
        (&status["branch"], &status["requirements"][2]["satisfied"]),
        (&json!("fresh"), &json!(true))
    );
}

#[test]
fn what_cannot_be_written_is_never_reported_as_done() {
    let guarded = Guarded::new(SETTINGS);
    // Nothing can be made below a file.
    std::fs::write(guarded.env.user().join("file"), "").unwrap();
    let home = guarded.env.user().join("file/home");
    let guarded = Guarded { env: guarded.env.var("HEIRLOOM_HOME", home) };
    for arguments in [
        &["satisfy", "ticket"][..],
        &["approve", "ticket"],
        &["clear", "ticket"],
        &["pause", "--repo"],
        &["prune"],
    ] {
        let ran = guarded.req(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{arguments:?}: {ran:?}");
        assert!(ran.stderr.starts_with("error: "), "{ran:?}");
    }
    let said = guarded.edit(ONE);
    assert!(matches!(said, Said::Message(_)), "a hook lets the agent go on: {said:?}");
    assert!(said.text().contains("could not do its part"), "and says so: {said:?}");
}

#[test]
fn an_approval_a_pause_and_a_clearing_are_in_the_trail_too() {
    let guarded = Guarded::new(SETTINGS);
    guarded.req(&["approve", "commit_plan", "--session", ONE]).success();
    guarded.req(&["clear", "commit_plan", "--session", ONE]).success();
    guarded.req(&["pause", "--repo", "--reason", "demo"]).success();
    guarded.req(&["resume", "--repo"]).success();
    let log = guarded.req(&["log"]).success().stdout;
    insta::assert_snapshot!(log, @"
    just now           resumed      by a person
    just now           paused       by a person: demo
    just now           cleared      commit_plan by a person session 8272974a on main
    just now           satisfied    commit_plan by approval session 8272974a on main
    ");
    let two = guarded.req(&["log", "--limit", "2", "--json"]).json();
    assert_eq!(two["log"].as_array().unwrap().len(), 2);
}

#[test]
fn pruning_does_nothing_when_git_does_not_answer() {
    let guarded = Guarded::new(SETTINGS);
    guarded.req(&["satisfy", "ticket"]).success();
    let without_git = Guarded { env: guarded.env.var("PATH", "/nowhere") };
    let ran = without_git.req(&["prune"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("nothing was removed"), "{ran:?}");
}

#[test]
fn where_heirloom_is_not_set_up_that_is_what_is_said() {
    let guarded = Guarded { env: crate::env() };
    let ran = guarded.req(&["status"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("heirloom init"), "{ran:?}");
}

/// What a person types is not refused the next moment, and what is not enforced is said where they look.
#[test]
fn outside_a_session_the_status_says_how_and_what_is_not_enforced() {
    let settings = "requirements:\n  plan: {scope: session}\n  ticket: {scope: branch}\n  odd: {scope: sesion}\n";
    let guarded = Guarded::new(settings);
    let shown = guarded.req(&["status"]).success();
    let row = |name: &str| {
        let line = shown.stdout.lines().find(|line| line.contains(name)).expect(name);
        line.split_once("→ ").map_or_else(|| line.to_owned(), |(_, how)| how.to_owned())
    };
    assert_eq!(row(" plan "), "heirloom req satisfy plan --session SESSION");
    assert_eq!(row(" ticket "), "heirloom req satisfy ticket");
    assert!(row(" odd ").contains("not enforced: cannot be `sesion`"), "{shown}");
    assert_eq!(shown.stderr.matches("requirements.odd.scope").count(), 1, "once: {shown}");
    guarded.req(&["satisfy", "plan", "--session", super::ONE]).success();
    guarded.req(&["satisfy", "ticket"]).success();
    let refused = guarded.req(&["satisfy", "odd"]);
    assert!(refused.stderr.contains("odd is not enforced"), "{refused}");
}

#[test]
fn doctor_says_that_requirements_are_paused() {
    let guarded = Guarded::new("requirements: {plan: {scope: session}}\n");
    guarded.req(&["pause", "--repo", "--reason", "demo"]).success();
    let said = guarded.env.run(&["doctor"]).stdout;
    assert!(said.contains("paused in this repository (demo): nothing is enforced"), "{said}");
    guarded.req(&["resume", "--repo"]).success();
    assert!(!guarded.env.run(&["doctor"]).stdout.contains("paused"));
}

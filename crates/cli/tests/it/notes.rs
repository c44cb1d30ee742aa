use serde_json::json;

use crate::{env, stable};

#[test]
fn a_note_is_made_and_listed() {
    let env = env();
    env.write("src/auth.rs", "fn rotate() {\n    swap();\n}\n");
    let said = env.run(&[
        "note",
        "learning",
        "Refresh tokens need atomic rotation",
        "--evidence",
        "src/auth.rs:2",
    ]);
    insta::assert_snapshot!(stable(&said.to_string()), @"✔ learning [short] in notes-2026-01-12 src/auth.rs:2");
    env.run(&["note", "decision", "Use RS256", "--because", "keys rotate"]).success();
    insta::assert_snapshot!(stable(&env.run(&["notes"]).to_string()), @r"
    [short] learning  Refresh tokens need atomic rotation (notes-2026-01-12)
                       src/auth.rs:2 swap();
    [short] decision  Use RS256 (notes-2026-01-12)
                       because keys rotate
    ");
    insta::assert_snapshot!(stable(&env.run(&["notes", "--kind", "decisions"]).to_string()), @r"
    [short] decision  Use RS256 (notes-2026-01-12)
                       because keys rotate
    ");
}

#[test]
fn notes_as_json_have_the_documented_keys() {
    let env = env();
    env.run(&["note", "warning", "Do not cache keys"]).success();
    let note = env.run(&["notes", "--json"]).json()["notes"][0].clone();
    for key in ["id", "kind", "text", "session", "at", "evidence", "superseded_by"] {
        assert!(note.get(key).is_some(), "{key}");
    }
    assert_eq!(note["at"], "2026-01-12T15:30:00Z");
    assert_eq!(note["session"], "notes-2026-01-12");
}

#[test]
fn a_kind_that_is_none_brings_the_one_that_was_meant() {
    insta::assert_snapshot!(env().run(&["note", "lerning", "x"]), @r"
    ------- stderr -------
    error: there is no kind of note called `lerning`
    hint: did you mean learning? The kinds are learning, pattern, warning, decision, question, next-step, progress, scenario
    [exit 64]
    ");
}

#[test]
fn evidence_that_does_not_hold_is_refused_and_nothing_is_recorded() {
    let env = env();
    env.write("a.rs", "one\n");
    insta::assert_snapshot!(env.run(&["note", "learning", "x", "--evidence", "a.rs:7"]), @r"
    ------- stderr -------
    error: a.rs has no line 7: it has 1 line
    hint: nothing was recorded
    [exit 1]
    ");
    assert_eq!(env.run(&["notes", "--json"]).json()["notes"].as_array().unwrap().len(), 0);
    assert_eq!(
        env.run(&["sessions", "list", "--json"]).json()["sessions"].as_array().unwrap().len(),
        0
    );
}

#[test]
fn a_note_replaces_another_by_the_beginning_of_its_id() {
    let env = env();
    let first = env.run(&["note", "decision", "Use HS256", "--json"]).json();
    let id = first["id"].as_str().unwrap();
    env.run(&["note", "decision", "Use RS256", "--supersedes", &id[..8]]).success();
    let listed = env.run(&["notes"]).stdout;
    assert!(!listed.contains("HS256") && listed.contains("RS256"), "{listed}");
    let all = env.run(&["notes", "--all", "--json"]).json();
    assert_eq!(all["notes"].as_array().unwrap().len(), 2);
    assert!(all["notes"][0]["superseded_by"].is_string());
}

#[test]
fn a_secret_in_a_note_is_redacted_at_the_door() {
    let env = env();
    let secret = format!("AKIA{}", "Q3EGLVQ7JKXB4T2M");
    env.run(&["note", "learning", &format!("deploy with {secret} only")]).success();
    let listed = env.run(&["notes"]).stdout;
    assert!(!listed.contains(&secret), "{listed}");
    assert!(listed.contains("deploy with [redacted:"), "{listed}");
    assert!(listed.contains("] only"), "{listed}");
}

#[test]
fn an_agents_own_variable_says_which_session_a_note_belongs_to() {
    let id = "8272974a-1111-4222-8333-444455556666";
    let env = env().var("CLAUDE_CODE_SESSION_ID", id);
    env.run(&["note", "learning", "from inside"]).success();
    let session = env.run(&["sessions", "list", "--json"]).json()["sessions"][0].clone();
    assert_eq!(session["id"], id);
    assert_eq!(session["name"], "claude-8272974a");
    assert_eq!(session["agent"], "claude");
    env.run(&["note", "learning", "again"]).success();
    assert_eq!(
        env.run(&["sessions", "list", "--json"]).json()["sessions"].as_array().unwrap().len(),
        1
    );
}

#[test]
fn notes_of_one_repository_are_not_those_of_another() {
    let env = env();
    env.run(&["note", "learning", "here"]).success();
    std::fs::create_dir_all(env.repo().join("../elsewhere")).unwrap();
    let there = env.run_in(std::path::Path::new("../elsewhere"), &["notes", "--json"]);
    assert_eq!(there.json()["notes"].as_array().unwrap().len(), 0);
    std::fs::create_dir_all(env.repo().join("src")).unwrap();
    let below = env.run_in(std::path::Path::new("src"), &["notes", "--json"]);
    assert_eq!(below.json()["notes"].as_array().unwrap().len(), 1);
}

#[test]
fn notes_made_at_once_all_end_up_in_the_same_session() {
    let env = env();
    let makers: Vec<_> = (0..20)
        .map(|n| {
            let mut command = env.command(&["note", "learning", &format!("number {n}")]);
            command.stdout(std::process::Stdio::null()).spawn().unwrap()
        })
        .collect();
    for mut maker in makers {
        assert!(maker.wait().unwrap().success());
    }
    let sessions = env.run(&["sessions", "list", "--json"]).json();
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(sessions["sessions"][0]["learnings"], 20);
}

#[test]
fn many_notes_are_listed_page_by_page_and_none_is_left_out() {
    let env = env();
    for n in 1..=5 {
        env.run(&["note", "learning", &format!("number {n}")]).success();
    }
    let first = env.run(&["notes", "--limit", "2"]).success();
    assert!(first.stdout.contains("number 4") && first.stdout.contains("number 5"), "{first}");
    assert!(first.stderr.contains("there are older ones: add --before"), "{first}");
    let mut listed = Vec::new();
    let mut before: Option<String> = None;
    loop {
        let mut command = vec!["notes", "--json", "--limit", "2"];
        command.extend(before.iter().flat_map(|id| ["--before", id.as_str()]));
        let page = env.run(&command).success().json();
        let notes = page["notes"].as_array().unwrap().iter();
        let texts = notes.map(|note| note["text"].as_str().unwrap().to_owned());
        listed.splice(0..0, texts);
        match page["next"].as_str() {
            Some(next) => before = Some(next.to_owned()),
            None => break,
        }
    }
    assert_eq!(listed, ["number 1", "number 2", "number 3", "number 4", "number 5"]);
    let nobody = env.run(&["notes", "--before", "ffffffff"]);
    insta::assert_snapshot!(nobody, @r"
    ------- stderr -------
    error: there is no note ffffffff
    hint: `heirloom notes` shows the ids
    [exit 1]
    ");
}

#[test]
fn a_clock_that_said_9999_does_not_decide_what_is_recovered() {
    let env = env();
    let noted = |at: &str, text: &str| {
        let mut command = env.command(&["note", "next_step", text]);
        let output = command.env("HEIRLOOM_CLOCK", at).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(noted("2026-01-10T09:00:00Z", "before"), "");
    let said = noted("9999-06-01T09:00:00Z", "while the clock was wrong");
    assert!(said.contains("the clock of this machine says 9999-06-01"), "{said}");
    assert_eq!(noted("2026-01-11T09:00:00Z", "after"), "");
    let listed = env.run(&["notes", "--json"]).success().json();
    let texts: Vec<&str> = listed["notes"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|note| note["text"].as_str())
        .collect();
    assert_eq!(texts, ["before", "while the clock was wrong", "after"]);
    let recovered = env.run(&["recover"]).success().stdout;
    assert!(recovered.contains("after"), "{recovered}");
    let verified = env.run(&["ledger", "verify"]).success().stdout;
    assert!(verified.contains("with an impossible time"), "{verified}");
}

#[test]
fn a_scenario_says_what_it_tries_and_what_has_to_come_of_it() {
    let env = env();
    let note = ["note", "scenario", "Token expires at the boundary", "--issue", "hl-1"];
    let case = ["--type", "edge-case", "--expected", "The grace period applies"];
    let made = env.run(&[&note[..], &case, &["--json"]].concat()).success().json();
    let expected = json!({"type": "edge_case", "expected": "The grace period applies"});
    assert_eq!(made["case"], expected);
    let listed = env.run(&["notes", "--json"]).json();
    assert_eq!(listed["notes"][0]["case"], expected, "it is kept");
    let shown = env.run(&["notes"]).success();
    assert!(shown.stdout.contains("edge case, expected: The grace period applies"), "{shown}");

    // What is wanting or does not fit is refused before anything is recorded.
    let refused = [
        (["--type", "odd", "--expected", "x"], "there is no type of scenario called `odd`"),
        (["--type", "edge-case", "--because", "x"], "--expected <TEXT>"),
        (["--expected", "x", "--because", "y"], "--type <TYPE>"),
    ];
    for (arguments, words) in refused {
        let ran = env.run(&[&note[..], &arguments].concat());
        assert!(ran.code != 0 && ran.stderr.contains(words), "{words}: {ran}");
    }
    let ran = env.run(&[&["note", "decision", "x"][..], &case].concat());
    assert!(ran.code != 0 && ran.stderr.contains("only a scenario has a type"), "{ran}");
    assert_eq!(env.run(&["notes", "--json"]).json()["notes"].as_array().unwrap().len(), 1);

    // A checkpoint asks for both, and for the reason of a decision.
    env.run(&["note", "scenario", "Both tokens expired"]).success();
    env.run(&["note", "decision", "Allow a grace period of 15 minutes"]).success();
    let steps = env.run(&["checkpoint", "--dry-run", "--json"]).json()["steps"].clone();
    let steps = steps.as_array().unwrap();
    let step = |name: &str| steps.iter().find(|step| step["name"] == name).unwrap().clone();
    let scenarios = step("scenarios");
    assert_eq!(scenarios["status"], "warned");
    assert_eq!(
        scenarios["detail"],
        "2 of 3 test scenarios, 1 without a type and an expected result"
    );
    let steps = env.run(&["checkpoint", "--json"]).json()["steps"].clone();
    let log = steps.as_array().unwrap().iter().find(|step| step["name"] == "decision_log").unwrap();
    assert_eq!(log["status"], "warned");
    assert!(
        log["detail"].as_str().unwrap().contains("no reason given; note it again with --because"),
        "{log}"
    );
}

#[test]
fn what_somebody_lists_can_be_replaced_and_is_read_in_words() {
    let env = env();
    env.run(&["note", "next_step", "go on"]).success();
    let id = env.run(&["notes", "--json"]).json()["notes"][0]["id"].as_str().unwrap().to_owned();
    let listed = env.run(&["notes"]).success().stdout;
    let first = listed.split_whitespace().next().unwrap();
    assert!(first.len() >= 8 && id.starts_with(first), "{listed}");
    env.run(&["note", "next_step", "stop", "--supersedes", first]).success();
    for shown in [&listed, &env.run(&["notes"]).stdout, &env.run(&["search", "stop"]).stdout] {
        assert!(shown.contains("next step") && !shown.contains("next_step"), "{shown}");
    }
}

//! What somebody sees who has just arrived.

use crate::env;

#[test]
fn the_demo_shows_a_second_session_that_inherits_and_leaves_nothing_behind() {
    let env = env().var("TMPDIR", env().home());
    let tmp = env.home().join("tmp");
    std::fs::create_dir(&tmp).unwrap();
    let mut command = env.command(&["demo"]);
    let output = command.env("TMPDIR", &tmp).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    assert!(
        told.contains("inherits auth-v1: 3 learnings") && told.contains("+ auth-v1: "),
        "{told}"
    );
    assert_eq!(std::fs::read_dir(&tmp).unwrap().count(), 0);
    assert!(!env.home().join("ledger.db").exists(), "the demo used the person's own ledger");
}

#[test]
fn doctor_says_what_to_do_next_and_fails_on_a_problem() {
    let env = env();
    let ran = env.run(&["doctor"]).success();
    assert!(ran.stdout.contains("`heirloom init` sets it up"), "{ran}");
    std::fs::write(env.home().join("ledger.db"), "not a ledger").unwrap();
    let ran = env.run(&["doctor", "--json"]);
    assert_eq!((ran.code, &ran.json()["ok"]), (1, &false.into()));
}

#[test]
fn doctor_says_once_what_is_wrong_with_the_settings_and_what_holds_all_the_same() {
    let env = env();
    env.write(".heirloom/config.yaml", "requirements:\n  plan: {}\n  odd: 7\n");
    let ran = env.run(&["doctor"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    let about = |name: &str| -> Vec<&str> {
        ran.stdout.lines().filter(|line| line.split_whitespace().nth(1) == Some(name)).collect()
    };
    let [settings] = about("settings")[..] else { panic!("{ran}") };
    assert!(settings.starts_with("✗ ") && settings.contains(":3:8: `requirements.odd`"), "{ran}");
    let [requirements] = about("requirements")[..] else { panic!("{ran}") };
    assert!(requirements.ends_with("1 holds"), "{ran}");
    assert!(!ran.stdout.contains("any command"), "nobody said which: {ran}");
    let ran = env.var("HEIRLOOM_AGENT_COMMAND", "cat").run(&["doctor"]);
    assert!(ran.stdout.contains("any command"), "{ran}");
}

#[test]
fn doctor_says_why_nothing_is_asked_for() {
    let env = env();
    for (settings, words) in [
        ("requirements: {}\n", "requirements none"),
        ("guard: {enabled: false}\n", "requirements switched off in the settings"),
        ("requirements: {\n", "requirements none holds: .heirloom/config.yaml cannot be read"),
    ] {
        env.write(".heirloom/config.yaml", settings);
        let ran = env.run(&["doctor"]);
        let mut lines = ran.stdout.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let words: Vec<&str> = words.split_whitespace().collect();
        assert!(lines.any(|line| line[1..] == words), "{settings}: {ran}");
    }
}

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

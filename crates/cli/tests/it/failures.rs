use crate::env;

#[test]
fn a_failure_with_json_is_one_document_on_stdout() {
    let ran = env().run(&["status", "nobody", "--json"]);
    let error = &ran.json()["error"];
    assert_eq!((ran.code, &error["code"]), (1, &"session.not-found".into()));
    assert!(error["message"].is_string() && error["hint"].is_string());
}

#[test]
fn wrong_usage_is_exit_64() {
    let env = env();
    for arguments in
        [&["sesions"][..], &["note"], &["notes", "--nope"], &["sessions", "list", "--limit", "x"]]
    {
        assert_eq!(env.run(arguments).code, 64, "{arguments:?}");
    }
    let ran = env.run(&["sesions", "--json"]);
    assert_eq!((ran.code, &ran.json()["error"]["code"]), (64, &"usage".into()));
}

#[test]
fn wrong_usage_says_what_is_missing_and_how_it_goes() {
    insta::assert_snapshot!(env().run(&["note", "learning"]), @r"
    ------- stderr -------
    error: the following required arguments were not provided: <TEXT>
    hint: usage: heirloom note <KIND> <TEXT>
    hint: `heirloom note --help` shows how it is used
    [exit 64]
    ");
    let error = env().run(&["note", "learning", "--json"]).json()["error"].clone();
    assert!(error["message"].as_str().unwrap().ends_with("<TEXT>"), "{error}");
    assert!(error["hint"].is_string(), "{error}");
}

#[test]
fn a_command_that_is_none_brings_the_one_that_was_meant() {
    let said = env().run(&["sesions"]).stderr;
    assert!(said.contains("'sessions'"), "{said}");
}

#[test]
fn colour_is_for_terminals_only() {
    let env = env();
    env.run(&["note", "learning", "one"]).success();
    for arguments in [&["notes"][..], &["doctor"], &["status", "nobody"]] {
        let ran = env.run(arguments);
        assert!(!ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'), "{ran}");
    }
}

#[test]
fn a_home_that_is_nowhere_is_said_to_be_so() {
    let ran =
        env().command(&["notes"]).env_remove("HEIRLOOM_HOME").env_remove("HOME").output().unwrap();
    let said = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(ran.status.code(), Some(64));
    assert!(said.starts_with("error: cannot tell where to keep heirloom's data"), "{said}");
}

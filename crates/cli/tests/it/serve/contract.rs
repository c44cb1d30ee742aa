//! The API against its own description, and how answers travel.

use std::process::Command;

use heirloom_testkit::real::checker;
use serde_json::Value;

use super::Daemon;
use super::client::Request;

/// No 5xx, no status, type or shape that is not documented.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_schema_conformance";

/// Every route but the stream, which does not end, is asked for what its description allows and for what it does not.
#[test]
#[ignore = "needs python and schemathesis"]
fn schemathesis_finds_no_failure_and_no_status_that_is_not_documented() {
    let env = crate::env();
    env.run(&["launch", "say hello", "--name", "auth-v1", "--agent", "sim"]).success();
    env.run(&["note", "learning", "sleep matters"]).success();
    env.run(&["issues", "create", "Rotate tokens"]).success();
    // Nothing but the built-in agent can be launched, whatever is asked for.
    let daemon = Daemon::start(env.without_agents());
    let program = checker("schemathesis", "4.32.5", "bin/schemathesis");
    let modules = program.parent().and_then(|bin| bin.parent()).unwrap();
    let output = Command::new("python3")
        .arg(&program)
        .arg("run")
        .arg(format!("{}/api/v1/openapi.json", daemon.url()))
        .args(["--header", &format!("Authorization: Bearer {}", daemon.token())])
        .args(["--exclude-path", "/api/v1/events", "--phases", "coverage,fuzzing"])
        .args(["--checks", CHECKS])
        .args(["--max-examples", "8", "--seed", "7", "--suppress-health-check", "all"])
        .args(["--no-color", "--warnings", "off", "--request-timeout", "120"])
        .env("PYTHONPATH", modules)
        .current_dir(daemon.env.user())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    // All but the one that is left out and at most one that needs what the others never give.
    let described: Value =
        serde_json::from_str(include_str!("../../../../../docs/openapi.json")).unwrap();
    let paths = described["paths"].as_object().unwrap().values();
    let operations: usize = paths.map(|path| path.as_object().unwrap().len()).sum();
    let tested = said.split("Tested: ").nth(1).and_then(|rest| rest.split_whitespace().next());
    let tested: usize = tested.unwrap().parse().unwrap();
    assert!(tested + 2 >= operations, "{tested} of {operations}: {said}");
}

#[test]
fn answers_are_compressed_for_who_accepts_it() {
    let daemon = Daemon::start(crate::env());
    let asking = |accepts: &str| {
        let request = Request::get("/api/v1/openapi.json").header("accept-encoding", accepts);
        let answer = request.bearer(daemon.token()).send(daemon.url());
        assert_eq!(answer.status, 200, "{accepts}");
        answer.header("content-encoding").map(str::to_owned)
    };
    assert_eq!(asking("gzip").as_deref(), Some("gzip"));
    assert_eq!(asking("zstd").as_deref(), Some("zstd"));
    assert_eq!(asking("identity"), None);
}

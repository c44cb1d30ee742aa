//! Many at once: nothing is lost.

use std::process::Stdio;

use serde_json::Value;

const MANY: usize = 64;

/// Prints a burst and is gone, without so much as reading its prompt.
const BURST: &str = r#"#!/bin/sh
for previous in "$@"; do :; done
id=
for argument in "$@"; do
  [ "$flag" = --session-id ] && id=$argument
  flag=$argument
done
printf '{"type":"system","subtype":"init","session_id":"%s","model":"m"}\n' "$id"
for n in 1 2 3 4 5 6 7 8; do
  printf '{"type":"assistant","message":{"id":"m%s","content":[{"type":"text","text":"%s"}]}}\n' $n $n
done
printf '{"type":"result","subtype":"success","is_error":false,"result":"8","session_id":"%s","num_turns":1,"total_cost_usd":0.5}\n' "$id"
"#;

#[test]
fn of_sixty_four_sessions_at_once_every_event_and_status_is_kept() {
    let env = crate::env();
    let agent = env.script("burst", BURST);
    let env = env.var("HEIRLOOM_AGENT_CLAUDE", agent);
    let children: Vec<_> = (0..MANY)
        .map(|n| {
            let name = format!("s{n}");
            let mut command = env.command(&["launch", "go", "--name", &name, "--json"]);
            let piped = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            piped.spawn().unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let listed = env.run(&["sessions", "list", "--completed", "--limit", "100", "--json"]).json();
    assert_eq!(listed["sessions"].as_array().unwrap().len(), MANY);
    let expected: Vec<String> = std::iter::once("go".to_owned())
        .chain((1..=8).map(|n| n.to_string()))
        .chain(["8".to_owned()])
        .collect();
    for n in 0..MANY {
        let said = env.run(&["conversation", &format!("s{n}"), "--json"]).success().json();
        let text = |event: &Value| event["text"].as_str().unwrap().to_owned();
        let texts: Vec<String> = said["events"].as_array().unwrap().iter().map(text).collect();
        assert_eq!(texts, expected, "s{n}");
    }
    env.run(&["ledger", "verify"]).success();
}

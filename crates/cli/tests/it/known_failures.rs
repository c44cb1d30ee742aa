//! What earlier contexts tried in vain is told to an agent that is about to try it again, and never stops it.

use serde_json::{Value, json};

use crate::capture::ID;
use crate::handing_over::{agent, hook};
use crate::talk::Talk;

const NEXT: &str = "1b554780-986f-49f2-9a58-edfafd0188dd";

#[test]
fn an_agent_about_to_fail_again_is_told_what_worked_once_each_and_three_a_session() {
    let env = crate::env();
    env.run(&["init", "--yes"]).success();
    let mut person = agent();
    let pid = person.id();
    hook(&env, "SessionStart", ID, pid, &json!({"source": "startup"}));
    let mut talk = Talk::new(&env, ID);
    talk.prompt("bring it up please");
    talk.fails("./e2e --port 8080", "error: address in use (pid 17)");
    talk.fails("./e2e --port 8080", "error: address in use (pid 23)");
    talk.runs("./e2e --port 0", "up");
    for name in ["a", "b", "c"] {
        talk.fails(&format!("./ship {name} --fast"), "error: no such flag --fast");
        talk.runs(&format!("./ship {name}"), "shipped");
    }
    // It failed, and then it did not; and a test runner fails because of the code.
    talk.fails("./mend --all", "error: locked");
    talk.runs("./mend --one", "mended");
    talk.runs("./mend --all", "mended");
    talk.fails("cargo test", "error: test failed");
    talk.runs("cargo test -p core", "ok");
    hook(&env, "SessionEnd", ID, pid, &json!({"reason": "prompt_input_exit"}));

    hook(&env, "SessionStart", NEXT, pid, &json!({"source": "startup"}));
    let told = |command: &str| {
        let input = json!({"tool_name": "Bash", "tool_input": {"command": command}});
        let said = hook(&env, "PreToolUse", NEXT, pid, &input);
        let answer: Value = serde_json::from_str(&said).unwrap_or_default();
        let of = &answer["hookSpecificOutput"];
        assert_ne!(of["permissionDecision"], "deny", "{said}");
        of["additionalContext"].as_str().map(str::to_owned)
    };
    assert_eq!(told("./mend --all"), None, "it succeeded since");
    assert_eq!(told("cargo test"), None, "its error says nothing of the command");
    assert_eq!(
        told("./e2e --port 8080").as_deref(),
        Some(
            "heirloom: tried twice, last on Saturday: error: address in use (pid 23); what worked: `./e2e --port 0`"
        )
    );
    assert_eq!(told("./e2e --port 8080"), None, "once a session");
    assert!(told("./ship a --fast").is_some_and(|line| line.contains("what worked: `./ship a`")));
    assert!(told("./ship b --fast").is_some());
    assert_eq!(told("./ship c --fast"), None, "three a session");
    person.kill().unwrap();
    person.wait().unwrap();
}

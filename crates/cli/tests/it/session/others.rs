//! Agents that are not Claude Code: what they can go on with, and what they are not asked for.

use std::fs;

use heirloom_testkit::env::{Ran, TestEnv};
use serde_json::json;

/// A stand-in for an agent that prints what the real one prints in a turn, and writes down what it
/// was started with.
struct Other {
    env: TestEnv,
    name: &'static str,
}

const ID: &str = "01a1dcac-f38a-7ae3-a06c-e6f178f250a4";

fn stream(agent: &str) -> Vec<String> {
    let lines = match agent {
        "codex" => vec![
            json!({"type": "thread.started", "thread_id": ID}),
            json!({"type": "turn.started"}),
            json!({"type": "item.completed",
                   "item": {"id": "item_0", "type": "agent_message", "text": "hi"}}),
            json!({"type": "turn.completed", "usage": {"input_tokens": 10, "output_tokens": 5}}),
        ],
        "gemini" => vec![
            json!({"type": "init", "session_id": ID, "model": "gemini-2.5-flash"}),
            json!({"type": "message", "role": "assistant", "content": "hi", "delta": true}),
            json!({"type": "result", "status": "success", "stats": {}}),
        ],
        _ => vec![
            json!({"type": "step_start", "sessionID": "ses_one", "part": {"type": "step-start"}}),
            json!({"type": "text", "sessionID": "ses_one", "part": {"type": "text", "text": "hi"}}),
            json!({"type": "step_finish", "sessionID": "ses_one",
                   "part": {"type": "step-finish", "reason": "stop", "cost": 0, "tokens": {}}}),
        ],
    };
    lines.iter().map(ToString::to_string).collect()
}

impl Other {
    /// With a session `a` of that agent.
    fn new(name: &'static str) -> Self {
        let env = crate::env();
        let said = env.user().join("said");
        let mut lines = stream(name).join("\n");
        if name == "gemini" {
            // It uses the id it is given.
            lines = lines.replace(ID, "'\"$id\"'");
        }
        let script = format!(
            "#!/bin/sh\nprintf '%s ' \"$@\" > '{}'\nid={ID}\nfor a in \"$@\"; do\n  \
             case \"$p\" in --session-id|--resume) id=$a ;; esac\n  p=$a\ndone\n\
             grep -q astray && id=11111111-1111-4111-8111-111111111111\necho '{lines}'\n",
            said.display(),
        );
        let program = env.script(name, &script);
        let variable = format!("HEIRLOOM_AGENT_{}", name.to_uppercase());
        let other = Self { env: env.var(&variable, program), name };
        let model = if name == "opencode" { "p/m" } else { "m" };
        let launch = ["launch", "go", "--agent", name, "--name", "a", "--model", model, "--json"];
        let launched = other.run(&launch).success().json();
        assert_eq!(launched["status"], "completed", "{launched}");
        other
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        self.env.run(arguments)
    }

    fn given(&self) -> String {
        fs::read_to_string(self.env.user().join("said")).unwrap()
    }

    fn sessions(&self) -> usize {
        let listed = self.run(&["sessions", "list", "--json"]).success().json();
        listed["sessions"].as_array().unwrap().len()
    }

    #[track_caller]
    fn refuses(&self, arguments: &[&str]) -> String {
        let before = (self.sessions(), self.given());
        let ran = self.run(&[arguments, &["--json"]].concat());
        assert_eq!((ran.code, &ran.json()["error"]["code"]), (1, &json!("agent.launch")), "{ran}");
        assert_eq!((self.sessions(), self.given()), before, "{} was started", self.name);
        ran.json()["error"]["message"].as_str().unwrap().to_owned()
    }
}

#[test]
fn codex_goes_on_with_a_copy_and_forks_whole_conversations_only() {
    let codex = Other::new("codex");
    codex.run(&["continue", "a", "more"]).success();
    insta::assert_snapshot!(codex.given(), @"exec fork 01a1dcac-f38a-7ae3-a06c-e6f178f250a4 --json --skip-git-repo-check --model m -");
    codex.run(&["fork", "a", "elsewhere"]).success();
    insta::assert_snapshot!(codex.given(), @"exec fork 01a1dcac-f38a-7ae3-a06c-e6f178f250a4 --json --skip-git-repo-check --model m -");
    insta::assert_snapshot!(codex.refuses(&["fork", "a", "elsewhere", "--at", "2"]), @"codex cannot honour fork --at (it can only copy a whole conversation)");
    // What it could not honour is refused before anything is made, also when it is inherited.
    insta::assert_snapshot!(codex.refuses(&["continue", "a", "more", "--allowed-tools", "Bash"]), @"codex cannot honour allowed_tools (it has no list of tools)");
}

#[test]
fn opencode_goes_on_with_a_copy_and_forks_whole_conversations_only() {
    let opencode = Other::new("opencode");
    opencode.run(&["continue", "a", "more"]).success();
    insta::assert_snapshot!(opencode.given(), @"run --format json --thinking --print-logs --log-level ERROR --model p/m --session ses_one --fork");
    insta::assert_snapshot!(opencode.refuses(&["fork", "a", "elsewhere", "--at", "2"]), @"opencode cannot honour fork --at (it can only copy a whole conversation)");
}

#[test]
fn gemini_goes_on_with_the_conversation_itself_and_is_not_forked() {
    let gemini = Other::new("gemini");
    let a = gemini.run(&["sessions", "show", "a", "--json"]).json();
    let id = a["agent_session_id"].as_str().unwrap();
    gemini.run(&["continue", "a", "more"]).success();
    insta::assert_snapshot!(gemini.given().replace(id, "[the id of a]"), @"--output-format stream-json --model gemini-2.5-flash --resume [the id of a]");
    // One that starts afresh instead has not taken the session over: the next one goes on from it.
    let astray = gemini.run(&["continue", "a", "go astray", "--name", "b", "--json"]);
    assert_eq!(astray.json()["outcome"], "stale_session", "{astray}");
    gemini.run(&["continue", "b", "more"]);
    assert!(gemini.given().contains(&format!("--resume {id}")), "{}", gemini.given());
    // A fork that went on with the same conversation would be none.
    insta::assert_snapshot!(gemini.refuses(&["fork", "a", "elsewhere"]), @"gemini cannot honour fork (it cannot copy a conversation)");
    insta::assert_snapshot!(gemini.refuses(&["fork", "a", "elsewhere", "--at", "2"]), @"gemini cannot honour fork --at (it cannot copy a conversation)");
}

#[test]
fn the_agent_of_the_settings_is_launched_where_no_other_is_named() {
    let codex = Other::new("codex");
    codex
        .env
        .write(".heirloom/config.yaml", "agent: codex\nagents:\n  codex: {model: m-of-settings}\n");
    let launched = codex.run(&["launch", "go", "--json"]).success().json();
    assert_eq!(launched["agent"], "codex", "{launched}");
    assert!(codex.given().contains("--model m-of-settings"), "{}", codex.given());
    let ran = codex.run(&["launch", "go", "--agent", "nobody", "--json"]);
    assert_eq!(ran.json()["error"]["code"], "agent.unknown");
}

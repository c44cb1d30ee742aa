//! The real Codex in its own sandbox, with a model on loopback.

use heirloom_testkit::env::TestEnv;
use heirloom_testkit::model::{Answer, Script};
use heirloom_testkit::real::{codex, pinned};
use serde_json::json;

use super::TOGETHER;

fn shell(command: &str) -> Answer {
    Answer::tool("exec_command", json!({"cmd": command, "yield_time_ms": 30_000}))
}

fn issue(env: &TestEnv, title: &str, priority: &str) -> String {
    let made = env.run(&["issues", "create", title, "--priority", priority, "--json"]);
    made.success().json()["id"].as_str().unwrap().to_owned()
}

/// Its sandbox keeps it from writing to git's own files, `.git/worktrees/…` included: it commits nothing, and merges
/// nothing. Both are done for it, and it is handed what conflicts.
#[test]
#[ignore = "drives a real agent"]
fn codex_resolves_a_conflict_in_a_sandbox_in_which_it_cannot_commit() {
    let env = crate::env();
    env.write(".heirloom/config.yaml", "work: {gate: ['test -f same.txt'], max_agents: 2}\n");
    env.write("same.txt", "base\n");
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "settings"]);
    let commit = "git add -A && git -c user.name=a -c user.email=a@b commit -qm mine";
    // The second one does not go on before the first one's work is together.
    let together =
        format!("until git show {TOGETHER}:same.txt | grep -q first; do sleep 0.2; done");
    let script = Script::default()
        .on("Resolve the conflicts", shell("cat same.txt; echo 'first and second' > same.txt"))
        .on(": Second", shell(&format!("{together}; echo second > same.txt; {commit}")))
        .on(": First", shell(&format!("echo first > same.txt; {commit}")));
    let served = codex(&env.user(), script);
    let version = heirloom_agents::by_name("codex").unwrap().tested_version().unwrap();
    let mut env = env.var("HEIRLOOM_AGENT_CODEX", pinned("codex", version));
    for (name, value) in &served.env {
        env = env.var(name, value.as_str());
    }
    let issues = [issue(&env, "First", "0"), issue(&env, "Second", "1")];
    let ran = env.run(&["work", "--agent", "codex"]).success();
    let requests = served.requests();
    let asked = |words: &str| requests.iter().any(|request| request.contains(words));
    assert!(asked("`sandbox_mode` is `workspace-write`"), "{ran}: {requests:?}");
    assert!(asked("Read-only file system"), "it could commit: {ran}: {requests:?}");
    assert!(asked("<<<<<<<"), "it was handed no conflict: {ran}: {requests:?}");
    for issue in issues {
        let shown = env.run(&["issues", "show", &issue, "--json"]).success().json();
        assert_eq!(shown["status"], "closed", "{ran}: {shown}");
    }
    assert_eq!(env.git(&["show", &format!("{TOGETHER}:same.txt")]).trim(), "first and second");
    assert_eq!(env.read("same.txt"), "base\n");
}

//! What goes wrong with us is never the agent's problem.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use heirloom_testkit::env::TestEnv;
use serde_json::json;

use super::{Guarded, ONE, Said, said};

const PLAN: &str = "requirements:\n  plan: {}\n";

#[test]
fn a_payload_of_any_bytes_is_survived() {
    let guarded = Guarded::new(PLAN);
    let whole =
        json!({"session_id": ONE, "cwd": guarded.env.repo(), "tool_name": "Edit"}).to_string();
    for payload in [
        b"".as_slice(),
        b"\n",
        b"{}",
        b"null",
        b"[]",
        b"7",
        b"\"x\"",
        b"{",
        b"\xff\xfe",
        b"{\"a\":",
        b"{\"session_id\":7,\"cwd\":[],\"tool_name\":{},\"tool_input\":\"x\"}",
        b"{\"session_id\":\"\",\"cwd\":\"/\"}",
        b"{\"session_id\":\"s\",\"cwd\":\"/does/not/exist\",\"tool_name\":\"Edit\"}",
        &whole.as_bytes()[..whole.len() - 1],
    ] {
        for event in ["PreToolUse", "PostToolUse", "Stop", "SessionStart", "SessionEnd", "Nonsense"]
        {
            let text = String::from_utf8_lossy(payload);
            assert_eq!(guarded.raw("claude", event, payload), Said::Nothing, "{event} {text}");
        }
    }
    assert!(guarded.raw("claude", "PreToolUse", whole.as_bytes()).is_denied());
}

#[test]
fn a_wrong_value_elsewhere_in_the_settings_takes_no_brief_away() {
    let guarded = Guarded::new("work: {max_agents: many}\n");
    guarded.env.run(&["note", "decision", "tokens rotate", "--because", "theft is noticed"]);
    let start = json!({"session_id": ONE, "cwd": guarded.env.repo(), "source": "startup"});
    let ran =
        guarded.env.run_with(&["hook", "claude", "SessionStart"], start.to_string().as_bytes());
    assert!(ran.stdout.contains("tokens rotate"), "{ran}");
}

#[test]
fn an_unknown_agent_or_no_argument_at_all_is_silence() {
    let guarded = Guarded::new(PLAN);
    for arguments in
        [&["hook"][..], &["hook", "nobody", "Stop"], &["hook", "claude"], &["hook", "--json"]]
    {
        let ran = guarded.env.run_with(arguments, b"{\"session_id\":\"s\"}");
        assert_eq!(said(&ran), Said::Nothing, "{arguments:?}");
    }
    let help = guarded.env.run(&["hook", "--help"]).success();
    assert!(
        help.stdout.contains("heirloom hook [OPTIONS] <AGENT> <EVENT>"),
        "a person may ask: {help}"
    );
}

#[test]
fn input_without_an_end_is_answered_all_the_same() {
    let guarded = Guarded::new(PLAN);
    let mut child = guarded
        .env
        .command(&["hook", "claude", "PreToolUse"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let payload = json!({"session_id": ONE, "cwd": guarded.env.repo(), "tool_name": "Edit"});
    stdin.write_all(payload.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert!(output.status.success());
    assert!(String::from_utf8(output.stdout).unwrap().contains("plan is not met"));
}

#[test]
fn an_agent_that_does_not_listen_is_no_failure() {
    let guarded = Guarded::new(PLAN);
    let payload = json!({"session_id": ONE, "cwd": guarded.env.repo(), "tool_name": "Edit"});
    let mut child = guarded
        .env
        .command(&["hook", "claude", "PreToolUse"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_message_of_any_length_is_one_that_the_agent_takes_whole() {
    let long = "é😀".repeat(20_000);
    let guarded = Guarded::new(&format!(
        "requirements:\n  a: {{message: \"{long}\"}}\n  b: {{message: \"{long}\", enforcement: warn, trigger_tools: [Read]}}\n  c: {{stop_only: true, trigger_tools: [Glob], message: \"{long}\"}}\n"
    ));
    let read = |tool| guarded.tool("PreToolUse", ONE, tool, &json!({}));
    for said in [guarded.edit(ONE), read("Read"), {
        read("Glob");
        guarded.stop(ONE)
    }] {
        let units = said.text().encode_utf16().count();
        assert!((100..=10_000).contains(&units), "{units}");
    }
}

#[test]
fn heirloom_is_silent_where_it_is_not_set_up_and_where_it_is_switched_off() {
    let guarded = Guarded { env: crate::env() };
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    assert_eq!(guarded.start(ONE, "startup"), Said::Nothing);
    assert!(!guarded.env.home().join("ledger.db").exists());
    let off = Guarded::new("guard: {enabled: false}\nrequirements:\n  plan: {}\n");
    assert_eq!(off.edit(ONE), Said::Nothing);
    assert!(off.start(ONE, "startup").text().contains("switched off"));
    let silent = Guarded::new(PLAN);
    silent.env.write(".heirloom/local.yaml", "enabled: false\n");
    // The second time from what is kept beside the ledger.
    for _ in 0..2 {
        assert_eq!(silent.edit(ONE), Said::Nothing);
        assert_eq!(silent.start(ONE, "startup"), Said::Nothing);
    }
    assert!(!silent.env.home().join("ledger.db").exists());
    let told = silent.req(&["status"]);
    assert!(told.stderr.contains("switched off"), "{told}");
    let disabled = Guarded::new(PLAN);
    let disabled = Guarded { env: disabled.env.var("HEIRLOOM_DISABLE", "1") };
    assert_eq!(disabled.edit(ONE), Said::Nothing);
    assert_eq!(disabled.start(ONE, "startup"), Said::Nothing);
}

#[test]
fn what_the_machines_owner_asks_for_holds_however_hooks_are_switched_off() {
    let owned = |prepare: fn(&TestEnv)| {
        let guarded = Guarded::new(PLAN);
        let owner = guarded.env.user().join("owner.yaml");
        fs::write(&owner, "requirements: {reviewed: {}}\n").unwrap();
        guarded.env.write_user("requirements: {mine: {}}\n");
        prepare(&guarded.env);
        Guarded { env: guarded.env.var("HEIRLOOM_TEST_OWNER", owner.to_str().unwrap()) }
    };
    let asks = |guarded: &Guarded| {
        let said = guarded.edit(ONE).text().to_owned();
        ["reviewed", "mine", "plan"].map(|name| said.contains(name))
    };
    let on = owned(|_| {});
    assert_eq!(asks(&on), [true, true, true]);
    let silenced = owned(|_| {});
    let silenced = Guarded { env: silenced.env.var("HEIRLOOM_DISABLE", "1") };
    // The second time from what is kept beside the ledger.
    for _ in 0..2 {
        assert_eq!(asks(&silenced), [true, false, false]);
    }
    assert_eq!(silenced.start(ONE, "startup"), Said::Nothing, "nothing else is done");
    let doctor = silenced.env.run(&["doctor"]);
    let told = "do nothing, apart from what the machine's owner asks for";
    assert!(doctor.stdout.contains(told), "{doctor}");
    let person = owned(|env| env.write_user("enabled: false\n"));
    assert!(asks(&person)[0]);
    let here = owned(|env| env.write(".heirloom/local.yaml", "enabled: false\n"));
    assert!(asks(&here)[0]);
    let out = owned(|env| {
        env.run(&["init", "--uninstall"]);
    });
    assert_eq!(asks(&out), [true, false, false]);
}

#[test]
fn a_tool_use_that_nothing_gates_opens_no_ledger() {
    let guarded = Guarded::new(PLAN);
    assert_eq!(guarded.bash(ONE, "ls"), Said::Nothing);
    assert!(!guarded.env.home().join("ledger.db").exists());
}

#[test]
fn hooks_around_a_tool_use_open_no_views() {
    let guarded = Guarded::new("requirements:\n  plan: {satisfied_by_skill: plan}\n");
    guarded.start(ONE, "startup");
    let views = guarded.env.home().join("views.db");
    fs::remove_file(&views).unwrap();
    assert!(guarded.edit(ONE).is_denied());
    guarded.skill(ONE, "plan");
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    guarded.tool("PostToolUse", ONE, "Edit", &json!({"file_path": "a"}));
    assert!(!views.exists());
    // Whoever asks for more than that sees what they wrote.
    let records = guarded.env.run(&["sessions", "show", ONE, "--trajectory"]).success();
    assert!(records.stdout.contains("requirement.satisfied"), "{records}");
}

#[test]
fn a_broken_settings_file_gates_nothing_and_is_reported_through_the_agent() {
    let guarded = Guarded::new("requirements:\n  plan: {\n");
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    let text = guarded.start(ONE, "startup").text().to_owned();
    assert!(
        text.contains(".heirloom/config.yaml cannot be read") && text.contains("Tell the person"),
        "{text}"
    );
    guarded.env.write(".heirloom/config.yaml", PLAN);
    assert!(guarded.edit(ONE).is_denied());
}

#[test]
fn a_file_that_says_something_odd_costs_only_itself() {
    for odd in [
        "requirements: 7\n",
        "requirements: [plan]\n",
        "requirements: {plan: 7}\n",
        "requirements: {plan: {trigger_tools: 7}}\n",
        "requirements: {plan: {scope: nowhere, enabled: true}}\n",
        "guard: 7\n",
        "guard: {exempt: {a: b}, enabled: maybe}\n",
        "requirements: [\n",
        "- a\n",
    ] {
        let guarded = Guarded::new(PLAN);
        guarded.env.write(".heirloom/local.yaml", odd);
        assert!(guarded.edit(ONE).is_denied(), "{odd}");
        let told = guarded.start(ONE, "startup");
        assert!(told.text().contains(".heirloom/local.yaml"), "{odd}: {told:?}");
        let doctor = guarded.env.run(&["doctor"]);
        assert!(doctor.stdout.contains(".heirloom/local.yaml:1"), "{odd}: {doctor}");
    }
}

#[test]
fn users_of_the_earlier_framework_lose_nothing_by_an_odd_local_file() {
    for odd in ["requirements: 7\n", "requirements: {ticket: {trigger_tools: 7}}\n"] {
        let guarded = Guarded { env: crate::env() };
        let asked = "requirements:\n  ticket: {enabled: true, trigger_tools: [Edit]}\n";
        guarded.env.write(".claude/requirements.yaml", asked);
        assert!(guarded.edit(ONE).is_denied());
        guarded.env.write(".claude/requirements.local.yaml", odd);
        assert!(guarded.edit(ONE).is_denied(), "{odd}");
        let told = guarded.start(ONE, "startup");
        assert!(told.text().contains("requirements"), "{odd}: {told:?}");
    }
}

#[test]
fn settings_that_change_hold_from_the_next_tool_use_on() {
    let guarded = Guarded::new(PLAN);
    assert!(guarded.edit(ONE).is_denied());
    guarded.env.write(".heirloom/config.yaml", "requirements:\n  plan: {enabled: false}\n");
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    fs::remove_file(guarded.env.repo().join(".heirloom/config.yaml")).unwrap();
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    guarded.env.write(".heirloom/config.yaml", PLAN);
    assert!(guarded.edit(ONE).is_denied());
}

#[test]
fn a_damaged_rule_cache_is_read_again() {
    let guarded = Guarded::new(PLAN);
    assert!(guarded.edit(ONE).is_denied());
    for entry in fs::read_dir(guarded.env.home().join("cache")).unwrap().flatten() {
        fs::write(entry.path(), "nonsense").unwrap();
    }
    assert!(guarded.edit(ONE).is_denied());
}

#[test]
fn a_ledger_that_cannot_be_used_lets_the_agent_go_on_visibly() {
    let guarded = Guarded::new(
        "requirements:\n  plan: {}\n  strict: {on_error: deny, trigger_tools: [Write]}\n",
    );
    guarded.env.run(&["ledger", "rebuild"]).success();
    let file = guarded.env.home().join("ledger.db");
    let whole = fs::read(&file).unwrap();
    let mut newer = whole.clone();
    newer[60..64].copy_from_slice(&9999u32.to_be_bytes());
    fs::write(&file, &newer).unwrap();
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    let write = guarded.tool("PreToolUse", ONE, "Write", &json!({"file_path": "a"}));
    assert!(write.text().contains("a fault, not a violation"), "{write:?}");
    assert_eq!(guarded.edit(ONE), Said::Nothing);
    let log = fs::read_to_string(guarded.env.home().join("hook.log")).unwrap();
    assert_eq!(log.lines().filter(|line| line.contains(": plan:")).count(), 1, "{log}");
    fs::write(&file, &whole).unwrap();
    assert!(guarded.start(ONE, "startup").text().contains("heirloom failed"));
    assert!(!guarded.start(ONE, "compact").text().contains("heirloom failed"));
    let doctor = guarded.env.run(&["doctor"]);
    assert!(doctor.stdout.contains("hook.log"), "{doctor:?}");
}

//! Hooks alone: at the end of a turn, of a session, and of one that crashed, work is handed over, and
//! nobody types heirloom.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use heirloom_testkit::env::TestEnv;
use serde_json::{Value, json};

use crate::capture::{ID, transcript};

const NEXT: &str = "1b554780-986f-49f2-9a58-edfafd0188dd";

pub(crate) fn hook(env: &TestEnv, event: &str, session: &str, pid: u32, fields: &Value) -> String {
    let mut payload = json!({
        "session_id": session, "cwd": env.repo(), "hook_event_name": event, "prompt_id": "p1",
        "transcript_path": transcript(env).with_file_name(format!("{session}.jsonl")),
    });
    payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let mut command = env.command(&["hook", "claude", event]);
    let command = command.env("CLAUDE_PID", pid.to_string()).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// One turn as Claude Code writes it down: a prompt, a command, and how full the context is then.
fn turn(env: &TestEnv, prompt: &str, command: (&str, &str), tokens: u64) {
    let cwd = env.repo();
    let line = |kind: &str, message: Value| {
        json!({"type": kind, "sessionId": ID, "cwd": cwd, "gitBranch": "main", "version": "2.1.325",
               "entrypoint": "cli", "timestamp": "2026-01-10T10:00:00Z", "promptSource": "typed",
               "message": message})
    };
    let id = format!("t{tokens}");
    let lines = [
        line("user", json!({"role": "user", "content": prompt})),
        line(
            "assistant",
            json!({"id": format!("m{tokens}"), "model": "claude-opus-5-5",
                   "usage": {"input_tokens": tokens, "output_tokens": 10},
                   "content": [{"type": "tool_use", "id": id, "name": "Bash",
                                "input": {"command": command.0}}]}),
        ),
        line(
            "user",
            json!({"content": [{"type": "tool_result", "tool_use_id": id, "is_error": true,
                                "content": command.1}]}),
        ),
    ];
    let file = fs::OpenOptions::new().create(true).append(true).open(transcript(env));
    let mut file = file.unwrap();
    for line in lines {
        writeln!(file, "{line}").unwrap();
    }
}

fn causes(env: &TestEnv) -> Vec<String> {
    let listed = env.run(&["handoffs", "list", "--json"]).json();
    let all = listed["handoffs"].as_array().unwrap();
    all.iter().map(|one| one["cause"].as_str().unwrap().to_owned()).collect()
}

pub(crate) fn agent() -> std::process::Child {
    Command::new("sleep").arg("600").spawn().unwrap()
}

#[test]
fn a_session_that_crashed_hands_over_all_it_did_before_the_next_one_begins() {
    let env = crate::env();
    env.run(&["init", "--yes"]).success();
    let mut first = agent();
    hook(&env, "SessionStart", ID, first.id(), &json!({"source": "startup"}));
    turn(&env, "make the lists nest", ("make lists", "error: too deep"), 1000);
    hook(&env, "Stop", ID, first.id(), &json!({}));
    assert_eq!(causes(&env), Vec::<String>::new(), "too little is new");
    turn(&env, "and count how deep they are", ("make lists", "error: still too deep"), 6500);
    hook(&env, "Stop", ID, first.id(), &json!({}));
    assert_eq!(causes(&env), ["turn"]);
    hook(&env, "Stop", ID, first.id(), &json!({}));
    assert_eq!(causes(&env), ["turn"], "nothing is new");

    turn(&env, "now limit them to sixteen please", ("make limit", "error: no rule to make"), 7000);
    first.kill().unwrap();
    first.wait().unwrap();
    let second = agent();
    let brief = hook(&env, "SessionStart", NEXT, second.id(), &json!({"source": "startup"}));
    assert!(brief.contains("now limit them to sixteen please"), "{brief}");
    assert!(brief.contains("error: no rule to make"), "{brief}");
    let listed = env.run(&["handoffs", "list", "--json"]).json();
    let crashed = listed["handoffs"].as_array().unwrap().iter().find(|one| one["cause"] == "crash");
    let id = crashed.expect("one for the crash")["id"].as_str().unwrap();
    let shown = env.run(&["handoffs", "show", id, "--json"]).json();
    assert_eq!(shown["asked"][0], "now limit them to sixteen please");
    assert_eq!(shown["failed"][0]["command"], "make limit");
    assert_eq!(shown["turns"], 3);
    let count = causes(&env).len();
    let third = agent();
    let session = "2b554780-986f-49f2-9a58-edfafd0188dd";
    hook(&env, "SessionStart", session, third.id(), &json!({"source": "startup"}));
    assert_eq!(causes(&env).len(), count, "it is handed over once");
    for mut process in [second, third] {
        process.kill().unwrap();
        process.wait().unwrap();
    }
    let exported = env.run(&["ledger", "export"]).success().stdout;
    assert!(!exported.contains("sixteen") && !exported.contains("make limit"), "{exported}");
}

#[test]
fn a_context_begins_with_the_first_issue_that_is_ready_where_none_is_worked_on() {
    let env = crate::env();
    env.run(&["init", "--yes"]).success();
    let create = |arguments: &[&str]| {
        let created = env.run(&[&["issues", "create", "--json"], arguments].concat()).success();
        created.json()["id"].as_str().unwrap().to_owned()
    };
    let later = create(&["Document the limits", "--priority", "3"]);
    let first = create(&["Count what is left", "--priority", "1"]);
    create(&["Limit what is left", "--priority", "0", "--blocked-by", &first]);
    let process = agent();
    let begin = |session: &str| {
        hook(&env, "SessionStart", session, process.id(), &json!({"source": "startup"}))
    };
    let brief = begin(ID);
    let ready = format!("Ready, and nobody is at it: {first} Count what is left");
    assert!(brief.contains(&ready), "{brief}");
    assert!(!brief.contains(&later), "{brief}");

    // What a prompt names is what is worked on.
    let prompt = format!("Go on with {later}, please, it is long-awaited.");
    turn(&env, &prompt, ("make limits", "error: no such limit"), 1000);
    hook(&env, "SessionEnd", ID, process.id(), &json!({"reason": "prompt_input_exit"}));
    let brief = begin(NEXT);
    let named = format!("In progress: {later} Document the limits");
    assert!(brief.contains(&named), "{brief}");
    let mut process = process;
    process.kill().unwrap();
    process.wait().unwrap();
}

#[test]
fn a_compaction_and_the_end_of_a_session_hand_over_without_making_a_page() {
    let env = crate::env();
    env.run(&["init", "--yes"]).success();
    let mut process = agent();
    let pid = process.id();
    hook(&env, "SessionStart", ID, pid, &json!({"source": "startup"}));
    turn(&env, "make the lists nest", ("make lists", "error: too deep"), 1000);
    hook(&env, "PreCompact", ID, pid, &json!({"trigger": "auto"}));
    assert_eq!(causes(&env), ["compact"]);
    turn(&env, "and count how deep they are", ("make lists", "error: too deep"), 2000);
    hook(&env, "SessionEnd", ID, pid, &json!({"reason": "prompt_input_exit"}));
    let mut all = causes(&env);
    all.sort_unstable();
    assert_eq!(all, ["compact", "end"]);
    assert!(!env.repo().join("NOTES.md").exists());
    process.kill().unwrap();
    process.wait().unwrap();
    let told = env.run(&["handoffs", "show", "zzzz"]);
    assert!(told.code != 0 && told.stderr.contains("heirloom handoffs list"), "{told:?}");
}

#[test]
fn what_the_agents_own_summary_lost_comes_with_the_next_prompt_and_once() {
    let env = crate::env();
    env.run(&["init", "--yes"]).success();
    let mut process = agent();
    let pid = process.id();
    hook(&env, "SessionStart", ID, pid, &json!({"source": "startup"}));
    for number in 0..8 {
        let fact = format!(
            "the valve {number} leaks when it is cold outside, so close it by hand before the pump \
             {number} is started, and write into the log book of the station which of the two \
             inspectors was there, how long the valve stayed open, and what the gauge beside the \
             door of the boiler room showed at that moment"
        );
        env.run(&["note", "warning", &fact, "--session", ID]).success();
    }
    turn(&env, "make the lists nest", ("make lists", "error: too deep"), 1000);
    hook(&env, "PreCompact", ID, pid, &json!({"trigger": "auto"}));
    hook(&env, "SessionStart", ID, pid, &json!({"source": "compact"}));
    let summary = "They made lists nest. Valves were discussed.";
    let said = hook(&env, "PostCompact", ID, pid, &json!({"compact_summary": summary}));
    assert_eq!(said, "", "nothing can be said there");
    let next = hook(&env, "UserPromptSubmit", ID, pid, &json!({"prompt": "go on"}));
    assert!(next.contains("Not in the summary of this conversation"), "{next}");
    assert!(next.contains("leaks when it is cold outside"), "{next}");
    let after = hook(&env, "UserPromptSubmit", ID, pid, &json!({"prompt": "and on"}));
    assert!(!after.contains("Not in the summary"), "{after}");
    process.kill().unwrap();
    process.wait().unwrap();
}

#[test]
fn a_compaction_brings_back_what_the_settings_name_and_what_nobody_may_leave_out() {
    let brief = |settings: &str| {
        let env = crate::env();
        env.write_user(settings);
        env.run(&["init", "--yes"]).success();
        let mut process = agent();
        let pid = process.id();
        hook(&env, "SessionStart", ID, pid, &json!({"source": "startup"}));
        for (kind, text) in [
            ("decision", "Lists nest with a stack"),
            ("next-step", "count how deep they are"),
            ("warning", "the old parser must not be called"),
        ] {
            env.run(&["note", kind, text, "--session", ID]).success();
        }
        turn(&env, "make the lists nest", ("make lists", "error: too deep"), 1000);
        hook(&env, "PreCompact", ID, pid, &json!({"trigger": "auto"}));
        let compacted = hook(&env, "SessionStart", ID, pid, &json!({"source": "compact"}));
        let prompted = hook(&env, "UserPromptSubmit", ID, pid, &json!({"prompt": "go on"}));
        assert!(!prompted.contains("heirloom-recovery"), "nothing is owed: {prompted}");
        process.kill().unwrap();
        process.wait().unwrap();
        (env, compacted)
    };
    let all = ["with a stack", "count how deep", "error: too deep", "handoffs show"];
    let (env, whole) = brief("recovery: {level1_tokens: 60}\n");
    for words in all.into_iter().chain(["must not be called"]) {
        assert!(whole.contains(words), "{words}: {whole}");
    }
    let short = env.run(&["recover", "1", "--json"]).success().json();
    assert_eq!(short["level"], 1);
    let (env, little) = brief("recovery: {preservation: [active_issue], tiered_recovery: false}\n");
    assert!(little.contains("must not be called"), "{little}");
    for words in all {
        assert!(!little.contains(words), "{words}: {little}");
    }
    let rules = env.run(&["context", "rules", "--json"]).success().json();
    assert_eq!(rules["preserved"].as_array().map(Vec::len), Some(2), "{rules}");
    // Without levels everything is printed, whatever is asked for.
    let everything = env.run(&["recover", "1", "--json"]).success().json();
    assert_eq!(everything["level"], 3);
    let text = everything["text"].as_str().unwrap();
    assert!(text.contains("with a stack") && text.contains("must not be called"), "{text}");
}

/// A tracker that does not answer costs a hook as much as it may wait for it, once, and nothing else.
#[test]
fn a_tracker_that_hangs_while_a_context_is_compacted_is_ended_and_the_work_is_handed_over() {
    let env = crate::env();
    env.run(&["init", "--yes"]).success();
    fs::create_dir(env.repo().join(".beads")).unwrap();
    let bin = env.user().join("bin");
    fs::create_dir(&bin).unwrap();
    let (asked, wall) = (env.user().join("asked"), env.user().join("wall"));
    assert!(Command::new("mkfifo").arg(&wall).status().unwrap().success());
    // Nobody ever writes to what it reads from.
    let script =
        format!("#!/bin/sh\necho $$ >> {}\nexec cat {}\n", asked.display(), wall.display());
    fs::write(bin.join("br"), script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(bin.join("br"), mode).unwrap();
    let env = env.var("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    env.write("NOTES.md", "# Notes\n");
    for text in ["Rotate tokens", "Log refusals"] {
        env.run(&["note", "decision", text, "--issue", "hl-1"]).success();
    }
    let mut agent = agent();
    hook(&env, "SessionStart", ID, agent.id(), &json!({"source": "startup"}));
    turn(&env, "make the lists nest", ("make lists", "error: too deep"), 1000);
    hook(&env, "PreCompact", ID, agent.id(), &json!({"trigger": "auto"}));
    agent.kill().unwrap();
    agent.wait().unwrap();
    assert_eq!(causes(&env), ["compact"]);
    let asked = fs::read_to_string(asked).unwrap();
    let asked: Vec<u32> = asked.lines().map(|pid| pid.parse().unwrap()).collect();
    assert_eq!(asked.len(), 1, "it is not asked again");
    let is_gone = |pid| {
        let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        state.is_empty() || state.contains(") Z ")
    };
    assert!(is_gone(asked[0]), "it was ended, and waited for");
}

#[test]
fn who_has_no_handoff_is_told_what_writes_one_and_a_handoff_says_when_it_was_written() {
    let env = super::env();
    env.run(&["launch", "look around", "--agent", "sim", "--name", "look"]).success();
    // The built-in agent calls no hooks.
    let none = env.run(&["handoffs", "show"]);
    assert!(none.stderr.contains("so do the hooks of an agent when its session ends"), "{none}");
    let none = env.run(&["handoffs"]).success();
    assert!(none.stderr.contains("so do the hooks of an agent when its session ends"), "{none}");
    env.run(&["note", "decision", "Use RS256", "--because", "keys rotate"]).success();
    env.run(&["checkpoint"]);
    let listed = env.run(&["handoffs"]).success();
    assert!(listed.stdout.contains("before a clear"), "{listed}");
    let shown = env.run(&["handoffs", "show"]).success();
    assert!(shown.stdout.lines().nth(1).unwrap().ends_with(", before a clear"), "{shown}");
    for absent in ["Committed", "Fails", "To do", "none", "<!--"] {
        assert!(!shown.stdout.contains(absent), "{absent}: {shown}");
    }
}

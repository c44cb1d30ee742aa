//! Choosing a past conversation on a terminal.

use heirloom_testkit::env::TestEnv;

use super::resuming::{ID, by_hand};

/// Conversations of before, and an agent that says how it was called.
fn env() -> TestEnv {
    let env = crate::env();
    by_hand(&env);
    let agent = env.script("agent", "#!/bin/sh\necho \"resumed with $* in $(pwd)\"\n");
    env.var("HEIRLOOM_AGENT_CLAUDE", agent)
}

#[test]
fn typing_narrows_down_and_enter_goes_on_where_it_was_at_every_width() {
    for columns in [80, 200] {
        let env = env();
        let mut terminal = env.wide_terminal(&["resume"], columns);
        terminal.sees("1 conversation");
        terminal.sees("Why is the billing queue starving?");
        terminal.sees("Asked");
        terminal.presses(b"kangaroo");
        terminal.sees("0 conversations");
        terminal.presses(b"\x15");
        terminal.sees("1 conversation");
        terminal.presses(b"billing");
        terminal.sees("\u{1b}[0m billing");
        terminal.presses(b"\r");
        terminal.sees(&format!("resumed with --resume {ID} in"));
        let (code, shown) = terminal.ends();
        assert_eq!(code, 0, "{shown}");
        let (taken, left) = (shown.find("\u{1b}[?1049h"), shown.find("\u{1b}[?1049l"));
        assert!(taken < left && left < shown.find("resumed with"), "{shown}");
    }
}

#[test]
fn escape_leaves_the_terminal_as_it_was() {
    let env = env();
    for key in [&b"\x1b"[..], b"\x03"] {
        let mut terminal = env.terminal(&["resume", "--print"]);
        terminal.sees("1 conversation");
        assert!(!terminal.is_as_before(), "keys come one by one");
        // An arrow is no escape.
        terminal.presses(b"\x1b[B\x1b[A");
        terminal.presses(key);
        terminal.sees("\u{1b}[?1049l");
        terminal.waits_to_be_as_before();
        let (code, shown) = terminal.ends();
        assert_eq!(code, 0, "{shown}");
        assert!(!shown.contains("--resume"), "nothing was chosen: {shown}");
    }
}

#[test]
fn a_picker_that_is_told_to_end_gives_the_terminal_back_first() {
    let env = env();
    for signal in ["-TERM", "-HUP"] {
        let mut terminal = env.terminal(&["resume", "--print"]);
        terminal.sees("1 conversation");
        assert!(!terminal.is_as_before(), "keys come one by one");
        let told = std::process::Command::new("kill")
            .args([signal, &terminal.process().to_string()])
            .status()
            .unwrap();
        assert!(told.success());
        terminal.sees("\u{1b}[?1049l");
        terminal.waits_to_be_as_before();
        let (code, shown) = terminal.ends();
        assert_eq!(code, -1, "it ended by the signal: {shown}");
    }
}

#[test]
fn without_colours_the_chosen_one_is_still_marked() {
    for columns in [80, 200] {
        let env = env().var("NO_COLOR", "1");
        let mut terminal = env.wide_terminal(&["resume"], columns);
        terminal.sees("> Why is the billing queue starving?");
        terminal.presses(b"\x1b");
        let (_, shown) = terminal.ends();
        let coloured = shown.split("\u{1b}[").skip(1).any(|part| {
            part.split_once(|char: char| char.is_ascii_alphabetic())
                .is_some_and(|(numbers, _)| part[numbers.len()..].starts_with('m'))
        });
        assert!(!coloured, "{shown:?}");
    }
}

#[test]
fn a_title_that_is_hostile_does_nothing_to_the_terminal() {
    let env = crate::env();
    by_hand(&env);
    let projects = env.user().join(".claude/projects");
    let project = std::fs::read_dir(projects).unwrap().flatten().next().unwrap().path();
    let line = serde_json::json!({"type": "ai-title", "aiTitle": "evil \u{1b}[2J\u{1b}]0;owned\u{7} title"});
    let file = project.join(format!("{ID}.jsonl"));
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{text}{line}\n")).unwrap();
    let mut terminal = env.terminal(&["resume"]);
    terminal.sees("evil");
    terminal.presses(b"\x1b");
    let (_, shown) = terminal.ends();
    assert!(!shown.contains("\u{1b}[2J") && !shown.contains("\u{1b}]0;"), "{shown}");
}

#[test]
fn without_a_terminal_they_are_listed() {
    let env = env();
    let ran = env.run(&["resume"]).success();
    assert!(ran.stdout.contains("Why is the billing queue"), "{ran}");
    assert!(!ran.stdout.contains('\u{1b}'), "{ran}");
}

#[test]
fn a_key_can_be_bound_in_every_shell_that_has_one() {
    let env = env();
    for shell in ["bash", "zsh", "fish"] {
        let script = env.run(&["completions", shell, "--keys"]).success().stdout;
        assert!(script.contains("heirloom resume --print"), "{shell}");
        assert!(!env.run(&["completions", shell]).success().stdout.contains("__heirloom_resume"));
    }
    assert_eq!(env.run(&["completions", "elvish", "--keys"]).code, 64);
    let script = env.script("keys", &env.run(&["completions", "bash", "--keys"]).stdout);
    let bound = std::process::Command::new("bash")
        .args(["--norc", "-i", "-c", "source \"$1\"; bind -X", "-"])
        .arg(script)
        .output()
        .unwrap();
    let bound = String::from_utf8_lossy(&bound.stdout).into_owned();
    assert!(bound.contains("__heirloom_resume"), "{bound}");
}

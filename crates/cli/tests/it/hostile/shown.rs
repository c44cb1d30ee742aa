//! What is shown: text of agents and repositories never acts on a terminal, whichever command shows it.

use heirloom_testkit::env::TestEnv;
use serde_json::Value;

use crate::run::with_agent;

/// A title, a cleared screen, a colour, a C1 control sequence, an override, a carriage return, a tag.
const EVIL: &str =
    "E\u{1b}]0;owned\u{7}\u{1b}[2J\u{1b}[31mV\u{9b}31mI\u{202e}L\r\u{7f}\u{2066}\u{e0041}X";

/// An agent whose every word is hostile.
fn agent() -> String {
    let json = |text: &str| serde_json::to_string(text).unwrap().replace('\'', "");
    let (text, summary) = (json(EVIL), json(&format!("{EVIL} summary")));
    format!(
        "cat > /dev/null\nprintf '%s\\n' '{EVIL}'\nprintf '%s\\n' '{EVIL}' >&2\n\
         printf '%s' '{{\"decision\":\"continue\",\"summary\":{summary},\"learnings\":[{text}],\"decisions\":[{text}]}}' > \"$HEIRLOOM_STATUS\"\n"
    )
}

/// A repository in which everything that can hold text holds hostile text.
fn hostile() -> TestEnv {
    let env = with_agent(&agent());
    env.write("src/a.rs", &format!("// {EVIL}\nfn a() {{}}\n"));
    env.write(
        ".heirloom/stages/evil/stage.yaml",
        &format!("name: evil\ndescription: \"{}\"\nnonsense: 1\n", "\\e[2J\\u202e"),
    );
    env.write(".heirloom/stages/evil/prompt.md", EVIL);
    for kind in ["learning", "pattern", "warning", "question", "next"] {
        env.run(&["note", kind, EVIL]);
    }
    let because = ["note", "decision", EVIL, "--because", EVIL, "--evidence", "src/a.rs:1"];
    env.run(&because).success();
    env.run(&["issues", "create", EVIL, "--description", EVIL]);
    env.run(&["run", "ralph", "s", "1", "--agent", "command"]).success();
    env
}

/// What of a text would act on a terminal. Colours of ours are let through where there are to be any.
fn acting(text: &str, colours: bool) -> Vec<char> {
    let mut rest = text.to_owned();
    if colours {
        for style in ["0", "1", "2", "4", "31", "32", "33"] {
            rest = rest.replace(&format!("\u{1b}[{style}m"), "");
        }
    }
    let acts = |c: &char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
    };
    rest.chars().filter(acts).collect()
}

const COMMANDS: &[&[&str]] = &[
    &["notes"],
    &["search", "EVIL"],
    &["search", EVIL],
    &["inherit", "s"],
    &["ground"],
    &["checkpoint"],
    &["recover", "1"],
    &["recover", "3"],
    &["context"],
    &["status"],
    &["status", "s"],
    &["sessions", "list"],
    &["sessions", "show", "s"],
    &["sessions", "show", "s", "--learnings"],
    &["sessions", "show", EVIL],
    &["lineage", "s"],
    &["conversation", "s"],
    &["watch", "s"],
    &["issues", "list"],
    &["issues", "ready"],
    &["issues", "show", EVIL],
    &["stages", "list"],
    &["stages", "show", "evil"],
    &["stages", "lint"],
    &["runs", "list"],
    &["fork-check"],
    &["heal"],
    &["doctor"],
    &["req", "status"],
    &["config", "show"],
    &["run", "evil", "t", "1"],
    &["run", EVIL, "t", "1"],
    &["note", "learning", EVIL],
    &["run", "ralph", "u", "1", "--agent", "command"],
];

#[test]
fn no_command_lets_text_of_others_act_on_a_terminal() {
    let env = hostile();
    let mut shown = 0;
    for command in COMMANDS {
        let ran = env.run(command);
        for text in [&ran.stdout, &ran.stderr] {
            assert_eq!(acting(text, false), [], "{command:?}: {text:?}");
            shown += text.matches('␛').count();
        }
    }
    assert!(shown > 20, "hardly anything hostile was shown at all: {shown}");
}

/// Commands that never end by themselves, or speak a protocol and not to a terminal.
const NOT_FOR_READING: &[&str] = &["serve", "mcp", "hook", "completions", "man", "help"];
/// What they are given to look at would be gone for those after them.
pub(super) const TAKES_AWAY: &[&str] = &["forget", "uninstall", "rehost"];

/// Every command there is, by what the helps list: one that is new is in it by itself.
pub(super) fn leaves(env: &TestEnv, command: &[String], found: &mut Vec<Vec<String>>) {
    let words: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
    let below = crate::help::listed(&env.run(&words).stdout);
    let skipped = |name: &String| NOT_FOR_READING.contains(&name.as_str());
    // What a pipe gets of an export is what was hashed; a terminal gets it made visible.
    let is_export = command.iter().eq(["ledger", "export"]);
    if below.is_empty() && !is_export {
        found.push(command.to_vec());
    }
    for name in below.into_iter().filter(|name| !skipped(name)) {
        leaves(env, &[command, &[name]].concat(), found);
    }
}

/// Whatever the arguments are taken for, by every command: a session, an issue, a file, a name.
#[test]
fn there_is_no_command_that_forgets_to_make_text_visible() {
    let env = hostile();
    let mut commands = Vec::new();
    leaves(&env, &[], &mut commands);
    assert!(commands.len() > 60, "{}", commands.len());
    for known in ["search", "resume", "why", "how", "usage"] {
        let is_known = commands.iter().any(|command| command[0] == known);
        let is_there = env.run(&[known, "--help"]).code == 0;
        assert_eq!(is_known, is_there, "{known}");
    }
    for argument in [Some(EVIL), Some("s"), None] {
        for command in &commands {
            if command.iter().any(|word| TAKES_AWAY.contains(&word.as_str())) {
                continue;
            }
            let mut words: Vec<&str> = command.iter().map(String::as_str).collect();
            words.extend(argument);
            let ran = env.run(&words);
            for text in [&ran.stdout, &ran.stderr] {
                assert_eq!(acting(text, false), [], "{words:?}: {text:?}");
            }
        }
    }
}

#[test]
fn colours_are_ours_alone() {
    let env = hostile().var("CLICOLOR_FORCE", "1");
    let mut coloured = 0;
    for command in COMMANDS {
        let ran = env.run(command);
        for text in [&ran.stdout, &ran.stderr] {
            assert_eq!(acting(text, true), [], "{command:?}: {text:?}");
            assert!(!text.contains("\u{1b}[31mV"), "{command:?}: {text:?}");
            coloured += text.matches("\u{1b}[").count();
        }
    }
    assert!(coloured > 20, "nothing was coloured");
}

#[test]
fn json_loses_nothing_and_acts_on_nothing() {
    let env = hostile();
    for command in
        [&["notes", "--json"][..], &["issues", "list", "--json"], &["status", "s", "--json"]]
    {
        let ran = env.run(command);
        assert_eq!(acting(&ran.stdout, false), [], "{command:?}: {:?}", ran.stdout);
        serde_json::from_str::<Value>(&ran.stdout).unwrap();
    }
    let notes = env.run(&["notes", "--json"]).json().to_string();
    let evil = serde_json::to_string(EVIL).unwrap();
    assert!(notes.contains(evil.trim_matches('"')), "{notes}");
}

//! What is taken in when a repository is set up, and what is not.

use std::fs;

use serde_json::{Value, json as object};

use crate::capture::{ID, day, env, files, json, transcript};
use crate::handing_over::hook;

#[test]
fn a_person_is_asked_once_whether_the_history_that_is_there_is_wanted() {
    let history = || {
        let env = env();
        fs::write(transcript(&env), day(&env)).unwrap();
        env
    };
    let env = history();
    let mut terminal = env.wide_terminal(&["init", "--agent", "claude"], 200);
    terminal.sees("1 session of Claude Code since 2026-01-10, 4 kB");
    terminal.sees("keep it for 365 days? [Y/n]");
    terminal.types("n");
    assert_eq!(terminal.ends().0, 0);
    assert_eq!(json(&env, &["archive", "list"])["sessions"], Value::Array(vec![]));
    let env = history();
    let mut terminal = env.wide_terminal(&["init", "--agent", "claude"], 200);
    terminal.sees("[Y/n]");
    terminal.types("");
    let (code, shown) = terminal.ends();
    assert!(code == 0 && shown.contains("took in"), "{shown}");
    assert_eq!(json(&env, &["sessions", "show", ID])["turns"], 2);
    // What is in is not asked about again.
    let (_, shown) = env.wide_terminal(&["init", "--agent", "claude"], 200).ends();
    assert!(!shown.contains("[Y/n]"), "{shown}");
}

#[test]
fn what_no_agent_keeps_is_not_kept_and_nothing_is_written_where_nobody_set_up() {
    let env = env();
    // Nobody set it up; a session starts and ends all the same.
    let talk = |id: &str| {
        for (event, fields) in [
            ("SessionStart", object!({"source": "startup"})),
            ("SessionEnd", object!({"reason": "exit"})),
        ] {
            hook(&env, event, id, std::process::id(), &fields);
        }
    };
    let other = "2b554780-986f-49f2-9a58-edfafd0188dd";
    let theirs = transcript(&env).with_file_name(format!("{other}.jsonl"));
    fs::write(&theirs, day(&env)).unwrap();
    talk(other);
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    assert!(files(&env.home().join("archive")).is_empty());
    fs::remove_file(theirs).unwrap();
    // Without persistence there is no transcript, whatever the hook is told about one.
    env.command(&["init"]).output().unwrap();
    talk(ID);
    assert!(files(&env.home().join("archive")).is_empty());
    assert_eq!(json(&env, &["sessions", "show", ID])["turns"], Value::Null);
}

#[test]
fn a_commit_is_shown_with_its_files_where_they_are_known() {
    let env = env();
    env.write("src/parser.rs", "fn parse() {}\n");
    env.write("docs/grammar.md", "# Grammar\n");
    env.git(&["add", "src", "docs"]);
    env.git(&["commit", "-q", "-m", "parser: accept nested lists"]);
    let hash = env.git(&["rev-parse", "--short=7", "HEAD"]).trim().to_owned();
    let gone = "[main deadbee] never pushed";
    let text = day(&env).replace("1a2b3c4", &hash).replace("\"done\"", &format!("\"{gone}\""));
    fs::write(transcript(&env), text).unwrap();
    env.run(&["init", "--yes", "--agent", "claude"]).success();
    let shown = json(&env, &["sessions", "show", ID]);
    assert_eq!(shown["commit_files"], object!({&hash: ["docs/grammar.md", "src/parser.rs"]}));
    let shown = env.run(&["sessions", "show", ID]).success().stdout;
    assert!(shown.contains("accept nested lists: docs/grammar.md, src/parser.rs"), "{shown}");
}

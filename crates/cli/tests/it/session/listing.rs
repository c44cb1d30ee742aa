//! What lists and conversations show by default, and what they show when asked for all of it.

use std::fs;

use serde_json::{Value, json};

use super::Fixture;

fn names(list: &Value) -> Vec<String> {
    let sessions = list["sessions"].as_array().unwrap();
    sessions.iter().map(|each| each["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_list_shows_the_ends_of_chains_and_all_of_them_when_asked() {
    let fixture = Fixture::new();
    fixture.run(&["launch", "begin", "--name", "a"]).success();
    fixture.run(&["continue", "a", "go on", "--name", "b"]).success();
    fixture.run(&["continue", "b", "go on", "--name", "c"]).success();
    fixture.run(&["launch", "other", "--name", "x"]).success();
    let mut leaves = names(&fixture.json(&["sessions", "list"]));
    leaves.sort();
    assert_eq!(leaves, ["c", "x"]);
    let mut all = names(&fixture.json(&["sessions", "list", "--all"]));
    all.sort();
    assert_eq!(all, ["a", "b", "c", "x"]);
    let none = fixture.run(&["sessions", "list", "--failed"]).success();
    assert!(none.stderr.contains("`heirloom sessions` lists 2 other sessions"), "{none}");
}

#[test]
fn what_tools_answered_is_a_line_and_all_of_it_when_asked() {
    let fixture = Fixture::new();
    fixture.run(&["launch", "read much", "--name", "a"]).success();
    let short = fixture.run(&["conversation", "a"]).success();
    assert!(short.stdout.contains("first line") && !short.stdout.contains("last line"), "{short}");
    let full = fixture.run(&["conversation", "a", "--full"]).success();
    assert!(full.stdout.contains("first line\n      second line\n      last line"), "{full}");
    // In JSON it is always whole.
    let said = fixture.json(&["conversation", "a"]);
    let events = said["events"].as_array().unwrap();
    let result = events.iter().find(|event| event["kind"] == "tool_result").unwrap();
    assert_eq!(result["text"], "first line\nsecond line\nlast line");
}

#[test]
fn a_session_goes_on_after_its_repository_was_moved() {
    let fixture = Fixture::new();
    fixture.run(&["init", "--agent", "claude"]).success();
    // Setting up asks the agent's program who it is.
    let before = fixture.launches();
    fixture.run(&["launch", "begin", "--name", "a"]).success();
    let (here, there) = (fixture.env.repo(), fixture.env.user().join("moved"));
    fs::rename(&here, &there).unwrap();
    let moved = |arguments: &[&str]| {
        let mut command = fixture.env.command(arguments);
        let output = command.current_dir(&there).stdin(std::process::Stdio::null()).output();
        let output = output.unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {said}");
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    assert_eq!(names(&moved(&["sessions", "list", "--json"])), ["a"]);
    let ended = moved(&["continue", "a", "go on", "--name", "b", "--json"]);
    assert_eq!(ended["status"], "completed", "{ended}");
    // The same conversation, where the repository is now.
    let (first, second) = (fixture.given(before + 1), fixture.given(before + 2));
    assert!(first.flag("--session-id").is_some());
    assert_eq!(second.flag("--resume"), first.flag("--session-id"));
    let cwd = std::path::PathBuf::from(second.file("cwd").unwrap().trim());
    assert_eq!(cwd.file_name(), there.file_name(), "{}", cwd.display());
    let lineage = moved(&["lineage", "b", "--json"]);
    assert!(lineage.to_string().contains("\"a\""), "{lineage}");
    assert_ne!(lineage, json!(null));
}

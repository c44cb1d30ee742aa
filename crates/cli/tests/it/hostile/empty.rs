//! Who only looks leaves everything as it was, also where heirloom has never been.

use std::fs;
use std::path::Path;

use crate::env;

/// Everything below a directory.
fn all(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(&at).into_iter().flatten().flatten() {
            found.push(entry.path().strip_prefix(directory).unwrap().display().to_string());
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn commands_that_only_look_make_nothing_in_an_empty_home() {
    let env = env();
    env.write("src/a.rs", "fn a() {}\n");
    let _ = fs::remove_dir_all(env.home());
    let root = env.repo().parent().unwrap().to_owned();
    let tree = all(&root);
    let mut wrong = Vec::new();
    for arguments in [
        &[][..],
        &["agents"],
        &["approvals", "list"],
        &["archive", "list"],
        &["config", "path"],
        &["config", "show"],
        &["context", "rules"],
        &["context", "status"],
        &["doctor"],
        &["doctor", "--json"],
        &["handoffs", "list"],
        &["heal", "--check"],
        &["how", "build"],
        &["hub", "status"],
        &["issues", "list"],
        &["issues", "ready"],
        &["ledger", "heads"],
        &["ledger", "stats"],
        &["ledger", "verify"],
        &["notes"],
        &["pipelines", "list"],
        &["repo"],
        &["repo", "show"],
        &["req"],
        &["req", "status"],
        &["req", "explain", "Edit"],
        &["rules", "list"],
        &["runs", "list"],
        &["search", "anything"],
        &["sessions", "list"],
        &["sessions", "show", "nobody"],
        &["stages", "list"],
        &["status", "nobody"],
        &["trust", "--show"],
        &["usage"],
        &["watch", "nobody"],
        &["why", "src/a.rs:1"],
    ] {
        let ran = env.run(arguments);
        if !(0..=1).contains(&ran.code) || ran.stdout.contains("heirloom-read-") {
            wrong.push(format!("{arguments:?}: {ran}"));
        }
        let made: Vec<String> =
            all(&root).into_iter().filter(|path| !tree.contains(path)).collect();
        if !made.is_empty() {
            wrong.push(format!("{arguments:?} made {made:?}"));
            let _ = fs::remove_dir_all(env.home());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Whoever writes makes what is needed.
    env.run(&["note", "learning", "tokens rotate"]).success();
    assert!(env.home().join("ledger.db").exists());
    assert!(env.run(&["notes"]).stdout.contains("tokens rotate"));
}

//! Forty issues with every kind of trouble, next to a person who is in the middle of something.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::{TOGETHER, Yard};

/// What each agent does, launch by launch, and what becomes of its issue.
const FATES: &[(&[&str], &str)] = &[
    (&["ok"], "closed"),
    (&["commit"], "closed"),
    (&["child"], "closed"),
    (&["flood"], "closed"),
    (&["closes"], "closed"),
    (&["shows"], "closed"),
    (&["bad", "ok"], "closed"),
    (&["hang", "ok"], "closed"),
    (&["deaf", "ok"], "closed"),
    (&["limit", "ok"], "closed"),
    (&["overloaded", "ok"], "closed"),
    (&["broken", "ok"], "closed"),
    (&["offline", "ok"], "closed"),
    (&["long", "ok"], "closed"),
    (&["same", "edit"], "closed"),
    (&["switch", "back"], "closed"),
    (&["stray", "home"], "closed"),
    (&["locks"], "closed"),
    (&["escapes"], "closed"),
    (&["link"], "closed"),
    (&["newline"], "closed"),
    (&["fifo"], "closed"),
    (&["apart"], "closed"),
    (&["unbranch", "rebranch"], "closed"),
    (&["bad"], "in_progress"),
    (&["crash"], "in_progress"),
    (&["nothing"], "in_progress"),
    (&["lies"], "in_progress"),
    (&["claims"], "in_progress"),
    (&["stash"], "in_progress"),
    (&["vanish"], "in_progress"),
    (&["gitless"], "in_progress"),
    (&["gitdirless"], "in_progress"),
    (&["orphan"], "in_progress"),
    (&["stale"], "in_progress"),
];

/// Every file below a directory with its bytes, `.git` aside.
fn tree(root: &Path, below: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(below).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            if path != root.join(".git") {
                tree(root, &path, found);
            }
        } else {
            let name = path.strip_prefix(root).unwrap().display().to_string();
            found.insert(name, fs::read(&path).unwrap());
        }
    }
}

/// All that is the person's: files, index, config, HEAD, stashes and branches.
fn persons(yard: &Yard) -> BTreeMap<String, Vec<u8>> {
    let root = yard.env.repo();
    let mut all = BTreeMap::new();
    tree(&root, &root, &mut all);
    for file in ["index", "config", "HEAD", "logs/refs/stash", "refs/stash"] {
        all.insert(format!(".git/{file}"), fs::read(root.join(".git").join(file)).unwrap());
    }
    let refs = yard.git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
    let is_persons = |line: &&str| {
        ["refs/heads/heirloom/", "refs/heirloom/", "refs/heads/stray-"]
            .iter()
            .all(|ours| !line.starts_with(ours))
    };
    let refs: Vec<&str> = refs.lines().filter(is_persons).collect();
    all.insert("refs".to_owned(), refs.join("\n").into_bytes());
    all
}

/// A person with something staged, something changed, something new, and something put aside.
fn busy_person(yard: &Yard) {
    yard.env.write("a.txt", "one\n");
    yard.env.write(".gitignore", "target/\n");
    yard.git(&["add", "-A"]);
    yard.git(&["commit", "-qm", "begin"]);
    yard.git(&["branch", "feature"]);
    yard.env.write("a.txt", "put aside\n");
    yard.git(&["stash", "push", "-q", "-m", "mine"]);
    yard.env.write("a.txt", "two\n");
    yard.git(&["add", "a.txt"]);
    yard.env.write("a.txt", "three\n");
    yard.env.write("new.txt", "new\n");
    yard.env.write("target/built", "big\n");
}

#[test]
fn forty_issues_with_every_kind_of_trouble_touch_nothing_of_the_persons() {
    let yard = Yard::with_settings(
        "work: {gate: ['! ls bad-*'], max_fixes: 1, silence: 3s, max_agents: 4}\n",
    );
    busy_person(&yard);
    let before = persons(&yard);
    let ends: Vec<(String, &[&str], &str)> = (0..40)
        .map(|n| {
            let (steps, end) = FATES[n % FATES.len()];
            (yard.issue(&format!("{n}: {}", steps.join(", ")), steps), steps, end)
        })
        .collect();
    let ran = yard.run(&["work"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(!ran.stderr.contains("your own changed"), "{ran}");
    assert!(!ran.to_string().contains('\u{1b}'), "{ran:?}");
    let all = yard.json(&["issues", "list", "--all", "--limit", "0"]);
    let listed = all["issues"].as_array().unwrap();
    for (issue, steps, end) in &ends {
        let found = listed.iter().find(|each| each["id"] == issue.as_str()).unwrap();
        assert_eq!(&found["status"], end, "{issue} {steps:?}: {ran}");
        for n in 1..=yard.launches(issue) {
            assert!(!yard.given(issue, n).is_alive(), "{issue} {steps:?} is alive");
        }
    }
    let after = persons(&yard);
    for (name, bytes) in &before {
        assert_eq!(after.get(name), Some(bytes), "{name} is not what it was");
    }
    assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    // What was closed is brought together, and takes over cleanly once the person is done.
    let done = ends.iter().filter(|(_, steps, end)| *end == "closed" && steps[0] == "ok");
    for (issue, ..) in done {
        assert_eq!(&yard.git(&["show", &format!("{TOGETHER}:{issue}.txt")]), issue);
    }
    yard.run(&["ledger", "verify"]).success();
    the_money_is_gone(&yard, &before);
}

/// The next day the account is empty: one attempt shows it, and the rest of the backlog is left alone.
fn the_money_is_gone(yard: &Yard, before: &BTreeMap<String, Vec<u8>>) {
    let broke = yard.issue_with("Broke", &["credit"], &["-p", "0"]);
    let rest: Vec<String> = (0..5).map(|n| yard.issue(&format!("rest {n}"), &["ok"])).collect();
    let ran = yard.run(&["work", "--max-agents", "1"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert_eq!((yard.status(&broke).as_str(), yard.launches(&broke)), ("in_progress", 1));
    assert!(rest.iter().all(|issue| yard.launches(issue) == 0), "{ran}");
    assert_eq!(&persons(yard), before);
}

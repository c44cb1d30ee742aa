//! The walls of the house: which crate may know which.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

/// What cargo knows of the workspace and of what it depends on here.
pub(crate) fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline", "--locked"])
        // A build downloads no crates of other platforms, and offline there are no others.
        .args(["--filter-platform", "host-tuple"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Every crate of the workspace with everything it reaches in a normal build.
fn reach() -> BTreeMap<String, BTreeSet<String>> {
    let metadata = metadata();
    let name = |id: &Value| {
        let package = metadata["packages"].as_array().unwrap().iter().find(|p| &p["id"] == id);
        package.unwrap()["name"].as_str().unwrap().to_owned()
    };
    let edges: BTreeMap<String, BTreeSet<String>> = metadata["resolve"]["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| {
            let normal = node["deps"].as_array().unwrap().iter().filter(|dep| {
                dep["dep_kinds"].as_array().unwrap().iter().any(|kind| kind["kind"].is_null())
            });
            (name(&node["id"]), normal.map(|dep| name(&dep["pkg"])).collect())
        })
        .collect();
    let ours = edges.keys().filter(|name| name.starts_with("heirloom")).cloned();
    ours.map(|start| {
        let mut reached = BTreeSet::new();
        let mut next = vec![start.clone()];
        while let Some(name) = next.pop() {
            for dependency in edges.get(&name).into_iter().flatten() {
                if reached.insert(dependency.clone()) {
                    next.push(dependency.clone());
                }
            }
        }
        (start, reached)
    })
    .collect()
}

#[test]
fn arrows_run_only_downward() {
    let reach = reach();
    let knows = |from: &str, to: &str| reach[from].contains(to);
    for (from, to) in [
        ("heirloom-core", "heirloom-ledger"),
        ("heirloom-core", "heirloom-repo"),
        ("heirloom-core", "heirloom-agents"),
        ("heirloom-core", "heirloom-engine"),
        ("heirloom-ledger", "heirloom-agents"),
        ("heirloom-ledger", "heirloom-engine"),
        ("heirloom-repo", "heirloom-engine"),
        ("heirloom-agents", "heirloom-engine"),
        ("heirloom-agents", "heirloom-ledger"),
        ("heirloom-engine", "heirloom-api"),
        ("heirloom-hook", "heirloom-api"),
        ("heirloom-hook", "heirloom-server"),
        ("heirloom-api", "heirloom-server"),
        ("heirloom-api", "heirloom-hub"),
        ("heirloom-engine", "heirloom-hub"),
        ("heirloom-hook", "heirloom-hub"),
    ] {
        assert!(!knows(from, to), "{from} must not know {to}");
    }
    for name in reach.keys() {
        assert!(!knows(name, "heirloom"), "{name} must not know the command");
    }
}

#[test]
fn core_reaches_nothing_that_does_io_and_only_the_ledger_speaks_sql() {
    let reach = reach();
    for name in ["rusqlite", "rustix", "tempfile", "tokio", "mio", "notify"] {
        assert!(!reach["heirloom-core"].contains(name), "core reaches {name}");
    }
    for (name, reached) in &reach {
        let may =
            ["heirloom-ledger", "heirloom-engine", "heirloom-hook", "heirloom-api", "heirloom"]
                .contains(&name.as_str());
        // Only tests know the testkit: models that are scripted are served by it.
        let serves = ["heirloom-server", "heirloom-hub", "heirloom", "heirloom-testkit"]
            .contains(&name.as_str());
        assert!(may || serves || !reached.contains("rusqlite"), "{name} reaches SQL");
        assert!(serves || !reached.contains("tokio"), "{name} reaches an async runtime");
    }
}

#[test]
fn the_hook_carries_nothing_that_it_does_not_need() {
    let reach = reach();
    for name in [
        "clap",
        "clap_builder",
        "anstream",
        "schemars",
        "tokio",
        "hyper",
        "axum",
        "tree-sitter",
        "tokio-postgres",
        "rustls",
        "ring",
    ] {
        assert!(!reach["heirloom-hook"].contains(name), "the hook reaches {name}");
    }
}

#[test]
fn heirloom_is_the_only_program_so_that_cargo_run_knows_which() {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap().iter();
    // Those of the workspace have no source.
    let targets = packages
        .filter(|package| package["source"].is_null())
        .flat_map(|package| package["targets"].as_array().unwrap());
    let programs: Vec<&str> = targets
        .filter(|target| target["kind"] == serde_json::json!(["bin"]))
        .map(|target| target["name"].as_str().unwrap())
        .collect();
    assert_eq!(programs, ["heirloom"]);
}

#[test]
fn a_panic_ends_its_own_thread_in_every_profile() {
    // `work` goes on when one issue's thread panics. Cargo ignores the setting in tests and benches, so
    // that a release which aborts would pass all of them.
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml");
    let manifest = std::fs::read_to_string(manifest).unwrap();
    let aborts = |line: &str| line.trim_start().starts_with("panic");
    assert!(manifest.contains("[profile.release]") && !manifest.lines().any(aborts));
}

/// Use cases ask who it is; a surface that did would be one more that can forget to.
#[test]
fn only_the_engine_asks_whether_a_person_is_there() {
    let mut pending = vec![PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))];
    let mut read = 0;
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            let inside = std::fs::read_dir(&path).unwrap();
            pending.extend(inside.map(|entry| entry.unwrap().path()));
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for word in ["NotAPerson {", "Who::Person", "person::{Action, allow", "judge("] {
            assert!(!text.contains(word), "{} decides who is a person: {word}", path.display());
        }
        read += 1;
    }
    assert!(read > 40, "{read} files");
}

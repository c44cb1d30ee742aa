//! What we depend on: under licences that `deny.toml` allows, none that it denies, from where it allows,
//! and nothing that nobody uses.
//!
//! `cargo deny check` says the same and more, but has to be built first.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::walls::metadata;

fn text(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).unwrap()
}

/// What stands in quotes in a list of `deny.toml`.
fn list(text: &str, name: &str) -> BTreeSet<String> {
    let start = text.find(&format!("\n{name} = [\n")).unwrap_or_else(|| panic!("no {name}"));
    let list = text[start..].split("\n]").next().unwrap();
    let lines = list.lines().filter(|line| !line.trim_start().starts_with('#'));
    lines.filter_map(|line| line.split('"').nth(1)).map(str::to_owned).collect()
}

/// Whether a licence expression is met by what is allowed.
fn is_met(expression: &str, allowed: &BTreeSet<String>) -> bool {
    // An older way to write "or".
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let met = any(&words, &mut at, allowed);
    assert_eq!(at, words.len(), "{expression} is no licence expression");
    met
}

fn any(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let mut met = all(words, at, allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        met |= all(words, at, allowed);
    }
    met
}

fn all(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let mut met = one(words, at, allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        met &= one(words, at, allowed);
    }
    met
}

fn one(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    if words[*at] == "(" {
        *at += 1;
        let met = any(words, at, allowed);
        assert_eq!(words.get(*at), Some(&")"), "{words:?}");
        *at += 1;
        return met;
    }
    let mut licence = words[*at].to_owned();
    *at += 1;
    if words.get(*at) == Some(&"WITH") {
        licence = format!("{licence} WITH {}", words[*at + 1]);
        *at += 2;
    }
    allowed.contains(&licence)
}

#[test]
fn every_licence_is_one_of_those_allowed() {
    let (metadata, allowed) = (metadata(), list(&text("deny.toml"), "allow"));
    for package in metadata["packages"].as_array().unwrap() {
        let licence = package["license"].as_str();
        let licence = licence.unwrap_or_else(|| panic!("{} has no licence", package["name"]));
        assert!(is_met(licence, &allowed), "{} is under {licence}", package["name"]);
    }
}

#[test]
fn licences_that_are_joined_must_all_be_allowed() {
    let allowed = ["MIT".to_owned(), "Zlib".to_owned()].into();
    for (expression, met) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0/MIT", true),
        ("MIT AND GPL-3.0", false),
        ("(GPL-3.0 OR MIT) AND Zlib", true),
        ("MIT WITH an-exception", false),
    ] {
        assert_eq!(is_met(expression, &allowed), met, "{expression}");
    }
}

/// The lock file has the crates of every platform.
#[test]
fn nothing_that_is_denied_is_locked_and_everything_comes_from_the_registry() {
    let (lock, denied) = (text("Cargo.lock"), list(&text("deny.toml"), "deny"));
    for package in lock.split("[[package]]\n").skip(1) {
        let field = |name: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(&format!("{name} = ")));
            line.map(|value| value.trim_matches('"'))
        };
        let name = field("name").unwrap();
        assert!(!denied.contains(name), "{name} is denied");
        let source = field("source");
        let known = source == Some("registry+https://github.com/rust-lang/crates.io-index");
        let ours = source.is_none() && name.starts_with("heirloom");
        assert!(known || ours, "{name} comes from {source:?}");
        assert_eq!(field("checksum").is_some(), known, "{name}");
    }
}

#[test]
fn every_dependency_has_a_version_and_a_use() {
    let metadata = metadata();
    for package in metadata["packages"].as_array().unwrap() {
        if !package["source"].is_null() {
            continue;
        }
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        let directory = manifest.parent().unwrap();
        for dependency in package["dependencies"].as_array().unwrap() {
            let name = dependency["name"].as_str().unwrap();
            let external = dependency["source"].is_string();
            assert!(!external || dependency["req"] != "*", "{name}: any version");
            let used = places(dependency).iter().any(|place| uses(&directory.join(place), name));
            assert!(used, "{} does not use {name}", manifest.display());
        }
    }
}

/// Where a dependency of such a kind can be used.
fn places(dependency: &Value) -> &'static [&'static str] {
    match dependency["kind"].as_str() {
        None => &["src"],
        Some("build") => &["build.rs"],
        Some(_) => &["src", "tests", "benches", "examples"],
    }
}

fn uses(place: &Path, name: &str) -> bool {
    if place.is_dir() {
        return fs::read_dir(place).unwrap().flatten().any(|entry| uses(&entry.path(), name));
    }
    let Ok(text) = fs::read_to_string(place) else { return false };
    let word = name.replace('-', "_");
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(|line| line.match_indices(&word).map(move |found| (line, found.0))).any(
        |(line, at)| {
            let behind = &line[at + word.len()..];
            let before = line[..at].chars().next_back();
            before.is_none_or(|c| !c.is_alphanumeric() && c != '_')
                && ["::", ";", " as "].iter().any(|sign| behind.starts_with(sign))
        },
    )
}

/// A version that no crate asks for is a dependency somebody once had.
#[test]
fn every_version_of_the_workspace_is_asked_for() {
    let workspace = text("Cargo.toml");
    let section = workspace.split("[workspace.dependencies]\n").nth(1).unwrap();
    let section = section.split("\n[").next().unwrap();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let manifests = fs::read_dir(crates).unwrap().flatten();
    let manifests: Vec<String> = manifests
        .filter_map(|entry| fs::read_to_string(entry.path().join("Cargo.toml")).ok())
        .collect();
    let names = section.lines().filter(|line| !line.starts_with('#'));
    for name in names.filter_map(|line| line.split_once(" = ")).map(|(name, _)| name) {
        let asked = manifests.iter().any(|text| {
            text.contains(&format!("\n{name}.workspace = true"))
                || text.contains(&format!("\n{name} = {{ workspace = true"))
        });
        assert!(asked, "no crate depends on {name}");
    }
}

//! What a repository needs so that others can join it. Nothing here is run by a build, and most of it only
//! elsewhere (workflows, the formula): so it is read, and what can be run is run against a release that is made up.

mod releasing;
mod workflows;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn run(program: impl AsRef<Path>, arguments: &[&str]) -> Output {
    Command::new(program.as_ref()).args(arguments).current_dir(root()).output().unwrap()
}

/// What it printed to stdout; fails with what it printed to stderr.
fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn refused(output: &Output) -> String {
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The value of the first `name = "value"` line.
fn value_of(toml: &str, name: &str) -> String {
    let line = toml.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
    line.unwrap_or_else(|| panic!("no {name}")).trim_matches('"').to_owned()
}

#[test]
fn every_script_is_one_the_shell_can_read() {
    let mut scripts = vec!["test".to_owned(), ".ci/run".to_owned()];
    for directory in ["dist", "tools"] {
        let entries = fs::read_dir(root().join(directory)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        scripts.extend(names.map(|name| format!("{directory}/{name}")));
    }
    let mut checked = 0;
    for script in scripts {
        let text = read(&script);
        let shell = match text.lines().next() {
            Some("#!/usr/bin/env bash") => "bash",
            Some("#!/bin/sh") => "sh",
            _ => continue,
        };
        let output = run(shell, &["-n", &script]);
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
        checked += 1;
    }
    assert!(checked >= 7, "only {checked} scripts were found");
}

#[test]
fn the_toolchain_is_the_same_wherever_it_is_named() {
    let channel = value_of(&read("rust-toolchain.toml"), "channel");
    let least = value_of(&read("Cargo.toml"), "rust-version");
    assert!(channel.starts_with(&least), "{channel} is pinned, {least} is said to be enough");
    let image = read("Dockerfile");
    assert!(image.contains(&format!("\nFROM rust:{channel}-slim")), "the Dockerfile has another");
}

#[test]
fn who_reports_a_vulnerability_finds_where_and_what_is_not_defended() {
    let page = read("SECURITY.md");
    for heading in ["## Report something", "## What is defended", "## What is not defended"] {
        assert!(page.contains(heading), "no {heading}");
    }
    assert!(read("README.md").contains("SECURITY.md"));
}

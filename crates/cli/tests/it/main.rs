//! The command from outside: what it prints, and how it ends.

#![expect(
    clippy::disallowed_methods,
    reason = "a test that cannot set the scene panics, and says where"
)]
#![expect(clippy::unwrap_used, reason = "a test that cannot set the scene has failed")]

mod action;
mod answers;
mod asking;
mod capture;
mod config;
mod cost;
mod dependencies;
mod distilling;
mod everyday;
mod failures;
mod forgetting;
mod fresh_clone;
mod guard;
mod handing_over;
mod help;
mod hostile;
mod hub;
mod identity;
mod init;
mod installed;
mod issues;
mod joining;
mod keep;
mod known_failures;
mod ledger;
mod logging;
mod newcomer;
mod notes;
mod odd_transcripts;
mod pages;
mod plain_words;
mod reading_on;
mod recall;
mod recording;
mod run;
mod run_ends;
mod run_inherit;
mod run_live;
mod run_permitting;
mod run_pipeline;
mod run_resume;
mod run_session;
mod run_told;
mod screens;
mod serve;
mod session;
mod sessions;
mod shell;
mod shops;
mod syncing;
mod taking_in;
mod talk;
mod trust;
mod trust_page;
mod walls;
mod watching;
mod whole_screens;
mod working;

use heirloom_testkit::env::TestEnv;

/// A place to run the command in.
fn env() -> TestEnv {
    TestEnv::new(env!("CARGO_BIN_EXE_heirloom"))
}

/// Replaces what differs from run to run.
fn stable(text: &str) -> String {
    let mut stable = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_hexdigit()) {
        stable.push_str(&rest[..start]);
        rest = &rest[start..];
        let length = rest.find(|c: char| !c.is_ascii_hexdigit() && c != '-').unwrap_or(rest.len());
        let (word, behind) = rest.split_at(length);
        stable.push_str(match word.len() {
            36 if word.matches('-').count() == 4 => "[id]",
            8 if word.chars().any(|c| c.is_ascii_digit()) && !word.contains('-') => "[short]",
            16 if !word.contains('-') => "[host]",
            64 => "[hash]",
            _ => word,
        });
        rest = behind;
    }
    stable.push_str(rest);
    stable
}

#[test]
fn no_test_file_is_forgotten() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    for entry in std::fs::read_dir(here).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.trim_end_matches(".rs");
        // Editors and snapshot tools leave hidden files.
        let is_test = !name.starts_with('.') && !["main", "snapshots"].contains(&module);
        assert!(
            !is_test || include_str!("main.rs").contains(&format!("mod {module};")),
            "{name} is not a module of main.rs"
        );
    }
}

use std::fmt::Write;
use std::fs;
use std::path::Path;

use heirloom_testkit::env::TestEnv;

use crate::env;

/// The commands that a help lists.
fn listed(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    // A description that goes on is further in than a name.
    let names = lines.take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

/// The help of a command and of all below it.
fn walk(env: &TestEnv, command: &[&str], page: &mut String) {
    let help = env.run(&[command, &["--help"]].concat()).success().stdout;
    let name = [&["heirloom"], command].concat().join(" ");
    assert!(help.contains(&format!("Usage: {name}")), "{help}");
    assert!(help.contains("--json"), "{name} has no --json");
    let _ = write!(page, "## {name}\n\n```text\n{}\n```\n\n", help.trim_end());
    for below in listed(&help) {
        walk(env, &[command, &[below.as_str()]].concat(), page);
    }
}

/// `UPDATE_DOCS=1 cargo test -p heirloom help` rewrites the page.
#[test]
fn the_page_of_commands_is_what_every_help_says() {
    let mut page = String::from(
        "# Commands\n\nWhat every command says with `--help`. Made by a test; do not edit.\n\n",
    );
    walk(&env(), &[], &mut page);
    let page = format!("{}\n", page.trim_end());
    assert!(page.matches("\n## ").count() > 60, "{page}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/commands.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "docs/commands.md is stale: run the tests with UPDATE_DOCS=1");
}

#[test]
fn the_version_is_an_answer() {
    let ran = env().run(&["--version"]).success();
    assert_eq!(ran.stdout, format!("heirloom {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn completions_and_the_man_page_know_every_command() {
    let env = env();
    for shell in ["bash", "zsh", "fish"] {
        let script = env.run(&["completions", shell]).success().stdout;
        assert!(script.contains("sessions") && script.contains("lineage"), "{shell}");
    }
    let page = env.run(&["man"]).success().stdout;
    assert!(page.starts_with(".ie") || page.starts_with(".TH") || page.contains(".TH"), "{page}");
    assert!(page.contains("lineage"));
}

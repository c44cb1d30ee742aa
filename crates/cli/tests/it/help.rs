use std::fmt::Write;
use std::fs;
use std::path::Path;

use heirloom_testkit::env::TestEnv;

use crate::env;

/// What commands are listed under.
const HEADINGS: [&str; 8] = [
    "Commands:",
    "Everyday:",
    "Sessions:",
    "Memory:",
    "Guard:",
    "Backlog:",
    "Daemon and team:",
    "Plumbing:",
];

/// The commands that a help lists.
pub(crate) fn listed(help: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut is_of_commands = false;
    for line in help.lines() {
        if !line.starts_with(' ') {
            is_of_commands = HEADINGS.contains(&line);
        } else if is_of_commands && !line.starts_with("   ") {
            // A description that goes on is further in than a name.
            names.extend(line.split_whitespace().next().map(str::to_owned));
        }
    }
    names
}

/// The help of a command and of all below it.
fn walk(env: &TestEnv, command: &[&str], page: &mut String) {
    let help = env.run(&[command, &["--help"]].concat()).success().stdout;
    let name = [&["heirloom"], command].concat().join(" ");
    assert!(help.contains(&format!("Usage: {name}")), "{help}");
    assert!(help.contains("--json"), "{name} has no --json");
    assert!(command.is_empty() || help.contains("Examples:\n  heirloom"), "{name} has no examples");
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
fn every_man_page_that_is_referred_to_is_there() {
    let env = env();
    let dir = env.user().join("man1");
    env.run(&["man", "--dir", dir.to_str().unwrap()]).success();
    let pages: Vec<_> = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(pages.len() > 60, "{pages:?}");
    for page in &pages {
        let text = fs::read_to_string(page).unwrap().replace("\\-", "-").replace("\\fR", "");
        assert!(!text.contains('\u{1b}'), "{page:?}");
        for before in text.split("(1)").collect::<Vec<_>>().split_last().unwrap().1 {
            let ends =
                before.rfind(|c: char| !c.is_alphanumeric() && c != '-').map_or(0, |at| at + 1);
            let name = &before[ends..];
            assert!(dir.join(format!("{name}.1")).is_file(), "{page:?} refers to {name}(1)");
        }
    }
    let page = env.run(&["man", "sessions", "list"]).success().stdout;
    assert!(
        page.contains("heirloom\\-sessions\\-list") || page.contains("heirloom-sessions-list"),
        "{page}"
    );
    assert_eq!(env.run(&["man", "nothing"]).code, 64);
}

/// What a shell offers for the last of these words.
fn offered(env: &TestEnv, line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split(' ').collect();
    let at = (words.len() - 1).to_string();
    let ran = env.run(&[&["complete", "--at", &at, "--"], &words[..]].concat()).success();
    ran.stdout.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

#[test]
fn shells_are_offered_what_is_there() {
    let env = env();
    assert!(offered(&env, "heirloom status ").is_empty());
    assert!(!env.home().join("ledger.db").exists(), "completing makes nothing");
    env.run(&["note", "learning", "one"]).success();
    let id =
        env.run(&["issues", "create", "Rotate tokens", "--json"]).success().json()["id"].clone();
    assert_eq!(offered(&env, "heirloom status not"), ["notes-2026-01-12"]);
    assert_eq!(offered(&env, "heirloom issues show "), [id.as_str().unwrap()]);
    assert!(offered(&env, "heirloom run ra").contains(&"ralph".to_owned()));
    assert_eq!(offered(&env, "heirloom lin"), ["lineage"]);
    assert_eq!(offered(&env, "heirloom sessions list --runn"), ["--running"]);
}

/// What a shell says in which the completions of its kind are loaded.
fn in_shell(env: &TestEnv, shell: &str, options: &[&str], script: &str) -> String {
    let file = env.user().join(format!("completions.{shell}"));
    fs::write(&file, env.run(&["completions", shell]).success().stdout).unwrap();
    let bin = Path::new(env!("CARGO_BIN_EXE_heirloom")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let known = env.command(&[]);
    let known = known.get_envs().filter_map(|(name, value)| Some((name, value?)));
    let output = std::process::Command::new(shell)
        .current_dir(env.repo())
        .env_clear()
        .envs(known)
        .env("PATH", format!("{}:{path}", bin.display()))
        .args(options)
        .args(["-c", &script.replace("FILE", file.to_str().unwrap())])
        .output()
        .unwrap_or_else(|error| panic!("{shell} is needed for its completions: {error}"));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn bash_completes_with_what_the_command_offers() {
    let env = env();
    env.run(&["note", "learning", "one"]).success();
    let script = "source FILE; COMP_WORDS=(heirloom status not); COMP_CWORD=2; _heirloom; \
                  echo \"${COMPREPLY[*]}\"";
    assert_eq!(in_shell(&env, "bash", &[], script), "notes-2026-01-12\n");
}

#[test]
#[ignore = "needs zsh"]
fn zsh_completes_with_what_the_command_offers() {
    let env = env();
    env.run(&["note", "learning", "one"]).success();
    let known = "autoload -U compinit; compinit -u -D; source FILE; print $_comps[heirloom]";
    assert_eq!(in_shell(&env, "zsh", &["-f"], known), "_heirloom\n");
    // Only zsh itself can call what shows the list; here it prints what it is given.
    let script = "compdef() { }; source FILE; _describe() { print -l -- $found }; \
                  words=(heirloom status not); CURRENT=3; _heirloom";
    let offered = in_shell(&env, "zsh", &["-f"], script);
    assert!(offered.starts_with("notes-2026-01-12:"), "{offered}");
    assert_eq!(offered.lines().count(), 1, "{offered}");
}

#[test]
#[ignore = "needs fish"]
fn fish_completes_with_what_the_command_offers() {
    let env = env();
    env.run(&["note", "learning", "one"]).success();
    let script = "source FILE; complete -C 'heirloom status not'";
    let offered = in_shell(&env, "fish", &["--no-config"], script);
    assert_eq!(offered.split(['\t', '\n']).next(), Some("notes-2026-01-12"), "{offered}");
    assert_eq!(offered.lines().count(), 1, "{offered}");
    let issue = env.run(&["issues", "create", "Rotate tokens", "--json"]).success().json();
    let script = "source FILE; complete -C 'heirloom issues show '";
    let offered = in_shell(&env, "fish", &["--no-config"], script);
    assert!(offered.starts_with(issue["id"].as_str().unwrap()), "{offered}");
}

#[test]
fn completions_and_the_man_page_know_every_command() {
    let env = env();
    for shell in ["bash", "zsh", "fish"] {
        let script = env.run(&["completions", shell]).success().stdout;
        assert!(script.contains("heirloom complete --at"), "{shell}");
    }
    let script = env.run(&["completions", "powershell"]).success().stdout;
    assert!(script.contains("sessions") && script.contains("lineage"), "{script}");
    let page = env.run(&["man"]).success().stdout;
    assert!(page.starts_with(".ie") || page.starts_with(".TH") || page.contains(".TH"), "{page}");
    assert!(page.contains("lineage"));
}

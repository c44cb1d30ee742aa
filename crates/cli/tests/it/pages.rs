//! The pages that people read first: every command of a `console` block in them is run as printed, has to work,
//! and prints what the page shows below it. `UPDATE_DOCS=1` writes what it prints now.
//!
//! Within a page the commands follow each other, in one shell and one scratch repository.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use heirloom_testkit::env::TestEnv;

use crate::env;
use crate::shell::{bash, with_steady_durations, with_steady_ids};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// Says where the output of one command ends, and how it ended.
const END: &str = "@@end of output@@";

/// What each of `commands` prints, run one after the other in one shell.
fn run(env: &TestEnv, directory: &Path, commands: &[String]) -> Vec<String> {
    let script: String =
        commands.iter().flat_map(|command| [command.as_str(), "\necho $? '", END, "'\n"]).collect();
    let output = bash(env, directory, &script).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let root = fs::canonicalize(directory).unwrap().to_string_lossy().into_owned();
    let text = text.replace(&root, "~").replace(env.user().to_str().unwrap(), "~");
    let text = with_steady_durations(&with_steady_ids(&text, &mut HashMap::new()));
    let parts: Vec<&str> = text.split(&format!(" {END}\n")).collect();
    assert_eq!(parts.len(), commands.len() + 1, "{text}");
    let printed = parts.iter().zip(commands).map(|(part, command)| {
        let (printed, status) = part.rsplit_once('\n').unwrap_or(("", part));
        // What these ask about does not hold, and that is what the page shows.
        let asks = ["heirloom ground", "heirloom req explain"];
        let may_fail = asks.iter().any(|ask| command.starts_with(ask));
        let is_fine = status == "0" || (status == "1" && may_fail);
        assert!(is_fine, "$ {command}\n{printed}\nexit {status}");
        printed.trim_end().to_owned()
    });
    printed.collect()
}

/// A line of a page: prose, or a command with what is shown below it.
enum Part {
    Line(String),
    Command { typed: String, shown: Vec<String> },
}

fn parts(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut is_console = false;
    for line in text.lines() {
        if line == "```console" || (is_console && line == "```") {
            is_console = !is_console;
            parts.push(Part::Line(line.to_owned()));
        } else if let (true, Some(typed)) = (is_console, line.strip_prefix("$ ")) {
            parts.push(Part::Command { typed: typed.to_owned(), shown: Vec::new() });
        } else if let (true, Some(Part::Command { shown, .. })) = (is_console, parts.last_mut()) {
            shown.push(line.to_owned());
        } else {
            parts.push(Part::Line(line.to_owned()));
        }
    }
    parts
}

fn check(name: &str) {
    let file = docs().join(name);
    let text = fs::read_to_string(&file).unwrap();
    let env = env();
    let directory = env.user().join("work");
    fs::create_dir_all(&directory).unwrap();
    if !text.contains("$ git init") {
        // A guide begins in a repository that is there.
        let mut git = Command::new("git");
        git.args(["init", "-q", "-b", "main"]).arg(directory.join("payments"));
        assert!(git.status().unwrap().success());
    }
    let inside = directory.join("payments");
    let place = if inside.is_dir() { inside } else { directory };
    let mut parts = parts(&text);
    let commands: Vec<String> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Command { typed, .. } => Some(typed.clone()),
            Part::Line(_) => None,
        })
        .collect();
    assert!(!commands.is_empty(), "{name} shows no command");
    let mut printed = run(&env, &place, &commands).into_iter();
    for part in &mut parts {
        let Part::Command { shown, .. } = part else { continue };
        *shown = printed.next().unwrap_or_default().lines().map(str::to_owned).collect();
    }
    let lines = parts.into_iter().flat_map(|part| match part {
        Part::Line(line) => vec![line],
        Part::Command { typed, shown } => {
            std::iter::once(format!("$ {typed}")).chain(shown).collect()
        }
    });
    let now = lines.collect::<Vec<_>>().join("\n") + "\n";
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&file, &now).unwrap();
    }
    let stored = fs::read_to_string(&file).unwrap();
    let drifted = stored.lines().zip(now.lines()).find(|(stored, now)| stored != now);
    assert_eq!(drifted, None, "docs/{name}: the page, and what is printed; UPDATE_DOCS=1 mends it");
    assert_eq!(stored, now, "docs/{name}: UPDATE_DOCS=1 mends it");
}

#[test]
fn the_tutorial_runs_as_printed() {
    check("tutorial.md");
}

#[test]
fn the_guide_to_a_solo_day_runs_as_printed() {
    check("guides/solo-day.md");
}

#[test]
fn the_guide_to_a_teams_guards_runs_as_printed() {
    check("guides/team-guards.md");
}

#[test]
fn the_guide_to_overnight_loops_runs_as_printed() {
    check("guides/overnight.md");
}

#[test]
fn the_guide_to_a_backlog_runs_as_printed() {
    check("guides/backlog.md");
}

/// The demonstration that `README.md` begins with, which leaves lines out where it says `…`.
#[test]
fn the_demonstration_in_the_readme_is_what_heirloom_prints() {
    let readme = fs::read_to_string(docs().join("../README.md")).unwrap();
    let block = readme.split("```\n$ heirloom demo\n").nth(1).unwrap().split("```").next().unwrap();
    let env = env();
    let printed = run(&env, &env.user(), &["heirloom demo".to_owned()]).remove(0);
    // How many tokens depends on the clock, whose digits count.
    let settled = |line: &str| match line.strip_prefix("inherits ") {
        Some(rest) => rest.rsplit_once(" (").map_or(rest, |(what, _)| what).to_owned(),
        None => line.to_owned(),
    };
    let mut rest = printed.lines().map(settled);
    let mut may_skip = false;
    for shown in with_steady_durations(block).lines() {
        if shown.trim() == "…" {
            may_skip = true;
            continue;
        }
        let shown = settled(shown);
        let found = if may_skip {
            rest.any(|line| line == shown)
        } else {
            rest.next().as_ref() == Some(&shown)
        };
        assert!(found, "README.md shows a line that is not printed there: {shown}\n\n{printed}");
        may_skip = false;
    }
}

/// Pages that are run have a test above.
#[test]
fn no_page_with_commands_is_forgotten() {
    let own = include_str!("pages.rs");
    let guides = fs::read_dir(docs().join("guides")).unwrap().flatten().map(|entry| entry.path());
    let pages = fs::read_dir(docs()).unwrap().flatten().map(|entry| entry.path());
    for page in guides.chain(pages).filter(|page| page.extension().is_some_and(|e| e == "md")) {
        let name = page.strip_prefix(docs()).unwrap().to_str().unwrap().to_owned();
        let is_run = own.contains(&format!("check(\"{name}\")"));
        let has_commands = fs::read_to_string(&page).unwrap().contains("\n```console\n");
        assert_eq!(is_run, has_commands, "{name}");
    }
}

/// The calls of heirloom in a line of shell, each as its words. What is quoted is one word, and a comment none.
fn calls(line: &str) -> Vec<Vec<String>> {
    fn end(calls: &mut [Vec<String>], word: &mut String) {
        let word = std::mem::take(word);
        if let (false, Some(call)) = (word.is_empty(), calls.last_mut()) {
            call.push(word);
        }
    }
    let (mut calls, mut word, mut quote) = (vec![Vec::new()], String::new(), None);
    let line = line.trim().trim_start_matches("$ ");
    // Pages put a remark behind a command, a few columns to the right.
    let line = line.split("   ").next().unwrap_or_default();
    for character in line.chars().chain([' ']) {
        match (quote, character) {
            (Some(open), close) if open == close => quote = None,
            (Some(_), _) => word.push('_'),
            (None, '"' | '\'') => quote = Some(character),
            (None, '#') if word.is_empty() => break,
            (None, '|' | '&' | ';' | '(' | ')' | '<' | '>') => {
                end(&mut calls, &mut word);
                calls.push(Vec::new());
            }
            (None, ' ') => end(&mut calls, &mut word),
            (None, other) => word.push(other),
        }
    }
    calls.retain(|call| call.first().is_some_and(|first| first == "heirloom"));
    calls
}

/// Every command line that a page shows, also those that no test can run, names a command and flags that there are.
#[test]
fn every_command_line_on_a_page_is_one_that_heirloom_takes() {
    let help = fs::read_to_string(docs().join("commands.md")).unwrap();
    let help: std::collections::HashMap<&str, &str> =
        help.split("\n## ").skip(1).filter_map(|part| part.split_once('\n')).collect();
    let guides = fs::read_dir(docs().join("guides")).unwrap().flatten().map(|entry| entry.path());
    let pages = fs::read_dir(docs()).unwrap().flatten().map(|entry| entry.path());
    let readme = docs().join("../README.md");
    let mut count = 0;
    for page in guides.chain(pages).chain([readme]).filter(|page| {
        page.extension().is_some_and(|e| e == "md")
            && !page.ends_with("commands.md")
            && !page.ends_with("json.md")
    }) {
        let text = fs::read_to_string(&page).unwrap();
        let mut is_code = false;
        for line in text.lines() {
            if line.starts_with("```") {
                is_code = !is_code;
                continue;
            }
            // In prose a command stands between backticks; what names several at once is none, nor what only
            // heirloom itself calls.
            let spans = line.split('`').skip(1).step_by(2);
            let in_prose = spans.filter(|span| {
                span.starts_with("heirloom ")
                    && !span.contains('|')
                    && !span.ends_with("--background")
            });
            let found: Vec<_> = if is_code || line.starts_with("    ") {
                calls(line)
            } else {
                in_prose.flat_map(calls).collect()
            };
            for call in found {
                let place = format!("{}: {line}", page.display());
                let mut name = "heirloom".to_owned();
                let mut words = call[1..].iter().peekable();
                while let Some(word) =
                    words.next_if(|word| help.contains_key(format!("{name} {word}").as_str()))
                {
                    name = format!("{name} {word}");
                }
                let known = help[name.as_str()];
                let has_more = name == "heirloom" || known.contains("\nCommands:\n");
                let stray = words.peek().filter(|word| {
                    has_more && word.starts_with(|first: char| first.is_ascii_lowercase())
                });
                assert!(stray.is_none(), "{place}: there is no such command");
                for flag in words.filter(|word| word.starts_with("--") && word.len() > 2) {
                    let flag = flag.split('=').next().unwrap_or_default();
                    let is_known = known
                        .split([' ', '\n', ',', '[', ']', '=', '`', '.', ';', ':'])
                        .any(|word| word == flag);
                    assert!(is_known, "{place}: {name} has no {flag}");
                }
                count += 1;
            }
        }
    }
    assert!(count > 150, "only {count} command lines were found");
}

/// The pages that the index and the guides lead to are there.
#[test]
fn no_link_between_pages_leads_nowhere() {
    let guides = fs::read_dir(docs().join("guides")).unwrap().flatten().map(|entry| entry.path());
    let pages =
        ["README.md", "tutorial.md", "shops.md", "comparison.md"].map(|name| docs().join(name));
    for page in guides.chain(pages) {
        let text = fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap();
            let is_there = link.contains("://") || page.parent().unwrap().join(target).exists();
            assert!(is_there, "{} leads to {link}", page.display());
        }
    }
}

//! How help looks: commands in groups, examples below each, and exit codes.

use std::fmt::Write;

use clap::builder::StyledStr;

use super::{alone, examples};
use crate::layout;

/// The commands by what they are for. Those that people type every day come first; what only programs and repairs need
/// is in the long help alone.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Everyday", &["init", "doctor", "resume", "search", "why", "how", "usage", "demo", "config"]),
    (
        "Sessions",
        &[
            "sessions",
            "status",
            "lineage",
            "launch",
            "continue",
            "fork",
            "interrupt",
            "watch",
            "conversation",
            "run",
            "stages",
            "pipelines",
            "agents",
        ],
    ),
    (
        "Memory",
        &[
            "note",
            "notes",
            "handoffs",
            "rules",
            "ground",
            "recover",
            "inherit",
            "checkpoint",
            "context",
            "sync",
            "archive",
        ],
    ),
    ("Guard", &["req", "approvals", "trust"]),
    ("Backlog", &["issues", "work", "runs"]),
    ("Daemon and team", &["serve", "hub"]),
];

const PLUMBING: &str = "Plumbing";

const SHORT_END: &str = "`heirloom` alone shows what is going on here. `heirloom COMMAND --help` explains a command, with \
                         examples. `heirloom --help` lists the plumbing and the exit codes too.";

/// Exit codes, as the long help and the docs show them.
pub(super) const EXIT_CODES: [(&str, &str); 7] = [
    ("0", "done"),
    ("1", "failed, or what was asked about does not hold"),
    ("2", "done, but read the warnings (inherit only)"),
    ("3", "stopped at a limit or without agreement; can be resumed"),
    ("64", "wrong usage"),
    ("130", "interrupted"),
    ("143", "terminated"),
];

const VARIABLES: [(&str, &str); 6] = [
    ("HEIRLOOM_HOME", "where data is kept"),
    ("HEIRLOOM_CONFIG", "your settings file"),
    ("HEIRLOOM_LOG", "what is logged: error, warn, info, debug or trace"),
    ("HEIRLOOM_DISABLE=1", "silences hooks, except for the machine owner's rules"),
    ("HEIRLOOM_PAGER, PAGER", "shows long answers; cat for none"),
    ("NO_COLOR=1", "no colours"),
];

/// Puts groups and examples into the help of every command.
pub(super) fn dress(tree: clap::Command) -> clap::Command {
    let header = *tree.get_styles().get_header();
    let options = format!("{header}Options:{header:#}\n{{options}}");
    let short = format!("{}{options}{{after-help}}", groups(&tree));
    let template = format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{short}");
    let end = layout::wrap(SHORT_END, room(), 0);
    let long = long_end(&tree);
    let tree = tree.help_template(StyledStr::from(template)).after_help(end).after_long_help(long);
    with_examples(tree, "")
}

fn with_examples(command: clap::Command, path: &str) -> clap::Command {
    command.mut_subcommands(|below| {
        let path = format!("{path} {}", below.get_name()).trim_start().to_owned();
        let mut examples: Vec<String> =
            examples::of(&path).into_iter().map(str::to_owned).collect();
        if examples.is_empty() {
            examples.push(plain(&below, &path));
        }
        let below = with_examples(below, &path);
        // What is done without a word is not one that has to be there.
        let is_obvious = below.has_subcommands() && alone::has_obvious(below.get_name());
        let below = if is_obvious {
            below.subcommand_required(false).arg_required_else_help(false)
        } else {
            below
        };
        let header = *below.get_styles().get_header();
        let mut text = format!("{header}Examples:{header:#}\n");
        for example in examples {
            let _ = writeln!(text, "  {example}");
        }
        below.after_help(StyledStr::from(text))
    })
}

/// The shortest way to call a command.
fn plain(command: &clap::Command, path: &str) -> String {
    let needed = command.get_positionals().filter(|arg| arg.is_required_set());
    let names = needed.map(|arg| format!(" {}", arg.get_id().as_str().to_uppercase()));
    format!("heirloom {path}{}", names.collect::<String>())
}

/// The help that `heirloom` alone gives outside a repository.
pub(super) fn short() -> String {
    super::tree().render_help().to_string()
}

fn groups(tree: &clap::Command) -> String {
    let mut text = String::new();
    for (heading, names) in GROUPS {
        section(&mut text, tree, heading, &found(tree, names));
    }
    text
}

fn long_end(tree: &clap::Command) -> StyledStr {
    let is_grouped = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let rest = tree.get_subcommands().filter(|each| !each.is_hide_set());
    let rest: Vec<&clap::Command> = rest.filter(|each| !is_grouped(each.get_name())).collect();
    let mut text = String::new();
    section(&mut text, tree, PLUMBING, &rest);
    let header = tree.get_styles().get_header();
    for (heading, rows) in [("Exit codes", &EXIT_CODES[..]), ("Environment", &VARIABLES[..])] {
        let _ = writeln!(text, "{header}{heading}:{header:#}");
        for (name, meaning) in rows {
            let line = format!("  {name:22} {meaning}");
            let _ = writeln!(text, "{}", layout::wrap(&line, room(), 23));
        }
        text.push('\n');
    }
    StyledStr::from(text.trim_end().to_owned())
}

fn found<'a>(tree: &'a clap::Command, names: &[&str]) -> Vec<&'a clap::Command> {
    names.iter().filter_map(|name| tree.find_subcommand(name)).collect()
}

fn section(text: &mut String, tree: &clap::Command, heading: &str, commands: &[&clap::Command]) {
    const NAME: usize = 16;
    let styles = tree.get_styles();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let _ = writeln!(text, "{header}{heading}:{header:#}");
    for command in commands {
        let name = command.get_name();
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let about = layout::wrap(&about, room().saturating_sub(NAME), 0);
        let about = about.replace('\n', &format!("\n{:NAME$}", ""));
        let _ =
            writeln!(text, "  {literal}{name}{literal:#}{:1$}{about}", "", NAME - 2 - name.len());
    }
    text.push('\n');
}

/// How wide help is: what clap takes for everything else.
fn room() -> usize {
    layout::width().unwrap_or(100).min(100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_can_be_parsed() {
        for (path, line) in examples::all() {
            let words = examples::words(line);
            let words = super::super::alone::complete(&super::super::tree(), words);
            let begins: Vec<&str> = std::iter::once("heirloom").chain(path.split(' ')).collect();
            let given: Vec<String> =
                words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
            assert!(
                given.starts_with(&begins.iter().map(ToString::to_string).collect::<Vec<_>>()),
                "{line}"
            );
            let parsed = super::super::tree().try_get_matches_from(&words);
            assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
        }
    }

    #[test]
    fn every_command_has_an_example_of_its_own() {
        fn look(command: &clap::Command, path: &str) {
            for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
                let path = format!("{path} {}", below.get_name()).trim_start().to_owned();
                assert!(!examples::of(&path).is_empty(), "`{path}` has no example");
                look(below, &path);
            }
        }
        look(&super::super::tree(), "");
    }

    #[test]
    fn every_group_names_commands_that_are_there_and_descriptions_that_are_short() {
        let tree = super::super::tree();
        for command in tree.get_subcommands().filter(|command| !command.is_hide_set()) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            assert!(!about.is_empty() && about.len() <= 72, "{}: {about}", command.get_name());
        }
    }
}

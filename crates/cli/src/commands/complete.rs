use std::process::ExitCode;

use heirloom_api::{CandidateWord, Candidates};
use heirloom_engine::candidates::{Candidate, Wanted, candidates};

use super::{App, Done};

/// Print what the word at the cursor could become
///
/// For the scripts of `heirloom completions`: one word a line, with what it stands for after a tab.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The number of the word at the cursor; the command itself is 0
    #[arg(long, value_name = "N")]
    at: usize,
    /// The words of the command line
    #[arg(last = true)]
    words: Vec<String>,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let before = args.words.get(1..args.at.min(args.words.len())).unwrap_or_default();
    let begun = args.words.get(args.at).map_or("", String::as_str);
    let mut found = match look(&super::tree(), before, begun) {
        Sought::Words(words) => words,
        Sought::Things(wanted) => {
            let known = app.here.home.join("ledger.db").is_file();
            let ledger = if known { Some(app.here.ledger()?) } else { None };
            candidates(&app.here, ledger.as_ref(), wanted)?
        }
    };
    found.retain(|candidate| candidate.word.starts_with(begun));
    let word =
        |each: &Candidate| CandidateWord { word: each.word.clone(), about: each.about.clone() };
    app.ui.answer_verbatim(&Candidates { candidates: found.iter().map(word).collect() }, || {
        let lines = found.iter().map(|each| format!("{}\t{}", each.word, each.about));
        lines.collect::<Vec<_>>().join("\n")
    });
    Ok(ExitCode::SUCCESS)
}

/// What could stand at the cursor.
#[derive(Debug, PartialEq)]
enum Sought {
    /// Words that are known without looking around.
    Words(Vec<Candidate>),
    /// Things that have to be looked up.
    Things(Wanted),
}

/// What could come after these words.
fn look(tree: &clap::Command, before: &[String], begun: &str) -> Sought {
    let (mut command, mut path) = (tree, Vec::new());
    let mut valued: Option<&clap::Arg> = None;
    let mut positions = 0;
    for word in before {
        if valued.take().is_some() {
            continue;
        }
        if let Some(flag) = word.strip_prefix("--") {
            valued = flag_of(tree, command, flag).filter(|arg| takes_value(arg));
        } else if !word.starts_with('-') {
            match command.find_subcommand(word).filter(|_| positions == 0) {
                Some(below) => {
                    path.push(below.get_name());
                    command = below;
                }
                None => positions += 1,
            }
        }
    }
    if let Some(arg) = valued {
        return of_arg(&path, arg);
    }
    if begun.starts_with('-') {
        return Sought::Words(flags(tree, command));
    }
    let below = command.get_subcommands().filter(|below| !below.is_hide_set());
    let below: Vec<Candidate> = below.map(of_command).collect();
    if positions == 0 && !below.is_empty() {
        return Sought::Words(below);
    }
    let last = || command.get_positionals().last().filter(|arg| takes_many(arg));
    match command.get_positionals().nth(positions).or_else(last) {
        Some(arg) => of_arg(&path, arg),
        None => Sought::Words(Vec::new()),
    }
}

fn flag_of<'a>(
    tree: &'a clap::Command,
    command: &'a clap::Command,
    name: &str,
) -> Option<&'a clap::Arg> {
    let mut all = command.get_arguments().chain(tree.get_arguments());
    all.find(|arg| arg.get_long() == Some(name))
}

fn takes_value(arg: &clap::Arg) -> bool {
    arg.get_action().takes_values()
}

fn takes_many(arg: &clap::Arg) -> bool {
    matches!(arg.get_action(), clap::ArgAction::Append)
}

fn of_command(command: &clap::Command) -> Candidate {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    Candidate { word: command.get_name().to_owned(), about }
}

fn flags(tree: &clap::Command, command: &clap::Command) -> Vec<Candidate> {
    let globals = tree.get_arguments().filter(|arg| arg.is_global_set());
    let shown = command.get_arguments().chain(globals).filter(|arg| !arg.is_hide_set());
    let mut found: Vec<Candidate> = shown
        .filter_map(|arg| {
            let about = arg.get_help().map(ToString::to_string).unwrap_or_default();
            Some(Candidate { word: format!("--{}", arg.get_long()?), about })
        })
        .collect();
    found.push(Candidate { word: "--help".to_owned(), about: "Print help".to_owned() });
    found.dedup_by(|a, b| a.word == b.word);
    found
}

/// The values of an argument: those it names itself, or those of the sort it is called by.
fn of_arg(path: &[&str], arg: &clap::Arg) -> Sought {
    let values = arg.get_possible_values();
    if !values.is_empty() {
        let word = |value: &clap::builder::PossibleValue| Candidate {
            word: value.get_name().to_owned(),
            about: value.get_help().map(ToString::to_string).unwrap_or_default(),
        };
        return Sought::Words(values.iter().map(word).collect());
    }
    let name = arg.get_id().as_str();
    let thing = match (path, name) {
        (["stages", ..], "name") => Wanted::Stage,
        (["pipelines", ..], "name") => Wanted::Pipeline,
        (["run"], "what") => Wanted::Runnable,
        (["runs", ..], "run") => Wanted::Run,
        (["approvals", ..], "id") => Wanted::Approval,
        (["issues", ..], "id" | "ids" | "on" | "parent" | "blocked_by") | (_, "issue" | "epic") => {
            Wanted::Issue
        }
        (["rules", ..], "id") | (_, "supersedes" | "before") => Wanted::Note,
        (["watch"], _) | (_, "session" | "sessions" | "inherit" | "after") => Wanted::Session,
        _ => return Sought::Words(Vec::new()),
    };
    Sought::Things(thing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sought(line: &str) -> Sought {
        let mut words: Vec<String> = line.split(' ').skip(1).map(str::to_owned).collect();
        let begun = words.pop().unwrap_or_default();
        look(&super::super::tree(), &words, &begun)
    }

    fn words(line: &str) -> Vec<String> {
        match sought(line) {
            Sought::Words(words) => words.into_iter().map(|each| each.word).collect(),
            other @ Sought::Things(_) => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn a_word_is_completed_by_what_stands_there() {
        for (line, wanted) in [
            ("heirloom status ", Wanted::Session),
            ("heirloom --json status au", Wanted::Session),
            ("heirloom sessions show ", Wanted::Session),
            ("heirloom run ", Wanted::Runnable),
            ("heirloom run ralph ", Wanted::Session),
            ("heirloom run ralph x --inherit ", Wanted::Session),
            ("heirloom stages show ", Wanted::Stage),
            ("heirloom issues show ", Wanted::Issue),
            ("heirloom issues close hl-1 ", Wanted::Issue),
            ("heirloom work --issue ", Wanted::Issue),
            ("heirloom note decision x --supersedes ", Wanted::Note),
            ("heirloom approvals approve ", Wanted::Approval),
        ] {
            assert_eq!(sought(line), Sought::Things(wanted), "{line}");
        }
    }

    #[test]
    fn commands_flags_and_fixed_values_are_known_without_looking_around() {
        assert!(words("heirloom ").contains(&"sessions".to_owned()));
        assert!(!words("heirloom ").contains(&"complete".to_owned()));
        assert_eq!(words("heirloom runs "), ["list", "show"]);
        assert!(words("heirloom sessions list --").contains(&"--running".to_owned()));
        assert!(words("heirloom sessions list --").contains(&"--json".to_owned()));
        assert_eq!(words("heirloom usage --by "), ["day", "repo", "agent", "model", "issue"]);
    }
}

//! Programs that run a command for each of several things: `find`, `xargs`, `parallel`.

use super::mark::NAME;
use super::read::{Input, Reader};
use super::run::Inner;
use super::world::Holds;
use super::wrappers::{command_start, option_value};
use super::{Word, writes};

/// How many of the things a command is run for are looked at one by one.
const MOST_ITEMS: usize = 16;

/// The commands of `find -exec … ;`, each for something below one of its directories.
pub(super) fn found(argv: &[Word]) -> Inner {
    let mut commands = Vec::new();
    let mut at = 1;
    let roots = writes::find_roots(&argv[1..]);
    while let Some(word) = argv.get(at) {
        at += 1;
        if !matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
            continue;
        }
        let length =
            argv[at..].iter().take_while(|w| !matches!(w.text.as_str(), ";" | "+")).count();
        for root in roots.iter().take(4).filter(|_| length > 0) {
            let below = format!("{root}/{NAME}");
            let words = argv[at..at + length].iter();
            commands.push(words.map(|w| Word::new(w.text.replace("{}", &below))).collect());
        }
        at += length;
    }
    if commands.is_empty() { Inner::Nothing } else { Inner::Several(commands) }
}

/// What `xargs` reads: its input, or the file it is given.
pub(super) fn listed(reader: &Reader<'_, '_>, argv: &[Word], input: &Input) -> Input {
    let Some(file) = option_value(argv, &["-a", "--arg-file"]) else { return input.clone() };
    match reader.world.file(&file) {
        Holds::Text(text) => Input::Text(text.to_owned()),
        Holds::Unknown | Holds::NotOurs => Input::Unknown,
    }
}

/// `xargs COMMAND…`: the command with what comes in, each word or in the place that `-I` names.
pub(super) fn each_of_input(argv: &[Word], input: &Input) -> Inner {
    let valued = [
        "-I",
        "-J",
        "-n",
        "--max-args",
        "-P",
        "--max-procs",
        "-L",
        "--max-lines",
        "-s",
        "--max-chars",
        "-d",
        "--delimiter",
        "-E",
        "-a",
        "--arg-file",
        "-R",
    ];
    let Some(start) = command_start(argv, 1, &valued, 0) else { return Inner::Nothing };
    let command = &argv[start..];
    let options = &argv[1..start];
    let place = options.iter().enumerate().find_map(|(index, word)| {
        let text = word.text.as_str();
        match text {
            "-I" | "-J" => options.get(index + 1).map(|next| next.text.as_str()),
            "-i" | "--replace" => Some("{}"),
            _ => text.strip_prefix("-I").or_else(|| text.strip_prefix("--replace=")),
        }
    });
    let items: Vec<String> = match input {
        Input::Text(text) if place.is_some() => {
            text.lines().take(MOST_ITEMS).map(|line| line.trim().to_owned()).collect()
        }
        Input::Text(text) => {
            let words = text.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
            words.map(str::to_owned).collect()
        }
        // Names of files and the like: no options, as a rule.
        _ => vec![NAME.to_string()],
    };
    if let Some(place) = place {
        return Inner::Several(items.iter().map(|item| replaced(command, place, item)).collect());
    }
    let mut command = command.to_vec();
    command.extend(items.into_iter().map(Word::new));
    Inner::Several(vec![command])
}

fn replaced(command: &[Word], place: &str, item: &str) -> Vec<Word> {
    command.iter().map(|word| Word::new(word.text.replace(place, item))).collect()
}

/// `parallel COMMAND ::: ITEM…`, or with its items, or whole commands, on its input.
pub(super) fn parallel(argv: &[Word], input: &Input) -> Inner {
    let valued = ["-j", "--jobs", "-n", "-N", "--max-args", "-a", "--arg-file", "-S", "--joblog"];
    let start = command_start(argv, 1, &valued, 0).unwrap_or(argv.len());
    let end = argv.iter().position(|word| word.text.starts_with(":::")).unwrap_or(argv.len());
    let command = argv.get(start..end).unwrap_or_default();
    let command = command.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    let items: Vec<String> = match argv.get(end + 1..) {
        Some(items) if end < argv.len() => items.iter().map(|word| word.text.clone()).collect(),
        _ => match input {
            Input::Text(text) => text.lines().map(str::to_owned).collect(),
            _ if command.is_empty() => return Inner::Unknown,
            _ => vec![NAME.to_string()],
        },
    };
    // Lists in files, and every item of one list with every item of the next, are not followed.
    let is_list = |word: &Word| word.text.starts_with("::::");
    if argv.iter().any(is_list) || items.iter().any(|item| item.starts_with(":::")) {
        return Inner::Unknown;
    }
    let line = |item: &String| match &command {
        command if command.is_empty() => item.clone(),
        command if command.contains('{') => {
            let places = ["{}", "{1}", "{.}", "{/}", "{//}", "{/.}", "{1.}", "{1/}"];
            let line = places.iter().fold(command.clone(), |line, place| line.replace(place, item));
            if line == *command { format!("{command} {item}") } else { line }
        }
        command => format!("{command} {item}"),
    };
    Inner::Scripts(items.iter().take(MOST_ITEMS).map(line).collect())
}

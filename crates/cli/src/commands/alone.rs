//! What a command does that is given without the word that says what: `heirloom sessions` lists them.
//!
//! The missing word is put in before anything is parsed, so that its flags work too: `heirloom sessions --running`.

use std::ffi::OsString;

/// What the obvious word is. A command that is not here says what there is.
const OBVIOUS: [(&str, &str); 12] = [
    ("approvals", "list"),
    ("archive", "list"),
    ("config", "show"),
    ("handoffs", "list"),
    ("hub", "status"),
    ("issues", "list"),
    ("ledger", "stats"),
    ("pipelines", "list"),
    ("rules", "list"),
    ("runs", "list"),
    ("sessions", "list"),
    ("stages", "list"),
];

/// Whether a command does something obvious without a word that says what.
pub(super) fn has_obvious(name: &str) -> bool {
    OBVIOUS.iter().any(|(obvious, _)| *obvious == name)
}

/// The arguments with the word that is missing.
pub(super) fn complete(tree: &clap::Command, mut arguments: Vec<OsString>) -> Vec<OsString> {
    // As with git: `heirloom help sessions` is `heirloom sessions --help`.
    if arguments.get(1).is_some_and(|word| word == "help") {
        arguments.remove(1);
        arguments.push("--help".into());
        return arguments;
    }
    let (mut command, mut after) = (tree, 1);
    loop {
        let flags = arguments[after.min(arguments.len())..].iter();
        let at = after + flags.take_while(|word| is_global(word)).count();
        let next = arguments.get(at).and_then(|word| word.to_str());
        if let Some(below) = next.and_then(|word| command.find_subcommand(word)) {
            (command, after) = (below, at + 1);
            continue;
        }
        if let Some(word) = missing(command, next) {
            arguments.insert(after, word.into());
        }
        return arguments;
    }
}

/// The first word that is no flag of every command.
pub(super) fn named(arguments: &[OsString]) -> Option<&str> {
    arguments.iter().skip(1).find(|word| !is_global(word))?.to_str()
}

fn missing(command: &clap::Command, next: Option<&str>) -> Option<&'static str> {
    let is_asked = matches!(next, Some("-h" | "--help"));
    if !command.has_subcommands() || is_asked {
        return None;
    }
    let obvious = OBVIOUS.iter().find(|(name, _)| *name == command.get_name());
    match (obvious, next) {
        (Some((_, word)), None) => Some(word),
        (Some((_, word)), Some(flag)) if flag.starts_with('-') => Some(word),
        (None, None) if command.is_subcommand_required_set() => Some("--help"),
        _ => None,
    }
}

/// A flag that every command takes.
fn is_global(word: &OsString) -> bool {
    let Some(word) = word.to_str() else { return false };
    matches!(word, "--json" | "--verbose" | "--quiet" | "--no-pager" | "-q")
        || (word.len() > 1
            && word.strip_prefix('-').is_some_and(|all| all.chars().all(|c| c == 'v')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(line: &str) -> String {
        let words = line.split(' ').map(OsString::from).collect();
        let words = complete(&super::super::tree(), words);
        words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_obvious_word_is_put_in_where_it_is_missing() {
        for (given, meant) in [
            ("heirloom", "heirloom"),
            ("heirloom sessions", "heirloom sessions list"),
            ("heirloom sessions --running", "heirloom sessions list --running"),
            ("heirloom --json issues", "heirloom --json issues list"),
            ("heirloom issues --json", "heirloom issues list --json"),
            ("heirloom issues --json --label show", "heirloom issues list --json --label show"),
            ("heirloom sessions --json list", "heirloom sessions --json list"),
            ("heirloom sessions --help", "heirloom sessions --help"),
            ("heirloom sessions lst", "heirloom sessions lst"),
            ("heirloom import", "heirloom import --help"),
            ("heirloom req", "heirloom req"),
            ("heirloom help", "heirloom --help"),
            ("heirloom help sessions list", "heirloom sessions list --help"),
            ("heirloom run ralph auth", "heirloom run ralph auth"),
        ] {
            assert_eq!(completed(given), meant);
        }
    }

    #[test]
    fn a_command_is_named_after_what_every_command_takes() {
        let named = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            named(&words).map(str::to_owned)
        };
        assert_eq!(named("heirloom --json -vv search --json it").as_deref(), Some("search"));
        assert_eq!(named("heirloom --help").as_deref(), Some("--help"));
        assert_eq!(named("heirloom -q"), None);
    }

    #[test]
    fn a_command_is_the_same_alone_as_among_all() {
        use clap::CommandFactory as _;
        for among_all in super::super::Cli::command().get_subcommands() {
            let name = among_all.get_name();
            let alone = super::super::Command::alone(name).unwrap_or_else(|| panic!("{name}"));
            let [alone, among_all] = [alone, among_all.clone()]
                .map(|mut command| command.render_long_help().to_string());
            assert_eq!(alone, among_all);
        }
    }

    #[test]
    fn every_obvious_word_is_a_command() {
        for (name, word) in OBVIOUS {
            let tree = super::super::tree();
            let command = tree.find_subcommand(name).unwrap_or_else(|| panic!("{name}"));
            assert!(command.find_subcommand(word).is_some(), "{name} {word}");
        }
    }
}

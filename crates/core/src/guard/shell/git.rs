//! Git's own options before its subcommand, so that `git -C dir -c k=v commit` is `git commit`.

use super::Word;

/// Options that take the next word as their value.
const VALUED: &[&str] = &[
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--super-prefix",
    "--config-env",
    "--attr-source",
    "--list-cmds",
];

/// The command without the options, where it is git; and the script that an alias given on the
/// command line stands for, where it is one.
pub(super) fn normalise(name: &str, argv: &[Word]) -> (Option<Vec<Word>>, Option<String>) {
    if let Some(subcommand) = name.strip_prefix("git-").filter(|s| !s.is_empty()) {
        let mut plain = vec![literal("git"), literal(subcommand)];
        plain.extend_from_slice(&argv[1..]);
        return (Some(plain), None);
    }
    if name != "git" {
        return (None, None);
    }
    let (start, settings) = subcommand_start(argv);
    let mut plain = vec![literal("git")];
    let Some(subcommand) = argv.get(start) else { return (Some(plain), None) };
    match alias(&settings, &subcommand.text) {
        Some(script) if script.starts_with('!') => {
            plain.extend_from_slice(&argv[start..]);
            (Some(plain), Some(script[1..].to_owned()))
        }
        Some(words) => {
            plain.extend(words.split_whitespace().map(literal));
            plain.extend_from_slice(&argv[start + 1..]);
            (Some(plain), None)
        }
        None => {
            plain.extend_from_slice(&argv[start..]);
            (Some(plain), None)
        }
    }
}

fn literal(text: &str) -> Word {
    Word { text: text.to_owned(), opaque: false }
}

/// Where the subcommand is, and the values of `-c` before it.
fn subcommand_start(argv: &[Word]) -> (usize, Vec<&str>) {
    let mut settings = Vec::new();
    let mut at = 1;
    while let Some(word) = argv.get(at).filter(|word| word.text.starts_with('-')) {
        if VALUED.contains(&word.text.as_str()) {
            if word.text == "-c" {
                settings.extend(argv.get(at + 1).map(|value| value.text.as_str()));
            }
            at += 1;
        }
        at += 1;
    }
    (at, settings)
}

fn alias<'a>(settings: &[&'a str], subcommand: &str) -> Option<&'a str> {
    settings.iter().rev().find_map(|setting| {
        let (key, value) = setting.split_once('=')?;
        let (section, name) = key.split_once('.')?;
        (section.eq_ignore_ascii_case("alias") && name.eq_ignore_ascii_case(subcommand))
            .then_some(value)
    })
}

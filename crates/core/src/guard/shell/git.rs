//! Git: its own options before its subcommand, aliases, and what its subcommands run.

use super::Word;
use super::run::{Inner, joined};
use super::wrappers::option_value;

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

/// Settings whose value is a command.
const COMMAND_SETTINGS: &[&str] = &[
    "core.pager",
    "core.editor",
    "core.sshcommand",
    "core.askpass",
    "core.gitproxy",
    "credential.helper",
    "gpg.program",
    "pager.log",
    "pager.diff",
    "pager.show",
    "interactive.difffilter",
    "uploadpack.packobjectshook",
    "core.fsmonitor",
    "sequence.editor",
    "diff.external",
];

/// A git command without its options before the subcommand: `git -C dir -c k=v commit` is
/// `git commit`.
pub(super) struct Normal {
    pub(super) argv: Vec<Word>,
    /// The script that an alias stands for, where it is one.
    pub(super) alias: Option<String>,
    /// Scripts that its settings name.
    pub(super) scripts: Vec<String>,
}

pub(super) fn normalise(name: &str, argv: &[Word], aliases: &[(String, String)]) -> Normal {
    let mut normal = Normal { argv: vec![Word::new("git")], alias: None, scripts: Vec::new() };
    if let Some(subcommand) = name.strip_prefix("git-").filter(|s| !s.is_empty()) {
        normal.argv.push(Word::new(subcommand));
        normal.argv.extend_from_slice(&argv[1..]);
        return normal;
    }
    let (start, settings) = subcommand_start(argv);
    for setting in &settings {
        let Some((key, value)) = setting.split_once('=') else { continue };
        if is_command(&key.to_lowercase()) {
            normal.scripts.push(value.strip_prefix('!').unwrap_or(value).to_owned());
        }
    }
    let Some(subcommand) = argv.get(start) else { return normal };
    let given = alias(&settings, &subcommand.text);
    let defined = || {
        let name = subcommand.text.to_lowercase();
        aliases.iter().rev().find(|(own, _)| *own == name).map(|(_, text)| text.as_str())
    };
    match given.or_else(defined) {
        Some(script) if script.starts_with('!') => {
            normal.argv.extend_from_slice(&argv[start..]);
            normal.alias = Some(script[1..].to_owned());
        }
        Some(words) => {
            normal.argv.extend(words.split_whitespace().map(Word::new));
            normal.argv.extend_from_slice(&argv[start + 1..]);
        }
        None => normal.argv.extend_from_slice(&argv[start..]),
    }
    normal
}

/// The push that a command is by another name: what `git push` itself runs.
pub(super) fn as_push(argv: &[Word]) -> Option<Vec<Word>> {
    let is_push = argv.first()?.text == "git"
        && matches!(argv.get(1)?.text.as_str(), "send-pack" | "http-push");
    is_push.then(|| [&[Word::new("git"), Word::new("push")], &argv[2..]].concat())
}

/// Whether the value of a setting is a command, also where it is one of many: `diff.NAME.textconv`.
fn is_command(key: &str) -> bool {
    const OF_EACH: [(&str, &[&str]); 6] = [
        ("filter.", &[".clean", ".smudge", ".process"]),
        ("diff.", &[".command", ".textconv"]),
        ("merge.", &[".driver"]),
        ("difftool.", &[".cmd"]),
        ("mergetool.", &[".cmd"]),
        ("credential.", &[".helper"]),
    ];
    let is_each = |(begins, ends): &(&str, &[&str])| {
        key.starts_with(begins) && ends.iter().any(|end| key.ends_with(end))
    };
    COMMAND_SETTINGS.contains(&key) || OF_EACH.iter().any(is_each)
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

/// The alias that `git config alias.NAME VALUE` defines.
pub(super) fn defines(argv: &[Word]) -> Option<(&str, &str)> {
    let texts: Vec<&str> = argv.iter().map(|word| word.text.as_str()).collect();
    if texts.first() != Some(&"git") || texts.get(1) != Some(&"config") {
        return None;
    }
    let at = texts.iter().position(|text| text.starts_with("alias."))?;
    Some((texts[at].strip_prefix("alias.")?, texts.get(at + 1)?))
}

/// What a subcommand runs.
pub(super) fn inner(argv: &[Word]) -> Inner {
    let word = |at: usize| argv.get(at).map(|word| word.text.as_str());
    let script = |options: &[&str]| {
        option_value(argv, options)
            .map_or(Inner::Nothing, |text| Inner::Script { text, arguments: None })
    };
    match word(1) {
        Some("rebase") => match script(&["-x", "--exec"]) {
            Inner::Nothing => attached(argv, "-x"),
            inner => inner,
        },
        Some("grep") => match script(&["--open-files-in-pager"]) {
            Inner::Nothing => attached(argv, "-O"),
            inner => inner,
        },
        Some("clone" | "fetch" | "pull" | "ls-remote" | "fetch-pack" | "submodule")
            if argv.iter().any(|word| word.text.starts_with("ext::")) =>
        {
            let own = argv.iter().filter_map(|word| word.text.strip_prefix("ext::"));
            Inner::Scripts(own.map(str::to_owned).collect())
        }
        Some("clone" | "fetch" | "pull" | "ls-remote" | "fetch-pack" | "archive") => {
            script(&["-u", "--upload-pack", "--exec"])
        }
        Some("push" | "send-pack") => script(&["--receive-pack", "--exec"]),
        Some("send-email") => script(&["--sendmail-cmd", "--to-cmd", "--cc-cmd"]),
        Some("bisect") if word(2) == Some("run") && argv.len() > 3 => Inner::Rest(3),
        Some("submodule") if word(2) == Some("foreach") => {
            let start = 3 + usize::from(matches!(word(3), Some("--recursive" | "--quiet")));
            joined(argv.get(start..).unwrap_or_default())
        }
        Some("filter-branch") => {
            script(&["--tree-filter", "--index-filter", "--msg-filter", "--env-filter"])
        }
        Some("difftool" | "mergetool") => script(&["-x", "--extcmd"]),
        _ => Inner::Nothing,
    }
}

/// A script in the same word as its option.
fn attached(argv: &[Word], option: &str) -> Inner {
    let text = argv.iter().find_map(|word| word.text.strip_prefix(option));
    match text.filter(|text| !text.is_empty()) {
        Some(text) => Inner::Script { text: text.to_owned(), arguments: None },
        None => Inner::Nothing,
    }
}

//! Git: its own options before its subcommand, aliases, and what its subcommands run.

use super::Word;
use super::git_commands::is_own;
use super::mark;
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
    "core.alternaterefscommand",
    "gpg.ssh.program",
    "gpg.ssh.defaultkeycommand",
    "gpg.x509.program",
    "imap.tunnel",
    "sendemail.sendmailcmd",
    "sequence.editor",
    "diff.external",
];

/// Programs that take git's words, and give them to git.
pub(super) const ALSO_GIT: [&str; 2] = ["hub", "yadm"];

/// A git command without its options before the subcommand: `git -C dir -c k=v commit` is
/// `git commit`.
pub(super) struct Normal {
    pub(super) argv: Vec<Word>,
    /// The script that an alias stands for, where it is one.
    pub(super) alias: Option<String>,
    /// Scripts that its settings name.
    pub(super) scripts: Vec<String>,
    /// The directory it works in, from the one it is started in.
    pub(super) directory: Option<String>,
    /// The word in the place of its subcommand, where git has none of that name.
    pub(super) word: Option<String>,
}

/// How many aliases may stand for each other.
const MOST_ALIASES: usize = 8;

pub(super) fn normalise(
    name: &str,
    argv: &[Word],
    aliases: &[(String, String)],
    environment: &[String],
) -> Normal {
    resolve(name, argv, aliases, environment, MOST_ALIASES)
}

fn resolve(
    name: &str,
    argv: &[Word],
    aliases: &[(String, String)],
    environment: &[String],
    more: usize,
) -> Normal {
    let argv_of_git = vec![Word::new("git")];
    let mut normal =
        Normal { argv: argv_of_git, alias: None, scripts: Vec::new(), directory: None, word: None };
    if let Some(subcommand) = name.strip_prefix("git-").filter(|s| !s.is_empty()) {
        normal.argv.push(Word::new(subcommand));
        normal.argv.extend_from_slice(&argv[1..]);
        return normal;
    }
    let (start, mut settings) = subcommand_start(argv);
    settings.extend(environment.iter().map(String::as_str));
    let pairs = settings.iter().filter_map(|setting| setting.split_once('='));
    normal.scripts.extend(pairs.filter_map(|(key, value)| named(key, value)));
    normal.directory = directory(&argv[..start]);
    let Some(subcommand) = argv.get(start) else { return normal };
    if is_own(&subcommand.text) {
        normal.argv.extend_from_slice(&argv[start..]);
        return normal;
    }
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
            let mut argv = [&argv[..1], &argv[start + 1..]].concat();
            argv.splice(1..1, words.split_whitespace().map(Word::new));
            if more == 0 {
                return Normal { argv, ..normal };
            }
            let meant = resolve("git", &argv, aliases, environment, more - 1);
            normal.scripts.extend(meant.scripts);
            let directory = meant.directory.or(normal.directory);
            return Normal { scripts: normal.scripts, directory, ..meant };
        }
        None => {
            normal.argv.extend_from_slice(&argv[start..]);
            normal.word = Some(subcommand.text.clone()).filter(|word| mark::is_known(word));
        }
    }
    normal
}

/// The word of a git command that an alias may stand for, and the directory that its options name. Nothing where
/// its options say what the word stands for.
pub(super) fn alias_word(argv: &[Word]) -> Option<(&str, Option<String>)> {
    let (start, settings) = subcommand_start(argv);
    let word = argv.get(start)?.text.as_str();
    let is_program = argv[0].text.starts_with("git-");
    let is_open = !is_program && !is_own(word) && alias(&settings, word).is_none();
    is_open.then(|| (word, directory(&argv[..start])))
}

/// The command where its word stands for this.
pub(super) fn meaning(argv: &[Word], word: &str, text: &str) -> Vec<Word> {
    let setting = [Word::new("-c"), Word::new(format!("alias.{word}={text}"))];
    [&argv[..1], &setting, &argv[1..]].concat()
}

/// The directory that the options before the subcommand name: each `-C` from the one before it.
fn directory(options: &[Word]) -> Option<String> {
    let mut directory: Option<String> = None;
    for (index, word) in options.iter().enumerate() {
        let next = || options.get(index + 1).map(|next| next.text.as_str());
        let to = match word.text.as_str() {
            "-C" | "--work-tree" => next(),
            text => text.strip_prefix("--work-tree="),
        };
        let Some(to) = to else { continue };
        directory = Some(match directory {
            Some(before) if !to.starts_with(['/', '~']) => format!("{before}/{to}"),
            _ => to.to_owned(),
        });
    }
    directory
}

/// The push that a command is by another name: what `git push` itself runs, and what runs it.
pub(super) fn as_push(argv: &[Word]) -> Option<Vec<Word>> {
    let word = |at: usize| argv.get(at).map(|word| word.text.as_str());
    let rest = match (word(0)?, word(1)?, word(2)) {
        ("git", "send-pack" | "http-push", _) => 2,
        ("git", "subtree", Some("push")) => 3,
        _ => return None,
    };
    Some([&[Word::new("git"), Word::new("push")], &argv[rest..]].concat())
}

/// The command that a setting names.
fn named(key: &str, value: &str) -> Option<String> {
    is_command(&key.to_lowercase()).then(|| value.strip_prefix('!').unwrap_or(value).to_owned())
}

/// The commands that `git config KEY COMMAND` sets, and `git clone -c KEY=COMMAND`: something runs them.
pub(super) fn sets(argv: &[Word]) -> Vec<String> {
    let texts: Vec<&str> = argv.iter().map(|word| word.text.as_str()).collect();
    match texts.get(1) {
        Some(&"config") => {
            texts.windows(2).filter_map(|pair| named(pair[0], pair[1])).take(1).collect()
        }
        Some(&("clone" | "submodule")) => {
            let pairs = texts.windows(2).filter(|pair| matches!(pair[0], "-c" | "--config"));
            let pairs = pairs.filter_map(|pair| pair[1].split_once('='));
            let attached = texts.iter().filter_map(|text| text.strip_prefix("--config="));
            let attached = attached.filter_map(|text| text.split_once('='));
            pairs.chain(attached).filter_map(|(key, value)| named(key, value)).collect()
        }
        _ => Vec::new(),
    }
}

/// The settings that variables of git's hold: `GIT_CONFIG_KEY_0`, `GIT_CONFIG_PARAMETERS`, and what
/// `--config-env` names.
pub(super) fn from_environment(
    argv: &[Word],
    value: impl Fn(&str) -> Option<String>,
) -> Vec<String> {
    const MOST: usize = 8;
    let numbered = (0..MOST).map_while(|number| {
        let key = value(&format!("GIT_CONFIG_KEY_{number}"))?;
        Some(format!("{key}={}", value(&format!("GIT_CONFIG_VALUE_{number}"))?))
    });
    let quoted = value("GIT_CONFIG_PARAMETERS").unwrap_or_default();
    let quoted = quoted.replace("'='", "=");
    let quoted = quoted.split('\'').filter(|part| part.contains('='));
    let texts = argv.iter().map(|word| word.text.as_str());
    let options = texts.clone().zip(texts.skip(1).chain([""]));
    let named = options.filter_map(|(text, next)| match text {
        "--config-env" => Some(next),
        _ => text.strip_prefix("--config-env="),
    });
    let named = named.filter_map(|pair| {
        let (key, variable) = pair.rsplit_once('=')?;
        Some(format!("{key}={}", value(variable)?))
    });
    numbered.chain(quoted.map(str::to_owned)).chain(named).collect()
}

/// Whether the value of a setting is a command, also where it is one of many: `diff.NAME.textconv`.
fn is_command(key: &str) -> bool {
    const OF_EACH: [(&str, &[&str]); 12] = [
        ("browser.", &[".cmd"]),
        ("guitool.", &[".cmd"]),
        ("man.", &[".cmd"]),
        ("pager.", &[""]),
        ("remote.", &[".uploadpack", ".receivepack"]),
        ("trailer.", &[".command", ".cmd"]),
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
        Some("clone" | "fetch" | "pull" | "ls-remote" | "fetch-pack" | "submodule" | "remote")
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
        Some("submodule") if argv.iter().any(|word| word.text == "foreach") => {
            let is_own = |word: &&Word| word.text.starts_with('-') || word.text == "foreach";
            let start = 2 + argv[2..].iter().take_while(is_own).count();
            joined(argv.get(start..).unwrap_or_default())
        }
        // Git's own words, in each of several repositories.
        Some("for-each-repo") => {
            let start = 2 + argv[2..].iter().take_while(|word| word.text.starts_with('-')).count();
            let words = argv.get(start..).unwrap_or_default();
            Inner::Several(vec![[&[Word::new("git")], words].concat()])
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

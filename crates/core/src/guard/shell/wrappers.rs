//! Programs that run what follows in their own words: `sudo`, `nice`, `uv run`, `docker exec`, …

use super::Word;
use super::run::{Inner, joined};
use super::word::is_assignment;
use super::wrapped::{How, NODE, WRAPPERS, Wrapper};

/// Whether what it runs has other files than the line.
pub(super) fn is_elsewhere(name: &str) -> bool {
    name == "ssh"
}

/// The directory in which such a program runs the command that follows its own words.
pub(super) fn directory(name: &str, own: &[Word]) -> Option<String> {
    let options: &[&str] = match name {
        "env" => &["-C", "--chdir"],
        "sudo" => &["-D", "--chdir"],
        "uv" => &["--directory"],
        "pnpm" => &["-C", "--dir"],
        "poetry" => &["-C", "--directory"],
        "systemd-run" => &["--working-directory"],
        "bwrap" => &["--chdir"],
        "conda" => &["--cwd"],
        "cmake" => {
            let at = own.iter().position(|word| word.text == "chdir")?;
            return own.get(at + 1).map(|word| word.text.clone());
        }
        _ => return None,
    };
    option_value(own, options)
}

/// What such a program runs.
pub(super) fn inner(name: &str, argv: &[Word]) -> Inner {
    if matches!(name, "npx" | "npm" | "pnpx")
        && let Some(text) = option_value(argv, &["-c", "--call"])
    {
        return Inner::Script { text, arguments: None };
    }
    if matches!(name, "npx" | "pnpx") {
        return command_start(argv, 1, NODE, 0).map_or(Inner::Nothing, Inner::Rest);
    }
    if matches!(name, "docker" | "podman" | "nerdctl" | "finch")
        && let Some(entry) = option_value(argv, &["--entrypoint"])
    {
        // Its own program goes before the words after the image.
        let own = WRAPPERS.iter().filter(|wrapper| wrapper.name == name);
        let mut start =
            own.filter_map(|own| command_start(argv, subcommand(argv, own)?, own.valued, 1));
        let words = start.next_back().map_or(&[][..], |start| &argv[start..]);
        return Inner::Several(vec![[&[Word::new(entry)], words].concat()]);
    }
    // Git by the name of something that keeps its data in a repository.
    if matches!(name, "pass" | "gopass" | "jj" | "chezmoi") {
        let is_git = argv.get(1).is_some_and(|word| word.text == "git");
        let is_dashes = argv.get(2).is_some_and(|word| word.text == "--");
        let words = argv.get(2 + usize::from(is_dashes)..).unwrap_or_default();
        let git = || Inner::Several(vec![[&[Word::new("git")], words].concat()]);
        return if is_git { git() } else { Inner::Nothing };
    }
    if name == "nix" && argv.get(1).is_some_and(|word| word.text == "run") {
        return from_package(argv);
    }
    if matches!(name, "cmd" | "cmd.exe") {
        let is_run = |word: &Word| matches!(word.text.as_str(), "/c" | "/C" | "/k" | "/K");
        let start = argv.iter().position(is_run).map_or(argv.len(), |at| at + 1);
        return joined(&argv[start..]);
    }
    if name == "screen" && argv.iter().any(|word| word.text == "-X") {
        let at = argv.iter().position(|word| matches!(word.text.as_str(), "stuff" | "exec"));
        return at.map_or(Inner::Nothing, |at| joined(&argv[at + 1..]));
    }
    if name == "bwrap" {
        return sandboxed(argv).map_or(Inner::Nothing, Inner::Rest);
    }
    let own = WRAPPERS.iter().filter(|wrapper| wrapper.name == name);
    for wrapper in own {
        if let Some(from) = subcommand(argv, wrapper) {
            return follow(wrapper, argv, from);
        }
    }
    Inner::Nothing
}

/// `nix run nixpkgs#git -- push`: the program that the package is called after.
fn from_package(argv: &[Word]) -> Inner {
    let package = argv.iter().skip(2).find(|word| !word.text.starts_with('-'));
    let Some(package) = package else { return Inner::Nothing };
    let name = package.text.rsplit(['#', '/', ':']).next().unwrap_or_default();
    let dashes = argv.iter().position(|word| word.text == "--").map_or(argv.len(), |at| at + 1);
    Inner::Several(vec![[&[Word::new(name)], &argv[dashes..]].concat()])
}

/// Where the command of `bwrap` begins. Nearly all of its options take one word or more.
fn sandboxed(argv: &[Word]) -> Option<usize> {
    const FLAGS: [&str; 8] = [
        "new-session",
        "die-with-parent",
        "as-pid-1",
        "clearenv",
        "share-net",
        "disable-userns",
        "assert-userns-disabled",
        "level-prefix",
    ];
    let mut at = 1;
    while let Some(option) = argv.get(at)?.text.strip_prefix("--") {
        at += match option {
            "" => return (at + 1 < argv.len()).then_some(at + 1),
            "overlay" => 4,
            two if matches!(two, "setenv" | "symlink" | "file" | "chmod")
                || two.contains("bind") =>
            {
                3
            }
            flag if FLAGS.contains(&flag) || flag.starts_with("unshare-") => 1,
            _ => 2,
        };
    }
    Some(at)
}

fn follow(wrapper: &Wrapper, argv: &[Word], from: usize) -> Inner {
    let after_dashes = || {
        let at = argv[from..].iter().position(|word| word.text == "--")? + from + 1;
        (at < argv.len()).then_some(at)
    };
    let start = command_start(argv, from, wrapper.valued, wrapper.operands);
    let inner = match wrapper.how {
        How::Rest => start.map(Inner::Rest),
        How::Dashes => after_dashes().or(start).map(Inner::Rest),
        How::Script => {
            let start = command_start(argv, from, &["-n", "--interval", "-q", "--equexit"], 0);
            start.map(|start| joined(&argv[start..]))
        }
        How::Scripts => start.map(|start| Inner::Scripts(scripts(&argv[start..]))),
        How::Option(options) => argv
            .iter()
            .position(|word| options.contains(&word.text.as_str()))
            .filter(|index| index + 1 < argv.len())
            .map(|index| Inner::Rest(index + 1)),
        How::ScriptOption(options) => {
            option_value(argv, options).map(|text| Inner::Script { text, arguments: None })
        }
    };
    inner.unwrap_or(Inner::Nothing)
}

/// Words of which each may be a script; all of them together may be one as well, with the names of keys
/// between them.
fn scripts(words: &[Word]) -> Vec<String> {
    let texts = || words.iter().map(|word| word.text.as_str());
    let is_key = |text: &&str| matches!(*text, "Enter" | "Space" | "Tab" | "C-m" | "C-j" | "-l");
    let joined = texts().filter(|text| !is_key(text)).collect::<Vec<_>>().join(" ");
    let own = texts().filter(|text| text.contains(' ')).map(str::to_owned);
    own.take(16).chain([joined]).collect()
}

/// Where the words after the subcommand begin, if it is this one.
fn subcommand(argv: &[Word], wrapper: &Wrapper) -> Option<usize> {
    let mut at = 1;
    for wanted in wrapper.sub {
        while let Some(word) = argv.get(at).filter(|word| word.text.starts_with('-')) {
            at += 1 + usize::from(takes_next(&word.text, wrapper.valued));
        }
        if argv.get(at)?.text != *wanted {
            return None;
        }
        at += 1;
    }
    Some(at)
}

/// Where the wrapped command begins: after options, their values, assignments and operands.
pub(super) fn command_start(
    argv: &[Word],
    from: usize,
    valued: &[&str],
    operands: usize,
) -> Option<usize> {
    let mut at = from;
    let mut options_ended = false;
    while let Some(word) = argv.get(at) {
        let text = word.text.as_str();
        if text == "--" && !options_ended {
            options_ended = true;
        } else if text.starts_with('-') && !options_ended {
            at += usize::from(takes_next(text, valued));
        } else if !is_assignment(text) {
            break;
        }
        at += 1;
    }
    let start = at + operands;
    (start < argv.len()).then_some(start)
}

/// Whether the value of an option, or of the last of a cluster of them, is the next word.
fn takes_next(option: &str, valued: &[&str]) -> bool {
    if option.starts_with("--") {
        return valued.contains(&option);
    }
    let is_valued =
        |c: char| valued.iter().any(|v| v.len() == 2 && v.starts_with('-') && v.ends_with(c));
    let letters = option.chars().count() - 1;
    option[1..].chars().position(is_valued).is_some_and(|index| index + 1 == letters)
}

/// The value of an option: the next word, what is attached to it, or the last of a cluster.
pub(super) fn option_value(argv: &[Word], options: &[&str]) -> Option<String> {
    argv.iter().enumerate().skip(1).find_map(|(index, word)| {
        let text = word.text.as_str();
        let next = || argv.get(index + 1).map(|next| next.text.clone());
        // GNU's take any beginning of a long option that is no other's.
        let is_shortened = |name: &str| {
            name.len() >= 6 && options.iter().any(|o| o.starts_with("--") && o.starts_with(name))
        };
        if let Some((name, value)) = text.split_once('=') {
            let is_meant = options.contains(&name) || is_shortened(name);
            return is_meant.then(|| value.to_owned());
        }
        let is_cluster = text.len() > 2
            && text.starts_with('-')
            && text[1..].bytes().all(|b| b.is_ascii_alphabetic())
            && options.iter().any(|o| o.len() == 2 && text.ends_with(&o[1..]));
        if options.contains(&text) || is_cluster || is_shortened(text) { next() } else { None }
    })
}

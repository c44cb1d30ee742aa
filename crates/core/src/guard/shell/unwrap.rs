//! Commands that run other commands: `sudo`, `env`, `xargs`, `sh -c`, `find -exec`, …

use super::read::Reader;
use super::word::is_assignment;
use super::{Command, Word, git};

/// How many commands may run each other in one simple command before the rest is given up.
const MAX_WRAPPERS: usize = 12;

/// A command whose arguments end in another command.
struct Wrapper {
    name: &'static str,
    /// The options that take the next word as their value.
    valued: &'static [&'static str],
    /// How many words of its own come before the command.
    operands: usize,
}

const fn wrapper(name: &'static str, valued: &'static [&'static str], operands: usize) -> Wrapper {
    Wrapper { name, valued, operands }
}

const WRAPPERS: &[Wrapper] = &[
    wrapper("builtin", &[], 0),
    wrapper("busybox", &[], 0),
    wrapper("caffeinate", &["-t", "-w"], 0),
    wrapper("chronic", &[], 0),
    wrapper("chrt", &["-T", "-P", "-D"], 1),
    wrapper("command", &[], 0),
    wrapper("doas", &["-u", "-C"], 0),
    wrapper("env", &["-u", "--unset", "-C", "--chdir", "-a", "--argv0"], 0),
    wrapper("exec", &["-a"], 0),
    wrapper("ionice", &["-c", "--class", "-n", "--classdata", "-p", "--pid"], 0),
    wrapper("nice", &["-n", "--adjustment"], 0),
    wrapper("nohup", &[], 0),
    wrapper("setsid", &[], 0),
    wrapper("stdbuf", &["-i", "--input", "-o", "--output", "-e", "--error"], 0),
    wrapper(
        "sudo",
        &[
            "-u",
            "--user",
            "-g",
            "--group",
            "-h",
            "--host",
            "-p",
            "--prompt",
            "-C",
            "--close-from",
            "-r",
            "--role",
            "-t",
            "--type",
            "-T",
            "--command-timeout",
            "-U",
            "--other-user",
            "-D",
            "--chdir",
            "-R",
            "--chroot",
        ],
        0,
    ),
    wrapper("taskset", &[], 1),
    wrapper("time", &["-f", "--format", "-o", "--output"], 0),
    wrapper("timeout", &["-k", "--kill-after", "-s", "--signal"], 1),
    wrapper("unbuffer", &[], 0),
    wrapper(
        "xargs",
        &[
            "-I",
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
        ],
        0,
    ),
];

const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish"];

/// What a command runs.
enum Inner {
    Nothing,
    /// The rest of its own words, from this one on.
    Rest(usize),
    /// Several commands, each a range of its own words.
    Several(Vec<(usize, usize)>),
    /// A shell script, and whether all of it is known.
    Script {
        text: String,
        opaque: bool,
    },
    /// The script on its standard input.
    Input,
}

/// Takes a simple command into the script, and every command that it runs. Says whether the last of
/// them is a shell that reads its script from its input.
pub(super) fn record(reader: &mut Reader<'_, '_>, mut argv: Vec<Word>) -> bool {
    for _ in 0..MAX_WRAPPERS {
        let Some(program) = argv.first() else { return false };
        let name = program_name(&program.text).to_owned();
        argv[0].text.clone_from(&name);
        let (known, alias) = git::normalise(&name, &argv);
        let inner = match alias {
            Some(script) => Inner::Script { text: script, opaque: false },
            None => inner(&name, &argv),
        };
        reader.script.commands.push(Command { argv: known.unwrap_or_else(|| argv.clone()) });
        match inner {
            Inner::Nothing => return false,
            Inner::Input => return true,
            Inner::Rest(start) => drop(argv.drain(..start)),
            Inner::Script { text, opaque } => {
                reader.script.incomplete |= opaque;
                reader.nested(&text);
                return false;
            }
            Inner::Several(ranges) => {
                if reader.enter() {
                    for (start, end) in ranges {
                        record(reader, argv[start..end].to_vec());
                    }
                    reader.depth -= 1;
                }
                return false;
            }
        }
    }
    reader.script.incomplete = true;
    false
}

/// The program without its directory, and without the ending that one platform gives it.
fn program_name(text: &str) -> &str {
    let name = text.rsplit(['/', '\\']).next().filter(|name| !name.is_empty()).unwrap_or(text);
    name.strip_suffix(".exe").unwrap_or(name)
}

fn inner(name: &str, argv: &[Word]) -> Inner {
    match name {
        "eval" => script(&argv[1..]),
        "trap" if argv.len() > 2 => script(&argv[1..2]),
        "env" => env(argv),
        "command" if has_option(argv, &["-v", "-V"]) => Inner::Nothing,
        "find" => found(argv),
        "fd" | "fdfind" => after_option(argv, &["-x", "-X", "--exec", "--exec-batch"]),
        "su" | "runuser" => value_of(argv, &["-c", "--command"]),
        "watch" => command_start(argv, &["-n", "--interval", "-q", "--equexit"], 0)
            .map_or(Inner::Nothing, |start| script(&argv[start..])),
        "flock" => flock(argv),
        shell if SHELLS.contains(&shell) => shell_script(argv),
        _ => match WRAPPERS.iter().find(|wrapper| wrapper.name == name) {
            Some(wrapper) => wrapped(wrapper, argv),
            None => Inner::Nothing,
        },
    }
}

fn script(words: &[Word]) -> Inner {
    let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    Inner::Script {
        text,
        opaque: words.iter().any(|word| word.opaque && word.text.contains(['$', '`'])),
    }
}

fn wrapped(wrapper: &Wrapper, argv: &[Word]) -> Inner {
    match command_start(argv, wrapper.valued, wrapper.operands) {
        Some(start) => Inner::Rest(start),
        None => Inner::Nothing,
    }
}

/// Where the wrapped command begins: after options, their values, assignments and operands.
fn command_start(argv: &[Word], valued: &[&str], operands: usize) -> Option<usize> {
    let mut at = 1;
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
    let letters = option.len() - 1;
    option[1..].chars().position(is_valued).is_some_and(|index| index + 1 == letters)
}

fn has_option(argv: &[Word], options: &[&str]) -> bool {
    argv.iter()
        .skip(1)
        .take_while(|word| word.text.starts_with('-'))
        .any(|word| options.contains(&word.text.as_str()))
}

/// `env -S 'git commit'` holds the command in one word.
fn env(argv: &[Word]) -> Inner {
    for (index, word) in argv.iter().enumerate().skip(1) {
        let text = word.text.as_str();
        let attached = text.strip_prefix("-S").or_else(|| text.strip_prefix("--split-string="));
        match attached {
            Some(first) if !first.is_empty() => {
                let mut words = vec![Word { text: first.to_owned(), opaque: word.opaque }];
                words.extend_from_slice(&argv[index + 1..]);
                return script(&words);
            }
            Some(_) => return script(&argv[index + 1..]),
            None if text == "--split-string" => return script(&argv[index + 1..]),
            None if !text.starts_with('-') && !is_assignment(text) => break,
            None => {}
        }
    }
    WRAPPERS
        .iter()
        .find(|wrapper| wrapper.name == "env")
        .map_or(Inner::Nothing, |env| wrapped(env, argv))
}

/// `flock FILE COMMAND…` or `flock FILE -c SCRIPT`.
fn flock(argv: &[Word]) -> Inner {
    match command_start(argv, &["-w", "--timeout", "-E", "--conflict-exit-code"], 1) {
        Some(start) if argv[start].text == "-c" => {
            argv.get(start + 1..start + 2).map_or(Inner::Nothing, script)
        }
        Some(start) => Inner::Rest(start),
        None => Inner::Nothing,
    }
}

/// `sh -c SCRIPT`, `bash -lc SCRIPT`, or a shell that reads its input.
fn shell_script(argv: &[Word]) -> Inner {
    let mut at = 1;
    let mut has_script = false;
    while let Some(word) = argv.get(at) {
        let text = word.text.as_str();
        let is_option = text.len() > 1 && text.starts_with(['-', '+']);
        if !is_option || text == "--" {
            break;
        }
        if text.starts_with("--") {
            at += usize::from(matches!(text, "--rcfile" | "--init-file"));
            has_script |= text == "--command";
        } else {
            has_script |= text.starts_with('-') && text.contains('c');
            at += usize::from(text.ends_with(['o', 'O']));
        }
        at += 1;
    }
    at += usize::from(argv.get(at).is_some_and(|word| word.text == "--"));
    match argv.get(at..=at) {
        Some(word) if has_script => script(word),
        Some(word) if word[0].text == "-" => Inner::Input,
        Some(_) if has_option(argv, &["-s"]) => Inner::Input,
        Some(_) => Inner::Nothing,
        None if has_script => Inner::Nothing,
        None => Inner::Input,
    }
}

/// The commands of `find -exec … ;`.
fn found(argv: &[Word]) -> Inner {
    let mut ranges = Vec::new();
    let mut at = 1;
    while let Some(word) = argv.get(at) {
        at += 1;
        if !matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
            continue;
        }
        let length =
            argv[at..].iter().take_while(|w| !matches!(w.text.as_str(), ";" | "+")).count();
        if length > 0 {
            ranges.push((at, at + length));
        }
        at += length;
    }
    if ranges.is_empty() { Inner::Nothing } else { Inner::Several(ranges) }
}

fn after_option(argv: &[Word], options: &[&str]) -> Inner {
    match argv.iter().position(|word| options.contains(&word.text.as_str())) {
        Some(index) if index + 1 < argv.len() => Inner::Rest(index + 1),
        _ => Inner::Nothing,
    }
}

fn value_of(argv: &[Word], options: &[&str]) -> Inner {
    match argv.iter().position(|word| options.contains(&word.text.as_str())) {
        Some(index) => argv.get(index + 1..index + 2).map_or(Inner::Nothing, script),
        None => Inner::Nothing,
    }
}

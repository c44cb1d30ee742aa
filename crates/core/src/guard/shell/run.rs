//! What a simple command runs, and what it does to the world the line is in.

use super::mark::{self, enquoted};
use super::read::{Input, Output, Reader};
use super::word::is_assignment;
use super::world::Holds;
use super::wrappers::{self, command_start, option_value};
use super::{Command, Word, builtin, code, each, git, hosts, writes};

/// How many commands may run each other in one simple command before the rest is given up.
const MAX_WRAPPERS: usize = 12;

const SHELLS: &[&str] = &[
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "mksh",
    "ash",
    "fish",
    "rbash",
    "csh",
    "tcsh",
    "nu",
    "pwsh",
    "powershell",
];

/// What a command runs.
pub(super) enum Inner {
    Nothing,
    /// The rest of its own words, from this one on.
    Rest(usize),
    /// Several commands.
    Several(Vec<Vec<Word>>),
    /// A shell script, with its arguments where it has some of its own.
    Script {
        text: String,
        arguments: Option<Vec<String>>,
    },
    /// Several scripts.
    Scripts(Vec<String>),
    /// The script on its standard input.
    Input {
        arguments: Vec<String>,
    },
    /// A program in another language.
    Code(String),
    /// The program in another language on its standard input.
    CodeInput,
    /// A script that nobody knows.
    Unknown,
}

/// Takes a simple command into the script, and every command that it runs. Says what it prints.
pub(super) fn run(reader: &mut Reader<'_, '_>, mut argv: Vec<Word>, input: Input) -> Output {
    for _ in 0..MAX_WRAPPERS {
        let Some(program) = argv.first() else { return Some(String::new()) };
        if let Some(output) = own_command(reader, &program.text.clone(), &argv, &input) {
            return output;
        }
        let name = program_name(&program.text).to_owned();
        let before = reader.world.renamed(&program.text).filter(|before| *before != name);
        if let Some(before) = before.map(Word::new)
            && reader.world.burn(1024)
        {
            let command = [&[before], &argv[1..]].concat();
            run_in(reader, ".", command, input.clone());
        }
        argv[0].text.clone_from(&name);
        let is_git = name == "git" || name.starts_with("git-") || git::ALSO_GIT.contains(&&*name);
        let normal = is_git.then(|| {
            let (aliases, others) = git_aliases(reader, &argv);
            for other in others {
                run_in(reader, ".", other, input.clone());
            }
            let value = |name: &str| reader.world.values(name)?.first().cloned();
            let environment = git::from_environment(&argv, value);
            git::normalise(&name, &argv, &aliases, &environment)
        });
        let (seen, scripts, inside) = match normal {
            Some(normal) => {
                for script in normal.scripts.into_iter().chain(git::sets(&normal.argv)) {
                    reader.nested(&script, Input::Nothing);
                }
                if let Some(word) = normal.word {
                    let at = git_directory(reader, normal.directory.as_deref());
                    reader.world.script.open.git_words.push((word, at));
                }
                (normal.argv, normal.alias, normal.directory)
            }
            None => (argv.clone(), None, None),
        };
        if matches!(name.as_str(), "ssh" | "scp" | "sftp") {
            for script in hosts::proxies(&seen) {
                reader.nested(&script, Input::Nothing);
            }
        }
        let inner = match scripts {
            Some(text) => Inner::Script { text, arguments: None },
            None => inner(reader, &name, &seen, &input),
        };
        for file in writes::touched(&seen, &input, reader.world) {
            match &inside {
                Some(inside) if !file.starts_with(['/', '~', mark::ROOT]) => {
                    reader.world.touch(&format!("{inside}/{file}"));
                }
                _ => reader.world.touch(&file),
            }
        }
        let directory = reader.world.scope.directory.clone();
        if let Some(push) = git::as_push(&seen) {
            let directory = directory.clone();
            reader.world.script.commands.push(Command { argv: push, directory });
        }
        reader.world.script.commands.push(Command { argv: seen.clone(), directory });
        if let Inner::Rest(start) = inner {
            if name == "env" {
                let values: Vec<String> = argv[..start].iter().map(|w| w.text.clone()).collect();
                for value in values.into_iter().filter(|value| is_assignment(value)) {
                    reader.command_variable(&value);
                    reader.world.assign(&[value], false);
                }
            }
            let elsewhere = wrappers::directory(&name, &seen[..start]);
            argv = seen;
            argv.drain(..start);
            if let Some(elsewhere) = elsewhere {
                return run_in(reader, &elsewhere, argv, input);
            }
            continue;
        }
        return within(reader, &name, &seen, inner, input);
    }
    reader.world.script.incomplete = true;
    None
}

/// Runs a command in another directory.
fn run_in(reader: &mut Reader<'_, '_>, directory: &str, argv: Vec<Word>, input: Input) -> Output {
    if !reader.enter() {
        return None;
    }
    let before = reader.world.scope.directory.clone();
    if directory != "." {
        reader.world.go(Some(directory));
    }
    let output = run(reader, argv, input);
    reader.world.scope.directory = before;
    reader.depth -= 1;
    output
}

/// The directory that git runs in, from where the line starts.
fn git_directory(reader: &Reader<'_, '_>, option: Option<&str>) -> String {
    let at = reader.world.located(option.unwrap_or("."));
    if mark::is_known(&at) { at } else { ".".to_owned() }
}

/// The aliases that may hold for a git command, and the command once more for each meaning of its word but
/// the last: which of them holds when it runs may depend on something.
fn git_aliases(
    reader: &mut Reader<'_, '_>,
    argv: &[Word],
) -> (Vec<(String, String)>, Vec<Vec<Word>>) {
    let Some((word, option)) = git::alias_word(argv) else { return Default::default() };
    let at = git_directory(reader, option.as_deref());
    let aliases = reader.world.git_aliases(&at, word);
    if reader.world.defines_git_alias(word) {
        // What the line says of it may come to nothing.
        reader.world.script.open.git_words.push((word.to_owned(), at));
    }
    let mut meanings: Vec<&str> = Vec::new();
    for (name, text) in &aliases {
        if name.eq_ignore_ascii_case(word) && !meanings.contains(&text.as_str()) {
            meanings.push(text);
        }
    }
    meanings.pop();
    meanings.retain(|_| reader.world.burn(1024));
    let others = meanings.into_iter().map(|text| git::meaning(argv, word, text)).collect();
    (aliases, others)
}

/// Aliases, functions and files of the line itself.
fn own_command(
    reader: &mut Reader<'_, '_>,
    program: &str,
    argv: &[Word],
    input: &Input,
) -> Option<Output> {
    // Whether a name was given another meaning may depend on something: it can have its own as well.
    let plain = |reader: &mut Reader<'_, '_>| {
        let directory = reader.world.scope.directory.clone();
        reader.world.script.commands.push(Command { argv: argv.to_vec(), directory });
    };
    if let Some(alias) = reader.world.take_alias(program) {
        plain(reader);
        let rest: Vec<String> = argv[1..].iter().map(|word| enquoted(&word.text)).collect();
        let text = format!("{alias} {}", rest.join(" "));
        let output = reader.nested(&text, input.clone());
        reader.world.alias(program, &alias);
        return Some(output);
    }
    if let Some(body) = reader.world.call(program) {
        plain(reader);
        let arguments: Vec<String> = argv[1..].iter().map(|word| word.text.clone()).collect();
        let before = reader.world.scope.positional.replace(arguments.into());
        let output = reader.nested(&body, input.clone());
        reader.world.scope.positional = before;
        reader.world.returned(program);
        return Some(output);
    }
    if !program.contains('/') {
        return None;
    }
    let arguments = argv[1..].iter().map(|word| word.text.clone()).collect();
    let inner = match reader.world.file(program) {
        Holds::Text(text) if code::has_other_interpreter(text) => Inner::Code(text.to_owned()),
        Holds::Text(text) => Inner::Script { text: text.to_owned(), arguments: Some(arguments) },
        Holds::Unknown => Inner::Unknown,
        Holds::NotOurs => return None,
    };
    Some(within(reader, program, argv, inner, input.clone()))
}

fn within(
    reader: &mut Reader<'_, '_>,
    name: &str,
    argv: &[Word],
    inner: Inner,
    input: Input,
) -> Output {
    match inner {
        Inner::Nothing | Inner::Rest(_) => builtin::run(reader, name, argv, &input),
        Inner::Several(commands) => {
            if !reader.enter() {
                return None;
            }
            for command in commands {
                run(reader, command, Input::Nothing);
            }
            reader.depth -= 1;
            None
        }
        Inner::Script { text, arguments } => script(reader, name, &text, arguments, input),
        Inner::Scripts(texts) => {
            for text in texts {
                script(reader, name, &text, None, Input::Nothing);
            }
            None
        }
        Inner::Input { arguments } => match input {
            Input::Text(text) => script(reader, name, &text, Some(arguments), Input::Nothing),
            Input::Unknown | Input::Later => {
                reader.world.script.runs_unknown = true;
                None
            }
            Input::Nothing | Input::File => None,
        },
        Inner::Code(text) => {
            reader.world.script.code.push(text);
            None
        }
        Inner::CodeInput => {
            match input {
                Input::Text(text) => reader.world.script.code.push(text),
                Input::Unknown => reader.world.script.runs_unknown = true,
                _ => {}
            }
            None
        }
        Inner::Unknown => {
            reader.world.script.runs_unknown = true;
            None
        }
    }
}

fn script(
    reader: &mut Reader<'_, '_>,
    name: &str,
    text: &str,
    arguments: Option<Vec<String>>,
    input: Input,
) -> Output {
    // `eval` and `source` are the shell itself; whatever else runs a script leaves this one alone.
    let is_own = matches!(name, "eval" | "source" | "." | "trap");
    let scope = (!is_own).then(|| reader.world.scope.clone());
    let touched = reader.world.script.touched.len();
    if let Some(arguments) = arguments {
        reader.world.scope.positional = Some(arguments.into());
    }
    let output = reader.nested(text, input);
    if let Some(scope) = scope {
        reader.world.scope = scope;
    }
    if wrappers::is_elsewhere(name) {
        reader.world.script.touched.truncate(touched);
    }
    output
}

/// The program without its directory, and without the ending that one platform gives it.
pub(super) fn program_name(text: &str) -> &str {
    let name = text.rsplit(['/', '\\']).next().filter(|name| !name.is_empty()).unwrap_or(text);
    name.strip_suffix(".exe").unwrap_or(name)
}

fn inner(reader: &Reader<'_, '_>, name: &str, argv: &[Word], input: &Input) -> Inner {
    match name {
        "eval" => joined(&argv[1..]),
        "source" | "." => file_script(reader, argv, 1),
        "trap" => {
            let start = 1 + usize::from(argv.get(1).is_some_and(|word| word.text == "--"));
            let is_set = argv.len() > start + 1 && !argv[start].text.starts_with('-');
            if is_set { joined(&argv[start..=start]) } else { Inner::Nothing }
        }
        "env" => env(argv),
        "command" if has_option(argv, &["-v", "-V"]) => Inner::Nothing,
        "git" => git::inner(argv),
        "find" => each::found(argv),
        "fd" | "fdfind" => after_option(argv, &["-x", "-X", "--exec", "--exec-batch"]),
        "xargs" => each::each_of_input(argv, &each::listed(reader, argv, input)),
        "parallel" => each::parallel(argv, input),
        "su" | "runuser" | "sg" => match option_value(argv, &["-c", "--command"]) {
            Some(text) => Inner::Script { text, arguments: None },
            None => after_option(argv, &["--"]),
        },
        "script" => match option_value(argv, &["-c", "--command"]) {
            Some(text) => Inner::Script { text, arguments: None },
            None => command_start(argv, 1, &[], 1).map_or(Inner::Nothing, Inner::Rest),
        },
        "flock" => flock(argv),
        "ssh" => ssh(argv),
        shell if SHELLS.contains(&shell) => shell_script(reader, argv),
        _ => code::inner(name, argv, |file| reader.world.file(file))
            .or_else(|| hosts::inner(name, argv, input, |file| reader.world.file(file)))
            .unwrap_or_else(|| wrappers::inner(name, argv)),
    }
}

/// A script in the words, one after the other.
pub(super) fn joined(words: &[Word]) -> Inner {
    if words.is_empty() {
        return Inner::Nothing;
    }
    let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    Inner::Script { text, arguments: None }
}

fn has_option(argv: &[Word], options: &[&str]) -> bool {
    argv.iter()
        .skip(1)
        .take_while(|word| word.text.starts_with('-'))
        .any(|word| options.contains(&word.text.as_str()))
}

/// A script in a file: known where the line wrote it.
fn file_script(reader: &Reader<'_, '_>, argv: &[Word], at: usize) -> Inner {
    let Some(file) = argv.get(at) else { return Inner::Nothing };
    let arguments = argv[at + 1..].iter().map(|word| word.text.clone()).collect();
    match reader.world.file(&file.text) {
        Holds::Text(text) => Inner::Script { text: text.to_owned(), arguments: Some(arguments) },
        Holds::Unknown => Inner::Unknown,
        Holds::NotOurs
            if matches!(file.text.as_str(), "/dev/stdin" | "/dev/fd/0" | "-")
                || file.text == "/proc/self/fd/0" =>
        {
            Inner::Input { arguments }
        }
        // Whatever some other descriptor was opened for.
        Holds::NotOurs
            if file.text.starts_with("/dev/fd/") || file.text.starts_with("/proc/self/fd/") =>
        {
            Inner::Unknown
        }
        Holds::NotOurs => Inner::Nothing,
    }
}

/// `env -S 'git commit'` holds the command in one word.
fn env(argv: &[Word]) -> Inner {
    for (index, word) in argv.iter().enumerate().skip(1) {
        let text = word.text.as_str();
        let is_long = text.starts_with("--s") && "--split-string".starts_with(text);
        let short = || text.strip_prefix('-')?.strip_prefix(['i', 'v', '0'])?.strip_prefix('S');
        let attached = text.strip_prefix("-S").or_else(short);
        let attached = attached.or_else(|| {
            let (name, value) = text.split_once('=')?;
            (name.starts_with("--s") && "--split-string".starts_with(name)).then_some(value)
        });
        match attached {
            Some(first) if !first.is_empty() => {
                let mut words = vec![Word::new(first)];
                words.extend_from_slice(&argv[index + 1..]);
                return joined(&words);
            }
            Some(_) => return joined(&argv[index + 1..]),
            None if is_long => return joined(&argv[index + 1..]),
            None if !text.starts_with('-') && !is_assignment(text) => break,
            None => {}
        }
    }
    wrappers::inner("env", argv)
}

/// `flock FILE COMMAND…` or `flock FILE -c SCRIPT`.
fn flock(argv: &[Word]) -> Inner {
    match command_start(argv, 1, &["-w", "--timeout", "-E", "--conflict-exit-code"], 1) {
        Some(start) if argv[start].text == "-c" => {
            argv.get(start + 1..start + 2).map_or(Inner::Nothing, joined)
        }
        Some(start) => Inner::Rest(start),
        None => Inner::Nothing,
    }
}

/// `ssh HOST COMMAND…`: what is left is one script, on the other side.
fn ssh(argv: &[Word]) -> Inner {
    let valued = [
        "-b", "-c", "-D", "-E", "-e", "-F", "-I", "-i", "-J", "-L", "-l", "-m", "-O", "-o", "-p",
        "-Q", "-R", "-S", "-W", "-w",
    ];
    match command_start(argv, 1, &valued, 1) {
        Some(start) => joined(&argv[start..]),
        None if argv.len() > 1 => Inner::Input { arguments: Vec::new() },
        None => Inner::Nothing,
    }
}

/// `sh -c SCRIPT`, `bash -lc SCRIPT`, `bash FILE`, or a shell that reads its input.
fn shell_script(reader: &Reader<'_, '_>, argv: &[Word]) -> Inner {
    let mut at = 1;
    let mut has_script = false;
    let mut reads_input = false;
    while let Some(word) = argv.get(at) {
        let text = word.text.as_str();
        let is_option = text.len() > 1 && text.starts_with(['-', '+']);
        if !is_option || text == "--" {
            break;
        }
        if text.starts_with("--") {
            at += usize::from(matches!(text, "--rcfile" | "--init-file"));
            has_script |= text == "--command" || text == "--commands";
        } else if text.eq_ignore_ascii_case("-command") {
            has_script = true;
        } else if text.eq_ignore_ascii_case("-noprofile") || text.eq_ignore_ascii_case("-file") {
        } else {
            has_script |= text.starts_with('-') && text.contains('c');
            reads_input |= text.starts_with('-') && text.contains('s');
            at += usize::from(text.ends_with(['o', 'O']));
        }
        at += 1;
    }
    at += usize::from(argv.get(at).is_some_and(|word| word.text == "--"));
    let arguments = |from: usize| -> Vec<String> {
        argv.get(from..).unwrap_or_default().iter().map(|word| word.text.clone()).collect()
    };
    match argv.get(at) {
        Some(word) if has_script => {
            // The word after the script is its name, not its first argument.
            Inner::Script { text: word.text.clone(), arguments: Some(arguments(at + 2)) }
        }
        None if has_script => Inner::Nothing,
        _ if reads_input => Inner::Input { arguments: arguments(at) },
        Some(_) => file_script(reader, argv, at),
        None => Inner::Input { arguments: Vec::new() },
    }
}

fn after_option(argv: &[Word], options: &[&str]) -> Inner {
    match argv.iter().position(|word| options.contains(&word.text.as_str())) {
        Some(index) if index + 1 < argv.len() => Inner::Rest(index + 1),
        _ => Inner::Nothing,
    }
}

/// Whether nothing of the text is known.
pub(super) fn is_blank(text: &str) -> bool {
    !text.is_empty() && !mark::is_known(text) && text.chars().all(|c| mark::is_hole(c) || c == ' ')
}

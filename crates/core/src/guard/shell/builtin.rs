//! Commands whose effect or output is plain from their words: `cd`, `echo`, `printf`, `read`, …

use super::mark::{NAME, ROOT};
use super::read::{Input, Output, Reader};
use super::word::is_identifier;
use super::world::Holds;
use super::{Word, git, run, writes};

/// Programs that print what a shell should set: for `eval "$(…)"` and `source <(…)`.
const SETTERS: &[&str] = &[
    "atuin",
    "brew",
    "conda",
    "direnv",
    "dircolors",
    "docker-machine",
    "fnm",
    "gpg-agent",
    "luarocks",
    "mamba",
    "mise",
    "nodenv",
    "opam",
    "pyenv",
    "rbenv",
    "rtx",
    "ssh-agent",
    "starship",
    "zoxide",
];

/// Runs what the shell can know by itself. Says what it prints.
pub(super) fn run(reader: &mut Reader<'_, '_>, name: &str, argv: &[Word], input: &Input) -> Output {
    let arguments = &argv[1..];
    let silent = Some(String::new());
    match name {
        "cd" | "pushd" => {
            change_directory(reader, arguments);
            silent
        }
        "popd" => {
            reader.world.go(None);
            silent
        }
        "read" => {
            read(reader, arguments, input);
            silent
        }
        "mapfile" | "readarray" => {
            if let Some(name) = arguments.last() {
                reader.world.forget(&name.text);
            }
            silent
        }
        "set" => {
            if let Some(at) = arguments.iter().position(|word| word.text == "--") {
                let words = arguments[at + 1..].iter().map(|word| word.text.clone());
                reader.world.scope.positional = Some(words.collect());
            }
            silent
        }
        "shift" => {
            let rest = reader.world.scope.positional.as_ref();
            let rest = rest.map(|words| words.iter().skip(1).cloned().collect());
            reader.world.scope.positional = rest;
            silent
        }
        "unset" => {
            evaluate(reader, arguments);
            for word in arguments {
                reader.world.forget(&word.text);
            }
            silent
        }
        "alias" => {
            for (name, text) in arguments.iter().filter_map(|word| word.text.split_once('=')) {
                reader.world.alias(name, text);
            }
            silent
        }
        "git" => {
            if let Some((name, text)) = git::defines(argv) {
                reader.world.git_alias(name, text);
            }
            git_output(arguments)
        }
        "echo" => Some(echo(arguments)),
        "printf" => {
            let printed = printf(reader, arguments);
            evaluate(reader, arguments);
            printed
        }
        "hash" => {
            if let [option, path, name] = arguments
                && option.text == "-p"
            {
                reader.world.rename(&name.text, run::program_name(&path.text));
            }
            silent
        }
        "let" | "test" | "[" | "declare" | "typeset" | "local" | "export" | "readonly" => {
            evaluate(reader, arguments);
            output(reader, name, arguments)
        }
        "cat" => cat(reader, arguments, input),
        "tee" => {
            let text = match input {
                Input::Text(text) => Some(text.clone()),
                _ => None,
            };
            for file in arguments.iter().filter(|word| !word.text.starts_with('-')) {
                reader.world.put(&file.text, text.clone(), false);
            }
            text
        }
        "cp" | "mv" | "install" | "ln" => {
            copied(reader, arguments);
            silent
        }
        _ => output(reader, name, arguments),
    }
}

/// The subscript of an array in a word of certain commands is expanded once more, quoted or not.
fn evaluate(reader: &mut Reader<'_, '_>, arguments: &[Word]) {
    let is_meant = |text: &&str| text.contains("[$(") || text.contains("[`");
    let texts = arguments.iter().map(|word| word.text.as_str()).filter(is_meant);
    for text in texts.map(|text| format!(": \"{text}\"")).collect::<Vec<_>>() {
        reader.nested(&text, Input::Nothing);
    }
}

/// What programs print of which something is known.
fn output(reader: &Reader<'_, '_>, name: &str, arguments: &[Word]) -> Output {
    let first = arguments.first().map(|word| word.text.as_str());
    match name {
        "which" | "command" | "type" => {
            arguments.iter().rfind(|word| !word.text.starts_with('-')).map(|word| word.text.clone())
        }
        "pwd" => Some(match &reader.world.scope.directory {
            Some(directory) if directory.is_empty() => ".".to_owned(),
            Some(directory) => directory.clone(),
            None => NAME.to_string(),
        }),
        "find" => {
            let roots = writes::find_roots(arguments);
            let lines: Vec<String> = roots.iter().map(|root| format!("{root}/{NAME}")).collect();
            Some(lines.join("\n"))
        }
        "mktemp" => Some(format!("/tmp/{NAME}")),
        "basename" | "dirname" | "date" | "whoami" | "hostname" | "nproc" | "uname" | "id"
        | "seq" | "expr" | "uuidgen" | "wc" | "stat" | "md5sum" | "sha256sum" | "tput"
        | "getconf" | "arch" | "realpath" | "readlink" | "rustc" | "ls" | "jobs" | "pgrep" => {
            Some(NAME.to_string())
        }
        _ if SETTERS.contains(&name) => Some(String::new()),
        // What completes a shell's words is printed by nearly every program, and never runs one.
        _ if arguments.iter().take(2).any(|word| word.text.starts_with("completion")) => {
            Some(String::new())
        }
        "true" | ":" | "false" | "test" | "[" | "sleep" | "mkdir" | "rm" | "touch" | "chmod"
        | "chown" | "export" | "declare" | "local" | "readonly" | "typeset" | "shopt" | "exit"
        | "return" | "wait" | "kill" | "trap" | "ulimit" | "umask" | "rmdir" | "break"
        | "continue" | "let" | "unalias" => Some(String::new()),
        _ if first == Some("--version") => Some(NAME.to_string()),
        _ => None,
    }
}

/// Names of branches and commits; the root.
fn git_output(arguments: &[Word]) -> Output {
    let has = |wanted: &str| arguments.iter().any(|word| word.text == wanted);
    let first = arguments.first().map(|word| word.text.as_str())?;
    match first {
        "rev-parse" if has("--show-toplevel") => Some(ROOT.to_string()),
        "rev-parse" | "symbolic-ref" | "describe" | "merge-base" | "rev-list" | "write-tree"
        | "config" | "hash-object" => Some(NAME.to_string()),
        "branch" if has("--show-current") => Some(NAME.to_string()),
        "add" | "commit-graph" => Some(String::new()),
        _ => None,
    }
}

fn change_directory(reader: &mut Reader<'_, '_>, arguments: &[Word]) {
    let to = arguments.iter().find(|word| !word.text.starts_with('-') || word.text == "-");
    match to.map(|word| word.text.as_str()) {
        None => reader.world.go(Some("~")),
        Some("-") => reader.world.go(None),
        Some(to) => {
            let to = to.to_owned();
            reader.world.go(Some(&to));
        }
    }
}

/// `read a b`: a variable has a line of the input, where that is known.
fn read(reader: &mut Reader<'_, '_>, arguments: &[Word], input: &Input) {
    let names: Vec<&str> = arguments
        .iter()
        .map(|word| word.text.as_str())
        .filter(|text| !text.starts_with('-') && is_identifier(text))
        .collect();
    match (input, names.as_slice()) {
        (Input::Text(text), [name]) => {
            let lines = text.lines().map(str::to_owned).collect();
            reader.world.set(name, lines, false);
        }
        _ => {
            for name in names {
                reader.world.forget(name);
            }
        }
    }
}

fn echo(arguments: &[Word]) -> String {
    let mut words = arguments;
    let mut escapes = false;
    let mut ends = "\n";
    while let Some((first, rest)) = words.split_first() {
        let is_option = first.text.len() > 1
            && first.text.starts_with('-')
            && first.text[1..].bytes().all(|b| matches!(b, b'n' | b'e' | b'E'));
        if !is_option {
            break;
        }
        escapes |= first.text.contains('e');
        if first.text.contains('n') {
            ends = "";
        }
        words = rest;
    }
    let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    let text = if escapes { unescaped(&text) } else { text };
    format!("{text}{ends}")
}

/// `\n`, `\t`, `\x41`, `\0101` and their like.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(c) = rest.chars().next() else {
            out.push('\\');
            break;
        };
        rest = &rest[c.len_utf8()..];
        let (digits, radix): (usize, u32) = match c {
            'n' => {
                out.push('\n');
                continue;
            }
            't' => {
                out.push('\t');
                continue;
            }
            '\\' => {
                out.push('\\');
                continue;
            }
            'x' => (2, 16),
            '0' => (3, 8),
            '1'..='7' => {
                // The digit belongs to the number.
                rest = &text[text.len() - rest.len() - 1..];
                (3, 8)
            }
            other => {
                out.push('\\');
                out.push(other);
                continue;
            }
        };
        let count = rest.chars().take(digits).take_while(|d| d.is_digit(radix)).count();
        let number = u32::from_str_radix(&rest[..count], radix).ok().and_then(char::from_u32);
        out.extend(number);
        rest = &rest[count..];
    }
    out + rest
}

/// What `printf` prints, for the directives that scripts use.
fn printf(reader: &mut Reader<'_, '_>, arguments: &[Word]) -> Output {
    if let [option, name, rest @ ..] = arguments
        && option.text == "-v"
    {
        let text = formatted(rest)?;
        reader.world.set(&name.text, vec![text], false);
        return Some(String::new());
    }
    let arguments = match arguments {
        [dashes, rest @ ..] if dashes.text == "--" => rest,
        other => other,
    };
    formatted(arguments)
}

fn formatted(arguments: &[Word]) -> Output {
    let (format, mut values) = arguments.split_first()?;
    let format = unescaped(&format.text);
    let mut out = String::new();
    loop {
        let before = values.len();
        let mut chars = format.chars().peekable();
        while let Some(c) = chars.next() {
            if c != '%' {
                out.push(c);
                continue;
            }
            while chars
                .next_if(|c| c.is_ascii_digit() || matches!(c, '-' | '.' | '+' | ' '))
                .is_some()
            {}
            match chars.next() {
                Some('%') => out.push('%'),
                Some('s' | 'b' | 'q' | 'd' | 'i' | 'u' | 'x' | 'c') => {
                    if let Some((value, rest)) = values.split_first() {
                        out.push_str(&value.text);
                        values = rest;
                    }
                }
                _ => return None,
            }
        }
        if values.is_empty() || values.len() == before || out.len() > super::MAX_VALUE {
            return Some(out);
        }
    }
}

fn cat(reader: &Reader<'_, '_>, arguments: &[Word], input: &Input) -> Output {
    let mut files = arguments.iter().filter(|word| !word.text.starts_with('-') || word.text == "-");
    let mut out = String::new();
    let mut has_file = false;
    let from_input = || match input {
        Input::Text(text) => Some(text.clone()),
        _ => None,
    };
    for file in &mut files {
        has_file = true;
        let text = match file.text.as_str() {
            "-" | "/dev/stdin" => from_input()?,
            file => reader.world.file(file).text()?,
        };
        out.push_str(&text);
    }
    if has_file { Some(out) } else { from_input() }
}

/// A copy holds what its source does.
fn copied(reader: &mut Reader<'_, '_>, arguments: &[Word]) {
    let files: Vec<&Word> = arguments.iter().filter(|word| !word.text.starts_with('-')).collect();
    let [from, to] = files.as_slice() else { return };
    if matches!(reader.world.file(&from.text), Holds::NotOurs) {
        // Perhaps a program, which can be run by its new name: as a file, or in a directory.
        let name = run::program_name(&from.text);
        reader.world.rename(&to.text, name);
        reader.world.rename(&format!("{}/{name}", to.text.trim_end_matches('/')), name);
    } else {
        let text = reader.world.file(&from.text).text();
        reader.world.put(&to.text, text, false);
    }
}

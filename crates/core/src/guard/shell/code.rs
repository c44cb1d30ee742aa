//! Programs in other languages that a line holds: `python -c`, `node -e`, a here-document for perl.
//!
//! They are not read. A rule asks of them only whether they name its program and can start one.

use super::Word;
use super::run::{Inner, is_blank};
use super::world::Holds;

/// An interpreter, and the options after which its program follows.
struct Interpreter {
    names: &'static [&'static str],
    options: &'static [&'static str],
    /// The letters that, at the end of a cluster, do the same: `perl -pe`.
    letters: &'static [char],
    /// Whether it reads a program from its input where it is given none.
    reads_input: bool,
}

const INTERPRETERS: &[Interpreter] = &[
    Interpreter {
        names: &["python", "pypy", "ipython"],
        options: &["-c"],
        letters: &['c'],
        reads_input: true,
    },
    Interpreter {
        names: &["node", "nodejs", "bun", "tsx", "ts-node"],
        options: &["-e", "--eval", "-p", "--print", "-pe"],
        letters: &[],
        reads_input: true,
    },
    Interpreter { names: &["deno"], options: &["eval"], letters: &[], reads_input: false },
    Interpreter {
        names: &["perl"],
        options: &["-e", "-E"],
        letters: &['e', 'E'],
        reads_input: true,
    },
    Interpreter { names: &["ruby"], options: &["-e"], letters: &['e'], reads_input: true },
    Interpreter { names: &["php"], options: &["-r"], letters: &[], reads_input: true },
    Interpreter { names: &["lua", "luajit"], options: &["-e"], letters: &[], reads_input: true },
    Interpreter {
        names: &[
            "osascript",
            "Rscript",
            "R",
            "gnuplot",
            "octave",
            "maxima",
            "sbcl",
            "guile",
            "julia",
            "elixir",
            "groovy",
            "scala",
            "ghc",
        ],
        options: &["-e"],
        letters: &[],
        reads_input: false,
    },
    Interpreter { names: &["tclsh", "expect"], options: &["-c"], letters: &[], reads_input: true },
    Interpreter { names: &["erl"], options: &["-eval"], letters: &[], reads_input: false },
    Interpreter { names: &["emacs"], options: &["--eval"], letters: &[], reads_input: false },
    Interpreter {
        names: &["vim", "nvim", "vi", "ex", "view", "gvim", "rvim", "vimdiff", "mvim"],
        options: &["-c", "+", "--cmd"],
        letters: &['c'],
        reads_input: false,
    },
    Interpreter {
        names: &["gdb", "lldb"],
        options: &["-ex", "-o"],
        letters: &[],
        reads_input: false,
    },
];

/// What a debugger's commands start programs with: its own words, those of its Python, and calls into the
/// program it looks at.
const STARTS_PROGRAMS: &[&str] = &[
    "shell",
    "!",
    "system",
    "python",
    "script",
    "py ",
    "popen",
    "Popen",
    "exec",
    "spawn",
    "subprocess",
    "call",
    "`",
];

/// What a debugger runs: the program it is for, with the arguments after `--args`, or whatever its own
/// commands can start; `None` where neither is there.
fn debugged(argv: &[Word]) -> Option<Inner> {
    let is_end = |word: &Word| matches!(word.text.as_str(), "--args" | "-args" | "--");
    let end = argv.iter().position(is_end);
    let own = &argv[..end.unwrap_or(argv.len())];
    let is_command =
        |pair: &[Word]| matches!(pair[0].text.as_str(), "-ex" | "-o") && is_blank(&pair[1].text);
    if own.windows(2).any(is_command) {
        return Some(Inner::Unknown);
    }
    let starts = |word: &Word| STARTS_PROGRAMS.iter().any(|sign| word.text.contains(sign));
    if own.iter().skip(1).any(starts) {
        let words: Vec<&str> = argv.iter().map(|word| word.text.as_str()).collect();
        return Some(Inner::Code(format!("system\n{}", words.join(" "))));
    }
    end.filter(|end| end + 1 < argv.len()).map(|end| Inner::Rest(end + 1))
}

/// What an interpreter runs; nothing for a program that is none.
pub(super) fn inner<'f>(
    name: &str,
    argv: &[Word],
    file: impl Fn(&str) -> Holds<'f>,
) -> Option<Inner> {
    if matches!(name, "awk" | "gawk" | "mawk" | "nawk") {
        let does = |word: &&Word| word.text.contains("system") || word.text.contains(['|', '>']);
        // All of them: a separator may be `>` too, before the program.
        let words: Vec<&str> =
            argv.iter().skip(1).filter(does).map(|word| word.text.as_str()).collect();
        if words.is_empty() {
            return Some(Inner::Nothing);
        }
        let program = words.join("\n");
        // What is piped into or out of a text is a command.
        let runs = ["\" |", "| \"", "\"|", "|\""].iter().any(|pipe| program.contains(pipe));
        let writes = [">\"", "> \""].iter().any(|to| program.contains(to));
        let sign = if runs { "system\n" } else { "" };
        let also = if writes { "write\n" } else { "" };
        return Some(Inner::Code(format!("{sign}{also}{program}")));
    }
    if matches!(name, "gdb" | "lldb")
        && let Some(inner) = debugged(argv)
    {
        return Some(inner);
    }
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let own = INTERPRETERS.iter().find(|own| own.names.contains(&plain))?;
    let mut at = 1;
    let mut codes: Vec<&str> = Vec::new();
    while let Some(word) = argv.get(at) {
        let text = word.text.as_str();
        if plain == "python" || plain == "pypy" {
            if text == "-m" {
                // A module is run as the program it is named after: `python -m twine`.
                return Some(if at + 1 < argv.len() {
                    Inner::Rest(at + 1)
                } else {
                    Inner::Nothing
                });
            }
            if matches!(text, "-W" | "-X") {
                at += 2;
                continue;
            }
        }
        if own.options.contains(&text) || is_cluster(own, text) {
            codes.extend(argv.get(at + 1).map(|next| next.text.as_str()));
            at += 2;
            continue;
        }
        if let Some(command) = text.strip_prefix('+').filter(|_| own.options.contains(&"+")) {
            codes.push(command);
            at += 1;
            continue;
        }
        if let Some((_, value)) = text.split_once('=').filter(|(o, _)| own.options.contains(o)) {
            codes.push(value);
        } else if !text.starts_with('-') || text == "-" {
            break;
        }
        at += 1;
    }
    Some(match argv.get(at) {
        _ if codes.iter().any(|code| is_blank(code)) => Inner::Unknown,
        _ if !codes.is_empty() => Inner::Code(codes.join("\n")),
        Some(word) if word.text == "-" && own.reads_input => Inner::CodeInput,
        Some(word) => match file(&word.text) {
            Holds::Text(text) => Inner::Code(text.to_owned()),
            Holds::Unknown if own.reads_input => Inner::Unknown,
            _ => Inner::Nothing,
        },
        None if own.reads_input => Inner::CodeInput,
        None => Inner::Nothing,
    })
}

fn is_cluster(own: &Interpreter, text: &str) -> bool {
    text.len() > 2
        && text.starts_with('-')
        && text[1..].bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.')
        && text.ends_with(own.letters)
}

/// Whether a file's first line says that something else than a shell runs it.
pub(super) fn has_other_interpreter(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    line.starts_with("#!") && !line.contains("sh")
}

/// By what a program shows that it starts others.
const STARTERS: [&str; 15] = [
    "system",
    "popen",
    "Popen",
    "exec",
    "spawn",
    "subprocess",
    "child_process",
    "run",
    "call",
    "`",
    "qx",
    "%x",
    "shell",
    "Open3",
    "open3",
];

/// By what it shows that it changes files.
const WRITERS: [&str; 28] = [
    "write",
    "Write",
    "append",
    "'w",
    "\"w",
    "'a'",
    "'ab'",
    "\"a\"",
    "\"ab\"",
    "'x'",
    "\"x\"",
    "'r+",
    "\"r+",
    "unlink",
    "remove",
    "rename",
    "os.replace",
    "copy",
    "move",
    "put_contents",
    "truncate",
    "touch",
    "rmtree",
    "rmSync",
    "cpSync",
    "symlink",
    "FileUtils",
    "'>",
];

/// The most texts of a program that are read as commands, one by one; all of them are as one. A hook that takes too long
/// denies nothing.
const MOST_TEXTS: usize = 256;

/// The files that a program may change: those it names where it changes any, and those that the commands in
/// its texts do.
pub(in crate::guard) fn written_by(code: &str) -> Vec<String> {
    let parts = || code.split(['"', '\'', '`']);
    let mut files = Vec::new();
    let opens = || parts().any(|part| part.starts_with('>') && part.len() > 1);
    if WRITERS.iter().any(|writer| code.contains(writer)) || opens() {
        let names = parts().filter(|part| !part.contains(char::is_whitespace));
        files.extend(names.map(|part| part.trim_start_matches(['>', '+', '<']).to_owned()));
    }
    if STARTERS.iter().any(|starter| code.contains(starter)) {
        let texts = parts().skip(1).step_by(2);
        let joined = texts.clone().collect::<Vec<_>>().join(" ");
        let scripts = texts.filter(|text| text.contains(' ')).take(MOST_TEXTS).map(super::parse);
        let scripts = scripts.chain([super::parse(&joined)]);
        files.extend(scripts.flat_map(|script| script.touched).map(|word| word.text));
    }
    files
}

/// Whether a program names `word` and can start other programs, so that it may run it.
pub(super) fn may_run(code: &str, names: impl Fn(&str) -> bool) -> bool {
    let separates = |c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.');
    code.split(separates).any(|token| !token.is_empty() && names(token))
        && (STARTERS.iter().any(|starter| code.contains(starter))
            || code.contains('!') && code.contains(":!")
            || code.trim_start().starts_with('!'))
}

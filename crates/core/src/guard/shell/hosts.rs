//! Programs that are no shell and run commands all the same: by an option (`tar
//! --checkpoint-action`), by what is in their input or in a file (`at`, `crontab`, `make`), or in a
//! language of their own (`sed`, `psql`).

use super::Word;
use super::read::Input;
use super::run::Inner;
use super::world::Holds;
use super::wrappers::option_value;

/// Options whose value is a command, by program.
const OPTIONS: &[(&[&str], &[&str])] = &[
    (
        &["tar", "gtar", "bsdtar"],
        &[
            "-I",
            "--use-compress-program",
            "--to-command",
            "--checkpoint-action",
            "-F",
            "--info-script",
            "--new-volume-script",
            "--rsh-command",
        ],
    ),
    (&["rsync"], &["-e", "--rsh"]),
    (&["scp", "sftp"], &["-S"]),
    (&["man"], &["-P", "--pager"]),
    (&["bat", "batcat", "ag"], &["--pager"]),
    (&["rg"], &["--pre", "--hostname-bin"]),
    (&["lftp"], &["-c"]),
    (&["zip"], &["-TT", "--unzip-command"]),
    (&["nc", "ncat", "netcat"], &["-e", "-c", "--exec", "--sh-exec"]),
    (&["start-stop-daemon"], &["-x", "--exec", "-a", "--startas"]),
    (&["mapfile", "readarray"], &["-C"]),
    (&["complete", "compgen"], &["-C"]),
    (&["fzf", "sk"], &["--preview"]),
    (&["inotifywait", "fswatch"], &["--exec"]),
    (&["watchman-make"], &["--run"]),
];

/// What such a program runs; nothing for one that is none.
pub(super) fn inner<'f>(
    name: &str,
    argv: &[Word],
    input: &Input,
    file: impl Fn(&str) -> Holds<'f>,
) -> Option<Inner> {
    let text_of = |path: &str| match file(path) {
        Holds::NotOurs if matches!(path, "-" | "/dev/stdin" | "/dev/fd/0") => coming(input),
        Holds::Text(text) => Given::Text(text.to_owned()),
        Holds::Unknown => Given::Unknown,
        Holds::NotOurs => Given::Nothing,
    };
    let has = |options: &[&str]| argv.iter().any(|word| options.contains(&word.text.as_str()));
    Some(match name {
        "at" | "batch" if has(&["-l", "-r", "-d", "-c", "-V"]) => Inner::Nothing,
        "at" | "batch" => match option_value(argv, &["-f"]) {
            Some(path) => text_of(&path).scripts(|text| vec![text.to_owned()]),
            None => coming(input).scripts(|text| vec![text.to_owned()]),
        },
        "crontab" if has(&["-l", "-e", "-r", "-T"]) => Inner::Nothing,
        "crontab" => {
            let mut path = argv.iter().skip(1).map(|word| word.text.as_str());
            let path = path.rfind(|text| !text.starts_with('-')).unwrap_or("-");
            text_of(path).scripts(scheduled)
        }
        "make" | "gmake" | "remake" => made(argv, text_of),
        "sed" | "gsed" => edited(argv, input),
        "ed" | "ftp" => coming(input).code("!"),
        "less" | "more" | "most" => foreign(argv, &Input::Nothing, &["+!", "+|"]),
        "sftp" if matches!(input, Input::Text(text) if text.contains('!')) => {
            coming(input).code("!")
        }
        "npm" if argv.get(1).is_some_and(|word| word.text == "pkg") => {
            let set = argv.iter().filter_map(|word| word.text.strip_prefix("scripts."));
            let set = set.filter_map(|pair| pair.split_once('='));
            Inner::Scripts(set.map(|(_, script)| script.to_owned()).collect())
        }
        "npm" if argv.get(1).is_some_and(|word| word.text == "set-script") => {
            Inner::Scripts(argv.iter().skip(3).map(|word| word.text.clone()).collect())
        }
        "sqlite3" => foreign(argv, input, &[".shell", ".system"]),
        "psql" | "mysql" | "mariadb" => foreign(argv, input, &["\\!", "system "]),
        "dc" => foreign(argv, input, &["!"]),
        "socat" => {
            let addresses = argv.iter().skip(1).filter_map(|word| word.text.split_once(':'));
            let run = addresses.filter(|(kind, _)| {
                ["exec", "system", "shell"].iter().any(|word| kind.eq_ignore_ascii_case(word))
            });
            Inner::Scripts(run.map(|(_, command)| command.to_owned()).collect())
        }
        "entr" => option_value(argv, &["-s"]).map_or_else(
            || super::wrappers::inner(name, argv),
            |text| Inner::Script { text, arguments: None },
        ),
        "cargo" if argv.get(1).is_some_and(|word| word.text == "watch") => {
            match (option_value(argv, &["-s", "--shell"]), option_value(argv, &["-x", "--exec"])) {
                (Some(text), _) => Inner::Script { text, arguments: None },
                (None, Some(text)) => {
                    Inner::Script { text: format!("cargo {text}"), arguments: None }
                }
                (None, None) => Inner::Nothing,
            }
        }
        _ => {
            let (_, options) = OPTIONS.iter().find(|(names, _)| names.contains(&name))?;
            Inner::Scripts(values(argv, options))
        }
    })
}

/// The commands that options of ssh's name, which run here and not on the other side.
pub(super) fn proxies(argv: &[Word]) -> Vec<String> {
    let texts = argv
        .iter()
        .map(|word| word.text.as_str())
        .zip(argv.iter().skip(1).map(|word| word.text.as_str()).chain(std::iter::once("")));
    texts
        .filter_map(|(text, next)| match text {
            "-o" => Some(next),
            _ => text.strip_prefix("-o"),
        })
        .filter_map(|setting| setting.split_once(['=', ' ']))
        .filter(|(key, _)| {
            ["proxycommand", "localcommand", "knownhostscommand"]
                .iter()
                .any(|name| key.trim().eq_ignore_ascii_case(name))
        })
        .map(|(_, command)| command.to_owned())
        .collect()
}

/// A text that a program is given.
enum Given {
    Text(String),
    Unknown,
    Nothing,
}

impl Given {
    fn scripts(self, read: impl Fn(&str) -> Vec<String>) -> Inner {
        match self {
            Self::Text(text) => Inner::Scripts(read(&text)),
            Self::Unknown => Inner::Unknown,
            Self::Nothing => Inner::Nothing,
        }
    }

    /// A text in a language that starts programs by `sign`.
    fn code(self, sign: &str) -> Inner {
        match self {
            Self::Text(text) if text.contains(sign) => Inner::Code(format!("system\n{text}")),
            Self::Text(_) | Self::Nothing => Inner::Nothing,
            Self::Unknown => Inner::Unknown,
        }
    }
}

fn coming(input: &Input) -> Given {
    match input {
        Input::Text(text) => Given::Text(text.clone()),
        Input::Unknown | Input::Later => Given::Unknown,
        Input::Nothing | Input::File => Given::Nothing,
    }
}

/// Every value of one of the options, attached or not. `exec=` before the command is tar's.
pub(super) fn values(argv: &[Word], options: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (index, word) in argv.iter().enumerate().skip(1) {
        let text = word.text.as_str();
        let attached = options.iter().find_map(|option| {
            let rest = text.strip_prefix(option)?;
            let is_long = option.starts_with("--");
            match rest.strip_prefix('=') {
                Some(value) => Some(value),
                None if !is_long && !rest.is_empty() => Some(rest),
                None => None,
            }
        });
        let value = match attached {
            Some(value) => Some(value),
            None if options.contains(&text) => argv.get(index + 1).map(|next| next.text.as_str()),
            None => None,
        };
        found.extend(value.map(|value| value.strip_prefix("exec=").unwrap_or(value).to_owned()));
    }
    found
}

/// The commands of a table of cron's: what follows the time.
fn scheduled(table: &str) -> Vec<String> {
    let lines = table.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| {
            let fields = if line.starts_with('@') { 1 } else { 5 };
            let mut rest = line;
            for _ in 0..fields {
                rest = rest.split_once(char::is_whitespace)?.1.trim_start();
            }
            Some(rest.to_owned())
        })
        .collect()
}

/// What `make` runs of a file that the line holds: its recipes, with the variables it sets.
fn made(argv: &[Word], text_of: impl Fn(&str) -> Given) -> Inner {
    let files = values(argv, &["-f", "--file", "--makefile"]);
    let given = if let Some(path) = files.first() {
        text_of(path)
    } else {
        let mut usual = ["GNUmakefile", "makefile", "Makefile"].into_iter().map(&text_of);
        usual.find(|given| !matches!(given, Given::Nothing)).unwrap_or(Given::Nothing)
    };
    let more = values(argv, &["--eval", "-E"]).join("\n");
    let given = match given {
        Given::Nothing if more.is_empty() => return Inner::Nothing,
        Given::Nothing => Given::Text(more),
        Given::Text(text) => Given::Text(format!("{text}\n{more}")),
        Given::Unknown => Given::Unknown,
    };
    let said: Vec<&str> = argv.iter().map(|word| word.text.as_str()).collect();
    given.scripts(|text| recipes(text, &said))
}

fn recipes(text: &str, said: &[&str]) -> Vec<String> {
    let text = text.replace("\\\n", " ");
    let set = |line: &str| {
        let (name, value) = line.split_once('=')?;
        let name = name.trim_end_matches([':', '?', '+', '!']).trim();
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        is_name.then(|| (name.to_owned(), value.trim().to_owned()))
    };
    let lines = || text.lines();
    let variables: Vec<(String, String)> = lines()
        .filter(|line| !line.starts_with('\t'))
        .chain(said.iter().copied())
        .filter_map(set)
        .take(64)
        .collect();
    let filled = |line: &str| {
        let mut line = line.to_owned();
        for (name, value) in &variables {
            line = line.replace(&format!("$({name})"), value);
            line = line.replace(&format!("${{{name}}}"), value);
        }
        line.replace("$(shell ", "$(").replace("$$", "$")
    };
    let recipe = |line: &str| {
        let own = line.strip_prefix('\t').map(str::to_owned);
        // `all: ; git push`, and what a file runs while it is read.
        let own = own.or_else(|| Some(line.split_once(':')?.1.split_once(';')?.1.to_owned()));
        let own = own.or_else(|| line.contains("$(shell ").then(|| format!(": {line}")));
        own.map(|line| filled(line.trim_start_matches(['@', '-', '+', ' ', '\t'])))
    };
    lines().filter_map(recipe).collect()
}

/// What `sed` runs: the command `e`, and a substitution with the flag `e`.
fn edited(argv: &[Word], input: &Input) -> Inner {
    let mut scripts = values(argv, &["-e", "--expression"]);
    if scripts.is_empty() {
        let first = argv.iter().skip(1).find(|word| !word.text.starts_with('-'));
        scripts.extend(first.map(|word| word.text.clone()));
    }
    let mut run = Vec::new();
    for script in &scripts {
        for part in sed_commands(script) {
            match part {
                Sed::Command(text) => run.push(text.to_owned()),
                Sed::Line => return coming(input).scripts(|text| vec![text.to_owned()]),
                Sed::Substitution => return Inner::Code(format!("system\n{script}")),
            }
        }
    }
    if run.is_empty() { Inner::Nothing } else { Inner::Scripts(run) }
}

enum Sed<'a> {
    /// A command in its words.
    Command(&'a str),
    /// Whatever the line is.
    Line,
    /// What a substitution makes.
    Substitution,
}

/// The parts of a script of sed's that run something.
fn sed_commands(script: &str) -> Vec<Sed<'_>> {
    let mut found = Vec::new();
    let mut rest = script;
    while let Some(first) = rest.chars().next() {
        let after = &rest[first.len_utf8()..];
        rest = match first {
            // An address, up to the command.
            '/' => section(after, '/'),
            '\\' => after.chars().next().map_or("", |c| section(&after[c.len_utf8()..], c)),
            's' | 'y' => match after.chars().next() {
                Some(mark) => {
                    let rest = section(section(&after[mark.len_utf8()..], mark), mark);
                    let end = rest.find([';', '\n', '}']).unwrap_or(rest.len());
                    if first == 's'
                        && rest[..end].split(' ').next().is_some_and(|f| f.contains('e'))
                    {
                        found.push(Sed::Substitution);
                    }
                    &rest[end..]
                }
                None => "",
            },
            'e' => {
                let (line, rest) = after.split_once('\n').unwrap_or((after, ""));
                let command = line.trim();
                let is_bare = command.is_empty() || command.starts_with([';', '}']);
                found.push(if is_bare { Sed::Line } else { Sed::Command(command) });
                rest
            }
            'a' | 'i' | 'c' | 'r' | 'w' | 'R' | 'W' | ':' | 'b' | 't' | 'T' | '#' => {
                let ends: &[char] =
                    if matches!(first, 'b' | 't' | 'T') { &[';', '\n', '}'] } else { &['\n'] };
                after.find(ends).map_or("", |at| &after[at..])
            }
            _ => after,
        };
    }
    found
}

/// What follows a section that ends at `mark`.
fn section(text: &str, mark: char) -> &str {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == mark => return &text[at + c.len_utf8()..],
            _ => {}
        }
    }
    ""
}

/// A program with a language of its own in which one of `signs` starts others.
fn foreign(argv: &[Word], input: &Input, signs: &[&str]) -> Inner {
    let mut text: Vec<&str> = argv.iter().skip(1).map(|word| word.text.as_str()).collect();
    if let Input::Text(coming) = input {
        text.push(coming);
    }
    let text = text.join("\n");
    let is_run = signs.iter().any(|sign| text.contains(sign));
    if is_run { Inner::Code(format!("system\n{text}")) } else { Inner::Nothing }
}

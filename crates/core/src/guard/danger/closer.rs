//! Commands whose words alone do not say whether they are dangerous.

use crate::guard::located::Located;
use crate::guard::shell::{self, Command, Fit, Of, Word, is_hole};
use crate::guard::trigger::Workdir;

/// Where everybody may write and nothing is kept.
const TEMPORARY: &[&str] = &[
    "/tmp/",
    "/var/tmp/",
    "/private/tmp/",
    "/private/var/tmp/",
    "/var/folders/",
    "/private/var/folders/",
    "/dev/shm/",
];

/// `rm -r` and `find -delete` of what is not in the repository, or of all of it.
pub(super) fn deletes_outside(command: &Command, place: &Workdir<'_>) -> Fit {
    let Some((program, words)) = command.argv.split_first() else { return Fit::No };
    match program.text.as_str() {
        "rm" => {
            let recursive = option("-r", "rm", words);
            if recursive == Fit::No {
                return Fit::No;
            }
            recursive.min(any_outside(operands(words), command, place))
        }
        "find" => {
            let text = |word: &&Word| word.text == "-delete";
            if !words.iter().any(|word| text(&word)) {
                return Fit::No;
            }
            let roots = words.iter().take_while(|word| !word.text.starts_with(['-', '(', '!']));
            let below: Vec<Word> =
                roots.map(|root| Word { text: format!("{}/x", root.text) }).collect();
            any_outside(below.iter(), command, place)
        }
        _ => Fit::No,
    }
}

/// `dd of=/dev/sda`.
pub(super) fn writes_disk(command: &Command) -> Fit {
    let Some((program, words)) = command.argv.split_first() else { return Fit::No };
    if program.text != "dd" {
        return Fit::No;
    }
    let to = words.iter().filter_map(|word| word.text.strip_prefix("of="));
    let fit = |file: &str| {
        let is_anything = file.starts_with(|c| is_hole(c) && !shell::is_name(c));
        if is_anything { Fit::Maybe } else { Fit::from(is_disk(file)) }
    };
    to.map(fit).max().unwrap_or(Fit::No)
}

/// A device that holds data.
pub(super) fn is_disk(file: &str) -> bool {
    let Some(name) = file.strip_prefix("/dev/") else { return false };
    ["sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "mapper/", "md", "loop"]
        .iter()
        .any(|kind| name.starts_with(kind))
}

/// `chmod` that lets everybody write, gives away a program's owner, or reaches outside the repository
/// with all that is below.
pub(super) fn opens_up(command: &Command, place: &Workdir<'_>) -> Fit {
    let Some((program, words)) = command.argv.split_first() else { return Fit::No };
    if program.text != "chmod" {
        return Fit::No;
    }
    let mut operands = operands(words).peekable();
    let Some(mode) = operands.next_if(|_| !words.iter().any(|w| w.text.starts_with("--reference")))
    else {
        return Fit::No;
    };
    let opens = match mode.known() {
        Some(mode) => Fit::from(is_open(mode)),
        None => Fit::Maybe,
    };
    let recursive = option("-R", "chmod", words).min(any_outside(operands, command, place));
    opens.max(recursive)
}

/// `777`, `a+w`, `o=rw`, `u+s`, `4755`.
fn is_open(mode: &str) -> bool {
    if mode.bytes().all(|b| b.is_ascii_digit()) {
        let others_write = mode.bytes().last().is_some_and(|b| (b - b'0') & 2 != 0);
        let takes_owner = mode.len() == 4 && matches!(mode.as_bytes()[0], b'2' | b'4' | b'6');
        return others_write || takes_owner;
    }
    mode.split(',').any(|part| {
        let Some((who, what)) = part.split_once(['+', '=']) else { return false };
        let everybody = who.contains(['a', 'o']);
        (everybody && what.contains('w')) || what.contains('s')
    })
}

fn option(wanted: &str, program: &str, words: &[Word]) -> Fit {
    let of = Of { program, subcommand: None };
    shell::given(wanted, of, words.iter().map(|word| word.text.as_str()))
}

fn operands(words: &[Word]) -> impl Iterator<Item = &Word> {
    let dashes = words.iter().position(|word| word.text == "--").unwrap_or(words.len());
    words
        .iter()
        .enumerate()
        .filter_map(move |(at, word)| (at > dashes || !word.text.starts_with('-')).then_some(word))
}

fn any_outside<'w>(
    words: impl Iterator<Item = &'w Word>,
    command: &Command,
    place: &Workdir<'_>,
) -> Fit {
    words.map(|word| is_outside(&word.text, command, place)).max().unwrap_or(Fit::No)
}

/// Whether a path is outside the repository, its `.git`, or all that is in it.
fn is_outside(path: &str, command: &Command, place: &Workdir<'_>) -> Fit {
    let is_own = path.starts_with(['/', '~', shell::ROOT]);
    let path = match &command.directory {
        _ if is_own => path.to_owned(),
        Some(directory) if directory.is_empty() => path.to_owned(),
        Some(directory) => format!("{directory}/{path}"),
        // A directory of which nothing is known: only what begins with one of its own is.
        None => return Fit::Maybe,
    };
    let located = Located::new(&path, place);
    if located.is_anywhere {
        return Fit::Maybe;
    }
    match &located.relative {
        None => Fit::from(!path.starts_with('/') || !is_temporary(&located.absolute, place)),
        Some(relative) => {
            Fit::from(is_all(relative) || relative == ".git" || relative.starts_with(".git/"))
        }
    }
}

/// Whether it is something temporary, and neither all of that nor what the repository lies in. Only what is called
/// so is: beside a repository that lies in such a directory there may be others.
fn is_temporary(absolute: &str, place: &Workdir<'_>) -> bool {
    let holds = |root: &str| {
        root.strip_prefix(absolute).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let is_in = |directory: &str| {
        absolute.strip_prefix(directory).is_some_and(|rest| !rest.is_empty() && !is_all(rest))
    };
    TEMPORARY.iter().any(|directory| is_in(directory))
        && !place.roots.iter().any(|root| holds(root))
}

/// `*` alone.
fn is_all(path: &str) -> bool {
    let mut chars = path.chars();
    chars.next() == Some(shell::STAR) && chars.next().is_none()
}

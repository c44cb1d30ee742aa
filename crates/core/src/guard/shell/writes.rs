//! Which files a command writes, removes or puts something in the place of. Reading is not in it.
//!
//! A name that ends in `/` is a directory and all that is below it.

mod git;
mod more;

use super::Word;
use super::hosts;
use super::mark::NAME;
use super::read::Input;
use super::world::World;
use super::wrappers::option_value;

/// The files, as the command names them.
pub(super) fn touched(argv: &[Word], input: &Input, world: &mut World) -> Vec<String> {
    let Some(program) = argv.first() else { return Vec::new() };
    let has = |options: &[&str]| {
        argv[1..].iter().any(|word| {
            let text = word.text.split('=').next().unwrap_or_default();
            let is_shortened =
                |o: &&str| text.len() >= 5 && o.starts_with("--") && o.starts_with(text);
            options.contains(&text)
                || options.iter().any(|o| is_in_cluster(o, text) || is_shortened(o))
        })
    };
    let name = plain(&program.text);
    match name {
        "rm" if has(&["-r", "-R", "--recursive"]) => trees(operands(argv, 1, &[])),
        "tee" | "touch" | "rm" | "rmdir" | "unlink" | "shred" | "sponge" | "dos2unix"
        | "unix2dos" => operands(argv, 1, &[]),
        "gzip" | "gunzip" | "bzip2" | "bunzip2" | "xz" | "unxz" | "lzma" | "unlzma" | "pigz"
        | "unpigz" | "compress" | "uncompress" | "zstd" | "unzstd" | "lz4" | "unlz4"
            if !has(&["-c", "--stdout", "-l", "--list", "-t", "--test"]) =>
        {
            operands(argv, 1, &[])
        }
        "truncate" => operands(argv, 1, &["-s", "--size", "-r", "--reference"]),
        "dd" => argv.iter().filter_map(|w| w.text.strip_prefix("of=").map(str::to_owned)).collect(),
        "cp" | "rsync" | "scp" | "ditto" => copied(argv, has(&["--delete"])),
        "ln" => match operands(argv, 1, &["-S", "--suffix"]).as_slice() {
            // Here, by the same name.
            [file] if !has(&["-t", "--target-directory"]) => {
                file.rsplit('/').next().map(str::to_owned).into_iter().collect()
            }
            _ => placed(argv, false),
        },
        "install" => placed(argv, false),
        "mv" => placed(argv, true),
        "sed" | "gsed"
            if has(&["-i", "--in-place"]) || argv.iter().any(|w| w.text.starts_with("-i")) =>
        {
            let files = edited(argv, &["-e", "--expression", "-f", "--file"], &["-i"]);
            files.into_iter().chain(more::by_sed(argv)).collect()
        }
        "perl" | "ruby" if argv.iter().any(|w| is_in_place(&w.text)) => {
            edited(argv, &["-e", "-E", "-pe", "-ne", "-pie", "-I", "-M"], &[])
        }
        "awk" | "gawk" if has(&["-i"]) => operands(argv, 1, &["-i", "-v", "-F"]).split_off_first(),
        "ed" => {
            let files = operands(argv, 1, &["-p", "--prompt"]);
            files.into_iter().chain(more::by_editor(argv, input)).collect()
        }
        "ex" | "vi" | "vim" | "nvim" if !has(&["-R", "-M"]) => {
            let mut files = operands(argv, 1, &["-c", "-S", "-u", "-i", "--cmd"]);
            files.retain(|file| !file.starts_with('+'));
            files.extend(more::by_editor(argv, input));
            files
        }
        "gofmt" | "goimports" | "shfmt" if has(&["-w"]) => trees(operands(argv, 1, &[])),
        "prettier" if has(&["--write", "-w"]) => trees(operands(argv, 1, &[])),
        "eslint" | "stylelint" if has(&["--fix"]) => trees(operands(argv, 1, &["-c", "--config"])),
        "ruff" if has(&["--fix", "--unsafe-fixes"]) => trees(operands(argv, 2, &[])),
        "ruff" if argv.get(1).is_some_and(|word| word.text == "format") => {
            if has(&["--check", "--diff"]) { Vec::new() } else { trees(operands(argv, 2, &[])) }
        }
        "clang-format" if has(&["-i"]) => operands(argv, 1, &[]),
        "rustfmt" | "black" | "isort" if !has(&["--check", "--diff"]) => {
            trees(operands(argv, 1, &[]))
        }
        // The first is an expression.
        "yq" if has(&["-i", "--inplace"]) => operands(argv, 1, &[]).split_off_first(),
        "sd" if !has(&["-p", "--preview"]) => {
            operands(argv, 1, &["-n", "-f"]).split_off_first().split_off_first()
        }
        "find" if argv.iter().any(|word| word.text == "-delete") => {
            find_roots(&argv[1..]).into_iter().map(|root| format!("{root}/{NAME}")).collect()
        }
        "tar" | "gtar" | "bsdtar"
            if has(&["-x", "--extract"])
                || argv.get(1).is_some_and(|w| w.text.starts_with('x')) =>
        {
            below(option_value(argv, &["-C", "--directory"]).as_deref())
        }
        "unzip" if !has(&["-l", "-t", "-p", "-Z"]) => below(option_value(argv, &["-d"]).as_deref()),
        "patch" if !has(&["--dry-run", "-C"]) => {
            let mut named = operands(argv, 1, &["-i", "--input", "-d", "-p", "-o", "-F"]);
            named.truncate(1);
            let patch = option_value(argv, &["-i", "--input"]);
            if named.is_empty() { patched(patch.as_deref(), argv, input, world) } else { named }
        }
        "git" => git::touched(argv, input, world, &has),
        name => more::touched(name, argv, input, &has),
    }
}

/// The name that GNU's program has elsewhere than where the system has another by it.
fn plain(name: &str) -> &str {
    match name {
        "gcp" => "cp",
        "gmv" => "mv",
        "grm" => "rm",
        "gln" => "ln",
        "gdd" => "dd",
        "gtee" => "tee",
        "gtouch" => "touch",
        "ginstall" => "install",
        "gtruncate" => "truncate",
        name => name,
    }
}

/// What is copied. What is in a directory may go anywhere below the other one.
fn copied(argv: &[Word], deletes: bool) -> Vec<String> {
    let mut files = placed(argv, false);
    let is_content = |word: &Word| word.text.ends_with('/') || word.text.ends_with("/.");
    let goes_below = argv.len() > 2 && argv[1..argv.len() - 1].iter().any(is_content);
    if let Some(to) = files.last().cloned().filter(|_| goes_below || deletes) {
        files.push(format!("{to}/{NAME}"));
    }
    files
}

trait SplitFirst {
    fn split_off_first(self) -> Self;
}

impl SplitFirst for Vec<String> {
    /// Without the first: a program, not a file.
    fn split_off_first(mut self) -> Self {
        if !self.is_empty() {
            self.remove(0);
        }
        self
    }
}

/// The files that a patch changes. Where the patch is not known, that is noted.
fn patched(file: Option<&str>, argv: &[Word], input: &Input, world: &mut World) -> Vec<String> {
    let text = match (file, input) {
        (Some(file), _) => world.file(file).text(),
        (None, Input::Text(text)) => Some(text.clone()),
        (None, _) => None,
    };
    let Some(text) = text else {
        let named = match (file, input) {
            (Some(file), _) => Some((file.to_owned(), world.located(file))),
            (None, Input::File) => {
                world.script.reads.last().map(|word| (word.text.clone(), word.text.clone()))
            }
            (None, _) => None,
        };
        world.script.applies_unknown = true;
        world.script.open.patches.extend(named);
        return Vec::new();
    };
    let depth = hosts::values(argv, &["-p", "--strip"]).last().and_then(|n| n.parse().ok());
    let below = option_value(argv, &["--directory"]);
    let files = text.lines().filter_map(named_in_patch).flatten();
    let stripped = files.map(|file| stripped(file, depth));
    match below {
        Some(below) => {
            stripped.map(|file| format!("{}/{file}", below.trim_end_matches('/'))).collect()
        }
        None => stripped.map(str::to_owned).collect(),
    }
}

/// The lines of a patch that name files.
pub(super) fn heads(patch: &str) -> String {
    let lines = patch.lines().filter(|line| named_in_patch(line).is_some());
    lines.collect::<Vec<_>>().join("\n")
}

/// The files that a line of a patch names: one, or where it names both sides, the two of them.
fn named_in_patch(line: &str) -> Option<[&str; 2]> {
    if let Some(both) = line.strip_prefix("diff --git ") {
        let middle = both.find(" b/")?;
        return Some([&both[..middle], &both[middle + 1..]]);
    }
    let path = line.strip_prefix("+++ ").or_else(|| line.strip_prefix("--- "))?;
    let path = path.split('\t').next().unwrap_or(path).trim();
    (path != "/dev/null").then_some([path, path])
}

/// A file of a patch without the parts of its path that are left off: the side it stands for, or so many.
fn stripped(path: &str, depth: Option<usize>) -> &str {
    match depth {
        None | Some(1) => {
            path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path)
        }
        Some(depth) => path.splitn(depth + 1, '/').nth(depth).unwrap_or(path),
    }
}

/// What is named, and all that is below it if it is a directory.
fn trees(files: Vec<String>) -> Vec<String> {
    let below = |file: &String| format!("{}/", file.trim_end_matches('/'));
    let directories: Vec<String> = files.iter().map(below).collect();
    files.into_iter().chain(directories).collect()
}

fn is_in_cluster(option: &str, text: &str) -> bool {
    option.len() == 2
        && text.len() > 1
        && !text.starts_with("--")
        && text.starts_with('-')
        && text[1..].bytes().all(|b| b.is_ascii_alphabetic())
        && text.contains(&option[1..])
}

/// `-i`, `-i.bak`, `-pi`, `-pie`: letters of perl's and ruby's that edit in place.
fn is_in_place(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|letters| {
        let flags = letters.split('.').next().unwrap_or_default();
        !flags.is_empty()
            && flags.contains('i')
            && flags.bytes().all(|b| b"piewnalE0123456789".contains(&b))
    })
}

/// The words that are no options and not their values.
fn operands(argv: &[Word], from: usize, valued: &[&str]) -> Vec<String> {
    let mut files = Vec::new();
    let mut at = from;
    let mut options_ended = false;
    while let Some(word) = argv.get(at) {
        let text = word.text.as_str();
        if text == "--" && !options_ended {
            options_ended = true;
        } else if text.starts_with('-') && text.len() > 1 && !options_ended {
            at += usize::from(valued.contains(&text));
        } else {
            files.push(word.text.clone());
        }
        at += 1;
    }
    files
}

/// The files after the program of an editor of streams, which is the first operand unless an option
/// gave it.
fn edited(argv: &[Word], programs: &[&str], backups: &[&str]) -> Vec<String> {
    let is_program = |word: &Word| {
        let name = word.text.split('=').next().unwrap_or_default();
        programs.contains(&name)
            || (name.len() > 2
                && name.starts_with('-')
                && !name.starts_with("--")
                && name.ends_with(['e', 'E'])
                && name[1..].bytes().all(|b| b.is_ascii_alphanumeric()))
    };
    let given = argv.iter().any(is_program);
    let valued: Vec<&str> = argv
        .iter()
        .filter(|w| is_program(w) && !w.text.contains('='))
        .map(|w| w.text.as_str())
        .collect();
    let mut files = operands(argv, 1, &valued);
    // BSD's `sed -i '' s/a/b/`: the empty word is the ending of a backup.
    if !backups.is_empty() && files.first().is_some_and(String::is_empty) {
        files.remove(0);
    }
    if !given && !files.is_empty() {
        files.remove(0);
    }
    files
}

/// Where something is copied or moved to, as a file and as a file in a directory.
fn placed(argv: &[Word], removes: bool) -> Vec<String> {
    let directory = option_value(argv, &["-t", "--target-directory"]);
    let valued = [
        "-t",
        "--target-directory",
        "-m",
        "--mode",
        "-o",
        "-g",
        "-S",
        "--suffix",
        "-e",
        "--exclude",
    ];
    let mut files = operands(argv, 1, &valued);
    let to = match directory {
        Some(directory) => directory,
        None if files.len() > 1 => files.pop().unwrap_or_default(),
        None => return Vec::new(),
    };
    // Another machine's files are not ours.
    let is_remote = to.split('/').next().is_some_and(|first| first.contains(':'));
    let mut touched = Vec::new();
    if !is_remote {
        for file in &files {
            let name = file.trim_end_matches('/').rsplit('/').next().unwrap_or(file);
            touched.push(format!("{}/{name}", to.trim_end_matches('/')));
        }
        // Only what is put there: not all that is below it.
        touched.push(if to == "/" { to } else { to.trim_end_matches('/').to_owned() });
    }
    if removes {
        touched.extend(trees(files));
    }
    touched
}

/// Some file in a directory.
fn below(directory: Option<&str>) -> Vec<String> {
    vec![format!("{}/{NAME}", directory.unwrap_or("."))]
}

/// The directories that `find` looks in.
pub(super) fn find_roots(arguments: &[Word]) -> Vec<String> {
    let words = arguments.iter().skip_while(|w| matches!(w.text.as_str(), "-H" | "-L" | "-P"));
    let roots: Vec<String> = words
        .take_while(|word| !word.text.starts_with(['-', '(', '!']))
        .map(|word| word.text.trim_end_matches('/').to_owned())
        .collect();
    if roots.is_empty() { vec![".".to_owned()] } else { roots }
}

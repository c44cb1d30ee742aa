//! Programs that write files, beside the ones everybody uses.

use super::{below, operands, placed, trees};
use crate::guard::shell::Word;
use crate::guard::shell::hosts;
use crate::guard::shell::mark::NAME;
use crate::guard::shell::read::Input;
use crate::guard::shell::wrappers::option_value;

/// Options whose value is a file that is written, by program.
const OUTPUTS: &[(&[&str], &[&str])] = &[
    (&["sort", "shuf", "iconv", "pandoc", "xmllint", "xsltproc", "dot", "base64"], OUTPUT),
    (&["gpg", "gpg2", "age", "strace", "ltrace", "perf", "time", "uudecode", "brotli"], OUTPUT),
    (&["gcc", "cc", "g++", "c++", "clang", "clang++", "ld", "as", "nasm", "rustc", "go"], OUTPUT),
    (&["javac"], &["-d"]),
    (&["openssl"], &["-out"]),
    (&["ssh-keygen"], &["-f"]),
    (&["protoc", "mysqldump", "pg_dump"], &["--result-file", "-r", "-f", "--file", "-o"]),
];
const OUTPUT: &[&str] = &["-o", "--output"];

/// Programs that change the files they are given, and the options with which they do; with none they
/// always do.
const EDITORS: &[(&[&str], &[&str])] = &[
    (&["nano", "pico", "micro", "joe", "jed", "mg", "emacs", "kak", "hx", "sudoedit"], &[]),
    (&["strip", "patchelf", "pyupgrade", "stylua", "swiftformat", "phpcbf", "mogrify"], &[]),
    (&["autopep8", "yapf", "autoflake", "cmake-format", "ormolu", "comby"], &["-i", "--in-place"]),
    (&["codespell", "gofumpt"], &["-w", "--write-changes"]),
    (&["biome"], &["--write", "--apply", "--fix"]),
    (&["rubocop"], &["-a", "-A", "--autocorrect", "--autocorrect-all", "--auto-correct"]),
    (&["standardrb", "standard", "xo", "oxlint"], &["--fix"]),
    (&["ktlint"], &["-F", "--format"]),
    (&["tidy"], &["-m", "-modify"]),
    (&["ast-grep", "sg"], &["-U", "--update-all"]),
    (&["xmlstarlet"], &["-L", "--inplace"]),
    (&["crudini"], &["--set", "--del", "--merge"]),
];

/// The files, as the command names them.
pub(super) fn touched(
    name: &str,
    argv: &[Word],
    input: &Input,
    has: &dyn Fn(&[&str]) -> bool,
) -> Vec<String> {
    if let Some((_, options)) = OUTPUTS.iter().find(|(names, _)| names.contains(&name)) {
        return written_to(argv, options);
    }
    if let Some((_, options)) = EDITORS.iter().find(|(names, _)| names.contains(&name)) {
        let changes = options.is_empty() || has(options);
        return if changes { trees(operands(argv, 1, &[])) } else { Vec::new() };
    }
    let word = |at: usize| argv.get(at).map_or("", |word| word.text.as_str());
    let nth = |valued: &[&str], at: usize| operands(argv, 1, valued).into_iter().skip(at).take(1);
    match name {
        "curl" | "wget" | "aria2c" => fetched(name, argv, has),
        "split" => {
            let valued = ["-a", "-b", "-C", "-l", "-n", "-t", "--filter"];
            let prefix = nth(&valued, 1).next().unwrap_or_else(|| "x".to_owned());
            vec![format!("{prefix}{NAME}")]
        }
        "csplit" => {
            let prefix = hosts::values(argv, &["-f", "--prefix"]).pop();
            vec![format!("{}{NAME}", prefix.as_deref().unwrap_or("xx"))]
        }
        "cpio" | "bsdcpio" | "pax" => unpacked(name, argv, has),
        "tar" | "gtar" | "bsdtar" => packed(argv, has),
        "zip" => nth(&["-b", "-i", "-x", "-P"], 0).collect(),
        "7z" | "7za" | "7zr" if matches!(word(1), "x" | "e") => {
            let to = argv.iter().find_map(|word| word.text.strip_prefix("-o"));
            below(to)
        }
        "7z" | "7za" | "7zr" | "jar" | "ar" if word(1).starts_with(['a', 'c', 'r']) => {
            nth(&[], 1).collect()
        }
        "jar" | "ar" if word(1).contains('x') => below(None),
        "unrar" | "rar" if matches!(word(1), "x" | "e") => {
            let to = operands(argv, 1, &[]).pop().filter(|to| to.ends_with('/'));
            below(to.as_deref())
        }
        "dpkg" | "dpkg-deb" if has(&["-x", "-X", "-R", "--extract"]) => {
            below(operands(argv, 1, &[]).pop().as_deref())
        }
        "unsquashfs" | "cabextract" => below(option_value(argv, &["-d", "-dest"]).as_deref()),
        "uniq" => nth(&["-f", "-s", "-w"], 1).collect(),
        "xxd" if has(&["-r"]) => nth(&["-s", "-c", "-l", "-g", "-o"], 1).collect(),
        "json.tool" | "link" => nth(&[], 1).collect(),
        "zipfile" | "tarfile" if has(&["-e", "--extract"]) => {
            below(operands(argv, 1, &[]).pop().as_deref())
        }
        "mkfifo" | "mknod" => operands(argv, 1, &["-m", "--mode"]).into_iter().take(1).collect(),
        "fallocate" => operands(argv, 1, &["-l", "--length", "-o", "--offset"]),
        "objcopy" | "ffmpeg" | "convert" | "magick" => {
            operands(argv, 1, &[]).pop().into_iter().collect()
        }
        "script" if !has(&["-c"]) => nth(&["-I", "-O", "-B", "-T"], 0).collect(),
        "rename" | "prename" | "perl-rename" | "mmv" => {
            operands(argv, 1, &["-e"]).into_iter().skip(1).collect()
        }
        "taplo" | "zig" | "deno" | "dprint" | "terraform" | "tofu" | "buf"
            if matches!(word(1), "fmt" | "format") && !has(&["--check", "-check"]) =>
        {
            trees(operands(argv, 2, &[]))
        }
        "php-cs-fixer" if word(1) == "fix" => trees(operands(argv, 2, &[])),
        "docker" | "podman" | "nerdctl" | "kubectl" | "oc" if word(1) == "cp" => {
            placed(&argv[1..], false)
        }
        "aws" if word(1) == "s3" => placed(&argv[2..], false),
        "gsutil" if matches!(word(1), "cp" | "mv" | "rsync") => placed(&argv[1..], false),
        "rclone" if word(1).starts_with(['c', 'm', 's']) => placed(&argv[1..], false),
        "svn" if matches!(word(1), "export" | "checkout" | "co") => {
            operands(argv, 2, &["-r"]).into_iter().skip(1).collect()
        }
        "mount" if has(&["--bind", "-B", "--rbind", "-o"]) => {
            trees(operands(argv, 1, &["-o", "-t"]).pop().into_iter().collect())
        }
        "sudo" if has(&["-e", "--edit"]) => operands(argv, 1, &["-u", "-g"]),
        "sed" | "gsed" => by_sed(argv),
        "vim" | "nvim" | "vi" | "ex" | "view" | "gvim" => by_editor(argv, input),
        _ => Vec::new(),
    }
}

fn written_to(argv: &[Word], options: &[&str]) -> Vec<String> {
    let in_cluster = option_value(argv, options);
    hosts::values(argv, options).into_iter().chain(in_cluster).collect()
}

/// What comes from the network: where it is said to go, or by the last part of its address.
fn fetched(name: &str, argv: &[Word], has: &dyn Fn(&[&str]) -> bool) -> Vec<String> {
    let (options, directory): (&[&str], &[&str]) = match name {
        "curl" => (
            &["-o", "--output", "-D", "--dump-header", "--cookie-jar", "--trace", "--stderr"],
            &["--output-dir"],
        ),
        "wget" => {
            (&["-O", "--output-document", "-o", "--output-file"], &["-P", "--directory-prefix"])
        }
        _ => (&["-o", "--out"], &["-d", "--dir"]),
    };
    let directory = hosts::values(argv, directory).pop();
    let within = |file: String| match &directory {
        Some(directory) if !file.starts_with('/') => format!("{directory}/{file}"),
        _ => file,
    };
    let is_file = |file: &String| file != "-";
    let mut files: Vec<String> = written_to(argv, options);
    let keeps_name = match name {
        "curl" => has(&["-O", "--remote-name", "-J", "--remote-name-all"]),
        _ => files.is_empty() && !has(&["--spider"]),
    };
    if keeps_name {
        let address = argv.iter().rev().map(|word| word.text.as_str());
        let mut address = address.filter(|text| text.contains("://"));
        let last = address.next().and_then(|text| text.split(['?', '#']).next());
        let last = last.and_then(|text| text.rsplit('/').next()).unwrap_or_default();
        files.push(if last.is_empty() { NAME.to_string() } else { last.to_owned() });
    }
    files.into_iter().filter(is_file).map(within).collect()
}

fn unpacked(name: &str, argv: &[Word], has: &dyn Fn(&[&str]) -> bool) -> Vec<String> {
    let valued = ["-D", "-F", "-O", "-I", "-H", "-E", "-R", "-f", "-s"];
    let (passes, takes_out) = match name {
        "pax" => (has(&["-r"]) && has(&["-w"]), has(&["-r"])),
        _ => (has(&["-p", "--pass-through"]), has(&["-i", "--extract"])),
    };
    if passes {
        return below(operands(argv, 1, &valued).pop().as_deref());
    }
    if takes_out {
        return below(option_value(argv, &["-D", "--directory"]).as_deref());
    }
    hosts::values(argv, &["-O", "-F", "-f", "--file"])
}

/// The archive that is made.
fn packed(argv: &[Word], has: &dyn Fn(&[&str]) -> bool) -> Vec<String> {
    let first = argv.get(1).map_or("", |word| word.text.as_str());
    let is_old = !first.starts_with('-') && first.bytes().all(|b| b.is_ascii_alphabetic());
    let makes = |text: &str| text.contains(['c', 'r', 'u']);
    if is_old && makes(first) && first.contains('f') {
        return argv.get(2).map(|word| word.text.clone()).into_iter().collect();
    }
    let makes = has(&["-c", "--create", "-r", "--append", "-u", "--update"]);
    let to = option_value(argv, &["-f", "--file"]).filter(|to| makes && to != "-");
    to.into_iter().collect()
}

/// The files that a script of sed's writes to: `w FILE`, and `s/a/b/w FILE`.
pub(super) fn by_sed(argv: &[Word]) -> Vec<String> {
    let mut scripts = hosts::values(argv, &["-e", "--expression"]);
    if scripts.is_empty() {
        scripts.extend(operands(argv, 1, &["-f", "--file"]).into_iter().take(1));
    }
    let lines = scripts.iter().flat_map(|script| script.split(['\n', ';']));
    let written = lines.filter_map(|line| {
        let (before, file) = line.split_once("w ")?;
        let is_flag = before.ends_with(|c: char| "/|#,:@~!}${ ".contains(c) || c.is_ascii_digit());
        let is_flag = is_flag || before.is_empty() || before.ends_with(['g', 'p', 'i', 'I', 'n']);
        is_flag.then(|| file.trim().trim_end_matches('}').trim().to_owned())
    });
    written.filter(|file| !file.is_empty() && !file.contains(' ')).collect()
}

/// The files that commands of an editor write to by another name: `:w FILE`, `:saveas FILE`.
pub(super) fn by_editor(argv: &[Word], input: &Input) -> Vec<String> {
    let mut commands = hosts::values(argv, &["-c", "--cmd"]);
    commands.extend(argv.iter().filter_map(|word| word.text.strip_prefix('+')).map(str::to_owned));
    if let Input::Text(text) = input {
        commands.extend(text.lines().map(str::to_owned));
    }
    let parts = commands.iter().flat_map(|command| command.split('|'));
    let written = parts.filter_map(|part| {
        let verb = part
            .trim_start()
            .trim_start_matches(|c: char| ":,.%$'".contains(c) || c.is_ascii_digit());
        let (verb, file) = verb.split_once(' ')?;
        let verb = verb.trim_end_matches('!');
        let writes = ["w", "wq", "x", "write", "sav", "saveas", "up", "update"].contains(&verb);
        let file = file.trim().trim_start_matches('!').trim_start_matches(">>").trim();
        (writes && !file.is_empty()).then(|| file.to_owned())
    });
    written.collect()
}

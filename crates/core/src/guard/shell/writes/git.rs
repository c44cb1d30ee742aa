//! Which files git writes, removes or puts something in the place of.

use super::{operands, patched, trees};
use crate::guard::shell::Word;
use crate::guard::shell::hosts;
use crate::guard::shell::mark::{NAME, ROOT};
use crate::guard::shell::read::Input;
use crate::guard::shell::world::World;
use crate::guard::shell::wrappers::option_value;

/// Options of a clone that take a value.
const CLONE: &[&str] =
    &["-b", "--branch", "-c", "--config", "-o", "--origin", "--depth", "-j", "-u"];

/// A directory that something is put into.
fn inside(directory: String) -> [String; 2] {
    let below = format!("{directory}/{NAME}");
    [directory, below]
}

/// The files, as the command names them.
pub(super) fn touched(
    argv: &[Word],
    input: &Input,
    world: &mut World,
    has: &dyn Fn(&[&str]) -> bool,
) -> Vec<String> {
    let subcommand = argv.get(1).map(|word| word.text.as_str());
    let after_dashes = || {
        let at = argv.iter().position(|word| word.text == "--")?;
        Some(argv[at + 1..].iter().map(|word| word.text.clone()).collect::<Vec<_>>())
    };
    match subcommand {
        Some("rm") if !has(&["--cached", "-n", "--dry-run"]) => trees(operands(argv, 2, &[])),
        Some("mv") => trees(operands(argv, 2, &[])),
        Some("restore") if !has(&["--staged", "-S"]) || has(&["--worktree", "-W"]) => {
            trees(operands(argv, 2, &["-s", "--source"]))
        }
        // Without dashes a branch and a file look alike; one that is called as a file is meant as it.
        Some("checkout") if !has(&["-b", "-B", "--orphan", "--detach"]) => {
            trees(after_dashes().unwrap_or_else(|| operands(argv, 2, &[])))
        }
        // All of it: what is not committed goes, wherever it is.
        Some("reset") if has(&["--hard", "--merge", "--keep"]) => vec![format!("{ROOT}/")],
        Some("clean") if !has(&["-n", "--dry-run"]) => {
            let named = operands(argv, 2, &["-e", "--exclude"]);
            trees(if named.is_empty() { vec![".".to_owned()] } else { named })
        }
        Some("stash") => {
            let verb = argv.get(2).map(|word| word.text.as_str());
            world.script.applies_unknown |= matches!(verb, Some("pop" | "apply" | "branch"));
            Vec::new()
        }
        // Commits that are put on top of what is here as patches are.
        Some("cherry-pick" | "revert") if has(&["-n", "--no-commit"]) => {
            world.script.applies_unknown = true;
            Vec::new()
        }
        Some("read-tree") if has(&["-u", "--reset"]) => vec![format!("{ROOT}/")],
        Some("checkout-index") if has(&["-a", "--all"]) => {
            let prefix = option_value(argv, &["--prefix"]);
            vec![prefix.unwrap_or_else(|| format!("{ROOT}/"))]
        }
        Some("checkout-index") => operands(argv, 2, &["--prefix", "--stage"]),
        // The first of three files is where the others are merged into.
        Some("merge-file") if !has(&["-p", "--stdout"]) => {
            operands(argv, 2, &["-L", "--marker-size"]).into_iter().take(1).collect()
        }
        Some("clone") => operands(argv, 2, CLONE).into_iter().skip(1).flat_map(inside).collect(),
        Some("worktree") if argv.get(2).is_some_and(|word| word.text == "add") => {
            let to = operands(argv, 3, &["-b", "-B", "--reason"]).into_iter().take(1);
            to.flat_map(inside).collect()
        }
        Some("config") => option_value(argv, &["-f", "--file"]).into_iter().collect(),
        Some("bundle") if argv.get(2).is_some_and(|word| word.text == "create") => {
            operands(argv, 3, &[]).into_iter().take(1).collect()
        }
        Some("format-patch") => {
            let to = option_value(argv, &["-o", "--output-directory"]);
            to.into_iter().flat_map(inside).collect()
        }
        Some("archive" | "diff" | "log" | "show" | "diff-tree" | "diff-index") => {
            hosts::values(argv, &["-o", "--output"])
        }
        Some("apply") if !has(&["--stat", "--numstat", "--summary", "--check", "--cached"]) => {
            let patch = operands(argv, 2, &["-p", "-C", "--directory", "--exclude", "--include"]);
            let patch = patch.first().filter(|file| *file != "-");
            patched(patch.map(String::as_str), argv, input, world)
        }
        Some("am") if !has(&["--abort", "--continue", "--skip", "--quit"]) => {
            let patch = operands(argv, 2, &[]);
            patched(patch.first().map(String::as_str), argv, input, world)
        }
        _ => Vec::new(),
    }
}

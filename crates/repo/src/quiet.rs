//! git, started so that nothing a repository brings is run.
//!
//! A repository can name programs in many places: hooks, a file system monitor, drivers for diffs, merges and
//! filters, a pager, a program that checks signatures. Its configuration is not part of a clone, but it is part of a directory that
//! somebody else unpacked or shares. heirloom looks at repositories by itself, at moments nobody chose; so all of that is
//! off, whatever it is asked. Drivers of the person's own settings, such as those of large files, stay.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use crate::child;
use crate::discover::{common_dir, discover};
use crate::file;
use crate::stuck;

/// What is off, whatever the repository says.
const OFF: [&str; 12] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.editor=true",
    "core.sshCommand=false",
    "core.askPass=",
    "diff.external=",
    // Not looked into: they have a configuration of their own.
    "diff.ignoreSubmodules=all",
    "submodule.recurse=false",
    "log.showSignature=false",
    "gc.auto=0",
    "maintenance.auto=false",
];

/// How long another process that holds a reference is waited for. By itself git gives up after a tenth
/// of a second, which on a busy machine is less than it takes the other one to get its turn.
const PATIENT: [&str; 2] = ["core.filesRefLockTimeout=30000", "core.packedRefsTimeout=30000"];

/// Settings by which a driver names a program.
const DRIVERS: &str =
    r"^(filter\..*\.(clean|smudge|process)|diff\..*\.(command|textconv)|merge\..*\.driver)$";

/// `git` in `root`, with nothing to say yet.
pub(crate) fn command(root: &Path) -> Command {
    let mut command = bare(root);
    for (name, value) in drivers(root) {
        command.args(["-c", &format!("{name}={value}")]);
    }
    command
}

/// Every git of ours is started here.
pub(crate) fn bare(root: &Path) -> Command {
    let mut command = child::with_ours("git");
    command.current_dir(root).stdin(Stdio::null());
    for setting in OFF.into_iter().chain(PATIENT) {
        command.args(["-c", setting]);
    }
    // Whoever called us may have been called by git, and may mean another repository.
    for variable in
        ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_EXTERNAL_DIFF", "GIT_COMMON_DIR"]
    {
        command.env_remove(variable);
    }
    // What git says is read, in the language that it is written in.
    command.env("LC_ALL", "C");
    command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_PAGER", "cat").env("GIT_TERMINAL_PROMPT", "0");
    command
}

/// What a git in `root` says, unless it waits for something that never comes.
pub(crate) fn output(root: &Path, command: &mut Command) -> io::Result<Output> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    stuck::output(root, || command.spawn())
}

/// A setting and its value.
type Setting = (String, &'static str);

/// The drivers of each configuration, and of what it was when it was asked.
type Known = HashMap<PathBuf, (Written, Vec<Setting>)>;

/// When a configuration and that of a worktree were written last, and how long they are.
type Written = [Option<(SystemTime, u64)>; 2];

/// What turns off the drivers that the repository's own configuration names, asked for once a process
/// and repository, and again when it changed: an agent that works here may add to it. Its worktrees share it, unless
/// one has a configuration of its own.
fn drivers(root: &Path) -> Vec<Setting> {
    static KNOWN: Mutex<Option<Known>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_with(HashMap::new);
    let [shared, own] = configs(root).unwrap_or_else(|| [root.to_owned(), root.to_owned()]);
    let written = [&shared, &own]
        .map(|path| fs::metadata(path).and_then(|file| Ok((file.modified()?, file.len()))).ok());
    let files = [shared.clone(), own.clone()];
    let shared = if written[1].is_some() { own } else { shared };
    if let Some((then, drivers)) = known.get(&shared)
        && *then == written
    {
        return drivers.clone();
    }
    let Ok(drivers) = named(root) else {
        // Without knowing them no git may run here, and whoever comes later has to ask again.
        stuck::avoid(root);
        return Vec::new();
    };
    // A file that is included can change without either of them.
    if !files.iter().any(|path| may_include(path)) {
        known.insert(shared, (written, drivers.clone()));
    }
    drivers
}

/// Whether a configuration may have git read further files.
fn may_include(config: &Path) -> bool {
    const WORD: &[u8] = b"include";
    match file::read_at_most(config, file::MOST_BYTES) {
        Ok(text) => text.windows(WORD.len()).any(|word| word.eq_ignore_ascii_case(WORD)),
        // One that is not there includes nothing.
        Err(_) => config.is_file(),
    }
}

/// The configuration of a repository, and what a worktree may have of its own.
fn configs(root: &Path) -> Option<[PathBuf; 2]> {
    let git_dir = discover(root).git_dir?;
    Some([common_dir(&git_dir).join("config"), git_dir.join("config.worktree")])
}

fn named(root: &Path) -> io::Result<Vec<Setting>> {
    let mut command = bare(root);
    command.args(["config", "--includes", "--null", "--show-scope", "--name-only", "--get-regexp"]);
    command.arg(DRIVERS);
    let printed = output(root, &mut command)?.stdout;
    let words: Vec<&[u8]> = printed.split(|byte| *byte == 0).collect();
    let own = words.chunks_exact(2).filter(|pair| matches!(pair[0], b"local" | b"worktree"));
    let names = own.filter_map(|pair| std::str::from_utf8(pair[1]).ok());
    let off = |name: &str| {
        let mut off = vec![(name.to_owned(), "")];
        // A filter that must not be missing would fail every command.
        if let Some((filter, _)) =
            name.strip_prefix("filter.").and_then(|name| name.rsplit_once('.'))
        {
            off.push((format!("filter.{filter}.required"), "false"));
        }
        off
    };
    Ok(names.filter(|name| !name.is_empty()).flat_map(off).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{changes, discover, git, worktree};
    use std::os::unix::fs::PermissionsExt;
    use tempfile::TempDir;

    /// A repository in which everything that can name a program names one that leaves a trace.
    fn hostile() -> (TempDir, PathBuf) {
        let dir = TempDir::new().unwrap();
        let root = dir.path().join("repo");
        fs::create_dir(&root).unwrap();
        let (trace, evil) = (dir.path().join("trace"), dir.path().join("evil"));
        fs::write(&evil, format!("#!/bin/sh\necho \"$0 $*\" >> {}\ncat\n", trace.display()))
            .unwrap();
        fs::set_permissions(&evil, fs::Permissions::from_mode(0o755)).unwrap();
        let run = |arguments: &[&str]| {
            let output = bare(&root)
                .args(["-c", "user.name=t", "-c", "user.email=t@localhost"])
                .args(arguments)
                .output();
            let output = output.unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        };
        run(&["init", "-q", "-b", "main"]);
        fs::write(root.join("a.rs"), "fn one() {}\nfn two() {}\n").unwrap();
        fs::write(root.join(".gitattributes"), "* filter=evil diff=evil merge=evil\n").unwrap();
        run(&["add", "."]);
        run(&["commit", "-q", "-m", "first"]);
        let evil = evil.to_str().unwrap();
        for name in [
            "core.fsmonitor",
            "core.pager",
            "core.editor",
            "core.sshCommand",
            "diff.external",
            "filter.evil.clean",
            "filter.evil.smudge",
            "diff.evil.command",
            "diff.evil.textconv",
            "merge.evil.driver",
            "gpg.program",
        ] {
            run(&["config", name, evil]);
        }
        run(&["config", "filter.evil.required", "true"]);
        run(&["config", "log.showSignature", "true"]);
        for hook in [
            "post-index-change",
            "post-checkout",
            "reference-transaction",
            "pre-commit",
            "post-commit",
        ] {
            fs::copy(evil, root.join(".git/hooks").join(hook)).unwrap();
        }
        fs::rename(root.join("a.rs"), root.join("b.rs")).unwrap();
        fs::write(root.join("new.rs"), "new\n").unwrap();
        (dir, root)
    }

    #[test]
    fn nothing_that_a_repository_names_is_run() {
        let (dir, root) = hostile();
        let place = discover(&root);
        assert!(git::commit(&place).is_some());
        assert_eq!(git::renames_ever(&place).get("a.rs").map(String::as_str), Some("b.rs"));
        assert!(git::files(&place).contains(&"new.rs".to_owned()));
        assert!(git::staged(&place, "a.rs").unwrap().starts_with(b"fn one"));
        assert!(git::committed(&place, "a.rs").is_some());
        assert!(changes::size(&place).is_some());
        assert!(changes::changed(&place, &[]).is_some());
        worktree::keep(&root, "refs/heirloom/runs/s", "s: 1").unwrap();
        let tree = dir.path().join("tree");
        crate::branch::work_on(&root, &tree, "heirloom/work", "HEAD").unwrap();
        fs::write(tree.join("c.rs"), "c\n").unwrap();
        crate::own_tree::commit_all(&tree, "work").unwrap();
        crate::own_tree::left(&tree, "heirloom/work").unwrap();
        crate::branch::join(&root, "heirloom/work", "HEAD", "merge");
        crate::branch::bring_in(&root, "heirloom/work", "merge").unwrap();
        let trace = fs::read_to_string(dir.path().join("trace")).unwrap_or_default();
        assert_eq!(trace, "", "the repository ran something");
    }

    #[test]
    fn nothing_is_run_that_only_another_worktree_names() {
        let (dir, root) = hostile();
        let run = |root: &Path, arguments: &[&str]| {
            let output = bare(root).args(arguments).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        };
        run(&root, &["config", "--remove-section", "filter.evil"]);
        run(&root, &["config", "extensions.worktreeConfig", "true"]);
        let tree = dir.path().join("tree");
        run(&root, &["worktree", "add", "-q", tree.to_str().unwrap(), "HEAD"]);
        let evil = dir.path().join("evil");
        for name in ["filter.evil.clean", "filter.evil.smudge"] {
            run(&tree, &["config", "--worktree", name, evil.to_str().unwrap()]);
        }
        // What the other worktree does not name is known first.
        assert!(changes::changed(&discover(&root), &[]).is_some());
        fs::write(tree.join("a.rs"), "fn three() {}\n").unwrap();
        assert!(changes::changed(&discover(&tree), &[]).is_some());
        worktree::keep(&tree, "refs/heirloom/runs/t", "t: 1").unwrap();
        // Nor is what is named later.
        for name in ["filter.late.clean", "filter.late.smudge"] {
            run(&root, &["config", name, evil.to_str().unwrap()]);
        }
        for (root, name) in [(&root, "refs/heirloom/runs/u"), (&tree, "refs/heirloom/runs/v")] {
            fs::write(root.join(".gitattributes"), "* filter=late\n").unwrap();
            worktree::keep(root, name, "late").unwrap();
        }
        // Nor what is named in a file that is only included.
        let included = root.join(".git/more");
        fs::write(&included, "").unwrap();
        run(&root, &["config", "include.path", "more"]);
        worktree::keep(&root, "refs/heirloom/runs/w", "before").unwrap();
        let evil = evil.display();
        fs::write(&included, format!("[filter \"more\"]\nclean = {evil}\nsmudge = {evil}\n"))
            .unwrap();
        fs::write(root.join(".gitattributes"), "* filter=more\n").unwrap();
        worktree::keep(&root, "refs/heirloom/runs/x", "after").unwrap();
        let trace = fs::read_to_string(dir.path().join("trace")).unwrap_or_default();
        assert_eq!(trace, "", "a worktree ran something");
    }
}

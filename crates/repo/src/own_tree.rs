//! Worktrees of our own: made, looked at, committed.
//!
//! What can be read from `.git` by hand is: an issue needs many looks, and a git process for each
//! would cost more than the work of bringing it together.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::branch::commit_of;
use crate::checkout::{commit as commit_by_hand, reference};
use crate::discover::{common_dir, discover};
use crate::file::{self, LockFile};
use crate::worktree::{GitError, git};

/// Git does not like two worktrees being made at the same time, in one process or in two.
static MAKING: Mutex<()> = Mutex::new(());

/// How often the lock of another git is looked at, and how long apart.
const LOOKS: u32 = 40;
const LOOK: Duration = Duration::from_millis(50);

/// A worktree that can be worked in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnTree {
    pub path: PathBuf,
    /// How it came about.
    pub how: How,
}

/// How a worktree came about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum How {
    /// It was made, with its branch.
    New,
    /// It was there.
    Kept,
    /// Somebody had deleted it; its branch was there.
    Again,
    /// It was damaged, and was moved there.
    Instead(PathBuf),
}

/// Makes a worktree at `path` on `branch`, which begins at `base` if it is new. One that is there
/// already is gone on with; one that is damaged is moved aside.
pub fn make(root: &Path, path: &Path, branch: &str, base: &str) -> Result<OwnTree, GitError> {
    let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    let _elsewhere = lock_beside(path)?;
    let was_there = path.exists();
    let aside = (was_there && !is_whole(path)).then(|| set_aside(path)).transpose()?;
    let known = has_branch(root, branch);
    if !path.exists() {
        let place = path.to_string_lossy();
        // By force, because git may remember a worktree here that somebody deleted. Not by pruning:
        // that would also forget worktrees of the person's that are only out of reach now.
        let add = ["worktree", "add", "-q", "-f"];
        let rest: &[&str] = if known { &[&place, branch] } else { &["-b", branch, &place, base] };
        git(root, None, &[&add, rest].concat())?;
    }
    let how = match aside {
        Some(aside) => How::Instead(aside),
        None if was_there => How::Kept,
        None if known => How::Again,
        None => How::New,
    };
    Ok(OwnTree { path: path.canonicalize().unwrap_or_else(|_| path.to_owned()), how })
}

fn lock_beside(path: &Path) -> Result<LockFile, GitError> {
    let failed = |error: std::io::Error| GitError {
        doing: "worktree".to_owned(),
        why: format!("{}: {error}", path.display()),
    };
    let parent = path.parent().unwrap_or(path);
    file::create_dir_all(parent).map_err(|error| failed(error.source))?;
    let file = crate::open_lock(&parent.join(".making")).map_err(failed)?;
    file.lock().map_err(failed)?;
    Ok(file)
}

fn has_branch(root: &Path, branch: &str) -> bool {
    let name = format!("refs/heads/{branch}");
    let Some(common) = discover(root).git_dir.map(|dir| common_dir(&dir)) else { return false };
    if reference(&common, &name).is_some() {
        return true;
    }
    // Another format of references is git's own business.
    common.join("reftable").exists() && commit_of(root, &name).is_some()
}

/// Git's directory of the worktree at `path`, not that of a repository around it.
fn own_git_dir(path: &Path) -> Option<PathBuf> {
    let real = path.canonicalize().ok()?;
    let place = discover(path);
    place.git_dir.filter(|_| place.root == real)
}

/// Whether a worktree can be worked in. A lock that somebody who was killed left is taken away.
fn is_whole(path: &Path) -> bool {
    let Some(git_dir) = own_git_dir(path) else { return false };
    // The index is written last: without it the files were never all there.
    let index = git_dir.join("index");
    if !index.exists() || git(path, None, &["rev-parse", "--verify", "-q", "HEAD"]).is_err() {
        return false;
    }
    let _ = file::remove_file(index.with_extension("lock"));
    git(path, None, &["ls-files", "-u"]).is_ok()
}

fn set_aside(path: &Path) -> Result<PathBuf, GitError> {
    let failed = |why: String| GitError { doing: "worktree".to_owned(), why };
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let free =
        (1..1000).map(|n| path.with_file_name(format!("{name}~{n}"))).find(|to| !to.exists());
    let free = free.ok_or_else(|| failed(format!("there are too many of {}", path.display())))?;
    file::rename(path, &free).map_err(|error| failed(error.source.to_string()))?;
    Ok(free)
}

/// How somebody left a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// What keeps it from being committed, in words for whoever works in it.
    pub problem: Option<String>,
    /// Whether there is something to commit.
    pub is_dirty: bool,
}

/// Takes away the lock that a git of whoever worked at `path` left when it was killed. One that is still at
/// work is waited for. Where its `.git` is gone, what is found is another repository's, and left alone.
pub fn free_index(path: &Path) {
    let Some(git_dir) = own_git_dir(path) else { return };
    let lock = git_dir.join("index.lock");
    for _ in 0..LOOKS {
        if !lock.exists() {
            return;
        }
        thread::sleep(LOOK);
    }
    let _ = file::remove_file(lock);
}

/// How the worktree at `path`, which is on `branch`, was left.
pub fn left(path: &Path, branch: &str) -> Result<Left, GitError> {
    let place = discover(path);
    let git_dir = place.git_dir.unwrap_or_else(|| path.join(".git"));
    let problem = |what: String| Ok(Left { problem: Some(what), is_dirty: true });
    for (file, what) in [
        ("rebase-merge", "a rebase"),
        ("rebase-apply", "a rebase"),
        ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ] {
        if git_dir.join(file).exists() {
            return problem(format!("{what} is not finished"));
        }
    }
    let status = git(path, None, &["status", "--porcelain=v2", "-z", "--untracked-files=normal"])?;
    let entries: Vec<&str> = status.split('\0').filter(|entry| !entry.is_empty()).collect();
    let merging = git_dir.join("MERGE_HEAD").exists();
    let changed = entries.iter().filter(|entry| merging || entry.starts_with('u'));
    let marked: Vec<&str> = changed
        .filter_map(|entry| file_of(entry))
        .filter(|file| has_markers(&path.join(file)))
        .collect();
    if !marked.is_empty() {
        return problem(format!("conflicts are not resolved:\n{}", marked.join("\n")));
    }
    // A directory that git does not look into, whatever is in it: committed, none of it would be.
    let foreign: Vec<&str> = entries
        .iter()
        .filter_map(|entry| entry.strip_prefix("? "))
        .filter(|name| is_repository(&path.join(name)))
        .map(|name| name.trim_end_matches('/'))
        .collect();
    if !foreign.is_empty() {
        return problem(format!(
            "these are git repositories of their own, so their files would be lost; remove their `.git`:\n{}",
            foreign.join("\n")
        ));
    }
    if place.head.branch() != Some(branch) {
        let head = &place.head;
        return problem(format!(
            "`{head}` is checked out, go back to the branch {branch} with the work"
        ));
    }
    Ok(Left { problem: None, is_dirty: merging || !entries.is_empty() })
}

/// Whether a directory is a repository of its own. A link to one is only a link, and what it leads to may be the person's.
fn is_repository(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) && path.join(".git").exists()
}

/// The file of a line of `git status --porcelain=v2`, if git knows the file.
fn file_of(entry: &str) -> Option<&str> {
    let fields = match entry.as_bytes().first()? {
        b'1' => 9,
        b'2' => 10,
        b'u' => 11,
        _ => return None,
    };
    entry.splitn(fields, ' ').nth(fields - 1)
}

fn has_markers(file: &Path) -> bool {
    let Ok(text) = crate::read_at_most(file, crate::MOST_BYTES) else { return false };
    let begins = |mark: &[u8]| text.split(|byte| *byte == b'\n').any(|line| line.starts_with(mark));
    begins(b"<<<<<<< ") && begins(b">>>>>>> ")
}

/// Commits everything in the worktree at `path`, ignored files aside, if there is anything.
pub fn commit_all(path: &Path, message: &str) -> Result<(), GitError> {
    git(path, None, &["add", "--all", "--", "."])?;
    let committed = git(path, None, &["commit", "-q", "-m", message]);
    // What looked like a change may not be one, to a filter of the person's for instance.
    match committed {
        Err(error) if git(path, None, &["diff", "--cached", "--quiet"]).is_err() => Err(error),
        _ => Ok(()),
    }
}

/// Puts the worktree at `path` back to `commit` on `branch`, whatever was done in it since. Ignored
/// files stay.
pub fn put_back(path: &Path, branch: &str, commit: &str) -> Result<(), GitError> {
    git(path, None, &["checkout", "-q", "-f", "-B", branch, commit])?;
    git(path, None, &["clean", "-fdq"]).map(drop)
}

/// The commit that is checked out at `path`.
pub fn head(path: &Path) -> Result<String, GitError> {
    let place = discover(path);
    let by_hand = place.git_dir.as_deref().and_then(|dir| commit_by_hand(dir, &place.head));
    match by_hand {
        Some(commit) => Ok(commit),
        None => git(path, None, &["rev-parse", "--verify", "HEAD"]),
    }
}

/// Whether somebody committed to `branch` since it was made, by its own log: what it took over from
/// others does not count.
pub fn has_own_commits(root: &Path, branch: &str) -> bool {
    let Some(git_dir) = discover(root).git_dir else { return false };
    let log = common_dir(&git_dir).join("logs/refs/heads").join(branch);
    let log = file::read_to_string(log).unwrap_or_default();
    log.lines()
        .any(|line| line.split_once('\t').is_some_and(|(_, what)| what.starts_with("commit")))
}

/// The hooks of the repository that a commit would run, if it were not ours.
pub fn commit_hooks(root: &Path) -> Vec<String> {
    const HOOKS: [&str; 4] = ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"];
    let Some(git_dir) = discover(root).git_dir else { return Vec::new() };
    let set = git(root, None, &["config", "--get-all", "core.hooksPath"]).unwrap_or_default();
    // The last one is our own.
    let own = set.lines().rev().nth(1).map(|path| root.join(path));
    let directory = own.unwrap_or_else(|| common_dir(&git_dir).join("hooks"));
    HOOKS.iter().filter(|hook| is_program(&directory.join(hook))).map(ToString::to_string).collect()
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// Takes a worktree away, whatever is in it.
pub fn forget(root: &Path, path: &Path) -> Result<(), GitError> {
    git(root, None, &["worktree", "remove", "--force", &path.to_string_lossy()]).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::branch::{Merged, bring_in};
    use tempfile::TempDir;

    fn repository() -> TempDir {
        let dir = TempDir::new().unwrap();
        git(dir.path(), None, &["init", "-q", "-b", "main"]).unwrap();
        fs::write(dir.path().join("a.txt"), "one\n").unwrap();
        git(dir.path(), None, &["add", "."]).unwrap();
        git(dir.path(), None, &["commit", "-q", "-m", "first"]).unwrap();
        dir
    }

    fn worktree(dir: &TempDir, name: &str) -> OwnTree {
        let path = dir.path().join(".trees").join(name);
        make(dir.path(), &path, &format!("ours/{name}"), "HEAD").unwrap()
    }

    #[test]
    fn a_damaged_worktree_is_moved_aside_and_the_persons_own_are_left_alone() {
        let dir = repository();
        let away = dir.path().join(".trees/usb");
        git(dir.path(), None, &["worktree", "add", "-q", "-b", "usb", &away.to_string_lossy()])
            .unwrap();
        let hidden = dir.path().join(".trees/unmounted");
        fs::rename(&away, &hidden).unwrap();
        let one = worktree(&dir, "one").path;
        fs::write(one.join("b.txt"), "b\n").unwrap();
        commit_all(&one, "one").unwrap();
        let index = git(&one, None, &["rev-parse", "--git-path", "index"]).unwrap();
        fs::remove_file(one.join(index)).unwrap();
        let again = worktree(&dir, "one");
        let aside = dir.path().join(".trees/one~1");
        assert!(again.path.join("b.txt").exists() && aside.exists());
        assert_eq!(again.how, How::Instead(aside));
        fs::remove_file(again.path.join(".git")).unwrap();
        assert!(worktree(&dir, "one").path.join("b.txt").exists());
        fs::rename(&hidden, &away).unwrap();
        assert_eq!(git(&away, None, &["branch", "--show-current"]).unwrap(), "usb");
    }

    #[test]
    fn what_is_not_finished_is_said_and_a_resolved_merge_needs_no_git_of_the_agents() {
        let dir = repository();
        let (one, two) = (worktree(&dir, "one").path, worktree(&dir, "two").path);
        assert_eq!(left(&one, "ours/one").unwrap(), Left { problem: None, is_dirty: false });
        let elsewhere = left(&one, "ours/two").unwrap().problem.unwrap();
        assert!(elsewhere.contains("go back to the branch ours/two"), "{elsewhere}");
        fs::create_dir(one.join("inner")).unwrap();
        git(&one.join("inner"), None, &["init", "-q"]).unwrap();
        let foreign = left(&one, "ours/one").unwrap().problem.unwrap();
        assert!(foreign.ends_with("remove their `.git`:\ninner"), "{foreign}");
        fs::remove_dir_all(one.join("inner")).unwrap();
        std::os::unix::fs::symlink(dir.path(), one.join("link")).unwrap();
        assert_eq!(left(&one, "ours/one").unwrap().problem, None, "nobody is told to empty that");
        fs::remove_file(one.join("link")).unwrap();
        for (tree, text) in [(&one, "mine\n"), (&two, "theirs\n")] {
            fs::write(tree.join("a.txt"), text).unwrap();
            assert!(left(tree, "ours/x").unwrap().is_dirty);
            commit_all(tree, "x").unwrap();
        }
        let conflict = Merged::Conflict(vec!["a.txt".to_owned()]);
        assert_eq!(bring_in(&two, "ours/one", "m").unwrap(), conflict);
        let open = left(&two, "ours/two").unwrap().problem;
        assert_eq!(open.as_deref(), Some("conflicts are not resolved:\na.txt"));
        git(&two, None, &["add", "-A"]).unwrap();
        assert!(left(&two, "ours/two").unwrap().problem.is_some());
        fs::write(two.join("a.txt"), "both\n").unwrap();
        assert_eq!(left(&two, "ours/two").unwrap(), Left { problem: None, is_dirty: true });
        commit_all(&two, "both").unwrap();
        assert_eq!(git(&two, None, &["rev-list", "--count", "HEAD"]).unwrap(), "4");
    }

    #[test]
    fn a_worktree_is_made_once_gone_on_with_and_comes_back_with_its_work() {
        let dir = repository();
        let made = worktree(&dir, "one");
        assert_eq!(made.how, How::New);
        assert_eq!(worktree(&dir, "one"), OwnTree { how: How::Kept, ..made.clone() });
        let one = made.path;
        fs::write(one.join("b.txt"), "b\n").unwrap();
        assert!(!has_own_commits(dir.path(), "ours/one"));
        commit_all(&one, "one").unwrap();
        assert!(has_own_commits(dir.path(), "ours/one"));
        assert_eq!(head(&one).unwrap(), git(&one, None, &["rev-parse", "HEAD"]).unwrap());
        fs::remove_dir_all(&one).unwrap();
        let again = worktree(&dir, "one");
        assert_eq!((again.how, again.path.join("b.txt").exists()), (How::Again, true));
        let commit = head(&one).unwrap();
        fs::write(one.join("c.txt"), "c\n").unwrap();
        git(&one, None, &["checkout", "-q", "--detach", "HEAD~1"]).unwrap();
        put_back(&one, "ours/one", &commit).unwrap();
        assert_eq!((head(&one).unwrap(), left(&one, "ours/one").unwrap().problem), (commit, None));
        assert!(one.join("b.txt").exists() && !one.join("c.txt").exists());
        assert_eq!(crate::branch::below(dir.path(), "ours/"), ["ours/one"]);
        forget(dir.path(), &one).unwrap();
        crate::branch::delete(dir.path(), "ours/one").unwrap();
        assert!(!one.exists() && !has_branch(dir.path(), "ours/one"));
    }

    #[test]
    fn a_lock_that_somebody_left_is_taken_away_in_a_worktree_of_ours_and_named_elsewhere() {
        let dir = repository();
        let one = worktree(&dir, "one").path;
        fs::write(one.join("b.txt"), "b\n").unwrap();
        let own = one.join(git(&one, None, &["rev-parse", "--git-path", "index.lock"]).unwrap());
        fs::write(&own, "").unwrap();
        let error = commit_all(&one, "one").unwrap_err();
        assert_eq!(
            error.lock().map(|lock| lock.canonicalize().unwrap()),
            Some(own.canonicalize().unwrap())
        );
        let told = error.to_string();
        assert!(
            told.starts_with("git add failed: ")
                && told.ends_with("if no git is running, remove that file"),
            "{told}"
        );
        free_index(&one);
        commit_all(&one, "one").unwrap();
        // In the person's own it is theirs, also seen from a directory in it that has no git of its own.
        let theirs = dir.path().join(".git/index.lock");
        fs::write(&theirs, "").unwrap();
        let bare = dir.path().join("gitless");
        fs::create_dir(&bare).unwrap();
        free_index(&bare);
        assert!(worktree(&dir, "two").path.exists() && theirs.exists());
    }

    #[test]
    fn hooks_that_do_not_run_are_named() {
        use std::os::unix::fs::PermissionsExt;
        let dir = repository();
        assert_eq!(commit_hooks(dir.path()), Vec::<String>::new());
        let hook = |directory: &Path, name: &str| {
            fs::create_dir_all(directory).unwrap();
            let file = directory.join(name);
            fs::write(&file, "#!/bin/sh\n").unwrap();
            fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
        };
        hook(&dir.path().join(".git/hooks"), "pre-commit");
        assert_eq!(commit_hooks(dir.path()), ["pre-commit"]);
        hook(&dir.path().join(".husky/_"), "commit-msg");
        git(dir.path(), None, &["config", "core.hooksPath", ".husky/_"]).unwrap();
        assert_eq!(commit_hooks(dir.path()), ["commit-msg"]);
    }
}

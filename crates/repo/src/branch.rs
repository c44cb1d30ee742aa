//! Branches of our own: working on one in its own worktree, and bringing work together.
//!
//! Invariant: nothing here touches a branch, the index or the files of the person. What is ours is
//! changed only if it still is what we saw last.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::worktree::{GitError, git, git_anyway};

/// Git does not like two worktrees being made at the same time.
static MAKING: Mutex<()> = Mutex::new(());

/// What came of bringing another branch in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    /// Everything of it is there now.
    Yes,
    /// These files were changed on both sides. The worktree is as it was.
    Conflict(Vec<String>),
}

/// The commit that `name` means.
pub fn commit_of(root: &Path, name: &str) -> Option<String> {
    git(root, None, &["rev-parse", "--verify", "-q", &format!("{name}^{{commit}}")]).ok()
}

/// Makes a worktree at `path` on `branch`, which begins at `base` if it is new. One that is there
/// already is gone on with; one that is damaged is moved aside.
pub fn work_on(root: &Path, path: &Path, branch: &str, base: &str) -> Result<PathBuf, GitError> {
    let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    if path.exists() && !is_whole(path) {
        set_aside(path)?;
    }
    if !path.exists() {
        let place = path.to_string_lossy();
        // By force, because git may remember a worktree here that somebody deleted. Not by pruning:
        // that would also forget worktrees of the person's that are only out of reach now.
        let add = ["worktree", "add", "-q", "-f"];
        let known = commit_of(root, &format!("refs/heads/{branch}")).is_some();
        let rest: &[&str] = if known { &[&place, branch] } else { &["-b", branch, &place, base] };
        git(root, None, &[&add, rest].concat())?;
    }
    Ok(path.canonicalize().unwrap_or_else(|_| path.to_owned()))
}

/// Whether a worktree can be worked in. A lock that somebody who was killed left is taken away.
fn is_whole(path: &Path) -> bool {
    let Ok(index) = git(path, None, &["rev-parse", "--git-path", "index"]) else { return false };
    let index = path.join(index);
    let own = git(path, None, &["rev-parse", "--show-toplevel"]);
    let is_own = own.is_ok_and(|top| Path::new(&top) == path.canonicalize().unwrap_or_default());
    // The index is written last: without it the files were never all there.
    if !is_own || !index.exists() || git(path, None, &["rev-parse", "--verify", "HEAD"]).is_err() {
        return false;
    }
    let _ = std::fs::remove_file(index.with_extension("lock"));
    git(path, None, &["ls-files", "-u"]).is_ok()
}

fn set_aside(path: &Path) -> Result<(), GitError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let free =
        (1..1000).map(|n| path.with_file_name(format!("{name}~{n}"))).find(|to| !to.exists());
    let moved = std::fs::rename(path, free.unwrap_or_default());
    moved.map_err(|error| GitError { doing: "worktree".to_owned(), why: error.to_string() })
}

/// What keeps the worktree at `path` from being committed to `branch`, in words for whoever works
/// in it.
pub fn unfinished(path: &Path, branch: &str) -> Option<String> {
    for (file, what) in [
        ("rebase-merge", "a rebase"),
        ("rebase-apply", "a rebase"),
        ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ] {
        let at = git(path, None, &["rev-parse", "--git-path", file]).ok()?;
        if path.join(at).exists() {
            return Some(format!("{what} is not finished"));
        }
    }
    let unmerged = git(path, None, &["diff", "--name-only", "--diff-filter=U"]).unwrap_or_default();
    if !unmerged.is_empty() {
        return Some(format!("conflicts are not resolved:\n{unmerged}"));
    }
    let head = git(path, None, &["symbolic-ref", "-q", "--short", "HEAD"]).unwrap_or_default();
    if head != branch {
        return Some(format!(
            "`{head}` is checked out, go back to the branch {branch} with the work"
        ));
    }
    markers(path)
}

/// A merge whose conflict markers were committed as they are.
fn markers(path: &Path) -> Option<String> {
    let merge = git(path, None, &["rev-parse", "--git-path", "MERGE_HEAD"]).ok()?;
    if !path.join(merge).exists() {
        return None;
    }
    let found = git_anyway(path, &["diff", "HEAD", "--check"]);
    let lines: Vec<&str> =
        found.lines().filter(|line| line.contains("leftover conflict marker")).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Whether a worktree has `branch` checked out.
pub fn is_checked_out(root: &Path, branch: &str) -> bool {
    let line = format!("branch refs/heads/{branch}");
    git(root, None, &["worktree", "list", "--porcelain"])
        .is_ok_and(|list| list.lines().any(|each| each == line))
}

/// Commits everything in the worktree at `path`, ignored files aside, if there is anything.
/// Returns the commit that is checked out afterwards.
pub fn commit_all(path: &Path, message: &str) -> Result<String, GitError> {
    git(path, None, &["add", "--all", "--", "."])?;
    if git(path, None, &["diff", "--cached", "--quiet"]).is_err() {
        git(path, None, &["commit", "-q", "-m", message])?;
    }
    git(path, None, &["rev-parse", "--verify", "HEAD"])
}

/// Brings `other` into what is checked out at `path`.
pub fn bring_in(path: &Path, other: &str, message: &str) -> Result<Merged, GitError> {
    if is_ancestor(path, other, "HEAD") {
        return Ok(Merged::Yes);
    }
    let merged = git(path, None, &["merge", "-q", "-m", message, other]);
    let Err(error) = merged else { return Ok(Merged::Yes) };
    let files = git(path, None, &["diff", "--name-only", "--diff-filter=U"]).unwrap_or_default();
    let _ = git(path, None, &["merge", "--abort"]);
    if files.is_empty() {
        return Err(error);
    }
    Ok(Merged::Conflict(files.lines().map(str::to_owned).collect()))
}

/// Whether everything of `one` is in `other`.
pub fn is_ancestor(root: &Path, one: &str, other: &str) -> bool {
    git(root, None, &["merge-base", "--is-ancestor", one, other]).is_ok()
}

/// Moves `branch` to `commit`, if it still is at `old`; `None` is a branch that is not there yet.
/// Returns whether it was.
pub fn advance(root: &Path, branch: &str, commit: &str, old: Option<&str>) -> bool {
    let name = format!("refs/heads/{branch}");
    // Forty zeros: it must not exist.
    let old = old.map_or_else(|| "0".repeat(40), str::to_owned);
    git(root, None, &["update-ref", "-m", "heirloom work", &name, commit, &old]).is_ok()
}

/// A merge of `one` and `other` that touches no worktree, as a commit; `None` if they do not go
/// together by themselves.
pub fn merged(root: &Path, one: &str, other: &str, message: &str) -> Option<String> {
    let tree = git(root, None, &["merge-tree", "--write-tree", one, other]).ok()?;
    let tree = tree.lines().next()?.to_owned();
    git(root, None, &["commit-tree", &tree, "-p", one, "-p", other, "-m", message]).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    fn repository() -> TempDir {
        let dir = TempDir::new().unwrap();
        git(dir.path(), None, &["init", "-q", "-b", "main"]).unwrap();
        fs::write(dir.path().join("a.txt"), "one\n").unwrap();
        git(dir.path(), None, &["add", "."]).unwrap();
        git(dir.path(), None, &["commit", "-q", "-m", "first"]).unwrap();
        dir
    }

    fn worktree(dir: &TempDir, name: &str) -> PathBuf {
        let path = dir.path().join(".trees").join(name);
        work_on(dir.path(), &path, &format!("ours/{name}"), "HEAD").unwrap()
    }

    #[test]
    fn work_is_committed_and_brought_together_without_touching_the_person() {
        let dir = repository();
        let root = dir.path();
        fs::write(root.join(".git/info/exclude"), ".trees\n").unwrap();
        fs::write(root.join("dirty.txt"), "mine").unwrap();
        let before = git(root, None, &["status", "--porcelain"]).unwrap();
        let (one, two) = (worktree(&dir, "one"), worktree(&dir, "two"));
        fs::write(one.join("b.txt"), "b\n").unwrap();
        fs::write(two.join("c.txt"), "c\n").unwrap();
        let first = commit_all(&one, "one").unwrap();
        assert_eq!(commit_all(&one, "nothing new").unwrap(), first);
        assert!(advance(root, "ours/all", &first, None));
        assert!(!advance(root, "ours/all", &first, None));
        commit_all(&two, "two").unwrap();
        assert_eq!(bring_in(&two, "ours/all", "m").unwrap(), Merged::Yes);
        let both = commit_all(&two, "both").unwrap();
        assert!(!advance(root, "ours/all", &both, Some(&both)));
        assert!(advance(root, "ours/all", &both, Some(&first)));
        assert!(is_ancestor(root, &first, "ours/all"));
        assert_eq!(git(root, None, &["status", "--porcelain"]).unwrap(), before);
        assert!(!root.join("b.txt").exists());
        assert!(is_checked_out(root, "ours/one") && !is_checked_out(root, "ours/all"));
    }

    #[test]
    fn a_conflict_is_named_and_leaves_the_worktree_as_it_was() {
        let dir = repository();
        let (one, two) = (worktree(&dir, "one"), worktree(&dir, "two"));
        fs::write(one.join("a.txt"), "mine\n").unwrap();
        fs::write(two.join("a.txt"), "theirs\n").unwrap();
        commit_all(&one, "one").unwrap();
        let commit = commit_all(&two, "two").unwrap();
        let conflict = Merged::Conflict(vec!["a.txt".to_owned()]);
        assert_eq!(bring_in(&two, "ours/one", "m").unwrap(), conflict);
        assert_eq!(fs::read_to_string(two.join("a.txt")).unwrap(), "theirs\n");
        assert_eq!(commit_all(&two, "again").unwrap(), commit);
        assert_eq!(merged(dir.path(), "ours/one", "ours/two", "m"), None);
    }

    #[test]
    fn a_damaged_worktree_is_moved_aside_and_the_persons_own_are_left_alone() {
        let dir = repository();
        let away = dir.path().join(".trees/usb");
        git(dir.path(), None, &["worktree", "add", "-q", "-b", "usb", &away.to_string_lossy()])
            .unwrap();
        let hidden = dir.path().join(".trees/unmounted");
        fs::rename(&away, &hidden).unwrap();
        let one = worktree(&dir, "one");
        fs::write(one.join("b.txt"), "b\n").unwrap();
        commit_all(&one, "one").unwrap();
        let index = git(&one, None, &["rev-parse", "--git-path", "index"]).unwrap();
        fs::remove_file(one.join(index)).unwrap();
        let again = worktree(&dir, "one");
        assert!(again.join("b.txt").exists() && dir.path().join(".trees/one~1").exists());
        fs::remove_file(again.join(".git")).unwrap();
        assert!(worktree(&dir, "one").join("b.txt").exists());
        fs::rename(&hidden, &away).unwrap();
        assert_eq!(git(&away, None, &["branch", "--show-current"]).unwrap(), "usb");
    }

    #[test]
    fn what_is_not_finished_is_said() {
        let dir = repository();
        let (one, two) = (worktree(&dir, "one"), worktree(&dir, "two"));
        assert_eq!(unfinished(&one, "ours/one"), None);
        assert!(unfinished(&one, "ours/two").unwrap().contains("go back to the branch ours/two"));
        for (tree, text) in [(&one, "mine\n"), (&two, "theirs\n")] {
            fs::write(tree.join("a.txt"), text).unwrap();
            commit_all(tree, "x").unwrap();
        }
        assert!(git(&two, None, &["merge", "-q", "ours/one"]).is_err());
        assert_eq!(unfinished(&two, "ours/two").unwrap(), "conflicts are not resolved:\na.txt");
        git(&two, None, &["add", "-A"]).unwrap();
        assert!(unfinished(&two, "ours/two").unwrap().contains("leftover conflict marker"));
        fs::write(two.join("a.txt"), "both\n").unwrap();
        assert_eq!(unfinished(&two, "ours/two"), None);
    }

    #[test]
    fn a_worktree_is_made_once_and_gone_on_with() {
        let dir = repository();
        let made = worktree(&dir, "one");
        assert_eq!(worktree(&dir, "one"), made);
        assert_eq!(git(&made, None, &["branch", "--show-current"]).unwrap(), "ours/one");
    }

    #[test]
    fn a_worktree_that_somebody_deleted_comes_back_with_its_work() {
        let dir = repository();
        let one = worktree(&dir, "one");
        fs::write(one.join("b.txt"), "b\n").unwrap();
        commit_all(&one, "one").unwrap();
        fs::remove_dir_all(&one).unwrap();
        assert!(worktree(&dir, "one").join("b.txt").exists());
    }
}

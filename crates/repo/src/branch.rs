//! Branches of our own, and bringing work together on them.
//!
//! Invariant: nothing here touches a branch, the index or the files of the person. What is ours is
//! changed only if it still is what we saw last.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::checkout::reference;
use crate::discover::{common_dir, discover};
use crate::own_tree;
use crate::worktree::{GitError, git, git_with_input};

/// What came of bringing another branch in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    /// Everything of it is there now.
    Yes,
    /// These files were changed on both sides. The merge is begun, and they have to be resolved.
    Conflict(Vec<String>),
}

/// How two lines of work go together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Joined {
    Commit(String),
    /// Everything of the one is in the other already, in other commits.
    Contained,
    /// Not by themselves.
    Conflict,
}

/// The commit that `name` means.
pub fn commit_of(root: &Path, name: &str) -> Option<String> {
    git(root, None, &["rev-parse", "--verify", "-q", &format!("{name}^{{commit}}")]).ok()
}

/// The commit that `branch` is at.
pub fn tip_of(root: &Path, branch: &str) -> Option<String> {
    let name = format!("refs/heads/{branch}");
    let by_hand = discover(root).git_dir.and_then(|dir| reference(&common_dir(&dir), &name));
    by_hand.or_else(|| commit_of(root, &name))
}

/// Makes a worktree at `path` on `branch`, as [`own_tree::make`] does.
pub fn work_on(root: &Path, path: &Path, branch: &str, base: &str) -> Result<PathBuf, GitError> {
    own_tree::make(root, path, branch, base).map(|made| made.path)
}

/// Whether a worktree has `branch` checked out.
pub fn is_checked_out(root: &Path, branch: &str) -> bool {
    let Some(git_dir) = discover(root).git_dir else { return false };
    let common = common_dir(&git_dir);
    let others = fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten();
    let mut all = others.map(|entry| entry.path()).chain([common]);
    all.any(|dir| crate::head::read(&dir).branch() == Some(branch))
}

/// Brings `other` into what is checked out at `path`. What conflicts is left to be resolved there.
pub fn bring_in(path: &Path, other: &str, message: &str) -> Result<Merged, GitError> {
    let merged = git(path, None, &["merge", "-q", "-m", message, other]);
    let Err(error) = merged else { return Ok(Merged::Yes) };
    let files = git(path, None, &["diff", "--name-only", "--diff-filter=U"]).unwrap_or_default();
    if files.is_empty() {
        let _ = git(path, None, &["merge", "--abort"]);
        return Err(error);
    }
    Ok(Merged::Conflict(files.lines().map(str::to_owned).collect()))
}

/// Where two commits part.
pub fn merge_base(root: &Path, one: &str, other: &str) -> Option<String> {
    git(root, None, &["merge-base", one, other]).ok()
}

/// Whether everything of `one` is in `other`.
pub fn is_ancestor(root: &Path, one: &str, other: &str) -> bool {
    git(root, None, &["merge-base", "--is-ancestor", one, other]).is_ok()
}

/// Moves `branch` to `commit`, if it still is at `old`; `None` is a branch that is not there yet.
/// Returns whether it was. A lock that nobody takes away is an error: waiting for it again would not help.
pub fn advance(
    root: &Path,
    branch: &str,
    commit: &str,
    old: Option<&str>,
) -> Result<bool, GitError> {
    let name = format!("refs/heads/{branch}");
    // Forty zeros: it must not exist.
    let old = old.map_or_else(|| "0".repeat(40), str::to_owned);
    match git(root, None, &["update-ref", "-m", "heirloom work", &name, commit, &old]) {
        Err(error) if error.lock().is_some() => Err(error),
        moved => Ok(moved.is_ok()),
    }
}

/// How `one` goes together with `other`, without touching a worktree.
pub fn join(root: &Path, one: &str, other: &str, message: &str) -> Joined {
    let tree = git(root, None, &["merge-tree", "--write-tree", other, one]);
    let tree = tree.ok().and_then(|printed| printed.lines().next().map(str::to_owned));
    let Some(tree) = tree else {
        return if is_contained(root, one, other) { Joined::Contained } else { Joined::Conflict };
    };
    // Nothing would come of it that is not there: it was squashed, or picked.
    if git(root, None, &["rev-parse", "-q", &format!("{other}^{{tree}}")]).ok()
        == Some(tree.clone())
    {
        return Joined::Contained;
    }
    let merge = ["commit-tree", &tree, "-p", one, "-p", other, "-m", message];
    git(root, None, &merge).map_or(Joined::Conflict, Joined::Commit)
}

/// Whether every change of `one` is in `other` by other commits: each of them for itself, or all of
/// them in one that somebody squashed.
pub fn is_contained(root: &Path, one: &str, other: &str) -> bool {
    let picked = git(root, None, &["cherry", other, one]);
    if picked.is_ok_and(|list| list.lines().all(|line| line.starts_with('-'))) {
        return true;
    }
    let Some(base) = merge_base(root, one, other) else { return false };
    let ids = |patches: Result<String, GitError>| -> Vec<String> {
        let ids =
            patches.and_then(|patches| git_with_input(root, &["patch-id", "--stable"], &patches));
        let first = |line: &str| line.split(' ').next().map(str::to_owned);
        ids.unwrap_or_default().lines().filter_map(first).collect()
    };
    let whole = ids(git(root, None, &["diff-tree", "-p", &base, one]));
    let range = format!("{base}..{other}");
    let since = ids(git(root, None, &["log", "-p", "--no-merges", "--max-count=500", &range]));
    whole.first().is_some_and(|whole| since.contains(whole))
}

/// Whether every file that `one` changed is the same in `other`. Costs much less than [`is_contained`], and does not know
/// work again where somebody went on in the same files.
pub fn has_same_files(root: &Path, one: &str, other: &str) -> bool {
    let names = |range: &[&str]| {
        let arguments = [&["diff", "--name-only", "--no-renames"], range, &["--"]].concat();
        git(root, None, &arguments).ok()
    };
    let Some(changed) = names(&[&format!("{other}...{one}")]) else { return false };
    let Some(different) = names(&[other, one]) else { return false };
    let different: HashSet<&str> = different.lines().collect();
    !changed.lines().any(|name| different.contains(name))
}

/// The commits of `one` that are not in `other`, newest first, a line each.
pub fn ahead(root: &Path, one: &str, other: &str) -> Vec<String> {
    let range = format!("{other}..{one}");
    let log = git(root, None, &["log", "--oneline", "--no-decorate", "--no-merges", &range]);
    log.unwrap_or_default().lines().map(str::to_owned).collect()
}

/// The branches whose names begin with `prefix`.
pub fn below(root: &Path, prefix: &str) -> Vec<String> {
    let pattern = format!("refs/heads/{prefix}");
    let names = git(root, None, &["for-each-ref", "--format=%(refname:lstrip=2)", &pattern]);
    names.unwrap_or_default().lines().map(str::to_owned).collect()
}

/// The branches, of remotes too, that hold `commit`, by their full names.
pub fn holders(root: &Path, commit: &str) -> Vec<String> {
    let arguments =
        ["for-each-ref", "--format=%(refname)", "--contains", commit, "refs/heads", "refs/remotes"];
    let names = git(root, None, &arguments);
    names.unwrap_or_default().lines().map(str::to_owned).collect()
}

/// Deletes a branch, whatever is on it.
pub fn delete(root: &Path, name: &str) -> Result<(), GitError> {
    git(root, None, &["branch", "-q", "-D", "--", name]).map(drop)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::own_tree::{commit_all, head};

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

    fn commit(path: &Path, file: &str, text: &str) -> String {
        fs::write(path.join(file), text).unwrap();
        commit_all(path, file).unwrap();
        head(path).unwrap()
    }

    #[test]
    fn a_branch_that_somebody_else_is_moving_is_waited_for() {
        let dir = repository();
        let root = dir.path();
        let tip = head(root).unwrap();
        assert!(advance(root, "ours/all", &tip, None).unwrap());
        let lock = root.join(".git/refs/heads/ours/all.lock");
        fs::write(&lock, "").unwrap();
        let other = std::thread::spawn(move || {
            // Longer than git waits by itself.
            std::thread::sleep(std::time::Duration::from_millis(400));
            fs::remove_file(lock).unwrap();
        });
        assert!(advance(root, "ours/all", &tip, Some(&tip)).unwrap());
        other.join().unwrap();
    }

    #[test]
    fn work_is_committed_and_brought_together_without_touching_the_person() {
        let dir = repository();
        let root = dir.path();
        fs::write(root.join(".git/info/exclude"), ".trees\n").unwrap();
        fs::write(root.join("dirty.txt"), "mine").unwrap();
        let before = git(root, None, &["status", "--porcelain"]).unwrap();
        let (one, two) = (worktree(&dir, "one"), worktree(&dir, "two"));
        let first = commit(&one, "b.txt", "b\n");
        assert!(advance(root, "ours/all", &first, None).unwrap());
        assert!(!advance(root, "ours/all", &first, None).unwrap());
        assert_eq!(tip_of(root, "ours/all").as_deref(), Some(first.as_str()));
        commit(&two, "c.txt", "c\n");
        assert_eq!(bring_in(&two, "ours/all", "m").unwrap(), Merged::Yes);
        let both = head(&two).unwrap();
        assert!(!advance(root, "ours/all", &both, Some(&both)).unwrap());
        assert!(advance(root, "ours/all", &both, Some(&first)).unwrap());
        assert!(is_ancestor(root, &first, "ours/all"));
        assert_eq!(git(root, None, &["status", "--porcelain"]).unwrap(), before);
        assert!(!root.join("b.txt").exists());
        assert!(is_checked_out(root, "ours/one") && !is_checked_out(root, "ours/all"));
        assert!(is_checked_out(&one, "main"));
    }

    #[test]
    fn work_that_was_squashed_or_picked_is_contained_and_what_was_changed_since_is_not() {
        let dir = repository();
        let root = dir.path();
        let one = worktree(&dir, "one");
        commit(&one, "b.txt", "b\n");
        let tip = commit(&one, "a.txt", "two\n");
        let start = head(root).unwrap();
        let on_main = |what: &[&str]| {
            git(root, None, &["reset", "-q", "--hard", &start]).unwrap();
            git(root, None, what).unwrap();
        };
        on_main(&["merge", "-q", "--squash", "ours/one"]);
        git(root, None, &["commit", "-q", "-m", "squashed"]).unwrap();
        assert_eq!(join(root, &tip, "HEAD", "m"), Joined::Contained);
        commit(root, "e.txt", "e\n");
        assert!(has_same_files(root, &tip, "HEAD"));
        // The person went on where the work had been: only the patches tell.
        commit(root, "a.txt", "three\n");
        assert!(!has_same_files(root, &tip, "HEAD"));
        assert_eq!(join(root, &tip, "HEAD", "m"), Joined::Contained);
        on_main(&["cherry-pick", &format!("{start}..ours/one")]);
        commit(root, "a.txt", "four\n");
        assert_eq!(join(root, &tip, "HEAD", "m"), Joined::Contained);
        on_main(&["status"]);
        commit(root, "a.txt", "five\n");
        assert_eq!(join(root, &tip, "HEAD", "m"), Joined::Conflict);
        assert_eq!(ahead(root, &tip, "HEAD").len(), 2);
        on_main(&["status"]);
        commit(root, "d.txt", "d\n");
        assert!(matches!(join(root, &tip, "HEAD", "m"), Joined::Commit(_)));
    }
}

//! Worktrees: keeping one as it is.
//!
//! Invariant: nothing here touches the index, the files or the stashes of the person.

use std::borrow::Cow;
use std::io::Write as _;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use crate::file;

/// Why git did not do it.
#[derive(Debug, thiserror::Error)]
#[error("git {doing} failed: {}", explained(.why))]
pub struct GitError {
    /// The git command.
    pub doing: String,
    /// Its last words.
    pub why: String,
}

impl GitError {
    /// The lock that was in the way, if one was.
    pub fn lock(&self) -> Option<&Path> {
        lock_in(&self.why)
    }
}

fn lock_in(why: &str) -> Option<&Path> {
    let (_, rest) = why.split_once("Unable to create '")?;
    rest.split_once(".lock': File exists").map(|(name, _)| Path::new(&rest[..name.len() + 5]))
}

/// Git's words, but for those that leave a person to guess.
fn explained(why: &str) -> Cow<'_, str> {
    match lock_in(why) {
        Some(lock) => format!(
            "{} exists: another git process may be running, or one that was killed left it; if no git is running, remove that file",
            lock.display()
        )
        .into(),
        None => why.into(),
    }
}

/// What git prints; an error is what it calls one, or else its last words.
pub(crate) fn git(
    root: &Path,
    index: Option<&Path>,
    arguments: &[&str],
) -> Result<String, GitError> {
    let failed = |why: String| GitError {
        doing: arguments.first().copied().unwrap_or_default().to_owned(),
        why,
    };
    let output = crate::quiet::output(root, &mut command(root, index, arguments))
        .map_err(|error| failed(error.to_string()))?;
    tracing::debug!(?root, ?arguments, status = %output.status, "git");
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        // Advice may follow, which without the error says nothing.
        let is_error =
            |line: &&str| ["fatal: ", "error: "].iter().any(|word| line.starts_with(word));
        let words = words.trim();
        let why = words.lines().find(is_error).or_else(|| words.lines().last()).map(str::to_owned);
        return Err(failed(why.unwrap_or_else(|| output.status.to_string())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// What git prints after it has read `input`.
pub(crate) fn git_with_input(
    root: &Path,
    arguments: &[&str],
    input: &str,
) -> Result<String, GitError> {
    let failed = |why: String| GitError {
        doing: arguments.first().copied().unwrap_or_default().to_owned(),
        why,
    };
    let mut command = command(root, None, arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let output = thread::scope(|threads| {
        crate::stuck::output(root, || {
            let mut child = command.spawn()?;
            let stdin = child.stdin.take();
            // Beside the reading: either side may be longer than a pipe holds.
            threads.spawn(move || stdin.map(|mut stdin| stdin.write_all(input.as_bytes())));
            Ok(child)
        })
    });
    let output = output.map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(output.status.to_string()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn command(root: &Path, index: Option<&Path>, arguments: &[&str]) -> Command {
    let mut command = crate::quiet::command(root);
    // What we commit is not the person's commit: their key has no say in it.
    for setting in ["commit.gpgsign=false", "merge.ff=true", "rerere.enabled=false"] {
        command.args(["-c", setting]);
    }
    // A ctrl-C of the person's is not for git: half a worktree would be left.
    command.process_group(0);
    command.args(arguments);
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "heirloom");
        command.env(format!("GIT_{who}_EMAIL"), "heirloom@localhost");
    }
    if let Some(index) = index {
        command.env("GIT_INDEX_FILE", index);
    }
    command
}

/// Commits the worktree at `root` as it is, ignored files aside, to the ref `name`, on top of what
/// is there already. Returns the commit.
pub fn keep(root: &Path, name: &str, message: &str) -> Result<String, GitError> {
    let own_index = git(root, None, &["rev-parse", "--git-path", "index"])?;
    let copy = tempfile::Builder::new().prefix("heirloom-index-").tempdir();
    let copy =
        copy.map_err(|error| GitError { doing: "add".to_owned(), why: error.to_string() })?;
    let index = copy.path().join("index");
    // With what git knows about the files already, it has to read only those that changed.
    let _ = file::copy(root.join(own_index), &index);
    git(root, Some(&index), &["add", "--all", "--", "."])?;
    let tree = git(root, Some(&index), &["write-tree"])?;
    let known = git(root, None, &["rev-parse", "--verify", "-q", name]);
    let parent = known.or_else(|_| git(root, None, &["rev-parse", "--verify", "-q", "HEAD"]));
    let mut arguments = vec!["commit-tree", &tree, "-m", message];
    if let Ok(parent) = &parent {
        arguments.extend(["-p", parent]);
    }
    let commit = git(root, None, &arguments)?;
    git(root, None, &["update-ref", "-m", message, name, &commit])?;
    Ok(commit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    fn repository() -> TempDir {
        let dir = TempDir::new().unwrap();
        let run = |arguments: &[&str]| git(dir.path(), None, arguments).unwrap();
        run(&["init", "-q", "-b", "main"]);
        fs::write(dir.path().join("a.txt"), "one\n").unwrap();
        fs::write(dir.path().join(".gitignore"), "secret\n").unwrap();
        run(&["add", "."]);
        run(&["commit", "-q", "-m", "first"]);
        dir
    }

    #[test]
    fn a_worktree_is_kept_without_touching_what_the_person_has_staged() {
        let dir = repository();
        let run = |arguments: &[&str]| git(dir.path(), None, arguments).unwrap();
        for (name, text) in [("a.txt", "two\n"), ("new.txt", "new\n"), ("secret", "x")] {
            fs::write(dir.path().join(name), text).unwrap();
        }
        let before = (run(&["status", "--porcelain"]), run(&["rev-parse", "HEAD"]));
        let commit = keep(dir.path(), "refs/heirloom/runs/s", "s: 1").unwrap();
        assert_eq!((run(&["status", "--porcelain"]), run(&["rev-parse", "HEAD"])), before);
        assert_eq!(run(&["show", &format!("{commit}:a.txt")]), "two");
        assert_eq!(run(&["show", &format!("{commit}:new.txt")]), "new");
        assert!(git(dir.path(), None, &["show", &format!("{commit}:secret")]).is_err());
        let second = keep(dir.path(), "refs/heirloom/runs/s", "s: 2").unwrap();
        assert_eq!(run(&["rev-parse", &format!("{second}^")]), commit);
        assert_eq!(run(&["rev-parse", "refs/heirloom/runs/s"]), second);
    }
}

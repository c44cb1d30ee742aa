//! The file that says which repository this is, and what else tells its directory from others.
//!
//! The key is committed, so that every clone has it, and kept in the git directory too, so that
//! worktrees and checkouts of commits from before it have it as well. What is read here was written by
//! whoever wrote the repository: it is a claim.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::discover::Place;
use crate::file;
use crate::file::{FileError, write_whole};
use crate::worktree::git;

/// The name of the key file, in heirloom's own directory and in its directory in git's.
const NAME: &str = "repository";
/// The most of a file that is read: a stranger may have written it.
const MOST_BYTES: u64 = 1024 * 1024;

/// A directory, told from a later one in the same place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inode {
    /// The file system.
    pub device: u64,
    /// The directory in it.
    pub inode: u64,
    /// When it was made, in milliseconds since 1970, where the file system says so.
    pub born_ms: Option<i64>,
}

impl Place {
    /// Where the key is committed.
    pub fn key_file(&self) -> PathBuf {
        self.own_directory().join(NAME)
    }

    /// The texts that may hold keys: the committed one, and what the git directory remembers.
    pub fn key_texts(&self) -> [Option<String>; 2] {
        [read(&self.key_file()), self.key_cache().and_then(|cache| read(&cache))]
    }

    /// Remembers the key in the git directory, if there is one that does not have it yet.
    pub fn remember_key(&self, text: &str) -> Result<(), FileError> {
        match self.key_cache() {
            Some(cache) if read(&cache).as_deref() != Some(text) => {
                write_whole(&cache, text.as_bytes())
            }
            _ => Ok(()),
        }
    }

    /// Forgets what the git directory remembers.
    pub fn forget_key(&self) {
        if let Some(cache) = self.key_cache() {
            let _ = file::remove_file(&cache);
            // Only goes if nothing is left in it.
            let _ = cache.parent().map(fs::remove_dir);
        }
    }

    fn key_cache(&self) -> Option<PathBuf> {
        Some(self.common_dir.as_ref()?.join("heirloom").join(NAME))
    }

    /// The directory that stays the same when the repository is moved: that of git, or heirloom's
    /// where there is none.
    pub fn inode(&self) -> Option<Inode> {
        let directory = self.common_dir.clone().unwrap_or_else(|| self.own_directory());
        let metadata = fs::metadata(directory).ok()?;
        let born = metadata.created().ok().and_then(|born| born.duration_since(UNIX_EPOCH).ok());
        Some(Inode {
            device: metadata.dev(),
            inode: metadata.ino(),
            born_ms: born.and_then(|born| i64::try_from(born.as_millis()).ok()),
        })
    }

    /// The addresses of the remotes, as they stand in git's settings of this repository.
    pub fn remotes(&self) -> Vec<String> {
        let config = self.common_dir.as_ref().and_then(|common| read(&common.join("config")));
        config.map(|config| remotes_in(&config)).unwrap_or_default()
    }

    /// The root commits of what is checked out. Asks git, which looks at every commit.
    pub fn roots(&self) -> Vec<String> {
        if self.git_dir.is_none() {
            return Vec::new();
        }
        let listed = git(&self.root, None, &["rev-list", "--max-parents=0", "HEAD"]);
        let mut roots: Vec<String> =
            listed.unwrap_or_default().lines().map(str::to_owned).collect();
        roots.sort_unstable();
        roots
    }
}

/// A regular file of a sensible size; a pipe in its place would keep a hook waiting for ever.
fn read(path: &Path) -> Option<String> {
    let metadata = fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > MOST_BYTES {
        return None;
    }
    file::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn remotes_in(config: &str) -> Vec<String> {
    let (mut remotes, mut is_remote) = (Vec::new(), false);
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            is_remote = line.to_ascii_lowercase().starts_with("[remote ");
        } else if let Some((name, value)) = line.split_once('=')
            && is_remote
            && name.trim().eq_ignore_ascii_case("url")
        {
            remotes.push(value.trim().trim_matches('"').to_owned());
        }
    }
    remotes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover;
    use tempfile::TempDir;

    fn repository(dir: &Path) {
        git(dir, None, &["init", "-q", "-b", "main"]).unwrap();
        git(dir, None, &["commit", "-q", "--allow-empty", "-m", "first"]).unwrap();
    }

    #[test]
    fn worktrees_and_older_checkouts_have_the_key_that_git_remembers() {
        let dir = TempDir::new().unwrap();
        let root = dir.path().join("pay");
        fs::create_dir(&root).unwrap();
        repository(&root);
        discover(&root).remember_key("hr_x\n").unwrap();
        let other = dir.path().join("fix");
        let add = ["worktree", "add", "-q", "-b", "fix", other.to_str().unwrap()];
        git(&root, None, &add).unwrap();
        assert_eq!(discover(&other).key_texts(), [None, Some("hr_x\n".to_owned())]);
        assert_eq!(discover(&other).inode(), discover(&root).inode());
        discover(&root).forget_key();
        assert_eq!(discover(&other).key_texts(), [None, None]);
        assert!(!root.join(".git/heirloom").exists());
    }

    #[test]
    fn a_directory_is_the_same_after_it_was_moved_and_another_when_it_was_copied() {
        let dir = TempDir::new().unwrap();
        let (root, moved) = (dir.path().join("pay"), dir.path().join("elsewhere"));
        fs::create_dir_all(root.join(".heirloom")).unwrap();
        let before = discover(&root).inode().unwrap();
        fs::rename(&root, &moved).unwrap();
        assert_eq!(discover(&moved).inode(), Some(before));
        fs::create_dir_all(root.join(".heirloom")).unwrap();
        assert_ne!(discover(&root).inode(), Some(before));
    }

    #[test]
    fn remotes_are_read_from_gits_own_settings() {
        let dir = TempDir::new().unwrap();
        repository(dir.path());
        let add = |name: &str, url: &str| {
            git(dir.path(), None, &["remote", "add", name, url]).unwrap();
        };
        add("origin", "git@example.com:acme/pay.git");
        add("fork", "https://example.com/me/pay");
        let expected = ["git@example.com:acme/pay.git", "https://example.com/me/pay"];
        assert_eq!(discover(dir.path()).remotes(), expected);
        assert_eq!(discover(dir.path()).roots().len(), 1);
    }

    #[test]
    fn what_is_no_file_is_not_waited_for() {
        let dir = TempDir::new().unwrap();
        fs::create_dir_all(dir.path().join(".heirloom/repository")).unwrap();
        assert_eq!(discover(dir.path()).key_texts(), [None, None]);
    }
}

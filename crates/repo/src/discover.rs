//! Which repository a directory belongs to.

use std::fs;
use std::path::{Path, PathBuf};

use crate::file;
use crate::head::{self, Head};

/// heirloom's own directory in a repository.
const OWN_DIRECTORY: &str = ".heirloom";

/// What `init` leaves in a repository.
const SETTINGS: [&str; 2] = ["config.yaml", "repository"];

/// What is in a directory of a person's data and never in that of a repository.
const DATA: [&str; 2] = ["ledger.db", "sim"];

/// Where something happens: a repository, and the worktree of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Where the repository is, which the ledger is asked by: the directory of its main worktree. All
    /// worktrees of one repository share it. What the repository is called is the ledger's to say.
    pub repo: String,
    /// The root of the worktree, or the directory itself outside git.
    pub root: PathBuf,
    /// The worktree's own git directory, where there is git.
    pub git_dir: Option<PathBuf>,
    /// The git directory that all its worktrees share.
    pub common_dir: Option<PathBuf>,
    /// What is checked out.
    pub head: Head,
}

impl Place {
    /// Whether heirloom was set up here.
    pub fn is_set_up(&self) -> bool {
        // In git, what somebody puts into the directory takes nothing away: its rules hold.
        match self.git_dir {
            Some(_) => self.root.join(OWN_DIRECTORY).is_dir(),
            None => is_set_up(&self.root),
        }
    }

    /// The directory that heirloom keeps its files for this repository in.
    pub fn own_directory(&self) -> PathBuf {
        self.root.join(OWN_DIRECTORY)
    }

    /// The roots of all worktrees of the repository that are there: the main one, and those that git knows. Outside git
    /// there is one.
    pub fn worktrees(&self) -> Vec<PathBuf> {
        let Some(common) = &self.common_dir else { return vec![self.root.clone()] };
        let linked = fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten();
        let linked = linked.filter_map(|entry| {
            let named = file::read_to_string(entry.path().join("gitdir")).ok()?;
            Some(entry.path().join(named.trim()).parent()?.to_owned())
        });
        let all = linked.chain([PathBuf::from(&self.repo), self.root.clone()]);
        let mut all: Vec<PathBuf> = all.filter_map(|root| fs::canonicalize(root).ok()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The last part of the repository's name, for people.
    pub fn label(&self) -> &str {
        Path::new(&self.repo).file_name().and_then(|name| name.to_str()).unwrap_or(&self.repo)
    }
}

/// Finds the repository around `directory`.
///
/// Outside git the place is the nearest directory that heirloom was set up in, or else the directory
/// itself.
pub fn discover(directory: &Path) -> Place {
    let directory = fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
    for root in directory.ancestors() {
        if let Some(git_dir) = git_dir(root) {
            let head = head::read(&git_dir);
            let common = common_dir(&git_dir);
            let (repo, root) = (repo_of(&common), root.to_owned());
            return Place { repo, root, git_dir: Some(git_dir), common_dir: Some(common), head };
        }
    }
    let set_up = directory.ancestors().find(|root| is_set_up(root));
    let root = set_up.unwrap_or(&directory).to_owned();
    let repo = root.to_string_lossy().into_owned();
    Place { repo, root, git_dir: None, common_dir: None, head: Head::None }
}

/// Whether heirloom was set up in a directory. A person may keep heirloom's data in `~/.heirloom`, where the built-in
/// agent once kept its conversations too: neither makes a repository of everything below their home. Where there are
/// settings it is one, whatever somebody puts beside them.
fn is_set_up(root: &Path) -> bool {
    let own = root.join(OWN_DIRECTORY);
    let has = |names: &[&str]| names.iter().any(|name| own.join(name).exists());
    own.is_dir() && (has(&SETTINGS) || !has(&DATA))
}

/// The git directory of the worktree at `root`, if there is one.
///
/// In a linked worktree or a submodule `.git` is a file that names the directory.
fn git_dir(root: &Path) -> Option<PathBuf> {
    let dot_git = root.join(".git");
    let metadata = fs::metadata(&dot_git).ok()?;
    if metadata.is_dir() {
        // An empty `.git` directory is not a repository, and git goes on looking further up.
        return dot_git.join("HEAD").exists().then_some(dot_git);
    }
    let text = file::read_to_string(&dot_git).ok()?;
    let named = text.strip_prefix("gitdir:")?.trim();
    let git_dir = root.join(named);
    git_dir.join("HEAD").exists().then(|| fs::canonicalize(&git_dir).unwrap_or(git_dir))
}

/// The directory that all worktrees of the repository share.
pub(crate) fn common_dir(git_dir: &Path) -> PathBuf {
    let Ok(named) = file::read_to_string(git_dir.join("commondir")) else {
        return git_dir.to_owned();
    };
    let common = git_dir.join(named.trim());
    fs::canonicalize(&common).unwrap_or(common)
}

/// A repository is known by the directory that holds `.git`; a bare one by itself.
fn repo_of(common_dir: &Path) -> String {
    let repo = match common_dir.parent() {
        Some(parent) if common_dir.file_name().is_some_and(|name| name == ".git") => parent,
        _ => common_dir,
    };
    repo.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use tempfile::TempDir;

    fn git(directory: &Path, arguments: &[&str]) {
        let output = Command::new("git")
            .current_dir(directory)
            .args(["-c", "user.name=t", "-c", "user.email=t@localhost"])
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn repository() -> (TempDir, PathBuf) {
        let dir = TempDir::new().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap().join("payments");
        fs::create_dir(&root).unwrap();
        git(&root, &["init", "-q", "-b", "main"]);
        git(&root, &["commit", "-q", "--allow-empty", "-m", "first"]);
        (dir, root)
    }

    #[test]
    fn a_subdirectory_belongs_to_the_repository_around_it() {
        let (_dir, root) = repository();
        fs::create_dir_all(root.join("src/deep")).unwrap();
        let place = discover(&root.join("src/deep"));
        assert_eq!(
            (place.root.as_path(), place.repo.as_str()),
            (root.as_path(), root.to_str().unwrap())
        );
        assert_eq!(
            (place.head.clone(), place.label()),
            (Head::Branch("main".to_owned()), "payments")
        );
    }

    #[test]
    fn worktrees_of_one_repository_are_one_repository() {
        let (_dir, root) = repository();
        let other = root.with_file_name("payments-fix");
        git(&root, &["worktree", "add", "-q", "-b", "fix/a", other.to_str().unwrap()]);
        let (here, there) = (discover(&root), discover(&other));
        assert_eq!(here.repo, there.repo);
        assert_eq!(there.root, other);
        assert_eq!(there.head, Head::Branch("fix/a".to_owned()));
        let gone = root.with_file_name("gone");
        git(&root, &["worktree", "add", "-q", "-b", "gone", gone.to_str().unwrap()]);
        fs::remove_dir_all(&gone).unwrap();
        for place in [here, there] {
            assert_eq!(place.worktrees(), [root.clone(), other.clone()]);
        }
    }

    #[test]
    fn a_detached_head_is_its_commit() {
        let (_dir, root) = repository();
        git(&root, &["checkout", "-q", "--detach"]);
        let Head::Commit(commit) = discover(&root).head else { panic!("not detached") };
        assert_eq!(commit.len(), 40);
    }

    #[test]
    fn a_repository_of_another_reference_format_says_that_its_head_is_not_known() {
        let (dir, _) = repository();
        let root = dir.path().join("reftable");
        git(dir.path(), &["init", "-q", "--ref-format=reftable", root.to_str().unwrap()]);
        assert_eq!(discover(&root).head, Head::Unknown);
    }

    #[test]
    fn a_submodule_is_a_repository_of_its_own() {
        let (_dir, root) = repository();
        let other = root.with_file_name("library");
        fs::create_dir(&other).unwrap();
        git(&other, &["init", "-q", "-b", "main"]);
        git(&other, &["commit", "-q", "--allow-empty", "-m", "first"]);
        let url = other.to_str().unwrap();
        git(&root, &["-c", "protocol.file.allow=always", "submodule", "add", "-q", url, "lib"]);
        let place = discover(&root.join("lib"));
        assert_eq!(place.root, root.join("lib"));
        assert_ne!(place.repo, discover(&root).repo);
    }

    #[test]
    fn outside_git_the_nearest_set_up_directory_counts() {
        let dir = TempDir::new().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        assert_eq!(discover(&root.join("a/b")).root, root.join("a/b"));
        fs::create_dir(root.join("a/.heirloom")).unwrap();
        let place = discover(&root.join("a/b"));
        assert_eq!((place.root.clone(), place.head.clone()), (root.join("a"), Head::None));
        assert!(place.is_set_up());
    }

    #[test]
    fn the_data_of_a_person_makes_no_repository_of_their_home() {
        let dir = TempDir::new().unwrap();
        let home = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir_all(home.join("drafts/deep")).unwrap();
        for (name, text) in [("ledger.db", Some("")), ("sim/projects", None)] {
            let data = home.join(".heirloom");
            fs::create_dir(&data).unwrap();
            match text {
                Some(text) => fs::write(data.join(name), text).unwrap(),
                None => fs::create_dir_all(data.join(name)).unwrap(),
            }
            assert_eq!(discover(&home.join("drafts/deep")).root, home.join("drafts/deep"));
            assert!(!discover(&home).is_set_up(), "{name}");
            fs::remove_dir_all(data).unwrap();
        }
    }

    #[test]
    fn nobody_takes_a_repository_out_by_what_they_put_beside_its_settings() {
        let dir = TempDir::new().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir_all(root.join(".heirloom")).unwrap();
        fs::create_dir_all(root.join("src")).unwrap();
        fs::write(root.join(".heirloom/config.yaml"), "").unwrap();
        for name in DATA {
            fs::write(root.join(".heirloom").join(name), "").unwrap();
        }
        let place = discover(&root.join("src"));
        assert_eq!((place.root.as_path(), place.is_set_up()), (root.as_path(), true));
        // In git it does not even take settings.
        fs::remove_file(root.join(".heirloom/config.yaml")).unwrap();
        fs::create_dir_all(root.join(".git")).unwrap();
        fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        assert!(discover(&root.join("src")).is_set_up());
    }
}

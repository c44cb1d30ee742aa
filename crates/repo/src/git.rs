//! What only git itself can say. Never asked on a hook's way.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::discover::Place;
use crate::file;

/// Commits that are looked through for renames.
const MOST_COMMITS: &str = "--max-count=5000";

/// Directories that hold no code of the repository's own.
const NOT_CODE: [&str; 4] = ["node_modules", "target", "dist", "__pycache__"];

/// What git prints, or nothing if it fails or is not there.
pub(crate) fn git<I: AsRef<OsStr>>(
    root: &Path,
    index: Option<&Path>,
    arguments: impl IntoIterator<Item = I>,
) -> Option<Vec<u8>> {
    let mut command = crate::quiet::command(root);
    command.args(["-c", "core.quotePath=false"]).args(arguments);
    if let Some(index) = index {
        command.env("GIT_INDEX_FILE", index);
    }
    let output = crate::quiet::output(root, &mut command).ok()?;
    tracing::debug!(?root, arguments = %told(&command), status = %output.status, "git");
    output.status.success().then_some(output.stdout)
}

/// What git is asked, without what turns things off.
pub(crate) fn told(command: &Command) -> String {
    let words: Vec<_> = command.get_args().map(OsStr::to_string_lossy).collect();
    let mut at = 0;
    while words.get(at).is_some_and(|word| word == "-c") {
        at += 2;
    }
    words.get(at..).unwrap_or_default().join(" ")
}

pub(crate) fn text(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok()
}

/// The commit that is checked out.
pub fn commit(place: &Place) -> Option<String> {
    place.git_dir.as_ref()?;
    let printed = text(git(&place.root, None, ["rev-parse", "--verify", "-q", "HEAD"])?)?;
    Some(printed.trim().to_owned()).filter(|commit| !commit.is_empty())
}

/// The files of the worktree that are not ignored, with `/` between their parts.
pub fn files(place: &Place) -> Vec<String> {
    let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let listed = place.git_dir.as_ref().and_then(|_| git(&place.root, None, arguments));
    let Some(listed) = listed else {
        let mut files = Vec::new();
        walk(&place.root, "", &mut files);
        return files;
    };
    let names = listed.split(|byte| *byte == 0).filter_map(|name| std::str::from_utf8(name).ok());
    let mut files: Vec<String> = names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
    files.sort_unstable();
    files.dedup();
    files
}

fn walk(directory: &Path, prefix: &str, files: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let Ok(name) = entry.file_name().into_string() else { continue };
        if name.starts_with('.') || NOT_CODE.contains(&name.as_str()) {
            continue;
        }
        let path = format!("{prefix}{name}");
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => walk(&entry.path(), &format!("{path}/"), files),
            Ok(kind) if kind.is_file() => files.push(path),
            _ => {}
        }
    }
}

/// What the files of `commit` are called in the worktree now, those that are called differently.
///
/// Files that were moved without telling git count too: they are compared in a copy of the index
/// that knows about them.
pub fn renames_since(place: &Place, commit: &str) -> BTreeMap<String, String> {
    let Some(git_dir) = &place.git_dir else { return BTreeMap::new() };
    // A name from outside must not become an option.
    if commit.is_empty() || !commit.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return BTreeMap::new();
    }
    let copy = tempfile::NamedTempFile::new().ok();
    let copy = copy.filter(|copy| file::copy(git_dir.join("index"), copy.path()).is_ok());
    let index = copy.as_ref().map(tempfile::NamedTempFile::path);
    if index.is_some() {
        git(&place.root, index, ["add", "--intent-to-add", "--", "."]);
    }
    let arguments = [
        "diff",
        "--no-ext-diff",
        "--no-textconv",
        "-M",
        "--name-status",
        "-z",
        "--diff-filter=R",
        commit,
        "--",
    ];
    let printed = git(&place.root, index, arguments).and_then(text).unwrap_or_default();
    renames(&printed).collect()
}

/// What files were called differently at any time, by their last step.
pub fn renames_ever(place: &Place) -> BTreeMap<String, String> {
    let arguments = [
        "log",
        MOST_COMMITS,
        "--no-ext-diff",
        "--no-textconv",
        "-M",
        "--name-status",
        "-z",
        "--diff-filter=R",
        "--format=",
    ];
    let printed = git(&place.root, None, arguments).and_then(text).unwrap_or_default();
    let mut steps = BTreeMap::new();
    // Newest first: the step that came last is the one that counts.
    for (from, to) in renames(&printed) {
        steps.entry(from).or_insert(to);
    }
    if place.git_dir.is_some() {
        steps.extend(renames_since(place, "HEAD"));
    }
    steps
}

/// Reads `R100`, old and new name, each with a zero behind it.
fn renames(printed: &str) -> impl Iterator<Item = (String, String)> {
    let mut parts = printed.split('\0').map(str::trim);
    std::iter::from_fn(move || {
        loop {
            let status = parts.next()?;
            if status.starts_with('R') {
                return Some((parts.next()?.to_owned(), parts.next()?.to_owned()));
            }
        }
    })
}

/// What the index holds of a file.
pub fn staged(place: &Place, path: &str) -> Option<Vec<u8>> {
    place.git_dir.as_ref()?;
    git(&place.root, None, ["show", &format!(":./{path}")])
}

/// What a file held at a commit, nothing where there was none; `None` where that commit is not known here.
pub fn at(place: &Place, commit: &str, path: &str) -> Option<Vec<u8>> {
    place.git_dir.as_ref()?;
    let is_name = commit == "HEAD" || commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_name || commit.is_empty() {
        return None;
    }
    git(&place.root, None, ["cat-file", "-e", &format!("{commit}^{{commit}}")])?;
    Some(git(&place.root, None, ["show", &format!("{commit}:./{path}")]).unwrap_or_default())
}

/// The last commit that had a file, and what it held.
pub fn committed(place: &Place, path: &str) -> Option<(String, Vec<u8>)> {
    place.git_dir.as_ref()?;
    // The newest commits that touched it: one of them may be the one that deleted it.
    let arguments = ["rev-list", "--max-count=50", "HEAD", "--", path];
    let commits = text(git(&place.root, None, arguments)?)?;
    commits.lines().find_map(|commit| {
        let content = git(&place.root, None, ["show", &format!("{commit}:./{path}")])?;
        Some((commit.to_owned(), content))
    })
}

/// Whether any commit of any branch has something about a file: then git puts it there and takes it away.
pub fn ever_had(place: &Place, path: &str) -> bool {
    let arguments = ["rev-list", "--max-count=1", "--all", "--", path];
    place.git_dir.is_some()
        && git(&place.root, None, arguments).is_some_and(|commits| !commits.is_empty())
}

/// Whether git has the file at `path` below `root`: then it came with the clone.
///
/// Read from the index by hand, because every command asks. What cannot be read by hand (an index of
/// another format) is asked of git, and where nobody can say, the file counts as git's.
pub fn is_tracked(root: &Path, path: &Path) -> bool {
    let place = crate::discover(root);
    let Some(git_dir) = &place.git_dir else { return false };
    let Ok(below) = place.root.join(path).strip_prefix(&place.root).map(Path::to_owned) else {
        return true;
    };
    if let Some(boundary) = boundary(&place.root, &below) {
        let real = |path: &Path| fs::canonicalize(path).ok();
        let leads_to = real(&place.root).zip(real(&place.root.join(&below)));
        let leads_to = leads_to.and_then(|(root, to)| Some(to.strip_prefix(root).ok()?.to_owned()));
        return is_listed(&place.root, git_dir, &boundary)
            || leads_to.is_some_and(|to| is_listed(&place.root, git_dir, &to));
    }
    is_listed(&place.root, git_dir, &below)
}

/// The directory on the way to a file that is a link or a repository of its own: git has that, and not what is
/// behind it.
fn boundary(root: &Path, below: &Path) -> Option<PathBuf> {
    let is_one = |at: &&Path| {
        let path = root.join(at);
        let is_link = path.symlink_metadata().is_ok_and(|found| found.is_symlink());
        !at.as_os_str().is_empty() && (is_link || path.join(".git").exists())
    };
    below.ancestors().skip(1).filter(is_one).last().map(Path::to_owned)
}

/// Whether the index has this very path.
fn is_listed(root: &Path, git_dir: &Path, below: &Path) -> bool {
    let name = below.to_string_lossy().into_owned();
    // The versions whose entries have their whole names. A split index has some in another file.
    let is_plain = |index: &[u8]| {
        matches!(index.get(..8), Some(b"DIRC\0\0\0\x02" | b"DIRC\0\0\0\x03"))
            && !index.windows(4).any(|word| word == b"link")
    };
    match file::read(git_dir.join("index")) {
        Ok(index) if is_plain(&index) => {
            index.split(|byte| *byte == 0).any(|part| part.ends_with(name.as_bytes()))
        }
        Ok(_) => {
            let arguments = ["ls-files", "--error-unmatch", "--", name.as_str()];
            git(root, None, arguments).is_some()
        }
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::discover;
    use std::process::Command;
    use tempfile::TempDir;

    fn run(root: &Path, arguments: &[&str]) {
        let output = Command::new("git")
            .current_dir(root)
            .args(["-c", "user.name=t", "-c", "user.email=t@localhost"])
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn repository() -> (TempDir, Place) {
        let dir = TempDir::new().unwrap();
        run(dir.path(), &["init", "-q", "-b", "main"]);
        fs::write(dir.path().join("a.rs"), "fn one() {}\nfn two() {}\nfn three() {}\n").unwrap();
        run(dir.path(), &["add", "."]);
        run(dir.path(), &["commit", "-q", "-m", "first"]);
        let place = discover(dir.path());
        (dir, place)
    }

    #[test]
    fn what_is_behind_a_link_or_in_a_repository_inside_came_along_with_it() {
        let (_dir, place) = repository();
        let root = &place.root;
        let local = Path::new(".own/local");
        let is = || is_tracked(root, local);
        fs::create_dir(root.join("conf")).unwrap();
        fs::write(root.join("conf/local"), "x").unwrap();
        std::os::unix::fs::symlink("conf", root.join(".own")).unwrap();
        assert!(!is(), "nothing of it is git's");
        run(root, &["add", "conf/local"]);
        assert!(is(), "what the link leads to is");
        run(root, &["rm", "-q", "--cached", "conf/local"]);
        run(root, &["add", ".own"]);
        assert!(is(), "the link is");
        run(root, &["rm", "-q", "--cached", ".own"]);
        fs::remove_file(root.join(".own")).unwrap();
        fs::create_dir(root.join(".own")).unwrap();
        fs::write(root.join(".own/local"), "x").unwrap();
        assert!(!is());
        run(&root.join(".own"), &["init", "-q"]);
        run(&root.join(".own"), &["add", "local"]);
        run(&root.join(".own"), &["commit", "-q", "-m", "own"]);
        assert!(!is(), "a repository of the person's own");
        run(root, &["add", ".own"]);
        assert!(is(), "a submodule");
    }

    #[test]
    fn a_file_that_was_moved_is_found_told_or_not() {
        let (_dir, place) = repository();
        let first = commit(&place).unwrap();
        let moved = BTreeMap::from([("a.rs".to_owned(), "b.rs".to_owned())]);
        fs::rename(place.root.join("a.rs"), place.root.join("b.rs")).unwrap();
        assert_eq!(renames_since(&place, &first), moved);
        assert_eq!(renames_ever(&place), moved);
        run(&place.root, &["add", "-A"]);
        run(&place.root, &["commit", "-q", "-m", "moved"]);
        assert_eq!(renames_since(&place, &first), moved);
        assert_eq!(renames_ever(&place), moved);
        assert!(renames_since(&place, "--output=x").is_empty());
    }

    #[test]
    fn what_the_index_and_the_last_commit_held_comes_back() {
        let (_dir, place) = repository();
        fs::write(place.root.join("a.rs"), "staged\n").unwrap();
        run(&place.root, &["add", "a.rs"]);
        assert_eq!(staged(&place, "a.rs").unwrap(), b"staged\n");
        run(&place.root, &["rm", "-q", "-f", "a.rs"]);
        run(&place.root, &["commit", "-q", "--allow-empty", "-m", "gone"]);
        assert_eq!(staged(&place, "a.rs"), None);
        let (_, content) = committed(&place, "a.rs").unwrap();
        assert!(content.starts_with(b"fn one"));
        assert_eq!(committed(&place, "never"), None);
    }

    #[test]
    fn what_came_with_the_clone_is_told_from_what_a_person_added() {
        let (_dir, place) = repository();
        let (ours, theirs) = (Path::new("local.yaml"), Path::new("a.rs"));
        fs::write(place.root.join(ours), "x").unwrap();
        for format in [None, Some("4")] {
            if let Some(version) = format {
                run(&place.root, &["update-index", "--index-version", version]);
            }
            assert!(is_tracked(&place.root, theirs));
            assert!(!is_tracked(&place.root, ours));
        }
        run(&place.root, &["update-index", "--split-index"]);
        assert!(is_tracked(&place.root, theirs));
    }

    #[test]
    fn outside_git_files_are_found_by_walking() {
        let dir = TempDir::new().unwrap();
        fs::create_dir_all(dir.path().join("src")).unwrap();
        fs::create_dir_all(dir.path().join("node_modules")).unwrap();
        for file in ["src/a.rs", "README.md", "node_modules/x.js", ".hidden"] {
            fs::write(dir.path().join(file), "x").unwrap();
        }
        assert_eq!(files(&discover(dir.path())), ["README.md", "src/a.rs"]);
    }
}

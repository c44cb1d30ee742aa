//! What a branch changes, as only git itself can say.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::discover::Place;
use crate::file::read_at_most;
use crate::git::{git, text};

/// Where the branch left the one it came from; the commit that is checked out where there is none.
pub fn base(place: &Place) -> Option<String> {
    let line = |arguments: &[&str]| {
        let printed = text(git(&place.root, None, arguments)?)?;
        Some(printed.trim().to_owned()).filter(|line| !line.is_empty())
    };
    let fork = |name: &str| line(&["merge-base", "HEAD", name]);
    let trunk = ["refs/remotes/origin/HEAD", "origin/main", "origin/master", "main", "master"];
    trunk.into_iter().find_map(fork).or_else(|| line(&["rev-parse", "--verify", "-q", "HEAD"]))
}

/// The files that differ from the base, tracked or not, with what they hold now; nothing for one
/// that is gone. The same whether they are committed, staged or neither.
pub fn changed(place: &Place, paths: &[String]) -> Option<Vec<(String, Option<Vec<u8>>)>> {
    let base = base(place)?;
    let with_paths = |arguments: &[&str]| {
        let arguments = arguments.iter().map(|word| (*word).to_owned());
        let arguments = arguments.chain(std::iter::once("--".to_owned()));
        git(&place.root, None, arguments.chain(paths.iter().map(|path| pathspec(path))))
    };
    let tracked =
        with_paths(&["diff", "--no-ext-diff", "--no-renames", "--name-only", "-z", &base])?;
    let others = with_paths(&UNTRACKED)?;
    let mut names: Vec<String> = [tracked, others].iter().flat_map(|names| listed(names)).collect();
    names.sort_unstable();
    names.dedup();
    let with_content = |name: String| {
        let held = held(&place.root.join(&name));
        (name, held)
    };
    Some(names.into_iter().map(with_content).collect())
}

/// The files of commits, by the hash that was asked for; nothing for one that is not there.
pub fn of_commits<'h>(
    root: &Path,
    hashes: impl IntoIterator<Item = &'h str>,
) -> BTreeMap<String, Vec<String>> {
    let is_hash =
        |hash: &&str| hash.len() >= 4 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let hashes: Vec<&str> = hashes.into_iter().filter(is_hash).collect();
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    if hashes.is_empty() {
        return files;
    }
    let log = ["log", "--no-walk=unsorted", "--ignore-missing", "--no-renames", "--name-only"];
    let arguments = log.into_iter().chain(["--format=%x01%H"]).chain(hashes.iter().copied());
    let printed = git(root, None, arguments.chain(["--"])).and_then(text).unwrap_or_default();
    let mut commit = None;
    for line in printed.lines().filter(|line| !line.is_empty()) {
        if let Some(hash) = line.strip_prefix('\x01') {
            commit = hashes.iter().find(|asked| hash.starts_with(**asked));
        } else if let Some(hash) = commit {
            files.entry((*hash).to_owned()).or_default().push(line.to_owned());
        }
    }
    files
}

/// Lists the files that git does not know and does not ignore.
const UNTRACKED: [&str; 5] = ["ls-files", "--others", "--exclude-standard", "--full-name", "-z"];

/// The names in what git prints with `-z`.
fn listed(printed: &[u8]) -> impl Iterator<Item = String> {
    let names = printed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.map(|name| String::from_utf8_lossy(name).into_owned())
}

fn pathspec(path: &str) -> String {
    let path = path.trim_start_matches("./");
    if path.contains(['*', '?', '[']) { format!(":(glob){path}") } else { path.to_owned() }
}

/// The most of a file that is compared as it is.
const MOST_HELD: u64 = 1024 * 1024 * 1024;

/// What a file holds; a link holds where it leads.
fn held(path: &Path) -> Option<Vec<u8>> {
    match fs::read_link(path) {
        Ok(target) => Some(target.into_os_string().into_encoded_bytes()),
        Err(_) => read_at_most(path, MOST_HELD).ok(),
    }
}

/// The lines that the branch adds and removes, committed or not, in files that git knows or not.
pub fn size(place: &Place) -> Option<u64> {
    let base = base(place)?;
    let arguments = ["diff", "--no-ext-diff", "--numstat", &base, "--"];
    let printed = text(git(&place.root, None, arguments)?)?;
    let lines = printed.lines().flat_map(|line| line.split('\t').take(2));
    let known: u64 = lines.filter_map(|number| number.parse::<u64>().ok()).sum();
    let others = git(&place.root, None, UNTRACKED)?;
    let new: u64 = listed(&others).map(|name| lines_of(&place.root.join(name))).sum();
    Some(known + new)
}

/// The lines of a file that is text. What is larger than any source is not read for it.
fn lines_of(path: &Path) -> u64 {
    const MOST_BYTES: u64 = 1024 * 1024;
    let is_small = fs::symlink_metadata(path).is_ok_and(|found| found.len() <= MOST_BYTES);
    let bytes = if is_small { held(path).unwrap_or_default() } else { Vec::new() };
    let is_text = !bytes.contains(&0);
    bytes.split_inclusive(|byte| *byte == b'\n').filter(|_| is_text).count() as u64
}

/// The names of all branches; nothing where git does not say.
pub fn branches(place: &Place) -> Option<Vec<String>> {
    let arguments = ["for-each-ref", "--format=%(refname)", "refs/heads"];
    let printed = text(git(&place.root, None, arguments)?)?;
    let name = |line: &str| line.strip_prefix("refs/heads/").map(str::to_owned);
    Some(printed.lines().filter_map(name).collect())
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

    #[test]
    fn what_a_branch_changes_stays_the_same_when_it_is_staged_and_committed() {
        let dir = TempDir::new().unwrap();
        run(dir.path(), &["init", "-q", "-b", "main"]);
        fs::write(dir.path().join("a"), "1\n2\n").unwrap();
        run(dir.path(), &["add", "."]);
        run(dir.path(), &["commit", "-q", "-m", "first"]);
        run(dir.path(), &["checkout", "-q", "-b", "feature/x"]);
        fs::write(dir.path().join("a"), "1\n").unwrap();
        fs::write(dir.path().join("new"), "n\n").unwrap();
        let place = discover(dir.path());
        let all = [("a", "1\n"), ("new", "n\n")];
        let all = all.map(|(name, text)| (name.to_owned(), Some(text.as_bytes().to_vec())));
        assert_eq!(size(&place), Some(2));
        assert_eq!(changed(&place, &[]).unwrap(), all);
        run(dir.path(), &["add", "-A"]);
        assert_eq!(changed(&place, &[]).unwrap(), all);
        run(dir.path(), &["commit", "-q", "-m", "second"]);
        assert_eq!(changed(&place, &[]).unwrap(), all);
        assert_eq!(changed(&place, &["n*".to_owned()]).unwrap(), all[1..]);
        assert_eq!(size(&place), Some(2));
        assert_eq!(branches(&place).unwrap(), ["feature/x", "main"]);
    }

    #[test]
    fn a_file_has_as_many_lines_as_git_would_say() {
        let dir = TempDir::new().unwrap();
        let file = dir.path().join("a");
        for (text, lines) in [("", 0), ("1", 1), ("1\n", 1), ("1\n2", 2), ("\0\n\n", 0)] {
            fs::write(&file, text).unwrap();
            assert_eq!(lines_of(&file), lines, "{text:?}");
        }
    }

    #[test]
    fn outside_of_a_repository_nothing_is_said() {
        let dir = TempDir::new().unwrap();
        let place = discover(dir.path());
        assert_eq!((changed(&place, &[]), size(&place), branches(&place)), (None, None, None));
    }
}

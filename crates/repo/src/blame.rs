//! Which commit a line comes from.

use crate::discover::Place;
use crate::git::{git, text};

/// The commit a line comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blamed {
    /// Its hash; `None` for a line that is not committed.
    pub commit: Option<String>,
    pub subject: String,
    pub author: String,
    /// When, in seconds since 1970.
    pub at: i64,
    /// What the line says.
    pub line: String,
}

/// Where the line `line` of a file comes from, changes of white space aside; nothing if git does not know
/// the file or it has no such line.
pub fn blame(place: &Place, path: &str, line: u32) -> Option<Blamed> {
    place.git_dir.as_ref()?;
    let range = format!("{line},{line}");
    let arguments = ["blame", "-w", "--porcelain", "-L", &range, "--", path];
    read(&text(git(&place.root, None, arguments)?)?)
}

fn read(printed: &str) -> Option<Blamed> {
    let hash = printed.split_whitespace().next()?;
    let field = |name: &str| {
        let found = printed.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        found.unwrap_or_default().to_owned()
    };
    Some(Blamed {
        commit: (!hash.bytes().all(|byte| byte == b'0')).then(|| hash.to_owned()),
        subject: field("summary"),
        author: field("author"),
        at: field("author-time").parse().unwrap_or(0),
        line: printed.lines().find_map(|line| line.strip_prefix('\t'))?.to_owned(),
    })
}

/// The newest commits that changed a file, newest first, under its former names too: hash and subject.
pub fn history(place: &Place, path: &str, most: usize) -> Vec<(String, String)> {
    let count = format!("--max-count={most}");
    let arguments = ["log", "--follow", "--format=%H %s", &count, "--", path];
    let printed = place.git_dir.as_ref().and_then(|_| git(&place.root, None, arguments));
    let printed = printed.and_then(text).unwrap_or_default();
    let pairs = printed.lines().filter_map(|line| line.split_once(' '));
    pairs.map(|(hash, subject)| (hash.to_owned(), subject.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    fn run(root: &Path, arguments: &[&str]) {
        let mut all = vec!["-c", "user.name=test", "-c", "user.email=test@localhost"];
        all.extend(arguments);
        git(root, None, all).expect("git");
    }

    #[test]
    fn a_line_is_of_the_commit_that_brought_it_or_of_none_yet() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        run(&root, &["init", "-q", "-b", "main"]);
        fs::write(root.join("a b.txt"), "one\n").unwrap();
        run(&root, &["add", "-A"]);
        run(&root, &["commit", "-qm", "add one"]);
        fs::write(root.join("a b.txt"), "one\ntwo\n").unwrap();
        let place = crate::discover(&root);
        let first = blame(&place, "a b.txt", 1).unwrap();
        assert_eq!((first.subject.as_str(), first.line.as_str()), ("add one", "one"));
        assert_eq!(first.commit, crate::git::commit(&place));
        let second = blame(&place, "a b.txt", 2).unwrap();
        assert_eq!((second.commit, second.line.as_str()), (None, "two"));
        assert_eq!(blame(&place, "a b.txt", 3), None);
        assert_eq!(blame(&place, "other", 1), None);
        assert_eq!(history(&place, "a b.txt", 5)[0].1, "add one");
    }
}

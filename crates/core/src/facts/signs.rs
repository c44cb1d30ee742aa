//! What commands and their output say about the work: commits, errors.
//!
//! Rules of thumb over text that many tools print. What is not recognised is left out; nothing is
//! made up.

use super::runners::simple_commands;

/// A commit that git said it made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitSign {
    /// The hash, as printed.
    pub hash: String,
    pub subject: String,
}

/// The commits that a command made, as git says: `[main 1a2b3c4] subject`. One that was made quietly is known
/// where the same line has git print it: `git commit -q … && git log --oneline -1`.
pub fn commits(command: &str, output: &str) -> Vec<CommitSign> {
    if !makes_commit(command) {
        return Vec::new();
    }
    let made: Vec<CommitSign> = output.lines().filter_map(commit_line).collect();
    if !made.is_empty() || !shows_its_commit(command) {
        return made;
    }
    output.lines().find_map(logged).into_iter().collect()
}

/// Whether a command line may have git make a commit.
fn makes_commit(command: &str) -> bool {
    const MAKE: [&str; 6] = ["commit", "merge", "cherry-pick", "revert", "rebase", "am"];
    simple_commands(command).any(|words| git(&words).is_some_and(|does| MAKE.contains(&does)))
}

/// Whether a command line has git commit what was changed.
pub fn commits_changes(command: &str) -> bool {
    simple_commands(command).any(|words| is_commit(&words))
}

fn is_commit(words: &[&str]) -> bool {
    git(words) == Some("commit") && !words.contains(&"--dry-run")
}

/// Whether the one log that a line prints begins with the commit that it made: it is printed only if that was
/// made.
fn shows_its_commit(command: &str) -> bool {
    let is_log = |words: &[&str]| git(words) == Some("log");
    let behind_commit = |line: &str| {
        let mut parts = line.split("&&").map(|part| part.split_whitespace().collect::<Vec<_>>());
        parts.any(|words| is_commit(&words)) && parts.any(|words| is_log(&words))
    };
    simple_commands(command).filter(|words| is_log(words)).count() == 1
        && command.split([';', '|', '\n']).any(behind_commit)
}

/// What a command has git do: the first word behind `git` that is neither an option nor its value.
fn git<'w>(words: &[&'w str]) -> Option<&'w str> {
    const WITH_VALUE: [&str; 4] = ["-C", "-c", "--git-dir", "--work-tree"];
    let mut words = words.iter().copied();
    words.find(|word| *word == "git" || word.ends_with("/git"))?;
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            return Some(word);
        }
        let value = if WITH_VALUE.contains(&word) { words.next()? } else { word };
        // A value in quotes may be several words: `-c user.name="A B"`.
        if let Some(quote) =
            ['"', '\''].into_iter().find(|quote| value.matches(*quote).count() == 1)
        {
            words.find(|word| word.contains(quote))?;
        }
    }
    None
}

/// `1a2b3c4 (HEAD -> main) subject`
fn logged(line: &str) -> Option<CommitSign> {
    let (hash, rest) = line.trim().split_once(' ')?;
    let subject = match rest.strip_prefix('(') {
        Some(names) => names.split_once(") ").map(|(_, subject)| subject)?,
        None => rest,
    };
    is_hash(hash).then(|| CommitSign { hash: hash.to_owned(), subject: subject.trim().to_owned() })
}

fn is_hash(word: &str) -> bool {
    (7..=40).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn commit_line(line: &str) -> Option<CommitSign> {
    let (head, subject) = line.trim_start().strip_prefix('[')?.split_once("] ")?;
    let hash = head.rsplit(' ').next()?;
    let has_branch = head.len() > hash.len();
    (is_hash(hash) && has_branch)
        .then(|| CommitSign { hash: hash.to_owned(), subject: subject.trim().to_owned() })
}

/// How much of a line is kept as an error.
const LONGEST_ERROR: usize = 300;

/// The line of an output that says best what went wrong. That a test failed says less than why.
pub fn error(output: &str) -> Option<String> {
    const HEADS: [&str; 6] = ["error[", "error: ", "fatal: ", "E   ", "FAILED ", "--- FAIL: "];
    const WORDS: [&str; 5] = ["error", "failed", "not found", "no such file", "denied"];
    let lines = output.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines: Vec<&str> = lines.filter(|line| !line.starts_with("Exit code ")).collect();
    let telling = |line: &&str| !is_outcome(line);
    let find =
        |holds: &dyn Fn(&str) -> bool| lines.iter().filter(|l| telling(l)).position(|l| holds(l));
    let at = |index: usize| lines.iter().copied().filter(telling).nth(index);
    let found = find(&|line| HEADS.iter().any(|head| line.starts_with(head)))
        .or_else(|| find(&|line| line.contains("panicked at")))
        .or_else(|| find(&is_exception))
        .or_else(|| find(&|line| line.starts_with("assertion ")))
        .or_else(|| {
            find(&|line| WORDS.iter().any(|word| line.to_ascii_lowercase().contains(word)))
        });
    let line = match found {
        Some(index) => {
            let line = at(index)?;
            // What a panic or a test of Go says stands on the next line.
            let is_head = line.starts_with("--- FAIL: ")
                || line.contains("panicked at") && line.ends_with(':');
            at(index + 1).filter(|_| is_head).unwrap_or(line)
        }
        None => lines.iter().copied().rfind(telling).or_else(|| lines.last().copied())?,
    };
    Some(line.chars().take(LONGEST_ERROR).collect())
}

/// Lines that say that tests failed, and not why.
fn is_outcome(line: &str) -> bool {
    line.starts_with("test ") && line.contains(" ... ")
        || ["test result: ", "error: test failed", "failures:", "running ", "FAIL ", "FAIL: "]
            .iter()
            .any(|head| line.starts_with(head))
}

/// `TypeError: …`, as Python and JavaScript end a trace.
fn is_exception(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(name, _)| {
        (name.ends_with("Error") || name.ends_with("Exception"))
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_those_that_git_says_it_made() {
        let output = "[main (root-commit) 1a2b3c4] parser: accept [x] nested\n 1 file changed";
        let made = commits("git add -A && git commit -m x", output);
        assert_eq!(made[0].hash, "1a2b3c4");
        assert_eq!(made[0].subject, "parser: accept [x] nested");
        assert!(commits("cat log.txt", output).is_empty());
        let made =
            commits("git commit -q -m x && git log --oneline -1", "1a2b3c4 (HEAD -> main) x");
        assert_eq!((made[0].hash.as_str(), made[0].subject.as_str()), ("1a2b3c4", "x"));
        assert!(commits("git log --oneline -1", "1a2b3c4 x").is_empty());
        assert!(commits("git commit", "[1a2b3c4] no branch\n[INFO deadbeef!] x").is_empty());
    }

    #[test]
    fn a_log_that_does_not_follow_a_commit_shows_none_that_was_made() {
        for command in [
            "git log --oneline -1; git commit -qm x",
            "git log --oneline -1 && git commit -qm x && git log --oneline -1",
            "git merge --abort && git log --oneline -1",
            "git commit -qm x; git log --oneline -1",
            "git commit -qm x || git log --oneline -1",
            "git commit --dry-run && git log --oneline -1",
        ] {
            assert_eq!(commits(command, "1a2b3c4 older"), [], "{command}");
        }
        let command = "git add a && git commit -qm x 2>&1 && git -C . log --oneline -1";
        assert_eq!(commits(command, "1a2b3c4 x").len(), 1);
    }

    #[test]
    fn only_what_git_is_told_to_do_commits() {
        for command in [
            "git commit -qm x",
            "git -C a -c user.name=\"A B\" --no-pager commit -m x",
            "/usr/bin/git commit",
        ] {
            assert!(commits_changes(command), "{command}");
        }
        for command in [
            "git grep commit",
            "git grep merge",
            "git log --grep commit",
            "git -C commit status",
            "git commit --dry-run",
            "git merge --abort",
        ] {
            assert!(!commits_changes(command), "{command}");
        }
    }

    #[test]
    fn the_line_that_says_what_went_wrong_is_found() {
        for (output, expected) in [
            (
                "Compiling\nerror[E0382]: borrow of moved value\n --> a.rs",
                "error[E0382]: borrow of moved value",
            ),
            ("Traceback\n  File x\nTypeError: no", "TypeError: no"),
            (
                "Exit code 1\nls: cannot access 'x': No such file or directory",
                "ls: cannot access 'x': No such file or directory",
            ),
            ("a\nb", "b"),
            (
                "test a::b ... FAILED\nthread 'a::b' panicked at src/a.rs:1:2:\nleft is 1\nerror: test failed",
                "left is 1",
            ),
            ("--- FAIL: TestSum (0.00s)\n    sum_test.go:8: got 3", "sum_test.go:8: got 3"),
            ("running 1 test\ntest a ... FAILED", "test a ... FAILED"),
        ] {
            assert_eq!(error(output).as_deref(), Some(expected));
        }
        assert_eq!(error("  \n"), None);
        assert_eq!(error(&"x".repeat(9000)).unwrap().len(), 300);
    }
}

//! What commands and their output say about the work: tests, commits, errors.
//!
//! Rules of thumb over text that many tools print. What is not recognised is left out; nothing is
//! made up.

/// How a test came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestSign {
    /// The test's name.
    pub name: String,
    /// Whether it passed.
    pub passed: bool,
}

/// A commit that git said it made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitSign {
    /// The hash, as printed.
    pub hash: String,
    /// The subject.
    pub subject: String,
}

/// Programs whose run is a test run, with the word that makes it one.
const TEST_RUNNERS: &[&[&str]] = &[
    &["cargo", "test"],
    &["cargo", "nextest"],
    &["go", "test"],
    &["npm", "test"],
    &["npm", "run", "test"],
    &["pnpm", "test"],
    &["yarn", "test"],
    &["bun", "test"],
    &["npx", "jest"],
    &["npx", "vitest"],
    &["mix", "test"],
    &["mvn", "test"],
    &["gradle", "test"],
    &["./gradlew", "test"],
    &["make", "test"],
    &["make", "check"],
    &["just", "test"],
    &["dotnet", "test"],
    &["swift", "test"],
    &["zig", "build", "test"],
    &["rake", "test"],
    &["pytest"],
    &["jest"],
    &["vitest"],
    &["rspec"],
    &["phpunit"],
    &["ctest"],
    &["tox"],
    &["./test"],
];

/// Whether a command line runs tests.
pub fn is_test_run(command: &str) -> bool {
    simple_commands(command).any(|words| {
        let words: Vec<&str> = words
            .iter()
            .copied()
            .skip_while(|word| is_prefix(word))
            .filter(|word| !word.starts_with(['+', '-']))
            .collect();
        let of_python = words.first().is_some_and(|word| word.starts_with("python"))
            && words.get(1).is_some_and(|word| matches!(*word, "pytest" | "unittest"));
        of_python || TEST_RUNNERS.iter().any(|runner| words.starts_with(runner))
    })
}

/// `FOO=1`, `env`, `timeout 60`, `uv run` and the like stand before the command itself.
fn is_prefix(word: &str) -> bool {
    word.contains('=')
        || matches!(word, "env" | "time" | "nice" | "sudo" | "timeout" | "uv" | "poetry" | "run")
        || word.bytes().all(|byte| byte.is_ascii_digit())
}

fn simple_commands(command: &str) -> impl Iterator<Item = Vec<&str>> {
    command.split(['\n', ';', '|', '&']).map(|part| part.split_whitespace().collect())
}

/// The tests that an output names, in the words of the common runners.
pub fn tests(output: &str) -> Vec<TestSign> {
    let mut found: Vec<TestSign> = Vec::new();
    for line in output.lines() {
        let Some((name, passed)) = test_line(line.trim()) else { continue };
        match found.iter_mut().find(|test| test.name == name) {
            Some(test) => test.passed &= passed,
            None => found.push(TestSign { name: name.to_owned(), passed }),
        }
    }
    found
}

fn test_line(line: &str) -> Option<(&str, bool)> {
    // cargo test
    if let Some(rest) = line.strip_prefix("test ") {
        let (name, verdict) = rest.rsplit_once(" ... ")?;
        return match verdict.trim() {
            "ok" => Some((name, true)),
            word if word.starts_with("FAILED") => Some((name, false)),
            _ => None,
        };
    }
    // cargo nextest: `PASS [   0.005s] crate module::name`
    for (word, passed) in [("PASS [", true), ("FAIL [", false)] {
        if let Some(rest) = line.strip_prefix(word) {
            return rest.rsplit(' ').next().map(|name| (name, passed));
        }
    }
    // pytest
    if let Some(rest) = line.strip_prefix("FAILED ") {
        let name = rest.split_once(" - ").map_or(rest, |(name, _)| name).trim();
        return name.contains("::").then_some((name, false));
    }
    if let Some(name) = line.strip_suffix(" PASSED").or_else(|| {
        let (name, rest) = line.split_once(" PASSED ")?;
        rest.trim_start().starts_with('[').then_some(name)
    }) {
        return name.contains("::").then_some((name, true));
    }
    // go test
    for (word, passed) in [("--- PASS: ", true), ("--- FAIL: ", false)] {
        if let Some(rest) = line.strip_prefix(word) {
            return rest.split_whitespace().next().map(|name| (name, passed));
        }
    }
    // jest, vitest, mocha
    for (mark, passed) in [("✓ ", true), ("✔ ", true), ("✕ ", false), ("✗ ", false), ("× ", false)]
    {
        if let Some(rest) = line.strip_prefix(mark) {
            return Some((rest.rsplit_once(" (").map_or(rest, |(name, _)| name), passed));
        }
    }
    None
}

/// The commits that a command made, as git says: `[main 1a2b3c4] subject`.
pub fn commits(command: &str, output: &str) -> Vec<CommitSign> {
    let commits = simple_commands(command).any(|words| {
        let git = words.iter().position(|word| *word == "git" || word.ends_with("/git"));
        git.is_some_and(|at| {
            words[at..].iter().any(|word| {
                matches!(*word, "commit" | "merge" | "cherry-pick" | "revert" | "rebase" | "am")
            })
        })
    });
    if !commits {
        return Vec::new();
    }
    output.lines().filter_map(commit_line).collect()
}

fn commit_line(line: &str) -> Option<CommitSign> {
    let (head, subject) = line.trim_start().strip_prefix('[')?.split_once("] ")?;
    let hash = head.rsplit(' ').next()?;
    let is_hash = (7..=40).contains(&hash.len()) && hash.bytes().all(|b| b.is_ascii_hexdigit());
    let has_branch = head.len() > hash.len();
    (is_hash && has_branch)
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
        || ["test result: ", "error: test failed", "failures:", "running ", "FAIL src/"]
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
    fn test_runs_are_told_from_other_commands() {
        for command in [
            "cargo test -p core",
            "RUST_LOG=debug cargo +nightly nextest run",
            "cd web && npm run test -- --watch=false",
            "timeout 60 pytest -x tests/",
            "uv run pytest",
            "python3 -m pytest",
            "go test ./...",
        ] {
            assert!(is_test_run(command), "{command}");
        }
        for command in ["cargo build", "cat test.txt", "git commit -m 'go test it'", "echo pytest"]
        {
            assert!(!is_test_run(command), "{command}");
        }
    }

    #[test]
    fn tests_are_named_by_every_common_runner() {
        let output = "test parser::nested ... FAILED\ntest parser::flat ... ok\n\
             FAILED tests/test_a.py::test_x - assert 1 == 2\ntests/test_a.py::test_y PASSED  [ 50%]\n\
             --- FAIL: TestSum (0.00s)\n  ✓ adds numbers (3 ms)\n  ✕ subtracts\n\
             FAIL [   0.005s] mycrate module::slow";
        let named: Vec<(String, bool)> =
            tests(output).into_iter().map(|test| (test.name, test.passed)).collect();
        let expected = [
            ("parser::nested", false),
            ("parser::flat", true),
            ("tests/test_a.py::test_x", false),
            ("tests/test_a.py::test_y", true),
            ("TestSum", false),
            ("adds numbers", true),
            ("subtracts", false),
            ("module::slow", false),
        ];
        assert_eq!(named, expected.map(|(name, passed)| (name.to_owned(), passed)));
    }

    #[test]
    fn commits_are_those_that_git_says_it_made() {
        let output = "[main (root-commit) 1a2b3c4] parser: accept [x] nested\n 1 file changed";
        let made = commits("git add -A && git commit -m x", output);
        assert_eq!(made[0].hash, "1a2b3c4");
        assert_eq!(made[0].subject, "parser: accept [x] nested");
        assert!(commits("cat log.txt", output).is_empty());
        assert!(commits("git commit", "[1a2b3c4] no branch\n[INFO deadbeef!] x").is_empty());
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

//! Runs of tests: which command lines are one, and what their output says of each test.
//!
//! Every runner has words of its own. A test that none of them names is known by its command only, so what
//! is not recognised costs a name, never the fact that something failed.

use std::collections::{HashMap, HashSet};

use super::marked_lines;

/// How a test came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestSign {
    pub name: String,
    pub passed: bool,
}

/// Programs whose run is a test run, with the words that make it one. `test:unit` counts as `test`.
const RUNNERS: &[&[&str]] = &[
    &["cargo", "test"],
    &["cargo", "t"],
    &["cargo", "nextest"],
    &["cargo", "insta", "test"],
    &["go", "test"],
    &["gotestsum"],
    &["npm", "test"],
    &["npm", "t"],
    &["npm", "run", "test"],
    &["pnpm", "test"],
    &["pnpm", "run", "test"],
    &["pnpm", "vitest"],
    &["pnpm", "exec", "vitest"],
    &["yarn", "test"],
    &["yarn", "run", "test"],
    &["yarn", "jest"],
    &["yarn", "vitest"],
    &["bun", "test"],
    &["bun", "run", "test"],
    &["deno", "test"],
    &["playwright", "test"],
    &["cypress", "run"],
    &["mix", "test"],
    &["make", "test"],
    &["make", "check"],
    &["just", "test"],
    &["dotnet", "test"],
    &["swift", "test"],
    &["zig", "build", "test"],
    &["zig", "test"],
    &["rake", "test"],
    &["rails", "test"],
    &["manage.py", "test"],
    &["artisan", "test"],
    &["pytest"],
    &["unittest"],
    &["nox"],
    &["tox"],
    &["jest"],
    &["vitest"],
    &["mocha"],
    &["ava"],
    &["rspec"],
    &["phpunit"],
    &["pest"],
    &["ctest"],
    &["bats"],
    &["prove"],
    &["./test"],
    &["bazel", "test"],
    &["bazelisk", "test"],
    &["cabal", "test"],
    &["composer", "test"],
    &["crystal", "spec"],
    &["dart", "test"],
    &["dune", "runtest"],
    &["dune", "test"],
    &["flutter", "test"],
    &["forge", "test"],
    &["ginkgo"],
    &["hatch", "test"],
    &["lein", "test"],
    &["meson", "test"],
    &["nx", "test"],
    &["rye", "test"],
    &["sbt", "test"],
    &["sbt", "testOnly"],
    &["stack", "test"],
    &["task", "test"],
    &["turbo", "test"],
    &["turbo", "run", "test"],
    &["xcodebuild", "test"],
];

/// The words of the part of a command line that runs tests, if one does: without what is set before it and
/// without where its output goes, so that the same run is the same words.
pub fn test_run(command: &str) -> Option<Vec<&str>> {
    simple_commands(command).find_map(|mut words| {
        let begin = words.iter().position(|word| !is_prefix(word))?;
        words.drain(..begin);
        words.retain(|word| !word.contains(['<', '>']));
        runs_tests(&words).then_some(words)
    })
}

/// Whether a run asks for nothing but tests, and so for all of them: no word can be left out.
pub fn runs_all(words: &[&str]) -> bool {
    let is_needed = |at: usize| {
        let rest: Vec<&str> = [&words[..at], &words[at + 1..]].concat();
        // `python -m pytest`, `cargo nextest run`
        let is_usual = matches!(words[at], "-m" | "run") || words[at].starts_with("python");
        is_usual || !runs_tests(&rest)
    };
    runs_tests(words) && (0..words.len()).all(is_needed)
}

fn runs_tests(words: &[&str]) -> bool {
    let plain: Vec<&str> =
        words.iter().copied().filter(|word| !word.starts_with(['+', '-'])).collect();
    let Some(first) = plain.first() else { return false };
    let program = first.rsplit('/').next().unwrap_or(first);
    match program {
        "mvn" | "mvnw" | "gradle" | "gradlew" => {
            let of_project = |word: &&str| word.rsplit(':').next().unwrap_or(word).to_owned();
            plain.iter().map(of_project).any(|word| matches!(&*word, "test" | "check" | "verify"))
        }
        "node" => words.contains(&"--test"),
        "clj" | "clojure" => words.iter().any(|word| word.contains(":test")),
        _ if program.starts_with("python") || program == "php" => begins(&plain[1..]),
        _ => begins(&plain) || begins(&[&[program], &plain[1..]].concat()),
    }
}

fn begins(words: &[&str]) -> bool {
    let is = |(word, said): (&&str, &&str)| {
        word == said || *said == "test" && word.strip_prefix("test:").is_some()
    };
    RUNNERS.iter().any(|runner| words.len() >= runner.len() && words.iter().zip(*runner).all(is))
}

/// `FOO=1`, `env`, `timeout 60`, `uv run` and the like stand before the command itself.
fn is_prefix(word: &str) -> bool {
    const PREFIXES: &[&str] = &[
        "env", "time", "nice", "sudo", "timeout", "uv", "poetry", "pipenv", "run", "bundle",
        "exec", "npx", "bunx", "xvfb-run", "pdm", "rye", "uvx", "pipx",
    ];
    word.contains('=') || PREFIXES.contains(&word) || word.bytes().all(|byte| byte.is_ascii_digit())
}

/// The commands of a line, in words.
pub(crate) fn simple_commands(command: &str) -> impl Iterator<Item = Vec<&str>> {
    command.split(['\n', ';', '|', '&']).map(|part| part.split_whitespace().collect())
}

/// Whether a line says with its status whether its tests passed: what is piped into `tail` ends well
/// however it went.
pub fn tells_status(command: &str) -> bool {
    let command = command.trim_end_matches(|end: char| end == ';' || end.is_whitespace());
    let mut rest = command;
    while let Some((part, behind)) = rest.split_once("&&") {
        if test_run(part).is_some() {
            break;
        }
        rest = behind;
    }
    !rest.contains(['|', ';', '\n'])
}

/// Whether the summary of a run says that tests failed.
pub fn says_failed(output: &str) -> bool {
    const HEADS: &[&str] = &["test result: FAILED", "FAILED (", "FAILURES!", "FAIL\t", "--- FAIL"];
    output.lines().map(str::trim).any(|line| {
        HEADS.iter().any(|head| line.starts_with(head)) || line == "FAIL" || counts_failures(line)
    })
}

/// `1 failed, 2 passed`, `3 examples, 1 failure`, `2 failing`, `1 tests failed out of 4`.
fn counts_failures(line: &str) -> bool {
    let words: Vec<&str> =
        line.split_whitespace().map(|word| word.trim_matches([',', '.', '='])).collect();
    let is_count = |word: &str| word.parse::<u64>().is_ok_and(|count| count > 0);
    let fails = |word: &str| matches!(word, "failed" | "failure" | "failures" | "failing");
    words.iter().enumerate().any(|(at, word)| {
        let before = |back: usize| at.checked_sub(back).and_then(|at| words.get(at)).copied();
        fails(word)
            && (before(1).is_some_and(is_count)
                || before(1) == Some("tests") && before(2).is_some_and(is_count))
    })
}

/// The tests that an output names, in the words of the common runners.
pub fn tests(output: &str) -> Vec<TestSign> {
    let mut found = Found::default();
    let failed = says_failed(output);
    for line in output.lines().map(str::trim) {
        let sign =
            test_line(line).or_else(|| numbered(line, &mut found.numbers).filter(|_| failed));
        if let Some((name, passed)) = sign {
            found.add(name, passed);
        }
    }
    // Jest names a test that failed in a heading of its own where it lists no tests.
    if failed && found.signs.iter().all(|sign| sign.passed) {
        let heads = output.lines().filter_map(|line| line.trim().strip_prefix("● "));
        heads.filter(|name| name.contains(" › ")).for_each(|name| found.add(name, false));
    }
    found.signs
}

/// The signs so far. Long outputs name thousands of tests.
#[derive(Default)]
struct Found<'o> {
    signs: Vec<TestSign>,
    places: HashMap<&'o str, usize>,
    numbers: HashSet<&'o str>,
}

impl<'o> Found<'o> {
    fn add(&mut self, name: &'o str, passed: bool) {
        if let Some(at) = self.places.get(name) {
            self.signs[*at].passed &= passed;
            return;
        }
        // Some runners name what failed in two places, once with the file and the group it is in.
        let known = self.signs.iter().rposition(|sign| {
            !passed && !sign.passed && (is_longer(name, &sign.name) || is_longer(&sign.name, name))
        });
        if let Some(at) = known {
            if name.len() > self.signs[at].name.len() {
                name.clone_into(&mut self.signs[at].name);
            }
            self.places.insert(name, at);
            return;
        }
        self.places.insert(name, self.signs.len());
        self.signs.push(TestSign { name: name.to_owned(), passed });
    }
}

/// Whether a name is another one with what it stands in before it.
fn is_longer(long: &str, short: &str) -> bool {
    let before = long.strip_suffix(short);
    before.is_some_and(|before| before.ends_with(" > ") || before.ends_with(" › "))
}

/// What one line says of a test.
fn test_line(line: &str) -> Option<(&str, bool)> {
    of_words_behind(line)
        .or_else(|| of_marks(line))
        .or_else(|| of_words_before(line))
        .or_else(|| of_sentences(line))
        .or_else(|| marked_lines::of_test(line))
}

/// Runners that put the verdict behind the name.
fn of_words_behind(line: &str) -> Option<(&str, bool)> {
    // cargo test, deno, and unittest where it is told to say more
    if let Some((name, verdict)) = line.rsplit_once(" ... ") {
        let name = name.strip_prefix("test ").unwrap_or(name);
        let name = if name.starts_with("test_") { until(name, " (") } else { name };
        return match verdict.split_whitespace().next()? {
            "ok" => Some((name, true)),
            "FAILED" | "FAIL" | "ERROR" => Some((name, false)),
            _ => None,
        };
    }
    // pytest -v, and Gradle
    for (word, passed) in [(" PASSED", true), (" FAILED", false)] {
        let rest = line.rsplit_once(word).filter(|(_, rest)| {
            rest.is_empty() || rest.trim_start().starts_with('[') && rest.ends_with(']')
        });
        if let Some((name, _)) = rest {
            return (name.contains("::") || name.contains(" > ")).then_some((name, passed));
        }
    }
    // xunit, Maven
    if let Some(name) = line.strip_suffix(" [FAIL]") {
        return name.rsplit(' ').next().map(|name| (name, false));
    }
    if let Some((name, _)) = line.split_once(" <<< ") {
        let name = name.strip_prefix("[ERROR] ").unwrap_or(name);
        let name = until(until(name, " -- "), "  Time elapsed");
        return (!name.starts_with("Tests run:")).then_some((name.trim(), false));
    }
    // Minitest
    let (name, rest) = line.split_once(" [")?;
    (name.contains("#test") && !name.contains(' ') && rest.contains(".rb:"))
        .then_some((name, false))
}

/// Runners that put a sign before the name.
fn of_marks(line: &str) -> Option<(&str, bool)> {
    const MARKS: &[(&str, bool)] = &[
        ("✓ ", true),
        ("✔ ", true),
        ("(pass) ", true),
        ("✕ ", false),
        ("✗ ", false),
        ("✘ ", false),
        ("× ", false),
        ("(fail) ", false),
    ];
    let (rest, passed) =
        MARKS.iter().find_map(|(mark, passed)| Some((line.strip_prefix(mark)?, *passed)))?;
    let rest = rest.trim_start();
    // Swift
    if let Some(name) = rest.strip_prefix("Test ") {
        let ends = [" passed after ", " failed after ", " recorded an issue"];
        return ends.iter().find_map(|end| name.split_once(end)).map(|(name, _)| (name, passed));
    }
    Some((without_time(rest), passed))
}

/// A name without how long the test took: `(3 ms)`, `[0.12ms]`, `5ms`.
fn without_time(name: &str) -> &str {
    let is_time = |word: &str| {
        let word = word.trim_matches(['(', ')', '[', ']']);
        word.ends_with('s') && word.starts_with(|first: char| first.is_ascii_digit())
    };
    match name.rsplit_once([' ', '(', '[']) {
        Some((before, last)) if is_time(last) => before.trim_end_matches(['(', '[', ' ']),
        Some((before, "ms)" | "s)" | "ms]" | "s]")) => before
            .rsplit_once(" (")
            .or_else(|| before.rsplit_once(" ["))
            .map_or(name, |(name, _)| name),
        _ => name,
    }
}

/// Runners that put a word before the name.
fn of_words_before(line: &str) -> Option<(&str, bool)> {
    // cargo nextest: `PASS [   0.005s] crate module::name`
    for (word, passed) in [("PASS [", true), ("FAIL [", false)] {
        if let Some(rest) = line.strip_prefix(word) {
            return rest.rsplit(' ').next().map(|name| (name, passed));
        }
    }
    // pytest
    for word in ["FAILED ", "ERROR "] {
        if let Some(rest) = line.strip_prefix(word) {
            let name = until(rest, " - ").trim();
            let is_file = name.rsplit_once('.').is_some_and(|(_, end)| end == "py");
            return (name.contains("::") || is_file).then_some((name, false));
        }
    }
    // go test
    for (word, passed) in [("--- PASS: ", true), ("--- FAIL: ", false)] {
        if let Some(rest) = line.strip_prefix(word) {
            return rest.split_whitespace().next().map(|name| (name, passed));
        }
    }
    // vitest: `FAIL  src/a.test.ts > group > name`
    if let Some(rest) = line.strip_prefix("FAIL ").filter(|rest| rest.contains(" > ")) {
        return Some((rest.trim(), false));
    }
    // unittest, and Django's runner: `FAIL: test_name (module.Class)`
    for word in ["FAIL: ", "ERROR: "] {
        let name = line.strip_prefix(word).and_then(|rest| rest.split_once(" ("));
        if let Some((name, _)) =
            name.filter(|(name, rest)| name.starts_with("test") && rest.ends_with(')'))
        {
            return Some((name, false));
        }
    }
    // TAP: node --test, bats, prove
    for (word, passed) in [("not ok ", false), ("ok ", true)] {
        let rest = line.strip_prefix(word).and_then(|rest| rest.split_once(' '));
        if let Some((_, name)) = rest.filter(|(number, _)| number.parse::<u32>().is_ok()) {
            // Of these nothing is expected.
            if name.contains("# TODO") || name.contains("# SKIP") {
                return None;
            }
            let name = until(name.strip_prefix("- ").unwrap_or(name), " # ");
            return Some((name.trim(), passed));
        }
    }
    // dotnet test
    for (word, passed) in [("Passed ", true), ("Failed ", false)] {
        let name = line.strip_prefix(word).and_then(|rest| rest.split_once(" ["));
        if let Some((name, _)) =
            name.filter(|(name, rest)| name.contains('.') && rest.ends_with("s]"))
        {
            return Some((name, passed));
        }
    }
    None
}

/// Runners that say it in a sentence.
fn of_sentences(line: &str) -> Option<(&str, bool)> {
    // RSpec: `rspec ./spec/a_spec.rb:12 # Parser nests lists`
    if let Some(rest) = line.strip_prefix("rspec ./") {
        return rest.split_once(" # ").map(|(_, name)| (name, false));
    }
    // XCTest
    if let Some(rest) = line.strip_prefix("Test Case '") {
        let (name, verdict) = rest.split_once("' ")?;
        let name = name.trim_start_matches("-[").trim_end_matches(']');
        let passed = verdict.starts_with("passed");
        return (passed || verdict.starts_with("failed")).then_some((name, passed));
    }
    // CTest: `1/3 Test #1: nested .........***Failed    0.01 sec`
    if let Some((_, rest)) = line.split_once(" Test #") {
        let (_, rest) = rest.split_once(": ")?;
        let (name, verdict) = rest.trim_start().split_once(' ')?;
        let passed = verdict.contains(" Passed ");
        return (passed || verdict.contains("***")).then_some((name, passed));
    }
    // Zig
    let name = line.strip_prefix("error: '").and_then(|rest| rest.split_once("' failed"));
    name.map(|(name, _)| (name, false))
}

/// Mocha, `RSpec`, `PHPUnit`, `ExUnit` and Playwright count what failed, and most of them list it twice.
fn numbered<'o>(line: &'o str, seen: &mut HashSet<&'o str>) -> Option<(&'o str, bool)> {
    let (number, name) = line.split_once(") ")?;
    let name = name.trim_end_matches(['─', ' ', ':']);
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_name = !name.is_empty() && !matches!(name, "Failure" | "Error");
    (is_number && is_name && seen.insert(number)).then_some((name, false))
}

fn until<'t>(text: &'t str, end: &str) -> &'t str {
    text.split_once(end).map_or(text, |(before, _)| before)
}

#[cfg(test)]
#[path = "runners_tests.rs"]
mod of_runners;

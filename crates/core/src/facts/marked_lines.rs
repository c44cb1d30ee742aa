//! Lines by which more runners tell of a test: those of C++, Scala, Dart, Clojure, Bazel, Ginkgo and Foundry.

/// What one line says of a test.
pub(super) fn of_test(line: &str) -> Option<(&str, bool)> {
    googletest(line)
        .or_else(|| scalatest(line))
        .or_else(|| dart(line))
        .or_else(|| clojure(line))
        .or_else(|| bazel(line))
        .or_else(|| ginkgo(line))
        .or_else(|| foundry(line))
}

/// `[  FAILED  ] Parser.Nested (3 ms)`, and once more in the summary, without the time.
fn googletest(line: &str) -> Option<(&str, bool)> {
    let (rest, passed) = match line.strip_prefix("[       OK ] ") {
        Some(rest) => (rest, true),
        None => (line.strip_prefix("[  FAILED  ] ")?, false),
    };
    let name = rest.split([' ', ',']).next()?;
    name.contains('.').then_some((name, passed))
}

/// `[info] - should nest lists *** FAILED ***`, as sbt prints it
fn scalatest(line: &str) -> Option<(&str, bool)> {
    let rest = line.strip_prefix("[info] ")?.trim_start().strip_prefix("- ")?;
    let (name, _) = rest.split_once(" *** FAILED ***")?;
    Some((name, false))
}

/// `00:01 +2 -1: parser nests lists [E]`
fn dart(line: &str) -> Option<(&str, bool)> {
    let (counts, name) = line.strip_suffix(" [E]")?.split_once(": ")?;
    let is_counted = counts.contains(" +") && counts.starts_with(|c: char| c.is_ascii_digit());
    is_counted.then_some((name, false))
}

/// `FAIL in (nested-test) (parser_test.clj:12)`
fn clojure(line: &str) -> Option<(&str, bool)> {
    let rest = line.strip_prefix("FAIL in (").or_else(|| line.strip_prefix("ERROR in ("))?;
    rest.split_once(')').map(|(name, _)| (name, false))
}

/// `//parser:nested_test        FAILED in 0.3s`
fn bazel(line: &str) -> Option<(&str, bool)> {
    let (name, verdict) = line.split_once(' ').filter(|(name, _)| name.starts_with("//"))?;
    match verdict.trim_start() {
        verdict if verdict.starts_with("FAILED in ") || verdict.starts_with("TIMEOUT in ") => {
            Some((name, false))
        }
        verdict if verdict.contains("PASSED in ") => Some((name, true)),
        _ => None,
    }
}

/// `[FAIL] Parser [It] nests lists`
fn ginkgo(line: &str) -> Option<(&str, bool)> {
    let name = line.strip_prefix("[FAIL] ").filter(|name| name.contains("[It]"))?;
    Some((name, false))
}

/// `[FAIL: assertion failed] testNested() (gas: 2411)`, `[PASS] testFlat() (gas: 301)`
fn foundry(line: &str) -> Option<(&str, bool)> {
    let (name, _) = line.split_once(" (gas: ").or_else(|| line.split_once(" (runs: "))?;
    if let Some(name) = name.strip_prefix("[PASS] ") {
        return Some((name, true));
    }
    let (_, name) = name.strip_prefix("[FAIL")?.rsplit_once("] ")?;
    Some((name, false))
}

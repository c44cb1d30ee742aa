//! What a stranger is told to type in a fresh clone. `.ci/run` types it; this keeps the pages saying the
//! same, and keeps a test that did not run from passing for one that did.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn text(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

/// The commands under "Set it up", without what they are said to do.
fn commands() -> Vec<String> {
    let readme = text("README.md");
    let section = readme.split("\n## Set it up\n").nth(1).expect("README.md says how to set it up");
    let block = section.split("```\n").nth(1).expect("the commands are code");
    block.lines().map(|line| line.split(" # ").next().unwrap().trim().to_owned()).collect()
}

#[test]
fn contributing_shows_the_commands_of_the_readme() {
    let contributing = text("CONTRIBUTING.md");
    let commands = commands();
    assert_eq!(commands, ["cargo run -- demo", "./test"]);
    let first = contributing.lines().find(|line| line.contains("Two commands")).unwrap();
    let shown: Vec<&str> = first.split('`').skip(1).step_by(2).take(2).collect();
    assert_eq!(shown, commands);
}

#[test]
fn contributing_says_what_each_crate_is_for() {
    let contributing = text("CONTRIBUTING.md");
    for entry in fs::read_dir(root().join("crates")).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        assert!(contributing.contains(&format!("| `{name}` |")), "{name} is not in the table");
    }
}

#[test]
fn what_runs_in_ci_is_read_from_the_readme() {
    let script = root().join(".ci/run");
    let script = fs::read_to_string(script).unwrap();
    assert!(script.contains("README.md") && script.contains("bash -c \"$command\""));
    for command in commands() {
        let typed = script.lines().any(|line| line.trim() == command);
        assert!(!typed, "{command} is in .ci/run itself, where README.md cannot change it");
    }
}

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The bodies of the test functions in a file, each with its line.
fn tests(text: &str) -> Vec<(usize, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let starts = lines.iter().enumerate().filter(|(_, line)| line.trim() == "#[test]");
    let body = |(at, line): (usize, &&str)| {
        let indent = &line[..line.len() - line.trim_start().len()];
        let end = format!("{indent}}}");
        let body = lines[at..].iter().take_while(|line| **line != end);
        (at + 1, body.copied().collect::<Vec<_>>().join("\n"))
    };
    starts.map(body).collect()
}

fn returns_early(body: &str) -> bool {
    body.match_indices("return").any(|(at, word)| {
        let behind = body[at + word.len()..].trim_start();
        let before = body[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && c != '_')
            && (behind.starts_with(';') || behind.starts_with('}'))
    })
}

/// A test that cannot run here is `#[ignore]`d with a reason, so that it is counted.
#[test]
fn no_test_returns_early_and_passes() {
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    let mut seen = 0;
    for file in files {
        for (line, body) in tests(&fs::read_to_string(&file).unwrap()) {
            seen += 1;
            assert!(!returns_early(&body), "{}:{line} may end untested", file.display());
        }
    }
    assert!(seen > 1000, "only {seen} tests were found");
}

#[test]
fn every_ignored_test_says_why() {
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let bare = text.lines().position(|line| line.trim() == "#[ignore]");
        assert_eq!(bare, None, "{} ignores a test without a reason", file.display());
    }
}

#[test]
fn an_early_return_is_seen() {
    // Not spelled out, for this is a test as well.
    let word = "return";
    let body = |body: &str| {
        tests(&format!("  #[test]\n  fn a() {{\n{body}\n  }}\n  {word};\n"))[0].1.clone()
    };
    assert!(returns_early(&body(&format!("let Some(x) = y() else {{ {word} }};"))));
    assert!(returns_early(&body(&format!("if x {{\n    {word};\n}}"))));
    assert!(!returns_early(&body(&format!("f(|x| {word} x); {word}ed();"))));
}

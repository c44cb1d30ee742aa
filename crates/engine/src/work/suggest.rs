//! A gate that a repository itself suggests, for those who have not said one yet.
//!
//! Only looked at, never run: that is for a person to say.

use std::path::Path;

/// The command that tests what is at `root`, as far as its files show one.
pub fn gate(root: &Path) -> Option<String> {
    let has = |name: &str| root.join(name).is_file();
    let read = |name: &str| heirloom_repo::read_within(root, &root.join(name)).ok().flatten();
    let found = if has("Cargo.toml") {
        "cargo test"
    } else if read("package.json").is_some_and(|text| has_test_script(&text)) {
        node(&has)
    } else if has("go.mod") {
        "go test ./..."
    } else if uses_pytest(&has, &read) {
        if has("uv.lock") { "uv run pytest" } else { "pytest" }
    } else if ["Makefile", "makefile", "GNUmakefile"]
        .iter()
        .filter_map(|name| read(name))
        .any(|text| text.lines().any(|line| line.starts_with("test:")))
    {
        "make test"
    } else {
        return None;
    };
    Some(found.to_owned())
}

/// Whether there is a script `test` that is more than what `npm init` writes.
fn has_test_script(package: &str) -> bool {
    let package: serde_json::Value = serde_json::from_str(package).unwrap_or_default();
    package["scripts"]["test"].as_str().is_some_and(|test| !test.contains("no test specified"))
}

fn node(has: &dyn Fn(&str) -> bool) -> &'static str {
    match () {
        () if has("pnpm-lock.yaml") => "pnpm test",
        () if has("yarn.lock") => "yarn test",
        () if has("bun.lock") || has("bun.lockb") => "bun run test",
        () => "npm test",
    }
}

fn uses_pytest(has: &dyn Fn(&str) -> bool, read: &dyn Fn(&str) -> Option<String>) -> bool {
    let names = |file: &str| read(file).is_some_and(|text| text.contains("pytest"));
    ["pytest.ini", "conftest.py", "tests/conftest.py"].iter().any(|file| has(file))
        || ["pyproject.toml", "setup.cfg", "tox.ini", "requirements.txt", "requirements-dev.txt"]
            .iter()
            .any(|file| names(file))
}

#[cfg(test)]
mod tests {
    use std::fs;

    /// The files of a repository, and the gate that they suggest.
    type Case = (&'static [(&'static str, &'static str)], Option<&'static str>);

    #[test]
    fn each_kind_of_repository_has_its_own_command() {
        const NPM: &str = r#"{"scripts": {"test": "vitest run"}}"#;
        const EMPTY: &str =
            r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
        let cases: [Case; 9] = [
            (&[("Cargo.toml", ""), ("Makefile", "test:\n")], Some("cargo test")),
            (&[("package.json", NPM)], Some("npm test")),
            (&[("package.json", NPM), ("pnpm-lock.yaml", "")], Some("pnpm test")),
            (&[("package.json", EMPTY)], None),
            (&[("go.mod", "module x\n")], Some("go test ./...")),
            (&[("pyproject.toml", "[tool.pytest.ini_options]\n")], Some("pytest")),
            (&[("pytest.ini", ""), ("uv.lock", "")], Some("uv run pytest")),
            (&[("Makefile", "all:\ntest: all\n\tx\n")], Some("make test")),
            (&[("Makefile", "all:\n"), ("README.md", "make test")], None),
        ];
        for (files, gate) in cases {
            let dir = tempfile::TempDir::new().unwrap();
            for (name, text) in files {
                fs::write(dir.path().join(name), text).unwrap();
            }
            assert_eq!(super::gate(dir.path()).as_deref(), gate, "{files:?}");
        }
    }
}

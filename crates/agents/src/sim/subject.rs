//! The file that the simulation reads and says something about: one that the prompt names, or else one of the code.

use std::fs;
use std::path::{Component, Path, PathBuf};

use heirloom_repo::file;
use serde_json::{Value, json};

/// How deep it looks for code, and at how many directories.
const DEPTH: usize = 3;
const DIRECTORIES: usize = 100;

/// What code is written in.
const CODE: &[&str] = &[
    "c", "cc", "cpp", "cs", "go", "h", "java", "js", "kt", "php", "py", "rb", "rs", "sh", "swift",
    "ts",
];

/// The page that heirloom itself writes: what is noted there proves nothing about the code.
const OWN_PAGE: &str = "NOTES.md";

/// A file of the working directory, and the line that is cited.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Subject {
    /// From the working directory.
    pub(super) path: String,
    line: usize,
    quote: String,
}

impl Subject {
    /// What there is to look at, always the same for the same files and prompt.
    pub(super) fn find(prompt: &str, cwd: &Path) -> Option<Self> {
        let named = prompt.split_whitespace().map(|word| {
            let is_mark = |char: char| "`'\"()<>,;:".contains(char);
            let word = word.trim_start_matches(is_mark);
            PathBuf::from(word.trim_end_matches(|char| is_mark(char) || char == '.'))
        });
        let is_below =
            |path: &PathBuf| path.components().all(|it| matches!(it, Component::Normal(_)));
        let mut named = named.filter(is_below).filter(|path| cwd.join(path).is_file());
        named
            .find_map(|path| Self::of(cwd, &path))
            .or_else(|| files(cwd).iter().find_map(|path| Self::of(cwd, path)))
    }

    /// The first line of a file that says something.
    fn of(cwd: &Path, path: &Path) -> Option<Self> {
        let text = file::read_to_string(cwd.join(path)).ok()?;
        let says = |line: &str| !line.trim().is_empty();
        let is_comment = |line: &str| {
            let line = line.trim_start();
            ["//", "/*", "*", "#", "\"\"\"", "--", "<!--"].iter().any(|mark| line.starts_with(mark))
        };
        let at = text.lines().position(|line| says(line) && !is_comment(line));
        let line = at.or_else(|| text.lines().position(says))?;
        let quote = text.lines().nth(line)?.to_owned();
        Some(Self { path: path.to_str()?.to_owned(), line: line + 1, quote })
    }

    /// As evidence of a claim.
    pub(super) fn evidence(&self) -> Value {
        json!([{"path": self.path, "line": self.line, "quote": self.quote}])
    }
}

/// Whether a directory is looked into: not too deep, and nothing that was built or brought in.
fn is_source(directory: &Path, name: &str) -> bool {
    directory.components().count() < DEPTH && !matches!(name, "target" | "node_modules" | "vendor")
}

/// The files below `cwd`, code first, then what lies nearer.
fn files(cwd: &Path) -> Vec<PathBuf> {
    let (mut found, mut directories) = (Vec::new(), vec![PathBuf::new()]);
    let mut looked = 0;
    while looked < directories.len().min(DIRECTORIES) {
        let directory = directories[looked].clone();
        looked += 1;
        for entry in fs::read_dir(cwd.join(&directory)).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
            let path = directory.join(name);
            match entry.file_type() {
                Ok(kind) if kind.is_file() && name != OWN_PAGE => found.push(path),
                Ok(kind) if kind.is_dir() && is_source(&directory, name) => directories.push(path),
                _ => {}
            }
        }
    }
    found.sort_by_cached_key(|path| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        let is_code = extension.is_some_and(|extension| CODE.contains(&extension));
        (!is_code, path.components().count(), path.clone())
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cited(prompt: &str, files: &[(&str, &str)]) -> Option<String> {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Subject::find(prompt, dir.path()).map(|it| format!("{}:{} {}", it.path, it.line, it.quote))
    }

    #[test]
    fn what_the_prompt_names_is_cited_and_else_code() {
        let files = [
            ("Cargo.lock", "version = 4\n"),
            ("NOTES.md", "# Notes\n"),
            ("README.md", "# Payments\n"),
            ("src/auth.rs", "//! Tokens.\n\nfn rotate() {}\n"),
            ("src/jwt.rs", "fn sign() {}\n"),
            (".heirloom/config.yaml", "agent: sim\n"),
            ("target/debug/a.rs", "fn built() {}\n"),
        ];
        assert_eq!(cited("rotate", &files).unwrap(), "src/auth.rs:3 fn rotate() {}");
        assert_eq!(cited("see `src/jwt.rs`.", &files).unwrap(), "src/jwt.rs:1 fn sign() {}");
        assert_eq!(
            cited("see ../x and /etc/passwd", &files).unwrap(),
            "src/auth.rs:3 fn rotate() {}"
        );
    }

    #[test]
    fn heirlooms_own_page_is_no_evidence() {
        let readme = ("README.md", "# Payments\n");
        let notes = ("NOTES.md", "# Notes\n");
        assert_eq!(cited("go", &[notes, readme]).unwrap(), "README.md:1 # Payments");
        assert_eq!(cited("go", &[notes]), None);
    }
}

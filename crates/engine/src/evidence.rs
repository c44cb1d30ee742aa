//! Evidence is checked when it is attached: the place exists, and its words are kept.

use std::fs;
use std::path::{Component, Path, PathBuf};

use heirloom_core::evidence::Evidence;
use heirloom_core::ground::{Quote, Text, Verdict, digest, fold, place};

/// Finds the function, type or heading around a line: path, text, line.
pub type Symbol = fn(&str, &str, u32) -> Option<String>;

/// Why a place cannot be evidence.
#[derive(Debug, thiserror::Error)]
pub enum EvidenceError {
    /// The path leads out of the repository.
    #[error("{path} is outside the repository")]
    Outside { path: String },
    /// There is no such file.
    #[error("there is no file {path} in the repository")]
    NoFile { path: String },
    /// The file is not text.
    #[error("{path} cannot be read as text")]
    NotText {
        path: String,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The file is shorter.
    #[error("{path} has no line {line}: it has {lines} line{}", if *.lines == 1 { "" } else { "s" })]
    NoLine {
        path: String,
        /// The line that was asked for.
        line: u32,
        /// How many there are.
        lines: usize,
    },
    /// The quote does not stand there.
    #[error("{path}:{line} does not say `{quote}`: {verdict}")]
    NoQuote {
        path: String,
        line: u32,
        /// What it was said to say.
        quote: String,
        /// What is the case instead.
        verdict: Verdict,
    },
}

/// Checks that the place exists in the worktree at `root`, and takes its words from there.
///
/// `directory` is what a relative path is relative to; the evidence that comes back is relative to
/// the root. A quote that is given already must stand there, word for word.
pub fn attach(
    root: &Path,
    directory: &Path,
    evidence: Evidence,
) -> Result<Evidence, EvidenceError> {
    attach_with(root, directory, evidence, None)
}

/// As [`attach`], and finds out what is around the place.
pub fn attach_with(
    root: &Path,
    directory: &Path,
    evidence: Evidence,
    symbol: Option<Symbol>,
) -> Result<Evidence, EvidenceError> {
    let given = evidence.path.clone();
    let (relative, text) = open(root, directory, &given)?;
    let there = lines(&text, &evidence)?;
    let quote = match &evidence.quote {
        Some(quote) => {
            stands(&text, &evidence, quote)?;
            quote.clone()
        }
        None => there.clone(),
    };
    let path = relative.to_string_lossy().replace('\\', "/");
    let symbol = symbol.and_then(|symbol| symbol(&path, &text, evidence.line));
    let hash = Some(digest(&quote));
    let whole = fold(&quote) == fold(&there);
    Ok(Evidence { path, quote: Some(quote), hash, symbol, whole, ..evidence })
}

/// The path inside the repository and the text of the file there.
fn open(root: &Path, directory: &Path, given: &str) -> Result<(PathBuf, String), EvidenceError> {
    let path = given.to_owned();
    let relative = match given.strip_prefix(crate::keep::code::ROOT) {
        Some(from_root) => within(root, root, from_root),
        None => within(root, directory, given),
    };
    let relative = relative.ok_or_else(|| EvidenceError::Outside { path: path.clone() })?;
    let file = root.join(&relative);
    if !file.is_file() {
        return Err(EvidenceError::NoFile { path });
    }
    // A link inside the repository may still lead out of it.
    let real = fs::canonicalize(&file).map_err(|_| EvidenceError::NoFile { path: path.clone() })?;
    if !real.starts_with(fs::canonicalize(root).unwrap_or_else(|_| root.to_owned())) {
        return Err(EvidenceError::Outside { path });
    }
    if fs::metadata(&file).is_ok_and(|found| found.len() > crate::keep::code::LARGEST) {
        let source = std::io::Error::other("it is too large to be evidence (more than 8 MiB)");
        return Err(EvidenceError::NotText { path, source });
    }
    let text = heirloom_repo::read_text(&file)
        .map_err(|error| EvidenceError::NotText { path: path.clone(), source: error.source })?
        .ok_or(EvidenceError::NoFile { path })?;
    Ok((relative, text))
}

fn lines(text: &str, evidence: &Evidence) -> Result<String, EvidenceError> {
    let lines: Vec<&str> = text.lines().collect();
    let (first, last) = (evidence.line, evidence.end_line.unwrap_or(evidence.line));
    if let Some(line) = [first, last].into_iter().find(|line| *line as usize > lines.len()) {
        return Err(EvidenceError::NoLine {
            path: evidence.path.clone(),
            line,
            lines: lines.len(),
        });
    }
    Ok(lines[first as usize - 1..last as usize].join("\n"))
}

fn stands(text: &str, evidence: &Evidence, quote: &str) -> Result<(), EvidenceError> {
    let text = Text::of(&evidence.path, text);
    match place(&text, Quote::part(&fold(quote)), (evidence.line, evidence.end_line), None) {
        Verdict::Verified => Ok(()),
        verdict => Err(EvidenceError::NoQuote {
            path: evidence.path.clone(),
            line: evidence.line,
            quote: quote.to_owned(),
            verdict,
        }),
    }
}

/// `path` relative to `root`, if it stays inside.
pub(crate) fn within(root: &Path, directory: &Path, path: &str) -> Option<PathBuf> {
    let mut inside = PathBuf::new();
    let absolute = directory.join(path);
    for component in absolute.strip_prefix(root).ok()?.components() {
        match component {
            Component::Normal(part) => inside.push(part),
            Component::CurDir => {}
            Component::ParentDir => {
                if !inside.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(inside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn attach_at(place: &str) -> Result<Evidence, String> {
        let dir = TempDir::new().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap().join("repo");
        fs::create_dir_all(root.join("src")).unwrap();
        fs::write(root.join("src/a.rs"), "one\r\ntwo\nthree\n").unwrap();
        fs::write(root.join("../secret"), "x\n").unwrap();
        fs::write(root.join("image.png"), [0xff, 0xfe, 0x00]).unwrap();
        std::os::unix::fs::symlink("../secret", root.join("link")).unwrap();
        attach(&root, &root.join("src"), place.parse().unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn the_words_are_taken_from_the_file_and_the_path_is_the_repositorys() {
        let evidence = attach_at("a.rs:1-2").unwrap();
        assert_eq!(evidence.path, "src/a.rs");
        assert_eq!(evidence.quote.as_deref(), Some("one\ntwo"));
        assert_eq!(attach_at("../src/./a.rs:3").unwrap().quote.as_deref(), Some("three"));
    }

    #[test]
    fn a_quote_is_known_to_be_whole_lines_or_a_part_of_them() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("a.rs"), "fn go() {\n    retries = 3;\n}\n").unwrap();
        let is_whole = |quote: Option<&str>| {
            let quote = quote.map(str::to_owned);
            let evidence = Evidence { quote, ..Evidence::at("a.rs", 2) };
            attach(place.path(), place.path(), evidence).unwrap().whole
        };
        assert!(is_whole(None));
        assert!(is_whole(Some("retries = 3;")), "only its indentation is left out");
        assert!(!is_whole(Some("retries = 3")));
    }

    #[test]
    fn a_quote_that_is_given_must_stand_there() {
        let dir = TempDir::new().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        fs::write(root.join("a.rs"), "fn one() {}\n\tfn  two() {}\n").unwrap();
        let attach = |line: u32, quote: &str| {
            let evidence = Evidence {
                quote: Some(quote.to_owned()),
                ..Evidence::at("${PROJECT_ROOT}/a.rs", line)
            };
            attach(&root, &root, evidence).map_err(|error| error.to_string())
        };
        let evidence = attach(2, "fn two() {}").unwrap();
        assert_eq!((evidence.path.as_str(), evidence.hash), ("a.rs", Some(digest("fn two() {}"))));
        assert_eq!(
            attach(1, "fn two() {}").unwrap_err(),
            "${PROJECT_ROOT}/a.rs:1 does not say `fn two() {}`: now at line 2"
        );
        assert_eq!(
            attach(1, "fn invented() {}").unwrap_err(),
            "${PROJECT_ROOT}/a.rs:1 does not say `fn invented() {}`: the quote is not in the file"
        );
    }

    #[test]
    fn a_file_of_three_gigabytes_is_refused_before_it_is_read() {
        let dir = TempDir::new().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        // It takes no room, but reading it would take three gigabytes of memory.
        fs::File::create(root.join("core")).unwrap().set_len(3 << 30).unwrap();
        let error = attach(&root, &root, "core:1".parse().unwrap()).unwrap_err();
        let EvidenceError::NotText { path, source } = error else { panic!("{error}") };
        assert_eq!(path, "core");
        assert_eq!(source.to_string(), "it is too large to be evidence (more than 8 MiB)");
    }

    #[test]
    fn what_is_not_there_is_refused_with_the_reason() {
        for (place, reason) in [
            ("b.rs:1", "there is no file b.rs in the repository"),
            ("../src:1", "there is no file ../src in the repository"),
            ("a.rs:4", "a.rs has no line 4: it has 3 lines"),
            ("a.rs:2-9", "a.rs has no line 9: it has 3 lines"),
            ("../../secret:1", "../../secret is outside the repository"),
            ("/etc/passwd:1", "/etc/passwd is outside the repository"),
            ("../link:1", "../link is outside the repository"),
            ("../image.png:1", "../image.png cannot be read as text"),
        ] {
            assert_eq!(attach_at(place).unwrap_err(), reason);
        }
    }
}

//! What is around a line: whether it is a comment, and which function or type it is inside of.
//!
//! Read from the text alone, by its markers and its indentation, so that a hook and `ground` judge the
//! same with no grammar at hand.

use super::text::{Text, is_word};

/// How comments are marked in a language.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Comments {
    /// Not known, or everything is text.
    #[default]
    None,
    /// `//` and `/* */`.
    Slashes,
    /// `#`.
    Hash,
    /// `--`.
    Dashes,
}

impl Comments {
    /// Those of a file, by its ending.
    pub(super) fn of(path: &str) -> Self {
        let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
        match ending.to_ascii_lowercase().as_str() {
            "rs" | "c" | "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "js" | "jsx" | "mjs"
            | "cjs" | "ts" | "tsx" | "mts" | "cts" | "go" | "java" | "kt" | "kts" | "swift"
            | "cs" | "php" | "scala" | "dart" | "zig" | "css" | "scss" | "proto" => Self::Slashes,
            "py" | "pyi" | "sh" | "bash" | "rb" | "yaml" | "yml" | "toml" | "tf" | "pl" | "r"
            | "ex" | "exs" | "mk" | "nix" => Self::Hash,
            "sql" | "lua" | "hs" | "elm" => Self::Dashes,
            _ => Self::None,
        }
    }

    /// Whether a line of words begins as a comment.
    fn begin(self, line: &str) -> bool {
        match self {
            Self::None => false,
            Self::Slashes => {
                ["//", "/*", "*/"].iter().any(|mark| line.starts_with(mark))
                    || line.starts_with("* ")
            }
            Self::Hash => line.starts_with('#'),
            Self::Dashes => line.starts_with("--"),
        }
    }

    /// Whether a comment has begun somewhere in what stands before on the same line.
    fn begun(self, before: &str) -> bool {
        let mark = match self {
            Self::None => return false,
            Self::Slashes => " // ",
            Self::Hash => " # ",
            Self::Dashes => " -- ",
        };
        // A mark inside of a string is none.
        let is_outside = |at: usize| before[..at].matches('"').count().is_multiple_of(2);
        before.match_indices(mark).any(|(at, _)| is_outside(at))
    }
}

/// Words that declare what comes after them.
const DECLARING: [&str; 18] = [
    "fn",
    "def",
    "func",
    "function",
    "class",
    "struct",
    "enum",
    "trait",
    "impl",
    "mod",
    "module",
    "interface",
    "type",
    "const",
    "let",
    "var",
    "namespace",
    "macro_rules!",
];

impl Text {
    /// Whether what begins at `start` is part of a comment.
    pub(super) fn is_comment(&self, start: usize) -> bool {
        let line = self.line_of(start);
        let Some(text) = self.line(line) else { return false };
        let before = start - self.begins(line);
        self.comments.begin(text)
            || text.get(..before).is_some_and(|before| self.comments.begun(before))
    }

    /// Whether a quote is itself a comment, and so may stand in one.
    pub(super) fn speaks_of_a_comment(&self, quote: &str) -> bool {
        self.comments.begin(quote)
    }

    /// Whether a line is inside of `symbol`: `Auth::rotate`, outermost first.
    pub(super) fn is_in(&self, line: u32, symbol: &str) -> bool {
        let mut wanted = symbol.rsplit("::").peekable();
        let mut depth = u32::MAX;
        for number in (1..=line).rev() {
            let (Some(text), indent) = (self.line(number), self.indent(number)) else { continue };
            if text.is_empty() || indent >= depth {
                continue;
            }
            // The end of a signature stands where its beginning does.
            depth = if is_closing(text) { indent + 1 } else { indent };
            while wanted.peek().is_some_and(|name| names(text, name)) {
                wanted.next();
            }
            if wanted.peek().is_none() {
                return true;
            }
            if depth == 0 {
                break;
            }
        }
        false
    }

    /// Whether a line is inside of some function.
    pub(super) fn is_in_a_function(&self, line: u32) -> bool {
        let mut depth = self.indent(line);
        for number in (1..line).rev() {
            let (Some(text), indent) = (self.line(number), self.indent(number)) else { continue };
            if text.is_empty() || indent >= depth {
                continue;
            }
            depth = if is_closing(text) { indent + 1 } else { indent };
            if begins_a_function(text) {
                return true;
            }
            if depth == 0 {
                break;
            }
        }
        false
    }

    /// Whether the last name of `symbol` is declared in this file.
    pub(super) fn declares(&self, symbol: &str) -> bool {
        let name = symbol.rsplit("::").next().unwrap_or(symbol);
        let folded = self.folded();
        memchr::memmem::find_iter(folded.as_bytes(), name.as_bytes()).any(|at| {
            let before = folded[..at].trim_end();
            self.is_whole(at, name.len())
                && DECLARING.iter().any(|word| {
                    before
                        .strip_suffix(word)
                        .is_some_and(|rest| rest.bytes().last().is_none_or(|byte| !is_word(byte)))
                })
        })
    }
}

/// Whether a line is the first of a function: by its word, or because it takes something and opens a block
/// that is not a condition or a loop.
fn begins_a_function(text: &str) -> bool {
    const WORDS: [&str; 4] = ["fn", "def", "func", "function"];
    const BLOCKS: [&str; 10] =
        ["if", "else", "for", "while", "match", "switch", "catch", "with", "elif", "loop"];
    let mut words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let first = words.clone().find(|word| !word.is_empty()).unwrap_or_default();
    words.any(|word| WORDS.contains(&word))
        || text.contains('(') && text.ends_with(['{', ':']) && !BLOCKS.contains(&first)
}

fn is_closing(text: &str) -> bool {
    text.starts_with([')', ']', '}', '{']) || text.starts_with("where") || text.starts_with("->")
}

/// Whether a line has a name in it as a whole word.
fn names(line: &str, name: &str) -> bool {
    let bytes = line.as_bytes();
    let is_whole = |at: usize| {
        let before = at.checked_sub(1).map(|before| bytes[before]);
        let after = bytes.get(at + name.len()).copied();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    };
    !name.is_empty() && memchr::memmem::find_iter(bytes, name.as_bytes()).any(is_whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "impl Auth {\n    fn rotate(\n        token: &str,\n    ) -> bool {\n        \
                        check(token)\n    }\n\n    fn revoke(token: &str) {\n        // check(token)\n        \
                        log(\"a // b\", token); // check(token)\n    }\n}\n\nfn main() {\n    rotate();\n}\n";

    #[test]
    fn a_line_is_inside_of_what_its_indentation_says() {
        let text = Text::of("a.rs", CODE);
        for (line, symbol, is_in) in [
            (5, "Auth::rotate", true),
            (5, "rotate", true),
            (5, "Auth::revoke", false),
            (5, "Other::rotate", false),
            (2, "Auth::rotate", true),
            (10, "Auth::revoke", true),
            (10, "Auth::rotate", false),
            (15, "main", true),
            (15, "Auth", false),
        ] {
            assert_eq!(text.is_in(line, symbol), is_in, "{line} {symbol}");
        }
        assert!(text.declares("Auth::rotate") && text.declares("main"));
        assert!(!text.declares("token") && !text.declares("Auth::gone"));
    }

    #[test]
    fn a_comment_is_known_by_its_mark_and_a_mark_in_a_string_is_none() {
        let text = Text::of("a.rs", CODE);
        let at = |words: &str| text.folded().find(words).unwrap();
        assert!(text.is_comment(at("// check(token) log")));
        assert!(text.is_comment(text.folded().rfind("check(token)").unwrap()));
        assert!(!text.is_comment(at("check(token) }")));
        assert!(!text.is_comment(at("token); //")));
        assert!(text.speaks_of_a_comment("// grace is 900"));
        for (path, line, is_comment) in [
            ("a.py", "# check(token)", true),
            ("a.md", "# check(token)", false),
            ("a.sql", "-- check(token)", true),
            ("a.rs", "*x = check(token)", false),
        ] {
            let text = Text::of(path, line);
            assert_eq!(text.is_comment(text.folded().find("check").unwrap()), is_comment, "{path}");
        }
    }
}

//! Globs: `*`, `?`, `[a-z]`, `{a,b}`, and `**` across directories.
//!
//! Matching needs no compiling, because the process that matches lives for a millisecond. Its cost
//! is bounded by the product of the two lengths.

/// How many patterns the alternatives of one may stand for.
const MAX_ALTERNATIVES: usize = 64;

/// Whether `text` is what the wildcard pattern means. `/` is a character like any other.
pub fn wildcard(pattern: &str, text: &str) -> bool {
    if !pattern.contains(['*', '?', '[', '{', '\\']) {
        return pattern == text;
    }
    let text: Vec<char> = text.chars().collect();
    alternatives(pattern).iter().any(|pattern| segment(&Piece::all(pattern), &text))
}

/// Whether some text that `gapped` may be is one that the wildcard pattern means. `gap` says which of
/// its characters stand for any text (`true`) or any character (`false`).
pub fn may_overlap(pattern: &str, gapped: &str, gap: impl Fn(char) -> Option<bool>) -> bool {
    let gapped: Vec<Piece> = gapped
        .chars()
        .map(|c| match gap(c) {
            Some(true) => Piece::Any,
            Some(false) => Piece::One,
            None => Piece::Char(c),
        })
        .collect();
    alternatives(pattern).iter().any(|pattern| overlap(&Piece::all(pattern), &gapped))
}

/// Whether two patterns have a text in common.
fn overlap(one: &[Piece], other: &[Piece]) -> bool {
    // Whether the rest of the one overlaps with the rest of the other, from behind.
    let mut below = vec![false; other.len() + 1];
    for at in (0..=one.len()).rev() {
        let mut row = vec![false; other.len() + 1];
        for from in (0..=other.len()).rev() {
            row[from] = match (one.get(at), other.get(from)) {
                (None, None) => true,
                (Some(Piece::Any), None) => below[from],
                (None, Some(Piece::Any)) => row[from + 1],
                (None, Some(_)) | (Some(_), None) => false,
                (Some(Piece::Any), Some(_)) => below[from] || row[from + 1],
                (Some(_), Some(Piece::Any)) => row[from + 1] || below[from],
                (Some(mine), Some(theirs)) => {
                    let meets = match (mine, theirs) {
                        (Piece::Char(c), piece) | (piece, Piece::Char(c)) => piece.matches(*c),
                        _ => true,
                    };
                    meets && below[from + 1]
                }
            };
        }
        below = row;
    }
    below[0]
}

/// Whether `path` is one that the pattern means.
///
/// Both are relative to the same directory, with `/` between their parts. A pattern without `/`
/// means that name in any directory; `dir/` means everything in it; `/` at the beginning ties it to
/// the root.
pub fn path(pattern: &str, path: &str) -> bool {
    let parts: Vec<Vec<char>> = path
        .split('/')
        .filter(|part| !part.is_empty())
        .map(|part| part.chars().collect())
        .collect();
    alternatives(pattern).iter().any(|pattern| path_alternative(pattern, &parts))
}

/// Whether the pattern may mean something below this directory.
pub fn may_begin(pattern: &str, directory: &str) -> bool {
    let parts: Vec<Vec<char>> = directory
        .split('/')
        .filter(|part| !part.is_empty())
        .map(|part| part.chars().collect())
        .collect();
    alternatives(pattern).iter().any(|pattern| {
        let Some(wanted) = wanted(pattern) else { return false };
        // The places in the pattern that the directory may lead to.
        let mut places = vec![0];
        for part in &parts {
            let mut next = Vec::new();
            let mut open = places;
            while let Some(at) = open.pop() {
                match wanted.get(at) {
                    Some(None) => {
                        next.push(at);
                        open.push(at + 1);
                    }
                    Some(Some(pieces)) if segment(pieces, part) => next.push(at + 1),
                    _ => {}
                }
            }
            next.sort_unstable();
            next.dedup();
            places = next;
        }
        places.iter().any(|at| *at < wanted.len())
    })
}

fn path_alternative(pattern: &str, parts: &[Vec<char>]) -> bool {
    let Some(wanted) = wanted(pattern) else { return false };
    star(&wanted, parts, Option::is_none, |pattern, part| {
        pattern.as_ref().is_some_and(|pattern| segment(pattern, part))
    })
}

/// The parts of a pattern, with nothing for `**`.
fn wanted(pattern: &str) -> Option<Vec<Option<Vec<Piece>>>> {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let is_bare = !pattern.trim_end_matches('/').contains('/');
    let mut wanted: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty()).collect();
    if wanted.is_empty() {
        return None;
    }
    if is_bare && wanted[0] != "**" {
        wanted.insert(0, "**");
    }
    if pattern.ends_with('/') {
        wanted.push("**");
    }
    let mut wanted: Vec<Option<Vec<Piece>>> =
        wanted.into_iter().map(|part| (part != "**").then(|| Piece::all(part))).collect();
    if matches!(wanted.last(), Some(None)) {
        // `dir/**` means what is in the directory, not the directory.
        wanted.insert(wanted.len() - 1, Some(vec![Piece::Any]));
    }
    Some(wanted)
}

/// One element of a pattern within a directory.
#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Any,
    One,
    Char(char),
    Class { negated: bool, ranges: Vec<(char, char)> },
}

impl Piece {
    fn all(pattern: &str) -> Vec<Self> {
        let chars: Vec<char> = pattern.chars().collect();
        let mut pieces = Vec::with_capacity(chars.len());
        let mut at = 0;
        while let Some(&c) = chars.get(at) {
            at += 1;
            match c {
                '*' if pieces.last() == Some(&Self::Any) => {}
                '*' => pieces.push(Self::Any),
                '?' => pieces.push(Self::One),
                '\\' if at < chars.len() => {
                    pieces.push(Self::Char(chars[at]));
                    at += 1;
                }
                '[' => match Self::class(&chars, at) {
                    Some((class, end)) => {
                        pieces.push(class);
                        at = end;
                    }
                    None => pieces.push(Self::Char('[')),
                },
                c => pieces.push(Self::Char(c)),
            }
        }
        pieces
    }

    /// The class after the `[` before `start`, and where it ends.
    fn class(chars: &[char], start: usize) -> Option<(Self, usize)> {
        let negated = matches!(chars.get(start), Some('!' | '^'));
        let first = start + usize::from(negated);
        let mut ranges = Vec::new();
        let mut at = first;
        loop {
            let low = *chars.get(at)?;
            if low == ']' && at > first {
                return Some((Self::Class { negated, ranges }, at + 1));
            }
            if chars.get(at + 1) == Some(&'-') && chars.get(at + 2).is_some_and(|c| *c != ']') {
                ranges.push((low, chars[at + 2]));
                at += 3;
            } else {
                ranges.push((low, low));
                at += 1;
            }
        }
    }

    fn matches(&self, c: char) -> bool {
        match self {
            Self::Any | Self::One => true,
            Self::Char(own) => *own == c,
            Self::Class { negated, ranges } => {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated
            }
        }
    }
}

fn segment(pattern: &[Piece], text: &[char]) -> bool {
    star(pattern, text, |piece| *piece == Piece::Any, |piece, c| piece.matches(*c))
}

/// Matches where some elements of the pattern stand for any number of the text's. It is enough to
/// remember the last of them, so nothing is tried more than once a place.
fn star<P, T>(
    pattern: &[P],
    text: &[T],
    is_star: impl Fn(&P) -> bool,
    matches: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut last: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(piece) if is_star(piece) => {
                last = Some((p + 1, t));
                p += 1;
            }
            Some(piece) if matches(piece, &text[t]) => {
                p += 1;
                t += 1;
            }
            _ => match last {
                Some((after, from)) => {
                    last = Some((after, from + 1));
                    p = after;
                    t = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(is_star)
}

/// The patterns that `{a,b}` stands for. A brace that never closes is a brace.
fn alternatives(pattern: &str) -> Vec<String> {
    let mut done = Vec::new();
    let mut open = vec![pattern.to_owned()];
    while let Some(pattern) = open.pop() {
        match first_brace(&pattern) {
            Some((start, end, commas))
                if open.len() + done.len() + commas.len() < MAX_ALTERNATIVES =>
            {
                let mut from = start + 1;
                let mut options = Vec::new();
                for comma in commas.into_iter().chain([end]) {
                    options.push(format!(
                        "{}{}{}",
                        &pattern[..start],
                        &pattern[from..comma],
                        &pattern[end + 1..]
                    ));
                    from = comma + 1;
                }
                open.extend(options.into_iter().rev());
            }
            _ => done.push(pattern),
        }
    }
    done
}

/// The first `{…,…}`: where it begins, where it ends, and its own commas.
fn first_brace(pattern: &str) -> Option<(usize, usize, Vec<usize>)> {
    let mut start = None;
    let mut depth = 0;
    let mut commas = Vec::new();
    let mut escaped = false;
    for (index, byte) in pattern.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'{' => {
                start.get_or_insert(index);
                depth += 1;
            }
            b',' if depth == 1 => commas.push(index),
            b'}' if depth > 0 => {
                depth -= 1;
                if depth == 0 && !commas.is_empty() {
                    return Some((start?, index, commas));
                }
                if depth == 0 {
                    start = None;
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_path_is_what_its_pattern_means() {
        for (pattern, yes, no) in [
            ("src/**", vec!["src/a.rs", "src/a/b/c.rs"], vec!["src", "lib/src/a.rs", "srcs/a.rs"]),
            ("src/*.rs", vec!["src/a.rs"], vec!["src/a/b.rs", "src/a.ts", "a.rs"]),
            ("**/*.sql", vec!["a.sql", "x/y/a.sql"], vec!["a.sqlite", "a.sql/b"]),
            ("*.sql", vec!["a.sql", "x/y/a.sql"], vec!["a.sqlite"]),
            ("Cargo.toml", vec!["Cargo.toml", "crates/a/Cargo.toml"], vec!["Cargo.lock"]),
            ("/Cargo.toml", vec!["Cargo.toml"], vec!["crates/a/Cargo.toml"]),
            ("src/", vec!["src/a", "src/a/b"], vec!["src", "a/src"]),
            ("docs/", vec!["docs/a"], vec!["docs"]),
            ("a/**/b", vec!["a/b", "a/x/b", "a/x/y/b"], vec!["a/bc", "a/x/b/c"]),
            ("**", vec!["a", "a/b"], vec![]),
            ("src/{a,b/*}.rs", vec!["src/a.rs", "src/b/c.rs"], vec!["src/c.rs", "src/b/c/d.rs"]),
            ("src/[!a-c]?.rs", vec!["src/dx.rs"], vec!["src/ax.rs", "src/d.rs"]),
            ("./src/*", vec!["src/a"], vec!["a"]),
            (r"a\*b", vec!["a*b"], vec!["axb"]),
            ("é?.rs", vec!["éß.rs"], vec!["é.rs"]),
        ] {
            for text in yes {
                assert!(path(pattern, text), "{pattern} should mean {text}");
            }
            for text in no {
                assert!(!path(pattern, text), "{pattern} should not mean {text}");
            }
        }
    }

    #[test]
    fn a_tool_is_what_its_wildcard_means() {
        assert!(wildcard("mcp__github__*", "mcp__github__create_issue"));
        assert!(!wildcard("mcp__github__*", "mcp__gitlab__create_issue"));
        assert!(wildcard("{Edit,Write}", "Write") && !wildcard("{Edit,Write}", "Read"));
        assert!(
            wildcard("Edit", "Edit") && !wildcard("Edit", "edit") && !wildcard("Edit", "Edits")
        );
        assert!(wildcard("release/*", "release/1.2/rc") && wildcard("*", ""));
    }

    #[test]
    fn an_explosion_of_alternatives_is_bounded() {
        let pattern = "{a,b}".repeat(40);
        assert!(alternatives(&pattern).len() <= MAX_ALTERNATIVES);
        assert!(!path(&pattern, "x"));
    }

    proptest! {
        #[test]
        fn every_path_means_itself(parts in prop::collection::vec("[a-z][a-z.]{0,5}", 1..5)) {
            let text = parts.join("/");
            let anchored = format!("/{text}");
            prop_assert!(path(&text, &text) && path(&anchored, &text) && path("**", &text));
        }

        #[test]
        fn any_pattern_ends_in_an_answer(pattern in r"[a-c/*?\[\]{},!\\-]{0,40}", text in "[a-c/]{0,40}") {
            let _ = (path(&pattern, &text), wildcard(&pattern, &text));
            prop_assert!(alternatives(&pattern).len() <= MAX_ALTERNATIVES);
        }
    }
}

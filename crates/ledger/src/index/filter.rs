//! What is looked for, and where.
//!
//! What a message is besides its words (its repository, agent, kind, …) is a term of it like any other, so
//! that a search in one repository costs nothing for the others and misses nothing because of them.

use std::collections::HashMap;
use std::fmt::Write as _;

use heirloom_core::id::SessionId;
use heirloom_core::recall::Kind;
use heirloom_core::recall::term::mark;
use jiff::Timestamp;

/// What is looked for.
#[derive(Debug, Clone, Default)]
pub struct Search<'a> {
    /// The words, as text.
    pub text: &'a str,
    /// Only in the repository of these names ([`crate::Ledger::names_of`]): what is indexed is what
    /// records say.
    pub repo: Option<&'a [String]>,
    /// Only these kinds: a note's, `session`, `message`, `tool_use`, `tool_result`, or `note` for all notes.
    pub kinds: &'a [String],
    /// Only of this agent.
    pub agent: Option<&'a str>,
    /// Only on this branch.
    pub branch: Option<&'a str>,
    /// Only of this session.
    pub session: Option<SessionId>,
    /// Only these words: `user`, `assistant`, `tool`, `system`.
    pub role: Option<&'a str>,
    /// Only uses of this tool.
    pub tool: Option<&'a str>,
    /// Only what has to do with this file or directory.
    pub path: Option<&'a str>,
    /// Only notes of this author.
    pub author: Option<&'a str>,
    /// Only what is not older.
    pub since: Option<Timestamp>,
    /// Only what is not newer.
    pub until: Option<Timestamp>,
    /// When it is asked.
    pub now: Option<Timestamp>,
    /// Whether the last word is still being typed.
    pub is_typing: bool,
    /// Newest first instead of best first.
    pub by_time: bool,
    /// The most to return.
    pub limit: usize,
}

impl Search<'_> {
    /// What every message must have besides the words, as the end of an expression. Where there is only the
    /// repository that is searched, it need not be asked for.
    pub(super) fn restriction(&self, is_only_repo: bool) -> String {
        let mut all = String::new();
        let mut require = |alternatives: Vec<String>| {
            let quoted: Vec<String> =
                alternatives.iter().map(|term| format!("\"{term}\"")).collect();
            let _ = write!(all, " AND ({})", quoted.join(" OR "));
        };
        if let Some(names) = self.repo.filter(|_| !is_only_repo) {
            require(names.iter().map(|name| mark('r', name)).collect());
        }
        if !self.kinds.is_empty() {
            require(self.kinds.iter().map(|kind| mark('k', kind)).collect());
        }
        let single = [
            ('a', self.agent.map(str::to_lowercase)),
            ('b', self.branch.map(str::to_owned)),
            ('w', self.role.map(str::to_owned)),
            ('t', self.tool.map(str::to_lowercase)),
            ('p', self.path.map(|path| path.trim_matches('/').trim_start_matches("./").to_owned())),
            ('u', self.author.map(str::to_lowercase)),
        ];
        for (what, value) in single {
            if let Some(value) = value {
                require(vec![mark(what, &value)]);
            }
        }
        all
    }
}

/// Marks that were made, since most messages of a conversation have the same.
#[derive(Debug, Default)]
pub(super) struct KnownMarks(HashMap<char, HashMap<String, String>>);

impl KnownMarks {
    /// So many are remembered before all are forgotten.
    const MOST: usize = 10_000;

    fn of(&mut self, what: char, value: &str) -> &str {
        let known = self.0.entry(what).or_default();
        if known.len() > Self::MOST {
            known.clear();
        }
        if !known.contains_key(value) {
            known.insert(value.to_owned(), mark(what, value));
        }
        &known[value]
    }
}

/// What a message is besides its words.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Marks<'a> {
    pub(super) repo: Option<&'a str>,
    pub(super) agent: Option<&'a str>,
    pub(super) branch: Option<&'a str>,
    pub(super) tool: Option<&'a str>,
    pub(super) author: Option<&'a str>,
    pub(super) paths: &'a [String],
}

impl Marks<'_> {
    /// Adds them to the terms of a message.
    pub(super) fn add(&self, kind: Kind, known: &mut KnownMarks, out: &mut String) {
        let mut put = |what: char, value: &str| {
            out.push_str(known.of(what, value));
            out.push(' ');
        };
        put('k', kind.as_str());
        if matches!(kind, Kind::Note(_)) {
            put('k', "note");
        }
        if let Some(role) = kind.role() {
            put('w', role);
        }
        for (what, value) in [('r', self.repo), ('b', self.branch)] {
            if let Some(value) = value {
                put(what, value);
            }
        }
        for (what, value) in [('a', self.agent), ('t', self.tool), ('u', self.author)] {
            if let Some(value) = value {
                put(what, &value.to_lowercase());
            }
        }
        let mut seen: Vec<String> = Vec::new();
        for name in self.paths.iter().flat_map(|path| names_of(path)) {
            if !seen.contains(&name) {
                put('p', &name);
                seen.push(name);
            }
        }
    }
}

/// What a path can be asked for by: each of its ends (`mod.rs`, `auth/mod.rs`, …), and each of the
/// directories it is in.
fn names_of(path: &str) -> Vec<String> {
    const DEEPEST: usize = 12;
    let path = path.trim_matches('/').trim_start_matches("./");
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let parts = &parts[parts.len().saturating_sub(DEEPEST)..];
    let mut names = Vec::new();
    for start in 0..parts.len() {
        names.push(parts[start..].join("/"));
        if start + 1 < parts.len() {
            names.push(parts[..=start].join("/"));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_found_by_its_ends_and_its_directories() {
        let mut names = names_of("/src/auth/mod.rs");
        names.sort();
        assert_eq!(names, ["auth/mod.rs", "mod.rs", "src", "src/auth", "src/auth/mod.rs"]);
        assert!(names_of("").is_empty());
    }

    #[test]
    fn nothing_is_required_where_nothing_is_asked() {
        assert_eq!(Search::default().restriction(false), "");
        let kinds = ["decision".to_owned(), "rule".to_owned()];
        let some = Search { kinds: &kinds, agent: Some("Claude"), ..Search::default() };
        assert_eq!(some.restriction(false).matches(" AND (").count(), 2);
        assert_eq!(some.restriction(false).matches(" OR ").count(), 1);
    }
}

//! Editing a page in place: what is not named in an edit comes out byte for byte.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;

use super::parse::Text;

/// Edits of a page, by its lines.
pub(super) struct Edits<'a> {
    text: &'a Text<'a>,
    replaced: HashMap<usize, String>,
    deleted: HashSet<usize>,
    inserted: BTreeMap<usize, Vec<String>>,
}

impl<'a> Edits<'a> {
    pub(super) fn new(text: &'a Text<'a>) -> Self {
        Self { text, replaced: HashMap::new(), deleted: HashSet::new(), inserted: BTreeMap::new() }
    }

    /// The line as it will be.
    pub(super) fn line(&self, at: usize) -> &str {
        self.replaced.get(&at).map_or(self.text.lines[at], String::as_str)
    }

    /// Replaces the words of a line; its ending stays.
    pub(super) fn replace(&mut self, at: usize, line: String) {
        self.replaced.insert(at, line);
    }

    pub(super) fn delete(&mut self, at: usize) {
        self.deleted.insert(at);
    }

    /// Takes lines away, and the empty line in front of them.
    pub(super) fn delete_block(&mut self, lines: std::ops::Range<usize>) {
        let before = lines.start.checked_sub(1);
        self.deleted.extend(before.filter(|at| self.text.lines[*at].is_empty()));
        self.deleted.extend(lines);
    }

    /// Puts lines in front of line `at`.
    pub(super) fn insert(&mut self, at: usize, lines: impl IntoIterator<Item = String>) {
        self.inserted.entry(at).or_default().extend(lines);
    }

    /// Whether the next line that stays says something, so that an empty one has to come between.
    pub(super) fn is_followed(&self, at: usize) -> bool {
        self.text.lines.get(at).is_some_and(|line| !line.trim().is_empty())
    }

    pub(super) fn apply(mut self) -> String {
        let ending = match self.text.raw.first() {
            Some(first) if first.ends_with("\r\n") => "\r\n",
            _ => "\n",
        };
        let size: usize = self.text.raw.iter().map(|line| line.len()).sum();
        let mut page = String::with_capacity(size + 1024);
        for at in 0..=self.text.raw.len() {
            for line in self.inserted.remove(&at).unwrap_or_default() {
                // The last line of a page may have no ending.
                if !page.is_empty() && !page.ends_with('\n') {
                    page.push_str(ending);
                }
                let _ = write!(page, "{line}{ending}");
            }
            let Some(raw) = self.text.raw.get(at) else { break };
            if self.deleted.contains(&at) {
                continue;
            }
            match self.replaced.remove(&at) {
                Some(line) => {
                    let words = self.text.lines[at];
                    let start = raw.find(words).unwrap_or_default();
                    page.push_str(&raw[..start]);
                    page.push_str(&line);
                    page.push_str(&raw[start + words.len()..]);
                }
                None => page.push_str(raw),
            }
        }
        page
    }
}

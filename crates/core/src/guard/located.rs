//! A file of a tool use: where it is, and whether a pattern means it.

use std::borrow::Cow;

use super::glob;
use super::shell::{Fit, ROOT, could_be, is_hole, is_known};
use super::trigger::Workdir;

/// A file, from the root of its file system and from that of the repository.
pub(super) struct Located {
    pub(super) absolute: String,
    pub(super) relative: Option<String>,
    /// Its name begins with something that is not known, so that it may be anywhere.
    pub(super) is_anywhere: bool,
    /// It is a directory, with all that is below it.
    is_tree: bool,
    /// All of the repository is below it.
    is_above: bool,
}

impl Located {
    pub(super) fn new(path: &str, place: &Workdir<'_>) -> Self {
        let case = |text: String| if place.ignores_case { text.to_lowercase() } else { text };
        let is_anywhere = path.starts_with(|c: char| c != ROOT && !is_name(c) && is_hole(c));
        let absolute = case(absolute(path, place));
        let relative = place.roots.iter().find_map(|root| {
            let root = case(normalised(root));
            let rest = absolute.strip_prefix(&root)?;
            rest.strip_prefix('/').or((root.is_empty()).then_some(rest)).map(str::to_owned)
        });
        Self { absolute, relative, is_anywhere, is_tree: false, is_above: false }
    }

    /// A file that a shell command writes, or with `/` at its end a directory and all that is below it.
    pub(super) fn touched(path: &str, place: &Workdir<'_>) -> Self {
        let located = Self::new(path, place);
        let is_tree = path.ends_with('/');
        let is_above = is_tree
            && place.roots.iter().any(|root| {
                let root = normalised(root);
                let root = if place.ignores_case { root.to_lowercase() } else { root };
                let rest = root.strip_prefix(&located.absolute);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            });
        Self { is_tree, is_above, ..located }
    }

    /// Whether a pattern means it. A pattern is about the repository's own files; elsewhere it has to
    /// begin at the root of the file system.
    pub(super) fn fit(&self, pattern: &str, place: &Workdir<'_>) -> Fit {
        let pattern = cased(pattern, place);
        if is_known(&self.absolute) {
            let is_meant = self.is_meant(&pattern, pattern.starts_with('/'));
            return Fit::from(is_meant || self.holds(&pattern));
        }
        // Where any name would do, it does not matter that this one is not known.
        let probe = |text: &str| text.replace(is_hole, "x");
        let probed = Self {
            absolute: probe(&self.absolute),
            relative: self.relative.as_deref().map(probe),
            is_anywhere: false,
            is_tree: false,
            is_above: false,
        };
        if !self.is_anywhere && probed.is_meant(&pattern, pattern.starts_with('/')) {
            return Fit::Yes;
        }
        if self.may_be_meant(&pattern) { Fit::Maybe } else { Fit::No }
    }

    /// Whether a pattern of files that nothing gates means it; with `**` those may be anywhere.
    pub(super) fn is_exempt(&self, pattern: &str, place: &Workdir<'_>) -> bool {
        let pattern = cased(pattern, place);
        self.is_meant(&pattern, pattern.starts_with('/') || pattern.starts_with("**/"))
    }

    fn is_meant(&self, pattern: &str, anywhere: bool) -> bool {
        self.relative.as_ref().is_some_and(|path| glob::path(pattern, path))
            || (anywhere && glob::path(pattern, &self.absolute))
    }

    /// Whether it is a directory in which the pattern looks for files of the repository.
    fn holds(&self, pattern: &str) -> bool {
        if pattern.starts_with('/') {
            return false;
        }
        let is_fixed = |part: &&str| !part.contains(['*', '?', '[', '{']);
        let mut fixed = pattern.split('/').take_while(is_fixed);
        let is_on_the_way = |path: &String| path.split('/').all(|part| fixed.next() == Some(part));
        self.is_above || (self.is_tree && self.relative.as_ref().is_some_and(is_on_the_way))
    }

    fn may_be_meant(&self, pattern: &str) -> bool {
        let last = self.absolute.rsplit('/').next().unwrap_or_default();
        let wanted = pattern.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let is_any = pattern.ends_with('/') || wanted == "**" || pattern.contains('{');
        if !is_any && !could_be(wanted, last) {
            return false;
        }
        if self.is_anywhere {
            return true;
        }
        // What is known of the directories it is in.
        let known = |path: &str| {
            let until = path.find(is_hole).unwrap_or(path.len());
            let end = path[..until].rfind('/').unwrap_or(0);
            path[..end].to_owned()
        };
        self.relative.as_deref().is_some_and(|path| glob::may_begin(pattern, &known(path)))
            || (pattern.starts_with('/') && glob::may_begin(pattern, &known(&self.absolute)))
    }
}

/// Names of things are in the directory they are named in.
fn is_name(c: char) -> bool {
    super::shell::is_name(c)
}

fn cased<'p>(pattern: &'p str, place: &Workdir<'_>) -> Cow<'p, str> {
    let pattern: Cow<'p, str> = match pattern.strip_prefix("~/") {
        Some(rest) => format!("/~/{rest}").into(),
        None => pattern.into(),
    };
    if place.ignores_case { pattern.to_lowercase().into() } else { pattern }
}

fn absolute(path: &str, place: &Workdir<'_>) -> String {
    if let Some(rest) = path.strip_prefix(ROOT) {
        let root = place.roots.first().copied().unwrap_or(place.cwd);
        return normalised(&format!("{root}/{rest}"));
    }
    if path.starts_with('~') {
        // Nobody says here where a home is; it is not in the repository.
        return normalised(&format!("/{path}"));
    }
    let is_absolute = path.starts_with(['/', '\\']) || path.as_bytes().get(1) == Some(&b':');
    if is_absolute { normalised(path) } else { normalised(&format!("{}/{path}", place.cwd)) }
}

/// Without `.`, `..` and doubled separators, and without a separator at the end.
pub(super) fn normalised(path: &str) -> String {
    let is_windows = path.as_bytes().get(1) == Some(&b':');
    let separators: &[char] = if is_windows { &['/', '\\'] } else { &['/'] };
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(separators) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.iter().flat_map(|part| ["/", part]).collect()
}

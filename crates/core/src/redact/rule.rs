//! Rules for tokens that are known by their prefix, and the matcher for them.
//!
//! A rule is data: a literal that the automaton looks for, then parts that must follow.
//! The parts are matched greedily and without going back, so a rule costs no more than the
//! bytes it reads; a set in a rule therefore never holds the byte the next part starts with.

use std::ops::Range;

use super::judge;
use super::set::{BASE64, Set, URL64};

/// No path has a part of this length without a dot, dash or underscore.
const BLOB: usize = 64;

/// One piece of what follows a prefix.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    Lit(&'static str),
    Run { set: Set, min: usize, max: usize },
}

/// Exactly `n` bytes of `set`, and no more of them after.
pub(super) const fn exactly(set: Set, n: usize) -> Part {
    Part::Run { set, min: n, max: n }
}

/// At least `min` bytes of `set`, all that there are.
pub(super) const fn some(set: Set, min: usize) -> Part {
    Part::Run { set, min, max: usize::MAX }
}

pub(super) const fn between(set: Set, min: usize, max: usize) -> Part {
    Part::Run { set, min, max }
}

pub(super) const fn lit(text: &'static str) -> Part {
    Part::Lit(text)
}

/// What must stand before the prefix.
#[derive(Clone, Copy, Debug)]
enum Before {
    /// Anything: the prefix is telling enough.
    Any,
    /// No letter, digit, `_` or `-`.
    Boundary,
    /// A run that belongs to the secret.
    Run { set: Set, min: usize, max: usize },
}

/// A token with a known literal in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub(super) kind: &'static str,
    pub(super) literal: &'static str,
    parts: &'static [Part],
    before: Before,
    keep: bool,
    window: usize,
    pub(super) shared: bool,
}

/// A token that starts with `literal`, wherever it stands.
pub(super) const fn token(
    kind: &'static str,
    literal: &'static str,
    parts: &'static [Part],
) -> Rule {
    Rule { kind, literal, parts, before: Before::Any, keep: false, window: 0, shared: false }
}

impl Rule {
    /// The literal must start a word: for prefixes that occur inside other words.
    pub(super) const fn word(mut self) -> Self {
        self.before = Before::Boundary;
        self
    }

    /// The secret starts `min` to `max` bytes of `set` before the literal.
    pub(super) const fn after(mut self, set: Set, min: usize, max: usize) -> Self {
        self.before = Before::Run { set, min, max };
        self
    }

    /// The literal stays readable; only what follows it is the secret.
    pub(super) const fn keep(mut self) -> Self {
        self.keep = true;
        self
    }

    /// The literal only names the service; the parts are looked for in the next bytes.
    pub(super) const fn within(mut self, window: usize) -> Self {
        self.window = window;
        self
    }

    /// Many providers use the literal: a rule with a longer one names the kind.
    pub(super) const fn shared(mut self) -> Self {
        self.shared = true;
        self
    }

    /// Returns the secret at the place `at` where the literal was seen in any case.
    pub(super) fn find(&self, text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
        if self.window > 0 {
            return self.find_near(text, at.end);
        }
        if &text[at.clone()] != self.literal.as_bytes() {
            return None;
        }
        let start = self.start(text, at.start)?;
        let end = without_full_stop(text, at.end, follow(self.parts, text, at.end)?);
        let start = if self.keep { at.end } else { start };
        (!judge::is_mask(&text[at.end..end])).then_some(start..end)
    }

    fn start(&self, text: &[u8], at: usize) -> Option<usize> {
        match self.before {
            Before::Any => Some(at),
            Before::Boundary => starts_word(text, at).then_some(at),
            Before::Run { set, min, max } => {
                let start = set.run_back(text, at, max + 1);
                (min..=max).contains(&(at - start)).then_some(start)
            }
        }
    }

    fn find_near(&self, text: &[u8], from: usize) -> Option<Range<usize>> {
        let stop = text.len().min(from + self.window);
        (from..stop)
            .filter(|&at| starts_word(text, at))
            .find_map(|at| follow(self.parts, text, at).map(|end| at..end))
            .filter(|span| !judge::is_mask(&text[span.clone()]))
    }
}

/// Matches `parts` one after the other from `at` on, and returns where they end.
fn follow(parts: &[Part], text: &[u8], mut at: usize) -> Option<usize> {
    for part in parts {
        match *part {
            Part::Lit(literal) => {
                at = text[at..].starts_with(literal.as_bytes()).then_some(at + literal.len())?;
            }
            Part::Run { set, min, max } => {
                let end = set.run(text, at);
                (min..=max).contains(&(end - at)).then_some(())?;
                at = end;
            }
        }
    }
    Some(at)
}

/// Tells whether a word may start at `at`, also after an escape such as `\n` or `%3D`.
pub(super) fn starts_word(text: &[u8], at: usize) -> bool {
    match text[..at] {
        [] | [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => true,
        // A slash is a border in a path, but a letter in a long run of base64.
        [.., b'/' | b'+'] => at - BASE64.run_back(text, at, BLOB) < BLOB,
        [.., last] => !URL64.has(last),
    }
}

/// A full stop at the end belongs to the sentence, also where a token may hold dots.
fn without_full_stop(text: &[u8], start: usize, end: usize) -> usize {
    let dots = text[start..end].iter().rev().take_while(|&&b| b == b'.').count();
    end - dots
}

//! `{a,b}` and `{1..3}` outside of quotes: several words written as one.

use super::mark::{CLOSE, COMMA, NAME, OPEN, SPLIT};

/// How many words one may stand for. What stands for more is left as it is written.
const MOST: usize = 64;

/// The words, separated by [`SPLIT`].
pub(super) fn expand(text: &str) -> String {
    let mut done: Vec<String> = Vec::new();
    let mut open = vec![text.to_owned()];
    while let Some(text) = open.pop() {
        match first(&text) {
            Some((start, end, options)) if open.len() + done.len() + options.len() <= MOST => {
                let (before, after) = (&text[..start], &text[end..]);
                let made = options.into_iter().rev().map(|o| format!("{before}{o}{after}"));
                open.extend(made);
            }
            _ => done.push(literal(&text)),
        }
    }
    done.join(&SPLIT.to_string())
}

/// The text with its braces as they are written.
pub(super) fn literal(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            OPEN => '{',
            COMMA => ',',
            CLOSE => '}',
            c => c,
        })
        .collect()
}

/// The first brace that stands for several words: where it is, and what they are.
fn first(text: &str) -> Option<(usize, usize, Vec<String>)> {
    let opened = text.match_indices(OPEN).map(|(at, _)| at).take(MOST);
    for start in opened {
        let mut depth = 0;
        let mut from = start + OPEN.len_utf8();
        let mut options = Vec::new();
        for (at, c) in text[start..].char_indices().map(|(at, c)| (start + at, c)) {
            match c {
                OPEN => depth += 1,
                COMMA if depth == 1 => {
                    options.push(text[from..at].to_owned());
                    from = at + COMMA.len_utf8();
                }
                CLOSE => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                let end = at + c.len_utf8();
                let last = &text[from..at];
                if options.is_empty() && last.contains("..") {
                    return Some((start, end, vec![NAME.to_string()]));
                }
                if options.is_empty() {
                    break;
                }
                options.push(last.to_owned());
                return Some((start, end, options));
            }
        }
    }
    None
}

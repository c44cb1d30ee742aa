//! What else a fresh context could have been given.

use std::fmt::Write as _;

use heirloom_core::tokens;

use super::day::Played;

/// The end of the last conversation.
pub(super) fn last(days: &[Played], budget: usize) -> String {
    let all: Vec<&str> = days.iter().flat_map(|day| &day.all).map(String::as_str).collect();
    tokens::end(&all.join("\n"), budget).to_owned()
}

/// A digest as tools that index transcripts give it: for each session, newest first, what it was called,
/// what was asked, which files were touched, and what the agent said last.
pub(super) fn digest(days: &[Played], budget: usize) -> String {
    let mut text = String::new();
    for day in days.iter().rev() {
        let title = day.prompts.first().map(String::as_str).unwrap_or_default();
        let files = day.files.join(", ");
        let said = day.said.last().map(String::as_str).unwrap_or_default();
        let last = day.prompts.last().map(String::as_str).unwrap_or_default();
        let messages = day.all.len();
        let _ = writeln!(
            text,
            "## {title}\n{messages} messages\nlast prompt: {last}\nfiles: {files}\nlast answer: {said}"
        );
    }
    tokens::beginning(&text, budget).to_owned()
}

//! What agents were told of a session, and where.

use std::ops::Range;

use memchr::memmem;

use super::entry::plain;
use super::standing::{Told, quote};
use super::{MARK, TAG, TRIED, brief, sentences};
use crate::facts::title;
use crate::rules;

/// Everything that a brief may quote of a session, as it stands there: texts as they are, by their sentences, and cut.
pub fn quoted(told: &Told, named: Option<&str>) -> Vec<String> {
    let mut all: Vec<String> = named.map(plain).into_iter().collect();
    for turn in &told.turns {
        all.extend(rules::rules(&turn.text).into_iter().map(|rule| plain(&turn.text[rule.place])));
        all.extend(title(&turn.text));
    }
    let commands = told.commands.iter();
    let errors = commands.clone().filter_map(|command| command.error.as_ref());
    let texts = told.turns.iter().map(|turn| &turn.text);
    let texts = texts
        .chain(commands.map(|command| &command.command))
        .chain(errors)
        .chain(told.todos.iter().map(|todo| &todo.text))
        .chain(told.commits.iter().map(|commit| &commit.subject))
        .chain(told.tests.iter().map(|test| &test.name))
        .chain(told.files.iter().map(|file| &file.path));
    // A short subject is known by the commit that it stands with.
    let commits = told.commits.iter();
    all.extend(commits.map(|commit| format!("{} {}", commit.hash, plain(&commit.subject))));
    for text in texts {
        let text = plain(text);
        all.extend(sentences::split(&text).into_iter().map(str::to_owned));
        all.extend([quote(&text), sentences::fitting(&text, brief::LONGEST)]);
        all.push(text);
    }
    for text in &mut all {
        let kept = text.trim_end_matches(['…', ' ']).len();
        text.truncate(kept);
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// Where in a transcript stands what heirloom told an agent of earlier sessions.
pub fn told_in(bytes: &[u8], is_json: bool) -> Vec<Range<usize>> {
    let end = format!("</{TAG}>");
    let of_line = |from: usize| memchr::memchr(b'\n', &bytes[from..]).map(|at| from + at);
    let of_tag = |from: usize| memmem::find(&bytes[from..], end.as_bytes()).map(|at| from + at);
    let briefs = memmem::find_iter(bytes, MARK).map(|at| {
        // In JSON a line is an entry, and no text goes on beyond it.
        let line = of_line(at).filter(|_| is_json).unwrap_or(bytes.len());
        at..of_tag(at).unwrap_or(bytes.len()).min(line)
    });
    let tried = memmem::find_iter(bytes, TRIED);
    let tried = tried.map(|at| at..of_line(at).unwrap_or(bytes.len()));
    briefs.chain(tried).collect()
}

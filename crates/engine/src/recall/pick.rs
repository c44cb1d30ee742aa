//! Choosing among past conversations: narrowing them down as somebody types, and what one is about.

use heirloom_core::facts::{CommitFacts, FileFacts};
use heirloom_ledger::Ledger;

use super::resume::{Past, past, ranks};
use super::search::SearchError;
use crate::capture;
use crate::here::Here;

/// Shorter words are in every conversation.
const SAID_FROM: usize = 3;
/// So many prompts, commits, files and things to do are told of one.
const MOST: usize = 5;

/// Past conversations to choose from.
#[derive(Debug)]
pub struct Choosing {
    /// The newest first.
    pub all: Vec<Past>,
}

impl Choosing {
    /// All that there are.
    pub fn new(here: &Here, ledger: &Ledger) -> Result<Self, SearchError> {
        Ok(Self { all: past(here, ledger, None)? })
    }

    /// The places of those that fit what was typed: first those that are known by it, newest first, then
    /// those in which it was said, best first.
    pub fn fitting(&self, here: &Here, ledger: &Ledger, typed: &str) -> Vec<usize> {
        let words: Vec<String> = typed.split_whitespace().map(str::to_lowercase).collect();
        let (mut known, rest): (Vec<usize>, Vec<usize>) =
            (0..self.all.len()).partition(|place| self.all[*place].mentions(&words));
        if typed.trim().chars().count() >= SAID_FROM {
            // What cannot be searched now is still known by its title.
            let ranks = ranks(here, ledger, typed).unwrap_or_default();
            let rank = |place: usize| ranks.get(&self.all[place].key()?).copied();
            let mut said: Vec<(usize, usize)> =
                rest.into_iter().filter_map(|place| Some((rank(place)?, place))).collect();
            said.sort_unstable();
            known.extend(said.into_iter().map(|(_, place)| place));
        }
        known
    }
}

/// What a conversation is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Preview {
    /// What was asked, the first and the last.
    pub asked: Vec<String>,
    /// What was done: commits, and files that were changed.
    pub done: Vec<String>,
    /// What is left: things to do, tests that fail.
    pub left: Vec<String>,
}

/// What a past conversation is about, as far as it is known.
pub fn preview(here: &Here, past: &Past) -> Preview {
    let known = past
        .session
        .as_ref()
        .and_then(|session| capture::known(&here.home, session.id).ok().flatten());
    let Some(known) = known else {
        return Preview { asked: past.prompt.clone().into_iter().collect(), ..Preview::default() };
    };
    let mut asked: Vec<String> = Vec::new();
    let turns = || known.turns.iter().filter(|turn| !turn.rewound);
    asked.extend(turns().next().map(|turn| turn.text.clone()));
    let last: Vec<String> = turns().skip(1).map(|turn| turn.text.clone()).collect();
    asked.extend(last.iter().rev().take(2).rev().cloned());
    if asked.is_empty() {
        asked.extend(past.prompt.clone());
    }
    let commit = |commit: &CommitFacts| format!("{} {}", commit.hash, commit.subject);
    let mut done: Vec<String> = known.commits.iter().rev().take(MOST).map(commit).collect();
    let mut edited: Vec<&FileFacts> = known.files.iter().filter(|file| file.edited).collect();
    edited.sort_by_key(|file| std::cmp::Reverse(file.at));
    done.extend(edited.iter().take(MOST).map(|file| file.path.clone()));
    let open = known.todos.iter().filter(|todo| matches!(todo.state.as_str(), "open" | "begun"));
    let mut left: Vec<String> = open.take(MOST).map(|todo| todo.text.clone()).collect();
    let failing = known.tests.iter().filter(|test| !test.passed_since);
    left.extend(failing.take(MOST).map(|test| format!("fails: {}", test.name)));
    Preview { asked, done, left }
}

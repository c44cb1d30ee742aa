//! What a session's transcript says about its work, without a word of it.
//!
//! A record cannot be taken back, but what was said must be possible to forget. So a handoff holds where
//! the words stand, what they add up to, and how much there is of everything; whoever shows it looks the
//! words up, and finds none once they are forgotten.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::facts::CommandFacts;
use crate::ground::digest;
use crate::recover::{Told, uncommitted};
use crate::rules;

/// So many prompts are referred to.
const MOST_ASKED: usize = 8;
/// So many commands that fail are referred to.
const MOST_FAILING: usize = 6;
/// So many rules are referred to.
const MOST_RULES: usize = 12;

/// A passage of a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passage {
    /// Where its line begins.
    pub offset: u64,
    /// The hash of its words, secrets redacted.
    pub hash: String,
}

impl Passage {
    /// The passage that begins at `offset` and says `words`.
    pub fn new(offset: u64, words: &str) -> Self {
        Self { offset, hash: digest(words)[..16].to_owned() }
    }

    /// Whether these are its words.
    pub fn says(&self, words: &str) -> bool {
        Self::new(self.offset, words) == *self
    }
}

/// How far a transcript was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Read {
    /// Which one: `archive:SESSION/transcript-1`.
    pub transcript: String,
    pub bytes: u64,
}

/// What a session's transcript says about its work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worked {
    /// How far it was read.
    pub read: Read,
    /// How often the agent was asked.
    pub turns: u64,
    /// What was asked for, newest first.
    pub asked: Vec<Passage>,
    /// The commits that were made, oldest first.
    pub commits: Vec<String>,
    /// How many files were changed.
    pub edited: u64,
    /// How many of them were not committed.
    pub uncommitted: u64,
    /// How many commands were run.
    pub commands: u64,
    /// Commands that failed when they were last run, newest first.
    pub failing: Vec<Passage>,
    /// How many tests fail.
    pub tests_failing: u64,
    /// How many tests failed and pass now.
    pub tests_mended: u64,
    /// How many things the agent still had to do.
    pub todos: u64,
    /// What the person laid down: the prompts, and the hashes of the clauses.
    pub laid_down: Vec<Passage>,
}

impl Worked {
    /// What `told` comes to; nothing where nothing was said and done.
    pub fn of(told: &Told, read: Read) -> Option<Self> {
        if told.turns.is_empty() && told.commands.is_empty() && told.files.is_empty() {
            return None;
        }
        let said = told.turns.iter().rev().filter(|turn| !turn.rewound);
        let asked = said.map(|turn| Passage::new(turn.offset, &turn.text));
        let open = told.todos.iter().filter(|todo| todo.is_open());
        let failing = failing(&told.commands);
        Some(Self {
            read,
            turns: told.turns.len() as u64,
            asked: asked.take(MOST_ASKED).collect(),
            commits: told.commits.iter().map(|commit| commit.hash.clone()).collect(),
            edited: told.files.iter().filter(|file| file.edited).count() as u64,
            uncommitted: uncommitted(told).len() as u64,
            commands: told.commands.len() as u64,
            failing: failing
                .into_iter()
                .map(|command| Passage::new(command.offset, &command.command))
                .collect(),
            tests_failing: told.tests.iter().filter(|test| !test.passed_since).count() as u64,
            tests_mended: told.tests.iter().filter(|test| test.passed_since).count() as u64,
            todos: open.count() as u64,
            laid_down: laid_down(told),
        })
    }

    /// How much there is of everything, and the commits; no reference to any words.
    pub fn in_numbers(&self) -> Self {
        Self {
            read: Read { transcript: String::new(), bytes: 0 },
            asked: Vec::new(),
            failing: Vec::new(),
            laid_down: Vec::new(),
            ..self.clone()
        }
    }

    /// Whether it says the same, however far the transcript was read for it.
    pub fn is_same(&self, other: &Self) -> bool {
        Self { read: other.read.clone(), ..self.clone() } == *other
    }
}

/// Commands that failed when they were last run, newest first.
fn failing(commands: &[CommandFacts]) -> Vec<&CommandFacts> {
    let mut seen = HashSet::new();
    let last = commands.iter().rev().filter(|command| seen.insert(command.command.trim()));
    last.filter(|command| command.failed == Some(true)).take(MOST_FAILING).collect()
}

/// What the person forbade or asked for for good, newest first.
fn laid_down(told: &Told) -> Vec<Passage> {
    let mut found = Vec::new();
    let typed = |by: &str| told.interactive && by == "person";
    for turn in told.turns.iter().rev().filter(|turn| typed(&turn.by) && !turn.rewound) {
        for rule in rules::rules(&turn.text) {
            found.push(Passage::new(turn.offset, &turn.text[rule.place]));
        }
        if found.len() >= MOST_RULES {
            break;
        }
    }
    found.truncate(MOST_RULES);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{CommitFacts, FileFacts, TodoFacts, TurnFacts};

    fn told() -> Told {
        let turn = |number, text: &str| TurnFacts {
            number,
            at: None,
            by: "person".to_owned(),
            text: text.to_owned(),
            offset: number * 100,
            rewound: false,
        };
        let command = |offset: u64, text: &str, failed| CommandFacts {
            tool_use: offset.to_string(),
            turn: 1,
            at: None,
            command: text.to_owned(),
            exit: None,
            failed: Some(failed),
            error: None,
            is_test: false,
            offset,
        };
        let todo = |text: &str, state: &str| TodoFacts { text: text.into(), state: state.into() };
        Told {
            interactive: true,
            turns: vec![turn(1, "mend the parser"), turn(2, "and never touch legacy/")],
            commands: vec![
                command(10, "./e2e", true),
                command(20, "make", true),
                command(30, "make", false),
            ],
            commits: vec![CommitFacts {
                hash: "1a2b3c4".to_owned(),
                subject: "a secret plan".to_owned(),
                turn: 1,
                at: None,
            }],
            files: vec![FileFacts { path: "src/plan.rs".into(), edited: true, turn: 1, at: None }],
            todos: vec![todo("one", "done"), todo("two", "open")],
            ..Told::default()
        }
    }

    fn read(bytes: u64) -> Read {
        Read { transcript: "archive:s/transcript-1".to_owned(), bytes }
    }

    #[test]
    fn a_handoff_says_where_the_words_are_and_none_of_them() {
        let worked = Worked::of(&told(), read(400)).unwrap();
        assert_eq!(worked.asked.iter().map(|one| one.offset).collect::<Vec<_>>(), [200, 100]);
        assert!(
            worked.asked[1].says("mend the parser") && !worked.asked[0].says("mend the parser")
        );
        assert_eq!(worked.failing, [Passage::new(10, "./e2e")]);
        assert_eq!((worked.todos, worked.edited, worked.commands), (1, 1, 3));
        assert_eq!(worked.laid_down.len(), 1);
        let text = serde_json::to_string(&worked).unwrap();
        for word in ["parser", "legacy", "plan", "e2e", "make", "two"] {
            assert!(!text.contains(word), "{word} in {text}");
        }
    }

    #[test]
    fn reading_further_is_nothing_new_and_a_turn_is() {
        let worked = Worked::of(&told(), read(400)).unwrap();
        assert!(worked.is_same(&Worked::of(&told(), read(900)).unwrap()));
        let mut more = told();
        more.turns.push(TurnFacts { number: 3, offset: 300, ..more.turns[0].clone() });
        assert!(!worked.is_same(&Worked::of(&more, read(900)).unwrap()));
        assert_eq!(Worked::of(&Told::default(), read(0)), None);
    }
}

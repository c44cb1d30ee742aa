//! What ended a failure: the command that then worked, and what was done before it did.

use crate::facts::CommandFacts;
use crate::recover::{plain, resembles};

use super::Terms;

/// So many commands after a failure are looked through for its end.
const FAR: usize = 80;
/// So many commands after a failure, another way to do the same is taken for its end.
const SOON: usize = 12;
/// So many steps are named.
const MOST_STEPS: usize = 6;

/// How a failure ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The place of the command that worked, in the commands that were given.
    pub by: usize,
    /// The places of what was run in between and may have made the difference.
    pub steps: Vec<usize>,
}

/// How the failure of the command at `failed` ended, if it did: the same command worked later, or, soon
/// after, another way to do the same.
pub fn ended(commands: &[CommandFacts], failed: usize) -> Option<Ended> {
    let line = bare(&commands[failed].command);
    let later = || commands.iter().enumerate().skip(failed + 1).take(FAR);
    let worked = |command: &CommandFacts| command.failed == Some(false);
    let same = later().find(|(_, other)| worked(other) && bare(&other.command) == line);
    let other = later().take(SOON).find(|(_, other)| {
        worked(other) && !is_look(&other.command) && resembles(line, bare(&other.command))
    });
    let by = match (same, other) {
        (Some((same, _)), Some((other, _))) => same.min(other),
        (Some((by, _)), None) | (None, Some((by, _))) => by,
        (None, None) => return None,
    };
    let between = commands[failed + 1..by].iter().enumerate();
    let mut steps: Vec<usize> = between
        .filter(|(_, command)| worked(command) && !is_look(&command.command))
        .filter(|(_, command)| bare(&command.command) != line)
        .map(|(index, _)| failed + 1 + index)
        .collect();
    steps.drain(..steps.len().saturating_sub(MOST_STEPS));
    Some(Ended { by, steps })
}

/// A command line without the `cd … &&` that agents put in front.
pub fn bare(command: &str) -> &str {
    let mut rest = command.trim();
    while rest.starts_with("cd ") {
        let Some((_, after)) = rest.split_once("&&").or_else(|| rest.split_once('\n')) else {
            break;
        };
        rest = after.trim_start();
    }
    rest
}

/// Whether a command only looks, so that nothing is different after it.
pub fn is_look(command: &str) -> bool {
    const LOOKS: [&str; 16] = [
        "ls",
        "cat",
        "head",
        "tail",
        "rg",
        "grep",
        "find",
        "pwd",
        "echo",
        "wc",
        "which",
        "sed -n",
        "git status",
        "git diff",
        "git log",
        "git show",
    ];
    let line = bare(command);
    let changes = line.contains('>') || line.contains("&&") || line.contains(';');
    let looks = |look: &str| {
        line.strip_prefix(look).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
    };
    !changes && LOOKS.iter().any(|look| looks(look))
}

/// An error without what differs from one time to the next.
pub fn signature(error: &str) -> String {
    let words = plain(error).to_lowercase();
    let same =
        words.split_whitespace().filter(|word| !word.bytes().any(|byte| byte.is_ascii_digit()));
    same.collect::<Vec<_>>().join(" ")
}

/// What somebody wants to know how to do.
#[derive(Debug)]
pub struct Asked {
    terms: Terms,
    wanted: Vec<String>,
}

impl Asked {
    /// Reads a question.
    pub fn new(text: &str) -> Self {
        let (mut terms, mut all) = (Terms::default(), String::new());
        terms.of(text, &mut all);
        let mut wanted: Vec<String> =
            all.split(' ').filter(|term| !term.is_empty()).map(str::to_owned).collect();
        // Nothing was ever run because of these.
        wanted.retain(|term| !matches!(term.as_str(), "how" | "do" | "fix" | "error"));
        Self { terms, wanted }
    }

    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }

    /// How much of the question a text has, from 0 to 1; nothing where it is less than half.
    pub fn fit(&mut self, text: &str) -> Option<f64> {
        if self.wanted.is_empty() {
            return None;
        }
        let mut all = String::new();
        self.terms.of(text, &mut all);
        let has: std::collections::HashSet<&str> = all.split(' ').collect();
        let found = self.wanted.iter().filter(|term| has.contains(term.as_str())).count();
        #[expect(clippy::cast_precision_loss, reason = "a question has few words")]
        let fit = found as f64 / self.wanted.len() as f64;
        (found * 2 >= self.wanted.len() && found > 0).then_some(fit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(command: &str, failed: bool) -> CommandFacts {
        CommandFacts {
            tool_use: command.to_owned(),
            turn: 1,
            at: None,
            command: command.to_owned(),
            exit: None,
            failed: Some(failed),
            error: failed.then(|| "error: connection refused".to_owned()),
            is_test: false,
            offset: 0,
        }
    }

    #[test]
    fn a_failure_ends_when_the_same_command_works_and_what_came_between_are_steps() {
        let commands = [
            ran("cd /w && cargo test", true),
            ran("rg postgres", false),
            ran("docker compose up -d", false),
            ran("cargo test", false),
        ];
        assert_eq!(ended(&commands, 0), Some(Ended { by: 3, steps: vec![2] }));
    }

    #[test]
    fn another_way_to_do_it_ends_it_too_and_without_one_there_is_no_end() {
        let commands = [ran("npm install left", true), ran("npm install left --force", false)];
        assert_eq!(ended(&commands, 0), Some(Ended { by: 1, steps: vec![] }));
        assert_eq!(ended(&[ran("npm install left", true), ran("make docs", false)], 0), None);
        assert_eq!(ended(&[ran("npm install left", true)], 0), None);
    }

    #[test]
    fn a_question_fits_by_its_words_whatever_their_form() {
        let mut asked = Asked::new("how to fix refused connections");
        assert_eq!(asked.fit("cargo test error: connection refused"), Some(1.0));
        assert_eq!(asked.fit("refused"), Some(0.5));
        assert_eq!(asked.fit("nothing of it"), None);
        assert!(Asked::new("how to").is_empty());
    }
}

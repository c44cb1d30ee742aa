//! Which commands a trigger means: the beginning of an argv, with room for options between.

use serde::{Deserialize, Serialize};

use super::{Command, Script};
use crate::guard::glob;

/// The words a command begins with: `[git, push]`.
///
/// Options between the words do not matter, nor does what a program's option takes as its value:
/// `npm --registry URL publish` begins with `[npm, publish]`. A word that begins with `-` may stand
/// anywhere after the words before it: `[git, push, --force]`. Words may be globs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommandPattern(pub Vec<String>);

impl CommandPattern {
    /// Whether any command of `script` begins like this. What the script's reader could not follow
    /// is searched for the words in `source`: a requirement rather asks once too often.
    pub fn matches(&self, script: &Script, source: &str) -> bool {
        script.commands.iter().any(|command| self.begins(command))
            || (script.incomplete && self.is_mentioned(source))
    }

    fn begins(&self, command: &Command) -> bool {
        let Some((program, words)) = self.0.split_first() else { return false };
        let Some((first, mut rest)) = command.argv.split_first() else { return false };
        if !glob::wildcard(program, &first.text) {
            return false;
        }
        for word in words {
            if let Some(option) = word.strip_prefix('-') {
                if !rest.iter().any(|given| is_option(option, &given.text)) {
                    return false;
                }
                continue;
            }
            let mut may_be_value = false;
            let found = rest.iter().position(|given| {
                if glob::wildcard(word, &given.text) {
                    return true;
                }
                let is_option = given.text.starts_with(['-', '+']);
                let goes_on = is_option || may_be_value;
                may_be_value = is_option && !given.text.contains('=');
                // A word that is neither stops the search: it is another subcommand.
                !goes_on
            });
            match found {
                Some(index) if glob::wildcard(word, &rest[index].text) => rest = &rest[index + 1..],
                _ => return false,
            }
        }
        true
    }

    /// The pattern's words in their order, in one line of `source`.
    fn is_mentioned(&self, source: &str) -> bool {
        let separates = |c: char| c.is_whitespace() || "\"'`$(){}<>\\,=".contains(c);
        source.split(['\n', ';', '&', '|']).any(|part| {
            let mut words = part.split(separates).filter(|word| !word.is_empty());
            !self.0.is_empty()
                && self.0.iter().all(|wanted| {
                    words.any(|word| {
                        let name = word.rsplit('/').next().unwrap_or(word);
                        glob::wildcard(wanted, word) || glob::wildcard(wanted, name)
                    })
                })
        })
    }
}

/// Whether `given` is the option `-option`, on its own, with a value, or in a cluster of letters.
fn is_option(option: &str, given: &str) -> bool {
    let Some(given) = given.strip_prefix('-') else { return false };
    let is_cluster = option.chars().count() == 1 && option != "-" && !given.starts_with('-');
    given.split('=').next() == Some(option) || (is_cluster && given.contains(option))
}

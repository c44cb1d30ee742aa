//! Which commands a trigger means: the beginning of an argv, with room for options between.

use serde::{Deserialize, Serialize};

use super::mark::{self, NAME, ONE, ROOT, WORDS};
use super::options::{self, Of};
use super::run::is_blank;
use super::{Command, Script, Word, code};
use crate::guard::glob;

/// The words a command begins with: `[git, push]`.
///
/// Options between the words do not matter, nor does what a program's option takes as its value:
/// `npm --registry URL publish` begins with `[npm, publish]`. A word that begins with `-` may stand
/// anywhere after the words before it: `[git, push, --force]`. Words may be globs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommandPattern(pub Vec<String>);

/// Whether a rule is about something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// It is not.
    No,
    /// It may be: what is not known of the line decides.
    Maybe,
    Yes,
}

impl From<bool> for Fit {
    fn from(fits: bool) -> Self {
        if fits { Self::Yes } else { Self::No }
    }
}

impl CommandPattern {
    /// Whether any command of `script` begins like this, and which it is. What the script's reader
    /// could not follow is searched for the words in `source`: it may be.
    pub fn fit<'s>(&self, script: &'s Script, source: &str) -> (Fit, Option<&'s Command>) {
        let mut best = (Fit::No, None);
        for command in &script.commands {
            let fit = begins(&self.0, command);
            if fit > best.0 {
                best = (fit, Some(command));
            }
            if fit == Fit::Yes {
                return best;
            }
        }
        if best.0 == Fit::No && !self.0.is_empty() {
            let is_hidden = script.runs_unknown
                || (script.incomplete && is_mentioned(&self.0, source))
                || script.code.iter().any(|code| self.is_named(code));
            best.0 = if is_hidden { Fit::Maybe } else { Fit::No };
        }
        best
    }

    /// Whether a program in another language may run it.
    fn is_named(&self, code: &str) -> bool {
        let Some(program) = self.0.first() else { return false };
        code::may_run(code, |token| glob::wildcard(program, token))
    }
}

/// Whether one command begins with these words.
pub(in crate::guard) fn begins<S: AsRef<str>>(pattern: &[S], command: &Command) -> Fit {
    begins_with(pattern, &command.argv)
}

fn begins_with<S: AsRef<str>>(pattern: &[S], argv: &[Word]) -> Fit {
    let Some((program, words)) = pattern.split_first() else { return Fit::No };
    let program = program.as_ref();
    let Some((first, rest)) = argv.split_first() else { return Fit::No };
    match is_word(program, &first.text) {
        Fit::No => Fit::No,
        Fit::Yes => follows(words, rest, Of { program: &first.text, subcommand: None }),
        // Nothing but gaps: any words at all.
        Fit::Maybe if first.text.contains([WORDS, NAME]) && is_blank(&first.text) => Fit::Maybe,
        Fit::Maybe => {
            let own = follows(words, rest, Of { program, subcommand: None });
            // A program that is not known may be one that runs the rest.
            let is_runner = is_blank(&first.text)
                && (0..rest.len()).any(|at| {
                    rest[at].known() == Some(program)
                        && begins_with(pattern, &rest[at..]) == Fit::Yes
                });
            if own > Fit::No || is_runner { Fit::Maybe } else { Fit::No }
        }
    }
}

/// The words in their order, in one line of `source`.
pub(in crate::guard) fn is_mentioned<S: AsRef<str>>(pattern: &[S], source: &str) -> bool {
    let separates = |c: char| c.is_whitespace() || "\"'`$(){}<>\\,=".contains(c);
    source.split(['\n', ';', '&', '|']).any(|part| {
        let mut words = part.split(separates).filter(|word| !word.is_empty());
        !pattern.is_empty()
            && pattern.iter().all(|wanted| {
                let wanted = wanted.as_ref();
                words.any(|word| {
                    let name = word.rsplit('/').next().unwrap_or(word);
                    glob::wildcard(wanted, word) || glob::wildcard(wanted, name)
                })
            })
    })
}

/// Whether a program in another language names all of the words that are no options, and can start
/// others.
pub(in crate::guard) fn names_all(pattern: &[&str], code: &str) -> bool {
    pattern
        .iter()
        .filter(|word| !word.starts_with('-'))
        .all(|word| code::may_run(code, |token| glob::wildcard(word, token)))
}

/// Whether the words of a rule follow in `rest`, in their order.
fn follows<S: AsRef<str>>(words: &[S], rest: &[Word], of: Of<'_>) -> Fit {
    let Some((word, others)) = words.split_first() else { return Fit::Yes };
    let word = word.as_ref();
    if word.starts_with('-') && word.len() > 1 {
        let texts = rest.iter().map(|given| given.text.as_str());
        let fit = options::given(word, of, texts);
        return if fit == Fit::No { fit } else { fit.min(follows(others, rest, of)) };
    }
    let mut best = Fit::No;
    let mut may_be_value = false;
    for (index, given) in rest.iter().enumerate() {
        let text = given.text.as_str();
        let fit = is_word(word, text);
        if fit > Fit::No {
            let is_any = text.contains(WORDS) && is_blank(text);
            let subcommand = of.subcommand.or(Some(word));
            let after = follows(others, &rest[index + 1..], Of { subcommand, ..of });
            // Words that are not known may hold all the others, too.
            let after = if is_any { after.max(Fit::Maybe) } else { after };
            best = best.max(fit.min(after));
            if fit == Fit::Yes {
                return best;
            }
        }
        let is_option = text.starts_with(['-', '+']);
        let goes_on = is_option || may_be_value || text.contains(WORDS);
        may_be_value = is_option && !text.contains('=');
        // A word that is neither stops the search: it is another subcommand.
        if !goes_on {
            break;
        }
    }
    best
}

/// Whether a word is the one that a rule names.
fn is_word(wanted: &str, given: &str) -> Fit {
    if mark::is_known(given) {
        return Fit::from(glob::wildcard(wanted, given));
    }
    if could_be(wanted, given) { Fit::Maybe } else { Fit::No }
}

/// Whether a text with gaps may be what the wildcard pattern means.
pub(in crate::guard) fn could_be(pattern: &str, text: &str) -> bool {
    glob::may_overlap(pattern, text, |c| match c {
        ONE => Some(false),
        NAME | ROOT => Some(true),
        c if mark::is_hole(c) => Some(true),
        _ => None,
    })
}

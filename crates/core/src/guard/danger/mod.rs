//! Dangerous commands: a built-in set that a person switches on (`requirements: {dangerous: true}`).
//!
//! Each kind is a requirement of its own with a name, so that it can be waived, excepted and explained
//! by itself. What is in a kind is a table of commands ([`table`]); where the words alone do not say
//! (a recursive delete is dangerous outside the repository only), a function looks closer.

mod closer;
mod table;

use serde::{Deserialize, Serialize};

use super::requirement::{Requirement, Scope, Trigger};
use super::shell::{self, Command, Fit, Script};
use super::trigger::Workdir;

/// What the names of the set begin with.
pub const NAME: &str = "dangerous";

/// A kind of dangerous command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Danger {
    /// What others have is overwritten or deleted.
    ForcePush,
    /// Commits are replaced by others.
    HistoryRewrite,
    /// Work that is not committed is thrown away.
    DiscardWork,
    /// Directories outside the repository are deleted.
    DeleteOutside,
    /// Disks and file systems.
    Disk,
    /// Permissions, owners and accounts.
    Permissions,
    /// Packages, images and releases that others can fetch from then on.
    Publish,
}

impl Danger {
    /// All of them, in the order people are told.
    pub const ALL: [Self; 7] = [
        Self::ForcePush,
        Self::HistoryRewrite,
        Self::DiscardWork,
        Self::DeleteOutside,
        Self::Disk,
        Self::Permissions,
        Self::Publish,
    ];

    /// The name in settings, after `dangerous:`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ForcePush => "force-push",
            Self::HistoryRewrite => "history-rewrite",
            Self::DiscardWork => "discard-work",
            Self::DeleteOutside => "delete-outside",
            Self::Disk => "disk",
            Self::Permissions => "permissions",
            Self::Publish => "publish",
        }
    }

    /// Reads the name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|danger| danger.as_str() == text)
    }

    /// What it is, for people.
    pub const fn what(self) -> &'static str {
        match self {
            Self::ForcePush => "overwriting or deleting what is on a remote",
            Self::HistoryRewrite => "rewriting history",
            Self::DiscardWork => "throwing away work that is not committed",
            Self::DeleteOutside => "deleting directories outside the repository, or all of it",
            Self::Disk => "changing disks and file systems",
            Self::Permissions => "changing permissions, owners or accounts",
            Self::Publish => "publishing packages, images or releases",
        }
    }

    /// The requirement that it is.
    pub fn requirement(self) -> Requirement {
        Requirement {
            scope: Scope::SingleUse,
            triggers: vec![Trigger { danger: Some(self), ..Trigger::tool("Bash") }],
            description: Some(self.what().to_owned()),
            dangerous: true,
            // An agent that may say so itself is not held back by it.
            word: Some(false),
            ..Requirement::new(format!("{NAME}:{}", self.as_str()))
        }
    }

    /// Whether a script has such a command, and which it is.
    pub fn fit<'s>(
        self,
        script: &'s Script,
        source: &str,
        place: &Workdir<'_>,
    ) -> (Fit, Option<&'s Command>) {
        let mut best = (Fit::No, None);
        for command in &script.commands {
            let fit = self.is(command, place);
            if fit > best.0 {
                best = (fit, Some(command));
            }
            if fit == Fit::Yes {
                return best;
            }
        }
        if self == Self::Disk && script.touched.iter().any(|file| closer::is_disk(&file.text)) {
            return (Fit::Yes, None);
        }
        if best.0 == Fit::No {
            let is_hidden = script.runs_unknown
                || self.patterns().iter().any(|words| {
                    (script.incomplete && shell::is_mentioned(words, source))
                        || script.code.iter().any(|code| shell::names_all(words, code))
                });
            best.0 = if is_hidden { Fit::Maybe } else { Fit::No };
        }
        best
    }

    fn is(self, command: &Command, place: &Workdir<'_>) -> Fit {
        let fits = self.patterns().iter().map(|words| shell::begins(words, command));
        let by_words = fits.max().unwrap_or(Fit::No);
        let fit = by_words.max(match self {
            Self::DeleteOutside => closer::deletes_outside(command, place),
            Self::Disk => closer::writes_disk(command),
            Self::Permissions => closer::opens_up(command, place),
            _ => Fit::No,
        });
        let is_harmless = |options: &[&str]| {
            let words = || command.argv.iter().skip(1).filter_map(|word| word.known());
            options.iter().any(|option| words().any(|word| word == *option))
        };
        if fit > Fit::No && is_harmless(self.unless(command)) { Fit::No } else { fit }
    }
}

#[cfg(test)]
mod tests;

//! What a shell command runs: the argv of every simple command in it, and the files it writes.
//!
//! This reads enough of the shell's grammar to tell commands from text, and follows what the line
//! itself says: variables it sets, text it pipes into a shell, functions and aliases it defines, files
//! it writes and then runs. So `echo "git push"` is not a push, and `x=push; git $x` is. It is not a
//! shell: nothing is looked up, nothing is run, and what only the machine knows (`$HOME` of another
//! day, the output of a program) is a gap in the text ([`mark`]).
//!
//! Its invariants: any text ends in a [`Script`], without a panic, with work bounded by its length;
//! what could not be followed is flagged, never hidden.

mod brace;
mod builtin;
mod code;
mod current;
mod each;
mod expand;
mod git;
mod git_commands;
mod here;
mod hosts;
mod mark;
mod options;
mod parameter;
mod pattern;
mod read;
mod run;
mod shapes;
mod word;
mod world;
mod wrapped;
mod wrappers;
mod writes;

#[cfg(test)]
mod known_tests;
#[cfg(test)]
mod tests;

pub use pattern::{CommandPattern, Fit};

pub(super) use code::written_by;
pub(super) use mark::{ROOT, STAR, is_hole, is_known, shown};
pub(super) use options::{Of, given};
pub(super) use pattern::{begins, could_be, is_mentioned, names_all};

/// How deep commands may nest (substitutions, subshells, `sh -c`) before the rest is given up.
const MAX_DEPTH: usize = 24;
/// What stands for heirloom's data directory in a path that was written with the variable of it.
pub(super) const DATA: &str = "/$HEIRLOOM_HOME";
/// The most of one value that is followed, in bytes. More is a gap.
const MAX_VALUE: usize = 16 * 1024;

/// What a shell command runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    /// Every simple command, in the order it was read. A command that runs another one (`sudo`,
    /// `env`, `xargs`) is here, and so is the one it runs.
    pub commands: Vec<Command>,
    /// The files that redirections write to, as they are written in the command.
    pub writes: Vec<String>,
    /// Every file that is written, removed or put in another's place, by redirections and by the
    /// programs that are known to: from the directory the command starts in.
    pub touched: Vec<Word>,
    /// The files that redirections read, from the same directory.
    pub reads: Vec<Word>,
    /// Programs in other languages that are run from the line: `python -c`, `node -e`.
    pub code: Vec<String>,
    /// A shell runs a text that is not known: `curl … | sh`.
    pub runs_unknown: bool,
    /// A patch is applied whose files are not known.
    pub applies_unknown: bool,
    /// What would have to be looked up to know more.
    pub open: Open,
    /// The text could not be followed to its end: there may be more commands than are listed.
    pub incomplete: bool,
}

/// What the line leaves open that can be looked up without running anything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Open {
    /// Words that stand after `git` and are none of its own commands, each with the directory that git
    /// runs in, from where the line starts.
    pub git_words: Vec<(String, String)>,
    /// Files that are applied as patches: as the line names them, and from where it starts.
    pub patches: Vec<(String, String)>,
}

/// What somebody looked up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    /// Git's aliases and what each stands for, by the directory they hold in.
    pub git_aliases: Vec<(String, Vec<(String, String)>)>,
    /// Directories in which nobody looked: any alias may hold there.
    pub unseen: Vec<String>,
    /// Patches, and what each holds.
    pub patches: Vec<(String, String)>,
}

impl Known {
    /// Whether nothing was found.
    pub const fn is_empty(&self) -> bool {
        self.git_aliases.is_empty() && self.unseen.is_empty() && self.patches.is_empty()
    }
}

/// A simple command: no assignments before it, no redirections, quotes removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The program, without its directory, and its arguments.
    pub argv: Vec<Word>,
    /// The directory it runs in, from where the line started; nothing where that is not known.
    pub directory: Option<String>,
}

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The word with its quotes removed. What is not known of it is marked; compare it only where
    /// [`Word::known`] has something to say.
    pub text: String,
}

impl Word {
    fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }

    /// The word, where all of it is known.
    pub fn known(&self) -> Option<&str> {
        mark::is_known(&self.text).then_some(self.text.as_str())
    }

    /// The word for people, with `…` for what is not known.
    pub fn shown(&self) -> std::borrow::Cow<'_, str> {
        mark::shown(&self.text)
    }
}

impl std::fmt::Display for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, word) in self.argv.iter().enumerate() {
            let blank = if index == 0 { "" } else { " " };
            write!(f, "{blank}{}", word.shown())?;
        }
        Ok(())
    }
}

/// Whether a mark is the name of something: no directory, no option.
pub(super) const fn is_name(c: char) -> bool {
    matches!(c, mark::NAME | mark::STAR | mark::ONE)
}

/// Reads a shell command.
pub fn parse(command: &str) -> Script {
    parse_knowing(command, &Known::default())
}

/// Reads a shell command again, knowing what it left open.
pub fn parse_knowing(command: &str, known: &Known) -> Script {
    let mut world = world::World::new(command.len());
    world.know_git_aliases(known);
    for (file, text) in &known.patches {
        world.put(file, Some(writes::heads(text)), false);
    }
    read::Reader::new(command, 0, &mut world).all();
    // What a patch names is seen. That it does nothing else is not: names can be quoted, the file may be
    // another by then, and whoever applies it has options of their own.
    world.script.applies_unknown |= !known.patches.is_empty();
    world.script
}

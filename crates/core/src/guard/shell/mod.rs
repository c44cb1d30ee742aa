//! What a shell command runs: the argv of every simple command in it.
//!
//! This reads enough of the shell's grammar to tell commands from text, so that `echo "git push"`
//! is not a push and `cd x && sudo git -C y push` is. It is not a shell: variables keep their name,
//! globs stay globs, nothing is looked up. Its invariant: any text ends in a [`Script`], in time
//! linear in its length, without a panic; what could not be followed is flagged, never hidden.

mod expand;
mod git;
mod here;
mod pattern;
mod read;
mod shapes;
mod unwrap;
mod word;

#[cfg(test)]
mod tests;

pub use pattern::CommandPattern;

/// How deep commands may nest (substitutions, subshells, `sh -c`) before the rest is given up.
const MAX_DEPTH: usize = 24;

/// What a shell command runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    /// Every simple command, in the order it was read. A command that runs another one (`sudo`,
    /// `env`, `xargs`) is here, and so is the one it runs.
    pub commands: Vec<Command>,
    /// The files that redirections write to, as they are written in the command.
    pub writes: Vec<String>,
    /// Whether something could not be followed: there may be more commands than are listed.
    pub incomplete: bool,
}

/// A simple command: no assignments before it, no redirections, quotes removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The program, without its directory, and its arguments.
    pub argv: Vec<Word>,
}

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The word with its quotes removed; expansions stand as they were written.
    pub text: String,
    /// Whether the shell would put something else in its place.
    pub opaque: bool,
}

/// Reads a shell command.
pub fn parse(command: &str) -> Script {
    let mut script = Script::default();
    read::Reader::new(command, 0, &mut script).list(false);
    script
}

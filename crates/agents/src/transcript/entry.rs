//! What a transcript says, in one vocabulary for all agents.
//!
//! An [`Entry`] is one thing that was said or done, in the order of the file. It knows where its
//! line begins, so that whoever keeps an entry can keep a reference to the text instead of the
//! text. Live streams have their own vocabulary ([`crate::Event`]): a transcript also tells who
//! spoke in the person's name, what was rewound, and what a tool did to the work.
//!
//! The invariant: reading never fails. A line of an unknown version or kind, a torn one or one
//! that is no JSON at all becomes [`What::Unknown`] with its name, and reading goes on.

use jiff::Timestamp;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::event::{Span, Tokens};

/// One thing that was said or done.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Where its line begins in the transcript, in bytes. Several entries may share a line.
    pub offset: u64,
    /// When, where the line says so.
    pub at: Option<Timestamp>,
    /// The agent's id of the message.
    pub id: Option<String>,
    /// The message it follows. Two messages that follow the same one are two branches: the person
    /// went back and said something else.
    pub parent: Option<String>,
    /// The subagent whose work this is; `None` is the agent itself.
    pub subagent: Option<String>,
    pub what: What,
}

impl Entry {
    /// An entry that says only what; readers fill in the rest.
    pub fn of(what: What) -> Self {
        Self { offset: 0, at: None, id: None, parent: None, subagent: None, what }
    }
}

/// What an entry is.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// Which conversation this is, where it happens and by which version it is written. Comes
    /// first, and again whenever one of them changes.
    Whereabouts(Whereabouts),
    /// Words to the agent.
    Prompt {
        text: String,
        /// Whose they are.
        by: By,
    },
    /// A command of the agent program (`/review src`), as a person typed it.
    Command {
        /// The command, with its slash.
        name: String,
        /// What followed it.
        args: String,
    },
    /// Words of the agent.
    Answer { text: String },
    /// What the agent thought, where it shows it.
    Thinking { text: String },
    /// The agent uses a tool.
    ToolUse {
        /// The agent's id of this use.
        id: String,
        /// The tool's name, common to all agents where it is the same tool (`Bash`, `Edit`).
        name: String,
        /// Its input, as it was given.
        input: Value,
        /// What it is in the work.
        does: Does,
    },
    /// A tool answered.
    ToolResult {
        /// The id of the use.
        id: String,
        /// The answer as text.
        text: String,
        /// Whether the agent calls it an error.
        is_error: bool,
        /// How a command exited, where that is known.
        exit: Option<i32>,
        /// Whether the command goes on in the background, so that nobody knows yet how it comes out.
        goes_on: bool,
    },
    /// Files that changed, as the agent program saw it; by a command, say.
    Changed {
        /// Their paths, as given.
        paths: Vec<String>,
    },
    /// The context was compacted.
    Compaction {
        /// Whether by itself and not by a person; `None` is unknown.
        auto: Option<bool>,
        /// Tokens in the context before.
        tokens_before: Option<u64>,
    },
    /// The agent's own summary of what was compacted.
    Summary { text: String },
    /// Tokens of a request or of the session so far.
    Usage {
        /// The agent's id of the answer they are for. The same id again replaces the figure.
        message: Option<String>,
        tokens: Tokens,
        /// What they add up.
        span: Span,
        /// How many fit the model's context, where the transcript says so.
        window: Option<u64>,
    },
    /// Money.
    Cost {
        /// US dollars.
        usd: f64,
        /// Whether they are for the whole session so far; otherwise they add up.
        total: bool,
    },
    /// The model that answers from here on.
    Model { name: String },
    /// What the conversation is called.
    Title {
        text: String,
        /// Whether a person chose it.
        chosen: bool,
    },
    /// The agent was interrupted by a person.
    Interrupted,
    TurnEnd {
        /// Whether it ended with an error.
        is_error: bool,
    },
    /// A request failed, or the agent program did.
    Failed { text: String },
    /// Not understood: the agent's own name for it, or what is wrong with the line.
    Unknown {
        /// The name.
        kind: String,
    },
}

/// Where a conversation happens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Whereabouts {
    /// The conversation.
    pub agent_session_id: Option<String>,
    /// The directory the agent works in.
    pub cwd: Option<String>,
    /// The branch that is checked out.
    pub branch: Option<String>,
    /// The agent's version.
    pub version: Option<String>,
    /// Whether a person sits before it; `None` is unknown.
    pub interactive: Option<bool>,
    /// The conversation that this part of it is a copy of.
    pub forked_from: Option<String>,
}

/// Whose words a prompt is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum By {
    /// A person typed it in an interactive session.
    Person,
    /// A program gave it: a headless run, a pipe, an SDK.
    Program,
    /// The agent program put it there: hook feedback, reminders, notifications, expansions.
    Injected,
    /// The agent told its subagent.
    Agent,
    /// A prompt of a version that does not say whose.
    Unknown,
}

impl By {
    /// Whether it asks for work, as opposed to what agent programs say on their own.
    pub const fn asks(self) -> bool {
        matches!(self, Self::Person | Self::Program | Self::Unknown)
    }

    /// The word for it in JSON and databases.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Program => "program",
            Self::Injected => "injected",
            Self::Agent => "agent",
            Self::Unknown => "unknown",
        }
    }
}

/// What a tool use is in the work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Does {
    /// Runs a command.
    Run {
        /// The command line.
        command: String,
    },
    /// Reads a file.
    Read { path: String },
    /// Changes files.
    Edit {
        /// Their paths, as given.
        paths: Vec<String>,
    },
    /// Says what there is to do, all of it.
    Todos(Vec<Todo>),
    /// Adds one thing to do; the tool's answer names its id as `#id`.
    AddTodo { text: String },
    /// Changes one thing to do.
    MarkTodo {
        id: String,
        /// New words.
        text: Option<String>,
        /// Its new state; `None` leaves it.
        state: Option<TodoState>,
    },
    /// Gives work to a subagent.
    Delegate,
    /// Anything else.
    Other,
}

/// One thing to do, as the agent has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Todo {
    pub text: String,
    /// How far it is.
    pub state: TodoState,
}

/// How far a thing to do is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TodoState {
    /// Not begun.
    Open,
    Begun,
    Done,
    /// Given up.
    Dropped,
}

impl TodoState {
    /// Reads the word that the agents share.
    pub fn parse(word: &str) -> Self {
        match word {
            "in_progress" | "in-progress" => Self::Begun,
            "completed" | "done" => Self::Done,
            "cancelled" | "canceled" | "deleted" | "blocked" => Self::Dropped,
            _ => Self::Open,
        }
    }

    /// The word for it in JSON and databases.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Begun => "begun",
            Self::Done => "done",
            Self::Dropped => "dropped",
        }
    }

    /// Whether somebody still has to do it.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Open | Self::Begun)
    }
}

/// Reads the lines of a transcript, one after the other.
///
/// What it keeps from line to line is only what [`Entries::resumable`] says.
pub trait Entries: Send {
    /// Adds what this line says to `entries`. Never fails.
    fn read(&mut self, line: &[u8], entries: &mut Vec<Entry>);

    /// Reading goes on in the middle of a file: this is where the conversation was.
    fn resume(&mut self, _place: &Whereabouts) {}

    /// Whether reading can begin in the middle of a file. Otherwise a line may change what an
    /// earlier one said, and a file that grew is read from its beginning.
    fn resumable(&self) -> bool {
        true
    }
}

impl std::fmt::Debug for dyn Entries {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Entries")
    }
}

/// The longest line that is read. One that is longer is named and left alone: no agent writes
/// such a line, and parsing it would hold several times its size in memory.
pub const LONGEST_LINE: usize = 64 << 20;

/// A line without the byte order mark that a file begins with if some editors, or other systems, wrote it.
pub(crate) fn unmarked(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)
}

/// Reads the whole lines in `bytes`, which begin at `base` in the transcript, and gives each entry
/// to `each`. Answers how many bytes were read: what follows is the beginning of a line whose end
/// is not written yet.
pub fn scan(
    reader: &mut dyn Entries,
    bytes: &[u8],
    base: u64,
    each: &mut dyn FnMut(Entry),
) -> usize {
    let (mut from, mut entries) = (0, Vec::new());
    while from < bytes.len() {
        let end = memchr::memchr(b'\n', &bytes[from..]).map(|end| from + end);
        let line = &bytes[from..end.unwrap_or(bytes.len())];
        if end.is_none() && !is_whole(line) {
            break;
        }
        read_line(reader, line, &mut entries);
        for mut entry in entries.drain(..) {
            entry.offset = base + from as u64;
            each(entry);
        }
        from = end.map_or(bytes.len(), |end| end + 1);
    }
    from
}

/// Whether a line is one though nothing follows it: an object whose last brace is there cannot go on.
fn is_whole(line: &[u8]) -> bool {
    line.ends_with(b"}") && serde_json::from_slice::<IgnoredAny>(unmarked(line)).is_ok()
}

pub fn read_line(reader: &mut dyn Entries, line: &[u8], entries: &mut Vec<Entry>) {
    let line = unmarked(line);
    if line.len() > LONGEST_LINE {
        let kind = format!("a line of {} MB", line.len() >> 20);
        entries.push(Entry::of(What::Unknown { kind }));
    } else if !line.iter().all(u8::is_ascii_whitespace) {
        reader.read(line, entries);
    }
}

/// All entries of a transcript that is at hand as a whole, a last line without its end included.
pub fn all(reader: &mut dyn Entries, bytes: &[u8]) -> Vec<Entry> {
    let mut found = Vec::new();
    let read = scan(reader, bytes, 0, &mut |entry| found.push(entry));
    let mut rest = Vec::new();
    read_line(reader, &bytes[read..], &mut rest);
    found.extend(rest.into_iter().map(|entry| Entry { offset: read as u64, ..entry }));
    found
}

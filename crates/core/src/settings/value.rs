//! Small types that carry a range or a form with them.

use regex::bytes::{Regex, RegexBuilder};
use serde::Serialize;

use super::{Fault, Period, Reader, Setting, Shape, Whose};
use crate::yaml::{Node, Value};

/// Whose notes are told: a word for it, or names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum NotesFrom {
    /// The team's, or only one's own.
    Word(Whose),
    /// One's own, and those of these people.
    People(Vec<String>),
}

impl NotesFrom {
    /// Whether the notes of somebody else are told.
    pub fn includes(&self, name: &str) -> bool {
        match self {
            Self::Word(whose) => *whose == Whose::Team,
            Self::People(names) => names.iter().any(|known| known == name),
        }
    }
}

impl Setting for NotesFrom {
    const SHAPE: Shape = Shape::Either(&Whose::SHAPE, &Vec::<String>::SHAPE);

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        match &node.value {
            Value::List(_) => Vec::read(node, reader).map(Self::People),
            _ => Whose::read(node, reader).map(Self::Word),
        }
    }
}

/// A part of a whole, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
pub struct Ratio(f64);

impl Ratio {
    /// For defaults; the caller keeps to 0 to 1.
    pub(super) const fn of(ratio: f64) -> Self {
        Self(ratio)
    }

    /// The number.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl Setting for Ratio {
    const SHAPE: Shape = Shape::Number { min: 0.0, max: 1.0 };

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        reader.number(node, 0.0, 1.0).map(Self)
    }
}

/// An amount of US dollars.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
pub struct Dollars(f64);

impl Dollars {
    /// The amount.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl Setting for Dollars {
    const SHAPE: Shape = Shape::Number { min: 0.0, max: f64::INFINITY };

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        reader.number(node, 0.0, f64::INFINITY).map(Self)
    }
}

/// A number that is not negative.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
pub struct Amount(f64);

impl Amount {
    /// The number.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl Setting for Amount {
    const SHAPE: Shape = Shape::Number { min: 0.0, max: f64::INFINITY };

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        reader.number(node, 0.0, f64::INFINITY).map(Self)
    }
}

/// A program and its first arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Command(Vec<String>);

impl Command {
    /// The program and its arguments; never empty.
    pub fn words(&self) -> &[String] {
        &self.0
    }
}

impl Setting for Command {
    const SHAPE: Shape = Shape::List { of: &Shape::Text, min: 1 };

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        reader.list(node, 1).map(Self)
    }
}

/// Commands that a trigger is about: `git push`, `[git, push]`, or a list of such lists.
///
/// Not a list of lists with brackets left out: `[git, gh]` is the one command `git gh`, and
/// `[[git], [gh]]` are two.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Commands(Vec<Vec<String>>);

impl Commands {
    /// The words of each command.
    pub fn items(&self) -> &[Vec<String>] {
        &self.0
    }
}

impl Setting for Commands {
    const SHAPE: Shape = Shape::Either(
        &Shape::Text,
        &Shape::List {
            of: &Shape::Either(&Shape::Text, &Shape::List { of: &Shape::Text, min: 1 }),
            min: 1,
        },
    );

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        let is_list = |node: &Node| matches!(node.value, Value::List(_));
        let read = match &node.value {
            Value::List(items) if !items.is_empty() && items.iter().all(is_list) => {
                let commands: Vec<Command> = reader.list(node, 1)?;
                commands.into_iter().map(|command| command.0).collect()
            }
            Value::List(_) => vec![reader.list(node, 1)?],
            Value::Text(_) => {
                let words = reader.text(node)?.split_whitespace().map(str::to_owned);
                vec![words.collect::<Vec<String>>()]
            }
            _ => return reader.wrong_kind(node, &Self::SHAPE.noun(), None),
        };
        // `["git push"]` would be a program of that name, which there never is.
        let is_program = |words: &Vec<String>| !words[0].contains(char::is_whitespace);
        if !read.iter().all(is_program) {
            return reader.wrong_kind(node, "the words of a command, like [git, push]", None);
        }
        Some(Self(read))
    }
}

/// A list, for which a single item may be written without brackets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OneOrMany<T>(Vec<T>);

impl OneOrMany<String> {
    /// For defaults.
    pub(super) fn of<const N: usize>(items: [&str; N]) -> Self {
        Self(items.map(str::to_owned).to_vec())
    }
}

impl<T> OneOrMany<T> {
    /// The items.
    pub fn items(&self) -> &[T] {
        &self.0
    }
}

impl<T: Setting> Setting for OneOrMany<T> {
    const SHAPE: Shape = Shape::Either(&T::SHAPE, &Shape::List { of: &T::SHAPE, min: 0 });

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        match node.value {
            Value::List(_) => reader.list(node, 0).map(Self),
            _ if !T::SHAPE.fits(&node.value) => reader.wrong_kind(node, &Self::SHAPE.noun(), None),
            _ => T::read(node, reader).map(|item| Self(vec![item])),
        }
    }
}

/// One form or another, told apart by the kind of value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Either<A, B> {
    /// The first form.
    First(A),
    /// The second form.
    Second(B),
}

impl<A: Setting, B: Setting> Setting for Either<A, B> {
    const SHAPE: Shape = Shape::Either(&A::SHAPE, &B::SHAPE);

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        if A::SHAPE.fits(&node.value) {
            return A::read(node, reader).map(Self::First);
        }
        if B::SHAPE.fits(&node.value) {
            return B::read(node, reader).map(Self::Second);
        }
        reader.wrong_kind(node, &Self::SHAPE.noun(), None)
    }
}

impl<A: Serialize, B: Serialize> Serialize for Either<A, B> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::First(value) => value.serialize(serializer),
            Self::Second(value) => value.serialize(serializer),
        }
    }
}

/// A regular expression, over bytes, ASCII classes, upper and lower case alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pattern(String);

impl Pattern {
    /// The expression.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// How it is meant.
    pub fn compile(&self) -> Result<Regex, regex::Error> {
        compile_pattern(&self.0)
    }
}

/// Compiles a pattern. Letters' case does not matter, as it never did.
///
/// Bytes without Unicode first: its tables are not built in, and compile faster without. A class
/// with a letter outside of ASCII needs it.
pub(crate) fn compile_pattern(pattern: &str) -> Result<Regex, regex::Error> {
    let build =
        |unicode: bool| RegexBuilder::new(pattern).unicode(unicode).case_insensitive(true).build();
    build(false).or_else(|error| build(true).map_err(|_| error))
}

impl Setting for Pattern {
    const SHAPE: Shape = Shape::Pattern;

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        let pattern = Self(reader.text(node)?.to_owned());
        if reader.verified {
            return Some(pattern);
        }
        match pattern.compile() {
            Ok(_) => Some(pattern),
            Err(error) => {
                // The last line has the reason, those before draw the place in the expression.
                let text = error.to_string();
                let reason = text.lines().last().unwrap_or_default();
                let reason = reason.trim().trim_start_matches("error: ").to_owned();
                let key = reader.path();
                reader.fail(node.at, Fault::Pattern { key, reason })
            }
        }
    }
}

/// A path inside the repository, relative to its root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RepoPath(String);

impl RepoPath {
    /// For defaults; the caller keeps to the form.
    pub(super) fn of(path: &str) -> Self {
        Self(path.to_owned())
    }

    /// The path, with `/`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Setting for RepoPath {
    const SHAPE: Shape = Shape::Path;

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        let path = reader.text(node)?;
        let leads_out = path.starts_with(['/', '\\', '~'])
            || path.split(['/', '\\']).any(|part| part == ".." || part.ends_with(':'))
            || path.contains('\0');
        if !leads_out {
            return Some(Self(path.to_owned()));
        }
        let key = reader.path();
        reader.fail(node.at, Fault::Path { key, given: path.to_owned() })
    }
}

impl Setting for Period {
    const SHAPE: Shape = Shape::Period;

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        match &node.value {
            Value::Int(seconds) => {
                if let Ok(seconds) = u64::try_from(*seconds) {
                    return Some(Self::from_secs(seconds));
                }
                let (key, given) = (reader.path(), seconds.to_string());
                reader
                    .fail(node.at, Fault::OutOfRange { key, given, range: "0 or more".to_owned() })
            }
            Value::Text(text) => match text.parse() {
                Ok(period) => Some(period),
                Err(source) => {
                    let key = reader.path();
                    reader.fail(node.at, Fault::Period { key, source })
                }
            },
            _ => reader.wrong_kind(node, "a duration", None),
        }
    }
}

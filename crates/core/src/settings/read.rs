//! Reading a typed value from a tree, collecting all that is wrong on the way.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use super::{Fault, Shape};
use crate::yaml::{Entry, Node, Position, Value};

/// A type that can be a setting.
pub trait Setting: Sized {
    /// What it looks like in a file.
    const SHAPE: Shape;

    /// Reads it. None when that failed, which `reader` then knows about.
    fn read(node: &Node, reader: &mut Reader) -> Option<Self>;
}

/// The value type of a map whose keys are names of the user's.
pub(super) trait Named: Setting {
    /// What a key names.
    const KEY: &'static str;
    /// The only names there are; empty for any.
    const KNOWN: &'static [&'static str];

    /// The names whose value may be `true` or `false` instead of a map.
    const SWITCHES: &'static [&'static str] = &[];

    /// What `true` or `false` stands for.
    fn switched(_on: bool) -> Option<Self> {
        None
    }
}

/// Knows where in the settings the reading is and what was wrong so far.
#[derive(Debug, Default)]
pub struct Reader {
    path: Vec<String>,
    pub(super) faults: Vec<(Position, Fault)>,
    pub(super) warnings: Vec<(Position, Fault)>,
    /// Whether costly checks (compiling patterns) have been done before.
    pub(super) verified: bool,
}

impl Reader {
    /// A reader of trees that have been read before.
    pub(super) fn verified() -> Self {
        Self { verified: true, ..Self::default() }
    }

    /// A reader of what stands at a path.
    pub(super) fn at(path: &[&str]) -> Self {
        Self { path: path.iter().map(|part| (*part).to_owned()).collect(), ..Self::default() }
    }

    /// The path of the value being read: `requirements.plan.trigger_tools[1]`.
    pub fn path(&self) -> String {
        let mut path = String::new();
        for part in &self.path {
            if !path.is_empty() && !part.starts_with('[') {
                path.push('.');
            }
            path.push_str(part);
        }
        path
    }

    /// Reports a fault and gives up on the value.
    pub fn fail<T>(&mut self, at: Position, fault: Fault) -> Option<T> {
        self.faults.push((at, fault));
        None
    }

    /// Reads the value of a key. Null and nothing are "not set".
    pub fn field<T: Setting>(&mut self, entry: &Entry) -> Option<T> {
        match entry.value.value {
            Value::Null => None,
            Value::Empty => {
                let is_group = matches!(T::SHAPE, Shape::Section(_) | Shape::Map { .. });
                if !is_group {
                    self.no_value(entry, false);
                }
                None
            }
            _ => self.within(entry.key.clone(), |reader| T::read(&entry.value, reader)),
        }
    }

    /// Warns about a key that nothing reads. Keys that start with `x-` are the user's own.
    pub fn unknown(&mut self, entry: &Entry, known: &[&'static str]) {
        if entry.key.starts_with("x-") {
            return;
        }
        let key = self.within(entry.key.clone(), |reader| reader.path());
        let name = entry.key.clone();
        self.warnings.push((entry.at, Fault::UnknownKey { key, name, known: known.to_vec() }));
    }

    /// The entries of a map.
    pub fn entries<'n>(&mut self, node: &'n Node) -> Option<&'n [Entry]> {
        match &node.value {
            Value::Map(entries) => Some(entries),
            _ => self.wrong_kind(node, "a map", None),
        }
    }

    /// One of the allowed words.
    pub fn word(&mut self, node: &Node, allowed: &'static [&'static str]) -> Option<&'static str> {
        let given = self.text(node)?;
        if let Some(word) = allowed.iter().find(|word| **word == given) {
            return Some(word);
        }
        let (key, given) = (self.path(), given.to_owned());
        self.fail(node.at, Fault::NotAllowed { key, given, allowed })
    }

    /// Text, not empty.
    pub fn text<'n>(&mut self, node: &'n Node) -> Option<&'n str> {
        match &node.value {
            Value::Text(text) if text.trim().is_empty() => {
                let key = self.path();
                self.fail(node.at, Fault::EmptyText { key })
            }
            Value::Text(text) => Some(text),
            Value::Bool(_) | Value::Int(_) | Value::Float(_) => {
                self.wrong_kind(node, "text", Some("put the value in quotes".to_owned()))
            }
            _ => self.wrong_kind(node, "text", None),
        }
    }

    /// A list of at least `min` items.
    pub fn list<T: Setting>(&mut self, node: &Node, min: usize) -> Option<Vec<T>> {
        let Value::List(items) = &node.value else {
            let fix = match &node.value {
                Value::Text(text) => Some(format!("write it as a list: `[{text}]`")),
                _ => None,
            };
            return self.wrong_kind(node, "a list", fix);
        };
        if items.len() < min {
            let key = self.path();
            return self.fail(node.at, Fault::EmptyList { key });
        }
        // Every item is read, so that all that is wrong is known; one bad item spoils the list.
        let read: Vec<Option<T>> = items
            .iter()
            .enumerate()
            .map(|(n, item)| self.within(format!("[{n}]"), |reader| T::read(item, reader)))
            .collect();
        read.into_iter().collect()
    }

    /// Reports a value of another kind than `expected`.
    pub fn wrong_kind<T>(&mut self, node: &Node, expected: &str, fix: Option<String>) -> Option<T> {
        let fault = Fault::WrongKind {
            key: self.path(),
            expected: expected.to_owned(),
            found: node.described(),
            fix,
        };
        self.fail(node.at, fault)
    }

    /// A number between two bounds, whole or not.
    pub(super) fn number(&mut self, node: &Node, min: f64, max: f64) -> Option<f64> {
        let number = match node.value {
            Value::Float(number) => number,
            #[expect(clippy::cast_precision_loss, reason = "no setting is near 2^53")]
            Value::Int(number) => number as f64,
            _ => return self.wrong_kind(node, "a number", unquote(node)),
        };
        if number.is_finite() && (min..=max).contains(&number) {
            return Some(number);
        }
        self.out_of_range(node, number.to_string(), between(min, max))
    }

    fn whole(&mut self, node: &Node, min: u32) -> Option<u32> {
        let Value::Int(number) = node.value else {
            return self.wrong_kind(node, "a whole number", unquote(node));
        };
        match u32::try_from(number) {
            Ok(number) if number >= min => Some(number),
            _ if number > 0 => {
                self.out_of_range(node, number.to_string(), format!("at most {}", u32::MAX))
            }
            _ => self.out_of_range(node, number.to_string(), format!("{min} or more")),
        }
    }

    fn out_of_range<T>(&mut self, node: &Node, given: String, range: String) -> Option<T> {
        let key = self.path();
        self.fail(node.at, Fault::OutOfRange { key, given, range })
    }

    fn no_value(&mut self, entry: &Entry, is_name: bool) {
        let key = self.within(entry.key.clone(), |reader| reader.path());
        self.warnings.push((entry.at, Fault::NoValue { key, is_name }));
    }

    fn within<T>(&mut self, part: String, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(part);
        let value = read(self);
        self.path.pop();
        value
    }
}

fn unquote(node: &Node) -> Option<String> {
    match &node.value {
        Value::Text(text) if text.parse::<f64>().is_ok() => {
            Some("write it without quotes".to_owned())
        }
        _ => None,
    }
}

fn between(min: f64, max: f64) -> String {
    if max.is_finite() { format!("{min} to {max}") } else { format!("{min} or more") }
}

impl Setting for bool {
    const SHAPE: Shape = Shape::Bool;

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        let fix = match &node.value {
            Value::Bool(flag) => return Some(*flag),
            Value::Text(text) => match text.to_lowercase().as_str() {
                "yes" | "on" | "true" => Some("write `true`".to_owned()),
                "no" | "off" | "false" => Some("write `false`".to_owned()),
                _ => None,
            },
            _ => None,
        };
        reader.wrong_kind(node, "`true` or `false`", fix)
    }
}

impl Setting for u32 {
    const SHAPE: Shape = Shape::Int { min: 0, max: u32::MAX as u64 };

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        reader.whole(node, 0)
    }
}

impl Setting for NonZeroU32 {
    const SHAPE: Shape = Shape::Int { min: 1, max: u32::MAX as u64 };

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        reader.whole(node, 1).and_then(Self::new)
    }
}

impl Setting for String {
    const SHAPE: Shape = Shape::Text;

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        reader.text(node).map(str::to_owned)
    }
}

impl<T: Setting> Setting for Option<T> {
    const SHAPE: Shape = T::SHAPE;

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        T::read(node, reader).map(Some)
    }
}

impl<T: Setting> Setting for Vec<T> {
    const SHAPE: Shape = Shape::List { of: &T::SHAPE, min: 0 };

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        reader.list(node, 0)
    }
}

impl<T: Named> Setting for BTreeMap<String, T> {
    const SHAPE: Shape =
        Shape::Map { key: T::KEY, known: T::KNOWN, switches: T::SWITCHES, of: &T::SHAPE };

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        let mut map = Self::new();
        for entry in reader.entries(node)? {
            if entry.key.starts_with("x-") {
                continue;
            }
            if !T::KNOWN.is_empty() && !T::KNOWN.contains(&entry.key.as_str()) {
                reader.unknown(entry, T::KNOWN);
            } else if !is_name(&entry.key) {
                let name = entry.key.clone();
                reader.faults.push((entry.at, Fault::Name { name }));
            } else if let Some(value) = switch::<T>(&entry.key, &entry.value.value) {
                map.insert(entry.key.clone(), value);
            } else if matches!(entry.value.value, Value::Empty) {
                // Unlike a section, an entry is there or not: that nothing is there is worth a word.
                reader.no_value(entry, true);
            } else if let Some(value) = reader.field(entry) {
                map.insert(entry.key.clone(), value);
            }
        }
        Some(map)
    }
}

fn switch<T: Named>(key: &str, value: &Value) -> Option<T> {
    match value {
        Value::Bool(on) if T::SWITCHES.contains(&key) => T::switched(*on),
        _ => None,
    }
}

fn is_name(name: &str) -> bool {
    // No dot: paths such as `requirements.plan.scope` must stay unambiguous.
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
}

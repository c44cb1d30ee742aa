//! Reading one part of the settings by itself, for those who can do with the rest when a part is wrong.

use serde_json::Value as Json;

use super::{Fault, Reader, Setting, Shape};
use crate::yaml::{Entry, Node, Position, Value};

/// What was read of a part, and what is wrong with it.
#[derive(Debug)]
pub(crate) struct Part<T> {
    /// What was read. Where something is wrong, that has its default.
    pub(crate) value: Option<T>,
    /// What is wrong.
    pub(crate) faults: Vec<Fault>,
    /// What somebody should look at.
    pub(crate) warnings: Vec<Fault>,
}

/// Reads what stands at the path `at` of the settings.
///
/// More leniently than a layer is read, where it is certain what was meant: a rule that is dropped
/// because YAML made a number of a word protects nobody.
pub(crate) fn read_json<T: Setting>(at: &[&str], json: &Json) -> Part<T> {
    let mut node = Node::from_json(json, Position::default());
    tidy(&mut node, &T::SHAPE);
    leave_out_what_says_nothing(&mut node);
    let mut reader = Reader::at(at);
    let value = T::read(&node, &mut reader);
    let only = |found: Vec<(Position, Fault)>| found.into_iter().map(|(_, fault)| fault).collect();
    Part { value, faults: only(reader.faults), warnings: only(reader.warnings) }
}

/// Makes words of numbers in lists of words, and a list of a single word where there are to be several.
fn tidy(node: &mut Node, shape: &Shape) {
    match (shape, &mut node.value) {
        (Shape::Either(one, other), value) => {
            if one.fits(value) {
                tidy(node, one);
            } else if other.fits(value) {
                tidy(node, other);
            }
        }
        (Shape::Section(section), Value::Map(entries)) => {
            for entry in entries.iter_mut() {
                if let Some(field) = section.fields.iter().find(|field| field.key == entry.key) {
                    tidy(&mut entry.value, &field.shape);
                }
            }
        }
        (Shape::List { of, .. }, Value::List(items)) => {
            for item in items.iter_mut() {
                tidy(item, of);
                be_a_word(item, of);
            }
        }
        (Shape::List { .. }, Value::Text(_)) => {
            let only =
                Node { at: node.at, value: std::mem::replace(&mut node.value, Value::Empty) };
            node.value = Value::List(vec![only]);
        }
        _ => {}
    }
}

/// A word in a list that YAML made a number or a truth of; a list of words in it, too.
fn be_a_word(node: &mut Node, shape: &Shape) {
    let is_word = |shape: &Shape| match shape {
        Shape::Text => true,
        Shape::List { of, .. } => matches!(of, Shape::Text),
        _ => false,
    };
    let takes_words = match shape {
        Shape::Either(one, other) => is_word(one) && is_word(other),
        shape => is_word(shape),
    };
    if !takes_words {
        return;
    }
    let word = match &mut node.value {
        Value::Bool(flag) => flag.to_string(),
        Value::Int(number) => number.to_string(),
        // As it was written: `1.0` is the name of a branch, and not `1`.
        Value::Float(number) => format!("{number:?}"),
        Value::List(items) => {
            for item in items {
                be_a_word(item, shape);
            }
            return;
        }
        _ => return,
    };
    node.value = Value::Text(word);
}

/// Leaves out texts of the part itself that are empty. Not those further down: a trigger with an empty condition is
/// not one without it, which would be a wider one.
fn leave_out_what_says_nothing(node: &mut Node) {
    let Value::Map(entries) = &mut node.value else { return };
    for entry in entries.iter_mut() {
        if let Value::List(items) = &mut entry.value.value {
            items.retain(|item| !says_nothing(item));
        }
    }
    entries.retain(|entry: &Entry| !says_nothing(&entry.value));
}

fn says_nothing(node: &Node) -> bool {
    matches!(&node.value, Value::Text(text) if text.trim().is_empty())
}

//! One tree over another.

use crate::yaml::{Entry, Node, Value};

/// Lays `over` on `base`: maps merge key by key, everything else replaces.
///
/// A `null` replaces too, and so takes back what a lower layer said. A key with nothing after it
/// says nothing: a section whose lines are all commented out must not wipe the one below.
pub(super) fn merge(base: &mut Node, over: Node) {
    match (&mut base.value, over.value) {
        (_, Value::Empty) => {}
        (Value::Map(entries), Value::Map(new)) => {
            for entry in new {
                merge_entry(entries, entry);
            }
        }
        (value, new) => {
            *value = new;
            base.at = over.at;
        }
    }
}

fn merge_entry(entries: &mut Vec<Entry>, new: Entry) {
    match entries.iter_mut().find(|entry| entry.key == new.key) {
        Some(entry) => merge(&mut entry.value, new.value),
        None => entries.push(new),
    }
}

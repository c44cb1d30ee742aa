//! What a layer says that cannot be read costs only itself.
//!
//! `requirements: 7` in one file must not be a way to take away what another one asks for. So it is
//! taken out before the layers are put together, by the same reader that applies requirements: a
//! second opinion on what can be read would be a second way around. A requirement that only its own
//! layer has stays, and is reported by whoever applies it.

use super::authority::{Cut, GUARDED, cut, is_nothing};
use super::merge::merge;
use crate::guard::settings::is_readable;
use crate::yaml::{Entry, Node, Value};

const WHY: &str = "it cannot be read";

/// Takes out of a layer what cannot be read and would hide what the layers `below` say.
pub(super) fn leave_out(tree: &mut Node, below: Option<&Node>) -> Vec<Cut> {
    let mut cuts = Vec::new();
    let Value::Map(sections) = &mut tree.value else { return cuts };
    sections.retain_mut(|section| {
        let name = section.key.clone();
        if !GUARDED.contains(&name.as_str()) || is_nothing(&section.value) {
            return true;
        }
        let base = below.and_then(|below| below.get(&name));
        let Value::Map(keys) = &mut section.value.value else {
            cuts.push(cut(section, &[], WHY));
            return false;
        };
        keys.retain(|key| {
            let is_odd = match name.as_str() {
                "requirements" => hides(base, key),
                _ => !is_readable(&name, &key.key, key.value.to_json()),
            };
            if is_odd {
                cuts.push(cut(key, &[&name], WHY));
            }
            !is_odd
        });
        true
    });
    cuts
}

/// Whether a requirement could be read without what this layer says of it, and cannot with it.
fn hides(base: Option<&Node>, requirement: &Entry) -> bool {
    let below = base.and_then(|base| base.get(&requirement.key)).filter(|node| !is_nothing(node));
    let Some(below) = below else { return false };
    let mut both = below.clone();
    merge(&mut both, requirement.value.clone());
    let is_readable = |node: &Node| is_readable("requirements", &requirement.key, node.to_json());
    is_readable(below) && !is_readable(&both)
}

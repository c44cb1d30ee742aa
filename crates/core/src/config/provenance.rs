//! Where each field of a config comes from.

use serde_json::Value;

use super::{Config, Field};

/// A session as far as its config is concerned.
#[derive(Debug, Clone, Copy)]
pub struct Generation<'a> {
    /// What people call it.
    pub name: &'a str,
    pub config: &'a Config,
    /// The fields it did not leave to its parent.
    pub overridden: &'a [Field],
}

/// Where a field comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Origin {
    pub field: Field,
    /// Its value; null where there is none.
    pub value: Value,
    /// The session that gave it this value.
    pub from: String,
    /// Whether this very session gave it, instead of leaving it to its parent.
    pub overridden: bool,
}

/// Where each field of `session` comes from. `ancestors` are the sessions it continues, nearest
/// first; one without any gave all of its fields itself, and had nothing to override.
pub fn provenance(session: Generation<'_>, ancestors: &[Generation<'_>]) -> Vec<Origin> {
    Field::ALL.iter().map(|field| origin(*field, session, ancestors)).collect()
}

fn origin(field: Field, session: Generation<'_>, ancestors: &[Generation<'_>]) -> Origin {
    let value = field.value(session.config);
    let mut from = session;
    for ancestor in ancestors {
        // A value that differs without having been overridden (an expired bypass, a resolved
        // model, a limit that is never inherited) began here too.
        let same = field.is_inherited() && field.value(ancestor.config) == value;
        if from.overridden.contains(&field) || !same {
            break;
        }
        from = *ancestor;
    }
    let overridden = !ancestors.is_empty() && session.overridden.contains(&field);
    Origin { field, value, from: from.name.to_owned(), overridden }
}

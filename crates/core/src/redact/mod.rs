//! Redaction: takes secrets out of text before it enters the ledger.
//!
//! [`redact`] replaces each secret by `[redacted:KIND]` and leaves the rest of the sentence
//! as it was; [`redact_json`] does the same for every string of a JSON value. It is not a
//! scanner of repositories: there are no file names, no network checks and no allow lists,
//! only the text at hand.
//!
//! How a text is read: [`prefilter`] lets plain prose go at once; then one pass of a keyword
//! automaton ([`scan`]) finds the few places worth a look, and only the reader that belongs
//! to a keyword looks there ([`rule`] for tokens with a known prefix, [`block`] for private
//! keys, [`url`], [`header`], [`name`] and [`assign`] for `KEY=value`). The automaton is
//! built at the first text that needs it. There are no regular expressions: nothing to compile.
//!
//! The invariant: redacting a redacted text changes nothing, and a text without a secret
//! comes back borrowed.

mod assign;
mod block;
mod finding;
mod header;
mod json;
mod judge;
mod literals;
mod name;
mod prefilter;
mod read;
mod rule;
mod rules;
mod scan;
mod set;
mod url;
mod wordlike;
mod words;

#[cfg(test)]
mod tests;

pub use finding::{Finding, Redacted, redact};
pub use json::{has_secret, is_clean_json, redact_json};

/// Names every kind of secret that can be found by its own shape, for docs and tests.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    rules::all().map(|rule| rule.kind)
}

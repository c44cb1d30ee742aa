//! The table of known tokens, by family.
//!
//! The shapes (prefix, alphabet, length) follow the Betterleaks rule set; see
//! `docs/redaction.md` for how, and `THIRD-PARTY-NOTICES.md` for its licence. Lengths are
//! mostly minima: a provider that makes its tokens longer should not open a hole.

mod ai;
mod chat;
mod cloud;
mod code;
mod keys;
mod money;
mod ops;
mod work;

use super::rule::Rule;

/// Returns all rules. Their order has no meaning.
pub(super) fn all() -> impl Iterator<Item = &'static Rule> {
    [ai::RULES, chat::RULES, cloud::RULES, code::RULES, keys::RULES, money::RULES, ops::RULES]
        .into_iter()
        .chain([work::RULES])
        .flatten()
}

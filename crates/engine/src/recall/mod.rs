//! Recall: finding what was ever said, and going on from there.

mod archived;
pub mod carry;
mod feed;
pub mod resume;
mod said;
pub mod search;
mod streams;

pub use search::{Found, Place, Query, SearchError, agents_may_search_everywhere, search};

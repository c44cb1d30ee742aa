//! Recall: finding what was ever said, and going on from there.

mod feed;
mod said;
pub mod search;
mod streams;

pub use search::{Found, Place, Query, SearchError, search};

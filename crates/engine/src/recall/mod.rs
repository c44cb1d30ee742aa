//! Recall: finding what was ever said, and going on from there.

mod archived;
pub mod back;
pub mod carry;
mod edits;
mod feed;
pub(crate) mod given;
pub mod how;
mod others;
pub mod pick;
pub mod resume;
mod said;
pub mod search;
mod streams;
mod turns;
pub mod why;

pub use feed::freshen;
pub use search::{Around, Found, Query, SearchError, SearchHit, search};
pub use turns::Kept;

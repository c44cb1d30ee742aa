//! Keep: nothing is lost when a context is cleared, and nothing is believed that is not so.
//!
//! The ledger is the truth; what the context, a page or an agent claims is checked against it, and
//! what it claims about the code is checked against the code.

pub mod code;
pub mod ground;
mod scope;

pub use scope::{KeepError, session, settings};

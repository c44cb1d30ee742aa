//! Config: how a session's agent is launched, and what a continued session takes over of it.
//!
//! Every field is optional, because absent, empty and given are three different things when a
//! session continues another one: absent inherits, an empty list means none.
//!
//! The invariant: a continued session has its parent's complete config, changed only by what was
//! said explicitly for each field, and `docs/sessions.md` says which fields those are.

mod check;
mod field;
mod inherit;
mod mcp;
mod model;
mod overrides;
mod provenance;
mod secret;
mod stored;

pub use check::{ConfigError, check};
pub use field::{Field, NotAField};
pub use inherit::{Child, Handover, inherit};
pub use mcp::{McpError, parse_mcp_servers};
pub use model::{Config, McpServer};
pub use overrides::{Change, Overrides};
pub use provenance::{Generation, Origin, provenance};
pub use secret::{Lost, MASK, Reference, mask, seal, unseal};
pub use stored::{Unreadable, read_stored};

#[cfg(test)]
mod inherit_tests;

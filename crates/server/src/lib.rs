//! The daemon: the use cases of the engine over HTTP, as an event stream, as a page, and as MCP tools.
//!
//! A surface like the command: it reads requests, calls one use case, and answers with the types of
//! `api`. It is the only crate with an async runtime; the engine below is synchronous and is called on
//! threads of its own. The one invariant: nothing but the health of the daemon is told to anybody who
//! has not shown a token or a sign-in, and nothing a request says ends the process.

#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "a test that cannot set the scene panics, and says where"
    )
)]

mod answer;
mod blocked;
mod drive;
mod events;
mod gate;
mod house;
mod keys;
mod listen;
mod mcp;
mod openapi;
mod page;
mod routes;
mod serve;
mod tls;

pub use drive::{WORD as DRIVE, drive};
pub use keys::Keys;
pub use listen::{BadAddress, Listen};
pub use mcp::speak;
pub use openapi::{document, reference};
pub use serve::{Daemon, Opening, ServeError, read_serving};
pub use tls::{Certificate, TlsError};

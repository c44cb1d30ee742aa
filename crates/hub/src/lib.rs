//! A team's memory through PostgreSQL: the client, and the schema it speaks to.
//!
//! The ledger stays where it is and is complete without a hub; a hub is where ledgers meet. Nothing here
//! is on the way of a hook or of an ordinary command: only `heirloom hub`, the daemon, and `work` on a
//! shared backlog come here, and a test over the dependency graph keeps it so.
//!
//! The one invariant: nothing that came from a hub is believed before its chain and its signature were
//! followed, and nothing leaves that [`heirloom_core::share`] does not let.

#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "a test that cannot set the scene panics, and says where"
    )
)]

mod address;
mod backlog;
mod check;
mod connection;
mod courier;
mod error;
mod fleet;
mod ids;
mod join;
mod listen;
mod pull;
mod push;
mod schema;
mod sign;
mod state;
mod status;
mod wire;

pub use address::Address;
pub use backlog::{Held, SharedBacklog};
pub use connection::Connection;
pub use courier::Courier;
pub use error::HubError;
pub use fleet::HubFleet;
pub use join::{Preview, invite, join, leave, preview, revoke};
pub use pull::pull;
pub use push::push;
pub use schema::{VERSION, migrate};
pub use state::{Joined, is_joined};
pub use status::status;

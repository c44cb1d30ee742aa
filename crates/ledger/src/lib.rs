//! The ledger: the append-only record of everything, and the projections derived from it.
//!
//! This is the only crate that speaks SQL. Its one invariant: whatever a projection says can be
//! derived from the records alone, and whoever reads it sees every record. Those that hooks need
//! around a tool use are written in the same transaction as the record they come from; the others
//! are views. `docs/ledger.md` describes the files exactly.
//!
//! Nothing here is async, and nothing on the way of [`Ledger::open`] and [`Ledger::append_all`] costs
//! more when there is more history, or more views: every hook is a process that does just that.

#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "a test that cannot set the scene panics, and says where"
    )
)]

mod anchor;
mod approvals;
mod attend;
mod backup;
mod chain;
mod claims;
mod compact;
mod create;
mod damage;
mod dating;
mod erase;
mod error;
mod examine;
mod exchange;
pub mod facts;
mod heads;
mod index;
mod issues;
mod ledger;
pub mod legacy;
mod migrate;
mod notes;
pub mod opencode;
mod order;
mod projection;
mod rebuild;
mod records;
mod repositories;
mod requirements;
mod runs;
mod salvage;
mod schema;
mod scrub;
mod sessions;
mod share;
mod stats;
mod still;
mod taking_in;
mod templates;
mod usage;
mod verify;
mod views;
mod write;

pub use approvals::{ApprovalError, ApprovalFilter};
pub use attend::Notice;
pub use claims::Claimed;
pub use compact::Compacted;
pub use damage::SetAside;
pub use error::Error;
pub use exchange::{ImportError, Imported};
pub use facts::Facts;
pub use heads::{Head, read_heads};
pub use index::{
    Adding, AsIndexError, Candidate, Hit, Index, IndexedSource, Message, Passage, Results, Search,
    Source,
};
pub use ledger::{FILE_NAME, Ledger, Options};
pub use notes::NoteFilter;
pub use projection::iteration::Iteration;
pub use projection::keep::Keeping;
pub use projection::live::Live;
pub use records::Arrived;
pub use repositories::RepoPlace;
pub use requirements::{Pause, Seen, SessionKeys, Stops};
pub use runs::{IssueRun, WorkRun};
pub use salvage::{Progress, Salvaged};
pub use schema::VERSION;
pub use scrub::{forget_note, is_note_forgotten};
pub use sessions::{Found, SessionFilter, SessionPage};
pub use stats::Stats;
pub use templates::Template;
pub use usage::{RecentSpending, SessionUse};
pub use verify::{Gap, Problem, Report};
pub use write::{Appender, Scope, Writer};

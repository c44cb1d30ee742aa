//! Sessions that a person launches, continues, forks and interrupts, and whose agents ask before
//! they use a tool.
//!
//! Everything is checked before a session exists; from then on its status only changes through the
//! ledger's guarded transition. One process drives one agent: it holds a lock that the kernel lets
//! go when it dies, so whatever a crash leaves behind is found and closed by the next command
//! ([`recover`]). Decisions and interrupts of other processes reach it through the ledger.
//!
//! Not here: looping sessions, and how anything looks.

mod approvals;
mod collect;
mod command;
mod conversation;
mod dir;
mod drive;
mod driver;
mod error;
mod import;
mod interrupt;
mod lock;
mod name;
mod prepare;
mod recover;
mod shown;
mod source;
mod stream;
mod template;
mod vault;
mod watch;

pub use approvals::{Choice, approval, decide, pending};
pub use collect::{Collected, Secrets, Streams, collect};
pub use conversation::{Conversation, Item, conversation};
pub use drive::{Ended, run};
pub use error::SessionError;
pub use import::{Imported, import_daemon};
pub use interrupt::interrupt;
pub(crate) use lock::exists as is_held;
pub use prepare::{
    Continue, Launch, LaunchContext, Prepared, Purpose, prepare_continue, prepare_launch,
};
pub use recover::{Recovered, recover};
pub use shown::{Total, config_of, totals};
pub use template::save_template;
pub use watch::{Unwatched, Watcher};

pub(crate) use command::asks;
pub(crate) use name::free as free_name;

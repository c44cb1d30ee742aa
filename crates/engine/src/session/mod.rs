//! Sessions that a person launches, continues, forks and interrupts, and whose agents ask before
//! they use a tool.
//!
//! Everything is checked before a session exists; from then on its status only changes through the
//! ledger's guarded transition.
//!
//! Not here: how an agent is driven ([`crate::turn`]), looping sessions, and how anything looks.

mod approvals;
mod asking;
mod collect;
mod conversation;
mod drive;
mod error;
mod interrupt;
pub(crate) mod kept;
mod name;
mod prepare;
mod shown;
mod source;
mod template;
mod update;

pub use approvals::{approval, decide, pending};
pub use asking::{Verdict, Wish, ask};
pub use collect::{Collected, Secrets, Streams, collect};
pub use conversation::{Conversation, Following, Item, conversation, follow, printed};
pub use drive::{SessionEnded, run};
pub use error::SessionError;
pub use interrupt::interrupt;
pub use prepare::{
    Continue, Launch, LaunchContext, Prepared, Purpose, can_continue, prepare_continue,
    prepare_launch,
};
pub(crate) use prepare::{prepare_settled_continue, prepare_settled_launch};
pub use shown::{Total, config_of, totals};
pub use template::{find_template, save_template};
pub use update::{Update, update};

pub use crate::turn::activity::waiting;
pub use crate::turn::approvals::Choice;
pub use crate::turn::{Cause, Crashed, Supervisor, Unsupervised, close_crashed};

pub(crate) use name::free as free_name;
pub(crate) use source::chooses_ids;

//! Keep: nothing is lost when a context is cleared, and nothing is believed that is not so.
//!
//! The ledger is the truth; what the context, a page or an agent claims is checked against it, and
//! what it claims about the code is checked against the code.

mod base;
mod brief;
pub mod checkpoint;
pub mod code;
pub mod context;
#[cfg(test)]
mod day_story;
pub mod deliver;
#[cfg(test)]
mod evaluation;
#[cfg(test)]
mod forget_story;
pub mod forks;
pub mod ground;
pub mod handoffs;
#[cfg(test)]
mod handoffs_story;
pub mod heal;
mod known_notes;
mod noting;
pub mod page;
#[cfg(test)]
mod page_stories;
pub mod recover;
pub mod rules;
mod scope;
mod standing;
mod steps;
mod taking_in;
mod team;
#[cfg(test)]
mod tests;
pub mod tracker;
mod work;

pub use deliver::{Beginning, Fresh, Start, lost, owe, prompt_context, session_start_context};
pub use noting::{Noted, Page, record};
pub use scope::{
    KeepError, agent_session, session, session_or_new, settings, settings_to_check_by,
};
pub(crate) use standing::told;

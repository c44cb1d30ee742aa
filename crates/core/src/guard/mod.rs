//! Guard: what must be met before an agent may use a tool or end its turn.
//!
//! Every rule is a pure function: what a shell command runs ([`shell`]), what a requirement is
//! ([`requirement`]), whether a tool use triggers it ([`trigger`]), what is known about it
//! ([`state`]), and what follows for the agent ([`decide`]). Nothing here reads a file, asks git or
//! knows an agent's payloads. The invariant: only a requirement that is really unmet blocks.

pub mod branch;
pub mod check;
pub mod danger;
pub mod decide;
mod evidence_settings;
pub mod glob;
mod located;
mod patch;
pub mod policy;
pub mod protect;
pub mod record;
pub mod requirement;
pub mod settings;
pub mod shell;
pub mod state;
pub mod trigger;
mod trigger_settings;

#[cfg(test)]
mod settings_tests;
#[cfg(test)]
mod state_tests;

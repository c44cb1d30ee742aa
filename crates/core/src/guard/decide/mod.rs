//! What follows for the agent: one function for each moment at which a hook may speak.
//!
//! Silence is the normal answer. What is said names everything that is unmet at once, and what to do
//! about it. The invariant: a fault never blocks unless the requirement's settings say so.

mod after;
mod before;
mod exempt;
mod skill;
mod start;
mod stop;
mod text;

#[cfg(test)]
mod tests;

pub use after::{After, Ran, after};
pub use before::{Before, Checked, Verdict, before};
pub use skill::{satisfied_by_skill, typed_skill};
pub use start::{Inactive, Paused, Start, inactive, paused_banner, start, subagent};
pub use stop::{Armed, Stop, StopInput, stop};
pub use text::{MAX_UNITS, bounded, gap_text, is_own_prompt, render_message, resolution};

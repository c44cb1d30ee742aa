//! Taking in what other tools left behind, each file or session once. Their formats are read by
//! [`heirloom_core::legacy`] and [`heirloom_ledger::legacy`]; what they say becomes records like all others.

pub mod daemon;
pub mod requirements_state;
pub(crate) mod work_runs;

//! Use cases of heirloom: what its surfaces can ask for.
//!
//! Each function does one thing a person or an agent asks for, on the ledger, the repository and the
//! agents below. Nothing here prints, parses arguments or decides how an answer looks.

#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "a test that cannot set the scene panics, and says where"
    )
)]

pub mod agents;
pub mod attend;
pub mod candidates;
pub mod capture;
pub mod clock;
pub mod demo;
pub mod doctor;
pub mod events;
pub mod evidence;
pub mod exchange;
pub mod foreign;
pub mod guard;
pub mod here;
pub mod home;
pub mod identity;
pub mod init;
pub mod issues;
pub mod keep;
pub mod legacy;
mod listed;
pub mod notes;
pub mod person;
pub mod reach;
pub mod recall;
pub mod run;
pub mod service;
pub mod session;
pub mod sessions;
pub mod settings;
pub mod started;
pub mod status_line;
pub mod trust;
pub mod turn;
pub mod usage;
mod vault;
pub mod work;

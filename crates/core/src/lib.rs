//! Types and rules of heirloom.
//!
//! Everything here is a pure function of its arguments: no I/O, no clock, no environment, no
//! randomness, no async. Time and fresh ids come in as arguments. If a rule can live here, it does,
//! because this is where it can be tested with a table or a property instead of a fixture.

#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "a test that cannot set the scene panics, and says where"
    )
)]

// Here because every other crate needs this one, so nothing else is compiled before it is said.
#[cfg(windows)]
compile_error!("heirloom needs a Unix: on Windows, build and run it in WSL");

pub mod address;
pub mod agent;
pub mod approval;
pub mod causes;
pub mod config;
pub mod context;
pub mod cost;
pub mod digest;
pub mod distill;
pub mod event;
pub mod evidence;
pub mod facts;
pub mod fork;
pub mod ground;
pub mod guard;
pub mod handoff;
pub mod id;
pub mod inherit;
pub mod issue;
pub mod layout;
pub mod legacy;
pub mod lineage;
pub mod mask;
pub mod name;
pub mod note;
pub mod page;
pub mod recall;
pub mod record;
pub mod recover;
pub mod redact;
pub mod repo;
pub mod rules;
pub mod run;
pub mod session;
pub mod settings;
pub mod share;
pub mod status;
pub mod suggest;
pub mod tokens;
pub mod trust;
pub mod usage;
pub mod visible;
pub mod words;
pub mod work;
pub mod yaml;

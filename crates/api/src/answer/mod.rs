//! The answers: a module for each part of heirloom.

mod agent;
mod approval;
mod issue;
mod keep;
mod ledger;
mod lineage;
mod note;
mod recall;
mod repo;
mod requirement;
mod rule;
mod run;
mod serve;
mod session;
mod settings;
mod setup;
mod trust;
mod work;

pub use agent::*;
pub use approval::*;
pub use issue::*;
pub use keep::*;
pub use ledger::*;
pub use lineage::*;
pub use note::*;
pub use recall::*;
pub use repo::*;
pub use requirement::*;
pub use rule::*;
pub use run::*;
pub use serve::*;
pub use session::*;
pub use settings::*;
pub use setup::*;
pub use trust::*;
pub use work::*;

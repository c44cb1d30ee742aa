//! Reading the databases of other programs. Read only: nothing here writes, neither to theirs nor
//! to the ledger.

pub mod daemon;
pub mod opencode;

//! Databases of programs whose users switched. Read only: nothing here writes, neither to theirs nor to the ledger.

pub mod daemon;

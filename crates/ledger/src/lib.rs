//! The append-only ledger and its projections on SQLite.

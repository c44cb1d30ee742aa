//! Integration tests of the core.

mod redact;
mod shell;

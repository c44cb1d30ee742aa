//! Integration tests of the core.

mod redact;

//! Git repositories and files: discovery, atomic writes, locks.

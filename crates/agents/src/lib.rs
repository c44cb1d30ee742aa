//! One adapter per coding agent.

//! The cases, by what they are about.

pub(super) mod dialogue;
pub(super) mod failures;
pub(super) mod limits;
pub(super) mod sessions;
pub(super) mod stops;
pub(super) mod talk;

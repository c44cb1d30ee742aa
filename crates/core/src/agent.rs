//! The name of an agent.

use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

/// An agent by its name, for example `claude`.
///
/// Not one of a list: a person adds agents of their own, and what another host wrote may name one
/// that is not known here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AgentName(String);

impl AgentName {
    /// The agent of that name.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }
}

impl Deref for AgentName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<AgentName> for String {
    fn from(name: AgentName) -> Self {
        name.0
    }
}

impl From<String> for AgentName {
    fn from(name: String) -> Self {
        Self(name)
    }
}

impl From<&str> for AgentName {
    fn from(name: &str) -> Self {
        Self(name.to_owned())
    }
}

impl PartialEq<str> for AgentName {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for AgentName {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

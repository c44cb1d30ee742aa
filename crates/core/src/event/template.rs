use serde::{Deserialize, Serialize};

use crate::config::Config;

/// A config was kept under a name, as its next version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TemplateSaved {
    pub name: String,
    pub config: Config,
}

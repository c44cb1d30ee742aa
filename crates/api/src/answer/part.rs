//! A list that is read part by part.

use schemars::JsonSchema;
use serde::Serialize;

use crate::Answer;

/// A part of a list.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "PartOf{T}")]
pub struct PartOf<T> {
    /// The list.
    #[serde(flatten)]
    pub list: T,
    /// What `cursor` takes to go on, where there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl<T: Answer> Answer for PartOf<T> {}

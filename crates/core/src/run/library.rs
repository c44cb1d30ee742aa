//! The stages and pipelines there are.

use std::collections::BTreeMap;

use super::lint::Mistake;
use super::pipeline::Pipeline;
use super::resolve::{Request, resolve_pipeline};
use super::stage::Stage;

/// The stages and pipelines there are, by name. What is added later replaces what was there, so
/// the built-in ones come first and a person's own after them.
#[derive(Debug, Clone, Default)]
pub struct Library {
    stages: BTreeMap<String, Stage>,
    pipelines: BTreeMap<String, Pipeline>,
}

impl Library {
    /// Adds a stage under the name it is run by.
    pub fn add_stage(&mut self, name: &str, stage: Stage) {
        self.stages.insert(name.to_owned(), stage);
    }

    /// Adds a pipeline under the name it is run by.
    pub fn add_pipeline(&mut self, name: &str, pipeline: Pipeline) {
        self.pipelines.insert(name.to_owned(), pipeline);
    }

    /// The stage of a name.
    pub fn stage(&self, name: &str) -> Option<&Stage> {
        self.stages.get(name)
    }

    /// The pipeline of a name.
    pub fn pipeline(&self, name: &str) -> Option<&Pipeline> {
        self.pipelines.get(name)
    }

    /// The stages, by name.
    pub fn stages(&self) -> impl Iterator<Item = (&str, &Stage)> {
        self.stages.iter().map(|(name, stage)| (name.as_str(), stage))
    }

    /// The pipelines, by name.
    pub fn pipelines(&self) -> impl Iterator<Item = (&str, &Pipeline)> {
        self.pipelines.iter().map(|(name, pipeline)| (name.as_str(), pipeline))
    }

    /// What is wrong with a pipeline in the company of what there is: names of stages, pipelines
    /// and earlier nodes that there are not, and pipelines that contain themselves.
    pub fn check(&self, pipeline: &Pipeline) -> Vec<Mistake> {
        match resolve_pipeline(self, pipeline, &Request::default()) {
            Ok(_) => Vec::new(),
            Err(mistakes) => mistakes,
        }
    }
}

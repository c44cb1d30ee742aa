//! The stages and pipelines that ship with heirloom.
//!
//! They are files like a person's own, read by the same reader; a file of the same name in
//! `.heirloom/` takes their place.

use super::library::Library;
use super::stage::{self, StageFiles};
use super::{Mistake, pipeline};

/// The text of a stage.
#[derive(Debug, Clone, Copy)]
pub struct StageText {
    pub name: &'static str,
    /// Its `stage.yaml`.
    pub yaml: &'static str,
    /// Its `prompt.md`.
    pub prompt: &'static str,
}

/// The text of a pipeline.
#[derive(Debug, Clone, Copy)]
pub struct PipelineText {
    pub name: &'static str,
    /// Its file.
    pub yaml: &'static str,
}

macro_rules! stages {
    ($($name:literal),* $(,)?) => {
        /// The built-in stages, the most used first.
        pub const STAGES: &[StageText] = &[$(StageText {
            name: $name,
            yaml: include_str!(concat!("stages/", $name, "/stage.yaml")),
            prompt: include_str!(concat!("stages/", $name, "/prompt.md")),
        }),*];
    };
}

macro_rules! pipelines {
    ($($name:literal),* $(,)?) => {
        /// The built-in pipelines, the most used first.
        pub const PIPELINES: &[PipelineText] = &[$(PipelineText {
            name: $name,
            yaml: include_str!(concat!("pipelines/", $name, ".yaml")),
        }),*];
    };
}

stages!(
    "ralph",
    "improve-plan",
    "refine-tasks",
    "elegance",
    "bug-discovery",
    "bug-triage",
    "test-gaps",
    "research",
);
pipelines!("refine", "bug-hunt", "idea", "polish");

/// The library of what is built in. The mistakes are none; a test holds that.
pub fn library() -> (Library, Vec<Mistake>) {
    let mut library = Library::default();
    let mut mistakes = Vec::new();
    for text in STAGES {
        let (stage, found) = stage::read(&StageFiles {
            directory: text.name,
            file: &format!("built-in:{}/stage.yaml", text.name),
            text: text.yaml,
            prompt_file: &format!("built-in:{}/prompt.md", text.name),
            prompt: Some(text.prompt),
        });
        mistakes.extend(found);
        if let Some(stage) = stage {
            library.add_stage(text.name, stage);
        }
    }
    for text in PIPELINES {
        let file = format!("built-in:{}.yaml", text.name);
        let (pipeline, found) = pipeline::read(&file, text.name, text.yaml);
        mistakes.extend(found);
        if let Some(pipeline) = pipeline {
            library.add_pipeline(text.name, pipeline);
        }
    }
    (library, mistakes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Request, resolve_pipeline};

    #[test]
    fn everything_built_in_is_without_mistakes() {
        let (library, mistakes) = library();
        assert_eq!(mistakes, []);
        for (name, pipeline) in library.pipelines() {
            assert_eq!(library.check(pipeline), [], "{name}");
            let plan = resolve_pipeline(&library, pipeline, &Request::default()).unwrap();
            assert!(plan.all_stages().all(|stage| !stage.prompt.is_empty()), "{name}");
        }
        assert_eq!(library.stages().count(), STAGES.len());
        assert_eq!(library.pipelines().count(), PIPELINES.len());
    }

    #[test]
    fn every_prompt_begins_with_what_is_known_and_says_when_to_stop() {
        for stage in STAGES {
            for word in ["${CTX}", "${PROGRESS}", "${CONTEXT}", "Decide `"] {
                assert!(stage.prompt.contains(word), "{} lacks {word}", stage.name);
            }
        }
    }
}

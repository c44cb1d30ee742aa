//! The stages and pipelines of a repository: what is built in, and its own files over it.

use std::fs;
use std::path::Path;

use heirloom_core::run::stage::{self, StageFiles};
use heirloom_core::run::{Library, Mistake, builtin, pipeline};

/// What can be run here.
#[derive(Debug)]
pub struct Loaded {
    /// The stages and pipelines.
    pub library: Library,
    /// Everything that is wrong with their files.
    pub mistakes: Vec<Mistake>,
}

/// What can be run anywhere.
pub fn built_in() -> Loaded {
    let (library, mistakes) = builtin::library();
    Loaded { library, mistakes }
}

/// Loads what can be run in the worktree at `root`.
pub fn load(root: &Path) -> Loaded {
    let mut loaded = built_in();
    for name in names(&root.join(".heirloom/stages"), false) {
        load_stage(root, &name, &mut loaded);
    }
    for name in names(&root.join(".heirloom/pipelines"), true) {
        load_pipeline(root, &name, &mut loaded);
    }
    let pipelines: Vec<_> = loaded.library.pipelines().map(|(_, p)| p.clone()).collect();
    for pipeline in pipelines.iter().filter(|p| !p.file.starts_with("built-in:")) {
        let known = loaded.mistakes.iter().any(|m| m.file == pipeline.file && m.is_error());
        if !known {
            loaded.mistakes.extend(loaded.library.check(pipeline));
        }
    }
    loaded
}

/// The entries of a directory, in order; files without their ending.
fn names(directory: &Path, files: bool) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            if name.starts_with('.') {
                return None;
            }
            let is_dir = entry.path().is_dir();
            match (files, name.strip_suffix(".yaml").or_else(|| name.strip_suffix(".yml"))) {
                (true, Some(_)) if !is_dir => Some(name),
                (false, _) if is_dir => Some(name),
                _ => None,
            }
        })
        .collect();
    names.sort();
    names
}

fn load_stage(root: &Path, name: &str, loaded: &mut Loaded) {
    let file = format!(".heirloom/stages/{name}/stage.yaml");
    let Ok(Some(text)) = heirloom_repo::read_within(root, &root.join(&file)) else { return };
    let beside = stage::prompt_file(&text);
    let prompt_file = format!(".heirloom/stages/{name}/{beside}");
    let prompt = heirloom_repo::read_within(root, &root.join(&prompt_file)).ok().flatten();
    let (stage, mistakes) = stage::read(&StageFiles {
        directory: name,
        file: &file,
        text: &text,
        prompt_file: &prompt_file,
        prompt: prompt.as_deref(),
    });
    loaded.mistakes.extend(mistakes);
    if let Some(stage) = stage {
        loaded.library.add_stage(name, stage);
    }
}

fn load_pipeline(root: &Path, name: &str, loaded: &mut Loaded) {
    let file = format!(".heirloom/pipelines/{name}");
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let Ok(Some(text)) = heirloom_repo::read_within(root, &root.join(&file)) else { return };
    let (pipeline, mistakes) = pipeline::read(&file, stem, &text);
    loaded.mistakes.extend(mistakes);
    if let Some(pipeline) = pipeline {
        loaded.library.add_pipeline(stem, pipeline);
    }
}

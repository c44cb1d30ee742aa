//! Where the files of a run are.

use std::path::{Path, PathBuf};

use heirloom_core::name::SessionName;
use heirloom_core::run::plan::{Plan, Step};
use heirloom_repo::FileError;

use super::file;

/// The directory that holds the run directories of a repository.
pub fn runs_root(root: &Path) -> PathBuf {
    root.join(".heirloom/runs")
}

/// A session's run directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDir {
    path: PathBuf,
    name: String,
}

impl RunDir {
    /// The run directory of `name` in the worktree at `root`. A checked name cannot lead out of it.
    pub fn new(root: &Path, name: &SessionName) -> Self {
        Self { path: runs_root(root).join(name.as_str()), name: name.to_string() }
    }

    /// Refuses a run directory that leads out of the repository at `root`: everything an agent reports
    /// would be read and written there.
    pub(super) fn stays_inside(&self, root: &Path) -> Result<(), FileError> {
        heirloom_repo::inside(root, &self.path).map(drop).map_err(file::failed("use", &self.path))
    }

    /// A run directory that was recorded.
    pub(super) fn at(path: PathBuf, name: &SessionName) -> Self {
        Self { path, name: name.to_string() }
    }

    /// The directory itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `state.json`.
    pub fn state(&self) -> PathBuf {
        self.path.join("state.json")
    }

    /// The page all agents of the session share.
    pub fn progress(&self) -> PathBuf {
        self.path.join(format!("progress-{}.md", self.name))
    }

    /// What the run said while it ran, an event a line.
    pub fn events(&self) -> PathBuf {
        self.path.join("run.jsonl")
    }

    /// The directory of an iteration.
    pub fn iteration(&self, stage: &str, iteration: u32) -> PathBuf {
        self.path.join(stage).join("iterations").join(format!("{iteration:03}"))
    }

    /// Makes the directory with the files every run has.
    pub(super) fn create(&self, plan: &Plan) -> Result<(), FileError> {
        // A repository that brings a link here would have them written, and read, somewhere else.
        let root = self.path.ancestors().nth(3).unwrap_or(&self.path);
        heirloom_repo::inside(root, &self.path).map_err(file::failed("use", &self.path))?;
        file::make_dir(&self.path)?;
        let ignore = self.path.with_file_name(".gitignore");
        if !ignore.exists() {
            file::replace(&ignore, b"*\n")?;
        }
        file::replace(&self.path.join("plan.json"), plan.to_json().as_bytes())?;
        page(&self.progress(), &self.name)?;
        for step in &plan.stages {
            let Step::Parallel(block) = step else { continue };
            for lane in &block.agents {
                let dir = self.path.join(&lane.dir);
                file::make_dir(&dir)?;
                page(&lane_page(&dir), &format!("{} ({})", self.name, lane.name))?;
            }
        }
        Ok(())
    }
}

/// The page of one agent of a parallel block.
pub(super) fn lane_page(dir: &Path) -> PathBuf {
    dir.join("progress.md")
}

fn page(path: &Path, title: &str) -> Result<(), FileError> {
    if path.exists() {
        return Ok(());
    }
    file::replace(path, format!("# Progress: {title}\n\n## Codebase Patterns\n").as_bytes())
}

//! Loading: all layers, one result.

use std::path::{Path, PathBuf};

use heirloom_core::settings::{Authority, Broken, Diagnostic, Layers, Row, Settings};
use serde::Serialize;
use serde_json::Value as Json;

use super::file::read;
use super::places::LOCAL;
use super::{Environment, Role, SettingsFile, places, written};

/// What to load.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// What the environment says.
    pub environment: &'a Environment,
    /// The root of the repository, when there is one.
    pub repo: Option<&'a Path>,
    /// What flags say.
    pub flags: &'a [Flag],
    /// How much of what the repository says counts.
    pub say: Say,
}

/// How much of what a repository says counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Say {
    /// A person trusts it.
    Everything,
    /// Nobody does: what would run, widen or speak is left out.
    Untrusted,
    /// It is not asked: what the person's own settings say alone.
    Nothing,
}

/// A setting given on the command line.
#[derive(Debug, Clone, PartialEq)]
pub struct Flag {
    /// The flag: `--max-agents`.
    pub name: String,
    /// What it sets: `work.max_agents`.
    pub path: String,
    /// To what.
    pub value: Json,
}

/// Settings that can be used.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    pub settings: Settings,
    /// What the layers say together, without the defaults.
    pub tree: Json,
    /// Every effective value and where it comes from.
    pub rows: Vec<Row>,
    /// What somebody should look at.
    pub warnings: Vec<Diagnostic>,
    /// The files that were looked for.
    pub files: Vec<FileStatus>,
    /// Keys of what the repository brings and nobody has trusted: `work.gate`.
    pub withheld: Vec<String>,
    /// What is said of requirements and was left out because it cannot be read.
    pub odd: Vec<Diagnostic>,
}

/// Settings that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{broken}")]
pub struct Unusable {
    /// Everything that is wrong.
    #[source]
    pub broken: Broken,
    /// The files that were looked for.
    pub files: Vec<FileStatus>,
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileStatus {
    /// Whose settings it holds.
    pub role: Role,
    /// Where it is.
    pub path: PathBuf,
    /// Whether it was there.
    pub state: FileState,
}

/// Whether a file was there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileState {
    /// It is not there.
    Absent,
    /// It was read. That says nothing about what is in it.
    Read,
    /// It is there, and could not be read.
    Unreadable,
}

/// Loads the settings. Any fault in any layer makes it fail: the files that are well are never used
/// alone.
pub fn load(request: &Request<'_>) -> Result<Loaded, Box<Unusable>> {
    let mut layers = Layers::new();
    let mut files = Vec::new();
    for place in places(request.environment, request.repo) {
        let state = add(&mut layers, &place, request);
        tracing::debug!(path = ?place.path, ?state, "settings");
        files.push(FileStatus { role: place.role, path: place.path, state });
    }
    for (name, value) in &request.environment.variables {
        layers.add_variable(name, value.as_deref());
    }
    for flag in request.flags {
        layers.add_flag(&flag.name, &flag.path, &flag.value);
    }
    match layers.resolve() {
        Ok(resolved) => Ok(Loaded {
            settings: resolved.settings,
            tree: resolved.tree,
            rows: resolved.rows,
            warnings: resolved.warnings,
            withheld: resolved.withheld,
            odd: resolved.odd,
            files,
        }),
        Err(broken) => Err(Box::new(Unusable { broken, files })),
    }
}

fn add(layers: &mut Layers, place: &SettingsFile, request: &Request<'_>) -> FileState {
    match read(place) {
        Ok(None) => FileState::Absent,
        Ok(Some(text)) => {
            match (authority(place, request, &text), request.say) {
                (Authority::Repository, Say::Nothing) => {}
                (Authority::Repository, Say::Untrusted) => {
                    layers.add_untrusted_file(&place.name, &text);
                }
                (authority, _) => layers.add_file(authority, &place.name, &text),
            }
            FileState::Read
        }
        Err(error) => {
            // What is not asked costs nobody anything, readable or not.
            let is_asked = request.say != Say::Nothing
                || !matches!(place.role, Role::Repository | Role::Local);
            if is_asked {
                layers.add_unreadable(error.diagnostic(place));
            }
            FileState::Unreadable
        }
    }
}

/// Whose word a file is. A person's file for one repository that git has came with the clone, and one
/// that an agent wrote is no person's: then it is the repository's.
fn authority(place: &SettingsFile, request: &Request<'_>, text: &str) -> Authority {
    match place.role {
        Role::Owner => Authority::Owner,
        Role::User => Authority::Person,
        Role::Repository => Authority::Repository,
        Role::Local => {
            let came_along = request.repo.is_some_and(|root| {
                let is_by_agent = |data: &PathBuf| written::is_by_agent(data, root, text);
                heirloom_repo::git::is_tracked(root, Path::new(LOCAL))
                    || request.environment.data.as_ref().is_some_and(is_by_agent)
            });
            if came_along { Authority::Repository } else { Authority::Person }
        }
    }
}

//! The rules that hold in a repository, kept beside the ledger so that a hook need not read YAML.
//!
//! What is kept is thrown away as soon as a settings file looks different. A broken file gates
//! nothing, and says so: other rules are never put in its place.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use heirloom_core::guard::original::{self, Layers};
use heirloom_core::guard::policy::Policy;
use heirloom_core::guard::settings as section;
use heirloom_core::yaml;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cache;
use crate::here::{Env, Here, HereError};
use crate::settings::{self, Environment, Request};

/// Where the earlier framework's users keep their requirements.
pub(crate) const ORIGINAL: &str = ".claude/requirements.yaml";

/// The rules of a repository.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rules {
    /// These.
    Policy(Policy),
    /// A settings file cannot be read.
    Broken {
        /// Which.
        file: String,
        /// Why.
        reason: String,
    },
}

impl Rules {
    /// The policy, where there is one.
    pub fn policy(&self) -> Option<&Policy> {
        match self {
            Self::Policy(policy) => Some(policy),
            Self::Broken { .. } => None,
        }
    }
}

/// Where rules come from.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Source {
    /// The settings, with those of the repository in this directory.
    settings: Option<PathBuf>,
    /// The files of the earlier framework: the user's, the project's and the local one.
    original: Option<[PathBuf; 3]>,
}

/// Whether anything is asked for here at all.
pub fn is_active(here: &Here) -> bool {
    source(here).is_some()
}

/// Looks around where an agent works, from `directory`.
///
/// An agent that went elsewhere still works for the project it was started in, and names its files
/// from there; so where nothing is asked for, that project is looked at.
pub fn look(directory: &Path, env: Env) -> Result<Here, HereError> {
    let here = Here::look(directory, env)?;
    match here.var("CLAUDE_PROJECT_DIR").map(PathBuf::from) {
        Some(project) if project != directory && !is_active(&here) => {
            Here::look(&project, here.env)
        }
        _ => Ok(here),
    }
}

/// The rules that hold here; nothing where heirloom is not set up, or switched off (`enabled`).
pub fn load(here: &Here) -> Option<Rules> {
    let source = source(here)?;
    let environment = environment(here);
    let key = key(&files(&source, &environment));
    let kept = kept_file(here, &source);
    if let Some(found) = read_kept(&kept, &key) {
        return found.rules;
    }
    let found = Kept { rules: read(&source, &environment) };
    keep(&kept, &key, &found);
    found.rules
}

/// A worktree of a repository whose settings are not committed uses those of the main one.
fn source(here: &Here) -> Option<Source> {
    let main = Path::new(&here.place.repo);
    let roots = [here.place.root.as_path(), main];
    let found = |is_there: fn(&Path) -> bool| roots.into_iter().find(|root| is_there(root));
    let settings = found(|root| root.join(".heirloom").is_dir()).map(Path::to_owned);
    let original = found(|root| root.join(ORIGINAL).is_file()).map(|project| {
        let user = here.var("HOME").map(PathBuf::from).unwrap_or_default();
        let local = project.join(".claude/requirements.local.yaml");
        [user.join(ORIGINAL), project.join(ORIGINAL), local]
    });
    (settings.is_some() || original.is_some()).then_some(Source { settings, original })
}

/// Without the variables that name agents' programs: requirements do not depend on them.
fn environment(here: &Here) -> Environment {
    let vars = here.env.iter().map(|(name, value)| (name.clone(), value.clone()));
    Environment { variables: Vec::new(), ..Environment::from_vars(vars) }
}

fn files(source: &Source, environment: &Environment) -> Vec<PathBuf> {
    let places = source.settings.iter().flat_map(|root| settings::places(environment, Some(root)));
    let original = source.original.iter().flatten().cloned();
    places.map(|place| place.path).chain(original).collect()
}

/// What tells one state of the files from another, on one line.
fn key(files: &[PathBuf]) -> String {
    use std::fmt::Write as _;
    let mut key = format!("heirloom {}", env!("CARGO_PKG_VERSION"));
    for file in files {
        let _ = write!(key, " {}", file.display());
        if let Ok(found) = fs::metadata(file) {
            let _ = write!(
                key,
                " {} {}.{} {}.{} {} {}",
                found.len(),
                found.mtime(),
                found.mtime_nsec(),
                found.ctime(),
                found.ctime_nsec(),
                found.ino(),
                found.dev()
            );
        }
    }
    key.push('\n');
    key
}

fn kept_file(here: &Here, source: &Source) -> PathBuf {
    cache::file(here, "rules", (&source.settings, &source.original))
}

/// What was read: no rules where heirloom is switched off.
#[derive(Serialize, Deserialize)]
struct Kept {
    rules: Option<Rules>,
}

fn read_kept(file: &Path, key: &str) -> Option<Kept> {
    let text = fs::read(file).ok()?;
    serde_json::from_slice(text.strip_prefix(key.as_bytes())?).ok()
}

fn keep(file: &Path, key: &str, found: &Kept) {
    if let Ok(json) = serde_json::to_string(found) {
        cache::write(file, format!("{key}{json}").as_bytes());
    }
}

fn read(source: &Source, environment: &Environment) -> Option<Rules> {
    let tree = match &source.settings {
        None => Value::Null,
        Some(root) => {
            match settings::load(&Request { environment, repo: Some(root), flags: &[] }) {
                Ok(loaded) => loaded.tree,
                // A wrong value somewhere is no reason to drop every rule: each reports its own.
                Err(unusable) => match unusable.broken.tree {
                    Some(tree) => tree,
                    None => return Some(broken(&unusable)),
                },
            }
        }
    };
    if tree.get("enabled") == Some(&Value::Bool(false)) {
        return None;
    }
    // The files of the earlier framework hold until the settings have requirements of their own, so
    // that setting heirloom up takes nothing away.
    Some(match &source.original {
        Some(files) if tree.get("requirements").is_none_or(Value::is_null) => {
            read_original(files, tree.get("guard").cloned())
        }
        _ => Rules::Policy(section::policy(&tree)),
    })
}

fn broken(unusable: &settings::Unusable) -> Rules {
    match unusable.broken.errors.first() {
        Some(error) => Rules::Broken { file: error.file.clone(), reason: error.located() },
        None => Rules::Broken { file: String::new(), reason: unusable.to_string() },
    }
}

fn read_original(files: &[PathBuf; 3], guard: Option<Value>) -> Rules {
    let mut trees = [None, None, None];
    for (file, tree) in files.iter().zip(&mut trees) {
        match read_yaml(file) {
            Ok(found) => *tree = found,
            Err(reason) => return Rules::Broken { file: file.display().to_string(), reason },
        }
    }
    let [user, project, local] = trees;
    let policy = original::policy(Layers { user, project, local, guard });
    Rules::Policy(policy.unwrap_or_else(|| Policy { enabled: false, ..Policy::default() }))
}

fn read_yaml(file: &Path) -> Result<Option<Value>, String> {
    let text = heirloom_repo::read_text(file).map_err(|error| error.to_string())?;
    let Some(text) = text else { return Ok(None) };
    match yaml::parse(&text, 0) {
        Ok(node) => Ok(Some(node.to_json())),
        Err(problems) => {
            let first = problems
                .first()
                .map(|problem| format!("line {}: {}", problem.at.line, problem.fault));
            Err(first.unwrap_or_else(|| "it is not YAML".to_owned()))
        }
    }
}

//! The rules that hold in a repository, kept beside the ledger so that a hook need not read YAML.
//!
//! What is kept is thrown away as soon as a settings file looks different. A broken file gates
//! nothing, and says so: other rules are never put in its place.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use heirloom_core::guard::original::{self, Layers};
use heirloom_core::guard::policy::Policy;
use heirloom_core::guard::settings as section;
use heirloom_core::yaml;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::here::Here;
use crate::settings::{self, Environment, Request};

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
enum Source {
    /// The settings, with those of the repository in this directory.
    Settings(PathBuf),
    /// The files of the earlier framework: the user's, the project's and the local one.
    Original([PathBuf; 3]),
}

/// Whether anything is asked for here at all.
pub fn is_active(here: &Here) -> bool {
    source(here).is_some()
}

/// The rules that hold here; nothing where heirloom is not set up.
pub fn load(here: &Here) -> Option<Rules> {
    let source = source(here)?;
    let environment = environment(here);
    let key = key(&files(&source, &environment));
    let kept = kept_file(here, &source);
    if let Some(rules) = read_kept(&kept, &key) {
        return Some(rules);
    }
    let rules = read(&source, &environment);
    keep(&kept, &key, &rules);
    Some(rules)
}

/// A worktree of a repository whose settings are not committed uses those of the main one.
fn source(here: &Here) -> Option<Source> {
    let main = Path::new(&here.place.repo);
    let mut roots = [here.place.root.as_path(), main].into_iter();
    if let Some(root) = roots.clone().find(|root| root.join(".heirloom").is_dir()) {
        return Some(Source::Settings(root.to_owned()));
    }
    let project = roots.find(|root| root.join(".claude/requirements.yaml").is_file())?;
    let user = here.var("HOME").map(PathBuf::from).unwrap_or_default();
    Some(Source::Original([
        user.join(".claude/requirements.yaml"),
        project.join(".claude/requirements.yaml"),
        project.join(".claude/requirements.local.yaml"),
    ]))
}

/// Without the variables that name agents' programs: requirements do not depend on them.
fn environment(here: &Here) -> Environment {
    let vars = here.env.iter().map(|(name, value)| (name.clone(), value.clone()));
    Environment { variables: Vec::new(), ..Environment::from_vars(vars) }
}

fn files(source: &Source, environment: &Environment) -> Vec<PathBuf> {
    match source {
        Source::Settings(root) => {
            let places = settings::places(environment, Some(root));
            places.into_iter().map(|place| place.path).collect()
        }
        Source::Original(files) => files.to_vec(),
    }
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
    let mut hasher = DefaultHasher::new();
    match source {
        Source::Settings(root) => root.hash(&mut hasher),
        Source::Original(files) => files.hash(&mut hasher),
    }
    here.home.join(format!("cache/rules-{:016x}", hasher.finish()))
}

fn read_kept(file: &Path, key: &str) -> Option<Rules> {
    let text = fs::read(file).ok()?;
    serde_json::from_slice(text.strip_prefix(key.as_bytes())?).ok()
}

/// What cannot be kept is read again next time.
fn keep(file: &Path, key: &str, rules: &Rules) {
    let Ok(json) = serde_json::to_string(rules) else { return };
    let unfinished = file.with_extension(std::process::id().to_string());
    let written = file
        .parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::write(&unfinished, format!("{key}{json}")))
        .and_then(|()| fs::rename(&unfinished, file));
    if written.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
}

fn read(source: &Source, environment: &Environment) -> Rules {
    match source {
        Source::Settings(root) => {
            match settings::load(&Request { environment, repo: Some(root), flags: &[] }) {
                Ok(loaded) => Rules::Policy(section::policy(&loaded.tree)),
                Err(unusable) => match unusable.broken.errors.first() {
                    Some(error) => {
                        Rules::Broken { file: error.file.clone(), reason: error.located() }
                    }
                    None => Rules::Broken { file: String::new(), reason: unusable.to_string() },
                },
            }
        }
        Source::Original(files) => read_original(files),
    }
}

fn read_original(files: &[PathBuf; 3]) -> Rules {
    let mut trees = [None, None, None];
    for (file, tree) in files.iter().zip(&mut trees) {
        match read_yaml(file) {
            Ok(found) => *tree = found,
            Err(reason) => return Rules::Broken { file: file.display().to_string(), reason },
        }
    }
    let [user, project, local] = trees;
    let policy = original::policy(Layers { user, project, local });
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

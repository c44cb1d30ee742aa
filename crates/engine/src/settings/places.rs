//! Where settings files are.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::here::Here;

/// Where a machine's owner says what holds for everybody.
const OWNER: &str = if cfg!(target_os = "macos") {
    "/Library/Application Support/heirloom/config.yaml"
} else {
    "/etc/heirloom/config.yaml"
};

/// A person's settings for one repository.
pub(crate) const LOCAL: &str = ".heirloom/local.yaml";

/// What the environment says, as far as it is about settings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Environment {
    /// `HEIRLOOM_CONFIG`: the user's file, in place of the usual one.
    pub config_file: Option<PathBuf>,
    /// Where the user's programs keep their settings.
    pub config_home: Option<PathBuf>,
    /// The settings of the machine's owner. Not to be moved by a variable: an agent has those too.
    pub owner_file: Option<PathBuf>,
    /// heirloom's data directory, which knows what agents wrote.
    pub data: Option<PathBuf>,
    /// The variables that are settings, by name; no value when it is not UTF-8.
    pub variables: Vec<(String, Option<String>)>,
}

impl Environment {
    /// What holds here.
    pub fn of(here: &Here) -> Self {
        let vars = here.env.iter().map(|(name, value)| (name.clone(), value.clone()));
        Self { data: Some(here.home.clone()), ..Self::from_vars(vars) }
    }

    /// From all variables of a process. One that is set to nothing counts as not set.
    pub fn from_vars(vars: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let mut environment = Self { owner_file: Some(PathBuf::from(OWNER)), ..Self::default() };
        let (mut xdg, mut app_data, mut home) = (None, None, None);
        for (name, value) in vars.into_iter().filter(|(_, value)| !value.is_empty()) {
            match name.to_str() {
                Some("HEIRLOOM_CONFIG") => environment.config_file = Some(value.into()),
                Some("XDG_CONFIG_HOME") => xdg = absolute(&value),
                Some("APPDATA") if cfg!(windows) => app_data = absolute(&value),
                Some("HOME") => home = absolute(&value),
                // Tests have no machine of their own. Not in a release build: there an agent could move it.
                #[cfg(debug_assertions)]
                Some("HEIRLOOM_TEST_OWNER") => environment.owner_file = Some(value.into()),
                Some(name) if name.starts_with("HEIRLOOM_AGENT_") => {
                    environment.variables.push((name.to_owned(), value.into_string().ok()));
                }
                _ => {}
            }
        }
        environment.config_home = xdg.or(app_data).or_else(|| Some(home?.join(".config")));
        environment.variables.sort();
        environment
    }

    /// Whether the machine's owner says anything.
    pub fn has_owner(&self) -> bool {
        self.owner_file.as_ref().is_some_and(|file| file.is_file())
    }
}

/// Relative ones are to be ignored, says the base directory specification: they would mean another
/// file in every directory.
fn absolute(path: &OsStr) -> Option<PathBuf> {
    let path = Path::new(path);
    path.is_absolute().then(|| path.to_owned())
}

/// Whose settings a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The machine's owner's, for everybody on it.
    Owner,
    /// The user's, for all repositories.
    User,
    Repository,
    /// The user's, for this repository.
    Local,
}

/// A place where a settings file may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsFile {
    /// Whose settings it holds.
    pub role: Role,
    /// Where it is.
    pub path: PathBuf,
    /// What it is called in messages.
    pub name: String,
    /// Whether it must be there, because somebody named it.
    pub required: bool,
}

/// The places, in rising precedence. `repo` is the root of the repository, when there is one.
pub fn places(environment: &Environment, repo: Option<&Path>) -> Vec<SettingsFile> {
    let owner = environment.owner_file.iter().map(|path| SettingsFile {
        role: Role::Owner,
        path: path.clone(),
        name: path.display().to_string(),
        required: false,
    });
    let mut places: Vec<SettingsFile> = owner.chain(user(environment)).collect();
    if let Some(root) = repo {
        let inside = |role, name: &str| SettingsFile {
            role,
            path: root.join(name),
            name: name.to_owned(),
            required: false,
        };
        places.push(inside(Role::Repository, ".heirloom/config.yaml"));
        places.push(inside(Role::Local, LOCAL));
    }
    places
}

fn user(environment: &Environment) -> Option<SettingsFile> {
    let (path, required) = match (&environment.config_file, &environment.config_home) {
        (Some(path), _) => (path.clone(), true),
        (None, Some(home)) => (home.join("heirloom/config.yaml"), false),
        (None, None) => return None,
    };
    let name = path.display().to_string();
    Some(SettingsFile { role: Role::User, path, name, required })
}

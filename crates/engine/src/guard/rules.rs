//! The rules that hold in a repository, kept beside the ledger so that a hook need not read YAML.
//!
//! What is kept is thrown away as soon as a settings file looks different. A broken file says so and
//! costs only itself: a repository whose file cannot be read takes no rule of the person's along.

use std::path::{Path, PathBuf};

use heirloom_core::guard::policy::{Policy, Problem, Unseen};
use heirloom_core::guard::protect::Protection;
use heirloom_core::guard::settings as section;
use heirloom_core::legacy::requirements::{self, Layers};
use heirloom_core::settings::Diagnostic;
use heirloom_core::yaml;
use heirloom_repo::{Stamp, file};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cache;
use crate::here::{Env, Here, HereError};
use crate::init;
use crate::settings::{self, Environment, Request, Say, Unusable};
use crate::trust;

/// Where the earlier framework's users keep their requirements.
pub(crate) const ORIGINAL: &str = ".claude/requirements.yaml";

/// The rules of a repository.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rules {
    /// These.
    Policy(Policy),
    /// A settings file cannot be read.
    Broken { file: String, reason: String },
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

/// The variable by which users of the earlier framework switch its requirements off.
const SKIP: &str = "CLAUDE_SKIP_REQUIREMENTS";

/// Where rules come from.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Source {
    /// The settings, with those of the repository in this directory.
    settings: Option<PathBuf>,
    /// The files of the earlier framework: the user's, the project's and the local one.
    original: Option<[PathBuf; 3]>,
    /// Nobody set heirloom up here: only what a person asks for everywhere holds.
    is_stranger: bool,
    /// Nor does that: only what the machine's owner asks for.
    is_owners: bool,
}

/// Whether heirloom was set up here.
pub fn is_set_up(here: &Here) -> bool {
    source(here).is_some_and(|source| !source.is_stranger)
}

/// Looks around where an agent works, from `directory`.
///
/// An agent that went elsewhere still works for the project it was started in, and names its files
/// from there; so where nothing is asked for, that project is looked at.
pub fn look(directory: &Path, env: Env) -> Result<Here, HereError> {
    let here = Here::look(directory, env)?;
    match here.var("CLAUDE_PROJECT_DIR").map(PathBuf::from) {
        Some(project) if project != directory && !is_set_up(&here) => {
            Here::look(&project, here.env)
        }
        _ => Ok(here),
    }
}

/// The rules that hold here; nothing where heirloom is not set up, or switched off (`enabled`).
pub fn load(here: &Here) -> Option<Rules> {
    let source = source(here)?;
    let mut environment = environment(here);
    if source.is_owners {
        environment = Environment { config_file: None, config_home: None, ..environment };
    }
    let key = key(&files(here, &source, &environment));
    let kept = kept_file(here, &source);
    if let Some(found) = read_kept(&kept, &key) {
        return found.rules;
    }
    let found = Kept { rules: read(here, &source, &environment) };
    if !here.leaves_nothing() {
        keep(&kept, &key, &found);
    }
    found.rules
}

/// A worktree of a repository whose settings are not committed uses those of the main one.
///
/// Where there are none, what the person or the machine's owner asks for holds all the same: a clone
/// must not be a way around it. Where a person took heirloom out or silenced its hooks, only the machine's
/// owner has a say.
fn source(here: &Here) -> Option<Source> {
    if here.is_silenced || init::is_out(here) {
        let owners = Source { settings: None, original: None, is_stranger: true, is_owners: true };
        return environment(here).has_owner().then_some(owners);
    }
    let main = Path::new(&here.place.repo);
    let root = here.place.root.as_path();
    let roots: &[&Path] = if root == main { &[main] } else { &[root, main] };
    let found = |is_there: fn(&Path) -> bool| roots.iter().copied().find(|root| is_there(root));
    let settings = found(|root| root.join(".heirloom").is_dir()).map(Path::to_owned);
    let is_skipped = here.var(SKIP).is_some_and(|word| word != "0");
    let original = found(|root| root.join(ORIGINAL).is_file()).filter(|_| !is_skipped);
    let original = original.map(|project| {
        let user = here.var("HOME").map(PathBuf::from).unwrap_or_default();
        let local = project.join(".claude/requirements.local.yaml");
        [user.join(ORIGINAL), project.join(ORIGINAL), local]
    });
    let is_stranger = settings.is_none() && original.is_none();
    let is_asked = || settings::places(&environment(here), None).iter().any(|at| at.path.is_file());
    let is_owners = false;
    (!is_stranger || is_asked()).then_some(Source { settings, original, is_stranger, is_owners })
}

/// Without the variables that name agents' programs: requirements do not depend on them.
fn environment(here: &Here) -> Environment {
    Environment { variables: Vec::new(), ..Environment::of(here) }
}

/// The files that rules depend on; whether a person trusts the repository is one of them.
fn files(here: &Here, source: &Source, environment: &Environment) -> Vec<PathBuf> {
    let places = settings::places(environment, source.settings.as_deref()).into_iter();
    let original = source.original.iter().flatten().cloned();
    places.map(|place| place.path).chain(original).chain([trust::stamp(&here.home)]).collect()
}

/// What tells one state of the files from another, on one line.
fn key(files: &[PathBuf]) -> String {
    use std::fmt::Write as _;
    let mut key = format!("heirloom {}", env!("CARGO_PKG_VERSION"));
    for file in files {
        let _ = write!(key, " {}", file.display());
        if let Some(stamp) = Stamp::of(file) {
            let _ = write!(key, " {stamp}");
        }
    }
    key.push('\n');
    key
}

fn kept_file(here: &Here, source: &Source) -> PathBuf {
    let files = source.settings.iter().chain(source.original.iter().flatten());
    // Which of them is which counts too: the settings come first, or are nothing.
    let none: &[u8] = if source.settings.is_none() { b"" } else { b"settings" };
    let names: Vec<&[u8]> = std::iter::once(none)
        .chain(files.map(|file| file.as_os_str().as_encoded_bytes()))
        .collect();
    cache::file(here, "rules", &names)
}

/// What was read: no rules where heirloom is switched off.
#[derive(Serialize, Deserialize)]
struct Kept {
    rules: Option<Rules>,
}

fn read_kept(file: &Path, key: &str) -> Option<Kept> {
    let text = file::read(file).ok()?;
    serde_json::from_slice(text.strip_prefix(key.as_bytes())?).ok()
}

fn keep(file: &Path, key: &str, found: &Kept) {
    if let Ok(json) = serde_json::to_string(found) {
        cache::write(file, format!("{key}{json}").as_bytes());
    }
}

fn read(here: &Here, source: &Source, environment: &Environment) -> Option<Rules> {
    let say = if source.is_owners { Say::Nothing } else { trust::say(here) };
    let load = |say: Say| {
        let repo = source.settings.as_deref();
        settings::load(&Request { environment, repo, flags: &[], say })
    };
    let person = Said::by(load(Say::Nothing)).tree;
    if source.is_stranger && section::policy(&person).requirements.is_empty() {
        return None;
    }
    let Said { tree: all, mut unread, odd, withheld } = Said::by(load(say));
    if all.get("enabled") == Some(&Value::Bool(false)) {
        return None;
    }
    let mut policy = section::policy(&all);
    // The files of the earlier framework hold until the settings have requirements of their own, so
    // that setting heirloom up takes nothing away.
    if let Some(files) = &source.original
        && all.get("requirements").is_none_or(Value::is_null)
    {
        let guard = all.get("guard").cloned();
        let (original, fault) = read_original(files, guard, say);
        policy = original.unwrap_or(policy);
        unread.extend(fault);
    }
    let mut policy = Policy::guarding(section::policy(&person), policy);
    let waiting = withheld.iter().filter_map(|key| key.strip_prefix("requirements."));
    policy.waiting.extend(waiting.map(str::to_owned));
    if say == Say::Untrusted {
        let survey = trust::survey(&here.home, &here.place.root);
        policy.unseen = Some(Unseen { commands: survey.commands().count(), hash: survey.hash });
    }
    policy.protection = protection(here, environment, &all);
    if policy.requirements.is_empty()
        && let Some(Unread { file, reason }) = unread.first()
    {
        return Some(Rules::Broken { file: file.clone(), reason: reason.clone() });
    }
    policy.problems.extend(unread.into_iter().map(|fault| Problem {
        at: fault.file,
        message: format!("it cannot be read, so nothing in it holds: {}", fault.reason),
        hint: None,
        fatal: true,
    }));
    policy.problems.extend(odd);
    Some(Rules::Policy(policy))
}

/// What is protected from agents here. A repository has no say in it: the key never gets this far.
fn protection(here: &Here, environment: &Environment, tree: &Value) -> Option<Box<Protection>> {
    let how = tree.pointer("/guard/protect_settings").and_then(Value::as_str);
    if how == Some("off") {
        return None;
    }
    let person = settings::places(environment, None).into_iter().map(|place| place.path);
    let hooks = heirloom_agents::ALL.iter().filter_map(|agent| agent.hooks());
    let hooked = hooks.flat_map(|hooks| hooks.files(&here.place.root, &here.env));
    let files: Vec<String> = person
        .chain(hooked)
        .filter(|file| !file.starts_with(&here.place.root))
        .map(|file| file.to_string_lossy().into_owned())
        .collect();
    let data = here.home.display().to_string();
    let home = here.var("HOME").unwrap_or_default().to_owned();
    Some(Box::new(Protection { files, data, home, asks: how != Some("deny") }))
}

/// A file that cannot be read.
struct Unread {
    file: String,
    reason: String,
}

/// What the layers say together, as far as they can be read.
struct Said {
    tree: Value,
    unread: Vec<Unread>,
    /// What was left out because it cannot be read, in a file that can.
    odd: Vec<Problem>,
    withheld: Vec<String>,
}

impl Said {
    /// A wrong value somewhere is no reason to drop every rule: each reports its own.
    fn by(loaded: Result<settings::Loaded, Box<Unusable>>) -> Self {
        let problem = |found: Diagnostic| {
            let at = found.place();
            Problem { at, message: found.message, hint: found.hint, fatal: true }
        };
        match loaded {
            Ok(loaded) => Self {
                tree: loaded.tree,
                unread: Vec::new(),
                odd: loaded.odd.into_iter().map(problem).collect(),
                withheld: loaded.withheld,
            },
            Err(unusable) => {
                let withheld = unusable.broken.withheld;
                let mut rest = *unusable.broken.rest;
                // One fault of a file is enough to say that it cannot be read.
                rest.unread.dedup_by(|one, other| one.file == other.file);
                let unread =
                    |error: Diagnostic| Unread { reason: error.located(), file: error.file };
                Self {
                    tree: rest.tree,
                    unread: rest.unread.into_iter().map(unread).collect(),
                    odd: rest.odd.into_iter().map(problem).collect(),
                    withheld,
                }
            }
        }
    }
}

/// The policy of the earlier framework's files, where there is one, and which of them cannot be read.
///
/// What came with the clone may not take away what the person asks for in their own file, not even by
/// being broken.
fn read_original(
    files: &[PathBuf; 3],
    guard: Option<Value>,
    say: Say,
) -> (Option<Policy>, Option<Unread>) {
    let mut trees = [None, None, None];
    let mut waiting = Vec::new();
    let mut unread = None;
    let local = Path::new(".claude/requirements.local.yaml");
    let root = files[1].parent().and_then(Path::parent);
    let is_tracked = root.is_some_and(|root| heirloom_repo::git::is_tracked(root, local));
    for (index, (file, tree)) in files.iter().zip(&mut trees).enumerate() {
        let mut found = match read_yaml(file) {
            Ok(Some(found)) => found,
            Ok(None) => continue,
            Err(reason) => {
                unread = Some(Unread { file: file.display().to_string(), reason });
                continue;
            }
        };
        let came_along = index == 1 || (index == 2 && is_tracked);
        if came_along && say == Say::Untrusted {
            let withheld = heirloom_core::trust::withhold(&mut found);
            let names = withheld.iter().filter_map(|key| key.strip_prefix("requirements."));
            waiting.extend(names.map(str::to_owned));
        }
        *tree = Some(found.to_json());
    }
    let [user, project, local] = trees;
    let own = user.clone().map(|user| Layers {
        project: Some(user),
        local: local.clone().filter(|_| !is_tracked),
        guard: guard.clone(),
        ..Layers::default()
    });
    let own = own.and_then(requirements::policy);
    if unread.is_some() && own.is_none() {
        return (None, unread);
    }
    let all = requirements::policy(Layers { user, project, local, guard });
    let all = all.unwrap_or_else(|| Policy { enabled: false, ..Policy::default() });
    let policy = match own {
        Some(own) => Policy::guarding(own, all),
        None => all,
    };
    (Some(Policy { waiting, ..policy }), unread)
}

fn read_yaml(file: &Path) -> Result<Option<yaml::Node>, String> {
    let text = heirloom_repo::read_text(file).map_err(|error| error.to_string())?;
    let Some(text) = text else { return Ok(None) };
    match yaml::parse(&text, 0) {
        Ok(node) => Ok(Some(node)),
        Err(problems) => {
            let first = problems
                .first()
                .map(|problem| format!("line {}: {}", problem.at.line, problem.fault));
            Err(first.unwrap_or_else(|| "it is not YAML".to_owned()))
        }
    }
}

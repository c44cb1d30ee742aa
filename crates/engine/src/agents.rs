//! Which agents are on this machine.
//!
//! Asking a program for its version means starting it, so the answer is kept beside the ledger for
//! as long as the program's file stays the same.

use std::collections::BTreeMap;
use std::path::PathBuf;

use heirloom_agents::find::{self, FeatureReport};
use heirloom_agents::{Agent, Env, Programs};
use heirloom_core::settings::Settings;
use heirloom_repo::Stamp;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::here::Here;

/// The names of the agents whose conversations can be read: those that can be launched, and others.
pub fn readable() -> impl Iterator<Item = &'static str> {
    let others = heirloom_agents::others::OTHERS.iter().map(|other| other.name);
    heirloom_agents::ALL.iter().map(|agent| agent.name()).chain(others)
}

/// What is known about an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentStatus {
    /// Its name in settings and commands.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Whether its program is there and answers.
    pub found: bool,
    /// Where its program is.
    pub path: Option<PathBuf>,
    /// The version it says it has.
    pub version: Option<String>,
    /// The version it was tested with.
    pub tested_version: Option<&'static str>,
    /// What it can do and what it cannot.
    pub features: Vec<FeatureReport>,
    /// What is wrong, when it cannot be used.
    pub problem: Option<String>,
    /// How to get it.
    pub install: &'static str,
    /// When its program was last asked.
    pub checked_at: Option<Timestamp>,
}

/// A kept answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Kept {
    path: PathBuf,
    /// The state of the program that answered.
    stamp: String,
    version: Option<String>,
    checked_at: Timestamp,
}

/// The programs of the agents: their own, or what settings and environment put in their place.
pub fn programs(here: &Here, settings: Option<&Settings>) -> Programs {
    let own = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("heirloom"));
    let mut programs = Programs::new(&own);
    for (name, agent) in settings.iter().flat_map(|settings| &settings.agents) {
        if let Some(command) = &agent.command {
            programs.replace(name.as_str(), command.words().to_vec());
        }
    }
    programs.replace_from(&here.env);
    programs
}

/// Looks for every agent. With `again`, kept answers do not count.
pub fn look(here: &Here, programs: &Programs, again: bool) -> Vec<AgentStatus> {
    let mut kept = if again { BTreeMap::new() } else { read_kept(here) };
    let known = heirloom_agents::ALL
        .iter()
        .map(|agent| look_for(here, *agent, programs, &mut kept))
        .collect();
    // What cannot be kept is asked for again next time.
    if let Ok(text) = serde_json::to_vec_pretty(&kept)
        && !here.leaves_nothing()
    {
        let file = kept_file(here);
        let _ = file.parent().map(heirloom_repo::make_private_dir);
        let _ = heirloom_repo::replace_private(&file, &text);
    }
    known
}

fn look_for(
    here: &Here,
    agent: &dyn Agent,
    programs: &Programs,
    kept: &mut BTreeMap<String, Kept>,
) -> AgentStatus {
    let program = programs.resolve(agent.name(), &here.env);
    let path = program.as_ref().ok().map(|program| program.path.clone());
    let stamp = path.as_deref().and_then(Stamp::of).map(|stamp| stamp.to_string());
    let fresh = kept.get(agent.name()).filter(|kept| {
        path.as_ref() == Some(&kept.path)
            && stamp.as_ref() == Some(&kept.stamp)
            && kept.version.is_some()
    });
    let (version, checked_at) = match (fresh, &program) {
        (Some(kept), _) => (kept.version.clone(), Some(kept.checked_at)),
        (None, Ok(program)) => {
            let version = find::version(agent, program, &clean(&here.env));
            (version, Some(here.clock.now()))
        }
        (None, Err(_)) => (None, None),
    };
    if let (Some(path), Some(stamp), Some(checked_at)) = (&path, stamp, checked_at) {
        let answer = Kept { path: path.clone(), stamp, version: version.clone(), checked_at };
        kept.insert(agent.name().to_owned(), answer);
    }
    let silent = version.is_none() && !agent.version_args().is_empty();
    let problem = match program {
        Err(missing) => Some(missing.to_string()),
        Ok(_) => silent.then(|| "it does not report its version".to_owned()),
    };
    AgentStatus {
        name: agent.name(),
        title: agent.title(),
        found: problem.is_none(),
        path,
        version,
        tested_version: agent.tested_version(),
        features: find::features(agent),
        problem,
        install: agent.install_hint(),
        checked_at,
    }
}

/// The environment without what would make an agent take itself for another one's child.
fn clean(env: &Env) -> Env {
    let marks: Vec<&str> =
        heirloom_agents::ALL.iter().flat_map(|agent| agent.nested_env()).copied().collect();
    let is_mark = |name: &std::ffi::OsString| name.to_str().is_some_and(|n| marks.contains(&n));
    env.iter().filter(|(name, _)| !is_mark(name)).map(|(n, v)| (n.clone(), v.clone())).collect()
}

fn kept_file(here: &Here) -> PathBuf {
    here.home.join("agents.json")
}

fn read_kept(here: &Here) -> BTreeMap<String, Kept> {
    let text = heirloom_repo::read_text(&kept_file(here)).ok().flatten().unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

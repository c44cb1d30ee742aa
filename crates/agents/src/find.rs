//! Which agents are there, in which version, and what they can do.

use std::io::Read;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use heirloom_repo::child;
use serde::Serialize;

use crate::agent::{Agent, Feature, Support};
use crate::env::Env;
use crate::program::{Program, Programs};

/// How long an agent may take to say its version. Gemini CLI takes seconds of processor time to load itself.
const VERSION_TIMEOUT: Duration = Duration::from_secs(20);

/// What is known about an agent on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Where its program is.
    pub path: Option<PathBuf>,
    pub version: Option<String>,
    /// The version that the contract tests ran against.
    pub tested_version: Option<&'static str>,
    /// What it can do and what it cannot.
    pub features: Vec<FeatureReport>,
    /// What is wrong, when it cannot be used.
    pub problem: Option<String>,
    /// How to get it.
    pub install: &'static str,
}

/// One thing an agent can or cannot do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FeatureReport {
    pub feature: Feature,
    /// Whether it can.
    pub supported: bool,
    /// The catch, or the reason why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
}

/// Looks for one agent. Runs its program once to ask for the version; the caller may keep the
/// answer for as long as the program's file stays the same.
pub fn report(agent: &dyn Agent, programs: &Programs, env: &Env) -> Report {
    let found = programs.resolve(agent.name(), env);
    let (path, version, problem) = match found {
        Ok(program) => {
            let version = version(agent, &program, env);
            let problem = version.is_none() && !agent.version_args().is_empty();
            let problem = problem.then(|| "does not report its version".to_owned());
            (Some(program.path), version, problem)
        }
        Err(missing) => (None, None, Some(missing.to_string())),
    };
    Report {
        name: agent.name(),
        title: agent.title(),
        path,
        version,
        tested_version: agent.tested_version(),
        features: features(agent),
        problem,
        install: agent.install_hint(),
    }
}

/// What an agent can do and what it cannot.
pub fn features(agent: &dyn Agent) -> Vec<FeatureReport> {
    Feature::ALL.map(|feature| describe(agent, feature)).into()
}

fn describe(agent: &dyn Agent, feature: Feature) -> FeatureReport {
    let (supported, note) = match agent.supports(feature) {
        Support::Yes => (true, None),
        Support::Partly(catch) => (true, Some(catch)),
        Support::No("") => (false, None),
        Support::No(why) => (false, Some(why)),
    };
    FeatureReport { feature, supported, note }
}

/// The version a program says it has. Bounded in time: an agent that hangs has none.
pub fn version(agent: &dyn Agent, program: &Program, env: &Env) -> Option<String> {
    if agent.version_args().is_empty() {
        return None;
    }
    let mut child = child::leader(&program.path, env)
        .args(&program.args)
        .args(agent.version_args())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let stdout = child.stdout.take()?;
    let (said, heard) = mpsc::channel();
    thread::spawn(move || {
        let mut text = Vec::new();
        // The end of a version is soon; more than this is no version.
        let _ = stdout.take(64 * 1024).read_to_end(&mut text);
        let _ = said.send(String::from_utf8_lossy(&text).into_owned());
    });
    let text = heard.recv_timeout(VERSION_TIMEOUT).ok();
    let _ = child::end(&mut child);
    agent.parse_version(&text?)
}

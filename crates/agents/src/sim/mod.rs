//! The built-in agent: scripted, deterministic, no model, no network.
//!
//! It speaks Claude Code's protocol, so it goes through the same adapter, and it is a program of
//! its own (`heirloom sim-agent`), so it goes through the same supervision. What it does comes
//! from a script; without one it does a small, plausible iteration and obeys the contract of the
//! run directory.

mod args;
mod conversation;
mod program;
mod script;
mod stream;
mod subject;
mod tools;
mod work;

pub use program::{Streams, main};

use std::path::{Path, PathBuf};

use crate::agent::{Agent, Dialogue, Feature, Interrupt, Support, Unattended, WHOLE_ONLY};
use crate::claude;
use crate::env::{self, Env};
use crate::event::Reader;
use crate::launch::{CommandLine, Input, Launch, LaunchError};
use crate::outcome::{End, Outcome};
use crate::transcript::{Transcript, Transcripts};

/// The built-in agent.
#[derive(Debug)]
pub struct Sim;

impl Agent for Sim {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn title(&self) -> &'static str {
        "built-in simulation"
    }

    fn program(&self) -> Option<&'static str> {
        None
    }

    fn install_hint(&self) -> &'static str {
        "it is part of heirloom"
    }

    fn features(&self) -> &'static [(Feature, Support)] {
        const ACCEPTED: Support = Support::Partly("accepted, changes nothing");
        &[
            (Feature::Model, ACCEPTED),
            (Feature::Resume, Support::Yes),
            (Feature::Fork, Support::Yes),
            (Feature::ForkAt, Support::No(WHOLE_ONLY)),
            (Feature::ChosenId, Support::Yes),
            (Feature::Stream, Support::Yes),
            (Feature::SystemPrompt, ACCEPTED),
            (Feature::AppendSystemPrompt, ACCEPTED),
            (Feature::AllowedTools, Support::Yes),
            (Feature::DisallowedTools, Support::Yes),
            (Feature::PermissionMode, Support::Yes),
            (Feature::PermissionPrompt, Support::Yes),
            (Feature::McpServers, ACCEPTED),
            (Feature::AdditionalDirs, ACCEPTED),
            (Feature::TurnLimit, Support::Yes),
            (Feature::CostLimit, Support::Yes),
            (Feature::Cost, Support::Yes),
            (Feature::Usage, Support::Yes),
            (Feature::Hooks, Support::No("nothing to hook into")),
            (Feature::Transcripts, Support::Yes),
        ]
    }

    fn env_prefixes(&self) -> &'static [&'static str] {
        &["HEIRLOOM_"]
    }

    fn launch(&self, launch: &Launch<'_>) -> Result<CommandLine, LaunchError> {
        claude::launch::command_line(self.name(), launch)
    }

    fn unattended(&self) -> Unattended {
        Unattended::Asks
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(claude::wire::Stream::default())
    }

    fn classify(&self, end: &End<'_>) -> Outcome {
        claude::classify::outcome(end)
    }

    fn interrupt(&self, input: Input) -> Interrupt {
        claude::dialogue::interrupt(input)
    }

    fn dialogue(&self) -> Option<&'static dyn Dialogue> {
        Some(&claude::dialogue::StreamJson)
    }

    fn transcripts(&self) -> Option<&'static dyn Transcripts> {
        Some(&Kept)
    }
}

/// Where the simulation's conversations are read, in Claude Code's layout: with the rest of heirloom's data, or where
/// earlier versions kept them. Whoever only looks moves nothing.
fn root(env: &Env) -> Option<PathBuf> {
    let own = env::home(env)?.join("sim");
    let before = earlier(env).filter(|_| !own.exists());
    Some(before.unwrap_or(own).join("projects"))
}

/// Brings conversations of earlier versions to where the simulation writes its own, for whoever changes what is in them.
pub fn settle(env: &Env) {
    own_root(env);
}

/// Where the simulation writes its conversations. Those of earlier versions move there, so that they can go on.
fn own_root(env: &Env) -> Option<PathBuf> {
    let own = env::home(env)?.join("sim");
    match earlier(env) {
        // What could not be moved is where it was.
        Some(before) if !own.exists() && heirloom_repo::file::rename(&before, &own).is_err() => {
            Some(before.join("projects"))
        }
        _ => Some(own.join("projects")),
    }
}

/// Where earlier versions kept them, if there are some: they move to the rest of the data, once there is any.
fn earlier(env: &Env) -> Option<PathBuf> {
    if env::path(env, "HEIRLOOM_HOME").is_some() || !env::home(env)?.is_dir() {
        return None;
    }
    let before = env::path(env, "HOME")?.join(".heirloom/sim");
    before.join("projects").is_dir().then_some(before)
}

#[derive(Debug)]
struct Kept;

impl Transcripts for Kept {
    fn list(&self, env: &Env, cwd: Option<&Path>) -> Vec<Transcript> {
        root(env).map(|root| claude::transcript::list(&root, cwd)).unwrap_or_default()
    }

    fn find(&self, env: &Env, agent_session_id: &str) -> Option<Transcript> {
        claude::transcript::find(&root(env)?, agent_session_id)
    }

    fn identify(&self, path: &Path) -> Option<Transcript> {
        claude::transcript::identify(path)
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(claude::transcript::Entries::default())
    }

    fn entries(&self) -> Box<dyn crate::transcript::Entries> {
        Box::new(claude::entries::Read::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversations_of_earlier_versions_are_found_where_they_belong_now() {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::from([
            ("HOME".into(), dir.path().into()),
            ("XDG_DATA_HOME".into(), dir.path().join("data").into()),
        ]);
        let own = env::home(&env).unwrap();
        let id = "fada4cb0-e937-4370-bfc6-6bf9c045928f";
        let before = dir.path().join(".heirloom/sim/projects/-w");
        std::fs::create_dir_all(&before).unwrap();
        let line = format!(
            r#"{{"type":"user","sessionId":"{id}","cwd":"/w","message":{{"role":"user","content":"hi"}}}}"#
        );
        std::fs::write(before.join(format!("{id}.jsonl")), line + "\n").unwrap();
        assert_eq!(own_root(&env).unwrap(), own.join("sim/projects"));
        assert!(before.is_dir(), "there is no data to move it to");
        std::fs::create_dir_all(&own).unwrap();
        let file = format!("{id}.jsonl");
        assert_eq!(Kept.find(&env, id).unwrap().path, before.join(&file));
        assert_eq!(Kept.list(&env, None).len(), 1);
        assert!(before.is_dir() && !own.join("sim").exists(), "whoever looks moves nothing");
        assert_eq!(own_root(&env).unwrap(), own.join("sim/projects"));
        assert_eq!(Kept.find(&env, id).unwrap().path, own.join("sim/projects/-w").join(&file));
        assert!(!before.exists());
        // What is there by now is not replaced.
        std::fs::create_dir_all(&before).unwrap();
        assert!(Kept.find(&env, id).is_some() && before.is_dir());
    }
}

//! The whole idea in a scratch repository: two sessions, the second inherits from the first, a decision
//! that the code no longer bears out arrives as such, and a context that is compacted gets back what it
//! needs.
//!
//! Nothing is made up: the sessions are run by the engine, with the built-in agent, and the compaction
//! goes through the same hooks that an agent calls.

use std::path::{Path, PathBuf};

use heirloom_agents::hook::{HookError, HookEvent};
use heirloom_core::inherit::Inherited;
use heirloom_core::note::Kind;
use heirloom_core::run::choices::Choices;
use heirloom_core::settings::Settings;

use crate::agents;
use crate::events::{RunEnded, Watcher};
use crate::guard;
use crate::here::Here;
use crate::keep;
use crate::notes::{NewNote, NoteError};
use crate::run::{self, Asked, Preparing, RunError, Stopping, With};
use crate::turn::system::Real;

/// What the demo did.
#[derive(Debug)]
pub struct Demo {
    /// How the session that learned something ended.
    pub first: RunEnded,
    /// How the session that inherits from it ended.
    pub second: RunEnded,
    /// What the second one started with.
    pub inherited: Option<Inherited>,
    /// What a context was given after it was compacted.
    pub after_compaction: String,
}

impl Demo {
    /// What was inherited and no longer holds, each with the reason.
    pub fn no_longer_holds(&self) -> Vec<(&str, &str)> {
        let notes = self.inherited.iter().flat_map(|inherited| &inherited.notes);
        notes
            .filter_map(|note| {
                let broken = note.broken()?;
                Some((note.text.as_str(), broken.reason.as_deref().unwrap_or("its quote is gone")))
            })
            .collect()
    }
}

/// Why the demo could not be played.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// A session could not be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A note could not be made.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// A hook could not be called.
    #[error(transparent)]
    Hook(#[from] HookError),
}

/// The names of the two sessions.
pub const NAMES: [&str; 2] = ["auth-v1", "auth-v2"];

const SOURCE: &str =
    "pub fn rotate(token: &Token) -> Token {\n    store.swap(token, Token::fresh())\n}\n";
/// The same file after somebody thought it simpler without the store.
const CHANGED: &str = "pub fn rotate(token: &Token) -> Token {\n    Token::fresh()\n}\n";
const FILE: &str = "src/auth.rs";
const READER: &str = "# payments\n\nTokens are rotated in src/auth.rs.\n";

/// Runs two sessions in `here`, an empty directory, with somebody's change of the code between them.
pub fn play(here: &Here, watcher: &dyn Watcher) -> Result<Demo, DemoError> {
    let root = &here.place.root;
    let write = |name: &str, text: &str| {
        heirloom_repo::write_whole(&root.join(name), text.as_bytes()).map_err(RunError::from)
    };
    write(FILE, SOURCE)?;
    write("README.md", READER)?;
    let (first, _) = session(here, watcher, NAMES[0], None)?;
    let decision = NewNote {
        rationale: Some("a stolen token is then noticed".to_owned()),
        evidence: "src/auth.rs:2".parse().into_iter().collect(),
        ..NewNote::new(Kind::Decision, "Swap refresh tokens in the store on every use")
    };
    note(here, NAMES[0], decision)?;
    write(FILE, CHANGED)?;
    let (second, inherited) = session(here, watcher, NAMES[1], Some(NAMES[0]))?;
    let after_compaction = compact(here)?;
    Ok(Demo { first, second, inherited, after_compaction })
}

fn note(here: &Here, session: &str, new: NewNote) -> Result<(), DemoError> {
    let mut ledger = here.ledger().map_err(RunError::from)?;
    let new = NewNote { session: Some(session.to_owned()), ..new };
    keep::record(here, &mut ledger, &here.place.root, new)?;
    Ok(())
}

/// The conversation of an agent that a person drives by hand.
const CONVERSATION: &str = "8272974a-8223-4415-954c-99d01904a037";

/// A session driven by hand notes where it stands, is compacted, and is given what it needs to go on.
fn compact(here: &Here) -> Result<String, DemoError> {
    call(here, "SessionStart", "startup")?;
    let step = NewNote::new(Kind::NextStep, "Accept tokens up to 30 seconds early");
    note(here, CONVERSATION, step)?;
    let warning = NewNote::new(Kind::Warning, "The clock of the test machines is off by seconds");
    note(here, CONVERSATION, warning)?;
    call(here, "PreCompact", "auto")?;
    Ok(call(here, "SessionStart", "compact")?.unwrap_or_default())
}

/// Calls a hook as Claude Code does, and returns what the model is told.
fn call(here: &Here, event: &str, word: &str) -> Result<Option<String>, HookError> {
    let payload = serde_json::json!({
        "session_id": CONVERSATION, "cwd": here.place.root, "hook_event_name": event,
        "source": word, "trigger": word,
    });
    let hooks = heirloom_agents::by_name("claude").and_then(heirloom_agents::Agent::hooks);
    let Some(hooks) = hooks else { return Ok(None) };
    let event: HookEvent = hooks.parse(event, payload.to_string().as_bytes())?;
    Ok(guard::answer(here, "claude", &event).answer.context)
}

fn session(
    here: &Here,
    watcher: &dyn Watcher,
    name: &str,
    parent: Option<&str>,
) -> Result<(RunEnded, Option<Inherited>), RunError> {
    let settings = Settings::default();
    let programs = agents::programs(here, None);
    let asked = Asked {
        what: "ralph".to_owned(),
        session: name.to_owned(),
        flags: Choices {
            agent: Some("sim".to_owned()),
            max: Some(if parent.is_some() { 2 } else { 3 }),
            context: Some("Rotate refresh tokens.".to_owned()),
            ..Choices::default()
        },
        inherit: parent.map(str::to_owned).into_iter().collect(),
        ..Asked::default()
    };
    let mut ledger = here.ledger()?;
    let (settings, programs, directory) = (&settings, &programs, here.place.root.as_path());
    let from = Preparing { here, settings, programs, directory, asked: &asked };
    let prepared = run::prepare(from, &ledger)?;
    let inherited = prepared.inherit.as_ref().map(|inherit| inherit.block.clone());
    let running = run::start(here, &mut ledger, prepared)?;
    let stopping = Stopping::new();
    let with = With { here, programs, system: &Real, watcher, stopping: &stopping };
    Ok((running.drive(with)?, inherited))
}

/// The directory the demo plays in and the home its ledger lives in, below `scratch`.
pub fn places(scratch: &Path) -> (PathBuf, PathBuf) {
    (scratch.join("payments"), scratch.join("home"))
}

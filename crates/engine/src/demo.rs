//! The whole idea in a scratch repository: two sessions, the second inherits from the first.
//!
//! Nothing is made up: both are run by the engine, with the built-in agent.

use std::path::{Path, PathBuf};

use heirloom_core::inherit::Inherited;
use heirloom_core::run::choices::Choices;
use heirloom_core::settings::Settings;

use crate::agents;
use crate::here::Here;
use crate::run::{self, Asked, Ended, Event, Preparing, RunError, Stopping, Watcher, With};
use crate::turn::system::Real;

/// What the demo did.
#[derive(Debug)]
pub struct Demo {
    /// How the session that learned something ended.
    pub first: Ended,
    /// How the session that inherits from it ended.
    pub second: Ended,
    /// What the second one started with.
    pub inherited: Option<Inherited>,
}

/// The names of the two sessions.
pub const NAMES: [&str; 2] = ["auth-v1", "auth-v2"];

const SOURCE: &str =
    "pub fn rotate(token: &Token) -> Token {\n    store.swap(token, Token::fresh())\n}\n";
const READER: &str = "# payments\n\nTokens are rotated in src/auth.rs.\n";

/// Runs two sessions in `here`, an empty directory.
pub fn play(here: &Here, watcher: &dyn Watcher<Event>) -> Result<Demo, RunError> {
    let root = &here.place.root;
    heirloom_repo::write_whole(&root.join("src/auth.rs"), SOURCE.as_bytes())?;
    heirloom_repo::write_whole(&root.join("README.md"), READER.as_bytes())?;
    let (first, _) = session(here, watcher, NAMES[0], None)?;
    let (second, inherited) = session(here, watcher, NAMES[1], Some(NAMES[0]))?;
    Ok(Demo { first, second, inherited })
}

fn session(
    here: &Here,
    watcher: &dyn Watcher<Event>,
    name: &str,
    parent: Option<&str>,
) -> Result<(Ended, Option<Inherited>), RunError> {
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

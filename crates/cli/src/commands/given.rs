//! What people type, before a command looks at it.

use std::num::ParseIntError;

use clap::builder::PossibleValuesParser;
use heirloom_agents::{ALL, Agent};

/// An agent that can be launched.
pub(super) fn agent() -> PossibleValuesParser {
    agents(|_| true)
}

/// An agent with hooks.
pub(super) fn hooked_agent() -> PossibleValuesParser {
    agents(|agent| agent.hooks().is_some())
}

/// An agent whose transcripts are imported.
pub(super) fn transcribed_agent() -> PossibleValuesParser {
    agents(|agent| agent.transcripts().is_some())
}

/// An agent whose conversations are searched, which are more than can be launched.
pub(super) fn searched_agent() -> PossibleValuesParser {
    PossibleValuesParser::new(heirloom_engine::agents::readable())
}

fn agents(is_meant: impl Fn(&'static dyn Agent) -> bool) -> PossibleValuesParser {
    let meant = ALL.iter().copied().filter(|agent| is_meant(*agent));
    PossibleValuesParser::new(meant.map(Agent::name))
}

/// A text that says something: nobody looks for nothing, or notes it.
pub(super) fn text(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("it is blank".to_owned());
    }
    Ok(text.to_owned())
}

/// Whether something is wanted, in the words of the settings or of a script.
pub(super) fn switch(text: &str) -> Result<bool, String> {
    match text {
        "on" | "true" => Ok(true),
        "off" | "false" => Ok(false),
        _ => Err("it has to be on or off".to_owned()),
    }
}

/// How many are wanted: a list of none says nothing.
pub(super) fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("it has to be at least 1".to_owned()),
        Ok(count) => Ok(count),
        Err(error) => Err(ParseIntError::to_string(&error)),
    }
}

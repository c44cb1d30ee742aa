//! What a continued session starts with.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{Change, Config, Field, McpServer, Overrides};

/// Variables and headers that say which session is speaking, whatever they were set to.
const IDENTIFYING: &[&str] = &["heirloom_session", "x-heirloom-session", "x-session-id"];

/// Who hands over to whom, and when.
#[derive(Debug, Clone, Copy)]
pub struct Handover<'a> {
    /// The ids of the parent: its own and its agent's. None where there is only a template.
    pub parent: &'a [&'a str],
    /// The id of the child.
    pub child: &'a str,
    /// The time.
    pub now: Timestamp,
}

/// What a continued session starts with.
#[derive(Debug, Clone, PartialEq)]
pub struct Child {
    pub config: Config,
    /// The fields that it did not leave to its parent.
    pub overridden: Vec<Field>,
}

/// The config of a session that continues one with the config `parent`.
///
/// Everything is inherited, with four exceptions: `max_turns`; a bypass that has expired; the
/// resolved model, once the model is another one; and values that identify the session.
pub fn inherit(parent: &Config, overrides: &Overrides, handover: Handover<'_>) -> Child {
    let mut base = parent.clone();
    base.max_turns = base.max_turns.filter(|_| Field::MaxTurns.is_inherited());
    base.bypass_until = base.bypass_until.filter(|until| *until > handover.now);
    if changes(&overrides.model, parent.model.as_ref()) {
        base.resolved_model = None;
    }
    identify(&mut base, &handover);
    let mut config = overrides.clone().apply(base);
    // Servers that are given again were most likely copied from the parent's. What somebody says
    // about a session of its own is theirs to say.
    if !handover.parent.is_empty() {
        identify(&mut config, &handover);
    }
    Child { config, overridden: overrides.fields() }
}

fn changes<T: PartialEq>(change: &Change<T>, inherited: Option<&T>) -> bool {
    match change {
        Change::Inherit => false,
        Change::Set(value) => Some(value) != inherited,
        Change::Clear => true,
    }
}

/// Puts the child in the place of its parent: where a name says that the session is meant, and
/// where a value is one of the parent's ids.
fn identify(config: &mut Config, handover: &Handover<'_>) {
    let servers = config.mcp_servers.iter_mut().flat_map(BTreeMap::values_mut);
    let values = servers.flat_map(|server| match server {
        McpServer::Stdio { env, .. } => env,
        McpServer::Http { headers, .. } => headers,
    });
    for (name, value) in values {
        let by_name = IDENTIFYING.contains(&name.to_ascii_lowercase().as_str());
        if by_name || handover.parent.contains(&value.as_str()) {
            handover.child.clone_into(value);
        }
    }
}

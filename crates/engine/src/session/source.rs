//! Which conversation a continued session goes on with.

use heirloom_agents::{Agent, Conversation, Feature, Support};
use heirloom_core::name::SessionName;
use heirloom_core::session::Session;
use heirloom_ledger::Ledger;

use super::error::SessionError;
use super::shown;

/// The conversation that goes on, and what was said since that it never heard.
pub(super) struct Source {
    pub(super) id: Option<String>,
    unheard: Vec<(SessionName, String)>,
}

impl Source {
    /// Walks up to the nearest session whose conversation began. A session that failed before it
    /// could say anything has an id, but nothing behind it.
    pub(super) fn of(ledger: &Ledger, session: &Session) -> Result<Self, SessionError> {
        let mut unheard = Vec::new();
        for each in shown::generations(ledger, session)? {
            // An id that came with a session we did not launch is the agent's own.
            let began = each.announced || each.prompt.is_none();
            if let Some(id) = each.agent_session_id.filter(|_| began) {
                unheard.reverse();
                return Ok(Self { id: Some(id), unheard });
            }
            unheard.extend(each.prompt.map(|prompt| (each.name, prompt)));
        }
        unheard.reverse();
        Ok(Self { id: None, unheard })
    }

    /// How the agent takes it up: in a copy, so that the original stays as it is, or in itself.
    pub(super) fn conversation<'a>(
        &'a self,
        copies: bool,
        chosen: Option<&'a str>,
    ) -> Conversation<'a> {
        match &self.id {
            None => Conversation::New(chosen),
            Some(from) if copies => Conversation::Fork { from, id: chosen },
            Some(id) => Conversation::Resume(id),
        }
    }

    /// The prompt, after the messages that were kept when the agent could not take them.
    pub(super) fn with_unheard(&self, prompt: &str) -> String {
        let unheard = self.unheard.iter().map(|(_, prompt)| prompt.as_str());
        unheard.chain([prompt]).collect::<Vec<_>>().join("\n\n")
    }

    pub(super) fn warning(&self) -> Option<String> {
        let names: Vec<&str> = self.unheard.iter().map(|(name, _)| name.as_str()).collect();
        (!names.is_empty())
            .then(|| format!("the agent never heard what {} said; it does now", names.join(", ")))
    }
}

/// Whether it can go on with a copy of a conversation.
pub(super) fn can_fork(agent: &'static dyn Agent) -> bool {
    matches!(agent.supports(Feature::Fork), Support::Yes | Support::Partly(_))
}

/// Whether it takes the id of a conversation from us.
pub(super) fn chooses_ids(agent: &'static dyn Agent) -> bool {
    matches!(agent.supports(Feature::ChosenId), Support::Yes)
}

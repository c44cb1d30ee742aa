//! Whose requirements a command is about.

use heirloom_core::guard::state::{BY_AGENT, BY_PERSON};
use heirloom_core::id::SessionId;
use heirloom_core::session::Session;
use heirloom_core::trust::person::Who;
use heirloom_ledger::{Error, Found, Ledger, Live, SessionKeys};

use super::facts::keys;
use super::live;
use super::settle::Whose;
use crate::here::Here;
use crate::person;
use crate::reach;
use crate::sessions;

/// A session, as far as requirements are concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// Its names in entries; the first is the one that is written.
    pub keys: SessionKeys,
    /// The session in the ledger, where it is there.
    pub session: Option<SessionId>,
}

/// Why it is not known whose requirements are meant.
#[derive(Debug, thiserror::Error)]
pub enum SubjectError {
    /// The command is run in no session.
    #[error("this does not run in a session, so it is unclear whose requirements are meant")]
    None {
        /// The sessions that are at work in the repository.
        live: Vec<String>,
    },
    /// No session answers to that.
    #[error(transparent)]
    Find(#[from] sessions::FindError),
    #[error(transparent)]
    Ledger(#[from] Error),
}

impl Subject {
    /// A session by the id its agent gave it.
    pub fn of_agent(agent_session_id: &str, session: Option<SessionId>) -> Self {
        Self { keys: keys(agent_session_id), session }
    }

    /// A session of the ledger.
    pub fn of(session: &Session) -> Self {
        let own = session.id.to_string();
        match &session.agent_session_id {
            Some(id) => {
                let mut keys = keys(id);
                if !keys.names.contains(&own) {
                    keys.names.push(own);
                }
                Self { keys, session: Some(session.id) }
            }
            None => Self {
                keys: SessionKeys { names: vec![own], agent_session_id: None },
                session: Some(session.id),
            },
        }
    }

    /// Nobody: for what reaches further than a session.
    pub fn nobody() -> Self {
        Self { keys: SessionKeys { names: Vec::new(), agent_session_id: None }, session: None }
    }

    /// The name under which entries of the session are written.
    pub fn key(&self) -> Option<&str> {
        self.keys.names.first().map(String::as_str)
    }

    pub(super) fn whose<'a>(&'a self, here: &'a Here) -> Whose<'a> {
        Whose { here, session: self.session, key: self.key() }
    }
}

/// The session that is meant: the one that was named, the one the command is run in, or the only one
/// that is at work in this directory.
pub fn subject(
    here: &Here,
    ledger: &mut Ledger,
    named: Option<&str>,
) -> Result<Subject, SubjectError> {
    if let Some(address) = named {
        return by_address(here, ledger, address);
    }
    if let Some(session) = sessions::current(here, ledger)? {
        return Ok(Subject::of(&session));
    }
    let root = here.place.root.to_string_lossy();
    let live: Vec<Live> = ledger
        .live(&here.place.repo)?
        .into_iter()
        .filter(|live| live.worktree.as_deref() == Some(&*root) && live::is_alive(live))
        .collect();
    match &live[..] {
        [only] => match ledger.session(only.session)? {
            Some(session) => Ok(Subject::of(&session)),
            None => Err(SubjectError::None { live: Vec::new() }),
        },
        all => {
            Err(SubjectError::None { live: all.iter().map(|live| live.session.short()).collect() })
        }
    }
}

/// A session that the ledger has not met is taken by its full id alone. Eight digits could be anything:
/// a denial, which is where a person reads them, makes sure that the ledger knows them.
fn by_address(here: &Here, ledger: &Ledger, address: &str) -> Result<Subject, SubjectError> {
    match ledger.find(&here.place.repo, address)? {
        Found::One(session) => {
            reach::session(here, ledger, &session)?;
            Ok(Subject::of(&session))
        }
        Found::None if is_id(address) => Ok(Subject::of_agent(address, None)),
        _ => {
            let session = sessions::find(here, ledger, address)?;
            Ok(Subject::of(&session))
        }
    }
}

fn is_id(text: &str) -> bool {
    let digits = text.chars().filter(|c| *c != '-').count();
    digits == 32 && text.chars().all(|c| c.is_ascii_hexdigit() || c == '-')
}

/// Who runs the command: an agent through its shell, or a person.
pub fn actor(here: &Here, ledger: &Ledger) -> &'static str {
    if person::who(here, ledger) == Who::Person { BY_PERSON } else { BY_AGENT }
}

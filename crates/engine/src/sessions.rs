//! Finding sessions, and the one a command is run in.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use heirloom_core::config::Config;
use heirloom_core::cost::Cost;
use heirloom_core::event::{
    Body, RunInherited, SessionChanged, SessionContinued, SessionCreated, SessionWithheld,
};
use heirloom_core::facts;
use heirloom_core::id::SessionId;
use heirloom_core::lineage::{End, Lineage};
use heirloom_core::name::SessionName;
use heirloom_core::note::Kind;
use heirloom_core::session::{Link, Session};
use heirloom_core::status::Status;
use heirloom_core::suggest;
use heirloom_core::trust::person::{Action, NotAPerson};
use heirloom_ledger::{Error, Found, Ledger, NoteFilter, Scope, SessionFilter, Writer};
use jiff::Timestamp;
use uuid::Uuid;

use crate::capture;
use crate::guard::{self, AtWork};
use crate::here::Here;
use crate::identity::{self, Look};
use crate::person::{self, PersonError};
use crate::reach;

/// How far `lineage` walks: as good as without end, but it does end.
pub const WHOLE_LINEAGE: usize = 1000;

/// Why a session could not be found.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// Nothing answers to that address.
    #[error("there is no session {address} in this repository")]
    None {
        /// What was asked for.
        address: String,
        /// The session that was probably meant.
        nearest: Option<Box<Session>>,
    },
    /// More than one session answers to that address.
    #[error("{address} matches {} sessions", candidates.len())]
    Many {
        /// What was asked for.
        address: String,
        /// What it could mean.
        candidates: Vec<Session>,
    },
    /// It is of another repository, and an agent asks.
    #[error(transparent)]
    Elsewhere(#[from] NotAPerson),
    #[error(transparent)]
    Ledger(#[from] Error),
}

/// The session that `address` means, where whoever asks may look at it.
pub fn find(here: &Here, ledger: &Ledger, address: &str) -> Result<Session, FindError> {
    let session = meant(here, ledger, address)?;
    reach::session(here, ledger, &session)?;
    Ok(session)
}

fn meant(here: &Here, ledger: &Ledger, address: &str) -> Result<Session, FindError> {
    match ledger.find(&here.place.repo, address)? {
        Found::One(session) => Ok(*session),
        Found::Many(candidates) => Err(FindError::Many { address: address.to_owned(), candidates }),
        Found::None => {
            let names = ledger.recent_names(&here.place.repo, 200)?;
            let nearest = suggest::nearest(address, names.iter().map(String::as_str));
            let nearest = nearest.map(|name| ledger.named(&here.place.repo, name)).transpose()?;
            let nearest = nearest.flatten().map(Box::new);
            Err(FindError::None { address: address.to_owned(), nearest })
        }
    }
}

/// The session a command is run in, as far as the environment says; made if it is an agent's that
/// the ledger has not met.
pub fn current(here: &Here, ledger: &mut Ledger) -> Result<Option<Session>, FindError> {
    if let Some(address) = here.var("HEIRLOOM_SESSION") {
        return find(here, ledger, address).map(Some);
    }
    for agent in heirloom_agents::ALL {
        if let Some(id) = agent.session_variable().and_then(|variable| here.var(variable)) {
            let session = of_agent(here, ledger, agent.name(), id)?;
            match reach::session(here, ledger, &session) {
                Ok(()) => return Ok(Some(session)),
                // Anybody can set a variable to the name of a conversation that is not theirs.
                Err(FindError::Elsewhere(_)) => {}
                Err(error) => return Err(error),
            }
        }
    }
    // An agent that tells its children nothing is found among the processes above.
    let live = ledger.live(&here.place.repo)?;
    match crate::guard::live::calling(&live) {
        Some(live) => Ok(ledger.session(live.session)?),
        None => Ok(None),
    }
}

/// The session of an agent's conversation; made if the ledger has not met it.
fn of_agent(
    here: &Here,
    ledger: &mut Ledger,
    agent: &str,
    agent_session_id: &str,
) -> Result<Session, FindError> {
    if let Some(session) = ledger.of_conversation(agent_session_id)? {
        return Ok(session);
    }
    // An agent that names its sessions by UUID shares its name for this one with us.
    let id = agent_session_id.parse().unwrap_or_else(|_| SessionId::new(Uuid::new_v4()));
    let name = free_name(here, ledger, agent, id)?;
    let created = SessionCreated {
        agent: Some(agent.into()),
        agent_session_id: Some(agent_session_id.to_owned()),
        ..bare(here, name)
    };
    create(here, ledger, (id, &created), Status::Running, |writer| {
        writer.of_conversation(agent_session_id)
    })
}

/// The agent and as much of the id as no other session is called.
pub(crate) fn free_name(
    here: &Here,
    ledger: &Ledger,
    agent: &str,
    id: SessionId,
) -> Result<SessionName, Error> {
    let id = id.to_string();
    for length in [8, 13, 18, 23] {
        let name = format!("{agent}-{}", &id[..length]);
        if ledger.named(&here.place.repo, &name)?.is_none() {
            return Ok(name.parse().expect("an agent's name and hex digits are a name"));
        }
    }
    Ok(format!("{agent}-{id}").parse().expect("an agent's name and an id are a name"))
}

/// What the names of sessions begin with that hold what people note by hand.
pub(crate) const BY_HAND: &str = "notes-";

/// The newest session that holds what people note by hand.
pub(crate) fn by_hand(here: &Here, ledger: &Ledger) -> Result<Option<Session>, Error> {
    const RECENT: usize = 50;
    let repo = Some(here.place.repo.as_str());
    let filter = SessionFilter { repo, limit: RECENT, ..SessionFilter::default() };
    let mut recent = ledger.sessions(&filter)?.sessions.into_iter();
    let by_hand =
        |session: &Session| session.agent.is_none() && session.name.as_str().starts_with(BY_HAND);
    Ok(recent.find(by_hand))
}

/// A session that has no agent, on the branch that is checked out.
pub(crate) fn bare(here: &Here, name: SessionName) -> SessionCreated {
    SessionCreated {
        name,
        parent: None,
        link: None,
        agent: None,
        agent_session_id: None,
        branch: here.place.head.branch().map(str::to_owned),
        config: Config::default(),
        overridden: Vec::new(),
        forked_at: None,
    }
}

/// Records a session that starts out as `status`.
///
/// Many processes may want the same one at once: `known` says, inside the transaction, whether
/// another was faster, and then that one's session is it.
pub(crate) fn create(
    here: &Here,
    ledger: &mut Ledger,
    (id, created): (SessionId, &SessionCreated),
    status: Status,
    known: impl FnOnce(&Writer<'_>) -> Result<Option<Session>, Error>,
) -> Result<Session, FindError> {
    let id = ledger.write(here.clock.now(), |writer| {
        if let Some(session) = known(writer)? {
            return Ok(session.id);
        }
        writer.append(Scope::session(id, &here.place.repo), created)?;
        writer.change_status(id, status, None)?;
        Ok::<_, Error>(id)
    })?;
    identity::settle(here, ledger, Look::AtWork)?;
    Ok(ledger.session(id)?.ok_or(Error::NoSession { id })?)
}

/// Puts a session away, or takes it out again.
pub fn archive(
    here: &Here,
    ledger: &mut Ledger,
    session: &Session,
    put_away: bool,
) -> Result<(), Error> {
    let status = if put_away { Status::Archived } else { before_archive(ledger, session)? };
    ledger.write(here.clock.now(), |writer| writer.change_status(session.id, status, None))
}

/// Withholds a session from the team's hub, with all that come from it; or no longer.
pub fn withhold(
    here: &Here,
    ledger: &mut Ledger,
    session: &Session,
    private: bool,
) -> Result<(), PersonError> {
    person::allow(here, ledger, Action::Hub)?;
    let scope = Scope::session(session.id, &here.place.repo);
    ledger.append(here.clock.now(), scope, &SessionWithheld { private })?;
    Ok(())
}

/// The status a session had when it was put away.
fn before_archive(ledger: &Ledger, session: &Session) -> Result<Status, Error> {
    let changes = ledger.trajectory(session.id)?.into_iter().rev();
    let mut statuses = changes
        .filter(|record| record.kind == SessionChanged::KIND)
        .filter_map(|record| serde_json::from_str::<SessionChanged>(&record.body).ok())
        .map(|change| change.status);
    Ok(statuses.find(|status| status.is_ended()).unwrap_or(Status::Interrupted))
}

/// A session with all it comes from and all that comes from it.
#[derive(Debug, Clone)]
pub struct Family {
    pub session: Session,
    /// Its ancestors, nearest first.
    pub ancestors: Vec<Session>,
    /// What is wrong with the chain of ancestors, if anything is.
    pub warning: Option<String>,
    /// Its descendants with their depth below it, parents before children.
    pub descendants: Vec<(usize, Session)>,
    /// When and how its own conversation went on in another context, oldest first.
    pub continued: Vec<(Timestamp, Link)>,
}

/// What a session's parent is called; its id where the ledger does not know it.
pub fn parent_name(ledger: &Ledger, session: &Session) -> Result<Option<String>, Error> {
    let Some(id) = session.parent else { return Ok(None) };
    let parent = ledger.session(id)?;
    Ok(Some(parent.map_or_else(|| id.to_string(), |parent| parent.name.to_string())))
}

/// Which sessions are listed.
#[derive(Debug, Clone, Default)]
pub struct Listing<'a> {
    /// Only those of this repository.
    pub repo: Option<&'a str>,
    /// Only those with one of these statuses; empty for all but the archived.
    pub statuses: &'a [Status],
    /// Only those of this agent.
    pub agent: Option<&'a str>,
    /// Only those with this in their name, what they were told, or their branch.
    pub text: Option<&'a str>,
    /// Only those that no other session goes on with.
    pub leaves: bool,
    /// Also those of colleagues.
    pub team: bool,
    /// Go on after this session of an earlier page.
    pub after: Option<SessionId>,
    /// The most to list.
    pub limit: usize,
}

/// One page of sessions, newest first.
#[derive(Debug, Clone)]
pub struct Listed {
    /// The sessions.
    pub rows: Vec<Row>,
    /// Where the next page goes on, if there is one.
    pub next: Option<SessionId>,
}

/// A session of a list.
#[derive(Debug, Clone)]
pub struct Row {
    pub session: Session,
    /// What its parent is called.
    pub parent: Option<String>,
    /// Its process, while its agent is at work.
    pub at_work: Option<AtWork>,
    /// What it is called for people.
    pub title: Option<String>,
    /// What it cost, as far as anybody said.
    pub cost: Cost,
    /// Whether what was said in it was forgotten.
    pub forgotten: bool,
}

/// What a session is called for people: as it was launched, else as its agent's transcript says. What a stage asks
/// says nothing about the run, so a run is called after its stage and not after its first prompt.
///
/// The transcript of a fork begins with a copy of its parent's, so that one is called after what it was told itself.
pub fn title(session: &Session, told: Option<String>) -> Option<String> {
    let given = session.config.as_ref().ok().and_then(|config| config.title.clone());
    let forked = session.prompt.as_deref().filter(|_| session.link == Some(Link::Forked));
    given.or_else(|| forked.and_then(facts::title)).or(told)
}

/// What some sessions are about, as far as that is known.
pub fn titles<'a>(
    here: &Here,
    sessions: impl IntoIterator<Item = &'a Session>,
) -> Result<BTreeMap<SessionId, String>, Error> {
    let facts = capture::facts(&here.home)?;
    let mut titles = BTreeMap::new();
    for session in sessions {
        let known = facts.as_ref().map(|facts| facts.session(session.id)).transpose()?.flatten();
        if let Some(title) = title(session, known.and_then(|known| known.title)) {
            titles.insert(session.id, title);
        }
    }
    Ok(titles)
}

/// One page of sessions, with what of them is at work, where whoever asks may look at them.
pub fn list(here: &Here, ledger: &Ledger, listing: &Listing<'_>) -> Result<Listed, PersonError> {
    if listing.repo.is_none() {
        reach::everywhere(here, ledger)?;
    }
    Ok(listed(here, ledger, listing)?)
}

pub(crate) fn listed(here: &Here, ledger: &Ledger, listing: &Listing<'_>) -> Result<Listed, Error> {
    let page = ledger.sessions(&SessionFilter {
        repo: listing.repo,
        statuses: listing.statuses,
        agent: listing.agent,
        text: listing.text,
        leaves: listing.leaves,
        team: listing.team,
        limit: listing.limit,
        after: listing.after,
    })?;
    let repos: BTreeSet<&str> = page.sessions.iter().map(|session| session.repo.as_str()).collect();
    let mut at_work = BTreeMap::new();
    for repo in repos {
        let all = guard::at_work(here, ledger, repo)?;
        at_work.extend(all.into_iter().map(|each| (each.live.session, each)));
    }
    let facts = capture::facts(&here.home)?;
    let mut row = |session: Session| -> Result<Row, Error> {
        let parent = parent_name(ledger, &session)?;
        let at_work = at_work.remove(&session.id);
        let known = facts.as_ref().map(|facts| facts.session(session.id)).transpose()?.flatten();
        let cost = match session.cost {
            Cost::Unknown => known.as_ref().and_then(|known| known.cost_usd).into(),
            own => own,
        };
        let title = title(&session, known.and_then(|known| known.title));
        let forgotten = capture::is_forgotten(&here.home, session.id);
        Ok(Row { session, parent, at_work, title, cost, forgotten })
    };
    let rows = page.sessions.into_iter().map(&mut row).collect::<Result<_, _>>()?;
    Ok(Listed { rows, next: page.next })
}

/// What a session added to what its descendants know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contribution {
    pub learnings: u64,
    pub decisions: u64,
}

/// What `session` added to what its descendants know.
pub fn contribution(ledger: &Ledger, session: &Session) -> Result<Contribution, Error> {
    let count = |kind| {
        let filter =
            NoteFilter { session: Some(session.id), kind: Some(kind), ..NoteFilter::default() };
        ledger.notes(&filter).map(|notes| notes.len() as u64)
    };
    Ok(Contribution { learnings: count(Kind::Learning)?, decisions: count(Kind::Decision)? })
}

/// A session's ancestors and descendants.
pub fn family(ledger: &Ledger, session: Session) -> Result<Family, Error> {
    let Lineage { ancestors, end } = ledger.lineage(&session, WHOLE_LINEAGE)?;
    let warning = match end {
        End::Root => None,
        End::Cycle(id) => Some(format!("the lineage is circular: it comes back to {id}")),
        End::Missing(id) => Some(format!("the parent {id} is not in this ledger")),
        End::Depth(_) => Some(format!("only the nearest {WHOLE_LINEAGE} ancestors are shown")),
    };
    let mut descendants = Vec::new();
    let mut seen = HashSet::from([session.id]);
    add_descendants(ledger, session.id, 1, &mut seen, &mut descendants)?;
    let continued = ledger.trajectory(session.id)?.into_iter().filter_map(|record| {
        let is_one = record.kind == SessionContinued::KIND;
        let body: SessionContinued = serde_json::from_str(&record.body).ok().filter(|_| is_one)?;
        Some((record.at, body.link))
    });
    let continued = continued.collect();
    Ok(Family { session, ancestors, warning, descendants, continued })
}

fn add_descendants(
    ledger: &Ledger,
    parent: SessionId,
    depth: usize,
    seen: &mut HashSet<SessionId>,
    descendants: &mut Vec<(usize, Session)>,
) -> Result<(), Error> {
    for child in ledger.children(parent)? {
        if depth <= WHOLE_LINEAGE && seen.insert(child.id) {
            let id = child.id;
            descendants.push((depth, child));
            add_descendants(ledger, id, depth + 1, seen, descendants)?;
        }
    }
    Ok(())
}

/// The names of a lineage that only what was inherited knows: sessions of the original engine, and of
/// ledgers elsewhere. Nearest first.
pub fn beyond(ledger: &Ledger, family: &Family) -> Result<Vec<String>, Error> {
    let chain: Vec<&Session> = std::iter::once(&family.session).chain(&family.ancestors).collect();
    let mut names: Vec<String> = Vec::new();
    for session in &chain {
        let kept = ledger.kept::<RunInherited>(&session.repo, &session.id.to_string())?;
        for name in kept.into_iter().flat_map(|kept| kept.body.inherited.lineage) {
            let is_known = chain.iter().any(|known| known.name.as_str() == name);
            if !is_known && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    Ok(names)
}

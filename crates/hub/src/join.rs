//! Joining a hub with a repository, letting others in, and leaving.

use std::collections::{BTreeMap, HashSet};

use heirloom_api::{HubInvited, HubJoined, HubKind, HubLeft, HubPreview, HubRevoked};
use heirloom_core::event::{Body, HandoffShared, SessionShared};
use heirloom_core::id::SessionId;
use heirloom_core::record::{Hash, Stored};
use heirloom_core::repo::RepoId;
use heirloom_core::share::{self, Fate};
use heirloom_core::trust::person::Action;
use heirloom_engine::here::Here;
use heirloom_engine::issues::reserved;
use heirloom_engine::person;
use heirloom_ledger::Ledger;
use jiff::Timestamp;
use uuid::Uuid;

use crate::address::Address;
use crate::connection::Connection;
use crate::error::HubError;
use crate::sign::Signer;
use crate::state::{Held, Joined};
use crate::wire;

/// How many records are looked at together.
const PORTION: usize = 1000;

/// What would be sent.
pub type Preview = HubPreview;

/// The key of the repository here, by which others know it.
pub(crate) fn key_of(here: &Here, ledger: &Ledger) -> Result<String, HubError> {
    let id = RepoId::new(ledger.repository(&here.place.repo)?);
    id.key().map(|key| key.to_string()).ok_or(HubError::NoKey)
}

/// What of this repository's history would be sent: how much of each kind, with an example of each as it
/// would leave.
pub fn preview(here: &Here, ledger: &Ledger, address: &Address) -> Result<Preview, HubError> {
    let key = key_of(here, ledger)?;
    let private = ledger.private_sessions()?;
    let mut kinds: BTreeMap<String, HubKind> = BTreeMap::new();
    let mut withheld: BTreeMap<String, u64> = BTreeMap::new();
    let mut seq = 0;
    loop {
        let next = ledger.own_after(seq, PORTION)?;
        let Some(last) = next.last() else { break };
        seq = last.seq();
        for record in next.into_iter().filter_map(Stored::whole) {
            let is_private = record.session.is_some_and(|session| private.contains(&session));
            match share::fate(&record, &key, is_private, usize::MAX) {
                Fate::Stays => {}
                Fate::Withheld(why) => *withheld.entry(why.words().to_owned()).or_default() += 1,
                Fate::Sent => count(&mut kinds, &record.kind, || record.body.clone()),
            }
        }
    }
    for (_, shared) in told(ledger.untold_sessions(&key, Timestamp::UNIX_EPOCH)?, &private) {
        count(&mut kinds, SessionShared::KIND, || {
            serde_json::to_string(&shared).unwrap_or_default()
        });
    }
    for (_, shared) in told(ledger.untold_handoffs(&key, Timestamp::UNIX_EPOCH)?, &private) {
        count(&mut kinds, HandoffShared::KIND, || {
            serde_json::to_string(&shared).unwrap_or_default()
        });
    }
    Ok(HubPreview { hub: address.to_string(), key, kinds: kinds.into_values().collect(), withheld })
}

/// What is told of sessions, without the private ones.
pub(crate) fn told<T>(
    mut all: Vec<(SessionId, T)>,
    private: &HashSet<SessionId>,
) -> Vec<(SessionId, T)> {
    all.retain(|(id, _)| !private.contains(id));
    all
}

fn count(kinds: &mut BTreeMap<String, HubKind>, kind: &str, example: impl FnOnce() -> String) {
    let entry = kinds.entry(kind.to_owned()).or_insert_with(|| HubKind {
        kind: kind.to_owned(),
        count: 0,
        example: example(),
    });
    entry.count += 1;
}

/// Joins: from now on, or with what is there already.
pub fn join(
    here: &Here,
    ledger: &mut Ledger,
    address: &Address,
    history: bool,
) -> Result<HubJoined, HubError> {
    person::allow(here, ledger, Action::Hub)?;
    let key = key_of(here, ledger)?;
    let mut held = Held::take(&here.home)?;
    let before = held.state.repos.remove(&key);
    if let Some(before) = &before {
        let hub = before.url.parse::<Address>().map(|at| at.to_string()).unwrap_or_default();
        // Who joined without a history may send it later.
        let is_more = history && hub == address.to_string() && before.since > Timestamp::UNIX_EPOCH;
        if !is_more {
            return Err(HubError::Joined { hub });
        }
    }
    let hub = Connection::open(address)?;
    let hello = wire::hello(&hub)?;
    let signer = Signer::of(&here.home)?;
    let (host, seq, hash) = ledger.own_end()?;
    let from = if history { (0, Hash::GENESIS) } else { (seq, hash) };
    let roots = here.place.roots();
    let repository = (key.as_str(), here.place.label(), roots.as_slice());
    let (is_new, others) = wire::join(&hub, repository, (host.as_str(), &signer.public()), from)?;
    // One that was there before stands where it stood.
    if history && wire::head(&hub, &key, host.as_str())?.seq > 0 {
        wire::restart(&hub, &key, host.as_str())?;
    }
    let fresh = Joined {
        url: address.as_written().to_owned(),
        name: here.place.label().to_owned(),
        host: host.to_string(),
        since: if history { Timestamp::UNIX_EPOCH } else { here.clock.now() },
        epoch: Some(hello.epoch),
        cursor: 0,
        pushed_at: None,
        pulled_at: None,
        pushed_seq: from.0,
        withheld: Vec::new(),
        withheld_count: 0,
        trouble: None,
        tended_at: None,
        streams: BTreeMap::new(),
    };
    // What was read stays read.
    let joined = match before {
        Some(before) => Joined {
            url: fresh.url,
            name: fresh.name,
            host: fresh.host,
            since: fresh.since,
            ..before
        },
        None => fresh,
    };
    held.state.repos.insert(key.clone(), joined);
    held.save()?;
    Ok(HubJoined { hub: address.to_string(), key, member: hello.login, is_new, others, history })
}

/// Forgets the hub. What was sent stays there, what came stays here.
pub fn leave(here: &Here, ledger: &Ledger) -> Result<HubLeft, HubError> {
    person::allow(here, ledger, Action::Hub)?;
    let key = key_of(here, ledger)?;
    let mut held = Held::take(&here.home)?;
    let joined = held.state.repos.remove(&key).ok_or(HubError::NotJoined)?;
    held.save()?;
    // Nobody else adds to this backlog any more.
    let _ = heirloom_repo::file::remove_file(reserved::path(&here.home, &key));
    Ok(HubLeft { hub: joined.url.parse::<Address>()?.to_string(), key })
}

/// Lets somebody in. Their password is made here; the hub gets only what it keeps of it.
pub fn invite(here: &Here, ledger: &Ledger, name: &str) -> Result<HubInvited, HubError> {
    person::allow(here, ledger, Action::Hub)?;
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if !name.starts_with(|c: char| c.is_ascii_lowercase())
        || !name.chars().all(fits)
        || name.len() > 40
    {
        return Err(HubError::Name { name: name.to_owned() });
    }
    let key = key_of(here, ledger)?;
    let address: Address = crate::state::look(&here.home, &key)?.url.parse()?;
    let hub = Connection::open(&address)?;
    let password = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
    let verifier = postgres_protocol::password::scram_sha_256(password.as_bytes());
    let sql = "SELECT heirloom.invite_v1($1, $2, $3, 2)";
    let is_new: bool = hub.one("let somebody in", sql, &[&key, &name, &verifier])?.get(0);
    let url = is_new.then(|| address.with_login(name, &password));
    Ok(HubInvited { name: name.to_owned(), url })
}

/// Takes somebody's access to this repository away.
pub fn revoke(here: &Here, ledger: &Ledger, name: &str) -> Result<HubRevoked, HubError> {
    person::allow(here, ledger, Action::Hub)?;
    let key = key_of(here, ledger)?;
    let address: Address = crate::state::look(&here.home, &key)?.url.parse()?;
    let hub = Connection::open(&address)?;
    let row = hub.one("shut somebody out", "SELECT heirloom.revoke_v1($1, $2)", &[&key, &name])?;
    Ok(HubRevoked { name: name.to_owned(), login_off: row.get(0) })
}

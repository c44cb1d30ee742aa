//! Sending what is new in this ledger and may leave it.

use std::collections::HashSet;

use heirloom_api::{HubPushed, HubWithheld};
use heirloom_core::event::Body;
use heirloom_core::event::RecordErased;
use heirloom_core::id::SessionId;
use heirloom_core::record::{Hash, Record, Stored};
use heirloom_core::share::{self, Fate};
use heirloom_core::trust::person::Action;
use heirloom_engine::here::Here;
use heirloom_engine::person;
use heirloom_ledger::{Ledger, Scope};
use jiff::{SignedDuration, Timestamp};

use crate::connection::{Connection, Opened};
use crate::error::HubError;
use crate::ids;
use crate::join::{key_of, told};
use crate::schema::WITH_MONTHS;
use crate::sign::Signer;
use crate::state::Withheld;
use crate::wire::{self, Batch, Head, Hello, Pushed};

/// The most bytes of bodies in a batch, but for one that is larger alone.
const MOST_BYTES: usize = 1024 * 1024;

/// How often the hub is asked to pack what is old.
const DAY: SignedDuration = SignedDuration::from_hours(24);

/// Sends what is new. What was acknowledged before a line was cut is not sent again: the hub's head
/// decides, not what this side remembers.
pub fn push(here: &Here, ledger: &mut Ledger) -> Result<HubPushed, HubError> {
    person::allow(here, ledger, Action::Hub)?;
    let key = key_of(here, ledger)?;
    send(here, ledger, &key)
}

/// The same for what goes on by itself, since a person joined: of the repository `key`, wherever it lies.
pub(crate) fn send(here: &Here, ledger: &mut Ledger, key: &str) -> Result<HubPushed, HubError> {
    let Opened { mut held, address, hub, hello } = Opened::of(&here.home, key)?;
    let joined = held.joined(key)?;
    let signer = Signer::of(&here.home)?;
    let host = ledger.host()?.to_string();
    if joined.host != host {
        // A home that became a host of its own joins as that: from its first record on.
        wire::join(&hub, (key, &joined.name, &[]), (&host, &signer.public()), (0, Hash::GENESIS))?;
        joined.host.clone_from(&host);
    }
    tell_sessions(here.clock.now(), ledger, key, joined.since)?;
    let mut sending = Sending {
        hub: &hub,
        hello: &hello,
        signer: &signer,
        key,
        host: &host,
        private: ledger.private_sessions()?,
        pushed: HubPushed { hub: address.to_string(), ..HubPushed::default() },
        withheld: Vec::new(),
    };
    let sent = sending.send_all(ledger);
    if sending.pushed.sent > 0 {
        // Who is not told finds it at the next look.
        let _ = wire::tell(&hub, key, &host);
    }
    if sent.is_ok() && hello.schema >= WITH_MONTHS {
        // Nobody asked for either: what does not work now is tried again with the next push.
        let _ = ids::top_up(&here.home, ledger, (&hub, key, &host));
        let is_tended =
            joined.tended_at.is_some_and(|at| here.clock.now().duration_since(at) < DAY);
        if !is_tended && wire::tend(&hub).is_ok() {
            joined.tended_at = Some(here.clock.now());
        }
    }
    let Sending { mut pushed, withheld, .. } = sending;
    pushed.withheld = withheld.iter().map(named).collect();
    joined.name_withheld(withheld);
    joined.pushed_seq = pushed.seq;
    joined.pushed_at = Some(here.clock.now());
    held.save()?;
    sent.map(|()| pushed)
}

pub(crate) fn named(withheld: &Withheld) -> HubWithheld {
    HubWithheld {
        seq: withheld.seq,
        kind: withheld.kind.clone(),
        why: withheld.why.words().to_owned(),
    }
}

/// Writes down what the team may know of sessions and of what they handed over, where it does not know it
/// yet.
fn tell_sessions(
    now: Timestamp,
    ledger: &mut Ledger,
    key: &str,
    since: Timestamp,
) -> Result<(), HubError> {
    let private = ledger.private_sessions()?;
    let sessions = told(ledger.untold_sessions(key, since)?, &private);
    let handoffs = told(ledger.untold_handoffs(key, since)?, &private);
    if sessions.is_empty() && handoffs.is_empty() {
        return Ok(());
    }
    Ok(ledger.append_all(now, |appender| {
        for (id, shared) in &sessions {
            appender.append(Scope::session(*id, key), shared)?;
        }
        for (id, shared) in &handoffs {
            appender.append(Scope::session(*id, key), shared)?;
        }
        Ok::<_, heirloom_ledger::Error>(())
    })?)
}

struct Sending<'a> {
    hub: &'a Connection,
    hello: &'a Hello,
    signer: &'a Signer,
    key: &'a str,
    host: &'a str,
    private: HashSet<SessionId>,
    pushed: HubPushed,
    withheld: Vec<Withheld>,
}

impl Sending<'_> {
    fn send_all(&mut self, ledger: &Ledger) -> Result<(), HubError> {
        let mut head = wire::head(self.hub, self.key, self.host)?;
        loop {
            self.pushed.seq = head.seq;
            self.check_head(ledger, &head)?;
            let next = ledger.own_after(head.seq, self.hello.largest_batch)?;
            if next.is_empty() {
                return Ok(());
            }
            let (batch, withheld) = self.batch(ledger, &head, next)?;
            match wire::push(self.hub, self.key, self.host, &batch)? {
                Pushed::Taken(now) => {
                    self.pushed.sent += batch.records.len() as u64;
                    self.withheld.extend(withheld);
                    head = now;
                }
                // Another process of this home was quicker.
                Pushed::Elsewhere(now) if now.seq > head.seq => head = now,
                Pushed::Elsewhere(now) => return Err(HubError::Forked { seq: now.seq }),
                Pushed::Later(wait_ms) => {
                    self.pushed.later_ms = Some(wait_ms);
                    return Ok(());
                }
                Pushed::TooLarge => {
                    let why = "its limits changed in between; push again".to_owned();
                    return Err(HubError::Failed { doing: "take records", why });
                }
            }
        }
    }

    /// The hub's last record of this ledger has to be the one that is here.
    fn check_head(&self, ledger: &Ledger, head: &Head) -> Result<(), HubError> {
        if head.seq == 0 {
            return Ok(());
        }
        let (host, ..) = ledger.own_end()?;
        match ledger.hash_of(&host, head.seq)? {
            Some(hash) if hash == head.hash => Ok(()),
            _ => Err(HubError::Forked { seq: head.seq }),
        }
    }

    fn batch(
        &self,
        ledger: &Ledger,
        head: &Head,
        next: Vec<Stored>,
    ) -> Result<(Batch, Vec<Withheld>), HubError> {
        let (mut before, mut link) = ((head.seq, head.hash), head.link);
        let (mut records, mut withheld, mut bytes) = (Vec::new(), Vec::new(), 0);
        let mut last_sent = None;
        for stored in next {
            let fate = self.fate(ledger, &stored)?;
            if fate == Fate::Sent {
                bytes += size(&stored);
                if bytes > MOST_BYTES && !records.is_empty() {
                    break;
                }
            }
            let (seq, hash) = (stored.seq(), stored.hash());
            match fate {
                Fate::Stays => {}
                Fate::Withheld(why) => {
                    withheld.push(Withheld { seq, kind: kind(&stored).to_owned(), why });
                }
                Fate::Sent => {
                    let is_beside = last_sent == Some(before.0);
                    link = share::link(&link, &hash);
                    records.push((stored, (!is_beside).then_some(before.1)));
                    last_sent = Some(seq);
                }
            }
            before = (seq, hash);
        }
        let count = head.count + records.len() as u64;
        let signature = self.signer.sign(self.host, self.key, count, &link);
        let after = (head.seq, head.hash);
        Ok((Batch { after, to: before, records, link, signature }, withheld))
    }

    fn fate(&self, ledger: &Ledger, stored: &Stored) -> Result<Fate, HubError> {
        let record = match stored {
            Stored::Whole(record) => record,
            // Nothing of it is left; the next one says what it follows.
            Stored::Erased(_) => return Ok(Fate::Stays),
        };
        if record.kind == RecordErased::KIND && !self.concerns(ledger, record)? {
            return Ok(Fate::Stays);
        }
        let is_private = record.session.is_some_and(|session| self.private.contains(&session));
        Ok(share::fate(record, self.key, is_private, self.hello.largest_body))
    }

    /// Whether what was erased was of this host and repository.
    fn concerns(&self, ledger: &Ledger, record: &Record) -> Result<bool, HubError> {
        let Ok(erased) = serde_json::from_str::<RecordErased>(&record.body) else {
            return Ok(false);
        };
        Ok(erased.host.as_str() == self.host
            && ledger.repos_of(&erased.host, &erased.seqs)?.contains(self.key))
    }
}

fn kind(stored: &Stored) -> &str {
    match stored {
        Stored::Whole(record) => &record.kind,
        Stored::Erased(erased) => &erased.kind,
    }
}

fn size(stored: &Stored) -> usize {
    match stored {
        Stored::Whole(record) => record.body.len(),
        Stored::Erased(_) => 0,
    }
}

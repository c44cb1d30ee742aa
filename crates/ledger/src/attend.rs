//! Noticing what happened to the ledger while nobody looked, before anything is written on top of it.

use std::fmt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::Connection;

use heirloom_core::event::{HostSucceeded, RecordsLost};
use heirloom_core::id::HostId;
use heirloom_core::record::{Hash, is_credible};

use crate::anchor::{Anchor, Identity};
use crate::error::Error;
use crate::ledger::{FILE_NAME, Ledger, Options};
use crate::verify::Gap;
use crate::write::{Appender, Scope};
use crate::{create, damage, rebuild, records};

/// Something that happened to the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// A damaged one was set aside, and nobody has healed it yet.
    SetAside { path: PathBuf },
    /// It is a copy of another one, and goes on as a host of its own.
    Copied {
        /// The host it was copied from.
        from: HostId,
        /// The host it is now.
        to: HostId,
    },
    /// Records that were here are not any more.
    CutOff(Gap),
    /// Another record is in the place of one that was here.
    Rewritten {
        host: HostId,
        /// The place in its chain.
        seq: u64,
    },
    /// The clock is wrong.
    Clock { at: Timestamp },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SetAside { path } => write!(
                f,
                "the ledger was damaged and set aside as {}; what it holds is not shown until \
                 `heirloom heal` takes it over",
                path.display()
            ),
            Self::Copied { from, to } => write!(
                f,
                "this ledger is a copy of that of host {from}; from now on it writes as host {to}"
            ),
            Self::CutOff(Gap { host, from, to }) => write!(
                f,
                "records {from} to {to} of host {host} were in the ledger and are gone: its log was \
                 lost, or an older copy was put in its place; `heirloom ledger import FILE` takes \
                 them back from an export or a backup"
            ),
            Self::Rewritten { host, seq } => write!(
                f,
                "record {seq} of host {host} is not the one that was in the ledger; `heirloom \
                 ledger verify` says more"
            ),
            Self::Clock { at } => write!(
                f,
                "the clock of this machine says {at}; what is recorded now is shown under the time of \
                 what was recorded before it"
            ),
        }
    }
}

impl Ledger {
    /// Notices what happened to the ledger in `home` since it was last looked at, and remembers how it
    /// is now. Where there is none, none is made.
    ///
    /// A copy, and a ledger whose end is lost, go on as a new host from here on: their old chain may be
    /// continued by somebody else, differently.
    pub fn attend(home: &Path, at: Timestamp, options: Options) -> Result<Vec<Notice>, Error> {
        Self::attended(home, at, options).map(|(notices, _)| notices)
    }

    /// The same, and the ledger if there is one: to open it a second time would cost as much again.
    pub fn attended(
        home: &Path,
        at: Timestamp,
        options: Options,
    ) -> Result<(Vec<Notice>, Option<Self>), Error> {
        let mut notices = Self::noticed_beside(home, at);
        if !home.join(FILE_NAME).try_exists().unwrap_or(false) {
            return Ok((notices, None));
        }
        let mut ledger = Self::open(home, options)?;
        notices.extend(ledger.look_back(at)?);
        Ok((notices, Some(ledger)))
    }

    /// What can be noticed without opening the ledger in `home`.
    pub fn noticed_beside(home: &Path, at: Timestamp) -> Vec<Notice> {
        let asides = damage::set_aside_in(home).into_iter();
        let mut notices: Vec<Notice> = asides.map(|path| Notice::SetAside { path }).collect();
        if !is_credible(at) {
            notices.push(Notice::Clock { at });
        }
        notices
    }

    /// Makes this ledger a host of its own, whoever else goes on with the chain it has. Returns the old
    /// host and the new one.
    pub fn rehost(&mut self, at: Timestamp) -> Result<(HostId, HostId), Error> {
        self.become_another(at, &[])
    }

    /// What [`Ledger::attend`] notices about a ledger that is open.
    pub fn look_back(&mut self, at: Timestamp) -> Result<Vec<Notice>, Error> {
        // The views speak up if they know more than the records.
        self.with_views()?;
        let anchor = Anchor::read(&self.path);
        let (own, ..) = self.run_hot("read", records::own_head)?;
        let mut notices = Vec::new();
        let mut lost = Vec::new();
        for (host, seq, hash) in anchor.ends() {
            if self.run_hot("read", |db| Ok(records::contains(db, &host, seq, &hash)))? {
                continue;
            }
            let here = self.run_hot("read", |db| records::head(db, &host))?;
            match here.map_or(0, |(seq, _)| seq) {
                // A ledger that was set aside, and is not here at all.
                0 if host != own => {}
                here if here < seq => {
                    lost.push(Gap { host: host.to_string(), from: here + 1, to: seq });
                }
                _ => notices.push(Notice::Rewritten { host, seq }),
            }
        }
        let same = Identity::of(&self.path, &own);
        let is_copy =
            anchor.file.as_ref().zip(same).is_some_and(|(known, now)| now.is_copy_of(known));
        if is_copy || !lost.is_empty() {
            let (from, to) = self.become_another(at, &lost)?;
            notices.extend(lost.into_iter().map(Notice::CutOff));
            if is_copy {
                notices.push(Notice::Copied { from, to });
            }
        } else {
            self.anchor(&anchor)?;
        }
        Ok(notices)
    }

    /// Remembers outside of the file how far the chain goes.
    pub(crate) fn anchor(&self, before: &Anchor) -> Result<(), Error> {
        let (own, seq, hash) = self.run_hot("read", records::own_head)?;
        let mut anchor = before.clone();
        // An end that is not here any more was named; what is here now is what is watched.
        for (host, seq, hash) in before.ends() {
            let is_here =
                self.run_hot("read", |db| Ok(records::contains(db, &host, seq, &hash)))?;
            let now = self.run_hot("read", |db| records::head(db, &host))?;
            if let (false, Some((seq, hash))) = (is_here, now) {
                anchor.set(&host, seq, &hash);
            }
        }
        if seq > 0 {
            anchor.set(&own, seq, &hash);
        }
        anchor.file = Identity::of(&self.path, &own);
        anchor.write(&self.path);
        Ok(())
    }

    fn become_another(&mut self, at: Timestamp, lost: &[Gap]) -> Result<(HostId, HostId), Error> {
        let explain = |source| self.explain("write to", source);
        self.detach();
        self.configure()?;
        let transaction = self.begin().map_err(explain)?;
        let (old, seq, _) = records::own_head(&transaction).map_err(explain)?;
        let new = create::new_host();
        own_by(&transaction, &new).map_err(explain)?;
        let mut appender = Appender::new(self, at).map_err(explain)?;
        appender.append(Scope::default(), &HostSucceeded { host: old.to_string(), seq })?;
        for Gap { host, from, to } in lost {
            let gone = RecordsLost { host: host.clone(), from: *from, to: *to };
            appender.append(Scope::default(), &gone)?;
        }
        appender.finish().map_err(explain)?;
        rebuild::rebuild(&transaction).map_err(explain)?;
        transaction.commit().map_err(explain)?;
        // What only counts where it was written counts no more.
        self.remake_views()?;
        self.anchor(&Anchor::read(&self.path))?;
        Ok((old, new))
    }
}

fn own_by(db: &Connection, host: &HostId) -> rusqlite::Result<()> {
    db.execute("UPDATE head SET own = 0 WHERE own = 1", ())?;
    db.execute(
        "INSERT INTO head (host, seq, hash, own) VALUES (?1, 0, ?2, 1)",
        (host.as_str(), Hash::GENESIS.as_bytes()),
    )
    .map(drop)
}

//! Saving what can still be read of a damaged ledger.
//!
//! The bytes of the file and of its log are searched for records, without the database: a page that
//! cannot be read takes nothing with it but itself. A record says by its hash whether it is genuine.
//! What is saved is put in front of what the ledger has since, in its old order; what is missing is
//! recorded, so that `verify` can tell a known loss from a new one.

mod cell;
mod file;
mod judge;
pub(crate) mod scratch;

use std::path::Path;

use jiff::Timestamp;
use rusqlite::Connection;
use serde::Serialize;

use heirloom_core::event::{HostSucceeded, RecordsLost};
use heirloom_core::id::HostId;
use heirloom_core::record::{Hash, Stored};

use crate::anchor::Anchor;
use crate::error::Error;
use crate::ledger::Ledger;
use crate::verify::Gap;
use crate::write::{Appender, Scope};
use crate::{erase, order, rebuild, records};

use file::Pages;
use scratch::{Position, Scratch};

/// What salvaging came to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Salvaged {
    /// Records that were taken over.
    pub added: u64,
    /// Records that were here already.
    pub known: u64,
    /// Records that are gone, as far as is known.
    pub missing: Vec<Gap>,
}

/// How far something is that takes its time: what, how much of it, of how much.
pub type Progress<'a> = dyn FnMut(&'static str, u64, u64) + 'a;

impl Ledger {
    /// Takes over what can still be read of the damaged ledgers at `damaged`, oldest first. None of
    /// them is touched. `copies` are older states of the same ledger, for what the damage took.
    ///
    /// The host of the newest goes on writing here, if nothing was written since and the end of its
    /// chain is certain. If not, this ledger is a new host that succeeds it: of a chain whose end is
    /// lost somebody else may have more.
    pub fn salvage(
        &mut self,
        at: Timestamp,
        damaged: &[&Path],
        copies: &[&Path],
        progress: &mut Progress<'_>,
    ) -> Result<Salvaged, Error> {
        let home = self.path.parent().unwrap_or(Path::new("."));
        let scratch = Scratch::new(home)?;
        let explain = |source| self.explain("salvage", source);
        let newest = i64::try_from(damaged.len()).unwrap_or(i64::MAX);
        for (path, source) in damaged.iter().zip(1..) {
            search(path, &scratch, Origin { source, is_copy: false }, progress).map_err(explain)?;
        }
        for path in copies {
            let origin = Origin { source: newest, is_copy: true };
            search(path, &scratch, origin, progress).map_err(explain)?;
        }
        let gaps = judge::choose(&scratch).map_err(explain)?;
        let anchor = Anchor::read(&self.path);
        testify(&anchor, &scratch, newest).map_err(explain)?;
        self.detach();
        self.configure()?;
        let transaction = self.begin().map_err(explain)?;
        let salvaged = self.take_over(&transaction, at, (&scratch, gaps), progress)?;
        transaction.commit().map_err(explain)?;
        // What was derived from other records, or as another host, is not to be taken for this.
        self.remake_views()?;
        self.anchor(&anchor)?;
        Ok(salvaged)
    }

    fn take_over(
        &self,
        db: &Connection,
        at: Timestamp,
        (scratch, gaps): (&Scratch, Vec<Gap>),
        progress: &mut Progress<'_>,
    ) -> Result<Salvaged, Error> {
        let explain = |source| self.explain("salvage into", source);
        let last = records::last_arrival(db).map_err(explain)?;
        let own = records::own_head(db).map_err(explain)?;
        let mut salvaged = Salvaged::default();
        let (mut done, all) = (0, scratch.chosen().map_err(explain)?);
        let took = scratch.each(Scratch::CHOSEN, |_, stored| {
            done += 1;
            progress("taking over records", done, all);
            take(db, &stored, &mut salvaged).map_err(explain)
        })?;
        took.map_err(explain)?;
        let hosts = scratch.hosts().map_err(explain)?;
        hosts.iter().try_for_each(|host| extend_head(db, host)).map_err(explain)?;
        if last > 0 && salvaged.added > 0 {
            order::put_in_front(db, last).map_err(explain)?;
        }
        let succeeds = succeed(db, scratch, &own).map_err(explain)?;
        let damaged = scratch.own_head().map_err(explain)?.map(|(host, ..)| host);
        erase::again(db, damaged.as_ref()).map_err(explain)?;
        rebuild::rebuild(db).map_err(explain)?;
        let gaps = still_missing(db, scratch, gaps).map_err(explain)?;
        let known = records::lost(db).map_err(explain)?;
        let mut appender = Appender::new(self, at).map_err(explain)?;
        if let Some(succeeds) = succeeds {
            appender.append(Scope::default(), &succeeds)?;
        }
        for Gap { host, from, to } in gaps.iter().filter(|gap| !known.contains(gap)) {
            let gone = RecordsLost { host: host.clone(), from: *from, to: *to };
            appender.append(Scope::default(), &gone)?;
        }
        appender.finish().map_err(explain)?;
        salvaged.missing = gaps;
        Ok(salvaged)
    }
}

/// Keeps every genuine record of a copy of a ledger.
pub(crate) fn collect(
    path: &Path,
    scratch: &Scratch,
    progress: &mut Progress<'_>,
) -> rusqlite::Result<()> {
    search(path, scratch, Origin { source: 1, is_copy: false }, progress)?;
    judge::choose(scratch).map(drop)
}

/// What is known outside of the file of how far its chains went.
fn testify(anchor: &Anchor, scratch: &Scratch, source: i64) -> rusqlite::Result<()> {
    for (host, seq, hash) in anchor.ends() {
        let own = anchor.file.as_ref().is_some_and(|file| file.host == host.as_str());
        scratch.add_head(&cell::Head { host, seq, hash, own }, source)?;
    }
    Ok(())
}

/// Which file is searched, and as what.
#[derive(Clone, Copy)]
struct Origin {
    source: i64,
    /// Whether it is an older state of that source. Then it does not know how far its chains went.
    is_copy: bool,
}

/// Keeps every copy of a record that a file and its log have.
fn search(
    path: &Path,
    scratch: &Scratch,
    origin: Origin,
    progress: &mut Progress<'_>,
) -> rusqlite::Result<()> {
    let mut pages = Pages::open(path);
    let (usable, all) = (pages.usable, pages.count());
    for (copy, done) in pages.copies().zip(1..) {
        progress("searching pages", done, all);
        let page = pages.read(copy);
        let rank = i64::from(!copy.current) + 2 * i64::from(origin.is_copy);
        for found in cell::cells(&page, usable) {
            let place = Position { source: origin.source, arrival: found.arrival };
            let keep = |payload: &[u8]| match cell::record(payload) {
                Some(stored) => scratch.add(&stored, place, rank),
                None => Ok(()),
            };
            let local = &page[found.at..found.at + found.local];
            let Some(overflow) = found.overflow else {
                keep(local)?;
                continue;
            };
            // The rest of what is in the file may have been written anew in the log.
            for in_log in [copy.in_log, true] {
                let rest = pages.rest(overflow, found.length - found.local, in_log);
                keep(&[local, &rest].concat())?;
            }
        }
        if copy.current && !origin.is_copy {
            for head in cell::heads(&page) {
                scratch.add_head(&head, origin.source)?;
            }
        }
    }
    Ok(())
}

/// Adds a record, unless it is here already; whatever is here stays.
fn take(db: &Connection, stored: &Stored, salvaged: &mut Salvaged) -> rusqlite::Result<()> {
    let mut is_here =
        db.prepare_cached("SELECT 1 FROM record WHERE (host = ?1 AND seq = ?2) OR id = ?3")?;
    let id = match stored {
        Stored::Whole(record) => Some(record.id.to_string()),
        Stored::Erased(_) => None,
    };
    if is_here.exists((stored.host().as_str(), records::to_sql(stored.seq()), id))? {
        salvaged.known += 1;
        return Ok(());
    }
    records::insert_stored(db, stored)?;
    salvaged.added += 1;
    Ok(())
}

/// A chain goes as far as its last record.
fn extend_head(db: &Connection, host: &str) -> rusqlite::Result<()> {
    db.execute(
        "INSERT INTO head (host, seq, hash, own)
         SELECT host, seq, hash, 0 FROM record WHERE host = ?1 ORDER BY seq DESC LIMIT 1
         ON CONFLICT (host) DO UPDATE SET seq = excluded.seq, hash = excluded.hash
           WHERE excluded.seq > head.seq",
        (host,),
    )
    .map(drop)
}

/// Lets the host of the damaged ledger go on, or says whom this one succeeds.
fn succeed(
    db: &Connection,
    scratch: &Scratch,
    own: &(HostId, u64, Hash),
) -> rusqlite::Result<Option<HostSucceeded>> {
    let (own, written, _) = own;
    let Some((host, seq, hash)) = scratch.own_head()? else { return Ok(None) };
    let here = records::head(db, &host)?;
    if *own == host {
        return Ok(None);
    }
    if *written == 0 && here == Some((seq, hash)) {
        db.execute("DELETE FROM head WHERE host = ?1", (own.as_str(),))?;
        db.execute("UPDATE head SET own = 1 WHERE host = ?1", (host.as_str(),))?;
        return Ok(None);
    }
    Ok(Some(HostSucceeded { host: host.to_string(), seq: here.map_or(0, |(seq, _)| seq) }))
}

/// What of a gap is still not here, with what is missing at the ends of the chains.
fn still_missing(
    db: &Connection,
    scratch: &Scratch,
    mut gaps: Vec<Gap>,
) -> rusqlite::Result<Vec<Gap>> {
    for host in scratch.hosts()? {
        let Ok(id) = HostId::parse(&host) else { continue };
        let here = records::head(db, &id)?.map_or(0, |(seq, _)| seq);
        if let Some((to, _)) = scratch.head(&id)?.filter(|(seq, _)| *seq > here) {
            gaps.push(Gap { host, from: here + 1, to });
        }
    }
    gaps.sort();
    let mut missing: Vec<Gap> = Vec::new();
    for gap in gaps {
        for Gap { host, from, to } in absent(db, gap)? {
            match missing.last_mut() {
                Some(last) if last.host == host && last.to + 1 == from => last.to = to,
                _ => missing.push(Gap { host, from, to }),
            }
        }
    }
    Ok(missing)
}

/// The parts of a gap that are not here.
fn absent(db: &Connection, gap: Gap) -> rusqlite::Result<Vec<Gap>> {
    let Gap { host, from, to } = gap;
    let mut here = db.prepare_cached(
        "SELECT seq FROM record WHERE host = ?1 AND seq BETWEEN ?2 AND ?3 ORDER BY seq",
    )?;
    let mut next = from;
    let mut parts = Vec::new();
    let mut rows = here.query((&host, records::to_sql(from), records::to_sql(to)))?;
    while let Some(row) = rows.next()? {
        let seq = records::from_sql(row.get(0)?);
        if seq > next {
            parts.push(Gap { host: host.clone(), from: next, to: seq - 1 });
        }
        next = seq + 1;
    }
    if next <= to {
        parts.push(Gap { host, from: next, to });
    }
    Ok(parts)
}

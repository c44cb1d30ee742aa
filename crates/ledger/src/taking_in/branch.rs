//! Another future of a chain, which becomes a host of its own.
//!
//! Its records keep their places, and the first says what it follows in the chain it comes from. So what
//! its author says of a place, that it was erased, is known to be said of the record in that place here.

use rusqlite::{Connection, OptionalExtension};

use heirloom_core::event::{Body, RecordErased};
use heirloom_core::id::HostId;
use heirloom_core::record::{Hash, Record, Stored};

use super::{Taking, at_place};
use crate::erase;
use crate::exchange::ImportError;
use crate::records;

/// Whether a branch has room for a record in its place.
enum Room {
    Free,
    /// It was there, and was erased.
    Gone,
    /// Something else is there; or the branch is not one whose records kept their places.
    Taken,
}

impl Taking<'_> {
    /// The host that a record goes to in the place of the one that wrote it, as far as that is known.
    pub(super) fn fork(&mut self, stored: &Stored) -> Result<Option<HostId>, ImportError> {
        let fork = self.streams.get(stored.host()).and_then(|stream| stream.fork.clone());
        // What was branched off because of what it said is not back in its chain once it is erased there.
        if let (None, Stored::Erased(_)) = (&fork, stored) {
            let branch = beginning_with(stored);
            return Ok((self.head(&branch)?.0 > 0).then_some(branch));
        }
        Ok(fork)
    }

    /// Adds a record to the chain of another host than the one that wrote it, `fork` if it can be.
    pub(super) fn branch_off(
        &mut self,
        stored: &Stored,
        before: Hash,
        fork: Option<HostId>,
        clean: Option<String>,
    ) -> Result<(), ImportError> {
        // Of one that was erased there is nothing that another chain could hold.
        let Stored::Whole(record) = stored else {
            let branch = fork.unwrap_or_else(|| beginning_with(stored));
            self.streams.entry(stored.host().clone()).or_default().fork = Some(branch);
            return Ok(());
        };
        let (branch, room) = self.branch_for(stored, fork)?;
        self.streams.entry(stored.host().clone()).or_default().fork = Some(branch.clone());
        if !matches!(room, Room::Free) {
            self.imported.known += 1;
            return Ok(());
        }
        let mut body = clean.unwrap_or_else(|| record.body.clone());
        if let Some(erased) = erase::said(record).filter(|erased| erased.host == record.host) {
            body = self.erased_in(&branch, record, erased)?.unwrap_or(body);
        }
        let (last, hash) = self.head(&branch)?;
        let is_beside = last > 0 && last + 1 == record.seq;
        let prev = (!is_beside).then_some(before);
        let mut record = Record { host: branch, body, prev, ..record.clone() };
        record.hash = record.expected_hash(&prev.unwrap_or(hash));
        let (host, end) = (record.host.clone(), (record.seq, record.hash));
        self.imported.added += 1;
        self.imported.branched += 1;
        self.add(&Stored::Whole(record))?;
        self.heads.insert(host, end);
        Ok(())
    }

    /// The branch that a record belongs to: the one its stream goes to, or one that begins with it.
    fn branch_for(
        &mut self,
        stored: &Stored,
        fork: Option<HostId>,
    ) -> Result<(HostId, Room), ImportError> {
        if let Some(fork) = fork {
            let room = self.room(&fork, stored.seq())?;
            if !matches!(room, Room::Taken) {
                return Ok((fork, room));
            }
        }
        let branch = beginning_with(stored);
        // One that there is already began with this record, and it is not here any more.
        let room = if self.head(&branch)?.0 == 0 { Room::Free } else { Room::Gone };
        Ok((branch, room))
    }

    fn room(&mut self, branch: &HostId, seq: u64) -> Result<Room, ImportError> {
        let last = self.head(branch)?.0;
        if last == 0 {
            return Ok(Room::Free);
        }
        self.run(|db| {
            if first(db, branch)?.is_none() {
                return Ok(Room::Taken);
            }
            if seq > last {
                return Ok(Room::Free);
            }
            let is_gone = match at_place(db, branch, seq)? {
                Some(there) => matches!(there, Stored::Erased(_)),
                None => is_said_erased(db, branch, seq)?,
            };
            Ok(if is_gone { Room::Gone } else { Room::Taken })
        })
    }

    /// What an author says of erased places, said of those of a branch; nothing if it is about none of
    /// them. What is in the chain that it branches off from is erased as well, unless that is this ledger's
    /// own: of that only this ledger says so.
    fn erased_in(
        &mut self,
        branch: &HostId,
        record: &Record,
        erased: RecordErased,
    ) -> Result<Option<String>, ImportError> {
        let common = self.common(branch, &record.host)?;
        let (shared, there): (Vec<u64>, Vec<u64>) =
            erased.seqs.iter().partition(|seq| **seq <= common);
        if !shared.is_empty() && record.host != self.own {
            let erased = RecordErased { seqs: shared, ..erased.clone() };
            self.erasures.push((record.at, erased));
        }
        let there = RecordErased { host: branch.clone(), seqs: there, ..erased };
        Ok(serde_json::to_string(&there).ok().filter(|_| !there.seqs.is_empty()))
    }

    /// The last place of a chain up to which a branch has nothing of its own.
    fn common(&mut self, branch: &HostId, host: &HostId) -> Result<u64, ImportError> {
        let seen = self.streams.get(host).map_or(0, |stream| stream.common);
        let follows = self.run(|db| {
            let Some((seq, prev)) = first(db, branch)? else { return Ok(0) };
            let before = seq.saturating_sub(1);
            let here = at_place(db, host, before)?.map(|here| here.hash());
            Ok(if here == Some(prev) { before } else { 0 })
        })?;
        Ok(seen.max(follows))
    }
}

/// The branch that begins with a record. The same in every ledger.
fn beginning_with(stored: &Stored) -> HostId {
    HostId::from_random(*stored.hash().as_bytes().first_chunk().unwrap_or(&[0; 8]))
}

/// The first place of a branch, and what is before it in the chain it comes from. Nothing where places are
/// counted from one, as in chains that are not a branch, and in branches of earlier versions.
fn first(db: &Connection, branch: &HostId) -> rusqlite::Result<Option<(u64, Hash)>> {
    let sql = "SELECT seq, prev, prev IS NULL FROM record WHERE host = ?1 ORDER BY seq LIMIT 1";
    let first = db.prepare_cached(sql)?.query_row((branch.as_str(),), |row| {
        let seq = records::from_sql(row.get(0)?);
        Ok(if row.get(2)? { None } else { Some((seq, records::hash(row, 1)?)) })
    });
    Ok(first.optional()?.flatten())
}

/// Whether a branch itself says that one of its places was erased.
fn is_said_erased(db: &Connection, branch: &HostId, seq: u64) -> rusqlite::Result<bool> {
    let mut statement =
        db.prepare("SELECT body FROM record WHERE host = ?1 AND kind = ?2 AND body IS NOT NULL")?;
    let bodies = statement
        .query_map((branch.as_str(), RecordErased::KIND), |row| row.get::<_, String>(0))?;
    for body in bodies {
        let erased = serde_json::from_str::<RecordErased>(&body?);
        if erased.is_ok_and(|erased| erased.host == *branch && erased.seqs.contains(&seq)) {
            return Ok(true);
        }
    }
    Ok(false)
}

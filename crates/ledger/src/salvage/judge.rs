//! Which of the copies that were found are genuine.
//!
//! A record is genuine if its hash follows from what it says and from the record before it. Where the
//! record before it is gone nothing can be checked against it, and the first one after the hole is
//! believed; where the record before it is there and was changed, the one after it must still fit the
//! hash that the changed one had.

use rusqlite::Row;

use heirloom_core::record::{Hash, Stored};

use super::scratch::{Chosen, Found, Position, Scratch};
use crate::records;
use crate::verify::Gap;

/// How many different copies of one record are looked at.
const COPIES: usize = 32;

/// What is known of the record before.
enum Before {
    Gone,
    /// It is genuine, and this is its hash.
    Genuine(Hash),
    /// What is there of it is not genuine; its hash was one of these, if anything of it is true.
    Doubtful(Vec<Hash>),
}

impl Before {
    fn hashes(&self) -> &[Hash] {
        match self {
            Self::Gone => &[],
            Self::Genuine(hash) => std::slice::from_ref(hash),
            Self::Doubtful(hashes) => hashes,
        }
    }

    /// Which hash a copy follows; nothing where it follows none, and no hash where none is known.
    #[expect(clippy::option_option, reason = "to follow none, and to have none to follow")]
    fn of(&self, copy: &Stored) -> Option<Option<Hash>> {
        match (self, copy.prev()) {
            (Self::Gone, Some(prev)) => copy.follows(&prev).then_some(Some(prev)),
            (Self::Gone, None) => Some(None),
            _ => self.hashes().iter().find(|hash| copy.follows(hash)).map(|hash| Some(*hash)),
        }
    }
}

/// All copies of the record in one place of a chain.
struct Group {
    seq: u64,
    copies: Vec<Found>,
}

/// Chooses the genuine records of every host. Returns what is missing between them.
pub(super) fn choose(scratch: &Scratch) -> rusqlite::Result<Vec<Gap>> {
    let mut gaps = Vec::new();
    for host in scratch.hosts()? {
        let found = follow(scratch, &host)?;
        gaps.extend(found.into_iter().map(|(from, to)| Gap { host: host.clone(), from, to }));
    }
    Ok(gaps)
}

fn follow(scratch: &Scratch, host: &str) -> rusqlite::Result<Vec<(u64, u64)>> {
    // What was erased stays erased, wherever an older copy of it may be.
    let sql = format!(
        "SELECT n, source, arrival, {} FROM found WHERE host = ?1
         ORDER BY seq, body IS NOT NULL, rank, n",
        records::COLUMNS
    );
    let mut statement = scratch.db.prepare(&sql)?;
    let mut rows = statement.query((host,))?;
    let mut ahead = rows.next()?.map(read).transpose()?;
    let mut group = |ahead: &mut Option<Found>| -> rusqlite::Result<Option<Group>> {
        let Some(first) = ahead.take() else { return Ok(None) };
        let mut group = Group { seq: first.stored.seq(), copies: vec![first] };
        while let Some(next) = rows.next()?.map(read).transpose()? {
            if next.stored.seq() != group.seq {
                *ahead = Some(next);
                break;
            }
            if group.copies.len() < COPIES {
                group.copies.push(next);
            }
        }
        Ok(Some(group))
    };
    let mut walk = Walk { before: Before::Genuine(Hash::GENESIS), last: 0, gaps: Vec::new() };
    let mut latest: Option<Position> = None;
    let mut now = group(&mut ahead)?;
    while let Some(this) = now {
        let next = group(&mut ahead)?;
        if let Some(mut chosen) = walk.step(&this, next.as_ref()) {
            // A row whose number was damaged must not come before the one it follows.
            chosen.place = latest.map_or(chosen.place, |latest| latest.max(chosen.place));
            latest = Some(chosen.place);
            scratch.choose(&chosen)?;
        }
        now = next;
    }
    Ok(walk.gaps)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Found> {
    let place = Position { source: row.get(1)?, arrival: row.get(2)? };
    Ok(Found { n: row.get(0)?, place, stored: records::read_stored(row, 3)? })
}

struct Walk {
    before: Before,
    /// The last place in the chain that is accounted for.
    last: u64,
    gaps: Vec<(u64, u64)>,
}

impl Walk {
    fn step(&mut self, this: &Group, next: Option<&Group>) -> Option<Chosen> {
        let hole = this.seq - self.last - 1;
        if hole > 0 {
            self.before = Before::Gone;
        }
        let after = next.filter(|next| next.seq == this.seq + 1);
        let chosen = genuine(this, &self.before, after);
        let carries = chosen.as_ref().is_some_and(|(copy, ..)| copy.stored.prev().is_some());
        if hole > 0 && !carries {
            self.gaps.push((self.last + 1, this.seq - 1));
        }
        self.last = this.seq;
        let Some((copy, hash, prev)) = chosen else {
            self.gaps.push((this.seq, this.seq));
            self.before = Before::Doubtful(possible(this, &self.before));
            return None;
        };
        // Behind a record that is left out it says itself what it follows.
        let is_behind_a_hole = !matches!(self.before, Before::Genuine(_));
        self.before = Before::Genuine(hash);
        let prev = prev.filter(|_| is_behind_a_hole);
        Some(Chosen { n: copy.n, hash, prev, place: copy.place })
    }
}

/// The genuine copy, if there is one, with its hash and the one before it.
fn genuine<'a>(
    this: &'a Group,
    before: &Before,
    after: Option<&Group>,
) -> Option<(&'a Found, Hash, Option<Hash>)> {
    let is_followed = |hash: &Hash| {
        after.is_some_and(|after| after.copies.iter().any(|c| c.stored.follows(hash)))
    };
    let fitting = || {
        let fits = |copy: &'a Found| Some((copy, copy.stored.hash(), before.of(&copy.stored)?));
        this.copies.iter().filter_map(fits)
    };
    // Of two that fit, as when a transaction was rolled back, the one that others followed.
    let best = fitting().find(|(_, hash, _)| is_followed(hash)).or_else(|| fitting().next());
    // Only the hash was damaged, if the next record follows from what it should be.
    best.or_else(|| {
        this.copies.iter().find_map(|copy| {
            let Stored::Whole(record) = &copy.stored else { return None };
            before.hashes().iter().find_map(|prev| {
                let hash = record.expected_hash(prev);
                is_followed(&hash).then_some((copy, hash, Some(*prev)))
            })
        })
    })
}

/// What the hash of a record was that is not genuine any more.
fn possible(this: &Group, before: &Before) -> Vec<Hash> {
    let expected = |copy: &Found| match &copy.stored {
        Stored::Whole(record) => before.hashes().iter().map(|h| record.expected_hash(h)).collect(),
        Stored::Erased(_) => Vec::new(),
    };
    this.copies
        .iter()
        .flat_map(|copy| {
            let mut hashes: Vec<Hash> = expected(copy);
            hashes.push(copy.stored.hash());
            hashes
        })
        .take(2 * COPIES)
        .collect()
}

//! Following each host's chain through the records, and naming where it breaks.

use std::collections::{HashMap, HashSet};

use rusqlite::Connection;

use heirloom_core::event::{Body, RecordErased};
use heirloom_core::id::HostId;
use heirloom_core::record::{Hash, Record, Stored, is_credible};

use crate::anchor::Anchor;
use crate::records;
use crate::salvage::Progress;
use crate::verify::{Gap, Problem};

/// What following the chains found, besides what is wrong.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    /// How many records there are.
    pub records: u64,
    /// Where records are not here, and the one behind says what they ended with, or a record says that
    /// they are lost.
    pub gaps: Vec<Gap>,
    /// How many records say that they were written at a time that cannot be.
    pub misdated: u64,
}

/// Checks every chain.
pub(crate) fn check(
    db: &Connection,
    problems: &mut Vec<Problem>,
    progress: &mut Progress<'_>,
) -> rusqlite::Result<Checked> {
    let all = db.query_row("SELECT count(*) FROM record", (), |row| row.get(0))?;
    let all = records::from_sql(all);
    let sql = format!("SELECT arrival, {} FROM record ORDER BY host, seq", records::COLUMNS);
    let mut statement = db.prepare(&sql)?;
    let mut rows = statement.query(())?;
    let mut walk = Walk::default();
    while let Some(row) = rows.next()? {
        walk.count += 1;
        progress("following the chains", walk.count, all);
        match read(row) {
            Ok((arrival, stored)) => walk.step(arrival, &stored, problems),
            Err(error) => {
                let problem = unreadable(row, &error);
                walk.pass_over(problem.seq);
                problems.push(problem);
            }
        }
    }
    walk.remember_end();
    walk.name_swapped(problems);
    walk.name_unexplained(problems);
    walk.sign_off(records::lost(db)?, problems);
    check_heads(db, &walk.ends, problems)?;
    Ok(Checked { records: walk.count, gaps: walk.gaps, misdated: walk.misdated })
}

fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<(i64, Stored)> {
    Ok((row.get(0)?, records::read_stored(row, 1)?))
}

fn unreadable(row: &rusqlite::Row<'_>, error: &rusqlite::Error) -> Problem {
    Problem {
        host: row.get(1).unwrap_or_default(),
        seq: row.get::<_, i64>(2).map(records::from_sql).unwrap_or_default(),
        id: row.get(3).ok(),
        problem: "changed",
        detail: format!("it cannot be read: {error}"),
    }
}

/// How many records that do not fit are compared with each other, to tell a swap from a change.
const MISFITS: usize = 100;

#[derive(Default)]
struct Walk {
    count: u64,
    host: Option<HostId>,
    seq: u64,
    arrival: i64,
    hash: Option<Hash>,
    ends: HashMap<String, (u64, Option<Hash>)>,
    /// Records that do not fit, with the hash that comes before them.
    misfits: Vec<(Record, Hash)>,
    gaps: Vec<Gap>,
    misdated: u64,
    /// Where records are missing, and nothing behind says what they ended with.
    holes: Vec<Gap>,
    /// Records without content, and those that records say were erased.
    empty: Vec<(String, u64)>,
    erased: HashSet<(String, u64)>,
}

impl Walk {
    fn step(&mut self, arrival: i64, stored: &Stored, problems: &mut Vec<Problem>) {
        if self.host.as_ref() != Some(stored.host()) {
            self.remember_end();
            (self.host, self.hash) = (Some(stored.host().clone()), Some(Hash::GENESIS));
            (self.seq, self.arrival) = (0, 0);
        }
        let hole =
            || Gap { host: stored.host().to_string(), from: self.seq + 1, to: stored.seq() - 1 };
        if stored.seq() == self.seq + 1 {
            self.check_carried(arrival, stored, problems);
        } else if let Some(prev) = stored.prev() {
            self.gaps.push(hole());
            self.hash = Some(prev);
        } else {
            self.holes.push(hole());
            self.hash = None;
        }
        match stored {
            Stored::Whole(record) => self.note(record, problems),
            Stored::Erased(erased) => self.empty.push((erased.host.to_string(), erased.seq)),
        }
        (self.seq, self.arrival, self.hash) = (stored.seq(), arrival, Some(stored.hash()));
    }

    fn check_carried(&mut self, arrival: i64, stored: &Stored, problems: &mut Vec<Problem>) {
        if arrival < self.arrival {
            problems.push(Problem::of(stored, "reordered", "it arrived before the one it follows"));
        }
        if stored.prev().is_some_and(|prev| self.hash.is_some_and(|hash| hash != prev)) {
            problems.push(Problem::of(stored, "changed", "it does not follow the one before it"));
        }
    }

    fn note(&mut self, record: &Record, problems: &mut Vec<Problem>) {
        self.misdated += u64::from(!is_credible(record.at));
        if let Some(previous) = self.hash
            && record.expected_hash(&previous) != record.hash
        {
            if self.misfits.len() < MISFITS {
                self.misfits.push((record.clone(), previous));
            } else {
                problems.push(changed(record));
            }
        }
        if record.kind == RecordErased::KIND
            && let Ok(erased) = serde_json::from_str::<RecordErased>(&record.body)
        {
            let host = erased.host.to_string();
            self.erased.extend(erased.seqs.into_iter().map(|seq| (host.clone(), seq)));
        }
    }

    /// Tells the holes that were written down from those that are news.
    fn sign_off(&mut self, lost: Vec<Gap>, problems: &mut Vec<Problem>) {
        for hole in &self.holes {
            let mut from = hole.from;
            while from <= hole.to {
                let covers =
                    |gap: &&Gap| gap.host == hole.host && (gap.from..=gap.to).contains(&from);
                let Some(known) = lost.iter().find(covers) else { break };
                let to = known.to.min(hole.to);
                self.gaps.push(Gap { host: hole.host.clone(), from, to });
                from = to + 1;
            }
            if from <= hole.to {
                problems.push(missing(&Gap { from, ..hole.clone() }));
            }
        }
        // What was lost at the end of a chain leaves no hole in what is here.
        for gap in lost {
            let end = self.ends.get(&gap.host).map_or(0, |(end, _)| *end);
            if gap.to > end {
                let from = gap.from.max(end + 1);
                self.gaps.push(Gap { from, ..gap });
            }
        }
        self.gaps.sort();
        self.gaps.dedup();
    }

    /// Names records that lost their content without a record that says so.
    fn name_unexplained(&self, problems: &mut Vec<Problem>) {
        for (host, seq) in self.empty.iter().filter(|at| !self.erased.contains(*at)) {
            let detail = "its content is gone, and no record says that it was erased".to_owned();
            let (host, seq) = (host.clone(), *seq);
            problems.push(Problem { host, seq, id: None, problem: "changed", detail });
        }
    }

    /// Goes on behind a record that cannot be read: what follows it cannot be checked against it.
    fn pass_over(&mut self, seq: u64) {
        if seq == self.seq + 1 {
            (self.seq, self.hash) = (seq, None);
        }
    }

    fn remember_end(&mut self) {
        if let Some(host) = &self.host {
            self.ends.insert(host.as_str().to_owned(), (self.seq, self.hash));
        }
    }

    /// Tells records that changed places from records that changed.
    fn name_swapped(&self, problems: &mut Vec<Problem>) {
        // What came before a record in its true place: what comes before a misfit now, or, where
        // neighbours changed places, a misfit itself.
        let befores: Vec<Hash> =
            self.misfits.iter().flat_map(|(record, before)| [*before, record.hash]).collect();
        let fits = |record: &Record, seq| {
            let moved = Record { seq, ..record.clone() };
            befores.iter().any(|before| moved.expected_hash(before) == record.hash)
        };
        for (record, _) in &self.misfits {
            if fits(record, record.seq) {
                // It follows one that was moved away from before it.
                continue;
            }
            let home = self
                .misfits
                .iter()
                .find(|(other, _)| other.seq != record.seq && fits(record, other.seq));
            problems.push(match home {
                Some((other, _)) => {
                    let detail = format!("it belongs at {}", other.seq);
                    Problem::of_record(record, "reordered", &detail)
                }
                None => changed(record),
            });
        }
    }
}

fn changed(record: &Record) -> Problem {
    Problem::of_record(record, "changed", "its hash does not cover what it says")
}

fn missing(hole: &Gap) -> Problem {
    let detail = if hole.from == hole.to {
        "it is gone".to_owned()
    } else {
        format!("the records up to {} are gone", hole.to)
    };
    Problem { host: hole.host.clone(), seq: hole.from, id: None, problem: "missing", detail }
}

/// Compares the chains with what is known of them outside of the file.
pub(crate) fn check_anchor(
    db: &Connection,
    anchor: &Anchor,
    gaps: &[Gap],
    problems: &mut Vec<Problem>,
) -> rusqlite::Result<()> {
    for (host, seq, hash) in anchor.ends() {
        let is_known = |gap: &Gap| gap.host == host.as_str() && (gap.from..=gap.to).contains(&seq);
        if records::contains(db, &host, seq, &hash) || gaps.iter().any(is_known) {
            continue;
        }
        let end = records::head(db, &host)?.map_or(0, |(end, _)| end);
        let is_own = || records::own_head(db).is_ok_and(|(own, ..)| own == host);
        // Of a ledger that was set aside nothing is here; and what was named is not named again.
        let is_named =
            problems.iter().any(|problem| problem.host == host.as_str() && problem.seq <= seq);
        if is_named || (end == 0 && !is_own()) {
            continue;
        }
        let host = host.to_string();
        problems.push(if end < seq {
            let detail = format!("the chain went up to {seq} before");
            Problem { host, seq: end + 1, id: None, problem: "missing", detail }
        } else {
            let detail = "it is not the record that was here before".to_owned();
            Problem { host, seq, id: None, problem: "changed", detail }
        });
    }
    Ok(())
}

/// A chain that ends before its head was cut off at the end.
fn check_heads(
    db: &Connection,
    ends: &HashMap<String, (u64, Option<Hash>)>,
    problems: &mut Vec<Problem>,
) -> rusqlite::Result<()> {
    let mut statement = db.prepare("SELECT host, seq, hash, own FROM head ORDER BY host")?;
    let mut rows = statement.query(())?;
    let (mut seen, mut own) = (HashSet::new(), 0);
    while let Some(row) = rows.next()? {
        let (host, seq, hash): (String, i64, Vec<u8>) = (row.get(0)?, row.get(1)?, row.get(2)?);
        own += row.get::<_, i64>(3)?;
        seen.insert(host.clone());
        let (head, (end, last)) =
            (records::from_sql(seq), ends.get(&host).copied().unwrap_or((0, None)));
        if head == end && last.is_some_and(|last| last.as_bytes()[..] != hash[..]) {
            let detail = "it is not the record the chain ended with".to_owned();
            problems.push(Problem { host, seq: end, id: None, problem: "changed", detail });
            continue;
        }
        if head > end {
            let detail = format!("the chain goes up to {head}, the records only to {end}");
            problems.push(Problem { host, seq: end + 1, id: None, problem: "missing", detail });
        } else if head < end {
            let detail = format!("the chain ends at {head}, but there are records up to {end}");
            problems.push(Problem { host, seq: head + 1, id: None, problem: "added", detail });
        }
    }
    for (host, (end, _)) in ends.iter().filter(|(host, _)| !seen.contains(*host)) {
        let (host, detail) = (host.clone(), "the end of its chain is no longer known".to_owned());
        problems.push(Problem { host, seq: *end, id: None, problem: "missing", detail });
    }
    if own != 1 {
        let detail = "it does not say which host writes here".to_owned();
        problems.push(Problem::of_file("damaged", detail));
    }
    Ok(())
}

//! Following each host's chain through the records, and naming where it breaks.

use std::collections::HashMap;

use rusqlite::Connection;

use heirloom_core::id::HostId;
use heirloom_core::record::{Hash, Record};

use crate::records;
use crate::verify::Problem;

/// Checks every chain. Returns how many records there are.
pub(crate) fn check(db: &Connection, problems: &mut Vec<Problem>) -> rusqlite::Result<u64> {
    let sql = format!("SELECT arrival, {} FROM record ORDER BY host, seq", records::COLUMNS);
    let mut statement = db.prepare(&sql)?;
    let mut rows = statement.query(())?;
    let mut walk = Walk::default();
    while let Some(row) = rows.next()? {
        walk.count += 1;
        match read(row) {
            Ok((arrival, record)) => walk.step(arrival, &record, problems),
            Err(error) => problems.push(unreadable(row, &error)),
        }
    }
    walk.remember_end();
    walk.name_swapped(problems);
    check_heads(db, &walk.ends, problems)?;
    Ok(walk.count)
}

fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<(i64, Record)> {
    Ok((row.get(0)?, records::read_from(row, 1)?))
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

#[derive(Default)]
struct Walk {
    count: u64,
    host: Option<HostId>,
    seq: u64,
    arrival: i64,
    hash: Option<Hash>,
    ends: HashMap<String, u64>,
    /// Records that do not fit, with the hash that comes before them.
    misfits: Vec<(Record, Hash)>,
}

impl Walk {
    fn step(&mut self, arrival: i64, record: &Record, problems: &mut Vec<Problem>) {
        if self.host.as_ref() != Some(&record.host) {
            self.remember_end();
            *self = Self {
                host: Some(record.host.clone()),
                hash: Some(Hash::GENESIS),
                count: self.count,
                ends: std::mem::take(&mut self.ends),
                misfits: std::mem::take(&mut self.misfits),
                ..Self::default()
            };
        }
        if record.seq != self.seq + 1 {
            problems.push(missing(record, self.seq + 1));
            self.hash = None;
        } else if arrival < self.arrival {
            problems.push(Problem::of(record, "reordered", "it arrived before the one it follows"));
        }
        if let Some(previous) = self.hash
            && record.expected_hash(&previous) != record.hash
        {
            self.misfits.push((record.clone(), previous));
        }
        (self.seq, self.arrival, self.hash) = (record.seq, arrival, Some(record.hash));
    }

    fn remember_end(&mut self) {
        if let Some(host) = &self.host {
            self.ends.insert(host.as_str().to_owned(), self.seq);
        }
    }

    /// Tells records that changed places from records that changed.
    fn name_swapped(&self, problems: &mut Vec<Problem>) {
        for (record, _) in &self.misfits {
            let home = self.misfits.iter().find(|(other, before)| {
                let moved = Record { seq: other.seq, ..record.clone() };
                other.seq != record.seq && moved.expected_hash(before) == record.hash
            });
            problems.push(match home {
                Some((other, _)) => {
                    Problem::of(record, "reordered", &format!("it belongs at {}", other.seq))
                }
                None => Problem::of(record, "changed", "its hash does not cover what it says"),
            });
        }
    }
}

fn missing(record: &Record, expected: u64) -> Problem {
    let last = record.seq.saturating_sub(1);
    let detail = if expected == last {
        "it is gone".to_owned()
    } else {
        format!("the records up to {last} are gone")
    };
    Problem { host: record.host.to_string(), seq: expected, id: None, problem: "missing", detail }
}

/// A chain that ends before its head was cut off at the end.
fn check_heads(
    db: &Connection,
    ends: &HashMap<String, u64>,
    problems: &mut Vec<Problem>,
) -> rusqlite::Result<()> {
    let mut statement = db.prepare("SELECT host, seq, hash FROM head ORDER BY host")?;
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        let (host, seq): (String, i64) = (row.get(0)?, row.get(1)?);
        let (head, end) = (records::from_sql(seq), ends.get(&host).copied().unwrap_or(0));
        if head > end {
            let detail = format!("the chain goes up to {head}, the records only to {end}");
            problems.push(Problem { host, seq: end + 1, id: None, problem: "missing", detail });
        } else if head < end {
            let detail = format!("the chain ends at {head}, but there are records up to {end}");
            problems.push(Problem { host, seq: head + 1, id: None, problem: "added", detail });
        }
    }
    Ok(())
}

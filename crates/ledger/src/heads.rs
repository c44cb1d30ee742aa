//! The ends of the chains, to be kept where whoever changes the ledger does not reach.
//!
//! Every hash covers all that came before it. So a chain whose end is still what it was is what it was,
//! and one line a host is enough to notice that the file was cut off, put back or rewritten, also by
//! somebody who made `heads.json` fit. Where such lines are kept is left to people: in an export, in a
//! git note, in a signed tag, on paper.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{BufRead, Read};

use serde::{Deserialize, Serialize};

use heirloom_core::id::HostId;
use heirloom_core::record::Hash;

use crate::error::Error;
use crate::exchange::ImportError;
use crate::ledger::Ledger;
use crate::records;
use crate::taking_in::LONGEST_LINE;
use crate::verify::{Problem, Report};

/// The end of a host's chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    pub host: String,
    /// The place of its last record.
    pub seq: u64,
    /// The hash of that record, and so of all before it.
    pub hash: String,
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.host, self.seq, self.hash)
    }
}

impl Head {
    /// Reads a line: of an export, of `ledger heads`, or of its JSON. A text may say other things as well,
    /// as the message of a signed tag does.
    fn read(line: &str) -> Result<Vec<Self>, serde_json::Error> {
        #[derive(Deserialize)]
        struct Heads {
            heads: Vec<Head>,
        }
        if line.starts_with("{\"heads\"") {
            return serde_json::from_str::<Heads>(line).map(|list| list.heads);
        }
        if line.starts_with('{') {
            return serde_json::from_str(line).map(|head| vec![head]);
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let head = match words[..] {
            [host, seq, hash] => seq.parse().ok().map(|seq| (host, seq, hash)),
            _ => None,
        };
        let known = head
            .filter(|(host, _, hash)| HostId::parse(host).is_ok() && Hash::parse(hash).is_some());
        let head = |(host, seq, hash): (&str, u64, &str)| Self {
            host: host.to_owned(),
            seq,
            hash: hash.to_owned(),
        };
        Ok(known.map(head).into_iter().collect())
    }
}

/// The last end of each host that `input` knows.
pub fn read_heads(mut input: impl BufRead) -> Result<Vec<Head>, ImportError> {
    let mut ends: BTreeMap<String, Head> = BTreeMap::new();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let mut bounded = input.by_ref().take(LONGEST_LINE);
        if bounded.read_until(b'\n', &mut line).map_err(ImportError::Input)? == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&line);
        let heads = Head::read(text.trim())
            .map_err(|error| ImportError::NotARecord { line: number, reason: error.to_string() })?;
        for head in heads {
            let known = ends.entry(head.host.clone()).or_insert_with(|| head.clone());
            if known.seq < head.seq {
                *known = head;
            }
        }
    }
    if ends.is_empty() {
        let reason = "it has no end of a chain: neither an export nor what `ledger heads` prints";
        return Err(ImportError::NotARecord { line: 1, reason: reason.to_owned() });
    }
    Ok(ends.into_values().collect())
}

impl Ledger {
    /// The end of every chain, by host.
    pub fn heads(&self) -> Result<Vec<Head>, Error> {
        self.run_hot("read", |db| {
            db.prepare("SELECT host, seq, hash FROM head WHERE seq > 0 ORDER BY host")?
                .query_map((), |row| {
                    let hash = records::hash(row, 2)?.to_string();
                    Ok(Head { host: row.get(0)?, seq: records::from_sql(row.get(1)?), hash })
                })?
                .collect()
        })
    }

    /// Adds to what verifying found where the chains are not what `heads` say they were.
    pub fn compare(&self, heads: &[Head], report: &mut Report) -> Result<(), Error> {
        for head in heads {
            let (Ok(host), Some(hash)) = (HostId::parse(&head.host), Hash::parse(&head.hash))
            else {
                continue;
            };
            let is_here =
                self.run_hot("verify", |db| Ok(records::contains(db, &host, head.seq, &hash)))?;
            // What is recorded as lost was said; that it is gone is no news.
            let is_lost = report
                .gaps
                .iter()
                .any(|gap| gap.host == head.host && (gap.from..=gap.to).contains(&head.seq));
            if is_here || is_lost {
                continue;
            }
            let end = self.run_hot("verify", |db| records::head(db, &host))?;
            let end = end.map_or(0, |(seq, _)| seq);
            let (problem, seq, detail) = if end < head.seq {
                ("missing", end + 1, format!("the chain went up to {} there", head.seq))
            } else {
                ("changed", head.seq, "it, or one before it, is not the record of then".to_owned())
            };
            let host = head.host.clone();
            report.problems.push(Problem { host, seq, id: None, problem, detail });
            report.ok = false;
        }
        Ok(())
    }
}

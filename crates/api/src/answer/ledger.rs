//! The ledger itself.

use std::collections::BTreeMap;

use heirloom_engine::legacy::daemon::Imported as ImportedDaemon;
use heirloom_engine::session::Collected;
use heirloom_ledger as ledger;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Answer;

/// Whether the ledger is whole.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LedgerReport {
    /// Whether all is well.
    pub ok: bool,
    /// How many records there are.
    pub records: u64,
    /// How many hosts wrote them.
    pub hosts: u64,
    /// What is not well.
    pub problems: Vec<LedgerProblem>,
    /// Where records of a host are not here, and need not be.
    pub gaps: Vec<Gap>,
    /// How many records say that they were written at a time that cannot be; they are shown under the
    /// time of the record before.
    pub misdated: u64,
}

impl Answer for LedgerReport {}

/// Records of a host that are not here.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Gap {
    /// The host.
    pub host: String,
    /// The first that is not here.
    pub from: u64,
    /// The last.
    pub to: u64,
}

impl From<&ledger::Gap> for Gap {
    fn from(gap: &ledger::Gap) -> Self {
        let ledger::Gap { host, from, to } = gap.clone();
        Self { host, from, to }
    }
}

/// One thing that is not well.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LedgerProblem {
    /// The host whose chain it is in, or the table; empty for a file.
    pub host: String,
    /// The place in that chain.
    pub seq: u64,
    /// The record's id, where there is a record.
    pub id: Option<String>,
    /// `changed`, `missing`, `reordered`, `added`, `damaged` or `projection`.
    pub problem: String,
    /// What exactly.
    pub detail: String,
}

impl From<&ledger::Report> for LedgerReport {
    fn from(report: &ledger::Report) -> Self {
        let problem = |problem: &ledger::Problem| LedgerProblem {
            host: problem.host.clone(),
            seq: problem.seq,
            id: problem.id.clone(),
            problem: problem.problem.to_owned(),
            detail: problem.detail.clone(),
        };
        Self {
            ok: report.ok,
            records: report.records,
            hosts: report.hosts,
            problems: report.problems.iter().map(problem).collect(),
            gaps: report.gaps.iter().map(Gap::from).collect(),
            misdated: report.misdated,
        }
    }
}

/// That every projection was derived again.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LedgerRebuilt {
    /// From how many records.
    pub records: u64,
}

impl Answer for LedgerRebuilt {}

/// How much is in the ledger.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LedgerStats {
    /// The file.
    pub path: String,
    /// The format of the file.
    pub version: i64,
    /// The host that writes here.
    pub host: String,
    /// Its size with its log.
    pub bytes: u64,
    /// Records in all.
    pub records: u64,
    /// Records of each kind.
    pub kinds: BTreeMap<String, u64>,
    /// Records of each host.
    pub hosts: BTreeMap<String, u64>,
    /// Sessions in all.
    pub sessions: u64,
    /// Notes in all.
    pub notes: u64,
    /// The time of the first record.
    pub first_at: Option<Timestamp>,
    /// The time of the last record.
    pub last_at: Option<Timestamp>,
}

impl Answer for LedgerStats {}

impl From<&ledger::Stats> for LedgerStats {
    fn from(stats: &ledger::Stats) -> Self {
        Self {
            path: stats.path.clone(),
            version: stats.version,
            host: stats.host.clone(),
            bytes: stats.bytes,
            records: stats.records,
            kinds: stats.kinds.clone(),
            hosts: stats.hosts.clone(),
            sessions: stats.sessions,
            notes: stats.notes,
            first_at: stats.first_at,
            last_at: stats.last_at,
        }
    }
}

/// That records were written to a file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LedgerExported {
    /// How many.
    pub records: u64,
    /// The file.
    pub file: String,
}

impl Answer for LedgerExported {}

/// That the ledger was copied, and the copy verified.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LedgerBackup {
    /// How many records it has.
    pub records: u64,
    /// The file.
    pub file: String,
}

impl Answer for LedgerBackup {}

/// The ends of the chains.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LedgerHeads {
    /// One a host.
    pub heads: Vec<LedgerHead>,
}

impl Answer for LedgerHeads {}

/// The end of a host's chain.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LedgerHead {
    /// The host.
    pub host: String,
    /// The place of its last record.
    pub seq: u64,
    /// The hash of that record, which covers all before it.
    pub hash: String,
}

impl From<&[ledger::Head]> for LedgerHeads {
    fn from(heads: &[ledger::Head]) -> Self {
        let head = |head: &ledger::Head| {
            let ledger::Head { host, seq, hash } = head.clone();
            LedgerHead { host, seq, hash }
        };
        Self { heads: heads.iter().map(head).collect() }
    }
}

/// That a copied home became a host of its own.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LedgerRehosted {
    /// The host it is now.
    pub host: String,
    /// The host it was.
    pub succeeds: String,
}

impl Answer for LedgerRehosted {}

/// What an import of records did.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LedgerImported {
    /// Records that were added.
    pub added: u64,
    /// Records that were here already.
    pub known: u64,
    /// Records of those added that became a host of their own, because both copies went on.
    pub branched: u64,
}

impl Answer for LedgerImported {}

impl From<ledger::Imported> for LedgerImported {
    fn from(imported: ledger::Imported) -> Self {
        let ledger::Imported { added, known, branched, erased: _ } = imported;
        Self { added, known, branched }
    }
}

/// What giving back room came to, or with a dry run would.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LedgerCollected {
    /// Whether this was a dry run.
    pub dry_run: bool,
    /// What agents printed and is now compressed.
    pub streams: CollectedStreams,
    /// Secrets that nothing refers to.
    pub secrets: CollectedSecrets,
    /// Files that killed processes left behind.
    pub leftovers: Vec<String>,
    /// The files of the ledger.
    pub ledger: CollectedLedger,
}

impl Answer for LedgerCollected {}

/// What agents printed and is now compressed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CollectedStreams {
    /// How many files.
    pub files: u64,
    /// Their size before.
    pub bytes_before: u64,
    /// Their size after; not known in a dry run.
    pub bytes_after: Option<u64>,
}

/// Secrets that nothing refers to.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CollectedSecrets {
    /// How many were removed.
    pub removed: u64,
    /// Whether the vault was left alone because somebody was adding to it.
    pub in_use: bool,
}

/// How large the files of the ledger were and are, with their logs.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CollectedLedger {
    /// Before.
    pub bytes_before: u64,
    /// After; an estimate in a dry run.
    pub bytes_after: u64,
}

impl From<&Collected> for LedgerCollected {
    fn from(collected: &Collected) -> Self {
        let Collected { dry_run, streams, secrets, leftovers, ledger } = collected;
        Self {
            dry_run: *dry_run,
            streams: CollectedStreams {
                files: streams.files,
                bytes_before: streams.bytes_before,
                bytes_after: streams.bytes_after,
            },
            secrets: CollectedSecrets { removed: secrets.removed, in_use: secrets.in_use },
            leftovers: leftovers.iter().map(|path| path.display().to_string()).collect(),
            ledger: CollectedLedger {
                bytes_before: ledger.bytes_before,
                bytes_after: ledger.bytes_after,
            },
        }
    }
}

/// What was taken over from another program.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DaemonImported {
    /// Sessions that are new here.
    pub imported: usize,
    /// Sessions that were here already.
    pub already: usize,
    /// Sessions that were not taken over.
    pub refused: Vec<Reason>,
    /// Sessions that are not all they were.
    pub lessened: Vec<Reason>,
}

impl Answer for DaemonImported {}

/// A session, and what is to be said about it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Reason {
    /// Its id.
    pub id: String,
    /// Why, or what.
    pub reason: String,
}

impl From<&ImportedDaemon> for DaemonImported {
    fn from(imported: &ImportedDaemon) -> Self {
        let reasons = |sessions: &[(String, String)]| {
            let reason =
                |(id, reason): &(String, String)| Reason { id: id.clone(), reason: reason.clone() };
            sessions.iter().map(reason).collect()
        };
        Self {
            imported: imported.sessions,
            already: imported.already,
            refused: reasons(&imported.refused),
            lessened: reasons(&imported.lessened),
        }
    }
}

//! Taking records in that were written elsewhere, or here and lost since.
//!
//! The input is read before the ledger is locked. What continues or fills a chain is added to it. What
//! is another future of a chain that is here becomes a host of its own: two copies of one home that both
//! wrote are two hosts from there on. So does what says that it continues the chain of this very ledger,
//! because only this ledger does that; and what holds a secret, because its body cannot be changed
//! without its hash. Nothing is refused for good but what was changed after it was written.

mod branch;

use std::collections::HashMap;
use std::io::{BufRead, Read};
use std::path::Path;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension};

use heirloom_core::event::RecordErased;
use heirloom_core::id::{HostId, NoteId};
use heirloom_core::record::{Hash, Record, Stored};
use heirloom_core::redact::redact_json;

use crate::error::Error;
use crate::exchange::{ImportError, Imported, parse};
use crate::ledger::Ledger;
use crate::projection::Origin;
use crate::salvage::scratch::{Position, Scratch};
use crate::salvage::{self, Progress};
use crate::scrub::forget_note;
use crate::write::{Appender, Scope};
use crate::{erase, order, projection, rebuild, records, views};

/// No record is longer; what is, is not one.
pub(crate) const LONGEST_LINE: u64 = 16 * 1024 * 1024;

impl Ledger {
    /// Takes in what `export` wrote, here or elsewhere.
    pub fn import(&mut self, input: impl BufRead) -> Result<Imported, ImportError> {
        let scratch = self.scratch()?;
        self.read_lines(input, &scratch)?;
        self.take_in(Input::Found(&scratch))
    }

    /// Takes in what a backup holds, or any other copy of a ledger, damaged or not.
    pub fn import_copy(
        &mut self,
        copy: &Path,
        progress: &mut Progress<'_>,
    ) -> Result<Imported, ImportError> {
        let scratch = self.scratch()?;
        salvage::collect(copy, &scratch, progress)
            .map_err(|source| self.explain("import into", source))?;
        self.take_in(Input::Chosen(&scratch))
    }

    pub(crate) fn scratch(&self) -> Result<Scratch, Error> {
        Scratch::new(self.path.parent().unwrap_or(Path::new(".")))
    }

    fn read_lines(&self, mut input: impl BufRead, scratch: &Scratch) -> Result<(), ImportError> {
        let explain = |source| self.explain("import into", source);
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            let mut bounded = input.by_ref().take(LONGEST_LINE);
            if bounded.read_until(b'\n', &mut line).map_err(ImportError::Input)? == 0 {
                break;
            }
            if line.len() as u64 == LONGEST_LINE && !line.ends_with(b"\n") {
                let reason = format!("it has more than {LONGEST_LINE} bytes");
                return Err(ImportError::NotARecord { line: number, reason });
            }
            if !line.trim_ascii().is_empty() {
                let stored = parse(line.trim_ascii_end(), number)?;
                let arrival = records::to_sql(number);
                scratch.add(&stored, Position { source: 1, arrival }, 0).map_err(explain)?;
            }
        }
        Ok(())
    }

    pub(crate) fn take_in(&mut self, input: Input<'_>) -> Result<Imported, ImportError> {
        let explain = |source| self.explain("import into", source);
        self.attached()?;
        self.configure_for_many()?;
        let transaction = self.begin().map_err(explain)?;
        let own = records::own_head(&transaction).map_err(explain)?.0;
        let mut taking = Taking {
            ledger: self,
            db: &transaction,
            own,
            is_clean: matches!(input, Input::Passed(_)),
            streams: HashMap::new(),
            heads: HashMap::new(),
            imported: Imported::default(),
            late: Vec::new(),
            erased_notes: Vec::new(),
            erasures: Vec::new(),
        };
        let all = match input {
            Input::Found(scratch) => Some((scratch, Scratch::FOUND)),
            Input::Chosen(scratch) => Some((scratch, Scratch::CHOSEN)),
            Input::Passed(records) => {
                let records = (1..).zip(records).filter(|(_, stored)| is_one(stored));
                records.into_iter().try_for_each(|(line, stored)| taking.take(line, stored))?;
                None
            }
        };
        if let Some((scratch, all)) = all {
            scratch.each(all, |line, stored| taking.take(line, &stored))?.map_err(explain)?;
        }
        taking.save_heads()?;
        let Taking { own, mut imported, late, mut erased_notes, erasures, .. } = taking;
        let taken = self.erase_as_told(&transaction, &erasures)?;
        imported.erased += taken.records as u64;
        erased_notes.extend(taken.notes);
        if !late.is_empty() {
            let taken = order::put_in_place(&transaction, &late)
                .and_then(|()| erase::again(&transaction, Some(&own)))
                .map_err(explain)?;
            imported.erased += taken.records as u64;
            erased_notes.extend(taken.notes);
        }
        let has_erased = imported.erased > 0;
        if has_erased || !late.is_empty() {
            rebuild::rebuild(&transaction).map_err(explain)?;
            // What was erased must be in no view that is copied when the file is made anew.
            let made_anew = if has_erased {
                views::remake(&transaction, rebuild::ALL).map(drop)
            } else {
                views::forget(&transaction)
            };
            made_anew.map_err(explain)?;
        }
        if has_erased {
            self.note_scrub_due()?;
            let home = self.path.parent().unwrap_or(Path::new("."));
            erased_notes.into_iter().try_for_each(|note| forget_note(home, note))?;
        }
        transaction.commit().map_err(explain)?;
        if has_erased && let Err(error) = self.scrub_all() {
            // It is erased already, and the next command tries again.
            tracing::warn!("cannot scrub the files yet: {error}");
        }
        Ok(imported)
    }

    /// Erases what was erased by its author in words that another chain holds here, and says so in this
    /// ledger's own. Under the time of its last record: nobody asks the clock here.
    fn erase_as_told(
        &self,
        db: &Connection,
        erasures: &[(Timestamp, RecordErased)],
    ) -> Result<erase::Taken, ImportError> {
        let explain = |source| self.explain("import into", source);
        let mut all = erase::Taken::default();
        let Some((at, _)) = erasures.first() else { return Ok(all) };
        let (own, seq, _) = records::own_head(db).map_err(explain)?;
        let last = at_place(db, &own, seq).map_err(explain)?;
        let at = last.map_or(*at, |last| last.at());
        let mut appender = Appender::new(self, at).map_err(explain)?;
        for (_, erased) in erasures {
            let record = appender.append(Scope::default(), erased)?;
            let taken = erase::take(db, &record).map_err(explain)?;
            all.records += taken.records;
            all.notes.extend(taken.notes);
        }
        appender.finish().map_err(explain)?;
        Ok(all)
    }
}

/// What is to be taken in.
#[derive(Clone, Copy)]
pub(crate) enum Input<'a> {
    Found(&'a Scratch),
    /// What was chosen of it.
    Chosen(&'a Scratch),
    /// Records that somebody has looked through for secrets, and followed along their chains: where one says
    /// what it follows, it does.
    Passed(&'a [Stored]),
}

/// What was read last of a host.
#[derive(Default)]
struct Stream {
    last: Option<(u64, Hash)>,
    /// The last that is here, word for word; so are all before it that are here.
    common: u64,
    /// The host that its records go to now, where they are another future of its chain.
    fork: Option<HostId>,
}

struct Taking<'a> {
    ledger: &'a Ledger,
    db: &'a Connection,
    own: HostId,
    /// Whether what comes was looked through for secrets and followed along its chains.
    is_clean: bool,
    streams: HashMap<HostId, Stream>,
    /// How far each chain goes now; written down once all is taken in.
    heads: HashMap<HostId, (u64, Hash)>,
    imported: Imported,
    /// The arrivals of records that filled a gap.
    late: Vec<i64>,
    erased_notes: Vec<NoteId>,
    /// What is to be erased because its author says so, and when that was said, where the words went to
    /// another chain.
    erasures: Vec<(Timestamp, RecordErased)>,
}

impl Taking<'_> {
    fn take(&mut self, line: u64, stored: &Stored) -> Result<(), ImportError> {
        let before = self.before(stored)?;
        let was_added = match before {
            Some(before) => self.go_on(stored, &before)?,
            None => false,
        };
        let (host, end) = (stored.host(), (stored.seq(), stored.hash()));
        let last = self.head(host)?.0;
        match self.streams.get_mut(host) {
            Some(stream) => stream.last = Some(end),
            None => self.streams.entry(host.clone()).or_default().last = Some(end),
        }
        if was_added { Ok(()) } else { self.place(line, stored, before, last) }
    }

    /// Adds what simply continues a chain, as nearly all does. Whether it is here already is left to the
    /// table to say, which looks anyway. Returns whether it was added.
    fn go_on(&mut self, stored: &Stored, before: &Hash) -> Result<bool, ImportError> {
        let (host, seq) = (stored.host(), stored.seq());
        let last = self.head(host)?.0;
        let is_forked = self.streams.get(host).is_some_and(|stream| stream.fork.is_some());
        let Stored::Whole(record) = stored else { return Ok(false) };
        if seq <= last || *host == self.own || is_forked || !self.follows(stored, before) {
            return Ok(false);
        }
        if !self.is_clean && redacted(stored).is_some() {
            return Ok(false);
        }
        // What the record before is, is known where that is beside it.
        let prev = stored.prev().filter(|_| seq != last + 1);
        match records::insert_behind(self.db, record, prev.as_ref()) {
            Ok(_) => {}
            Err(error) if is_refused(&error) => return Ok(false),
            Err(error) => return Err(self.ledger.explain("import into", error).into()),
        }
        self.imported.added += 1;
        self.apply(record)?;
        if let Some(head) = self.heads.get_mut(host) {
            *head = (seq, stored.hash());
        }
        Ok(true)
    }

    /// Whether a record follows one with that hash. Of one that was passed on it is known what it follows.
    fn follows(&self, stored: &Stored, before: &Hash) -> bool {
        match stored.prev() {
            Some(prev) if self.is_clean || prev != *before => prev == *before,
            _ => stored.follows(before),
        }
    }

    /// Finds the place of what does not simply continue a chain. `last` is the end of the chain here.
    fn place(
        &mut self,
        line: u64,
        stored: &Stored,
        before: Option<Hash>,
        last: u64,
    ) -> Result<(), ImportError> {
        let (host, seq) = (stored.host(), stored.seq());
        // Nothing is where a chain has not come to yet.
        let here = if seq > last { None } else { self.run(|db| at_place(db, host, seq))? };
        let here = here.map(|here| here.hash());
        if here == Some(stored.hash()) {
            self.imported.known += 1;
            let stream = self.streams.entry(host.clone()).or_default();
            (stream.fork, stream.common) = (None, seq);
            return Ok(());
        }
        if let Some(elsewhere) = self.run(|db| host_of(db, stored))? {
            self.imported.known += 1;
            let fork = Some(elsewhere).filter(|elsewhere| *elsewhere != self.own);
            self.streams.entry(host.clone()).or_default().fork = fork;
            return Ok(());
        }
        let Some(before) = before else {
            return Err(ImportError::Gap { line, host: host.clone(), seq, last });
        };
        if !self.follows(stored, &before) {
            return Err(ImportError::Changed { line, host: host.clone(), seq });
        }
        let fork = self.fork(stored)?;
        let clean = if self.is_clean { None } else { redacted(stored) };
        let goes_on = seq > last && *host != self.own;
        let fills = here.is_none() && seq <= last && self.run(|db| is_followed(db, stored))?;
        if fork.is_some() || clean.is_some() || !(goes_on || fills) {
            return self.branch_off(stored, before, fork, clean);
        }
        self.imported.added += 1;
        if fills {
            self.late.push(self.run(|db| records::insert_stored(db, stored))?);
            return Ok(());
        }
        self.add(stored)?;
        self.heads.insert(host.clone(), (seq, stored.hash()));
        Ok(())
    }

    /// The number and the hash of the last record of a host.
    fn head(&mut self, host: &HostId) -> Result<(u64, Hash), ImportError> {
        if let Some(head) = self.heads.get(host) {
            return Ok(*head);
        }
        let head = self.run(|db| records::head(db, host))?.unwrap_or((0, Hash::GENESIS));
        self.heads.insert(host.clone(), head);
        Ok(head)
    }

    fn save_heads(&self) -> Result<(), ImportError> {
        let went_on = self.heads.iter().filter(|(host, (seq, _))| *seq > 0 && **host != self.own);
        self.run(|db| {
            went_on
                .into_iter()
                .try_for_each(|(host, (seq, hash))| records::save_head(db, host, *seq, hash))
        })
    }

    /// The hash of the record before, as far as anything says it.
    fn before(&self, stored: &Stored) -> Result<Option<Hash>, ImportError> {
        let (host, seq) = (stored.host(), stored.seq());
        if seq == 1 {
            return Ok(Some(Hash::GENESIS));
        }
        let last = self.streams.get(host).and_then(|stream| stream.last);
        if let Some((_, hash)) = last.filter(|(last, _)| last + 1 == seq) {
            return Ok(Some(hash));
        }
        let here = self.run(|db| at_place(db, host, seq - 1))?.map(|here| here.hash());
        Ok(here.or(stored.prev()))
    }

    /// Adds a record behind all others. The views take it from there when somebody asks for them.
    fn add(&mut self, stored: &Stored) -> Result<(), ImportError> {
        self.run(|db| records::insert_stored(db, stored))?;
        match stored {
            Stored::Whole(record) => self.apply(record),
            Stored::Erased(_) => Ok(()),
        }
    }

    /// Does what a record that was added says.
    fn apply(&mut self, record: &Record) -> Result<(), ImportError> {
        let origin = Origin::of(record, Some(&self.own));
        self.run(|db| projection::apply_hot(db, record, origin))?;
        let taken = self.run(|db| erase::by_author(db, record))?;
        self.imported.erased += taken.records as u64;
        self.erased_notes.extend(taken.notes);
        Ok(())
    }

    fn run<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, ImportError> {
        work(self.db).map_err(|source| self.ledger.explain("import into", source).into())
    }
}

/// Whether JSON that was passed on can be a record: places are counted from one, and a body is an object, always.
fn is_one(stored: &Stored) -> bool {
    let is_object = match stored {
        Stored::Whole(record) => record.body.trim_start().starts_with('{'),
        Stored::Erased(_) => true,
    };
    is_object && stored.seq() > 0
}

fn at_place(db: &Connection, host: &HostId, seq: u64) -> rusqlite::Result<Option<Stored>> {
    let sql = format!("SELECT {} FROM record WHERE host = ?1 AND seq = ?2", records::COLUMNS);
    db.prepare_cached(&sql)?
        .query_row((host.as_str(), records::to_sql(seq)), |row| records::read_stored(row, 0))
        .optional()
}

/// The host under which this very record is here already.
fn host_of(db: &Connection, stored: &Stored) -> rusqlite::Result<Option<HostId>> {
    let Stored::Whole(record) = stored else { return Ok(None) };
    db.prepare_cached("SELECT host FROM record WHERE id = ?1")?
        .query_row((record.id.to_string(),), |row| {
            records::parse(row, 0, |text| HostId::parse(text).ok())
        })
        .optional()
}

/// Whether the table has a record with that place or id already.
fn is_refused(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation)
}

/// Whether the record behind an empty place, if it is here, follows what would fill it.
fn is_followed(db: &Connection, stored: &Stored) -> rusqlite::Result<bool> {
    let behind = at_place(db, stored.host(), stored.seq() + 1)?;
    Ok(behind.is_none_or(|behind| {
        behind.follows(&stored.hash()) && behind.prev().is_none_or(|prev| prev == stored.hash())
    }))
}

/// What the body should have been, if it holds a secret.
fn redacted(stored: &Stored) -> Option<String> {
    let Stored::Whole(record) = stored else { return None };
    let mut value: serde_json::Value = serde_json::from_str(&record.body).ok()?;
    (redact_json(&mut value) > 0).then(|| value.to_string())
}

//! The tables that hold the records themselves, and the version of the ledger's own file.

/// The format of the file this version writes. Goes up with every change of a table in it, hot
/// projections included; the test below makes sure that it does. The views have a version of their
/// own, which nobody has to raise.
pub const VERSION: i64 = 10;

/// Marks the file as a heirloom ledger ("heir" in ASCII).
pub(crate) const APPLICATION_ID: i64 = 0x6865_6972;

/// The records and the head of each host's chain.
///
/// `arrival` is the order in which records came into this file. Projections are derived in that
/// order, so that deriving them again gives the same bytes whatever was imported when. `id` and `body`
/// are nothing in a record that was erased, `prev` is something only behind a gap. `head` is not a
/// projection: it says how far each chain went, and so makes a cut-off end visible.
pub(crate) const RECORDS: &str = "
CREATE TABLE record (
  arrival INTEGER PRIMARY KEY,
  host TEXT NOT NULL,
  seq INTEGER NOT NULL,
  id TEXT UNIQUE,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  session TEXT,
  repo TEXT,
  body TEXT,
  hash BLOB NOT NULL,
  prev BLOB,
  UNIQUE (host, seq)
) STRICT;
CREATE INDEX record_by_session ON record (session) WHERE session IS NOT NULL;
CREATE TRIGGER record_no_update BEFORE UPDATE ON record
BEGIN SELECT RAISE(ABORT, 'records are never changed'); END;
CREATE TRIGGER record_no_delete BEFORE DELETE ON record
BEGIN SELECT RAISE(ABORT, 'records are never deleted'); END;
CREATE TRIGGER record_no_replace BEFORE INSERT ON record
WHEN EXISTS (SELECT 1 FROM record WHERE host = NEW.host AND seq = NEW.seq)
  OR EXISTS (SELECT 1 FROM record WHERE id = NEW.id)
  OR EXISTS (SELECT 1 FROM record WHERE arrival = NEW.arrival)
BEGIN SELECT RAISE(ABORT, 'records are never replaced'); END;
CREATE TABLE head (
  host TEXT PRIMARY KEY,
  seq INTEGER NOT NULL,
  hash BLOB NOT NULL,
  own INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
";

#[cfg(test)]
mod tests {
    use heirloom_core::digest;

    use super::*;
    use crate::projection;

    #[test]
    fn a_changed_table_comes_with_a_new_version() {
        let hot = projection::HOT.iter().map(|projection| projection.schema());
        let fingerprint = digest::number(std::iter::once(RECORDS).chain(hot));
        // If this fails you changed a table: raise VERSION, add the step in migrate.rs if the
        // records themselves changed, and put the new pair here.
        assert_eq!((VERSION, format!("{fingerprint:016x}")), (10, "944b2adbadab660b".to_owned()));
    }
}

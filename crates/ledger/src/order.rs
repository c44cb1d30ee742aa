//! The order of arrival, where it has to change: what was lost and is found again belongs where it was.
//!
//! Projections are derived in the order of arrival, so a record that is put in later than it was written
//! would win over those that followed it. The arrival is in no hash; nothing else of a record changes.

use rusqlite::Connection;

/// Puts the records that arrived after `last` in front of those up to it.
pub(crate) fn put_in_front(db: &Connection, last: i64) -> rusqlite::Result<()> {
    arrange(db, &format!("CASE WHEN arrival > {last} THEN 0 ELSE 1 END, arrival"))
}

/// Puts the records with these arrivals right behind the ones they follow in their chains.
pub(crate) fn put_in_place(db: &Connection, arrivals: &[i64]) -> rusqlite::Result<()> {
    db.execute_batch("CREATE TEMP TABLE late (arrival INTEGER PRIMARY KEY)")?;
    let mut insert = db.prepare("INSERT INTO late (arrival) VALUES (?1)")?;
    for arrival in arrivals {
        insert.execute((arrival,))?;
    }
    drop(insert);
    arrange(
        db,
        "CASE WHEN arrival IN (SELECT arrival FROM late) THEN 0 ELSE arrival END, arrival",
    )?;
    db.execute_batch("DROP TABLE late")
}

/// Counts the arrivals anew in the order of `by`, but no record before the one it follows.
fn arrange(db: &Connection, by: &str) -> rusqlite::Result<()> {
    let triggers: Vec<(String, String)> = db
        .prepare("SELECT name, sql FROM main.sqlite_schema WHERE type = 'trigger'")?
        .query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (name, _) in &triggers {
        db.execute_batch(&format!("DROP TRIGGER main.\"{name}\""))?;
    }
    db.execute_batch(&format!(
        "CREATE TEMP TABLE moved (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);
         INSERT INTO moved (old, new)
           SELECT arrival, row_number() OVER (ORDER BY place, host, seq) FROM (
             SELECT arrival, host, seq,
               max(wanted) OVER (PARTITION BY host ORDER BY seq
                 ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS place
             FROM (SELECT arrival, host, seq, row_number() OVER (ORDER BY {by}) AS wanted
                   FROM main.record));
         DELETE FROM moved WHERE old = new;
         UPDATE main.record SET arrival = -(SELECT new FROM moved WHERE old = arrival)
           WHERE arrival IN (SELECT old FROM moved);
         UPDATE main.record SET arrival = -arrival WHERE arrival < 0;
         DROP TABLE moved;"
    ))?;
    triggers.iter().try_for_each(|(_, sql)| db.execute_batch(sql))
}

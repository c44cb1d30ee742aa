//! Putting facts in, and taking them out.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};

use heirloom_core::facts::{CommandFacts, FileFacts, TestFacts};
use heirloom_core::id::SessionId;
use heirloom_core::mask::Words;

use super::{Facts, NewFacts, OF_SOURCE, Source};
use crate::error::Error;
use crate::records::to_sql;

impl Facts {
    /// Puts in what reading a part of a transcript brought, with how far it was read, at once.
    pub fn put(&mut self, source: &Source, news: &NewFacts) -> Result<(), Error> {
        self.run("write the facts of", |db| {
            let transaction = Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
            let id = upsert(&transaction, source, news.anew)?;
            if news.anew {
                clear(&transaction, id)?;
            }
            rows(&transaction, id, news)?;
            if let (Some(model), Some(window)) = (&source.told.model, source.told.context_window) {
                put_window(&transaction, model, window)?;
            }
            transaction.commit()
        })
    }

    /// Remembers how many tokens the window of a model holds, as an agent said.
    pub fn put_window(&self, model: &str, tokens: u64) -> Result<(), Error> {
        self.run("write the facts of", |db| put_window(db, model, tokens))
    }

    /// Removes everything known of a session. Returns whether there was something. Its bytes are gone from
    /// the file when that is scrubbed.
    pub fn forget(&mut self, session: SessionId) -> Result<bool, Error> {
        self.run("write the facts of", |db| {
            let transaction = Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
            let ids: Vec<i64> = transaction
                .prepare("SELECT id FROM source WHERE session = ?1")?
                .query_map((session.to_string(),), |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            for id in &ids {
                clear(&transaction, *id)?;
                transaction.execute("DELETE FROM source WHERE id = ?1", (id,))?;
            }
            transaction.execute("DELETE FROM seen WHERE session = ?1", (session.to_string(),))?;
            transaction.commit()?;
            Ok(!ids.is_empty())
        })
    }

    /// Masks words in what sessions said. Names, paths and keys stay: facts are found by them. The bytes are gone from
    /// the file when that is scrubbed.
    pub fn mask(&mut self, sessions: &[SessionId], words: &Words) -> Result<(), Error> {
        const OF_SESSION: &str = "source IN (SELECT id FROM source WHERE session = ?1)";
        const SAID: [(&str, &str, &str); 7] = [
            ("turn", "text", OF_SESSION),
            ("command", "command", OF_SESSION),
            ("command", "error", OF_SESSION),
            ("commit_made", "subject", OF_SESSION),
            ("source", "title", "session = ?1"),
            ("source", "todos", "session = ?1"),
            ("source", "state", "session = ?1"),
        ];
        self.run("write the facts of", |db| {
            let transaction = Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
            for (table, column, of_session) in SAID {
                let mut find = transaction.prepare(&format!(
                    "SELECT DISTINCT {column} FROM {table} WHERE {of_session} AND {column} IS NOT NULL"
                ))?;
                let mut put = transaction.prepare(&format!(
                    "UPDATE {table} SET {column} = ?3 WHERE {of_session} AND {column} = ?2"
                ))?;
                for session in sessions.iter().map(ToString::to_string) {
                    let texts: Vec<String> = find
                        .query_map((&session,), |row| row.get(0))?
                        .collect::<rusqlite::Result<_>>()?;
                    for text in texts {
                        let mut bytes = text.clone().into_bytes();
                        if words.mask(&mut bytes) {
                            put.execute((&session, &text, &*String::from_utf8_lossy(&bytes)))?;
                        }
                    }
                }
            }
            transaction.commit()
        })
    }

    /// Makes the file anew from what is in use, so that no byte of what was forgotten is left in it.
    pub fn scrub(&self) -> Result<(), Error> {
        self.run("write the facts of", |db| {
            // A page that was split keeps a copy of what went to the other half.
            db.execute_batch("VACUUM")?;
            db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))
        })
    }
}

fn put_window(db: &Connection, model: &str, tokens: u64) -> rusqlite::Result<()> {
    db.prepare_cached("INSERT OR REPLACE INTO model_window (model, tokens) VALUES (?1, ?2)")?
        .execute((model, to_sql(tokens)))
        .map(drop)
}

fn clear(db: &Connection, source: i64) -> rusqlite::Result<()> {
    for table in OF_SOURCE {
        db.execute(&format!("DELETE FROM {table} WHERE source = ?1"), (source,))?;
    }
    Ok(())
}

fn ms(at: Option<Timestamp>) -> Option<i64> {
    at.map(Timestamp::as_millisecond)
}

fn upsert(db: &Connection, source: &Source, anew: bool) -> rusqlite::Result<i64> {
    let told = &source.told;
    let tokens = told.tokens;
    let count =
        |of: fn(&heirloom_core::facts::TokenFacts) -> u64| tokens.as_ref().map(of).map(to_sql);
    let todos = serde_json::to_string(&told.todos).unwrap_or_default();
    let subagent = source.subagent.as_deref().unwrap_or_default();
    let known: Option<(i64, i64, i64)> = db
        .prepare_cached(
            "SELECT id, read, revision FROM source
             WHERE agent = ?1 AND agent_session_id = ?2 AND subagent = ?3",
        )?
        .query_row((&source.agent, &source.agent_session_id, subagent), |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()?;
    let revision = match known {
        Some((_, read, revision)) if !anew && read == to_sql(source.read) => revision,
        _ => next_revision(db)?,
    };
    let known = known.map(|(id, ..)| id);
    db.prepare_cached(
        "INSERT OR REPLACE INTO source (id, session, agent, agent_session_id, subagent, repo, path,
           generation, read, size, state, cwd, branch, version, model, title, interactive, first_at,
           last_at, messages, input, output, cache_read, cache_write, cost_usd, context_used,
           context_window, compactions, interrupted, todos, unknown_lines, revision)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
           ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32)",
    )?
    .execute(rusqlite::params![
        known,
        source.session.to_string(),
        source.agent,
        source.agent_session_id,
        subagent,
        source.repo,
        source.path,
        to_sql(source.generation),
        to_sql(source.read),
        to_sql(source.size),
        source.state,
        told.cwd,
        told.branch,
        told.version,
        told.model,
        told.title,
        told.interactive,
        ms(told.first_at),
        ms(told.last_at),
        to_sql(told.messages),
        count(|tokens| tokens.input),
        count(|tokens| tokens.output),
        count(|tokens| tokens.cache_read),
        count(|tokens| tokens.cache_write),
        told.cost_usd,
        told.context_used.map(to_sql),
        told.context_window.map(to_sql),
        to_sql(told.compactions),
        told.interrupted,
        todos,
        to_sql(told.unknown_lines),
        revision,
    ])?;
    Ok(known.unwrap_or_else(|| db.last_insert_rowid()))
}

/// Greater than all before it, also than those of a file that was thrown away: whoever asks what is new knows
/// the last one of that.
fn next_revision(db: &Connection) -> rusqlite::Result<i64> {
    db.prepare_cached(
        "SELECT max(coalesce((SELECT max(revision) FROM source), 0) + 1,
                    CAST(unixepoch('subsec') * 1000 AS INTEGER))",
    )?
    .query_row((), |row| row.get(0))
}

fn rows(db: &Connection, source: i64, news: &NewFacts) -> rusqlite::Result<()> {
    for (from, to) in &news.rewound {
        db.prepare_cached(
            "UPDATE turn SET rewound = 1 WHERE source = ?1 AND number >= ?2 AND number <= ?3",
        )?
        .execute((source, to_sql(*from), to_sql(*to)))?;
    }
    for turn in &news.turns {
        db.prepare_cached(
            "INSERT OR REPLACE INTO turn (source, number, at, by, text, offset, rewound)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute((
            source,
            to_sql(turn.number),
            ms(turn.at),
            &turn.by,
            &turn.text,
            to_sql(turn.offset),
            turn.rewound,
        ))?;
    }
    for command in &news.commands {
        put_command(db, source, command)?;
    }
    for answer in &news.answers {
        db.prepare_cached(
            "UPDATE command SET exit = ?3, failed = ?4, error = ?5
             WHERE source = ?1 AND tool_use = ?2",
        )?
        .execute((source, &answer.tool_use, answer.exit, answer.failed, &answer.error))?;
    }
    for file in &news.files {
        put_file(db, source, file)?;
    }
    for commit in &news.commits {
        db.prepare_cached(
            "INSERT OR REPLACE INTO commit_made (source, hash, subject, turn, at)
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute((
            source,
            &commit.hash,
            &commit.subject,
            to_sql(commit.turn),
            ms(commit.at),
        ))?;
    }
    news.tests.iter().try_for_each(|test| put_test(db, source, test))
}

fn put_command(db: &Connection, source: i64, command: &CommandFacts) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT OR REPLACE INTO command (source, tool_use, turn, at, command, exit, failed, error,
           is_test, offset)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?
    .execute((
        source,
        &command.tool_use,
        to_sql(command.turn),
        ms(command.at),
        &command.command,
        command.exit,
        command.failed,
        &command.error,
        command.is_test,
        to_sql(command.offset),
    ))
    .map(drop)
}

/// A file that was changed once stays changed.
fn put_file(db: &Connection, source: i64, file: &FileFacts) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO file (source, path, edited, turn, at) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (source, path) DO UPDATE SET
           edited = max(edited, excluded.edited), turn = excluded.turn, at = excluded.at",
    )?
    .execute((source, &file.path, file.edited, to_sql(file.turn), ms(file.at)))
    .map(drop)
}

/// One that passes is of interest only if it failed before.
fn put_test(db: &Connection, source: i64, test: &TestFacts) -> rusqlite::Result<()> {
    if test.passed_since {
        db.prepare_cached("UPDATE test SET passed_since = 1 WHERE source = ?1 AND name = ?2")?
            .execute((source, &test.name))?;
        return Ok(());
    }
    db.prepare_cached(
        "INSERT OR REPLACE INTO test (source, name, failed_at, failed_in, passed_since)
         VALUES (?1, ?2, ?3, ?4, 0)",
    )?
    .execute((source, &test.name, ms(test.failed_at), to_sql(test.failed_in)))
    .map(drop)
}

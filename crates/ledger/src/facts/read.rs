//! Reading facts.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, Row};

use heirloom_core::facts::{
    CommandFacts, CommitFacts, FileFacts, SessionFacts, TestFacts, TodoFacts, TokenFacts,
    TurnFacts, title,
};
use heirloom_core::id::SessionId;
use jiff::Timestamp;

use super::{Facts, Source, Told, Touched, TranscriptUse};
use crate::error::Error;
use crate::records::{from_sql, parse, timestamp};

const SOURCE: &str = "session, agent, agent_session_id, subagent, repo, path, generation, read, \
                      size, state, cwd, branch, version, model, title, interactive, first_at, \
                      last_at, messages, input, output, cache_read, cache_write, cost_usd, \
                      context_used, context_window, compactions, interrupted, todos, unknown_lines";

impl Facts {
    /// A transcript, as far as it was read.
    pub fn source(
        &self,
        agent: &str,
        agent_session_id: &str,
        subagent: Option<&str>,
    ) -> Result<Option<Source>, Error> {
        self.run("read the facts of", |db| {
            db.prepare_cached(&format!(
                "SELECT {SOURCE} FROM source
                 WHERE agent = ?1 AND agent_session_id = ?2 AND subagent = ?3"
            ))?
            .query_row((agent, agent_session_id, subagent.unwrap_or_default()), source)
            .optional()
        })
    }

    /// All transcripts of a session, its own first.
    pub fn sources(&self, session: SessionId) -> Result<Vec<Source>, Error> {
        self.run("read the facts of", |db| {
            db.prepare_cached(&format!(
                "SELECT {SOURCE} FROM source WHERE session = ?1 ORDER BY subagent, id"
            ))?
            .query_map((session.to_string(),), source)?
            .collect()
        })
    }

    /// The transcript that speaks for a session: its own, or one of a subagent where there is no other.
    pub fn own_source(&self, session: SessionId) -> Result<Option<Source>, Error> {
        Ok(self.sources(session)?.into_iter().next())
    }

    /// How many sessions of an agent are known, and how many messages they have; of all repositories,
    /// or of one.
    pub fn known(&self, agent: &str, repo: Option<&str>) -> Result<(u64, u64), Error> {
        self.run("read the facts of", |db| {
            db.prepare_cached(
                "SELECT count(DISTINCT session), coalesce(sum(messages), 0) FROM source
                 WHERE agent = ?1 AND (?2 IS NULL OR repo = ?2)",
            )?
            .query_row((agent, repo), |row| Ok((number(row, 0)?, number(row, 1)?)))
        })
    }

    /// What is known of a repository is known of it under what it is called from now on.
    pub fn rename_repository(&self, from: &str, to: &str) -> Result<(), Error> {
        self.run("write to the facts of", |db| {
            db.execute("UPDATE seen SET repo = ?2 WHERE repo = ?1", (from, to))?;
            db.execute("UPDATE source SET repo = ?2 WHERE repo = ?1", (from, to)).map(drop)
        })
    }

    /// The sessions of a repository, the one that was last at work first.
    pub fn recent(&self, repo: &str, limit: usize) -> Result<Vec<SessionId>, Error> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.run("read the facts of", |db| {
            db.prepare_cached(
                "SELECT session FROM source WHERE repo = ?1 AND subagent = ''
                 ORDER BY last_at DESC LIMIT ?2",
            )?
            .query_map((repo, limit), |row| parse(row, 0, |text| text.parse().ok()))?
            .collect()
        })
    }

    /// The sessions of which something was taken in after a revision, and the revision now. Not by time: of two
    /// sessions at once, what was said first may be taken in last.
    pub fn changed(&self, since: i64) -> Result<(Vec<SessionId>, i64), Error> {
        self.run("read the facts of", |db| {
            let sessions = db
                .prepare_cached("SELECT DISTINCT session FROM source WHERE revision > ?1")?
                .query_map((since,), |row| parse(row, 0, |text| text.parse().ok()))?
                .collect::<rusqlite::Result<_>>()?;
            let sql = "SELECT coalesce(max(revision), 0) FROM source";
            Ok((sessions, db.query_row(sql, (), |row| row.get(0))?))
        })
    }

    /// What is known of a session; `None` if no transcript of it was taken in.
    pub fn session(&self, session: SessionId) -> Result<Option<SessionFacts>, Error> {
        let sources = self.sources(session)?;
        let Some(own) = sources.first() else { return Ok(None) };
        let (turns, first) = self.run("read the facts of", |db| {
            let turns = db
                .prepare_cached(
                    "SELECT count(*) FROM turn JOIN source ON source.id = turn.source
                     WHERE source.session = ?1 AND source.subagent = ''",
                )?
                .query_row((session.to_string(),), |row| number(row, 0))?;
            let first: Option<String> = db
                .prepare_cached(
                    "SELECT text FROM turn JOIN source ON source.id = turn.source
                     WHERE source.session = ?1 AND source.subagent = '' ORDER BY number LIMIT 1",
                )?
                .query_row((session.to_string(),), |row| row.get(0))
                .optional()?;
            Ok((turns, first))
        })?;
        let window = match (own.told.context_window, &own.told.model) {
            (None, Some(model)) => self.window(model)?,
            (known, _) => known,
        };
        let told = &own.told;
        Ok(Some(SessionFacts {
            session,
            agent: own.agent.as_str().into(),
            agent_session_id: own.agent_session_id.clone(),
            title: told.title.clone().or_else(|| first.as_deref().and_then(title)),
            cwd: told.cwd.clone(),
            branch: told.branch.clone(),
            model: told.model.clone(),
            version: told.version.clone(),
            interactive: told.interactive,
            first_at: told.first_at,
            last_at: sources.iter().filter_map(|source| source.told.last_at).max(),
            turns,
            messages: sources.iter().map(|source| source.told.messages).sum(),
            tokens: total(&sources),
            cost_usd: told.cost_usd,
            context_used: told.context_used,
            context_window: window,
            compactions: told.compactions,
            subagents: sources.iter().filter(|source| source.subagent.is_some()).count() as u64,
            interrupted: told.interrupted,
            read: sources.iter().map(|source| source.read).sum(),
            unread: sources.iter().map(|source| source.size.saturating_sub(source.read)).sum(),
            unknown_lines: sources.iter().map(|source| source.told.unknown_lines).sum(),
        }))
    }

    /// What each session used, as the agents' transcripts say it.
    pub fn uses(&self) -> Result<HashMap<SessionId, TranscriptUse>, Error> {
        self.run("read the facts of", |db| {
            db.prepare_cached(
                "SELECT session, max(CASE WHEN subagent = '' THEN model END),
                   sum(input + cache_read + cache_write), sum(output),
                   max(CASE WHEN subagent = '' THEN cost_usd END)
                 FROM source GROUP BY session",
            )?
            .query_map((), |row| {
                let used = TranscriptUse {
                    model: row.get(1)?,
                    tokens: maybe(row, 2)?.zip(maybe(row, 3)?),
                    cost_usd: row.get(4)?,
                };
                Ok((parse(row, 0, |text| text.parse().ok())?, used))
            })?
            .collect()
        })
    }

    /// What there is to do, as the agent last had it.
    pub fn todos(&self, session: SessionId) -> Result<Vec<TodoFacts>, Error> {
        let own = self.sources(session)?.into_iter().find(|source| source.subagent.is_none());
        Ok(own.map(|source| source.told.todos).unwrap_or_default())
    }

    /// How many tokens the window of a model holds, if an agent said so.
    pub fn window(&self, model: &str) -> Result<Option<u64>, Error> {
        self.run("read the facts of", |db| {
            db.prepare_cached("SELECT tokens FROM model_window WHERE model = ?1")?
                .query_row((model,), |row| number(row, 0))
                .optional()
        })
    }

    /// The prompts of a session, in order.
    pub fn turns(&self, session: SessionId) -> Result<Vec<TurnFacts>, Error> {
        let sql = "SELECT number, at, by, text, offset, rewound FROM turn WHERE source IN
                   (SELECT id FROM source WHERE session = ?1 AND subagent = '') ORDER BY number";
        self.rows(sql, session, |row| {
            Ok(TurnFacts {
                number: number(row, 0)?,
                at: time(row, 1)?,
                by: row.get(2)?,
                text: row.get(3)?,
                offset: number(row, 4)?,
                rewound: row.get(5)?,
            })
        })
    }

    /// The commands of a session and its subagents, in order.
    pub fn commands(&self, session: SessionId) -> Result<Vec<CommandFacts>, Error> {
        let sql = "SELECT tool_use, turn, at, command, exit, failed, error, is_test, offset
                   FROM command WHERE source IN (SELECT id FROM source WHERE session = ?1)
                   ORDER BY at, source, offset";
        self.rows(sql, session, command)
    }

    /// The files of a session and its subagents, by path.
    pub fn files(&self, session: SessionId) -> Result<Vec<FileFacts>, Error> {
        let sql = "SELECT path, max(edited), max(turn), max(at) FROM file WHERE source IN
                   (SELECT id FROM source WHERE session = ?1) GROUP BY path ORDER BY path";
        self.rows(sql, session, file)
    }

    /// The commits of a session and its subagents, in order.
    pub fn commits(&self, session: SessionId) -> Result<Vec<CommitFacts>, Error> {
        let sql = "SELECT hash, subject, turn, at FROM commit_made WHERE source IN
                   (SELECT id FROM source WHERE session = ?1) ORDER BY at, turn, hash";
        self.rows(sql, session, |row| {
            Ok(CommitFacts {
                hash: row.get(0)?,
                subject: row.get(1)?,
                turn: number(row, 2)?,
                at: time(row, 3)?,
            })
        })
    }

    /// The tests that failed in a session, by name.
    pub fn tests(&self, session: SessionId) -> Result<Vec<TestFacts>, Error> {
        let sql = "SELECT name, failed_at, failed_in, passed_since FROM test WHERE source IN
                   (SELECT id FROM source WHERE session = ?1) ORDER BY name";
        self.rows(sql, session, |row| {
            Ok(TestFacts {
                name: row.get(0)?,
                failed_at: time(row, 1)?,
                failed_in: number(row, 2)?,
                passed_since: row.get(3)?,
            })
        })
    }

    /// The sessions of a repository that touched a file whose path ends with `path`, newest first.
    pub fn touched(&self, repo: &str, path: &str) -> Result<Vec<Touched>, Error> {
        self.run("read the facts of", |db| {
            db.prepare_cached(
                "SELECT file.path, edited, turn, at, session FROM file
                 JOIN source ON source.id = file.source
                 WHERE repo = ?1
                   AND (file.path = ?2 OR substr(file.path, -length(?2) - 1) = '/' || ?2)
                 ORDER BY at DESC",
            )?
            .query_map((repo, path), |row| {
                let session = parse(row, 4, |text| text.parse().ok())?;
                Ok(Touched { session, file: file(row)? })
            })?
            .collect()
        })
    }

    fn rows<T>(
        &self,
        sql: &str,
        session: SessionId,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Error> {
        self.run("read the facts of", |db| {
            db.prepare_cached(sql)?.query_map((session.to_string(),), read)?.collect()
        })
    }
}

fn total(sources: &[Source]) -> Option<TokenFacts> {
    let known = sources.iter().filter_map(|source| source.told.tokens);
    known.reduce(|sum, each| TokenFacts {
        input: sum.input + each.input,
        output: sum.output + each.output,
        cache_read: sum.cache_read + each.cache_read,
        cache_write: sum.cache_write + each.cache_write,
    })
}

pub(super) fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get(column).map(from_sql)
}

fn maybe(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<u64>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(from_sql))
}

pub(super) fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Timestamp>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(timestamp))
}

fn file(row: &Row<'_>) -> rusqlite::Result<FileFacts> {
    Ok(FileFacts {
        path: row.get(0)?,
        edited: row.get(1)?,
        turn: number(row, 2)?,
        at: time(row, 3)?,
    })
}

pub(super) fn command(row: &Row<'_>) -> rusqlite::Result<CommandFacts> {
    Ok(CommandFacts {
        tool_use: row.get(0)?,
        turn: number(row, 1)?,
        at: time(row, 2)?,
        command: row.get(3)?,
        exit: row.get(4)?,
        failed: row.get(5)?,
        error: row.get(6)?,
        is_test: row.get(7)?,
        offset: number(row, 8)?,
    })
}

fn source(row: &Row<'_>) -> rusqlite::Result<Source> {
    let subagent: String = row.get(3)?;
    let todos: String = row.get(28)?;
    let tokens = match maybe(row, 19)? {
        Some(input) => Some(TokenFacts {
            input,
            output: number(row, 20)?,
            cache_read: number(row, 21)?,
            cache_write: number(row, 22)?,
        }),
        None => None,
    };
    Ok(Source {
        session: parse(row, 0, |text| text.parse().ok())?,
        agent: row.get(1)?,
        agent_session_id: row.get(2)?,
        subagent: (!subagent.is_empty()).then_some(subagent),
        repo: row.get(4)?,
        path: row.get(5)?,
        generation: number(row, 6)?,
        read: number(row, 7)?,
        size: number(row, 8)?,
        state: row.get(9)?,
        told: Told {
            cwd: row.get(10)?,
            branch: row.get(11)?,
            version: row.get(12)?,
            model: row.get(13)?,
            title: row.get(14)?,
            interactive: row.get(15)?,
            first_at: time(row, 16)?,
            last_at: time(row, 17)?,
            messages: number(row, 18)?,
            tokens,
            cost_usd: row.get(23)?,
            context_used: maybe(row, 24)?,
            context_window: maybe(row, 25)?,
            compactions: number(row, 26)?,
            interrupted: row.get(27)?,
            todos: serde_json::from_str(&todos).unwrap_or_default(),
            unknown_lines: number(row, 29)?,
        },
    })
}

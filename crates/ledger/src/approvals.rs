//! Approvals: finding them, and deciding each one once.

use jiff::Timestamp;
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};

use heirloom_core::approval::{Approval, By, State};
use heirloom_core::event::{ApprovalClosed, ApprovalDecided, ApprovalRequested};
use heirloom_core::id::{ApprovalId, SessionId};
use heirloom_core::status::Status;

use crate::error::Error;
use crate::ledger::Ledger;
use crate::records::{parse, timestamp, unreadable};
use crate::sessions;
use crate::write::{Scope, Writer};

const COLUMNS: &str = "id, session, tool, input, tool_call_id, state, requested_at, decided_at, \
                       decided_by, reason, edited, edited_ref, rule";

/// Why a question was not decided.
#[derive(Debug, thiserror::Error)]
pub enum ApprovalError {
    /// There is no such question.
    #[error("there is no approval {id}")]
    None {
        /// The id that was asked for.
        id: String,
    },
    /// Somebody or something was first.
    #[error("{}", .0.outcome().unwrap_or_default())]
    Settled(Box<Approval>),
    #[error("the session is {}, so this approval is no longer needed", .status.in_words())]
    Over {
        /// The question.
        approval: Box<Approval>,
        /// What became of the session.
        status: Status,
    },
    #[error(transparent)]
    Ledger(#[from] Error),
}

/// Which approvals are listed.
#[derive(Debug, Clone, Copy, Default)]
pub struct ApprovalFilter<'a> {
    /// Only those of this repository.
    pub repo: Option<&'a str>,
    /// Only those of this session.
    pub session: Option<SessionId>,
    /// Whether only those are listed that nobody has decided.
    pub pending: bool,
}

impl Ledger {
    /// Approvals, oldest first.
    pub fn approvals(&self, filter: ApprovalFilter<'_>) -> Result<Vec<Approval>, Error> {
        let (mut wheres, mut values) = (vec!["1".to_owned()], Vec::new());
        let session = filter.session.map(|session| session.to_string());
        let repo = filter.repo.map(|repo| self.repository(repo)).transpose()?;
        for (column, value) in [("repo", repo), ("session", session)] {
            if let Some(value) = value {
                values.push(value);
                wheres.push(format!("{column} = ?{}", values.len()));
            }
        }
        if filter.pending {
            wheres.push("state = 'pending'".to_owned());
        }
        let wheres = wheres.join(" AND ");
        let sql =
            format!("SELECT {COLUMNS} FROM approval WHERE {wheres} ORDER BY requested_at, rowid");
        self.run("read", |db| {
            db.prepare_cached(&sql)?.query_map(params_from_iter(values), read)?.collect()
        })
    }

    /// The approvals whose id is `text` or begins with it.
    pub fn approvals_like(&self, text: &str) -> Result<Vec<Approval>, Error> {
        let sql = format!(
            "SELECT {COLUMNS} FROM approval WHERE id >= ?1 AND id < ?1 || char(1114111) LIMIT 20"
        );
        let text = text.to_ascii_lowercase();
        self.run("read", |db| db.prepare_cached(&sql)?.query_map((text,), read)?.collect())
    }

    /// The approval with that id.
    pub fn approval(&self, id: ApprovalId) -> Result<Option<Approval>, Error> {
        self.run("read", |db| one(db, id))
    }
}

impl Writer<'_> {
    /// Records a question; from now on its session waits, unless it was decided at once.
    pub fn request_approval(
        &mut self,
        scope: Scope<'_>,
        requested: &ApprovalRequested,
        decided: Option<&ApprovalDecided>,
    ) -> Result<Approval, Error> {
        self.append(scope, requested)?;
        match (decided, scope.session) {
            (Some(decided), _) => self.append(scope, decided).map(drop)?,
            (None, Some(session)) if self.status(session)? == Status::Running => {
                self.change_status(session, Status::WaitingInput, None)?;
            }
            _ => {}
        }
        let found = self.run(|db| one(db, requested.id))?;
        found.ok_or_else(|| self.explain(rusqlite::Error::QueryReturnedNoRows))
    }

    /// Decides a question that nobody has decided, in a session that still waits. The last
    /// decision of a session lets it go on.
    pub fn decide_approval(
        &mut self,
        decided: &ApprovalDecided,
    ) -> Result<Approval, ApprovalError> {
        let found = self.run(|db| one(db, decided.id))?;
        let approval = found.ok_or_else(|| ApprovalError::None { id: decided.id.to_string() })?;
        if approval.state != State::Pending {
            return Err(ApprovalError::Settled(Box::new(approval)));
        }
        let (session, id) = (approval.session, decided.id);
        let found = self.run(|db| sessions::status_and_repo(db, session))?;
        let (status, repo) = found.ok_or(Error::NoSession { id: session })?;
        if !status.is_active() || status == Status::Interrupting {
            return Err(ApprovalError::Over { approval: Box::new(approval), status });
        }
        self.append(Scope::session(session, &repo), decided)?;
        if status == Status::WaitingInput && self.run(|db| pending(db, session))?.is_empty() {
            self.change_status(session, Status::Running, None)?;
        }
        let found = self.run(|db| one(db, id))?;
        found.ok_or_else(|| ApprovalError::None { id: id.to_string() })
    }

    /// Closes every question of a session that nobody has decided.
    pub fn close_approvals(&mut self, session: SessionId, reason: &str) -> Result<usize, Error> {
        let Some((_, repo)) = self.run(|db| sessions::status_and_repo(db, session))? else {
            return Ok(0);
        };
        let open = self.run(|db| pending(db, session))?;
        for id in &open {
            let closed = ApprovalClosed { id: *id, reason: reason.to_owned() };
            self.append(Scope::session(session, &repo), &closed)?;
        }
        Ok(open.len())
    }
}

fn pending(db: &Connection, session: SessionId) -> rusqlite::Result<Vec<ApprovalId>> {
    db.prepare_cached("SELECT id FROM approval WHERE session = ?1 AND state = 'pending'")?
        .query_map((session.to_string(),), |row| parse(row, 0, |text| text.parse().ok()))?
        .collect()
}

fn one(db: &Connection, id: ApprovalId) -> rusqlite::Result<Option<Approval>> {
    let sql = format!("SELECT {COLUMNS} FROM approval WHERE id = ?1");
    db.prepare_cached(&sql)?.query_row((id.to_string(),), read).optional()
}

fn read(row: &Row<'_>) -> rusqlite::Result<Approval> {
    let json = |column: usize, text: &str| {
        serde_json::from_str(text)
            .map_err(|error| unreadable(column, Type::Text, error.to_string()))
    };
    let (input, edited): (String, Option<String>) = (row.get(3)?, row.get(10)?);
    let (decided_at, by): (Option<i64>, Option<String>) = (row.get(7)?, row.get(8)?);
    Ok(Approval {
        id: parse(row, 0, |text| text.parse().ok())?,
        session: parse(row, 1, |text| text.parse().ok())?,
        tool: row.get(2)?,
        input: json(3, &input)?,
        tool_call_id: row.get(4)?,
        state: parse(row, 5, State::parse)?,
        requested_at: timestamp(row.get(6)?),
        decided_at: decided_at.map(timestamp as fn(i64) -> Timestamp),
        by: by.as_deref().and_then(By::parse),
        reason: row.get(9)?,
        edited: edited.map(|edited| json(10, &edited)).transpose()?,
        edited_ref: row.get(11)?,
        rule: row.get(12)?,
    })
}

//! Taking over the sessions of HumanLayer's daemon, so that they can be continued here.

use std::io::Write;
use std::path::Path;

use heirloom_core::event::{SessionAnnounced, SessionCreated, SessionPrompted, SessionSpent};
use heirloom_core::id::SessionId;
use heirloom_core::session::Link;
use heirloom_core::status::Status;
use heirloom_ledger::import::daemon::{Daemon, DaemonSession};
use heirloom_ledger::{Error, Ledger, Scope};

use super::dir;
use super::error::ServeError;
use super::vault::Vault;
use crate::here::Here;

/// What came of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// Sessions that were taken over.
    pub sessions: usize,
    /// Sessions that were here already.
    pub already: usize,
    /// Sessions that were not taken over, and why.
    pub refused: Vec<(String, String)>,
}

/// Takes over the sessions of the database at `path`. Doing it again only adds what is new.
pub fn import_daemon(
    here: &Here,
    ledger: &mut Ledger,
    path: &Path,
) -> Result<Imported, ServeError> {
    let daemon = Daemon::open(path)?;
    let mut imported = Imported::default();
    for session in daemon.sessions()? {
        let Ok(id) = session.id.parse::<SessionId>() else {
            imported.refused.push((session.id, "its id is not a UUID".to_owned()));
            continue;
        };
        if ledger.session(id)?.is_some() {
            imported.already += 1;
            continue;
        }
        // A deny-list that cannot be read is never dropped in silence.
        if let Err(problem) = &session.config {
            imported.refused.push((session.id, problem.clone()));
            continue;
        }
        keep_stream(here, id, &daemon.lines(&session.id)?)?;
        record(here, ledger, id, session)?;
        imported.sessions += 1;
    }
    Ok(imported)
}

fn keep_stream(here: &Here, id: SessionId, lines: &[String]) -> Result<(), ServeError> {
    if lines.is_empty() {
        return Ok(());
    }
    let path = dir::stream(&here.home, id);
    let _ = std::fs::remove_file(&path);
    let text = lines.join("\n") + "\n";
    dir::append(&path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|source| ServeError::File { doing: "write", path, source })
}

fn record(
    here: &Here,
    ledger: &mut Ledger,
    id: SessionId,
    session: DaemonSession,
) -> Result<(), ServeError> {
    let config = session.config.unwrap_or_default();
    let repo = config.working_dir.as_deref().map_or_else(
        || here.place.repo.clone(),
        |directory| heirloom_repo::discover(Path::new(directory)).repo,
    );
    let config = Vault::new(&here.home).seal(&config)?;
    let name = format!("claude-{}", id.short());
    let parent = session.parent.as_deref().and_then(|parent| parent.parse().ok());
    let created = SessionCreated {
        name: name.parse().expect("an agent's name and hex digits are a name"),
        parent,
        link: parent.map(|_| Link::Resumed),
        agent: Some("claude".to_owned()),
        agent_session_id: session.agent_session_id.clone(),
        branch: None,
        config,
        overridden: Vec::new(),
        forked_at: None,
    };
    let scope = Scope::session(id, &repo);
    let created_at = session.created_at.unwrap_or_else(|| here.clock.now());
    ledger.write::<_, Error>(created_at, |writer| {
        writer.append(scope, &created)?;
        writer.append(scope, &SessionPrompted { text: session.query })?;
        if let Some(agent_session_id) = session.agent_session_id {
            writer.append(scope, &SessionAnnounced { agent_session_id, model: None })?;
        }
        let spent = SessionSpent {
            cost_usd: session.cost_usd,
            input_tokens: session.input_tokens,
            output_tokens: session.output_tokens,
        };
        writer.append(scope, &spent)?;
        Ok(())
    })?;
    let completed_at = session.completed_at.unwrap_or(created_at);
    let (status, error, archived) = (session.status, session.error, session.archived);
    ledger.write::<_, Error>(completed_at, |writer| {
        writer.change_status(id, status, error)?;
        if archived { writer.change_status(id, Status::Archived, None) } else { Ok(()) }
    })?;
    Ok(())
}

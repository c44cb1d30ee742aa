//! Taking over the sessions of HumanLayer's daemon, so that they can be continued here.

use std::path::Path;

use heirloom_core::event::{SessionAnnounced, SessionCreated, SessionPrompted, SessionSpent};
use heirloom_core::id::SessionId;
use heirloom_core::session::Link;
use heirloom_core::status::Status;
use heirloom_ledger::legacy::daemon::{Daemon, DaemonSession};
use heirloom_ledger::{Error, Ledger, Scope};

use crate::here::Here;
use crate::session::SessionError;
use crate::turn::stream::Stream;
use crate::vault::Vault;

/// What came of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// Sessions that were taken over.
    pub sessions: usize,
    /// Sessions that were here already.
    pub already: usize,
    /// Sessions that were not taken over, and why.
    pub refused: Vec<(String, String)>,
    /// Sessions that were taken over without something, and without what.
    pub lessened: Vec<(String, String)>,
}

/// Takes over the sessions of the database at `path`. Doing it again only adds what is new.
pub fn import(here: &Here, ledger: &mut Ledger, path: &Path) -> Result<Imported, SessionError> {
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
        let lost = session.left_behind.iter().map(|what| (session.id.clone(), what.clone()));
        imported.lessened.extend(lost);
        keep_stream(here, id, &daemon.lines(&session.id)?)?;
        record(here, ledger, id, session)?;
        imported.sessions += 1;
    }
    Ok(imported)
}

fn keep_stream(here: &Here, id: SessionId, lines: &[String]) -> Result<(), SessionError> {
    if lines.is_empty() {
        return Ok(());
    }
    let text = lines.join("\n") + "\n";
    let stream = Stream::of_session(&here.home, id);
    stream.keep(text.as_bytes()).map_err(|source| {
        let path = stream.events();
        SessionError::File { doing: "write", path, source }
    })
}

fn record(
    here: &Here,
    ledger: &mut Ledger,
    id: SessionId,
    session: DaemonSession,
) -> Result<(), SessionError> {
    let config = session.config.unwrap_or_default();
    let repo = config.working_dir.as_deref().map_or_else(
        || here.place.repo.clone(),
        |directory| heirloom_repo::discover(Path::new(directory)).repo,
    );
    let mut vault = Vault::new(&here.home);
    let config = vault.seal(&config);
    let _open = vault.store()?;
    let name = format!("claude-{}", id.short());
    let parent = session.parent.as_deref().and_then(|parent| parent.parse().ok());
    let created = SessionCreated {
        name: name.parse().expect("an agent's name and hex digits are a name"),
        parent,
        link: parent.map(|_| Link::Resumed),
        agent: Some("claude".into()),
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
            writer
                .append(scope, &SessionAnnounced { agent_session_id, model: None, agent: None })?;
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

#[cfg(test)]
mod tests {
    use heirloom_agents::Programs;
    use heirloom_core::config::Overrides;
    use heirloom_core::session::Session;
    use heirloom_core::settings::Settings;
    use rusqlite::Connection;

    use super::*;
    use crate::here::Env;
    use crate::session::{self, Continue, LaunchContext, Prepared, prepare_continue};

    const PARENT: &str = "11111111-1111-4111-8111-111111111111";
    const TALK: &str = "44444444-4444-4444-8444-444444444444";
    const CHILD: &str = "22222222-2222-4222-8222-222222222222";

    fn daemon(path: &Path) {
        let db = Connection::open(path).unwrap();
        db.execute_batch(&format!(
            r#"CREATE TABLE sessions (id TEXT PRIMARY KEY, claude_session_id TEXT,
                 parent_session_id TEXT, query TEXT, model TEXT, working_dir TEXT, status TEXT,
                 disallowed_tools TEXT, created_at TIMESTAMP, cost_usd REAL,
                 proxy_enabled BOOLEAN);
               CREATE TABLE mcp_servers (id INTEGER PRIMARY KEY, session_id TEXT, name TEXT,
                 command TEXT, args_json TEXT, env_json TEXT);
               CREATE TABLE raw_events (id INTEGER PRIMARY KEY, session_id TEXT, event_json TEXT);
               INSERT INTO sessions VALUES
                 ('{PARENT}', '{TALK}', '', 'do it', 'opus', '/', 'completed', '["WebFetch"]',
                  '2025-06-27 18:01:02', 0.25, 1),
                 ('{CHILD}', 'c2', '{PARENT}', 'go on', 'opus', '/w', 'running', '[]',
                  '2025-06-27 18:02:02', 0.5, 0),
                 ('33333333-3333-4333-8333-333333333333', 'c3', '', 'q', 'opus', '/w', 'failed',
                  'WebFetch', '2025-06-27 18:03:02', 0, 0);
               INSERT INTO mcp_servers VALUES (1, '{PARENT}', 'db', 'db', '[]', '{{"T":"t0p"}}');
               INSERT INTO raw_events VALUES (1, '{PARENT}',
                 '{{"type":"assistant","message":{{"content":[{{"type":"text","text":"done"}}]}}}}');"#
        ))
        .unwrap();
    }

    fn continued(here: &Here, ledger: &mut Ledger, session: Session) -> Prepared {
        let mut programs = Programs::new(Path::new("heirloom"));
        programs.replace("claude", vec!["/bin/true".to_owned()]);
        let settings = Settings::default();
        let directory = Path::new("/");
        let context = LaunchContext {
            here,
            programs: &programs,
            settings: &settings,
            directory,
            system: &crate::turn::system::Real,
        };
        let request = Continue {
            session,
            prompt: "go on".to_owned(),
            name: None,
            overrides: Overrides::default(),
            fork: false,
            same_conversation: false,
            at: None,
        };
        prepare_continue(&context, ledger, request).unwrap()
    }

    #[test]
    fn the_daemons_sessions_can_be_shown_and_continued_and_are_taken_over_once() {
        let dir = tempfile::tempdir().unwrap();
        let home = ("HEIRLOOM_HOME".into(), dir.path().join("home").into());
        let here = Here::look(dir.path(), Env::from([home])).unwrap();
        let mut ledger = here.ledger().unwrap();
        let path = dir.path().join("daemon.db");
        daemon(&path);
        let imported = import(&here, &mut ledger, &path).unwrap();
        assert_eq!((imported.sessions, imported.already), (2, 0));
        assert!(imported.refused[0].1.starts_with("disallowed_tools"), "{imported:?}");

        assert_eq!(imported.lessened.len(), 1, "{imported:?}");
        let child = ledger.session(CHILD.parse().unwrap()).unwrap().unwrap();
        assert_eq!((child.status, child.announced), (Status::Interrupted, true));
        assert_eq!(child.agent_session_id.as_deref(), Some("c2"));
        let total = session::totals(&ledger, &child).unwrap();
        assert_eq!((total.sessions, total.cost.to_string()), (2, "$0.75".to_owned()));
        let said = session::conversation(&here, &ledger, &child).unwrap().items;
        let texts: Vec<_> = said.iter().map(|item| item.text.as_deref().unwrap()).collect();
        assert_eq!(texts, ["do it", "done", "go on"]);

        let parent = ledger.session(PARENT.parse().unwrap()).unwrap().unwrap();
        let sealed = parent.config.clone().unwrap();
        assert_eq!(sealed.disallowed_tools, Some(vec!["WebFetch".to_owned()]));
        assert_eq!(parent.created_at.to_string(), "2025-06-27T18:01:02Z");
        assert!(!serde_json::to_string(&sealed).unwrap().contains("t0p"));
        let clear = Vault::new(&here.home).unseal(&sealed, &[]).unwrap();
        assert!(serde_json::to_string(&clear).unwrap().contains("t0p"));

        let prepared = continued(&here, &mut ledger, parent);
        let args: Vec<_> = prepared.line.args.iter().map(|arg| arg.to_string_lossy()).collect();
        assert!(args.windows(2).any(|pair| pair == ["--resume", TALK]), "{args:?}");
        assert!(args.contains(&"--disallowedTools=WebFetch".into()), "{args:?}");
        let servers = serde_json::to_string(&prepared.config.mcp_servers).unwrap();
        assert!(servers.contains("t0p"), "{servers}");
        drop(prepared);

        let again = import(&here, &mut ledger, &path).unwrap();
        assert_eq!((again.sessions, again.already), (0, 2));
        assert!(ledger.verify().unwrap().ok);
    }
}

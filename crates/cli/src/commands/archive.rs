use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::ExitCode;

use clap::Subcommand;
use heirloom_api::{
    ArchiveDetail, ArchiveList, ArchiveRestored, ArchivedSession, ArchivedTranscript, RestoredFile,
};
use heirloom_core::id::SessionId;
use heirloom_core::words::size;
use heirloom_engine::capture::{self, Archive, Kept};
use heirloom_engine::sessions;

use super::{App, Done};
use crate::moment::ago;
use crate::ui::{BOLD, Columns, DIM, GOOD};

/// List, show and restore archived transcripts
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List sessions with archived transcripts
    List,
    /// Show a session's archived transcripts
    Show {
        /// The session's name, id or id prefix
        session: String,
    },
    /// Put a session's transcripts back where its agent can resume them
    ///
    /// Files the agent still has are left alone.
    Restore {
        /// The session's name, id or id prefix
        session: String,
    },
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    match &args.what {
        What::List => list(app),
        What::Show { session } => show(app, session),
        What::Restore { session } => restore(app, session),
    }
}

fn list(app: &App) -> Done {
    let ledger = app.here.ledger()?;
    let own = ledger.repository(&app.here.place.repo)?;
    let mut by_session: BTreeMap<SessionId, Vec<Kept>> = BTreeMap::new();
    for kept in Archive::new(&app.here.home).list() {
        by_session.entry(kept.session).or_default().push(kept);
    }
    let mut rows = Vec::new();
    for (id, all) in by_session {
        let session = ledger.session(id)?;
        let is_here = match &session {
            Some(session) => ledger.repository(&session.repo)? == own,
            None => false,
        };
        let last = all.iter().map(|kept| kept.archived_at).max();
        if let (true, Some(archived_at)) = (is_here, last) {
            rows.push(ArchivedSession {
                session: id.to_string(),
                name: session.map(|session| session.name.to_string()),
                agent: all[0].agent.clone(),
                bytes: all.iter().map(|kept| kept.bytes).sum(),
                stored: all.iter().map(|kept| kept.stored).sum(),
                archived_at,
                native_exists: all.iter().any(|kept| kept.path.exists()),
            });
        }
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.archived_at));
    let answer = ArchiveList { sessions: rows };
    app.ui.answer(&answer, || table(app, &answer.sessions));
    if answer.sessions.is_empty() && !app.ui.is_json() {
        app.ui.hint(
            "nothing is archived for this repository yet; `heirloom sync` imports transcripts",
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn table(app: &App, rows: &[ArchivedSession]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let now = app.here.clock.now();
    let mut columns = Columns::new(&["session", "agent", "size", "archived", "when", "original"])
        .right(2)
        .right(3)
        .yielding(0)
        .dispensable(&[4, 3]);
    for row in rows {
        columns.row(vec![
            row.name.clone().unwrap_or_else(|| row.session.clone()),
            row.agent.clone(),
            size(row.bytes),
            size(row.stored),
            ago(row.archived_at, now),
            if row.native_exists { "there" } else { "gone" }.to_owned(),
        ]);
    }
    columns.render()
}

fn show(app: &App, address: &str) -> Done {
    let ledger = app.here.ledger()?;
    let session = sessions::find(&app.here, &ledger, address)?;
    let kept = Archive::new(&app.here.home).of_session(session.id);
    let answer = ArchiveDetail {
        session: session.id.to_string(),
        name: session.name.to_string(),
        transcripts: kept.iter().map(ArchivedTranscript::from).collect(),
    };
    app.ui.answer(&answer, || {
        let mut text = format!("{BOLD}{}{BOLD:#}\n", session.name);
        let mut shown: Vec<&str> = Vec::new();
        for one in &answer.transcripts {
            let has = if one.native_exists { "" } else { "; the original is gone" };
            let (whole, archived) = (size(one.bytes), size(one.stored));
            // Whenever an agent rewrote its file, what was there before stayed archived.
            let before = shown.iter().filter(|path| **path == one.path).count();
            let version = match before {
                0 => String::new(),
                before => format!(", version {} of it", before + 1),
            };
            shown.push(&one.path);
            let _ = writeln!(text, "  {}", one.path);
            let _ = writeln!(text, "    {DIM}{whole}, {archived} archived{version}{has}{DIM:#}");
        }
        text
    });
    if kept.is_empty() && !app.ui.is_json() {
        app.ui.hint("no transcript of this session is archived");
    }
    Ok(ExitCode::SUCCESS)
}

fn restore(app: &App, address: &str) -> Done {
    let ledger = app.here.ledger()?;
    let session = sessions::find(&app.here, &ledger, address)?;
    let done = capture::restore(&app.here, &ledger, session.id)?;
    let files = done
        .iter()
        .map(|one| RestoredFile {
            path: one.path.to_string_lossy().into_owned(),
            restored: one.restored,
        })
        .collect();
    let answer = ArchiveRestored { session: session.id.to_string(), files };
    app.ui.answer(&answer, || {
        let mut text = String::new();
        for file in &answer.files {
            let what = if file.restored { "restored" } else { "the agent still has it:" };
            let _ = writeln!(text, "{GOOD}✔{GOOD:#} {what}  {}", file.path);
        }
        text
    });
    Ok(ExitCode::SUCCESS)
}

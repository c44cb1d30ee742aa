//! `heirloom sessions show`: everything that is known of one.

use std::fmt::Write;
use std::process::ExitCode;

use heirloom_api::{self as api, SessionDetail, SessionNotes, Trajectory};
use heirloom_core::cost::Cost;
use heirloom_core::run::stop::reason_in_words;
use heirloom_core::session::Session;
use heirloom_core::settings::OnOff;
use heirloom_core::words::in_words;
use heirloom_engine::sessions::FindError;
use heirloom_engine::{capture, notes as engine_notes, session, sessions};
use heirloom_ledger::Ledger;
use heirloom_repo::changes::of_commits;

use crate::commands::{App, Done, notes, unrecorded};
use crate::layout::width;
use crate::moment::ago;
use crate::ui::{BOLD, DIM, counted, first_line, grouped};

/// Show one session
#[derive(Debug, clap::Args)]
pub(super) struct Show {
    /// The session's name, id or id prefix
    session: String,
    /// Show its learnings, patterns, warnings and decisions
    #[arg(long, group = "part")]
    learnings: bool,
    /// Show how its agent was launched
    #[arg(long, group = "part")]
    config: bool,
    /// Show its ledger entries, in order
    #[arg(long, group = "part")]
    trajectory: bool,
}

pub(super) fn show(app: &App, args: &Show) -> Done {
    let mut ledger = app.here.ledger()?;
    crate::commands::session::tidy(app, &mut ledger)?;
    let session = match sessions::find(&app.here, &ledger, &args.session) {
        Err(FindError::None { .. }) if unrecorded::show(app, &ledger, &args.session)? => {
            return Ok(ExitCode::SUCCESS);
        }
        found => found?,
    };
    if args.learnings {
        show_notes(app, &ledger, &session)
    } else if args.config {
        show_config(app, &ledger, &session)
    } else if args.trajectory {
        show_trajectory(app, &ledger, &session)
    } else {
        show_summary(app, &ledger, &session)
    }
}

fn show_summary(app: &App, ledger: &Ledger, session: &Session) -> Done {
    let total = session::totals(ledger, session)?;
    let parent = sessions::parent_name(ledger, session)?;
    let mut detail = SessionDetail::new(&app.here, session, parent, total);
    let archive = app.settings.as_ref().is_ok_and(|all| all.settings.capture.archive == OnOff::On);
    // What cannot be read now is not in, which is shown.
    let _ = capture::refresh(&app.here, ledger, session, archive);
    if let Some(facts) = capture::known(&app.here.home, session.id)? {
        detail.learn(&facts);
        let hashes = facts.commits.iter().map(|commit| commit.hash.as_str());
        detail.commit_files = Some(of_commits(&app.here.place.root, hashes));
    }
    app.ui.answer(&detail, || {
        let now = app.here.clock.now();
        let mut text = format!("{BOLD}{}{BOLD:#}  {}\n", session.name, session.status.in_words());
        let mut line = |name: &str, value: Option<&str>| {
            if let Some(value) = value {
                let _ = writeln!(text, "  {DIM}{name:14}{DIM:#}{value}");
            }
        };
        line("id", Some(&session.id.to_string()));
        line("parent", detail.session.parent.as_deref());
        line("by", session.author.as_deref());
        line("agent", session.agent.as_deref());
        line("agent session", session.agent_session_id.as_deref());
        line("branch", session.branch.as_deref());
        line("started", Some(&ago(session.created_at, now)));
        line("ended", session.completed_at.map(|at| ago(at, now)).as_deref());
        line("reason", session.reason.as_deref().map(reason_in_words).as_deref());
        line("forgotten", detail.forgotten.then_some("what was said in it was deleted"));
        line("problem", detail.session.problem.as_deref());
        let cost = Cost::new(detail.session.cost_usd, detail.session.cost_partial);
        line("cost", Some(&cost.to_string()));
        if total.sessions > 1 {
            let with = format!("{} with all it continues", total.cost);
            line("", Some(&with));
        }
        line("learnings", Some(&session.learnings.to_string()));
        facts_text(&mut text, &detail);
        text
    });
    Ok(ExitCode::SUCCESS)
}

/// What the agent's own transcript says, for people.
fn facts_text(text: &mut String, detail: &SessionDetail) {
    let mut rows: Vec<(&str, String)> = Vec::new();
    rows.extend(detail.title.clone().map(|title| ("title", title)));
    rows.extend(detail.model.clone().map(|model| ("model", model)));
    rows.extend(detail.turns.map(|turns| ("turns", turns.to_string())));
    if let Some(context) = &detail.context {
        let window = context.window.map_or("an unknown number".to_owned(), grouped);
        rows.push(("context", format!("{} of {window} tokens", grouped(context.used))));
    }
    let prompts = detail.prompts.iter().flatten().map(|prompt| prompt.text.clone());
    rows.extend(prompts.map(|prompt| ("prompt", prompt)));
    rows.extend(detail.files.iter().flatten().map(|file| ("file", file.clone())));
    rows.extend(detail.commits.iter().flatten().map(|commit| {
        let hash = commit.split(' ').next().unwrap_or_default();
        let files = detail.commit_files.as_ref().and_then(|files| files.get(hash));
        let files = files.map(|files| format!(": {}", files.join(", "))).unwrap_or_default();
        ("commit", format!("{commit}{files}"))
    }));
    rows.extend(detail.tests.iter().flatten().map(|test| {
        let stands = if test.passed_since { "failed, passed since" } else { "fails" };
        ("test", format!("{} {stands}", test.name))
    }));
    let unknown = detail.unknown_lines.filter(|lines| *lines > 0);
    rows.extend(unknown.map(|lines| {
        let lines = counted(lines, "line");
        ("not read", format!("{lines} of a kind heirloom does not know"))
    }));
    let open = |todo: &&api::SessionTodo| todo.state != "dropped";
    let todos = detail.todos.iter().flatten().filter(open);
    rows.extend(todos.map(|todo| ("to do", format!("{} ({})", todo.text, in_words(&todo.state)))));
    let mut last = "";
    for (name, value) in rows {
        // Ten files are one list, and need one label.
        let name = if std::mem::replace(&mut last, name) == name { "" } else { name };
        let _ = writeln!(text, "  {DIM}{name:14}{DIM:#}{}", first_line(&value, 100));
    }
}

fn show_notes(app: &App, ledger: &Ledger, session: &Session) -> Done {
    let query = engine_notes::Query { session: Some(session.id.to_string()), ..Default::default() };
    let mut listed = engine_notes::list(&app.here, ledger, &query)?.notes;
    listed.retain(|(note, _)| note.kind.is_claim());
    let notes = listed.iter().map(|(note, session)| api::Note::new(note, session)).collect();
    let answer = SessionNotes::new(session, notes);
    app.ui.answer(&answer, || {
        let rows = listed.iter().map(|(note, session)| notes::as_text(note, session, false));
        rows.collect()
    });
    if listed.is_empty() && !app.ui.is_json() {
        app.ui.hint("this session made no notes");
    }
    Ok(ExitCode::SUCCESS)
}

fn show_config(app: &App, ledger: &Ledger, session: &Session) -> Done {
    crate::commands::session::report::config(app, session, &session::config_of(ledger, session)?);
    Ok(ExitCode::SUCCESS)
}

/// Less of a record than this says nothing: it stands below then.
const LEGIBLE: usize = 40;

fn show_trajectory(app: &App, ledger: &Ledger, session: &Session) -> Done {
    let records = ledger.trajectory(session.id)?;
    let trajectory = records.iter().map(Into::into).collect();
    app.ui.answer(&Trajectory { session: session.name.to_string(), trajectory }, || {
        let mut text = String::new();
        for record in &records {
            let at = record.at.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string();
            let line = format!("{DIM}{at}{DIM:#}  {:20} ", record.kind);
            // A record is one line on a screen, and whole in a pipe.
            let room = width().map_or(usize::MAX, |all| all.saturating_sub(at.len() + 23));
            let _ = if room < LEGIBLE {
                let room = width().unwrap_or_default().saturating_sub(2);
                writeln!(text, "{}\n  {}", line.trim_end(), first_line(&record.body, room))
            } else {
                writeln!(text, "{line}{}", first_line(&record.body, room))
            };
        }
        text
    });
    Ok(ExitCode::SUCCESS)
}

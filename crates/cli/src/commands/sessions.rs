use std::fmt::Write;
use std::process::ExitCode;

use clap::Subcommand;
use heirloom_api::{
    self as api, SessionDetail, SessionForgotten, SessionList, SessionNotes, SessionStop,
    Trajectory,
};
use heirloom_core::run::stop::reason_in_words;
use heirloom_core::session::Session;
use heirloom_core::settings::OnOff;
use heirloom_core::status::Status;
use heirloom_core::visible::visible;
use heirloom_engine::run::inherit::Unrecorded;
use heirloom_engine::run::{self, Stopped};
use heirloom_engine::sessions::{FindError, Listing, Row};
use heirloom_engine::{capture, notes as engine_notes, session, sessions};
use heirloom_ledger::{Found, Ledger};

use super::{App, Done, notes, unrecorded};
use crate::failure::{Code, Failure};
use crate::moment::ago;
use crate::ui::{BOLD, Columns, DIM, GOOD, counted, dollars, first_line, grouped, priced_cell};

/// List, show and change sessions
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    List(List),
    Show(Show),
    Stop(Stop),
    Update(Update),
    Forget(Forget),
    // What it was called before an archive was what is kept of transcripts.
    #[command(alias = "archive")]
    Hide(Hide),
    Private(Private),
}

/// List sessions, newest first
#[derive(Debug, clap::Args)]
struct List {
    /// Only completed sessions
    #[arg(long, group = "status")]
    completed: bool,
    /// Only sessions that are running or waiting
    #[arg(long, group = "status")]
    running: bool,
    /// Only failed sessions
    #[arg(long, group = "status")]
    failed: bool,
    /// Only hidden sessions
    #[arg(long, alias = "archived", group = "status")]
    hidden: bool,
    /// Sessions of all repositories
    #[arg(long)]
    all_repos: bool,
    /// Include sessions that a later one continues
    #[arg(long)]
    all: bool,
    /// List at most this many
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Continue a list after this session: the `next` of an earlier list
    #[arg(long, value_name = "ID")]
    after: Option<String>,
}

/// Show one session
#[derive(Debug, clap::Args)]
struct Show {
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

/// Stop a running session
///
/// It finishes its iteration first; a second time, or with --now, its agent is stopped at once.
/// `heirloom run STAGE SESSION --resume` continues it.
#[derive(Debug, clap::Args)]
struct Stop {
    /// The session's name, id or id prefix
    session: String,
    /// Stop its agent at once
    #[arg(long)]
    now: bool,
}

/// Delete what was said in a session
///
/// Removes its archived transcripts, the facts and index entries made from them, its run files, and
/// backups that contain it; its words are erased from records. The agent's own files stay.
#[derive(Debug, clap::Args)]
struct Forget {
    /// The session's name, id or id prefix
    session: String,
}

/// Hide a session from lists, without deleting anything
#[derive(Debug, clap::Args)]
struct Hide {
    /// The session's name, id or id prefix
    session: String,
    /// Show it again
    #[arg(long)]
    undo: bool,
}

/// Withhold a session from the team's hub, with all that come from it
///
/// What was sent already stays there; `heirloom sessions forget` erases it with the next push.
#[derive(Debug, clap::Args)]
struct Private {
    /// The session: a name, an id, or the beginning of one
    session: String,
    /// Let what it says from now on travel again
    #[arg(long)]
    off: bool,
}

pub(super) fn run(app: &App, args: Args) -> Done {
    match args.what {
        What::List(args) => list(app, &args),
        What::Show(args) => show(app, &args),
        What::Stop(args) => stop(app, &args),
        What::Update(args) => update(app, args),
        What::Forget(args) => forget(app, &args),
        What::Hide(args) => hide(app, &args),
        What::Private(args) => private(app, &args),
    }
}

/// Change a session, even while it runs
///
/// New permissions also apply to approvals that are already waiting.
#[derive(Debug, clap::Args)]
struct Update {
    /// The session's name, id or id prefix
    session: String,
    /// A title; empty removes it
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Approve file edits without asking
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    auto_accept_edits: Option<bool>,
    /// Approve everything without asking for this long; `off` ends it
    #[arg(long, value_name = "DURATION|off")]
    bypass: Option<String>,
}

fn update(app: &App, args: Update) -> Done {
    let mut ledger = app.here.ledger()?;
    let session = sessions::find(&app.here, &ledger, &args.session)?;
    let now = app.here.clock.now();
    let bypass_until = match args.bypass.as_deref() {
        None => None,
        Some("off") => Some(None),
        Some(period) => Some(Some(super::session::flags::until(period, now)?)),
    };
    let change = session::Update {
        title: args.title,
        auto_accept_edits: args.auto_accept_edits,
        bypass_until,
    };
    if change == session::Update::default() {
        let message = "nothing to change";
        let hint = "--title, --auto-accept-edits or --bypass";
        return Err(Failure::new(Code::Usage, message).hint(hint).usage());
    }
    let session = session::update(&app.here, &mut ledger, &session, change)?;
    let shown = answer(&ledger, &session)?;
    app.ui.answer(&shown, || format!("{GOOD}✔{GOOD:#} changed {}", session.name));
    Ok(ExitCode::SUCCESS)
}

fn forget(app: &App, args: &Forget) -> Done {
    let mut ledger = app.here.ledger()?;
    let session = sessions::find(&app.here, &ledger, &args.session)?;
    let gone = capture::forget(&app.here, &mut ledger, &session)?;
    let answer = SessionForgotten::new(session.name.to_string(), &gone);
    app.ui.answer(&answer, || {
        let records = counted(gone.records as u64, "record");
        format!("{GOOD}✔{GOOD:#} forgot {}; its text was erased from {records}", session.name)
    });
    for path in &gone.native {
        let agent = session.agent.as_deref().unwrap_or("its agent");
        app.ui.hint(&format!("{agent} still has it: {}", path.display()));
    }
    Ok(ExitCode::SUCCESS)
}

fn stop(app: &App, args: &Stop) -> Done {
    let mut ledger = app.here.ledger()?;
    let session = sessions::find(&app.here, &ledger, &args.session)?;
    let name = &session.name;
    let (word, text) = match run::stop(&app.here, &mut ledger, &session, args.now)? {
        Stopped::Asked => ("asked", format!("{name} stops after this iteration")),
        Stopped::AskedNow => ("asked_now", format!("{name} stops its agent now")),
        Stopped::Gone => {
            ("gone", format!("{name} had already stopped; it is marked as interrupted"))
        }
        Stopped::NotRunning => {
            let status = session.status.in_words();
            let message = format!("session {name} is not running: it is {status}");
            return Err(Failure::new(Code::SessionNotRunning, message));
        }
    };
    let answer = SessionStop { session: name.to_string(), stopped: word.to_owned() };
    app.ui.answer(&answer, || text);
    Ok(ExitCode::SUCCESS)
}

fn list(app: &App, args: &List) -> Done {
    let mut ledger = app.here.ledger()?;
    super::session::tidy(app, &mut ledger)?;
    let statuses: &[Status] = if args.completed {
        &[Status::Completed]
    } else if args.running {
        &[Status::Starting, Status::Running, Status::WaitingInput, Status::Interrupting]
    } else if args.failed {
        &[Status::Failed]
    } else if args.hidden {
        &[Status::Archived]
    } else {
        &[]
    };
    let after = args.after.as_deref().map(|address| sessions::find(&app.here, &ledger, address));
    let after = after.transpose()?.map(|session| session.id);
    let repo = (!args.all_repos).then_some(app.here.place.repo.as_str());
    let (leaves, limit) = (!args.all, args.limit);
    let listing = Listing { repo, statuses, leaves, limit, after, ..Listing::default() };
    let page = sessions::list(&app.here, &ledger, &listing)?;
    let wanted = |each: &Unrecorded| {
        statuses.is_empty() || each.status.is_some_and(|status| statuses.contains(&status))
    };
    // They come after all that the ledger knows.
    let unrecorded: Vec<Unrecorded> = if page.next.is_some() || args.after.is_some() {
        Vec::new()
    } else {
        let all = run::inherit::unrecorded(&app.here, &ledger)?;
        all.into_iter().filter(wanted).collect()
    };
    let is_empty = page.rows.is_empty() && unrecorded.is_empty();
    app.ui.answer(&SessionList::new(page.clone(), unrecorded.clone()), || {
        table(app, &page.rows, &unrecorded, args.running)
    });
    if !app.ui.is_json() {
        if is_empty {
            app.ui.hint(&why_empty(app, &ledger, args)?);
        }
        if let Some(next) = page.next {
            app.ui.hint(&format!("there are more: add --after {}", next.short()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Why a list of sessions is empty: there may be others than those that were asked for.
fn why_empty(app: &App, ledger: &Ledger, args: &List) -> Result<String, Failure> {
    let what = match (args.running, args.completed, args.failed, args.hidden) {
        (true, ..) => "no session is running",
        (_, true, ..) => "no session has completed",
        (_, _, true, _) => "no session has failed",
        (_, _, _, true) => "no session is hidden",
        _ => "no sessions here yet; they appear when an agent works in this repository",
    };
    let others = ledger.count_sessions(&app.here.place.repo)?;
    let is_cut_down = args.running || args.completed || args.failed || args.hidden;
    if others == 0 || !is_cut_down {
        return Ok(what.to_owned());
    }
    Ok(format!("{what}; `heirloom sessions` lists {}", counted(others, "other session")))
}

/// The table of sessions. Of those that run it says when they last did something, of others when they
/// ended.
fn table(app: &App, rows: &[Row], unrecorded: &[Unrecorded], running: bool) -> String {
    if rows.is_empty() && unrecorded.is_empty() {
        return String::new();
    }
    let now = app.here.clock.now();
    let when = if running { "last active" } else { "completed" };
    let mut columns =
        Columns::new(&["name", "status", when, "learnings", "cost", "about"]).right(3).right(4);
    columns = columns.dispensable(&[3, 4, 2]);
    for Row { session, at_work, title, cost_usd, .. } in rows {
        let at = if running {
            at_work.as_ref().map(|each| each.last_active_at)
        } else {
            session.completed_at
        };
        columns.row(vec![
            session.name.to_string(),
            status(session),
            at.map_or_else(|| "-".to_owned(), |at| ago(at, now)),
            session.learnings.to_string(),
            priced_cell(*cost_usd),
            title.as_deref().map_or_else(|| about(session), |title| first_line(title, 100)),
        ]);
    }
    for each in unrecorded {
        columns.row(vec![
            each.name.clone(),
            each.status.map_or_else(|| "-".to_owned(), |status| status.in_words().to_owned()),
            each.completed_at.map_or_else(|| "-".to_owned(), |at| ago(at, now)),
            each.learnings.to_string(),
            "-".to_owned(),
            "only in its run directory".to_owned(),
        ]);
    }
    columns.render()
}

/// What a session is about: its title, or else what it was told.
fn about(session: &Session) -> String {
    let title = session.config.as_ref().ok().and_then(|config| config.title.clone());
    let text = title.or_else(|| session.prompt.clone()).unwrap_or_default();
    first_line(&visible(&text), 100)
}

/// What a session is doing, and whether something is wrong with it.
fn status(session: &Session) -> String {
    let damaged = if session.config.is_err() { ", config unreadable" } else { "" };
    format!("{}{damaged}", session.status.in_words())
}

/// A session as scripts see it.
pub(super) fn answer(ledger: &Ledger, session: &Session) -> Result<api::Session, Failure> {
    Ok(api::Session::new(session, sessions::parent_name(ledger, session)?))
}

fn show(app: &App, args: &Show) -> Done {
    let mut ledger = app.here.ledger()?;
    super::session::tidy(app, &mut ledger)?;
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
    let mut detail = SessionDetail::new(session, parent, total);
    let archive = app.settings.as_ref().is_ok_and(|all| all.settings.capture.archive == OnOff::On);
    // What cannot be read now is not in, which is shown.
    let _ = capture::refresh(&app.here, ledger, session, archive);
    if let Some(facts) = capture::known(&app.here.home, session.id)? {
        detail.learn(&facts);
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
        line("agent", session.agent.as_deref());
        line("agent session", session.agent_session_id.as_deref());
        line("branch", session.branch.as_deref());
        line("started", Some(&ago(session.created_at, now)));
        line("ended", session.completed_at.map(|at| ago(at, now)).as_deref());
        line("reason", session.reason.as_deref().map(reason_in_words).as_deref());
        line("problem", detail.session.problem.as_deref());
        let cost = detail.session.cost_usd;
        let cost = cost.map_or_else(|| "unknown".to_owned(), dollars);
        line("cost", Some(&cost));
        if total.sessions > 1 {
            let with = format!("{} with all it continues", total.cost_in_words());
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
    rows.extend(detail.commits.iter().flatten().map(|commit| ("commit", commit.clone())));
    rows.extend(detail.tests.iter().flatten().map(|test| {
        let stands = if test.passed_since { "failed, passed since" } else { "fails" };
        ("test", format!("{} {stands}", test.name))
    }));
    let open = |todo: &&api::SessionTodo| todo.state != "dropped";
    let todos = detail.todos.iter().flatten().filter(open);
    rows.extend(todos.map(|todo| ("to do", format!("{} ({})", todo.text, todo.state))));
    for (name, value) in rows {
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
    super::session::report::config(app, session, &session::config_of(ledger, session)?);
    Ok(ExitCode::SUCCESS)
}

fn show_trajectory(app: &App, ledger: &Ledger, session: &Session) -> Done {
    let records = ledger.trajectory(session.id)?;
    let trajectory = records.iter().map(Into::into).collect();
    app.ui.answer(&Trajectory { session: session.name.to_string(), trajectory }, || {
        let mut text = String::new();
        for record in &records {
            let body = crate::ui::first_line(&record.body, 100);
            let _ = writeln!(text, "{DIM}{}{DIM:#}  {:20} {body}", record.at, record.kind);
        }
        text
    });
    Ok(ExitCode::SUCCESS)
}

fn private(app: &App, args: &Private) -> Done {
    let mut ledger = app.here.ledger()?;
    let session = sessions::find(&app.here, &ledger, &args.session)?;
    sessions::withhold(&app.here, &mut ledger, &session, !args.off)?;
    app.ui.answer(&answer(&ledger, &session)?, || {
        let now = if args.off { "travels again" } else { "stays here, with all that come from it" };
        format!("{GOOD}✔{GOOD:#} {} {now}", session.name)
    });
    Ok(ExitCode::SUCCESS)
}

fn hide(app: &App, args: &Hide) -> Done {
    let mut ledger = app.here.ledger()?;
    let session = sessions::find(&app.here, &ledger, &args.session)?;
    sessions::archive(&app.here, &mut ledger, &session, !args.undo)?;
    let Found::One(session) = ledger.find(&app.here.place.repo, &session.id.to_string())? else {
        return Err(Failure::new(Code::SessionNotFound, "the session is gone"));
    };
    app.ui.answer(&answer(&ledger, &session)?, || {
        let learnings = counted(session.learnings, "learning");
        let now = if args.undo { "is in the list again" } else { "is hidden" };
        format!("{GOOD}✔{GOOD:#} {} {now} ({learnings} kept)", session.name)
    });
    Ok(ExitCode::SUCCESS)
}

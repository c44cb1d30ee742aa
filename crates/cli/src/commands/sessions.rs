use std::fmt::Write;
use std::process::ExitCode;

use clap::Subcommand;
use heirloom_api::{
    self as api, SessionDetail, SessionForgotten, SessionList, SessionNotes, SessionStop,
    Trajectory,
};
use heirloom_core::session::Session;
use heirloom_core::settings::OnOff;
use heirloom_core::status::Status;
use heirloom_core::trust::person::{Action, allow};
use heirloom_core::visible::visible;
use heirloom_engine::run::inherit::Unrecorded;
use heirloom_engine::run::{self, Stopped};
use heirloom_engine::sessions::{Listing, Row};
use heirloom_engine::{capture, notes as engine_notes, person, session, sessions};
use heirloom_ledger::{Found, Ledger};

use super::{App, Done, notes};
use crate::failure::{Code, Failure};
use crate::moment::ago;
use crate::ui::{BOLD, Columns, DIM, GOOD, counted, first_line, grouped};

/// Find and see sessions
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
}

/// List sessions, newest first
#[derive(Debug, clap::Args)]
struct List {
    /// Only those that ended well
    #[arg(long, group = "status")]
    completed: bool,
    /// Only those that run or wait
    #[arg(long, group = "status")]
    running: bool,
    /// Only those that ended badly
    #[arg(long, group = "status")]
    failed: bool,
    /// Only those that are hidden
    #[arg(long, alias = "archived", group = "status")]
    hidden: bool,
    /// Those of all repositories
    #[arg(long)]
    all_repos: bool,
    /// Also those that another session goes on with
    #[arg(long)]
    all: bool,
    /// The most to list
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Go on after this session, the `next` of an earlier list
    #[arg(long, value_name = "ID")]
    after: Option<String>,
}

/// Show one session
#[derive(Debug, clap::Args)]
struct Show {
    /// The session: a name, an id, or the beginning of one
    session: String,
    /// What it learned, and its patterns, warnings and decisions
    #[arg(long, group = "part")]
    learnings: bool,
    /// How its agent was launched
    #[arg(long, group = "part")]
    config: bool,
    /// Its entries in the ledger, in order
    #[arg(long, group = "part")]
    trajectory: bool,
}

/// Stop a session that runs
///
/// It finishes its iteration first. Said once more, or with --now, it stops its agent at once. It
/// can be gone on with: heirloom run STAGE SESSION --resume.
#[derive(Debug, clap::Args)]
struct Stop {
    /// The session: a name, an id, or the beginning of one
    session: String,
    /// Stop its agent at once
    #[arg(long)]
    now: bool,
}

/// Remove what was said in a session, wherever heirloom keeps it
///
/// Its transcripts in the archive, the facts and index entries made of them, its run files, and the
/// backups that hold it; records with its words lose them. What its agent itself keeps stays there.
#[derive(Debug, clap::Args)]
struct Forget {
    /// The session: a name, an id, or the beginning of one
    session: String,
}

/// Leave a session out of lists; nothing of it is lost
#[derive(Debug, clap::Args)]
struct Hide {
    /// The session: a name, an id, or the beginning of one
    session: String,
    /// Show it again
    #[arg(long)]
    undo: bool,
}

pub(super) fn run(app: &App, args: Args) -> Done {
    match args.what {
        What::List(args) => list(app, &args),
        What::Show(args) => show(app, &args),
        What::Stop(args) => stop(app, &args),
        What::Update(args) => update(app, args),
        What::Forget(args) => forget(app, &args),
        What::Hide(args) => hide(app, &args),
    }
}

/// Change a session, also while it runs
///
/// What its agent asks for is decided by this from then on, what waits already included.
#[derive(Debug, clap::Args)]
struct Update {
    /// The session: a name, an id, or the beginning of one
    session: String,
    /// A line that says what it is about; empty for none
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Approve edits of files without asking
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    auto_accept_edits: Option<bool>,
    /// Approve everything without asking, for this long; `off` ends it
    #[arg(long, value_name = "DURATION|off")]
    bypass: Option<String>,
}

fn update(app: &App, args: Update) -> Done {
    let mut ledger = app.here.ledger()?;
    let session = sessions::find(&app.here, &ledger, &args.session)?;
    let widens = args.auto_accept_edits == Some(true)
        || args.bypass.as_deref().is_some_and(|period| period != "off");
    if widens {
        allow(Action::Bypass, person::who(&app.here, &ledger))?;
    }
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
        let message = "there is nothing to change";
        let hint = "--title, --auto-accept-edits or --bypass";
        return Err(Failure::new(Code::Usage, message).hint(hint).usage());
    }
    let session = session::update(&app.here, &mut ledger, &session, change)?;
    let shown = answer(&ledger, &session)?;
    app.ui.answer(&shown, || format!("{GOOD}✔{GOOD:#} {} is changed", session.name));
    Ok(ExitCode::SUCCESS)
}

fn forget(app: &App, args: &Forget) -> Done {
    let mut ledger = app.here.ledger()?;
    let session = sessions::find(&app.here, &ledger, &args.session)?;
    allow(Action::Forget, person::who(&app.here, &ledger))?;
    let gone = capture::forget(&app.here, &mut ledger, &session)?;
    let answer = SessionForgotten::new(session.name.to_string(), &gone);
    app.ui.answer(&answer, || {
        let records = counted(gone.records as u64, "record");
        format!("{GOOD}✔{GOOD:#} {} is forgotten; {records} lost their words", session.name)
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
        Stopped::Gone => ("gone", format!("{name} had no engine any more, it is interrupted")),
        Stopped::NotRunning => {
            let message = format!("session {name} does not run, it is {}", session.status);
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
            app.ui.hint("no sessions here yet");
        }
        if let Some(next) = page.next {
            app.ui.hint(&format!("there are more: add --after {}", next.short()));
        }
    }
    Ok(ExitCode::SUCCESS)
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
            cost_usd.map_or_else(|| "-".to_owned(), |usd| format!("${usd:.2}")),
            title.as_deref().map_or_else(|| about(session), |title| first_line(title, 60)),
        ]);
    }
    for each in unrecorded {
        columns.row(vec![
            each.name.clone(),
            each.status.map_or_else(|| "-".to_owned(), |status| status.to_string()),
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
    first_line(&visible(&text), 50)
}

/// What a session is doing, and whether something is wrong with it.
fn status(session: &Session) -> String {
    let damaged = if session.config.is_err() { ", config unreadable" } else { "" };
    format!("{}{damaged}", session.status)
}

/// A session as scripts see it.
pub(super) fn answer(ledger: &Ledger, session: &Session) -> Result<api::Session, Failure> {
    Ok(api::Session::new(session, sessions::parent_name(ledger, session)?))
}

fn show(app: &App, args: &Show) -> Done {
    let mut ledger = app.here.ledger()?;
    super::session::tidy(app, &mut ledger)?;
    let session = sessions::find(&app.here, &ledger, &args.session)?;
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
        let mut text = format!("{BOLD}{}{BOLD:#}  {}\n", session.name, session.status);
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
        line("reason", session.reason.as_deref());
        line("problem", detail.session.problem.as_deref());
        let cost = detail.session.cost_usd;
        let cost = cost.map_or_else(|| "unknown".to_owned(), |usd| format!("${usd:.2}"));
        line("cost", Some(&cost));
        if total.sessions > 1 {
            let with = format!("${:.2} with all it continues", total.cost_usd);
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

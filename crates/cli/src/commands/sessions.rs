mod distill;
mod list;
mod show;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Subcommand;
use heirloom_api::{self as api, SessionForgotten, SessionStop};
use heirloom_core::name::SessionName;
use heirloom_core::session::Session;
use heirloom_core::trust::person::Action;
use heirloom_core::visible::visible;
use heirloom_engine::run::{self, Stopped};
use heirloom_engine::{capture, person, session, sessions};
use heirloom_ledger::{Found, Ledger};

use super::{App, Done, given};
use crate::failure::{Code, FAILED, Failure};
use crate::ui::{GOOD, counted, first_line};

/// List, show and change sessions
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    List(list::List),
    Show(show::Show),
    Stop(Stop),
    Update(Update),
    Forget(Forget),
    Distill(distill::Distill),
    // What it was called before an archive was what is kept of transcripts.
    #[command(alias = "archive")]
    Hide(Hide),
    Private(Private),
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
/// Removes its archived transcripts, the facts and index entries made from them, copies made for other agents, its
/// run files, and heirloom's own backups that contain it; its words are erased from records. Sessions that continue it contain it:
/// their archived transcripts go as well. The agents' own files stay, and so do copies made by hand, as with
/// `heirloom ledger backup`.
#[derive(Debug, clap::Args)]
struct Forget {
    /// The session's name, id or id prefix
    session: String,
    /// Do not ask first; needed where there is no terminal to ask on
    #[arg(long)]
    yes: bool,
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

/// Withhold a session, and every session that comes from it, from the team's hub
///
/// What was already sent stays there; `heirloom sessions forget` erases it with the next push.
#[derive(Debug, clap::Args)]
struct Private {
    /// The session's name, id or id prefix
    session: String,
    /// Share again what it records from now on
    #[arg(long)]
    off: bool,
}

pub(super) fn run(app: &App, args: Args) -> Done {
    match args.what {
        What::List(args) => list::list(app, &args),
        What::Show(args) => show::show(app, &args),
        What::Stop(args) => stop(app, &args),
        What::Update(args) => update(app, args),
        What::Forget(args) => forget(app, &args),
        What::Distill(args) => distill::distill(app, &args),
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
    #[arg(long, alias = "auto-accept", value_name = "on|off", num_args = 0..=1)]
    #[arg(default_missing_value = "on", value_parser = given::switch)]
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
        let hint = "give --title, --auto-accept-edits or --bypass";
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
    // Before anybody is asked.
    person::allow(&app.here, &ledger, Action::Forget)?;
    if !args.yes {
        if !std::io::stdin().is_terminal() {
            let name = &session.name;
            let message =
                format!("this would delete what was said in {name} for good; nothing was deleted");
            return Err(Failure::new(Code::Usage, message).hint("add --yes to delete it").usage());
        }
        let question = format!("Delete what was said in {}? This cannot be undone.", session.name);
        if !app.ui.confirm(&question) {
            app.ui.say("nothing was deleted");
            return Ok(ExitCode::from(FAILED));
        }
    }
    let gone = capture::forget(&app.here, &mut ledger, &session)?;
    let answer = SessionForgotten::new(session.name.to_string(), &gone);
    app.ui.answer(&answer, || {
        if gone.already {
            return format!("{GOOD}✔{GOOD:#} {} was forgotten already", session.name);
        }
        let records = counted(gone.records as u64, "record");
        format!("{GOOD}✔{GOOD:#} forgot {}; its text was erased from {records}", session.name)
    });
    for page in &gone.pages {
        app.ui.say(&format!("its notes were removed from {}", page.display()));
    }
    if !gone.continued.is_empty() {
        let names: Vec<&str> = gone.continued.iter().map(SessionName::as_str).collect();
        let names = names.join(", ");
        app.ui
            .say(&format!("the archived transcripts of {names}, which continue it, are gone too"));
    }
    if gone.quotes > 0 {
        let places = counted(gone.quotes as u64, "place");
        app.ui.say(&format!("what later sessions inherited of it was masked in {places}"));
    }
    for path in &gone.native {
        app.ui.hint(&format!("its agent still has it: {}", path.display()));
    }
    if !gone.already {
        let copies = "copies made by hand, as with `heirloom ledger backup`, may still have it";
        app.ui.hint(&format!("{copies}: delete them yourself"));
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

fn private(app: &App, args: &Private) -> Done {
    let mut ledger = app.here.ledger()?;
    let session = sessions::find(&app.here, &ledger, &args.session)?;
    sessions::withhold(&app.here, &mut ledger, &session, !args.off)?;
    app.ui.answer(&answer(&ledger, &session)?, || {
        let now = if args.off {
            "is shared again"
        } else {
            "is private, with every session that comes from it"
        };
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
        let now = if args.undo {
            "is listed again"
        } else {
            "is hidden from lists; nothing was deleted (--undo shows it again)"
        };
        format!("{GOOD}✔{GOOD:#} {} {now}", session.name)
    });
    Ok(ExitCode::SUCCESS)
}

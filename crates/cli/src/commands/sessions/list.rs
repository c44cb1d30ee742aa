//! `heirloom sessions list`: a page of them, and why it is empty.

use std::collections::{HashMap, HashSet};
use std::process::ExitCode;

use heirloom_api::SessionList;
use heirloom_core::session::Session;
use heirloom_core::status::Status;
use heirloom_engine::run;
use heirloom_engine::run::inherit::Unrecorded;
use heirloom_engine::sessions;
use heirloom_engine::sessions::{Listing, Row};
use heirloom_engine::usage;
use heirloom_ledger::{Ledger, SessionFilter};

use super::{about, status};
use crate::commands::{App, Done, given};
use crate::failure::Failure;
use crate::moment::ago;
use crate::ui::{Columns, counted, first_line, priced_cell};

/// What a session is about of which nothing is kept any more.
const FORGOTTEN: &str = "(forgotten)";

/// So many are listed where nobody says how many.
const LIMIT: usize = 50;

/// List sessions, newest first
#[derive(Debug, clap::Args)]
pub(super) struct List {
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
    /// Include the sessions of colleagues that the team's hub knows of
    #[arg(long)]
    team: bool,
    /// List at most this many
    #[arg(long, value_name = "N", default_value_t = LIMIT, value_parser = given::count)]
    limit: usize,
    /// Continue a list after this session: the `next` of an earlier list
    #[arg(long, value_name = "ID")]
    after: Option<String>,
}

pub(super) fn list(app: &App, args: &List) -> Done {
    let mut ledger = app.here.ledger()?;
    crate::commands::session::tidy(app, &mut ledger)?;
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
    let team = args.team;
    let listing = Listing { repo, statuses, leaves, team, limit, after, ..Listing::default() };
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
    let repos = if args.all_repos { usage::names(&ledger)? } else { HashMap::new() };
    app.ui.answer(&SessionList::new(&page, unrecorded.clone()), || {
        table(app, &page.rows, &unrecorded, (args, &repos))
    });
    if !app.ui.is_json() {
        if is_empty {
            app.ui.hint(&why_empty(app, &ledger, args)?);
        }
        let earlier = if args.all { 0 } else { earlier(&ledger, &page.rows)? };
        if earlier > 0 {
            let (which, are) = if earlier == 1 { ("session", "is") } else { ("sessions", "are") };
            app.ui.hint(&format!(
                "{earlier} earlier {which} that these continue {are} not listed: add --all"
            ));
        }
        if let Some(next) = page.next {
            app.ui.hint(&format!("there are more: add --after {}", next.short()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// How many sessions those of a page go on with, which are not on it.
fn earlier(ledger: &Ledger, rows: &[Row]) -> Result<usize, Failure> {
    let mut earlier = HashSet::new();
    for row in rows {
        let mut before = row.session.continues();
        while let Some(id) = before.filter(|id| earlier.insert(*id)) {
            before = ledger.session(id)?.and_then(|session| session.continues());
        }
    }
    Ok(earlier.len())
}

/// Why a list of sessions is empty: there may be others than those that were asked for.
fn why_empty(app: &App, ledger: &Ledger, args: &List) -> Result<String, Failure> {
    let what = match (args.running, args.completed, args.failed, args.hidden) {
        (true, ..) => "no session is running",
        (_, true, ..) => "no session has completed",
        (_, _, true, _) => "no session has failed",
        (_, _, _, true) => "no session is hidden",
        _ if args.all_repos => "no sessions yet; they appear when an agent works in a repository",
        _ => "no sessions here yet; they appear when an agent works in this repository",
    };
    if !(args.running || args.completed || args.failed || args.hidden) {
        let elsewhere = SessionFilter { limit: 1, ..SessionFilter::default() };
        let is_elsewhere = !args.all_repos && !ledger.sessions(&elsewhere)?.sessions.is_empty();
        let more =
            if is_elsewhere { "; --all-repos lists those of other repositories" } else { "" };
        return Ok(format!("{what}{more}"));
    }
    // No more than it would list: to count all costs more the more there are.
    let repo = Some(app.here.place.repo.as_str());
    let filter = SessionFilter { repo, leaves: true, limit: LIMIT, ..SessionFilter::default() };
    let others = ledger.sessions(&filter)?;
    Ok(match others.sessions.len() as u64 {
        0 => what.to_owned(),
        _ if others.next.is_some() => format!("{what}; `heirloom sessions` lists others"),
        some => format!("{what}; `heirloom sessions` lists {}", counted(some, "other session")),
    })
}

/// The table of sessions. Of those that run it says when they last did something, of others when they
/// ended.
fn table(
    app: &App,
    rows: &[Row],
    unrecorded: &[Unrecorded],
    (args, repos): (&List, &HashMap<String, String>),
) -> String {
    if rows.is_empty() && unrecorded.is_empty() {
        return String::new();
    }
    let now = app.here.clock.now();
    let running = args.running;
    let when = if running { "last active" } else { "completed" };
    let mut names = vec!["name", "status", when, "learnings", "cost", "about"];
    names.extend(args.all_repos.then_some("repository"));
    names.extend(args.team.then_some("by"));
    let mut columns = Columns::new(&names).right(3).right(4).yielding(5);
    columns = columns.dispensable(&[3, 4, 2]);
    let here = app.here.place.label();
    let by = |mut row: Vec<String>, session: Option<&Session>| {
        let repo = session.map_or(here, |session| {
            repos.get(session.repo.as_str()).map_or(session.repo.as_str(), String::as_str)
        });
        row.extend(args.all_repos.then(|| repo.to_owned()));
        let author = session.and_then(|session| session.author.clone());
        row.extend(args.team.then(|| author.unwrap_or_else(|| "you".to_owned())));
        row
    };
    for Row { session, at_work, title, cost, forgotten, .. } in rows {
        let at = if running {
            at_work.as_ref().map(|each| each.last_active_at)
        } else {
            session.completed_at
        };
        let row = vec![
            session.name.to_string(),
            status(session),
            at.map_or_else(|| "-".to_owned(), |at| ago(at, now)),
            session.learnings.to_string(),
            priced_cell(*cost),
            match title {
                _ if *forgotten => FORGOTTEN.to_owned(),
                Some(title) => first_line(title, 100),
                None => about(session),
            },
        ];
        columns.row(by(row, Some(session)));
    }
    for each in unrecorded {
        let row = vec![
            each.name.clone(),
            each.status.map_or_else(|| "-".to_owned(), |status| status.in_words().to_owned()),
            each.completed_at.map_or_else(|| "-".to_owned(), |at| ago(at, now)),
            each.learnings.to_string(),
            "-".to_owned(),
            "only in its run directory".to_owned(),
        ];
        columns.row(by(row, None));
    }
    columns.render()
}

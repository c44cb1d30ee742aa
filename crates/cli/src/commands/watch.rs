use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use heirloom_api::Said;
use heirloom_core::event::RunPlanned;
use heirloom_core::session::Session;
use heirloom_core::status::Status;
use heirloom_engine::events::{Follow, Watcher};
use heirloom_engine::session::{self as engine, Item};
use heirloom_engine::{identity, run, sessions, work};
use heirloom_ledger::{Ledger, WorkRun};

use super::{App, Done, conversation};
use crate::failure::{Code, FAILED, Failure};
use crate::live::View;
use crate::work_view::WorkView;

const LOOK: Duration = Duration::from_millis(100);

/// Follow a session or a run of `work` live
///
/// Works for what runs in the background or in another shell. Ctrl-C stops watching, not the session.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A session or a run of `work`: its name, id or id prefix [default: the run of `work` in progress]
    what: Option<String>,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let ledger = app.here.ledger()?;
    let repo = &app.here.place.repo;
    let Some(what) = args.what.as_deref() else {
        let alive = ledger.open_work_runs(repo)?.into_iter().find(work::is_alive);
        return match alive {
            Some(run) => watch_work(app, ledger, &run),
            None => Err(Failure::new(Code::RunNotFound, "no run of `work` is in progress here")
                .hint("`heirloom watch SESSION` watches a session")),
        };
    };
    match sessions::find(&app.here, &ledger, what) {
        Ok(session) => {
            let planned = ledger.kept::<RunPlanned>(&session.repo, &session.id.to_string())?;
            match planned {
                Some(planned) => watch_run(app, ledger, &session, &planned.body),
                None => watch_session(app, &ledger, &session),
            }
        }
        Err(error) => match ledger.find_work_runs(repo, what)?.pop() {
            Some(run) => watch_work(app, ledger, &run),
            None => Err(error.into()),
        },
    }
}

fn watch_run(app: &App, ledger: Ledger, session: &Session, planned: &RunPlanned) -> Done {
    let run_dir = identity::where_now(&app.here, &ledger, &planned.run_dir)?;
    drop(ledger);
    let view = View::new(app.ui.is_json(), app.here.clock);
    let name = session.name.as_str();
    let path = run_dir.join("run.jsonl");
    let is_alive = || run::engine_of(&app.here, &session.repo, name).is_some();
    let is_over = follow(&path, &view, is_alive);
    view.close();
    if is_over? {
        return Ok(ExitCode::SUCCESS);
    }
    app.ui.warn(&format!("the process that ran {name} is gone"));
    app.ui.hint(&format!("heirloom run {} {name} --resume", planned.plan.name));
    Ok(ExitCode::from(FAILED))
}

fn watch_work(app: &App, ledger: Ledger, run: &WorkRun) -> Done {
    drop(ledger);
    let Ok(id) = run.id.parse() else {
        return Err(Failure::new(Code::RunNotFound, "that run was not started by heirloom"));
    };
    let view = WorkView::new(app.ui.is_json(), false, app.here.clock);
    let path = work::events_of(&app.here.home, id);
    let is_over = follow(&path, &view, || work::is_alive(run));
    view.close();
    if is_over? {
        return Ok(ExitCode::SUCCESS);
    }
    app.ui.warn("the process of that run is gone");
    app.ui.hint("`heirloom work --resume` continues");
    Ok(ExitCode::from(FAILED))
}

/// Shows what is in a file of events and follows it; whether it came to its end.
fn follow(path: &Path, view: &dyn Watcher, is_alive: impl Fn() -> bool) -> Result<bool, Failure> {
    let cannot = |error: io::Error| Failure::from_error(Code::File, &error);
    // A run that has just begun has said nothing yet.
    while !path.exists() && is_alive() {
        thread::sleep(LOOK);
    }
    let (mut follow, mut events) = Follow::open(path).map_err(cannot)?;
    loop {
        for (at, event) in &events {
            view.see(*at, event);
        }
        if events.iter().any(|(_, event)| event.is_end()) {
            return Ok(true);
        }
        // Asked before the file is read: what it wrote last is there when it is gone.
        let goes_on = is_alive();
        events = follow.more().map_err(cannot)?;
        if events.is_empty() {
            if !goes_on {
                return Ok(false);
            }
            thread::sleep(LOOK);
        }
    }
}

fn watch_session(app: &App, ledger: &Ledger, session: &Session) -> Done {
    let (mut following, said) = engine::follow(&app.here, ledger, session)?;
    let print = |items: &[Item]| {
        for item in items {
            if app.ui.is_json() {
                app.ui.answer(&Said::from(item.clone()), String::new);
            } else {
                let mut text = String::new();
                conversation::line(&mut text, item);
                if !text.is_empty() {
                    app.ui.print(text.trim_end_matches('\n'));
                }
            }
        }
    };
    print(&said);
    loop {
        let now = ledger.session(session.id)?.map_or(session.status, |session| session.status);
        let items = following.more()?;
        print(&items);
        if items.is_empty() {
            if !now.is_active() {
                app.ui.hint(&format!("{} is {}", session.name, now.in_words()));
                let is_done = now == Status::Completed;
                return Ok(if is_done { ExitCode::SUCCESS } else { ExitCode::from(FAILED) });
            }
            thread::sleep(LOOK);
        }
    }
}

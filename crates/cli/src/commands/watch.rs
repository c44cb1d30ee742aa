use std::io::{Read, Seek, SeekFrom};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use heirloom_core::event::RunPlanned;
use heirloom_engine::run::{self, Event, Watcher, event_lines};
use heirloom_engine::sessions;

use super::{App, Done};
use crate::failure::Failure;
use crate::live::View;

/// Watch a session that runs in the background or in another shell
///
/// Shows its last run from the beginning and follows it to its end. Ctrl-C leaves it running.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The session: a name, an id, or the beginning of one
    session: String,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let cannot = |error: std::io::Error| Failure::from_error("file", &error);
    let ledger = app.here.ledger()?;
    let session = sessions::find(&app.here, &ledger, &args.session)?;
    let planned = ledger.kept::<RunPlanned>(&session.repo, &session.id.to_string())?;
    let Some(planned) = planned else {
        return Err(Failure::new(
            "run.not-a-run",
            format!("session {} was not started by `run`", session.name),
        ));
    };
    drop(ledger);
    let path = std::path::Path::new(&planned.body.run_dir).join("run.jsonl");
    // A run that has just begun has said nothing yet.
    while !path.exists() && run::engine_of(&app.here, session.name.as_str()).is_some() {
        thread::sleep(Duration::from_millis(20));
    }
    let mut file = std::fs::File::open(&path).map_err(cannot)?;
    let view = View::new(app.ui.is_json(), app.here.clock);
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(cannot)?;
    let last = text.match_indices("\"event\":\"started\"").last().map_or(0, |(at, _)| at);
    let from = text[..last].rfind('\n').map_or(0, |at| at + 1);
    let mut pending = text.split_off(from);
    loop {
        let whole = pending.rfind('\n').map_or(0, |at| at + 1);
        let rest = pending.split_off(whole);
        let mut is_over = false;
        for (at, event) in event_lines(&pending) {
            view.see(at, &event);
            is_over |= matches!(event, Event::Ended { .. });
        }
        pending = rest;
        if is_over {
            break;
        }
        let runs = run::engine_of(&app.here, session.name.as_str()).is_some();
        let position = file.stream_position().map_err(cannot)?;
        let length = file.metadata().map_err(cannot)?.len();
        if length > position {
            file.seek(SeekFrom::Start(position)).map_err(cannot)?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).map_err(cannot)?;
            pending.push_str(&String::from_utf8_lossy(&bytes));
        } else if !runs {
            view.close();
            app.ui.warn(&format!("the engine of {} is gone", session.name));
            app.ui.hint(&format!(
                "heirloom run {} {} --resume",
                planned.body.plan.name, session.name
            ));
            return Ok(ExitCode::from(crate::failure::FAILED));
        } else {
            thread::sleep(Duration::from_millis(100));
        }
    }
    view.close();
    Ok(ExitCode::SUCCESS)
}

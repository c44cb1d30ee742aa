use std::process::ExitCode;

use heirloom_api::SignInLink;
use heirloom_core::trust::person::{Action, NotAPerson, Who, allow};
use heirloom_engine::person;
use heirloom_server::{Daemon, Keys, Listen, ServeError, read_serving};

use super::{App, Done};
use crate::failure::{Code, Failure};
use crate::ui::{DIM, GOOD};

/// Serve sessions, approvals and the page to this machine
///
/// Answers on a Unix socket in heirloom's home and on a port of this machine, both only to whoever has
/// the token or is signed in. The link it prints signs a browser in, once; `--link` prints another.
/// Ctrl-C ends it; sessions that were launched from it go on.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Where to listen: 127.0.0.1:PORT, or unix:PATH for a socket only
    #[arg(long, value_name = "ADDRESS", default_value_t)]
    listen: Listen,
    /// A further name by which browsers may ask for it, such as the one a private network gives it
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// Print a link to sign in to the daemon that runs
    #[arg(long)]
    link: bool,
    /// Open the page in a browser
    #[arg(long, conflicts_with = "link")]
    open: bool,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    if args.link {
        return link(app);
    }
    let ledger = app.here.ledger()?;
    let person = allow(Action::Approve, person::who(&app.here, &ledger));
    drop(ledger);
    let code = match &person {
        Ok(()) => Some(mint(app)?),
        Err(_) => None,
    };
    let daemon = Daemon::open(
        app.here.clone(),
        &app.directory,
        &args.listen,
        args.allow_host.clone(),
        code.as_deref(),
    )
    .map_err(|error| cannot(&error))?;
    let serving = daemon.serving().clone();
    app.ui.answer(&serving, || {
        let link = serving.link.as_ref();
        let link = link.map(|link| format!("\n  {DIM}sign in{DIM:#} {link}")).unwrap_or_default();
        let (url, socket, token) = (&serving.url, &serving.socket, &serving.token);
        format!(
            "{GOOD}●{GOOD:#} heirloom serves at {url}\n  {DIM}socket{DIM:#}  {socket}\n  \
             {DIM}token{DIM:#}   {token}{link}"
        )
    });
    if let Err(refused) = person {
        app.ui.hint(&no_link(&refused));
    }
    if args.open {
        match &serving.link {
            Some(link) => open(app, link),
            None => app.ui.warn("there is no link to open"),
        }
    }
    daemon.run().map_err(|error| cannot(&error))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints a link to the daemon that runs.
fn link(app: &App) -> Done {
    let ledger = app.here.ledger()?;
    allow(Action::Approve, person::who(&app.here, &ledger))?;
    let serving = read_serving(&app.here.home).filter(|serving| serving.url.starts_with("http"));
    let serving = serving.ok_or_else(|| {
        Failure::new(Code::ServeNotRunning, "heirloom does not serve a page here")
            .hint("`heirloom serve` starts it")
    })?;
    let link = format!("{}/signin?code={}", serving.url, mint(app)?);
    let answer = SignInLink { link };
    app.ui.answer(&answer, || answer.link.clone());
    Ok(ExitCode::SUCCESS)
}

fn mint(app: &App) -> Result<String, Failure> {
    let code = Keys::new(&app.here.home).mint(app.here.clock.now());
    code.map_err(|error| Failure::from_error(Code::File, &error))
}

fn no_link(refused: &NotAPerson) -> String {
    match &refused.who {
        Who::Agent(how) => format!(
            "an agent started this ({how}), so there is no sign-in link; a person gets one with \
             `heirloom serve --link`"
        ),
        _ => "a sign-in link is for a person: `heirloom serve --link` in a terminal prints one"
            .to_owned(),
    }
}

fn open(app: &App, link: &str) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let started = std::process::Command::new(program)
        .arg(link)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn();
    if let Err(error) = started {
        app.ui.warn(&format!("no browser could be opened: {program}: {error}"));
    }
}

fn cannot(error: &ServeError) -> Failure {
    match error {
        ServeError::Running { .. } => Failure::from_error(Code::ServeRunning, error)
            .hint("`heirloom serve --link` prints a link to it"),
        ServeError::Open { .. } => Failure::from_error(Code::ServeFailed, error)
            .hint("listen on 127.0.0.1 and reach it through an ssh tunnel; docs/serve.md shows how")
            .usage(),
        _ => Failure::from_error(Code::ServeFailed, error),
    }
}

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use heirloom_api::{ServiceFile, SignInLink};
use heirloom_core::trust::person::{Action, NotAPerson, Who};
use heirloom_engine::person;
use heirloom_engine::service::{self, Manager, Service, ServiceError};
use heirloom_server::{Certificate, Daemon, Keys, Listen, Opening, ServeError, read_serving};

use super::{App, Done};
use crate::failure::{Code, Failure};
use crate::ui::{DIM, GOOD};

/// Run the daemon: web page, API and approvals
///
/// Listens on a Unix socket in heirloom's home and on a local port, and answers only with the token or
/// after signing in. The link it prints signs a browser in once; `--link` prints another. Ctrl-C stops
/// it; sessions it launched keep running.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Where to listen: ADDRESS:PORT, or unix:PATH for a socket only; other machines need TLS
    #[arg(long, value_name = "ADDRESS", default_value_t)]
    listen: Listen,
    /// Use TLS with a self-signed certificate; its fingerprint is printed
    #[arg(long)]
    tls: bool,
    /// Use TLS with this certificate chain (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_key", conflicts_with = "tls")]
    tls_cert: Option<PathBuf>,
    /// The certificate's key (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Another host name browsers may use, such as one on a private network
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// Print a sign-in link for the running daemon
    #[arg(long)]
    link: bool,
    /// Open the page in a browser
    #[arg(long, conflicts_with = "link")]
    open: bool,
    /// Install a user service that runs the daemon (systemd or launchd), without starting it
    #[arg(long, conflicts_with_all = ["link", "open", "uninstall"])]
    install: bool,
    /// Remove the user service
    #[arg(long, conflicts_with_all = ["link", "open"])]
    uninstall: bool,
}

impl Args {
    fn certificate(&self) -> Option<Certificate> {
        match (&self.tls_cert, &self.tls_key) {
            (Some(chain), Some(key)) => {
                Some(Certificate::Own { chain: chain.clone(), key: key.clone() })
            }
            _ => self.tls.then_some(Certificate::SelfSigned),
        }
    }

    /// How a service says the same.
    fn words(&self, directory: &Path) -> Vec<String> {
        let mut words = Vec::new();
        if self.listen != Listen::default() {
            words.extend(["--listen".to_owned(), self.listen.to_string()]);
        }
        for name in &self.allow_host {
            words.extend(["--allow-host".to_owned(), name.clone()]);
        }
        words.extend(self.tls.then(|| "--tls".to_owned()));
        let files = [("--tls-cert", &self.tls_cert), ("--tls-key", &self.tls_key)];
        for (flag, file) in
            files.into_iter().filter_map(|(flag, file)| Some((flag, file.as_ref()?)))
        {
            words.extend([flag.to_owned(), directory.join(file).display().to_string()]);
        }
        words
    }
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    if args.link {
        return link(app);
    }
    if args.install || args.uninstall {
        return service(app, args);
    }
    let ledger = app.here.ledger()?;
    let person = person::allow(&app.here, &ledger, Action::Approve);
    drop(ledger);
    let code = match &person {
        Ok(()) => Some(mint(app)?),
        Err(_) => None,
    };
    let opening = Opening {
        directory: &app.directory,
        listen: &args.listen,
        hosts: args.allow_host.clone(),
        certificate: args.certificate(),
        code: code.as_deref(),
    };
    let daemon = Daemon::open(app.here.clone(), opening).map_err(|error| cannot(&error))?;
    let serving = daemon.serving().clone();
    app.ui.answer(&serving, || {
        let link = serving.link.as_ref();
        let link = link.map(|link| format!("\n  {DIM}sign in{DIM:#} {link}")).unwrap_or_default();
        let print = serving.fingerprint.as_ref();
        let print =
            print.map(|print| format!("\n  {DIM}SHA-256{DIM:#} {print}")).unwrap_or_default();
        let (url, socket, token) = (&serving.url, &serving.socket, &serving.token);
        format!(
            "{GOOD}●{GOOD:#} heirloom is listening on {url}\n  {DIM}socket{DIM:#}  {socket}\n  \
             {DIM}token{DIM:#}   {token}{print}{link}"
        )
    });
    if let Err(refused) = person {
        app.ui.hint(&no_link(&refused));
    }
    if args.open {
        match &serving.link {
            Some(link) => open(app, link),
            None => app.ui.warn("there is no sign-in link to open"),
        }
    }
    let _courier = heirloom_hub::Courier::start(app.here.clone());
    daemon.run().map_err(|error| cannot(&error))?;
    Ok(ExitCode::SUCCESS)
}

/// Writes or removes the service that runs the daemon.
fn service(app: &App, args: &Args) -> Done {
    let manager = Manager::native();
    let failed = |error: ServiceError| Failure::from_error(Code::ServeFailed, &error);
    if args.uninstall {
        let gone = service::uninstall(&app.here, manager).map_err(failed)?;
        let path = gone.map(|path| path.display().to_string());
        let answer = ServiceFile { path, next: manager.stop().to_owned() };
        app.ui.answer(&answer, || match &answer.path {
            Some(path) => format!("{GOOD}✔{GOOD:#} removed {path}"),
            None => "There is no service to remove".to_owned(),
        });
        if answer.path.is_some() {
            app.ui.hint(&format!("if it still runs: {}", answer.next));
        }
        return Ok(ExitCode::SUCCESS);
    }
    if !args.listen.is_local() && args.certificate().is_none() {
        return Err(Failure::new(
            Code::ServeFailed,
            "other machines could reach it, so it needs TLS",
        )
        .hint("add --tls, or --tls-cert and --tls-key")
        .usage());
    }
    let program = std::env::current_exe();
    let program = program.map_err(|error| Failure::from_error(Code::ServeFailed, &error))?;
    let (arguments, directory) = (args.words(&app.directory), app.directory.clone());
    let what = Service { program, arguments, directory };
    let path = service::install(&app.here, manager, &what).map_err(failed)?;
    let path = path.display().to_string();
    let answer = ServiceFile { path: Some(path.clone()), next: manager.start().to_owned() };
    app.ui.answer(&answer, || format!("{GOOD}✔{GOOD:#} wrote {path}"));
    app.ui.hint(&format!("start it: {}", answer.next));
    app.ui.hint("then sign in: heirloom serve --link");
    Ok(ExitCode::SUCCESS)
}

/// Prints a link to the daemon that runs.
fn link(app: &App) -> Done {
    let ledger = app.here.ledger()?;
    person::allow(&app.here, &ledger, Action::Approve)?;
    let serving = read_serving(&app.here.home).filter(heirloom_api::Serving::has_page);
    let serving = serving.ok_or_else(|| {
        Failure::new(Code::ServeNotRunning, "the daemon is not running")
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
    if let Err(error) = heirloom_repo::child::silent(program).arg(link).spawn() {
        app.ui.warn(&format!("no browser could be opened: {program}: {error}"));
    }
}

fn cannot(error: &ServeError) -> Failure {
    match error {
        ServeError::Running { .. } => Failure::from_error(Code::ServeRunning, error)
            .hint("`heirloom serve --link` prints a link to it"),
        ServeError::Open { .. } => Failure::from_error(Code::ServeFailed, error)
            .hint(
                "add --tls, or listen on 127.0.0.1 and use an ssh tunnel; docs/serve.md shows how",
            )
            .usage(),
        _ => Failure::from_error(Code::ServeFailed, error),
    }
}

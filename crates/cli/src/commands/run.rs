use std::process::{ExitCode, Stdio};
use std::thread;
use std::time::Duration;

use heirloom_api::RunDetached;
use heirloom_core::id::SessionId;
use heirloom_core::inherit::Select;
use heirloom_core::name::SessionName;
use heirloom_core::run::choices::{Choices, parse_dollars};
use heirloom_core::settings::{Period, RunPermissions};
use heirloom_core::status::Status;
use heirloom_engine::agents;
use heirloom_engine::run::inherit::InheritError;
use heirloom_engine::run::{self, Asked, Preparing, RunError, Stopping, With};
use heirloom_engine::trust;
use heirloom_engine::turn::system::Real;
use heirloom_repo::{FileError, child};

use super::{App, Done, dry_run, given, permitting, stop_signals};
use crate::failure::{Code, FAILED, Failure, LIMITED};
use crate::live::View;

/// Run a stage as a loop, or a pipeline
///
/// Every iteration starts a fresh agent, until the stage's stop rule is met or a limit is reached.
/// Ctrl-C finishes the iteration, twice stops the agent; --resume continues where it stopped.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A stage, a pipeline, or its file
    #[arg(value_name = "STAGE|PIPELINE.yaml")]
    what: String,
    /// The name of the new session
    session: String,
    /// The most iterations of a stage
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    max: Option<u32>,
    /// Start with what this session learned and decided; repeat for more
    #[arg(long, value_name = "SESSION", value_delimiter = ',')]
    inherit: Vec<String>,
    /// What to inherit: learnings, patterns, warnings, decisions, progress
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    select: Vec<String>,
    /// Refuse to start if the inherited session is missing or damaged
    #[arg(long)]
    strict: bool,
    /// The agent to run
    #[arg(long, value_parser = given::agent())]
    agent: Option<String>,
    /// The model to use
    #[arg(long)]
    model: Option<String>,
    /// An input file; repeat for more
    #[arg(long, value_name = "FILE")]
    input: Vec<String>,
    /// Text to add to every prompt
    #[arg(long, value_name = "TEXT")]
    context: Option<String>,
    /// Stop once this much has been spent, in US dollars
    #[arg(long, value_name = "USD", value_parser = dollars)]
    max_cost: Option<f64>,
    /// Stop after this time (90s, 10m, 1h30m)
    #[arg(long, value_name = "TIME")]
    max_time: Option<Period>,
    /// Time limit for one iteration
    #[arg(long, value_name = "TIME")]
    iteration_timeout: Option<Period>,
    /// Stop an iteration whose agent is silent for this long (default: 1h; 0s: never)
    #[arg(long, value_name = "TIME")]
    idle_timeout: Option<Period>,
    /// What agents may do without asking: accept (edit and run commands), edits, or ask
    #[arg(long, value_parser = permissions)]
    permissions: Option<RunPermissions>,
    /// Continue a session that was stopped or crashed
    #[arg(long, conflicts_with = "force")]
    resume: bool,
    /// Start over under a name that is taken; the old session is kept
    #[arg(long)]
    force: bool,
    /// Work in a separate git worktree
    #[arg(long)]
    worktree: bool,
    /// Print the plan and the first prompt without running anything
    #[arg(long)]
    dry_run: bool,
    /// Run in the background; `heirloom watch` attaches
    #[arg(long, conflicts_with = "dry_run")]
    detach: bool,
}

pub(super) fn dollars(text: &str) -> Result<f64, String> {
    parse_dollars(text)
        .ok_or_else(|| "it has to be an amount of US dollars above 0, such as 5 or 2.50".to_owned())
}

fn permissions(text: &str) -> Result<RunPermissions, String> {
    [RunPermissions::Accept, RunPermissions::Edits, RunPermissions::Ask]
        .into_iter()
        .find(|known| known.as_str() == text)
        .ok_or_else(|| "it has to be accept, edits or ask".to_owned())
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let mut asked = asked(args)?;
    if args.dry_run {
        return dry_run::run(app, &asked);
    }
    if args.detach {
        return detach(app, args, &asked);
    }
    let loaded = app.settings()?;
    trust::needs(loaded, &["run", "agents"])?;
    let settings = &loaded.settings;
    let programs = agents::programs(&app.here, Some(settings));
    let mut ledger = app.here.ledger()?;
    let (here, programs) = (&app.here, &programs);
    let directory = app.directory.as_path();
    let from = Preparing { here, settings, programs, directory, asked: &asked };
    let prepared = match run::prepare(from, &ledger) {
        Err(RunError::Unpermitted { agents }) => {
            let Some(answer) = permitting::ask(app, &mut ledger, &agents)? else {
                return Err(RunError::Unpermitted { agents }.into());
            };
            asked.permissions = Some(answer);
            let from = Preparing { here, settings, programs, directory, asked: &asked };
            run::prepare(from, &ledger)?
        }
        prepared => prepared?,
    };
    if !prepared.unheeded.is_empty() {
        app.ui.warn(&format!(
            "a resumed session runs what was planned: {} ignored (--force starts over)",
            listed(&prepared.unheeded)
        ));
    }
    for mistake in &prepared.mistakes {
        app.ui.say(&mistake.to_string());
    }
    let inherits = prepared.inherit.is_some() || !prepared.stage_inherits.is_empty();
    say_inherit_errors(app, &prepared.inherit_errors, inherits);
    if prepared.is_done() {
        app.ui.hint(&format!("{} is done; nothing to resume", asked.session));
        return Ok(ExitCode::SUCCESS);
    }
    let stopping = Stopping::new();
    let signal = stop_signals::listen(&stopping)?;
    let running = run::start(here, &mut ledger, prepared)?;
    drop(ledger);
    let view = View::new(app.ui.is_json(), here.clock);
    let with = With { here, programs, system: &Real, watcher: &view, stopping: &stopping };
    let ended = running.drive(with);
    view.close();
    let ended = ended?;
    match ended.status {
        Status::Completed | Status::Interrupted if ended.limited => Ok(ExitCode::from(LIMITED)),
        Status::Completed => Ok(ExitCode::SUCCESS),
        Status::Interrupted => Ok(signal.exit_code()),
        _ => Ok(ExitCode::from(FAILED)),
    }
}

/// `--context is`, or `--context and --input are`.
fn listed(flags: &[&str]) -> String {
    match flags {
        [one] => format!("{one} is"),
        _ => format!("{} are", flags.join(" and ")),
    }
}

fn asked(args: &Args) -> Result<Asked, Failure> {
    let select = if args.select.is_empty() { None } else { Some(select(&args.select)?) };
    Ok(Asked {
        what: args.what.clone(),
        session: args.session.clone(),
        flags: Choices {
            agent: args.agent.clone(),
            model: args.model.clone(),
            max: args.max,
            context: args.context.clone(),
            iteration_timeout: args.iteration_timeout.map(Period::duration),
            idle_timeout: args.idle_timeout.map(Period::duration),
            ..Choices::default()
        },
        inherit: args.inherit.clone(),
        select,
        strict: args.strict,
        inputs: args.input.clone(),
        max_cost_usd: args.max_cost,
        max_time: args.max_time.map(Period::duration),
        resume: args.resume,
        force: args.force,
        worktree: args.worktree,
        permissions: args.permissions,
    })
}

/// Reads `--select`.
pub(super) fn select(names: &[String]) -> Result<Select, Failure> {
    Select::parse(names.iter().map(String::as_str)).map_err(|error| {
        let failure = Failure::new(Code::Usage, error.to_string()).usage();
        match error.nearest {
            Some(word) => failure.hint(format!("did you mean {word}?")),
            None => failure,
        }
    })
}

/// Says what is not inherited and why, and that the run goes on; whether with something else that is.
pub(super) fn say_inherit_errors(app: &App, errors: &[InheritError], inherits: bool) {
    for error in errors {
        app.ui.complain(&Failure::of_inherit(error));
    }
    if !errors.is_empty() {
        let without = if inherits { "what is missing" } else { "inherited context" };
        app.ui.warn(&format!("continuing without {without}; --strict would have stopped here"));
    }
}

/// Starts the same command again, in the background, and waits until it runs.
fn detach(app: &App, args: &Args, asked: &Asked) -> Done {
    let cannot = |error: std::io::Error| Failure::from_error(Code::File, &error);
    if !args.resume {
        run::plan(&app.here, &app.settings()?.settings, &app.directory, asked)?;
    }
    let logs = app.here.home.join("logs");
    heirloom_repo::make_private_dir(&logs).map_err(FileError::new("make the directory", &logs))?;
    let name: SessionName = args
        .session
        .parse()
        .map_err(|source| Failure::from(RunError::Name { name: args.session.clone(), source }))?;
    let path = logs.join(format!("run-{name}.log"));
    heirloom_repo::write_private(&path, b"").map_err(FileError::new("write", &path))?;
    let log = heirloom_repo::append_private(&path).map_err(FileError::new("write", &path))?;
    let before = newest(app, &name)?.map(|(id, _)| id).filter(|_| !args.resume);
    let arguments = std::env::args_os().skip(1).filter(|word| word != "--detach");
    let mut child = child::ourselves()
        .map_err(cannot)?
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(log.try_clone().map_err(cannot)?)
        .stderr(log)
        .spawn()
        .map_err(cannot)?;
    let pid = child.id();
    let repo = app.here.ledger()?.repository(&app.here.place.repo)?;
    loop {
        let runs = run::engine_of(&app.here, &repo, name.as_str()) == Some(pid);
        if runs && newest(app, &name)?.is_some_and(|(id, is_on)| is_on && Some(id) != before) {
            break;
        }
        if let Some(status) = child.try_wait().map_err(cannot)? {
            // It may have been quick, and ended like any other run.
            if status.success() || newest(app, &name)?.map(|(id, _)| id) != before {
                break;
            }
            let said = heirloom_repo::file::read_to_string(&path).unwrap_or_default();
            app.ui.say(said.trim_end());
            return Ok(ExitCode::from(u8::try_from(status.code().unwrap_or(1)).unwrap_or(FAILED)));
        }
        thread::sleep(Duration::from_millis(20));
    }
    let log = path.display().to_string();
    app.ui.answer(&RunDetached { session: name.to_string(), pid, log }, || {
        format!("{name} runs in the background (process {pid})\nTry: heirloom watch {name}")
    });
    Ok(ExitCode::SUCCESS)
}

/// The newest session of that name, and whether it was begun.
fn newest(app: &App, name: &SessionName) -> Result<Option<(SessionId, bool)>, Failure> {
    let session = app.here.ledger()?.named(&app.here.place.repo, name.as_str())?;
    Ok(session.map(|session| (session.id, session.status != Status::Starting)))
}

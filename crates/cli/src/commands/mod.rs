//! The commands: one file each. The doc comment of a command is its help.

mod agents;
mod alone;
mod app;
mod approvals;
mod archive;
mod backfill;
mod checkpoint;
mod complete;
mod completions;
mod config;
mod context;
mod continue_;
mod conversation;
mod demo;
mod doctor;
mod dry_run;
mod examples;
mod fork;
mod fork_check;
mod gate_offer;
mod ground;
mod handoffs;
mod heal;
mod help;
mod home;
mod hook;
mod how;
mod hub;
mod import;
mod inherit;
mod init;
mod interrupt;
mod issues;
mod launch;
mod ledger;
mod lineage;
mod looks;
mod man;
mod mcp;
mod note;
mod notes;
mod permitting;
mod picking;
mod pipelines;
mod recover;
mod repo;
mod req;
mod resume;
mod rules;
mod run;
mod runs;
mod schema;
mod search;
mod serve;
mod session;
mod sessions;
mod stages;
mod status;
mod statusline;
mod stop_signals;
mod sync;
mod trust;
mod unrecorded;
mod usage;
mod watch;
mod why;
mod work;
mod work_clean;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use heirloom_engine::here::Here;

pub(crate) use app::App;

use crate::failure::{Code, Failure, USAGE, exit};
use crate::pager;
use crate::ui::Ui;

/// Kept apart, so that what is special about a command comes first in its help.
const GLOBAL: &str = "Global options";

/// The continuity layer for coding agents
///
/// heirloom records the sessions of your coding agents, and starts each new one with what earlier ones
/// learned, decided and proved.
#[derive(Debug, Parser)]
#[command(name = "heirloom", version, disable_help_subcommand = true)]
struct Cli {
    /// Print the answer as one JSON document
    #[arg(long, global = true, help_heading = GLOBAL)]
    json: bool,

    /// Log what happens; twice logs more
    #[arg(short, long, global = true, help_heading = GLOBAL, action = clap::ArgAction::Count)]
    verbose: u8,

    /// Print answers and errors only
    #[arg(short, long, global = true, help_heading = GLOBAL, conflicts_with = "verbose")]
    quiet: bool,

    /// Do not show long answers in a pager
    #[arg(long, global = true, help_heading = GLOBAL)]
    no_pager: bool,

    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::Args),
    Doctor(doctor::Args),
    Trust(trust::Args),
    Usage(usage::Args),
    Demo(demo::Args),
    Run(run::Args),
    Watch(watch::Args),
    Stages(stages::Args),
    Pipelines(pipelines::Args),
    Inherit(inherit::Args),
    Note(note::Args),
    Notes(notes::Args),
    Rules(rules::Args),
    Ground(ground::Args),
    Checkpoint(checkpoint::Args),
    Handoffs(handoffs::Args),
    Recover(recover::Args),
    Context(context::Args),
    ForkCheck(fork_check::Args),
    Heal(heal::Args),
    Search(search::Args),
    Why(why::Args),
    How(how::Args),
    Resume(resume::Args),
    Sync(sync::Args),
    Archive(archive::Args),
    Req(req::Args),
    Work(work::Args),
    Runs(runs::Args),
    Issues(issues::Args),
    Hook(hook::Args),
    Sessions(sessions::Args),
    Status(status::Args),
    Lineage(lineage::Args),
    Launch(launch::Args),
    Continue(continue_::Args),
    Fork(fork::Args),
    Interrupt(interrupt::Args),
    Conversation(conversation::Args),
    Approvals(approvals::Args),
    Serve(serve::Args),
    Mcp(mcp::Args),
    Statusline(statusline::Args),
    Ledger(ledger::Args),
    Import(import::Args),
    Repo(repo::Args),
    Hub(hub::Args),
    Agents(agents::Args),
    Config(config::Args),
    Schema(schema::Args),
    #[command(hide = true)]
    Complete(complete::Args),
    Completions(completions::Args),
    Man(man::Args),
}

impl Command {
    /// Whether it should say what happened to the ledger. Those that look at just that say it
    /// themselves.
    const fn uses_the_ledger(&self) -> bool {
        !matches!(
            self,
            Self::Doctor(_)
                | Self::Heal(_)
                | Self::Demo(_)
                | Self::Hook(_)
                | Self::Statusline(_)
                | Self::Config(_)
                | Self::Complete(_)
                | Self::Completions(_)
                | Self::Man(_)
        )
    }
}

/// How a command that could do what it was asked ended.
type Done = Result<ExitCode, Failure>;

pub(crate) fn main() -> ExitCode {
    let command = Cli::command();
    let arguments = alone::complete(&command, std::env::args_os().collect());
    let parsed = command.try_get_matches_from(&arguments);
    let parsed = parsed.and_then(|matches| {
        let only_looks = looks::only_looks(&matches);
        Ok((Cli::from_arg_matches(&matches)?, only_looks))
    });
    let (cli, only_looks) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return refuse(error, &arguments),
    };
    let ui = Ui::new(cli.json);
    if let Err(why) = crate::logging::begin(cli.verbose) {
        ui.fail(&Failure::new(Code::Environment, why));
        return ExitCode::from(USAGE);
    }
    match attend(cli, only_looks) {
        Ok(code) => code,
        Err(failure) => {
            ui.fail(&failure);
            ExitCode::from(exit(&failure))
        }
    }
}

fn attend(cli: Cli, only_looks: bool) -> Done {
    let mut app = look_around(Ui::new(cli.json).quiet(cli.quiet), cli.verbose)?;
    app.here.only_looks = only_looks;
    if !cli.no_pager {
        app.ui.paged_by(pager::choose(&app.here));
    }
    let app = app;
    let Some(command) = cli.command else {
        app.report_settings();
        let done = home::run(&app);
        app.report_offers();
        return done;
    };
    // It says so itself, with everything else.
    let is_told = !matches!(command, Command::Doctor(_));
    if is_told {
        app.report_settings();
    }
    if command.uses_the_ledger() {
        for notice in heirloom_engine::attend::attend(&app.here)? {
            app.ui.warn(&notice.to_string());
        }
    }
    let done = carry_out(&app, command);
    app.report_offers();
    if is_told { done.or_else(|failure| app.end(failure)) } else { done }
}

fn carry_out(app: &App, command: Command) -> Done {
    match command {
        Command::Init(args) => init::run(app, &args),
        Command::Doctor(args) => doctor::run(app, &args),
        Command::Trust(args) => trust::run(app, &args),
        Command::Usage(args) => usage::run(app, &args),
        Command::Demo(args) => demo::run(app, &args),
        Command::Run(args) => run::run(app, &args),
        Command::Watch(args) => watch::run(app, &args),
        Command::Stages(args) => stages::run(app, &args),
        Command::Pipelines(args) => pipelines::run(app, &args),
        Command::Inherit(args) => inherit::run(app, &args),
        Command::Note(args) => note::run(app, args),
        Command::Notes(args) => notes::run(app, args),
        Command::Handoffs(args) => handoffs::run(app, &args),
        Command::Rules(args) => rules::run(app, &args),
        Command::Ground(args) => ground::run(app, &args),
        Command::Checkpoint(args) => checkpoint::run(app, &args),
        Command::Recover(args) => recover::run(app, &args),
        Command::Context(args) => context::run(app, &args),
        Command::ForkCheck(args) => fork_check::run(app, &args),
        Command::Heal(args) => heal::run(app, &args),
        Command::Search(args) => search::run(app, args),
        Command::Why(args) => why::run(app, &args),
        Command::How(args) => how::run(app, &args),
        Command::Resume(args) => resume::run(app, &args),
        Command::Sync(args) => sync::run(app, &args),
        Command::Archive(args) => archive::run(app, &args),
        Command::Req(args) => req::run(app, args),
        Command::Work(args) => work::run(app, &args),
        Command::Runs(args) => runs::run(app, &args),
        Command::Issues(args) => issues::run(app, args),
        Command::Hook(args) => hook::run(&args),
        Command::Sessions(args) => sessions::run(app, args),
        Command::Status(args) => status::run(app, &args),
        Command::Lineage(args) => lineage::run(app, &args),
        Command::Launch(args) => launch::run(app, args),
        Command::Continue(args) => continue_::run(app, args),
        Command::Fork(args) => fork::run(app, args),
        Command::Interrupt(args) => interrupt::run(app, &args),
        Command::Conversation(args) => conversation::run(app, &args),
        Command::Approvals(args) => approvals::run(app, args),
        Command::Serve(args) => serve::run(app, &args),
        Command::Mcp(args) => mcp::run(app, &args),
        Command::Statusline(args) => statusline::run(app, &args),
        Command::Ledger(args) => ledger::run(app, args),
        Command::Import(args) => import::run(app, &args),
        Command::Repo(args) => repo::run(app, &args),
        Command::Hub(args) => hub::run(app, &args),
        Command::Agents(args) => agents::run(app, &args),
        Command::Config(args) => config::run(app, &args),
        Command::Schema(args) => schema::run(app, &args),
        Command::Complete(args) => complete::run(app, &args),
        Command::Completions(args) => completions::run(app, &args),
        Command::Man(args) => man::run(app, &args),
    }
}

fn look_around(ui: Ui, verbose: u8) -> Result<App, Failure> {
    let directory = std::env::current_dir().map_err(|error| {
        Failure::from_error(Code::Environment, &error)
            .hint("the current directory may have been deleted")
    })?;
    let here = Here::look_for_command(&directory, std::env::vars_os().collect())?;
    let settings = here.settings(&[]);
    Ok(App { ui, verbose, here, directory, settings })
}

/// What clap says about arguments it cannot take. Help and version are answers, not errors.
fn refuse(error: clap::Error, arguments: &[OsString]) -> ExitCode {
    // Only here somebody reads help, and to make all of it costs more than most commands do.
    let tree = tree();
    let command = named(&tree, arguments);
    let error = tree.try_get_matches_from(arguments).err().unwrap_or(error);
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let ui = Ui::new(arguments.iter().any(|argument| argument == "--json"));
    let failure = misuse(&error.to_string(), &command);
    ui.fail(&failure);
    ExitCode::from(USAGE)
}

/// The command that was typed, as far as there is one: `heirloom sessions list`.
fn named(tree: &clap::Command, arguments: &[OsString]) -> String {
    let (mut command, mut words) = (tree, vec![tree.get_name()]);
    for word in arguments.iter().skip(1).filter_map(|word| word.to_str()) {
        match command.find_subcommand(word) {
            Some(below) => {
                command = below;
                words.push(below.get_name());
            }
            None if word.starts_with('-') => {}
            None => break,
        }
    }
    words.join(" ")
}

/// Why a number is refused, without the words of the language it was written in: `9 is not in 1..=3`.
fn reworded(message: &str) -> String {
    let message = message.replace("invalid digit found in string", "it is not a whole number");
    let Some((before, range)) = message.rsplit_once(" is not in ") else { return message };
    let given = before.rsplit_once(": ").map(|(given, _)| given);
    let Some((given, (least, most))) = given.zip(range.split_once("..")) else { return message };
    match most.strip_prefix('=') {
        // A bound that is only that of the type is nobody's business.
        Some(most) if most.len() <= 6 => format!("{given}: it has to be from {least} to {most}"),
        _ => format!("{given}: it has to be at least {least}"),
    }
}

/// What clap says about `command`, in our form: the first paragraph is the message, tips and the rest are hints.
fn misuse(text: &str, command: &str) -> Failure {
    let mut paragraphs = text.split("\n\n").map(|paragraph| {
        let lines = paragraph.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join(" ")
    });
    let first = paragraphs.next().unwrap_or_default();
    let first = reworded(first.trim_start_matches("error: "));
    let failure = Failure::new(Code::Usage, first).usage();
    paragraphs.filter(|paragraph| !paragraph.is_empty()).fold(failure, |failure, paragraph| {
        if paragraph.starts_with("For more information") {
            return failure.hint(format!("`{command} --help` shows how it is used"));
        }
        failure.hint(paragraph.trim_start_matches("tip: ").replacen("Usage: ", "usage: ", 1))
    })
}

/// The whole command tree, with all that its help says.
fn tree() -> clap::Command {
    help::dress(Cli::command())
}
